"""A text that only changes what was said before: “and Marta's?”, “last month”, “make it 80”, “the other one”.

Read only where the whole text is such a change, and where nothing is being asked. A look-up is asked again with
what changed; of a request, a form is offered again, and the form still has to be checked and submitted.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date, timedelta
from typing import Any, Final

from bot.intents.extraction import Period, purchase_slots, resolve_card
from bot.intents.model import ACTIONS, KnownCard, Reading, Thread
from bot.intents.plain_text import Clause, is_negated
from bot.intents.readings import questions
from bot.intents.readings.card_choice import one_of
from bot.intents.readings.context import Context
from bot.intents.readings.left_out import LISTS, leaves_something_out
from bot.intents.readings.lookups import HAS_PERIOD, capped
from bot.intents.readings.slot_values import plain

_CARD_READS: Final = frozenset(
    {"card_show", "card_balance", "card_transactions", "decline_explain", "card_requests", "spend_show"}
)
_ONE_AMOUNT: Final = frozenset({"topup_card", "unload_card", "set_limits", "set_markup"})
_OF_PURCHASES: Final = frozenset({"card_transactions", "spend_show"})
_CARD_ACTIONS: Final = frozenset({"topup_card", "unload_card", "freeze_card", "unfreeze_card", "set_limits"})

_LEAD: Final = (
    r"^(?:(?:ok|okay|so|then|now|hm+|thanks|thx|great|cool|nice|no|sorry|oh|and|but|also|or)[\s,:-]+)*"
)
_TAIL: Final = r"(?:[\s,]+(?:please|pls|plz|then|too|as well|instead|now|thanks|thx|maybe|rather))*[\s!.?]*$"
_AND: Final = r"(?:and|what about|how about|what of|(?:the )?same (?:for|with|on|thing for)|now|also)"
_ANOTHER_CARD: Final = re.compile(
    r"^(?:(?:ok|okay|so|then|thanks|great)[\s,:-]+)*"
    rf"{_AND}[\s,]+(?:(?:for|on|of|with|the one of)\s+)?(?:card\s+)?§c\d+§(?:\s+card)?" + _TAIL
)
_SAME_FOR: Final = re.compile(
    r"^(?:(?:ok|okay|so|then|and|now)[\s,:-]+)*(?:do )?(?:the )?same (?:thing )?(?:for|with|on|to)\s+(?:card\s+)?§c\d+§"
    + _TAIL
)
_ANOTHER_TIME: Final = re.compile(
    _LEAD
    + r"(?:(?:what about|how about|same for|the same for|for|in|during|since|over|from|the|only|just)\s+)*§p\d+§"
    + _TAIL
)
_ANOTHER_AMOUNT: Final = re.compile(
    _LEAD
    + r"(?:(?:make|do) (?:it|that)|(?:change|set|raise|lower|put) (?:it|that) (?:to|at)|i mean(?:t)?|rather|better"
    r"|actually"
    r"|let'?s (?:say|do|make it)|better make it|should (?:be|have been|say)|it should be)[\s,]+(?:only |just"
    r" )?§a\d+§(?:\s*usd)?"
    + _TAIL
    + r"|"
    + _LEAD
    + r"(?:only |just )?§a\d+§(?:\s*usd)?[\s,]+(?:instead|rather)"
    + _TAIL
)
_THE_OTHER: Final = re.compile(
    _LEAD
    + r"(?:(?:what about|how about|same for|the same for|for|on|i mean(?:t)?|it'?s|show(?: me)?|do|try|take|with)\s+)*"
    r"(?:the|his|her|their) other (?:one|card)(?:'s)?" + _TAIL
)
_ANOTHER_READ: Final = re.compile(
    rf"^(?:(?:ok|okay|so|then|thanks|great)[\s,:-]+)*{_AND}\s+(?:the|its|his|her|their|this)?\s*(?:card'?s? )?"
    r"(?P<what>balance|declines?|purchases|transactions|spend(?:ing)?|limits?|status|requests?)" + _TAIL
)
_BEFORE_IT: Final = re.compile(
    _LEAD
    + r"(?:(?:what about|how about|for|in|the)\s+)*(?:(?P<unit>day|week|month) before(?: (?:that|this))?|before (?:that|this))"
    + _TAIL
)
_ANOTHER_PERSON: Final = re.compile(
    rf"^{_AND}[\s,]+(?:(?:for|by|of|from)\s+)?(?P<person>§m\d+§|[^\W\d_]{{2,}}(?:['’]s)?)" + _TAIL
)
_LONGEST_MONTH: Final = 31  # days
_READS: Final = {
    "balance": "card_balance",
    "decline": "decline_explain",
    "declines": "decline_explain",
    "purchases": "card_transactions",
    "transactions": "card_transactions",
    "spend": "spend_show",
    "spending": "spend_show",
    "limit": "card_show",
    "limits": "card_show",
    "status": "card_show",
    "request": "card_requests",
    "requests": "card_requests",
}
_FILTER_WORDS: Final = re.compile(
    r"§\w\d+§|\b(?:only|just|and|what about|how about|the|ones?|at|above|over|more than|below|under|less than|at least"
    r"|at most|up to|refunds?|refunded|declined|pending|settled|reversed|payments?|purchases?|transactions?"
    r"|charges?|usd"
    r"|please|pls|with|those|show|me)\b|[^\w\s]"
)


def read_follow_up(clauses: Sequence[Clause], context: Context) -> list[Reading]:
    """The reading that this text changes, changed; nothing where it is no follow-up or nothing was said before."""
    thread = context.thread
    if thread is None or thread.asked_slot or len(clauses) != 1 or context.doubts:
        return []
    clause = clauses[0]
    text = re.sub(r"^no[\s,]+", "", clause.text)
    left_out = _left_out(replace(clause, text=clause.text), context, thread)
    if left_out is not None:
        return [left_out]
    if is_negated(re.sub(r"\brather\b", "", text)):
        return []
    for read in _WAYS:
        found = read(replace(clause, text=text), context, thread)
        if found is not None:
            return [found]
    return []


def _another_card(clause: Clause, context: Context, thread: Thread) -> Reading | None:
    is_same = _SAME_FOR.match(clause.text)
    if not is_same and not _ANOTHER_CARD.match(clause.text):
        return None
    written, fits = one_of(context.found.inside(clause.text, "card"))
    if thread.read_intent in _CARD_READS:
        return _about(thread.read_intent, thread.read_slots, written, fits, context)
    if is_same and not thread.read_intent and thread.intent in _CARD_ACTIONS and not clause.asked:
        return _about(thread.intent, thread.slots, written, fits, context)
    return None


def _the_other(clause: Clause, context: Context, thread: Thread) -> Reading | None:
    """The other card of the same holder; else the one that was talked about before."""
    last = thread.last_card
    if last is None or not _THE_OTHER.match(clause.text):
        return None
    of_holder = [card for card in context.cards.called(last.holder) if card != last]
    fits = list(dict.fromkeys([*of_holder, *([] if of_holder else thread.earlier_cards)]))
    fits = [card for card in fits if card != last]
    if not fits:
        return None
    written = questions.name_of(fits[0], context.cards) if len(fits) == 1 else "the other one"
    if thread.read_intent in _CARD_READS:
        return _about(thread.read_intent, thread.read_slots, written, fits, context)
    if not thread.read_intent and thread.intent in _CARD_ACTIONS:
        return _about(thread.intent, thread.slots, written, fits, context)
    return None


def _about(intent: str, slots: Any, written: str, fits: Sequence[KnownCard], context: Context) -> Reading:
    """The same with another card, or the question which."""
    reading = Reading(intent, {**_but(slots, "everything"), "card": written})
    if len(fits) != 1:
        ask = questions.which_card(written, fits, context.cards) if fits else questions.unknown_card(written)
        return replace(reading, intent="ambiguous", wanted=intent, ask=ask)
    return replace(reading, card=fits[0], opened=intent in ACTIONS)


def _another_time(clause: Clause, context: Context, thread: Thread) -> Reading | None:
    if thread.read_intent not in HAS_PERIOD or not _ANOTHER_TIME.match(clause.text):
        return None
    entity = context.found.inside(clause.text, "period")[0]
    if entity.doubt or entity.value is None:
        return None
    period, notes = capped(entity.value)
    slots = {**_but(thread.read_slots, "since", "until"), **period.as_slots()}
    return Reading(thread.read_intent, slots, card=_card_of(thread), notes=notes)


def _another_amount(clause: Clause, context: Context, thread: Thread) -> Reading | None:
    """Of the request that was offered last. Only an amount without any doubt."""
    if thread.intent not in _ONE_AMOUNT or not _ANOTHER_AMOUNT.match(clause.text):
        return None
    entity = context.found.inside(clause.text)[0]
    wanted = "rate" if thread.intent == "set_markup" else "amount"
    if len(context.found.inside(clause.text)) != 1 or entity.kind != wanted:
        return None
    slots = _but(thread.slots, "everything")
    reading = Reading(thread.intent, slots)
    if "card" in slots:
        fits = _cards_of_request(thread, context)
        if len(fits) != 1:
            return _about(thread.intent, slots, slots["card"], fits, context)
        reading = replace(reading, card=fits[0])
    if entity.doubt:
        ask = questions.exactly("amount", entity.doubt)
        return replace(reading, intent="ambiguous", wanted=thread.intent, ask=ask)
    amount = plain(entity.value.value)
    if thread.intent != "set_limits":
        return replace(reading, slots={**slots, "amount": amount}, opened=True)
    limits = dict(slots.get("limits") or {})
    if len(limits) != 1:
        return None
    return replace(reading, slots={**slots, "limits": dict.fromkeys(limits, amount)}, opened=True)


def _cards_of_request(thread: Thread, context: Context) -> Sequence[KnownCard]:
    """The card of the request that was offered last, whatever was looked up since; all that its words fit where it is
    not known."""
    if thread.last_card is not None and not thread.read_intent:
        return (thread.last_card,)
    return resolve_card(str(thread.slots["card"]), context.cards)


def _left_out(clause: Clause, context: Context, thread: Thread) -> Reading | None:
    """“Not refunds”: the same again, which says that nothing can be left out."""
    if thread.read_intent not in LISTS or not leaves_something_out(clause.text):
        return None
    said = list(dict.fromkeys([*thread.read_slots.get("unapplied", ()), context.found.original(clause.text)]))
    named = clause.text.lower()
    kept = {
        name: value
        for name, value in thread.read_slots.items()
        if not (name in ("status", "merchant") and str(value).lower()[:6] in named)
    }
    return Reading(thread.read_intent, {**kept, "unapplied": said}, card=_card_of(thread))


def _time_before(clause: Clause, context: Context, thread: Thread) -> Reading | None:
    """“And the week before”: so long before what was shown."""
    found = _BEFORE_IT.match(clause.text)
    since = str(thread.read_slots.get("since") or "")[:10]
    until = str(thread.read_slots.get("until") or "")[:10]
    if found is None or thread.read_intent not in HAS_PERIOD or not since or not until:
        return None
    first, last = date.fromisoformat(since), date.fromisoformat(until)
    ends = first - timedelta(days=1)
    match found["unit"] or "":
        case "day":
            begins = ends
        case "week":
            begins = ends - timedelta(days=6)
        case "month":
            begins = ends.replace(day=1) if first.day == 1 else ends - timedelta(days=29)
        case _:
            begins = ends.replace(day=1) if _is_a_month(first, last) else ends - (last - first)
    period, notes = capped(Period(begins, ends))
    slots = {**_but(thread.read_slots, "since", "until"), **period.as_slots()}
    return Reading(thread.read_intent, slots, card=_card_of(thread), notes=notes)


def _is_a_month(first: date, last: date) -> bool:
    return first.day == 1 and (last + timedelta(days=1)).day == 1 and (last - first).days < _LONGEST_MONTH


def _another_person(clause: Clause, context: Context, thread: Thread) -> Reading | None:
    """“And Carol?” after what is pending for Bob, or what he requested."""
    found = _ANOTHER_PERSON.match(clause.text)
    if found is None or "person" not in thread.read_slots or context.found.inside(clause.text, "card"):
        return None
    name = context.found.original(found["person"]).removesuffix("'s").removesuffix("’s")
    return Reading(thread.read_intent, {**thread.read_slots, "person": name})


def _another_filter(clause: Clause, context: Context, thread: Thread) -> Reading | None:
    if thread.read_intent not in _OF_PURCHASES or context.found.inside(clause.text, "card"):
        return None
    text = re.sub(
        r"\b(refunds?|refunded|declined|pending|settled|reversed)\b(?: ones)?$", r"\1 payments", clause.text
    )
    slots = purchase_slots(text, context.found)
    if not slots:
        return None
    rest = _FILTER_WORDS.sub(" ", clause.text.replace(slots.get("merchant", "\0").lower(), " "))
    if rest.strip():
        return None
    return Reading(thread.read_intent, {**thread.read_slots, **slots}, card=_card_of(thread))


def _another_read(clause: Clause, context: Context, thread: Thread) -> Reading | None:
    """Another look-up about the same card."""
    found = _ANOTHER_READ.match(clause.text)
    if found is None or thread.read_intent not in _CARD_READS or _card_of(thread) is None:
        return None
    intent = _READS[found["what"]]
    kept = {name: value for name, value in thread.read_slots.items() if name in ("card", "since", "until")}
    slots = kept if intent in HAS_PERIOD else {"card": kept.get("card", "")}
    return Reading(intent, slots, card=_card_of(thread))


def _card_of(thread: Thread) -> KnownCard | None:
    return thread.last_card if "card" in thread.read_slots else None


def _but(slots: Any, *names: str) -> dict[str, Any]:
    return {name: value for name, value in slots.items() if name not in names}


_WAYS: Final[tuple[Callable[[Clause, Context, Thread], Reading | None], ...]] = (
    _another_card,
    _the_other,
    _another_time,
    _time_before,
    _another_person,
    _another_amount,
    _another_read,
    _another_filter,
)
