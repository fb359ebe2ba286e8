"""A look-up with its slots: the card, the period, the hash, the status."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from typing import Any, Final
from zoneinfo import ZoneInfo

from bot.intents.extraction import UNKNOWN_NETWORK, Entity, Period, purchase_slots
from bot.intents.model import Reading
from bot.intents.plain_text import Clause, word_set
from bot.intents.readings import questions
from bot.intents.readings.card_choice import card_by_a_common_word, one_of
from bot.intents.readings.context import Context
from bot.intents.readings.left_out import OF_PURCHASES, pieces_left_out, unapplied
from bot.intents.readings.other_networks import with_other_network
from bot.intents.recognition import kind_of_request, lookup_intent_of, person_of, requester_of, status_of

MOST_DAYS: Final = 90
_NEEDS_CARD: Final = frozenset(
    {"card_show", "card_balance", "card_transactions", "decline_explain", "card_requests"}
)
#: Look-ups of one card, which all cards stand in for.
_OF_ONE: Final = frozenset({"card_balance", "card_show"})
_MAY_HAVE_CARD: Final = _NEEDS_CARD | {"ledger_show", "spend_show"}
HAS_PERIOD: Final = frozenset(
    {
        *("card_transactions", "decline_explain", "funding_list", "funding_show", "ledger_show"),
        *("spend_show", "card_requests"),
    }
)
_PURCHASES: Final = re.compile(
    r"\b(?:purchases?|payments?|transactions?|charges?|refunds?|txs?|txns?|paid|bought|buys?)\b"
)
#: Slots that say which purchases are meant.
PURCHASE_SLOTS: Final = frozenset({"merchant", "status", "above", "at_least", "below", "at_most"})
_ITS: Final = re.compile(r"\b(?:it|its|it's|that card|this card|the same|the card|that one|his|her|their)\b")
#: `show me her ledger entries`: of the card that was named before.
_OF_SOMEBODY: Final = re.compile(r"\b(?:his|her|hers|their|its)\b")
_BARE_FOUR: Final = re.compile(
    r"\b(?:about|show|status of|who (?:holds|has|owns)|balance (?:of|on)|(?:look|pull) up)\W+§[ax](\d+)§"
)
_ONE_FUNDING: Final = re.compile(
    r"\b(?:the|that|our|my|this) (?:\S+ ){0,2}(?:funding|deposit|transfer|submission)\b"
)


def read_lookup(clause: Clause, context: Context) -> Reading | None:
    """The look-up of a clause; None where it asks for nothing we know."""
    found = context.found
    named = found.inside(clause.text, "card")
    its = bool(_ITS.search(clause.text))
    last = context.thread.last_card if context.thread else None
    known = bool(context.cards_before) or (its and last is not None)
    intent = lookup_intent_of(clause.text, card_here=bool(named), card_known=known)
    if not intent and _PURCHASES.search(clause.text) and purchase_slots(clause.text, found):
        intent = "card_transactions"
    if not intent:
        return _stranger(clause, context)
    intent = _sharpened(intent, clause.text, context)
    if intent == "pending_approvals" and _of_a_card(clause.text, named):
        intent = "card_requests"
    text, pieces = pieces_left_out(intent, clause.text)
    here = found.inside(text, "card")
    if named and not here and intent in _OF_ONE:
        intent = "card_list"  # `balance of everyone but Marta`
    reading = Reading(intent, _slots(intent, text, context))
    if intent in _MAY_HAVE_CARD:
        cards = here if named else list(context.cards_before)
        if intent == "ledger_show" and not here and not _OF_SOMEBODY.search(clause.text):
            cards = []
        if not pieces or here or intent not in OF_PURCHASES or not named:
            reading = _with_card(reading, cards, context, its=its)
    return _with_unapplied(_with_period(reading, text, context), text, pieces, context)


def _of_a_card(text: str, here: Sequence[Entity]) -> bool:
    """`is there a request open on 2675`: no person is called by four digits."""
    return bool(person_of(text)) and any(entity.written.isdigit() for entity in here)


def _sharpened(intent: str, text: str, context: Context) -> str:
    """A hash, or one network on one day, makes a list of fundings one funding."""
    if intent == "funding_list":
        one = context.found.inside(text, "network") and context.found.inside(text, "period")
        if one and _ONE_FUNDING.search(text):
            return "funding_show"
    if intent == "decline_explain" and purchase_slots(text, context.found).get("status"):
        return "card_transactions"
    return intent


def _slots(intent: str, text: str, context: Context) -> dict[str, Any]:
    slots: dict[str, Any] = {}
    whole = context.found.masked if intent == "funding_show" else text
    hashes = [e.value for e in context.found.inside(whole, "tx_hash") if e.value]
    # Of one transaction the network may stand in a line or a sentence of its own.
    near = context.found.masked if intent == "funding_show" and hashes else text
    networks = [e.value for e in context.found.inside(near, "network") if e.value != UNKNOWN_NETWORK]
    if intent == "funding_addresses" and not networks:
        only = {e.value for e in context.found.inside(context.found.masked, "network")} - {UNKNOWN_NETWORK}
        networks = sorted(only) if len(only) == 1 else []
    if intent in ("funding_show", "funding_addresses", "funding_list") and networks:
        slots["network"] = networks[0]
    if intent == "funding_show" and hashes:
        slots["tx_hash"] = hashes[0]
    status = status_of(intent, text)
    if status:
        slots["status"] = status
    named = context.found.inside(text, "card")
    if intent == "card_list" and named:
        slots["name"] = named[0].written
    elif intent == "card_list" and (name := _somebody(text, context)):
        slots["name"] = name
    if intent in ("pending_approvals", "request_show"):
        slots |= _of_requests(intent, text, context)
    if intent == "card_requests" and (kind := kind_of_request(text)):
        slots["kind"] = kind
    if intent in OF_PURCHASES:
        slots |= purchase_slots(text, context.found)
    return slots


def _of_requests(intent: str, text: str, context: Context) -> dict[str, Any]:
    """Which request is asked about, else whose."""
    requests = context.found.inside(text, "request")
    if requests:
        return {"request": requests[0].value}
    person = person_of(text) if intent == "pending_approvals" else requester_of(text)
    if person:
        return {"person": context.found.original(person)}
    return {"request": "last"} if intent == "request_show" else {}


_NAME_OF_LIST: Final = re.compile(
    r"\b(?:in the name of|under the name(?: of)?|cards? (?:at all )?(?:under|for)"
    r"|something under|named|called)\s+(?:an? |mr\.? |ms\.? "
    r"|mrs\.? )?(?P<name>[^\W\d_]{3,}(?: [^\W\d_]{3,})?)(?=\s*(?:$|[,.;:?!)]|\b(?:at|in|on|yet"
    r"|already|with|pls|please|or)\b))"
    r"|^\W*(?:has|does|did|is)\s+(?P<who>[^\W\d_]{3,}(?: [^\W\d_]{3,})?)\s+(?:(?:got|gotten|have|own"
    r"|hold|possess|received|already|even|still)\s+)+(?:an?|any|one|more)\b"
    r"|^\W*(?:has|does)\s+(?P<has>[^\W\d_]{3,}(?: [^\W\d_]{3,})?)\s+(?:any|a)\s+card\b"
    r"|^\W*(?P<got>[^\W\d_]{3,}(?: [^\W\d_]{3,})?)\s+(?:got|has|have)\s+(?:an?|any|one)\b"
    r"(?=.*(?:\?|\bor no\b|\byet\b))"
    r"|\b(?:one|cards?|anything)\s+(?:at all )?(?:under|for|in the name of)\s+"
    r"(?P<under>(?!the|our|my|all|every|each)[^\W\d_]{3,}(?: [^\W\d_]{3,})?)(?=\s+anywhere|\s*\?|\s*$)"
)
_NOBODY: Final = word_set(
    """
    anybody anyone everybody everyone somebody someone nobody our the this that they them she her his him our team staff
    marketing sales finance each new all any customers google fuel travel trips company people us you there it its
    """
)


def _somebody(text: str, context: Context) -> str:
    """The name that is looked for that no card has: `does Ada Quist already own any card`."""
    found = _NAME_OF_LIST.search(text)
    if found is None:
        return ""
    name = next(filter(None, (found[group] for group in ("name", "who", "has", "got", "under"))))
    return "" if any(word in _NOBODY for word in name.split()) else context.found.original(name)


def _with_card(reading: Reading, cards: list[Entity], context: Context, *, its: bool) -> Reading:
    if not cards:
        last = context.thread.last_card if context.thread and its else None
        if last is not None:
            return replace(reading, slots={"card": last.last4, **reading.slots}, card=last)
        written, card = card_by_a_common_word(context)
        if card is not None:
            return replace(reading, slots={"card": written, **reading.slots}, card=card)
        of_all = (
            reading.intent in ("card_transactions", "spend_show") and PURCHASE_SLOTS & reading.slots.keys()
        )
        if reading.intent in _NEEDS_CARD and not of_all:
            return replace(reading, ask=questions.missing("card", reading.intent))
        return reading
    written, fits = one_of(cards)
    reading = replace(reading, slots={"card": written, **reading.slots})
    if len(fits) == 1:
        return replace(reading, card=fits[0])
    if any("unknown" in entity.traits for entity in cards):
        ask = questions.unknown_card(written)
    elif fits:
        ask = questions.which_card(written, fits, context.cards)
    else:
        everybody = [card for entity in cards for card in entity.value]
        ask = questions.one_card_each(reading.intent, everybody, context.cards)
    return replace(reading, intent="ambiguous", wanted=reading.intent, ask=ask)


def _stranger(clause: Clause, context: Context) -> Reading | None:
    """Four digits asked about like a card, that no card has."""
    found = _BARE_FOUR.search(clause.text)
    entity = context.found.entities[int(found[1])] if found else None
    if entity is None or not re.fullmatch(r"\d{4}", entity.written):
        return None
    ask = questions.unknown_card(entity.written)
    return Reading("ambiguous", {"card": entity.written}, ask=ask, wanted="card_show")


def _with_period(reading: Reading, text: str, context: Context) -> Reading:
    intent = reading.wanted or reading.intent
    named = context.found.inside(text, "period") or context.found.inside(context.found.masked, "period")
    if not _takes_period(reading) or not named:
        return reading
    entity = named[0]
    if entity.doubt or entity.value is None:
        if reading.ask is not None:
            return reading
        return replace(
            reading, intent="ambiguous", wanted=intent, ask=questions.exactly("since", entity.doubt)
        )
    period, note = capped(entity.value)
    return replace(reading, slots={**reading.slots, **period.as_slots()}, notes=(*reading.notes, *note))


def _with_unapplied(reading: Reading, text: str, pieces: Sequence[str], context: Context) -> Reading:
    """The look-up with what it is asked for and cannot do, as it was written."""
    periods = context.found.inside(text, "period")
    if _takes_period(reading):
        periods = periods[1:]
    else:
        today = context.facts.now.astimezone(ZoneInfo(context.facts.tz)).date()
        periods = [one for one in periods if one.value is None or not _is_now(one.value, today)]
    said = unapplied(reading, text, pieces, periods, context)
    return replace(reading, slots={**reading.slots, "unapplied": said}) if said else reading


def _takes_period(reading: Reading) -> bool:
    """All requests of a colleague are of a time, the last one of one's own is not."""
    return (reading.wanted or reading.intent) in HAS_PERIOD or (
        reading.intent == "request_show" and "person" in reading.slots
    )


