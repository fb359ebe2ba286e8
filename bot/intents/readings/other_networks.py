"""A network that money cannot come in on here: said back, so that nobody sends there, and never filled into a form."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from bot.intents.extraction import UNKNOWN_NETWORK, Entity
from bot.intents.model import Reading
from bot.intents.readings.context import Context

_WHOLE: Final = {"eth": "Ethereum", "erc20": "Ethereum", "erc-20": "Ethereum", "btc": "Bitcoin"}
_OF_NETWORKS: Final = frozenset({"funding_addresses", "funding_show", "submit_funding"})


def with_other_network(reading: Reading, context: Context) -> Reading:
    """The reading with the one network that was named and is none of ours, as written, and the sentence about it."""
    intent = reading.wanted or reading.intent
    named = context.found.inside(context.found.masked, "network")
    if reading.opened or intent not in _OF_NETWORKS or "network" in reading.slots or not _is_one(named):
        return reading
    written = _WHOLE.get(named[0].written.lower(), named[0].written)
    ours = ", ".join(context.facts.networks)
    note = f"{written[:1].upper()}{written[1:]} can't be used here. The networks are {ours}."
    notes = reading.notes if intent == "funding_show" else (*reading.notes, note)  # it was sent there already
    return replace(reading, slots={**reading.slots, "network": written}, notes=notes)


def _is_one(named: list[Entity]) -> bool:
    return len({entity.written.lower() for entity in named}) == 1 and named[0].value == UNKNOWN_NETWORK


__all__ = ["with_other_network"]
