"""Cards whose status the card provider changed. No event tells of a block, an expiry or a freeze by others [Event
types], so what the sweep read is compared with what was known.

What was read accuses nobody of what people here decided since it began, and ends no alert that was raised since: that
is known by the audit log, whose last entry is noted before each reading (`after`), and by no clock, as each machine has
its own. A sweep is no judge of cards that were read again since, as the row has what that other reading showed.

A database that was put back does not know what people here decided since that copy was made. So what was first read
after that accuses nobody either (`_unknown_since`).
"""

from __future__ import annotations

from datetime import datetime

from bot import operations
from bot.domain.alerts import Severity, card_alerts
from bot.domain.cards import DELETED, CardEntry
from bot.domain.requests import Request, State
from bot.domain.time import CLOCKS_DIFFER
from bot.outcomes import timing
from bot.services.alerts import lifecycle as alerts
from bot.services.cards import card_sync
from bot.services.core import Core
from bot.services.message_kinds import About, Subject
from storage import audit
from storage.cards import api_snapshots, cards
from storage.log_record import approval_order
from storage.messages import Alert
from storage.messages import alerts as alert_rows
from storage.operators import safe_mode
from storage.requests import requests
from storage.transaction import Tx

_KNOWN = "card_watch"
_WATCHED = ("BLOCKED", "EXPIRED", "INACTIVE", "FROZEN")
_MOST = 100_000
_UNFROZEN = "unfrozen"
"""Ends the key of the condition that a card which was frozen here is ACTIVE again."""
_OURS = (State.EXECUTING, State.UNRESOLVED, State.SUCCEEDED)


async def compare(core: Core, program: str, begun_at: datetime, *, after: int) -> None:
    """After a sweep that began at `begun_at`, after this entry of the log. The first one only takes note of how things
    are."""
    async with core.store.begin() as tx:
        kept = await api_snapshots.get(tx, program, _KNOWN)
        now: dict[str, CardEntry] = {}
        for status in _WATCHED:
            found = await cards.all(tx, status=status, program=program, limit=_MOST)
            now |= {entry.id: entry for entry in found}
        known: dict[str, str] = (
            kept.value if kept else {entry.id: str(entry.status) for entry in now.values()}
        )
        seen = await cards.seen_by(tx, now.keys(), begun_at)
        statuses = {card_id: status for card_id, status in known.items() if card_id in now}
        gap = await _unknown_since(tx, kept) if kept is not None else ""
        for card_id in sorted(seen):
            entry = now[card_id]
            if known.get(card_id) != entry.status and await _changed(tx, core, entry, after, gap):
                statuses[card_id] = str(entry.status)
        if kept is not None:
            for entry in await cards.gone_after(tx, program, min(kept.read_at, begun_at) - CLOCKS_DIFFER):
                await _closed(tx, core, entry, gap)
            # No event tells of an unfreeze by the card provider itself, however long ago the card was frozen, nor of
            # a card that it had blocked and that is not frozen any more.
            back = {card_id for card_id in known if card_id not in now}
            for card_id in sorted(back | await _switched_lately(tx, core, program)):
                await _swept(tx, core, card_id, begun_at, after)
        # After the looks, which go by what was known before.
        await api_snapshots.put(tx, program, _KNOWN, statuses)
        await _over(tx, core, program, begun_at, after)


