"""What belongs together: one workspace with one app installed in it.

Built once by `app`; the Web API, the acts of people and the control calls all work on it.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from sandbox.slack.clock import Clock
from sandbox.slack.delivery import Delivery, Events, HttpTransport, SocketHub, Transport
from sandbox.slack.faults import Faults
from sandbox.slack.ids import Ids, signing_secret, token
from sandbox.slack.json_object import Json
from sandbox.slack.rate_limits import Rates
from sandbox.slack.state import (
    SUPPORTED_EVENTS,
    AgentSurface,
    Cast,
    Channel,
    Manifest,
    Persist,
    ResponseUrls,
    Store,
    Triggers,
    Views,
    messages,
)
from sandbox.slack.tour import Step

#: The address by which the Web API call that is being answered came; empty otherwise.
_CALLED_AT: ContextVar[str] = ContextVar("called_at", default="")
KEPT_CALLS = 2000
WIRE_LINES = 50


@dataclass(frozen=True)
class Options:
    """How strict to be. Slack's own figures are the bounds: tighter is possible, looser is not."""

    seed: int = 1
    state_path: str | None = None
    ack_seconds: float = 3.0
    trigger_seconds: float = 3.0
    posts_per_second: float = 1.0
    posts_burst: int = 3
    #: How often each WebSocket is pinged; a client of Slack gives up after 30 seconds without a ping.
    ping_seconds: float = 10.0
    #: Where to deliver over signed HTTP instead of Socket Mode.
    request_url: str | None = None
    #: What the page suggests to try.
    tour: Sequence[Step] = ()
    #: The time zone of everybody; empty = each person has their own.
    zone: str = ""
    #: Who and what a new workspace starts with; None is the demo's.
    cast: Cast | None = None

    def __post_init__(self) -> None:
        if not (0 < self.ack_seconds <= 3 and 0 < self.trigger_seconds <= 3):
            raise ValueError("acks and triggers have at most 3 seconds")
        if not 0 < self.ping_seconds < 30:
            raise ValueError("pings come within 30 seconds")
        if not (0 < self.posts_per_second <= 1 and 1 <= self.posts_burst <= 3):
            raise ValueError("at most 1 post a second and bursts of 3")


@dataclass
class Scheduled:
    """A message that waits for its time (`post_at`, seconds); `content` is as `message_content` gives it."""

    id: str
    channel: str
    post_at: int
    created_at: int
    content: Json


