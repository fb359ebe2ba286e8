"""What cannot wait while sending is paused: it is not sent, says so before and after, calls people, and goes first.

A pause stops sending to the API and nothing else. So a freeze that was asked for, approved or is being tried on says
that the card is not frozen and why; no time ends it while the pause lasts.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import timedelta

import pytest

from bot.domain.errors import Stale
from bot.domain.requests import State
from bot.services import execution, message_kinds, requests
from bot.services.alerts import view_models
from bot.services.core import queue_name
from bot.services.execution import try_now
from bot.services.operators import programs
from bot.services.requests import drafts, request_lookups
from handlers.modals import submissions
from handlers.views import alerts as alert_view
from handlers.views import ids, replies
from handlers.views.requests import approval_modals, forms
from storage.requests import requests as request_rows
from tests.services.bulk_requests import ask_bulk
from tests.services.outcome_steps import alert_kinds, execute, jump, open_alerts
from tests.services.test_newest_wins import an_unfreeze_on_its_way, completes
from tests.support.situations import (
    ALWAYS,
    FREEZE,
    REFUSING,
    a_freeze,
    card_of,
    pause,
    refuse_the_key,
    resume,
    to_send,
)
from tests.support.view_text import view_text
from tests.support.world import ALICE, BOB, World

pytestmark = pytest.mark.by_turns(4)

SENT = (
    "sent as soon as you submit",
    "sent all the same",
    "sent at once",
    "sent by",
    "is being sent",
    "15 minutes",
)


HOW = pytest.mark.parametrize("now", [True, False], ids=["freeze now", "approved"])
STOPS = pytest.mark.parametrize("stop", [pause, refuse_the_key], ids=["by people", "by the key"])


@HOW
@STOPS
@pytest.mark.parametrize("when", ["before", "after"])
async def test_it_is_not_sent_and_everybody_is_notified_that_the_card_is_not_frozen_and_why(
    world: World, now: bool, stop: object, when: str
) -> None:
    """Whether sending is paused before it is asked for, or after a try of it failed."""
    if when == "before":
        await stop(world)  # type: ignore[operator]
        request = await a_freeze(world, now=now)
    else:
        await REFUSING.set(world, FREEZE, times=ALWAYS)
        request = await a_freeze(world, now=now)
        await execute(world, request)
        await stop(world)  # type: ignore[operator]
    sent = len(await world.sent("POST /freeze"))
    await world.run(31, step=31)

    assert len(await world.sent("POST /freeze")) == sent
    assert "not_done_yet" in await alert_kinds(world)
    received = {
        "the requester": await to_send(world, kind=message_kinds.REQUESTER_NOTICE),
        "the approvals channel": await to_send(world, kind=message_kinds.REQUEST_CARD),
        "the alerts channel": await to_send(world, kind=message_kinds.ALERT),
    }
    for who, messages in received.items():
        answer = [text for text in messages if "not frozen yet" in text.lower()]
        assert answer, f"{who} heard nothing: {messages}"
        for promise in ("purchases still go through", "sending to main is paused", "card provider"):
            assert promise in answer[-1].lower(), f"{who} did not hear of: {promise}"
        for false in ("press try now", "press *try now", "every 5 seconds", "next try is at"):
            assert false not in answer[-1].lower(), (who, answer[-1])
    card = await card_of(world, request)
    assert when == "after" or "sent by" not in card
    assert "then it ends" not in card


@HOW
@STOPS
async def test_no_time_ends_it_while_sending_is_paused_and_it_goes_first_when_sending_goes_on(
    world: World, now: bool, stop: object
) -> None:
    await stop(world)  # type: ignore[operator]
    top_up = await world.top_up("50")
    request = await a_freeze(world, now=now)
    for _ in range(4):
        await world.run_due()
        await world.advance(timedelta(minutes=10).total_seconds())
        await requests.expire_due(world.core)
    assert (await world.request(request.id)).state is State.APPROVED

    await (resume(world) if stop is pause else programs.resume(world.core, "main"))

    due = {queue.name: queue.ids for queue in await execution.due(world.core)}
    assert due[queue_name("emergency", "main")] == [request.id]
    assert (await execute(world, request)).state is State.SUCCEEDED
    assert (await world.request(top_up.id)).state is State.EXPIRED
    assert "not_done_yet" not in await alert_kinds(world)


async def test_a_freeze_that_could_not_be_sent_in_time_for_another_reason_still_lapses(world: World) -> None:
    request = await a_freeze(world, now=False)
    await world.advance(timedelta(minutes=15).total_seconds() + 1)
    await requests.expire_due(world.core)
    assert (await world.request(request.id)).state is State.EXPIRED


@HOW
@STOPS
async def test_before_it_is_submitted_or_approved_it_is_said_that_it_is_not_sent(
    world: World, now: bool, stop: object
) -> None:
    await stop(world)  # type: ignore[operator]
    draft = await drafts.begin(
        world.core,
        owner=ALICE,
        kind="card_freeze",
        texts={"card": world.cards[0]["id"]},
        reason="Lost phone",
        run_now=now,
    )
    found = await drafts.preview(world.core, draft)
    preview = view_text(forms.preview(submissions.shown(found)))
    request = await requests.submit(world.core, draft.id, ALICE)
    paused = await programs.paused_now(world.core, "main")
    note = view_text(replies.submitted(request, "C0APPROVALS", paused))
    said = {"preview": preview, "note": note}
    if not now:
        window = await request_lookups.confirmation(world.core, request.id, BOB)
        said["window"] = view_text(approval_modals.confirmation(window))
        approved, verdict = await world.approve(request)
        said["answer"] = replies.approved(approved, verdict.approvals, paused)
    for where, text in said.items():
        assert "sending to main is paused" in text.lower(), where
        assert not [words for words in SENT if words in text.lower()], (where, text)
        assert "not frozen" in text.lower(), (where, text)


@pytest.mark.parametrize("kind", ["card_topup", "card_unfreeze"])
async def test_the_approve_window_says_one_thing_of_when_it_is_sent_while_sending_is_paused(
    world: World, kind: str
) -> None:
    texts = {"card": world.cards[0]["id"], **({"amount_usd": "5"} if kind == "card_topup" else {})}
    request = await world.ask(kind, texts)
    await pause(world)
    text = view_text(
        approval_modals.confirmation(await request_lookups.confirmation(world.core, request.id, BOB))
    )
    assert "15 minutes" in text
    assert "at once" not in text


async def test_a_freeze_that_failed_is_tried_at_once_when_sending_goes_on(world: World) -> None:
    await REFUSING.set(world, FREEZE, times=1)
    request = await a_freeze(world, now=True)
    await execute(world, request)
    await pause(world)
    await world.run(31, step=31)
    await resume(world)
    card = await card_of(world, request)
    assert "paused" not in card
    assert "Try now" in card
    assert (await jump(world, request)).state is State.SUCCEEDED


async def alert_message(world: World) -> str:
    """The freeze's alert as people see it now."""
    (found,) = [a for a in await open_alerts(world) if a.kind == "not_done_yet"]
    async with world.store.read() as tx:
        return view_text(alert_view.alert(await view_models.alert_view(tx, world.core, found)))


