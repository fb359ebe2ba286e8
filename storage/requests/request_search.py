"""Reading requests: by several filters at once, page by page; and which request a key belongs to.

A page costs the same however many requests there are: it is read from an index that has just these requests in this
order. Where several states or kinds are asked for it is put together from the first of each.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from functools import cache
from itertools import product
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Select, bindparam, func, select, tuple_, union_all

from bot.domain.requests import Request, State
from storage import tables as t
from storage.transaction import Tx, one_of

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


@dataclass(frozen=True, slots=True)
class Beside:
    """The request beside which a page begins: with the first after it, in the order asked for, or with `back` the last
    before it."""

    created_at: datetime
    id: str
    back: bool = False


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
_ORDER = (_R.created_at, _R.id)
_NEWEST_FIRST = (_R.created_at.desc(), _R.id.desc())
# Of more kinds and states than these each request is looked at instead.
_MOST_PARTS = 30
_MOST: Any = bindparam("most")


async def count(tx: Tx, wanted: Wanted, *, most: int) -> int:
    """How many there are, counted up to `most`."""
    form = _form(wanted)
    if not form.parts:
        return 0
    return int((await tx.run(_count(form), {**_values(wanted, form), "most": most})).scalar_one())


async def page(
    tx: Tx,
    wanted: Wanted,
    *,
    limit: int,
    skip: int = 0,
    beside: Beside | None = None,
    oldest_first: bool = False,
) -> list[Request]:
    """The newest first unless told otherwise.

    A page begins `beside` the last request of the one before it, whatever came meanwhile. What is to `skip` is read
    all the same: skip little.
    """
    form = _form(wanted)
    if not form.parts:
        return []
    is_back = beside is not None and beside.back
    values = {**_values(wanted, form), "most": limit, "past": skip, "reach": limit + skip}
    if beside is not None:
        values |= {"beside_at": beside.created_at, "beside_id": beside.id}
    asked = _page(form, oldest_first is not is_back, beside is not None)
    found = await rows(tx, asked, values)
    return found[::-1] if is_back else found


async def after(tx: Tx, wanted: Wanted, last: Request | None, *, limit: int) -> list[Request]:
    """The oldest first, those after `last`: however many there are, each page costs the same."""
    beside = None if last is None else Beside(last.created_at, last.id)
    return await page(tx, wanted, limit=limit, beside=beside, oldest_first=True)


async def place(tx: Tx, request_id: str, *, back: bool = False) -> Beside | None:
    """Where a request stands in a list; None for one that there is not."""
    found = (await tx.run(_CREATED_AT, {"id": request_id})).scalar_one_or_none()
    return None if found is None else Beside(found, request_id, back)


_CREATED_AT = select(_R.created_at).where(_R.id == bindparam("id"))
_BY_KEY = one_of(select(_R.key, _R.id, _R.state), _R.key)


async def by_key(tx: Tx, keys: Collection[str]) -> dict[str, str]:
    """Request ids by idempotency key; keys that are not ours are missing."""
    return {one.key: one.id for one in await tx.run_among(_BY_KEY, keys)}


async def states_by_key(tx: Tx, keys: Collection[str]) -> dict[str, State]:
    """States by idempotency key; keys that are not ours are missing."""
    return {one.key: one.state for one in await tx.run_among(_BY_KEY, keys)}


class _Form(NamedTuple):
    """What a statement depends on: built once for each. `parts`: the kind and state of each of its parts; none where
    nothing can fit."""

    by_row: bool
    given: frozenset[str]
    parts: tuple[tuple[str | None, str | None], ...] = ((None, None),)


def _form(wanted: Wanted) -> _Form:
    given = frozenset(wanted.given)
    if wanted.by_row or not given & {"states", "kinds", "requester"}:
        return _Form(wanted.by_row, given)
    states = sorted({str(state) for state in (State if wanted.states is None else wanted.states)})
    kinds = sorted(set(wanted.kinds or ()))
    if "requester" in given or not kinds or len(kinds) * len(states) > _MOST_PARTS:
        return _Form(False, given - {"states"}, tuple((None, state) for state in states))
    return _Form(False, given - {"states", "kinds"}, tuple(product(kinds, states)))


def _values(wanted: Wanted, form: _Form) -> dict[str, Any]:
    return {name: value for name, value in wanted.given.items() if name in form.given}


def _where(form: _Form, kind: str | None, state: str | None) -> list[ColumnElement[bool]]:
    return [
        _R.rows.is_(None) if form.by_row else _R.parent_id.is_(None),
        *([] if kind is None else [_R.kind == kind]),
        *([] if state is None else [_R.state == state]),
        *(_ASKS_FOR[name] for name in sorted(form.given)),
    ]


@cache
def _page(form: _Form, oldest_first: bool, has_beside: bool) -> Select[Any]:
    order = _ORDER if oldest_first else _NEWEST_FIRST
    place = tuple_(bindparam("beside_at", type_=_R.created_at.type), bindparam("beside_id", type_=_R.id.type))
    beside = [tuple_(*_ORDER) > place if oldest_first else tuple_(*_ORDER) < place] if has_beside else []
    if len(form.parts) == 1:
        asked = select(*COLUMNS).where(*_where(form, *form.parts[0]), *beside)
    else:
        some = [select(_R.id).where(*_where(form, *part), *beside) for part in form.parts]
        parts = [part.order_by(*order).limit(bindparam("reach")).subquery() for part in some]
        ids = union_all(*(select(part.c.id) for part in parts)).subquery("found")
        asked = select(*COLUMNS).join_from(ids, t.request, _R.id == ids.c.id)
    return asked.order_by(*order).limit(_MOST).offset(bindparam("past"))


@cache
def _count(form: _Form) -> Select[Any]:
    # In the order of an index, so that it is read, and no further than need be.
    some = [select(_R.id).where(*_where(form, *part)).order_by(*_NEWEST_FIRST) for part in form.parts]
    parts = [part.limit(_MOST).subquery() for part in some]
    found = union_all(*(select(part.c.id) for part in parts)).limit(_MOST).subquery("found")
    return select(func.count()).select_from(found)


async def rows(tx: Tx, asked: Select[Any], *values: Mapping[str, Any]) -> list[Request]:
    """The requests that a statement over `COLUMNS` gives, with these values in it."""
    return [Request(**row._mapping) for row in (await tx.run(asked, *values)).all()]
