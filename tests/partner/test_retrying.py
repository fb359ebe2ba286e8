"""What the client repeats by itself, endpoint by endpoint [rules 2C]."""

from typing import Any

import httpx
import pytest

from bot.partner import errors
from bot.partner.calls import account as account_calls
from bot.partner.calls import cards as card_calls
from bot.partner.calls import deposits as deposit_calls
from bot.partner.calls import events as event_calls
from bot.partner.calls import history as history_calls
from bot.partner.client import ENDPOINTS, PartnerClient
from bot.partner.endpoints import Endpoint
from bot.partner.ratelimit import RateLimiter
from tests.partner.every_call import call
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


def unavailable(status: int) -> httpx.Response:
    return refusal(status, "UNAVAILABLE")


READ, SETTING, FUNDING_CALL, REPEATED, LOST_ONCE, NEVER = (
    # Sent in all when it never succeeds: lost, no connection, unreadable, a proxy's page, 500, 502, 503, 429
    (4, 4, 4, 4, 4, 4, 4, 2),
    (2, 2, 2, 2, 1, 2, 2, 1),
    (4, 4, 4, 1, 4, 1, 4, 1),
    (4, 4, 4, 4, 4, 4, 4, 1),
    (2, 2, 2, 1, 1, 1, 1, 1),
    (1, 1, 1, 1, 1, 1, 1, 1),
)
STEPS: tuple[Step, ...] = (
    LOST, httpx.ConnectError("down"), httpx.Response(200), HTML_502, unavailable(500), unavailable(502),
    unavailable(503), refusal(429, "RATE_LIMITED"),
)  # fmt: skip
MATRIX = {
    account_calls.SET_FEES: LOST_ONCE,
    account_calls.SUBMIT_FUNDING: FUNDING_CALL,
    **dict.fromkeys((card_calls.SET_LIMITS, card_calls.FREEZE, card_calls.SET_PHONE), SETTING),
    event_calls.REDELIVER: REPEATED,
    **dict.fromkeys(
        (card_calls.ORDER_CARD, card_calls.TOP_UP, card_calls.UNLOAD, card_calls.CLOSE, card_calls.SET_3DS,
         history_calls.DETAILS, history_calls.DETAILS_ONCE, event_calls.SET_WEBHOOK, deposit_calls.QUOTE_DEPOSIT), NEVER
    ),
}  # fmt: skip


@pytest.mark.rule("R020", "R071", "R072", "R107", "R108", "R109", "R129", "R144")
@pytest.mark.parametrize("operation", ENDPOINTS, ids=str)
async def test_a_call_that_never_succeeds_is_sent_only_as_often_as_it_may(
    operation: Endpoint, clock: FrozenClock
) -> None:
    """R020, R071, R072, R107 to R109, R129, R144; rules 2C, every line."""
    # Not every call has a 503 UNAVAILABLE of its own; as a page of a proxy it counts the same.
    for step, times in zip(STEPS, MATRIX.get(operation, READ), strict=True):
        api = CannedApi(step)
        with pytest.raises(errors.PartnerError) as failed:
            await call(client_of(api, clock), operation)

        assert len(api.requests) == failed.value.attempts == times, step
        assert len({(request.method, request.url, request.content) for request in api.requests}) == 1


REFUSALS = [
    (400, "BAD_REQUEST"), (401, "UNAUTHORIZED"), (403, "FORBIDDEN"), (404, "NOT_FOUND"),
    (402, "INSUFFICIENT_FUNDS"), (409, "ALREADY_PROCESSED"), (409, "ALREADY_SUBMITTED"),
    (409, "ALREADY_CREDITED"), (409, "QUOTA"), (429, "TOO_MANY_PENDING"), (302, "UNAVAILABLE"),
]  # fmt: skip


@pytest.mark.rule("R020", "R172")
@pytest.mark.parametrize("operation", ENDPOINTS, ids=str)
async def test_an_answer_that_would_be_the_same_again_is_never_asked_for_again(
    operation: Endpoint, clock: FrozenClock
) -> None:
    """R020, R172: 409 and TOO_MANY_PENDING among them."""
    for status, code in REFUSALS:
        api = CannedApi(refusal(status, code))
        with pytest.raises(errors.PartnerError):
            await call(client_of(api, clock), operation)
        assert len(api.requests) == 1, (status, code)


@pytest.mark.rule("R107", "R129")
async def test_an_upstream_failure_of_freeze_is_repeated_and_one_of_a_top_up_is_not(
    clock: FrozenClock,
) -> None:
    """R107, R129."""
    for operation, times in ((card_calls.FREEZE, 2), (card_calls.SET_PHONE, 2), (card_calls.TOP_UP, 1)):
        api = CannedApi(refusal(503, "UPSTREAM_AUTH"))
        with pytest.raises(errors.UpstreamAuth):
            await call(client_of(api, clock), operation)
        assert len(api.requests) == times


async def test_a_read_succeeds_after_three_failures_and_has_paused_between_them(clock: FrozenClock) -> None:
    api = CannedApi(LOST, unavailable(502), HTML_502, success(ME))
    began = clock.monotonic()

    me = await client_of(api, clock).me()

    assert me.partner.id == "p"
    assert clock.monotonic() - began == 3.5


@pytest.mark.rule("R019")
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


@pytest.mark.rule("R091", "R172")
async def test_a_repeated_funding_submission_is_the_same_to_the_byte(clock: FrozenClock) -> None:
    """R091, R172."""
    body = b'{"tx_hash": "0xAB", "network":"bsc"}'
    api = CannedApi(LOST, unavailable(500), success(FUNDING))

    funding = await client_of(api, clock).submit_funding(body)

    assert funding.status == "pending"
    assert [request.content for request in api.requests] == [body] * 3


async def test_after_a_rate_limited_top_up_no_top_up_is_sent_for_a_minute_and_people_read_on(
    clock: FrozenClock,
) -> None:
    refused = refusal(429, "RATE_LIMITED", **{"Retry-After": "60"})
    api = CannedApi(refused, success(ME), refused)
    client = client_of(api, clock)
    with pytest.raises(errors.RateLimited):
        await call(client, card_calls.TOP_UP)
    refused_at = clock.monotonic()

    await client.me()
    assert clock.monotonic() == refused_at

    with pytest.raises(errors.RateLimited):
        await call(client, card_calls.TOP_UP)
    assert clock.monotonic() - refused_at == 60
