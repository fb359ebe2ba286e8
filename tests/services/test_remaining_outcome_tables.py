"""Outcomes of unload, close, limits, phone, 3-D Secure, markup, redelivery and quote: as a first answer, and
after an attempt whose outcome nobody knows. Source: rules, section 2B, "The other calls"."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from bot.domain.money import format_usd
from bot.domain.requests import Request, State
from bot.operations import QuoteDeposit
from bot.outcomes.timing import QUIESCENCE
from bot.services.execution import maintenance, newest_wins
from bot.services.requests import approvals, local_facts
from storage.cards import otp_recipients
from tests.services.outcome_steps import (
    Fault,
    alert_kinds,
    card_balance,
    due_in,
    execute,
    jump,
    jump_to_the_end,
    processor,
    status,
)
from tests.support.kinds import PATH, QUOTE_NAMES
from tests.support.situations import no_faults
from tests.support.world import ALICE, BOB, CAROL, World

pytestmark = pytest.mark.by_turns(4)

TEXTS: dict[str, dict[str, str]] = {
    "card_unload": {"amount_usd": "5"},
    "card_close": {},
    "card_limits": {"daily_limit": "120"},
    "card_phone": {"phone_country_code": "46", "phone": "701234567"},
    "card_3ds": {"program_enabled": "yes"},
    "fees_markup": {"markup_percent": "2.5"},
    "deposit_quote": {"amount_usd": "50"},
}
HOUR = timedelta(hours=1)


@pytest.fixture(autouse=True)
def _deposits_are_set_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(QuoteDeposit, "body_names", QUOTE_NAMES)


async def approved(world: World, kind: str, **more: str) -> Request:
    """Asked for with everything it needs, and approved."""
    card, texts = world.cards[0], {**TEXTS.get(kind, {}), **more}
    if kind.startswith("card_") or kind == "deposit_quote":
        texts["card"] = card["id"]
    if kind == "card_close":
        texts["last4"] = card["last4"]
    if kind == "event_redeliver":
        texts["event_id"] = (await world.state())["events"][0]["id"]
    if kind == "deposit_quote":
        texts |= {"asset": "USDC", "chain": "POLYGON"}
        await world.tell("account", {"deposits_enabled": True})
    if kind == "card_3ds":
        await ready_for_codes(world)
    request = await world.ask(kind, texts, by=CAROL if kind == "card_3ds" else ALICE)
    return (await world.approve(request))[0]


async def ready_for_codes(world: World) -> None:
    """An address is registered, a delivery came, and somebody gets the codes of the first card."""
    await world.core.partners["main"].set_webhook(b'{"url":"https://countersign.example.com/webhooks/main"}')
    await local_facts.note_repeated(world.core, "main")
    async with world.store.begin() as tx:
        await otp_recipients.put(tx, world.cards[0]["partner_ref"], CAROL)


async def the_card(world: World) -> dict[str, Any]:
    found: dict[str, Any] = next(c for c in (await world.state())["cards"] if c["id"] == world.cards[0]["id"])
    return found


async def calls(world: World, kind: str) -> int:
    method, path = PATH[kind].split(" ")
    return len(await world.sent(f"{method} /{path.rpartition('/')[2]}"))


@dataclass(frozen=True)
class Row:
    """One first answer of a kind: the state and words at once, and the end it comes to within an hour."""

    kind: str
    name: str
    fault: Fault
    state: State
    says: str
    due_s: float | None = None
    ends: State | None = None


def doubtful(kind: str, name: str, fault: Fault) -> Row:
    return Row(kind, f"{kind} {name}", fault, State.EXECUTING, "do not repeat", 5, State.SUCCEEDED)


REFUSALS: dict[str, list[tuple[int, str, str]]] = {
    "card_unload": [
        (400, "BAD_REQUEST", "It said"),
        (402, "INSUFFICIENT_FUNDS", "The card holds less"),
        (404, "NOT_FOUND", "Check the card"),
        (405, "BAD_REQUEST", "It said"),
    ],
    "card_close": [(400, "BAD_REQUEST", "It said"), (404, "NOT_FOUND", "Check the card")],
    "card_limits": [(400, "BAD_REQUEST", "It said"), (404, "NOT_FOUND", "Check the card")],
    "card_phone": [
        (400, "INVALID_PHONE", "Correct the phone"),
        (400, "PHONE_COUNTRY_NOT_ALLOWED", "number from another country"),
        (404, "NOT_FOUND", "Check the card"),
    ],
    "card_3ds": [(400, "BAD_REQUEST", "It said"), (404, "NOT_FOUND", "Check the card")],
    "fees_markup": [(400, "BAD_REQUEST", "It said")],
    "event_redeliver": [(404, "NOT_FOUND", "does not know this event")],
    "deposit_quote": [(400, "BAD_REQUEST", "It said"), (404, "NOT_FOUND", "no deposits")],
}


@pytest.mark.parametrize("kind", REFUSALS)
async def test_a_first_refusal_ends_it_and_says_what_to_fix(world: World, kind: str) -> None:
    before = await the_card(world)
    for number, code, says in REFUSALS[kind]:
        await status(number, code).set(world, PATH[kind])
        request = await approved(world, kind)

        end = await execute(world, request)

        assert end.state is State.FAILED, end.outcome_text
        nothing = "Nothing moved" if world.core.kinds[kind].moves_money else "Nothing was changed"
        assert nothing in end.outcome_text
        assert says in end.outcome_text
    assert await the_card(world) == before


ROWS = [
    Row(
        "card_unload",
        "unload 409 for a fresh key",
        status(409, "ALREADY_PROCESSED"),
        State.UNRESOLVED,
        "do not repeat",
        5,
        State.SUCCEEDED,
    ),
    Row(
        "card_unload",
        "unload 429",
        status(429, "RATE_LIMITED"),
        State.EXECUTING,
        "Nothing has moved yet",
        60,
        State.SUCCEEDED,
    ),
    doubtful("card_unload", "500", status(500, "UNAVAILABLE")),
    doubtful("card_unload", "503 UPSTREAM_AUTH", processor("401")),
    Row(
        "card_close",
        "close 503, the balance cannot be read",
        status(503, "UNAVAILABLE"),
        State.EXECUTING,
        "so the card stays open. Nothing has moved yet",
        5,
        State.SUCCEEDED,
    ),
    doubtful("card_close", "503 UPSTREAM_AUTH", processor("401")),
    doubtful("card_close", "409, in flight", status(409, "ALREADY_PROCESSED")),
    doubtful("card_limits", "502 twice", Fault("processor", {"processor": "5xx", "times": 2})),
]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
async def test_a_first_answer_is_believed_as_far_as_it_proves_anything(world: World, row: Row) -> None:
    await row.fault.set(world, PATH[row.kind])
    before = card_balance(world)
    request = await approved(world, row.kind)

    at_once = await execute(world, request)
    assert at_once.state is row.state, at_once.outcome_text
    assert row.says in at_once.outcome_text
    assert due_in(world, at_once) == row.due_s

    end = await jump_to_the_end(world, request, within=HOUR)
    assert end.state is (row.ends or row.state), end.outcome_text
    if row.kind == "card_unload":
        assert card_balance(world) == before - (5 if end.state is State.SUCCEEDED else 0)
    if row.kind == "card_close":
        assert ((await the_card(world))["status"] == "DELETED") == (end.state is State.SUCCEEDED)
    assert (await world.state())["invariants"]["ok"]


@pytest.mark.parametrize("completed", [True, False], ids=["it happened", "it did not"])
@pytest.mark.parametrize(
    ("kind", "number", "code"),
    [
        ("card_unload", 402, "INSUFFICIENT_FUNDS"),
        ("card_close", 409, "ALREADY_PROCESSED"),
        ("card_limits", 404, "NOT_FOUND"),
        ("card_phone", 400, "INVALID_PHONE"),
    ],
)
async def test_after_an_unknown_attempt_no_refusal_is_a_failure(
    world: World, kind: str, number: int, code: str, completed: bool
) -> None:
    """What can be read decides; what cannot goes to a person, who is shown what to look at."""
    await Fault("drop_after_commit" if completed else "drop_before_commit", {"times": 2}).set(
        world, PATH[kind]
    )
    request = await approved(world, kind)
    await execute(world, request)
    await no_faults(world)
    await status(number, code).set(world, PATH[kind])

    second = await jump(world, request)

    if kind in ("card_unload", "card_phone"):
        assert (second.state, second.needs_person) == (State.UNRESOLVED, True), second.outcome_text
        assert "do not repeat" in second.outcome_text.lower()
        assert await alert_kinds(world) == {"unresolved"}
    else:
        assert second.state is (State.SUCCEEDED if completed else State.EXECUTING), second.outcome_text


async def test_an_unload_that_died_half_way_goes_to_a_person_and_is_asked_after_until_support_settles_it(
    world: World,
) -> None:
    """R120, R121: off the card, not on the float. The key answers once support has settled it."""
    before = card_balance(world)
    await world.fault("drop_midway", PATH["card_unload"])
    request = await approved(world, "card_unload")
    await execute(world, request)

    half = await jump(world, request)
    assert (half.state, half.needs_person) == (State.UNRESOLVED, True)
    assert "No reading proves" in half.outcome_text
    assert f"The card holds {format_usd(before - 5)} now" in half.outcome_text
    assert card_balance(world) == before - 5

    await world.tell(f"unloads/{request.key}/resolve", {"as": "credited"})
    end = await jump_to_the_end(world, request, within=HOUR)
    assert end.state is State.SUCCEEDED, end.outcome_text
    assert {c["idempotency_key"] for c in await world.sent("POST /unload")} == {request.key}


async def test_an_unload_given_back_by_support_is_ended_by_two_people(world: World) -> None:
    await world.fault("drop_midway", PATH["card_unload"])
    request = await approved(world, "card_unload")
    await execute(world, request)
    await jump(world, request)
    await world.tell(f"unloads/{request.key}/resolve", {"as": "refunded"})

    still = await jump_to_the_end(world, request, within=HOUR)
    assert still.state is State.UNRESOLVED
    for person in (ALICE, BOB):
        await approvals.resolve(
            world.core, request.id, person, verdict="failed", evidence="It is on the card"
        )
    assert (await world.request(request.id)).state is State.FAILED


async def test_an_unload_without_a_replay_is_not_sent_without_end(world: World) -> None:
    """U2: a 409 to the key of an unload that went through."""
    await world.tell("account", {"unload_replay": "conflict"})
    await world.fault("drop_after_commit", PATH["card_unload"])
    request = await approved(world, "card_unload")
    await execute(world, request)

    second = await jump(world, request)

    assert (second.state, second.needs_person) == (State.UNRESOLVED, True)
    assert "the event log has one card.unloaded" in second.outcome_text
    assert await calls(world, "card_unload") == 2


async def test_an_unload_that_the_ledger_names_is_settled_by_its_key_after_the_approval_ran_out(
    world: World,
) -> None:
    """The API has the key, so a repeat cannot be the first to arrive. Seeds 9420 and 10144 of the simulation."""
    before = card_balance(world)
    await world.fault("drop_after_commit", PATH["card_unload"], times=100)
    request = await approved(world, "card_unload")
    lost = await execute(world, request)
    assert lost.valid_until is not None
    while world.clock.now() < lost.valid_until or lost.state is State.EXECUTING:
        lost = await jump(world, request)
    assert lost.state is State.UNRESOLVED, lost.outcome_text
    await no_faults(world)

    end = await jump_to_the_end(world, request, within=HOUR)

    assert end.state is State.SUCCEEDED, end.outcome_text
    assert {c["idempotency_key"] for c in await world.sent("POST /unload")} == {request.key}
    assert card_balance(world) == before - 5


@pytest.mark.parametrize("kind", ["card_phone", "fees_markup"])
async def test_a_setting_is_not_repeated_over_a_newer_decision(world: World, kind: str) -> None:
    newer_texts = {
        "card_phone": {"phone": "709999999"},
        "fees_markup": {"markup_percent": "3"},
    }
    await world.fault("drop_before_commit", PATH[kind], times=2)
    older = await approved(world, kind)
    await execute(world, older)
    await no_faults(world)
    # Until then the older call may still arrive, or a last look would tell what became of it.
    await world.advance((QUIESCENCE + newest_wins.LOOKED_AT_WITHIN).total_seconds() + 1)
    newer = await approved(world, kind, **newer_texts[kind])
    assert (await execute(world, newer)).state is State.SUCCEEDED
    sent = await calls(world, kind)

    end = await jump_to_the_end(world, older, within=HOUR)

    assert await calls(world, kind) == sent
    assert (end.state, end.needs_person) == (State.UNRESOLVED, True)


async def test_limits_that_the_processor_reads_back_otherwise_are_not_confirmed(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R124: the answer is what is read back, not what was sent."""
    request = await approved(world, "card_limits")
    limits = world.core.partners["main"].set_limits

    async def read_back_late(card_id: str, body: bytes, **more: Any) -> Any:
        found = await limits(card_id, body, **more)
        return found.model_copy(update={"daily_limit": Decimal(50)})

    with monkeypatch.context() as patched:
        patched.setattr(world.core.partners["main"], "set_limits", read_back_late)
        late = await execute(world, request)

    assert (late.state, due_in(world, late)) == (State.EXECUTING, 2)
    assert "not confirmed" in late.outcome_text
    assert (await jump(world, request)).state is State.SUCCEEDED


