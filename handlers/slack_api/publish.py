"""Draws pictures and sends them: the outbox's way into Slack.

Each message carries its outbox id in its metadata, or that of its newest edit, so that after a lost answer the outbox
can read back whether it was posted, and a start whether the database knows it (`posted_messages`). With it goes the
end of the audit log that it was drawn with. The client must have no retry handlers: one that repeats a post would
double it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime, timedelta
from typing import Any, TypeVar

from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from bot.domain import slack_faults
from bot.services import message_kinds
from bot.services.messages import MessageGone, Posted, SlackRefused, SlackTrouble
from bot.view_models import (
    AlertChartView,
    AlertLineView,
    AlertView,
    AnchorView,
    CodeView,
    DigestView,
    DirectView,
    LineView,
    LinkView,
    MessageView,
    PlainView,
    RequestView,
    ResultsView,
)
from handlers.slack_api import chart_upload
from handlers.slack_api.errors import TROUBLES, body_of, code_of, retry_after_s, status_of
from handlers.slack_api.links import Links, no_links, with_links
from handlers.views import Block, alerts, card_details, charts, plain
from handlers.views.requests import request_card

EVENT_TYPE = "countersign_picture"
_T = TypeVar("_T")
# Conversations with so many people are remembered.
_DIRECT_KEPT = 10_000
_REFUSED = "chart_refused"
_GONE = frozenset({"message_not_found", "cant_update_message", "edit_window_closed"})
_THREAD_GONE = frozenset({"thread_not_found", "message_not_found", "cannot_reply_to_message"})
# What Slack says of a content that it will never take [chat.postMessage, chat.update, files.completeUploadExternal].
_CONTENT = chart_upload.REFUSALS | {
    *("invalid_blocks_format", "msg_blocks_too_long", "msg_too_long", "no_text"),
    *("invalid_array_arg", "invalid_charset", "invalid_form_data", "markdown_text_conflict"),
    *("invalid_metadata_format", "invalid_metadata_schema", "metadata_too_large", "slack_file_not_found"),
    *(
        "attachment_payload_limit_exceeded",
        "too_many_attachments",
        "cannot_parse_attachment",
        "block_mismatch",
    ),
    *("invalid_file", "file_too_large", "empty_file", "file_type_not_allowed"),
}
# There is nobody who could get it: what is said in plain text would not arrive either.
_NOBODY = frozenset(
    {
        "user_not_found",
        "users_not_found",
        "user_disabled",
        "user_not_visible",
        "cannot_dm_bot",
    }
)
# What was posted cannot be looked up, today or tomorrow.
_UNREADABLE = frozenset({"missing_scope", "no_permission", "not_allowed_token_type", "thread_not_found"})
# Slack's clock and ours may differ by this much when we look for a message posted "since" a moment.
_CLOCK_SLACK = timedelta(minutes=2)
_PAGE = 200
_PAGES = 5


#: The view that draws each view model.
VIEWS: Mapping[type[Any], Callable[[Any], Block]] = {
    RequestView: request_card.card,
    LineView: request_card.line,
    DirectView: request_card.direct,
    ResultsView: request_card.results,
    LinkView: card_details.link,
    AlertView: alerts.alert,
    AlertLineView: alerts.line,
    AlertChartView: alerts.chart,
    DigestView: alerts.digest,
    AnchorView: alerts.anchor,
    CodeView: alerts.code,
    PlainView: plain.message,
}


def draw(view: MessageView) -> Block:
    """The message for a picture: `text` and `blocks`."""
    return VIEWS[type(view)](view)


class SlackPublisher:
    """A `bot.services.messages.delivery.Publisher` over the Web API."""

    def __init__(self, client: AsyncWebClient, links: Links = no_links, *, instance: str = "") -> None:
        """`instance`: whose messages these are, as several installations may write in one channel."""
        self._client = client
        self._instance = instance
        self._links = links
        self._direct: dict[str, str] = {}

    async def post(
        self, view: MessageView, *, channel: str, dedupe: str, log_end: str = "", thread_ts: str | None = None
    ) -> Posted:
        """Post the picture, in a thread where `thread_ts` is given."""
        if isinstance(view, ResultsView):
            return await self._upload(view, channel, thread_ts)
        if isinstance(view, AlertChartView):
            return await self._upload_chart(view, channel, thread_ts)

        message = await self._drawn(view)

        async def post(drawn: Block) -> AsyncSlackResponse:
            return await self._client.chat_postMessage(
                channel=channel,
                thread_ts=thread_ts,
                metadata=self._known_by(dedupe, log_end, is_refused=drawn is not message),
                unfurl_links=False,
                unfurl_media=False,
                **_posted(drawn),
            )

        sent = chart_upload.send(post, message)
        found, refused = await _asked(
            sent, posts=True, in_thread=thread_ts is not None, plain=plain.text_of(message)
        )
        return Posted(str(found.get("channel") or channel), str(found.get("ts") or ""), refused)

    def _known_by(self, dedupe: str, log_end: str, *, is_refused: bool) -> Block:
        """Read back after a crash: that the chart was refused is known from the message itself."""
        known = {"dedupe": dedupe, "instance": self._instance, "log_end": log_end}
        return {"event_type": EVENT_TYPE, "event_payload": known | ({_REFUSED: True} if is_refused else {})}

    async def _drawn(self, view: MessageView) -> Block:
        """The message, in which each id of another request is a link."""
        message = draw(view)
        own = {view.request.id} if isinstance(view, RequestView | LineView | DirectView) else set()
        return await with_links(message, self._links, but=own)

    async def _upload(self, view: ResultsView, channel: str, thread_ts: str | None) -> Posted:
        """Files carry no metadata: `find` knows them by their name. Where the message is, Slack does not say."""
        text = str(draw(view)["text"])
        sent = self._client.files_upload_v2(
            channel=channel,
            thread_ts=thread_ts,
            filename=view.name,
            title=view.name,
            content=view.content,
            initial_comment=text,
        )
        await _asked(sent, posts=True, in_thread=thread_ts is not None, is_file=True, plain=text)
        return Posted(channel, "")

    async def _upload_chart(self, view: AlertChartView, channel: str, thread_ts: str | None) -> Posted:
        text, drawn = str(draw(view)["text"]), charts.picture_of(view.history)
        sent = chart_upload.upload(self._client, drawn, name=view.name, channel=channel, thread=thread_ts)
        await _asked(sent, posts=True, in_thread=thread_ts is not None, is_file=True, plain=text)
        return Posted(channel, "")

    async def update(
        self, view: MessageView, *, channel: str, ts: str, dedupe: str, log_end: str = ""
    ) -> Posted:
        """Draw the picture over the message at `ts`."""
        message = await self._drawn(view)

        async def redraw(drawn: Block) -> None:
            known = self._known_by(dedupe, log_end, is_refused=drawn is not message)
            await self._client.chat_update(channel=channel, ts=ts, metadata=known, **drawn)

        _, refused = await _asked(
            chart_upload.send(redraw, message), edits=True, plain=plain.text_of(message)
        )
        return Posted(channel, ts, refused)

    async def open_direct(self, user: str) -> str:
        """The id of our conversation with this person; asked once."""
        if user not in self._direct:
            found = await _asked(self._client.conversations_open(users=user))
            if len(self._direct) >= _DIRECT_KEPT:
                self._direct.clear()
            self._direct[user] = str(found["channel"]["id"])
        return self._direct[user]

    async def find(
        self, *, channel: str, dedupe: str, since: datetime, thread_ts: str | None = None
    ) -> Posted | None:
        """The message that carries this id, among those posted since; and among the newest, as our clock may be wrong
        by any amount."""
        oldest = f"{(since - _CLOCK_SLACK).timestamp():.6f}"
        newest_pages = 1 if thread_ts is None else _PAGES  # a thread is read from its beginning
        found = await self._found(channel, thread_ts, dedupe, oldest, _PAGES)
        return found or await self._found(channel, thread_ts, dedupe, None, newest_pages)

    async def _found(
        self, channel: str, thread_ts: str | None, dedupe: str, oldest: str | None, pages: int
    ) -> Posted | None:
        cursor: str | None = None
        for _ in range(pages):
            found = await _asked(self._read(channel, thread_ts, oldest, cursor), reads=True)
            for message in found["messages"]:
                payload = (message.get("metadata") or {}).get("event_payload") or {}
                if payload.get("dedupe") == dedupe or _holds_file(message, dedupe):
                    return Posted(channel, str(message["ts"]), bool(payload.get(_REFUSED)))
            cursor = (found.get("response_metadata") or {}).get("next_cursor")
            if not cursor:
                break
        return None

    def _read(
        self, channel: str, thread_ts: str | None, oldest: str | None, cursor: str | None
    ) -> Awaitable[AsyncSlackResponse]:
        shared: dict[str, Any] = {
            "channel": channel,
            "oldest": oldest,
            "limit": _PAGE,
            "include_all_metadata": True,
            "cursor": cursor,
        }
        if thread_ts is None:
            return self._client.conversations_history(**shared)
        return self._client.conversations_replies(ts=thread_ts, **shared)


def _holds_file(message: Mapping[str, Any], dedupe: str) -> bool:
    """Is this the file that the outbox row is about? Its name says of which request or alert."""
    name = message_kinds.file_of(dedupe)
    if name is None:
        return False
    return any(file.get("name") == name for file in message.get("files") or ())


def _posted(drawn: Block) -> Block:
    """As it is posted: an edit without blocks says so, or the old ones would stay."""
    return drawn if drawn["blocks"] else {"text": drawn["text"]}


async def _asked(
    call: Awaitable[_T],
    *,
    posts: bool = False,
    edits: bool = False,
    reads: bool = False,
    in_thread: bool = False,
    is_file: bool = False,
    plain: str = "",
) -> _T:
    """The answer, or what an error means. `plain`: what the message says without its layout."""
    try:
        return await call
    except SlackApiError as error:
        code = code_of(error)
        if (edits and code in _GONE) or (in_thread and code in _THREAD_GONE):
            raise MessageGone(code) from error
        if code in _CONTENT and (posts or edits):
            details = (body_of(error).get("response_metadata") or {}).get("messages") or []
            raise SlackRefused(" ".join([code, *map(str, details[:3])]), plain=plain) from error
        if code in _NOBODY or (reads and code in _UNREADABLE):
            raise SlackRefused(code) from error
        raise _trouble(error, code, maybe_sent=posts, is_file=is_file) from error
    except Exception as error:  # the SDK lets the errors of its HTTP library through as they are
        trouble = f"no answer: {type(error).__name__}"
        raise SlackTrouble(trouble, maybe_sent=posts, everywhere=True) from error


def _trouble(error: SlackApiError, code: str, *, maybe_sent: bool, is_file: bool) -> SlackTrouble:
    """What is tried again. A word that is not known here, and a file, speak for themselves alone: another message to
    the channel may be taken."""
    wait_s = retry_after_s(error)
    if wait_s is not None:
        return SlackTrouble("ratelimited", retry_after_s=wait_s)
    if status_of(error) >= 500 or code in TROUBLES:
        return SlackTrouble(f"{status_of(error)} {code}", maybe_sent=maybe_sent, everywhere=True)
    only_this = is_file or code not in slack_faults.ACCESS
    return SlackTrouble(
        code, only_this=only_this, everywhere=not only_this and code in slack_faults.EVERYWHERE
    )
