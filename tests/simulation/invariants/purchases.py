"""Purchases are what the set of their events says, in whatever order those came (I-14)."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

from tests.simulation.invariants.record import Record

_OF_A_PURCHASE = ("card.authorized", "card.transaction", "card.declined")
_STATES = {
    frozenset({"authorized"}): {"authorized"},
    frozenset({"declined"}): {"declined"},
    frozenset({"authorized", "cleared"}): {"settled"},
    frozenset({"authorized", "reversal"}): {"reversed", "partially_reversed"},
    frozenset({"authorized", "cleared", "refund"}): {"refunded", "partially_refunded"},
}


class Purchases:
    """What D drew of each purchase, against the events that S made of it."""

    def __init__(self, known: Record) -> None:
        self.known = known

    def at_the_end(self) -> None:
        """Charge, state and number of events of every purchase."""
        events: dict[str, list[dict[str, Any]]] = {}
        for row in self.known.world.partner.store.all("SELECT id, type, payload FROM events"):
            if row["type"] in _OF_A_PURCHASE:
                data = json.loads(row["payload"], parse_float=Decimal)
                declined = row["type"] == "card.declined"
                events.setdefault(data["transaction_id"], []).append(
                    {**data, "leg": "declined" if declined else data["event"]}
                )
        if not events:
            return
        drawn = {
            row["transaction_id"]: json.loads(row["picture"])
            for row in self.known.world.rows("SELECT transaction_id, picture FROM purchase")
        }
        for transaction_id, legs in events.items():
            picture = drawn.get(transaction_id)
            if picture is None:
                self.known.broken(
                    "I-14 purchases", f"{transaction_id} has {len(legs)} events, and is not kept"
                )
            else:
                self._compare(transaction_id, picture, legs)

    def _compare(self, name: str, picture: dict[str, Any], legs: list[dict[str, Any]]) -> None:
        charges = [leg["amount_usd"] for leg in legs if leg["leg"] == "authorized"]
        charge = charges[0] if charges else None
        drawn = picture["charge_usd"]
        if (drawn is None) != (charge is None) or (charge is not None and Decimal(drawn) != Decimal(charge)):
            self.known.broken("I-14 purchases", f"{name} charged {charge} USD, and is kept with {drawn}")
        kinds = frozenset(leg["leg"] for leg in legs)
        if picture["state"] not in _STATES.get(kinds, {picture["state"]}):
            self.known.broken(
                "I-14 purchases", f"{name} is {sorted(kinds)}, and is kept as {picture['state']}"
            )
        if picture["legs"] != len(legs):
            self.known.broken("I-14 purchases", f"{name} has {len(legs)} events, {picture['legs']} are kept")
