"""Approvals: enough people, able to, and within the limits (I-3, I-11)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from tests.simulation.invariants.record import Record, seconds
from tests.simulation.world import Policy


class Approvals:
    """Who approved what, at the commit that approved it."""

    def __init__(self, known: Record) -> None:
        self.known = known

    def asked(self, request_id: str, policy: Policy) -> None:
        """As many people are needed as the reviewed file says at that moment."""
        row = self.known.row(request_id)
        if row["parent_id"] is None and not row["break_glass"]:
            needed = policy.needed(row["kind"], Decimal(row["exposure_usd"]))
            if row["approvals_needed"] != needed:
                self.known.broken(
                    "I-3 needed", f"{request_id} needs {row['approvals_needed']} approvals, not {needed}"
                )
        elif row["break_glass"] and not policy.freeze_now:
            self.known.broken("I-3 emergency", f"{request_id} acted at once, which the file does not allow")

    def approved(self, request_id: str, policy: Policy) -> None:
        """I-3: enough people, none of them the requester, each of them able to."""
        row = self.known.row(request_id)
        of = row["parent_id"] or request_id
        made = self.known.world.rows("SELECT actor, kind, decided_at FROM decision WHERE request_id = ?", of)
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
        self._different_people(row, approvers, policy)
        if policy.passkeys:
            self._by_device(of)
        if (
            self.known.world.clocks_never_wrong
            and self.known.world.loop.time() > seconds(row["expires_at"]) + 1
        ):
            self.known.broken("I-4 expiry", f"{request_id} was approved after it had expired")
        self.known.not_before[request_id] = self.known.world.loop.time() + policy.cool_off_s
        self._limits(row, policy)
        if self.known.world.clocks_never_wrong:
            self._able(row, [d for d in made if d["actor"] in approvers])

    def _by_device(self, request_id: str) -> None:
        """Where the file asks for passkeys, each approval has a signature that this person's own device made."""
        found = "SELECT actor, assertion FROM decision WHERE request_id = ? AND kind = 'approve'"
        for decision in self.known.world.rows(found, request_id):
            device = self.known.world.devices.get(decision["actor"])
            signature = json.loads(decision["assertion"] or "{}").get("signature")
            if device is None or signature not in device.signed:
                text = f"{request_id}: the device of {decision['actor']} signed no such approval"
                self.known.broken("I-3 passkey", text)

    def _able(self, row: Any, made: Sequence[Any]) -> None:
        """Each could when they did. Who could not any more when it was sent is seen by what leaves."""
        for decision in made:
            gone_s = self.known.gone_since.get(decision["actor"], float("inf"))
            if seconds(decision["decided_at"]) > gone_s + 30:
                self.known.broken("I-3 able", f"{row['id']}: {decision['actor']} could not approve any more")

    def _different_people(self, row: Any, approvers: set[str], policy: Policy) -> None:
        """Whoever decides in another's place is one person with them, and neither decides what the other asked for."""
        seats = self.known.world.seats(policy)
        words = [*sorted(approvers), row["requester"]]
        for place, one in enumerate(words):
            for other in words[place + 1 :]:
                if not seats.get(one, frozenset({one})).isdisjoint(seats.get(other, frozenset({other}))):
                    self.known.broken("I-3 one person", f"{row['id']}: {one} and {other} count as one")

    def _limits(self, row: Any, policy: Policy) -> None:
        """I-11: what was approved within 24 hours is within the limits."""
        if not self.known.world.clocks_never_wrong:
            return
        for what, most_usd, value in (
            ("requester", policy.per_requester_usd, row["requester"]),
            ("program", policy.total_usd, row["program"]),
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
