"""What a key may not do holds that call and nothing else, and the hold ends by itself.

For each endpoint that a kind sends to: the API refuses it once for the key's scopes, and every other kind goes on.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from bot.domain.errors import NotAllowed, Stale
from bot.domain.requests import Request, State
from bot.operations import kinds
from bot.services import requests
from bot.services.events import Poller
from bot.services.execution import try_now
from bot.services.operators import programs
from bot.services.requests import drafts, request_lookups
from handlers.views.requests import request_card
from storage.operators import held_endpoints
from tests.services.outcome_steps import alert_kinds, due_in, execute, jump, open_alerts, status
from tests.support.kinds import CALLING, NORA, PATH, asked
from tests.support.situations import FREEZE, a_freeze, card_of, card_status, everything_said, resume, scopes
from tests.support.world import ALICE, BOB, World

pytestmark = [pytest.mark.usefixtures("deposits_are_set_up"), pytest.mark.by_turns(4)]

MARKUP = "PUT /fees"
# So many requests a search finds where nothing else is said.
MOST_FOUND = 50


# By kind, its call as the simulator's journal has it.
CALL = {
    kind: path if path.count("/") == 1 else f"{path.split()[0]} /{path.rpartition('/')[2]}"
    for kind, path in PATH.items()
}


async def blocks_of(world: World, request: Request) -> list[Any]:
    """Of its message in the approvals channel."""
    return list(request_card.card(await request_lookups.request_view(world.core, request.id))["blocks"])


async def a_freeze_now(world: World) -> State:
    return (await execute(world, await a_freeze(world, card=1))).state


@pytest.mark.walk(most=5)
@CALLING
async def test_a_call_that_the_key_may_not_make_never_stops_a_freeze(world: World, kind: str) -> None:
    request = await asked(world, kind)
    await world.approve(request)
    await status(403, "FORBIDDEN").set(world, PATH[kind], times=1)

    held = await execute(world, request)

    assert held.state is State.EXECUTING
    is_urgent = kinds()[kind].handling.is_urgent  # that it has not happened is reported whatever the cause
    assert await alert_kinds(world) == {"scope"} | ({"not_done_yet"} if is_urgent else set())
    if PATH[kind] != PATH["card_freeze"]:
        assert await a_freeze_now(world) is State.SUCCEEDED


@pytest.mark.walk(most=5)
@CALLING
async def test_what_waits_for_a_scope_says_that_and_nothing_of_the_program_or_of_a_time_that_is_over(
    world: World, kind: str
) -> None:
    request = await asked(world, kind)
    await world.approve(request)
    await status(403, "FORBIDDEN").set(world, PATH[kind], times=1)

    held = await execute(world, request)
    await world.advance(600)

    assert "paused" not in held.outcome_text
    assert kinds()[kind].handling.is_urgent or "Nothing was done by this call." in held.outcome_text
    view = await request_lookups.request_view(world.core, request.id)
    assert view.next_look_at is None


@pytest.mark.walk(most=5)
@CALLING
async def test_what_waits_for_a_scope_can_be_cancelled_by_its_requester(world: World, kind: str) -> None:
    request = await asked(world, kind)
    await world.approve(request)
    await status(403, "FORBIDDEN").set(world, PATH[kind], times=1)
    held = await execute(world, request)
    assert any("cancel:" in str(block) for block in await blocks_of(world, held))
    with pytest.raises(NotAllowed):
        await requests.cancel(world.core, held.id, BOB)

    ended = await requests.cancel(world.core, held.id, held.requester)

    assert ended.state is State.FAILED, "`cancelled` is what was never sent"
    assert "Cancelled by the requester" in ended.outcome_text
    for text in await everything_said(world, ended):
        assert "nothing was sent" not in text.lower(), text
    assert await alert_kinds(world) <= {"scope"}
    calls = len(await world.sent(CALL[kind]))
    await world.advance(600)
    await world.run_due()
    assert (await execute(world, ended)).state is State.FAILED
    assert len(await world.sent(CALL[kind])) == calls


@pytest.mark.parametrize("what", ["a call is under way", "an answer was lost"])
async def test_what_may_have_been_carried_out_cannot_be_cancelled(world: World, what: str) -> None:
    request = await world.top_up("50")
    await status(403, "FORBIDDEN").set(world, PATH["card_topup"], times=1)
    await execute(world, request)
    async with world.store.begin() as tx:
        await programs.release(tx, world.core, "main", kinds()["card_topup"].endpoint.value)
    await world.advance(30)
    if what == "an answer was lost":
        await world.fault("drop_after_commit", times=1)
        await execute(world, request)
    else:
        with world.dies_at("execution.claimed"):
            await execute(world, request)

    current = await world.request(request.id)
    assert not any("cancel:" in str(block) for block in await blocks_of(world, current))
    with pytest.raises(Stale):
        await requests.cancel(world.core, request.id, request.requester)


async def test_a_key_with_few_scopes_goes_on_freezing_after_it_was_refused_something(world: World) -> None:
    request = await asked(world, "fees_markup")
    await world.approve(request)
    scopes(world, "users:read", "cards:read", "cards:write")

    assert (await execute(world, request)).state is State.EXECUTING
    for _ in range(40):
        await world.advance(30)
        await programs.probe_paused(world.core)
        await world.run_due()

    assert await a_freeze_now(world) is State.SUCCEEDED
    assert (await world.request(request.id)).state is State.FAILED
    assert len(await world.sent(MARKUP)) == 1, "nobody knocked again and again"
    assert await alert_kinds(world) == set(), "what caused it is gone"


async def test_the_hold_ends_when_the_key_has_the_scope(world: World) -> None:
    request = await asked(world, "fees_markup")
    await world.approve(request)
    scopes(world, "users:read", "cards:read", "cards:write")
    await execute(world, request)
    await programs.probe_paused(world.core)
    assert await alert_kinds(world) == {"scope"}

    scopes(world, "users:read", "users:write", "cards:read")
    await programs.probe_paused(world.core)

    assert await alert_kinds(world) == set()
    assert (await execute(world, request)).state is State.SUCCEEDED


async def test_two_people_who_resume_end_the_hold(world: World) -> None:
    request = await asked(world, "fees_markup")
    await world.approve(request)
    await status(403, "FORBIDDEN").set(world, MARKUP, times=1)
    await execute(world, request)
    assert (await execute(world, request)).state is State.EXECUTING

    await resume(world)

    assert await alert_kinds(world) == set()
    assert (await execute(world, request)).state is State.SUCCEEDED


async def test_a_reading_that_is_refused_says_the_same_and_stops_no_sending(world: World) -> None:
    """Poller, gate and page of card details: one rule."""
    poller = Poller(world.core, account_every=timedelta(minutes=1))
    await status(403, "FORBIDDEN").set(world, "GET /funding", times=1)
    await poller.funding()
    assert await alert_kinds(world) == {"scope"}
    assert (await execute(world, await world.top_up("50"))).state is State.SUCCEEDED

    await world.advance(60)
    await poller.funding()
    assert await alert_kinds(world) == set()


async def test_a_freeze_goes_out_although_the_key_may_not_read_the_card(world: World) -> None:
    freeze = await a_freeze(world)
    scopes(world, "cards:write")

    await execute(world, freeze)

    assert len(await world.sent("POST /freeze")) == 1
    assert await card_status(world) == "FROZEN"
    assert kinds()["card_freeze"].handling.is_urgent


async def test_a_freeze_that_the_key_may_not_make_is_tried_on_and_every_word_of_it_is_true(
    world: World,
) -> None:
    freezes = [await a_freeze(world, card=n) for n in (0, 1)]
    scopes(world, "users:read", "cards:read")

    for request in freezes:
        held = await execute(world, request)
        assert due_in(world, held) == 5
        for text in await everything_said(world, held):
            assert "succeeded" not in text.lower(), text
        card = await card_of(world, held)
        for promise in (
            "Not frozen yet",
            "may not freeze",
            "cards:write",
            "every 5 seconds",
            "card provider",
        ):
            assert promise in card, promise
        assert "is paused" not in card
    assert len(await world.sent("POST /freeze")) == 2, "a hold stops no freeze"
    assert len([alert for alert in await open_alerts(world) if alert.kind == "not_done_yet"]) == 2

    await jump(world, freezes[0])
    await try_now.try_now(world.core, freezes[0].id, BOB)
    await world.run_due()
    assert len([c for c in await world.sent("POST /freeze") if freezes[0].subject in c["path"]]) == 3

    scopes(world, "users:read", "cards:read", "cards:write")
    for request in freezes:
        assert (await jump(world, request)).state is State.SUCCEEDED
    assert await alert_kinds(world) == set(), "a try that succeeds ends the hold"


async def test_a_refusal_that_names_no_scope_waits_for_that_of_its_own_endpoint_alone(world: World) -> None:
    card = world.cards[0]["id"]
    await world.tell(f"cards/{card}", {"status": "FROZEN"})
    request = await world.ask("card_unfreeze", {"card": card})
    await world.approve(request)
    scopes(world, "users:read", "cards:read", "cards:write")
    await status(403, "FORBIDDEN").set(world, FREEZE, times=1)
    assert (await execute(world, request)).state is State.EXECUTING

    await world.advance(120)
    await programs.probe_paused(world.core)

    assert (await execute(world, request)).state is State.SUCCEEDED
    assert await alert_kinds(world) == set()


async def test_a_hold_is_not_over_because_another_program_has_many_requests_of_the_kind(world: World) -> None:
    world.rebuild(partners={**world.core.partners, "other": world.core.partners["main"]})
    request = await asked(world, "card_order")
    await world.approve(request)
    await status(403, "FORBIDDEN").set(world, PATH["card_order"], times=1)
    assert (await execute(world, request)).state is State.EXECUTING
    scopes(world, "users:read", "cards:read")
    for number in range(MOST_FOUND + 1):
        await world.advance(10)
        draft = await drafts.begin(
            world.core,
            owner=ALICE,
            kind="card_order",
            texts={**NORA, "partner_ref": f"TEAM-{number}"},
            reason="New colleague",
            program="other",
        )
        await drafts.preview(world.core, draft)
        other = await requests.submit(world.core, draft.id, ALICE)
        await world.approve(other)

    await programs.probe_paused(world.core)

    assert "scope" in await alert_kinds(world)
    async with world.store.read() as tx:
        assert [held.endpoint for held in await held_endpoints.of(tx, "main")] == [PATH["card_order"]]
