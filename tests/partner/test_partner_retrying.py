"""What the client repeats by itself, endpoint by endpoint [rules 2C]."""

from typing import Any

import httpx
import pytest

from bot.partner import errors
from bot.partner.client import PartnerClient
from bot.partner.ratelimit import RateLimiter
from tests.support.clock import FrozenClock
from tests.support.partner_api import BASE_URL, KEY, CannedApi, Step, client_of, refusal, success

ME: dict[str, Any] = {
    "partner": {"id": "p"},
    "key": {"name": None, "prefix": "svc_live_00000000", "scopes": [], "mode": "live",
            "rate_limit_per_minute": 120},
    "cards": {"total": 0, "active": 0, "limit": None},
    "float": {"funded_usd": 0, "spent_usd": 0, "balance_usd": 0, "limit_usd": None, "available_usd": 0},
    "fees": {
        "svc_pct": 0, "your_markup_pct": 0, "total_pct": 0,
        "example_on_100_usd": {"svc_fee_usd": 0, "your_fee_usd": 0, "lands_on_card_usd": 100},
    },
    "earnings": {"accrued_usd": 0, "paid_out_usd": 0, "owed_usd": 0, "last_payout_at": None},
}  # fmt: skip
FUNDING = {
    "id": "f-1", "network": "POLYGON", "tx_hash": "0x1", "status": "pending",
    "created_at": "2026-03-02T09:00:00.000Z",
}  # fmt: skip

LOST = httpx.ReadTimeout("slow")
HTML_502 = httpx.Response(502, html="<h1>Bad gateway</h1>")


async def call(client: PartnerClient, name: str) -> object:
    body = b'{"amount_usd":1}'
    match name:
        case "me":
            return await client.me()
        case "balances":
            return await client.balances(["a"])
        case "order":
            return await client.order_card(body, key="k")
        case "top_up":
            return await client.top_up("a", body, key="k")
        case "unload":
            return await client.unload("a", body, key="k")
        case "close":
            return await client.close("a", key="k")
        case "freeze":
            return await client.freeze("a", b'{"frozen":true}')
        case "funding":
            return await client.submit_funding(b"{}")
    raise AssertionError(name)


def unavailable(status: int) -> httpx.Response:
    return refusal(status, "UNAVAILABLE")


SENT = [
    # how often each call goes out when it never succeeds
    ("me", LOST, 4), ("me", unavailable(500), 4), ("me", unavailable(502), 4), ("me", unavailable(503), 4),
    ("me", refusal(503, "UPSTREAM_AUTH"), 4), ("me", HTML_502, 4), ("me", httpx.Response(200), 4),
    ("me", refusal(429, "RATE_LIMITED"), 2), ("me", refusal(404, "NOT_FOUND"), 1),
    ("me", refusal(401, "UNAUTHORIZED"), 1),
    ("me", httpx.Response(404, html="no"), 1), ("me", httpx.Response(302), 1), ("me", success({}), 1),
    ("balances", LOST, 4), ("balances", unavailable(502), 4),
    ("freeze", LOST, 2), ("freeze", unavailable(502), 2), ("freeze", refusal(503, "UPSTREAM_AUTH"), 2),
    ("freeze", unavailable(500), 1), ("freeze", refusal(429, "RATE_LIMITED"), 1),
    ("freeze", refusal(400, "BAD_REQUEST"), 1),
    ("funding", LOST, 4), ("funding", unavailable(500), 4), ("funding", unavailable(503), 4),
    ("funding", refusal(409, "ALREADY_SUBMITTED"), 1), ("funding", refusal(429, "TOO_MANY_PENDING"), 1),
    ("funding", refusal(429, "RATE_LIMITED"), 1),
    *[
        (name, step, 1)
        for name in ("order", "top_up", "unload", "close")
        for step in (LOST, HTML_502, httpx.ConnectError("down"), unavailable(500), unavailable(502),
                     unavailable(503), refusal(503, "UPSTREAM_AUTH"), refusal(429, "RATE_LIMITED"),
                     refusal(409, "ALREADY_PROCESSED"))
    ],
]  # fmt: skip


@pytest.mark.parametrize(("name", "step", "times"), SENT)
async def test_a_call_that_never_succeeds_is_sent_only_as_often_as_it_may(
    name: str, step: Step, times: int, clock: FrozenClock
) -> None:
    """R071, R072, R107 to R109."""
    api = CannedApi(step)

    with pytest.raises(errors.PartnerError) as failed:
        await call(client_of(api, clock), name)

    assert len(api.requests) == times
    assert failed.value.attempts == times


async def test_a_read_succeeds_after_three_failures_and_has_paused_between_them(clock: FrozenClock) -> None:
    api = CannedApi(LOST, unavailable(502), HTML_502, success(ME))
    began = clock.monotonic()

    me = await client_of(api, clock).me()

    assert me.partner.id == "p"
    assert clock.monotonic() - began == 3.5


async def test_a_read_over_the_rate_waits_a_minute_and_asks_once_more(clock: FrozenClock) -> None:
    """R019."""
    api = CannedApi(refusal(429, "RATE_LIMITED", **{"Retry-After": "60"}), success(ME))
    began = clock.monotonic()

    await client_of(api, clock).me()

    assert clock.monotonic() - began == 60


async def test_the_keys_own_rate_is_taken_over_from_the_account(clock: FrozenClock) -> None:
    limiter = RateLimiter(clock)
    api = CannedApi(success({**ME, "key": {**ME["key"], "rate_limit_per_minute": 7}}))
    client = PartnerClient(BASE_URL, KEY, http=api, limiter=limiter, clock=clock)

    await client.me()

    assert limiter.per_minute == 7


async def test_a_repeated_funding_submission_is_the_same_to_the_byte(clock: FrozenClock) -> None:
    """R091, R172."""
    body = b'{"tx_hash": "0xAB", "network":"bsc"}'
    api = CannedApi(LOST, unavailable(500), success(FUNDING))

    funding = await client_of(api, clock).submit_funding(body)

    assert funding.status == "pending"
    assert [request.content for request in api.requests] == [body] * 3


async def test_after_a_rate_limited_top_up_nobody_sends_for_a_minute(clock: FrozenClock) -> None:
    api = CannedApi(refusal(429, "RATE_LIMITED", **{"Retry-After": "60"}), success(ME))
    client = client_of(api, clock)
    with pytest.raises(errors.RateLimited):
        await call(client, "top_up")
    refused_at = clock.monotonic()

    await client.me()

    assert clock.monotonic() - refused_at == 60
