"""Which look-up answers a read, whether it was typed as a command or said in words.

One table, so that both share one path, one authoriser and one answer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Final
from zoneinfo import ZoneInfo

from bot.intents import Reading
from handlers.commands.lookup import Command, mentioned

_HOUR = timedelta(hours=1)
_MINUTE = timedelta(minutes=1)
# Slots that say which of many are meant.
_NARROWS = (
    *("since", "until", "status", "merchant", "above", "at_least", "below", "at_most"),
    *("network", "person", "name", "kind", "card"),
)
# Slots that bound an amount; with a space for the underscore, as commands have them.
_BOUNDS = ("above", "at_least", "below", "at_most")


def command_of(reading: Reading, now: datetime, zone: ZoneInfo) -> Command:
    """The look-up of a read. `now` is aware; `zone` the asking person's."""
    stretch = period(reading.slots, now, zone)
    (command, subcommand), arguments, _ = _row(reading)
    words = arguments(reading, stretch)
    return Command(command, subcommand, " ".join(filter(None, words)))


def not_applied(reading: Reading) -> tuple[str, ...]:
    """The sentence that says what was read and is not in the answer; nothing where all of it is."""
    slots = reading.slots
    _, _, taken = _row(reading)
    left = [_in_words(name, slots[name]) for name in _NARROWS if slots.get(name) and name not in taken]
    said = list(dict.fromkeys([*left, *slots.get("unapplied", ())]))
    if not said:
        return ()
    named = ", ".join(f"“{one}”" for one in said)
    return (f"I cannot narrow this answer down by {named}: that was not applied.",)


def _in_words(name: str, value: Any) -> str:
    match name:
        case "since":
            return f"since {value}"
        case "until":
            return f"until {value}"
        case "merchant":
            return f"at {value}"
        case _ if name in _BOUNDS:
            return f"{name.replace('_', ' ')} {value}"
    return str(value)


def _row(reading: Reading) -> Row:
    name = _answered_by(reading)
    return _OTHERWISE.get(name) or COMMANDS[name]


def _answered_by(reading: Reading) -> str:
    """The row of `COMMANDS` that answers a read: another look-up where that shows more of what was asked for."""
    intent, slots = reading.intent, reading.slots
    if intent == "card_transactions" and not _card(reading):
        return "spend_show"  # of all cards: the sum, by card and merchant
    if intent == "decline_explain" and _card(reading):
        # The page of a card shows its declines with the next step; its statement those of a longer time.
        narrowed = any(slots.get(name) for name in ("since", "until", "merchant", *_BOUNDS))
        return "declined" if narrowed else "card_show"
    if intent == "funding_show" and not any(_hash_or_id(reading, "")):
        return "funding_list"
    if intent in ("pending_approvals", "request_show") and slots.get("person"):
        return "waiting" if intent == "pending_approvals" else "requested"
    if intent == "card_list" and slots.get("name") and not slots.get("status"):
        return "card_called"
    return intent


