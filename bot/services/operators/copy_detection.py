"""What shows without anchors that the database is an older copy: the ledger, and our messages in Slack.

Who puts a dump or a snapshot back by hand says nothing of it here. But the ledger has the idempotency keys of what was
sent since the copy was made, and Slack has the messages, each with the id of its newest edit. What was made here and is
not known here, or was paid and is not known here as sent, was done after the copy, or by another process on another
copy; either way nothing may be sent. Each start looks, and what can wait is not sent to a program before its ledger was
seen. What moved no money and changed no message leaves no trace in either.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime, timedelta

from bot.domain import slack_faults
from bot.domain.alerts import running_alerts
from bot.domain.errors import LookupFailed
from bot.domain.money import ledger_text
from bot.partner.errors import Forbidden, PartnerError
from bot.services import message_kinds, snapshots
from bot.services.alerts import ledger_rules, unsent_debits
from bot.services.core import SLACK, Core
from bot.services.operators import safe_mode
from bot.services.processes import start_holds
from storage import audit
from storage.log_record import on_record
from storage.messages import alerts as alert_rows
from storage.messages import outbox
from storage.operators import safe_mode as rows
from storage.requests import request_search
from storage.transaction import Tx

log = logging.getLogger("countersign.copy_detection")

# A start waits so long for ledgers, and for Slack.
_LEDGERS_ANSWER_WITHIN_S = 2.0
_SLACK_ANSWERS_WITHIN_S = 5.0
# The card provider's, and that of this machine.
_CLOCKS_DIFFER = timedelta(days=2)

#: The ids of our newest messages, as the outbox knows them, each with the time of its message.
ReadPosted = Callable[[], Awaitable[Sequence[tuple[str, datetime]]]]


async def nothing_posted() -> Sequence[tuple[str, datetime]]:
    """Where nobody asks Slack."""
    return []


async def hold_until_seen(core: Core) -> None:
    """At a start, before anything is sent: look at each ledger, for a moment. What is not seen then is held until
    `look_again` has seen it."""
    for program in core.partners:
        start_holds.begin(core, program, error="It has not answered yet.")
    await start_holds.note(core)
    try:
        async with asyncio.timeout(_LEDGERS_ANSWER_WITHIN_S):
            await look_at_ledgers(core)
    except TimeoutError:
        log.info("copy_detection.ledgers_not_seen", extra={"programs": sorted(core.unseen)})
    await start_holds.note(core)


async def look_again(core: Core, read: ReadPosted) -> None:
    """At what was not seen since the start."""
    if SLACK in core.unseen:
        await look_at_slack(core, read)
    await look_at_ledgers(core)


async def look_at_ledgers(core: Core) -> None:
    """Of the programs whose ledger was not seen since the start. One that cannot be read is looked at again later."""
    for program in sorted(core.unseen.keys() & core.partners.keys()):
        try:
            await look_at_ledger(core, program)
        except PartnerError as error:
            log.info("copy_detection.ledger_not_seen", extra={"program": program, "error": str(error)})
            start_holds.begin(core, program, error=str(error))


async def look_at_ledger(core: Core, program: str) -> None:
    """Is there a key that was made here and that the database does not know, or knows as never sent? Then safe mode
    begins. What else came in counts before anything is sent. Done once after a start. Raises PartnerError."""
    if program not in core.unseen:
        return
    try:
        since = await _not_of_this_database(core, program)
    except Forbidden:  # this key may never read it, and people are notified of that
        since = None
    if since is not None:
        await _enter(core, since, "ledger")
    await start_holds.end(core, program)


async def look_at_slack(core: Core, read: ReadPosted, *, holds: bool = True) -> None:
    """Is there a message of this installation that the database does not know? Whatever Slack refuses, the start goes
    on. `holds`: what this process sends waits until Slack was read, for a while; without access to it nothing waits.
    """
    try:
        async with asyncio.timeout(_SLACK_ANSWERS_WITHIN_S):
            posted = dict(await read())
    except Exception as error:  # noqa: BLE001 - whatever Slack refuses
        log.warning("copy_detection.slack_not_read", extra={"error": type(error).__name__})
        if holds:
            _not_read(core, error)
        return
    async with core.store.read() as tx:
        is_safe_mode = await rows.current(tx) is not None
        known = await outbox.known(tx, posted)
        accepted = await _accepted_until(tx)
    unknown = [
        at for dedupe, at in posted.items() if dedupe not in known and (accepted is None or at > accepted)
    ]
    if unknown and not is_safe_mode:
        await _enter(core, min(unknown), "slack")
    if SLACK in core.unseen:
        await start_holds.end(core, SLACK)


def _not_read(core: Core, error: Exception) -> None:
    code = error.code if isinstance(error, LookupFailed) else ""
    if code in slack_faults.ACCESS:  # until somebody gives it access
        start_holds.begin(core, SLACK, error=slack_faults.explained(code), holds_for_s=0)
    else:
        start_holds.begin(core, SLACK, error=f"Slack did not answer ({code or type(error).__name__}).")


async def _not_of_this_database(core: Core, program: str) -> datetime | None:
    """When the first thing was made that is in the ledger and not here: a key that is not known, or a debit of a
    request that was never sent from here; None where all is known. In safe mode it is known already that some is not,
    and all of the ledger is read."""
    async with core.store.read() as tx:
        kept = await snapshots.LEDGER.get(tx, program)
        if await rows.current(tx) is not None:
            return None
        # Found in a safe mode before, or reported since. No clock says which those are: it may have been wrong.
        listed = await rows.references(tx, program)
        began_at = (await on_record.of(tx)).began_at
    fresh = await ledger_rules.since_last_reading(
        core.partners[program], kept, never_before=began_at and began_at - _CLOCKS_DIFFER
    )
    keys = {ledger_text.key_in(one.reference) for one in fresh if one.reference not in listed}
    made = {key: at for key in keys if (at := core.ids.made_at(key)) is not None}
    async with core.store.begin() as tx:
        known = await request_search.by_key(tx, made)
        unsent = await unsent_debits.unsent(tx, core, fresh, but_not=listed)
        await unsent_debits.count_of_failed(tx, program, fresh)
    unknown = [at for key, at in made.items() if key not in known]
    return min([*unknown, *(one.created_at for one in unsent)], default=None)


async def _accepted_until(tx: Tx) -> datetime | None:
    """By Slack's clock: what was posted before then and is not known was lost with an earlier copy, and two people have
    accepted that. It was posted before the alert about that copy."""
    alert = message_kinds.ALERT
    subjects = [
        message_kinds.stored_subject(alert.about, id_)
        for id_ in await alert_rows.ids_of(tx, running_alerts.SAFE_MODE.name)
    ]
    places = (await outbox.places(tx, subjects, alert.form)).values()
    return max((datetime.fromtimestamp(float(place.ts), UTC) for place in places if place.ts), default=None)


async def _enter(core: Core, since: datetime, shown_by: str) -> None:
    """The copy was made before `since`, when the first thing was made that it does not know."""
    async with core.store.read() as tx:
        head = await audit.last_until(tx, since)
    log.error("copy_detection.found", extra={"shown_by": shown_by, "since": since.isoformat()})
    await safe_mode.enter(core, head, head)
    await safe_mode.at_start(core)
