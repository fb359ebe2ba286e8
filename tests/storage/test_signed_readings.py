"""A signed reading of two processes on one database: whichever writes next, and whenever it began, neither takes what
the other wrote for an older one that somebody put back."""

from __future__ import annotations

import itertools

import pytest
from sqlalchemy import update

from storage import tables as t
from storage.cards import api_snapshots
from storage.store import Store
from tests.storage.conftest import Opener

pytestmark = pytest.mark.by_turns(2)

#: One process alone uses a file.
POSTGRESQL = pytest.mark.parametrize("databases", ["postgresql"], indirect=True)
NAME = "ledger_watch"
#: Every order in which two processes write five times.
ORDERS = ["".join(order) for order in itertools.product("ab", repeat=5)]
A, B = "a", "b"


@pytest.fixture
async def stores(store: Store, url: str, open_store: Opener) -> dict[str, Store]:
    return {A: store, B: await open_store(url)}


async def write(store: Store, of: str, what: str) -> None:
    async with store.begin() as tx:
        await api_snapshots.put_signed(tx, of, NAME, {"wrote": what})


async def read(store: Store, of: str) -> object:
    async with store.read() as tx:
        found = await api_snapshots.get_signed(tx, of, NAME)
    return None if found is None else found.value["wrote"]


@POSTGRESQL
async def test_what_one_wrote_is_never_an_older_one_for_the_other(
    stores: dict[str, Store],
) -> None:
    """`order`: who writes. Whoever does not, stands still, and remembers what was there before."""
    for order in ORDERS:
        await write(stores[A], order, "first")
        assert await read(stores[B], order) == "first"
        for place, who in enumerate(order):
            await write(stores[who], order, f"{who}{place}")
        last = f"{order[-1]}{len(order) - 1}"
        assert [await read(stores[who], order) for who in (A, B)] == [last, last], order


@POSTGRESQL
async def test_who_began_first_and_ends_last_has_the_higher_number(
    stores: dict[str, Store],
) -> None:
    await write(stores[A], "main", "first")
    async with stores[B].begin() as slow:
        assert await api_snapshots.get_signed(slow, "main", NAME)
        await write(stores[A], "main", "second")
        await write(stores[A], "main", "third")
        await api_snapshots.put_signed(slow, "main", NAME, {"wrote": "slow"})

    assert [await read(stores[who], "main") for who in (A, B)] == ["slow", "slow"]


async def test_a_number_that_somebody_wrote_is_none_to_go_on_from(store: Store) -> None:
    await write(store, "main", "first")
    async with store.begin() as tx:
        forged = {"wrote": "forged", "n": 99, "mac": "none of ours"}
        await tx.run(update(t.reading).where(t.reading.c.name == NAME).values(value=forged))

    assert await read(store, "main") is None
    await write(store, "main", "second")

    assert await read(store, "main") == "second"
    async with store.read() as tx:
        found = await api_snapshots.get(tx, "main", NAME)
    assert found is not None
    assert found.value["n"] == 2


async def test_one_that_somebody_put_back_gives_no_lower_number(store: Store) -> None:
    await write(store, "main", "first")
    async with store.read() as tx:
        older = await api_snapshots.get(tx, "main", NAME)
    assert older is not None
    await write(store, "main", "second")
    async with store.begin() as tx:
        await tx.run(update(t.reading).where(t.reading.c.name == NAME).values(value=older.value))

    assert await read(store, "main") is None
    await write(store, "main", "third")

    assert await read(store, "main") == "third"
    async with store.begin() as tx:
        await tx.run(update(t.reading).where(t.reading.c.name == NAME).values(value=older.value))
    assert await read(store, "main") is None
