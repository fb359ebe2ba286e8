"""Puts a listener between Slack and trouble: it gets a `Turn`, and no error leaves it.

Slack wants its answer within three seconds and takes none after an error, so the guard keeps the ack,
turns every error into a sentence for the person, and logs what is ours to fix under a short reference
that both of them can name.
"""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from slack_bolt.context.ack.async_ack import AsyncAck
from slack_bolt.context.respond.async_respond import AsyncRespond
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.webhook import WebhookResponse

from bot.domain.errors import CountersignError, PasskeyNeeded, TooMuch
from bot.domain.passkeys import Purpose
from bot.domain.time import Clock
from bot.partner.errors import PartnerError
from bot.services import held_stops, people
from bot.services.core import Core
from bot.services.messages import request_links
from bot.services.passkeys import links
from handlers.budget import MOST_DONE
from handlers.deps import Deps
from handlers.slack_api import SlackUnreachable, chart_upload, code_of, retry_after_s, with_links
from handlers.views import Block, charts, passkeys, replies
from handlers.views.requests import loading, trouble
from storage.errors import FOR_EVERYBODY, EndOfLogLost, NotAsOnRecord, NotReadYet
from storage.faults import is_out_of_use

log = logging.getLogger("countersign.handlers")

Json = Mapping[str, Any]
Listener = Callable[["Turn"], Awaitable[None]]

# Slack repeats an event for about five minutes; an hour is far beyond, and 5,000 ids are half a megabyte.
_REMEMBER_S = 3600.0
_REMEMBER = 5000
# Slack takes a message a second in a conversation [chat.postMessage]; what is shown to a person waits as long.
_PATIENCE_S = (1.0, 2.0, 4.0)
# Slack waits three seconds for an ack; a person notices half a second.
_CLOSES_WITHIN_S = 0.5
_TOO_MUCH = (
    f"You did more than {MOST_DONE} things here within a minute, so nothing was done. Try again in a minute; other"
    " people are not held up."
)


# An HTTP status from here on.
_REFUSED = 400


