"""Delivering what Slack is owed: one message at a time for each channel, never lost, doubled only
after a crash between sending and marking, and healed then by reading our own metadata back.

A row says what to draw; the picture is read from the database at delivery, so the newest state wins
whatever order rows come in.
"""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Protocol

from bot.services import message_kinds as kinds
from bot.services import outbox_messages
from bot.services.cards import details_link
from bot.services.core import Core
from bot.services.message_kinds import EDITED_IN_PLACE, Form, MessageKind, Subject
from bot.services.messages import view_model_loader
from bot.view_models import AlertView, DirectView, MessageView, RequestView
from storage.messages import MessagePlace, OutboxRow, alerts, outbox
from storage.transaction import Tx

log = logging.getLogger("countersign.outbox")

# Slack takes about one message a second for each channel [chat.postMessage]; edits have a tier of their own.
POST_SPACING_S = 1.0
# How long an idle loop rests; the bell wakes it at once after a commit in this process.
IDLE_S = 0.5
READ_BACK_PAUSE_S = 2.0
CARD_AWAITED_FOR = timedelta(hours=1)
_BACKOFF = tuple(timedelta(seconds=s) for s in (1, 2, 5, 15, 30, 60, 120, 300))
# A row is given up when Slack has refused it as it is this often; outages do not count.
_REFUSALS = 5


class SlackTrouble(Exception):
    """Slack could not take it now: 429, 5xx, no answer. `retry_after_s` where Slack gave one.

    `maybe_sent` = the call may have taken effect.
    """

    def __init__(self, message: str, *, retry_after_s: float | None = None, maybe_sent: bool = False) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s
        self.maybe_sent = maybe_sent


class SlackRefused(Exception):
    """Slack will not take this as it is (archived channel, bad blocks). The text is Slack's error code."""


class MessageGone(Exception):
    """The message to edit is not there any more."""


@dataclass(frozen=True, slots=True)
class Posted:
    """Where the message is, and whether Slack refused its chart, so that it stands there in words."""

    channel: str
    ts: str
    chart_refused: bool = False


class Publisher(Protocol):
    """Draws a picture and sends it. Raises SlackTrouble, SlackRefused, MessageGone."""

    async def post(
        self, picture: MessageView, *, channel: str, dedupe: str, thread_ts: str | None = None
    ) -> Posted: ...

    async def update(self, picture: MessageView, *, channel: str, ts: str) -> Posted: ...

    async def open_direct(self, user: str) -> str:
        """The channel id of the direct messages with this person."""
        ...

    async def find(
        self, *, channel: str, dedupe: str, since: datetime, thread_ts: str | None = None
    ) -> Posted | None:
        """Our own message with this id in its metadata, where Slack shows one."""
        ...

    async def permalink(self, *, channel: str, ts: str) -> str | None: ...


