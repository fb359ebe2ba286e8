"""Approvals: enough people, able to, and within the limits (I-3, I-11)."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from tests.simulation.invariants.record import Record


class Approvals:
    """Who approved what, at the commit that approved it."""

    def __init__(self, known: Record) -> None:
        self.known = known

    def approved(self, request_id: str) -> None:
        """I-3: enough people, none of them the requester, each of them able to."""
        row = self.known.row(request_id)
        of = row["parent_id"] or request_id
        made = self.known.world.rows("SELECT actor, kind FROM decision WHERE request_id = ?", of)
        if row["break_glass"]:
            self.known.emergencies[request_id] = self.known.world.loop.time()
            if row["kind"] != "card_freeze":
                self.known.broken(
                    "I-3 emergency", f"{request_id} ({row['kind']}) acted without a second person"
                )
            return
        approvers = {d["actor"] for d in made if d["kind"] == "approve"} - {row["requester"]}
        needed = self.known.world.rows("SELECT approvals_needed AS n FROM request WHERE id = ?", of)[0]["n"]
        if len(approvers) < needed:
            self.known.broken(
                "I-3 approvals", f"{request_id} approved by {sorted(approvers)}, {needed} needed"
            )
        amount = Decimal(row["exposure_usd"])
        if row["kind"] == "card_topup" and amount > 500 and not row["parent_id"] and len(approvers) < 2:
            self.known.broken("I-3 approvals", f"{request_id} of {amount} USD approved by {len(approvers)}")
        self._limits(row)
        able = self.known.world.able_to_approve()
        for person in approvers - able:
            if (
                self.known.world.loop.time() - self.known.gone_since.get(person, self.known.world.loop.time())
                > 30
            ):
                self.known.broken("I-3 able", f"{request_id}: {person} could not approve any more")

    def _limits(self, row: Any) -> None:
        """I-11: what was approved within 24 hours is within the limits."""
        if not self.known.world.clocks_never_wrong:
            return
        for what, most_usd, value in (
            ("requester", 2500, row["requester"]),
            ("program", 3500, row["program"]),
        ):
            counted = self.known.world.rows(
                f"SELECT exposure_usd FROM request WHERE {what} = ? AND rows IS NULL"
                " AND state IN ('approved', 'executing', 'succeeded', 'unresolved')",
                value,
            )
            total_usd = sum((Decimal(one["exposure_usd"]) for one in counted), Decimal(0))
            if total_usd > most_usd:
                self.known.broken(
                    "I-11 limits", f"{row['id']}: {total_usd} USD approved by this {what}, of {most_usd}"
                )
