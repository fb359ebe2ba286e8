"""Delivering what waits for Slack: never lost, doubled only after a crash between sending and marking, and healed
then by reading our own metadata back.

A row says what to draw; the view model is read from the database at delivery, so the newest state wins whatever
order rows come in. Of several processes one at a time sends in a channel. Channels go side by side: trouble in one,
however long, holds up no other. In one channel requests come before alerts, and alerts before lines. Whatever Slack
does, a message waits and is tried again, at least every two minutes; only one that it can never take for its content is
sent as plain text instead (`undeliverable`).
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Collection
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from bot.domain import shared_work, slack_faults
from bot.domain.alerts import request_alerts
from bot.domain.errors import LookupFailed
from bot.domain.requests import State
from bot.services import alerts as publish_alerts
from bot.services import message_kinds as kinds
from bot.services import outbox_messages
from bot.services.cards import details_link
from bot.services.core import Core
from bot.services.message_kinds import EDITED_IN_PLACE, Form, MessageKind, Subject, stored_subject
from bot.services.messages import request_links, undeliverable, view_model_loader, waiting
from bot.services.messages.lanes import DRAWN_TOGETHER_S, Lane, Lanes, pause_s
from bot.services.messages.publisher import MessageGone, Posted, Publisher, SlackRefused, SlackTrouble
from bot.services.messages.undeliverable import Fate, Fault
from bot.view_models import AlertView, DirectView, LinkView, MessageView, RequestView
from storage import audit
from storage.errors import DatabaseFault
from storage.messages import Due, MessagePlace, OutboxRow, alerts, outbox
from storage.operators import rate_minutes
from storage.requests import requests
from storage.transaction import Tx

log = logging.getLogger("countersign.outbox")

# Slack takes about one message a second for each channel [chat.postMessage]; edits have a tier of their own.
POST_SPACING_S = 1.0
# How long an idle loop rests; the bell wakes it at once after a commit in this process.
IDLE_S = 0.5
# So many rows of a lane are read at a time. With its pace a lane sends one, and then it is asked again what is first.
_EACH = 20
# What a process that died has sent may still arrive for so long: looked for sooner, it would be posted twice.
ARRIVES_WITHIN = timedelta(seconds=3)
# A process that took a message longer ago than this may have stood still meanwhile, and another have sent it: it asks.
ASKS_AGAIN_AFTER_S = 1.0
# Whoever takes over a channel waits so long, in seconds, for what was left in mid-send there: to keep the order.
LEFT_FIRST_S = 5.0
# Whose clock is ahead of ours took a message in our future.
_CLOCKS_DIFFER = timedelta(minutes=1)
# A lock that is not asked about is kept for longer than this, in seconds.
OURS_FOR_S = 30.0
# Under this name the edits of the last minute are kept in the database, beside the calls of each key.
_EDITS = "chat.update"
# Who stands still for longer in the middle of a post ends it, as others take over soon after: shorter than a lease and
# the time between two renewals. A connection that is only being made would bring the message a second time.
STANDS_STILL_S = 4.0
# What cannot be drawn in so many tries is set aside.
DRAWN_TRIES = 3


class _TakenOver(Exception):
    """Another process has taken the message since: it is sent there, or was."""


class Outbox:
    """The delivery loop. One instance in a process; `run` until cancelled."""

    def __init__(self, core: Core, publisher: Publisher, *, spacing_s: float = POST_SPACING_S) -> None:
        self._core = core
        self._publisher = publisher
        self._lanes = Lanes(core.clock, spacing_s=spacing_s)
        self._sending: dict[Lane, asyncio.Task[int]] = {}
        self._in_hand: dict[
            int, float
        ] = {}  # rows that are being sent -> when they were taken, by the event loop
        # Channel -> since when this process sends there, and when it last had something to send, monotonic.
        self._ours: dict[str, tuple[float, float]] = {}
        self._shares = core.store.database.path is None
        self._undrawn: dict[int, int] = {}
        self._look_at: dict[int, tuple[float, int]] = {}

    async def run(self) -> None:
        """Deliver until cancelled. What was left in mid-send, by whatever end, is read back meanwhile."""
        healing: asyncio.Task[None] | None = None
        try:
            while True:
                self._core.outbox_bell.clear()
                if healing is None or healing.done():
                    if healing is not None:
                        healing.result()
                    healing = asyncio.create_task(self.heal(), name="outbox heal")
                await self.deliver_due(to_the_end=False)
        finally:
            await self._stop_sending()
            if healing is not None:
                await _ended([healing])

    async def try_again(self) -> None:
        """Slack has given access again, as far as it was missing: what waited for that is tried at once."""
        self._lanes.open_all()
        self._look_at.clear()
        await self._wake(None)

    async def _wake(self, rows: Collection[int] | None) -> None:
        async with self._core.store.begin() as tx:
            await outbox.wake(tx, rows, last=await waiting.own_subject(tx))
        self._core.outbox_bell.set()

    async def deliver_due(self, *, to_the_end: bool = True) -> int:
        """Deliver what is due in every lane that is free; returns how many rows were handled.

        Not `to_the_end`: until one lane is through, something new waits, or a moment has passed. A lane that hangs
        then goes on, and holds up no other.
        """
        await self._start_due()
        if to_the_end:
            try:
                if self._sending:
                    await asyncio.wait(self._sending.values())
                return self._collect()
            finally:
                await self._stop_sending()
        bell = asyncio.create_task(self._core.outbox_bell.wait(), name="outbox bell")
        try:
            waited = {*self._sending.values(), bell}
            await asyncio.wait(waited, timeout=IDLE_S, return_when=asyncio.FIRST_COMPLETED)
        finally:
            bell.cancel()
        return self._collect()

    async def _stop_sending(self) -> None:
        """Nothing is sent that nobody marks."""
        await _ended(self._sending.values())
        self._sending.clear()

    async def _start_due(self) -> None:
        """Start each lane that is free and has something to send."""
        async with self._core.store.read() as tx:
            found = await outbox.sendable(tx, each=_EACH)
            now = tx.now
            ours = self._take_channels({Lane.of(due).channel for due in found})
            not_yet = await self._with_some_left(tx, ours)
        by_lane: dict[Lane, list[Due]] = {}
        for due in found:
            channel = Lane.of(due).channel
            if channel not in ours or channel in not_yet or self._waits_for_more(due, now):
                continue
            by_lane.setdefault(Lane.of(due), []).append(due)
        for lane, queue in by_lane.items():
            if lane not in self._sending and self._may_send(lane, queue[0]):
                name = f"outbox {lane.channel}"
                self._sending[lane] = asyncio.create_task(self._deliver_lane(lane, queue), name=name)

    def _take_channels(self, wanted: Collection[str]) -> set[str]:
        """Those of these in which this process may send; it is noted since when."""
        now, ours = self._core.clock.monotonic(), {one for one in wanted if self._holds(one)}
        # Of what is not asked about for longer somebody else may have had it meanwhile.
        known = {
            one: (since, now if one in ours else last)
            for one, (since, last) in self._ours.items()
            if now - last < OURS_FOR_S and (one in ours or one not in wanted)
        }
        self._ours = dict.fromkeys(ours, (now, now)) | known
        return ours

    def _holds(self, channel: str) -> bool:
        return self._core.holds(shared_work.channel(channel))

    async def _with_some_left(self, tx: Tx, channels: Collection[str]) -> set[str]:
        """Those taken over just now where something is in mid-send that this process has not in hand: it is read back
        first, so that what was written later comes later."""
        before = self._core.clock.monotonic() - LEFT_FIRST_S
        new = {channel for channel in channels if self._ours[channel][0] > before}
        if not new:
            return set()
        left = await outbox.stuck(tx, older_than=-_CLOCKS_DIFFER)
        return {_channel(row) for row in left if row.id not in self._in_hand} & new

    def _may_send(self, lane: Lane, due: Due) -> bool:
        if not self._lanes.is_free(lane) or not self._holds(lane.channel):
            return False
        return not lane.edits or self._lanes.edits.may_go(due.row.kind)

    def _waits_for_more(self, due: Due, now: datetime) -> bool:
        """While there is much to draw, a request's message waits for what else happens to it within seconds.

        So does the requester's notice of it.
        """
        is_redrawn = due.row.kind == Form.CARD and (due.edits or not due.row.channel)
        is_new = now - due.row.created_at < timedelta(seconds=DRAWN_TOGETHER_S)
        return is_redrawn and is_new and self._lanes.edits.are_many

    def _collect(self) -> int:
        """Lanes that are through; raises what ended one of them."""
        through = [lane for lane, task in self._sending.items() if task.done()]
        return sum([self._sending.pop(lane).result() for lane in through])

    async def _deliver_lane(self, lane: Lane, queue: list[Due]) -> int:
        """In their order, as the pacing of the lane allows; trouble stops the lane."""
        handled = 0
        for due in queue:
            if not self._may_send(lane, due):
                break
            handled += 1
            self._in_hand[due.row.id] = _loop_s()
            try:
                await self._deliver(due.row, lane)
            except Exception:  # the database was away, most likely; read back before it is sent again
                again_in_s = self._lanes.failed(lane, due.row.id)
                log.exception("outbox.failed", extra={"row": due.row.id, "again_in_s": again_in_s})
                break
            finally:
                self._in_hand.pop(due.row.id, None)
        return handled

    async def _deliver(self, row: OutboxRow, lane: Lane) -> None:
        place = await self._place_of(row)
        if row.kind == Form.LINE and place is None:
            return  # what it goes under was found deleted since it was chosen, and is posted again first
        # Taken before the view model is read: a change committed after this has a row of its own. From before the
        # commit: whoever stands still in it may have lost the message when the commit is known.
        self._in_hand[row.id] = _loop_s()
        async with self._core.store.begin() as tx:
            if lane.edits and not await self._may_edit(tx, row):
                return
            if not await outbox.sending(tx, row.id):
                return
        self._core.crash_point("outbox.sending")
        try:
            await self._draw_and_send(row, place, lane)
        except _TakenOver:
            log.info("outbox.taken_over", extra={"row": row.id})
        except MessageGone as gone:
            await self._post_again(row, gone)
        except SlackTrouble as trouble:
            if self._is_left_behind(row, place, trouble):
                await self._post_again(row, MessageGone(str(trouble)))
            else:
                await self._after_trouble(row, lane, trouble)
        except LookupFailed as error:
            await self._after_trouble(row, lane, SlackTrouble(str(error), only_this=True))
        except SlackRefused as refusal:
            await self._give_up(row, Fault(Fate.GIVEN_UP, str(refusal)))

    async def _may_edit(self, tx: Tx, row: OutboxRow) -> bool:
        """Takes one of the edits of a minute that all processes share."""
        if not self._shares:
            return True
        made, now_s = await rate_minutes.held(tx, _EDITS)
        at_ms = [at for at in (made or ()) if at > now_s * 1000 - 60_000]
        self._lanes.edits.learn(now_s - at / 1000 for at in at_ms)
        if not self._lanes.edits.may_go(row.kind):
            return False
        await rate_minutes.keep(tx, _EDITS, [*at_ms, round(now_s * 1000)])
        return True

    def _is_left_behind(self, row: OutboxRow, place: MessagePlace | None, trouble: SlackTrouble) -> bool:
        """Its message is in a channel that the settings do not name any more, and that is closed to us."""
        named = self._core.channels
        in_use = {named.approvals, named.alerts, named.audit}
        is_closed = str(trouble) in slack_faults.CHANNEL and not trouble.maybe_sent
        return bool(row.channel) and place is not None and is_closed and place.channel not in in_use

    async def _draw_and_send(self, row: OutboxRow, place: MessagePlace | None, lane: Lane) -> None:
        """As it should be; where that cannot be, in plain text."""
        fault: Fault | None = None
        try:
            view = await view_model_loader.row(self._core, row)
            if view is None:
                await self._drop(row, "its subject is gone")
                return
            if isinstance(view, LinkView) and not _is_for(row, view):
                await self._not_for_others(row, view)
                return
            with self._traced(row):
                posted = await self._send(row, view, place, lane)
        except (MessageGone, SlackTrouble, LookupFailed, DatabaseFault, _TakenOver):
            raise
        except SlackRefused as refusal:
            if not refusal.plain:
                raise
            fault = Fault(Fate.NO_LAYOUT, str(refusal))
            view = undeliverable.plain(row, refusal.plain, fault)
            posted = await self._send(row, view, place, lane)
        except Exception as error:  # a fault of ours, or of what is stored: nothing was sent
            log.exception("outbox.not_drawn", extra={"row": row.id, "subject": row.subject})
            tries = self._undrawn[row.id] = self._undrawn.get(row.id, 0) + 1
            if tries < DRAWN_TRIES:
                await self._later(row, pause_s(tries), f"not drawn: {type(error).__name__}")
                return
            fault = Fault(Fate.NOT_DRAWN, type(error).__name__)
            view = undeliverable.stub(row, fault)
            posted = await self._send(row, view, place, lane)
        self._core.crash_point("outbox.sent")
        woken = self._lanes.worked(lane) - {row.id}
        await self._mark_sent(row, posted, _version(view), fault)
        if woken:
            for waited in woken:
                self._look_at.pop(waited, None)
            await self._wake(woken)

    def _traced(self, row: OutboxRow) -> AbstractContextManager[object]:
        """What is said of a request is a part of its trace."""
        about = Subject.read(row.subject)
        if about.about not in (kinds.About.REQUEST, kinds.About.NOTICE):
            return nullcontext()
        return self._core.traces.of(about.id, "Message", form=row.kind, waited_ms=_waited_ms(self._core, row))

    async def _not_for_others(self, row: OutboxRow, view: LinkView) -> None:
        """Somebody wrote another person into the row: nobody gets this link."""
        async with self._core.store.begin() as tx:
            await outbox.drop(tx, row.id, "not for its requester")
            said = request_alerts.TAMPERED.says(request=view.request.id)
            condition = request_alerts.TAMPERED.condition(view.request.id)
            await publish_alerts.raise_(
                tx,
                self._core,
                said,
                condition=condition,
                subject=view.request.id,
                program=view.request.program,
            )

    async def _send(
        self, row: OutboxRow, view: MessageView, place: MessagePlace | None, lane: Lane
    ) -> Posted:
        view = await self._linked(view)
        if fault := self._core.channels.withheld.get(place.channel if place else row.channel):
            raise SlackTrouble(fault)
        if place is not None and row.kind in EDITED_IN_PLACE:
            self._lanes.edits.made()
            return await self._publisher.update(
                view, channel=place.channel, ts=place.ts, dedupe=row.dedupe, log_end=await self._log_end()
            )
        self._lanes.posts(lane)
        channel = row.channel or await self._publisher.open_direct(row.user or "")
        thread = place.ts if place and row.kind == Form.LINE else None
        log_end = await self._log_end()
        await self._be_sure_it_is_ours(row)
        async with _unless_it_stands_still() if self._shares else nullcontext():
            return await self._publisher.post(
                view, channel=channel, dedupe=row.dedupe, log_end=log_end, thread_ts=thread
            )

    async def _log_end(self) -> str:
        """What the message was drawn with came before the end of the audit log, as it is now."""
        async with self._core.store.read() as tx:
            end = await audit.anchor(tx)
        return end.line() if end else ""

    async def _be_sure_it_is_ours(self, row: OutboxRow) -> None:
        """The last thing before a post. A process that stood still may come too late: another has posted it."""
        taken_s = self._in_hand[row.id]
        if _loop_s() - taken_s <= ASKS_AGAIN_AFTER_S:
            return
        async with self._core.store.begin() as tx:
            if not await outbox.still_sending(tx, row):
                raise _TakenOver

    async def _linked(self, view: MessageView) -> MessageView:
        """With the addresses of the messages that it leads to, as far as they are in Slack."""
        match view:
            case DirectView():
                return replace(view, link=await self._link(kinds.REQUEST_CARD, view.request.id) or None)
            case RequestView(alert_id=alert_id) if alert_id:
                return replace(view, alert_link=await self._link(kinds.ALERT, alert_id))
            case AlertView(requests=about) if about:
                links = [
                    (request_id, await self._link(kinds.REQUEST_CARD, request_id)) for request_id in about
                ]
                return replace(view, links=tuple((request_id, link) for request_id, link in links if link))
        return view

    async def _link(self, kind: MessageKind, subject_id: str) -> str:
        """The address of the one message of this kind about a subject; empty where there is none."""
        async with self._core.store.read() as tx:
            place = await outbox.place(tx, stored_subject(kind.about, subject_id), kind.form.value)
        return request_links.address(self._core, place)

    async def _post_again(self, row: OutboxRow, gone: MessageGone) -> None:
        """Where it was is nothing: a card is posted again, and a line waits for the card that is."""
        async with self._core.store.begin() as tx:
            await outbox.forget_place(tx, row.subject, _place_kind(row) or row.kind)
            await outbox.retry(tx, row.id, due_at=tx.now, error=str(gone))
            if row.kind == Form.LINE:
                await outbox_messages.post_again(tx, self._core, Subject.read(row.subject), row.user)

    async def _after_trouble(self, row: OutboxRow, lane: Lane, trouble: SlackTrouble) -> None:
        if trouble.retry_after_s is not None:
            pause = trouble.retry_after_s
            self._lanes.rest(lane, pause)
        elif trouble.only_this:
            pause = pause_s(row.attempts)
        else:
            pause = self._lanes.failed(lane, row.id, everywhere=trouble.everywhere)
        log.warning(
            "outbox.trouble", extra={"row": row.id, "error": str(trouble), "again_in_s": round(pause, 1)}
        )
        if trouble.retry_after_s is None and not trouble.maybe_sent and not row.attempts:
            await self._tell_requester(row, "unposted")
        if trouble.maybe_sent:  # left in mid-send: read back
            self._look_at[row.id] = (self._core.clock.monotonic() + pause, 0)
            await self._note(row, str(trouble))
        else:
            await self._later(row, pause, str(trouble))

    async def _tell_requester(self, row: OutboxRow, word: str) -> None:
        """Where people look for a new request is nothing yet: its requester is shown why, and when it is there."""
        if _kind_of(row) is not kinds.REQUEST_CARD:
            return
        async with self._core.store.begin() as tx:
            request = await requests.get(tx, Subject.read(row.subject).id)
            is_new = await outbox.place(tx, row.subject, row.kind) is None
            if request is not None and request.state is State.PENDING and is_new:
                await outbox_messages.tell_of_posting(tx, self._core, request.id, request.requester, word)

    async def _give_up(self, row: OutboxRow, fault: Fault) -> None:
        log.error("outbox.refused", extra={"row": row.id, "error": fault.error, "subject": row.subject})
        async with self._core.store.begin() as tx:
            await outbox.drop(tx, row.id, fault.error)
            await undeliverable.report(tx, self._core, row, fault)

    # What was left between send and mark

    async def heal(self) -> None:
        """Rows left between send and mark: sent if Slack shows our id, else to be sent again.

        While Slack cannot be read they stay as they are: posting again without looking would be the duplicate we
        avoid. What this process is sending just now is none of them.
        """
        async with self._core.store.read() as tx:
            stuck = await outbox.stuck(tx, older_than=ARRIVES_WITHIN)
        closed: set[str] = set()
        for row in stuck:
            at, failures = self._look_at.get(row.id, (float("-inf"), 0))
            channel = _channel(row)
            if row.id in self._in_hand or channel in closed or self._core.clock.monotonic() < at:
                continue
            if not self._holds(channel):
                continue
            try:
                await self._heal_one(row)
            except Exception as error:  # noqa: BLE001 - Slack or the database: the others are looked for all the same
                closed.add(channel)
                asked_for = error.retry_after_s if isinstance(error, SlackTrouble) else None
                pause = pause_s(failures) if asked_for is None else asked_for
                self._look_at[row.id] = (self._core.clock.monotonic() + pause, failures + 1)
                log.warning("outbox.not_read_back", extra={"row": row.id, "error": str(error)})
            else:
                self._look_at.pop(row.id, None)

    async def _heal_one(self, row: OutboxRow) -> None:
        place = await self._place_of(row)
        if place is not None and row.kind in EDITED_IN_PLACE:
            await self._left(row)
            return
        try:
            channel = row.channel or await self._publisher.open_direct(row.user or "")
            thread = place.ts if place and row.kind == Form.LINE else None
            found = await self._publisher.find(
                channel=channel, dedupe=row.dedupe, since=row.created_at, thread_ts=thread
            )
        except (SlackRefused, MessageGone) as error:
            await self._left(row, pause_s(row.attempts), str(error))
            return
        if found is None:
            await self._left(row)
        else:
            await self._mark_sent(row, found, 0, None)

    async def _place_of(self, row: OutboxRow) -> MessagePlace | None:
        kind = _place_kind(row)
        if kind is None:
            return None
        async with self._core.store.read() as tx:
            return await outbox.place(tx, row.subject, kind)

    async def _mark_sent(self, row: OutboxRow, posted: Posted, version: int, fault: Fault | None) -> None:
        self._undrawn.pop(row.id, None)
        async with self._core.store.begin() as tx:
            await outbox.sent(tx, row.id)
            kind = _kind_of(row)
            if kind is kinds.DETAILS_LINK:
                await details_link.note_sent(tx, self._core, Subject.read(row.subject).id)
            if row.kind in EDITED_IN_PLACE:
                is_first = await outbox.place(tx, row.subject, row.kind) is None
                await outbox.put_place(tx, row.subject, row.kind, posted.channel, posted.ts, version)
                if kind is kinds.ALERT and is_first:
                    await self._link_requests(tx, Subject.read(row.subject).id)
                if kind is kinds.REQUEST_CARD and is_first and row.attempts:
                    await self._say_posted(tx, Subject.read(row.subject).id)
            if kind is kinds.ALERT and posted.chart_refused:
                await outbox_messages.alert_chart(tx, self._core, Subject.read(row.subject).id)
            if row.attempts:  # tried before: the last of those that waited may be this one
                await waiting.end(tx, self._core)
            if fault is not None:
                await undeliverable.report(tx, self._core, row, fault)
            else:
                await undeliverable.recovered(tx, self._core, row)

    async def _say_posted(self, tx: Tx, request_id: str) -> None:
        """Its requester has read that it was not there."""
        notice = Subject(kinds.REQUESTER_NOTICE.about, request_id).stored()
        request = await requests.get(tx, request_id)
        if request is None or request.state is not State.PENDING:
            return
        if await outbox.place(tx, notice, kinds.REQUESTER_NOTICE.form) is not None:
            await outbox_messages.tell_of_posting(tx, self._core, request_id, request.requester, "posted")

    async def _link_requests(self, tx: Tx, alert_id: str) -> None:
        """The alert has an address now: the messages of the requests it is about are drawn with it."""
        alert = await alerts.get(tx, alert_id)
        for request in await view_model_loader.requests_about(tx, self._core, alert) if alert else ():
            await outbox_messages.redraw(tx, self._core, request)

    async def _later(self, row: OutboxRow, seconds: float, error: str) -> None:
        async with self._core.store.begin() as tx:
            await outbox.retry(tx, row.id, due_at=tx.now + timedelta(seconds=seconds), error=error)

    async def _left(self, row: OutboxRow, seconds: float = 0, error: str = "") -> None:
        """It was not sent: to be sent again, unless it was meanwhile. Why Slack did not take it stays on record."""
        async with self._core.store.begin() as tx:
            due_at = tx.now + timedelta(seconds=seconds)
            await outbox.retry_left(tx, row, due_at=due_at, error=error or row.last_error)

    async def _note(self, row: OutboxRow, error: str) -> None:
        async with self._core.store.begin() as tx:
            await outbox.note_error(tx, row.id, error)

    async def _drop(self, row: OutboxRow, error: str) -> None:
        async with self._core.store.begin() as tx:
            await outbox.drop(tx, row.id, error)


async def _ended(tasks: Collection[asyncio.Task[Any]]) -> None:
    """Cancel what still runs, and wait until it has ended."""
    for task in tasks:
        task.cancel()
    if tasks:
        await asyncio.wait(tasks)


def _kind_of(row: OutboxRow) -> MessageKind | None:
    return kinds.kind_of(row.kind, row.subject, row.body)


def _channel(row: OutboxRow) -> str:
    """As lanes name it: its id, or `@` and the id of the person who gets a direct message."""
    return row.channel or f"@{row.user}"


def _place_kind(row: OutboxRow) -> str | None:
    """The kind of the message it edits or, for a line, whose thread it goes to; None where there is none."""
    kind = _kind_of(row)
    return None if kind is None else kind.place


def _waited_ms(core: Core, row: OutboxRow) -> int:
    return round((core.clock.now() - row.created_at).total_seconds() * 1000)


def _version(view: MessageView) -> int:
    return view.request.version if isinstance(view, RequestView) else 0


def _is_for(row: OutboxRow, view: LinkView) -> bool:
    """A link to card details goes to its requester, in a direct message."""
    return not row.channel and row.user == view.request.requester


@asynccontextmanager
async def _unless_it_stands_still() -> AsyncIterator[None]:
    """Raises SlackTrouble where this process stood still meanwhile: whether it was sent is read back."""
    limit = asyncio.timeout(STANDS_STILL_S)

    async def go_on() -> None:
        while True:
            await asyncio.sleep(STANDS_STILL_S / 8)
            if limit.expired():
                return
            limit.reschedule(_loop_s() + STANDS_STILL_S)

    try:
        async with limit:
            working = asyncio.create_task(go_on(), name="outbox stands still")
            try:
                yield
            finally:
                working.cancel()
    except TimeoutError as error:
        if not limit.expired():
            raise
        raise SlackTrouble("this process stood still", maybe_sent=True) from error


def _loop_s() -> float:
    """Seconds by the clock of the event loop: whether this process stood still is a question about it alone."""
    return asyncio.get_running_loop().time()
