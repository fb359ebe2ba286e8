"""Cards whose status the card provider changed. No event tells of a block, an expiry or a freeze by others [Event
types], so what the sweep read is compared with what was known."""

from __future__ import annotations

from datetime import datetime

from bot import operations
from bot.domain.alerts import card_alerts
from bot.domain.cards import DELETED, CardEntry
from bot.domain.requests import Request, State
from bot.domain.time import was_before
from bot.outcomes import timing
from bot.services.alerts import lifecycle as alerts
from bot.services.core import Core
from storage.cards import api_snapshots, cards
from storage.log_record import approval_order
from storage.messages import alerts as alert_rows
from storage.requests import requests
from storage.transaction import Tx

_KNOWN = "card_watch"
_WATCHED = ("BLOCKED", "EXPIRED", "INACTIVE", "FROZEN")
_MOST = 100_000
_UNFROZEN = "unfrozen"
"""Ends the key of the condition that a card which was frozen here is ACTIVE again."""
_OURS = (State.EXECUTING, State.UNRESOLVED, State.SUCCEEDED)


async def compare(core: Core, program: str, read_at: datetime) -> None:
    """After a sweep that began at `read_at`. The first one only takes note of how things are."""
    async with core.store.begin() as tx:
        kept = await api_snapshots.get(tx, program, _KNOWN)
        known: dict[str, str] = kept.value if kept else {}
        now: dict[str, CardEntry] = {}
        for status in _WATCHED:
            found = await cards.all(tx, status=status, program=program, limit=_MOST)
            now |= {entry.id: entry for entry in found}
        statuses = {card_id: str(entry.status) for card_id, entry in now.items()}
        await api_snapshots.put(tx, program, _KNOWN, statuses)
        if kept is not None:
            for entry in await cards.gone_after(tx, program, kept.read_at):
                await _closed(tx, core, entry)
            for card_id, entry in now.items():
                if known.get(card_id) != entry.status:
                    await _changed(tx, core, entry)
            for card_id in await _frozen_lately(tx, core, program):
                await _frozen_still(tx, core, card_id, read_at)
        await _over(tx, core, program, statuses, read_at)


async def look_at(tx: Tx, core: Core, card_id: str, read_at: datetime) -> None:
    """After one card was read by itself; the reading began at `read_at`."""
    await _frozen_still(tx, core, card_id, read_at)


async def _frozen_lately(tx: Tx, core: Core, program: str) -> list[str]:
    """The cards that requests here froze so lately that an older call may still undo it, or with an alert about it."""
    freezing = operations.leaving(core.kinds, "FROZEN")
    since = tx.now - timing.LATE_LANDING_FOR
    done = await requests.find(
        tx,
        program=program,
        states=(State.SUCCEEDED,),
        kinds=freezing,
        since=since,
        limit=_MOST,
        each_row=True,
    )
    are_open = await alert_rows.open_of(tx, card_alerts.CARD_STATUS.name)
    mine = {request.subject for request in done}
    return sorted(
        mine | {a.subject for a in are_open if _is_unfrozen(a.dedupe) and a.dedupe.split(":")[1] == program}
    )


def _is_unfrozen(condition: str) -> bool:
    return condition.endswith(f":{_UNFROZEN}")


async def _frozen_still(tx: Tx, core: Core, card_id: str, read_at: datetime) -> None:
    """An alert while a card reads ACTIVE that the newest decision here has frozen.

    What unfroze it may be an older unfreeze of ours whose call arrived late: it is named where there is one.
    """
    entry = await cards.get(tx, card_id)
    if entry is None:
        return
    condition = card_alerts.CARD_STATUS.condition(entry.program, card_id, _UNFROZEN)
    switches = await _switches(tx, core, card_id)
    newest = max(switches, key=await approval_order.of(tx, switches), default=None)
    freezing = operations.leaving(core.kinds, "FROZEN")
    is_frozen_here = newest is not None and newest.kind in freezing and newest.state is State.SUCCEEDED
    if newest is None or not is_frozen_here or entry.status != "ACTIVE":
        await alerts.resolve(tx, core, condition)
        return
    if newest.finished_at is None or not was_before(newest.finished_at, read_at, tx.now):
        return  # what was read may be of the time before it
    older = [r.id for r in switches if r.kind not in freezing and r.outcome_unknown]
    cause = (
        f"{', '.join(sorted(older))} is older, and its call may have arrived only now."
        if older
        else _BY_OTHERS
    )
    said = card_alerts.CARD_STATUS.says("unfrozen", card=entry.label, freeze=newest.id, cause=cause)
    facts = {"program": entry.program, "card_id": card_id}
    await alerts.keep(
        tx, core, said, condition=condition, subject=card_id, program=entry.program, facts=facts
    )


