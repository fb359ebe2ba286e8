"""The account behind a key is compared at every poll of it: another one stops sending, until it is the known one."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta

import pytest

from bot import startup
from bot.domain.requests import State
from bot.partner.client import PartnerClient
from bot.partner.ratelimit import RateLimiter
from bot.services.events import Poller
from bot.services.money import float_lookups
from bot.services.operators import health, pausing, programs
from storage.cards import api_snapshots
from storage.messages import alerts
from tests.services.outcome_steps import Fault, alert_kinds, execute, jump, status
from tests.support.world import BOB, World

ME, TOPUP = "GET /me", "POST /cards/{cardId}/topup"


async def polled(world: World) -> None:
    await Poller(world.core, account_every=timedelta(minutes=1)).account()


@asynccontextmanager
async def key_of_another_account(world: World) -> AsyncIterator[None]:
    """The program's key is exchanged for one of another account, while the bot runs."""
    other = (await world.tell("accounts", {}))["account"]
    key = (await world.tell("keys", {"account": other}))["key"]
    client = PartnerClient(world.simulator.base_url, key, limiter=RateLimiter(world.clock), clock=world.clock)
    before = world.core.partners
    world.rebuild(partners={"main": client})
    yield
    world.rebuild(partners=before)
    await client.aclose()


async def why_paused(world: World) -> str:
    return await programs.paused_now(world.core, "main")


async def test_a_key_of_another_account_stops_sending_and_nothing_of_that_account_is_kept(
    world: World,
) -> None:
    await polled(world)
    async with world.store.read() as tx:
        before = await api_snapshots.get(tx, "main", "me")
    request = await world.top_up("50")
    async with key_of_another_account(world):
        await polled(world)
        with pytest.raises(programs.OtherAccount):
            await float_lookups.read_account(world.core, "main")
        await execute(world, request)

        assert "belongs to another account" in await why_paused(world)
        assert await alert_kinds(world) == {"account_changed"}
        assert await world.sent("POST /topup") == []
        async with world.store.read() as tx:
            assert await api_snapshots.get(tx, "main", "me") == before

    await programs.probe_paused(world.core)
    assert await why_paused(world) == ""
    assert await alert_kinds(world) == set()
    assert (await execute(world, request)).state is State.SUCCEEDED


async def test_a_key_that_works_again_but_is_of_another_account_does_not_end_the_pause(world: World) -> None:
    await polled(world)
    await status(401, "UNAUTHORIZED").set(world, TOPUP)
    await execute(world, await world.top_up("50"))
    assert await alert_kinds(world) == {"key_trouble"}
    await world.advance(30)

    async with key_of_another_account(world):
        await programs.probe_paused(world.core)

        assert "belongs to another account" in await why_paused(world)
        assert await alert_kinds(world) == {"account_changed"}
        async with world.store.read() as tx:
            over = await alerts.newest(tx, "key_trouble", "main")
        assert over is not None
        assert over.state == "resolved"
        assert over.title == "The key of main works, but belongs to another account"
        assert "are sent now" not in over.text


async def test_a_key_that_works_again_while_people_paused_sending_says_no_word_of_sending(
    world: World,
) -> None:
    await polled(world)
    await status(401, "UNAUTHORIZED").set(world, TOPUP)
    await execute(world, await world.top_up("50"))
    await pausing.pause(world.core, BOB, ["main"], "the key may be stolen")
    await world.advance(30)

    await programs.probe_paused(world.core)

    async with world.store.read() as tx:
        over = await alerts.newest(tx, "key_trouble", "main")
    assert over is not None
    assert "are sent now" not in over.text
    assert "Sending stays paused" in over.text


async def test_nothing_is_sent_after_a_start_before_the_api_has_said_whose_the_key_is(world: World) -> None:
    await polled(world)
    request = await world.top_up("50")
    await Fault("status", {"status": 500, "code": "UNAVAILABLE", "times": 4}).set(world, ME)
    await startup._same_partner(world.store, "main", world.core.partners["main"])

    await execute(world, request)
    assert await world.sent("POST /topup") == []
    assert "could not be read at the start" in await why_paused(world)
    said = await health.keys_work(world.core) or ""
    assert "does not take the key" not in said, "nobody asked it"
    assert "could not be read at the start" in said

    await programs.probe_paused(world.core)
    assert await health.keys_work(world.core) is None
    assert (await execute(world, request)).state is State.SUCCEEDED


async def test_a_lost_answer_is_not_looked_up_at_another_account(world: World) -> None:
    """What that account's ledger lacks would be called failed."""
    await polled(world)
    await Fault("drop_after_commit").set(world, TOPUP)
    request = await world.top_up("50")
    await execute(world, request)

    async with key_of_another_account(world):
        await polled(world)
        assert (await jump(world, request)).state is State.EXECUTING
