"""Anchors of entries that were lost when an older copy of the database was put in place: they are not of this chain."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from storage import audit
from storage.audit import Anchor
from storage.operators import safe_mode
from storage.transaction import Tx


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
            copies.append(
                _Copy(int(body["head"]), entry.seq, entry.hash, entry.at, frozenset(body.get("lost", ())))
            )
    return [one for one in kept if not any(copy.has_lost(one) for copy in copies)]
