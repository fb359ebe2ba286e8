"""Reads back which messages of this installation are in Slack: a start looks whether the database knows them."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from bot.domain.errors import LookupFailed
from bot.services.older_copies import messages_in_slack
from bot.services.processes import unseen_requests
from handlers.slack_api.errors import code_of
from handlers.slack_api.publish import EVENT_TYPE

# An older copy does not know our newest ones. Where people write in the channel, too, those are further back.
_A_PAGE = 200
_PAGES_MOST = 10
# So many calls of a channel for single messages that are further back: each finds those of the 200 around it, too.
_LOOKS_MOST = 20


async def posted_messages(
    client: AsyncWebClient, wanted: messages_in_slack.Wanted, instance: str
) -> messages_in_slack.PostedMessages:
    """The newest messages that this app posted for this installation, without threads, and those of the places that are
    wanted; each channel by itself. Raises LookupFailed, and what the client raises where it has no answer."""
    try:
        own = (await client.auth_test())["bot_id"]
    except SlackApiError as error:
        code = code_of(error)
        raise LookupFailed(f"Slack did not give the messages ({code}).", code) from error
    channels = sorted({*wanted.channels, *(place.channel for place in wanted.places.values())})
    read = [_Channel(client, one, wanted, own, instance) for one in channels]
    await asyncio.gather(*(one.read() for one in read))
    return messages_in_slack.PostedMessages(
        [message for one in read for message in one.found],
        {one.channel: one.error for one in read if one.error},
        [one.channel for one in read if one.is_cut],
        {request_id: code for one in read for request_id, code in one.unseen().items()},
        [one.channel for one in read if one.has_others],
    )


class _Channel:
    """What is read of one channel. `error`: what Slack said, or what else went wrong. `is_cut`: no message of before
    was reached. `has_others`: this app posted in it for another installation."""

    def __init__(
        self,
        client: AsyncWebClient,
        channel: str,
        wanted: messages_in_slack.Wanted,
        own: str,
        instance: str,
    ) -> None:
        self.channel, self.error, self.is_cut, self.has_others = channel, "", False, False
        self.found = list[messages_in_slack.PostedMessage]()
        self._client, self._wanted, self._own, self._instance = client, wanted, own, instance
        self._places = {id_: place.ts for id_, place in wanted.places.items() if place.channel == channel}
        # Not looked at so far, in the order in which they are wanted, and those that are not there.
        self._left = list(dict.fromkeys(self._places.values()))
        self._gone = set[str]()

    async def read(self) -> None:
        """As far as Slack gives it."""
        try:
            if self.channel in self._wanted.channels:
                await self._read_newest()
            await self._look_at_places()
        except SlackApiError as error:
            self.error = code_of(error)
        except Exception as error:  # noqa: BLE001 - the SDK lets the errors of its HTTP library through as they are
            self.error = type(error).__name__

    def unseen(self) -> Mapping[str, str]:
        """By the request: why its message was not seen."""
        why = dict.fromkeys(self._left, self.error or unseen_requests.NOT_REACHED) | dict.fromkeys(
            self._gone, unseen_requests.GONE
        )
        return {id_: why[ts] for id_, ts in self._places.items() if ts in why}

    async def _read_newest(self) -> None:
        """The first pages, up to one that has what is wanted."""
        is_reached, cursor = False, ""
        for _ in range(_PAGES_MOST):
            page = await self._page(cursor=cursor or None)
            ours = self._take(page["messages"])
            cursor = (page.get("response_metadata") or {}).get("next_cursor") or ""
            self._settle(page["messages"], is_last=not cursor)
            is_reached = is_reached or await self._wanted.is_of_before([one.dedupe for one in ours])
            if not cursor or (is_reached and not self._left):
                return
        self.is_cut = not is_reached

    async def _look_at_places(self) -> None:
        """Each message that is further back than what was read, or in a channel that is not read."""
        for _ in range(_LOOKS_MOST):
            if not self._left:
                return
            at = self._left[0]
            # Only with `latest` alone is it sure that the newest of several come first.
            alone = {"oldest": at} if len(self._left) == 1 else {}
            page = await self._page(latest=at, inclusive=True, **alone)
            self._take(page["messages"])
            has_more = bool((page.get("response_metadata") or {}).get("next_cursor"))
            self._settle(page["messages"], newest=at, is_last=not has_more)

    async def _page(self, **which: Any) -> Any:
        return await self._client.conversations_history(
            channel=self.channel, limit=_A_PAGE, include_all_metadata=True, **which
        )

    def _take(self, messages: Sequence[dict[str, Any]]) -> list[messages_in_slack.PostedMessage]:
        """Keep those of this installation."""
        ours = list[messages_in_slack.PostedMessage]()
        for message in messages:
            payload = (message.get("metadata") or {}).get("event_payload") or {}
            if not self._is_by_us(message) or not payload.get("dedupe"):
                continue
            if payload.get("instance") != self._instance:
                self.has_others = self.has_others or bool(payload.get("instance"))
                continue
            drawn = {"ts": (message.get("edited") or {}).get("ts") or message["ts"]}
            ours.append(
                messages_in_slack.PostedMessage(
                    str(payload["dedupe"]), _at(drawn), str(payload.get("log_end") or "")
                )
            )
        self.found += ours
        return ours

    def _is_by_us(self, message: dict[str, Any]) -> bool:
        """An app that was installed again has another id. At the place of a message of ours nobody else's can be."""
        event_type = (message.get("metadata") or {}).get("event_type")
        is_ours = message.get("bot_id") == self._own or message["ts"] in self._places.values()
        return is_ours and event_type == EVENT_TYPE

    def _settle(self, messages: Sequence[dict[str, Any]], *, is_last: bool, newest: str = "") -> None:
        """Of the places that this page shows, from `newest` on back, or from the newest message of all: those that it
        has not are gone. What stands for a deleted message with a thread is none of this app's."""
        there = {one["ts"] for one in messages if one.get("bot_id") == self._own or self._is_by_us(one)}
        oldest = _order(messages[-1]["ts"]) if messages else None
        looked = [
            ts
            for ts in self._left
            if (not newest or _order(ts) <= _order(newest))
            and (is_last or (oldest is not None and _order(ts) >= oldest))
        ]
        self._gone.update(ts for ts in looked if ts not in there)
        self._left = [ts for ts in self._left if ts not in looked]


def _order(ts: str) -> list[int]:
    """Of Slack's times of messages, exact."""
    return [int(part) for part in ts.split(".")]


def _at(message: dict[str, Any]) -> datetime:
    return datetime.fromtimestamp(float(message["ts"]), UTC)