class Seen:
    """Ids of interactions and events already taken, so that a repeated delivery does nothing twice."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._ids: OrderedDict[str, float] = OrderedDict()

    def again(self, key: str) -> bool:
        """Was this id here before? Remembers it."""
        now = self._clock.monotonic()
        while self._ids and (
            len(self._ids) > _REMEMBER or next(iter(self._ids.values())) < now - _REMEMBER_S
        ):
            self._ids.popitem(last=False)
        if key in self._ids:
            return True
        self._ids[key] = now
        return False


@dataclass(slots=True)
class Turn:
    """One thing a person did in Slack, and the ways to answer it."""

    deps: Deps
    body: Json
    client: AsyncWebClient
    respond: AsyncRespond | None
    _ack: AsyncAck
    _began: float = 0.0  # on the monotonic clock
    acked: bool = field(default=False)
    thread: str = ""  # of the app's own conversation with this person, where the answer hangs

    @property
    def core(self) -> Core:
        return self.deps.core

    @property
    def event(self) -> Json:
        found: Json = self.body.get("event", {})
        return found

    @property
    def user(self) -> str:
        """The Slack id of who acted; empty for an event without a person."""
        person = self.body.get("user")
        if isinstance(person, Mapping):
            return str(person["id"])
        return str(self.body.get("user_id") or self.event.get("user") or "")

    @property
    def channel(self) -> str:
        """Where they acted; empty in a modal or on Home."""
        place = self.body.get("channel")
        if isinstance(place, Mapping):
            return str(place["id"])
        return str(self.body.get("channel_id") or self.event.get("channel") or "")

    @property
    def trigger(self) -> str:
        return str(self.body["trigger_id"])

    @property
    def view(self) -> Json:
        found: Json = self.body.get("view") or {}
        return found

    @property
    def action(self) -> Json:
        found: Json = self.body["actions"][0]
        return found

    async def ack(self, **answer: Any) -> None:
        """Answer Slack, once."""
        if not self.acked:
            self.acked = True
            await self._ack(**answer)
            self.core.measures.acked(_kind(self.body), self.core.clock.monotonic() - self._began)

    def after(self, work: Coroutine[Any, Any, None]) -> None:
        """Go on after the ack; an error there is shown to the person, too."""
        self.deps.after.start(self._watched(work))

    async def _watched(self, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        except Exception as error:  # noqa: BLE001  the last line: every error becomes a sentence
            await self._tell_trouble(error)

    def after_in_view(self, view_id: str, title: str, work: Coroutine[Any, Any, None], **back: str) -> None:
        """Like `after`, for work whose answer, or trouble, belongs into an open modal."""
        self.deps.after.start(self._watched(self._in_view(view_id, title, work, back)))

    async def _in_view(
        self, view_id: str, title: str, work: Coroutine[Any, Any, None], back: Mapping[str, str]
    ) -> None:
        try:
            try:
                await work
            except PasskeyNeeded as needed:
                await self.client.views_update(
                    view_id=view_id, view=await self._passkey_window(title, needed, view_id)
                )
            except Exception as error:
                if _is_closed_view(error):
                    raise
                sentence = self.sentence(error)
                await self.client.views_update(view_id=view_id, view=trouble(title, sentence, **back))
        except SlackApiError as error:
            if not _is_closed_view(error):
                raise
            # They closed the window: what was recorded stands, and the request's card shows it.
            log.info("handlers.window_closed", extra={"view": view_id})

    async def _passkey_window(self, title: str, needed: PasskeyNeeded, view_id: str) -> Block:
        """What the open window shows where a click isn't enough."""
        try:
            url = await links.for_needed(self.core, needed, self.user, view_id=view_id)
        except CountersignError as error:
            return trouble(title, self.sentence(error))
        return passkeys.window(title, Purpose(needed.purpose), url)

    async def close_when_done(self, title: str, doing: str, work: Coroutine[Any, Any, Block]) -> None:
        """Do `work` and close the modal. Slack closes one only in the ack, which cannot wait long: where the work takes
        longer, the modal says what is being done, then shows the view that came of it. So it does with an error.
        """
        task = asyncio.ensure_future(work)
        done, _ = await asyncio.wait({task}, timeout=_CLOSES_WITHIN_S)
        if done:
            task.result()
            await self.ack(response_action="clear")
            return
        await self.ack(response_action="update", view=loading(title, doing))

        async def show() -> None:
            await self.client.views_update(view_id=self.view["id"], view=await task)

        self.after_in_view(self.view["id"], title, show())

    async def tell(self, answer: Block) -> None:
        """Say something to this person alone, where they acted; else in a direct message.

        What Slack refuses for its chart is said in words; the float's goes to their direct messages as a picture.
        """
        sent, _ = await chart_upload.send(self._tell, answer, note=self._send_picture)
        if sent is not None and sent.status_code >= _REFUSED:  # the SDK raises nothing for a response URL
            log.warning("handlers.response_refused", extra={"status": sent.status_code})
            await chart_upload.send(self.tell_directly, answer)

    async def _send_picture(self, drawn: charts.Picture) -> str:
        """Where they find the picture of the chart, as a file cannot be shown to one person in a channel."""
        sent = await chart_upload.send_picture(self.client, drawn, user=self.user, thread=self.thread or None)
        if sent in ("", self.channel):
            return ""
        return "Its chart is in your direct messages with Countersign."

    async def _tell(self, answer: Block) -> WebhookResponse | None:
        """What a response URL answered, where it went there."""
        if self.thread:
            await self.tell_directly(answer)
            return None
        if self._on_channel_message and await self.whisper(self.channel, answer):
            return None
        if self.respond is not None and self.body.get("response_url"):
            return await self.respond(
                **await self._linked(answer), response_type="ephemeral", replace_original=False
            )
        thread = self.event.get("thread_ts")
        if self.channel and not self.channel.startswith("D"):
            await self.client.chat_postEphemeral(
                channel=self.channel, user=self.user, thread_ts=thread, **await self._linked(answer)
            )
            return None
        await self.tell_directly(answer)
        return None

    @property
    def _on_channel_message(self) -> bool:
        """A button on a message in a channel itself. Slack would put the answer into that message's thread once
        it has one, where nobody who has not opened it sees it."""
        message, container = self.body.get("message"), self.body.get("container") or {}
        if not message or container.get("is_ephemeral") or self.channel.startswith("D"):
            return False
        return message.get("thread_ts") in (None, message.get("ts"))

    async def whisper(self, channel: str, answer: Block) -> bool:
        """Say it to this person alone in a channel; False where the app, or they, cannot."""
        try:
            await self.client.chat_postEphemeral(
                channel=channel, user=self.user, **await self._linked(answer)
            )
        except SlackApiError as error:
            log.info("handlers.not_whispered", extra={"channel": channel, "error": code_of(error)})
            return False
        return True

    async def tell_directly(self, answer: Block) -> None:
        """In the app's own conversation with them. A person who types faster than Slack takes answers waits."""
        opened = await self.client.conversations_open(users=self.user)
        channel = str(opened["channel"]["id"])
        for wait_s in _PATIENCE_S:
            try:
                await self._post(channel, answer)
                return
            except SlackApiError as error:
                if retry_after_s(error) is None:
                    raise
            await self.core.clock.sleep(wait_s)
        await self._post(channel, answer)

    async def _post(self, channel: str, answer: Block) -> None:
        await self.client.chat_postMessage(
            channel=channel,
            thread_ts=self.thread or None,
            unfurl_links=False,
            unfurl_media=False,
            **await self._linked(answer),
        )

    async def _linked(self, answer: Block) -> Block:
        """With each request id as a link to the request's message."""
        return await with_links(answer, partial(request_links.of, self.core))

    async def _tell_trouble(self, error: Exception) -> None:
        if isinstance(error, PasskeyNeeded):
            await self._offer_page(error)
            return
        sentence = self.sentence(error)
        if not self.user:
            return
        try:
            await self.tell(replies.refusal(sentence))
        except Exception:
            log.warning("handlers.not_told", exc_info=True)

    async def _offer_page(self, needed: PasskeyNeeded) -> None:
        """Where a click isn't enough: the link to the page, for this person alone."""
        try:
            url = await links.for_needed(self.core, needed, self.user)
            await self.tell(passkeys.message(Purpose(needed.purpose), url))
        except Exception as error:  # noqa: BLE001  as in `_watched`
            await self._tell_trouble(error)

    def sentence(self, error: BaseException) -> str:
        """What the person reads; what is ours to fix is logged under the reference in it."""
        if held := held_stops.said(error):
            why = str(error) if isinstance(error, NotAsOnRecord) else ""
            return replies.explain_held(held, why, self._logged(error, "stop"))
        if isinstance(error, SlackApiError):
            code = code_of(error)
            return replies.explain_slack(code, self._logged(error, code))
        if isinstance(error, SlackUnreachable):
            log.warning("handlers.slack_away", extra={"error": type(error).__name__})
            return replies.explain_slack("no answer")
        if isinstance(error, EndOfLogLost):
            return replies.explain_end_of_log(self._logged(error, "audit log"))
        if isinstance(error, NotReadYet):
            log.info("handlers.refused", extra={"reason": error.reason})
            return str(error)
        if isinstance(error, FOR_EVERYBODY):
            return replies.explain_stored(error, self._logged(error, error.reason))
        if isinstance(error, PartnerError | CountersignError):
            log.info("handlers.refused", extra={"reason": getattr(error, "reason", type(error).__name__)})
            return replies.explain(error, "" if replies.is_said(error) else self._logged(error, ""))
        if is_out_of_use(error):
            return replies.explain_database(self._logged(error, "database"))
        return replies.explain(error, self._logged(error, ""))

    def _logged(self, error: BaseException, detail: str) -> str:
        reference = self.core.ids.ulid()[-6:]
        log.error("handlers.failed", extra={"reference": reference, "detail": detail}, exc_info=error)
        return reference


