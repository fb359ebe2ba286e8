"""Whatever a stranger sends to any address of the running bot, no answer and no line of the log is an error of ours."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import chain, product
from typing import Any
from urllib.parse import urlsplit

import pytest
from aiohttp.web import Application

from bot import web
from bot.metrics import server as metrics_server
from bot.web.connections import Limits
from tests.integration.surroundings import Surroundings

#: At a time: fewer than the server holds.
AT_ONCE = 20
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT", "PROPFIND")
NOW = str(int(time.time())).encode()
#: So that an address which is not walked is noticed.
PATHS = {
    "/healthz",
    "/readyz",
    "/details",
    "/passkey",
    "/passkey/open",
    "/passkey/finish",
    "/slack/events",
    "/webhooks/{program}",
}
JSON, FORM = b"application/json", b"application/x-www-form-urlencoded"
#: Of an address: after it, or in the place of its variable.
QUERIES = (
    *(b"", b"?", b"?as=text", b"?as=%ff%00%ud8", b"?only=slack,%00,%ed%a0%80", b"?only=" + b"x," * 900),
    *(b"?%", b"?a[]=1&&=&a", b"?token=\xed\xa0\x80", b"?x=" + b"9" * 6000, b"//..%2f..%2f", b"?#?"),
)
PLACES = (
    b"main",
    b"%00",
    b"%ed%a0%80",
    b"%ff",
    b"..%2f..%2fetc",
    b"main%0d%0ax:%20y",
    b"x" * 5000,
    b"'--",
    b"$",
)
HEADERS: tuple[dict[bytes, bytes], ...] = (
    {},
    {b"X-Forwarded-For": b"203.0.113.7, \xff, ::ffff:1.2.3.4, fe80::1%eth0, 1.2.3.4.5, "},
    {b"X-Forwarded-For": b"fe80::1%\xff"},
    {b"X-Forwarded-For": b"2001:db8::1%25eth0"},
    {b"X-Forwarded-For": b"," * 4000},
    {b"Forwarded": b'for="[::1"', b"X-Real-IP": b"\xff", b"Via": b""},
    *(
        {b"X-Slack-Request-Timestamp": at, b"X-Slack-Signature": signature}
        for at in (b"abc", b"nan", b"1e999", b"", b"-1", b"9" * 400, b"\xef\xbc\x91", b"\xff", NOW)
        for signature in (b"", b"v0=" + b"0" * 64, b"v0=\xff", b"v1=" + b"f" * 64)
    ),
    *(
        {b"X-Svc-Timestamp": at, b"X-Svc-Signature": signature, b"X-Svc-Event": b"\xff"}
        for at in (b"abc", b"nan", b"", b"9" * 400, b"\xff", NOW)
        for signature in (b"", b"0" * 64, b"\xff")
    ),
    *(
        {b"Content-Type": kind}
        for kind in (b"", b"\xff", b"application/json; charset=\xff", b"a/b;;;=", b"/")
    ),
    *({b"Content-Type": JSON, b"Content-Encoding": how} for how in (b"gzip", b"br", b"deflate", b"\xff")),
    {b"Content-Type": b"multipart/form-data; boundary=\xff"},
    {b"Expect": b"200-maybe"},
    {b"Range": b"bytes=-1-", b"If-Modified-Since": b"\xff", b"If-None-Match": b"\xff"},
    {
        b"Cookie": b"\xff=\x01;;" * 100,
        b"Authorization": b"Basic \xff",
        b"Origin": b"\xff",
        b"Accept": b"\xff",
    },
    {b"Upgrade": b"websocket", b"Connection": b"Upgrade", b"Sec-WebSocket-Key": b"\xff"},
    {b"X-A": b"a" * 7000},
)
_TEXTS = (
    r'"\ud800"', r'"\udfff\ud800"', '""', '"é"', '"\x00"', r'"\u0000"', "1", "null", "true", "[]", "{}", "1e999", "NaN",
    "-Infinity", "9" * 5000, '"' + "x" * 20_000 + '"', "[" * 20_000, '{"a":' * 4000,
)  # fmt: skip
BODIES: tuple[tuple[bytes, bytes], ...] = (
    *((JSON, text.encode()) for text in _TEXTS),
    *((JSON, f'{{"token": {text}}}'.encode()) for text in _TEXTS),
    *((JSON, f'{{"token": "{"t" * 43}", "as": {text}}}'.encode()) for text in _TEXTS),
    *((JSON, f'{{"token": "{"t" * 43}", "answer": {text}}}'.encode()) for text in _TEXTS),
    *((JSON, f'{{"token": "{"t" * 43}", "answer": {{"id": {text}}}}}'.encode()) for text in _TEXTS),
    *((JSON, f'{{{text}: 1, "token": 1, "token": 2}}'.encode()) for text in _TEXTS),
    *((JSON, body) for body in (b"\xff", b"{", b"\xef\xbb\xbf{}", '{"token": "t"}'.encode("utf-16"), b"\x1f\x8b\x08")),
    *((FORM, body) for body in (b"payload={x", b"payload=%ff", b"payload=%ed%a0%80", b"ssl_check=1", b"=&=&;", b"%")),
    *((FORM, b"command=/card&text=" + text.encode()) for text in _TEXTS[:6]),
    *((b"text/plain", body) for body in (b'{"token": "t"}', b"\x00" * 70_000, b"x" * 1_100_000)),
)  # fmt: skip


def request(method: str, address: bytes, head: Mapping[bytes, bytes], kind: bytes, body: bytes) -> bytes:
    lines = {b"Host": b"x", b"Content-Length": b"%d" % len(body), b"Content-Type": kind, **head}
    fields = b"".join(b"%s: %s\r\n" % pair for pair in lines.items())
    return b"%s %s HTTP/1.1\r\n%sConnection: close\r\n\r\n%s" % (method.encode(), address, fields, body)


def requests(address: bytes, method: str) -> Iterator[bytes]:
    """The requests of one method to one address: every query, head and body, and pairs of heads and bodies."""
    bodies = BODIES if method == "POST" else BODIES[::9]  # a GET reads none
    of_now = [head for head in HEADERS if any(NOW in value for value in head.values())]
    for head, (kind, body) in chain(
        product(HEADERS, BODIES[:1]), product([{}], bodies), product(of_now, BODIES[::9])
    ):
        yield request(method, address, head, kind, body)
    for query in QUERIES:
        yield request(method, address + query, {}, *BODIES[0])


#: What is not even a request, or not the whole of one.
RUBBISH = (
    b"\x00\x01\r\n\r\n",
    b"GET\r\n\r\n",
    b"GET /details HTTP/9.9\r\n\r\n",
    b"GET /details HTTP/1.1\r\nHost\r\n\r\n",
    b"GET http://[::1/details HTTP/1.1\r\nHost: x\r\n\r\n",
    b"GET //[ HTTP/1.1\r\nHost: x\r\n\r\n",
    b"GET \xff\xed\xa0\x80 HTTP/1.1\r\nHost: x\r\n\r\n",
    b"POST /details HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
    b"POST /details HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999999\r\n\r\n",
    b"POST /details HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx",
    b"POST /passkey/open HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
    b"Transfer-Encoding: chunked\r\n\r\nZZ\r\n{}\r\n0\r\n\r\n",
    b"POST /details HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
    b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\nffffffffffffffffff\r\n",
    b"POST /webhooks/main HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n",
    b"POST /details HTTP/1.1\r\nHost: x\r\nContent-Encoding: gzip\r\nContent-Type: application/json\r\n"
    b"Content-Length: 2\r\n\r\n{}",
    *(b"GET /details HTTP/1.1\r\nHost: x\r\n" + b"X-%d: 1\r\n" % n * 1000 + b"\r\n" for n in range(2)),
)


async def status(port: int, sent: bytes) -> int:
    """What the server answers; 0 where it closes without an answer."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        async with asyncio.timeout(20):
            try:
                writer.write(sent)
                line = await reader.readline()
                while line.startswith(b"HTTP/1.1 100"):  # it waits for the body, which is there
                    await reader.readline()
                    line = await reader.readline()
            except ConnectionError:
                return 0
        return int(line.split()[1]) if line else 0
    finally:
        writer.close()


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> list[Application]:
    """The applications of the bot that starts, by whose addresses a new one is found; nobody is limited there."""
    made: list[Application] = []
    build, application = web.build, web.application
    no_limits = Limits(refusals=10**9, connections=10**6, of_one_address=10**6)

    def built(*checks: Any, limits: Limits, **more: Any) -> Application:
        unlimited = Limits(refusals=10**9, connections=10**6, of_one_address=10**6, proxies=limits.proxies)
        made.append(build(*checks, limits=unlimited, **more))
        return made[-1]

    def plain() -> Application:
        made.append(application(no_limits))
        return made[-1]

    monkeypatch.setattr(web, "build", built)
    monkeypatch.setattr(metrics_server, "application", plain)
    return made


