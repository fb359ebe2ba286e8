"""An emergency that does not happen at once: how it is tried, who is notified, and that nobody is notified it happened.

The walk at the end goes over every kind that can be done at once, and over all that such a request can meet between
its first try and its card's new status.
"""

from __future__ import annotations

import asyncio
import time
from datetime import timedelta

import pytest

from bot import operations
from bot.domain.errors import LookupFailed, NotAllowed, Stale
from bot.domain.people import Actor
from bot.domain.requests import Request, State
from bot.partner.errors import PartnerError
from bot.services import execution, message_kinds
from bot.services.execution import maintenance, try_now
from bot.services.messages import reminders
from bot.services.requests import approvals, drafts
from tests.services.bulk_requests import ask_bulk
from tests.services.outcome_steps import Fault, alert_kinds, due_in, execute, jump, open_alerts, status
from tests.support.situations import (
    ALWAYS,
    FREEZE,
    READ,
    REFUSING,
    a_freeze,
    card_of,
    everything_said,
    no_faults,
    to_send,
)
from tests.support.waiting import eventually
from tests.support.world import ALICE, BOB, CAROL, HOME, World

pytestmark = pytest.mark.by_turns(4)


@pytest.mark.parametrize("now", [True, False], ids=["freeze now", "approved"])
async def test_it_is_tried_every_5_s_and_does_not_expire_once_a_try_was_made_in_time(
    world: World, now: bool
) -> None:
    await REFUSING.set(world, FREEZE, times=ALWAYS)
    request = await a_freeze(world, now=now)

    assert due_in(world, await execute(world, request)) == 5
    assert due_in(world, await jump(world, request)) == 5
    await world.advance(timedelta(minutes=40).total_seconds())
    late = await execute(world, request)
    assert late.state is State.EXECUTING, late.outcome_text
    assert late.valid_until is not None
    assert late.valid_until < world.clock.now(), "the approval itself has long lapsed"
    await no_faults(world)
    assert (await jump(world, request)).state is State.SUCCEEDED


async def test_a_lost_answer_to_a_freeze_is_tried_on_for_days(world: World) -> None:
    await Fault("drop_before_commit").set(world, FREEZE, times=ALWAYS)
    request = await a_freeze(world)
    assert (await execute(world, request)).state is State.EXECUTING
    await world.advance(timedelta(minutes=25).total_seconds())
    assert (await execute(world, request)).state is State.UNRESOLVED
    await world.advance(timedelta(hours=30).total_seconds())
    calls = len(await world.sent("POST /freeze"))

    assert (await execute(world, request)).state is State.UNRESOLVED
    assert len(await world.sent("POST /freeze")) > calls, "a freeze is harmless to repeat, however late"
    await no_faults(world)
    assert (await jump(world, request)).state is State.SUCCEEDED


@pytest.mark.parametrize("fault", [REFUSING, Fault("reset")], ids=["502", "reset"])
async def test_a_refusal_after_a_lost_answer_does_not_end_a_freeze(world: World, fault: Fault) -> None:
    await Fault("drop_before_commit", {"times": 2}).set(world, FREEZE)
    request = await a_freeze(world)
    await execute(world, request)
    await fault.set(world, FREEZE, times=ALWAYS)
    for minutes in (0, 5, 25):
        await world.advance(timedelta(minutes=minutes).total_seconds())
        assert (await jump(world, request)).state in (State.EXECUTING, State.UNRESOLVED)


async def _cannot_be_said(*_: object) -> dict[str, object]:
    raise LookupFailed("Who the people are cannot be looked up.")


