"""Reading requests: by several filters at once, page by page; and which request a key belongs to."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from functools import cache
from typing import Any

from sqlalchemy import ColumnElement, Select, bindparam, func, or_, select

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
    program: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    each_row: bool = False

    @property
    def by_row(self) -> bool:
        return self.each_row or self.subject is not None

    @property
    def given(self) -> dict[str, Any]:
        """What it asks for, by name."""
        named = {name: getattr(self, name) for name in _ASKS_FOR}
        given = {name: value for name, value in named.items() if value is not None}
        return given | {name: list(given[name]) for name in _LISTS if name in given}


_R = t.request.c
_LISTS = ("states", "kinds")
_ASKS_FOR = {
    "states": _R.state.in_(bindparam("states", expanding=True)),
    "kinds": _R.kind.in_(bindparam("kinds", expanding=True)),
    "requester": _R.requester == bindparam("requester"),
    "subject": _R.subject == bindparam("subject"),
    "program": _R.program == bindparam("program"),
    "since": _R.created_at >= bindparam("since"),
    "until": _R.created_at < bindparam("until"),
}


async def count(tx: Tx, wanted: Wanted) -> int:
    where = _where(wanted.by_row, frozenset(wanted.given))
    asked = select(func.count()).select_from(t.request).where(*where)
    return int((await tx.run(asked, wanted.given)).scalar_one())


async def page(
    tx: Tx, wanted: Wanted, *, limit: int, offset: int = 0, oldest_first: bool = False
) -> list[Request]:
    """The newest first unless told otherwise."""
    given = wanted.given
    asked = _page(wanted.by_row, frozenset(given), oldest_first)
    return await rows(tx, asked, {**given, "most": limit, "past": offset})


async def after(tx: Tx, wanted: Wanted, last: Request | None, *, limit: int) -> list[Request]:
    """The oldest first, those after `last`: however many there are, each page costs the same."""
    row = t.request.c
    where = _where(wanted.by_row, frozenset(wanted.given))
    if last is not None:
        later = (row.created_at == last.created_at) & (row.id > last.id)
        where.append(or_(row.created_at > last.created_at, later))
    asked = select(*COLUMNS).where(*where).order_by(row.created_at, row.id).limit(limit)
    return await rows(tx, asked, wanted.given)


async def by_key(tx: Tx, keys: Collection[str]) -> dict[str, str]:
    """Request ids by idempotency key; keys that are not ours are missing."""
    row = t.request.c
    return {one.key: one.id for one in await tx.run_among(select(row.key, row.id), row.key, keys)}


def _where(by_row: bool, given: frozenset[str]) -> list[ColumnElement[bool]]:
    return [
        _R.rows.is_(None) if by_row else _R.parent_id.is_(None),
        *(_ASKS_FOR[name] for name in sorted(given)),
    ]


@cache
def _page(by_row: bool, given: frozenset[str], oldest_first: bool) -> Select[Any]:
    """It is asked all the time, so it is built once for each set of conditions that is `given`."""
    order = (_R.created_at, _R.id) if oldest_first else (_R.created_at.desc(), _R.id.desc())
    asked = select(*COLUMNS).where(*_where(by_row, given)).order_by(*order)
    return asked.limit(bindparam("most")).offset(bindparam("past"))


async def rows(tx: Tx, asked: Select[Any], *values: Mapping[str, Any]) -> list[Request]:
    """The requests that a statement over `COLUMNS` gives, with these values in it."""
    return [Request(**row._mapping) for row in (await tx.run(asked, *values)).all()]
