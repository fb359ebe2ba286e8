"""What goes over the wire and what comes back: every way an exchange can end."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import httpx
import pytest

from bot.partner import endpoints, errors
from bot.partner.calls import cards as card_calls
from bot.partner.certainty import Certainty
from bot.partner.client import ENDPOINTS, PartnerClient
from bot.partner.endpoints import Facts
from bot.partner.key_guard import AccessRefused
from bot.partner.ratelimit import RateLimiter
from bot.partner.wire import MOST_ANSWER_BYTES
from tests.support.clock import FrozenClock
from tests.support.partner_api import KEY, CannedApi, client_of, refusal, success

CARD = "Ab1"
BODY = b'{"amount_usd":25.00}'
TOP_UP = {
    "card_id": CARD, "amount_requested_usd": 25, "fee_usd": 0, "credited_usd": 25, "partner_balance_usd": 75
}  # fmt: skip

NO_ANSWERS = {
    "read timeout": httpx.ReadTimeout("slow"),
    "write timeout": httpx.WriteTimeout("slow"),
    "reset while reading": httpx.ReadError("reset"),
    "reset while writing": httpx.WriteError("reset"),
    "closed without an answer": httpx.RemoteProtocolError("gone"),
    "socket error": ConnectionResetError("reset"),
    "redirect": httpx.Response(302, headers={"Location": "http://127.0.0.1:1/elsewhere"}),
    "redirect with a body": httpx.Response(307, json={"data": TOP_UP}),
    "html 502 of a proxy": httpx.Response(502, html="<h1>Bad gateway</h1>"),
    "html 404 of a proxy": httpx.Response(404, html="<h1>Not found</h1>"),
    "empty 200": httpx.Response(200),
    "half a body": httpx.Response(200, content=b'{"data":{"card_id":"Ab1","cred'),
    "garbage": httpx.Response(200, content=b"\x00\xff\xfe"),
    "a list": httpx.Response(200, json=[TOP_UP]),
    "no data": httpx.Response(200, json=TOP_UP),
    "accepted, not done": httpx.Response(202, json={"data": TOP_UP}),
    "data without the amount": success({**TOP_UP, "credited_usd": None}),
    "an amount as a string": success({**TOP_UP, "credited_usd": "25"}),
    "an amount as a boolean": success({**TOP_UP, "credited_usd": True}),
    "an amount that is NaN": httpx.Response(200, content=b'{"data":{"credited_usd":NaN}}'),
    "an error without a code": httpx.Response(402, json={"error": "No."}),
    "a code of another type": httpx.Response(402, json={"error": "No.", "code": 402}),
    "a code nobody knows": refusal(402, "TRY_LATER"),
    "a known code with a foreign status": refusal(500, "INSUFFICIENT_FUNDS"),
    "a known code that this call does not have": refusal(409, "ALREADY_SUBMITTED"),
}


@pytest.mark.rule("R005", "R108")
@pytest.mark.parametrize("step", NO_ANSWERS.values(), ids=NO_ANSWERS)
async def test_after_anything_but_the_services_own_words_a_top_up_is_open_and_not_repeated(
    step: httpx.Response | Exception, clock: FrozenClock
) -> None:
    """R005; rules 2B "no answer"; R108: never repeated by the client."""
    api = CannedApi(step)

    with pytest.raises(errors.NoAnswer) as lost:
        await client_of(api, clock).top_up(CARD, BODY, key="k1")

    assert lost.value.certainty is Certainty.AMBIGUOUS
    assert lost.value.code is None
    assert lost.value.sent_key == "k1"
    assert len(api.requests) == 1


@pytest.mark.parametrize(
    ("step", "status"),
    [
        *((httpx.Response(status, html="<h1>Bad gateway</h1>"), status) for status in (500, 502, 503, 504)),
        *((refusal(status, "UNAVAILABLE"), status) for status in (500, 502, 503)),
        (httpx.Response(200, html="<h1>We are back soon</h1>"), 200),
        (httpx.Response(404, html="<h1>Not found</h1>"), 404),
        (httpx.Response(302, headers={"Location": "http://127.0.0.1:1/elsewhere"}), 302),
        (httpx.ReadTimeout("slow"), None),
        (httpx.ConnectError("refused"), None),
    ],
    ids=str,
)
async def test_what_stands_before_an_api_that_is_away_is_no_answer_of_its(
    step: httpx.Response | Exception, status: int | None, clock: FrozenClock
) -> None:
    """A gateway's page, or an error of a server, says nothing of whether the API is there."""
    client = client_of(CannedApi(step), clock)
    began = clock.monotonic()
    with pytest.raises(errors.PartnerError):
        await client.me()
    assert client.contact.missed >= 1
    assert client.contact.unanswered_since == began
    assert client.contact.status == status


