"""All that stands in the way of sending to a program, read together: its key, people, draft only, single endpoints."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import BindParameter, RowMapping, bindparam, select

from bot.partner.endpoints import Endpoint
from storage import tables as t
from storage.protection import PAUSE, PROGRAM, RowRead, signed_rows
from storage.transaction import Tx

# What is asked before anything is sent is built once.
_PROGRAM: BindParameter[str] = bindparam("program")
_P = t.program.c
_S = t.row_signature.c
_HOLD = select(_P.name).where(_P.name == _PROGRAM).with_for_update(read=True)
_OF_PROGRAM = ("paused_at", "partner_id", "drafts_since", "drafts_until")
_OF_PAUSE = tuple(column.name for column in t.pause.c)
COLUMNS = (
    *(_P[name].label(f"program_{name}") for name in ("name", *_OF_PROGRAM)),
    *(t.pause.c[name].label(f"pause_{name}") for name in _OF_PAUSE),
    *(_S[name].label(f"signed_{name}") for name in ("table_name", "version", "mac")),
    t.held_endpoint.c.endpoint.label("held"),
)
"""What `stopped` is made of: a program with its pause, both their signatures, and the endpoints it may not call."""


def joined(with_program: Any) -> Any:
    """The same with all that `COLUMNS` are read from, joined to a table that has the program joined."""
    signed = (_S.row_key == _P.name) & _S.table_name.in_([PROGRAM.name, PAUSE.name])
    return (
        with_program.outerjoin(t.row_signature, signed)
        .outerjoin(t.pause, t.pause.c.program == _P.name)
        .outerjoin(t.held_endpoint, t.held_endpoint.c.program == _P.name)
    )


_OF = select(*COLUMNS).select_from(joined(t.program)).where(_P.name == _PROGRAM)
# Where the program itself is missing.
_SIGNED = (
    select(_S.table_name, _S.version, _S.mac, *t.pause.c)
    .outerjoin(t.pause, t.pause.c.program == _S.row_key)
    .where(_S.row_key == _PROGRAM, _S.table_name.in_([PROGRAM.name, PAUSE.name]))
)
_PAUSED = select(t.pause.c.program).where(t.pause.c.program == _PROGRAM)
_HELD = select(t.held_endpoint.c.endpoint).where(t.held_endpoint.c.program == _PROGRAM)


@dataclass(frozen=True, slots=True)
class Stopped:
    """What stands in the way of sending to a program.

    `by_key`: the API does not take its key, so nothing can be called. `by_people`: somebody paused it, so nothing is
    sent. `endpoints`: those that its key may not call. `drafts_since`, `drafts_until`: when it was last for drafts
    only; while there is no end, nothing is sent either. `changed_outside`: what is stored of the program or of a
    pause is not as we left it, so nobody knows whether it may be sent.
    """

    by_key: bool
    by_people: bool
    endpoints: frozenset[str]
    drafts_since: datetime | None = None
    drafts_until: datetime | None = None
    changed_outside: bool = False

    @property
    def draft_only(self) -> bool:
        """Requests are made and approved for practice, and nothing is sent."""
        return self.drafts_since is not None and self.drafts_until is None

    def were_drafts(self, approved: Iterable[datetime]) -> bool:
        """Was any of these approvals given while nothing was to be sent? Then nothing is sent for it later either."""
        since, until = self.drafts_since, self.drafts_until
        return since is not None and any(since <= at and (until is None or at <= until) for at in approved)

    def sends(self, endpoint: Endpoint, *, is_urgent: bool = False) -> bool:
        """May something be sent through this endpoint? What is urgent is tried although the key was refused there."""
        is_held = endpoint.value in self.endpoints and not is_urgent
        return not (self.by_key or self.by_people or self.draft_only or self.changed_outside or is_held)


async def of(tx: Tx, program: str) -> Stopped:
    """All of it at once. Where the caller writes, no pause begins before its transaction ends."""
    if tx.writes:
        await hold(tx, program)
    rows = (await tx.run(_OF, {"program": program})).mappings().all()
    return stopped(tx, program, rows) if rows else await _of_missing(tx, program)


async def hold(tx: Tx, program: str) -> None:
    """No pause of it begins before this transaction ends, see `pauses.put`. SQLite's write lock does so already.

    What stands in the way is read after it, in a statement of its own: one that waited for the lock sees what was
    before it.
    """
    if tx.is_postgres:
        await tx.run(_HOLD, {"program": program})


def stopped(tx: Tx, program: str, rows: Sequence[RowMapping]) -> Stopped:
    """From what a statement with `COLUMNS` found of a program, the same row several times or with other endpoints."""
    first = rows[0]
    pause = None
    if first["pause_program"] is not None:
        pause = {name: first[f"pause_{name}"] for name in _OF_PAUSE}
    signatures = {
        row["signed_table_name"]: (row["signed_version"], row["signed_mac"])
        for row in rows
        if row["signed_table_name"] is not None
    }
    held = frozenset(row["held"] for row in rows if row["held"] is not None)
    return _judged(
        tx, program, {name: first[f"program_{name}"] for name in _OF_PROGRAM}, pause, signatures, held
    )


async def _of_missing(tx: Tx, program: str) -> Stopped:
    of_it = {"program": program}
    found = (await tx.run(_SIGNED, of_it)).mappings().all()
    held = frozenset((await tx.run(_HELD, of_it)).scalars())
    if not found:
        paused = (await tx.run(_PAUSED, of_it)).one_or_none()
        is_paused = paused is not None or tx.set_aside.has(t.pause.name, program)
        is_lost = any(signed_rows.was_signed(tx, signed, program) for signed in (PROGRAM, PAUSE))
        if signed_rows.number_on_record(tx, PROGRAM.name, program):
            signed_rows.met(tx, PROGRAM)
        return Stopped(by_key=False, by_people=is_paused, endpoints=held, changed_outside=is_lost)
    pause = next(
        (row for row in found if row["table_name"] == PAUSE.name and row["program"] is not None), None
    )
    signatures = {row["table_name"]: (row["version"], row["mac"]) for row in found}
    return _judged(tx, program, None, pause, signatures, held)


def _judged(
    tx: Tx,
    program: str,
    row: RowRead | None,
    pause: RowRead | None,
    signatures: Mapping[str, tuple[int, str]],
    held: frozenset[str],
) -> Stopped:
    """With `signatures`, a version and a MAC by table, of the program and of its pause or the absence of one."""
    changed = [
        signed
        for signed, is_now in ((PROGRAM, row), (PAUSE, pause))
        if signed.name not in signatures
        or not signed_rows.holds(
            tx, signed, program, is_now, *signatures[signed.name], tx.versions.get((signed.name, program), 0)
        )
    ]
    for signed in changed:
        signed_rows.met(tx, signed)
    return Stopped(
        by_key=row is not None and row["paused_at"] is not None,
        # A pause that cannot be read is one.
        by_people=pause is not None or tx.set_aside.has(t.pause.name, program),
        endpoints=held,
        drafts_since=None if row is None else row["drafts_since"],
        drafts_until=None if row is None else row["drafts_until"],
        changed_outside=bool(changed),
    )
