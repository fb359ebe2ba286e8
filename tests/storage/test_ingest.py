"""Events go into the inbox many to a commit: durable before they are answered, each once, all or none."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime

import pytest
from sqlalchemy import text

from storage.events import Arrival, Ingest, Row, inbox
from storage.events.ingest import Writer
from storage.store import Store
from tests.storage.conftest import Opener
from tests.support.clock import FrozenClock

AT = datetime(2026, 3, 2, 8, 59, tzinfo=UTC)


def an_arrival(event_id: str, payload: bytes = b'{"amount_usd":1.10}') -> Arrival:
    return Arrival(event_id, "main", "card.authorized", AT, "webhook", payload)


class Slow:
    """Counts the commits and lets a crowd gather behind each."""

    def __init__(self, inner: Writer) -> None:
        self.inner = inner
        self.sizes: list[int] = []

    async def write(self, rows: Sequence[Row]) -> list[bool]:
        self.sizes.append(len(rows))
        await asyncio.sleep(0.02)
        return await self.inner.write(rows)

    async def close(self) -> None:
        await self.inner.close()


async def test_whoever_comes_during_a_commit_shares_the_next_one(store: Store, clock: FrozenClock) -> None:
    ingest = await Ingest.open(store, clock)
    slow = ingest._writer = Slow(ingest._writer)
    first = asyncio.create_task(ingest.put(an_arrival("e0")))
    await asyncio.sleep(0.01)

    rest = await asyncio.gather(*(ingest.put(an_arrival(f"e{n}")) for n in range(1, 40)))

    assert await first
    assert all(rest)
    assert slow.sizes == [1, 39]
    async with store.read() as tx:
        assert len(await inbox.waiting(tx, limit=100)) == 40
        assert await inbox.payload(tx, "e7") == b'{"amount_usd":1.10}'
    await ingest.close()


async def test_an_event_is_new_once_within_a_batch_and_ever_after(store: Store, clock: FrozenClock) -> None:
    ingest = await Ingest.open(store, clock)

    at_once = await asyncio.gather(*(ingest.put(an_arrival("same")) for _ in range(20)))

    assert at_once.count(True) == 1
    assert await ingest.put(an_arrival("same", b"{}")) is False
    async with store.read() as tx:
        assert await inbox.payload(tx, "same") == b'{"amount_usd":1.10}', "the first one stands"
    await ingest.close()


async def test_a_batch_that_cannot_be_committed_is_reported_to_everybody_in_it(
    own_store: Store, clock: FrozenClock
) -> None:
    ingest = await Ingest.open(own_store, clock)
    async with own_store.begin() as tx:
        await tx.run(text("ALTER TABLE inbox RENAME TO gone"))

    tried = await asyncio.gather(*(ingest.put(an_arrival(f"e{n}")) for n in range(3)), return_exceptions=True)

    assert all(isinstance(one, Exception) for one in tried)
    async with own_store.begin() as tx:
        await tx.run(text("ALTER TABLE gone RENAME TO inbox"))
    assert await ingest.put(an_arrival("e0")), "and the next one is stored again"
    async with own_store.read() as tx:
        assert [event.event_id for event in await inbox.waiting(tx)] == ["e0"]
    await ingest.close()


async def test_someone_who_leaves_neither_loses_the_event_nor_stops_the_others(
    store: Store, clock: FrozenClock
) -> None:
    ingest = await Ingest.open(store, clock)
    ingest._writer = Slow(ingest._writer)
    leaving = asyncio.create_task(ingest.put(an_arrival("left")))
    staying = asyncio.create_task(ingest.put(an_arrival("stayed")))
    await asyncio.sleep(0.01)
    leaving.cancel()

    assert await staying
    await ingest.close()
    async with store.read() as tx:
        assert {event.event_id for event in await inbox.waiting(tx)} == {"left", "stayed"}


async def test_the_inbox_and_the_other_writers_wait_for_each_other_without_an_error(
    url: str, open_store: Opener, clock: FrozenClock
) -> None:
    store = await open_store(url)
    ingest = await Ingest.open(store, clock)
    busy = asyncio.Event()

    async def other() -> None:
        async with store.begin() as tx:
            await tx.run(text("UPDATE meta SET value = value"))
            busy.set()
            await asyncio.sleep(0.05)

    for round_ in range(3):
        working = asyncio.create_task(other())
        await busy.wait()
        assert await ingest.put(an_arrival(f"e{round_}"))
        await working
    await ingest.close()


async def test_closing_lets_what_waits_be_stored(store: Store, clock: FrozenClock) -> None:
    ingest = await Ingest.open(store, clock)
    waiting = [asyncio.create_task(ingest.put(an_arrival(f"e{n}"))) for n in range(5)]
    await asyncio.sleep(0)

    await ingest.close()

    assert all(await asyncio.gather(*waiting))


@pytest.mark.parametrize("event_id", ["'; DROP TABLE inbox; --", "~" * 200])
async def test_hostile_ids_are_only_ids(store: Store, clock: FrozenClock, event_id: str) -> None:
    ingest = await Ingest.open(store, clock)

    assert await ingest.put(an_arrival(event_id))

    async with store.read() as tx:
        assert [event.event_id for event in await inbox.waiting(tx)] == [event_id]
    await ingest.close()


async def test_two_processes_share_the_inbox_and_handle_each_event_once(
    url: str, open_store: Opener, clock: FrozenClock
) -> None:
    stores = [await open_store(url), await open_store(url, exclusive=False)]
    ingest = await Ingest.open(stores[0], clock)
    await asyncio.gather(*(ingest.put(an_arrival(f"e{n}")) for n in range(40)))
    await ingest.close()
    handled: list[str] = []

    async def work(store: Store) -> None:
        while True:
            async with store.begin() as tx:
                mine = await inbox.waiting(tx, limit=5)
                await asyncio.sleep(0.01)
                for event in mine:
                    assert await inbox.processed(tx, event.event_id), "another had it in hand"
            if not mine:
                return
            handled.extend(event.event_id for event in mine)

    await asyncio.gather(*(work(store) for store in stores))

    assert sorted(handled) == sorted(f"e{n}" for n in range(40))
