"""Of several requests on one setting the newest decides, even where an older one's call is still on its way.

What is on its way cannot be called back. So an emergency is sent at once and is not called done before the older
call has an outcome and the card reads FROZEN after it; whatever can wait is sent after the older call.
"""

from __future__ import annotations

import asyncio
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from bot.domain.errors import Stale
from bot.domain.requests import Request, State
from bot.operations import urgency
from bot.outcomes.timing import QUIESCENCE
from bot.partner.calls.cards import CardCalls
from bot.partner.models import CardStatusChanged
from bot.services import message_kinds, requests
from bot.services.events import Poller, inbox
from bot.services.execution import try_now
from bot.services.received_event import ReceivedEvent
from bot.services.requests import approvals
from tests.services.outcome_steps import (
    alert_kinds,
    due_in,
    execute,
    jump,
    jump_to_the_end,
    open_alerts,
    status,
)
from tests.support.kinds import SETTINGS
from tests.support.situations import (
    FREEZE,
    READ,
    REFUSING,
    a_freeze,
    card_of,
    card_status,
    everything_said,
    no_faults,
    on_its_way,
    pause,
    resume,
    to_send,
)
from tests.support.world import ALICE, BOB, CAROL, World

pytestmark = pytest.mark.by_turns(4)


async def an_unfreeze_on_its_way(world: World) -> Request:
    card = world.cards[0]["id"]
    await world.tell(f"cards/{card}", {"status": "FROZEN"})
    return await on_its_way(world, "card_unfreeze", {"card": card})


async def completes(world: World) -> None:
    """The unfreeze's call arrives at last."""
    await world.tell(f"cards/{world.cards[0]['id']}", {"status": "ACTIVE"})


async def test_a_freeze_is_sent_at_once_and_is_open_while_an_older_unfreeze_is_under_way(
    world: World,
) -> None:
    older = await an_unfreeze_on_its_way(world)
    freeze = await a_freeze(world)

    held = await execute(world, freeze)

    assert len(await world.sent("POST /freeze")) == 1
    assert held.state is State.EXECUTING
    assert due_in(world, held) == 5
    assert "Frozen for now" in held.outcome_text
    assert older.id in held.outcome_text
    card = await card_of(world, freeze)
    assert "Frozen for now" in card.split("\n")[1]
    assert "Not frozen yet" not in card
    assert "request:confirm" not in card
    with pytest.raises(Stale, match="frozen for now"):
        await approvals.confirm(world.core, freeze.id, BOB)
    with pytest.raises(Stale):
        await try_now.try_now(world.core, freeze.id, BOB)
    notices = await to_send(world, kind=message_kinds.REQUESTER_NOTICE)
    assert any("Frozen for now" in text for text in notices)
    for text in await everything_said(world, held):
        assert "succeeded" not in text.lower(), text
    calls = len(await world.sent("POST /freeze"))
    for _ in range(4):
        assert due_in(world, await jump(world, freeze)) == 5
    assert len(await world.sent("POST /freeze")) == calls, (
        "it is read, and sent again only where it has to be"
    )
    assert await alert_kinds(world) == set(), "the card is frozen: nobody is called for that"


@pytest.mark.walk
@pytest.mark.parametrize("after_looks", [0, 1, 3])
@pytest.mark.parametrize("the_answer", ["is lost", "comes", "comes first"])
async def test_the_card_ends_frozen_whenever_the_older_unfreeze_lands(
    world: World, after_looks: int, the_answer: str
) -> None:
    """Before the freeze is called done there is no older call that can still arrive, and the card reads FROZEN.

    Where nobody saw what the older one did before that, it is not called failed.
    """
    older = await an_unfreeze_on_its_way(world)
    freeze = await a_freeze(world)
    await execute(world, freeze)
    for _ in range(after_looks):
        await jump(world, freeze)
    await completes(world)
    if the_answer == "comes first":
        await world.advance(31)  # the lease of the process that died is over
        ended = await execute(world, older)
        assert ended.state is State.SUCCEEDED
        assert freeze.id in ended.outcome_text, "no plain success: the newer freeze decides"

    until = world.clock.now() + timedelta(minutes=6)
    current = await world.request(freeze.id)
    while current.state is not State.SUCCEEDED and world.clock.now() < until:
        await world.advance(40 if the_answer == "is lost" else 0)
        current = await jump(world, freeze)
        if the_answer == "comes":
            await execute(world, older)
        before = await world.request(older.id)
        if current.state is State.SUCCEEDED:
            assert before.state in (State.SUCCEEDED, State.UNRESOLVED)
            assert world.clock.now() >= before.created_at + QUIESCENCE or before.state is State.SUCCEEDED
            assert await card_status(world) == "FROZEN"
        elif the_answer == "is lost" and world.clock.now() > older.created_at + QUIESCENCE:
            await execute(world, older)

    assert current.state is State.SUCCEEDED, current.outcome_text
    assert await card_status(world) == "FROZEN"
    unknown = (await world.request(older.id)).state is State.UNRESOLVED
    assert await alert_kinds(world) == ({"unresolved"} if unknown else set())
    assert "request:confirm" in await card_of(world, freeze)


