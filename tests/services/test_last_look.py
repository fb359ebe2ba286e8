"""Nothing leaves that was stopped before it left: the last look is in the claim's transaction, then nothing waits.

Whatever may take time (the rate budget, readings, Slack) comes before that look. So for every kind, and for
everything that people may do meanwhile, an execution is held in line and the world moves on.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import text

from bot.domain.requests import Request, State
from bot.partner.client import PartnerClient
from bot.partner.ratelimit import Lane
from bot.services import audit, execution, requests
from bot.services.core import Core
from bot.services.execution import claims, presend_checks
from bot.services.operators import pausing
from storage.requests import requests as request_rows
from tests.services.outcome_steps import execute, jump_to_the_end, top_ups
from tests.support.kinds import CALLING, SETTINGS, asked
from tests.support.situations import at, changes, pause, refuse_the_key
from tests.support.waiting import eventually
from tests.support.world import ALICE, BOB, CAROL, World

pytestmark = [pytest.mark.usefixtures("deposits_are_set_up"), pytest.mark.by_turns(4)]

MINUTE_S = 61.0


async def held_in_line(world: World, request: Request, meanwhile: Callable[[], Awaitable[None]]) -> Request:
    """Execute it; while it waits for the rate budget, all its readings done, do `meanwhile`, then let it go on."""
    at(world, "execution.before_claim", lambda: world.limiter.block(MINUTE_S))
    going = asyncio.create_task(execution.execute(world.core, request.id))
    await eventually(
        "it waits for the rate budget", lambda: any(world.limiter._waiting.values()) or going.done()
    )
    await meanwhile()
    await world.advance(MINUTE_S + 1)
    await going
    return await world.request(request.id)


@CALLING
async def test_nothing_of_any_kind_leaves_after_a_pause_that_came_while_it_waited_in_line(
    world: World, kind: str
) -> None:
    request = await asked(world, kind)
    await world.approve(request)
    before = changes(world)

    after = await held_in_line(world, request, lambda: pause(world))

    assert changes(world) == before
    assert after.state is State.APPROVED
    assert await world.attempts(request.id) == []


async def paused(world: World, request: Request) -> None:
    await pause(world)


async def key_refused(world: World, request: Request) -> None:
    await refuse_the_key(world)


async def cancelled(world: World, request: Request) -> None:
    await requests.cancel(world.core, request.id, ALICE)


async def lapsed(world: World, request: Request) -> None:
    await world.advance(timedelta(minutes=15).total_seconds())


async def approval_lost(world: World, request: Request) -> None:
    async with world.store.begin() as tx:
        await tx.run(text(f"DELETE FROM decision WHERE request_id = '{request.id}'"))


MEANWHILE = pytest.mark.parametrize("act", [paused, key_refused, cancelled, lapsed, approval_lost])


@MEANWHILE
async def test_nothing_leaves_after_what_stops_it_was_committed(
    world: World, act: Callable[[World, Request], Awaitable[None]]
) -> None:
    request = await world.top_up("50")

    after = await held_in_line(world, request, lambda: act(world, request))

    assert top_ups(world) == []
    assert after.state in (State.APPROVED, State.CANCELLED, State.EXPIRED)
    assert await world.attempts(request.id) == []


async def approver_removed(world: World, request: Request) -> None:
    world.people.groups["@card-approvers"].discard(BOB)


async def approver_deactivated(world: World, request: Request) -> None:
    world.people.change(BOB, deleted=True)


async def slack_lost(world: World, request: Request) -> None:
    world.people.broken = True


PEOPLE_LOST = pytest.mark.parametrize("lose", [approver_removed, approver_deactivated, slack_lost])


@CALLING
async def test_nothing_of_any_kind_leaves_once_who_approved_it_may_not_any_more_whatever_it_waited_for(
    world: World, kind: str
) -> None:
    if world.core.kinds[kind].handling.is_urgent:
        return  # what is urgent is not held up by it: an approval that was good a moment ago will do
    request = await asked(world, kind)
    await world.approve(request)
    before = changes(world)

    after = await held_in_line(world, request, lambda: approver_removed(world, request))

    assert changes(world) == before
    assert after.state is State.CANCELLED
    assert await world.attempts(request.id) == []


async def test_the_last_look_sends_nothing_on_the_approval_of_somebody_slack_was_not_asked_about(
    world: World,
) -> None:
    request = await world.top_up("50")
    async with world.store.begin() as tx:
        kept = await presend_checks.kept_of(tx, world.core, request)
        assert kept is not None
        recorded = await presend_checks.by_our_records(tx, world.core, kept)
    look = await presend_checks.may_go(world.core, request, world.core.partners["main"], recorded)
    assert isinstance(look, presend_checks.Cleared)
    words = [replace(word, actor=CAROL) for word in look.approved.words]
    of_carol = replace(look, approved=replace(look.approved, words=words))

    async with world.store.begin() as tx:
        as_asked = await presend_checks.last_look(tx, world.core, kept, look)
        of_another = await presend_checks.last_look(tx, world.core, kept, of_carol)

    assert as_asked == look
    assert isinstance(of_another, presend_checks.Later)


@PEOPLE_LOST
async def test_a_slow_reading_of_the_api_never_outlasts_the_look_at_people(
    world: World, monkeypatch: pytest.MonkeyPatch, lose: Callable[[World, Request], Awaitable[None]]
) -> None:
    request = await world.top_up("50")
    honest = presend_checks.recheck

    async def slow(core: Core, of: Request, partner: PartnerClient) -> presend_checks.Answer:
        found = await honest(core, of, partner)
        await world.advance(22)
        await lose(world, of)
        return found

    monkeypatch.setattr(presend_checks, "recheck", slow)

    after = await execute(world, request)

    assert top_ups(world) == []
    assert after.state in (State.APPROVED, State.CANCELLED)


class SlowSlack:
    """Each reading of the groups takes so many seconds; `answers` counts them."""

    def __init__(self, world: World, takes_s: Sequence[float]) -> None:
        self.answers = 0
        honest, takes = world.people.each, list(takes_s)

        async def each(lists: Sequence[Sequence[str]]) -> Sequence[frozenset[str]]:
            found = await honest(lists)
            self.answers += 1
            await world.advance(takes.pop(0) if takes else takes_s[-1])
            return found

        world.people.each = each  # type: ignore[method-assign]


async def test_people_are_looked_at_again_where_slack_took_long_to_answer(world: World) -> None:
    request = await world.top_up("50")
    slack = SlowSlack(world, [1, 16, 0])
    await world.advance(presend_checks.PEOPLE_GOOD_FOR_S)
    at(world, "execution.before_claim", lambda: world.clock.advance(12))

    after = await execute(world, request)

    assert slack.answers == 3
    assert after.state is State.SUCCEEDED


async def test_nothing_is_sent_on_an_old_look_however_long_slack_is_slow_and_it_is_not_asked_without_end(
    world: World,
) -> None:
    request = await world.top_up("50")
    slack = SlowSlack(world, [16])
    await world.advance(presend_checks.PEOPLE_GOOD_FOR_S)

    after = await execute(world, request)

    assert top_ups(world) == []
    assert after.state is State.APPROVED
    assert "Slack takes too long" in after.outcome_text
    assert slack.answers <= 4


async def test_what_was_read_from_the_api_is_read_again_where_the_line_was_long(world: World) -> None:
    request = await world.top_up("50")
    at(world, "execution.before_claim", lambda: world.clock.advance(180))

    after = await execute(world, request)

    assert top_ups(world) == []
    assert (after.state, after.due_at) == (State.APPROVED, world.clock.now() + presend_checks.RETRY_AFTER)
    at(world, "execution.before_claim", lambda: None)
    await world.advance(5)
    assert (await execute(world, request)).state is State.SUCCEEDED


async def test_a_process_that_stood_still_for_a_few_seconds_sends_nothing_on_the_old_look(
    world: World,
) -> None:
    request = await world.top_up("50")
    at(world, "execution.claimed", lambda: world.clock.advance(presend_checks.PEOPLE_GOOD_FOR_S))

    await execute(world, request)

    assert top_ups(world) == []


async def test_an_approved_freeze_is_not_held_up_by_a_second_look_at_people(world: World) -> None:
    request = await world.ask("card_freeze", {"card": world.cards[0]["id"]})
    await world.approve(request)
    SlowSlack(world, [9])

    assert (await execute(world, request)).state is State.SUCCEEDED


@pytest.mark.walk(most=5)
@CALLING
async def test_between_the_claim_and_the_bytes_nothing_waits(world: World, kind: str) -> None:
    """The budget is used up the moment after the claim, and the clock stands: it leaves all the same."""
    request = await asked(world, kind)
    await world.approve(request)
    before = changes(world)
    at(world, "execution.claimed", lambda: world.limiter.block(MINUTE_S))

    going = asyncio.create_task(execution.execute(world.core, request.id))
    await eventually("it left or waits", lambda: any(world.limiter._waiting.values()) or going.done())
    left = changes(world)
    await world.advance(MINUTE_S + 1)
    await going

    assert left == before + 1
    (sent, *_) = await world.attempts(request.id)
    assert sent.purpose == "send"


@pytest.mark.walk(most=5)
@CALLING
async def test_a_process_that_stood_still_after_the_last_look_sends_nothing_and_looks_again(
    world: World, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """Stopped between the claim and the bytes, as by SIGSTOP: what people did meanwhile was not seen."""
    request = await asked(world, kind)
    await world.approve(request)
    before = changes(world)
    loop = asyncio.get_running_loop()
    at(
        world,
        "execution.claimed",
        lambda: monkeypatch.setattr(claims, "loop_s", lambda: loop.time() + 3600),
    )

    await execution.execute(world.core, request.id)
    assert changes(world) == before
    held = await world.request(request.id)
    assert (held.state, held.outcome_unknown) == (State.EXECUTING, False)

    at(world, "execution.claimed", lambda: None)
    await jump_to_the_end(world, request, within=timedelta(minutes=5))
    assert changes(world) == before + 1


async def test_the_time_of_sending_is_when_it_left_and_not_when_it_came_into_line(world: World) -> None:
    request = await world.top_up("50")
    began = world.clock.now()

    async def nothing() -> None: ...

    after = await held_in_line(world, request, nothing)

    (attempt,) = await world.attempts(request.id)
    assert after.state is State.SUCCEEDED
    assert attempt.sent_at >= began + timedelta(seconds=MINUTE_S)
    assert after.first_sent_at == attempt.sent_at


async def test_a_place_in_the_rate_budget_that_is_not_used_is_given_back(world: World) -> None:
    request = await world.top_up("50")
    await held_in_line(world, request, lambda: cancelled(world, request))

    world.limiter.set_limit(1)
    await world.limiter.acquire(Lane.MONEY)  # or this would wait, and the clock stands


@CALLING
async def test_while_slack_cannot_say_who_people_are_what_is_urgent_goes_out_and_nothing_else(
    world: World, kind: str
) -> None:
    request = await asked(world, kind)
    await world.approve(request)
    await world.advance(presend_checks.PEOPLE_GOOD_FOR_S)  # what the click saw is too old
    world.people.broken = True

    after = await execute(world, request)

    is_urgent = world.core.kinds[kind].handling.is_urgent
    assert after.state is (State.SUCCEEDED if is_urgent else State.APPROVED)


async def test_a_call_that_is_repeated_is_looked_at_again_before_it_leaves_again(world: World) -> None:
    """The client itself repeats nothing that was sent for a request: a pause may have come."""
    request = await world.ask("card_freeze", {"card": world.cards[0]["id"]})
    await world.approve(request)
    await world.fault("status", "POST /cards/{cardId}/freeze", times=9, status=502, code="UNAVAILABLE")

    await execute(world, request)

    assert len(await world.sent("POST /freeze")) == 1
    await paused(world, request)
    await world.run(60)
    assert len(await world.sent("POST /freeze")) == 1


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("first_due", ["the older", "the newer"])
async def test_an_older_request_never_undoes_a_newer_one_on_the_same_setting(
    world: World, setting: str, first_due: str
) -> None:
    older_kind, older_texts, newer_kind, newer_texts = SETTINGS[setting]
    card = {} if older_kind == "fees_markup" else {"card": world.cards[0]["id"]}
    by = CAROL if older_kind == "fees_markup" else ALICE
    await paused(world, await world.top_up("1", approved=False))
    older = await world.ask(older_kind, {**older_texts, **card}, by=by)
    newer = await world.ask(newer_kind, {**newer_texts, **card}, by=by)
    await world.approve(older)
    await world.advance(1)
    await world.approve(newer)

    await pausing.resume(world.core, BOB, ["main"])
    await pausing.resume(world.core, CAROL, ["main"])
    for request in (older, newer) if first_due == "the older" else (newer, older):
        await jump_to_the_end(world, request, within=timedelta(minutes=1))

    over = await world.request(older.id)
    assert over.state is State.CANCELLED
    assert newer.id in over.outcome_text
    assert await world.attempts(older.id) == []
    assert (await world.request(newer.id)).state is State.SUCCEEDED or newer_kind in (
        "card_phone",
        "card_unfreeze",
    )


async def test_freeze_now_beats_an_unfreeze_that_was_held_when_it_was_pressed(world: World) -> None:
    card = world.cards[0]["id"]
    await world.tell(f"cards/{card}", {"status": "FROZEN"})
    unfreeze = await world.ask("card_unfreeze", {"card": card})
    await world.approve(unfreeze)
    await world.advance(presend_checks.PEOPLE_GOOD_FOR_S)
    world.people.broken = True
    assert (await execute(world, unfreeze)).state is State.APPROVED, "Slack could not be asked"
    world.people.broken = False
    await world.tell(f"cards/{card}", {"status": "ACTIVE"})
    await world.advance(2)
    freeze = await world.ask("card_freeze", {"card": card}, now=True)
    assert (await execute(world, freeze)).state is State.SUCCEEDED

    await world.run(60)

    assert (await world.request(unfreeze.id)).state is State.CANCELLED
    found = next(c for c in (await world.state())["cards"] if c["id"] == card)
    assert found["status"] == "FROZEN"


async def test_a_newer_request_that_came_to_nothing_gives_way_to_the_older_one(world: World) -> None:
    card = world.cards[0]["id"]
    await paused(world, await world.top_up("1", approved=False))
    older = await world.ask("card_limits", {"card": card, "daily_limit": "10"})
    newer = await world.ask("card_limits", {"card": card, "daily_limit": "900"})
    await world.approve(older)
    await world.advance(1)
    await world.approve(newer)
    await requests.cancel(world.core, newer.id, ALICE)
    await pausing.resume(world.core, BOB, ["main"])
    await pausing.resume(world.core, CAROL, ["main"])

    assert (await execute(world, older)).state is State.SUCCEEDED


async def test_a_second_top_up_of_a_card_waits_for_the_first_and_is_not_cancelled(world: World) -> None:
    first, second = await world.top_up("50"), await world.top_up("60")
    async with world.store.begin() as tx:
        held = await request_rows.reserve(tx, first.id, owner="another", lease_s=30)
        under_way = await request_rows.claim(tx, first.id, owner="another", lease_s=30, judged=held)
        assert under_way is not None
        await audit.of_request(tx, world.core, under_way, "system:test", "request.moved")

    waiting = await execute(world, second)
    assert waiting.state is State.APPROVED
    assert first.id in waiting.outcome_text
    await world.run(240)

    assert (await world.request(first.id)).state is State.SUCCEEDED
    assert (await world.request(second.id)).state is State.SUCCEEDED
