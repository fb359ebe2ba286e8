"""A message past the outbox: for what has to be said while nothing can be stored."""

from __future__ import annotations

from collections.abc import Sequence

from slack_sdk.web.async_client import AsyncWebClient

from bot.services.core import Channels
from handlers.views import blocks as b


async def announce(client: AsyncWebClient, channels: Channels, text: str, whom: Sequence[str]) -> None:
    """Post it in the alerts channel now, mentioning these groups and people. Raises what the client raises."""
    said = f"⚠ {b.esc(text)}"
    await client.chat_postMessage(
        channel=channels.alerts, text=f"{b.calls(whom)} {said}" if whom else said, unfurl_links=False
    )
