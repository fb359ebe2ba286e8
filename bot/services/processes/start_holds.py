"""What a start could not look at yet, a program's ledger or the messages in Slack, so nothing that can wait is sent.

Each process knows what it has not seen (`Core.unseen`). Each worker keeps that in a row of its own, and from all those
of live workers follows what people read: sending waits while none of them may send. It ends when one has seen it, or
after `HOLDS_FOR_S` with an alert.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime, timedelta
from typing import NamedTuple

from bot.domain.alerts import Said, running_alerts
from bot.domain.requests import UNSENT, Request, State, is_in_doubt, said_in_doubt, said_unread
from bot.services import alerts, outbox_messages
from bot.services.core import SLACK, Core, Unseen
from bot.services.processes import unseen_requests
from bot.services.processes.replicas import SILENT_AFTER
from storage.cards import api_snapshots
from storage.operators import replicas
from storage.requests import requests
from storage.transaction import Tx

#: What cannot be read holds what is to be sent for so long; after that it is sent all the same.
HOLDS_FOR_S = 600.0
#: A hiccup at a start is over by then, or Slack has given some pages slowly. People are notified of what lasts longer,
#: within a minute.
REPORTED_AFTER_S = 45.0
# What people read, and after this name and a slash the row of one worker.
_KEPT = "held_since_start"
_OF_WORKER = f"{_KEPT}/"
# So many cards say why they wait; more are not approved within ten minutes.
_REDRAWN = 200
_LEDGER, _OTHERS, _SLACK = "ledger", "others", "slack"
_WHAT = {
    _LEDGER: "its ledger",
    _OTHERS: "the ledger of another program",
    _SLACK: "the messages in Slack",
}
# Times that are the same but for how long a call takes.
_SAME_TIME = timedelta(seconds=5)

#: What one worker has not seen, a key of `_WHAT`: until when it holds what is to be sent for it, in ISO 8601. That may
#: be past. Empty where it has seen it.
Looks = Mapping[str, str]


class _Waits(NamedTuple):
    """What could not be read, in words, and until when sending waits for it."""

    what: str
    until: datetime


def begin(
    core: Core,
    what: str,
    *,
    error: str = "",
    holds_for_s: float = HOLDS_FOR_S,
    joins: Collection[str] | None = None,
) -> None:
    """`what` (a program, or `SLACK`) is not seen: from now on it holds, unless it does already."""
    since_s = core.clock.monotonic()
    before = core.unseen.get(what)
    core.unseen[what] = Unseen(*(before or (since_s, since_s + holds_for_s))[:2], error, joins)


async def note(core: Core) -> None:
    """Keep what this worker has not seen, and what follows for all, where other processes and messages read it."""
    for program in core.partners:
        async with core.store.begin() as tx:
            await tx.hold(f"{_KEPT} {program}")
            await _note_own(tx, core, program)
            await _note_for_all(tx, core, program)


async def _note_own(tx: Tx, core: Core, program: str) -> None:
    now_s = core.clock.monotonic()
    others = [one for what, one in core.unseen.items() if what not in (program, SLACK)]
    longest = max(others, key=lambda one: one.until_s, default=None)
    each = {_LEDGER: core.unseen.get(program), _OTHERS: longest, _SLACK: core.unseen.get(SLACK)}
    own = {
        name: (tx.now + timedelta(seconds=one.until_s - now_s)).isoformat() if one is not None else ""
        for name, one in each.items()
    }
    kept = await api_snapshots.get(tx, program, _OF_WORKER + core.owner)
    if kept is None or not _are_same(kept.value, own, tx.now):
        await api_snapshots.put(tx, program, _OF_WORKER + core.owner, own)


def _are_same(some: Looks, others: Looks, now: datetime) -> bool:
    return all(_is_same(some.get(name, ""), others.get(name, ""), now) for name in _WHAT)


def _is_same(until: str, other: str, now: datetime) -> bool:
    """Do both say the same to people? After another start the time is a later one."""
    if not until or not other:
        return until == other
    if not _is_later(until, now) or not _is_later(other, now):
        return _is_later(until, now) == _is_later(other, now)
    return abs(datetime.fromisoformat(until) - datetime.fromisoformat(other)) <= _SAME_TIME


async def _note_for_all(tx: Tx, core: Core, program: str) -> None:
    workers = (await _workers(tx, core, program)).values()
    waits = _waits(workers, tx.now)
    unread = _in_words(_unread_by_all(workers, tx.now))
    kept = await api_snapshots.get(tx, program, _KEPT)
    said = kept.value if kept is not None else {"what": "", "until": ""}
    before = said["what"] if _is_later(said["until"], tx.now) else ""
    what, until = (waits.what, waits.until.isoformat()) if waits else ("", "")
    is_same = before == what and (not what or _is_same(said["until"], until, tx.now))
    if is_same and said.get("unread", "") == unread:
        return
    if what or unread:
        await api_snapshots.put(tx, program, _KEPT, {"what": what, "until": until, "unread": unread})
    else:
        await api_snapshots.drop(tx, program, _KEPT)
    if is_same:
        return
    for request in await requests.find(tx, program=program, states={State.APPROVED}, limit=_REDRAWN):
        await outbox_messages.redraw(tx, core, request)
        await outbox_messages.redraw_notice(tx, core, request)


async def _workers(tx: Tx, core: Core, program: str) -> dict[str, Looks]:
    """What each live worker has not seen, by its owner. One whose start has not come so far is not among them. Rows of
    those that are gone are removed."""
    rows = await api_snapshots.named(tx, program, _OF_WORKER)
    known = {**await replicas.known(tx, silent_after=SILENT_AFTER), core.owner: True}
    for gone in rows.keys() - known.keys():
        await api_snapshots.drop(tx, program, _OF_WORKER + gone)
    return {owner: row.value for owner, row in rows.items() if known.get(owner)}


def _waits(workers: Collection[Looks], now: datetime) -> _Waits | None:
    """None while one of them may send, and where there is none."""
    held = [{name: until for name, until in looks.items() if _is_later(until, now)} for looks in workers]
    if not held or not all(held):
        return None
    what = _in_words({name for one in held for name in one})
    return _Waits(what, min(max(map(datetime.fromisoformat, one.values())) for one in held))


def _unread_by_all(workers: Collection[Looks], now: datetime) -> set[str]:
    """The ledger for as long as it is not read; Slack while sending waits for it, as it may never be given access."""
    unread = {_LEDGER} if workers and all(looks.get(_LEDGER) for looks in workers) else set()
    if workers and all(_is_later(looks.get(_SLACK, ""), now) for looks in workers):
        unread.add(_SLACK)
    return unread


def _in_words(names: Collection[str]) -> str:
    return " and ".join(words for name, words in _WHAT.items() if name in names)


def _is_later(until: str, now: datetime) -> bool:
    return bool(until) and datetime.fromisoformat(until) > now


async def why(tx: Tx, program: str) -> str:
    """Why nothing that can wait is sent to this program since a start, in a sentence; empty while it is."""
    kept = await api_snapshots.get(tx, program, _KEPT)
    if kept is None or not _is_later(kept.value["until"], tx.now):
        return ""
    until = datetime.fromisoformat(kept.value["until"])
    return (
        f"Sending to {program} waits: since Countersign started it could not read {kept.value['what']}, so it does not"
        f" know whether its database is an older copy. It sends once it could read that, or from {until:%H:%M} UTC on."
    )


async def said_unsent(tx: Tx, request: Request, text: str) -> str:
    """What is said of a request that ends here before anything was sent for it: `text`, unless nobody can know it."""
    if is_in_doubt(request):
        return said_in_doubt(request, text)
    kept = await api_snapshots.get(tx, request.program, _KEPT) if request.state in UNSENT else None
    unread = kept.value.get("unread", "") if kept is not None else ""
    if not unread and await unseen_requests.holds(tx, request):
        unread = "its message in Slack"
    return said_unread(text, unread, was_called=request.state not in UNSENT) if unread else text


async def report(core: Core) -> None:
    """To people: what is held and since when; and afterwards that it is sent though nobody knows whether it may be."""
    await note(core)
    for what in (SLACK, *core.partners):
        async with core.store.begin() as tx:
            await _report(tx, core, what)


async def _report(tx: Tx, core: Core, what: str) -> None:
    """By the first of the workers that have not seen it, so that no two of them say it in turns."""
    looks = await _looks_at(tx, core, what)
    unseen = sorted(owner for owner, until in looks.items() if until)
    one = core.unseen.get(what)
    if not unseen:
        await alerts.resolve(tx, core, condition_of(what))
    if one is None or unseen[:1] != [core.owner]:
        return
    if core.holds_for(what) and core.clock.monotonic() - one.since_s < REPORTED_AFTER_S:
        return
    waits = [await why(tx, program) for program in ([what] if what else core.partners)]
    if all(waits) and any(_is_later(until, tx.now) for until in looks.values()):
        case = "held"
    else:
        case = "others" if len(unseen) < len(looks) else "sends"
    said = _said(what, case, one)
    await alerts.keep(tx, core, said, condition=condition_of(what), subject=what or "slack", program=what)


async def _looks_at(tx: Tx, core: Core, what: str) -> dict[str, str]:
    """Of each live worker, by its owner: as in `Looks`."""
    workers = await _workers(tx, core, what or core.default_program)
    return {owner: looks[_LEDGER if what else _SLACK] for owner, looks in workers.items()}


async def end(core: Core, what: str) -> None:
    """It was seen, or nobody may ever read it."""
    core.unseen.pop(what, None)
    await note(core)
    async with core.store.begin() as tx:
        if not any((await _looks_at(tx, core, what)).values()):
            await alerts.resolve(tx, core, condition_of(what))
    core.carrier.wake()


def condition_of(what: str) -> str:
    """Of the alert about it."""
    if what == SLACK:
        return running_alerts.SLACK_UNSEEN.condition()
    return running_alerts.LEDGER_UNSEEN.condition(what)


def _said(what: str, case: str, one: Unseen) -> Said:
    if what == SLACK:
        return running_alerts.SLACK_UNSEEN.says(case, error=one.error)
    return running_alerts.LEDGER_UNSEEN.says(case, program=what, error=one.error)
