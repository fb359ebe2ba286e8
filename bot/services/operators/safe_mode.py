"""Safe mode: an older copy of the database was put in place, so what was done since then is not known here.

It receives events, reads the API and looks up what was sent, and sends nothing: every program is paused. No approval
is taken, and those of before are void, as what they were given for may have been carried out. The whole ledger is read,
and the debits whose keys were made here and belong to no request are listed. Two people leave it, as after a pause.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta

from bot.domain.alerts import Said, running_alerts
from bot.domain.errors import Stale
from bot.domain.money import exact_sum, format_usd
from bot.domain.requests import Event, Request, State
from bot.services import alerts, audit, snapshots
from bot.services.core import Core
from bot.services.operators import confirmations
from bot.services.requests import close
from storage.cards import cards
from storage.messages import Alert
from storage.operators import OrphanDebit, SafeMode, pauses, programs, safe_mode
from storage.requests import requests
from storage.transaction import Tx

log = logging.getLogger("countersign.safe_mode")

ACTOR = "system:restore"
_REASON = "an older copy of the database was put in place"
_NOT_CONFIRMED = (
    "Void: an older copy of the database was put in place. This may have been answered since the copy was made."
    " Nothing was changed; request it again if it is still needed."
)
_CONDITION = running_alerts.SAFE_MODE.condition()
# The card provider knows a key for a day: what is older must not be sent under it.
_KEY_KNOWN_FOR = timedelta(hours=20)
_PIECE = 200
_ROWS_A_LINE = 20


async def enter(core: Core, head: tuple[int, datetime | None], anchor: tuple[int, datetime | None]) -> None:
    """The audit chain ends at `head`, number and time, and is known to have gone on to `anchor`."""
    async with core.store.begin() as tx:
        if not await safe_mode.enter(
            tx, core.ids.ulid(), head_seq=head[0], head_at=head[1], anchor_seq=anchor[0], anchor_at=anchor[1]
        ):
            return
        body = {"head": head[0], "anchor": anchor[0]}
        await audit.record(tx, core, ACTOR, safe_mode.RESTORED, "database", body)
    log.error("safe_mode.entered", extra=body)


async def at_start(core: Core) -> None:
    """Do what has to be done before anything is sent, where it is in force; done again after a crash in between."""
    async with core.store.begin() as tx:
        mode = await safe_mode.current(tx)
        if mode is None:
            return
        if mode.voided is None:
            for program in await programs.all(tx):
                await pauses.put(tx, program.name, by=ACTOR, by_name="Countersign", reason=_REASON)
                await snapshots.LEDGER.drop(tx, program.name)
            await confirmations.withdraw_all(tx, core, _NOT_CONFIRMED)
            await requests.doubt_all(tx)
            await _show(tx, core, mode)
    if mode.voided is None:
        voided = await _void_approvals(core, mode)
        async with core.store.begin() as tx:
            await safe_mode.note(tx, mode.id, voided=voided)
    await review(core)


async def _void_approvals(core: Core, mode: SafeMode) -> int:
    """Every approval that was not used yet, and every request too old to be sent under its key. Returns how many
    requests ended by it."""
    until = f"{mode.head_at:%Y-%m-%d %H:%M} UTC" if mode.head_at else "the copy was made"
    text = (
        f"Void: an older copy of the database was put in place, and what happened to this request after {until} is not"
        " known. It may have been carried out: check the card and the ledger before you request it again."
    )
    count = 0
    while True:
        async with core.store.read() as tx:
            found = await requests.with_approvals(tx, older_than=tx.now - _KEY_KNOWN_FOR, limit=_PIECE)
        if not found:
            return count
        count += sum([await _void(core, request, text) for request in found])


async def _void(core: Core, request: Request, text: str) -> bool:
    """In a transaction of its own; False where it changed since it was found."""
    with suppress(Stale):
        async with core.store.begin() as tx:
            current = await requests.get(tx, request.id)
            if current is None or current.state not in (State.PENDING, State.APPROVED):
                return False
            await close(tx, core, current, Event.CANCEL, ACTOR, text, line="voided")
            return True
    return False


async def review(core: Core) -> None:
    """Keep the alert in step with what the ledger has shown, and list every debit in its thread, once."""
    async with core.store.begin() as tx:
        mode = await safe_mode.current(tx)
        if mode is None:
            return
        alert, orphans = await _show(tx, core, mode)
        labels = await cards.labels(tx, {row.card_id for row in orphans if row.card_id})
        for start in range(mode.reported, len(orphans), _ROWS_A_LINE):
            rows = orphans[start : start + _ROWS_A_LINE]
            lines = [_in_a_line(row, labels) for row in rows]
            text = "\n".join([f"Debits {start + 1} to {start + len(rows)}:", *lines])
            await alerts.thread_line(tx, core, alert, ACTOR, text)
        if len(orphans) > mode.reported:
            await safe_mode.note(tx, mode.id, reported=len(orphans))


async def _show(tx: Tx, core: Core, mode: SafeMode) -> tuple[Alert, Sequence[OrphanDebit]]:
    """The alert, with what was found so far."""
    orphans = await safe_mode.orphans(tx, since=mode.entered_at)
    is_read = await is_ledger_read(tx, core, mode)
    said = _said(mode, orphans if is_read or orphans else None)
    is_news = len(orphans) > mode.reported
    alert = await alerts.keep(
        tx, core, said, condition=_CONDITION, subject="database", program="", is_news=is_news
    )
    return alert, orphans


async def is_ledger_read(tx: Tx, core: Core, mode: SafeMode) -> bool:
    """Was the whole ledger of every program read since it was entered?"""
    kept = [await snapshots.LEDGER.get(tx, program) for program in core.partners]
    return all(
        one is not None and one.value.rows is not None and one.read_at >= mode.entered_at for one in kept
    )


async def leave(tx: Tx, core: Core, actor: str) -> None:
    """Two people resumed sending. It ends where no program is paused for it any more."""
    if any(pause.by == ACTOR for pause in await pauses.all(tx)):
        return
    mode = await safe_mode.leave(tx)
    if mode is not None:
        await audit.record(tx, core, actor, "database.accepted", "database", {"head": mode.head_seq})
        await alerts.resolve(tx, core, _CONDITION, actor=actor)


async def why_not_resumed(tx: Tx, core: Core) -> str:
    """Why nobody can leave it yet, in sentences; empty where they can, and where it is not in force."""
    mode = await safe_mode.current(tx)
    if mode is None or await is_ledger_read(tx, core, mode):
        return ""
    return (
        "Countersign is still reading the whole ledger for debits that this copy of the database does not know."
        " Try again in a minute. Nothing was changed."
    )


async def summary(tx: Tx) -> str:
    """What whoever confirms has to know; empty where it is not in force."""
    mode = await safe_mode.current(tx)
    if mode is None:
        return ""
    orphans = await safe_mode.orphans(tx, since=mode.entered_at)
    total = format_usd(-exact_sum(row.amount_usd for row in orphans))
    found = (
        f"{len(orphans)} debits of {total} are not known to it" if orphans else "no unknown debit was found"
    )
    return f" This leaves safe mode: the database is an older copy, and {found}."


def _said(mode: SafeMode, orphans: Sequence[OrphanDebit] | None) -> Said:
    return running_alerts.safe_mode(
        head_seq=mode.head_seq,
        head_at=mode.head_at,
        anchor_seq=mode.anchor_seq,
        anchor_at=mode.anchor_at,
        voided=mode.voided or 0,
        orphans=None if orphans is None else [row.amount_usd for row in orphans],
    )


def _in_a_line(row: OrphanDebit, labels: Mapping[str, str]) -> str:
    card = f", {labels.get(row.card_id) or f'card {row.card_id}'}" if row.card_id else ""
    return f"{row.booked_at:%Y-%m-%d %H:%M:%S} UTC: {format_usd(row.amount_usd)}, {row.kind}{card}, {row.reference}"