_BY_OTHERS = "No request here unfroze it: your card provider did, or somebody else with the key."


async def _switches(tx: Tx, core: Core, card_id: str) -> list[Request]:
    """What was sent here to freeze or unfreeze a card, and has had its effect or may have."""
    kinds = operations.leaving(core.kinds, "FROZEN", "ACTIVE")
    states = (*_OURS, State.FAILED)
    found = await requests.find(tx, subject=card_id, kinds=kinds, states=states, limit=20, each_row=True)
    return [r for r in found if r.state is not State.FAILED or r.outcome_unknown]


async def _changed(tx: Tx, core: Core, entry: CardEntry) -> None:
    if entry.status == "BLOCKED":
        await blocked(tx, core, entry.program, entry.id, entry.label, card_alerts.READS_BLOCKED)
        return
    if entry.status == "FROZEN" and await _frozen_here(tx, core, entry.id):
        return
    await alerts.keep(
        tx,
        core,
        card_alerts.CARD_STATUS.says(str(entry.status), card=entry.label),
        condition=card_alerts.CARD_STATUS.condition(entry.program, entry.id),
        subject=entry.id,
        program=entry.program,
        facts={"program": entry.program, "card_id": entry.id},
    )


async def _closed(tx: Tx, core: Core, entry: CardEntry) -> None:
    """Reported when no request here closed it: its balance is on the float now, and nobody asked for that."""
    closing = operations.leaving(core.kinds, DELETED)
    if await requests.find(tx, subject=entry.id, kinds=closing, states=_OURS, limit=1):
        return
    said = card_alerts.CARD_STATUS.says("closed", card=entry.label)
    await alerts.tell(
        tx,
        core,
        said,
        condition=f"closed:{entry.program}:{entry.id}",
        subject=entry.id,
        program=entry.program,
    )


async def _frozen_here(tx: Tx, core: Core, card_id: str) -> bool:
    """Was a freeze the last thing that requests of ours did to it?"""
    done = [r for r in await _switches(tx, core, card_id) if r.state in _OURS]
    newest = max(done, key=await approval_order.of(tx, done), default=None)
    return newest is not None and newest.kind in operations.leaving(core.kinds, "FROZEN")


async def blocked(tx: Tx, core: Core, program: str, card_id: str, label: str, how: str) -> None:
    """One alert for each blocked card, whether a decline or the sweep reported it; `how` is the sentence of which."""
    condition = card_alerts.CARD_BLOCKED.condition(program, card_id)
    if await alert_rows.open_one(tx, condition):
        return
    said = card_alerts.CARD_BLOCKED.says(card=label, how=how)
    facts = {"program": program, "card_id": card_id}
    await alerts.keep(tx, core, said, condition=condition, subject=card_id, program=program, facts=facts)


async def _over(tx: Tx, core: Core, program: str, statuses: dict[str, str], read_at: datetime) -> None:
    """Alerts whose card reads otherwise now, by a reading that began after they were raised."""
    for kind, wanted in (
        (card_alerts.CARD_BLOCKED, {"BLOCKED"}),
        (card_alerts.CARD_STATUS, set(_WATCHED) - {"BLOCKED"}),
    ):
        for alert in await alert_rows.open_of(tx, kind.name):
            mine = alert.dedupe.split(":")[1] == program and not _is_unfrozen(alert.dedupe)
            is_before = was_before(alert.updated_at, read_at, tx.now)
            if mine and is_before and statuses.get(alert.subject) not in wanted:
                await alerts.resolve(tx, core, alert.dedupe)
