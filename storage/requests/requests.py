"""Requests: every change is guarded by the version (or the fence) the caller saw.

`move`, `touch` and `finish` write only over what they were shown; a row that moved on meanwhile is
left as it is. Sealed columns are written once, at `insert`, and dropped by `purge`.

On PostgreSQL locks are taken in one order, so that no two transactions wait for each other: the program, the rows of
a batch by id, the batch or other request, the rolling limits, the end of the audit chain. So whoever changes a row
holds its batch as well before anything goes on record, and several requests that are no rows of one batch are changed
in a transaction each.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Executable,
    Integer,
    Select,
    and_,
    bindparam,
    case,
    exists,
    func,
    literal,
    not_,
    or_,
    select,
    text,
    union,
    update,
)
from sqlalchemy import (
    insert as insert_row,
)

from bot.domain.errors import Stale
from bot.domain.limits import WINDOW, Grant, Grants, most_possible_usd
from bot.domain.money import exact_sum
from bot.domain.people import Limits
from bot.domain.requests import (
    COMMITTED,
    OPEN,
    TERMINAL,
    UNSENT,
    DecisionKind,
    Event,
    PendingHold,
    Request,
    State,
    advance,
    fingerprints,
    moves_of,
)
from storage import audit, columns
from storage import tables as t
from storage.columns import UtcDateTime, json_text
from storage.errors import LogNotWhole
from storage.log_record import Count, Counted, on_record, open_requests
from storage.protection import DETAILS_LINK
from storage.requests import lost_debits, request_search, unseen
from storage.requests.frozen import Frozen, opened
from storage.requests.request_search import COLUMNS, FIELDS, Wanted
from storage.sealed_columns import DOES_NOT_OPEN, REQUEST_BODY, REQUEST_PRIVATE
from storage.transaction import RequestRow, Tx, lease_clock, lease_end, lease_holds, one_of
from storage.vault import Ref, Sealed

_APPROVING = (DecisionKind.APPROVE, DecisionKind.BREAK_GLASS)
_GUARDED = frozenset(
    {"id", "state", "version", "key", "requester", "digest", "program", "kind", "terms", "rows", "parent_id"}
)
_TERMS = frozenset({"terms", "summary", "exposure_usd", "approvals_needed", "facts", "digest", "rows"})
_LIMITS_LOCK = 0x6C696D69  # any number that only this lock uses
_UNDER_WAY = (State.EXECUTING, State.UNRESOLVED)
EXPIRED_AT_ONCE = 200
_EVER, _NEVER = datetime(2000, 1, 1, tzinfo=UTC), datetime(9000, 1, 1, tzinfo=UTC)
# What is asked all the time is built once.
_R = t.request.c
_INSERT = insert_row(t.request)
_BY_ID = select(*COLUMNS).where(_R.id == bindparam("id"))
_FROZEN = select(_R.sealed_private, _R.sealed_body).where(_R.id == bindparam("id"))
_M = t.message.c
_IS_POSTED = exists().where(_M.subject == bindparam("subject"), _M.kind == bindparam("form"))
_WITH_MESSAGE = select(*COLUMNS, _IS_POSTED.label("is_posted")).where(_R.id == bindparam("id"))
# A batch that waits takes its rows with it.
_WAITED = (_R.state == State.PENDING) & (_R.expires_at <= bindparam("now")) & _R.parent_id.is_(None)
_UNSENT = (_R.state == State.APPROVED) & (_R.valid_until <= bindparam("now"))
_EXPIRING = (
    select(*COLUMNS).where(or_(_WAITED, _UNSENT)).order_by(_R.created_at, _R.id).limit(bindparam("most"))
)
_EXPIRING_AFTER = _EXPIRING.where(
    (_R.created_at > bindparam("at")) | ((_R.created_at == bindparam("at")) & (_R.id > bindparam("id")))
)
_GIVEN_UP = (
    (_R.state == State.UNRESOLVED)
    & (_R.first_sent_at <= bindparam("sent_before"))
    & _R.kind.not_in(bindparam("still_sent", expanding=True))
)
_PURGE_DUE = (
    select(_R.id)
    .where(_R.purged_at.is_(None), or_(_R.state.not_in(list(OPEN)), _GIVEN_UP))
    .order_by(_R.created_at)
)
_EACH = one_of(select(*COLUMNS), _R.id)
_SEALED = one_of(select(_R.id, _R.sealed_private, _R.sealed_body), _R.id)
_UNDER_WAY_THEN = (
    select(*COLUMNS)
    .where(_R.state == State.EXECUTING, _R.rows.is_(None), _R.key_expires_at <= bindparam("now"))
    .order_by(_R.created_at, _R.id)
    .limit(bindparam("most"))
)
# Of the one who held it when he looked.
_MINE = (
    _R.id == bindparam("request_id"),
    _R.fence == bindparam("fence_then"),
    _R.lease_owner == bindparam("by"),
)
_GIVE_BACK = update(t.request).where(*_MINE).values(lease_owner=None, lease_until=None)
_OF_BATCH = select(*COLUMNS).where(_R.parent_id == bindparam("parent_id"))
_HELD = select(_R.id, _R.parent_id, _R.state, _R.rows, _R.exposure_usd).where(
    _R.program == bindparam("program"),
    _R.state.in_(list(UNSENT)),
    _R.kind.in_(bindparam("float_kinds", expanding=True)),
)
_REMINDING = (
    select(*COLUMNS)
    .where(_R.state == State.PENDING, _R.remind_at <= bindparam("now"))
    .order_by(_R.remind_at, _R.id)
    .limit(200)
)


async def insert(tx: Tx, request: Request, *, private: Mapping[str, str], body: bytes) -> None:
    """Write a new request, its private values and its body sealed."""
    sealed = {
        "sealed_private": tx.vault.seal(json.dumps(dict(private)).encode(), REQUEST_PRIVATE.ref(request.id)),
        "sealed_body": tx.vault.seal(body, REQUEST_BODY.ref(request.id)),
    }
    row = {name: getattr(request, name) for name in FIELDS}
    await tx.run(_INSERT, {**row, **sealed})


async def get(tx: Tx, request_id: str) -> Request | None:
    row = (await tx.run(_BY_ID, {"id": request_id})).one_or_none()
    return None if row is None else Request(**row._mapping)


async def get_with_message(tx: Tx, request_id: str, subject: str, form: str) -> tuple[Request | None, bool]:
    """The request, and whether a message of this subject and form is in Slack, by the same statement."""
    given = {"id": request_id, "subject": subject, "form": form}
    row = (await tx.run(_WITH_MESSAGE, given)).one_or_none()
    if row is None:
        return None, False
    values = dict(row._mapping)
    is_posted = bool(values.pop("is_posted"))
    return Request(**values), is_posted


async def frozen(tx: Tx, request_id: str) -> Frozen:
    """Raises `Purged` when the details were dropped, `CannotOpen` when they were tampered with."""
    row = (await tx.run(_FROZEN, {"id": request_id})).one()
    return opened(tx, request_id, row.sealed_private, row.sealed_body)


async def bodies_of_rows(tx: Tx, parent_id: str) -> dict[str, bytes]:
    """The frozen body of each row of a batch that still has one, by its id. Raises `CannotOpen`."""
    row = t.request.c
    asked = select(row.id, row.sealed_body).where(row.parent_id == parent_id, row.sealed_body.is_not(None))
    found = (await tx.run(asked)).all()
    return {each.id: tx.vault.open(each.sealed_body, REQUEST_BODY.ref(each.id)) for each in found}


async def move(tx: Tx, request: Request, event: Event, **changes: Any) -> Request:
    """Take `event`: state and version move on, with `changes` (fields of `Request`).

    Raises `IllegalTransition` where the table has no such move, `Stale` when somebody was quicker.
    """
    return await _guarded(tx, request, {**changes, "state": advance(request.state, event)}, set(changes))


async def touch(tx: Tx, request: Request, **changes: Any) -> Request:
    """Change fields under the same guard, and the version with them, but not the state."""
    return await _guarded(tx, request, changes, set(changes))


async def _guarded(tx: Tx, request: Request, values: dict[str, Any], named: set[str]) -> Request:
    _refuse(named)
    return await _write(tx, request, values)


async def _write(tx: Tx, request: Request, values: dict[str, Any]) -> Request:
    row = t.request.c
    # Signing it again under another master key is no new version: nobody decides on a fingerprint that is gone.
    same = {"version": request.version, "state": request.state, "digest": request.digest}
    guard = (row.id == request.id, *(row[name] == value for name, value in same.items()))
    changed = (
        update(t.request)
        .where(*guard)
        .values({**values, "version": await version_of(tx, request) + 1})
        .returning(*COLUMNS)
    )
    found = (await tx.run(changed)).one_or_none()
    if found is None:
        raise Stale(f"{request.id} changed in the meantime. Look at it again.")
    _note(tx, request, found.version, fingerprints.of_progress(request))
    after = _as_meant(request, Request(**found._mapping), values)
    _note_end(tx, request, after)
    return await _with_its_batch(tx, after)


async def version_of(tx: Tx, request: Request) -> int:
    """Its version; where somebody wrote one that we never come to, or one of before, the one on record, and people are
    notified."""
    is_ours, known = columns.is_ours(request.version), 0
    try:
        known = await on_record.version(tx, request.id, now=not is_ours)
    except LogNotWhole:  # whoever adds to it learns that by himself
        if not is_ours:
            raise
    if is_ours and request.version >= known:
        return request.version
    tx.chain.rows_met.add(t.request.name)
    # Of one that is nowhere on record nobody knows it: then a number that is above all of ours.
    return known or columns.MOST


def _note_end(tx: Tx, before: Request, after: Request) -> None:
    """How a request is left that has ended goes on record: by whoever left it so, or by itself."""
    if after.state in OPEN:
        tx.ended.pop(after.id, None)
        return
    was = "" if before.state in OPEN else fingerprints.of_end(before)
    left = fingerprints.of_end(after)
    if was != left:
        if not tx.ended:
            tx.before_commit(lambda: _record_ends(tx), first=True)
        tx.ended.setdefault(after.id, []).append((was, left, after.version))


async def _record_ends(tx: Tx) -> None:
    ended, tx.ended = tx.ended, {}
    for request_id, steps in ended.items():
        for was, left, version in steps:
            subject, body = f"request:{request_id}:{version}", {audit.ENDED: [was, left]}
            await audit.append(tx, actor="system:storage", action=audit.KEPT, subject=subject, body=body)


def _note(tx: Tx, before: Request, version: int, progress: str) -> None:
    """What the row said before this change, which the audit log is held against; the first one in a transaction
    counts. `progress`: see `RequestRow`."""
    approved_at = open_requests.approved_at(before)
    tx.was.setdefault(before.id, RequestRow(before.state, version - 1, progress, approved_at))


def _as_meant(before: Request, after: Request, values: Mapping[str, Any]) -> Request:
    """As it was to be written: of what the row says of its calls, or of until when its approval is good, the database
    may have written something else, and the audit log must not have that."""
    names = (*fingerprints.PROGRESS, "valid_until")
    meant = {name: values.get(name, getattr(before, name)) for name in names}
    if meant["outcome"] is not None:
        meant["outcome"] = json.loads(json_text(meant["outcome"]))
    return replace(after, **meant)


async def _with_its_batch(tx: Tx, row: Request) -> Request:
    """A row that was just written, its batch held too: what follows from it changes the batch, and comes later."""
    if row.parent_id is not None:
        await lock(tx, row.parent_id)
    return row


async def reserve(tx: Tx, request_id: str, *, owner: str, lease_s: float) -> Request | None:
    """Hold a due request while it is looked at: nobody else looks at it or takes it up meanwhile.

    It stays as it is, its version too, but for the lease and a fence one higher than any before. None when it is not
    due, held by another, or not to be executed.
    """
    given = {"request_id": request_id, "by": owner, **tx.lease_times(timedelta(seconds=lease_s))}
    found = (await tx.run(_reserving(tx.is_postgres), given)).one_or_none()
    return None if found is None else Request(**found._mapping)


@cache
def _reserving(is_postgres: bool) -> Executable:
    held = {
        "fence": columns.one_more(_R.fence),
        "lease_owner": bindparam("by"),
        "lease_until": lease_end(is_postgres=is_postgres),
    }
    wanted = (_R.id == bindparam("request_id"), *_claimable(is_postgres))
    return update(t.request).where(*wanted).values(held).returning(*COLUMNS)


async def give_back(tx: Tx, held: Request) -> None:
    """Nothing is called for what was reserved; nothing happens where it is somebody else's by now, or was claimed."""
    given = {"request_id": held.id, "fence_then": held.fence, "by": held.lease_owner}
    await tx.run(_GIVE_BACK, given)


