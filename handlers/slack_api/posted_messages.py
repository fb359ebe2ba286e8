"""Reads back which messages of this installation are in Slack: a start looks whether the database knows them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from bot.domain.errors import LookupFailed
from handlers.slack_api.errors import code_of
from handlers.slack_api.publish import EVENT_TYPE

# Of each channel. The newest are those that an older copy does not know.
_NEWEST = 100


async def posted_messages(
    client: AsyncWebClient, channels: Sequence[str], instance: str
) -> Sequence[tuple[str, datetime]]:
    """The outbox ids of the newest messages that this app posted for this installation in these channels, each with its
    time; without threads. Raises LookupFailed, and what the client raises where it has no answer."""
    try:
        own = (await client.auth_test())["bot_id"]
        read = [
            client.conversations_history(channel=channel, limit=_NEWEST, include_all_metadata=True)
            for channel in sorted({channel for channel in channels if channel})
        ]
        pages = await asyncio.gather(*read)
    except SlackApiError as error:
        code = code_of(error)
        raise LookupFailed(f"Slack did not give the messages ({code}).", code) from error
    return [found for page in pages for found in _of(page["messages"], own, instance)]


def _of(messages: Sequence[dict[str, Any]], own: str, instance: str) -> Iterator[tuple[str, datetime]]:
    for message in messages:
        metadata = message.get("metadata") or {}
        payload = metadata.get("event_payload") or {}
        is_ours = message.get("bot_id") == own and metadata.get("event_type") == EVENT_TYPE
        if is_ours and payload.get("instance") == instance and payload.get("dedupe"):
            yield str(payload["dedupe"]), datetime.fromtimestamp(float(message["ts"]), UTC)