class Workspace:
    """The stand-in's state and parts. `own_url` is known once the server listens."""

    def __init__(self, options: Options, clock: Clock, manifest: Manifest, rng: random.Random) -> None:
        self.options = options
        self.clock = clock
        self.manifest = manifest
        self.own_url = ""
        self._app_came_by = ""
        self.bot_token = token("xoxb", options.seed)
        self.app_token = token("xapp", options.seed)
        self.signing_secret = signing_secret(options.seed)
        self.ids = Ids(clock, rng)
        self.store = Store(
            Persist(options.state_path), clock, self.ids, manifest.bot_name, options.zone, options.cast
        )
        self.store.on_change = self.changed
        self.views = Views(clock, self.ids, self.store)
        self.agent = AgentSurface(clock, self.store)
        self.triggers = Triggers(clock, self.ids, options.trigger_seconds)
        self.response_urls = ResponseUrls(clock, self.ids)
        self.rates = Rates(clock, options.posts_per_second, options.posts_burst)
        self.faults = Faults(SUPPORTED_EVENTS)
        self.scheduled: list[Scheduled] = []
        self.calls: deque[Json] = deque(maxlen=KEPT_CALLS)
        self._seq = 0
        self.delivery = Delivery(
            clock, self.ids, self.faults, options.ack_seconds, self.changed, self.next_seq
        )
        self.sockets = SocketHub(
            clock,
            self.ids,
            self.delivery.acknowledge,
            self.changed,
            self.delivery.background,
            options.ping_seconds,
        )
        self.delivery.transport = self._transport(options.request_url)
        self.events = Events(manifest, clock, self.ids, self.views, self.delivery)
        self._watchers: list[Callable[[], None]] = []
        self._toasts: list[Callable[[str, str], None]] = []

    @property
    def base_url(self) -> str:
        """What links begin with: the address by which the app calls or, for what it is sent, last connected.

        A name that leads here is another one inside a container than outside.
        """
        return _CALLED_AT.get() or self._app_came_by or self.own_url

    @contextlib.contextmanager
    def called_at(self, host: str, path: str) -> Iterator[None]:
        """While a Web API call of the app is answered: `host` is how it called, and was checked before."""
        address = f"http://{host}"
        if path.endswith("/apps.connections.open") or self.options.request_url is not None:
            self._app_came_by = address
        token = _CALLED_AT.set(address)
        try:
            yield
        finally:
            _CALLED_AT.reset(token)

    def _transport(self, request_url: str | None) -> Transport:
        if request_url is None:
            return self.sockets
        delivery = self.delivery
        return HttpTransport(
            request_url,
            self.signing_secret,
            self.clock,
            delivery.acknowledge,
            delivery.refuse,
            delivery.background,
        )

    def next_seq(self) -> int:
        """Orders calls and envelopes in one wire log."""
        self._seq += 1
        return self._seq

    def watch(self, changed: Callable[[], None], toast: Callable[[str, str], None]) -> Callable[[], None]:
        """Call `changed` after every change, and `toast` with (user, text); the returned function ends it."""
        self._watchers.append(changed)
        self._toasts.append(toast)

        def stop() -> None:
            self._watchers.remove(changed)
            self._toasts.remove(toast)

        return stop

    def changed(self) -> None:
        """Report a change to everyone who watches."""
        for changed in list(self._watchers):
            changed()

    def toast(self, user: str, text: str) -> None:
        """Slack's own failure text, shown to one person for a moment."""
        for toast in list(self._toasts):
            toast(user, text)

    def log_call(self, method: str, args: Json, error: str | None, answer: Json) -> None:
        """One line for a Web API call; tokens never enter it."""
        shown = {key: value for key, value in args.items() if key not in ("token", "client_secret")}
        self.calls.append(
            {
                "seq": self.next_seq(),
                "at": self.clock.now_iso(),
                "method": method,
                "args": shown,
                "ok": error is None,
                "error": error,
                # A copy: messages go on changing after they were answered with.
                "answer": deepcopy(answer),
            }
        )
        self.changed()

    def wire(self) -> list[Json]:
        """The last calls and envelopes in one list, newest last; `what` tells them apart."""
        calls = [{"what": "call", **_without(one, "answer")} for one in list(self.calls)[-WIRE_LINES:]]
        records = list(self.delivery.records)[-WIRE_LINES:]
        envelopes = [{"what": "envelope", **_without(one.as_json(), "ack_payload")} for one in records]
        return sorted(calls + envelopes, key=lambda line: int(line["seq"]))[-WIRE_LINES:]

    def schedule(self, waiting: Scheduled) -> None:
        """Write a message when its time comes, by the real clock or when the clock is moved."""
        self.scheduled.append(waiting)
        delay = max(0.0, waiting.post_at - self.clock.now())
        asyncio.get_running_loop().call_later(delay, self.post_due)

    def post_due(self) -> None:
        """Write every scheduled message whose time has come."""
        due = [one for one in self.scheduled if one.post_at <= self.clock.now()]
        for one in sorted(due, key=lambda waiting: waiting.post_at):
            self.scheduled.remove(one)
            channel = self.store.channels.get(one.channel)
            if channel is None or channel.archived:
                continue
            message = messages.bot_message(self.ids, self.manifest.bot_name, channel.created_at, one.content)
            message["ts"] = self.ids.ts_at(one.post_at, self.store.messages[channel.id])
            self.store.put_message(channel.id, message)
            self.events.message_posted(channel, message)

    def note_in_channel(self, channel: Channel, user: str, subtype: str, text: str, **more: str) -> None:
        """Slack writes into a channel what somebody did with it."""
        message = messages.channel_message(self.ids, user, subtype, text, dict(more))
        self.store.put_message(channel.id, message)
        self.events.message_posted(channel, message)

    def join(self, channel: Channel, user: str, inviter: str = "") -> None:
        """Somebody comes into a channel."""
        channel.members.append(user)
        self.store.put_channel(channel)
        self.events.member("member_joined_channel", channel, user, inviter)
        by = {"inviter": inviter} if inviter else {}
        self.note_in_channel(channel, user, "channel_join", "has joined the channel", **by)

    def leave(self, channel: Channel, user: str, *, of_own_will: bool = True) -> None:
        """Somebody leaves a channel, or is taken out of it; Slack's page on kicking knows of no message then."""
        if of_own_will:
            self.note_in_channel(channel, user, "channel_leave", "has left the channel")
        self.events.member("member_left_channel", channel, user)
        channel.members.remove(user)
        self.store.put_channel(channel)

    def reset(self) -> None:
        """The seed world again, at the real time; connections and tokens stay."""
        self._forget_what_is_open()
        self.store.reset()

    def read_in(self, rows: list[tuple[str, str, Any]]) -> None:
        """The world of a snapshot; connections and tokens stay. Raises as `Store.read_in` does."""
        self.store.read_in(rows)
        self._forget_what_is_open()

    def _forget_what_is_open(self) -> None:
        self.scheduled.clear()
        self.faults.clear()
        self.views.reset()
        self.agent.reset()
        self.calls.clear()
        self.triggers.reset()
        self.response_urls.reset()
        self.delivery.reset()
        self.rates.reset()
        self.delivery.transport.reset()

    async def close(self) -> None:
        """End deliveries and connections, and close the file."""
        await self.delivery.close()
        await self.delivery.transport.close()
        self.store.close()


def _without(line: Json, key: str) -> Json:
    return {name: value for name, value in line.items() if name != key}