async def claim(
    tx: Tx,
    request_id: str,
    *,
    owner: str,
    lease_s: float,
    judged: Request | None = None,
    may_expire: bool = True,
) -> Request | None:
    """Take a due request for execution: a lease, and a fence one higher than any before.

    None when it is not due, held by another, or not to be executed; or when it is not as it was `judged` any more, by
    the `owner` who has reserved it. Must be committed before the first byte is sent. An expired approval is none,
    unless `may_expire` is False.
    """
    given = {"request_id": request_id, "by": owner, **tx.lease_times(timedelta(seconds=lease_s))}
    if judged is not None:
        given |= {"version_then": judged.version, "state_then": judged.state, "fence_then": judged.fence}
    given["version_known"] = 0 if judged is None else await version_of(tx, judged)
    claiming = _claiming(tx.is_postgres, is_judged=judged is not None, may_expire=may_expire)
    found = (await tx.run(claiming, given)).one_or_none()
    if found is None:
        return None
    after = Request(**found._mapping)
    if judged is None:
        return await _with_its_batch(tx, after)
    _note(tx, judged, after.version, fingerprints.of_progress(judged))
    after = _as_meant(judged, after, {"first_sent_at": judged.first_sent_at or tx.now})
    return await _with_its_batch(tx, after)


