"""What a start could not look at yet, a program's ledger or the messages in Slack, so nothing that can wait is sent.

Each process knows what it has not seen (`Core.unseen`). That it holds requests back is kept in the database, too, as
others show people why their requests wait. It ends when it is seen, or after `HOLDS_FOR_S` with an alert.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.domain.alerts import Said, running_alerts
from bot.domain.requests import State
from bot.services import alerts, outbox_messages
from bot.services.core import SLACK, Core, Unseen
from bot.services.snapshots import Kept, Kind
from storage.requests import requests
from storage.transaction import Tx

#: What cannot be read holds what is to be sent for so long; after that it is sent all the same.
HOLDS_FOR_S = 600.0
#: A hiccup at a start is over by then. People are notified of what lasts longer, within a minute.
REPORTED_AFTER_S = 20.0


@dataclass(frozen=True, slots=True)
class _Held:
    """What could not be read, and until when it holds."""

    what: str
    until: datetime


_KEPT = Kind("held_since_start", _Held)
# So many cards say why they wait; more are not approved within ten minutes.
_REDRAWN = 200
_WHAT = {True: "the messages in Slack", False: "its ledger"}


def begin(core: Core, what: str, *, error: str = "", holds_for_s: float = HOLDS_FOR_S) -> None:
    """`what` (a program, or `SLACK`) is not seen: from now on it holds, unless it does already."""
    since_s = core.clock.monotonic()
    before = core.unseen.get(what)
    core.unseen[what] = Unseen(*(before or (since_s, since_s + holds_for_s))[:2], error)


async def note(core: Core) -> None:
    """Keep what is held, and until when, where other processes and messages read it."""
    async with core.store.begin() as tx:
        for program in core.partners:
            held = {one: core.unseen[one] for one in (program, SLACK) if core.holds_for(one)}
            kept = await _KEPT.get(tx, program)
            what = " and ".join(_WHAT[one == SLACK] for one in sorted(held, reverse=True))
            if what == (kept.value.what if kept is not None and _is_held(kept, tx.now) else ""):
                continue
            if held:
                left_s = max(one.until_s for one in held.values()) - core.clock.monotonic()
                until = tx.now + timedelta(seconds=left_s)
                await _KEPT.put(tx, program, _Held(what, until))
            elif kept is not None:
                await _KEPT.drop(tx, program)
            for request in await requests.find(tx, program=program, states={State.APPROVED}, limit=_REDRAWN):
                await outbox_messages.redraw(tx, core, request)
                await outbox_messages.redraw_notice(tx, core, request)


async def why(tx: Tx, program: str) -> str:
    """Why nothing that can wait is sent to this program since a start, in a sentence; empty while it is."""
    kept = await _KEPT.get(tx, program)
    if kept is None or not _is_held(kept, tx.now):
        return ""
    return (
        f"Sending to {program} waits: since Countersign started it could not read {kept.value.what}, so it does not"
        " know whether its database is an older copy. It sends once it could read that, or from"
        f" {kept.value.until:%H:%M} UTC on."
    )


async def why_expired(tx: Tx, program: str) -> str:
    """What is said of a request whose approval ran out meanwhile; empty where nothing is held."""
    kept = await _KEPT.get(tx, program)
    if kept is None or not _is_held(kept, tx.now):
        return ""
    return (
        f"Approved, but since Countersign started it could not read {kept.value.what}, so it did not know whether"
        " its database is an older copy, and sent nothing. The approval ran out meanwhile. Check the card and the"
        " ledger, then request it again."
    )


def _is_held(kept: Kept[_Held], now: datetime) -> bool:
    return kept.value.until > now


async def report(core: Core) -> None:
    """To people: what is held and since when; and afterwards that it is sent though nobody knows whether it may be."""
    await note(core)
    for what, one in sorted(core.unseen.items()):
        is_held = core.holds_for(what)
        if is_held and core.clock.monotonic() - one.since_s < REPORTED_AFTER_S:
            continue
        condition = condition_of(what)
        async with core.store.begin() as tx:
            said = _said(what, "held" if is_held else "sends", one)
            await alerts.keep(tx, core, said, condition=condition, subject=what or "slack", program=what)


async def end(core: Core, what: str) -> None:
    """It was seen, or nobody may ever read it."""
    core.unseen.pop(what, None)
    async with core.store.begin() as tx:
        await alerts.resolve(tx, core, condition_of(what))
    await note(core)
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
