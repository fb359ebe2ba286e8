"""The network between the bot, the API and Slack, in process: delays, losses, doubles and late arrivals by the seed.

A call travels in a task of the world, so it arrives although the process that sent it is killed meanwhile.
"""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote, urlsplit

import httpx
from aiohttp import ClientConnectionError, ServerDisconnectedError

from sandbox.partner import http
from tests.simulation.loop import OWNER, Owner, SimulatedLoop

Json = dict[str, Any]
API, SLACK = "the API", "Slack"
RECEIVER, RELAY = "the receiver", "the other system"
# Of the network: what may happen to one call.
EFFECTS = ("refused", "lost", "answer lost", "no answer", "late", "doubled", "slow")


# What the SDK gives its sessions.
SLACK_TIMEOUT_S = 30.0
# An answer that has not come by then is one of those that take long, or never come.
ANSWERED_WITHIN_S = 3.0


class Unreachable(Exception):
    """No connection: nothing was sent."""


class CutOff(Exception):
    """The connection broke; whether the call arrived nobody knows."""


@dataclass
class Trouble:
    """What goes wrong with calls to `side` whose name contains `what`: the next `times`, or until `ends` seconds."""

    side: str
    effect: str
    what: str = ""
    times: int = 1
    ends: float | None = None
    seconds: float = 0.0
    began: float = 0.0


@dataclass
class Call:
    """One call as the network saw it, for the story and the checks."""

    at: float
    side: str
    what: str
    by: str
    effect: str = ""
    result: str = ""
    arrived: float | None = None
    returned: float | None = None  # when whoever sent it had the answer
    about: str = ""  # the requests it can be of


@dataclass
class Network:
    """Carries calls. `in_flight` holds who waits for an answer, and since when."""

    loop: SimulatedLoop
    world: Owner
    rng: random.Random
    troubles: list[Trouble] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    in_flight: dict[int, tuple[Owner | None, float]] = field(default_factory=dict)
    told: Callable[[Call], None] = lambda _call: None

    async def carry(
        self,
        side: str,
        what: str,
        arrive: Callable[[], Awaitable[Any]],
        shown: Callable[[Any], str],
        left: Callable[[Call], None] = lambda _call: None,
    ) -> Any:
        """The answer of `arrive`; `left` is told of the call at once. Raises Unreachable, CutOff."""
        trouble = self._take(side, what)
        effect = trouble.effect if trouble else ""
        owner = OWNER.get()
        call = Call(self.loop.time(), side, what, str(owner), effect)
        self.calls.append(call)
        left(call)
        if effect == "refused":
            await asyncio.sleep(self._delay())
            self.told(call)
            raise Unreachable
        answered: asyncio.Future[Any] = self.loop.create_future()
        self.loop.spawn(self.world, self._travel(call, trouble, arrive, shown, answered))
        self.in_flight[id(call)] = owner, call.at
        try:
            result = await answered
            call.returned = self.loop.time()
            return result
        finally:
            self.in_flight.pop(id(call), None)

    def rests_for(self) -> float:
        """By how many seconds the clock may jump without an answer that comes soon being late by it."""
        # A process that died waits for nothing any more.
        waiting = [since for owner, since in self.in_flight.values() if owner is None or owner.alive]
        if not waiting:
            return 1e9
        return 5.0 if max(waiting) < self.loop.time() - ANSWERED_WITHIN_S else 0.0

    async def _travel(
        self,
        call: Call,
        trouble: Trouble | None,
        arrive: Callable[[], Awaitable[Any]],
        shown: Callable[[Any], str],
        answered: asyncio.Future[Any],
    ) -> None:
        effect = call.effect
        await asyncio.sleep(self._delay())
        if effect == "lost":
            self.told(call)
            self._fail(answered)
            return
        if effect == "late" and trouble is not None:
            self._fail(answered)
            await asyncio.sleep(trouble.seconds)
        call.arrived = self.loop.time()
        try:
            result = await arrive()
        except (CutOff, Unreachable) as failure:
            call.result = type(failure).__name__
            self.told(call)
            self._fail(answered)
            return
        call.result = shown(result)
        self.told(call)
        if effect == "doubled":
            await asyncio.sleep(self._delay() * 20)
            await arrive()
        if effect == "answer lost":
            self._fail(answered)
            return
        if effect == "no answer":
            return
        if effect == "slow" and trouble is not None:
            await asyncio.sleep(trouble.seconds)
        await asyncio.sleep(self._delay())
        if not answered.done():
            answered.set_result(result)

    @staticmethod
    def _fail(answered: asyncio.Future[Any]) -> None:
        if not answered.done():
            answered.set_exception(CutOff())

    def _delay(self) -> float:
        """Milliseconds, sometimes a second: who comes first is not given."""
        return self.rng.choice((0.0, 0.002, 0.01, 0.03, 0.2)) if self.rng.random() < 0.95 else 1.3

    def _take(self, side: str, what: str) -> Trouble | None:
        now = self.loop.time()
        self.troubles = [t for t in self.troubles if (t.ends is None or t.ends > now) and t.times > 0]
        for trouble in self.troubles:
            if trouble.side == side and trouble.what in what:
                if trouble.ends is None:
                    trouble.times -= 1
                return trouble
        return None