@cache
def _claiming(is_postgres: bool, *, is_judged: bool, may_expire: bool) -> Executable:
    row = t.request.c
    same, reserved = [], None
    if is_judged:
        same = [row.version == bindparam("version_then"), row.state == bindparam("state_then")]
        reserved = (row.fence == bindparam("fence_then")) & (row.lease_owner == bindparam("by"))
    # An approval does not last: the first byte leaves before `valid_until`, or never.
    valid = [(row.state != State.APPROVED) | (row.valid_until > bindparam("now"))] if may_expire else []
    after_claim = {before.value: after.value for before, after in moves_of(Event.CLAIM).items()}
    return (
        update(t.request)
        .where(row.id == bindparam("request_id"), *same, *_claimable(is_postgres, reserved), *valid)
        .values(
            state=case(after_claim, value=row.state),
            version=columns.one_more(row.version, known=bindparam("version_known", type_=Integer)),
            fence=columns.one_more(row.fence),
            attempts=columns.one_more(row.attempts),
            first_sent_at=func.coalesce(row.first_sent_at, bindparam("now", type_=UtcDateTime())),
            lease_owner=bindparam("by"),
            lease_until=lease_end(is_postgres=is_postgres),
        )
        .returning(*COLUMNS)
    )


async def renew(tx: Tx, request_id: str, *, owner: str, fence: int, lease_s: float) -> bool:
    """Hold a lease for longer. False when it is no longer ours: stop, and write nothing."""
    given = {"request_id": request_id, "fence_then": fence, "by": owner}
    times = tx.lease_times(timedelta(seconds=lease_s))
    changed = await tx.run(_renewing(tx.is_postgres), {**given, **times})
    return bool(changed.rowcount)


