"""A copy, without anchors, where several programs move money: the ledger of any of them shows it, also late.

A copy is one of the whole database, and its limits hold over all programs: until each ledger was read, or held for long
enough, nothing that can wait is sent to any.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.domain.requests import State
from bot.partner import codec
from bot.partner.client import PartnerClient
from bot.partner.ratelimit import RateLimiter
from bot.partner.secret import Secret
from bot.services.anchor_places import AnchorPlaces
from bot.services.older_copies import copy_detection, messages_in_slack
from bot.services.overview import status
from bot.services.processes import start_holds
from storage.operators import pauses, programs
from tests.partner import simulated
from tests.storage.restores import put_in_place, restart_on
from tests.storage.test_restores_at_odd_times import copied, in_force, read_ledger
from tests.support.databases import Databases
from tests.support.world import World, a_world

pytestmark = pytest.mark.by_turns(3)

ORDER = codec.encode(simulated.ORDER)


@pytest.fixture
async def world(tmp_path: Path, own_url: str) -> AsyncIterator[World]:
    async with a_world(tmp_path, url=own_url) as world:
        account = (await world.tell("accounts", {"name": "Second"}))["account"]
        key = (await world.tell("keys", {"account": account}))["key"]
        await world.tell("float", {"account": account, "amount_usd": "5000"})
        async with world.store.begin() as tx:
            await programs.put(tx, "second", base_url=world.simulator.base_url, key=Secret(key))
        client = PartnerClient(
            world.simulator.base_url, key, limiter=RateLimiter(world.clock), clock=world.clock
        )
        world.rebuild(
            partners={**world.core.partners, "second": client},
            live={"main": False, "second": False},
            anchors=AnchorPlaces([]),
        )
        await read_ledger(world)
        yield world
        await client.aclose()
        await world.store.close()


async def done_since(world: World, program: str) -> None:
    """Something under a key of this installation, at this program."""
    key = world.core.ids.idempotency_key()
    if program == "main":
        await world.core.partners[program].top_up(world.cards[0]["id"], b'{"amount_usd": 5}', key=key)
    else:
        await world.core.partners[program].order_card(ORDER, key=key)


async def paused(world: World) -> set[str]:
    async with world.store.read() as tx:
        return {one.program for one in await pauses.all(tx)}


@pytest.mark.parametrize("program", ["main", "second"])
async def test_the_ledger_of_any_program_shows_the_copy_and_nothing_is_sent_to_any(
    world: World, databases: Databases, tmp_path: Path, program: str
) -> None:
    copy = await copied(world, tmp_path / "copy.db")
    await done_since(world, program)
    url = await put_in_place(copy, databases)
    await restart_on(world, url)
    await copy_detection.hold_until_seen(world.core)
    assert await in_force(world)
    assert await paused(world) == {"main", "second"}
    await world.store.close()
    databases.drop(url)


async def test_a_ledger_that_cannot_be_read_holds_every_program_and_starts_safe_mode_for_all_when_it_is_read(
    world: World, databases: Databases, tmp_path: Path
) -> None:
    copy = await copied(world, tmp_path / "copy.db")
    await done_since(world, "second")
    url = await put_in_place(copy, databases)
    await restart_on(world, url)
    away = world.core.partners["second"]
    nobody = PartnerClient(
        "http://127.0.0.1:9", "svc_live_00000000x", limiter=RateLimiter(world.clock), clock=world.clock
    )
    world.rebuild(partners={**world.core.partners, "second": nobody})
    await copy_detection.hold_until_seen(world.core)
    assert world.core.awaits_look()
    assert "main" not in world.core.unseen
    assert "could not read its ledger" in (await status.program_state(world.core, "second")).paused
    assert (
        "could not read the ledger of another program"
        in (await status.program_state(world.core, "main")).paused
    )
    request = await world.top_up("5")
    frozen = await world.ask("card_freeze", {"card": world.cards[1]["id"]}, now=True)
    await world.run(30)
    assert (await world.request(request.id)).state is State.APPROVED, "what was spent in the other counts too"
    assert (await world.request(frozen.id)).state is State.SUCCEEDED, "a freeze cannot wait"

    world.rebuild(partners={**world.core.partners, "second": away})
    await copy_detection.look_again(world.core, messages_in_slack.nothing_posted)
    await start_holds.report(world.core)
    assert await in_force(world)
    assert await paused(world) == {"main", "second"}
    await nobody.aclose()
    await world.store.close()
    databases.drop(url)
