"""The aiohttp shell around `answering`: requests in, answers out, and the way deliveries leave.

Control calls and the viewer are for loopback peers only, unless the simulator is opened; others get a 403.
"""

from __future__ import annotations

import functools
import ipaddress
import socket
import struct
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from typing import Any
from urllib.parse import unquote, urlsplit

import aiohttp
from aiohttp import web

from sandbox.listening import is_known_host, not_known
from sandbox.partner import codec, viewer
from sandbox.partner.cards import card_details
from sandbox.partner.control import dispatch
from sandbox.partner.http import Answer, Request, Wire
from sandbox.partner.server import answering
from sandbox.partner.state import World

BODY_CAP = 256 * 1024  # a thousand card ids take 40 KB
SNAPSHOT_CAP = 64 * 1024 * 1024
_RESET_ON_CLOSE = struct.pack("ii", 1, 0)


async def courier(world: World) -> AsyncIterator[None]:
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


def application(world: World, *, is_open: bool = False) -> web.Application:
    """The aiohttp application of a simulator: API, control calls, viewer, card details.

    `is_open`: other machines may use the control calls and the viewer.
    """
    guarded = functools.partial(own_pages_only if is_open else for_loopback, names=world.names)
    app = web.Application(client_max_size=BODY_CAP)
    app.cleanup_ctx.append(lambda _app: courier(world))

    async def api(request: web.Request) -> web.StreamResponse:
        answer = await answering.handle(world, await _request_of(request))
        return _sent(request, answer)

    async def controlled(request: web.Request) -> web.StreamResponse:
        path = request.match_info.get("path", "")
        if path == "snapshot":
            request = request.clone(client_max_size=SNAPSHOT_CAP)
        given = (await _request_of(request)).body
        if given is None:
            refused = {"error": f"The body is not readable or above {BODY_CAP} bytes."}
            return web.Response(status=413, body=codec.encode(refused), content_type="application/json")
        status, body = await dispatch.handle_and_deliver(world, request.method, path, given)
        return web.Response(status=status, body=body, content_type="application/json")

    async def viewer_file(request: web.Request) -> web.StreamResponse:
        return web.FileResponse(viewer.FILES[request.path], headers={"Cache-Control": "no-store"})

    _offer_details(app, world)
    for path in viewer.FILES:
        app.router.add_get(path, guarded(viewer_file), allow_head=False)
    anything = r"{path:[\s\S]*}"  # a decoded path may hold a line break
    app.router.add_route("*", "/_control", guarded(controlled))
    app.router.add_route("*", "/_control/" + anything, guarded(controlled))
    app.router.add_route("*", "/" + anything, api)
    return app


def _offer_details(app: web.Application, world: World) -> None:
    """The addresses that pan and pan-token hand out: for cardholders' devices, without a key."""

    async def exchange(request: web.Request) -> web.StreamResponse:
        status, answer = card_details.exchange(
            world, request.match_info["token"], burn=request.method == "GET"
        )
        headers = {"Access-Control-Allow-Origin": "*", "Cache-Control": "no-store"}
        body = codec.encode(answer)
        return web.Response(status=status, body=body, headers=headers, content_type="application/json")

    async def card_page(request: web.Request) -> web.StreamResponse:
        text = card_details.page(world, request.match_info["token"])
        headers = {"Cache-Control": "no-store", "Referrer-Policy": "no-referrer"}
        if text is None:
            return web.Response(status=404, text="This address is expired or not valid.", headers=headers)
        return web.Response(text=text, headers=headers, content_type="text/html")

    # A HEAD, as a link preview sends it, shows no details: it is not the first use (U69).
    app.router.add_get(card_details.EXCHANGE_PATH + "{token}", exchange)
    app.router.add_get(card_details.PAGE_PATH + "{token}", card_page)


Serve = Callable[[web.Request], Awaitable[web.StreamResponse]]


def for_loopback(handler: Serve, names: Collection[str] = ()) -> Serve:
    """Refuse every peer that is not this machine, and pages of other sites in this machine's browser."""
    of_own_pages = own_pages_only(handler, names)

    async def guarded(request: web.Request) -> web.StreamResponse:
        if not ipaddress.ip_address(request.remote or "::").is_loopback:
            return _forbidden("For loopback peers only.")
        return await of_own_pages(request)

    return guarded


def own_pages_only(handler: Serve, names: Collection[str] = ()) -> Serve:
    """Refuse pages of other sites, wherever the browser is, and names that somebody made lead here (DNS rebinding)."""

    async def guarded(request: web.Request) -> web.StreamResponse:
        origin = request.headers.get("Origin")
        if not is_known_host(request.host, names):
            return _forbidden(not_known(request.host))
        if origin is not None and urlsplit(origin).netloc != request.host:
            return _forbidden("For the simulator's own pages only.")
        return await handler(request)

    return guarded


def _forbidden(error: str) -> web.Response:
    return web.Response(status=403, body=codec.encode({"error": error}), content_type="application/json")


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
