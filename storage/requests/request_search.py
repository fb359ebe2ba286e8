"""Reading requests: by several filters at once, page by page; and which request a key belongs to."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Select, func, or_, select

from bot.domain.requests import Request, State
from storage import tables as t
from storage.transaction import Tx

FIELDS = tuple(field.name for field in fields(Request))
COLUMNS = tuple(t.request.c[name] for name in FIELDS)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a search asks for; None asks for nothing.

    A batch stands for its rows, which are hidden; with `each_row`, or a `subject`, it is the other way round.
    """

    states: Collection[State] | None = None
    kinds: Collection[str] | None = None
    requester: str | None = None
    subject: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    each_row: bool = False


async def count(tx: Tx, wanted: Wanted) -> int:
    asked = select(func.count()).select_from(t.request).where(*_where(wanted))
    return int((await tx.run(asked)).scalar_one())


async def page(
    tx: Tx, wanted: Wanted, *, limit: int, offset: int = 0, oldest_first: bool = False
) -> list[Request]:
    """The newest first unless told otherwise."""
    row = t.request.c
    order = (row.created_at, row.id) if oldest_first else (row.created_at.desc(), row.id.desc())
    asked = select(*COLUMNS).where(*_where(wanted)).order_by(*order).limit(limit).offset(offset)
    return [Request(**found._mapping) for found in (await tx.run(asked)).all()]


async def after(tx: Tx, wanted: Wanted, last: Request | None, *, limit: int) -> list[Request]:
    """The oldest first, those after `last`: however many there are, each page costs the same."""
    row = t.request.c
    where = _where(wanted)
    if last is not None:
        later = (row.created_at == last.created_at) & (row.id > last.id)
        where.append(or_(row.created_at > last.created_at, later))
    return await rows(tx, select(*COLUMNS).where(*where).order_by(row.created_at, row.id).limit(limit))


async def by_key(tx: Tx, keys: Collection[str]) -> dict[str, str]:
    """Request ids by idempotency key; keys that are not ours are missing."""
    row = t.request.c
    return {one.key: one.id for one in await tx.run_among(select(row.key, row.id), row.key, keys)}


def _where(wanted: Wanted) -> list[ColumnElement[bool]]:
    row = t.request.c
    by_row = wanted.each_row or wanted.subject is not None
    where: list[ColumnElement[bool]] = [row.rows.is_(None) if by_row else row.parent_id.is_(None)]
    if wanted.states is not None:
        where.append(row.state.in_(list(wanted.states)))
    if wanted.kinds is not None:
        where.append(row.kind.in_(list(wanted.kinds)))
    if wanted.requester is not None:
        where.append(row.requester == wanted.requester)
    if wanted.subject is not None:
        where.append(row.subject == wanted.subject)
    if wanted.since is not None:
        where.append(row.created_at >= wanted.since)
    if wanted.until is not None:
        where.append(row.created_at < wanted.until)
    return where


async def rows(tx: Tx, asked: Select[Any]) -> list[Request]:
    """The requests that a statement over `COLUMNS` gives."""
    return [Request(**row._mapping) for row in (await tx.run(asked)).all()]
