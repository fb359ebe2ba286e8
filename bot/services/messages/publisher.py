"""Slack as the delivery of messages sees it: where a message was put, and the four ways in which it was not."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from bot.view_models import MessageView


class SlackTrouble(Exception):
    """Slack does not take it now: 429, 5xx, no answer, a token, a channel or a scope that is missing.

    It is tried again for as long as it takes. `retry_after_s` where Slack gave one. `maybe_sent`: the call may have
    taken effect. `only_this`: another message to the same channel may well be taken. `everywhere`: no channel takes
    one, until this is over.
    """

    def __init__(
        self,
        message: str,
        *,
        retry_after_s: float | None = None,
        maybe_sent: bool = False,
        only_this: bool = False,
        everywhere: bool = False,
    ) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s
        self.maybe_sent = maybe_sent
        self.only_this = only_this
        self.everywhere = everywhere


class SlackRefused(Exception):
    """Slack will never take this message: its content, or there is nobody to get it. The text is Slack's error code.

    `plain`: what it says without any layout; empty where that would not help.
    """

    def __init__(self, message: str, *, plain: str = "") -> None:
        super().__init__(message)
        self.plain = plain


class MessageGone(Exception):
    """The message to edit, or in whose thread it goes, is not there any more."""


@dataclass(frozen=True, slots=True)
class Posted:
    """Where the message is, and whether Slack refused its chart, so that it stands there in words."""

    channel: str
    ts: str
    chart_refused: bool = False


class Publisher(Protocol):
    """Draws a view model and sends it. Raises SlackTrouble, SlackRefused, MessageGone; anything else it raises
    means that the message could not be drawn, and that nothing was sent.

    `dedupe`: the id that is read back from the message; of an edit its own. `log_end`: the anchor of the audit log that
    it is drawn with, in a line; a start compares it with its own log."""

    async def post(
        self, view: MessageView, *, channel: str, dedupe: str, log_end: str = "", thread_ts: str | None = None
    ) -> Posted: ...

    async def update(
        self, view: MessageView, *, channel: str, ts: str, dedupe: str, log_end: str = ""
    ) -> Posted: ...

    async def open_direct(self, user: str) -> str:
        """The channel id of the direct messages with this person."""
        ...

    async def find(
        self, *, channel: str, dedupe: str, since: datetime, thread_ts: str | None = None
    ) -> Posted | None:
        """Our own message with this id in its metadata, where Slack shows one."""
        ...