@pytest.mark.parametrize(
    "step", [refusal(401, "UNAUTHORIZED"), refusal(403, "FORBIDDEN"), refusal(429, "RATE_LIMITED")], ids=str
)
async def test_what_the_api_refuses_is_an_answer(step: httpx.Response, clock: FrozenClock) -> None:
    client = client_of(CannedApi(httpx.Response(503), step), clock)
    with pytest.raises(errors.PartnerError):
        await client.top_up(CARD, BODY, key="k1")
    assert client.contact.missed == 1
    with pytest.raises(errors.PartnerError):
        await client.me()
    assert (client.contact.missed, client.contact.unanswered_since, client.contact.status) == (0, None, None)


async def test_an_answer_is_cut_off_where_it_is_larger_than_any_of_this_api(clock: FrozenClock) -> None:
    fits, too_large = (
        httpx.Response(200, content=json.dumps({"data": TOP_UP}).encode().ljust(size))
        for size in (MOST_ANSWER_BYTES, MOST_ANSWER_BYTES + 1)
    )

    assert (await client_of(CannedApi(fits), clock).top_up(CARD, BODY, key="k1")).card_id == CARD
    with pytest.raises(errors.NoAnswer, match="larger"):
        await client_of(CannedApi(too_large), clock).top_up(CARD, BODY, key="k1")


@pytest.mark.parametrize(
    "failure", [httpx.ConnectError("refused"), httpx.ConnectTimeout("slow"), httpx.PoolTimeout("")]
)
async def test_without_a_connection_nothing_was_sent(failure: Exception, clock: FrozenClock) -> None:
    with pytest.raises(errors.NotConnected) as lost:
        await client_of(CannedApi(failure), clock).top_up(CARD, BODY, key="k1")

    assert lost.value.certainty is Certainty.TRANSIENT


@pytest.mark.rule("R107", "R108")
@pytest.mark.parametrize(
    ("status", "code", "kind"),
    [
        (400, "BAD_REQUEST", errors.BadRequest),
        (402, "INSUFFICIENT_FUNDS", errors.InsufficientFunds),
        (404, "NOT_FOUND", errors.NotFound),
        (409, "ALREADY_PROCESSED", errors.AlreadyProcessed),
        (409, "QUOTA", errors.QuotaExceeded),
        (500, "UNAVAILABLE", errors.Unavailable),
        (502, "UNAVAILABLE", errors.Unavailable),
        (503, "UPSTREAM_AUTH", errors.UpstreamAuth),
        (401, "UNAUTHORIZED", errors.Unauthorized),
        (403, "FORBIDDEN", errors.Forbidden),
        (429, "RATE_LIMITED", errors.RateLimited),
    ],
)
async def test_no_refusal_of_a_top_up_is_repeated_by_the_client(
    status: int, code: str, kind: type[errors.PartnerError], clock: FrozenClock
) -> None:
    """R107, R108: a repeat would turn a clear answer into an unclear 409."""
    api = CannedApi(refusal(status, code, "Because."))

    with pytest.raises(kind) as refused:
        await client_of(api, clock).top_up(CARD, BODY, key="k1")

    assert (refused.value.status, refused.value.code, refused.value.message) == (status, code, "Because.")
    assert refused.value.sent_key == "k1"
    assert len(api.requests) == 1


@pytest.mark.rule("R006", "R088")
async def test_a_body_goes_out_byte_for_byte_with_the_key_given(clock: FrozenClock) -> None:
    """R006, R088."""
    api = CannedApi(success(TOP_UP))
    body = b'{ "amount_usd" : 25.00 ,\n"x":"\xc3\xa9" }'

    await client_of(api, clock).top_up(CARD, body, key="co-1_A")

    request = api.requests[0]
    assert request.content == body
    assert request.url.raw_path == b"/api/partner/v1/cards/Ab1/topup"
    assert request.headers["Idempotency-Key"] == "co-1_A"
    assert request.headers["X-API-Key"] == KEY
    assert request.headers["Content-Type"] == "application/json"
    assert not {"Authorization", "Cookie"} & {name.title() for name in request.headers}


@pytest.mark.rule("R089", "R090")
async def test_a_call_without_a_key_sends_no_idempotency_header(clock: FrozenClock) -> None:
    """R089, R090."""
    api = CannedApi(success({"card_id": CARD, "frozen": True}))

    await client_of(api, clock).freeze(CARD, b'{"frozen":true}')

    assert "Idempotency-Key" not in api.requests[0].headers


async def test_cookies_of_the_service_are_never_sent_back(clock: FrozenClock) -> None:
    api = CannedApi(success(TOP_UP, headers={"Set-Cookie": "session=1; Path=/"}))
    client = client_of(api, clock)

    await client.top_up(CARD, BODY, key="k1")
    await client.top_up(CARD, BODY, key="k2")

    assert "Cookie" not in api.requests[1].headers


