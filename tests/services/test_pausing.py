"""One person stops what is sent, two let it go on; nothing else stops, and nothing is sent twice for it."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import text

from bot.domain.errors import InvalidInput, NotAllowed, NotFound, OwnRequest, Stale
from bot.domain.people import Delegation
from bot.domain.requests import State
from bot.services import people, requests
from bot.services.operators import confirmation_answers, confirmations, pausing, programs
from bot.services.requests import approvals
from storage.messages import alerts, outbox
from storage.requests import Consent
from storage.requests import confirmations as consent_rows
from tests.services.outcome_steps import execute, jump, jump_to_the_end, keys_sent, net_of, top_ups
from tests.support.world import ALICE, BOB, CAROL, World

TOPUP = "POST /cards/{cardId}/topup"


async def paused(world: World, *, by: str = BOB, reason: str = "the key may be stolen") -> None:
    assert await pausing.pause(world.core, by, ["main"], reason) == ["main"]


async def asked(world: World) -> Consent:
    async with world.store.read() as tx:
        found = await consent_rows.open_one(tx, "resume", "main")
    assert found is not None
    return found


async def resumed(world: World) -> None:
    await pausing.resume(world.core, BOB, ["main"])
    await confirmation_answers.give(world.core, (await asked(world)).id, CAROL)


async def test_what_is_approved_waits_while_paused_and_goes_out_once_two_people_resumed(world: World) -> None:
    await paused(world)
    request = await world.top_up("50")

    waiting = await execute(world, request)
    assert waiting.state is State.APPROVED
    assert top_ups(world) == []
    await resumed(world)
    done = await execute(world, request)

    assert done.state is State.SUCCEEDED
    assert keys_sent(world) == [request.key]


async def test_the_thread_of_what_was_asked_of_a_second_person_says_how_it_was_answered(world: World) -> None:
    await paused(world)
    await pausing.resume(world.core, BOB, ["main"])
    world.clock.advance(5)
    await confirmation_answers.give(world.core, (await asked(world)).id, CAROL)

    async with world.store.read() as tx:
        queued = [row for row in await outbox.next_due(tx, limit=100) if row.kind == "line"]
    said = [str(row.body["text"]) for row in queued]
    assert any(text.startswith("Confirmed. ") for text in said), said
    assert not [text for text in said if "Resolved" in text and "asks to resume" in text]


async def test_what_waits_too_long_ends_and_says_that_nothing_was_sent(world: World) -> None:
    request = await world.top_up("50")
    await paused(world)

    await world.run(15 * 60 + 10, step=60)
    await requests.expire_due(world.core)

    ended = await world.request(request.id)
    assert ended.state is State.EXPIRED
    assert "Bob had paused sending to main" in ended.outcome_text
    assert "Nothing was sent" in ended.outcome_text
    await resumed(world)
    await world.run(30)
    assert top_ups(world) == []


async def test_a_lost_answer_is_looked_up_while_paused_and_the_key_is_sent_again_only_afterwards(
    world: World,
) -> None:
    await world.fault("drop_midway", TOPUP, times=1)
    request = await world.top_up("50")
    assert (await execute(world, request)).state is State.EXECUTING
    sent_before = len(top_ups(world))
    await paused(world)

    for _ in range(4):
        looked = await jump(world, request)
    assert looked.state in (State.EXECUTING, State.UNRESOLVED)
    assert len(top_ups(world)) == sent_before
    attempts = await world.attempts(request.id)
    assert {a.purpose for a in attempts[1:]} == {"look"}

    await resumed(world)
    await jump(world, request)
    assert len(top_ups(world)) == sent_before + 1
    assert set(keys_sent(world)) == {request.key}


async def test_what_landed_is_proved_by_reading_although_sending_is_paused(world: World) -> None:
    await world.fault("drop_after_commit", "POST /cards/{cardId}/freeze", times=3)
    request = await world.ask("card_freeze", {"card": world.cards[0]["id"]})
    await world.approve(request)
    assert (await execute(world, request)).state is State.EXECUTING
    sent_before = len(await world.sent("POST /freeze"))
    await paused(world)

    done = await jump_to_the_end(world, request, within=timedelta(minutes=10))

    assert done.state is State.SUCCEEDED
    assert len(await world.sent("POST /freeze")) == sent_before


async def test_what_the_api_put_off_waits_with_the_rest(world: World) -> None:
    await world.fault("status", TOPUP, times=1, status=429, code="RATE_LIMITED")
    request = await world.top_up("50")
    assert (await execute(world, request)).state is State.EXECUTING
    sent_before = len(top_ups(world))
    await paused(world)
    await world.advance(120)
    assert (await execute(world, request)).state is State.EXECUTING
    assert len(top_ups(world)) == sent_before

    await resumed(world)
    done = await execute(world, request)

    assert done.state is State.SUCCEEDED
    assert net_of(world, request.key) == -request.exposure_usd


async def test_people_go_on_asking_and_deciding_while_paused(world: World) -> None:
    await paused(world)

    request = await world.ask("card_topup", {"card": world.cards[0]["id"], "amount_usd": "50"})
    approved, _ = await world.approve(request)
    other = await world.ask("card_topup", {"card": world.cards[0]["id"], "amount_usd": "60"})
    rejected = await approvals.reject(world.core, other.id, BOB, reason="not now")

    assert (approved.state, rejected.state) == (State.APPROVED, State.REJECTED)


async def test_the_cards_of_what_waits_are_drawn_again_at_the_pause_and_at_the_end_of_it(
    world: World,
) -> None:
    request = await world.top_up("50", approved=False)
    for act in (paused, resumed):
        async with world.store.begin() as tx:
            for row in await outbox.next_due(tx, limit=100):
                await outbox.drop(tx, row.id, "drawn")

        await act(world)

        async with world.store.read() as tx:
            drawn = [row.subject for row in await outbox.next_due(tx, limit=100) if row.kind == "card"]
        assert drawn == [f"request:{request.id}"]


async def test_who_may_not_decide_may_not_pause_or_resume(world: World) -> None:
    with pytest.raises(NotAllowed, match="may pause and resume"):
        await pausing.pause(world.core, ALICE, ["main"], "")
    await paused(world)

    with pytest.raises(NotAllowed, match="may pause and resume"):
        await pausing.resume(world.core, ALICE, ["main"])
    await pausing.resume(world.core, BOB, ["main"])
    with pytest.raises(NotAllowed, match="may pause and resume"):
        await confirmation_answers.give(world.core, (await asked(world)).id, ALICE)

    assert await pausing.of(world.core, "main") is not None


async def test_nobody_resumes_alone_however_often_they_say_so(world: World) -> None:
    await paused(world)
    said = [
        *await pausing.resume(world.core, BOB, ["main"]),
        *await pausing.resume(world.core, BOB, ["main"]),
    ]

    with pytest.raises(OwnRequest):
        await confirmation_answers.give(world.core, (await asked(world)).id, BOB)

    assert "has to confirm" in said[0]
    assert "already" in said[1]
    assert await pausing.of(world.core, "main") is not None
    assert await pausing.resume(world.core, CAROL, ["main"]) == [
        "Sending to main has resumed: Bob asked, Carol confirmed."
    ]
    assert await pausing.of(world.core, "main") is None


async def test_a_delegate_does_not_resume_what_their_delegator_asked_to_resume(world: World) -> None:
    now = world.clock.now()
    away = Delegation(BOB, ALICE, now, now + timedelta(days=1), "on leave")
    world.rebuild(policy=replace(world.core.policy, delegations=(away,)))
    await paused(world, by=ALICE)
    await pausing.resume(world.core, BOB, ["main"])

    with pytest.raises(NotAllowed, match="linked by a delegation") as refusal:
        await confirmation_answers.give(world.core, (await asked(world)).id, ALICE)
    assert refusal.value.reason == "of_ones_delegate"

    await confirmation_answers.give(world.core, (await asked(world)).id, CAROL)
    assert await pausing.of(world.core, "main") is None


async def test_an_asking_counts_for_nothing_once_its_asker_left_or_its_time_is_over(world: World) -> None:
    await paused(world)
    await pausing.resume(world.core, BOB, ["main"])
    first = await asked(world)
    world.people.groups["@card-approvers"].discard(BOB)
    await world.advance(people.DECIDED_WITHIN_S)
    with pytest.raises(NotAllowed, match="may not do so any more"):
        await confirmation_answers.give(world.core, first.id, CAROL)

    world.people.groups["@card-approvers"].add(BOB)
    await world.advance(3601)
    await confirmations.expire_due(world.core)
    with pytest.raises(Stale):
        await confirmation_answers.give(world.core, first.id, CAROL)

    assert await pausing.of(world.core, "main") is not None
    await resumed(world)
    assert await pausing.of(world.core, "main") is None


async def test_a_declined_asking_changes_nothing(world: World) -> None:
    await paused(world)
    await pausing.resume(world.core, BOB, ["main"])
    consent = await asked(world)

    await confirmation_answers.decline(world.core, consent.id, CAROL)

    with pytest.raises(Stale):
        await confirmation_answers.give(world.core, consent.id, CAROL)
    assert await pausing.of(world.core, "main") is not None


async def test_a_key_that_works_does_not_end_what_people_paused_nor_people_what_the_key_paused(
    world: World,
) -> None:
    await paused(world)
    await programs.probe_paused(world.core)
    assert await pausing.of(world.core, "main") is not None
    await resumed(world)

    request = await world.top_up("50")
    await world.fault("status", "GET /me", times=1, status=401, code="UNAUTHORIZED")
    await execute(world, request)
    assert await programs.is_paused(world.core, "main")
    with pytest.raises(NotFound, match="does not take the key"):
        await pausing.resume(world.core, BOB, ["main"])
    await programs.probe_paused(world.core)
    assert not await programs.is_paused(world.core, "main")


async def test_the_pause_is_an_alert_of_its_own_audited_with_who_and_why(world: World) -> None:
    with pytest.raises(InvalidInput, match="card number"):
        await pausing.pause(world.core, BOB, ["main"], "4242424242424242 leaked")
    await paused(world)
    assert await pausing.pause(world.core, CAROL, ["main"], "again") == []

    async with world.store.read() as tx:
        (alert,) = [a for a in await alerts.open_ones(tx) if a.kind == "paused"]
    assert "paused by Bob" in alert.title
    assert "the key may be stolen" in alert.text
    await resumed(world)
    async with world.store.read() as tx:
        assert [a for a in await alerts.open_ones(tx) if a.kind in ("paused", "consent")] == []
        rows = await tx.run(
            text(
                "SELECT actor, action FROM audit WHERE action LIKE 'program.write%' OR action LIKE 'consent.%'"
                " ORDER BY seq"
            )
        )
        assert [tuple(row) for row in rows.all()] == [
            (BOB, "program.write_paused"),
            (BOB, "consent.asked"),
            (CAROL, "consent.given"),
            (CAROL, "program.write_resumed"),
        ]
