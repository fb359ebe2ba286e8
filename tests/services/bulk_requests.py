"""A batch as people make it: a list, its preview, its submission, its approval."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal

from bot.domain.requests import OPEN, Request, State
from bot.services import people
from bot.services.requests import batch_reading, batch_submission
from storage.requests import requests as request_rows
from tests.services.outcome_steps import net_of
from tests.support.world import ALICE, World


def a_list(world: World, *amounts: str) -> str:
    """Top-ups of the world's cards, one after the other."""
    rows = [f"{card['id']},{amount}" for card, amount in zip(world.cards, amounts, strict=False)]
    assert len(rows) == len(amounts), "the world has fewer cards"
    return "\n".join(["card,amount", *rows])


async def ask_bulk(world: World, text: str, *, by: str = ALICE, kind: str | None = None) -> Request:
    await people.require_member(world.core, by, action="test")
    read = await batch_reading.begin(world.core, owner=by, text=text, kind=kind)
    await batch_submission.preview(world.core, read.draft_id, by)
    return await batch_submission.submit(world.core, read.draft_id, by, reason="Per diems")


async def rows_of(world: World, batch: Request) -> list[Request]:
    async with world.store.read() as tx:
        return await request_rows.rows_of(tx, batch.id)


async def states_of(world: World, batch: Request) -> Counter[State]:
    return Counter(row.state for row in await rows_of(world, batch))


async def run_to_the_end(world: World, batch: Request, *, within_s: float = 3600) -> Request:
    """Let time pass until the batch has ended."""
    passed = 0.0
    while (found := await world.request(batch.id)).state in OPEN and passed < within_s:
        await world.run(10, step=5)
        passed += 10
    return found


async def hold_rows_to_the_ledger(world: World, batch: Request) -> Decimal:
    """Each row: at most one debit, and a state that the ledger bears out. What moved in all, in USD."""
    moved_usd = Decimal(0)
    for row in await rows_of(world, batch):
        net_usd = net_of(world, row.key)
        assert net_usd in (Decimal(0), -row.exposure_usd), f"{row.id}: more than one debit"
        if row.state is State.SUCCEEDED:
            assert net_usd == -row.exposure_usd, f"{row.id} is called succeeded and nothing moved"
        if row.state in (State.FAILED, State.CANCELLED, State.EXPIRED, State.REJECTED):
            assert net_usd == 0, f"{row.id} is called {row.state} although money moved"
        moved_usd -= net_usd
    return moved_usd
