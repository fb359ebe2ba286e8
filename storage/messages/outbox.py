"""The outbox: Slack messages to send, written with the change they tell of; and where pictures hang in Slack."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from typing import Any

from sqlalchemy import Select, and_, bindparam, case, exists, func, not_, or_, select, update

from storage import columns
from storage import tables as t
from storage.transaction import Tx, one_of
from storage.upsert import inserting, upsert

_DRAWN = frozenset({"card", "alert"})
# What people decide on first, then what they should know, then the history of both.
_FIRST = {"card": 0, "alert": 1}
# What comes last of those woken is due after this time: by then the others were sent, if Slack takes them.
WOKEN_LAST_AFTER = timedelta(seconds=5)
# What was tried is put off by two minutes at most, or by what Slack asks for, which is less.
PUT_OFF_AT_MOST = timedelta(minutes=5)


@dataclass(frozen=True, slots=True)
class OutboxRow:
    """One message to send. `kind`: card, line, alert or direct; `state`: `owed`, sending, sent or dropped."""

    id: int
    channel: str
    user: str | None
    kind: str
    subject: str
    body: dict[str, Any]
    dedupe: str
    state: str
    due_at: datetime
    attempts: int
    last_error: str
    created_at: datetime
    sent_at: datetime | None


@dataclass(frozen=True, slots=True)
class Due:
    """A row that can be sent now. `edits`: its message is in Slack already and is drawn again."""

    row: OutboxRow
    edits: bool


@dataclass(frozen=True, slots=True)
class Waiting:
    """Messages that Slack did not take so far: how many, since when, and what it said of the oldest."""

    count: int
    since: datetime
    error: str


@dataclass(frozen=True, slots=True)
class LastTry:
    """`error`: what Slack said of it last; empty where it took it, or was not asked. `is_given_up`: it is not tried
    any more."""

    error: str
    is_given_up: bool


@dataclass(frozen=True, slots=True)
class MessagePlace:
    """Where the picture of a subject hangs, and which version of it was drawn last."""

    channel: str
    ts: str
    posted_at: datetime
    drawn_version: int


async def put(
    tx: Tx,
    *,
    channel: str,
    kind: str,
    subject: str,
    body: Mapping[str, Any],
    dedupe: str,
    user: str | None = None,
    due_at: datetime | None = None,
) -> bool:
    """Put a message into the outbox; False when `dedupe` is known, or a waiting one about the same subject covers it.

    A card or an alert is drawn from the database when it is sent, so one that still waits and due no
    later shows this change, too. True of what `put_together` writes later.
    """
    row = {
        "channel": channel,
        "user": user,
        "kind": kind,
        "subject": subject,
        "body": dict(body),
        "dedupe": dedupe,
        "state": "owed",
        "due_at": due_at or tx.now,
        "attempts": 0,
        "last_error": "",
        "created_at": tx.now,
    }
    if tx.put_later is not None:
        tx.put_later.append(row)
        return True
    return (await tx.run(_put_one(tx.is_postgres), row)).first() is not None


@asynccontextmanager
async def put_together(tx: Tx) -> AsyncIterator[None]:
    """What is put inside is written with one statement, in its order, when all the rest was done; by the outermost of
    several. Until then `known` and `last_put` know of it, and nobody else."""
    if tx.put_later is not None:
        yield
        return
    rows: list[dict[str, Any]] = []
    tx.put_later = rows
    try:
        yield
    finally:
        tx.put_later = None
    if rows:
        await tx.run(_put_unless_waiting(tx.is_postgres), rows)


async def known(tx: Tx, dedupes: Collection[str]) -> frozenset[str]:
    """Those of these that a message has or had. None is ever forgotten."""
    found = await tx.run_among(_KNOWN, dedupes)
    put = {row["dedupe"] for row in tx.put_later or ()}
    return frozenset(row.dedupe for row in found) | put.intersection(dedupes)


async def is_any_sent(tx: Tx, dedupes: Collection[str], *, until: datetime) -> bool:
    """Was one of these sent by then?"""
    return bool(await tx.run_among(_SENT_UNTIL, dedupes, until=until))


async def channels(tx: Tx, *, limit: int) -> list[str]:
    """Those in which cards and alerts are, without direct messages; the ones with the newest come first."""
    m = t.message.c
    newest = func.max(m.posted_at)
    asked = select(m.channel).where(m.channel.not_like("D%")).group_by(m.channel)
    return list((await tx.run(asked.order_by(newest.desc(), m.channel).limit(limit))).scalars())


@cache
def _put_unless_waiting(is_postgres: bool) -> Any:
    """Insert a row unless one that is drawn, waits about the same and is due no later covers it."""
    names = (
        "channel",
        "user",
        "kind",
        "subject",
        "body",
        "dedupe",
        "state",
        "due_at",
        "attempts",
        "last_error",
    )
    given = {name: bindparam(name, type_=_O[name].type) for name in (*names, "created_at")}
    other = t.outbox.alias("other")
    # Locked: a sender that takes the row meanwhile might draw what was before this change.
    waiting = (
        select(other.c.id)
        .where(
            other.c.subject == given["subject"],
            other.c.kind == given["kind"],
            or_(*(other.c.kind == drawn for drawn in sorted(_DRAWN))),
            other.c.channel == given["channel"],
            other.c.state == "owed",
            other.c.due_at <= given["due_at"],
        )
        .limit(1)
        .with_for_update()
    )
    row = select(*given.values()).where(not_(waiting.exists()))
    statement = inserting(t.outbox, is_postgres=is_postgres)
    return statement.from_select(list(given), row).on_conflict_do_nothing()


@cache
def _put_one(is_postgres: bool) -> Any:
    """The same, and says whether it was."""
    return _put_unless_waiting(is_postgres).returning(_O.id)


async def last_put(tx: Tx, subject: str, kind: str) -> datetime | None:
    """When a message of this kind about this subject was put last; None when none ever was."""
    if any(row["subject"] == subject and row["kind"] == kind for row in tx.put_later or ()):
        return tx.now
    o = t.outbox.c
    asked = select(o.created_at).where(o.subject == subject, o.kind == kind).order_by(o.id.desc()).limit(1)
    return (await tx.run(asked)).scalar_one_or_none()


async def next_due(tx: Tx, *, limit: int = 20) -> list[OutboxRow]:
    """What waits and is due, in the order it was put."""
    o = t.outbox.c
    asked = select(t.outbox).where(o.state == "owed", o.due_at <= tx.now)
    # Not by the id alone: a database might go through all rows in that order, the sent ones as well.
    return await _rows(tx, asked.order_by(o.id + 0).limit(limit))


async def sendable(tx: Tx, *, each: int) -> list[Due]:
    """What can be sent now: of each channel's posts the first `each`, and of its edits.

    Requests come before alerts, alerts before the rest, each in the order it was put. A line waits for the
    message in whose thread it goes, and a card or an alert for an earlier row of its own that is being sent.
    """
    return [
        Due(_row(row), bool(row.edits))
        for row in (await tx.run(_SENDABLE, {"now": tx.now, "each": each})).all()
    ]


def _sendable() -> Select[Any]:
    o, m, other = t.outbox.c, t.message.c, t.outbox.alias("other")
    drawn = o.kind.in_(_DRAWN)
    posted = exists().where(m.subject == o.subject, or_(m.kind == o.kind, o.kind == "line"))
    under_way = exists().where(
        other.c.subject == o.subject, other.c.kind == o.kind, other.c.state == "sending"
    )
    edits = and_(drawn, posted)
    rank = case(_FIRST, value=o.kind, else_=len(_FIRST))
    ready = (or_(o.kind != "line", posted), not_(and_(drawn, under_way)))
    nth = func.row_number().over(partition_by=(o.channel, o.user, edits), order_by=(rank, o.id))
    asked = select(t.outbox, edits.label("edits"), rank.label("rank"), nth.label("nth"))
    found = asked.where(o.state == "owed", o.due_at <= bindparam("now"), *ready).subquery()
    return select(found).where(found.c.nth <= bindparam("each")).order_by(found.c.rank, found.c.id)


async def waiting(tx: Tx, *, but: str = "", channel: str = "") -> Waiting | None:
    """What was tried and could not be sent so far, in one channel or in all; None when nothing waits.

    `but` what is about this subject.
    """
    given = {"but": but, **({"channel": channel} if channel else {})}
    counted, oldest = _waiting(bool(channel))
    count = (await tx.run(counted, given)).scalar_one()
    if not count:
        return None
    row = (await tx.run(oldest, given)).one()
    return Waiting(int(count), row.created_at, row.last_error)


@cache
def _waiting(in_one_channel: bool) -> tuple[Select[Any], Select[Any]]:
    """How many there are, and the oldest."""
    tried = [_O.state.in_(("owed", "sending")), _O.last_error != "", _O.subject != bindparam("but")]
    if in_one_channel:
        tried.append(_O.channel == bindparam("channel"))
    oldest = select(_O.created_at, _O.last_error).where(*tried).order_by(_O.id).limit(1)
    return select(func.count()).where(*tried), oldest


async def trouble(tx: Tx, subject: str) -> str:
    """Why Slack did not take what waits about this subject, as it said last; empty where nothing was tried."""
    o = t.outbox.c
    tried = (o.subject == subject, o.state.in_(("owed", "sending")), o.last_error != "")
    found = (
        await tx.run(select(o.last_error).where(*tried).order_by(o.id.desc()).limit(1))
    ).scalar_one_or_none()
    return str(found or "")


async def last_of(tx: Tx, subject: str, kind: str) -> LastTry | None:
    """How the newest message of this kind about this subject fared; None where there is none."""
    o = t.outbox.c
    asked = select(o.last_error, o.state).where(o.subject == subject, o.kind == kind)
    row = (await tx.run(asked.order_by(o.id.desc()).limit(1))).one_or_none()
    return None if row is None else LastTry(row.last_error, row.state == "dropped")


async def last_sent_at(tx: Tx) -> datetime | None:
    """When Slack took a message last."""
    found: datetime | None = (await tx.run(select(func.max(t.outbox.c.sent_at)))).scalar_one()
    return found


async def sending(tx: Tx, row_id: int) -> bool:
    """Take a row for sending; False when another sender has it. Commit before posting."""
    return bool((await tx.run(_SENDING, {"row_id": row_id, "now": tx.now})).rowcount)


async def still_sending(tx: Tx, row: OutboxRow) -> bool:
    """Take it for sending once more, as it was read before `sending`; False where another sender has taken it since."""
    mine = (_O.id == row.id, _O.state == "sending", _O.attempts == columns.counted(row.attempts) + 1)
    return bool((await tx.run(update(t.outbox).where(*mine).values(due_at=tx.now))).rowcount)


async def sent(tx: Tx, row_id: int) -> None:
    await _settle(tx, row_id, state="sent", sent_at=tx.now, last_error="")


async def look_first(tx: Tx) -> None:
    """All that waits and is due may have been posted, as another copy of the database had it, too: it is read
    back as what was left in mid-send. What is drawn over its message is drawn again all the same.

    It waits for no lock: what somebody else changes just now is written or sent by a process that knows of it."""
    o = t.outbox.c
    waits = select(o.id).where(o.state == "owed", o.due_at <= tx.now).with_for_update(skip_locked=True)
    await tx.run(update(t.outbox).where(o.id.in_(waits)).values(state="sending", due_at=tx.now))


async def retry(tx: Tx, row_id: int, *, due_at: datetime, error: str) -> None:
    """Send it again, later."""
    await _settle(tx, row_id, state="owed", due_at=due_at, last_error=error)


async def retry_left(tx: Tx, row: OutboxRow, *, due_at: datetime, error: str) -> None:
    """As `retry`, of a row left in mid-send: only where nobody sent it, or takes it again, since it was read."""
    o = t.outbox.c
    left = update(t.outbox).where(o.id == row.id, o.state == "sending", o.attempts == row.attempts)
    await tx.run(left.values(state="owed", due_at=due_at, last_error=error))


async def wake(tx: Tx, row_ids: Collection[int] | None, *, last: str = "") -> None:
    """What waits for its next try is due now; of these rows, or with None all. What is about the subject `last` comes
    after the others, some seconds later."""
    o = t.outbox.c
    waits = (o.state == "owed", o.last_error != "", o.due_at > tx.now)
    mine = waits if row_ids is None else (*waits, o.id.in_(row_ids))
    later = tx.now + WOKEN_LAST_AFTER
    await tx.run(update(t.outbox).where(*mine, o.subject != last).values(due_at=tx.now))
    await tx.run(update(t.outbox).where(*mine, o.subject == last, o.due_at > later).values(due_at=later))


async def catch_up(tx: Tx) -> None:
    """What is dated farther ahead than anything is put off that was tried, was dated by a clock that has been set back
    since: it is due now."""
    await tx.run(_CAUGHT_UP, {"now": tx.now, "ahead": tx.now + PUT_OFF_AT_MOST})


async def note_error(tx: Tx, row_id: int, error: str) -> None:
    """Why it is not known whether it was sent."""
    await _settle(tx, row_id, last_error=error)


async def move(tx: Tx, old: str, new: str) -> None:
    """What waits for one channel goes to another: the same one, by its id."""
    o = t.outbox.c
    waits = update(t.outbox).where(o.channel == old, o.state.in_(("owed", "sending")))
    await tx.run(waits.values(channel=new))


async def for_other_channels(tx: Tx, channels: Collection[str]) -> list[OutboxRow]:
    """What waits for a channel that is none of these; direct messages are for none."""
    rows = (await tx.run(_ELSEWHERE, {"channels": ["", *channels]})).all()
    return [_row(row) for row in rows]


async def readdress(tx: Tx, row_id: int, channel: str) -> None:
    """It waits for this channel from now on, and is tried at once. What was due stays so: the clock may be fast."""
    o = t.outbox.c
    due_at = case((o.due_at < tx.now, o.due_at), else_=tx.now)
    await tx.run(update(t.outbox).where(o.id == row_id).values(channel=channel, due_at=due_at))


async def drop(tx: Tx, row_id: int, error: str) -> None:
    """Give it up for good; the reason stays on record."""
    await _settle(tx, row_id, state="dropped", last_error=error)


async def stuck(tx: Tx, *, older_than: timedelta = timedelta(0)) -> list[OutboxRow]:
    """Rows whose sender never said how it went: posted or not, nobody knows."""
    return [_row(row) for row in (await tx.run(_STUCK, {"before": tx.now - older_than})).all()]


async def place(tx: Tx, subject: str, kind: str) -> MessagePlace | None:
    row = (await tx.run(_PLACE, {"subject": subject, "kind": kind})).one_or_none()
    return None if row is None else MessagePlace(**row._mapping)


async def places(tx: Tx, subjects: Collection[str], kind: str) -> dict[str, MessagePlace]:
    """Where the messages of these subjects are, by subject; those without one are left out."""
    found = await tx.run_among(_PLACES, subjects, kind=kind)
    rows = [row._mapping for row in found]
    return {row["subject"]: MessagePlace(**{k: v for k, v in row.items() if k != "subject"}) for row in rows}


async def put_place(tx: Tx, subject: str, kind: str, channel: str, ts: str, version: int) -> None:
    """Remember where a picture hangs; `posted_at` is the first time for this message."""
    old = await place(tx, subject, kind)
    same = old is not None and (old.channel, old.ts) == (channel, ts)
    row = {
        "subject": subject,
        "kind": kind,
        "channel": channel,
        "ts": ts,
        "posted_at": old.posted_at if old is not None and same else tx.now,
        "drawn_version": version,
    }
    await upsert(tx, t.message, [row], key=("subject", "kind"))


async def forget_place(tx: Tx, subject: str, kind: str) -> None:
    """The message is gone from Slack; the next card is posted again."""
    await tx.run(t.message.delete().where(t.message.c.subject == subject, t.message.c.kind == kind))


async def _settle(tx: Tx, row_id: int, **values: Any) -> None:
    await tx.run(_SETTLED, {"row_id": row_id, **values})


async def _rows(tx: Tx, asked: Any) -> list[OutboxRow]:
    return [_row(row) for row in (await tx.run(asked)).all()]


def _row(row: Any) -> OutboxRow:
    known = row._mapping
    return OutboxRow(**{name: known[name] for name in OutboxRow.__slots__})


# What is asked at every turn of the delivery loop is built once.
_O, _M = t.outbox.c, t.message.c
_NOW = bindparam("now", type_=_O.due_at.type)
_SENDABLE = _sendable()
_ELSEWHERE = (
    select(t.outbox)
    .where(_O.state == "owed", _O.channel.not_in(bindparam("channels", expanding=True)))
    .order_by(_O.id)
)
_STUCK = select(t.outbox).where(_O.state == "sending", _O.due_at <= bindparam("before")).order_by(_O.id)
_SETTLED = update(t.outbox).where(_O.id == bindparam("row_id"))
_AHEAD = bindparam("ahead", type_=_O.due_at.type)
_CAUGHT_UP = (
    update(t.outbox)
    .where(
        or_(_O.state == "owed", _O.state == "sending"),
        _O.due_at > _AHEAD,
        # What is being sent was due; of what waits untried some is for later.
        or_(_O.state == "sending", _O.attempts > 0, _O.created_at > _AHEAD),
    )
    .values(due_at=_NOW)
)
_SENDING = (
    update(t.outbox)
    .where(_O.id == bindparam("row_id"), _O.state == "owed")
    .values(state="sending", attempts=columns.one_more(_O.attempts), due_at=_NOW)
)
_PLACE = select(_M.channel, _M.ts, _M.posted_at, _M.drawn_version).where(
    _M.subject == bindparam("subject"), _M.kind == bindparam("kind")
)
_PLACES = one_of(
    select(_M.subject, _M.channel, _M.ts, _M.posted_at, _M.drawn_version).where(_M.kind == bindparam("kind")),
    _M.subject,
)
_KNOWN = one_of(select(_O.dedupe), _O.dedupe)
_SENT_UNTIL = one_of(select(_O.dedupe).where(_O.sent_at <= bindparam("until")), _O.dedupe)