def _is_now(period: Period, today: date) -> bool:
    """`today`: what is shown is of now anyway."""
    return period.since is not None and day_of(period.since) == today


def capped(period: Period) -> tuple[Period, tuple[str, ...]]:
    """At most `MOST_DAYS` days, the latest, or a whole quarter; with the sentence that says so."""
    first = day_of(period.until) - timedelta(days=MOST_DAYS)
    if period.since is not None and (day_of(period.since) >= first or period.is_a_quarter):
        return period, ()
    return Period(first, period.until), (
        f"Shown from {first.isoformat()} on: at most {MOST_DAYS} days at once.",
    )


def day_of(when: date | datetime) -> date:
    return when.date() if isinstance(when, datetime) else when


def read_lookup_as(intent: str, context: Context) -> Reading:
    """This look-up with what the whole text gives for it, whoever found the intent; with the question for its card
    where it needs one that is not named."""
    text, pieces = pieces_left_out(intent, context.found.masked)
    cards = context.found.inside(text, "card")
    if intent in _OF_ONE and not cards and context.found.inside(context.found.masked, "card"):
        intent = "card_list"
    reading = Reading(intent, _slots(intent, text, context))
    its = bool(_ITS.search(text))
    if intent in _MAY_HAVE_CARD and (cards or not pieces or intent not in OF_PURCHASES):
        reading = _with_card(reading, cards, context, its=its)
    reading = _with_unapplied(_with_period(reading, text, context), text, pieces, context)
    return with_other_network(reading, context)
