"""Of several decisions on one setting the one made last counts, whatever the clocks of the processes say."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from functools import partial

import pytest
import pytest_asyncio

from bot.domain.requests import Request, State
from bot.services.alerts import card_rules
from bot.services.cards import card_sync
from bot.services.core import Core
from storage.store import Store
from storage.vault import Keyring, Vault
from tests.services.outcome_steps import alert_kinds, execute
from tests.support.clock import OtherClock
from tests.support.world import ALICE, CAROL, MASTER, World

pytestmark = pytest.mark.by_turns(3)

FAST_S = (-1.0, 1.0, 540.0)
# The kinds that set the same, each with what its form holds; whoever may request them.
SETTINGS: dict[str, tuple[str, list[tuple[str, dict[str, str]]]]] = {
    "frozen or not": (ALICE, [("card_freeze", {}), ("card_unfreeze", {})]),
    "limits": (ALICE, [("card_limits", {"daily_limit": "900"}), ("card_limits", {"daily_limit": "10"})]),
    "markup": (CAROL, [("fees_markup", {"markup_percent": "9"}), ("fees_markup", {"markup_percent": "2"})]),
}


@pytest_asyncio.fixture(params=FAST_S)
async def processes(world: World, request: pytest.FixtureRequest) -> AsyncIterator[tuple[Core, Core]]:
    """Two of one installation, and the clock of the second is wrong."""
    clock = OtherClock(world.clock, request.param)
    vault = Vault(Keyring.parse(MASTER))
    url = f"sqlite:///{world.store.database.path}"
    store = await Store.open(url, vault=vault, clock=clock, exclusive=False)
    yield world.core, replace(world.core, store=store, clock=clock, owner="another")
    await store.close()


async def _approved(world: World, process: Core, setting: str, way: int) -> Request:
    """Requested and approved at this process."""
    world.goes_on_as(process)
    by, ways = SETTINGS[setting]
    kind, texts = ways[way]
    card = {} if kind == "fees_markup" else {"card": world.cards[0]["id"]}
    request, _ = await world.approve(await world.ask(kind, {**texts, **card}, by=by))
    return request


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("first", [0, 1], ids=["right one first", "wrong one first"])
async def test_what_was_approved_last_is_set_however_wrong_the_clock_of_a_process_is(
    world: World, processes: tuple[Core, Core], setting: str, first: int
) -> None:
    """Carried out one after the other, each by the process that took it."""
    if setting == "frozen or not":
        await world.tell(f"cards/{world.cards[0]['id']}", {"status": "FROZEN"})
    older = await _approved(world, processes[first], setting, 1)
    assert (await execute(world, older)).state is State.SUCCEEDED

    newer = await _approved(world, processes[1 - first], setting, 0)

    ended = await execute(world, newer)
    assert ended.state is State.SUCCEEDED, ended.outcome_text


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("first", [0, 1], ids=["right one first", "wrong one first"])
async def test_of_two_that_wait_the_one_approved_first_is_not_sent(
    world: World, processes: tuple[Core, Core], setting: str, first: int
) -> None:
    older = await _approved(world, processes[first], setting, 1)
    newer = await _approved(world, processes[1 - first], setting, 0)
    world.goes_on_as(processes[first])  # it has not seen yet what the other one has recorded

    assert (await execute(world, older)).state is State.CANCELLED
    world.goes_on_as(processes[1 - first])
    ended = await execute(world, newer)

    assert ended.state is State.SUCCEEDED, ended.outcome_text


async def test_what_is_frozen_at_once_is_frozen_after_an_unfreeze_by_a_fast_clock(
    world: World, processes: tuple[Core, Core]
) -> None:
    card = world.cards[0]["id"]
    await world.tell(f"cards/{card}", {"status": "FROZEN"})
    await execute(world, await _approved(world, processes[1], "frozen or not", 1))
    world.goes_on_as(processes[0])

    freeze = await world.ask("card_freeze", {"card": card}, now=True)

    assert (await execute(world, freeze)).state is State.SUCCEEDED
    assert "card_status" not in await alert_kinds(world)

    await world.tell(f"cards/{card}", {"status": "ACTIVE"})  # as whoever unfreezes it elsewhere
    await world.advance(1)
    look = partial(card_rules.look_at, core=world.core, after=world.core.store.log_known_to)
    await card_sync.refresh_card(world.core, "main", card, then=look)
    assert "card_status" in await alert_kinds(world)
