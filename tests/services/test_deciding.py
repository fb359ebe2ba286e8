"""Deciding: who may, how many must, what ends it, and that a click racing with another changes nothing twice."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from bot.domain.errors import (
    AlreadyDecided,
    CountersignError,
    Expired,
    InvalidInput,
    LookupFailed,
    NotAllowed,
    OverLimit,
    OwnRequest,
    Stale,
)
from bot.domain.people import Actor, KindPolicy, Limits
from bot.domain.requests import Request, State
from bot.services import execution, outbox_messages, people, requests
from bot.services.core import Core
from bot.services.execution import presend_checks
from bot.services.requests import approvals, drafts, request_lookups
from storage import audit
from storage.messages import outbox as outbox_rows
from storage.transaction import Tx
from tests.services.outcome_steps import alert_kinds, execute, jump, keys_sent, net_of, processor
from tests.support.world import ALICE, BOB, CAROL, HOME, World, a_policy, a_world

TOPUP = "POST /cards/{cardId}/topup"


async def refusals(world: World) -> list[tuple[str, str, str]]:
    """(who, action, reason) of every refusal on record."""
    lines: list[str] = []
    async with world.store.read() as tx:
        await audit.export(tx, lines.append, "jsonl")
    entries = [json.loads(line) for line in "".join(lines).splitlines() if line.strip()]
    return [(e["actor"], e["action"], e["reason_code"]) for e in entries if e.get("outcome") == "refused"]


async def test_the_requester_cannot_approve_their_own_request(world: World) -> None:
    world.people.groups["@card-approvers"].add(ALICE)
    request = await world.top_up(approved=False)

    with pytest.raises(OwnRequest, match="somebody else has to decide"):
        await world.approve(request, by=ALICE)

    assert await world.request(request.id) == request
    assert await refusals(world) == [(ALICE, "request.approve", "own_request")]


@pytest.mark.parametrize(
    ("flags", "reason", "says"),
    [
        ({"is_restricted": True}, "guest", "Guests cannot"),
        ({"is_ultra_restricted": True}, "guest", "Guests cannot"),
        ({"is_stranger": True}, "stranger", "other workspaces"),
        ({"team_id": "T0ELSEWHERE"}, "stranger", "other workspaces"),
        ({"is_bot": True}, "bot", "a person has to ask"),
        ({"deleted": True}, "deactivated", "deactivated"),
    ],
    ids=str,
)
async def test_only_active_full_members_decide_or_ask_and_each_refusal_is_on_record_once(
    world: World, flags: dict[str, bool], reason: str, says: str
) -> None:
    request = await world.top_up(approved=False)
    world.people.change(BOB, **flags)

    with pytest.raises(NotAllowed, match=says):
        await world.approve(request, by=BOB)
    with pytest.raises(NotAllowed, match=says):
        await approvals.reject(world.core, request.id, BOB, reason="no")
    with pytest.raises(NotAllowed, match=says):
        await people.require_requester(world.core, BOB, action="card_topup.preview")

    assert await world.request(request.id) == request
    assert await refusals(world) == [
        (BOB, "request.approve", reason),
        (BOB, "request.reject", reason),
        (BOB, "card_topup.preview", reason),
    ]


async def test_who_is_not_in_the_group_at_the_click_does_not_decide(world: World) -> None:
    request = await world.top_up(approved=False)
    world.people.groups["@card-approvers"].discard(BOB)

    with pytest.raises(NotAllowed, match="Only @card-approvers may decide"):
        await world.approve(request, by=BOB)
    with pytest.raises(NotAllowed, match="Only @card-approvers may decide"):
        await approvals.reject(world.core, request.id, BOB, reason="no")

    assert (await world.request(request.id)).state is State.PENDING
    world.people.groups["@card-approvers"].add(BOB)
    await world.advance(people.DECIDED_WITHIN_S)
    assert (await world.approve(request, by=BOB))[0].state is State.APPROVED


async def test_when_slack_cannot_say_who_somebody_is_nothing_is_decided_and_nothing_is_sent(
    world: World,
) -> None:
    request = await world.top_up(approved=False)
    world.people.broken = True
    for decide in (
        world.approve(request),
        approvals.reject(world.core, request.id, BOB, reason="no"),
    ):
        with pytest.raises(LookupFailed):
            await decide
    assert await world.request(request.id) == request

    world.people.broken = False
    approved, _ = await world.approve(request)
    await world.advance(presend_checks.PEOPLE_GOOD_FOR_S)
    world.people.broken = True
    assert (await execute(world, approved)).state is State.APPROVED
    assert keys_sent(world) == []
    world.people.broken = False
    await world.advance(10)  # for how long a look at the people is shared, failed ones as well
    assert (await jump(world, approved)).state is State.SUCCEEDED


async def test_above_the_tier_two_others_must_approve_and_the_same_person_counts_once(world: World) -> None:
    request = await world.top_up("500.01", approved=False)
    assert request.approvals_needed == 2

    first, verdict = await world.approve(request, by=BOB)
    assert (first.state, verdict.approvals) == (State.PENDING, 1)
    with pytest.raises(AlreadyDecided, match="somebody else has to give the next one"):
        await world.approve(first, by=BOB)
    second, verdict = await world.approve(first, by=CAROL)
    assert (second.state, verdict.approvals) == (State.APPROVED, 2)

    assert (await world.top_up("500.00", card=1, approved=False)).approvals_needed == 1


async def test_an_approval_of_other_terms_than_were_shown_does_not_count(world: World) -> None:
    request = await world.top_up(approved=False)
    with pytest.raises(Stale, match="no longer what would be sent"):
        await approvals.approve(world.core, request.id, BOB, shown_digest="0" * 64)
    assert await world.request(request.id) == request


async def test_an_expired_request_is_not_approved_even_before_the_clock_job_ran(world: World) -> None:
    request = await world.top_up(approved=False)
    await world.advance(8 * 3600)
    with pytest.raises(Expired, match="Nothing was sent"):
        await world.approve(request)

    assert await requests.expire_due(world.core) == 1
    ended = await world.request(request.id)
    assert (ended.state, ended.due_at) == (State.EXPIRED, None)
    assert "Nothing was sent" in ended.outcome_text


async def test_a_rejection_ends_it_with_its_reason(world: World) -> None:
    request = await world.top_up(approved=False)
    with pytest.raises(InvalidInput, match="Say why"):
        await approvals.reject(world.core, request.id, BOB, reason=" ")
    with pytest.raises(NotAllowed, match="cancel it instead"):
        await approvals.reject(world.core, request.id, ALICE, reason="mine")

    ended = await approvals.reject(world.core, request.id, BOB, reason="Wrong card")

    assert (ended.state, ended.outcome_text) == (
        State.REJECTED,
        "The reason given: Wrong card. Nothing was sent.",
    )
    with pytest.raises(Stale, match="is rejected already"):
        await world.approve(request, by=CAROL)


async def test_only_the_requester_cancels_and_only_before_the_first_byte(world: World) -> None:
    request = await world.top_up()
    with pytest.raises(NotAllowed, match="Only the person who asked"):
        await requests.cancel(world.core, request.id, BOB)
    assert await refusals(world) == [(BOB, "request.cancel", "not_the_requester")]
    assert (await requests.cancel(world.core, request.id, ALICE)).state is State.CANCELLED
    await execute(world, request)
    assert keys_sent(world) == []

    sent = await world.top_up("60")
    await execute(world, sent)
    with pytest.raises(Stale, match="can no longer be cancelled"):
        await requests.cancel(world.core, sent.id, ALICE)


@pytest.mark.parametrize(
    "flags", [{"deleted": True}, {"is_restricted": True}, {"is_stranger": True}, {"team_id": "T0OTHER"}, {}]
)
async def test_an_approver_who_is_gone_before_the_send_stops_it(world: World, flags: dict[str, Any]) -> None:
    """Deactivated, made a guest, moved to another workspace, or out of the group."""
    request = await world.top_up()
    if flags:
        world.people.change(BOB, **flags)
    else:
        world.people.groups["@card-approvers"].discard(BOB)
    await world.advance(presend_checks.PEOPLE_GOOD_FOR_S)

    ended = await execute(world, request)

    assert ended.state is State.CANCELLED
    assert "no longer an approver. Nothing was sent" in ended.outcome_text
    assert keys_sent(world) == []


async def test_a_policy_tightened_in_flight_stops_what_no_longer_meets_it(world: World) -> None:
    request = await world.top_up()
    stricter = replace(world.core.policy, kinds={"card_topup": KindPolicy(approvals=2)}, version="stricter")
    world.rebuild(policy=stricter)

    ended = await execute(world, request)

    assert ended.state is State.CANCELLED
    assert "now asks for 2 approvals. Nothing was sent" in ended.outcome_text
    assert keys_sent(world) == []


async def test_an_approval_that_was_not_sent_within_its_time_is_never_sent(world: World) -> None:
    request = await world.top_up()
    await world.advance(15 * 60)
    ended = await execute(world, request)
    assert (ended.state, keys_sent(world)) == (State.EXPIRED, [])


async def test_facts_that_changed_since_the_approval_stop_the_first_send(world: World) -> None:
    """Preview and re-check: the float fell below the amount after it was approved."""
    request = await world.top_up("50")
    available = Decimal((await world.state())["float"]["available_usd"])
    await world.tell("float", {"amount_usd": str(Decimal(20) - available)})

    ended = await execute(world, request)

    assert (ended.state, keys_sent(world)) == (State.CANCELLED, [])
    assert "does not fit" in ended.outcome_text


async def test_a_further_payment_of_a_card_waits_while_one_is_in_doubt(
    world: World,
) -> None:
    await processor("5xx").set(world, TOPUP)
    first, second = await world.top_up("50"), await world.top_up("50")
    assert (await execute(world, first)).state is State.UNRESOLVED

    waits = await execute(world, second)
    assert waits.state is State.APPROVED
    assert f"It waits for {first.id}" in waits.outcome_text

    third = await world.top_up("50")
    assert third.facts["unresolved"] == [first.id], "the approvers see the doubt"
    assert (await execute(world, third)).state is State.APPROVED, "and nobody pays over it"
    assert keys_sent(world) == [first.key]


@pytest.fixture
async def limited(tmp_path: Path) -> AsyncIterator[World]:
    limits = Limits(Decimal(100), Decimal(80), Decimal(150))
    async with a_world(tmp_path, policy=replace(a_policy(), limits=limits)) as world:
        yield world


async def test_rolling_limits_hold_for_the_pair_the_requester_and_in_all(limited: World) -> None:
    async def by(who: str, amount: str, approver: str) -> Request:
        texts = {"card": limited.cards[0]["id"], "amount_usd": amount}
        request = await limited.ask("card_topup", texts, by=who)
        return (await limited.approve(request, by=approver))[0]

    await by(ALICE, "80", BOB)
    with pytest.raises(
        OverLimit, match=r"24-hour limit by this requester with <@U0BOB>: 80.00 USD and 0.01 USD"
    ):
        await by(ALICE, "0.01", BOB)
    await by(ALICE, "20", CAROL)
    with pytest.raises(
        OverLimit, match=r"by this requester: 100.00 USD and 0.01 USD are more than 100.00 USD"
    ):
        await by(ALICE, "0.01", CAROL)
    await by(BOB, "50", CAROL)
    with pytest.raises(OverLimit, match=r"limit in all"):
        await by(CAROL, "0.01", BOB)

    pending = await limited.ask("card_topup", {"card": limited.cards[0]["id"], "amount_usd": "80"})
    with pytest.raises(OverLimit, match="stays pending"):
        await limited.approve(pending)
    await limited.advance(24 * 3600 - 8 * 3600 + 1)
    assert (await limited.request(pending.id)).state is State.PENDING
    await limited.advance(8 * 3600)
    assert (await by(ALICE, "80", BOB)).state is State.APPROVED, "the 24 hours have passed"


async def test_approvals_racing_for_the_last_of_a_limit_never_pass_it_together(limited: World) -> None:
    texts = {"card": limited.cards[0]["id"], "amount_usd": "30"}
    asked = [await limited.ask("card_topup", texts) for _ in range(6)]

    done = await asyncio.gather(
        *(limited.approve(r, by=random.Random(r.id).choice([BOB, CAROL])) for r in asked),
        return_exceptions=True,
    )

    approved = [d for d in done if isinstance(d, tuple)]
    assert len(approved) == 3, "3 x 30 is all that 100 allows"
    assert all(isinstance(d, tuple | OverLimit) for d in done)


async def test_a_thousand_racing_approvals_execute_each_request_exactly_once(tmp_path: Path) -> None:
    """Ten requests, a hundred clicks each: mixed approvers, double clicks, the requester among them."""
    async with a_world(tmp_path) as world:
        asked = [await world.top_up("1", card=n % 4, approved=False) for n in range(9)]
        asked.append(await world.top_up("501", approved=False))
        clicks = [(r, who) for r in asked for who in (ALICE, BOB, CAROL, BOB) * 25]
        random.Random(7).shuffle(clicks)

        done = await asyncio.gather(*(world.approve(r, by=who) for r, who in clicks), return_exceptions=True)
        assert len(clicks) == 1000
        assert {type(d) for d in done} <= {tuple, AlreadyDecided, OwnRequest, Stale}
        assert sum(isinstance(d, tuple) for d in done) == 11

        woken = [*asked, *asked]
        for _ in range(4):  # as many as are asked for one card, each of which waits for the one before it
            await world.advance(61)  # the budget of calls of one minute
            await asyncio.gather(*(execution.execute(world.core, r.id) for r in woken))
        for request in asked:
            assert (await world.request(request.id)).state is State.SUCCEEDED
            assert net_of(world, request.key) == -request.exposure_usd
        assert sorted(keys_sent(world)) == sorted(r.key for r in asked)


async def test_reminders_come_at_fifteen_minutes_and_then_ever_more_rarely(world: World) -> None:
    request = await world.top_up(approved=False)
    times = []
    for minute in range(1, 121):
        await world.advance(60)
        if await requests.remind_due(world.core):
            times.append(minute)
    assert times == [15, 30, 60, 120]

    await world.approve(request)
    await world.advance(8 * 3600)
    assert await requests.remind_due(world.core) == 0


async def test_a_reminder_that_fails_takes_no_other_with_it(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each is a transaction of its own, so that many hold up nobody who decides meanwhile."""
    made = [await world.top_up(approved=False) for _ in range(2)]
    await world.advance(15 * 60)
    put = outbox_messages.line
    reminded: list[str] = []

    async def line(tx: Tx, core: Core, request: Request, *args: Any, **more: Any) -> None:
        reminded.append(request.id)
        if len(reminded) == 2:
            raise RuntimeError("the database is gone")
        await put(tx, core, request, *args, **more)

    monkeypatch.setattr(outbox_messages, "line", line)
    with pytest.raises(RuntimeError, match="gone"):
        await requests.remind_due(world.core)

    moved = {r.id for r in made if (await world.request(r.id)).version != r.version}
    assert moved == {reminded[0]}


