"""What a process takes from the inbox, and what is forgotten of an event without forgetting the event."""

from collections.abc import Collection
from datetime import timedelta

import pytest

from bot.domain.errors import NotFound
from storage.events import Share, inbox
from storage.store import Store
from tests.storage.conftest import Opener
from tests.support.clock import FrozenClock

CODED = "card.3ds_challenge"
PATIENCE = timedelta(seconds=90)


@pytest.fixture
async def store(url: str, open_store: Opener) -> Store:
    return await open_store(url)


async def receive(store: Store, clock: FrozenClock, event_id: str, event_type: str = "t") -> bool:
    async with store.begin() as tx:
        return await inbox.receive(
            tx,
            event_id=event_id,
            program="main",
            event_type=event_type,
            created_at=clock.now(),
            source="webhook",
            payload=b"{}",
        )


async def taken(
    store: Store, *programs: str, but: Collection[str] | None = None, codes: frozenset[str] = frozenset()
) -> set[str]:
    async with store.begin() as tx:
        share = Share(programs, but, CODED, codes, PATIENCE)
        return {event.event_id for event in await inbox.waiting(tx, share=share)}


async def test_a_coded_event_waits_for_whoever_has_its_code_and_no_other_does(
    store: Store, clock: FrozenClock
) -> None:
    await receive(store, clock, "plain")
    await receive(store, clock, "coded", CODED)

    assert await taken(store, "main") == {"plain"}
    assert await taken(store) == set()
    assert await taken(store, codes=frozenset({"coded", "plain"})) == {"coded"}
    assert await taken(store, "main", codes=frozenset({"coded"})) == {"plain", "coded"}

    clock.advance(90)
    assert await taken(store, "main") == {"plain", "coded"}, (
        "nobody has it: whoever handles the others says so"
    )
    assert await taken(store) == set()


async def test_the_events_of_a_program_that_is_configured_no_more_are_handled_by_one_process(
    store: Store, clock: FrozenClock
) -> None:
    await receive(store, clock, "of main")

    assert await taken(store, "eu") == set()
    assert await taken(store, "eu", but=["eu"]) == {"of main"}
    assert await taken(store, "eu", but=["eu", "main"]) == set()


async def test_a_payload_is_forgotten_in_time_and_its_event_known_permanently(
    store: Store, clock: FrozenClock
) -> None:
    for event_id in ("old", "unhandled", "young"):
        await receive(store, clock, event_id)
    async with store.begin() as tx:
        await inbox.processed(tx, "old")
    clock.advance(3600)
    async with store.begin() as tx:
        await inbox.processed(tx, "young")

    async with store.begin() as tx:
        assert await inbox.purge_payloads(tx, before=clock.now(), limit=10) == 1
        assert await inbox.purge_payloads(tx, before=clock.now(), limit=10) == 0

    async with store.read() as tx:
        with pytest.raises(NotFound, match="no longer kept"):
            await inbox.payload(tx, "old")
        assert await inbox.payload(tx, "unhandled") == await inbox.payload(tx, "young") == b"{}"
    assert not await receive(store, clock, "old")


async def test_payloads_are_forgotten_in_portions_the_oldest_first(store: Store, clock: FrozenClock) -> None:
    for n in range(5):
        await receive(store, clock, f"e{n}")
        async with store.begin() as tx:
            await inbox.processed(tx, f"e{n}")
        clock.advance(1)

    async with store.begin() as tx:
        assert await inbox.purge_payloads(tx, before=clock.now(), limit=2) == 2
    async with store.read() as tx:
        assert await inbox.payload(tx, "e2") == b"{}"
        with pytest.raises(NotFound):
            await inbox.payload(tx, "e1")
