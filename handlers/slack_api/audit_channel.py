"""Reads back what was posted as anchors of the audit chain, so that a start can compare them with the database."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from slack_sdk.web.async_client import AsyncWebClient

# A day of them, where one is posted every 15 minutes.
_NEWEST = 100


async def posted_anchors(client: AsyncWebClient, channel: str) -> Sequence[str]:
    """The texts of the newest messages of this app in the channel. Raises what the client raises."""
    own = (await client.auth_test())["bot_id"]
    found = await client.conversations_history(channel=channel, limit=_NEWEST)
    return [_first_text(message) for message in found["messages"] if message.get("bot_id") == own]


def _first_text(message: dict[str, Any]) -> str:
    blocks = message.get("blocks") or [{}]
    return str((blocks[0].get("text") or {}).get("text") or "")
