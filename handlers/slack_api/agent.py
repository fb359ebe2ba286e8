"""Slack's agent surface: the status line under a question and the suggested prompts.

Workspaces without it answer with an error; then it is not asked for again, and nothing else changes.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence

from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from handlers.slack_api.errors import code_of

log = logging.getLogger("countersign.handlers")

# A decoration never holds up an answer for longer.
_PATIENCE_S = 1.0
_PASSING = frozenset({"ratelimited", "internal_error", "fatal_error", "service_unavailable"})

WORKING = "is looking it up…"
TITLE = "Ask, or say what you need"
Prompt = tuple[str, str]  # what the chip reads, and what it says when pressed
_READS: Sequence[Prompt] = (
    ("Float", "What's our float now?"),
    ("Fundings in review", "Which fundings are in review?"),
)
_ASKS: Sequence[Prompt] = (*_READS, ("Top up a card", "Top up a card"), ("Freeze a card", "Freeze a card"))
_DECIDES: Sequence[Prompt] = (
    ("Waiting for me", "Which requests need my decision?"),
    *_READS,
    ("Top up a card", "Top up a card"),
)


def prompts(*, may_ask: bool, may_decide: bool) -> Sequence[Prompt]:
    """At most four, of what this person may do."""
    if may_decide:
        return _DECIDES if may_ask else _DECIDES[:3]
    return _ASKS if may_ask else _READS


class Agent:
    """Remembers what this workspace does not have. One instance in a process."""

    def __init__(self) -> None:
        self._missing: set[str] = set()

    async def working(self, client: AsyncWebClient, channel: str, thread_ts: str) -> None:
        """Show that the app is at it; Slack takes the line away with the app's answer in the thread."""
        if "status" in self._missing:
            return
        try:
            async with asyncio.timeout(_PATIENCE_S):
                await client.assistant_threads_setStatus(
                    channel_id=channel, thread_ts=thread_ts, status=WORKING
                )
        except SlackApiError as error:
            self._noted("status", error)
        except TimeoutError:
            log.info("agent.status_slow")

    async def suggest(self, client: AsyncWebClient, channel: str, found: Sequence[Prompt]) -> None:
        """Offer these sentences where a conversation begins."""
        if "prompts" in self._missing:
            return
        asked: list[Mapping[str, str]] = [{"title": title, "message": message} for title, message in found]
        try:
            await client.assistant_threads_setSuggestedPrompts(
                channel_id=channel, title=TITLE, prompts=[dict(one) for one in asked]
            )
        except SlackApiError as error:
            self._noted("prompts", error)

    def _noted(self, what: str, error: SlackApiError) -> None:
        code = code_of(error)
        log.info("agent.not_taken", extra={"what": what, "error": code})
        if code not in _PASSING:
            self._missing.add(what)