async def look_at(tx: Tx, read: CardEntry, *, core: Core, after: int) -> None:
    """After one card was read by itself, after this entry of the log.

    An alert while a card reads ACTIVE that the newest decision here has frozen. What unfroze it may be an older
    unfreeze of ours whose call arrived late: it is named where there is one.
    """
    condition = card_alerts.CARD_STATUS.condition(read.program, read.id, _UNFROZEN)
    switches = await _switches(tx, core, read.id)
    newest = max(switches, key=await approval_order.of(tx, switches), default=None)
    freezing = operations.leaving(core.kinds, "FROZEN")
    is_frozen_here = newest is not None and newest.kind in freezing and newest.state is State.SUCCEEDED
    if newest is None or not is_frozen_here:
        await alerts.resolve(tx, core, condition)
        if newest is not None and read.status == "FROZEN" and not await _is_on_record(tx, newest, after):
            await card_sync.queue_reading_of_change(tx, read.program, read.id)
        return
    if read.status != "ACTIVE":
        raised = await alert_rows.open_one(tx, condition)
        if raised is not None and await _is_on_record(tx, raised, after):
            await alerts.resolve(tx, core, condition)
        return
    if not await _is_on_record(tx, newest, after):
        # What was read may be of the time before it. What is read next tells, and soon.
        await card_sync.queue_reading_of_change(tx, read.program, read.id)
        return
    older = [r.id for r in switches if r.kind not in freezing and r.outcome_unknown]
    cause = (
        f"{', '.join(sorted(older))} is older, and its call may have arrived only now."
        if older
        else _BY_OTHERS
    )
    if gap := await _unknown_since_frozen(tx, read, newest):
        said = card_alerts.CARD_STATUS.says(
            "unfrozen before a restore", card=read.label, freeze=newest.id, gap=gap
        )
    else:
        said = card_alerts.CARD_STATUS.says("unfrozen", card=read.label, freeze=newest.id, cause=cause)
    facts = {"program": read.program, "card_id": read.id}
    await alerts.keep(tx, core, said, condition=condition, subject=read.id, program=read.program, facts=facts)


_BY_OTHERS = "No request here unfroze it: your card provider did, or somebody else with the key."


async def _unknown_since(tx: Tx, known: api_snapshots.Reading) -> str:
    """The time of which nobody here knows what was decided, if something may have changed in it since all cards were
    `known`; empty where nothing can have."""
    mode = next(reversed(await safe_mode.all(tx)), None)
    if mode is None or known.read_at - CLOCKS_DIFFER > mode.entered_at:
        return ""
    if tx.now - mode.entered_at > timing.LATE_LANDING_FOR:  # each card was read again and again since
        return ""
    since = f"{mode.head_at:%Y-%m-%d %H:%M} UTC" if mode.head_at else "the copy"
    return f"from {since} to {mode.entered_at:%Y-%m-%d %H:%M} UTC"


async def _unknown_since_frozen(tx: Tx, read: CardEntry, freeze: Request) -> str:
    """As `_unknown_since`, of a card that this request froze."""
    modes = await safe_mode.all(tx)
    if not modes or not await _is_on_record(tx, freeze, modes[-1].seq):
        return ""
    raised = await alert_rows.open_one(
        tx, card_alerts.CARD_STATUS.condition(read.program, read.id, _UNFROZEN)
    )
    if raised is not None and raised.severity == Severity.CRITICAL:
        return ""  # known to be otherwise; the last sweep has it as ACTIVE by now
    kept = await api_snapshots.get(tx, read.program, _KNOWN)
    if kept is None or kept.value.get(read.id) != "FROZEN":
        kept = api_snapshots.Reading({}, freeze.created_at)
    return await _unknown_since(tx, kept)


async def _is_on_record(tx: Tx, one: Request | Alert, after: int) -> bool:
    """Was all that the log has of it there by this entry?"""
    about = About.REQUEST if isinstance(one, Request) else About.ALERT
    return await audit.newest_about(tx, Subject(about, one.id).stored()) <= after


async def _swept(tx: Tx, core: Core, card_id: str, begun_at: datetime, after: int) -> None:
    """What a sweep read of a card that was frozen or unfrozen here; where the row has what another reading showed, it
    is read again, as nobody knows which of them came first."""
    entry = await cards.get(tx, card_id)
    if entry is None:
        return
    if entry.status == DELETED or await cards.seen_by(tx, {card_id}, begun_at):
        await look_at(tx, entry, core=core, after=after)
    else:
        await card_sync.queue_reading_of_change(tx, entry.program, card_id)


async def _switched_lately(tx: Tx, core: Core, program: str) -> set[str]:
    """The cards that requests here froze or unfroze so lately that an older call may still undo it, or with an alert
    about it."""
    since = tx.now - timing.LATE_LANDING_FOR
    done = await requests.find(
        tx,
        program=program,
        states=(State.SUCCEEDED,),
        kinds=operations.leaving(core.kinds, "FROZEN", "ACTIVE"),
        since=since,
        limit=_MOST,
        each_row=True,
    )
    are_open = await alert_rows.open_of(tx, card_alerts.CARD_STATUS.name)
    mine = {request.subject for request in done}
    return mine | {
        a.subject for a in are_open if _is_unfrozen(a.dedupe) and a.dedupe.split(":")[1] == program
    }