@pytest.mark.parametrize("card_id", ["", "a/b", "..", "a?b", "a#b", "a b", "é", "a\n", "%2e%2e", "A" * 129])
async def test_an_id_that_is_none_is_refused_before_the_call(card_id: str, clock: FrozenClock) -> None:
    api = CannedApi(success(TOP_UP))

    with pytest.raises(errors.NotSent) as refused:
        await client_of(api, clock).top_up(card_id, BODY, key="k1")

    assert refused.value.certainty is Certainty.DEFINITE
    assert not api.requests


@pytest.mark.rule("R086", "R087")
@pytest.mark.parametrize("key", ["", "1700000000.123456", "C1:2", "a/b", "k\n", "ключ", "k" * 129])
async def test_a_key_the_api_would_refuse_is_refused_before_the_call(key: str, clock: FrozenClock) -> None:
    """R086, R087."""
    api = CannedApi(success(TOP_UP))

    with pytest.raises(errors.NotSent):
        await client_of(api, clock).top_up(CARD, BODY, key=key)
    assert not api.requests


@pytest.mark.parametrize("body", [b"", b"[]", b"25", b"{", b'{"amount_usd":NaN}'])
async def test_bytes_that_are_no_json_object_are_refused_before_the_call(
    body: bytes, clock: FrozenClock
) -> None:
    api = CannedApi(success(TOP_UP))

    with pytest.raises(errors.NotSent):
        await client_of(api, clock).top_up(CARD, body, key="k1")
    assert not api.requests


@pytest.mark.rule("R019")
@pytest.mark.parametrize(
    ("header", "seconds"),
    [("60", 60), ("5", 5), (None, 60), ("soon", 60), ("-1", 60), ("99999", 60), ("0", 60), ("٥", 60)],
)
async def test_retry_after_is_read_with_care(header: str | None, seconds: float, clock: FrozenClock) -> None:
    """R019."""
    headers = {} if header is None else {"Retry-After": header.encode()}
    answer = httpx.Response(429, json={"error": "No.", "code": "RATE_LIMITED"}, headers=headers)  # type: ignore[arg-type]  # raw bytes, as a server could send them

    with pytest.raises(errors.RateLimited) as limited:
        await client_of(CannedApi(answer), clock).top_up(CARD, BODY, key="k1")

    assert limited.value.retry_after == seconds


@pytest.mark.rule("R020")
async def test_too_many_pending_has_no_time_to_wait_for_and_is_not_repeated(clock: FrozenClock) -> None:
    """R020."""
    api = CannedApi(refusal(429, "TOO_MANY_PENDING"))

    with pytest.raises(errors.TooManyPending) as refused:
        await client_of(api, clock).submit_funding(b"{}")

    assert refused.value.retry_after is None
    assert len(api.requests) == 1


WAITS = {
    "GET /cards/{cardId}/transactions": 130,
    **dict.fromkeys(
        ("GET /cards/{cardId}", "POST /cards/balances", "GET /cards/{cardId}/limits",
         "GET /cards/{cardId}/pan", "POST /cards/{cardId}/pan-token"), 30
    ),
    **dict.fromkeys(
        ("GET /me", "GET /fees", "GET /funding/addresses", "GET /funding/{fundingId}", "GET /funding",
         "GET /ledger", "GET /cards", "GET /webhook", "GET /events", "GET /deposits"), 20
    ),
}  # fmt: skip


@pytest.mark.rule("R160")
def test_changes_wait_longer_than_the_service_waits_and_every_call_has_a_deadline() -> None:
    """R160."""
    assert set(WAITS) < {endpoint.value for endpoint in ENDPOINTS}
    for endpoint in ENDPOINTS:
        facts = endpoint.facts
        # A switch is harmless to send again, so it need not be waited for longer than the service itself does.
        usual = 25 if endpoint is card_calls.FREEZE else 75
        assert facts.read_seconds == WAITS.get(endpoint.value, usual), endpoint
        assert facts.changes is (endpoint.value not in WAITS)
        assert facts.deadline_seconds > facts.read_seconds
        assert not facts.changes or facts.deadline_seconds <= 85


def test_every_endpoint_of_the_document_is_there_in_its_order() -> None:
    assert [endpoint.value.replace("{", "").replace("}", "") for endpoint in ENDPOINTS] == [
        "GET /me", "GET /fees", "PUT /fees", "GET /funding/addresses", "POST /funding",
        "GET /funding/fundingId", "GET /funding", "GET /ledger",
        "POST /cards", "GET /cards", "GET /cards/cardId", "POST /cards/balances", "POST /cards/cardId/topup",
        "POST /cards/cardId/unload", "GET /cards/cardId/limits", "PUT /cards/cardId/limits",
        "POST /cards/cardId/freeze", "PUT /cards/cardId/phone", "POST /cards/cardId/close",
        "PUT /cards/cardId/3ds", "GET /cards/cardId/transactions",
        "GET /cards/cardId/pan", "POST /cards/cardId/pan-token",
        "GET /webhook", "PUT /webhook", "GET /events", "POST /events/eventId/redeliver",
        "POST /deposits", "GET /deposits",
    ]  # fmt: skip


