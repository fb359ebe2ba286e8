"""The stand-in as one aiohttp application: routes, start and end.

`build` makes the application around a workspace; `serve` also listens, on loopback unless it is opened.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import AsyncIterator, Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from aiohttp import web

from sandbox.listening import checked_names, is_known_host, listen, not_known, own_host
from sandbox.slack.clock import Clock
from sandbox.slack.control import Control
from sandbox.slack.page import STATIC, Live
from sandbox.slack.state import Manifest, manifest
from sandbox.slack.tour import Step
from sandbox.slack.web_api import METHODS, WebApi, file_downloads, files, response_url
from sandbox.slack.workspace import Options, Workspace

WORKSPACE = web.AppKey("workspace", Workspace)
LIVE = web.AppKey("live", Live)
LOOPBACK = ("127.0.0.1", "::1", "localhost")
MAX_BODY_BYTES = 80_000_000


def build(
    options: Options, *, clock: Clock, manifest: Manifest, rng: random.Random, names: Collection[str] = ()
) -> web.Application:
    """The application; its workspace is under `WORKSPACE`, whose `own_url` the caller sets.

    `names` are host names by which it may be called, beside IP addresses and localhost.
    """
    workspace = Workspace(options, clock, manifest, rng)
    app = web.Application(client_max_size=MAX_BODY_BYTES, middlewares=[_own_pages_only(names), _never_cached])
    app[WORKSPACE] = workspace
    app[LIVE] = live = Live(workspace)
    api, control = WebApi(workspace, METHODS), Control(workspace)

    async def response(request: web.Request) -> web.StreamResponse:
        return await response_url.handle(workspace, request)

    async def upload(request: web.Request) -> web.StreamResponse:
        return await files.upload(workspace, request)

    async def download(request: web.Request) -> web.StreamResponse:
        return await file_downloads.download(workspace, request)

    app.add_routes(
        [
            web.get("/", _page),
            web.static("/static", STATIC),
            web.get("/api/{method}", api.handle),
            web.post("/api/{method}", api.handle),
            web.get("/socket", workspace.sockets.handle),
            web.post("/response/{secret}", response),
            web.post("/upload/{file_id}", upload),
            web.get("/files-pri/{file_id}/{path:.+}", download),
            web.get(file_downloads.SIGN_IN, file_downloads.sign_in),
            web.get("/_control", control.handle),
            web.get("/_control/file/{file_id}", control.file),
            web.get("/_control/live", live.handle),
            web.get("/_control/{call:.+}", control.handle),
            web.delete("/_control/{call:.+}", control.handle),
            web.post("/_control/{call:.+}", control.handle),
        ]
    )
    app.on_shutdown.append(_close_sockets)
    app.cleanup_ctx.append(_parts)
    return app


async def _page(request: web.Request) -> web.StreamResponse:
    return web.FileResponse(STATIC / "page.html")


def _own_pages_only(names: Collection[str]) -> Any:
    """Refuse pages of other sites in this machine's browser, and names that somebody made lead here (DNS rebinding):
    whoever gets in acts as anybody. The app is led back to the host by which it called."""

    @web.middleware
    async def guarded(request: web.Request, handler: Any) -> web.StreamResponse:
        if not is_known_host(request.host, names):
            raise web.HTTPForbidden(text=not_known(request.host))
        origin = request.headers.get("Origin")
        if origin is not None and urlsplit(origin).netloc != request.host:
            raise web.HTTPForbidden(text="For this stand-in's own page and programs only.")
        answer: web.StreamResponse
        if request.path.startswith("/api/"):
            with request.app[WORKSPACE].called_at(request.host, request.path):
                answer = await handler(request)
        else:
            answer = await handler(request)
        return answer

    return guarded


@web.middleware
async def _never_cached(request: web.Request, handler: Any) -> web.StreamResponse:
    """The page changes between versions while its address stays the same."""
    answer: web.StreamResponse = await handler(request)
    if not answer.prepared:
        answer.headers["Cache-Control"] = "no-cache"
    return answer


async def _close_sockets(app: web.Application) -> None:
    """Open WebSockets would hold up the end of the server."""
    await app[WORKSPACE].sockets.close()
    await app[LIVE].close()


async def _parts(app: web.Application) -> AsyncIterator[None]:
    yield
    await app[WORKSPACE].close()


@dataclass
class Running:
    """A stand-in that listens; `close` ends it. `url` is on loopback, `own_url` for whoever it is opened to."""

    url: str
    own_url: str
    bot_token: str
    app_token: str
    signing_secret: str
    workspace: Workspace = field(repr=False)
    _runner: web.AppRunner = field(repr=False)

    @property
    def api_url(self) -> str:
        """What `SLACK_API_URL` must be."""
        return f"{self.url}/api/"

    async def close(self) -> None:
        """Stop listening and end every connection."""
        await self._runner.cleanup()


async def serve(
    *,
    host: str = "127.0.0.1",
    port: int,
    manifest_path: str | Path,
    state_path: str | Path | None = None,
    seed: int = 1,
    tour: Sequence[Step] = (),
    zone: str = "",
    options: Options | None = None,
    open_to: str = "",
    names: Collection[str] = (),
) -> Running:
    """Listen on loopback (port 0 finds a free one) until `close`.

    `options`, when given, replaces `seed`, `state_path`, `tour` and `zone`. `open_to` is an address at which other
    machines reach it too, and act as anybody; `0.0.0.0` is every address of this one. `names` are host
    names by which it may be called. Raises AddressError for one that is not a host name,
    OSError when the port is taken, ManifestError when the manifest cannot be read, ValueError for a `host` that is
    not loopback.
    """
    if host not in LOOPBACK:
        raise ValueError(f"the stand-in lets everyone act as anybody: it listens on loopback, not on {host}")
    path = None if state_path is None else str(state_path)
    names = checked_names(names)
    chosen = options or Options(seed=seed, state_path=path, tour=tour, zone=zone)
    app = build(
        chosen,
        clock=Clock(time.time),
        manifest=await asyncio.to_thread(manifest.load, Path(manifest_path)),
        rng=random.SystemRandom(),
        names=names,
    )
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=1.0)
    port = await listen(runner, host, port, open_to)
    workspace = app[WORKSPACE]
    workspace.own_url = f"http://{own_host(host, open_to, names)}:{port}"
    return Running(
        f"http://{own_host(host, '')}:{port}",
        workspace.own_url,
        workspace.bot_token,
        workspace.app_token,
        workspace.signing_secret,
        workspace,
        runner,
    )
