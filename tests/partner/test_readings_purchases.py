"""What the document says of purchases, their events and deliveries, at the simulator."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from aiohttp import web

from bot.partner import codec, errors, models
from bot.partner.models import CHALLENGE, DECLINE_CODES
from bot.partner.secret import Secret
from bot.partner.webhooks import Delivery, NotGenuine, unwrap, verify
from tests.partner.simulated import World, simulated

HOOK = b'{"url":"https://hooks.example.com/in"}'


@pytest.fixture(params=["plausible", "documented", "scrambled"])
async def world(request: pytest.FixtureRequest) -> AsyncIterator[World]:
    async with simulated(request.param) as world:
        yield world


async def spending_card(world: World, amount_usd: str = "500") -> str:
    card_id = await world.funded_card("20000")
    await world.top_up(card_id, amount_usd)
    await world.act(
        "account", {"unsynced_card": "spends"}
    )  # these rules are not about a status that comes later
    return card_id


async def buy(world: World, card_id: str, amount_usd: str, **more: Any) -> dict[str, Any]:
    return await world.act("purchases", {"card_id": card_id, "amount_usd": amount_usd, **more})


async def history(world: World, card_id: str) -> list[models.Transaction]:
    return [row async for row in world.client.transactions(card_id)]


async def typed_events(world: World) -> list[models.TypedEvent]:
    return [unwrap(event) async for event in world.client.events()][::-1]


# Purchases


@pytest.mark.rule("R034", "R035", "R151", "R152", "R154")
async def test_a_purchase_is_one_row_and_an_event_that_meet_in_the_transaction(world: World) -> None:
    """R034, R035, R151, R152, R154."""
    card_id = await spending_card(world)
    done = await buy(world, card_id, "40.00", original_amount="36.50", original_currency="EUR")

    (row,) = await history(world, card_id)
    event = (await typed_events(world))[-1]

    assert isinstance(event, models.CardAuthorized)
    assert event.data.transaction_id == row.transaction_id == done["transaction_id"]
    assert row.id not in (event.id, row.transaction_id)
    assert (row.status, row.amount_usd) == ("pending", event.data.amount_usd)
    assert (row.original_amount, row.original_currency) == (Decimal("36.5"), "EUR")
    assert row.fee_usd == row.provider_fee_usd + row.client_fee_usd
    assert row.occurred_at.tzinfo is UTC


@pytest.mark.rule("R240", "R242", "R246")
async def test_a_settlement_of_the_same_amount_leaves_the_charge_as_it_was_authorized(world: World) -> None:
    """R240, R242, R246."""
    card_id = await spending_card(world)
    done = await buy(world, card_id, "40.00")
    balance_usd = (await world.client.card(card_id)).balance_usd
    await world.act(f"purchases/{done['transaction_id']}/settle")

    purchase = (models.CardAuthorized, models.CardTransaction)
    authorized, settled = [event for event in await typed_events(world) if isinstance(event, purchase)]

    assert isinstance(authorized, models.CardAuthorized)
    assert isinstance(settled, models.CardTransaction)
    assert (settled.data.event, settled.data.status) == ("cleared", "settled")
    assert settled.data.transaction_id == authorized.data.transaction_id
    assert (await world.client.card(card_id)).balance_usd == balance_usd
    assert [row.status for row in await history(world, card_id)] == ["settled"]


@pytest.mark.rule("R154", "R155", "R241", "R246")
async def test_a_partial_reversal_lowers_the_row_and_the_rest_settles_on_the_same_row(world: World) -> None:
    """R154, R155, R241, R246."""
    card_id = await spending_card(world)
    done = await buy(world, card_id, "40.00")
    (before,) = await history(world, card_id)
    await world.act(f"purchases/{done['transaction_id']}/reverse", {"amount_usd": "15.00"})
    (reversed_,) = await history(world, card_id)
    await world.act(f"purchases/{done['transaction_id']}/settle")
    (settled,) = await history(world, card_id)

    legs = [
        event.data.event for event in await typed_events(world) if isinstance(event, models.CardTransaction)
    ]

    assert reversed_.status == "partially_reversed"
    assert reversed_.amount_usd < before.amount_usd
    assert settled.status == "settled"
    assert settled.id == before.id
    assert legs == ["reversal", "cleared"]


@pytest.mark.rule("R154", "R240")
async def test_a_refund_changes_the_row_of_its_purchase(world: World) -> None:
    """R154, R240."""
    card_id = await spending_card(world)
    done = await buy(world, card_id, "40.00")
    await world.act(f"purchases/{done['transaction_id']}/settle")
    await world.act(f"purchases/{done['transaction_id']}/refund", {"amount_usd": "10.00"})

    (row,) = await history(world, card_id)
    last = (await typed_events(world))[-1]

    assert row.status == "partially_refunded"
    assert isinstance(last, models.CardTransaction)
    assert (last.data.event, last.data.transaction_id) == ("refund", done["transaction_id"])


@pytest.mark.rule("R036", "R037", "R162", "R163", "R239", "R245")
@pytest.mark.parametrize("code", DECLINE_CODES)
async def test_every_decline_has_its_reason_no_fee_and_its_whole_amount(code: str) -> None:
    """R036, R037, R162, R163, R239, R245."""
    async with simulated() as world:
        card_id = await spending_card(world)
        await buy(world, card_id, "12.34", decline_code=code)

        (row,) = await history(world, card_id)
        (event,) = await typed_events(world)

    assert isinstance(event, models.CardDeclined)
    assert row.decline_reason is not None
    assert event.data.decline_reason is not None
    assert row.decline_reason.code == event.data.decline_reason.code == code
    assert (row.status, row.amount_usd) == ("declined", Decimal("12.34"))
    assert row.fee_usd == row.fee_basis_usd == 0
    assert isinstance(row.decline_reason.card_blocked, bool)


@pytest.mark.rule("R164", "R258")
async def test_the_ceiling_is_on_one_purchase_and_not_on_what_a_card_holds(world: World) -> None:
    """R164, R258."""
    card_id = await spending_card(world, "12000")

    under, over = [await buy(world, card_id, amount) for amount in ("4900.00", "5000.01")]

    assert (under["outcome"], over["outcome"]) == ("authorized", "declined")
    assert over["decline_code"] == "single_purchase_limit_exceeded"


@pytest.mark.rule("R202")
async def test_a_purchase_never_shows_in_the_ledger(world: World) -> None:
    """R202."""
    card_id = await spending_card(world)
    before = [row async for row in world.client.ledger_entries()]
    done = await buy(world, card_id, "40.00")
    await world.act(f"purchases/{done['transaction_id']}/settle")

    assert [row async for row in world.client.ledger_entries()] == before


@pytest.mark.rule("R156", "R157", "R159")
async def test_the_history_of_a_closed_card_is_read_over_all_its_pages(world: World) -> None:
    """R156, R157, R159: rows that the service cannot read are left out of their page."""
    card_id = await spending_card(world)
    bought = [(await buy(world, card_id, "1.00"))["transaction_id"] for _ in range(60)]
    await world.act(f"cards/{card_id}", {"unreadable_rows": 3})
    await world.client.close(card_id, key="c1")

    rows = await history(world, card_id)

    assert len(rows) == len({row.id for row in rows}) == 57
    assert {row.transaction_id for row in rows} < set(bought)


@pytest.mark.rule("R158")
async def test_the_days_of_a_history_are_days_in_utc_with_both_ends(world: World) -> None:
    """R158; U46."""
    await world.act("clock", {"mode": "frozen", "set": "2027-03-01T23:59:59Z"})
    card_id = await spending_card(world)
    first = (await buy(world, card_id, "1.00"))["transaction_id"]
    await world.act("clock", {"advance_seconds": 1})
    second = (await buy(world, card_id, "1.00"))["transaction_id"]
    day = datetime(2027, 3, 1, tzinfo=UTC).date()

    async def of(from_: Any, to: Any) -> list[str | None]:
        found = world.client.transactions(card_id, from_date=from_, to_date=to)
        return [row.transaction_id async for row in found]

    assert await of(day, day) == [first]
    assert await of(day + timedelta(days=1), None) == [second]
    assert await of(None, day + timedelta(days=1)) == [second, first]


# Deliveries


@dataclass
class Receiver:
    """An endpoint of ours that keeps what it gets."""

    got: list[tuple[bytes, dict[str, str]]] = field(default_factory=list)

    async def take(self, request: web.Request) -> web.Response:
        self.got.append((await request.read(), dict(request.headers)))
        return web.Response(status=200)


@asynccontextmanager
async def receiving(world: World) -> AsyncIterator[tuple[Receiver, Secret]]:
    """A registered endpoint, and the secret that came with the registration."""
    receiver = Receiver()
    app = web.Application()
    app.router.add_post("/in", receiver.take)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    port = runner.addresses[0][1]
    await world.act("deliveries", {"map": {"hooks.example.com": f"http://127.0.0.1:{port}"}})
    change = await world.client.set_webhook(HOOK)
    assert change.secret is not None
    yield receiver, change.secret
    await runner.cleanup()


async def now_of(world: World) -> datetime:
    answer = (await world.control.get(f"{world.running.control_url}/state")).json()
    return datetime.fromisoformat(answer["clock"])


@pytest.mark.rule("R215", "R221", "R222", "R227", "R235")
async def test_what_the_service_signs_is_genuine_here_and_reads_like_its_log(world: World) -> None:
    """R215, R221, R222, R227, R235."""
    await world.act("clock", {"mode": "frozen"})
    card_id = await spending_card(world)
    async with receiving(world) as (receiver, secret):
        await buy(world, card_id, "40.00", original_amount="36.50", original_currency="EUR")
        await world.act("clock", {"advance_seconds": 1})
        raw, headers = receiver.got[-1]
        now = await now_of(world)

    delivery = verify(raw, headers, [secret], now)
    logged = {event.id: event async for event in world.client.events()}

    assert codec.encode(delivery.data) == codec.encode(logged[delivery.id].payload)
    assert unwrap(delivery) == unwrap(logged[delivery.id])
    assert isinstance(unwrap(delivery), models.CardAuthorized)
    with pytest.raises(NotGenuine):
        verify(raw + b" ", headers, [secret], now)


@pytest.mark.rule("R213", "R214", "R231")
async def test_events_from_before_the_registration_come_in_a_burst_and_a_rotation_signs_the_backlog_again(
    world: World,
) -> None:
    """R213, R214, R231."""
    await world.act("clock", {"mode": "frozen"})
    card_id = await spending_card(world)
    for _ in range(3):
        await buy(world, card_id, "1.00")
    await world.act("clock", {"advance_seconds": 7200})
    before = {event.id async for event in world.client.events()}
    async with receiving(world) as (receiver, first):
        await world.act("clock", {"advance_seconds": 1})
        flushed = [verify(raw, headers, [first], await now_of(world)).id for raw, headers in receiver.got]
        await world.act("deliveries", {"mode": "pause"})
        await buy(world, card_id, "1.00")
        rotated = (await world.client.set_webhook(HOOK[:-1] + b',"rotate":true}')).secret
        await world.act("deliveries", {"mode": "normal"})
        await world.act("clock", {"advance_seconds": 3600})
        raw, headers = receiver.got[-1]
        now = await now_of(world)

    assert rotated is not None
    assert len(flushed) == len(set(flushed)) >= 3
    assert set(flushed) == before
    # The attempt may have been made at any moment of the hour.
    at = datetime.fromtimestamp(int({k.lower(): v for k, v in headers.items()}["x-svc-timestamp"]), UTC)
    assert at <= now
    assert verify(raw, headers, [rotated], at).id not in flushed
    with pytest.raises(NotGenuine):
        verify(raw, headers, [first], at)


@pytest.mark.rule("R142", "R237")
async def test_a_one_time_code_reaches_whoever_waits_and_nothing_that_is_kept(world: World) -> None:
    """R142, R237; N9: where the code is must be said where the document does not show it."""
    await world.act("account", {"threeds_webhook_enabled": True})
    card_id = await spending_card(world)
    await world.client.set_webhook(HOOK)
    await world.client.set_3ds(card_id, b'{"method":"webhook"}')
    await world.act(f"cards/{card_id}/3ds", {"amount_usd": "30", "merchant": "Online Shop"})
    (row,) = [event async for event in world.client.events(event_type=CHALLENGE)]

    event = unwrap(row)

    assert isinstance(event, models.ThreeDsChallenge)
    if world.profile == "plausible":
        assert event.code is not None
        assert event.code.reveal() == row.payload["code"]
        assert event.code.reveal() not in f"{event!r} {event.raw} {event.data.raw}"
    for name, value in row.payload.items():
        # Names the document does not show are not kept, so a code under a new name is not either.
        assert name in event.data.raw or not isinstance(value, str) or value not in str(event.raw)


@pytest.mark.rule("R122")
async def test_a_charge_above_a_limit_of_the_card_is_declined_for_that_limit(world: World) -> None:
    """R122 as a purchase meets it."""
    card_id = await spending_card(world)
    await world.client.set_limits(card_id, b'{"daily_limit":10}')

    done = await buy(world, card_id, "10.01")

    assert (done["outcome"], done["decline_code"]) == ("declined", "daily_limit_exceeded")


async def test_bytes_that_were_stored_say_the_same_as_when_they_came(world: World) -> None:
    card_id = await spending_card(world)
    await buy(world, card_id, "1.00")
    async for event in world.client.events():
        raw = codec.encode(
            {
                "id": event.id,
                "type": event.type,
                "created_at": event.created_at.isoformat(),
                "data": event.payload,
            }
        )
        assert unwrap(raw) == unwrap(event) == unwrap(Delivery.read(codec.decode(raw)))


@pytest.mark.rule("R160", "R161")
async def test_a_search_the_service_cannot_carry_out_is_asked_again_and_a_refused_one_is_not(
    world: World,
) -> None:
    """R160, R161."""
    card_id = await spending_card(world)
    path = "GET /cards/{cardId}/transactions"
    await world.fault(path, "status", status=502, code="UNAVAILABLE", times=2)
    assert await history(world, card_id) == []

    await world.fault(path, "status", status=400, code="BAD_REQUEST")
    with pytest.raises(errors.BadRequest) as refused:
        await history(world, card_id)

    assert refused.value.attempts == 1
