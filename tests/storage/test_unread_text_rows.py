"""Texts that nobody understood: sealed, the oldest first, deleted after 30 days."""

from datetime import timedelta

from sqlalchemy import text

from storage import sealed_columns
from storage.messages import UnreadText, unread_texts
from storage.store import Store
from tests.storage.factories import NOW
from tests.support.clock import FrozenClock


async def test_a_text_is_sealed_and_read_again(store: Store) -> None:
    async with store.begin() as tx:
        await unread_texts.add(tx, "01A", "wiggle <card>")
        row = str((await tx.run(text("SELECT * FROM unread_text"))).one())

        assert await unread_texts.kept(tx) == [UnreadText("wiggle <card>", NOW)]
        assert "wiggle" not in row
        assert sealed_columns.UNREAD_TEXT in sealed_columns.SEALED_COLUMNS


async def test_after_30_days_a_text_is_neither_listed_nor_kept(store: Store, clock: FrozenClock) -> None:
    async with store.begin() as tx:
        await unread_texts.add(tx, "01A", "old")
    clock.advance(timedelta(days=30) / timedelta(seconds=1))
    async with store.begin() as tx:
        await unread_texts.add(tx, "01B", "new")

        assert [one.text for one in await unread_texts.kept(tx)] == ["new"]
        assert await unread_texts.drop_old(tx) == 1
        assert (await tx.run(text("SELECT count(*) FROM unread_text"))).scalar_one() == 1
