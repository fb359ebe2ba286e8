"""Messages are put into the outbox once, taken by one sender, and never forgotten; events are accepted once."""

import asyncio
from contextlib import suppress
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import text

from storage.errors import CannotOpen
from storage.events import inbox
from storage.messages import OutboxRow, outbox
from storage.store import Store
from storage.transaction import Tx
from tests.storage.factories import NOW
from tests.support.clock import FrozenClock

pytestmark = pytest.mark.by_turns(2)


async def _put(tx: Tx, dedupe: str, kind: str = "line", **options: Any) -> bool:
    asked = {"channel": "C1", "subject": "request:R-7K3M", "body": {"line": dedupe}, **options}
    return await outbox.put(tx, kind=kind, dedupe=dedupe, **asked)


async def _due(store: Store) -> list[OutboxRow]:
    async with store.read() as tx:
        return await outbox.next_due(tx, limit=20)


async def test_messages_come_in_the_order_they_were_put(store: Store) -> None:
    names = [f"line:{n}" for n in (3, 1, 2, 9, 7)]
    async with store.begin() as tx:
        for name in names:
            assert await _put(tx, name, body={"amount": "50.00", "n": [1]}, user="U1")

    found = await _due(store)

    assert [row.dedupe for row in found] == names
    assert (found[0].body, found[0].user, found[0].state) == ({"amount": "50.00", "n": [1]}, "U1", "owed")


async def test_a_message_is_put_into_the_outbox_once_even_after_it_was_sent(store: Store) -> None:
    async with store.begin() as tx:
        assert await _put(tx, "line:1")
        assert not await _put(tx, "line:1")
        (row,) = await outbox.next_due(tx, limit=5)
        await outbox.sending(tx, row.id)
        await outbox.sent(tx, row.id)

        assert not await _put(tx, "line:1")
        assert await outbox.next_due(tx, limit=5) == []


async def test_a_waiting_card_shows_later_changes_so_one_is_enough(store: Store) -> None:
    async with store.begin() as tx:
        assert await _put(tx, "card:1", "card")
        assert not await _put(tx, "card:2", "card")
        assert await _put(tx, "card:3", "card", subject="request:R-2222")
        assert await _put(tx, "card:4", "card", channel="C2")

    assert [row.dedupe for row in await _due(store)] == ["card:1", "card:3", "card:4"]


async def test_a_card_that_is_being_sent_may_show_the_old_so_another_is_put(store: Store) -> None:
    async with store.begin() as tx:
        await _put(tx, "card:1", "card")
        (row,) = await outbox.next_due(tx, limit=5)
        assert await outbox.sending(tx, row.id)

        assert await _put(tx, "card:2", "card")


async def test_a_card_put_off_does_not_hold_back_a_newer_one(store: Store, clock: FrozenClock) -> None:
    async with store.begin() as tx:
        await _put(tx, "card:1", "card", due_at=clock.now() + timedelta(hours=1))

        assert await _put(tx, "card:2", "card")


async def test_a_rolled_back_change_sends_nothing(store: Store) -> None:
    async def change() -> None:
        async with store.begin() as tx:
            await _put(tx, "line:1")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        await change()

    assert await _due(store) == []


async def test_of_ten_senders_one_takes_a_row(store: Store) -> None:
    async with store.begin() as tx:
        await _put(tx, "line:1")
    (row,) = await _due(store)

    async def take() -> bool:
        async with store.begin() as tx:
            return await outbox.sending(tx, row.id)

    assert (await asyncio.gather(*(take() for _ in range(10)))).count(True) == 1


async def test_a_failed_post_is_tried_again_later_with_its_reason(store: Store, clock: FrozenClock) -> None:
    async with store.begin() as tx:
        await _put(tx, "line:1")
        (row,) = await outbox.next_due(tx, limit=5)
        await outbox.sending(tx, row.id)
        await outbox.retry(tx, row.id, due_at=clock.now() + timedelta(seconds=30), error="ratelimited")
    assert await _due(store) == []
    clock.advance(29)
    assert await _due(store) == []

    clock.advance(1)

    (again,) = await _due(store)
    assert (again.attempts, again.last_error) == (1, "ratelimited")


async def test_a_dropped_message_is_not_sent_and_its_reason_stays(store: Store) -> None:
    async with store.begin() as tx:
        await _put(tx, "line:1")
        (row,) = await outbox.next_due(tx, limit=5)
        await outbox.drop(tx, row.id, "channel_not_found")

    assert await _due(store) == []


async def test_what_a_dead_sender_left_is_found(store: Store, clock: FrozenClock) -> None:
    async with store.begin() as tx:
        await _put(tx, "line:1")
        await _put(tx, "line:2")
        (row, _) = await outbox.next_due(tx, limit=5)
        await outbox.sending(tx, row.id)
    clock.advance(60)

    async with store.read() as tx:
        assert [r.dedupe for r in await outbox.stuck(tx)] == ["line:1"]
        assert [r.dedupe for r in await outbox.stuck(tx, older_than=timedelta(seconds=60))] == ["line:1"]
        assert await outbox.stuck(tx, older_than=timedelta(seconds=61)) == []