class ApiTransport(httpx.AsyncBaseTransport):
    """Carries the bot's HTTP requests to the API's sandbox; `handle` answers one, `left` is told as each leaves."""

    def __init__(
        self,
        network: Network,
        handle: Callable[[http.Request], Awaitable[http.Answer]],
        left: Callable[[http.Request, Call], None],
    ) -> None:
        self._network = network
        self._handle = handle
        self._left = left

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        raw_path, _, query = request.url.raw_path.decode().partition("?")
        sent = http.Request(
            request.method, unquote(raw_path), query, tuple(request.headers.items()), request.content
        )

        async def arrive() -> http.Answer:
            answer = await self._handle(sent)
            if answer.wire is not http.Wire.ANSWER:
                raise CutOff
            return answer

        what = f"{sent.method} {sent.path.partition('/v1')[2]}"
        try:
            answer = await self._network.carry(
                API, what, arrive, lambda a: str(a.status), lambda call: self._left(sent, call)
            )
        except Unreachable:
            raise httpx.ConnectError("simulated: no connection", request=request) from None
        except CutOff:
            raise httpx.ReadError("simulated: the connection broke", request=request) from None
        return httpx.Response(answer.status, headers=answer.headers, content=answer.body, request=request)


class SlackRequest:
    """What the stand-in's Web API reads of an aiohttp request."""

    def __init__(
        self,
        method: str,
        match_info: Mapping[str, str],
        headers: Mapping[str, str],
        body: tuple[str, Any],
        query: Json | None = None,
    ) -> None:
        self.method = method
        self.match_info = match_info
        self.headers = headers
        self.query: Json = query or {}
        self.content_type = body[0]
        self.charset = "utf-8"
        self.transport = self
        self.cut = False
        self._body = body[1]

    def abort(self) -> None:
        self.cut = True

    async def json(self) -> Any:
        return json.loads(self._body) if isinstance(self._body, str | bytes) else self._body

    async def post(self) -> Any:
        return self._body

    async def read(self) -> Any:
        return self._body


class SlackSession:
    """In place of the aiohttp session of the Slack SDK: `answer(request, path)` answers a call."""

    closed = False

    def __init__(self, network: Network, answer: Callable[[SlackRequest, str], Awaitable[Any]]) -> None:
        self._network = network
        self._answer = answer

    def request(self, method: str, url: str, **given: Any) -> SlackCall:
        return SlackCall(self._network, self._answer, method, url, given)

    async def close(self) -> None: ...


@contextmanager
def as_the_sdk_raises_it() -> Iterator[None]:
    """Slack's SDK lets the errors of its HTTP library through."""
    try:
        yield
    except Unreachable:
        raise ClientConnectionError("simulated: no connection") from None
    except CutOff:
        raise ServerDisconnectedError("simulated: the connection broke") from None


class SlackCall:
    """`async with session.request(...)`, and the answer read from it."""

    def __init__(self, network: Network, answer: Any, method: str, url: str, given: Json) -> None:
        self._network, self._answer = network, answer
        self._method, self._url, self._given = method, url, given
        self.status = 0
        self.headers: Mapping[str, str] = {}
        self.content_type = ""
        self._text = ""

    async def __aenter__(self) -> SlackCall:
        path = urlsplit(self._url).path
        name = path.rpartition("/")[2]
        sent = SlackRequest(
            self._method,
            {"method": name},
            self._given.get("headers") or {},
            _body_of(self._given),
            _form(self._given.get("params") or {}),
        )

        async def arrive() -> Any:
            answer = await self._answer(sent, path)
            if sent.cut:
                raise CutOff
            return answer

        with as_the_sdk_raises_it():
            async with asyncio.timeout(SLACK_TIMEOUT_S):
                answer = await self._network.carry(SLACK, name, arrive, _shown)
        self.status, self.headers = answer.status, answer.headers
        self.content_type, self._text = answer.content_type, answer.text or ""
        return self

    async def __aexit__(self, *_error: object) -> None: ...

    async def json(self) -> Any:
        return json.loads(self._text)

    async def text(self) -> str:
        return self._text

    async def read(self) -> bytes:
        return self._text.encode()


def _shown(answer: Any) -> str:
    if answer.status != 200:
        return str(answer.status)
    if answer.text is not None and answer.text.startswith('{"ok": true'):
        return "ok"
    found = json.loads(answer.text) if answer.content_type == "application/json" else {}
    return "ok" if found.get("ok", True) else str(found.get("error"))


def _body_of(given: Json) -> tuple[str, Any]:
    """Content type and content of what the SDK would send, as plain values."""
    if given.get("json") is not None:
        return "application/json", json.dumps(given["json"])
    values = given.get("data")
    if isinstance(values, bytes | str):
        return "application/octet-stream", values
    return "application/x-www-form-urlencoded", _form(values or {})


def _form(values: Json) -> Json:
    return {name: _text(value) for name, value in values.items() if value is not None}


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "1" if value else "0"
    return (
        value
        if isinstance(value, str)
        else json.dumps(value)
        if isinstance(value, dict | list)
        else str(value)
    )