async def test_the_timeouts_of_the_endpoint_reach_the_transport(clock: FrozenClock) -> None:
    api = CannedApi(success(TOP_UP))

    await client_of(api, clock).top_up(CARD, BODY, key="k1")

    timeouts = api.requests[0].extensions["timeout"]
    assert (timeouts["connect"], timeouts["read"]) == (5.0, 75.0)


# Over a real socket

Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def raw_server(serve: Serve) -> AsyncIterator[str]:
    """A server that speaks bytes, for what a proper one would not do."""

    async def one(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        length = next(
            (line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length")), b":0"
        )
        await reader.readexactly(int(length.split(b":")[1]))
        try:
            await serve(reader, writer)
        finally:
            writer.close()

    server = await asyncio.start_server(one, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/api/partner/v1"


@asynccontextmanager
async def real_client(base_url: str, clock: FrozenClock) -> AsyncIterator[PartnerClient]:
    client = PartnerClient(base_url, KEY, limiter=RateLimiter(clock), clock=clock)
    try:
        yield client
    finally:
        await client.aclose()


async def reset(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.transport.abort()


async def truncated(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(b'HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{"data":')
    await writer.drain()


async def no_http(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(b"SSH-2.0-OpenSSH_9.6\r\n")
    await writer.drain()


async def bomb(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    import gzip

    packed = gzip.compress(b" " * (MOST_ANSWER_BYTES * 4))
    writer.write(
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(packed) + packed
    )
    await writer.drain()


@pytest.mark.parametrize("serve", [reset, truncated, no_http, bomb])
async def test_a_broken_connection_is_no_answer(serve: Serve, clock: FrozenClock) -> None:
    async with raw_server(serve) as base_url, real_client(base_url, clock) as client:
        with pytest.raises(errors.NoAnswer) as lost:
            await client.top_up(CARD, BODY, key="k1")

    assert lost.value.certainty is Certainty.AMBIGUOUS


async def test_a_port_nobody_listens_on_is_not_connected(free_port: int, clock: FrozenClock) -> None:
    async with real_client(f"http://127.0.0.1:{free_port}/v1", clock) as client:
        with pytest.raises(errors.NotConnected):
            await client.top_up(CARD, BODY, key="k1")


@pytest.mark.rule("R229")
async def test_an_answer_that_drips_is_cut_off_at_the_deadline(
    clock: FrozenClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R229: a timeout per phase would wait without end here."""

    async def drip(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n")
        for _byte in range(100):
            writer.write(b" ")
            await writer.drain()
            await asyncio.sleep(0.05)

    monkeypatch.setattr(endpoints, "_DEADLINE_MARGIN_SECONDS", 0.2)
    monkeypatch.setattr(card_calls.TOP_UP, "facts", Facts(changes=True, read_seconds=0.2))
    async with raw_server(drip) as base_url, real_client(base_url, clock) as client:
        async with asyncio.timeout(3):
            with pytest.raises(errors.NoAnswer, match="took too long"):
                await client.top_up(CARD, BODY, key="k1")


async def test_a_proxy_of_the_environment_never_sees_a_call_to_this_machine(
    clock: FrozenClock, monkeypatch: pytest.MonkeyPatch, free_port: int
) -> None:
    async def answer(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        body = json.dumps({"data": TOP_UP}).encode()
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
        await writer.drain()

    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{free_port}")
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    async with raw_server(answer) as base_url, real_client(base_url, clock) as client:
        done = await client.top_up(CARD, BODY, key="k1")

    assert done.card_id == CARD


async def test_the_key_is_not_in_any_error_nor_in_what_hangs_on_it(clock: FrozenClock) -> None:
    """H15."""
    for step in (
        httpx.ReadTimeout("x"),
        httpx.Response(500, html=KEY),
        refusal(400, "BAD_REQUEST", f"bad key {KEY}"),
    ):
        with pytest.raises(errors.PartnerError) as failed:
            await client_of(CannedApi(step), clock).top_up(CARD, BODY, key="k1")
        seen: BaseException | None = failed.value
        assert seen is not None
        assert KEY not in f"{seen} {seen!r} {vars(seen)}"
        assert seen.__cause__ is None
        assert seen.__suppress_context__


def test_an_access_error_is_no_partner_error() -> None:
    """A wrong address is a mistake in the settings, reported at start, and not the outcome of a call."""
    assert not issubclass(AccessRefused, errors.PartnerError)