async def test_a_quote_is_made_once_and_found_in_the_list(world: World) -> None:
    """Each call makes another address that waits for money."""
    await world.fault("drop_after_commit", PATH["deposit_quote"])
    request = await approved(world, "deposit_quote")
    lost = await execute(world, request)
    assert "the call is not made a second time" in lost.outcome_text

    end = await jump_to_the_end(world, request, within=HOUR)

    assert end.state is State.SUCCEEDED
    assert await calls(world, "deposit_quote") == 1
    (deposit,) = await world.core.partners["main"].deposits()
    assert deposit.deposit_address in end.outcome_text
    assert deposit.amount_expected in end.outcome_text


async def test_all_that_a_card_held_is_unloaded_once_though_the_card_then_holds_too_little(
    world: World,
) -> None:
    """The re-check must not take what the lost call did for a reason not to ask about it."""
    before = card_balance(world)
    await world.fault("drop_after_commit", PATH["card_unload"])
    request = await approved(world, "card_unload", amount_usd=str(before))
    await execute(world, request)
    assert card_balance(world) == 0

    end = await jump(world, request)

    assert end.state is State.SUCCEEDED, end.outcome_text
    assert card_balance(world) == 0


async def test_a_doubt_about_an_unload_speaks_against_a_top_up_of_the_same_card(world: World) -> None:
    """H1: what moves on a card whose last move nobody knows needs somebody who was notified of it."""
    waiting = await world.top_up("5")
    await world.fault("drop_midway", PATH["card_unload"])
    unload = await approved(world, "card_unload")
    assert (await execute(world, unload)).state is State.EXECUTING

    stopped = await execute(world, waiting)
    later = await world.ask("card_topup", {"card": world.cards[0]["id"], "amount_usd": "5"})

    assert stopped.state is State.APPROVED
    assert f"It waits for {unload.id}" in stopped.outcome_text
    assert later.facts["unresolved"] == [unload.id]
    assert await world.sent("POST /topup") == []