@cache
def _renewing(is_postgres: bool) -> Executable:
    holds = _R.lease_until >= lease_clock(is_postgres=is_postgres)
    return update(t.request).where(*_MINE, holds).values(lease_until=lease_end(is_postgres=is_postgres))


async def finish(tx: Tx, request: Request, event: Event | None, **changes: Any) -> Request | None:
    """End a claim: `event` (None = the state stays) and `changes`, and the lease is given back.

    None means FENCED: another executor took the request over, nothing was written, and nothing may be. With the end
    of a request its sealed details go, as `purge` drops them.
    """
    _refuse(set(changes))
    row = t.request.c
    state = request.state if event is None else advance(request.state, event)
    values = {"lease_owner": None, "lease_until": None, **changes, "state": state}
    if state in TERMINAL:
        values |= _purged(tx)
    mine = (
        row.id == request.id,
        row.fence == request.fence,
        row.lease_owner == request.lease_owner,
        row.state == request.state,
    )
    changed = (
        update(t.request)
        .where(*mine)
        .values({**values, "version": columns.one_more(row.version, known=request.version)})
        .returning(*COLUMNS)
    )
    found = (await tx.run(changed)).one_or_none()
    if found is None:
        return None
    _note(
        tx, request, found.version, ""
    )  # it leans on what was read with the claim, which was held against the log
    after = _as_meant(request, Request(**found._mapping), values)
    _note_end(tx, request, after)
    return await _with_its_batch(tx, after)


async def put_right(tx: Tx, request: Request, state: State, *, text: str) -> Request:
    """Write how a request has ended, or that nobody knows how (`unresolved`), whatever somebody made of its row.

    Nothing is sent for it any more, and looks at it count from the request on. Raises `Stale`.
    """
    if state not in TERMINAL and state is not State.UNRESOLVED:
        raise ValueError("a request that is put right is over")
    values: dict[str, Any] = {
        "state": state,
        "outcome_text": text,
        "fence": columns.counted(request.fence) + 1,
    }
    values |= dict.fromkeys(("due_at", "remind_at", "lease_owner", "lease_until"))
    if state is State.UNRESOLVED:
        forgotten = {"first_sent_at": request.created_at, "key_expires_at": tx.now, "outcome": None}
        return await _write(
            tx, request, {**values, **forgotten, "needs_person": True, "outcome_unknown": True}
        )
    return await _write(tx, request, {**values, "finished_at": tx.now, **_purged(tx)})


async def put_off(tx: Tx, request: Request, until: datetime) -> None:
    """Look at it again at `until`. It stays as it is, its version too; nothing where it was changed meanwhile."""
    row = t.request.c
    same = (row.id == request.id, row.version == request.version)
    await tx.run(update(t.request).where(*same).values(due_at=until))


async def due(
    tx: Tx,
    *,
    program: str | None = None,
    states: Collection[State] | None = None,
    kinds: Collection[str] | None = None,
    unsent_wait: Collection[str] = (),
    but_not: Collection[str] = (),
    limit: int = 100,
) -> list[str]:
    """Ids to be executed or reconciled now that nobody holds, the longest due first.

    Of this program, in these states, of these kinds, where they are given; without those in `but_not`. Of the kinds
    in `unsent_wait` nothing may be sent for the first time.
    """
    given: dict[str, Any] = {} if program is None else {"program": program}
    lists = {"states": states, "kinds": kinds, "unsent_wait": unsent_wait or None, "but_not": but_not or None}
    given |= {name: list(values) for name, values in lists.items() if values is not None}
    asked = _due(tx.is_postgres, frozenset(given))
    return list((await tx.run(asked, {**given, **tx.times, "most": limit})).scalars())


