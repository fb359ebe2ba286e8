"""Requests for showing: by several filters at once, page by page; and which request a key belongs to."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, func, or_, select

from bot.domain.requests.lifecycle import Request, State
from storage import tables as t
from storage.store import Tx

_COLUMNS = tuple(t.request.c[field.name] for field in fields(Request))
_AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a search asks for; None or empty asks for nothing.

    A batch stands for its rows; with `each_row`, or a `subject`, it is the other way round.
    """

    states: Collection[State] = ()
    kinds: Collection[str] = ()
    requester: str = ""
    subject: str = ""
    since: datetime | None = None
    until: datetime | None = None
    each_row: bool = False


async def count(tx: Tx, wanted: Wanted) -> int:
    asked = select(func.count()).select_from(t.request).where(*_where(wanted))
    return int((await tx.run(asked)).scalar_one())


async def page(tx: Tx, wanted: Wanted, *, limit: int, offset: int) -> list[Request]:
    """The newest first."""
    row = t.request.c
    asked = select(*_COLUMNS).where(*_where(wanted)).order_by(row.created_at.desc(), row.id.desc())
    return _requests((await tx.run(asked.limit(limit).offset(offset))).all())


async def after(tx: Tx, wanted: Wanted, last: Request | None, *, limit: int) -> list[Request]:
    """The oldest first, those after `last`: however many there are, each page costs the same."""
    row = t.request.c
    where = _where(wanted)
    if last is not None:
        later = (row.created_at == last.created_at) & (row.id > last.id)
        where.append(or_(row.created_at > last.created_at, later))
    asked = select(*_COLUMNS).where(*where).order_by(row.created_at, row.id).limit(limit)
    return _requests((await tx.run(asked)).all())


async def by_key(tx: Tx, keys: Collection[str]) -> dict[str, str]:
    """Request ids by idempotency key; keys that are not ours are missing."""
    found: dict[str, str] = {}
    wanted = sorted(keys)
    row = t.request.c
    for start in range(0, len(wanted), _AT_ONCE):
        some = row.key.in_(wanted[start : start + _AT_ONCE])
        found |= {one.key: one.id for one in (await tx.run(select(row.key, row.id).where(some))).all()}
    return found


def _where(wanted: Wanted) -> list[ColumnElement[bool]]:
    row = t.request.c
    by_row = wanted.each_row or wanted.subject
    where: list[ColumnElement[bool]] = [row.rows.is_(None) if by_row else row.parent_id.is_(None)]
    if wanted.states:
        where.append(row.state.in_([str(state) for state in wanted.states]))
    if wanted.kinds:
        where.append(row.kind.in_(list(wanted.kinds)))
    if wanted.requester:
        where.append(row.requester == wanted.requester)
    if wanted.subject:
        where.append(row.subject == wanted.subject)
    if wanted.since is not None:
        where.append(row.created_at >= wanted.since)
    if wanted.until is not None:
        where.append(row.created_at < wanted.until)
    return where


def _requests(rows: Sequence[Any]) -> list[Request]:
    return [Request(**{**row._mapping, "state": State(row.state)}) for row in rows]
