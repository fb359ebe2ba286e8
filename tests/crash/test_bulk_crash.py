"""`kill -9` in the middle of a batch of twenty rows: the next life goes on, and each row is sent once."""

import asyncio
import random
from decimal import Decimal
from pathlib import Path

import pytest

from sandbox.slack.interactions import modals
from tests.crash.invariants import violations
from tests.crash.outside import LEASE_S, Outside, outside
from tests.crash.people_at_work import Operators
from tests.support.waiting import eventually

ROWS = 20
# Each life dies at the fourth passing of its point: about the fourth, eighth and twelfth row.
KILLS, NTH = ("execution.claimed", "execution.answered", "execution.finishing"), 4
_STEADILY_S = 0.1
_ENDED = "SELECT id FROM request WHERE rows IS NOT NULL AND state NOT IN ('pending', 'approved', 'executing')"
_QUEUED = "SELECT id FROM outbox WHERE state IN ('owed', 'sending')"


class Clerk(Operators):
    """Asks for a batch in the form, as a person does."""

    async def ask_for_rows(self, who: str) -> None:
        rows = [f"operators-{number},{Decimal(1000 + number) / 100}" for number in range(ROWS)]
        form = await self._window(who, lambda: self._command(who, "/card topup bulk"), "bulk:paste")
        typed = {"rows": {"value": "\n".join(["card,amount", *rows])}}
        outcome = await modals.submit(self._slack, who, form.id, typed)
        assert outcome.get("response_action") == "update", outcome
        preview = await self._awaited(who, "bulk:preview")
        outcome = await modals.submit(self._slack, who, preview.id, {"reason": {"value": "per diems"}})
        assert outcome.get("response_action") == "clear", outcome


@pytest.mark.timeout(90)
async def test_kills_in_the_middle_of_a_batch_send_no_row_twice_and_forget_none(tmp_path: Path) -> None:
    async with outside(tmp_path) as world:
        clerk = Clerk(world, random.Random(7))
        await world.bot.start(point=KILLS[0], nth=NTH)
        await clerk.ask_for_rows("U0ALICE")
        await clerk.approve_everything(20)
        flying = asyncio.create_task(_time_goes_on(world))
        try:
            for following in (*KILLS[1:], ""):
                assert await world.bot.died(20) is not None, "the batch ended before the kill"
                begun = world.rows("SELECT id FROM request WHERE first_sent_at IS NOT NULL AND rows IS NULL")
                assert 0 < len(begun) < ROWS, "the kill was not in the middle"
                world.leap(LEASE_S + 1)
                await world.bot.start(point=following, nth=NTH)
            await eventually(
                "the batch has ended and is told",
                lambda: world.rows(_ENDED) and not world.rows(_QUEUED),
                within_s=40,
            )
        finally:
            flying.cancel()

        assert await violations(world) == []
        states = world.rows("SELECT state, count(*) AS n FROM request WHERE rows IS NULL GROUP BY state")
        assert {row["state"]: row["n"] for row in states} == {"succeeded": ROWS}
        debits = [r for r in world.truth()["ledger"] if r["kind"] == "card_topup"]
        mine = [r["reference"] for r in debits if r["reference"] not in world.seeded]
        assert (len(mine), len(set(mine))) == (ROWS, ROWS)


async def _time_goes_on(world: Outside) -> None:
    """Slower than the operators's: a batch has fifteen minutes."""
    while True:
        async with world.hands:
            world.leap(4)
        await asyncio.sleep(_STEADILY_S)
