"""A link to card details is spent once and in time, on both databases, and a newer one takes its place."""

import asyncio
from datetime import timedelta

from storage.requests import Reveal, card_details_links
from storage.store import Store
from tests.storage import factories
from tests.support.clock import FrozenClock

TWO_MINUTES, QUARTER = timedelta(minutes=2), timedelta(minutes=15)


async def linked(store: Store, digest: str = "d1") -> None:
    """An approved request with its first link."""
    await factories.approved(store)
    async with store.begin() as tx:
        await card_details_links.grant(tx, "R-7K3M", tx.now + QUARTER)
        assert await card_details_links.make_link(tx, "R-7K3M", digest, tx.now + TWO_MINUTES)


async def spent(store: Store, digest: str = "d1") -> Reveal | None:
    async with store.begin() as tx:
        return await card_details_links.spend(tx, digest)


async def opened(store: Store, digest: str = "d1") -> Reveal | None:
    async with store.begin() as tx:
        return await card_details_links.mark_opened(tx, digest)


async def test_of_twenty_at_once_one_spends_it(store: Store) -> None:
    await linked(store)

    found = await asyncio.gather(*(spent(store) for _ in range(20)))

    assert len([one for one in found if one is not None]) == 1


async def test_it_cannot_be_spent_late_or_with_another_token(store: Store, clock: FrozenClock) -> None:
    await linked(store)
    assert await spent(store, "d2") is None
    clock.advance(TWO_MINUTES.total_seconds())

    assert await spent(store) is None


async def test_a_newer_link_replaces_one_that_is_just_being_answered(store: Store) -> None:
    await linked(store)
    assert await spent(store)
    async with store.begin() as tx:
        newer = await card_details_links.make_link(tx, "R-7K3M", "d2", tx.now + TWO_MINUTES)

    assert newer
    assert (newer.links, newer.spent_at) == (2, None)
    assert await opened(store) is None, "two people would see the card"
    assert await opened(store, "d2") is None, "nobody has used it"
    assert await spent(store, "d2")
    assert await opened(store, "d2")
    async with store.begin() as tx:
        assert await card_details_links.make_link(tx, "R-7K3M", "d3", tx.now + TWO_MINUTES) is None


async def test_what_was_not_opened_lapses_once(store: Store, clock: FrozenClock) -> None:
    await linked(store)
    clock.advance(QUARTER.total_seconds())
    async with store.begin() as tx:
        assert await card_details_links.make_link(tx, "R-7K3M", "d2", tx.now + TWO_MINUTES) is None
        assert await card_details_links.expired(tx, tx.now - timedelta(seconds=1)) == []
        assert await card_details_links.expired(tx, tx.now) == ["R-7K3M"]
        assert await card_details_links.end(tx, "R-7K3M")

    async with store.begin() as tx:
        assert await card_details_links.expired(tx, tx.now) == []
        assert await card_details_links.end(tx, "R-7K3M") is None
