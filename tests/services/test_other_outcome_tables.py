"""Outcomes of ordering, freezing and funding, row by row: as a first answer, and after an attempt whose
outcome nobody knows. Sources: POST /cards, POST freeze, POST /funding; rules, section 2B, "The other calls"."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

import pytest

from bot.domain.requests import Request, State
from bot.services.operators import programs
from tests.services.outcome_steps import (
    Fault,
    alert_kinds,
    due_in,
    execute,
    jump,
    jump_to_the_end,
    processor,
    status,
)
from tests.support.kinds import HASH, TEXTS
from tests.support.world import World

pytestmark = pytest.mark.by_turns(4)

ORDER, FREEZE, FUNDING = "POST /cards", "POST /cards/{cardId}/freeze", "POST /funding"
PERSON = TEXTS["card_order"]
IN_FLIGHT = (State.EXECUTING, State.UNRESOLVED)


async def an_order(world: World) -> Request:
    request = await world.ask("card_order", PERSON)
    return (await world.approve(request))[0]


async def a_freeze(world: World, *, kind: str = "card_freeze") -> Request:
    request = await world.ask(kind, {"card": world.cards[0]["id"]})
    return (await world.approve(request))[0]


async def a_submission(world: World, network: str = "POLYGON") -> Request:
    request = await world.ask("funding_submit", {"tx_hash": HASH, "network": network})
    return (await world.approve(request))[0]


async def cards_of(world: World, ref: str = "emp-2001") -> int:
    return sum(card["partner_ref"] == ref for card in (await world.state())["cards"])


async def submissions(world: World) -> int:
    return sum(funding["tx_hash"] == HASH for funding in (await world.state())["funding"])


async def status_of(world: World, card: int = 0) -> str:
    card_id = world.cards[card]["id"]
    return str(next(c["status"] for c in (await world.state())["cards"] if c["id"] == card_id))


@dataclass(frozen=True)
class Row:
    """One first answer: the state and words at once, and the end it comes to within an hour."""

    name: str
    fault: Fault | None
    state: State
    says: str
    due_s: float | None = None
    ends: State | None = None


def refusals(*codes: tuple[int, str, str]) -> list[Row]:
    return [Row(f"{number} {code}", status(number, code), State.FAILED, says) for number, code, says in codes]


ORDERS = [
    Row("201", None, State.SUCCEEDED, "Its balance is 0.00 USD"),
    *refusals(
        (400, "BAD_REQUEST", "Nothing moved"),
        (400, "INVALID_NAME", "Correct the name"),
        (400, "INVALID_EMAIL", "Correct the e-mail"),
        (400, "INVALID_PHONE", "Correct the phone"),
        (400, "PHONE_COUNTRY_NOT_ALLOWED", "number from another country"),
        (409, "QUOTA", "Contact your card provider"),
    ),
    Row("429", status(429, "RATE_LIMITED"), State.EXECUTING, "Nothing has moved yet", 60, State.SUCCEEDED),
    *(
        Row(name, fault, State.EXECUTING, "do not repeat", 5, State.SUCCEEDED)
        for name, fault in (
            ("502, which releases the key", processor("5xx")),
            ("500", status(500, "UNAVAILABLE")),
            ("503 UPSTREAM_AUTH", processor("401")),
            ("409 ALREADY_PROCESSED, in flight", status(409, "ALREADY_PROCESSED")),
            ("no answer, nothing happened", Fault("drop_before_commit")),
            ("no answer, the card was made", Fault("drop_after_commit")),
            ("a 200 that is no JSON", Fault("garbage")),
        )
    ),
]


@pytest.mark.parametrize("row", ORDERS, ids=lambda row: row.name)
async def test_an_order_makes_one_card_or_is_refused_with_proof(world: World, row: Row) -> None:
    if row.fault is not None:
        await row.fault.set(world, ORDER)
    request = await an_order(world)

    at_once = await execute(world, request)
    assert at_once.state is row.state, at_once.outcome_text
    assert row.says in at_once.outcome_text
    assert due_in(world, at_once) == row.due_s

    end = await jump_to_the_end(world, request, within=timedelta(hours=1))
    assert end.state is (row.ends or row.state), end.outcome_text
    assert await cards_of(world) == (1 if end.state is State.SUCCEEDED else 0)
    assert {c["idempotency_key"] for c in await world.sent("POST /cards")} == {request.key}
    assert await alert_kinds(world) == set()


def _end_of(answer: Fault, *, completed: bool) -> State:
    """A card in the list proves the order. Without one the same key finds out, where it may still be sent:
    whether a 400 leaves it usable is not shown, so after one a person finds out."""
    return State.UNRESOLVED if answer.more.get("status") == 400 and not completed else State.SUCCEEDED


@pytest.mark.walk
@pytest.mark.parametrize("completed", [True, False], ids=["the card was made", "no card was made"])
@pytest.mark.parametrize(
    "answer",
    [
        status(400, "INVALID_PHONE"),
        status(400, "BAD_REQUEST"),
        status(409, "QUOTA"),
        status(409, "ALREADY_PROCESSED"),
        status(429, "RATE_LIMITED"),
        status(500, "UNAVAILABLE"),
        status(502, "UNAVAILABLE"),
        status(503, "UPSTREAM_AUTH"),
        Fault("drop_before_commit"),
    ],
    ids=lambda fault: " ".join(str(v) for v in fault.more.values()) or "no answer",
)
async def test_after_an_unknown_order_no_refusal_proves_that_no_card_was_made(
    world: World, answer: Fault, completed: bool
) -> None:
    await Fault("drop_after_commit" if completed else "drop_before_commit").set(world, ORDER)
    request = await an_order(world)
    await execute(world, request)
    await answer.set(world, ORDER)

    second = await jump(world, request)
    assert second.state in (*IN_FLIGHT, State.SUCCEEDED)
    assert completed or second.state is not State.SUCCEEDED

    end = await jump_to_the_end(world, request, within=timedelta(hours=1))
    assert end.state is _end_of(answer, completed=completed), end.outcome_text
    assert await cards_of(world) == (1 if end.state is State.SUCCEEDED else 0)
    keys = [sent["idempotency_key"] for sent in await world.sent("POST /cards")]
    assert set(keys) == {request.key}
    if end.state is State.UNRESOLVED:
        assert end.needs_person
        assert len(keys) == 2, "a spent key was sent again"


async def test_an_order_whose_approval_lapsed_goes_to_a_person_as_absence_proves_nothing(
    world: World,
) -> None:
    await Fault("drop_midway", {"times": 1}).set(world, ORDER)
    request = await an_order(world)
    await execute(world, request)

    end = await jump_to_the_end(world, request, within=timedelta(hours=1))

    assert end.state is State.UNRESOLVED
    assert end.needs_person
    assert "does not prove that none was made" in end.outcome_text
    assert await alert_kinds(world) == {"unresolved"}


FREEZES = [
    Row("200, and the card reads FROZEN", None, State.SUCCEEDED, "the card reads FROZEN"),
    *refusals((400, "BAD_REQUEST", "The card is not frozen"), (404, "NOT_FOUND", "The card is not frozen")),
    Row(
        "429", status(429, "RATE_LIMITED"), State.EXECUTING, "Purchases still go through", 5, State.SUCCEEDED
    ),
    Row(
        "500",
        status(500, "UNAVAILABLE"),
        State.EXECUTING,
        "Purchases may still go through",
        5,
        State.SUCCEEDED,
    ),
    # The client repeats these once by itself, so two in a row are needed to be seen at all.
    *(
        Row(name, fault, State.EXECUTING, "Purchases still go through", 5, State.SUCCEEDED)
        for name, fault in (
            ("502 changes nothing", Fault("processor", {"processor": "5xx", "times": 2})),
            ("503 changes nothing", Fault("processor", {"processor": "401", "times": 2})),
        )
    ),
    Row(
        "no answer once",
        Fault("drop_after_commit"),
        State.EXECUTING,
        "may still go through",
        5,
        State.SUCCEEDED,
    ),
    Row(
        "no answer twice",
        Fault("drop_before_commit", {"times": 2}),
        State.EXECUTING,
        "Purchases may still go through",
        5,
        State.SUCCEEDED,
    ),
]


@pytest.mark.parametrize("row", FREEZES, ids=lambda row: row.name)
async def test_a_freeze_is_believed_when_the_card_says_so(world: World, row: Row) -> None:
    if row.fault is not None:
        await row.fault.set(world, FREEZE)
    request = await a_freeze(world)

    at_once = await execute(world, request)
    assert at_once.state is row.state, at_once.outcome_text
    assert row.says in at_once.outcome_text
    assert due_in(world, at_once) == row.due_s

    end = await jump_to_the_end(world, request, within=timedelta(hours=1))
    assert end.state is (row.ends or row.state), end.outcome_text
    assert (await status_of(world) == "FROZEN") == (end.state is State.SUCCEEDED)


async def test_a_refusal_of_a_repeat_says_nothing_of_the_call_that_was_lost(world: World) -> None:
    await Fault("drop_after_commit").set(world, FREEZE)
    await status(404, "NOT_FOUND").set(world, FREEZE, nth=2)
    request = await a_freeze(world)

    await execute(world, request)
    done = await jump(world, request)

    assert done.state is State.SUCCEEDED, "called failed although the card is frozen"
    assert await status_of(world) == "FROZEN"


async def test_a_freeze_that_never_shows_is_tried_on_and_alerted(world: World) -> None:
    # The card cannot be read any more; three repeats of the client for each read.
    await status(502, "UNAVAILABLE").set(world, "GET /cards/{cardId}", times=10_000, nth=3)
    request = await a_freeze(world)

    current = await execute(world, request)

    assert "not confirmed" in current.outcome_text
    assert due_in(world, current) == 5
    assert await alert_kinds(world) == {"not_done_yet"}
    await world.advance(25 * 60)
    assert (await execute(world, request)).state is State.UNRESOLVED
    assert await alert_kinds(world) == {"not_done_yet", "unresolved"}


async def test_an_unfreeze_that_does_not_show_is_not_confirmed_and_read_again_after_2_seconds(
    world: World,
) -> None:
    frozen = await a_freeze(world)
    await execute(world, frozen)
    request = await a_freeze(world, kind="card_unfreeze")
    await status(502, "UNAVAILABLE").set(world, "GET /cards/{cardId}", times=10_000, nth=2)

    current = await execute(world, request)

    assert "not confirmed" in current.outcome_text
    assert due_in(world, current) == 2


@pytest.mark.parametrize("newer_is_sent", [True, False])
async def test_a_switch_is_not_repeated_over_a_newer_decision(world: World, newer_is_sent: bool) -> None:
    await Fault("drop_before_commit", {"times": 2}).set(world, FREEZE)
    request = await a_freeze(world)
    await execute(world, request)
    await world.advance(1)
    newer = await a_freeze(world, kind="card_unfreeze")
    if newer_is_sent:
        await execute(world, newer)
    calls = len(await world.sent("POST /freeze"))

    current = await jump_to_the_end(world, request, within=timedelta(hours=1))

    assert len(await world.sent("POST /freeze")) == calls
    assert current.state is State.FAILED
    assert await status_of(world) == "ACTIVE"


FUNDINGS = [
    Row("200, pending", None, State.SUCCEEDED, "not verified yet"),
    *refusals(
        (400, "BAD_REQUEST", "Nothing was changed"),
        (409, "ALREADY_SUBMITTED", "Another account has already submitted"),
        (409, "ALREADY_CREDITED", "Find it in the ledger"),
        (429, "TOO_MANY_PENDING", "Wait until some are found"),
    ),
    Row("429", status(429, "RATE_LIMITED"), State.EXECUTING, "Nothing was changed yet", 60, State.SUCCEEDED),
    Row("500 once", status(500, "UNAVAILABLE"), State.EXECUTING, "do not repeat", 5, State.SUCCEEDED),
    Row(
        "500 four times",
        Fault("status", {"status": 500, "code": "UNAVAILABLE", "times": 4}),
        State.EXECUTING,
        "do not repeat",
        5,
        State.SUCCEEDED,
    ),
    Row(
        "no answer, but recorded",
        Fault("drop_after_commit"),
        State.EXECUTING,
        "do not repeat",
        5,
        State.SUCCEEDED,
    ),
    Row(
        "no answer four times",
        Fault("drop_before_commit", {"times": 4}),
        State.EXECUTING,
        "do not repeat",
        5,
        State.SUCCEEDED,
    ),
]


@pytest.mark.parametrize("row", FUNDINGS, ids=lambda row: row.name)
async def test_a_submission_is_recorded_once_or_refused_with_proof(world: World, row: Row) -> None:
    if row.fault is not None:
        await row.fault.set(world, FUNDING)
    request = await a_submission(world)

    at_once = await execute(world, request)
    assert at_once.state is row.state, at_once.outcome_text
    assert row.says in at_once.outcome_text
    assert due_in(world, at_once) == row.due_s

    end = await jump_to_the_end(world, request, within=timedelta(hours=1))
    assert end.state is (row.ends or row.state), end.outcome_text
    assert await submissions(world) == (1 if end.state is State.SUCCEEDED else 0)
    assert await alert_kinds(world) == set()


async def test_the_service_that_cannot_read_its_addresses_is_asked_again_later(world: World) -> None:
    """503 UNAVAILABLE: nothing recorded."""
    await status(503, "UNAVAILABLE").set(world, FUNDING)
    request = await a_submission(world)

    at_once = await execute(world, request)
    assert (at_once.state, due_in(world, at_once)) == (State.EXECUTING, 5)
    assert (await jump(world, request)).state is State.SUCCEEDED


@pytest.mark.parametrize("completed", [True, False], ids=["recorded", "not recorded"])
@pytest.mark.parametrize(
    ("number", "code"),
    [(400, "BAD_REQUEST"), (409, "ALREADY_SUBMITTED"), (409, "ALREADY_CREDITED"), (429, "TOO_MANY_PENDING")],
)
async def test_after_an_unknown_submission_the_list_decides(
    world: World, number: int, code: str, completed: bool
) -> None:
    await Fault("drop_after_commit" if completed else "drop_before_commit").set(world, FUNDING)
    await status(number, code).set(world, FUNDING, nth=2)
    request = await a_submission(world)

    at_once = await execute(world, request)
    assert at_once.state is State.EXECUTING, at_once.outcome_text

    end = await jump_to_the_end(world, request, within=timedelta(hours=1))
    assert end.state is State.SUCCEEDED
    assert await submissions(world) == 1


async def test_a_rejected_submission_is_a_failed_one_with_the_reason_in_words(world: World) -> None:
    """POST /funding answers 200 for a record that is already rejected (R165)."""
    transfer = {"network": "POLYGON", "tx_hash": HASH, "ok": False, "arrives": "now"}
    payment = {"sender": "0x" + "11" * 20, "token": "USDC", "amount": "25"}
    await world.tell("chain/transfers", {**transfer, "payments": [payment]})
    request = await a_submission(world)

    done = await execute(world, request)

    assert done.state is State.FAILED
    assert "failed on-chain" in done.outcome_text
    assert "The float did not change." in done.outcome_text


@pytest.mark.parametrize("operation", [ORDER, FREEZE, FUNDING])
@pytest.mark.parametrize(("number", "code"), [(401, "UNAUTHORIZED"), (403, "FORBIDDEN")])
async def test_a_refused_key_holds_every_kind_until_it_works_again(
    world: World, operation: str, number: int, code: str
) -> None:
    ask = {ORDER: an_order, FREEZE: a_freeze, FUNDING: a_submission}[operation]
    await status(number, code).set(world, operation)
    request = await ask(world)
    held = await execute(world, request)
    assert (held.state, held.outcome_unknown) == (State.EXECUTING, False)
    # That a card is not frozen is reported whatever the cause.
    also = {"not_done_yet"} if operation == FREEZE else set()
    assert await alert_kinds(world) == {"key_trouble" if number == 401 else "scope"} | also

    await world.advance(61)  # a refusal that names no scope rests for a minute
    await programs.probe_paused(world.core)
    assert (await jump(world, request)).state is State.SUCCEEDED
    assert await alert_kinds(world) == set()