READINGS = [
    {"profile": "documented"},
    {"profile": "scrambled"},
    {"unload_replay": "conflict"},
    {"unload_reference": "none"},
    {"close_again": "conflict"},
    {"key_scope": "account"},
]


@pytest.mark.parametrize("reading", READINGS, ids=str)
async def test_lost_answers_of_unload_and_close_end_as_they_are_whatever_the_document_leaves_open(
    world: World, reading: dict[str, str]
) -> None:
    await world.tell("account", reading)
    await world.fault("drop_after_commit", PATH["card_unload"])
    unload = await approved(world, "card_unload")
    await execute(world, unload)
    ended = await jump_to_the_end(world, unload, within=timedelta(minutes=14))
    replays = reading.get("unload_replay") != "conflict"
    assert ended.state is (State.SUCCEEDED if replays else State.UNRESOLVED), ended.outcome_text
    if not replays:  # nothing else moves on the card before two people have said how it ended
        for person in (ALICE, BOB):
            await approvals.resolve(
                world.core, unload.id, person, verdict="succeeded", evidence="The card's balance is gone"
            )

    await world.fault("drop_after_commit", PATH["card_close"])
    close = await approved(world, "card_close")
    await execute(world, close)
    assert (await jump_to_the_end(world, close, within=HOUR)).state is State.SUCCEEDED
    assert (await the_card(world))["status"] == "DELETED"
    assert card_balance(world) == 0
    assert (await world.state())["invariants"]["ok"]


async def test_a_card_closed_by_a_later_request_is_no_late_landing_of_the_first(world: World) -> None:
    await world.fault("drop_before_commit", PATH["card_close"], times=20)
    first = await approved(world, "card_close")
    await execute(world, first)
    given_up = await jump_to_the_end(world, first, within=timedelta(hours=2))
    assert (given_up.state, given_up.outcome_unknown) == (State.FAILED, True), given_up.outcome_text
    await no_faults(world)
    assert (await execute(world, await approved(world, "card_close"))).state is State.SUCCEEDED

    await maintenance.sweep_late_landings(world.core)

    assert (await world.request(first.id)).state is State.FAILED
    assert await alert_kinds(world) == set()
