"""Requests, approved or under way, whose message a start did not see in Slack: nothing more of them is sent.

A request's message is drawn again with whatever becomes of it. Where nobody can read it, this database may be an older
copy in which the request still waits or is tried again, and it was stopped since. It waits for people: they stop it and
request it again. What may have been carried out already is looked up all the same.
What was only not readable is sent once it was read. All processes share what is kept here.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from bot.domain import slack_faults
from bot.domain.alerts import Said, running_alerts
from bot.domain.requests import UNSENT, Request, State
from bot.outcomes import timing
from bot.services import alerts, message_kinds, outbox_messages
from bot.services.core import SLACK, Core
from bot.services.processes.replicas import SILENT_AFTER
from storage.cards import api_snapshots
from storage.messages import outbox
from storage.operators import replicas, safe_mode
from storage.requests import requests
from storage.requests import unseen as rows
from storage.transaction import Tx

#: Why a message was not seen, where that is no code of Slack's: it is not in its channel any more.
GONE = "gone"
#: The same: as far as this database knows there is none in Slack to look at.
NEVER_POSTED = "never_posted"
#: The same: too many others were looked at first.
NOT_REACHED = "not_reached"
# Nobody will see what became of these.
_FOR_GOOD = (GONE, NEVER_POSTED)
_FOUND = {GONE: "is not in Slack any more", NEVER_POSTED: "was not in Slack, as far as this database knows,"}
_NOWHERE = ("", "")
_HELD = "unseen requests"
# The processes that have looked for messages since their start, by their owners.
_STARTED = "looked_at_start"
_NAMED_MOST = 20


class Place(NamedTuple):
    """A message in Slack."""

    channel: str
    ts: str


class Unseen(NamedTuple):
    """`why`: `GONE`, `NOT_REACHED`, or what Slack said of the channel."""

    place: Place
    why: str


async def of(tx: Tx) -> Mapping[str, Unseen]:
    """By the request. Those that have ended meanwhile may still be among them."""
    return {id_: _read(value) for id_, value in (await rows.every(tx)).items()}


def _read(value: Sequence[str]) -> Unseen:
    channel, ts, why = value
    return Unseen(Place(channel, ts), why)


async def holds(tx: Tx, request: Request) -> bool:
    """Is nothing sent of it, or of the list that it is a row of?"""
    return await _unseen(tx, request) is not None


async def why(tx: Tx, request: Request) -> str:
    """Why it is not sent, in sentences; empty where nothing of this holds it."""
    one = await _unseen(tx, request)
    if one is None:
        return ""
    found = _FOUND.get(one.why, "could not be read in Slack")
    is_in_doubt = request.state not in UNSENT and (
        request.outcome_unknown or request.state is State.UNRESOLVED
    )
    then = _fix_in_doubt(one.why) if is_in_doubt else _fix(one.why)
    return (
        f"{_not_sent(request, is_in_doubt=is_in_doubt)}: its message {found} when Countersign started, so Countersign"
        f" does not know whether somebody stopped it. {then}"
    )


def _not_sent(request: Request, *, is_in_doubt: bool) -> str:
    if request.state in UNSENT:
        return "It is not sent"
    if request.is_batch:
        return "Nothing more of it is sent"
    return "It is only looked up, and not sent again" if is_in_doubt else "It is not sent again"


async def _unseen(tx: Tx, request: Request) -> Unseen | None:
    kept = await rows.get(tx, request.parent_id or request.id)
    return None if kept is None else _read(kept)


def _fix(why: str) -> str:
    again = "stop it and request it again."
    return f"If nobody did, {again}" if why in _FOR_GOOD else f"It is sent once that was read, or {again}"


def _fix_in_doubt(why: str) -> str:
    return (
        "Do not repeat it." if why in _FOR_GOOD else "Do not repeat it. It is sent again once that was read."
    )


def may_be_seen(one: Unseen) -> bool:
    """May it be that its message is read later, and shows what became of it?"""
    return one.why not in _FOR_GOOD


async def hold_never_posted(core: Core) -> Collection[str] | None:
    """At a start: what would be sent without another word and has no message in Slack, as far as the database knows.

    It may have been stopped since without any trace there. Nobody approves what is not posted, so the
    database that people worked with last has none, but for one whose message somebody deleted a moment ago. Such a one
    is posted again by the processes that work: where there is one that has started and looked before, nobody has put an
    older copy in place, and nothing is held. Where this process joins others so, what is held already; else None.
    """
    async with core.store.begin() as tx:
        await tx.hold(_HELD)
        kept = await of(tx)
        if await _others_that_looked(tx, core):
            return frozenset(kept)
        waiting = [one.id for one in await _held_unseen(tx, core) if one.id not in kept]
        posted = await _places(tx, waiting)
        never = {id_: Unseen(Place(*_NOWHERE), NEVER_POSTED) for id_ in waiting if id_ not in posted}
        if never:
            await _keep(tx, core, {**kept, **never})
        return None


async def note_looked(core: Core) -> None:
    """All that this process wanted to see in Slack since its start is noted: from now on others may join it. Not
    before, as it may be on an older copy itself."""
    async with core.store.begin() as tx:
        await tx.hold(_HELD)
        if tx.is_postgres:
            others = await _others_that_looked(tx, core)
            await api_snapshots.put(tx, SLACK, _STARTED, [*others, core.owner])


async def _others_that_looked(tx: Tx, core: Core) -> list[str]:
    """Those that work on this database now. On SQLite there are none."""
    if not tx.is_postgres:
        return []
    kept = await api_snapshots.get(tx, SLACK, _STARTED)
    others = [one for one in (kept.value if kept else []) if one != core.owner]
    return await replicas.at_work(tx, others, silent_after=SILENT_AFTER)


async def _places(tx: Tx, ids: Collection[str]) -> Collection[str]:
    kind = message_kinds.REQUEST_CARD
    by_subject = {message_kinds.stored_subject(kind.about, id_): id_ for id_ in ids}
    there = await outbox.places(tx, list(by_subject), kind.form)
    return {by_subject[subject] for subject in there}


async def note(core: Core, found: Mapping[str, Unseen], *, joins: Collection[str] | None) -> None:
    """These were not seen, and all others were. Kept of those that would be sent without another word of people.
    `joins`: others worked on this database before, so what is gone was deleted while they do, unless it was held then
    or is held as gone: by a process that has another reason."""
    async with core.store.begin() as tx:
        await tx.hold(_HELD)
        before = await of(tx)
        never = {id_: one for id_, one in before.items() if one.why == NEVER_POSTED}
        held = {
            id_: one
            for id_, one in found.items()
            if joins is None
            or id_ in joins
            or may_be_seen(one)
            or (id_ in before and not may_be_seen(before[id_]))
        }
        await _keep(tx, core, {**held, **never})


async def note_again(core: Core, looked: Collection[str], found: Mapping[str, Unseen]) -> None:
    """As `note`, where only these were looked at."""
    async with core.store.begin() as tx:
        await tx.hold(_HELD)
        others = {id_: one for id_, one in (await of(tx)).items() if id_ not in looked}
        await _keep(tx, core, {**others, **found})


async def review(core: Core) -> None:
    """Those that have ended are let go, and the alert with the last of them."""
    async with core.store.read() as tx:
        if not await of(tx):
            return
    async with core.store.begin() as tx:
        await tx.hold(_HELD)
        await _keep(tx, core, await of(tx))


async def _keep(tx: Tx, core: Core, found: Mapping[str, Unseen]) -> None:
    before = await of(tx)
    waiting = {one.id: one for one in await _held_unseen(tx, core)} if found or before else {}
    unseen = {id_: one for id_, one in found.items() if id_ in waiting}
    for id_ in before.keys() - unseen.keys():
        await rows.drop(tx, id_)
    for id_, one in unseen.items():
        if before.get(id_) != one:
            await rows.put(tx, id_, [*one.place, one.why])
    for id_ in sorted(waiting):
        if unseen.get(id_) != before.get(id_):
            await outbox_messages.redraw(tx, core, waiting[id_])
    condition = running_alerts.REQUESTS_UNSEEN.condition()
    if unseen:
        await alerts.keep(tx, core, _said(unseen), condition=condition, subject="slack", program="")
    else:
        await alerts.resolve(tx, core, condition)
    if before.keys() - unseen.keys():
        tx.after_commit(core.carrier.wake)


async def sent_without_a_word(tx: Tx) -> list[Request]:
    """All of which something may be sent without another word of people, the oldest first, in safe mode as well. A list
    is there for its rows."""
    return await requests.may_be_sent(tx, sent_after=tx.now - timing.KEY_TRUSTED_FOR)


async def _held_unseen(tx: Tx, core: Core) -> list[Request]:
    """In safe mode there is none. What is urgent is sent all the same."""
    if await safe_mode.current(tx) is not None:
        return []
    return [
        one
        for one in await sent_without_a_word(tx)
        if one.kind in core.kinds and not core.kinds[one.kind].handling.is_urgent
    ]


def _said(unseen: Mapping[str, Unseen]) -> Said:
    by_why: dict[tuple[str, str], list[str]] = {}
    for id_, one in sorted(unseen.items()):
        by_why.setdefault((one.why, one.place.channel), []).append(id_)
    found = " ".join(_in_words(ids, why, channel) for (why, channel), ids in sorted(by_why.items()))
    count = "1 request is" if len(unseen) == 1 else f"{len(unseen):,} requests are"
    return running_alerts.REQUESTS_UNSEEN.says(count=count, found=found)


def _in_words(ids: Collection[str], why: str, channel: str) -> str:
    named = sorted(ids)[:_NAMED_MOST]
    more = f" and {len(ids) - len(named):,} more" if len(ids) > len(named) else ""
    which = f"{', '.join(named)}{more}"
    if why == GONE:
        return f"Not in <#{channel}> any more: {which}."
    if why == NEVER_POSTED:
        return f"Not posted in Slack, as far as this database knows: {which}."
    if why == NOT_REACHED:
        return f"Not looked at yet in <#{channel}>, as there were too many: {which}."
    return f"Not readable in <#{channel}>: {which}. {slack_faults.explained(why, f'<#{channel}>')}"
