"""What costs nothing may be approved at any moment, and disturbs no approval that counts money."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from bot.domain.requests import State
from storage.requests import requests
from tests.support.world import CAROL, World, a_world


@pytest.fixture
async def world(url: str, tmp_path: Path) -> AsyncIterator[World]:
    async with a_world(tmp_path, url=url) as made:
        yield made


@pytest.mark.parametrize("url", ["postgresql"], indirect=True)
@pytest.mark.parametrize(
    "other", [("card_limits", {"daily_limit": "15"}), ("card_freeze", {})], ids=["limits", "freeze"]
)
async def test_a_top_up_is_approved_while_something_that_costs_nothing_is(
    world: World, monkeypatch: pytest.MonkeyPatch, other: tuple[str, dict[str, str]]
) -> None:
    kind, values = other
    top_up = await world.top_up("5", approved=False)
    costless = await world.ask(kind, {"card": world.cards[1]["id"], **values})
    grants, is_first = requests.grants, [True]

    async def and_meanwhile(*given: Any, **named: Any) -> Any:
        found = await grants(*given, **named)
        if is_first and is_first.pop():
            await world.approve(costless, by=CAROL)
        return found

    monkeypatch.setattr(requests, "grants", and_meanwhile)

    approved, _ = await world.approve(top_up)

    assert approved.state is State.APPROVED
    assert (await world.request(costless.id)).state is State.APPROVED
