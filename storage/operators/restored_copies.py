"""Anchors of entries that were lost when an older copy of the database was put in place: they are not of this chain."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from storage import audit
from storage.audit import Anchor, Entry
from storage.log_record import debits
from storage.operators import safe_mode
from storage.transaction import Tx

ROWS_SIGNED, READINGS_SIGNED = "rows.signed", "readings.signed"
"""By these entries the first opening by a newer version says what it has done."""


async def before_its_upgrade(tx: Tx, seq: int) -> int:
    """The last entry up to this one that is not of the first opening by a newer version: with that an older copy goes
    on by itself, before anybody has seen that it is one, and takes numbers of entries that were lost."""
    while True:
        last = await _entry(tx, seq)
        if last is None or last.action not in (ROWS_SIGNED, READINGS_SIGNED):
            return seq
        seq -= 1
        if last.action == READINGS_SIGNED:  # first it puts debits on record that an older version has found
            found = await _entry(tx, seq)
            while found is not None and found.action == debits.FOUND:
                seq -= 1
                found = await _entry(tx, seq)


async def _entry(tx: Tx, seq: int) -> Entry | None:
    return await anext(aiter(audit.entries(tx, from_seq=seq, to_seq=seq)), None)


@dataclass(frozen=True, slots=True)
class _Copy:
    """The copy's chain ended at `head`; entry `seq` says so, made at `at`, and names anchors that were lost."""

    head: int
    seq: int
    hash: str
    at: datetime
    lost: frozenset[str]

    def has_lost(self, one: Anchor) -> bool:
        """By its hash where that was seen at a start, or its place; else by its time."""
        if one.seq <= self.head:
            return False
        is_of_before = one.seq == self.seq and one.hash != self.hash
        return one.hash in self.lost or is_of_before or datetime.fromisoformat(one.at) <= self.at


async def of_this_chain(tx: Tx, kept: Sequence[Anchor]) -> list[Anchor]:
    """Without those that were lost with a copy, as the chain itself says."""
    copies = []
    async for entry in audit.about(tx, "database"):
        is_whole = (await audit.verify(tx, from_seq=entry.seq, to_seq=entry.seq)).ok
        if entry.action == safe_mode.RESTORED and is_whole:
            body = json.loads(entry.body)
            # An older version has taken what was added by the opening for a part of the copy.
            head = await before_its_upgrade(tx, int(body["head"]))
            copies.append(_Copy(head, entry.seq, entry.hash, entry.at, frozenset(body.get("lost", ()))))
    return [one for one in kept if not any(copy.has_lost(one) for copy in copies)]
