"""A lease is one owner's until it is given back or not renewed; PostgreSQL's own clock says when."""

import asyncio
from datetime import timedelta

import pytest
from sqlalchemy import update

from storage import tables as t
from storage.operators import leases
from storage.store import Store
from storage.transaction import LONGEST_LEASE
from tests.storage.conftest import Opener
from tests.support.clock import FrozenClock
from tests.support.leases import lease_end

LASTS = timedelta(seconds=30)


@pytest.fixture
async def store(url: str, open_store: Opener) -> Store:
    return await open_store(url)


async def take(store: Store, owner: str, lasts: timedelta = LASTS) -> bool:
    async with store.begin() as tx:
        return bool(await leases.take(tx, ["watch"], owner, lasts=lasts))


async def test_a_lease_is_one_owners_and_renewed_by_nobody_else(store: Store) -> None:
    assert await take(store, "a")
    assert not await take(store, "b")
    assert await take(store, "a")
    assert not await take(store, "b")


async def test_a_lease_that_is_not_renewed_is_taken_over(store: Store, clock: FrozenClock) -> None:
    short = timedelta(milliseconds=20)
    assert await take(store, "a", short)
    clock.advance(0.02)
    await asyncio.sleep(0.03)

    assert await take(store, "b")
    assert not await take(store, "a")


async def test_a_lease_given_back_is_free_at_once_and_only_its_owner_gives_it_back(store: Store) -> None:
    await take(store, "a")
    async with store.begin() as tx:
        await leases.give_back(tx, ["watch"], "b")
    assert not await take(store, "b")
    async with store.begin() as tx:
        await leases.give_back(tx, ["watch"], "a")
    assert await take(store, "b")


async def test_of_many_that_ask_at_once_one_gets_it(store: Store) -> None:
    got = await asyncio.gather(*(take(store, f"bot-{n}") for n in range(8)))

    assert sum(got) == 1


async def test_what_says_that_it_is_held_for_longer_than_any_lease_is_free(store: Store) -> None:
    """Somebody wrote it, so that nobody does what it is about."""
    await take(store, "ghost")
    for later in (LONGEST_LEASE + timedelta(minutes=1), timedelta(days=30_000)):
        async with store.begin() as tx:
            far = lease_end(tx, timedelta(0)) + later
            await tx.run(update(t.lease).values(owner="ghost", until=far))
        assert await take(store, "b")
        assert not await take(store, "c")


async def test_no_lease_is_for_longer_than_that(store: Store) -> None:
    with pytest.raises(ValueError, match="no lease is for longer"):
        await take(store, "a", LONGEST_LEASE + timedelta(seconds=1))