def addresses(app: Application) -> set[tuple[str, str]]:
    """Method and path of all that the application answers."""
    return {(route.method, route.resource.canonical) for route in app.router.routes() if route.resource}


def walked(app: Application) -> Iterator[bytes]:
    """Everything to each address by the methods that it takes, and a little by all others and to no address."""
    known = addresses(app)
    for method, path in sorted(pair for pair in known if pair[0] != "HEAD"):
        yield from requests(path.replace("{program}", "main").encode(), method)
    paths = sorted({path.encode() for _, path in known})
    some = {path.replace(b"{program}", place) for path in paths for place in PLACES}
    for place, method in product(sorted({*some, b"/", b"/nowhere", b"*", b"nowhere"}), METHODS):
        yield request(method, place, {}, *BODIES[0])
        yield request(method, place, HEADERS[1], JSON, b"\xff")
    yield from RUBBISH


@pytest.mark.parametrize("proxies", ["", "127.0.0.0/8"], ids=["direct", "behind a proxy"])
async def test_no_answer_to_a_stranger_is_an_error_of_ours(
    around: Surroundings, served: list[Application], caplog: pytest.LogCaptureFixture, proxies: str
) -> None:
    running = await around.start(COUNTERSIGN_PROXIES=proxies)
    turn, wrong, answers = asyncio.Semaphore(AT_ONCE), list[tuple[int, bytes]](), Counter[int]()

    async def send(port: int, one: bytes) -> None:
        async with turn:
            said = await status(port, one)
        answers[said] += 1
        if said >= 500 and not one.split(b" ")[1].startswith(b"/readyz"):
            wrong.append((said, one[:300]))

    try:
        bot, scraped = served
        ports = [urlsplit(running.url).port, int(around.env["COUNTERSIGN_METRICS_BIND"].rpartition(":")[2])]
        sent = [(port, one) for app, port in zip(served, ports, strict=True) for one in walked(app) if port]
        if proxies:
            sent = [(port, one) for port, one in sent if b"Forward" in one]
        with caplog.at_level(logging.INFO):
            await asyncio.gather(*(send(port, one) for port, one in sent))
    finally:
        await running.stop()

    assert wrong == []
    assert [record.name for record in caplog.records if record.exc_info] == []
    assert {path for _, path in addresses(bot)} == PATHS
    assert {path for _, path in addresses(scraped)} == {"/metrics"}
    assert {200, 400, 401, 404, 405} <= set(answers)
