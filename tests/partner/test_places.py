"""What a client is apart from its calls: whom it is shared with, its places in the minute, its end, and its contact."""

from __future__ import annotations

import asyncio
import random
from decimal import Decimal
from typing import Any, cast

import httpx
import pytest

from bot.partner import errors
from bot.partner.calls import cards as card_calls
from bot.partner.client import PartnerClient
from bot.partner.clock import MachineClock
from bot.partner.models import CardWithBalance, Me
from bot.partner.ratelimit import Lane, RateLimiter
from bot.partner.wire import (
    AWAY_AFTER_MISSED,
    AWAY_AFTER_S,
    SURELY_AFTER_MISSED,
    SURELY_AFTER_S,
    Contact,
)
from tests.support.clock import FrozenClock
from tests.support.partner_api import BASE_URL, KEY, CannedApi, client_of, refusal, success

BODY = b'{"amount_usd":25.00}'
TOP_UP = success(
    {
        "card_id": "Ab1",
        "amount_requested_usd": 25,
        "fee_usd": 0,
        "credited_usd": 25,
        "partner_balance_usd": 75,
    }
)
CARD = success(
    {
        "card": {
            "id": "Ab1",
            "partner_ref": None,
            "card_holder_name": "ALICE MOREAU",
            "last4": "3205",
            "status": "ACTIVE",
            "created_at": "2026-03-02T09:00:00.000Z",
        },
        "balance_usd": 5,
    }
)


async def test_a_change_at_its_place_leaves_without_waiting_and_the_next_one_waits(
    clock: FrozenClock,
) -> None:
    client = client_of(CannedApi(TOP_UP), clock)
    client._limiter.set_limit(1)
    placed = client.at(await client.place(Lane.URGENT))
    began_at = clock.monotonic()

    await placed.top_up("Ab1", BODY, key="k1")
    assert clock.monotonic() == began_at

    await placed.top_up("Ab1", BODY, key="k2")
    assert clock.monotonic() >= began_at + 60


async def test_a_reading_leaves_the_place_to_the_change(clock: FrozenClock) -> None:
    client = client_of(CannedApi(CARD), clock)
    placed = client.at(place := await client.place(Lane.MONEY))

    await placed.card("Ab1")

    assert place.use()


async def test_a_change_at_its_place_is_not_repeated_by_the_client(clock: FrozenClock) -> None:
    """Whoever took the place looks again before it is sent again."""
    down = refusal(502, "UNAVAILABLE")  # of a freeze: it changed nothing, and may be sent again
    for placed, sent in ((False, 2), (True, 1)):
        api = CannedApi(down)
        client = client_of(api, clock)
        if placed:
            client = client.at(await client.place(Lane.URGENT))
        with pytest.raises(errors.Unavailable):
            await client.freeze("Ab1", b'{"frozen":true}')
        assert len(api.requests) == sent


async def test_a_client_in_one_lane_has_all_its_calls_there(clock: FrozenClock) -> None:
    """The cards are read in the background, of which there are 6 in 10 calls a minute."""
    api = CannedApi(CARD)
    client = PartnerClient(
        BASE_URL, KEY, http=api, limiter=RateLimiter(clock, per_minute=10), clock=clock
    ).in_lane(Lane.BACKGROUND)
    began_at = clock.monotonic()

    for _ in range(6):
        await client.card("Ab1", lane=Lane.URGENT)
    assert clock.monotonic() == began_at
    await client.place(Lane.URGENT)

    assert clock.monotonic() >= began_at + 60


async def test_a_refusal_for_the_rate_rests_the_lane_that_the_client_is_in(clock: FrozenClock) -> None:
    client = client_of(CannedApi(refusal(429, "RATE_LIMITED")), clock).in_lane(Lane.PEOPLE)

    with pytest.raises(errors.RateLimited):
        await client.top_up("Ab1", BODY, key="k1", lane=Lane.MONEY)

    rests = {lane: client._limiter._budget.blocked(lane, clock.monotonic()) > 0 for lane in Lane}
    assert rests == {Lane.URGENT: False, Lane.MONEY: False, Lane.PEOPLE: True, Lane.BACKGROUND: True}


async def test_a_reading_that_several_share_is_asked_for_in_place_of_the_api(clock: FrozenClock) -> None:
    api = CannedApi(CARD)
    client = client_of(api, clock)
    card, me = await client.card("Ab1"), cast(Me, object())
    api.requests.clear()

    async def shared_card(card_id: str) -> CardWithBalance:
        assert card_id == "Ab1"
        return card

    async def shared_account() -> Me:
        return me

    shares = client.with_card(shared_card).with_account(shared_account)

    assert await shares.card("Ab1") is card
    assert await shares.me() is me
    assert api.requests == []
    assert await client.card("Ab1") is not card, "the client it was made from reads by itself"


