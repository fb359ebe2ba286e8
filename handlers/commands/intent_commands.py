"""Which look-up answers a read, whether it was typed as a command or said in words.

One table, so that both share one path, one authoriser and one answer.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from bot.intents import Reading
from handlers.commands.lookup import Command

_HOUR = timedelta(hours=1)
# Slots that bound an amount; with a space for the underscore, as commands have them.
_BOUNDS = ("above", "at_least", "below", "at_most")


def command_of(reading: Reading, now: datetime, zone: ZoneInfo) -> Command:
    """The look-up of a read. `now` is aware; `zone` the asking person's."""
    stretch = period(reading.slots, now, zone)
    intent = reading.intent
    if intent == "card_transactions" and not _card(reading):
        intent = "spend_show"  # of all cards: the sum, by card and merchant
    if intent == "decline_explain" and _card(reading):
        # The page of a card shows its declines with the next step; its statement those of a longer time.
        intent = "card_transactions" if stretch else "card_show"
    if intent == "pending_approvals" and reading.slots.get("person"):
        return Command("requests", "waiting", str(reading.slots["person"]))
    (command, subcommand), arguments = COMMANDS[intent]
    words = arguments(reading, stretch)
    return Command(command, subcommand, " ".join(filter(None, words)))


def period(slots: Mapping[str, Any], now: datetime, zone: ZoneInfo) -> str:
    """The stretch of time as look-ups take it: days as `2026-03-01..2026-03-07`, hours as `24h`; "" for none.

    Hours that end before now are widened to their days.
    """
    since, until = str(slots.get("since") or ""), str(slots.get("until") or "")
    if not since and not until:
        return ""
    if "T" in since and ("T" in until or not until):
        begun = _moment(since, zone)
        ended = _moment(until, zone) if until else now
        if now - ended < _HOUR:
            return f"{max(1, math.ceil((now - begun) / _HOUR))}h"
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


def _the_period(reading: Reading, period: str) -> tuple[str, ...]:
    return (period,)


def _status(reading: Reading, period: str) -> tuple[str, ...]:
    return (str(reading.slots.get("status") or "").lower(),)


def _hash_or_id(reading: Reading, period: str) -> tuple[str, ...]:
    slots = reading.slots
    return (str(slots.get("tx_hash") or slots.get("funding_id") or slots.get("id") or ""),)


Arguments = Callable[[Reading, str], tuple[str, ...]]
COMMANDS: Mapping[str, tuple[tuple[str, str], Arguments]] = {
    "float_status": (("float", ""), _nothing),
    "card_list": (("card", "list"), _status),
    "card_show": (("card", "show"), _that_card),
    "card_balance": (("card", "show"), _that_card),
    "card_transactions": (("card", "tx"), _card_and_period),
    "decline_explain": (("card", "declines"), _the_period),
    "funding_list": (("funding", "list"), _nothing),
    "funding_show": (("funding", "show"), _hash_or_id),
    "funding_addresses": (("funding", "addresses"), _nothing),
    "fees_show": (("float", "fees"), _nothing),
    "ledger_show": (("float", "ledger"), _the_period),
    "pending_approvals": (("requests", ""), _nothing),
    "alerts_show": (("countersign", "alerts"), _nothing),
    "request_show": (("requests", "show"), _request),
    "card_requests": (("card", "requests"), _of_card),
    "spend_show": (("card", "spend"), _on_card),
}
