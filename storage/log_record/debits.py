"""Debits of which no request here knows, as the audit log has them. Pure.

They count towards limits for a day, and after a restore two people read all of them before anything is sent again. So
each goes on record when it is found: no row says whether it is there, or whether people have read of it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from typing import Any

from bot.domain.money import plain
from storage.columns import amount_of, time_text
from storage.log_record.open_requests import EntryOnRequest

FOUND, LISTED = "debits.found", "debits.listed"
A_PIECE = 100
"""So many are in one entry at most."""


@dataclass(frozen=True, slots=True)
class OrphanDebit:
    """A row of the ledger whose key was made here and belongs to no request. `amount_usd` < 0 left the float.

    `listed_at`: since when people can read of it; None until then."""

    program: str
    reference: str
    amount_usd: Decimal
    kind: str
    card_id: str | None
    booked_at: datetime
    found_at: datetime
    listed_at: datetime | None = None

    @property
    def key(self) -> Key:
        """What the ledger calls it."""
        return (self.program, self.reference, self.kind)


Key = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class DebitOnRecord:
    """One that entry `seq` tells of. `mode`: number of the entry by which the safe mode began in which it was found; 0
    = it was found in none."""

    debit: OrphanDebit
    seq: int
    mode: int


Debits = Mapping[Key, DebitOnRecord]


def as_recorded(
    found: Sequence[OrphanDebit], *, are_listed: bool, are_of_before: bool = False
) -> dict[str, Any]:
    """For the body of the entry by which these are found, all of one program. `are_of_before`: an older version has
    found them, before the safe mode in force began."""
    rows = [
        [one.reference, one.kind, plain(one.amount_usd), one.card_id, time_text(one.booked_at)]
        for one in found
    ]
    return {"rows": rows, "listed": are_listed, **({"before": True} if are_of_before else {})}


def and_found(known: Debits, entry: EntryOnRequest, *, mode: int) -> Debits:
    """With those that this entry tells of and that were not known before. Its subject names their program."""
    body, (_, _, program) = json.loads(entry.body), entry.subject.partition(":")
    at = datetime.fromisoformat(entry.at)
    new = dict(known)
    for reference, kind, usd, card_id, booked_at in body["rows"]:
        booked = datetime.fromisoformat(booked_at)
        one = OrphanDebit(
            program, reference, amount_of(usd), kind, card_id, booked, at, at if body["listed"] else None
        )
        new.setdefault(one.key, DebitOnRecord(one, entry.seq, 0 if body.get("before") else mode))
    return new


def and_listed(known: Debits, entry: EntryOnRequest) -> Debits:
    """People can read of all those that were found by an entry up to this number."""
    upto, at = int(json.loads(entry.body)["upto"]), datetime.fromisoformat(entry.at)
    return {
        key: replace(one, debit=replace(one.debit, listed_at=one.debit.listed_at or at))
        if one.seq <= upto
        else one
        for key, one in known.items()
    }


def found_again(known: Debits, *, before: int, mode: int) -> Debits:
    """What was found in the safe mode `before` is found again in another, which begins before people have left it."""
    if not any(one.mode == before for one in known.values()):
        return known
    return {
        key: replace(one, mode=mode, debit=replace(one.debit, listed_at=None)) if one.mode == before else one
        for key, one in known.items()
    }


def in_order(some: Iterable[DebitOnRecord]) -> list[OrphanDebit]:
    """As they were booked."""
    return sorted((one.debit for one in some), key=lambda one: (one.booked_at, one.reference))
