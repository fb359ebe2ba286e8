"""Freeze now is for an emergency: after so many of one person in a day the next one waits for an approval."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from bot.domain.people import KindPolicy
from bot.domain.requests import State
from bot.services import people, requests
from bot.services.requests import drafts
from bot.services.shared_look import SharedLooks
from storage.errors import NotAsOnRecord
from tests.services.test_passkeys_on_record import next_start
from tests.support.world import ALICE, BOB, World, a_policy, a_world
from tests.thief.edits import LONG_AGO, opened
from tests.thief.programme import place_of


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    """One person may freeze at once twice a day."""
    kinds = {"card_freeze": KindPolicy(now_per_person=2)}
    async with a_world(tmp_path, policy=replace(a_policy(), kinds=kinds)) as made:
        yield made


async def _freeze(world: World, card: int, by: str = ALICE) -> State:
    return (await world.ask("card_freeze", {"card": world.cards[card]["id"]}, by=by, now=True)).state


async def test_the_next_one_is_an_ordinary_request_and_anothers_is_not(world: World) -> None:
    states = [await _freeze(world, card) for card in (0, 1, 2)]

    assert states == [State.APPROVED, State.APPROVED, State.PENDING]
    assert await _freeze(world, 3, by=BOB) is State.APPROVED


async def test_it_counts_for_a_day(world: World) -> None:
    for card in (0, 1):
        await _freeze(world, card)
    await world.advance(24 * 3600 + 1)

    assert await _freeze(world, 2) is State.APPROVED


WHILE_IT_IS_DOWN = {
    "nothing": "",
    "deleted": "DELETE FROM request",
    "of another person": "UPDATE request SET requester = 'U0MALLORY'",
    "as if somebody had approved them": "UPDATE request SET break_glass = 0",
    "of long ago": f"UPDATE request SET created_at = '{LONG_AGO}'",
    "of another kind": "UPDATE request SET kind = 'card_unfreeze'",
}


@pytest.mark.parametrize("changed", WHILE_IT_IS_DOWN)
async def test_a_restart_begins_no_new_count(world: World, changed: str) -> None:
    """Whatever somebody makes of the rows of those before: they are counted, and held against the audit log."""
    for card in (0, 1):
        await _freeze(world, card)
    await world.run(10)
    if statement := WHILE_IT_IS_DOWN[changed]:
        with opened(place_of(world)) as database:
            assert database.write(statement) == 2
    next_start(world)
    world.rebuild(people_kept={}, people_seen=SharedLooks())

    state = None
    with suppress(NotAsOnRecord):
        state = await _freeze(world, 2)
    await world.run(10)

    assert state in (None, State.PENDING)
    assert (state is None) == bool(statement)
    assert len(await world.sent("POST /freeze")) == 2


async def test_the_form_says_so(world: World) -> None:
    for card in (0, 1):
        await _freeze(world, card)
    await people.require_member(world.core, ALICE, action="test")
    texts = {"card": world.cards[2]["id"]}
    draft = await drafts.begin(
        world.core, owner=ALICE, kind="card_freeze", texts=texts, reason="lost", run_now=True
    )

    shown = await drafts.preview(world.core, draft)

    assert not shown.draft.run_now
    assert any("Freeze now 2 times in the last 24 hours" in concern.text for concern in shown.concerns)


async def test_a_form_that_was_open_before_gets_no_more_than_the_others(world: World) -> None:
    await people.require_member(world.core, ALICE, action="test")
    open_forms = []
    for card in (0, 1, 2):
        texts = {"card": world.cards[card]["id"]}
        draft = await drafts.begin(
            world.core, owner=ALICE, kind="card_freeze", texts=texts, reason="lost", run_now=True
        )
        await drafts.preview(world.core, draft)
        open_forms.append(draft.id)

    states = [(await requests.submit(world.core, one, ALICE)).state for one in open_forms]

    assert states == [State.APPROVED, State.APPROVED, State.PENDING]


def test_ten_a_day_unless_set() -> None:
    assert KindPolicy().now_per_person == 10
