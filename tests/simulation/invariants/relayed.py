"""Copies of events for the other system: each arrives or is given up aloud, the same each time (I-19)."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from collections.abc import Mapping, Sequence

from tests.simulation.invariants.record import Record, seconds
from tests.simulation.world import RELAY_URL, RELAYED

# What is due is taken up by then.
TRIED_WITHIN_S = 120.0


class Relayed:
    """What the other system got."""

    def __init__(self, known: Record) -> None:
        self.known = known

    def at_the_end(self) -> None:
        """Every copy that arrived, and every one that is owed."""
        world = self.known.world
        keys = world.relay.signing_keys() if world.relay.arrived else []
        for message_id, copies in world.relay.arrived.items():
            first = copies[0]
            if any((copy.url, copy.body) != (RELAY_URL, first.body) for copy in copies):
                self.known.broken(
                    "I-19 relay", f"{message_id} was not the same at each of {len(copies)} attempts"
                )
            if json.loads(first.body)["type"] not in RELAYED:
                self.known.broken("I-19 relay", f"{message_id} is of a type that nobody asked for")
            for copy in copies:
                self._signed(message_id, copy.headers, copy.body, keys)
        dead = 0
        for row in world.rows("SELECT * FROM relay_delivery"):
            taken = any(200 <= c.status < 300 for c in world.relay.arrived.get(row["event_id"], ()))
            dead += row["state"] == "dead"
            if row["state"] == "sent" and not taken:
                self.known.broken("I-19 relay", f"{row['event_id']} is called sent, and was never taken")
            if row["state"] == "owed" and not world.installation.policy.relays:
                self.known.broken("I-19 relay", f"{row['event_id']} is owed to nobody")
            late_s = world.loop.time() - seconds(row["due_at"])
            if row["state"] == "owed" and late_s > TRIED_WITHIN_S:
                self.known.broken(
                    "I-19 relay", f"{row['event_id']} is owed for {late_s:.0f} s, and nobody tries"
                )
        if dead and not world.rows("SELECT 1 FROM alert WHERE kind LIKE 'relay%' AND state <> 'resolved'"):
            self.known.broken("I-19 relay", f"{dead} copies were given up, and no alert says so")
        self._owed()

    def _owed(self) -> None:
        """While the destination stood in the file, each event of the types it asked for is owed or was sent."""
        world = self.known.world
        if not all(process.installation.policy.relays for process in world.processes):
            return
        owed = {row["event_id"] for row in world.rows("SELECT event_id FROM relay_delivery")}
        handled = world.rows("SELECT event_id, type FROM inbox WHERE state = 'processed'")
        for row in handled if self.known.restored_from is None else ():
            if row["type"] in RELAYED and row["event_id"] not in owed:
                self.known.broken("I-19 relay", f"{row['type']} {row['event_id']} was never owed to anybody")

    def _signed(
        self, message_id: str, headers: Mapping[str, str], body: bytes, keys: Sequence[bytes]
    ) -> None:
        signed = f"{message_id}.{headers['webhook-timestamp']}.".encode() + body
        right = {"v1," + base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode() for key in keys}
        if right.isdisjoint(headers["webhook-signature"].split()):
            self.known.broken("I-19 relay", f"{message_id} is signed with no key of this installation")