class Outbox:
    """The delivery loop. One instance in a process; `run` until cancelled."""

    def __init__(self, core: Core, publisher: Publisher, *, spacing_s: float = POST_SPACING_S) -> None:
        self._core = core
        self._publisher = publisher
        self._spacing_s = spacing_s
        self._free_at: dict[str, float] = {}
        self._heal_at = 0.0

    async def run(self) -> None:
        """Deliver until cancelled. What was left in mid-send, by whatever end, is read back first."""
        while True:
            self._core.outbox_bell.clear()
            await self.heal()
            if not await self.deliver_due():
                # Not `wait_for`: in Python 3.11 it loses a cancellation that comes together with the bell.
                with suppress(TimeoutError):
                    async with asyncio.timeout(IDLE_S):
                        await self._core.outbox_bell.wait()

    async def heal(self) -> None:
        """Rows left between send and mark: sent if Slack shows our id, else owed again.

        Called between deliveries, so every row in mid-send is a left one. While Slack cannot be read
        they stay as they are: posting again without looking would be the duplicate we avoid.
        """
        if self._core.clock.monotonic() < self._heal_at:
            return
        async with self._core.store.read() as tx:
            stuck = await outbox.stuck(tx)
        for row in stuck:
            try:
                await self._heal_one(row)
            except SlackTrouble as trouble:
                self._heal_at = self._core.clock.monotonic() + (trouble.retry_after_s or READ_BACK_PAUSE_S)
                log.warning("outbox.not_read_back", extra={"row": row.id, "error": str(trouble)})
                return

    async def _heal_one(self, row: OutboxRow) -> None:
        place = await self._place_of(row)
        if place is not None and row.kind in EDITED_IN_PLACE:
            await self._later(row, timedelta(0), "edited once more")
            return
        try:
            channel = row.channel or await self._publisher.open_direct(row.user or "")
            thread = place.ts if place and row.kind == Form.LINE else None
            found = await self._publisher.find(
                channel=channel, dedupe=row.dedupe, since=row.created_at, thread_ts=thread
            )
        except SlackRefused as error:
            await self._later(row, _BACKOFF[-1], f"not read back: {error}")
            return
        if found is None:
            await self._later(row, timedelta(0), "not found when read back")
        else:
            await self._mark_sent(row, found, 0)

    async def deliver_due(self) -> int:
        """Deliver every row that is due and whose channel is free; returns how many rows were handled."""
        async with self._core.store.read() as tx:
            rows = await outbox.next_due(tx, limit=50)
        by_channel: dict[str, list[OutboxRow]] = {}
        for row in rows:
            by_channel.setdefault(row.channel or f"@{row.user}", []).append(row)
        done = await asyncio.gather(*(self._deliver_channel(key, queue) for key, queue in by_channel.items()))
        return sum(done)

    async def _deliver_channel(self, key: str, rows: list[OutboxRow]) -> int:
        """In order; posts as the pacing of this channel allows, edits at once; trouble stops the channel."""
        handled = 0
        for row in rows:
            place = await self._place_of(row)
            edits = place is not None and row.kind in EDITED_IN_PLACE
            if not edits and self._core.clock.monotonic() < self._free_at.get(key, 0.0):
                continue
            handled += 1
            if not await self._deliver(row, key, place):
                break
        return handled

    async def _deliver(self, row: OutboxRow, key: str, place: MessagePlace | None) -> bool:
        if row.kind == Form.LINE and place is None:
            await self._wait_for_card(row)
            return True
        # Taken before the picture is read: a change committed after this owes a row of its own.
        async with self._core.store.begin() as tx:
            if not await outbox.sending(tx, row.id):
                return True
        self._core.crash_point("outbox.sending")
        picture = await view_model_loader.row(self._core, row)
        if picture is None:
            await self._drop(row, "its subject is gone")
            return True
        try:
            posted = await self._send(row, picture, place, key)
        except MessageGone:
            async with self._core.store.begin() as tx:
                await outbox.forget_place(tx, row.subject, _place_kind(row) or row.kind)
            await self._later(row, timedelta(0), "the message was gone")
            return True
        except SlackTrouble as trouble:
            await self._after_trouble(row, key, trouble)
            return False
        except SlackRefused as refusal:
            await self._after_refusal(row, refusal)
            return True
        self._core.crash_point("outbox.sent")
        await self._mark_sent(row, posted, _version(picture))
        return True

    async def _wait_for_card(self, row: OutboxRow) -> None:
        """A line needs its card. A card that Slack refused for good takes its lines with it."""
        async with self._core.store.begin() as tx:
            if tx.now - row.created_at > CARD_AWAITED_FOR:
                await outbox.drop(tx, row.id, "its card never came")
            else:
                await outbox.retry(
                    tx, row.id, due_at=tx.now + timedelta(seconds=1), error="waits for the card"
                )

    async def _send(
        self, row: OutboxRow, picture: MessageView, place: MessagePlace | None, key: str
    ) -> Posted:
        picture = await self._linked(picture)
        if place is not None and row.kind in EDITED_IN_PLACE:
            return await self._publisher.update(picture, channel=place.channel, ts=place.ts)
        self._free_at[key] = self._core.clock.monotonic() + self._spacing_s
        channel = row.channel or await self._publisher.open_direct(row.user or "")
        thread = place.ts if place and row.kind == Form.LINE else None
        return await self._publisher.post(picture, channel=channel, dedupe=row.dedupe, thread_ts=thread)

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
            place = await outbox.place(tx, Subject(kind.about, subject_id).stored(), kind.form.value)
        if place is None:
            return ""
        return await self._publisher.permalink(channel=place.channel, ts=place.ts) or ""

    async def _after_trouble(self, row: OutboxRow, key: str, trouble: SlackTrouble) -> None:
        if trouble.retry_after_s is not None:
            pause = timedelta(seconds=trouble.retry_after_s)
            self._free_at[key] = self._core.clock.monotonic() + trouble.retry_after_s
        else:
            pause = _BACKOFF[min(row.attempts, len(_BACKOFF) - 1)]
        log.warning(
            "outbox.trouble",
            extra={"row": row.id, "error": str(trouble), "again_in_s": pause.total_seconds()},
        )
        if trouble.maybe_sent:
            self._heal_at = (
                self._core.clock.monotonic() + pause.total_seconds()
            )  # left in mid-send: read back
        else:
            await self._later(row, pause, str(trouble))

    async def _after_refusal(self, row: OutboxRow, refusal: SlackRefused) -> None:
        log.error("outbox.refused", extra={"row": row.id, "error": str(refusal), "subject": row.subject})
        if row.attempts + 1 >= _REFUSALS:
            await self._drop(row, str(refusal))
        else:
            await self._later(row, _BACKOFF[min(row.attempts + 2, len(_BACKOFF) - 1)], str(refusal))

    async def _place_of(self, row: OutboxRow) -> MessagePlace | None:
        kind = _place_kind(row)
        if kind is None:
            return None
        async with self._core.store.read() as tx:
            return await outbox.place(tx, row.subject, kind)

    async def _mark_sent(self, row: OutboxRow, posted: Posted, version: int) -> None:
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
            if kind is kinds.ALERT and posted.chart_refused:
                await outbox_messages.alert_chart(tx, self._core, Subject.read(row.subject).id)

    async def _link_requests(self, tx: Tx, alert_id: str) -> None:
        """The alert has an address now: the messages of the requests it is about are drawn with it."""
        alert = await alerts.get(tx, alert_id)
        for request in await view_model_loader.requests_about(tx, self._core, alert) if alert else ():
            await outbox_messages.redraw(tx, self._core, request)

    async def _later(self, row: OutboxRow, pause: timedelta, error: str) -> None:
        async with self._core.store.begin() as tx:
            await outbox.retry(tx, row.id, due_at=tx.now + pause, error=error)

    async def _drop(self, row: OutboxRow, error: str) -> None:
        async with self._core.store.begin() as tx:
            await outbox.drop(tx, row.id, error)


def _kind_of(row: OutboxRow) -> MessageKind | None:
    return kinds.kind_of(row.kind, row.subject, row.body)


def _place_kind(row: OutboxRow) -> str | None:
    """The kind of the message it edits or, for a line, whose thread it goes to; None where there is none."""
    kind = _kind_of(row)
    return None if kind is None else kind.place


def _version(picture: MessageView) -> int:
    return picture.request.version if isinstance(picture, RequestView) else 0
