"""What a reading of the API shows is held against what happened here by the order of both, and by no clock: each
machine has its own, and they differ. A reading of before accuses nobody, ends no alert, and is not the one that was
queued since.

The second process reads, and its clock is ahead of that of the first, which carries out what people decide.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from functools import partial
from typing import Any

import pytest
import pytest_asyncio

from bot.domain.requests import State
from bot.partner.client import PartnerClient
from bot.services.alerts import card_rules
from bot.services.cards import card_lookups, card_sync
from bot.services.core import Core
from bot.services.events import Poller, inbox
from storage.cards import cards
from storage.messages import alerts
from storage.store import Store
from storage.vault import Keyring, Vault
from tests.services.outcome_steps import execute, open_alerts
from tests.services.test_newest_wins import status_changed
from tests.support.clock import OtherClock
from tests.support.situations import a_freeze, card_status
from tests.support.world import MASTER, World

pytestmark = pytest.mark.by_turns(4)

#: By so many seconds the clock of the process that reads is ahead.
AHEAD_S = (-119.0, -0.3, 0.0, 0.3, 119.0)
DOORS = ("sweep", "one card")
#: Queued readings are made every three seconds.
_TURN_S = 3.0


@pytest_asyncio.fixture(params=AHEAD_S)
async def reader(world: World, request: pytest.FixtureRequest) -> AsyncIterator[Core]:
    """Another process of the installation, whose clock is ahead."""
    clock = OtherClock(world.clock, request.param)
    url = f"sqlite:///{world.store.database.path}"
    store = await Store.open(url, vault=Vault(Keyring.parse(MASTER)), clock=clock, exclusive=False)
    yield replace(world.core, store=store, clock=clock, owner="another")
    await store.close()


@pytest_asyncio.fixture
async def poller(world: World, reader: Core) -> Poller:
    """Of the process that reads; all cards were read once."""
    made = Poller(reader, account_every=timedelta(minutes=1))
    await made.cards()
    await world.advance(300)
    return made


@asynccontextmanager
async def in_flight(world: World, reads: Callable[[], Awaitable[Any]]) -> AsyncIterator[None]:
    """It has its answer before the block, and is handled after it."""
    read, go_on = asyncio.Event(), asyncio.Event()
    one, listing = PartnerClient.card, PartnerClient.cards

    async def slow_card(partner: PartnerClient, *args: Any, **named: Any) -> Any:
        found = await one(partner, *args, **named)
        read.set()
        await go_on.wait()
        return found

    async def slow_list(partner: PartnerClient, **named: Any) -> AsyncIterator[Any]:
        async for card in listing(partner, **named):
            yield card
        read.set()
        await go_on.wait()

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(PartnerClient, "card", slow_card)
        patched.setattr(PartnerClient, "cards", slow_list)
        task = asyncio.ensure_future(reads())
        await read.wait()
    await world.advance(0.2)
    yield
    await world.advance(0.2)
    go_on.set()
    await task


async def reading(world: World, poller: Poller, door: str) -> Callable[[], Awaitable[Any]]:
    if door == "one card":
        await changed_by_others(world)
    return poller.cards if door == "sweep" else poller.moved


async def changed_by_others(world: World, to: str = "") -> None:
    """At the card provider, which sends an event for it."""
    if to:
        await world.tell(f"cards/{world.cards[0]['id']}", {"status": to})
    async with world.store.begin() as tx:
        await inbox.on_event(tx, world.core, status_changed(world))


async def frozen_here(world: World) -> None:
    freeze = await execute(world, await a_freeze(world))
    assert freeze.state is State.SUCCEEDED


async def unfrozen_here(world: World) -> None:
    """By a process that ends before it has read the card again."""
    unfreeze = await world.ask("card_unfreeze", {"card": world.cards[0]["id"]})
    await world.approve(unfreeze)
    with world.dies_at("execution.finished"):
        await execute(world, unfreeze)
    assert (await world.request(unfreeze.id)).state is State.SUCCEEDED


async def turns(world: World, poller: Poller, *, seconds: float = 2 * _TURN_S) -> None:
    """Whatever is queued is read."""
    for _ in range(int(seconds / _TURN_S)):
        await world.advance(_TURN_S)
        await poller.moved()


async def of_cards(world: World) -> list[str]:
    """The titles of what is open about cards."""
    kinds = ("card_status", "card_blocked")
    return [alert.title for alert in await open_alerts(world) if alert.kind in kinds]


async def listed(world: World) -> str | None:
    async with world.store.read() as tx:
        entry = await cards.get(tx, world.cards[0]["id"])
    assert entry is not None
    return entry.status


@pytest.mark.parametrize("door", DOORS)
async def test_a_reading_that_began_before_a_freeze_accuses_nobody(
    world: World, poller: Poller, door: str
) -> None:
    async with in_flight(world, await reading(world, poller, door)):
        await frozen_here(world)

    assert await of_cards(world) == []
    await turns(world, poller)
    assert await of_cards(world) == []
    await world.advance(600)
    await poller.cards()
    await turns(world, poller)
    assert await of_cards(world) == []
    assert await listed(world) == await card_status(world) == "FROZEN"


@pytest.mark.parametrize("door", DOORS)
async def test_an_unfreeze_by_others_is_reported_within_seconds_whatever_was_in_flight_before_it(
    world: World, poller: Poller, door: str
) -> None:
    async with in_flight(world, await reading(world, poller, door)):
        await frozen_here(world)
        await world.tell(f"cards/{world.cards[0]['id']}", {"status": "ACTIVE"})

    await turns(world, poller)

    assert len(await of_cards(world)) == 1


@pytest.mark.parametrize("door", DOORS)
async def test_an_unfreeze_by_others_is_reported_by_the_first_reading_that_began_after_it(
    world: World, poller: Poller, door: str
) -> None:
    await frozen_here(world)
    await world.advance(1)
    if door == "sweep":
        await world.tell(f"cards/{world.cards[0]['id']}", {"status": "ACTIVE"})
        await poller.cards()
        await turns(world, poller)
    else:
        await changed_by_others(world, "ACTIVE")
        await poller.moved()

    (title,) = await of_cards(world)
    assert "nobody here decided that" in title


async def test_an_event_that_comes_while_the_card_is_read_has_it_read_again(
    world: World, poller: Poller
) -> None:
    await frozen_here(world)
    await world.advance(1)
    async with in_flight(world, await reading(world, poller, "one card")):
        await changed_by_others(world, "ACTIVE")

    await turns(world, poller)

    assert len(await of_cards(world)) == 1


@pytest.mark.parametrize("door", DOORS)
async def test_what_was_read_before_an_alert_does_not_end_it_and_what_is_read_after_it_does(
    world: World, poller: Poller, door: str
) -> None:
    await frozen_here(world)
    await world.advance(1)
    async with in_flight(world, await reading(world, poller, door)):
        await world.tell(f"cards/{world.cards[0]['id']}", {"status": "ACTIVE"})
        await changed_by_others(world)
        await Poller(world.core, account_every=timedelta(minutes=1)).moved()
        assert len(await of_cards(world)) == 1

    assert len(await of_cards(world)) == 1
    await turns(world, poller)
    assert len(await of_cards(world)) == 1
    await world.advance(130)
    if door == "sweep":
        await world.tell(f"cards/{world.cards[0]['id']}", {"status": "FROZEN"})
        await poller.cards()
    else:
        await changed_by_others(world, "FROZEN")
    await turns(world, poller)
    assert await of_cards(world) == []


async def test_a_sweep_that_began_between_a_freeze_and_an_unfreeze_of_ours_accuses_nobody(
    world: World, poller: Poller
) -> None:
    await frozen_here(world)
    await world.advance(1)
    async with in_flight(world, poller.cards):
        await unfrozen_here(world)

    assert await of_cards(world) == []
    await turns(world, poller)
    await world.advance(600)
    await poller.cards()
    assert await of_cards(world) == []
    assert await listed(world) == "ACTIVE"


@pytest.mark.parametrize("ours", ["nothing", "unfrozen before"])
async def test_a_freeze_by_others_is_reported_by_the_next_sweep(
    world: World, poller: Poller, ours: str
) -> None:
    if ours != "nothing":
        await frozen_here(world)
        await world.advance(1)
        await unfrozen_here(world)
        await world.advance(130)
    await world.tell(f"cards/{world.cards[0]['id']}", {"status": "FROZEN"})

    await poller.cards()

    (title,) = await of_cards(world)
    assert "frozen outside Countersign" in title
    await world.advance(600)
    await world.tell(f"cards/{world.cards[0]['id']}", {"status": "ACTIVE"})
    await poller.cards()
    assert await of_cards(world) == []


async def test_a_sweep_that_began_before_a_block_does_not_end_its_alert(world: World, poller: Poller) -> None:
    card = world.cards[0]
    async with in_flight(world, poller.cards):
        await world.tell(f"cards/{card['id']}", {"status": "BLOCKED"})
        async with world.store.begin() as tx:
            await card_rules.blocked(tx, world.core, "main", card["id"], "the card", "It was blocked.")

    assert len(await of_cards(world)) == 1
    await world.advance(600)
    await world.tell(f"cards/{card['id']}", {"status": "ACTIVE"})
    await poller.cards()
    assert await of_cards(world) == []


@pytest.mark.parametrize("after_s", [30, 600])
@pytest.mark.parametrize("first", ["reader", "other"])
async def test_a_close_by_others_is_reported_once_whichever_process_sweeps_next(
    world: World, poller: Poller, after_s: float, first: str
) -> None:
    pollers = [poller, Poller(world.core, account_every=timedelta(minutes=1))]
    if first == "other":
        pollers.reverse()
    await world.advance(300)
    await pollers[0].cards()
    await world.advance(after_s)
    await world.core.partners["main"].close(world.cards[0]["id"], key="by-others")
    for _ in range(2):
        for one in reversed(pollers):
            await one.cards()
            await world.advance(200)

    async with world.store.read() as tx:
        reported = [one.title for one in await alerts.raised_since(tx, world.clock.now() - timedelta(days=1))]
    assert len([title for title in reported if "closed outside Countersign" in title]) == 1


@pytest.mark.parametrize("door", [*DOORS, "somebody looks"])
@pytest.mark.parametrize("change", [frozen_here, unfrozen_here])
async def test_a_card_is_listed_as_it_is_within_seconds_of_a_reading_that_began_before_it_changed(
    world: World, poller: Poller, reader: Core, door: str, change: Callable[[World], Awaitable[None]]
) -> None:
    if change is unfrozen_here:
        await frozen_here(world)
        await turns(world, poller)
        await world.advance(1)
    looks = partial(card_lookups.card_now, reader, world.cards[0]["id"])
    async with in_flight(world, looks if door == "somebody looks" else await reading(world, poller, door)):
        await change(world)
        await Poller(world.core, account_every=timedelta(minutes=1)).moved()

    await turns(world, poller)

    assert await listed(world) == await card_status(world)


async def test_the_message_of_a_top_up_says_what_the_card_holds_by_a_reading_that_began_after_it(
    world: World, poller: Poller, reader: Core
) -> None:
    """Whoever else looks at the card meanwhile."""
    before = await balance(world)
    looks = partial(card_lookups.card_now, reader, world.cards[0]["id"])
    async with in_flight(world, looks):
        request = await world.top_up("50")
        await execute(world, request)
    await turns(world, poller)

    said = ((await world.request(request.id)).outcome or {})[card_sync.CARD_AFTER]
    assert Decimal(said) == before + 50


async def balance(world: World) -> Decimal:
    async with world.store.read() as tx:
        entry = await cards.get(tx, world.cards[0]["id"])
    assert entry is not None
    assert entry.balance_usd is not None
    return entry.balance_usd
