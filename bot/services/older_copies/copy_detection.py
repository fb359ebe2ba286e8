"""What shows without anchors that the database is an older copy: the ledger, and our messages in Slack.

Who puts a dump or a snapshot back by hand says nothing of it here. But the ledger has the idempotency keys of what was
sent since the copy was made, and Slack has the messages. What was made here and is not known here, or was paid and is
not known here as sent, was done after the copy, or by another process on another copy; either way nothing may be sent.
Each start looks, and what can wait is not sent to a program before its ledger was seen. A message that was drawn
again since shows what became of a request that the copy has. What was not posted leaves no trace in either.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from bot import together
from bot.domain import slack_faults
from bot.domain.alerts import running_alerts
from bot.domain.errors import LookupFailed
from bot.domain.money import ledger_text
from bot.partner.errors import Forbidden, PartnerError
from bot.partner.models import LedgerEntry
from bot.services import alerts, message_kinds, snapshots
from bot.services.alerts import ledger_rules, unsent_debits
from bot.services.core import SLACK, Core
from bot.services.older_copies import looks_in_safe_mode, messages_in_slack
from bot.services.older_copies.messages_in_slack import PostedMessage, PostedMessages, ReadPosted, Wanted
from bot.services.operators import safe_mode
from bot.services.processes import start_holds, unseen_requests
from storage import audit
from storage.audit import Anchor
from storage.cards import api_snapshots
from storage.log_record import on_record
from storage.messages import alerts as alert_rows
from storage.messages import outbox
from storage.operators import SafeMode
from storage.operators import safe_mode as rows
from storage.requests import request_search
from storage.transaction import Tx

log = logging.getLogger("countersign.copy_detection")

# A start waits so long for ledgers, and for Slack.
_LEDGERS_ANSWER_WITHIN_S = 2.0
_SLACK_ANSWERS_WITHIN_S = 5.0
# Pages of messages may take longer than a start can wait.
_SLACK_ANSWERS_LATER_WITHIN_S = 120.0
# It is said one time that this database is new and another one's messages are there.
_OTHERS_REPORTED = "others_reported"
# The card provider's, and that of this machine.
_CLOCKS_DIFFER = timedelta(days=2)


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
    """At what was not seen since the start: the ledgers and Slack at once, as either may take its time."""
    looks = [look_at_ledgers(core)]
    if SLACK in core.unseen:
        joins = core.unseen[SLACK].joins
        looks.append(_look_at_slack(core, read, joins=joins, within_s=_SLACK_ANSWERS_LATER_WITHIN_S))
    await together.each(looks)


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
        found = await _not_of_this_database(core, program)
    except Forbidden:  # this key may never read it, and people are notified of that
        await start_holds.end(core, program)
        return
    if found.since is not None and not found.is_expected:
        await _enter(core, found.since, "ledger", of_before=found.mode)
    async with core.store.begin() as tx:
        await looks_in_safe_mode.note_ledger(tx, program, found.rows)
    await start_holds.end(core, program)


async def look_at_slack(core: Core, read: ReadPosted, *, holds: bool = True) -> None:
    """At a start. Is there a message of this installation that the database does not know, or one that was drawn with a
    later end of the audit log? Each channel shows it by itself. Whatever Slack refuses, the start goes on. `holds`:
    what this process sends waits until Slack was read, for a while; without access to it nothing waits."""
    joins = await unseen_requests.hold_never_posted(core)
    await _look_at_slack(core, read, holds=holds, joins=joins, within_s=_SLACK_ANSWERS_WITHIN_S)


async def _look_at_slack(
    core: Core, read: ReadPosted, *, holds: bool = True, joins: Collection[str] | None, within_s: float
) -> None:
    await messages_in_slack.begin(core)
    try:
        async with asyncio.timeout(within_s):
            wanted = await messages_in_slack.wanted(core)
            posted = await read(wanted)
    except Exception as error:  # noqa: BLE001 - whatever Slack refuses
        log.warning("copy_detection.slack_not_read", extra={"error": type(error).__name__})
        code = error.code if isinstance(error, LookupFailed) else ""
        if holds:
            _not_read(core, {"": code or type(error).__name__}, joins)
        return
    await _compare(core, posted.messages)
    await unseen_requests.note(core, _held(wanted, posted), joins=joins)
    named = messages_in_slack.named_channels(core)
    unread = {channel: error for channel, error in posted.unread.items() if channel in named}
    if posted.unread:
        log.warning("copy_detection.channels_not_read", extra={"channels": dict(posted.unread)})
    if unread and holds:
        _not_read(core, unread, joins)
    if unread:
        return
    await _report_cut(core, sorted(named & set(posted.cut)))
    await _tell_of_others(core, sorted(named & set(posted.of_others)))
    await messages_in_slack.end(core)
    await unseen_requests.note_looked(core)
    if SLACK in core.unseen:
        await start_holds.end(core, SLACK)


async def look_at_unseen(core: Core, read: ReadPosted) -> None:
    """At the messages of requests that could not be looked at since a start. What was seen is sent."""
    await unseen_requests.review(core)
    wanted = await messages_in_slack.wanted_again(core)
    if not wanted.places:
        return
    try:
        async with asyncio.timeout(_SLACK_ANSWERS_LATER_WITHIN_S):
            posted = await read(wanted)
    except Exception as error:  # noqa: BLE001 - whatever Slack refuses
        log.info("copy_detection.unseen_not_read", extra={"error": type(error).__name__})
        return
    await _compare(core, posted.messages)
    await unseen_requests.note_again(core, wanted.places, _held(wanted, posted))


def _held(wanted: Wanted, posted: PostedMessages) -> Mapping[str, unseen_requests.Unseen]:
    """What was not seen and may be seen. Without any access nothing waits, as `slack_unseen` says."""
    return {
        id_: unseen_requests.Unseen(wanted.places[id_], why)
        for id_, why in posted.unseen.items()
        if why not in slack_faults.EVERYWHERE
    }


async def _compare(core: Core, posted: Sequence[PostedMessage]) -> None:
    """With what the database knows; safe mode begins where it is older."""
    at = {one.dedupe: one.at for one in posted}
    async with core.store.read() as tx:
        mode = await rows.current(tx)
        is_expected = mode is not None and not await looks_in_safe_mode.is_noted(tx, mode, SLACK)
        known, accepted = await outbox.known(tx, at), await _accepted_until(tx)
        beyond = await messages_in_slack.beyond_the_log(tx, posted)
        beyond = await looks_in_safe_mode.without_lost(tx, beyond)
    unknown = [at[one] for one in at.keys() - known if accepted is None or at[one] > accepted]
    if (unknown or beyond) and not is_expected:
        await _enter(core, min(unknown, default=None), "slack", of_before=mode, beyond=beyond)
    async with core.store.begin() as tx:
        await looks_in_safe_mode.note_slack(tx, unknown, beyond)


def _not_read(core: Core, unread: Mapping[str, str], joins: Collection[str] | None) -> None:
    """`unread`: what was wrong with each channel, or with all of Slack under an empty name. `joins` is kept until the
    look is over."""
    said = [_why_not_read(channel, code) for channel, code in sorted(unread.items())]
    # Without access to it: until somebody gives that.
    waits = any(code not in slack_faults.ACCESS for code in unread.values())
    holds_for_s = start_holds.HOLDS_FOR_S if waits else 0
    start_holds.begin(core, SLACK, error=" ".join(said), holds_for_s=holds_for_s, joins=joins)


def _why_not_read(channel: str, code: str) -> str:
    where = f"<#{channel}>" if channel else ""
    if code in slack_faults.ACCESS:
        why = slack_faults.explained(code, where)
        return why if where in why else f"{where} was not read. {why}"
    return f"Slack did not answer ({code}){' for ' + where if where else ''}."


async def _report_cut(core: Core, channels: Sequence[str]) -> None:
    """That people wrote so much since our last message that it was not reached. Where none was ever posted, nothing
    can be missing."""
    condition = running_alerts.SLACK_NOT_ALL_SEEN.condition()
    is_cut = bool(channels) and await messages_in_slack.was_anything_posted(core)
    async with core.store.begin() as tx:
        if not is_cut:
            await alerts.resolve(tx, core, condition)
            return
        said = running_alerts.SLACK_NOT_ALL_SEEN.says(where=" and ".join(f"<#{one}>" for one in channels))
        await alerts.keep(tx, core, said, condition=condition, subject="slack", program="")


async def _tell_of_others(core: Core, channels: Sequence[str]) -> None:
    """That this app posted for another database, where this one has posted nothing so far: it may have been lost."""
    if not channels or await messages_in_slack.was_anything_posted(core):
        return
    async with core.store.begin() as tx:
        await tx.hold(_OTHERS_REPORTED)
        if await api_snapshots.get(tx, SLACK, _OTHERS_REPORTED) is None:
            await api_snapshots.put(tx, SLACK, _OTHERS_REPORTED, True)
            said = running_alerts.NEW_DATABASE.says(where=" and ".join(f"<#{one}>" for one in channels))
            condition = running_alerts.NEW_DATABASE.condition()
            await alerts.tell(tx, core, said, condition=condition, subject="slack", program="")


@dataclass(frozen=True, slots=True)
class _Found:
    """`since`: when the first thing was made that is not known, None where all is. `mode`: the safe mode in force then.
    `is_expected`: it began without a look, which has found now what it began for. `rows`: of the ledger."""

    since: datetime | None
    mode: SafeMode | None
    is_expected: bool
    rows: Sequence[LedgerEntry] = ()


async def _not_of_this_database(core: Core, program: str) -> _Found:
    """What is in the ledger and not here: a key that is not known, or a row of a request that was never sent from
    here. In safe mode, too: this may be a copy that was made in it, and people have left it since."""
    async with core.store.read() as tx:
        kept, mode = await snapshots.LEDGER.get(tx, program), await rows.current(tx)
        is_expected = mode is not None and not await looks_in_safe_mode.is_noted(tx, mode, program)
        # Found in a safe mode before, or reported since. No clock says which those are: it may have been wrong.
        listed = await rows.references(tx, program)
        began_at = (await on_record.of(tx)).began_at
    fresh = await ledger_rules.since_last_reading(
        core.partners[program], kept, never_before=began_at and began_at - _CLOCKS_DIFFER
    )
    fresh = [one for one in fresh if one.reference not in listed]
    keys = {ledger_text.key_in(one.reference) for one in fresh}
    made = {key: at for key in keys if (at := core.ids.made_at(key)) is not None}
    async with core.store.begin() as tx:
        known = await request_search.by_key(tx, made)
        unsent = await unsent_debits.unsent(tx, core, fresh)
        await unsent_debits.count_of_failed(tx, program, fresh)
    unknown = {key: at for key, at in made.items() if key not in known}
    since = min([*unknown.values(), *(one.created_at for one in unsent)], default=None)
    found = [*unsent, *(one for one in fresh if ledger_text.key_in(one.reference) in unknown)]
    return _Found(since, mode, is_expected, found)


async def _accepted_until(tx: Tx) -> datetime | None:
    """By Slack's clock: what was posted before then and is not known was lost with an earlier copy, and its
    safe mode is about that. It was posted before the alert about that copy, or a look in safe mode has seen it."""
    alert = message_kinds.ALERT
    subjects = [
        message_kinds.stored_subject(alert.about, id_)
        for id_ in await alert_rows.ids_of(tx, running_alerts.SAFE_MODE.name)
    ]
    places = (await outbox.places(tx, subjects, alert.form)).values()
    posted = [datetime.fromtimestamp(float(place.ts), UTC) for place in places if place.ts]
    seen = await looks_in_safe_mode.lost_messages_until(tx)
    return max([*posted, *([seen] if seen else [])], default=None)


async def _enter(
    core: Core,
    since: datetime | None,
    shown_by: str,
    *,
    of_before: SafeMode | None,
    beyond: Sequence[Anchor] = (),
) -> None:
    """The copy was made before `since`, when the first thing was made that it does not know, and before the ends of the
    log that are `beyond` it. Where it was made in safe mode, that one is `of_before`: it ends, and a new one begins."""
    async with core.store.read() as tx:
        ends = [await messages_in_slack.last_entry_before(tx, beyond[0])] if beyond else []
        ends += [await audit.last_until(tx, since)] if since is not None else []
        head, current = min(ends, key=lambda end: end[0]), await rows.current(tx)
        if current is not None and head[0] <= current.head_seq:  # by a clock that was behind
            end = (await audit.head(tx)).seq
            head = end, await audit.made_at(tx, end)
    log.error("copy_detection.found", extra={"shown_by": shown_by, "since": since and since.isoformat()})
    newest = (beyond[-1].seq, datetime.fromisoformat(beyond[-1].at)) if beyond else head
    if (current and current.mark) == (of_before and of_before.mark):  # else another look was quicker
        await safe_mode.enter(
            core, head, max(head, newest, key=lambda one: one[0]), [one.hash for one in beyond]
        )
    await safe_mode.at_start(core)