def period(slots: Mapping[str, Any], now: datetime, zone: ZoneInfo) -> str:
    """The stretch of time as look-ups take it: days as `2026-03-01..2026-03-07`, or `24h`, `90min`; "" for none.

    Hours that end before now are widened to their days.
    """
    since, until = str(slots.get("since") or ""), str(slots.get("until") or "")
    if not since and not until:
        return ""
    if "T" in since and ("T" in until or not until):
        begun = _moment(since, zone)
        ended = _moment(until, zone) if until else now
        if now - ended < _HOUR:
            # Seconds are not written: a minute that has begun is none that was asked for.
            minutes = max(1, (now - begun) // _MINUTE)
            return f"{minutes}min" if minutes % 60 else f"{minutes // 60}h"
    first, last = since[:10] or until[:10], until[:10] or f"{now.astimezone(zone):%Y-%m-%d}"
    return f"{first}..{last}"


def _moment(text: str, zone: ZoneInfo) -> datetime:
    """`2026-03-01T09:30` in the person's zone, or with a zone of its own."""
    read = datetime.fromisoformat(text)
    return read if read.tzinfo else read.replace(tzinfo=zone)


def _card(reading: Reading) -> str:
    """The one card meant, by its id where it is known; else as written."""
    if reading.card is not None and reading.card.id:
        return reading.card.id
    return str(reading.slots.get("card") or "")


def _nothing(reading: Reading, period: str) -> tuple[str, ...]:
    return ()


def _that_card(reading: Reading, period: str) -> tuple[str, ...]:
    return (_card(reading),)


def _card_and_period(reading: Reading, period: str) -> tuple[str, ...]:
    return (_card(reading), _only(reading), period)


def _on_card(reading: Reading, period: str) -> tuple[str, ...]:
    card = _card(reading)
    return (f"on {card}" if card else "", _only(reading), period)


def _of_card(reading: Reading, period: str) -> tuple[str, ...]:
    return (_card(reading), str(reading.slots.get("kind") or ""), period)


def _request(reading: Reading, period: str) -> tuple[str, ...]:
    return (str(reading.slots.get("request") or ""),)


def _only(reading: Reading) -> str:
    """Which purchases are meant, as the commands take it: `at "Shell" above 200 declined`."""
    slots = reading.slots
    merchant = str(slots.get("merchant") or "").replace('"', "")
    bounds = (f"{name.replace('_', ' ')} {slots[name]}" for name in _BOUNDS if slots.get(name))
    at = f'at "{merchant}"' if merchant else ""
    return " ".join(filter(None, (at, *bounds, str(slots.get("status") or ""))))


def _declined(reading: Reading, period: str) -> tuple[str, ...]:
    slots = {**reading.slots, "status": reading.slots.get("status") or "declined"}
    return (_card(reading), _only(replace(reading, slots=slots)), period)


def _fundings(reading: Reading, period: str) -> tuple[str, ...]:
    slots = reading.slots
    return (str(slots.get("status") or ""), str(slots.get("network") or ""), period)


def _network(reading: Reading, period: str) -> tuple[str, ...]:
    return (str(reading.slots.get("network") or ""),)


def _person(reading: Reading, period: str) -> tuple[str, ...]:
    return (str(reading.slots["person"]),)


#: Whoever asks, or all of us, as somebody says it behind an answer: `and mine?`.
_OWN: Final = frozenset({"mine", "me", "my", "i", "ours", "us", "we", "everyone", "everybody", "all"})


def _by_person(reading: Reading, period: str) -> tuple[str, ...]:
    person = str(reading.slots["person"])
    if person.lower() in _OWN:
        return ("mine" if person.lower() in ("mine", "me", "my", "i") else "all", period)
    return ("by", person if mentioned(person) else f"@{person.removeprefix('@').split()[0]}", period)


def _name(reading: Reading, period: str) -> tuple[str, ...]:
    return (str(reading.slots["name"]),)


def _the_period(reading: Reading, period: str) -> tuple[str, ...]:
    return (period,)


def _status(reading: Reading, period: str) -> tuple[str, ...]:
    return (str(reading.slots.get("status") or "").lower(),)


def _hash_or_id(reading: Reading, period: str) -> tuple[str, ...]:
    slots = reading.slots
    return (str(slots.get("tx_hash") or slots.get("funding_id") or slots.get("id") or ""),)


Arguments = Callable[[Reading, str], tuple[str, ...]]
_PERIOD = frozenset({"since", "until"})
_CARD = frozenset({"card"})
_PURCHASES = frozenset({"merchant", "status", *_BOUNDS})
_NONE = frozenset[str]()
# What answers, what it is given, and the slots that are in what it is given: `not_applied` names all others.
Row = tuple[tuple[str, str], Arguments, frozenset[str]]
COMMANDS: Mapping[str, Row] = {
    "float_status": (("float", ""), _nothing, _NONE),
    "card_list": (("card", "list"), _status, frozenset({"status"})),
    "card_show": (("card", "show"), _that_card, _CARD),
    "card_balance": (("card", "show"), _that_card, _CARD),
    "card_transactions": (("card", "tx"), _card_and_period, _PERIOD | _PURCHASES | _CARD),
    "decline_explain": (("card", "declines"), _the_period, _PERIOD),
    "funding_list": (("funding", "list"), _fundings, _PERIOD | {"status", "network"}),
    "funding_show": (("funding", "show"), _hash_or_id, frozenset({"network"})),
    "funding_addresses": (("funding", "addresses"), _network, frozenset({"network"})),
    "fees_show": (("float", "fees"), _nothing, _NONE),
    "ledger_show": (("float", "ledger"), _the_period, _PERIOD),
    "pending_approvals": (("requests", ""), _nothing, _NONE),
    "alerts_show": (("countersign", "alerts"), _nothing, _NONE),
    "request_show": (("requests", "show"), _request, _NONE),
    "card_requests": (("card", "requests"), _of_card, _PERIOD | _CARD | {"kind"}),
    "spend_show": (("card", "spend"), _on_card, _PERIOD | _PURCHASES | _CARD),
}
# The same where another look-up shows more of what was asked for.
_OTHERWISE: Mapping[str, Row] = {
    "card_called": (("card", "show"), _name, frozenset({"name"})),
    "declined": (("card", "tx"), _declined, _PERIOD | _PURCHASES | _CARD),
    "waiting": (("requests", "waiting"), _person, frozenset({"person"})),
    "requested": (("requests", ""), _by_person, _PERIOD | {"person"}),
}
