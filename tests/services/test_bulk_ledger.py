"""Whatever happens to its rows, what a batch says moved is what the ledger says."""

from __future__ import annotations

import random
from decimal import Decimal

import pytest

from bot.domain.money import exact_sum, format_usd
from bot.domain.requests import State
from bot.services import requests
from bot.services.execution import maintenance
from bot.services.requests import batch_submission
from tests.services.bulk_requests import a_list, ask_bulk, hold_rows_to_the_ledger, rows_of, run_to_the_end
from tests.services.outcome_steps import Fault, processor, status
from tests.support.world import ALICE, World

TOPUP = "POST /cards/{cardId}/topup"
FAULTS = (
    Fault("drop_after_commit"),
    Fault("drop_before_commit"),
    Fault("reset"),
    Fault("garbage"),
    processor("401"),
    processor("403"),
    processor("5xx"),
    status(402, "INSUFFICIENT_FUNDS"),
    status(500, "UNAVAILABLE"),
)


@pytest.mark.parametrize("seed", range(3))
async def test_what_a_batch_says_moved_is_what_the_ledger_says(world: World, seed: int) -> None:
    rng = random.Random(seed)
    amounts = [str(Decimal(rng.randint(1, 4000)) / 100) for _ in range(min(5, len(world.cards)))]
    batch = await ask_bulk(world, a_list(world, *amounts))
    rows = await rows_of(world, batch)
    if rng.random() < 0.5:
        batch = await batch_submission.leave_out(world.core, batch.id, ALICE, [rng.choice(rows).id])
    await world.approve(batch)
    for _ in range(3):
        await rng.choice(FAULTS).set(world, TOPUP, times=1)
        await world.run(rng.choice((1, 2)), step=1)
    if rng.random() < 0.5 and (await world.request(batch.id)).state is State.EXECUTING:
        await requests.cancel(world.core, batch.id, ALICE)
    ended = await run_to_the_end(world, batch, within_s=3000)
    await maintenance.sweep_late_landings(world.core)

    ended = await world.request(batch.id)
    rows = await rows_of(world, batch)
    moved_usd = await hold_rows_to_the_ledger(world, ended)
    unsure_usd = exact_sum(row.exposure_usd for row in rows if row.state is State.UNRESOLVED)
    done_usd = exact_sum(row.exposure_usd for row in rows if row.state is State.SUCCEEDED)
    assert done_usd <= moved_usd <= done_usd + unsure_usd
    assert f"{format_usd(done_usd)} of {format_usd(ended.exposure_usd)} moved" in ended.outcome_text
    assert (ended.state is State.UNRESOLVED) == bool(unsure_usd)
