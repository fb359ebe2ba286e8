"""Slack's agent surface: the status line under a question and the suggested prompts.

Workspaces without it answer with an error; then it is not asked for again, and nothing else changes.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence

from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from bot.intents import EXAMPLES
from handlers.slack_api.errors import code_of

log = logging.getLogger("countersign.handlers")

# A decoration never holds up an answer for longer.
_PATIENCE_S = 1.0
_PASSING = frozenset({"ratelimited", "internal_error", "fatal_error", "service_unavailable"})

WORKING = "is looking it up…"
TITLE = "Ask, or say what you need"
Prompt = tuple[str, str]  # what the chip reads, and what it says when pressed


def _prompts(*wanted: str) -> Sequence[Prompt]:
    """The prompts of some intents, in this order."""
    return tuple(prompt for intent in wanted if (prompt := EXAMPLES[intent].prompt) is not None)


_READS = _prompts("float_status", "funding_list")
_ASKS = _prompts("float_status", "funding_list", "topup_card", "freeze_card")
_DECIDES = _prompts("pending_approvals", "float_status", "funding_list", "topup_card")


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
