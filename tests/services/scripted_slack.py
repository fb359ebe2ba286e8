"""Slack as the outbox sees it, by script: what it keeps, and the trouble it makes on the next calls."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from bot.services.messages import MessageGone, Posted, SlackRefused, SlackTrouble
from bot.view_models import AlertView, DirectView, LineView, MessageView, PlainView, RequestView

Trouble = SlackTrouble | SlackRefused | MessageGone


@dataclass
class Message:
    channel: str
    ts: str
    dedupe: str
    shows: str
    thread_ts: str | None = None
    edits: int = 0
    log_end: str = ""


@dataclass
class ScriptedSlack:
    """`next_*` are raised by the next calls, oldest first; a lost answer keeps the message all the same.

    `closed` is raised by each call for a channel, `all_closed` by each call; `drawn` are the views that were taken.
    """

    now: list[float] = field(default_factory=list)
    messages: list[Message] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)
    next_post: list[Trouble] = field(default_factory=list)
    next_update: list[Trouble] = field(default_factory=list)
    next_find: list[Trouble] = field(default_factory=list)
    closed: dict[str, Trouble] = field(default_factory=dict)
    all_closed: Trouble | None = None
    drawn: list[MessageView] = field(default_factory=list)

    async def post(
        self, view: MessageView, *, channel: str, dedupe: str, log_end: str = "", thread_ts: str | None = None
    ) -> Posted:
        self.calls.append(f"post {shown(view)}")
        self._check(channel)
        trouble = self.next_post.pop(0) if self.next_post else None
        if trouble is not None and not (isinstance(trouble, SlackTrouble) and trouble.maybe_sent):
            raise trouble
        ts = f"{len(self.messages) + 1}.0"
        message = Message(channel, ts, dedupe, shown(view), thread_ts, log_end=log_end)
        self.messages.append(message)
        self.drawn.append(view)
        if trouble is not None:
            raise trouble
        return Posted(channel, message.ts)

    async def update(
        self, view: MessageView, *, channel: str, ts: str, dedupe: str, log_end: str = ""
    ) -> Posted:
        self.calls.append(f"update {shown(view)}")
        self._check(channel)
        if self.next_update:
            raise self.next_update.pop(0)
        found = [m for m in self.messages if (m.channel, m.ts) == (channel, ts)]
        if not found:
            raise MessageGone("message_not_found")
        found[0].shows = shown(view)
        found[0].edits += 1
        found[0].log_end = log_end
        self.drawn.append(view)
        return Posted(channel, ts)

    def _check(self, channel: str) -> None:
        trouble = self.all_closed or self.closed.get(channel)
        if trouble is not None:
            raise trouble

    async def open_direct(self, user: str) -> str:
        return f"D-{user}"

    async def find(
        self, *, channel: str, dedupe: str, since: datetime, thread_ts: str | None = None
    ) -> Posted | None:
        self.calls.append("find")
        if self.next_find:
            raise self.next_find.pop(0)
        for message in self.messages:
            if (message.channel, message.dedupe, message.thread_ts) == (channel, dedupe, thread_ts):
                return Posted(channel, message.ts)
        return None


def shown(view: MessageView) -> str:
    """`card pending`, `line approval`, `direct approved`, `alert raised`."""
    match view:
        case AlertView():
            return f"alert {view.state}"
        case LineView():
            return f"line {view.line}"
        case DirectView():
            return f"direct {view.request.state}"
        case RequestView():
            return f"card {view.request.state}"
        case PlainView():
            return f"plain {view.text}"
        case _:
            return type(view).__name__