async def test_a_freeze_that_an_older_unfreeze_undid_is_sent_again_at_once_and_people_are_notified(
    world: World,
) -> None:
    await an_unfreeze_on_its_way(world)
    freeze = await a_freeze(world)
    await execute(world, freeze)
    await completes(world)

    undone = await jump(world, freeze)

    assert due_in(world, undone) == 0
    assert await alert_kinds(world) == {"not_done_yet"}
    assert "Not frozen yet" in await card_of(world, freeze)
    again = await jump(world, freeze)
    assert len(await world.sent("POST /freeze")) == 2
    assert "Frozen for now" in again.outcome_text
    assert await alert_kinds(world) == {"not_done_yet"}, "its alert goes on until nothing can undo it"
    shown = [text for text in await to_send(world, kind=message_kinds.ALERT) if freeze.id in text]
    assert shown
    for text in shown:
        assert "Frozen for now" in text
        assert "not frozen yet" not in text.lower()


async def test_what_wakes_a_freeze_is_the_outcome_of_the_older_unfreeze(world: World) -> None:
    older = await an_unfreeze_on_its_way(world)
    freeze = await a_freeze(world)
    await execute(world, freeze)
    await completes(world)
    await world.advance(31)
    await execute(world, freeze)
    await execute(world, freeze)
    world.core.carrier.woken.clear()  # type: ignore[attr-defined]

    await execute(world, older)

    assert freeze.id in world.core.carrier.woken  # type: ignore[attr-defined]
    assert due_in(world, await world.request(freeze.id)) == 0


async def test_a_freeze_that_cannot_be_read_any_more_is_not_called_frozen_for_now(world: World) -> None:
    await an_unfreeze_on_its_way(world)
    freeze = await a_freeze(world)
    await execute(world, freeze)
    await REFUSING.set(world, READ, times=100)
    await REFUSING.set(world, FREEZE, times=100)

    await jump(world, freeze)

    assert "Frozen for now" not in await card_of(world, freeze)
    assert await alert_kinds(world) == {"not_done_yet"}
    await no_faults(world)
    assert "Frozen for now" in (await jump(world, freeze)).outcome_text


async def test_an_older_unfreeze_that_certainly_was_not_carried_out_holds_no_freeze_open(
    world: World,
) -> None:
    card = world.cards[0]["id"]
    await world.tell(f"cards/{card}", {"status": "FROZEN"})
    unfreeze = await world.ask("card_unfreeze", {"card": card})
    await world.approve(unfreeze)
    await status(429, "RATE_LIMITED").set(world, FREEZE, times=1)
    assert (await execute(world, unfreeze)).state is State.EXECUTING
    await world.advance(61)

    assert (await execute(world, await a_freeze(world))).state is State.SUCCEEDED


CAN_WAIT = {name: pair for name, pair in SETTINGS.items() if pair[2] != "card_freeze"}


@pytest.mark.parametrize("setting", CAN_WAIT)
async def test_what_can_wait_is_sent_only_when_nothing_older_on_its_setting_can_still_land(
    world: World, setting: str
) -> None:
    older_kind, older_texts, newer_kind, newer_texts = CAN_WAIT[setting]
    card = {} if older_kind == "fees_markup" else {"card": world.cards[0]["id"]}
    by = CAROL if older_kind == "fees_markup" else ALICE
    older = await on_its_way(world, older_kind, {**older_texts, **card}, by=by)
    left_at = (await world.attempts(older.id))[-1].sent_at
    newer = await world.ask(newer_kind, {**newer_texts, **card}, by=by)
    await world.approve(newer)

    waiting = await execute(world, newer)
    assert waiting.state is State.APPROVED
    assert older.id in waiting.outcome_text
    await jump_to_the_end(world, newer, within=timedelta(minutes=3))

    (first, *_) = await world.attempts(newer.id)
    assert first.sent_at >= left_at + QUIESCENCE


