"""The aiohttp shell around the core, and ``serve``: one call that starts a simulator.

Control calls and the viewer are for loopback peers only; everybody else gets a 403.
"""

import asyncio
import contextlib
import hashlib
import ipaddress
import socket
import struct
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from aiohttp import web

from sandbox.partner import accounts, codec, control, core, due, scenarios
from sandbox.partner.http import Answer, Request, Wire
from sandbox.partner.ids import KEY_PREFIX
from sandbox.partner.store import Store
from sandbox.partner.surface import BASE_PATH
from sandbox.partner.world import World

DEFAULT_SEED = "countersign"
BODY_CAP = 256 * 1024  # a thousand card ids take 40 KB
_TICK_SECONDS = 0.25  # how late a timer may run on a real clock
_RESET_ON_CLOSE = struct.pack("ii", 1, 0)
_VIEWER = {"/": "viewer.html", "/viewer.js": "viewer.js", "/viewer.css": "viewer.css"}


def build_world(state_path: str = ":memory:", seed: str | None = None) -> World:
    """A simulator without a server; state found at ``state_path`` goes on where it was."""
    store = Store(state_path)
    chosen = store.note("seed") or seed or DEFAULT_SEED
    world = World.of(store, chosen)
    if not store.number("SELECT count(*) FROM accounts"):
        with store.transaction():
            store.keep("first_seed", chosen)
            accounts.open_account(world, "Northwind Cards", "ops@northwind.example")
            scenarios.empty(world, chosen)
    return world


def standing_key(world: World, wanted: str | None = None) -> str:
    """The first account's standing key: the one asked for, or the one that follows from the first seed."""
    digits = hashlib.sha256(f"standing:{world.store.note('first_seed')}".encode()).hexdigest()
    key = wanted or KEY_PREFIX + digits[:32]
    return accounts.issue_key(world, accounts.first_account(world), key=key, name="Standing key")


class Running:
    """A served simulator. ``base_url`` ends in the version segment, ``control_url`` in ``/_control``."""

    def __init__(self, world: World, runner: web.AppRunner, address: str, key: str) -> None:
        self.world = world
        self.url = address
        self.base_url = address + BASE_PATH
        self.control_url = address + "/_control"
        self.key = key
        self._runner = runner
        self._ticking = asyncio.create_task(_tick(world))

    async def close(self) -> None:
        """Stop serving and close the state."""
        self._ticking.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._ticking
        await self._runner.cleanup()
        self.world.store.close()


async def serve(
    *,
    host: str = "127.0.0.1",
    port: int = 8401,
    state_path: str = ":memory:",
    seed: str | None = None,
    default_key: str | None = None,
    demo: bool = False,
) -> Running:
    """Start a simulator; ``port`` 0 takes a free one.

    ``demo`` plays the happy-day scenario on new state. ``default_key`` (a ``svc_live_00000000…``) is
    accepted besides those issued before; without it the key follows from the seed. Raises OSError
    when the port is taken.
    """
    world = build_world(state_path, seed)
    key = standing_key(world, default_key)
    if demo:
        _plant_once(world)
    runner = web.AppRunner(_application(world), access_log=None, shutdown_timeout=1)
    await runner.setup()
    try:
        await web.TCPSite(runner, host, port).start()
    except OSError:
        await runner.cleanup()
        world.store.close()
        raise
    bound = runner.addresses[0][1]
    return Running(world, runner, f"http://{host}:{bound}", key)


def _plant_once(world: World) -> None:
    """The happy day, unless somebody has used this state: an emptied one stays empty over a restart."""
    if world.store.note("planted") or world.store.number("SELECT count(*) FROM ledger"):
        return
    scenarios.empty(world, None)
    scenarios.play(world, "happy-day")
    world.store.keep("planted", "yes")


async def _tick(world: World) -> None:
    while True:
        await asyncio.sleep(_TICK_SECONDS)
        due.run_due(world)


def _application(world: World) -> web.Application:
    app = web.Application(client_max_size=BODY_CAP)

    async def api(request: web.Request) -> web.StreamResponse:
        answer = await core.handle(world, await _request_of(request))
        return _sent(request, answer)

    async def controlled(request: web.Request) -> web.StreamResponse:
        status, body = control.handle(world, request.method, request.match_info["path"], await request.read())
        return web.Response(status=status, body=body, content_type="application/json")

    async def viewer(request: web.Request) -> web.StreamResponse:
        file = Path(__file__).with_name(_VIEWER[request.path])
        return web.FileResponse(file, headers={"Cache-Control": "no-store"})

    for path in _VIEWER:
        app.router.add_get(path, for_loopback(viewer), allow_head=False)
    app.router.add_route("*", "/_control/{path:.*}", for_loopback(controlled))
    app.router.add_route("*", "/{path:.*}", api)
    return app


Serve = Callable[[web.Request], Awaitable[web.StreamResponse]]


def for_loopback(handler: Serve) -> Serve:
    """Refuse every peer that is not this machine, and pages of other sites in this machine's browser."""

    async def guarded(request: web.Request) -> web.StreamResponse:
        origin = request.headers.get("Origin")
        foreign = origin is not None and urlsplit(origin).netloc != request.host
        if foreign or not ipaddress.ip_address(request.remote or "::").is_loopback:
            return web.Response(status=403, body=codec.encode({"error": "For loopback peers only."}))
        return await handler(request)

    return guarded


async def _request_of(request: web.Request) -> Request:
    """The request as the core takes it; the path is decoded once, a body over the cap is None."""
    body: bytes | None
    try:
        body = await request.read()
    except web.HTTPRequestEntityTooLarge:
        body = None
    raw_path, _, query = request.raw_path.partition("?")
    return Request(request.method, unquote(raw_path), query, tuple(request.headers.items()), body)


def _sent(request: web.Request, answer: Answer) -> web.StreamResponse:
    if answer.wire is not Wire.ANSWER:
        _hang_up(request, answer.wire)
    return web.Response(
        status=answer.status or 500, body=answer.body, headers=answer.headers, content_type="application/json"
    )


def _hang_up(request: web.Request, wire: Wire) -> None:
    """Close the connection under the answer; a reset is a close that waits for nothing."""
    transport = request.transport
    if transport is None:
        return
    if wire is Wire.RESET:
        plug: Any = transport.get_extra_info("socket")
        plug.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET_ON_CLOSE)
    transport.abort()