async def any_due(tx: Tx) -> bool:
    """Is there anything to be executed or reconciled now that nobody holds?"""
    asked = _due(tx.is_postgres, frozenset())
    return (await tx.run(asked, {**tx.times, "most": 1})).first() is not None


@cache
def _due(is_postgres: bool, given: frozenset[str]) -> Select[Any]:
    """It is asked at every turn of the engine, so it is built once for each set of conditions that is `given`."""
    row = t.request.c
    where = {
        "program": row.program == bindparam("program"),
        "states": row.state.in_(bindparam("states", expanding=True)),
        "kinds": row.kind.in_(bindparam("kinds", expanding=True)),
        "unsent_wait": or_(
            row.state != State.APPROVED, row.kind.not_in(bindparam("unsent_wait", expanding=True))
        ),
        "but_not": row.id.not_in(bindparam("but_not", expanding=True)),
    }
    asked = select(row.id).where(*_claimable(is_postgres), *(where[name] for name in sorted(given)))
    return asked.order_by(row.due_at).limit(bindparam("most"))


async def due_at_once(tx: Tx, program: str) -> None:
    """What is approved or under way and was put off is due now, unless its outcome is in doubt: that has its own
    times.

    It waits for no lock: what somebody else is changing now is left out.
    """
    row = t.request.c
    waits = (row.program == program, row.state.in_([State.APPROVED, State.EXECUTING]), row.due_at > tx.now)
    found = select(row.id).where(*waits, row.outcome_unknown.is_(False)).with_for_update(skip_locked=True)
    await tx.run(update(t.request).where(row.id.in_(found)).values(due_at=tx.now))


async def find(
    tx: Tx,
    *,
    states: Collection[State] | None = None,
    requester: str | None = None,
    subject: str | None = None,
    program: str | None = None,
    kinds: Collection[str] | None = None,
    since: datetime | None = None,
    limit: int = 50,
    oldest_first: bool = False,
    each_row: bool = False,
) -> list[Request]:
    """Requests that fit everything given, the newest first unless told otherwise.

    Of batches and their rows as `Wanted` says.
    """
    wanted = Wanted(states, kinds, requester, subject, program, since, each_row=each_row)
    return await request_search.page(tx, wanted, limit=limit, oldest_first=oldest_first)


async def expiring(tx: Tx, last: Request | None = None) -> list[Request]:
    """Pending past `expires_at`, and approved (so not a byte sent) past `valid_until`: some, the oldest first.

    Those after `last` of the page before: what is due and does not expire is not met again.
    """
    values = {"now": tx.now, "most": EXPIRED_AT_ONCE}
    if last is None:
        return await request_search.rows(tx, _EXPIRING, values)
    return await request_search.rows(tx, _EXPIRING_AFTER, {**values, "at": last.created_at, "id": last.id})


async def failed_in_doubt(tx: Tx, *, since: datetime, also: Collection[str] = ()) -> list[Request]:
    """Failed, and it may have been carried out late.

    Given up since then although an attempt's outcome was never known, or due for another look (`look_again`); and
    those with an id in `also`, whatever their rows say of that.
    """
    return await request_search.rows(tx, _failed_in_doubt(), {"since": since, "also": list(also)})


@cache
def _failed_in_doubt() -> Select[Any]:
    row = t.request.c
    since: Any = bindparam("since")
    # In the words of the index of those in doubt, so that the database may use it; and each by itself.
    for_doubt = (text("request.outcome_unknown"), row.finished_at >= since, row.finished_at < _NEVER)
    for_look = (row.due_at >= _EVER, row.due_at < _NEVER)
    either = union(
        select(row.id).where(*for_doubt), select(row.id).where(row.state == State.FAILED, *for_look)
    )
    among = or_(row.id.in_(either), row.id.in_(bindparam("also", expanding=True)))
    failed = select(*COLUMNS).where(row.state == State.FAILED, among)
    return failed.order_by(row.finished_at, row.id).limit(500)


async def look_again(tx: Tx, ids: Collection[str], states: Collection[State]) -> None:
    """Those of them that are in one of these states are due for another look, however long ago the last one was."""
    given = {"ids": list(ids), "states": list(states)}
    await tx.run(_looking_again(tx.is_postgres), {**given, **tx.times})


@cache
def _looking_again(is_postgres: bool) -> Executable:
    row = t.request.c
    is_one = row.id.in_(bindparam("ids", expanding=True))
    found = (is_one, row.state.in_(bindparam("states", expanding=True)), row.rows.is_(None))
    is_free = or_(row.lease_until.is_(None), ~lease_holds(row.lease_until, is_postgres=is_postgres))
    now = bindparam("now", type_=UtcDateTime())
    return update(t.request).where(*found, is_free).values(due_at=now)


