"""Sending the float's chart as a picture, for a Slack that does not take the chart itself."""

from __future__ import annotations

import logging

from slack_sdk.web.async_client import AsyncWebClient

from handlers.views import charts

log = logging.getLogger("countersign.handlers")


async def send(
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
        content=drawn.png,
        initial_comment=drawn.title,
    )
