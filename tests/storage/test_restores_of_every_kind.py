"""Whatever kind was approved or being sent when a copy was made, and done since: no restore does it again."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from bot import operations
from bot.domain.requests import State
from bot.services import execution
from bot.services.anchor_places import AnchorPlaces
from bot.services.operators import safe_mode
from tests.storage.restores import restart_on
from tests.storage.test_restore_pays_once import CLAIMS_NOTHING
from tests.storage.test_restores_at_odd_times import as_a_volume, by_restore, copied, leave, read_ledger
from tests.support.databases import Databases
from tests.support.kinds import PATH, QUOTE_NAMES, asked, kind_class
from tests.support.world import World, a_world

pytestmark = pytest.mark.by_turns(4)

# What moves nothing may end as failed, if that is what can be seen now: a secret that is only in what was lost.
MAY_FAIL = {
    "event_redeliver": "The event log shows no delivery of it since.",
    "webhook_register": "nobody has that secret",
    "webhook_rotate": "nobody has that secret",
}

# Of these it is true that they moved nothing.
MOVES_NOTHING = {"deposit_quote", *MAY_FAIL}


@pytest.fixture(autouse=True)
def _quotes_are_set_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kind_class("deposit_quote"), "body_names", QUOTE_NAMES)


@pytest.fixture
def databases(request: pytest.FixtureRequest) -> Databases:
    found: Databases = request.getfixturevalue(request.param)
    return found


@pytest.fixture
async def world(tmp_path: Path, own_url: str) -> AsyncIterator[World]:
    async with a_world(tmp_path, url=own_url) as world:
        world.rebuild(anchors=AnchorPlaces([tmp_path / "anchors"]))
        yield world
        await world.store.close()


async def changing_calls(world: World) -> list[Any]:
    """What was sent so far that is no reading."""
    journal = (await world.control.get("/_control/journal")).json()["requests"]
    return [call for call in journal if call["method"] != "GET"]


async def money_and_cards(world: World) -> tuple[Any, ...]:
    """What cards hold and are, and what the ledger has: what a second call would change."""
    state = await world.state()
    cards = sorted((card["id"], card["status"], str(card.get("balance_usd"))) for card in state["cards"])
    ledger = [e async for e in world.core.partners["main"].ledger_entries()]
    return cards, sorted((entry.reference or "", entry.amount_usd) for entry in ledger)


_CALLING = [kind for kind in operations.kinds() if kind != "card_reveal"]
_WAYS = {"being sent, restored": (by_restore, True), "approved, put back by hand": (as_a_volume, False)}


@pytest.mark.walk
@pytest.mark.parametrize(
    ("databases", "kind", "put", "was_tried"),
    [
        pytest.param(database, kind, *way, id=f"{database}, {kind}, {name}")
        for database, kinds in (
            ("sqlite_files", _CALLING),
            ("postgres_databases", ("card_topup", "card_freeze", "card_order")),
        )
        for kind in kinds
        for name, way in _WAYS.items()
    ],
    indirect=["databases"],
)
async def test_no_kind_is_done_twice(
    world: World, databases: Databases, tmp_path: Path, kind: str, put: Any, was_tried: bool
) -> None:
    await read_ledger(world)
    request = await asked(world, kind)
    await world.approve(request)
    if was_tried:
        await world.fault("status", operation=PATH[kind], status=429, times=1)
        await execution.execute(world.core, request.id)
        assert (await world.request(request.id)).state is State.EXECUTING
        await world.advance(61)
    copy = await copied(world, tmp_path / "copy.db")
    await world.run(120, step=20)
    assert (await world.request(request.id)).state is State.SUCCEEDED
    before, done = len(await changing_calls(world)), await money_and_cards(world)

    url = await put(world, copy, databases)
    await restart_on(world, url)
    await read_ledger(world)
    await safe_mode.review(world.core)
    await world.run(300, step=60)
    await leave(world)
    await world.run(1800, step=300)

    later = (await changing_calls(world))[before:]
    # The same key again is how it is asked what became of it; a call without one would be done again.
    assert [call for call in later if call["idempotency_key"] != request.key or not request.key] == []
    assert await money_and_cards(world) == done
    current = await world.request(request.id)
    if current.state is State.FAILED:
        assert MAY_FAIL.get(kind, "no other kind") in current.outcome_text
    if kind not in MOVES_NOTHING:
        assert not CLAIMS_NOTHING.search(current.outcome_text), current.outcome_text
    await world.store.close()
    databases.drop(url)
