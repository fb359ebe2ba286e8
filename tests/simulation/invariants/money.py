"""What is said of money is true of the API's own ledger."""

from __future__ import annotations

import re
from datetime import timedelta
from decimal import Decimal
from typing import Any

from tests.simulation.invariants.record import KEYED, Record
from tests.simulation.world import START

_AMOUNT = r"([0-9][0-9,]*\.[0-9]{2,})"
_MOVED = re.compile(_AMOUNT + r" USD moved from the float")
_BACK = re.compile(_AMOUNT + r" USD (?:moved from .{1,80} back to the float|went back to the float)")
_NOTHING = re.compile(r"\b(?:[Nn]othing (?:moved|was sent|is missing)|[Nn]o money moved)\b")
_FLOAT_ANSWER = re.compile(r"^Float " + _AMOUNT + r" USD")
_FLOAT = re.compile(r"Balance " + _AMOUNT + r" USD")


class Money:
    """Every sentence about money, of a request or of the float."""

    def __init__(self, known: Record) -> None:
        self.known = known

    def at_the_end(self, rows: list[Any]) -> None:
        """Texts of requests against what the ledger has of them."""
        for row in rows:
            if row["rows"] is None and row["outcome_text"] and row["state"] != "unresolved":
                self._said(row, row["outcome_text"])
        self._float()
        for seen in self.known.world.slack.store.ephemerals:
            at = float(seen.message["ts"]) - START.timestamp()
            self.said_of_the_float(at, str(seen.message.get("text", "")))

    def said_of_the_float(self, at: float, text: str) -> None:
        """What `/float` answered then: what the ledger had until that moment."""
        until = (START + timedelta(seconds=at + 2)).isoformat()
        for said in _FLOAT_ANSWER.findall(text):
            if Decimal(said.replace(",", "")) not in self._held(until):
                self.known.broken("figures are true", f"“{text[:120]}”, and the float never held that")

    def _said(self, row: Any, text: str) -> None:
        if "by hand" in text:
            return  # the words of two people, which are checked as such
        if row["kind"] == "card_close" and (found := _BACK.search(text)):
            self._went_back(row, text, Decimal(found.group(1).replace(",", "")))
        moved_usd = self._moved(row)
        if moved_usd is None:
            return
        if found := _MOVED.search(text) or _BACK.search(text):
            said_usd = Decimal(found.group(1).replace(",", ""))
            if said_usd != abs(moved_usd):
                self.known.broken(
                    "money is true", f"{row['id']}: “{text[:120]}”, the ledger has {moved_usd} USD"
                )
        elif _NOTHING.search(text) and moved_usd:
            self.known.broken("money is true", f"{row['id']}: “{text[:120]}”, the ledger has {moved_usd} USD")

    def _went_back(self, row: Any, text: str, said_usd: Decimal) -> None:
        """The balance of a closed card is a row of its own."""
        rows = self.known.world.partner.store.all(
            "SELECT amount_usd FROM ledger WHERE card_id = ?", row["subject"]
        )
        if said_usd and said_usd not in {Decimal(one["amount_usd"]) for one in rows}:
            self.known.broken("money is true", f"{row['id']}: “{text[:120]}”, the ledger has no such row")

    def _moved(self, row: Any) -> Decimal | None:
        """What S's ledger has of this request in all; None where it does not say whose a row is."""
        store = self.known.world.partner.store
        if row["kind"] in ("card_topup", "card_unload"):
            kept = store.one(
                "SELECT id FROM keyed WHERE kind = ? AND key = ?", KEYED[row["kind"]], row["key"]
            )
            rows = store.all("SELECT amount_usd FROM ledger WHERE keyed = ?", kept["id"]) if kept else []
        else:
            return None
        return sum((Decimal(one["amount_usd"]) for one in rows), Decimal(0))

    def _float(self) -> None:
        """What the float is said to hold it held at some moment."""
        held = self._held()
        for row in self.known.world.rows("SELECT text FROM alert WHERE kind = 'float_low'"):
            for said in _FLOAT.findall(row["text"]):
                if Decimal(said.replace(",", "")) not in held:
                    self.known.broken(
                        "money is true", f"the float: “{row['text'][:120]}”, and it never held that"
                    )

    def _held(self, until: str = "9") -> set[Decimal]:
        """Every balance of the float up to a moment of the API's clock, to the cent."""
        balance_usd, held = Decimal(0), {Decimal(0)}
        asked = "SELECT amount_usd FROM ledger WHERE created_at < ? ORDER BY seq"
        for row in self.known.world.partner.store.all(asked, until):
            balance_usd += Decimal(row["amount_usd"])
            held.add(round(balance_usd, 2))
        return held
