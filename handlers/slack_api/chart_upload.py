"""Sending what has a chart, to a Slack that takes it or does not: then in words, and the float's as a picture."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import TypeVar

from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.webhook import WebhookResponse

from handlers.slack_api.errors import code_of
from handlers.views import Block, charts

log = logging.getLogger("countersign.handlers")

# What the Web API says of a block that it does not know. A response URL gives no code: any refusal may be that.
REFUSALS = frozenset({"invalid_blocks", "invalid_arguments"})
_T = TypeVar("_T")


async def send(
    call: Callable[[Block], Awaitable[_T]],
    message: Block,
    *,
    note: Callable[[charts.Picture], Awaitable[str]] | None = None,
) -> tuple[_T, bool]:
    """Give this message to `call`, and where Slack refuses its chart, the same in words.

    Returns the answer to what was sent last, and whether the chart was refused. A refusal sent nothing. `note` is
    asked in between, where the chart is the float's: it may send the picture, and what it returns stands in the
    chart's place. Raises what `call` raises, for any other reason or for the words, too.
    """
    if not charts.has_chart(message):
        return await call(message), False
    try:
        answer = await call(message)
    except SlackApiError as error:
        if code_of(error) not in REFUSALS:
            raise
    else:
        if not (isinstance(answer, WebhookResponse) and answer.status_code >= 400):
            return answer, False
    drawn = charts.picture(message)
    noted = await note(drawn) if note and drawn else ""
    return await call(charts.without_chart(message, noted)), True


async def send_picture(
    client: AsyncWebClient,
    drawn: charts.Picture,
    *,
    channel: str = "",
    user: str = "",
    thread: str | None = None,
) -> str:
    """Into this channel, or to this person directly; the channel's id, empty where Slack did not take it.

    The answer's words say the same, so a picture that is not taken is logged and no reason to fail the answer.
    """
    try:
        if not channel:
            opened = await client.conversations_open(users=user)
            channel = str(opened["channel"]["id"])
        await upload(client, drawn, name="float.png", channel=channel, thread=thread)
    except Exception:  # the SDK lets the errors of its HTTP library through as they are
        log.warning("handlers.picture_not_taken", extra={"channel": channel}, exc_info=True)
        return ""
    return channel


async def upload(
    client: AsyncWebClient, drawn: charts.Picture, *, name: str, channel: str, thread: str | None
) -> None:
    """Raises what the SDK and its HTTP library raise."""
    await client.files_upload_v2(
        channel=channel,
        thread_ts=thread,
        filename=name,
        title=drawn.title,
        alt_txt=drawn.alt,
        content=await asyncio.to_thread(drawn.png),
        initial_comment=drawn.title,
    )