@STOPS
async def test_its_alert_offers_try_now_exactly_while_pressing_it_is_not_refused(
    world: World, stop: Callable[[World], Awaitable[None]]
) -> None:
    await REFUSING.set(world, FREEZE, times=ALWAYS)
    freeze = await a_freeze(world, now=True)
    await execute(world, freeze)
    assert ids.ALERT_TRY_NOW in await alert_message(world)

    await stop(world)
    await jump(world, freeze)
    answer = await alert_message(world)
    assert ids.ALERT_TRY_NOW not in answer
    assert "Try now" not in answer
    assert "It is not sent now" in answer
    with pytest.raises(Stale):
        await try_now.try_now(world.core, freeze.id, BOB)

    await (resume(world) if stop is pause else programs.resume(world.core, "main"))
    assert ids.ALERT_TRY_NOW in await alert_message(world)
    await try_now.try_now(world.core, freeze.id, BOB)


async def test_the_alert_of_what_is_frozen_for_now_offers_no_try(world: World) -> None:
    await an_unfreeze_on_its_way(world)
    freeze = await a_freeze(world)
    await execute(world, freeze)
    await completes(world)
    await jump(world, freeze)
    assert ids.ALERT_TRY_NOW in await alert_message(world)

    await jump(world, freeze)

    displayed = await alert_message(world)
    assert "Frozen for now" in displayed
    assert ids.ALERT_TRY_NOW not in displayed


async def test_many_freezes_that_wait_for_a_pause_keep_nothing_else_from_expiring(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They never lapse, so they stand in front of all that does, however few are looked at together."""
    monkeypatch.setattr(request_rows, "EXPIRED_AT_ONCE", 3)
    await pause(world)
    freezes = [await a_freeze(world, card=card % 2) for card in range(4)]
    await world.advance(1)
    top_up = await world.top_up("5", approved=False)
    await world.advance(timedelta(hours=9).total_seconds())

    assert await requests.expire_due(world.core) == 1

    assert (await world.request(top_up.id)).state is State.EXPIRED
    assert {(await world.request(freeze.id)).state for freeze in freezes} == {State.APPROVED}


@pytest.mark.parametrize("tried", [False, True], ids=["held by a pause", "refused"])
async def test_a_list_that_is_withdrawn_is_not_said_to_wait_any_more(world: World, tried: bool) -> None:
    cards = "\n".join(["card", *[card["id"] for card in world.cards[:3]]])
    batch = await ask_bulk(world, cards, kind="card_freeze")
    if tried:
        await REFUSING.set(world, FREEZE, times=ALWAYS)
    await world.approve(batch)
    if tried:
        await world.run_due()
    await pause(world)
    await world.advance(40)
    await world.run_due()
    assert "not_done_yet" in await alert_kinds(world)

    await requests.cancel(world.core, batch.id, ALICE)

    assert "not_done_yet" not in await alert_kinds(world)


@pytest.mark.parametrize("is_list", [False, True], ids=["one card", "a list"])
async def test_a_freeze_that_nobody_decided_in_time_is_reported_as_not_frozen(
    world: World, is_list: bool
) -> None:
    cards = "\n".join(["card", *[card["id"] for card in world.cards[:3]]])
    if is_list:
        request = await ask_bulk(world, cards, kind="card_freeze")
    else:
        request = await world.ask("card_freeze", {"card": world.cards[0]["id"]})
    await world.advance(timedelta(days=2).total_seconds())

    await requests.expire_due(world.core)

    (alert,) = [a for a in await open_alerts(world) if a.kind == "not_done"]
    assert "not frozen" in alert.title
    assert request.id in alert.text
