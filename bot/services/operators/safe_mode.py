"""Safe mode: an older copy of the database was put in place, so what was done since then is not known here.

It receives events, reads the API and looks up what was sent, and sends nothing: every program is paused. No approval
is taken, and those of before are void, as what they were given for may have been carried out. The whole ledger is read,
and the debits whose keys were made here and belong to no request are listed. Two people leave it, as after a pause.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from decimal import Decimal
from functools import partial
from types import MappingProxyType
from typing import Protocol

from bot.domain.alerts import Ended, Said, float_alerts, running_alerts
from bot.domain.errors import Stale
from bot.domain.money import exact_sum, format_usd, ledger_text
from bot.domain.requests import OPEN, UNSENT, Event, Request, State
from bot.domain.time import was_before
from bot.outcomes import planning
from bot.services import alerts, audit, snapshots
from bot.services.alerts import ledger_rules, put_back_rules
from bot.services.core import Core
from bot.services.execution import lost_with_a_copy
from bot.services.operators import confirmations, otp_recipients
from bot.services.requests import close
from storage import master_keys
from storage.cards import cards
from storage.cards import otp_recipients as recipient_rows
from storage.errors import NotAsOnRecord
from storage.log_record import on_record, open_requests
from storage.messages import Alert, outbox
from storage.messages import alerts as alert_rows
from storage.operators import OrphanDebit, SafeMode, pauses, programs, safe_mode
from storage.requests import request_search, requests
from storage.transaction import Tx

log = logging.getLogger("countersign.safe_mode")

ACTOR = safe_mode.ACTOR
_REASON = "an older copy of the database was put in place"
_NOT_CONFIRMED = (
    "Void: an older copy of the database was put in place. This may have been answered since the copy was made."
    " Nothing was changed; request it again if it is still needed."
)
_MORE_FOUND = (
    "Void: more debits were found after this was requested. Read them in the thread of the alert about safe mode, then"
    " type `/countersign resume` again."
)
_AGAIN = Ended(
    "Safe mode began again",
    "An older copy of the database was put in place once more. What it does not know is in a new message.",
)
# A ledger that cannot be read for so long, as its key was withdrawn, holds nobody any more.
_UNREAD_HOLDS_FOR = timedelta(hours=1)
_CONDITION = running_alerts.SAFE_MODE.condition()
_PIECE = 200
_ROWS_A_LINE = 20


class FindRequests(Protocol):
    """At most `limit` requests of a kind."""

    async def __call__(self, tx: Tx, *, limit: int) -> list[Request]: ...


async def enter(
    core: Core,
    head: tuple[int, datetime | None],
    anchor: tuple[int, datetime | None],
    lost: Sequence[str] = (),
) -> None:
    """The audit chain ends at `head`, number and time, and is known to have gone on to `anchor`. `lost`: the hashes
    of anchors beyond its end.
    """
    async with core.store.begin() as tx:
        if not await safe_mode.enter(
            tx,
            head_seq=head[0],
            head_at=head[1],
            anchor_seq=anchor[0],
            anchor_at=anchor[1],
            lost=lost,
            policy_version=core.policy.version,
        ):
            return
        # That of the safe mode in which this copy was made: its message says by now that two people have left it.
        await alerts.resolve(tx, core, _CONDITION, actor=ACTOR, ended=_AGAIN)
    log.error("safe_mode.entered", extra={"head": head[0], "anchor": anchor[0]})


async def at_start(core: Core) -> None:
    """Do what has to be done before anything is sent, where it is in force; done again after a crash in between."""
    async with core.store.begin() as tx:
        mode = await safe_mode.current(tx)
        if mode is None:
            return
        if mode.voided is None:
            # Before anything is put there about this safe mode. By itself: requests are locked before messages.
            await outbox.look_first(tx)
    async with core.store.begin() as tx:
        await tx.hold(safe_mode.HOLD)  # of several processes one does it
        mode = await safe_mode.current(tx)
        if mode is None:
            return
        if mode.voided is None:
            for program in await programs.not_removed(tx):
                await pauses.put(tx, program, by=ACTOR, by_name="Countersign", reason=_REASON)
            asked_since = (await on_record.of(tx)).asked
            await confirmations.withdraw_all(tx, core, _NOT_CONFIRMED, but=asked_since)
            await _doubt_all(tx, core)
            await _end_alert_of_before(tx, core, mode)
            await _show(tx, core, mode)
    if mode.voided is None:
        await _void_all(core, _to_void, partial(_void_with, mode))
        await _only_look_up(core, mode)
        async with core.store.begin() as tx:
            if await safe_mode.note_voided(tx, mode, core.policy.version):
                await _list_code_recipients(tx, core)
                await _name_older_keys(tx, core)
    await review(core)


async def _doubt_all(tx: Tx, core: Core) -> None:
    """Nobody knows any more what became of what was open in the copy, by its rows or by the audit log.

    Of a row that is not as on record nothing can be written that would hold: nothing follows from it any more. What was
    requested since the log knows of the copy is known as ever: where this is done once more, after a crash or by a
    newer version, there may be some.
    """
    held = {request.id: request for request in await requests.hold_open(tx)}
    # Read after that: what others have written until then is in it, and they write no more of what is held.
    known = (await on_record.of(tx)).open
    for request_id in sorted({*held, *known}):
        one = known.get(request_id)
        request = held.get(request_id) or await requests.get(tx, request_id)
        # Its row says that it is open, and the log that it has ended, or does not know it; or it is not of the copy.
        if one is None or not one.is_of_copy:
            continue
        if (
            request is None
            or request.state not in OPEN
            or request.kind != (one.kind or request.kind)
            or open_requests.differs(request, one) is not None
        ):
            terms = {"kind": one.kind, "state": one.state.value, "digest": one.digest}
            body = terms | {"progress": open_requests.NO_ROW}
            subject = f"request:{request_id}:{one.version}"
            await audit.record(tx, core, ACTOR, open_requests.DOUBTED, subject, body)
        else:
            doubted = await requests.touch(tx, request, **planning.doubts(request, tx.now))
            await audit.of_request(tx, core, doubted, ACTOR, open_requests.DOUBTED)


async def _end_alert_of_before(tx: Tx, core: Core, mode: SafeMode) -> None:
    """That of the safe mode in which this copy was made, where `countersign restore` has begun the new one."""
    alert = await alert_rows.open_one(tx, _CONDITION)
    if alert is not None and was_before(alert.raised_at, mode.entered_at, tx.now):
        await alerts.resolve(tx, core, _CONDITION, actor=ACTOR, ended=_AGAIN)


async def _list_code_recipients(tx: Tx, core: Core) -> None:
    """Who was named or taken off since the copy is not known, and codes are sent from the start on."""
    alert = await alert_rows.open_one(tx, _CONDITION)
    if alert is None:  # two people were quicker
        return
    named = [
        f"{reference}: {await otp_recipients.receiver(tx, reference)} ({person})"
        for reference, person in await recipient_rows.all(tx)
    ]
    for start in range(0, len(named), _ROWS_A_LINE):
        people = "\n".join(named[start : start + _ROWS_A_LINE])
        text = f"One-time codes go to these people, as in the copy. Compare them with what this channel says:\n{people}"
        await alerts.thread_line(tx, core, alert, ACTOR, text)


async def _name_older_keys(tx: Tx, core: Core) -> None:
    """The copy does not know that a master key was retired since, so that key opens and signs again."""
    alert = await alert_rows.open_one(tx, _CONDITION)
    older = await master_keys.older_in_use(tx)
    if alert is not None and older:
        text = (
            f"The copy is under an older master key ({', '.join(older)}), which counts again here, even if it was"
            " retired since the copy was made. Before two people leave safe mode, an admin types `countersign keys"
            " rewrap` on the machine: it moves everything to the first master key, and retires the older one."
        )
        await alerts.thread_line(tx, core, alert, ACTOR, text)


async def _to_void(tx: Tx, *, limit: int) -> list[Request]:
    """Those not sent whose approvals are of before by the audit log, whatever their rows hide, and those whose keys may
    be forgotten. A list stands for its rows where that is not sent either."""
    void = await safe_mode.void(tx)
    found = [
        one for one in await requests.among(tx, void) if one.state in UNSENT and one.parent_id not in void
    ]
    found.sort(key=lambda one: (one.created_at, one.id))
    known = {one.id for one in found}
    return [*found, *(one for one in await requests.doubtful(tx, limit=limit) if one.id not in known)][:limit]


def _void_with(mode: SafeMode, request: Request) -> tuple[str, str]:
    return _void_since(mode, request), "voided"


def _was_made_since(mode: SafeMode, request: Request) -> bool:
    """On this copy, in the time between its start and when it was found to be one?"""
    return mode.head_at is not None and request.created_at > mode.head_at


def _void_since(mode: SafeMode, request: Request) -> str:
    if _was_made_since(mode, request):
        return (
            "Void: this was requested before Countersign found that its database is an older copy. No approval counts"
            " until two people have left safe mode. It was not sent from this database: request it again then."
        )
    return (
        "Void: an older copy of the database was put in place, and what happened to this request after"
        f" {_known_until(mode)} is not known. It may have been carried out: check the card and the ledger before you"
        " request it again."
    )


def _void_for_its_age(modes: Sequence[SafeMode], request: Request) -> tuple[str, str]:
    """Of one whose key the card provider may forget by now."""
    of_a_copy = [mode for mode in modes if request.created_at <= mode.entered_at]
    if of_a_copy:
        return _void_since(of_a_copy[-1], request), "voided"
    text = (
        "Void: the ledger has a debit under its key, and Countersign sent nothing for it from this database. Your card"
        " provider may have forgotten the key by now, so it is not sent any more. Check the card and the ledger before"
        " you request it again."
    )
    return text, "debited"


def _lost_since(mode: SafeMode, request: Request) -> str:
    if _was_made_since(mode, request):
        return (
            "We don't know yet what became of this: safe mode began while it was being sent. Its approval is void, so"
            " Countersign looks it up. Do not request it again before that is known."
        )
    return (
        "We don't know yet what became of this: an older copy of the database was put in place, and what happened after"
        f" {_known_until(mode)} is not known. Its approval is void, so Countersign looks it up. It may"
        " have been carried out, or paid by another request since: do not request it again before that is known."
    )


def _known_until(mode: SafeMode) -> str:
    return f"{mode.head_at:%Y-%m-%d %H:%M} UTC" if mode.head_at else "the copy was made"


async def _only_look_up(core: Core, mode: SafeMode) -> None:
    """What was being sent when the copy was made. Nothing of it is sent again, whatever becomes of this process."""
    left = set[str]()
    while True:
        async with core.store.read() as tx:
            found = [one for one in await requests.under_way(tx, limit=_PIECE) if one.id not in left]
        if not found:
            return
        for request in found:
            async with _if_as_on_record(core, request, left), core.store.begin() as tx:
                current = await requests.get(tx, request.id)
                if current is not None and current.state is State.EXECUTING:
                    await lost_with_a_copy(tx, core, current, _lost_since(mode, current))


async def _void_all(core: Core, find: FindRequests, why: Callable[[Request], tuple[str, str]]) -> None:
    """Every one that `find` finds, until it finds none. `why`: the text, and the line of its thread."""
    left = set[str]()
    while True:
        async with core.store.read() as tx:
            found = [one for one in await find(tx, limit=_PIECE) if one.id not in left]
        if not found:
            return
        for request in found:
            await _void(core, request, *why(request), left)


@asynccontextmanager
async def _if_as_on_record(core: Core, request: Request, left: set[str]) -> AsyncIterator[None]:
    """Nothing is done with a request that changed since it was found. One that is not as on record must not keep a
    start from going on: people are notified, it is put right, and it is `left` out from then on."""
    try:
        yield
    except Stale:
        return
    except NotAsOnRecord:
        left.add(request.id)
        await put_back_rules.tell(core)


async def _void(core: Core, request: Request, text: str, line: str, left: set[str]) -> None:
    """In a transaction of its own; one that another process ended meanwhile is not found again."""
    async with _if_as_on_record(core, request, left), core.store.begin() as tx:
        current = await requests.get(tx, request.id)
        if current is not None and current.state in UNSENT:
            await close(tx, core, current, Event.CANCEL, ACTOR, text, line=line)


async def review(core: Core) -> None:
    """Keep the alert in step with what the ledger has shown, and list every debit in its thread, once. What was not
    decided until its key may be forgotten ends, also after safe mode was left, and so does what was hidden while safe
    mode began."""
    async with core.store.read() as tx:
        mode, modes = await safe_mode.current(tx), await safe_mode.all(tx)
    if mode is not None and mode.voided is None:  # the process that began it has ended in between
        await at_start(core)
        return
    await _void_all(core, _to_void, partial(_void_for_its_age, modes))
    if not modes:
        return
    async with core.store.begin() as tx:
        await tx.hold(safe_mode.HOLD)  # of several processes one lists them
        mode = await safe_mode.current(tx)
        found = await safe_mode.unlisted(tx)
        if mode is None:
            if found:
                await _tell_of_late_ones(tx, core, found)
                await safe_mode.note_listed(tx)
            return
        for program in sorted(core.partners) if found else ():
            # Before the alert: who confirms it just now locks the two in this order.
            await confirmations.withdraw(tx, core, confirmations.RESUME, program, _MORE_FOUND)
        alert = await _show(tx, core, mode, is_news=bool(found))
        labels = await cards.labels(tx, {row.card_id for row in found if row.card_id})
        known = await request_search.by_key(tx, {ledger_text.key_in(row.reference) for row in found})
        before = len(await safe_mode.orphans(tx)) - len(found)
        for start in range(0, len(found), _ROWS_A_LINE):
            some = found[start : start + _ROWS_A_LINE]
            lines = [_in_a_line(row, labels, known) for row in some]
            numbers = f"Ledger rows {before + start + 1} to {before + start + len(some)}:"
            await alerts.thread_line(tx, core, alert, ACTOR, "\n".join([numbers, *lines]))
        if found:
            await safe_mode.note_listed(tx)
        there = await programs.not_removed(tx)
        # The last one that was paused for it may have been removed. A pause that is older than it holds it, too.
        if not any(pause.program in there for pause in await pauses.all(tx)):
            await leave(tx, core, ACTOR)


async def _tell_of_late_ones(tx: Tx, core: Core, found: Sequence[OrphanDebit]) -> None:
    """Another process was reading the ledger while safe mode was left."""
    labels = await cards.labels(tx, {row.card_id for row in found if row.card_id})
    for program in sorted({row.program for row in found}):
        mine = [row for row in found if row.program == program]
        rows = [_in_a_line(row, labels) for row in mine]
        took_usd = -exact_sum(row.amount_usd for row in mine)
        said = float_alerts.unexplained(program, "orphans", rows, took_usd)
        condition = float_alerts.UNEXPLAINED.condition(program, "orphans", mine[0].reference)
        await alerts.raise_(tx, core, said, condition=condition, subject=program, program=program)


async def _show(tx: Tx, core: Core, mode: SafeMode, *, is_news: bool = False) -> Alert:
    """The alert, with what was found so far."""
    is_read = not await unread(tx, mode)
    orphans, unsent = await _found_in(tx)
    said = _said(
        mode, orphans if is_read or orphans or unsent else None, unsent, is_new=await _is_new(tx, mode)
    )
    return await alerts.keep(
        tx, core, said, condition=_CONDITION, subject="database", program="", is_news=is_news
    )


async def _is_new(tx: Tx, mode: SafeMode) -> bool:
    """Was this database made after the one that it replaces, so that keys of that one have another name in them?"""
    began_at = (await on_record.of(tx)).began_at
    is_older = began_at is not None and mode.anchor_seq > mode.head_seq
    return mode.head_at is None or bool(
        is_older and mode.anchor_at is not None and began_at is not None and mode.anchor_at < began_at
    )


async def _found_in(tx: Tx) -> tuple[list[OrphanDebit], list[OrphanDebit]]:
    """What was found since it was entered: what has no request here, and what is of requests that are here as not
    carried out. Each of those has an alert of its own, too."""
    found = await safe_mode.orphans(tx)
    known = await request_search.by_key(tx, {ledger_text.key_in(row.reference) for row in found})
    mine = [row for row in found if ledger_text.key_in(row.reference) in known]
    return [row for row in found if row not in mine], mine


async def unread(tx: Tx, mode: SafeMode) -> list[str]:
    """The programs whose whole ledger was not read since it was entered."""
    kept = {name: await snapshots.LEDGER.get(tx, name) for name in await programs.not_removed(tx)}
    return sorted(p for p, one in kept.items() if not ledger_rules.is_whole_in(one, mode.mark))


async def leave(tx: Tx, core: Core, actor: str) -> None:
    """Two people resumed sending. It ends where no program that was not removed is paused for it any more."""
    known = await programs.not_removed(tx)
    for pause in await pauses.all(tx):
        if pause.program in known and (pause.by == ACTOR or await pauses.is_changed(tx, pause.program)):
            return
    mode = await safe_mode.current(tx)
    if mode is not None and mode.voided is not None:
        body = {"head": mode.head_seq, "not_read": await unread(tx, mode)}
        await audit.record(tx, core, actor, safe_mode.ACCEPTED, "database", body)
        await alerts.resolve(tx, core, _CONDITION, actor=actor)


async def why_not_resumed(tx: Tx) -> str:
    """Why nobody can leave it yet, in sentences; empty where they can, and where it is not in force."""
    mode = await safe_mode.current(tx)
    if mode is None:
        return ""
    not_read = await unread(tx, mode)
    waits_until = mode.entered_at + _UNREAD_HOLDS_FOR
    if not_read and tx.now < waits_until:
        which = f" Not read yet: {', '.join(not_read)}."
        return (
            "Countersign is still reading the whole ledger for debits that this copy of the database does not know."
            f"{which} Try again in a minute. From {waits_until:%H:%M} UTC on you can leave safe mode without a ledger"
            " that cannot be read. Nothing was changed."
        )
    if await safe_mode.unlisted(tx):
        return (
            "Countersign is still listing the debits that this copy of the database does not know, in the thread of"
            " the alert about safe mode. Read them there, then try again in a minute. Nothing was changed."
        )
    return ""


async def summary(tx: Tx) -> str:
    """What whoever confirms has to know; empty where it is not in force."""
    mode = await safe_mode.current(tx)
    if mode is None:
        return ""
    orphans, unsent = await _found_in(tx)
    found = (
        running_alerts.of_lost(_usd(orphans), _usd(unsent), "it")
        if orphans or unsent
        else "it is a new one, which cannot tell which debits were made by the one before it"
        if await _is_new(tx, mode)
        else "no debit of Countersign's was found that it does not know"
    )
    not_read = await unread(tx, mode)
    beware = (
        f" The ledger of {', '.join(not_read)} was *not read*: what was paid there since the copy is not known, so look"
        " at it with your card provider first."
    )
    return f" This leaves safe mode: the database is an older copy, and {found}.{beware if not_read else ''}"


def _usd(rows: Sequence[OrphanDebit]) -> list[Decimal]:
    return [row.amount_usd for row in rows]


def _said(
    mode: SafeMode, orphans: Sequence[OrphanDebit] | None, unsent: Sequence[OrphanDebit], *, is_new: bool
) -> Said:
    return running_alerts.safe_mode(
        head_seq=mode.head_seq,
        head_at=mode.head_at,
        anchor_seq=mode.anchor_seq,
        anchor_at=mode.anchor_at,
        voided=mode.ended if mode.voided is None else mode.voided,
        orphans=None if orphans is None else _usd(orphans),
        unsent=_usd(unsent),
        is_new=is_new,
    )


def _in_a_line(
    row: OrphanDebit, labels: Mapping[str, str], known: Mapping[str, str] = MappingProxyType({})
) -> str:
    """`known`: the requests that are here, by their keys."""
    card = f", {labels.get(row.card_id) or f'card {row.card_id}'}" if row.card_id else ""
    request = known.get(ledger_text.key_in(row.reference))
    of_request = f", of {request}, not carried out as this copy has it" if request else ""
    at = f"{row.booked_at:%Y-%m-%d %H:%M:%S} UTC"
    return f"{at}: {format_usd(row.amount_usd)}, {row.kind}{card}, {row.reference}{of_request}"