async def a_freeze_that_is_final(world: World) -> tuple[Request, Request]:
    """An older unfreeze whose call is still out there, and a newer freeze that is called done."""
    older = await an_unfreeze_on_its_way(world)
    freeze = await a_freeze(world)
    await execute(world, freeze)
    await world.advance(31)
    until = world.clock.now() + timedelta(minutes=5)
    while world.clock.now() < until:
        await world.run(10)
    assert (await world.request(freeze.id)).state is State.SUCCEEDED
    return older, freeze


async def test_a_freeze_that_happened_cannot_be_cancelled_while_it_is_not_final(world: World) -> None:
    """Its card reads FROZEN by it: a cancel would say that nothing was carried out."""
    await an_unfreeze_on_its_way(world)
    freeze = await a_freeze(world)
    await execute(world, freeze)
    assert await card_status(world) == "FROZEN"

    with pytest.raises(Stale):
        await requests.cancel(world.core, freeze.id, freeze.requester)
    current = await world.request(freeze.id)
    assert current.state is State.EXECUTING


async def test_a_pause_does_not_stop_the_looks_at_what_is_frozen_for_now(world: World) -> None:
    """The older unfreeze arrives in the pause: people are called within seconds; it is sent when sending goes on."""
    await an_unfreeze_on_its_way(world)
    freeze = await a_freeze(world)
    await execute(world, freeze)
    await pause(world)
    await completes(world)
    assert await card_status(world) == "ACTIVE"

    await world.run(10)

    (alert,) = [a for a in await open_alerts(world) if a.kind == "not_done_yet"]
    assert "paused" in alert.text
    current = await world.request(freeze.id)
    assert "reads ACTIVE" in current.outcome_text
    assert "Not frozen yet" in await card_of(world, current)
    await resume(world)
    await world.run(60)
    assert await card_status(world) == "FROZEN"


@pytest.mark.parametrize("seen_by", ["the sweep of all cards", "an event", "the look at the older one"])
async def test_an_older_unfreeze_that_arrives_after_its_freeze_is_final_calls_people_at_once(
    world: World, seen_by: str
) -> None:
    """Whoever sees it first. It is not frozen again by itself: a reading does not tell who unfroze it."""
    older, freeze = await a_freeze_that_is_final(world)
    poller = Poller(world.core, account_every=timedelta(minutes=1))
    await poller.cards()
    assert "card_status" not in await alert_kinds(world)
    await world.advance(600)
    await completes(world)

    if seen_by == "the sweep of all cards":
        await poller.cards()
    elif seen_by == "an event":
        async with world.store.begin() as tx:
            await inbox.on_event(tx, world.core, status_changed(world))
        await poller.moved()
    else:
        await jump(world, older)

    (alert,) = [a for a in await open_alerts(world) if a.kind == "card_status"]
    assert alert.severity == "critical"
    assert freeze.id in alert.text
    assert older.id in alert.text or seen_by == "the look at the older one"
    assert "Purchases go through" in alert.text
    again = await a_freeze(world)
    await execute(world, again)
    assert "card_status" not in await alert_kinds(world), "it ends with what it is about"


@pytest.mark.parametrize("days", [1, 3, 90])
@pytest.mark.parametrize("between", ["", "BLOCKED", "INACTIVE", "EXPIRED"])
async def test_a_card_that_others_unfreeze_is_reported_however_long_ago_it_was_frozen_here(
    world: World, days: int, between: str
) -> None:
    """The card provider's own unfreeze comes with no event."""
    poller = Poller(world.core, account_every=timedelta(minutes=1))
    await poller.cards()
    await world.advance(300)
    freeze = await execute(world, await a_freeze(world))
    await poller.cards()
    await world.advance(days * 86400)
    await poller.cards()
    assert "card_status" not in await alert_kinds(world)
    if between:
        await world.tell(f"cards/{freeze.subject}", {"status": between})
        await world.advance(600)
        await poller.cards()
        await world.tell(f"cards/{freeze.subject}", {"status": "ACTIVE"})
    else:
        await completes(world)

    await world.advance(600)
    await poller.cards()

    (alert,) = [a for a in await open_alerts(world) if a.kind == "card_status"]
    assert (alert.severity, freeze.id in alert.text) == ("critical", True)


