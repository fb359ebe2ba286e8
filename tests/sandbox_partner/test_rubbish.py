"""Rubbish on the wire: whatever arrives gets a 4xx or a closed connection, and harms nothing."""

import asyncio
import gzip
import json
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from sandbox.partner.server import Running
from tests.sandbox_partner.conftest import ORDER, Api, Hand

pytestmark = pytest.mark.by_turns(4)

BASE = "/api/partner/v1"


async def raw(simulator: Running, sent: bytes) -> bytes:
    """What comes back for these bytes, until the peer closes or half a second has passed."""
    parts = urlsplit(simulator.url)
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
    got = b""
    try:
        writer.write(sent)
        await writer.drain()
        async with asyncio.timeout(0.5):
            while chunk := await reader.read(65536):
                got += chunk
    except (TimeoutError, ConnectionError):
        pass
    finally:
        writer.close()
    return got


HOST = b"Host: 127.0.0.1\r\nConnection: close\r\n"
MALFORMED = [
    b"\x00\x01\x02\x03\r\n\r\n", b"HELLO\r\n\r\n", b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n" + HOST + b"\r\n",
    b"GET  /api/partner/v1/me HTTP/1.1\r\n" + HOST + b"\r\n", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    b"GET /api/partner/v1/me HTTP/1.1\r\nX-API-Key\r\n\r\n", b"G@T /api/partner/v1/me HTTP/1.1\r\n" + HOST + b"\r\n",
    b"POST /api/partner/v1/cards HTTP/1.1\r\nContent-Length: -5\r\n" + HOST + b"\r\n",
    b"POST /api/partner/v1/cards HTTP/1.1\r\nContent-Length: abc\r\n" + HOST + b"\r\n",
    b"POST /api/partner/v1/cards HTTP/1.1\r\nTransfer-Encoding: chunked\r\n" + HOST + b"\r\nzz\r\n\r\n",
    b"POST /api/partner/v1/cards HTTP/1.1\r\nContent-Length: 3\r\nContent-Length: 4\r\n" + HOST + b"\r\nabcd",
    b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\n" + HOST + b"\r\n",
    b"GET /api/partner/v1/me HTTP/1.1\r\nX-Big: " + b"a" * 100_000 + b"\r\n" + HOST + b"\r\n",
    b"GET /api/partner/v1/me HTTP/1.1\r\n" + b"X-Many: 1\r\n" * 5000 + HOST + b"\r\n",
    b"GET /api/partner/v1/\xff\xfe HTTP/1.1\r\n" + HOST + b"\r\n",
    b"GET /api/partner/v1/%ff%fe HTTP/1.1\r\n" + HOST + b"\r\n", b"GET /%zz%00%2e%2e/ HTTP/1.1\r\n" + HOST + b"\r\n",
    b"GET http://[::1 HTTP/1.1\r\n" + HOST + b"\r\n", b"OPTIONS * HTTP/1.1\r\n" + HOST + b"\r\n",
    b"GET /pan-exchange/%00%0a HTTP/1.1\r\n" + HOST + b"\r\n", b"GET /_control/%0a HTTP/1.1\r\n" + HOST + b"\r\n",
    b"CONNECT example.com:443 HTTP/1.1\r\n" + HOST + b"\r\n",
]  # fmt: skip


@pytest.mark.parametrize("sent", MALFORMED, ids=lambda sent: repr(sent[:40]))
async def test_malformed_http_gets_a_4xx_or_a_closed_connection(
    simulator: Running, api: Api, hand: Hand, sent: bytes
) -> None:
    before = await hand.state()
    got = await raw(simulator, sent)
    assert not got or got.split()[1].startswith(b"4"), got[:200]
    after = await hand.state()
    assert {**after, "clock": ""} == {**before, "clock": ""}
    assert (await api.get("/me")).status == 200


@pytest.mark.parametrize("path", ["/cards", "/webhook", "/_control"])
async def test_a_body_of_ten_megabytes_is_refused(
    simulator: Running, api: Api, hand: Hand, path: str
) -> None:
    """U72."""
    body = b'{"card_holder_name":"' + b"x" * 10_000_000 + b'"}'
    method, address = ("PUT" if path == "/webhook" else "POST"), path
    if path == "/_control":
        async with httpx.AsyncClient() as http:
            response = await http.post(simulator.control_url + "/float", content=body)
        assert response.status_code == 413
        assert "error" in response.json()
        return
    assert (await api.call(method, address, raw=body)).refusal == (400, "BAD_REQUEST")
    assert (await hand.state())["cards"] == []