def _is_closed_view(error: Exception) -> bool:
    return isinstance(error, SlackApiError) and code_of(error) == "not_found"


Guarded = Callable[..., Awaitable[None]]


def guarded(
    deps: Deps, seen: Seen, is_safer: Callable[[Turn], bool] = lambda _: False
) -> Callable[[Listener], Guarded]:
    """The decorator `register` puts on every listener. Bolt hands the arguments in by their names.

    `is_safer`: does what they do only stop something? Then it is counted, and never too much.
    """

    def decorate(listener: Listener) -> Guarded:
        async def guard(ack: AsyncAck, body: Json, client: AsyncWebClient, respond: AsyncRespond) -> None:
            turn = Turn(deps, body, client, respond, ack, deps.core.clock.monotonic())
            if _is_repeat(seen, body):
                await turn.ack()
                return
            is_too_much = _is_counted(turn) and not deps.done.take(_person(turn), turn.core.clock.monotonic())
            if is_too_much and not is_safer(turn):
                await _refuse_more(turn)
                await turn.ack()
                return
            with deps.core.traces.click(f"Slack {_kind(body)}"):
                try:
                    await listener(turn)
                except Exception as error:  # noqa: BLE001  an error that got to Bolt would lose the ack
                    await _keep_ack(turn, error)
                await turn.ack()

        return guard

    return decorate


def _is_counted(turn: Turn) -> bool:
    """Is it something that a person does? To type into a select asks nothing of Slack, and is no more than letters."""
    return bool(turn.user) and turn.body.get("type") not in ("block_suggestion", "view_closed")


def _person(turn: Turn) -> str:
    return people.known_person(turn.core, turn.user)


async def _refuse_more(turn: Turn) -> None:
    """Said once, and in each form that is submitted: it would look as if it had been taken."""
    said = turn.deps.done.say_so(_person(turn))
    if said or turn.body.get("type") == "view_submission":
        await _keep_ack(turn, TooMuch(_TOO_MUCH))


def _kind(body: Json) -> str:
    """What somebody did, as `bot.services.measures` counts it."""
    if "command" in body:
        return "command"
    if "event" in body:
        return "event"
    return {"block_actions": "button", "view_submission": "form"}.get(str(body.get("type")), "other")


def _is_repeat(seen: Seen, body: Json) -> bool:
    """A submitted modal needs its answer in the ack each time, and is recorded once by its draft."""
    if body.get("type") == "view_submission":
        return False
    key = body.get("event_id") or body.get("trigger_id")
    return bool(key) and seen.again(str(key))


async def _keep_ack(turn: Turn, error: Exception) -> None:
    """Answer a modal in the modal; anything else in a message, after the ack. Where somebody is typing there is
    nothing to choose from: a message for each letter would be no help."""
    if turn.body.get("type") == "block_suggestion":
        turn.sentence(error)
        await turn.ack(options=[])
        return
    if turn.view.get("type") == "modal" and turn.body.get("type") == "view_submission":
        title = str(turn.view["title"]["text"])
        await turn.ack(response_action="update", view=trouble(title, turn.sentence(error)))
        return
    await turn.ack()

    async def again() -> None:
        raise error

    turn.after(again())
