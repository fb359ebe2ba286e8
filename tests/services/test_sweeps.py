"""Sweeps of a large fleet: as few calls as the API allows, little memory, every figure with its time."""

import asyncio
import json
import tracemalloc
from dataclasses import replace
from decimal import Decimal

import httpx
import pytest

from bot.partner.ratelimit import DEFAULT_PER_MINUTE, KEPT_SHARE_PERCENT
from bot.services.cards import card_sync
from storage.cards import cards
from tests.support.partner_api import CannedApi, client_of, success
from tests.support.world import World

_PAGE = 1000
_READ_AT = "2026-03-02T08:00:00.000Z"


def _fleet(size: int) -> CannedApi:
    """POST /cards/balances of a fleet, page by page; each tenth card has no reading yet."""

    def page(request: httpx.Request) -> httpx.Response:
        asked = json.loads(request.content)
        first = (asked["page"] - 1) * asked["limit"]
        rows = [
            {
                "card_id": f"card{n:06}",
                "balance_usd": None if n % 10 == 0 else n / 100,
                "as_of": None if n % 10 == 0 else _READ_AT,
                "ok": n % 10 != 0,
                "error": None,
            }
            for n in range(first, min(first + asked["limit"], size))
        ]
        more = {"count": len(rows), "page": asked["page"], "total": size, "total_pages": -(-size // _PAGE)}
        return success({"balances": rows, **more})

    return CannedApi(page)


async def _swept(world: World, size: int) -> CannedApi:
    fleet = _fleet(size)
    client = client_of(fleet, world.clock)
    client._limiter.set_limit(10_000)  # the budget has tests of its own
    await card_sync.sweep_balances(replace(world.core, partners={"main": client}), "main")
    await client.aclose()
    return fleet


async def test_a_balance_sweep_costs_one_call_for_each_thousand_cards(world: World) -> None:
    fleet = await _swept(world, 2500)

    assert len(fleet.requests) == 3


async def test_swept_balances_stand_in_the_directory_with_the_time_they_were_read_at(world: World) -> None:
    known = world.cards[0]["id"]
    await card_sync.sweep_balances(world.core, "main")

    async with world.store.read() as tx:
        entry = await cards.get(tx, known)
    assert entry is not None
    assert entry.balance_usd == Decimal(str(world.cards[0]["balance_usd"]))
    assert entry.balance_at is not None
    assert entry.balance_at <= world.clock.now()


async def test_a_card_hidden_by_a_shifted_page_is_not_taken_for_closed(world: World) -> None:
    known = world.cards[0]["id"]
    await world.advance(60)
    # The list shows every card but one that only GET /cards/{cardId} knows.
    client = world.core.partners["main"]
    listed = [card async for card in client.cards() if card.id != known]

    class Shifted:
        def __getattr__(self, name: str) -> object:
            return getattr(client, name)

        async def cards(self, **_: object) -> object:
            for card in listed:
                yield card

    await card_sync.sync_cards(replace(world.core, partners={"main": Shifted()}), "main")  # type: ignore[dict-item]

    async with world.store.read() as tx:
        entry = await cards.get(tx, known)
    assert entry is not None
    assert entry.gone_at is None
    assert entry.status != "DELETED"


async def test_a_status_sweep_takes_its_share_of_each_minute_and_leaves_the_rest_to_people(
    world: World,
) -> None:
    """20,000 cards, a hundred a call: two hundred calls, of which a minute takes no more than its share."""
    moments: list[float] = []

    def answered(request: httpx.Request) -> httpx.Response:
        if not request.url.path.endswith("/cards"):
            gone = {**_card(0), "id": request.url.path.rpartition("/")[2], "status": "DELETED"}
            return success({"card": gone, "balance_usd": 0})
        moments.append(world.clock.monotonic())
        first = int(request.url.params["offset"])
        rows = [_card(n) for n in range(first, min(first + 100, 20_000))]
        return success({"cards": rows, "count": len(rows)})

    async def time_passes() -> None:
        while True:
            world.clock.advance(0.001)  # so little that nothing but the limit spreads the calls
            await asyncio.sleep(0)

    client = client_of(CannedApi(answered), world.clock)
    passing = asyncio.create_task(time_passes())
    await card_sync.sync_cards(replace(world.core, partners={"main": client}), "main")
    passing.cancel()
    await client.aclose()

    share = DEFAULT_PER_MINUTE * (100 - KEPT_SHARE_PERCENT) // 100
    assert len(moments) >= 200
    busiest = max(sum(start <= at < start + 60 for at in moments) for start in moments)
    assert busiest <= share
    assert moments[-1] - moments[0] >= 120, "spread over minutes"


def _card(number: int) -> dict[str, object]:
    return {
        "id": f"card{number:06}",
        "partner_ref": None,
        "card_holder_name": "HOLDER",
        "last4": "4242",
        "status": "ACTIVE",
        "created_at": _READ_AT,
    }


@pytest.mark.soak
async def test_a_hundred_thousand_cards_cost_a_hundred_calls_and_little_memory(world: World) -> None:
    tracemalloc.start()
    fleet = await _swept(world, 100_000)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    print(f"100,000 cards: {len(fleet.requests)} calls, {peak / 2**20:.0f} MiB at most")
    assert len(fleet.requests) == 100
    assert peak < 200 * 2**20
