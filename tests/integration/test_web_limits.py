"""What one stranger may hold of the web server, over real connections: time, connections and refusals."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import ipaddress
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

import aiohttp
import pytest

from bot import details, passkey_page, slack_connection, web
from bot.config import Settings, SettingsError
from bot.partner.webhooks import NotGenuine
from bot.slack_connection import bolt_app, client, http_events
from bot.web import Server, build, serve
from bot.web.connections import Door, Limits, _Connection

SECRET = "0123456789abcdef0123456789abcdef"
SOON = Limits(whole_within_s=0.2)


class Receiver:
    """Takes what says `good`; counts how often a signature would have been computed."""

    def __init__(self) -> None:
        self.looked_at = 0

    async def __call__(self, _program: str, raw: bytes, _headers: Mapping[str, str]) -> bool:
        self.looked_at += 1
        if raw != b"good":
            raise NotGenuine("not signed")
        return True


@asynccontextmanager
async def running(
    receiver: Receiver | None = None, limits: Limits | None = None, **more: object
) -> AsyncIterator[Server]:
    app = build({}, receive=receiver or Receiver(), limits=limits, **more)  # type: ignore[arg-type]
    server = await serve(app, host="127.0.0.1", port=0)
    try:
        yield server
    finally:
        await server.stop()


async def _sent(server: Server, data: bytes) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    writer.write(data)
    await writer.drain()
    return reader, writer


async def _is_let_go(reader: asyncio.StreamReader, within_s: float) -> bool:
    try:
        async with asyncio.timeout(within_s):
            while await reader.read(1000):
                pass
    except TimeoutError:
        return False
    except ConnectionError:
        pass
    return True


@pytest.mark.parametrize(
    "begun",
    [
        b"",
        b"GET /healthz HT",
        b"GET /healthz HTTP/1.1\r\nHost: x\r\nX-A: ",
    ],
    ids=["nothing", "a line", "a header"],
)
async def test_an_unfinished_head_is_let_go(begun: bytes) -> None:
    async with running(limits=SOON) as server:
        reader, writer = await _sent(server, begun)
        try:
            assert await _is_let_go(reader, 2.0)
        finally:
            writer.close()


async def test_an_unfinished_head_after_an_answer_is_let_go_and_an_idle_connection_is_not() -> None:
    async with running(limits=SOON) as server:
        reader, writer = await _sent(server, b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
        assert b"200" in await reader.readuntil(b'{"ok": true}')
        assert not await _is_let_go(reader, 0.5)
        writer.write(b"GET /healthz HTTP/1.1\r\nX-A: ")
        try:
            assert await _is_let_go(reader, 2.0)
        finally:
            writer.close()


@pytest.mark.parametrize("before", [1, 2])
@pytest.mark.parametrize(
    "whole",
    [
        b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n",
        b"POST /webhooks/main HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\ngood",
    ],
    ids=["no body", "a body"],
)
@pytest.mark.parametrize("begun", [b"G", b"GET /healthz HTT", b"GET /healthz HTTP/1.1\r\nHost: x\r\nX-A: "])
@pytest.mark.parametrize("at_once", [True, False])
async def test_an_unfinished_head_behind_whole_requests_is_let_go(
    begun: bytes, whole: bytes, before: int, at_once: bool
) -> None:
    async with running(limits=SOON) as server:
        reader, writer = await _sent(server, whole * before + (begun if at_once else b""))
        if not at_once:
            writer.write(begun)
            await writer.drain()

        assert await _is_let_go(reader, within_s=3)
        writer.close()


async def test_a_head_that_drips_gets_no_more_time_by_it() -> None:
    async with running(limits=SOON) as server:
        reader, writer = await _sent(server, b"GET /healthz HTTP/1.1\r\n")
        begun = time.monotonic()
        try:
            for n in range(40):
                writer.write(f"X-{n}: 1\r\n".encode())
                await asyncio.sleep(0.05)
                if reader.at_eof() or writer.transport.is_closing():
                    break
            assert time.monotonic() - begun < 1.5
        finally:
            writer.close()


def test_production_gives_ten_seconds_200_connections_and_100_refusals() -> None:
    limits = Limits()

    assert (limits.whole_within_s, limits.connections, limits.of_one_address) == (10.0, 200, 20)
    assert (limits.refusals, limits.in_the_last_s) == (100, 60.0)


def test_a_body_that_does_not_come_is_let_go_within_the_same_ten_seconds() -> None:
    """Its time, and then that in which the rest of it would be read away."""
    pages = (details._READ_TIMEOUT_S, passkey_page._READ_TIMEOUT_S, web.READ_TIMEOUT_S)

    assert max(slack_connection.BODY_WITHIN_S, *pages) + web.LINGERS_S <= Limits().whole_within_s


async def test_of_many_connections_only_so_many_are_held_and_one_that_goes_makes_room() -> None:
    async with running(limits=Limits(connections=3)) as server:
        held = [await _sent(server, b"") for _ in range(3)]
        reader, writer = await _sent(server, b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
        assert b"503" in await reader.readline()
        writer.close()

        held.pop()[1].close()
        await asyncio.sleep(0.05)
        async with aiohttp.ClientSession() as session, session.get(f"{server.url}/healthz") as answer:
            assert answer.status == 200
        for _, one in held:
            one.close()


def test_an_address_other_than_loopback_and_a_proxy_holds_20_connections() -> None:
    door = Door(Limits(proxies=(ipaddress.ip_network("10.0.0.0/24"),)), time.monotonic)

    def let_in(address: str) -> int:
        return sum(door.enter(_Connection(None, door), address) for _ in range(30))

    assert let_in("203.0.113.7") == 20
    assert let_in("203.0.113.8") == 20
    assert let_in("127.0.0.1") == 30
    assert let_in("10.0.0.9") == 30


async def test_after_100_refused_requests_an_address_gets_429_before_anything_is_computed() -> None:
    receiver, clock = Receiver(), [0.0]
    async with (
        running(receiver, now_s=lambda: clock[0]) as server,
        aiohttp.ClientSession(server.url) as session,
    ):
        for _ in range(100):
            async with session.post("/webhooks/main", data=b"bad") as answer:
                assert answer.status == 401
        async with session.post("/webhooks/main", data=b"bad") as answer:
            assert answer.status == 429
        assert receiver.looked_at == 100

        clock[0] = 61.0
        async with session.post("/webhooks/main", data=b"good") as answer:
            assert answer.status == 200


def test_the_addresses_that_one_household_is_given_count_as_one() -> None:
    """Of IPv6 that is a network of 2⁶⁴ addresses; an IPv4 address may be written as one of IPv6."""
    door = Door(Limits(refusals=10), time.monotonic)

    let_in = [door.enter(_Connection(None, door), f"2001:db8:7:1::{n:x}") for n in range(30)]
    for n in range(10):
        door.refused(f"2001:db8:7:1::{n:x}")
        door.refused(f"::ffff:203.0.113.{7}" if n % 2 else "203.0.113.7")

    assert sum(let_in) == 20
    assert door.enter(_Connection(None, door), "2001:db8:7:2::1")
    assert [door.is_barred(one) for one in ("2001:db8:7:1:ffff::1", "2001:db8:7:2::1")] == [True, False]
    assert [door.is_barred(one) for one in ("203.0.113.7", "::ffff:203.0.113.7", "203.0.113.8")] == [
        True,
        True,
        False,
    ]


async def test_whose_deliveries_were_genuine_is_not_limited_by_what_strangers_send_from_the_same_address() -> (
    None
):
    receiver, now_s = Receiver(), [0.0]
    async with running(receiver, now_s=lambda: now_s[0]) as server, aiohttp.ClientSession(server.url) as http:

        async def status(body: bytes) -> int:
            async with http.post("/webhooks/main", data=body) as answer:
                return answer.status

        assert await status(b"good") == 200
        for _ in range(3):
            assert {await status(b"forged") for _ in range(150)} == {401}
            assert {await status(b"good") for _ in range(50)} == {200}
            now_s[0] += 1
        assert {await status(b"forged") for _ in range(300)} == {401}
        computed = receiver.looked_at
        assert await status(b"forged") == 429, "300 a second, and no signature is looked at any more"
        assert receiver.looked_at == computed
        now_s[0] += 1.1
        assert await status(b"good") == 200
        now_s[0] += 24 * 3600
        assert [await status(b"forged") for _ in range(101)][-1] == 429


async def test_what_anybody_may_ask_makes_no_address_one_that_delivers() -> None:
    async with running() as server, aiohttp.ClientSession(server.url) as http:
        async with http.get("/healthz") as answer:
            assert answer.status == 200
        for _ in range(100):
            async with http.post("/webhooks/main", data=b"forged") as answer:
                assert answer.status == 401
        async with http.post("/webhooks/main", data=b"good") as answer:
            assert answer.status == 429


async def test_genuine_deliveries_are_never_limited() -> None:
    receiver = Receiver()
    async with running(receiver) as server, aiohttp.ClientSession(server.url) as session:

        async def deliver() -> int:
            async with session.post("/webhooks/main", data=b"good") as answer:
                return answer.status

        for _ in range(6):
            assert set(await asyncio.gather(*(deliver() for _ in range(50)))) == {200}
    assert receiver.looked_at == 300


@pytest.mark.parametrize("is_named", [True, False], ids=["a named proxy", "anybody"])
async def test_of_a_named_proxy_alone_the_clients_address_is_believed(is_named: bool) -> None:
    proxies = (ipaddress.ip_network("127.0.0.0/8"),) if is_named else ()
    async with (
        running(limits=Limits(proxies=proxies)) as server,
        aiohttp.ClientSession(server.url) as session,
    ):

        async def status(client: str, body: bytes) -> int:
            headers = {"X-Forwarded-For": f"198.51.100.99, {client}"}
            async with session.post("/webhooks/main", data=body, headers=headers) as answer:
                return answer.status

        for _ in range(100):
            await status("203.0.113.7", b"bad")

        assert await status("203.0.113.7", b"good") == 429
        assert await status("203.0.113.8", b"good") == (200 if is_named else 429)


@pytest.mark.parametrize(
    "lines",
    [
        ("198.51.100.{}", "203.0.113.7"),
        ("198.51.100.{}, 203.0.113.7",),
        ("198.51.100.{}", "198.51.100.99, 203.0.113.7:4711"),
        ("203.0.113.7:{}",),
        ("198.51.100.{}, [2001:db8::7]:4711",),
    ],
)
async def test_whatever_a_client_writes_above_it_what_the_proxy_says_counts(lines: tuple[str, ...]) -> None:
    """A proxy adds a line of its own, or to the line that is there; some write the port, too."""
    named = (ipaddress.ip_network("127.0.0.0/8"),)
    async with running(limits=Limits(proxies=named)) as server, aiohttp.ClientSession(server.url) as session:

        async def status(number: int, body: bytes, lines: tuple[str, ...] = lines) -> int:
            headers = [("X-Forwarded-For", line.format(number)) for line in lines]
            async with session.post("/webhooks/main", data=body, headers=headers) as answer:
                return answer.status

        for number in range(100):
            await status(number, b"bad")

        assert await status(100, b"good") == 429
        assert await status(7, b"good", ("198.51.100.{}:99",)) == 200


@pytest.mark.parametrize("last_hop", ["unknown", "", "_hidden", "198.51.100.4, unknown"])
async def test_a_proxy_that_does_not_say_for_whom_it_asks_goes_on_delivering(last_hop: str) -> None:
    named = (ipaddress.ip_network("127.0.0.0/8"),)
    async with running(limits=Limits(proxies=named)) as server, aiohttp.ClientSession(server.url) as session:

        async def status(body: bytes) -> int:
            headers = {"X-Forwarded-For": last_hop}
            async with session.post("/webhooks/main", data=body, headers=headers) as answer:
                return answer.status

        for _ in range(120):
            await status(b"bad")

        assert await status(b"good") == 200


async def test_who_asks_whether_it_is_ready_again_and_again_gets_one_look() -> None:
    looks = 0

    async def look() -> None:
        nonlocal looks
        looks += 1
        await asyncio.sleep(0.2)

    server = await serve(build({"database": look}), host="127.0.0.1", port=0)
    try:
        async with aiohttp.ClientSession(server.url) as session:

            async def ask() -> int:
                async with session.get("/readyz?only=" + ",".join(["database"] * 500)) as answer:
                    return answer.status

            assert set(await asyncio.gather(*(ask() for _ in range(20)))) == {200}
            assert looks == 1
            assert await ask() == 200
            assert looks == 2
    finally:
        await server.stop()


async def test_the_server_shows_no_version_also_where_no_application_answers() -> None:
    async with running() as server:
        for asked in (b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n", b"\x00\x01 nonsense\r\n\r\n"):
            reader, writer = await _sent(server, asked)
            head = (await reader.readuntil(b"\r\n\r\n")).lower()
            writer.close()
            assert b"aiohttp" not in head
            assert b"python" not in head


async def test_what_is_not_ready_is_shown_on_this_machine_alone() -> None:
    async def fault() -> str:
        return "the database is gone"

    server = await serve(build({"database": fault}), host="127.0.0.1", port=0)
    try:
        async with aiohttp.ClientSession(server.url) as session:
            async with session.get("/readyz") as answer:
                assert "gone" in await answer.text()
            async with session.get("/readyz", headers={"X-Forwarded-For": "203.0.113.7"}) as answer:
                assert answer.status == 503
                assert await answer.json() == {"ready": False}
    finally:
        await server.stop()


def _settings(**more: str) -> Settings:
    return Settings.from_env({"SLACK_BOT_TOKEN": "xoxb-1", "SLACK_SIGNING_SECRET": SECRET, **more})


@asynccontextmanager
async def slack_door() -> AsyncIterator[aiohttp.ClientSession]:
    """Bolt in HTTP mode behind the web server."""
    settings = _settings()
    app = build({}, slack_events=http_events(settings, bolt_app(settings, client(settings))))
    server = await serve(app, host="127.0.0.1", port=0)
    try:
        async with aiohttp.ClientSession(server.url) as session:
            yield session
    finally:
        await server.stop()


def _signed(body: bytes, stamp: str) -> dict[str, str]:
    mac = hmac.new(SECRET.encode(), b"v0:" + stamp.encode() + b":" + body, hashlib.sha256).hexdigest()
    return {"X-Slack-Request-Timestamp": stamp, "X-Slack-Signature": f"v0={mac}"}


@pytest.mark.parametrize("stamp", ["abc", "nan", "1e999", "", "-1", "9" * 400, "１２３", None], ids=repr)
async def test_a_request_with_a_strange_timestamp_is_401_and_no_error_of_ours(
    stamp: str | None, caplog: pytest.LogCaptureFixture
) -> None:
    headers = (
        {} if stamp is None else {"X-Slack-Request-Timestamp": stamp, "X-Slack-Signature": "v0=" + "0" * 64}
    )
    async with (
        slack_door() as session,
        session.post("/slack/events", data=b"payload={x", headers=headers) as answer,
    ):
        assert answer.status == 401
    assert "Traceback" not in caplog.text


async def test_an_unsigned_payload_is_401_whatever_it_holds(caplog: pytest.LogCaptureFixture) -> None:
    async with slack_door() as session:
        for body in (b"payload={x", b"payload=%ff", b"\x00", b"ssl_check=1", b"{}"):
            for headers in ({}, {**_signed(b"other", str(int(time.time())))}):
                async with session.post("/slack/events", data=body, headers=headers) as answer:
                    assert answer.status == 401, (body, headers)
    assert "Traceback" not in caplog.text


async def test_no_body_is_read_before_the_signatures_headers_are_there() -> None:
    settings = _settings()
    app = build({}, slack_events=http_events(settings, bolt_app(settings, client(settings))))
    server = await serve(app, host="127.0.0.1", port=0)
    try:
        head = b"POST /slack/events HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n"
        reader, writer = await _sent(server, head)
        async with asyncio.timeout(2):
            assert b" 401 " in await reader.readline()
        writer.close()
    finally:
        await server.stop()


async def test_a_signed_body_that_does_not_come_is_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.slack_connection.BODY_WITHIN_S", 0.1)
    settings = _settings()
    app = build({}, slack_events=http_events(settings, bolt_app(settings, client(settings))))
    server = await serve(app, host="127.0.0.1", port=0)
    try:
        lines = "".join(f"{name}: {value}\r\n" for name, value in _signed(b"", str(int(time.time()))).items())
        head = f"POST /slack/events HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n{lines}\r\n"
        reader, writer = await _sent(server, head.encode())
        async with asyncio.timeout(2):
            assert b" 408 " in await reader.readline()
        writer.close()
    finally:
        await server.stop()


@pytest.mark.parametrize("secret", ["x", "0123456789abcde"])
def test_a_short_signing_secret_is_refused(secret: str) -> None:
    with pytest.raises(SettingsError, match="fewer than 16 characters"):
        _settings(SLACK_SIGNING_SECRET=secret)


def test_proxies_are_addresses_and_networks() -> None:
    found = _settings(COUNTERSIGN_PROXIES="10.0.0.1, 2001:db8::/32").proxies

    assert [str(one) for one in found] == ["10.0.0.1/32", "2001:db8::/32"]
    with pytest.raises(SettingsError, match="not an IP address"):
        _settings(COUNTERSIGN_PROXIES="proxy.example.com")
