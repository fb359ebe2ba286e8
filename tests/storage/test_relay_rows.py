"""Messages for other systems are put into the outbox once, taken by one, sealed until sent, kept when refused."""

import asyncio
from datetime import timedelta

import pytest
from sqlalchemy import text

from storage import key_rotation
from storage.events import Failed, relay
from storage.store import Store
from tests.support.clock import FrozenClock

pytestmark = pytest.mark.by_turns(2)

LEASE = timedelta(minutes=3)


async def put(store: Store, number: int, destination: str = "ledger") -> bool:
    async with store.begin() as tx:
        body = f"body of {number}".encode()
        return await relay.put(tx, destination=destination, event_id=f"evt-{number}", body=body)


async def taken(store: Store, destination: str = "ledger", limit: int = 10) -> list[relay.RelayDelivery]:
    async with store.begin() as tx:
        return (await relay.take(tx, destination, limit=limit, lease=LEASE)).deliveries


async def test_a_message_is_put_into_the_outbox_once_to_each_destination(store: Store) -> None:
    assert await put(store, 1)
    assert not await put(store, 1)
    assert await put(store, 1, "crm")

    assert [(m.event_id, m.body, m.attempts) for m in await taken(store)] == [("evt-1", b"body of 1", 1)]


async def test_two_who_take_at_once_take_different_messages(store: Store) -> None:
    for number in range(8):
        await put(store, number)

    batches = await asyncio.gather(*(taken(store, limit=4) for _ in range(3)))

    ids = [message.id for batch in batches for message in batch]
    assert len(ids) == len(set(ids))
    assert len(ids) in (4, 8)


async def test_what_was_taken_and_not_marked_is_due_again_after_the_lease(
    store: Store, clock: FrozenClock
) -> None:
    await put(store, 1)
    first = await taken(store)
    assert await taken(store) == []
    clock.advance(LEASE.total_seconds() + 1)

    (again,) = await taken(store)

    assert (again.id, again.body, again.attempts) == (first[0].id, first[0].body, 2)


async def test_the_bytes_are_sealed_and_go_when_they_were_taken(store: Store) -> None:
    await put(store, 1)
    async with store.read() as tx:
        row = (await tx.run(text("SELECT sealed_body FROM relay_delivery"))).one()
        assert "body of 1" not in row.sealed_body
        assert await key_rotation.kids_in_use(tx) == {store.vault.primary_kid: 1}
    (message,) = await taken(store)
    async with store.begin() as tx:
        await relay.sent(tx, [message.id])

    async with store.read() as tx:
        row = (await tx.run(text("SELECT sealed_body, state FROM relay_delivery"))).one()
        assert tuple(row) == (None, "sent")
        assert not await relay.is_due(tx, "ledger")


async def test_refused_ones_wait_or_are_dead_and_can_be_revived_whole(store: Store) -> None:
    for number in range(2):
        await put(store, number)
    first, second = await taken(store)
    async with store.begin() as tx:
        await relay.failed(tx, [Failed(first.id, "answered 500", tx.now), Failed(second.id, "gone", None)])
        assert await relay.dead(tx, "ledger") == 1
        assert await relay.dead(tx, "crm") == 0
    assert [m.id for m in await taken(store)] == [first.id]

    async with store.begin() as tx:
        assert await relay.revive(tx, "ledger") == 1
    (again,) = await taken(store)

    assert (again.id, again.body, again.attempts) == (second.id, second.body, 1)


async def test_what_was_sent_long_ago_and_what_is_for_nobody_is_dropped(
    store: Store, clock: FrozenClock
) -> None:
    await put(store, 1)
    await put(store, 2, "gone")
    (message,) = await taken(store)
    async with store.begin() as tx:
        await relay.sent(tx, [message.id])
        assert await relay.drop_destinations(tx, ["ledger"]) == 1
        assert await relay.drop_old(tx) == 0
    clock.advance(relay.SENT_KEPT_FOR.total_seconds() + 1)

    async with store.begin() as tx:
        assert await relay.drop_old(tx) == 1


@pytest.mark.parametrize(
    "edit",
    [
        "destination = 'crm'",
        "event_id = 'evt-made-up'",
        "destination = 'crm', event_id = 'evt-made-up'",
        "id = 'other', destination = 'crm'",
    ],
)
async def test_bytes_go_to_nobody_but_whom_they_were_made_for_and_under_their_own_id(
    store: Store, edit: str
) -> None:
    """Whether they wait, or were sent and somebody put them back."""
    await put(store, 1)
    async with store.begin() as tx:
        sealed = (await tx.run(text("SELECT sealed_body FROM relay_delivery"))).scalar_one()
    (message,) = await taken(store)
    async with store.begin() as tx:
        await relay.sent(tx, [message.id])
    async with store.begin() as tx:
        again = f"UPDATE relay_delivery SET state = 'owed', due_at = created_at, sealed_body = '{sealed}'"
        await tx.run(text(f"{again}, {edit}"))

    async with store.begin() as tx:
        found = [await relay.take(tx, name, limit=10, lease=LEASE) for name in ("ledger", "crm")]

    assert [one.deliveries for one in found] == [[], []]
    assert sum(len(one.unreadable) for one in found) == 1
