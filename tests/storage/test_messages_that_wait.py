"""What waits in the outbox since Slack did not take it: why, when it is tried again, and for which channel."""

from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import select, text

from storage import tables as t
from storage.messages import outbox
from storage.messages.outbox import WOKEN_LAST_AFTER
from storage.store import Store
from storage.transaction import Tx
from tests.storage.factories import NOW

LATER = NOW + timedelta(minutes=10)


async def _put(tx: Tx, dedupe: str, *, subject: str = "request:R-7K3M", channel: str = "C1") -> int:
    await outbox.put(tx, kind="line", dedupe=dedupe, channel=channel, subject=subject, body={"line": dedupe})
    asked = text("SELECT id FROM outbox WHERE dedupe = :dedupe")
    return int((await tx.run(asked, {"dedupe": dedupe})).scalar_one())


async def _put_off(tx: Tx, dedupe: str, *, until: datetime = LATER, **more: Any) -> int:
    row_id = await _put(tx, dedupe, **more)
    assert await outbox.sending(tx, row_id)
    await outbox.retry(tx, row_id, due_at=until, error=f"{dedupe}: ratelimited")
    return row_id


async def _of_each(tx: Tx, column: str) -> dict[str, Any]:
    rows = await tx.run(select(t.outbox.c.dedupe, t.outbox.c[column]))
    return {row.dedupe: row._mapping[column] for row in rows.all()}


async def _due(tx: Tx) -> list[str]:
    return [row.dedupe for row in await outbox.next_due(tx)]


async def test_why_nothing_arrives_is_what_slack_said_last_of_what_waits_about_it(store: Store) -> None:
    async with store.begin() as tx:
        await _put(tx, "new")
        assert await outbox.trouble(tx, "request:R-7K3M") == ""
        await _put_off(tx, "first")
        second = await _put_off(tx, "second")
        await _put_off(tx, "other", subject="request:R-2222")
        assert await outbox.trouble(tx, "request:R-7K3M") == "second: ratelimited"

        await outbox.sent(tx, second)

        assert await outbox.trouble(tx, "request:R-7K3M") == "first: ratelimited"


async def test_what_is_woken_is_due_and_what_shall_come_last_is_some_seconds_later(store: Store) -> None:
    soon = NOW + WOKEN_LAST_AFTER / 2
    async with store.begin() as tx:
        await _put_off(tx, "request")
        await _put_off(tx, "alert", subject="alert:1")
        await _put_off(tx, "alert, soon", subject="alert:1", until=soon)
        assert await _due(tx) == []

        await outbox.wake(tx, None, last="alert:1")

        assert await _due(tx) == ["request"]
        due_at = await _of_each(tx, "due_at")
        assert due_at["request"] < due_at["alert, soon"] < due_at["alert"]


async def test_only_the_rows_that_are_named_are_woken(store: Store) -> None:
    async with store.begin() as tx:
        named = await _put_off(tx, "named")
        await _put_off(tx, "other")

        await outbox.wake(tx, [named])

        assert await _due(tx) == ["named"]


async def test_what_waits_for_a_channel_goes_to_the_other_and_what_was_sent_stays(store: Store) -> None:
    async with store.begin() as tx:
        await outbox.sent(tx, await _put(tx, "sent"))
        await _put(tx, "waits")
        await _put(tx, "elsewhere", channel="C2")

        await outbox.move(tx, "C1", "C9")

        assert await _of_each(tx, "channel") == {"sent": "C1", "waits": "C9", "elsewhere": "C2"}


async def test_what_is_readdressed_is_tried_at_once_and_what_was_due_stays_as_early(store: Store) -> None:
    async with store.begin() as tx:
        later = await _put_off(tx, "later")
        before = await _put_off(tx, "before", until=NOW - timedelta(minutes=3))

        for row_id in (later, before):
            await outbox.readdress(tx, row_id, "C9")

        assert await _of_each(tx, "channel") == {"later": "C9", "before": "C9"}
        due_at = await _of_each(tx, "due_at")
        assert due_at["before"] < due_at["later"]
        assert sorted(await _due(tx)) == ["before", "later"]