async def test_a_card_that_people_here_unfroze_after_its_freeze_is_no_alarm(world: World) -> None:
    _, freeze = await a_freeze_that_is_final(world)
    unfreeze = await world.ask("card_unfreeze", {"card": freeze.subject})
    await world.approve(unfreeze)
    assert (await execute(world, unfreeze)).state is State.SUCCEEDED

    await Poller(world.core, account_every=timedelta(minutes=1)).cards()

    assert "card_status" not in await alert_kinds(world)


async def test_a_freeze_that_was_approved_after_a_newer_unfreeze_is_no_freeze_by_others(world: World) -> None:
    """The approvals decide which came last, whenever each was asked for."""
    card = world.cards[0]["id"]
    freeze = await world.ask("card_freeze", {"card": card})
    await world.tell(f"cards/{card}", {"status": "FROZEN"})
    await world.advance(1)
    unfreeze = await world.ask("card_unfreeze", {"card": card})
    await world.approve(unfreeze)
    assert (await execute(world, unfreeze)).state is State.SUCCEEDED
    poller = Poller(world.core, account_every=timedelta(minutes=1))
    await poller.cards()
    await world.advance(60)
    await world.approve(freeze)
    assert (await execute(world, freeze)).state is State.SUCCEEDED
    await world.advance(600)

    await poller.cards()

    assert "card_status" not in await alert_kinds(world)


def status_changed(world: World) -> ReceivedEvent:
    """As the card provider sends it for a freeze and for an unfreeze, whoever made it."""
    event = CardStatusChanged.model_validate(
        {
            "id": "evt_1",
            "type": "card.status_changed",
            "created_at": world.clock.now().isoformat(),
            "data": {"card_id": world.cards[0]["id"], "reason": "unfrozen"},
        }
    )
    return ReceivedEvent("main", event, "webhook", world.clock.now())


DAILY, WEEKLY = {"daily_limit": "120"}, {"weekly_limit": "700"}


async def limits_approved(world: World, **limits: str) -> Request:
    request = await world.ask("card_limits", {"card": world.cards[0]["id"], **limits})
    return (await world.approve(request))[0]


async def test_a_newer_request_for_one_limit_of_a_card_leaves_an_older_one_for_another_as_it_is(
    world: World,
) -> None:
    await pause(world)
    older = await limits_approved(world, **DAILY)
    await world.advance(1)
    newer = await limits_approved(world, **WEEKLY)
    await resume(world)

    assert (await execute(world, older)).state is State.SUCCEEDED
    assert (await execute(world, newer)).state is State.SUCCEEDED

    set_now = await world.core.partners["main"].limits(older.subject)
    assert (set_now.daily_limit, set_now.weekly_limit) == (Decimal(120), Decimal(700))


async def test_a_limit_does_not_wait_for_an_older_request_for_another_one(world: World) -> None:
    await on_its_way(world, "card_limits", {"card": world.cards[0]["id"], **DAILY})

    assert (await execute(world, await limits_approved(world, **WEEKLY))).state is State.SUCCEEDED


async def test_a_newer_request_for_one_limit_stops_an_older_one_that_would_set_it_otherwise_too(
    world: World,
) -> None:
    """What was approved is sent as a whole or not at all."""
    await pause(world)
    older = await limits_approved(world, **DAILY, weekly_limit="900")
    await world.advance(1)
    newer = await limits_approved(world, **WEEKLY)
    await resume(world)

    ended = await execute(world, older)

    assert ended.state is State.CANCELLED
    assert newer.id in ended.outcome_text


async def test_what_is_frozen_for_now_does_not_wait_for_a_reading_that_hangs(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    await an_unfreeze_on_its_way(world)
    freeze = await a_freeze(world)
    reads, hang = 0, asyncio.Event()
    read = CardCalls.card

    async def hangs(client: CardCalls, *given: Any, **named: Any) -> Any:
        nonlocal reads
        reads += 1
        if reads > 2:  # one for what may speak against it, and one proves that it is frozen
            await hang.wait()
        return await read(client, *given, **named)

    monkeypatch.setattr(CardCalls, "card", hangs)
    monkeypatch.setattr("bot.services.execution.api_call.READ_WITHIN_S", 0.2)
    monkeypatch.setattr("bot.operations._card_switch._PROVED_WITHIN_S", 0.2)

    async with asyncio.timeout(20):
        freeze = await execute(world, freeze)
        assert urgency.is_for_now(freeze)
        freeze = await jump(world, freeze)
        assert urgency.is_waiting(freeze), "nobody knows whether it is frozen, and people read so"
        await jump(world, freeze)

    assert len(await world.sent("POST /freeze")) == 2, "sent again, as nothing shows that it holds"