async def test_freeze_now_acts_at_once_for_the_requester_and_a_second_person_confirms_once(
    world: World,
) -> None:
    request = await world.ask("card_freeze", {"card": world.cards[0]["id"]}, now=True)
    assert (request.state, request.break_glass) == (State.APPROVED, True)
    assert (await execute(world, request)).state is State.SUCCEEDED

    with pytest.raises(OwnRequest):
        await approvals.confirm(world.core, request.id, ALICE)
    world.people.change(CAROL, is_restricted=True)
    with pytest.raises(NotAllowed, match="Guests"):
        await approvals.confirm(world.core, request.id, CAROL)
    await approvals.confirm(world.core, request.id, BOB)
    with pytest.raises(AlreadyDecided, match="confirmed already"):
        await approvals.confirm(world.core, request.id, BOB)

    undo = await world.ask("card_unfreeze", {"card": world.cards[0]["id"]})
    await world.approve(undo)
    assert (await execute(world, undo)).state is State.SUCCEEDED


async def test_now_false_makes_a_freeze_wait_like_the_rest(tmp_path: Path) -> None:
    policy = replace(a_policy(), kinds={"card_freeze": KindPolicy(now=False)})
    async with a_world(tmp_path, policy=policy) as world:
        request = await world.ask("card_freeze", {"card": world.cards[0]["id"]}, now=True)
        assert (request.state, request.break_glass) == (State.PENDING, False)