async def test_who_the_cards_are_is_kept_of_so_many_and_shared_by_copies(
    clock: FrozenClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(card_calls, "_IDENTITIES_KEPT", 2)
    client = client_of(CannedApi(CARD), clock)

    for card_id, kept in (("a", ["a"]), ("b", ["a", "b"]), ("c", ["c"])):
        await client.in_lane(Lane.PEOPLE).card(card_id)
        assert list(client.identities) == kept
    assert client.identities["c"] == ("ALICE MOREAU", "3205")


async def test_a_closed_client_sends_nothing_and_says_so_before_it_waits_for_a_turn(
    clock: FrozenClock,
) -> None:
    api = CannedApi(TOP_UP)
    async with client_of(api, clock) as client:
        await client.top_up("Ab1", BODY, key="k1")
    left = client.budget_left

    with pytest.raises(errors.NotSent, match="closed"):
        await client.top_up("Ab1", BODY, key="k2")

    assert (len(api.requests), client.budget_left) == (1, left)


async def test_the_connections_of_somebody_elses_http_client_stay_open(clock: FrozenClock) -> None:
    async with httpx.AsyncClient(transport=CannedApi(TOP_UP)) as http:
        async with PartnerClient(BASE_URL, KEY, http=http, clock=clock):
            pass
        assert not http.is_closed


async def test_what_is_left_of_the_minute_counts_what_was_sent(clock: FrozenClock) -> None:
    client = client_of(CannedApi(TOP_UP), clock)
    before = client.budget_left

    await client.top_up("Ab1", BODY, key="k1")

    assert (before, client.budget_left, client.calls_a_minute) == (120, 119, 120)
    assert client.key_prefix in KEY
    assert len(client.key_prefix) < len(KEY)


async def test_each_exchange_is_observed_once_with_its_status_or_none(clock: FrozenClock) -> None:
    seen: list[tuple[str, int | None, float]] = []
    api = CannedApi(httpx.ReadTimeout("slow"), refusal(402, "INSUFFICIENT_FUNDS"), TOP_UP)
    client = PartnerClient(
        BASE_URL, KEY, http=api, clock=clock, observe=lambda *exchange: seen.append(exchange)
    )

    for _ in range(2):
        with pytest.raises(errors.PartnerError):
            await client.top_up("Ab1", BODY, key="k1")
    await client.top_up("Ab1", BODY, key="k1")

    assert seen == [(card_calls.TOP_UP.value, status, 0.0) for status in (None, 402, 200)]


async def test_an_answer_that_somebody_waited_five_seconds_for_is_one_that_did_not_come(
    clock: FrozenClock,
) -> None:
    """Whoever gives up earlier says nothing of the API."""
    for waited, missed in ((4.9, 0), (5.0, 1)):

        class Silent(httpx.AsyncBaseTransport):
            async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
                never: asyncio.Future[httpx.Response] = asyncio.get_running_loop().create_future()
                return await never

        client = client_of(Silent(), clock)
        call = asyncio.create_task(client.card("Ab1"))
        for _ in range(20):
            await asyncio.sleep(0)
        clock.advance(waited)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert client.contact.missed == missed, waited


def test_contact_is_lost_since_the_first_exchange_that_was_not_answered(clock: FrozenClock) -> None:
    contact = Contact(clock)
    contact.answered()
    first = clock.monotonic()
    clock.advance(10)
    contact.unanswered(first)
    contact.unanswered(first + 5)
    assert (contact.missed, contact.unanswered_since, contact.quiet_for_s) == (2, first, 10)

    contact.answered()
    contact.unanswered(first + 5)

    assert (contact.missed, contact.unanswered_since, contact.quiet_for_s) == (0, None, 0), (
        "others were answered"
    )


@pytest.mark.parametrize("status", [None, 503], ids=["silent", "errors"])
@pytest.mark.parametrize("every_s", [1, 2, 3, 5])
@pytest.mark.parametrize("answered", [0.1, 0.3, 0.5, 0.7, 0.9])
def test_an_api_that_answers_some_calls_is_away_only_while_it_answers_none_for_long(
    clock: FrozenClock, answered: float, every_s: int, status: int | None
) -> None:
    """One of several servers behind a gateway is away: any two calls in a row may fail."""
    draw, contact = random.Random(f"{answered} {every_s} {status}"), Contact(clock)
    contact.answered()
    is_answered_at = clock.monotonic()
    for _ in range(400):
        began = clock.monotonic()
        clock.advance(every_s)
        if draw.random() < answered:
            contact.answered()
            is_answered_at = clock.monotonic()
        else:
            contact.unanswered(began, status)
        if contact.away_for_s:
            assert clock.monotonic() - is_answered_at >= AWAY_AFTER_S
            is_sure = clock.monotonic() - is_answered_at >= SURELY_AFTER_S
            assert contact.missed >= (SURELY_AFTER_MISSED if is_sure else AWAY_AFTER_MISSED)
        assert contact.away_for_s <= clock.monotonic() - is_answered_at


@pytest.mark.parametrize("status", [None, 503, 404])
@pytest.mark.parametrize(
    ("misses", "every_s", "takes_s"),
    [(6, 9, 9), (7, 4, 4), (18, 1, 8), (10, 3, 0), (18, 1, 0), (31, 0.5, 0)],
)
def test_an_api_that_answers_nothing_is_away_until_it_answers_or_nobody_has_asked_for_a_minute(
    clock: FrozenClock, misses: int, every_s: int, takes_s: int, status: int | None
) -> None:
    contact = Contact(clock)
    began_at = clock.monotonic() + every_s - takes_s
    for at in range(1, misses + 1):
        assert contact.away_for_s == 0, at
        clock.advance(every_s)
        contact.unanswered(clock.monotonic() - takes_s, status)
    assert contact.away_for_s == pytest.approx(clock.monotonic() - began_at)
    clock.advance(61)
    assert contact.away_for_s == 0
    contact.unanswered(clock.monotonic() - 1, status)
    assert contact.away_for_s > 0
    contact.answered()
    assert contact.away_for_s == 0


async def test_the_machines_clock_measures_what_it_sleeps_and_takes_less_than_nothing_for_nothing() -> None:
    clock = MachineClock()
    began_at = clock.monotonic()
    await clock.sleep(-5)
    await clock.sleep(0.01)
    assert 0.01 <= clock.monotonic() - began_at < 5


async def test_a_change_takes_its_bytes_or_its_values_and_not_both_or_neither(clock: FrozenClock) -> None:
    client = cast(Any, client_of(CannedApi(TOP_UP), clock))
    for given in ({}, {"body": BODY, "amount_usd": 25}):
        with pytest.raises(TypeError, match="either"):
            await client.top_up("Ab1", key="k1", **given)


@pytest.mark.parametrize(
    "amount_usd",
    [0, -1, True, 25.0, "25", *map(Decimal, ("0", "-0.01", "0.001", "25.005", "NaN", "Infinity", "1E-3"))],
)
async def test_an_amount_that_is_none_is_never_sent(amount_usd: Any, clock: FrozenClock) -> None:
    api = CannedApi(TOP_UP)
    with pytest.raises(errors.NotSent, match="amount_usd"):
        await client_of(api, clock).top_up("Ab1", amount_usd=amount_usd, key="k1")
    assert api.requests == []


@pytest.mark.parametrize(
    ("amount_usd", "sent"),
    [
        (25, b"25"),
        (Decimal("25.10"), b"25.10"),
        (Decimal("0.0100"), b"0.0100"),
        (Decimal("12345678901234567890.12"), b"12345678901234567890.12"),
    ],
)
async def test_an_amount_goes_out_digit_for_digit(amount_usd: Any, sent: bytes, clock: FrozenClock) -> None:
    api = CannedApi(TOP_UP)
    await client_of(api, clock).top_up("Ab1", amount_usd=amount_usd, key="k1")
    assert api.requests[0].content == b'{"amount_usd":%s}' % sent


async def test_of_several_amounts_those_that_are_given_are_checked(clock: FrozenClock) -> None:
    api = CannedApi(refusal(404, "NOT_FOUND"))
    client = client_of(api, clock)

    with pytest.raises(errors.NotFound):
        await client.set_limits("Ab1", weekly_limit_usd=Decimal(5))
    with pytest.raises(errors.NotSent, match="monthly_limit"):
        await client.set_limits("Ab1", weekly_limit_usd=Decimal(5), monthly_limit_usd=Decimal("0.001"))

    assert [request.content for request in api.requests] == [b'{"weekly_limit":5}']


async def test_values_without_an_exact_form_are_never_sent(clock: FrozenClock) -> None:
    api = CannedApi(TOP_UP)
    with pytest.raises(errors.NotSent, match="cannot be sent"):
        await cast(Any, client_of(api, clock)).set_phone("Ab1", phone_country_code=33.5, phone="6123")
    assert api.requests == []
