"""What the bot did is seen at once: in lists, in balances, in the message of a new card. It never waits for a sweep."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from bot.domain.requests import State
from bot.partner.client import PartnerClient
from bot.services import snapshots
from bot.services.cards import card_lookups, card_sync
from bot.services.events import Poller
from bot.services.messages import view_model_loader
from bot.view_models import RequestView
from storage.cards import cards
from storage.messages import outbox
from tests.services.outcome_steps import execute
from tests.support.situations import a_freeze
from tests.support.world import World

ORDER = {
    "card_holder_name": "ZOE OBRIEN",
    "phone_country_code": "353",
    "phone": "851234567",
    "email": "zoe@example.com",
}


@pytest.fixture
async def poller(world: World) -> Poller:
    made = Poller(world.core, account_every=timedelta(seconds=60))
    await made.account()
    await made.cards()
    return made


async def listed(world: World, holder_or_id: str) -> Any:
    found = (await card_lookups.card_list(world.core)).cards
    (card,) = [card for card in found if holder_or_id in (card.id, card.holder)]
    return card


async def balance(world: World, card: int = 0) -> Decimal:
    shown = (await listed(world, world.cards[card]["id"])).balance_usd
    return Decimal(shown or "0")


async def test_the_list_shows_what_our_own_top_up_left_and_not_what_the_service_read_before_it(
    world: World, poller: Poller
) -> None:
    await world.advance(301)
    before = await balance(world)
    await world.top_up("7")
    await world.run_due()
    await world.advance(3)
    await poller.moved()

    assert await balance(world) == before + 7

    await poller.cards()
    async with world.store.read() as tx:
        kept = await cards.get(tx, world.cards[0]["id"])
    assert kept is not None
    assert kept.balance_usd == before + 7, "the sweep's older reading does not replace ours"


async def test_a_reading_that_failed_after_the_outcome_is_made_up_for_within_five_seconds(
    world: World, poller: Poller
) -> None:
    await world.advance(301)
    before = await balance(world)
    await world.top_up("7")
    # With all the repeats of the client.
    await world.fault("status", "POST /cards/balances", status=503, times=4)
    await world.run_due()
    await poller.moved()

    await world.advance(5)
    await poller.moved()

    assert await balance(world) == before + 7


async def test_the_float_is_read_after_what_moved_it(world: World, poller: Poller) -> None:
    async with world.store.read() as tx:
        before = await snapshots.ACCOUNT.get(tx, "main")
    await world.top_up("7")
    await world.run_due()
    await world.advance(3)
    await poller.moved()

    async with world.store.read() as tx:
        after = await snapshots.ACCOUNT.get(tx, "main")
    assert before is not None
    assert after is not None
    assert after.value.balance_usd == before.value.balance_usd - 7


async def test_a_new_card_has_its_number_as_soon_as_the_service_has_and_its_message_says_so(
    world: World, poller: Poller
) -> None:
    await world.tell("account", {"first_sync": "delayed"})
    request = await world.ask("card_order", ORDER)
    await world.approve(request)
    await world.run_due()
    assert (await listed(world, "ZOE OBRIEN")).last4 is None
    async with world.store.begin() as tx:
        for row in await outbox.next_due(tx, limit=100):
            await outbox.drop(tx, row.id, "drawn")

    for _ in range(40):
        await world.advance(3)
        await poller.moved()

    last4 = (await listed(world, "ZOE OBRIEN")).last4
    assert last4 is not None
    async with world.store.read() as tx:
        queued = [row for row in await outbox.next_due(tx, limit=100) if row.kind == "card"]
        assert await card_sync.queued_readings(tx, "main") == {}
    shown = await view_model_loader.row(world.core, queued[-1])
    assert isinstance(shown, RequestView)
    assert f"Card ••{last4} is ready." in shown.request.outcome_text


async def test_an_empty_or_failed_first_list_of_cards_is_read_again_soon(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    honest, answers = card_sync.sync_cards, iter([0, 0])
    read: list[float] = []

    async def sync_cards(core: Any, program: str, **named: Any) -> int:
        read.append(world.clock.monotonic())
        empty = next(answers, None)
        return await honest(core, program, **named) if empty is None else empty

    monkeypatch.setattr(card_sync, "sync_cards", sync_cards)
    starting = Poller(world.core, account_every=timedelta(seconds=60))
    await starting.cards()
    for _ in range(24):
        await world.advance(5)
        await starting.first_cards()

    assert len(read) == 3, "until there are cards, and then no more"
    assert read[-1] - read[0] <= 30


@pytest.mark.parametrize("what", ["the list of all cards", "the card alone"])
async def test_a_reading_that_began_before_our_own_freeze_does_not_overwrite_it(
    world: World, poller: Poller, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    """Of a large fleet the sweep takes a minute or more: what its first page showed is old by its end."""
    card_id = world.cards[0]["id"]
    read, go_on = asyncio.Event(), asyncio.Event()

    async def slow_list(partner: PartnerClient, **named: Any) -> AsyncIterator[Any]:
        async for card in listing(partner, **named):
            yield card
        read.set()
        await go_on.wait()

    async def slow_card(partner: PartnerClient, *args: Any, **named: Any) -> Any:
        found = await one(partner, *args, **named)
        read.set()
        await go_on.wait()
        return found

    reading: asyncio.Task[Any]
    listing, one = PartnerClient.cards, PartnerClient.card
    if what == "the card alone":
        monkeypatch.setattr(PartnerClient, "card", slow_card)
        reading = asyncio.create_task(card_sync.refresh_card(world.core, "main", card_id))
    else:
        monkeypatch.setattr(PartnerClient, "cards", slow_list)
        reading = asyncio.create_task(card_sync.sync_cards(world.core, "main"))
    await read.wait()
    monkeypatch.undo()
    await world.advance(1)
    freeze = await a_freeze(world)
    await world.advance(1)
    assert (await execute(world, freeze)).state is State.SUCCEEDED
    assert (await listed(world, card_id)).status == "FROZEN"

    go_on.set()
    await reading

    assert (await listed(world, card_id)).status == "FROZEN"


async def test_a_clock_that_steps_back_keeps_no_card_as_it_was(world: World, poller: Poller) -> None:
    card_id = world.cards[0]["id"]
    world.clock.advance(-3600)
    await world.tell(f"cards/{card_id}", {"status": "FROZEN"})

    await poller.cards()

    assert (await listed(world, card_id)).status == "FROZEN"


async def test_a_reading_that_began_before_our_own_top_up_is_not_what_its_message_says_the_card_holds(
    world: World, poller: Poller, monkeypatch: pytest.MonkeyPatch
) -> None:
    card_id, one = world.cards[0]["id"], PartnerClient.card
    read, go_on = asyncio.Event(), asyncio.Event()

    async def slow_card(partner: PartnerClient, *args: Any, **named: Any) -> Any:
        found = await one(partner, *args, **named)
        read.set()
        await go_on.wait()
        return found

    monkeypatch.setattr(PartnerClient, "card", slow_card)
    older = asyncio.create_task(card_sync.refresh_card(world.core, "main", card_id))
    await read.wait()
    monkeypatch.undo()
    await world.advance(1)
    request = await world.top_up("50")
    with world.dies_at("execution.finished"):  # before the card is read again
        await execute(world, request)

    go_on.set()
    await older
    async with world.store.read() as tx:
        assert card_id in await card_sync.queued_balances(tx, "main")
    assert card_sync.CARD_AFTER not in ((await world.request(request.id)).outcome or {})

    await world.advance(1)
    await poller.moved()
    said = ((await world.request(request.id)).outcome or {})[card_sync.CARD_AFTER]
    assert Decimal(said) == (await card_sync.refresh_card(world.core, "main", card_id)).balance_usd
