"""Draft only: everything is requested, previewed and approved as ever, and nothing reaches the card provider."""

from __future__ import annotations

from typing import Any

import pytest

from bot import operations
from bot.domain.errors import NotAllowed, NotFound, OwnRequest
from bot.domain.requests import State
from bot.partner.secret import Secret
from bot.services import requests
from bot.services.operators import confirmation_answers, draft_only, pausing
from storage.operators import programs, stops
from storage.requests import confirmations as consent_rows
from tests.services.outcome_steps import execute, keys_sent, top_ups
from tests.services.test_changed_tables import by_hand
from tests.support import situations
from tests.support.kinds import asked
from tests.support.world import ALICE, BOB, CAROL, World

pytestmark = pytest.mark.usefixtures("deposits_are_set_up")

# The walk itself registers a webhook before it requests a rotation and before it requests 3-D Secure.
SET_UP = 2


async def calls_that_change(world: World) -> list[Any]:
    """Every call but readings, since the simulator started."""
    journal = (await world.control.get("/_control/journal")).json()["requests"]
    return [r for r in journal if r["method"] != "GET" and not r["path"].endswith("/cards/balances")]


async def switched_off(world: World) -> None:
    await draft_only.switch_off(world.core, CAROL, ["main"])
    await situations.confirm(world, "drafts_off", by=BOB)


async def run_out(world: World) -> None:
    """Longer than an approval is valid."""
    await world.run(15 * 60 + 10, step=300)
    await requests.expire_due(world.core)


async def test_no_kind_of_request_reaches_the_card_provider_and_each_ends_as_a_draft(world: World) -> None:
    await draft_only.at_start(world.core, is_on=True)
    made = {kind: await asked(world, kind) for kind in operations.kinds()}
    assert len(await calls_that_change(world)) == SET_UP
    for kind, request in made.items():
        second = BOB if request.requester == CAROL else CAROL
        approved, _ = await world.approve(request, by=second)
        assert approved.state is State.APPROVED, kind
        assert (await execute(world, request)).state is State.APPROVED, kind

    await run_out(world)

    for kind, request in made.items():
        ended = await world.request(request.id)
        assert (kind, ended.state) == (kind, State.EXPIRED)
        assert ended.outcome_text.startswith("Draft only: nothing was sent"), kind
    assert len(await calls_that_change(world)) == SET_UP


async def test_freeze_now_is_not_sent_either_and_does_not_wait_for_the_end_of_draft_only(
    world: World,
) -> None:
    await draft_only.at_start(world.core, is_on=True)
    request = await world.ask("card_freeze", {"card": world.cards[0]["id"]}, now=True)

    await world.run(30)
    await run_out(world)
    await switched_off(world)
    await world.run(30)

    assert (await world.request(request.id)).state is State.EXPIRED
    assert await calls_that_change(world) == []


async def test_what_was_approved_as_a_draft_is_not_sent_after_two_people_switched_it_off(
    world: World,
) -> None:
    await draft_only.at_start(world.core, is_on=True)
    draft = await world.top_up("50")
    await switched_off(world)
    world.clock.advance(1)

    ended = await execute(world, draft)
    real = await execute(world, await world.top_up("60", card=1))

    assert ended.state is State.CANCELLED
    assert ended.outcome_text.startswith("Draft only: nothing was sent")
    assert real.state is State.SUCCEEDED
    assert [call["body"]["amount_usd"] for call in top_ups(world)] == [60]


async def test_what_was_approved_as_a_draft_is_not_sent_after_a_start_without_the_setting(
    world: World,
) -> None:
    await draft_only.at_start(world.core, is_on=True)
    draft = await world.top_up("50")
    await draft_only.at_start(world.core, is_on=False)

    assert (await execute(world, draft)).state is State.CANCELLED
    assert await calls_that_change(world) == []


async def test_one_of_two_approvals_given_as_a_draft_sends_nothing_later(world: World) -> None:
    await draft_only.at_start(world.core, is_on=True)
    draft = await world.ask("card_topup", {"card": world.cards[0]["id"], "amount_usd": "600"})
    await world.approve(draft, by=BOB)
    world.clock.advance(1)
    await draft_only.at_start(world.core, is_on=False)
    world.clock.advance(1)
    await world.approve(draft, by=CAROL)

    assert (await execute(world, draft)).state is State.CANCELLED


async def test_an_admin_and_a_second_person_switch_it_off_and_nobody_else(world: World) -> None:
    await draft_only.at_start(world.core, is_on=True)
    with pytest.raises(NotAllowed, match="switched off by an admin"):
        await draft_only.switch_off(world.core, BOB, ["main"])
    await draft_only.switch_off(world.core, CAROL, ["main"])
    async with world.store.read() as tx:
        found = await consent_rows.open_one(tx, "drafts_off", "main")
    assert found is not None
    with pytest.raises(OwnRequest):
        await confirmation_answers.give(world.core, found.id, CAROL)
    with pytest.raises(NotAllowed):
        await confirmation_answers.give(world.core, found.id, ALICE)
    async with world.store.read() as tx:
        assert (await stops.of(tx, "main")).draft_only

    said = await confirmation_answers.give(world.core, found.id, BOB)

    assert said.startswith("Draft only is off for main: Carol requested it, Bob confirmed.")
    async with world.store.read() as tx:
        assert not (await stops.of(tx, "main")).draft_only


async def test_the_next_start_with_the_setting_begins_it_again(world: World) -> None:
    await draft_only.at_start(world.core, is_on=True)
    await switched_off(world)
    world.clock.advance(60)
    await draft_only.at_start(world.core, is_on=True)

    async with world.store.read() as tx:
        known = await programs.get(tx, "main")
    assert known is not None
    assert known.is_draft_only


async def test_a_pause_and_draft_only_end_each_by_itself(world: World) -> None:
    await draft_only.at_start(world.core, is_on=True)
    await pausing.pause(world.core, BOB, ["main"], "the key may be stolen")
    await switched_off(world)

    async with world.store.read() as tx:
        assert (await stops.of(tx, "main")).by_people
    await draft_only.at_start(world.core, is_on=True)
    await pausing.resume(world.core, BOB, ["main"])
    async with world.store.read() as tx:
        found = await consent_rows.open_one(tx, "resume", "main")
    assert found is not None
    said = await confirmation_answers.give(world.core, found.id, CAROL)
    assert said.endswith("Draft only: nothing is sent to main.")
    with pytest.raises(NotFound, match="`/countersign drafts off`"):
        await pausing.resume(world.core, BOB, ["main"])


@pytest.mark.parametrize("edit", ["DELETE FROM program", "UPDATE program SET drafts_since = NULL"])
async def test_a_key_that_is_set_again_leaves_it_on_where_somebody_took_it_out_of_the_row(
    world: World, edit: str
) -> None:
    await draft_only.at_start(world.core, is_on=True)
    practised = await world.top_up("50")
    by_hand(world, edit)

    async with world.store.begin() as tx:
        key, address = Secret(world.simulator.key), world.simulator.base_url
        await programs.put(tx, "main", base_url=address, key=key, whatever_was_changed=True)
    await world.run_due()
    assert keys_sent(world) == []
    await draft_only.at_start(world.core, is_on=False)
    await world.run(10)

    assert keys_sent(world) == []
    assert (await world.request(practised.id)).state is State.CANCELLED
