"""The bot's own web server: the partner's deliveries, health for machines, Slack's requests in HTTP mode.

It knows neither Slack nor the database: what to check, who takes deliveries and who answers Slack is
handed in by `bot.entrances`.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from aiohttp import http, web, web_response

from bot.partner.webhooks import MOST_BYTES, DeliveryRefused, TooLarge
from bot.web.connections import Door, Limits, Site
from storage.errors import FOR_EVERYBODY, DatabaseFault

#: None when all is well, else a sentence saying what is not.
Check = Callable[[], Awaitable[str | None]]
#: Answers one of Slack's requests; verifies its signature itself.
SlackEvents = Callable[[web.Request], Awaitable[web.StreamResponse]]
#: Stores the event of a delivery (program, raw body, headers), or raises `DeliveryRefused`.
Receive = Callable[[str, bytes, Mapping[str, str]], Awaitable[bool]]
#: Adds addresses of its own to the application.
AddTo = Callable[[web.Application], None]

# A probe that waits longer than its own interval is as good as a failing one.
CHECK_TIMEOUT_S = 2.0
#: Of a check that asks the database, while that is away: the check of the database itself says why.
NOT_READ = "Not known: the database cannot be read."
# Slack's largest payload (a view_submission of a full modal) stays far below this.
LARGEST_BODY_BYTES = 1024 * 1024
# What a delivery may take to come in whole, of the 8 seconds the card provider gives all of it.
READ_TIMEOUT_S = 5.0
# What is refused while its body still comes in is read away for so long, so that the answer arrives.
LINGERS_S = 2.0
# How long a connection may stand idle between two requests: proxies keep theirs for about a minute.
IDLE_S = 75.0
_NEW, _KNOWN = b'{"stored": true, "new": true}', b'{"stored": true, "new": false}'

_DOOR = web.AppKey("door", Door)
# What aiohttp says of itself in each answer, those included that no application sees.
vars(web_response)["SERVER_SOFTWARE"] = "countersign"

log = logging.getLogger("countersign.web")


class _Below(logging.Logger):
    """What aiohttp has to say below our application: of what is no HTTP nothing, as strangers could fill the log."""

    def exception(self, msg: object, *args: object, exc_info: Any = None, **more: Any) -> None:
        if not isinstance(exc_info, http.HttpProcessingError):
            log.error("web.server_failed", extra={"error": str(msg) % args}, exc_info=exc_info)


_BELOW = _Below("countersign.web.below", logging.WARNING)


@dataclass(frozen=True, slots=True)
class Server:
    """A listening web server."""

    host: str
    port: int
    _runner: web.AppRunner

    @property
    def url(self) -> str:
        """The address it answers at."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}"

    async def stop(self) -> None:
        """Stop listening; requests under way get a moment to end."""
        await self._runner.cleanup()


def application(limits: Limits | None = None, now_s: Callable[[], float] = time.monotonic) -> web.Application:
    """One without addresses yet, whose callers are counted and whose errors say nothing of our insides."""
    app = web.Application(client_max_size=LARGEST_BODY_BYTES, middlewares=[_plain_answers, _at_the_door])
    app[_DOOR] = Door(limits or Limits(), now_s)
    return app


def build(
    checks: Mapping[str, Check],
    *,
    slack_events: SlackEvents | None = None,
    receive: Receive | None = None,
    more: Sequence[AddTo] = (),
    limits: Limits | None = None,
    now_s: Callable[[], float] = time.monotonic,
) -> web.Application:
    """The application: GET /healthz and /readyz, POST /webhooks/{program}, POST /slack/events when Slack
    posts to us, and what each of `more` adds. What `/readyz` found is for this machine alone."""
    app = application(limits, now_s)
    door = app[_DOOR]
    under_way: dict[str, asyncio.Task[str | None]] = {}

    async def look(name: str) -> str | None:
        """Everybody who asks meanwhile shares one check: anybody may ask, and a check takes a look at something."""
        if name not in under_way:
            under_way[name] = asyncio.create_task(_ask(checks[name]))
            under_way[name].add_done_callback(lambda _: under_way.pop(name))
        return await asyncio.shield(under_way[name])

    async def healthz(_request: web.Request) -> web.Response:
        return web.json_response({"ok": True})

    async def readyz(request: web.Request) -> web.Response:
        only = list(dict.fromkeys(name for name in request.query.get("only", "").split(",") if name))
        if unknown := [name for name in only if name not in checks]:
            return web.json_response({"error": f"Unknown checks: {', '.join(unknown)}"}, status=400)
        names = only or list(checks)
        answers = await asyncio.gather(*(look(name) for name in names))
        wrong = {name: answer for name, answer in zip(names, answers, strict=True) if answer}
        body: dict[str, object] = {"ready": not wrong}
        if door.is_local(request):
            body["checks"] = {name: wrong.get(name, "ok") for name in names}
        return web.json_response(body, status=503 if wrong else 200)

    app.router.add_get("/healthz", healthz)
    app.router.add_get("/readyz", readyz)
    if receive is not None:
        app.router.add_post("/webhooks/{program}", _deliveries(receive))
    if slack_events is not None:
        app.router.add_post("/slack/events", _of_slack(slack_events))
    for add_to in more:
        add_to(app)
    return app


