"""What is written all the time: the life of a request, events, messages, audit entries, cards. For what indexes cost.

Each is one commit or a few, with rows of its own each time.
"""

from __future__ import annotations

import importlib
import itertools
from collections.abc import Awaitable, Callable
from datetime import timedelta

from sqlalchemy import select, text

from bot.domain.cards import CardEntry
from bot.domain.requests import Event
from storage import audit
from storage import tables as t
from storage.cards import cards
from storage.events.ingest import Arrival, PostgresWriter, Row, SqliteWriter
from storage.messages import outbox
from storage.requests import decisions, requests
from tests.storage import factories
from tests.support.world import World

BATCH = 500
_numbers = itertools.count(1)
#: The revision whose indexes are weighed.
_GROWTH = importlib.import_module("storage.migrations.versions.0008_growth")


async def without_new_indexes(world: World) -> None:
    """The indexes as they were before they were made for large tables; words and counts stay."""
    async with world.store.begin() as tx:
        for name in (*(name for name, *_ in _GROWTH.INDEXES), "ix_audit_subject"):
            await tx.run(text(f"DROP INDEX {name}"))
        for name, table, columns in _GROWTH.MADE_AGAIN:
            await tx.run(text(f"CREATE INDEX {name} ON {table} ({', '.join(columns)})"))


async def life_of_a_request(world: World) -> None:
    """Requested, approved, claimed, carried out, purged: a commit each."""
    store, n = world.store, next(_numbers)
    now = world.clock.now()
    made = factories.request(f"R-W{n}", key=f"co-w{n}", created_at=now, expires_at=now + timedelta(hours=8))
    async with store.begin() as tx:
        await factories.insert(tx, made)
    async with store.begin() as tx:
        await decisions.insert(tx, factories.decision(made, decided_at=now))
        valid = {"approved_at": now, "valid_until": now + timedelta(minutes=15), "due_at": now}
        await requests.move(tx, made, Event.APPROVE, **valid)
    async with store.begin() as tx:
        claimed = await requests.claim(tx, made.id, owner="p", lease_s=30)
        assert claimed is not None
    async with store.begin() as tx:
        await requests.finish(tx, claimed, Event.SUCCEED, finished_at=now, due_at=None)
    async with store.begin() as tx:
        await requests.purge(tx, made.id)


async def events(world: World) -> None:
    """A batch put into the inbox."""
    now, first = world.clock.now(), next(_numbers)
    made = [Arrival(f"evt-w{first}-{n}", "main", "t", now, "webhook", b"{}") for n in range(BATCH)]
    rows = [Row(one, "sealed", now) for one in made]
    path = world.store.database.path
    writer = PostgresWriter(world.store) if path is None else await SqliteWriter.open(path)
    try:
        assert all(await writer.write(rows))
    finally:
        await writer.close()


async def messages(world: World) -> None:
    """Put, taken and sent."""
    first = next(_numbers)
    async with world.store.begin() as tx:
        for n in range(50):
            dedupe = f"w{first}-{n}"
            assert await outbox.put(tx, channel="C", kind="line", subject=f"R-W{n}", body={}, dedupe=dedupe)
        mine = t.outbox.c.dedupe.in_([f"w{first}-{n}" for n in range(50)])
        for row_id in (await tx.run(select(t.outbox.c.id).where(mine))).scalars().all():
            assert await outbox.sending(tx, row_id)
            await outbox.sent(tx, row_id)


async def audit_entries(world: World) -> None:
    async with world.store.begin() as tx:
        for n in range(50):
            await audit.append(tx, actor="a", action="b", subject=f"request:R-W{n}:1")


async def new_cards(world: World) -> None:
    first = next(_numbers)
    await _put(world, [_card(f"w{first}-{n}", n) for n in range(BATCH)])


async def cards_seen_again(world: World) -> None:
    """A sweep that finds all as it was."""
    await _put(world, [_card(f"again-{n}", n) for n in range(BATCH)])


async def _put(world: World, made: list[CardEntry]) -> None:
    async with world.store.begin() as tx:
        await cards.put_many(tx, "main", made)


def _card(card_id: str, n: int) -> CardEntry:
    return CardEntry(card_id, "main", f"HOLDER NUMBER{n:03}", f"{n:04}", f"ref-{n:04}", "ACTIVE")


WRITES: tuple[tuple[str, Callable[[World], Awaitable[None]]], ...] = (
    ("the life of a request, 5 commits", life_of_a_request),
    (f"{BATCH} events put into the inbox, one commit", events),
    ("50 messages put and sent, one commit", messages),
    ("50 audit entries, one commit", audit_entries),
    (f"{BATCH} new cards, one commit", new_cards),
    (f"{BATCH} cards seen again, one commit", cards_seen_again),
)
