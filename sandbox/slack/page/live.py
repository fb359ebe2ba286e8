"""`GET /_control/live?user=...`: a WebSocket that shows what a person sees, and again after each change."""

from __future__ import annotations

import asyncio
import contextlib

from aiohttp import web

from sandbox.slack.json_object import Json
from sandbox.slack.page.state_view import state_seen_by
from sandbox.slack.state import Person
from sandbox.slack.workspace import Workspace

#: Changes closer together than this are shown as one.
COALESCE_SECONDS = 0.05
HEARTBEAT_SECONDS = 20


class Live:
    """The open pages."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._sockets: set[web.WebSocketResponse] = set()

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """`GET /_control/live?user=`: sends `{type: see, see}` and `{type: toast, text}`; 400 for somebody unknown."""
        user = request.query.get("user", "")
        who = self._workspace.store.people.get(user)
        if who is None:
            return web.json_response({"error": f"there is no person {user!r}"}, status=400)
        socket = web.WebSocketResponse(heartbeat=HEARTBEAT_SECONDS)
        await socket.prepare(request)
        self._sockets.add(socket)
        try:
            await self._watch(who, socket)
        finally:
            self._sockets.discard(socket)
        return socket

    async def close(self) -> None:
        """Close every page's socket."""
        for socket in list(self._sockets):
            await socket.close()

    async def _watch(self, who: Person, socket: web.WebSocketResponse) -> None:
        """Send until the page goes away; what the page says is not listened to."""
        changed = asyncio.Event()
        changed.set()
        toasts: asyncio.Queue[Json] = asyncio.Queue()

        def toast(user: str, text: str) -> None:
            if user == who.id:
                toasts.put_nowait({"type": "toast", "text": text})

        stop = self._workspace.watch(changed.set, toast)
        senders = [
            asyncio.create_task(self._show(who.id, socket, changed)),
            asyncio.create_task(_toast(socket, toasts)),
        ]
        try:
            async for _ in socket:
                continue
        finally:
            stop()
            for sender in senders:
                sender.cancel()
            await asyncio.gather(*senders, return_exceptions=True)

    async def _show(self, user: str, socket: web.WebSocketResponse, changed: asyncio.Event) -> None:
        """Send after each change, at most every `COALESCE_SECONDS`."""
        with contextlib.suppress(ConnectionError):
            while True:
                await changed.wait()
                changed.clear()
                who = self._workspace.store.people.get(user)
                if who is not None:  # gone after a reset, if they had been added
                    await socket.send_json({"type": "see", "see": state_seen_by(self._workspace, who)})
                await asyncio.sleep(COALESCE_SECONDS)


async def _toast(socket: web.WebSocketResponse, toasts: asyncio.Queue[Json]) -> None:
    with contextlib.suppress(ConnectionError):
        while True:
            await socket.send_json(await toasts.get())
