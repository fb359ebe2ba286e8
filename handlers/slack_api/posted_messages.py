"""Reads back which messages of this installation are in Slack: a start looks whether the database knows them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from bot.domain.errors import LookupFailed
from bot.services.older_copies import messages_in_slack
from handlers.slack_api.errors import code_of
from handlers.slack_api.publish import EVENT_TYPE

# An older copy does not know our newest ones. Where people write in the channel, too, those are further back.
_A_PAGE = 200
_PAGES_MOST = 10


class _OfChannel(NamedTuple):
    """As `PostedMessages` has it."""

    messages: list[messages_in_slack.PostedMessage]
    error: str = ""
    is_cut: bool = False


async def posted_messages(
    client: AsyncWebClient, wanted: messages_in_slack.Wanted, instance: str
) -> messages_in_slack.PostedMessages:
    """The newest messages that this app posted for this installation, without threads; each channel by itself. Raises
    LookupFailed, and what the client raises where it has no answer."""
    try:
        own = (await client.auth_test())["bot_id"]
    except SlackApiError as error:
        code = code_of(error)
        raise LookupFailed(f"Slack did not give the messages ({code}).", code) from error
    channels = sorted(wanted.channels)
    read = await asyncio.gather(*(_of_channel(client, one, wanted, own, instance) for one in channels))
    found = dict(zip(channels, read, strict=True))
    return messages_in_slack.PostedMessages(
        [message for one in read for message in one.messages],
        {channel: one.error for channel, one in found.items() if one.error},
        [channel for channel, one in found.items() if one.is_cut],
    )


async def _of_channel(
    client: AsyncWebClient, channel: str, wanted: messages_in_slack.Wanted, own: str, instance: str
) -> _OfChannel:
    """Those of the first pages, up to one that has what is wanted."""
    found, is_reached, cursor = list[messages_in_slack.PostedMessage](), False, ""
    for _ in range(_PAGES_MOST):
        try:
            page = await client.conversations_history(
                channel=channel, limit=_A_PAGE, include_all_metadata=True, cursor=cursor or None
            )
        except SlackApiError as error:
            return _OfChannel(found, code_of(error))
        except Exception as error:  # noqa: BLE001 - the SDK lets the errors of its HTTP library through as they are
            return _OfChannel(found, type(error).__name__)
        ours = list(_ours(page["messages"], own, instance))
        found += ours
        is_reached = is_reached or await wanted.is_of_before([one.dedupe for one in ours])
        cursor = (page.get("response_metadata") or {}).get("next_cursor") or ""
        if not cursor or (is_reached and _reaches(page["messages"], wanted.back_to.get(channel))):
            return _OfChannel(found)
    return _OfChannel(found, is_cut=not is_reached)


def _reaches(messages: Sequence[dict[str, Any]], back_to: datetime | None) -> bool:
    return back_to is None or not messages or _at(messages[-1]) <= back_to


def _at(message: dict[str, Any]) -> datetime:
    return datetime.fromtimestamp(float(message["ts"]), UTC)


def _ours(
    messages: Sequence[dict[str, Any]], own: str, instance: str
) -> Iterator[messages_in_slack.PostedMessage]:
    for message in messages:
        metadata = message.get("metadata") or {}
        payload = metadata.get("event_payload") or {}
        is_ours = message.get("bot_id") == own and metadata.get("event_type") == EVENT_TYPE
        if is_ours and payload.get("instance") == instance and payload.get("dedupe"):
            drawn = {"ts": (message.get("edited") or {}).get("ts") or message["ts"]}
            yield messages_in_slack.PostedMessage(
                str(payload["dedupe"]), _at(drawn), str(payload.get("log_end") or "")
            )