async def sent_of_kind(
    tx: Tx, kind: str, *, program: str, subject: str, since: datetime | None = None
) -> list[Request]:
    """Every request of one kind on one subject that was ever sent, or first sent since then; rows, not batches."""
    row = t.request.c
    wanted = [row.kind == kind, row.program == program, row.subject == subject, row.rows.is_(None)]
    wanted.append(row.first_sent_at.is_not(None) if since is None else row.first_sent_at >= since)
    return await request_search.rows(tx, select(*COLUMNS).where(*wanted).order_by(row.created_at, row.id))


async def reminding(tx: Tx) -> list[Request]:
    """Pending requests whose reminder is due."""
    return await request_search.rows(tx, _REMINDING, {"now": tx.now})


async def purge(tx: Tx, request_id: str) -> None:
    """Drop the sealed details; `Store.checkpoint` then takes their bytes out of SQLite's log as well."""
    changed = update(t.request).where(t.request.c.id == request_id, t.request.c.purged_at.is_(None))
    await tx.run(changed.values(_purged(tx)))


def _purged(tx: Tx) -> dict[str, Any]:
    return {"sealed_private": None, "sealed_body": None, "purged_at": tx.now}


async def purge_due(tx: Tx, *, unresolved_after: timedelta, still_sent: Collection[str] = ()) -> list[str]:
    """Ids whose details are no longer needed: settled, or unresolved for longer than `unresolved_after`.

    Of the kinds in `still_sent` the body is needed until the end: no time ends what cannot wait.
    """
    given = {"sent_before": tx.now - unresolved_after, "still_sent": list(still_sent)}
    return list((await tx.run(_PURGE_DUE, given)).scalars())


async def pending_hold(tx: Tx, program: str, float_kinds: Collection[str], limits: Limits) -> PendingHold:
    """What this program's unsent requests of `float_kinds` will take from its float. Rows count, batches do not.

    What `limits` never let anybody approve will take nothing: it does not count, nor do the rows of such a batch.
    """
    found = (await tx.run(_HELD, {"program": program, "float_kinds": list(float_kinds)})).all()
    most_usd = most_possible_usd(limits)
    never = {
        each.id
        for each in found
        if each.state == State.PENDING and most_usd is not None and each.exposure_usd > most_usd
    }
    held = [
        each.exposure_usd
        for each in found
        if each.rows is None and each.id not in never and each.parent_id not in never
    ]
    return PendingHold(exact_sum(held), len(held))


async def grants(
    tx: Tx, since: datetime, *, until: datetime | None = None, with_approvers: bool = False
) -> Grants:
    """What was approved since then, and before `until`, and not given back, by everybody. Rows count, batches do not.

    `with_approvers`: with the accounts that approved each, which is more to read. Call `lock_limits` first when a
    decision hangs on it.
    """
    end = until or _NEVER
    values = {"since": since, "until": end}

    async def read() -> dict[str, Grant]:
        found: dict[str, Grant] = {}
        for row in await tx.run(_grants(with_approvers), values):
            if row.state not in COMMITTED:
                continue
            before = found.get(row.id)
            by = frozenset() if row.actor is None else frozenset({row.actor})
            found[row.id] = Grant(
                row.approved_at,
                row.exposure_usd,
                row.subject,
                row.requester,
                by if before is None else before.approvers | by,
            )
        return found

    def counts(one: Counted) -> bool:
        return _adds(one) and since <= one.approved_at < end

    def expects(one: Counted) -> Grant:
        approvers = one.approvers if with_approvers else frozenset[str]()
        return Grant(one.approved_at, one.usd, one.subject, one.requester, approvers)

    rows = await read()
    said = await on_record.known(tx)
    lean_on(tx, Count(since, counts, expects, rows, read, said.debits))
    lost = await lost_debits.since(tx, said, since, until=until)
    return Grants(tuple(rows.values()), tuple(Grant(one.at, one.usd, one.card_id) for one in lost))


@cache
def _grants(with_approvers: bool) -> Select[Any]:
    row, d = t.request.c, t.decision.c
    found = t.request.outerjoin(t.decision, (d.request_id == row.id) & (d.kind == DecisionKind.APPROVE))
    # By the time alone: of a state there are ever more, of a day there are not. With an end, as SQLite takes a time
    # without one for a quarter of all there are, and reads the table.
    return (
        select(
            row.id,
            row.requester,
            row.subject,
            row.exposure_usd,
            row.approved_at,
            row.state,
            (d.actor if with_approvers else literal(None)).label("actor"),
        )
        .select_from(found if with_approvers else t.request)
        .where(
            row.approved_at >= bindparam("since"),
            row.approved_at < bindparam("until"),
            row.rows.is_(None),
        )
    )


