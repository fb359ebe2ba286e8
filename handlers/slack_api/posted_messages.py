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

# An older copy does not know our newest ones. Where people write in the channel, too, those are further back.
_A_PAGE = 200
_PAGES_MOST = 10


async def posted_messages(
    client: AsyncWebClient, channels: Sequence[str], instance: str
) -> Sequence[tuple[str, datetime]]:
    """The outbox ids of the newest messages that this app posted for this installation in these channels, each with its
    time; without threads. Of one that was edited it is the id of the newest edit. Raises LookupFailed, and what the
    client raises where it has no answer."""
    try:
        own = (await client.auth_test())["bot_id"]
        read = [_newest_of(client, one, own, instance) for one in sorted({one for one in channels if one})]
        found = await asyncio.gather(*read)
    except SlackApiError as error:
        code = code_of(error)
        raise LookupFailed(f"Slack did not give the messages ({code}).", code) from error
    return [one for of_channel in found for one in of_channel]


async def _newest_of(
    client: AsyncWebClient, channel: str, own: str, instance: str
) -> list[tuple[str, datetime]]:
    """Those of the first page that has any."""
    cursor = ""
    for _ in range(_PAGES_MOST):
        page = await client.conversations_history(
            channel=channel, limit=_A_PAGE, include_all_metadata=True, cursor=cursor or None
        )
        found = list(_of(page["messages"], own, instance))
        cursor = (page.get("response_metadata") or {}).get("next_cursor") or ""
        if found or not cursor:
            return found
    return []


def _of(messages: Sequence[dict[str, Any]], own: str, instance: str) -> Iterator[tuple[str, datetime]]:
    for message in messages:
        metadata = message.get("metadata") or {}
        payload = metadata.get("event_payload") or {}
        is_ours = message.get("bot_id") == own and metadata.get("event_type") == EVENT_TYPE
        if is_ours and payload.get("instance") == instance and payload.get("dedupe"):
            drawn_at = (message.get("edited") or {}).get("ts") or message["ts"]
            yield str(payload["dedupe"]), datetime.fromtimestamp(float(drawn_at), UTC)
