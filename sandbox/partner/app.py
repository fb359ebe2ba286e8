"""The aiohttp shell around the core, and `serve`: one call that starts a simulator.

Control calls and the viewer are for loopback peers only; everybody else gets a 403.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import ipaddress
import socket
import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import aiohttp
from aiohttp import web

from sandbox.partner import codec, core
from sandbox.partner.accounts import accounts, api_keys
from sandbox.partner.background import deliveries, due_timers
from sandbox.partner.cards import card_details
from sandbox.partner.control import calls
from sandbox.partner.http import Answer, Request, Wire
from sandbox.partner.routes import BASE_PATH
from sandbox.partner.scenarios import catalogue
from sandbox.partner.state import KEY_PREFIX, Store, World

DEFAULT_SEED = "countersign"
BODY_CAP = 256 * 1024  # a thousand card ids take 40 KB
_TICK_SECONDS = 0.25  # how late a timer may run on a real clock
_RESET_ON_CLOSE = struct.pack("ii", 1, 0)
_VIEWER = {
    "/": "viewer.html",
    **{f"/{name}": name for name in ("viewer.js", "viewer_dom.js", "viewer_tables.js", "viewer.css")},
}


def build_world(state_path: str = ":memory:", seed: str | None = None) -> World:
    """A simulator without a server; state found at `state_path` goes on where it was."""
    store = Store(state_path)
    chosen = store.note("seed") or seed or DEFAULT_SEED
    world = World.of(store, chosen)
    if not store.number("SELECT count(*) FROM accounts"):
        with store.transaction():
            store.keep("first_seed", chosen)
            accounts.open_account(world, "Northwind Cards", "ops@northwind.example")
            catalogue.empty(world, chosen)
    return world


def standing_key(world: World, wanted: str | None = None) -> str:
    """The first account's standing key: the one asked for, or the one that follows from the first seed."""
    digits = hashlib.sha256(f"standing:{world.store.note('first_seed')}".encode()).hexdigest()
    key = wanted or KEY_PREFIX + digits[:32]
    return api_keys.issue_key(world, accounts.first_account(world), key=key, name="Standing key")


class Running:
    """A served simulator. `base_url` ends in the version segment, `control_url` in `/_control`."""

    def __init__(self, world: World, runner: web.AppRunner, address: str, key: str) -> None:
        self.world = world
        self.url = address
        self.base_url = address + BASE_PATH
        self.control_url = address + "/_control"
        self.key = key
        self._runner = runner
        self._working = [asyncio.create_task(_tick(world)), asyncio.create_task(_deliver(world))]

    async def close(self) -> None:
        """Stop serving and close the state."""
        for task in self._working:
            task.cancel()
        for task in self._working:
            with contextlib.suppress(asyncio.CancelledError):
                await task
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
    """Start a simulator; `port` 0 takes a free one.

    `demo` plays the happy-day scenario on new state. `default_key` (a `svc_live_00000000…`) is
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
    world.origin = f"http://{host}:{runner.addresses[0][1]}"
    return Running(world, runner, world.origin, key)


def _plant_once(world: World) -> None:
    """The happy day, unless somebody has used this state: an emptied one stays empty over a restart."""
    if world.store.note("planted") or world.store.number("SELECT count(*) FROM ledger"):
        return
    catalogue.empty(world, None)
    catalogue.play(world, "happy-day")
    world.store.keep("planted", "yes")


async def _tick(world: World) -> None:
    while True:
        await asyncio.sleep(_TICK_SECONDS)
        await due_timers.run_due_in_turns(world)


async def _deliver(world: World) -> None:
    """Attempt deliveries as they fall due, at once when something was queued."""
    while True:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(world.stirred.wait(), _TICK_SECONDS)
        world.stirred.clear()
        await deliveries.catch_up(world)


async def _courier(world: World) -> AsyncIterator[None]:
    """One HTTP session for all deliveries, as long as the server runs."""
    connector = aiohttp.TCPConnector(force_close=True)
    async with aiohttp.ClientSession(connector=connector, cookie_jar=aiohttp.DummyCookieJar()) as session:

        async def post(
            method: str, address: str, headers: dict[str, str], body: bytes
        ) -> tuple[int, str | None]:
            try:
                async with session.request(
                    method, address, headers=headers, data=body, allow_redirects=False
                ) as response:
                    await response.read()
                    return response.status, response.headers.get("Location")
            except aiohttp.ClientError as error:
                raise ConnectionError(type(error).__name__) from error

        world.post = post
        yield
    world.post = None


def _application(world: World) -> web.Application:
    app = web.Application(client_max_size=BODY_CAP)
    app.cleanup_ctx.append(lambda _app: _courier(world))

    async def api(request: web.Request) -> web.StreamResponse:
        answer = await core.handle(world, await _request_of(request))
        return _sent(request, answer)

    async def controlled(request: web.Request) -> web.StreamResponse:
        path, given = request.match_info["path"], (await _request_of(request)).body
        if given is None:
            refused = {"error": f"The body is not readable or above {BODY_CAP} bytes."}
            return web.Response(status=413, body=codec.encode(refused), content_type="application/json")
        status, body = await calls.handle_and_deliver(world, request.method, path, given)
        return web.Response(status=status, body=body, content_type="application/json")

    async def viewer(request: web.Request) -> web.StreamResponse:
        file = Path(__file__).with_name(_VIEWER[request.path])
        return web.FileResponse(file, headers={"Cache-Control": "no-store"})

    _offer_details(app, world)
    for path in _VIEWER:
        app.router.add_get(path, for_loopback(viewer), allow_head=False)
    anything = r"{path:[\s\S]*}"  # a decoded path may hold a line break
    app.router.add_route("*", "/_control/" + anything, for_loopback(controlled))
    app.router.add_route("*", "/" + anything, api)
    return app


def _offer_details(app: web.Application, world: World) -> None:
    """The addresses that pan and pan-token hand out: for cardholders' devices, without a key."""

    async def exchange(request: web.Request) -> web.StreamResponse:
        status, answer = card_details.exchange(world, request.match_info["token"])
        headers = {"Access-Control-Allow-Origin": "*", "Cache-Control": "no-store"}
        body = codec.encode(answer)
        return web.Response(status=status, body=body, headers=headers, content_type="application/json")

    async def card_page(request: web.Request) -> web.StreamResponse:
        text = card_details.page(world, request.match_info["token"])
        headers = {"Cache-Control": "no-store", "Referrer-Policy": "no-referrer"}
        if text is None:
            return web.Response(status=404, text="This address is expired or not valid.", headers=headers)
        return web.Response(text=text, headers=headers, content_type="text/html")

    app.router.add_get(
        card_details.EXCHANGE_PATH + "{token}", exchange
    )  # a HEAD burns the token as well (U69)
    app.router.add_get(card_details.PAGE_PATH + "{token}", card_page)


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
    """The request as the core takes it; the path is decoded once, a body over the cap or unreadable is None."""
    body: bytes | None
    try:
        body = await request.read()
    except (web.HTTPRequestEntityTooLarge, web.RequestPayloadError, aiohttp.ClientPayloadError):
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
