"""Proofs of requests that stand for others: a batch, with rows left out, and each of its rows."""

import sqlite3
from contextlib import closing

from bot.services.requests import batch_submission, verification
from tests.services.bulk_requests import a_list, ask_bulk, rows_of, run_to_the_end
from tests.support.world import ALICE, World


async def test_a_batch_is_proved_with_its_rows_also_when_some_were_left_out(world: World) -> None:
    batch = await ask_bulk(world, a_list(world, "10", "20", "30"))
    rows = await rows_of(world, batch)
    await batch_submission.leave_out(world.core, batch.id, ALICE, [rows[1].id])
    await world.approve(await world.request(batch.id))
    await run_to_the_end(world, batch)

    for request_id in (batch.id, *(row.id for row in rows)):
        found = await verification.verify(world.core, request_id)
        assert found.holds, [check for check in found.checks if not check.holds]

    assert "all 3 hold" in str((await verification.verify(world.core, batch.id)).checks)


async def test_a_forged_approval_is_counted_for_nothing(world: World) -> None:
    request = await world.top_up("50")
    with closing(sqlite3.connect(world.database)) as raw:
        raw.execute("UPDATE decision SET actor = 'U0CAROL' WHERE request_id = ?", (request.id,))
        raw.commit()

    checks = {check.what: check for check in (await verification.verify(world.core, request.id)).checks}

    assert not checks["Decisions"].holds
    assert not checks["Approvals"].holds
    assert checks["Approvals"].found.startswith("0 of 1 needed")


async def test_a_row_changed_behind_the_bots_back_is_found_in_its_batch(world: World) -> None:
    batch = await ask_bulk(world, a_list(world, "10", "20"))
    row = (await rows_of(world, batch))[0]
    with closing(sqlite3.connect(world.database)) as raw:
        raw.execute("UPDATE request SET exposure_usd = '9000.00' WHERE id = ?", (row.id,))
        raw.commit()

    found = await verification.verify(world.core, batch.id)

    assert [check.what for check in found.checks if not check.holds] == ["Rows"]
    assert row.id in str(found.checks)