def _deliveries(receive: Receive) -> Callable[[web.Request], Awaitable[web.StreamResponse]]:
    """200 once the event is stored; else 4xx with nothing stored, and the reason for whoever debugs it."""

    async def answer(request: web.Request) -> web.Response:
        try:
            raw = await _body(request)
            is_new = await receive(request.match_info["program"], raw, request.headers)
        except TimeoutError:
            return _refused(408, f"the body did not come within {READ_TIMEOUT_S:g} s")
        except DeliveryRefused as refusal:
            return _refused(refusal.status, str(refusal))
        door = request.app[_DOOR]
        door.delivered(door.client_of(request))
        return web.Response(body=_NEW if is_new else _KNOWN, content_type="application/json")

    return answer


def _of_slack(answer: SlackEvents) -> SlackEvents:
    """As it is answered; what is taken was signed by Slack."""

    async def answered(request: web.Request) -> web.StreamResponse:
        response = await answer(request)
        if response.status < 400:
            door = request.app[_DOOR]
            door.delivered(door.client_of(request))
        return response

    return answered


async def _body(request: web.Request) -> bytes:
    """The body as it came, read no further than an event can be long. Raises TooLarge and TimeoutError."""
    if (request.content_length or 0) > MOST_BYTES:
        raise TooLarge(f"more than {MOST_BYTES} bytes")
    raw = bytearray()
    if request.content.is_eof():  # nearly always: it came with its head, and needs no timer
        raw += request.content.read_nowait()
    else:
        async with asyncio.timeout(READ_TIMEOUT_S):
            while len(raw) <= MOST_BYTES and (chunk := await request.content.readany()):
                raw += chunk
    if len(raw) > MOST_BYTES:
        raise TooLarge(f"more than {MOST_BYTES} bytes")
    return bytes(raw)


def _refused(status: int, why: str) -> web.Response:
    """Closes the connection, as the rest of the body may never come."""
    response = web.json_response({"error": why}, status=status)
    response.force_close()
    return response


async def serve(app: web.Application, *, host: str, port: int) -> Server:
    """Listen; port 0 picks a free one. Raises OSError when the address is taken."""
    # Bodies are taken as they come: signatures are over these bytes, and a compressed one could be a bomb.
    runner = web.AppRunner(
        app,
        access_log=None,
        handle_signals=False,
        shutdown_timeout=3.0,
        auto_decompress=False,
        lingering_time=LINGERS_S,
        keepalive_timeout=IDLE_S,
        logger=_BELOW,
    )
    await runner.setup()
    try:
        await Site(runner, host, port, app[_DOOR]).start()
    except OSError:
        await runner.cleanup()
        raise
    return Server(host, runner.addresses[0][1], runner)


@web.middleware
async def _at_the_door(
    request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
) -> web.StreamResponse:
    """429 for an address that was refused too often, before its request costs anything; else its refusals count."""
    door = request.app[_DOOR]
    client = door.client_of(request)
    if door.is_barred(client):
        return _refused(429, "too many refused requests from this address; try again in a minute")
    if not door.begin(request, client):
        return _refused(429, "too many requests of this address at once")
    try:
        response = await handler(request)
    except web.HTTPClientError:
        door.refused(client)
        raise
    finally:
        door.end(request, client)
    if 400 <= response.status < 500:
        door.refused(client)
    return response


async def _ask(check: Check) -> str | None:
    """The check's sentence; a check that fails or hangs is itself the reason."""
    try:
        async with asyncio.timeout(CHECK_TIMEOUT_S):
            return await check()
    except TimeoutError:
        return f"no answer within {CHECK_TIMEOUT_S:g} seconds"
    except DatabaseFault as error:
        log.warning("web.check_failed", extra={"error": str(error)})
        return NOT_READ
    except Exception as error:  # noqa: BLE001 - whatever is wrong is what the probe has to report
        log.warning("web.check_failed", extra={"error": str(error)})
        return f"failed: {type(error).__name__}"


@web.middleware
async def _plain_answers(
    request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
) -> web.StreamResponse:
    """Errors in JSON without a word about our insides; nothing cached, sniffed or referred to by anyone."""
    try:
        response = await handler(request)
    except web.HTTPException as error:
        response = web.json_response({"error": error.reason}, status=error.status)
        if "Allow" in error.headers:
            response.headers["Allow"] = error.headers["Allow"]
    except FOR_EVERYBODY as error:
        log.exception("web.request_failed", extra={"path": request.path})
        response = web.json_response({"error": str(error), "reason": error.reason}, status=503)
    except Exception:
        log.exception("web.request_failed", extra={"path": request.path})
        response = web.json_response({"error": "Internal error"}, status=500)
    response.headers["Cache-Control"] = "no-store"
    response.headers["X-Content-Type-Options"] = "nosniff"
    response.headers["Referrer-Policy"] = "no-referrer"
    return response