async def test_the_place_of_a_picture_is_remembered_moved_and_forgotten(
    store: Store, clock: FrozenClock
) -> None:
    subject = "request:R-7K3M"
    async with store.begin() as tx:
        assert await outbox.place(tx, subject, "card") is None
        await outbox.put_place(tx, subject, "card", "C1", "171.1", 1)
    clock.advance(60)

    async with store.begin() as tx:
        await outbox.put_place(tx, subject, "card", "C1", "171.1", 2)
        redrawn = await outbox.place(tx, subject, "card")
        await outbox.put_place(tx, subject, "card", "C1", "172.2", 2)
        posted_again = await outbox.place(tx, subject, "card")
        await outbox.forget_place(tx, subject, "card")
        assert await outbox.place(tx, subject, "card") is None

    assert redrawn == outbox.MessagePlace("C1", "171.1", NOW, 2)
    assert posted_again == outbox.MessagePlace("C1", "172.2", clock.now(), 2)


async def _receive(tx: Tx, event_id: str, payload: bytes = b"{}") -> bool:
    return await inbox.receive(
        tx,
        event_id=event_id,
        program="main",
        event_type="card.authorized",
        created_at=NOW,
        source="poll",
        payload=payload,
    )


async def test_an_event_is_accepted_once_whichever_way_it_comes_first(store: Store) -> None:
    async def receive() -> bool:
        async with store.begin() as tx:
            return await _receive(tx, "e1")

    assert (await asyncio.gather(*(receive() for _ in range(8)))).count(True) == 1
    async with store.begin() as tx:
        await inbox.processed(tx, "e1")
        assert not await _receive(tx, "e1"), "known for ever"
        assert await inbox.waiting(tx) == []


async def test_events_wait_in_the_order_they_came_and_are_handled_once(
    store: Store, clock: FrozenClock
) -> None:
    for event_id in ("e2", "e1"):
        async with store.begin() as tx:
            await _receive(tx, event_id, b'{"amount_usd":1.10}')
        clock.advance(1)

    async with store.begin() as tx:
        waiting = await inbox.waiting(tx)
        assert [e.event_id for e in waiting] == ["e2", "e1"]
        assert await inbox.payload(tx, "e2") == b'{"amount_usd":1.10}'
        assert [await inbox.put_off(tx, "e2", until=tx.now) for _ in range(2)] == [1, 2]
        assert [await inbox.processed(tx, "e2"), await inbox.processed(tx, "e2")] == [True, False]
        assert [e.event_id for e in await inbox.waiting(tx)] == ["e1"]


async def test_the_payload_of_another_event_does_not_open(store: Store) -> None:
    async with store.begin() as tx:
        await _receive(tx, "e1")
        await _receive(tx, "e2")
        await tx.run(
            text("UPDATE inbox SET sealed_payload = (SELECT sealed_payload FROM inbox WHERE event_id = 'e1')")
        )
        with pytest.raises(CannotOpen):
            await inbox.payload(tx, "e2")


async def _order(store: Store, each: int = 20) -> list[str]:
    async with store.read() as tx:
        return [due.row.dedupe for due in await outbox.sendable(tx, each=each)]


async def test_requests_come_before_alerts_and_alerts_before_the_rest(store: Store) -> None:
    async with store.begin() as tx:
        await _put(tx, "direct:1", "direct")
        for n in range(5):
            await _put(tx, f"alert:{n}", "alert", subject=f"alert:{n}")
        await _put(tx, "card:1", "card")

    assert await _order(store, each=3) == ["card:1", "alert:0", "alert:1"]


async def test_each_channel_has_its_share_whatever_waits_for_another(store: Store) -> None:
    async with store.begin() as tx:
        for n in range(30):
            await _put(tx, f"alert:{n}", "alert", subject=f"alert:{n}")
        await _put(tx, "direct:1", "direct", channel="", user="U1")
        await _put(tx, "direct:2", "direct", channel="", user="U2")

    assert await _order(store, each=1) == ["alert:0", "direct:1", "direct:2"]


async def test_a_line_is_sendable_when_its_card_is_there_and_a_card_when_none_of_its_own_is_on_its_way(
    store: Store,
) -> None:
    async with store.begin() as tx:
        await _put(tx, "line:1")
        await _put(tx, "card:1", "card")
    assert await _order(store) == ["card:1"]

    async with store.begin() as tx:
        (due,) = await outbox.sendable(tx, each=5)
        await outbox.sending(tx, due.row.id)
        await _put(tx, "card:2", "card")
    assert await _order(store) == []

    async with store.begin() as tx:
        await outbox.sent(tx, due.row.id)
        await outbox.put_place(tx, "request:R-7K3M", "card", "C1", "1.0", 1)
    async with store.read() as tx:
        found = [(due.row.dedupe, due.edits) for due in await outbox.sendable(tx, each=5)]
    assert found == [("card:2", True), ("line:1", False)]


async def test_what_is_put_together_is_as_if_it_were_put_one_by_one(store: Store) -> None:
    async with store.begin() as tx:
        await _put(tx, "line:0")
        async with outbox.put_together(tx):
            await _put(tx, "line:0")
            await _put(tx, "card:1", "card")
            async with outbox.put_together(tx):
                await _put(tx, "card:2", "card")
            await _put(tx, "line:1")
            assert await outbox.known(tx, ["line:0", "line:1", "line:2"]) == {"line:0", "line:1"}
            assert await outbox.last_put(tx, "request:R-7K3M", "card") == tx.now
            assert await outbox.last_put(tx, "request:R-7K3M", "direct") is None

    assert [row.dedupe for row in await _due(store)] == ["line:0", "card:1", "line:1"]


async def test_what_fails_puts_nothing_of_what_was_put_together(store: Store) -> None:
    async with store.begin() as tx:
        with suppress(ValueError):
            async with outbox.put_together(tx):
                await _put(tx, "line:1")
                raise ValueError
        await _put(tx, "line:2")

    assert [row.dedupe for row in await _due(store)] == ["line:2"]