async def done_at_once(tx: Tx, kind: str) -> Counter[str]:
    """How many requests of this kind each account had done at once, without an approval, in the last 24 hours."""
    row = t.request.c
    since = tx.now - WINDOW
    wanted = (row.kind == kind, row.break_glass, row.created_at > since, row.created_at < _NEVER)

    async def read() -> dict[str, str]:
        return {one.id: one.requester for one in await tx.run(select(row.id, row.requester).where(*wanted))}

    def counts(one: Counted) -> bool:
        return one.at_once and one.kind == kind and one.created_at > since

    rows = await read()
    lean_on(tx, Count(since, counts, lambda one: one.requester, rows, read))
    return Counter(rows.values())


def _adds(one: Counted) -> bool:
    """Does it add to a sum? What costs nothing is approved without a look at the others, at any moment, and changes no
    sum."""
    return one.is_committed and one.usd != 0


def lean_on(tx: Tx, count: Count) -> None:
    """A decision of this transaction leans on what was counted. Of what is only read nothing is decided."""
    if tx.writes:
        tx.counted.append(count)


async def page_of_all(tx: Tx, after: Request | None, *, limit: int) -> list[Request]:
    """Requests and rows of batches by id, those after this one: to go through all there are."""
    row = t.request.c
    asked = select(*COLUMNS).where(row.id > ("" if after is None else after.id)).order_by(row.id).limit(limit)
    return [Request(**found._mapping) for found in (await tx.run(asked)).all()]


async def not_opening(tx: Tx, ids: Collection[str]) -> frozenset[str]:
    """Those of these requests that have a sealed value which is not theirs."""
    rows = await tx.run_among(_SEALED, ids)
    cells = [
        (one.id, sealed, column)
        for one in rows
        for sealed, column in ((one.sealed_private, REQUEST_PRIVATE), (one.sealed_body, REQUEST_BODY))
        if sealed is not None
    ]
    return frozenset(id_ for id_, sealed, column in cells if not _opens(tx, sealed, column.ref(id_)))


def _opens(tx: Tx, sealed: Sealed, cell: Ref) -> bool:
    try:
        tx.vault.open(sealed, cell)
    except DOES_NOT_OPEN:
        return False
    return True


async def still_to_sign(tx: Tx, *, failed_since: datetime) -> list[str]:
    """Ids of requests, the list in place of a row, of which something may still be done by leave of their signatures.

    They have not ended; or failed since then, or are looked at again, and may be reopened; or succeeded, and a link to
    card details needs their approval, or they were done at once and wait for a second person's word.
    """
    r, d, link = t.request.c, t.decision.c, t.card_reveal.c
    has_a_link = exists().where(link.request_id == r.id, link.state.in_(DETAILS_LINK.alive))
    is_confirmed = exists().where(d.request_id == r.id, d.kind == DecisionKind.CONFIRM)
    waits_for_a_word = r.break_glass & r.parent_id.is_(None) & ~is_confirmed
    alive = or_(
        r.state.in_(list(OPEN)),
        (r.state == State.FAILED) & or_(r.due_at.is_not(None), r.finished_at >= failed_since),
        (r.state == State.SUCCEEDED) & or_(has_a_link, waits_for_a_word),
    )
    whole = func.coalesce(r.parent_id, r.id).label("whole")
    return list((await tx.run(select(whole).where(alive).distinct().order_by(whole))).scalars())


async def sign_again(tx: Tx, request: Request) -> None:
    """Write the signatures of a request that was signed again: its digest, that of its body, and a list's terms."""
    values = {"digest": request.digest, "body_mac": request.body_mac, "terms": dict(request.terms)}
    await tx.run(update(t.request).where(t.request.c.id == request.id).values(values))


async def among(tx: Tx, ids: Collection[str]) -> list[Request]:
    """Those of these that there are."""
    found = await tx.run_among(_EACH, ids)
    return [Request(**row._mapping) for row in found]


async def rows_of(tx: Tx, parent_id: str) -> list[Request]:
    """All rows of a batch, those left out as well, in the order of the file."""
    found = (await tx.run(_OF_BATCH, {"parent_id": parent_id})).all()
    return sorted((Request(**row._mapping) for row in found), key=lambda request: request.row_number)


async def hold_open(tx: Tx) -> list[Request]:
    """All that have not ended, lists and their rows, in the order of their ids; nobody else changes them until this
    transaction ends."""
    r = t.request.c
    asked = select(*COLUMNS).where(r.state.in_(list(OPEN))).order_by(r.id)
    found = (await tx.run(asked.with_for_update(key_share=True) if tx.is_postgres else asked)).all()
    return [Request(**row._mapping) for row in found]


def _is_approved() -> ColumnElement[bool]:
    d = t.decision.c
    return exists().where(d.request_id == _R.id, d.kind.in_(_APPROVING))


