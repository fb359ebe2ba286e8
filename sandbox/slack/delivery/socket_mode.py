"""Socket Mode: tickets, up to ten WebSockets per app, pings, and every envelope to exactly one socket.

Source: https://docs.slack.dev/apis/events-api/using-socket-mode
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Callable, Coroutine
from typing import Any

from aiohttp import WSMsgType, web

from sandbox.slack.clock import Clock
from sandbox.slack.faults import Fault
from sandbox.slack.ids import Ids
from sandbox.slack.json_object import Json
from sandbox.slack.state import APP_ID

MAX_SOCKETS = 10
TICKET_SECONDS = 30
#: How long a socket lives on after "refresh_requested"; Slack grants the app about ten seconds.
GRACE_SECONDS = 10
REASONS = ("warning", "refresh_requested", "link_disabled", "too_many_websockets")


class SocketHub:
    """The open sockets of the app. A `Transport`."""

    effects = frozenset({"delay", "lost_ack", "duplicate", "disconnect", "silence"})

    def __init__(
        self,
        clock: Clock,
        ids: Ids,
        on_ack: Callable[[str, Json | None], None],
        on_change: Callable[[], None],
        spawn: Callable[[Coroutine[Any, Any, None]], object],
        ping_seconds: float,
    ) -> None:
        self._clock = clock
        self._ids = ids
        self._on_ack = on_ack
        self._on_change = on_change
        self._spawn = spawn
        self._tickets: dict[str, float] = {}
        self._sockets: list[web.WebSocketResponse] = []
        self._silent_until = 0.0
        self._ping_seconds = ping_seconds
        #: Whether Socket Mode is turned on for the app; while it is off, no ticket is issued.
        self.is_on = True

    @property
    def connections(self) -> int:
        """How many sockets the app has open."""
        return len(self._sockets)

    def issue_ticket(self) -> str:
        """Permission to open one socket soon."""
        ticket = self._ids.envelope_id()
        self._tickets[ticket] = self._clock.now()
        return ticket

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """`GET /socket?ticket=...`"""
        issued_at = self._tickets.pop(request.query.get("ticket", ""), None)
        if issued_at is None or self._clock.now() - issued_at > TICKET_SECONDS:
            return web.Response(status=403, text="the ticket is unknown, used or too old")
        # Pings are answered by hand, so that a silent socket is silent in this too.
        socket = web.WebSocketResponse(autoping=False, max_msg_size=4 * 1024 * 1024)
        await socket.prepare(request)
        if len(self._sockets) >= MAX_SOCKETS:
            await socket.send_json({"type": "disconnect", "reason": "too_many_websockets"})
            await socket.close()
            return socket
        self._sockets.append(socket)
        self._on_change()
        try:
            await socket.send_json(self._hello())
            pinging = asyncio.create_task(self._ping(socket))
            try:
                await self._listen(socket)
            finally:
                pinging.cancel()
                await asyncio.gather(pinging, return_exceptions=True)  # it may not have begun yet
        finally:
            self._drop(socket)
        return socket

    async def deliver(self, envelope: Json, fault: Fault | None) -> bool:
        """Send on the socket whose turn it is; the next one takes over when it is broken."""
        if self._is_silent():
            return bool(self._sockets)
        for socket in list(self._sockets):
            self._sockets.remove(socket)
            self._sockets.append(socket)
            try:
                await socket.send_str(json.dumps(envelope))
            except ConnectionError:
                self._drop(socket)
                continue
            return True
        return False

    async def fall_silent(self, seconds: float) -> None:
        """Sockets stay open but nothing comes out of them, pongs included."""
        self._silent_until = asyncio.get_running_loop().time() + seconds

    async def disconnect(self, reason: str) -> None:
        """Tell every socket to go; all but a warning are closed a little later.

        With `link_disabled` Socket Mode is off from now on.
        """
        if reason == "link_disabled":
            self.is_on = False
        for socket in list(self._sockets):
            frame = {"type": "disconnect", "reason": reason, "debug_info": {"host": "sandbox"}}
            await socket.send_json(frame)
            if reason != "warning":
                self._drop(socket)
                self._spawn(_close_later(socket))

    def reset(self) -> None:
        """Socket Mode is on and no socket is silent; sockets stay open."""
        self.is_on = True
        self._silent_until = 0.0

    async def close(self) -> None:
        """Close every socket at once."""
        for socket in list(self._sockets):
            await socket.close()

    def _hello(self) -> Json:
        return {
            "type": "hello",
            "num_connections": len(self._sockets),
            "debug_info": {
                "host": "sandbox",
                "build_number": 1,
                "approximate_connection_time": 18060,
            },
            "connection_info": {"app_id": APP_ID},
        }

    async def _ping(self, socket: web.WebSocketResponse) -> None:
        """Ping the app again and again, as Slack does; the listener ends this with the socket."""
        while not socket.closed:
            await asyncio.sleep(self._ping_seconds)
            if not self._is_silent():
                with contextlib.suppress(ConnectionError):  # the listener sees the same end
                    await socket.ping(b"Ping from the sandbox")

    async def _listen(self, socket: web.WebSocketResponse) -> None:
        async for message in socket:
            if message.type is WSMsgType.PING and not self._is_silent():
                await socket.pong(message.data)
            elif message.type is WSMsgType.TEXT:
                self._take(message.data)

    def _take(self, text: str) -> None:
        """A frame of the app. Anything that is no ack is counted as an unknown one."""
        try:
            frame = json.loads(text)
        except ValueError:
            frame = {}
        if not isinstance(frame, dict):
            frame = {}
        self._on_ack(str(frame.get("envelope_id", "")), frame.get("payload"))

    def _is_silent(self) -> bool:
        return asyncio.get_running_loop().time() < self._silent_until

    def _drop(self, socket: web.WebSocketResponse) -> None:
        if socket in self._sockets:
            self._sockets.remove(socket)
            self._on_change()


async def _close_later(socket: web.WebSocketResponse) -> None:
    await asyncio.sleep(GRACE_SECONDS)
    await socket.close()