def _is_unfrozen(condition: str) -> bool:
    return condition.endswith(f":{_UNFROZEN}")


async def _switches(tx: Tx, core: Core, card_id: str) -> list[Request]:
    """What was sent here to freeze or unfreeze a card, and has had its effect or may have."""
    kinds = operations.leaving(core.kinds, "FROZEN", "ACTIVE")
    states = (*_OURS, State.FAILED)
    found = await requests.find(tx, subject=card_id, kinds=kinds, states=states, limit=20, each_row=True)
    return [r for r in found if r.state is not State.FAILED or r.outcome_unknown]


async def _changed(tx: Tx, core: Core, entry: CardEntry, after: int, gap: str) -> bool:
    """A card that a sweep read otherwise than the one before, after this entry of the log; False where the next sweep
    has to tell."""
    case = str(entry.status)
    if entry.status == "BLOCKED":
        await blocked(tx, core, entry.program, entry.id, entry.label, card_alerts.READS_BLOCKED)
        return True
    if entry.status == "FROZEN":
        done = [r for r in await _switches(tx, core, entry.id) if r.state in _OURS]
        newest = max(done, key=await approval_order.of(tx, done), default=None)
        if newest is not None and newest.kind in operations.leaving(core.kinds, "FROZEN"):
            return True
        if newest is not None and not (
            newest.state is State.SUCCEEDED and await _is_on_record(tx, newest, after)
        ):
            return False
        case = "FROZEN before a restore" if gap else case
    await alerts.keep(
        tx,
        core,
        card_alerts.CARD_STATUS.says(case, card=entry.label, gap=gap),
        condition=card_alerts.CARD_STATUS.condition(entry.program, entry.id),
        subject=entry.id,
        program=entry.program,
        facts={"program": entry.program, "card_id": entry.id},
    )
    return True


async def _closed(tx: Tx, core: Core, entry: CardEntry, gap: str) -> None:
    """Reported when no request here closed it: its balance is on the float now, and nobody asked for that."""
    closing = operations.leaving(core.kinds, DELETED)
    if await requests.find(tx, subject=entry.id, kinds=closing, states=_OURS, limit=1):
        return
    condition = f"closed:{entry.program}:{entry.id}"
    if await alert_rows.was_raised(tx, condition):  # a card is closed once
        return
    said = card_alerts.CARD_STATUS.says(
        "closed before a restore" if gap else "closed", card=entry.label, gap=gap
    )
    await alerts.tell(
        tx,
        core,
        said,
        condition=condition,
        subject=entry.id,
        program=entry.program,
    )


async def blocked(tx: Tx, core: Core, program: str, card_id: str, label: str, how: str) -> None:
    """One alert for each blocked card, whether a decline or the sweep reported it; `how` is the sentence of which."""
    condition = card_alerts.CARD_BLOCKED.condition(program, card_id)
    if await alert_rows.open_one(tx, condition):
        return
    said = card_alerts.CARD_BLOCKED.says(card=label, how=how)
    facts = {"program": program, "card_id": card_id}
    await alerts.keep(tx, core, said, condition=condition, subject=card_id, program=program, facts=facts)


async def _over(tx: Tx, core: Core, program: str, begun_at: datetime, after: int) -> None:
    """Alerts whose card the sweep read otherwise, which began at `begun_at` and after this entry of the log."""
    for kind, wanted in (
        (card_alerts.CARD_BLOCKED, {"BLOCKED"}),
        (card_alerts.CARD_STATUS, set(_WATCHED) - {"BLOCKED"}),
    ):
        for alert in await alert_rows.open_of(tx, kind.name):
            if alert.dedupe.split(":")[1] != program or _is_unfrozen(alert.dedupe):
                continue
            entry = await cards.get(tx, alert.subject)
            is_open = entry is not None and entry.gone_at is None and entry.status != DELETED
            if is_open and not await cards.seen_by(tx, {alert.subject}, begun_at):
                continue
            is_other = entry is None or not is_open or entry.status not in wanted
            if is_other and await _is_on_record(tx, alert, after):
                await alerts.resolve(tx, core, alert.dedupe)