async def test_no_other_kind_can_be_run_at_once(world: World) -> None:
    request = await world.ask("card_unfreeze", {"card": world.cards[0]["id"]}, now=True)
    assert (request.state, request.break_glass) == (State.PENDING, False)


async def test_now_switched_off_after_the_click_stops_it(world: World) -> None:
    request = await world.ask("card_freeze", {"card": world.cards[0]["id"]}, now=True)
    world.rebuild(policy=replace(a_policy(), kinds={"card_freeze": KindPolicy(now=False)}))
    assert (await execute(world, request)).state is State.CANCELLED
    assert await world.sent("POST /freeze") == []


async def an_unresolved(world: World) -> Request:
    await processor("5xx").set(world, TOPUP)
    return await execute(world, await world.top_up("50"))


async def test_an_unknown_outcome_is_settled_by_hand_only_when_two_people_say_the_same(world: World) -> None:
    request = await an_unresolved(world)

    async def says(who: str, verdict: str) -> Request:
        return await approvals.resolve(
            world.core, request.id, who, verdict=verdict, evidence="Support wrote that the card was credited"
        )

    assert (await says(ALICE, "succeeded")).state is State.UNRESOLVED
    with pytest.raises(AlreadyDecided):
        await says(ALICE, "succeeded")
    assert (await says(BOB, "failed")).state is State.UNRESOLVED
    settled = await says(CAROL, "succeeded")

    assert settled.state is State.SUCCEEDED
    assert "Alice and Carol" in settled.outcome_text
    assert "Support wrote" in settled.outcome_text
    assert await alert_kinds(world) == set()