def encoded(text: str) -> list[tuple[dict[str, str], bytes]]:
    plain = text.encode()
    return [
        ({}, text.encode("utf-16")), ({}, text.encode("utf-32")), ({}, b"\xef\xbb\xbf" + plain), ({}, plain[:-1]),
        ({}, plain + b"}"), ({}, plain.replace(b"Ada", b"A\xe4a")), ({}, b"--" + plain),
        ({}, b"card_holder_name=Ada&phone=1"),
        ({"Content-Encoding": "gzip"}, b"not gzip"), ({"Content-Encoding": "gzip"}, gzip.compress(plain)[:20]),
        ({"Content-Encoding": "deflate"}, b"\x00\x01"), ({"Content-Encoding": "br"}, plain),
        ({"Content-Encoding": "gzip"}, gzip.compress(b"x" * 5_000_000)),
    ]  # fmt: skip


@pytest.mark.parametrize("number", range(len(encoded("{}"))))
async def test_a_body_in_a_wrong_encoding_is_a_flat_400(api: Api, hand: Hand, number: int) -> None:
    headers, body = encoded(json.dumps(ORDER))[number]
    sent = {"X-API-Key": api.key, **headers}
    response = await api.http.post("/cards", content=body, headers=sent)
    assert response.status_code in (400, 413, 415), response.text
    if not headers:
        assert response.json()["code"] == "BAD_REQUEST"
    assert (await hand.state())["cards"] == []


NUMBERS = ["1e400", "-1e400", "1e-400", "0.1e1000000000", "9" * 5000, "1E+2147483648", "00", "+1", ".5", "0x1", "1_0",
           '"1"', "true", "null", "[]", "{}", "NaN", "Infinity", "-0", "0", "-1", "0.001"]  # fmt: skip


@pytest.mark.by_turns(5)
@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("path", ["topup", "unload", "limits"])
@pytest.mark.rule("R029", "R030")
async def test_numbers_nobody_means_move_nothing(api: Api, hand: Hand, path: str, number: str) -> None:
    """R029, R030, U42."""
    await hand("float", amount_usd="1000")
    card = await api.order()
    body = (f'{{"daily_limit":{number}}}' if path == "limits" else f'{{"amount_usd":{number}}}').encode()
    before = await api.float()
    answer = await api.call("PUT" if path == "limits" else "POST", f"/cards/{card}/{path}", raw=body)
    assert answer.status in (400, 402), answer.body
    assert await api.float() == before


PATH_IDS: list[Any] = [
    "../me",
    "%2e%2e%2fme",
    "a" * 5000,
    "%00",
    "%F0%9F%98%80",
    "' OR 1=1 --",
    "x;y=1",
    "null",
    "*",
]


@pytest.mark.parametrize("card", PATH_IDS)
async def test_an_id_that_cannot_be_one_is_not_found(api: Api, card: str) -> None:
    response = await api.http.get(f"/cards/{card}/limits", headers={"X-API-Key": api.key})
    assert (response.status_code, response.json()["code"]) == (404, "NOT_FOUND")


@pytest.mark.parametrize("headers", [[("X-API-Key", "a"), ("X-API-Key", "b")], [("Authorization", "Basic Og==")],
                                     [("Authorization", "Bearer x")], [("X-API-Key", b"\xe9")]])  # fmt: skip
@pytest.mark.rule("R007")
async def test_odd_credentials_are_the_same_401(api: Api, headers: Any) -> None:
    """R007."""
    response = await api.http.get("/me", headers=headers)
    assert (response.status_code, response.json()["code"]) == (401, "UNAUTHORIZED")


@pytest.mark.rule("R086", "R087")
@pytest.mark.parametrize(
    "key", [b"\xff\xfe", b"a\xc3\xa9", b"k" * 129, b"k.1", b"k:1", b"k/1", b"k 1", b"\xd9\xa1"]
)
async def test_an_odd_idempotency_key_is_refused_and_written_down_harmlessly(
    api: Api, hand: Hand, key: bytes
) -> None:
    """R086, R087."""
    sent = {b"X-API-Key": api.key.encode(), b"Idempotency-Key": key}
    response = await api.http.post("/cards", json=ORDER, headers=sent)
    assert (response.status_code, response.json()["code"]) == (400, "BAD_REQUEST")
    assert len((await hand.http.get("journal")).json()["requests"]) == 1


@pytest.mark.parametrize("text", ["\\ud800", "\\u0000", "\\udc00\\ud800", "\\uffff", "\\u202e"])
@pytest.mark.rule("R057")
async def test_odd_characters_in_a_reference_are_kept_or_refused(api: Api, hand: Hand, text: str) -> None:
    """R057."""
    body = json.dumps({**ORDER, "partner_ref": "MARK"}).replace("MARK", text).encode()
    answer = await api.call("POST", "/cards", raw=body)
    assert answer.status in (201, 400)
    if answer.status == 201:
        assert answer.data["card"]["partner_ref"] == json.loads(f'"{text}"')
    assert (await hand.http.get("view")).status_code == 200
