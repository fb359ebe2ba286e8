"""Top-up outcomes, row by row of the written table: what an answer proves as the first one, and what it
proves after an attempt whose outcome nobody knows. Sources: Cards, POST topup; Errors; rules, section 2B."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal

import pytest

from bot.domain.requests import State
from bot.outcomes import timing
from bot.services import requests
from bot.services.execution import maintenance, presend_checks
from bot.services.operators import programs
from tests.services.outcome_steps import (
    TOPUP,
    Fault,
    alert_kinds,
    card_balance,
    due_in,
    execute,
    hold_to_the_truth,
    jump,
    jump_to_the_end,
    keys_sent,
    net_of,
    open_alerts,
    processor,
    status,
    top_ups,
)
from tests.support.world import BOB, World

FIFTY = Decimal(50)


@dataclass(frozen=True)
class First:
    """A first answer and what must follow from it: at once, and in the end."""

    row: str
    fault: Fault
    state: State
    says: str
    due_s: float | None = None
    alerts: frozenset[str] = frozenset()
    ends: State | None = None  # where it gets within an hour, when that is not `state`
    calls: int = 1  # sends in all, once it has got there


FIRST = (
    First(
        "400, nothing written",
        status(400, "BAD_REQUEST"),
        State.FAILED,
        "No money left the float, or it came back",
    ),
    First("400, refunded", processor("400"), State.FAILED, "No money left the float, or it came back"),
    First(
        "400, refunded after a 412",
        processor("412"),
        State.FAILED,
        "No money left the float, or it came back",
    ),
    First("402", status(402, "INSUFFICIENT_FUNDS"), State.FAILED, "Fund the float"),
    First("404", status(404, "NOT_FOUND"), State.FAILED, "Nothing moved"),
    First("409 QUOTA, refunded", processor("capacity"), State.FAILED, "Contact your card provider"),
    First(
        "409 ALREADY_PROCESSED to a fresh key",
        status(409, "ALREADY_PROCESSED"),
        State.UNRESOLVED,
        "do not repeat",
        due_s=5,
        alerts=frozenset({"key_reused", "unresolved"}),
        ends=State.SUCCEEDED,
        calls=2,
    ),
    First(
        "429 waits 60 s",
        status(429, "RATE_LIMITED"),
        State.EXECUTING,
        "Nothing has moved yet",
        due_s=60,
        ends=State.SUCCEEDED,
        calls=2,
    ),
    First(
        "500",
        status(500, "UNAVAILABLE"),
        State.EXECUTING,
        "do not repeat",
        due_s=5,
        ends=State.SUCCEEDED,
        calls=2,
    ),
    *(
        First(
            f"502, refunded after the processor's {code}",
            processor(code),
            State.UNRESOLVED,
            "do not repeat",
            due_s=5,
            alerts=frozenset({"unresolved"}),
            ends=State.FAILED,
            calls=2,
        )
        for code in ("403", "404", "409", "429")
    ),
    First(
        "502, float debited without an outcome",
        processor("5xx"),
        State.UNRESOLVED,
        "do not repeat",
        due_s=5,
        alerts=frozenset({"unresolved"}),
        ends=State.UNRESOLVED,
        calls=10,
    ),
    First("503 UPSTREAM_AUTH, refunded", processor("401"), State.FAILED, "Nothing is missing"),
    First("503 UPSTREAM_AUTH, never taken", status(503, "UPSTREAM_AUTH"), State.FAILED, "Nothing moved"),
    First(
        "503 UNAVAILABLE, which the document does not give here",
        status(503, "UNAVAILABLE"),
        State.EXECUTING,
        "do not repeat",
        due_s=5,
        ends=State.SUCCEEDED,
        calls=2,
    ),
    *(
        First(
            f"no answer: {effect}",
            Fault(effect),
            State.EXECUTING,
            "do not repeat",
            due_s=5,
            ends=State.SUCCEEDED,
            calls=2,
        )
        for effect in ("drop_before_commit", "drop_after_commit", "reset", "garbage")
    ),
    First(
        "no answer: debited, no outcome recorded",
        Fault("drop_midway"),
        State.EXECUTING,
        "do not repeat",
        due_s=5,
        ends=State.UNRESOLVED,
        calls=10,
    ),
)


@pytest.mark.by_turns(4)
@pytest.mark.parametrize("case", FIRST, ids=lambda case: case.row)
async def test_a_first_answer_proves_no_more_than_its_row_says(world: World, case: First) -> None:
    before_usd = card_balance(world)
    await case.fault.set(world, TOPUP)
    request = await world.top_up("50")

    at_once = await execute(world, request)
    await hold_to_the_truth(world, at_once)
    assert at_once.state is case.state, at_once.outcome_text
    assert case.says.lower() in at_once.outcome_text.lower()
    assert due_in(world, at_once) == case.due_s
    assert await alert_kinds(world) == case.alerts

    end = await jump_to_the_end(world, request, within=timedelta(hours=1))
    assert end.state is (case.ends or case.state), end.outcome_text
    assert keys_sent(world) == [request.key] * case.calls
    credited_usd = FIFTY if end.state is State.SUCCEEDED else Decimal(0)
    assert card_balance(world) == before_usd + credited_usd
    assert "unresolved" not in await alert_kinds(world) or end.state is State.UNRESOLVED


@dataclass(frozen=True)
class Truth:
    """What really became of the attempt whose answer was lost."""

    name: str
    fault: Fault


COMPLETED = Truth("it was carried out", Fault("drop_after_commit"))
LOST = Truth("it never arrived", Fault("drop_before_commit"))
HALF = Truth("it was debited and no more", Fault("drop_midway"))

RESENT = {
    "200": None,
    "400": status(400, "BAD_REQUEST"),
    "402": status(402, "INSUFFICIENT_FUNDS"),
    "404": status(404, "NOT_FOUND"),
    "409 QUOTA": status(409, "QUOTA"),
    "409 ALREADY_PROCESSED": status(409, "ALREADY_PROCESSED"),
    "429": status(429, "RATE_LIMITED"),
    "500": status(500, "UNAVAILABLE"),
    "502": status(502, "UNAVAILABLE"),
    "503": status(503, "UPSTREAM_AUTH"),
    "no answer": Fault("drop_before_commit"),
}
_SPEND_THE_KEY = {"400", "409 QUOTA", "503"}


def _end_of(answer: str, truth: Truth) -> State:
    """A refusal of the re-send never decides: what became of the first attempt does."""
    if truth is COMPLETED:
        return State.SUCCEEDED
    if truth is HALF:
        return State.UNRESOLVED
    # Nothing had arrived. A key that is spent is not sent again; otherwise the approval still holds.
    return State.FAILED if answer in _SPEND_THE_KEY else State.SUCCEEDED


@pytest.mark.by_turns(5)
@pytest.mark.walk
@pytest.mark.parametrize("truth", [COMPLETED, LOST, HALF], ids=lambda truth: truth.name)
@pytest.mark.parametrize("answer", RESENT)
async def test_after_an_unknown_attempt_the_ledger_decides_and_no_refusal_does(
    world: World, answer: str, truth: Truth
) -> None:
    await truth.fault.set(world, TOPUP)
    request = await world.top_up("50")
    first = await execute(world, request)
    assert first.state is State.EXECUTING

    second_fault = RESENT[answer]
    if second_fault is not None:
        await second_fault.set(world, TOPUP)
    second = await jump(world, request)
    if second_fault is not None and truth is not COMPLETED:
        assert second.state in (State.EXECUTING, State.UNRESOLVED), "a refusal of the re-send decided"
    assert second.outcome_unknown or second.state is State.SUCCEEDED

    end = await jump_to_the_end(world, request, within=timedelta(hours=2))
    assert end.state is _end_of(answer, truth), end.outcome_text
    assert set(keys_sent(world)) == {request.key}
    if end.state is State.FAILED:
        assert len(keys_sent(world)) == 2, "a spent key was sent again"


@pytest.mark.parametrize(
    ("number", "code", "alert", "said"),
    [
        (401, "UNAUTHORIZED", "key_trouble", "missing, unknown or revoked, or the account is suspended"),
        (403, "FORBIDDEN", "scope", "Everything else continues"),
    ],
)
async def test_what_a_key_may_not_do_is_held_and_the_same_key_goes_out_when_it_may(
    world: World, number: int, code: str, alert: str, said: str
) -> None:
    await status(number, code).set(world, TOPUP)
    request = await world.top_up("50")
    held = await execute(world, request)
    assert held.state is State.EXECUTING
    assert "paused" in held.outcome_text or "scope" in held.outcome_text
    assert await alert_kinds(world) == {alert}
    assert said in " ".join(a.text for a in await open_alerts(world))

    other = await world.top_up("60", card=1)
    assert (await execute(world, other)).state is State.APPROVED, "sent although this call is held"
    await world.advance(61)  # a refusal that names no scope rests for a minute
    await programs.probe_paused(world.core)
    assert await alert_kinds(world) == set()

    assert (await execute(world, request)).state is State.SUCCEEDED
    assert keys_sent(world) == [request.key, request.key]


async def test_a_key_that_never_works_again_ends_a_held_request_as_failed_when_its_approval_lapses(
    world: World,
) -> None:
    await status(401, "UNAUTHORIZED").set(world, TOPUP)
    request = await world.top_up("50")
    await execute(world, request)
    waiting = await world.top_up("60", card=1)

    await world.advance(15 * 60)
    await world.run_due()
    await requests.expire_due(world.core)

    failed = await world.request(request.id)
    assert failed.state is State.FAILED
    assert net_of(world, request.key) == 0
    assert "It was not carried out" in failed.outcome_text
    assert (await world.request(waiting.id)).state is State.EXPIRED


async def test_an_unknown_outcome_does_not_wait_in_silence_for_a_key_that_never_works_again(
    world: World,
) -> None:
    await Fault("drop_after_commit").set(world, TOPUP)
    request = await world.top_up("50")
    await execute(world, request)
    await status(401, "UNAUTHORIZED").set(world, TOPUP)
    held = await jump(world, request)
    assert held.state is State.EXECUTING

    await world.advance(sum(timing.RETRY_PAUSES, timedelta()).total_seconds())
    await world.run_due()
    lost = await world.request(request.id)
    assert lost.state is State.UNRESOLVED
    assert await alert_kinds(world) == {"key_trouble", "unresolved"}

    await programs.probe_paused(world.core)
    assert (await jump_to_the_end(world, request, within=timedelta(hours=1))).state is State.SUCCEEDED


async def test_an_unknown_outcome_is_repeated_after_the_written_pauses_and_then_shown_as_unresolved(
    world: World,
) -> None:
    await Fault("drop_before_commit", {"times": 100}).set(world, TOPUP)
    request = await world.top_up("50")
    current = await execute(world, request)

    pauses = []
    while current.state is State.EXECUTING:
        pauses.append(due_in(world, current))
        assert await alert_kinds(world) == set()
        current = await jump(world, request)
        if len(pauses) == 6:
            # The approval lapses before the last pause is over; only a key that was seen goes out then.
            break
    assert pauses == [5, 15, 30, 60, 120, 300]
    assert due_in(world, current) == 600


async def test_a_debit_without_a_result_is_repeated_eight_times_then_alerted_then_looked_at_ever_more_rarely(
    world: World,
) -> None:
    await Fault("drop_midway").set(world, TOPUP)
    request = await world.top_up("50")
    first_at = world.clock.now()
    current = await execute(world, request)
    assert await alert_kinds(world) == set()
    current = await jump(world, request)  # 409, and the ledger shows the debit: nobody can know more
    assert current.state is State.UNRESOLVED
    assert await alert_kinds(world) == {"unresolved"}

    times = []
    for _ in range(8):
        current = await jump(world, request)
        assert current.state is State.UNRESOLVED
        times.append(round((world.clock.now() - first_at).total_seconds()))
    assert times == [20, 50, 110, 230, 530, 1130, 1130 + 900, 1130 + 1800]
    await world.advance(23 * 3600)
    assert due_in(world, await jump(world, request)) == 15 * 60
    await world.advance(3600)
    for _ in range(3):
        current = await jump(world, request)
        assert (current.state, due_in(world, current)) == (State.UNRESOLVED, 24 * 3600)
    assert current.needs_person
    late = [c for c in top_ups(world) if c["at"] > (first_at + timedelta(hours=24)).isoformat()]
    assert late == [], "a key older than 24 hours was sent"


@pytest.mark.parametrize(("verdict", "ends"), [("credited", State.SUCCEEDED), ("refunded", State.FAILED)])
async def test_what_support_settles_by_hand_is_found_by_the_same_key(
    world: World, verdict: str, ends: State
) -> None:
    await processor("5xx").set(world, TOPUP)
    request = await world.top_up("50")
    await execute(world, request)
    await jump(world, request)
    await world.tell(f"topups/{request.key}/resolve", {"as": verdict})

    end = await jump(world, request)

    assert end.state is ends, end.outcome_text
    assert await alert_kinds(world) == set()
    assert set(keys_sent(world)) == {request.key}


async def test_an_answer_with_another_amount_than_approved_is_never_a_success(world: World) -> None:
    request = await world.top_up("50", approved=False)
    await world.core.partners["main"].top_up(request.subject, b'{"amount_usd":49.00}', key=request.key)
    await world.approve(request)

    found = await execute(world, request)

    assert found.state is State.UNRESOLVED
    assert await alert_kinds(world) == {"unresolved", "key_reused"}


@pytest.mark.parametrize("refusal", ["404", "402", "400"])
async def test_a_refusal_that_hides_a_replay_is_not_believed(world: World, refusal: str) -> None:
    """404 beats the replay (R097): the first attempt had credited the card all the same."""
    before_usd = card_balance(world)
    await COMPLETED.fault.set(world, TOPUP)
    request = await world.top_up("50")
    await execute(world, request)
    hidden = RESENT[refusal]
    assert hidden is not None
    await hidden.set(world, TOPUP)

    seen = await jump(world, request)

    assert seen.state is State.UNRESOLVED
    assert "ledger shows the debit" in seen.outcome_text
    assert (await jump(world, request)).state is State.SUCCEEDED
    assert card_balance(world) == before_usd + FIFTY


async def test_given_up_only_when_nothing_of_ours_can_arrive_any_more_and_watched_for_late_landings(
    world: World,
) -> None:
    await LOST.fault.set(world, TOPUP)
    request = await world.top_up("50")
    sent_at = world.clock.now()
    await execute(world, request)
    world.people.change(BOB, deleted=True)  # the approval does not hold any more: look only
    await world.advance(presend_checks.PEOPLE_GOOD_FOR_S)

    current = await jump(world, request)
    while current.state is State.EXECUTING:
        assert world.clock.now() < sent_at + timing.QUIESCENCE
        current = await jump(world, request)
    assert world.clock.now() >= sent_at + timing.QUIESCENCE
    assert current.state is State.FAILED
    assert keys_sent(world) == [request.key]

    await maintenance.sweep_late_landings(world.core)
    assert (await world.request(request.id)).state is State.FAILED
    await world.core.partners["main"].top_up(request.subject, b'{"amount_usd":50.00}', key=request.key)
    await world.advance(47 * 3600)
    await maintenance.sweep_late_landings(world.core)
    assert (await world.request(request.id)).state is State.UNRESOLVED, "a debit proves no credit"
    assert await alert_kinds(world) == {"unresolved"}


async def test_a_landing_later_than_48_hours_after_it_was_given_up_is_not_looked_for(world: World) -> None:
    await LOST.fault.set(world, TOPUP)
    request = await world.top_up("50")
    await execute(world, request)
    world.people.change(BOB, deleted=True)
    await world.advance(presend_checks.PEOPLE_GOOD_FOR_S)
    await jump_to_the_end(world, request, within=timedelta(hours=1))
    reads = len(await world.sent("GET /ledger"))

    await world.advance(48 * 3600 + 1)
    await maintenance.sweep_late_landings(world.core)

    assert len(await world.sent("GET /ledger")) == reads


async def test_an_api_that_cannot_be_read_does_not_keep_an_unknown_outcome_from_being_alerted(
    world: World,
) -> None:
    await COMPLETED.fault.set(world, TOPUP)
    request = await world.top_up("50")
    await execute(world, request)
    for read in ("GET /me", "GET /ledger"):
        await status(500, "UNAVAILABLE").set(world, read, times=10_000)

    current = await jump_to_the_end(world, request, within=timedelta(minutes=19))

    assert current.state is State.UNRESOLVED
    assert await alert_kinds(world) == {"unresolved"}
    assert len(await world.attempts(request.id)) == 8


async def test_a_repeat_in_the_middle_of_the_night_is_cut_off_where_nothing_was_ever_executed(
    world: World,
) -> None:
    """429 after 429 until the approval lapses: nothing was executed, so this is a failure with proof."""
    await status(429, "RATE_LIMITED").set(world, TOPUP, times=1000)
    request = await world.top_up("50")
    approved_at = world.clock.now()
    await execute(world, request)

    end = await jump_to_the_end(world, request, within=timedelta(hours=1))

    assert (end.state, world.clock.now() - approved_at) == (State.FAILED, timedelta(minutes=15))
    assert net_of(world, request.key) == 0
    assert await alert_kinds(world) == set()