@pytest.mark.parametrize("fails", ["Slack", "a reading that its checks need"])
@pytest.mark.parametrize("now", [True, False], ids=["freeze now", "approved"])
async def test_no_look_up_that_fails_ends_it_after_its_first_failed_try(
    world: World, fails: str, now: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    await REFUSING.set(world, FREEZE, times=ALWAYS)
    request = await a_freeze(world, now=now)
    await execute(world, request)
    if fails == "Slack":
        world.people.broken = True
    else:
        monkeypatch.setattr(operations.kinds()["card_freeze"], "read", _cannot_be_said)
    for minutes in (0, 2, 20, 120):
        await world.advance(timedelta(minutes=minutes).total_seconds())
        current = await jump(world, request)
        assert current.state is State.EXECUTING, current.outcome_text
        card = await card_of(world, request)
        assert "Not frozen yet" in card
        assert "Purchases still go through" in card
        assert fails == "Slack" or "cannot be looked up" in card

    world.people.broken = False
    monkeypatch.undo()
    await no_faults(world)
    assert (await jump(world, request)).state is State.SUCCEEDED


async def test_what_is_sent_of_it_is_kept_for_as_long_as_it_is_tried(world: World) -> None:
    await Fault("drop_before_commit").set(world, FREEZE, times=ALWAYS)
    request = await a_freeze(world)
    await execute(world, request)
    await world.advance(timedelta(minutes=25).total_seconds())
    assert (await execute(world, request)).state is State.UNRESOLVED
    await world.advance(timedelta(hours=80).total_seconds())
    await maintenance.purge(world.core)
    await execute(world, request)
    await no_faults(world)

    assert (await jump(world, request)).state is State.SUCCEEDED


async def test_it_can_be_asked_for_while_reads_fail_and_is_tried_all_the_same(world: World) -> None:
    for read in (READ, "GET /me", "GET /cards"):
        await REFUSING.set(world, read, times=ALWAYS)
    await world.advance(180)
    card = world.cards[0]["id"]
    draft = await drafts.begin(
        world.core, owner=ALICE, kind="card_freeze", texts={"card": card}, reason="Lost phone", run_now=True
    )

    shown = await drafts.preview(world.core, draft)

    assert ("Card status", "ACTIVE → FROZEN") in shown.lines
    said = " ".join(concern.text for concern in shown.concerns)
    assert "3 min old" in said
    assert not any(concern.stops for concern in shown.concerns)
    request = await a_freeze(world)
    await execute(world, request)
    assert len(await world.sent("POST /freeze")) == 1
    await no_faults(world)
    assert (await jump(world, request)).state is State.SUCCEEDED


async def test_a_reading_that_hangs_does_not_hold_a_freeze_up(world: World) -> None:
    """Neither its preview nor its sending; a real wait, as the API's is."""
    await Fault("hang", {"seconds": 20}).set(world, READ, times=2)
    draft = await drafts.begin(
        world.core,
        owner=ALICE,
        kind="card_freeze",
        texts={"card": world.cards[0]["id"]},
        reason="Lost phone",
        run_now=True,
    )
    began = world.core.clock.monotonic()

    shown = await drafts.preview(world.core, draft)

    assert ("Card status", "ACTIVE → FROZEN") in shown.lines
    assert world.core.clock.monotonic() - began < 5


@pytest.mark.parametrize("others", [0, 3], ids=["alone", "behind top-ups"])
async def test_a_slack_that_hangs_does_not_hold_an_approved_freeze_up(
    world: World, others: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A real wait, as Slack's is: its client gives up after half a minute."""
    top_ups = [await world.top_up("5", card=1 + i % 2) for i in range(others)]
    request = await a_freeze(world, now=False)

    async def hangs(*_: object) -> object:
        await asyncio.sleep(60)
        raise AssertionError("nobody waits for so long")

    for asks in ("actor", "each"):
        monkeypatch.setattr(world.people, asks, hangs)
    before = [asyncio.create_task(execution.execute(world.core, top_up.id)) for top_up in top_ups]
    await asyncio.sleep(0.1)
    began = time.monotonic()
    try:
        async with asyncio.timeout(8):
            done = await execute(world, request)
    finally:
        for task in before:
            task.cancel()
        await asyncio.gather(*before, return_exceptions=True)

    assert done.state is State.SUCCEEDED
    assert time.monotonic() - began < 5


@pytest.mark.parametrize("now", [True, False], ids=["freeze now", "approved"])
async def test_a_minute_that_others_with_the_key_have_used_up_does_not_hold_a_freeze_up(
    world: World, now: bool
) -> None:
    """What others sent may be over at the service sooner than we can know; a refusal does nothing, and is reported."""
    request = await a_freeze(world, now=now)
    world.limiter.observe(limit=120, remaining=0)
    executing = asyncio.create_task(execute(world, request))

    async def is_done() -> bool:
        return (await world.request(request.id)).state is State.SUCCEEDED

    await eventually("the card is frozen", is_done, within_s=8)
    assert await alert_kinds(world) == set()
    await world.advance(62)  # then what follows has its place, too
    await executing


async def test_a_top_up_cannot_be_asked_for_while_reads_fail(world: World) -> None:
    await REFUSING.set(world, READ, times=ALWAYS)
    with pytest.raises(PartnerError):
        await world.ask("card_topup", {"card": world.cards[0]["id"], "amount_usd": "50"})


@pytest.mark.parametrize("now", [True, False], ids=["freeze now", "approved"])
async def test_at_the_first_failed_try_requester_approvers_and_alerts_channel_are_shown_what_it_means(
    world: World, now: bool
) -> None:
    await REFUSING.set(world, FREEZE, times=ALWAYS)
    request = await a_freeze(world, now=now)
    await execute(world, request)

    received = {
        "the requester": await to_send(world, kind=message_kinds.REQUESTER_NOTICE),
        "the approvals channel": await to_send(world, kind=message_kinds.REQUEST_CARD),
        "its thread": await to_send(world, kind=message_kinds.REQUEST_LINE),
        "the alerts channel": await to_send(world, kind=message_kinds.ALERT),
    }
    for who, messages in received.items():
        answer = [text for text in messages if "not frozen yet" in text.lower()]
        assert answer, f"{who} heard nothing: {messages}"
        for promise in ("purchases still go through", "every 5 seconds", "card provider", "try now"):
            assert any(promise in text.lower() for text in answer), f"{who} did not hear of: {promise}"
    called = await to_send(world, kind=message_kinds.ALERT)
    assert any(BOB in text and CAROL in text for text in called), "no approver is mentioned"


async def test_it_is_reported_once_and_its_alert_ends_when_the_card_reads_frozen_and_says_so(
    world: World,
) -> None:
    await REFUSING.set(world, FREEZE, times=ALWAYS)
    request = await a_freeze(world)
    for _ in range(2):
        await jump(world, request)
    assert await alert_kinds(world) == {"not_done_yet"}
    assert len(await to_send(world, kind=message_kinds.REQUEST_LINE)) == 1
    await no_faults(world)
    assert (await jump(world, request)).state is State.SUCCEEDED

    assert await open_alerts(world) == []
    ended = [text for text in await to_send(world, kind=message_kinds.ALERT) if "Resolved" in text]
    assert ended
    assert "reads FROZEN" in ended[0]
    assert "not frozen yet" not in ended[0].lower(), "the resolved alert keeps the alarm's words"
    assert any("Resolved: Frozen: " in text for text in await to_send(world, kind=message_kinds.ALERT_LINE))


async def test_a_freeze_that_the_provider_refuses_for_good_is_an_alert_that_stays(world: World) -> None:
    await status(400, "BAD_REQUEST").set(world, FREEZE)
    request = await a_freeze(world)

    done = await execute(world, request)

    assert done.state is State.FAILED
    assert await alert_kinds(world) == {"not_done"}
    card = await card_of(world, request)
    assert "moved" not in card
    assert "not frozen" in card.lower()


async def test_confirm_comes_only_when_it_happened_and_an_old_button_is_refused_with_a_sentence(
    world: World,
) -> None:
    await REFUSING.set(world, FREEZE, times=ALWAYS)
    request = await a_freeze(world)
    assert "request:confirm" not in await card_of(world, request)
    await execute(world, request)
    assert "request:confirm" not in await card_of(world, request)

    with pytest.raises(Stale, match=f"{request.id} is not frozen yet"):
        await approvals.confirm(world.core, request.id, BOB)

    await no_faults(world)
    await jump(world, request)
    assert "request:confirm" in await card_of(world, request)
    await approvals.confirm(world.core, request.id, BOB)


async def test_until_a_second_person_confirmed_the_header_says_that_one_is_needed(world: World) -> None:
    request = await a_freeze(world)
    await execute(world, request)
    assert "needs a second person" in (await card_of(world, request)).split("\n")[1]
    await approvals.confirm(world.core, request.id, BOB)
    assert "needs a second person" not in (await card_of(world, request)).split("\n")[1]


async def test_try_now_is_for_the_requester_and_every_approver_and_wakes_the_execution(world: World) -> None:
    await REFUSING.set(world, FREEZE, times=ALWAYS)
    request = await a_freeze(world)
    await execute(world, request)
    await world.advance(600)
    assert (due_in(world, await execute(world, request)) or 0) > 40
    assert "Try now" in await card_of(world, request)
    await no_faults(world)
    for person in (ALICE, BOB):
        world.core.carrier.woken.clear()  # type: ignore[attr-defined]
        await try_now.try_now(world.core, request.id, person)
        assert world.core.carrier.woken == [request.id]  # type: ignore[attr-defined]

    await world.run_due()
    assert (await world.request(request.id)).state is State.SUCCEEDED
    assert "Try now" not in await card_of(world, request)
    with pytest.raises(Stale):
        await try_now.try_now(world.core, request.id, BOB)


async def test_try_now_is_refused_to_everybody_else_and_audited(world: World) -> None:
    await REFUSING.set(world, FREEZE, times=ALWAYS)
    request = await a_freeze(world)
    await execute(world, request)
    world.people.actors["U0DAVE"] = Actor("U0DAVE", "Dave", team_id=HOME)
    due_at = (await world.request(request.id)).due_at
    with pytest.raises(NotAllowed):
        await try_now.try_now(world.core, request.id, "U0DAVE")
    world.people.change(BOB, is_restricted=True)
    with pytest.raises(NotAllowed):
        await try_now.try_now(world.core, request.id, BOB)
    assert (await world.request(request.id)).due_at == due_at
    other = await world.top_up("50", approved=False)
    with pytest.raises(Stale):
        await try_now.try_now(world.core, other.id, CAROL)


async def test_a_list_of_freezes_says_which_cards_are_not_frozen_yet_and_is_tried_at_once_as_a_whole(
    world: World,
) -> None:
    await REFUSING.set(world, FREEZE, times=ALWAYS)
    names = [card["card_holder_name"] for card in world.cards[:2]]
    batch = await ask_bulk(world, "card\n" + "\n".join(c["id"] for c in world.cards[:2]), kind="card_freeze")
    await world.approve(batch)
    await world.run(2, step=1)

    card = await card_of(world, batch)
    assert "Not frozen yet: 2 cards" in card
    assert all(name in card for name in names)
    (answer,) = [text for text in await to_send(world, kind=message_kinds.ALERT) if "Not frozen yet" in text]
    assert "2 of 2 cards" in answer
    assert all(name in answer for name in names)
    notices = await to_send(world, kind=message_kinds.REQUESTER_NOTICE)
    assert any("Not frozen yet" in text and "Purchases still go through" in text for text in notices)
    for text in (card, answer, *notices):
        assert not [words for words in OF_MONEY if words in _without_honest_words(text.lower())], text

    await no_faults(world)
    await try_now.try_now(world.core, batch.id, BOB)
    await world.run_due()
    assert (await world.request(batch.id)).state is State.SUCCEEDED
    assert await open_alerts(world) == []


# What such a request can meet between its first try and its card's new status.
MEETS = {
    "nothing yet": {},
    "refused": {FREEZE: REFUSING},
    "no answer": {FREEZE: Fault("drop_before_commit")},
    "connection lost": {FREEZE: Fault("reset")},
    "garbage": {FREEZE: Fault("garbage")},
    "too many calls": {FREEZE: status(429, "RATE_LIMITED")},
    "the key is refused": {FREEZE: status(401, "UNAUTHORIZED")},
    "taken, but not readable": {READ: REFUSING},
    "nothing works": {FREEZE: REFUSING, READ: REFUSING},
}
URGENT = [kind for kind, cls in operations.kinds().items() if cls.handling.can_run_now]
IT_HAPPENED = (
    "acts now",
    "acted at once",
    "done at once",
    "is frozen",
    "reads frozen",
    "✓ succeeded",
    "confirm",
)
OF_MONEY = ("nothing has moved", "nothing moved", "money", "float")


@pytest.mark.parametrize("meets", MEETS)
@pytest.mark.parametrize("kind", URGENT)
async def test_no_message_says_that_it_happened_before_it_did(world: World, kind: str, meets: str) -> None:
    request = await world.ask(kind, {"card": world.cards[0]["id"]}, now=True)
    for operation, fault in MEETS[meets].items():
        await fault.set(world, operation, times=ALWAYS)
    _hold_to_the_truth(request, await everything_said(world, request), tried=False)
    if not MEETS[meets]:
        return

    states = set()
    for _ in range(3):
        current = await jump(world, request)
        states.add(current.state)
        _hold_to_the_truth(current, await everything_said(world, current), tried=True)
        await world.advance(5 * 3600)
        await reminders.remind(world.core)
    assert states <= {State.EXECUTING, State.UNRESOLVED}


# A refused key pauses sending: that has tests of its own.
@pytest.mark.parametrize("meets", [m for m in MEETS if FREEZE in MEETS[m] and m != "the key is refused"])
@pytest.mark.parametrize("kind", URGENT)
async def test_what_cannot_wait_is_tried_again_within_5_seconds_whatever_it_meets(
    world: World, kind: str, meets: str
) -> None:
    request = await world.ask(kind, {"card": world.cards[0]["id"]}, now=True)
    for operation, fault in MEETS[meets].items():
        await fault.set(world, operation, times=ALWAYS)
    for _ in range(3):
        pause = due_in(world, await jump(world, request))
        assert pause is not None
        assert pause <= 5


def _hold_to_the_truth(request: Request, said: list[str], *, tried: bool) -> None:
    for text in said:
        shown = _without_honest_words(text.lower())
        found = [words for words in (*IT_HAPPENED, *OF_MONEY) if words in shown]
        assert not found, f"{found} in:\n{text}"
    for text in said[-2:] if tried else ():
        assert "not frozen yet" in text.lower(), text


def _without_honest_words(text: str) -> str:
    """Without the words that deny it, that tell what comes once it happened, or which program it is."""
    for honest in (
        "not confirmed", "not read frozen", "once done, a second person of @card-approvers has to confirm it",
        "sandbox", "live", "is frozen already",
    ):  # fmt: skip
        text = text.replace(honest, "")
    return text