async def may_be_sent(tx: Tx, *, sent_after: datetime) -> list[Request]:
    """Those of which something may be sent without another word of people, a list for its rows, the oldest first: not
    sent yet, and approved by somebody or with a key that may be forgotten; or under way, where no key is known to have
    expired that was first sent after `sent_after` or never."""
    return await request_search.rows(tx, _may_be_sent(), {"now": tx.now, "sent_after": sent_after})


@cache
def _may_be_sent() -> Select[Any]:
    r, row = t.request.c, t.request.alias("row")
    now: Any = bindparam("now")
    unsent = r.state.in_(UNSENT) & or_(r.state == State.APPROVED, _is_approved(), r.key_expires_at <= now)

    def is_sent_again(of: Any) -> ColumnElement[bool]:
        return and_(
            of.state.in_((State.APPROVED, *_UNDER_WAY)),
            or_(of.first_sent_at.is_(None), of.first_sent_at > bindparam("sent_after")),
            or_(of.key_expires_at.is_(None), of.key_expires_at > now),
        )

    of_rows = exists().where(row.c.parent_id == r.id, is_sent_again(row.c))
    under_way = r.state.in_(_UNDER_WAY) & or_(r.rows.is_(None) & is_sent_again(r), of_rows)
    asked = select(*COLUMNS).where(r.parent_id.is_(None), or_(unsent, under_way))
    return asked.order_by(r.created_at, r.id)


async def doubtful(tx: Tx, *, limit: int) -> list[Request]:
    """Those not sent yet whose keys may be forgotten; a batch for its rows where that is not sent either."""
    return await request_search.rows(tx, _doubtful(), {"now": tx.now, "most": limit})


@cache
def _doubtful() -> Select[Any]:
    return _unsent(_R.key_expires_at <= bindparam("now"))


async def under_way(tx: Tx, *, limit: int) -> list[Request]:
    """Those that were being sent when an older copy of the database was made, rows of batches among them: by now
    nobody knows what became of them."""
    return await request_search.rows(tx, _UNDER_WAY_THEN, {"now": tx.now, "most": limit})


def _unsent(wanted: ColumnElement[bool]) -> Select[Any]:
    r, parent = t.request.c, t.request.alias("parent")
    of_its_own = or_(
        r.parent_id.is_(None),
        ~exists().where(parent.c.id == r.parent_id, parent.c.state.in_(UNSENT)),
    )
    asked = select(*COLUMNS).where(r.state.in_(UNSENT), wanted, of_its_own)
    return asked.order_by(r.created_at, r.id).limit(bindparam("most"))


async def lock_rows(tx: Tx, parent_id: str) -> None:
    """Hold a batch's rows, then the batch, until the transaction ends. SQLite's write lock does so already."""
    if tx.is_postgres:
        row = t.request.c
        await tx.run(
            select(row.id).where(row.parent_id == parent_id).order_by(row.id).with_for_update(key_share=True)
        )
        await lock(tx, parent_id)


async def lock(tx: Tx, request_id: str) -> None:
    """Hold one request until the transaction ends."""
    if tx.is_postgres:
        await tx.run(
            select(t.request.c.id).where(t.request.c.id == request_id).with_for_update(key_share=True)
        )


async def change_terms(tx: Tx, request: Request, **terms: Any) -> Request:
    """Write what a pending batch asks for again: its terms, summary, figures and digest.

    Only with rows left out; its approvals no longer fit. Raises `Stale`.
    """
    if not request.is_batch or request.state is not State.PENDING or set(terms) - _TERMS:
        raise ValueError("only a pending batch has its terms changed")
    return await _write(tx, request, terms)


async def lock_limits(tx: Tx) -> None:
    """Let one transaction at a time judge limits, until it ends. SQLite's write lock does so already."""
    if tx.is_postgres:
        await tx.run(text(f"SELECT pg_advisory_xact_lock({_LIMITS_LOCK})"))


def _claimable(
    is_postgres: bool, reserved: ColumnElement[bool] | None = None
) -> tuple[ColumnElement[bool], ...]:
    """Due, in a state that can be claimed, and free, or `reserved` by whoever asks; of what was not sent so far, only
    where its message in Slack was seen. To be run with `Tx.times`."""
    row = t.request.c
    free = or_(row.lease_until.is_(None), ~lease_holds(row.lease_until, is_postgres=is_postgres))
    held = free if reserved is None else reserved
    may_go = or_(row.state != State.APPROVED, not_(unseen.is_held()))
    return row.state.in_(list(moves_of(Event.CLAIM))), row.due_at <= bindparam("now"), held, may_go


def _refuse(named: set[str]) -> None:
    wrong = named & _GUARDED or named - set(FIELDS)
    if wrong:
        raise ValueError(f"these fields of a request cannot be changed: {', '.join(sorted(wrong))}")
