"""Nobody is accused for deciding at the moment at which another process looks at the decisions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bot.domain.people import KindPolicy
from bot.domain.requests import Decision
from storage.log_record import on_record
from storage.requests import decisions
from storage.transaction import Tx
from tests.support.processes import WHO, who_goes_on
from tests.support.world import BOB, CAROL, World, a_policy, a_world

pytestmark = pytest.mark.by_turns(2)


def before_a_call(
    patch: pytest.MonkeyPatch, module: Any, name: str, *, nth: int, do: Callable[[], Any]
) -> None:
    """Somebody does something just before this reading, the `nth` of its name."""
    reads, count = getattr(module, name), 0

    async def read(*given: Any) -> Any:
        nonlocal count
        count += 1
        if count == nth:
            await do()
        return await reads(*given)

    patch.setattr(module, name, read)


@pytest.mark.parametrize("url", ["postgresql"], indirect=True)
@pytest.mark.parametrize("module", [decisions, on_record], ids=["rows", "log"])
@pytest.mark.parametrize("nth", [1, 2, 3])
async def test_a_decision_between_two_readings_accuses_nobody(
    url: str, tmp_path: Path, module: Any, nth: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    three = replace(a_policy(), kinds={"card_topup": KindPolicy(approvals=3)})
    async with a_world(tmp_path, url=url, policy=three) as world:
        request = await world.top_up("50", approved=False)
        async with who_goes_on(world, WHO[1]) as hand_over:
            here = replace(world.core)
            await world.approve(request, by=BOB)  # which the other process has not read
            hand_over()

            async def decide() -> None:
                monkeypatch.undo()
                await _approve(world, here, request)

            name = "all_of" if module is decisions else "of"
            before_a_call(monkeypatch, module, name, nth=nth, do=decide)
            async with world.core.store.begin() as tx:
                made: list[Decision] = await _looked_at(tx, request.id)
            assert {one.actor for one in made} <= {BOB, CAROL}
            assert world.core.store.rows_met == set()


async def _looked_at(tx: Tx, request_id: str) -> list[Decision]:
    return await decisions.of(tx, request_id)


async def _approve(world: World, core: Any, request: Any) -> None:
    from bot.services.requests import approvals

    await approvals.approve(core, request.id, CAROL, shown_digest=request.digest)