async def test_a_resolution_needs_an_approver_evidence_and_one_of_two_words(world: World) -> None:
    request = await an_unresolved(world)
    world.people.actors["U0DAVE"] = Actor("U0DAVE", "Dave", team_id=HOME)
    with pytest.raises(NotAllowed):
        await approvals.resolve(world.core, request.id, "U0DAVE", verdict="failed", evidence="I think so")
    with pytest.raises(InvalidInput) as found:
        await approvals.resolve(world.core, request.id, BOB, verdict="failed", evidence="  ")
    assert found.value.field == "evidence"
    with pytest.raises(InvalidInput) as found:
        await approvals.resolve(world.core, request.id, BOB, verdict="perhaps", evidence="seen")
    assert found.value.field == "verdict"
    assert (await world.request(request.id)).state is State.UNRESOLVED


async def test_a_draft_becomes_a_request_once_and_only_for_its_owner(world: World) -> None:
    await people.require_member(world.core, ALICE, action="test")
    await people.require_member(world.core, BOB, action="test")
    texts = {"card": world.cards[0]["id"], "amount_usd": "50"}
    draft = await drafts.begin(world.core, owner=ALICE, kind="card_topup", texts=texts, reason="because")
    await drafts.preview(world.core, draft)
    with pytest.raises(Stale):
        await requests.submit(world.core, draft.id, BOB)

    draft = await drafts.begin(world.core, owner=ALICE, kind="card_topup", texts=texts, reason="because")
    await drafts.preview(world.core, draft)
    done = await asyncio.gather(
        *(requests.submit(world.core, draft.id, ALICE) for _ in range(5)), return_exceptions=True
    )
    assert sum(isinstance(d, Request) for d in done) == 1
    assert all(isinstance(d, Request | CountersignError) for d in done)

    late = await drafts.begin(world.core, owner=ALICE, kind="card_topup", texts=texts, reason="because")
    await drafts.preview(world.core, late)
    await world.advance(timedelta(minutes=11).total_seconds())
    with pytest.raises(LookupFailed, match="nothing was recorded"):
        await requests.submit(world.core, late.id, ALICE)


async def test_every_step_sends_slack_its_card_its_line_and_the_requester_a_word(world: World) -> None:
    request = await world.top_up()
    await execute(world, request)
    async with world.store.read() as tx:
        queued = await outbox_rows.next_due(tx, limit=100)
    kinds = [(row.kind, row.body.get("line")) for row in queued if row.subject == f"request:{request.id}"]
    assert kinds == [
        ("card", None),
        ("line", "approval"),
        ("line", "succeeded"),
    ]
    to_alice = [(row.kind, row.user) for row in queued if row.subject == f"notice:{request.id}"]
    assert to_alice == [("card", ALICE)], "one message, drawn as things are when it is delivered"


async def test_who_approves_reads_how_much_of_each_limit_would_be_used(limited: World) -> None:
    request = await limited.ask("card_topup", {"card": limited.cards[0]["id"], "amount_usd": "40"})

    lines = dict((await request_lookups.confirmation(limited.core, request.id, BOB)).lines)

    used = {label: text for label, text in lines.items() if "24 hours" in label}
    assert used
    assert all(text.startswith("40 of ") and text.endswith(" used") for text in used.values()), used
    assert "Requester's limit in 24 hours" in used
