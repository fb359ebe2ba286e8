"""Each stored event is handled once, whole; one that cannot be handled is kept, tried again and reported."""

import asyncio
from collections import Counter
from datetime import timedelta

import pytest

from bot.domain.events import Retention
from bot.services.core import Core
from bot.services.events import inbox, retention
from bot.services.received_event import ReceivedEvent
from storage.messages import alerts
from storage.transaction import Tx
from tests.events.receiving import Bot, authorized
from tests.support.waiting import eventually


class Rules:
    """Stands in for the rules: counts what they are given, fails for the events it is asked to."""

    def __init__(self) -> None:
        self.shown: Counter[str] = Counter()
        self.failing: set[str] = set()
        self.after_commit: list[str] = []

    async def on_event(self, tx: Tx, core: Core, received: ReceivedEvent) -> None:
        self.shown[received.event.id] += 1
        event_id = received.event.id
        tx.after_commit(lambda: self.after_commit.append(event_id))
        await alerts.raise_(tx, dedupe=event_id, kind="test", subject="", severity="info", title="", text="")
        if event_id in self.failing:
            raise RuntimeError("a rule that has a fault")


@pytest.fixture
def rules(monkeypatch: pytest.MonkeyPatch) -> Rules:
    made = Rules()
    monkeypatch.setattr(inbox, "on_event", made.on_event)
    return made


async def deliver(bot: Bot, *event_ids: str) -> None:
    for event_id in event_ids:
        event = bot.event("card.authorized", authorized(f"tx-{event_id}"), event_id=event_id)
        assert await bot.deliver(event) == 200


async def raised(bot: Bot) -> set[str]:
    return {alert.dedupe for alert in await bot.open_alerts()}


async def test_an_event_that_fails_holds_up_no_other_and_leaves_nothing_half_done(
    bot: Bot, rules: Rules
) -> None:
    rules.failing = {"b"}
    await deliver(bot, "a", "b", "c")

    await bot.handle()

    assert await bot.unhandled() == ["b"]
    assert await bot.purchase("tx-a") is not None
    assert await bot.purchase("tx-b") is None, "undone with the rest of it"
    assert await raised(bot) == {"a", "c"}
    assert rules.after_commit == ["a", "c"]


async def test_a_failed_event_is_tried_ever_more_rarely_then_reported_and_never_dropped(
    bot: Bot, rules: Rules
) -> None:
    rules.failing = {"b"}
    await deliver(bot, "b")
    waits = []
    for _ in range(6):
        await bot.handle()
        tries = rules.shown["b"]
        waited = 0
        while rules.shown["b"] == tries:
            bot.world.clock.advance(5)
            waited += 5
            await bot.handle()
        waits.append(waited)

    assert waits == [5, 30, 120, 600, 3600, 3600]
    (alert,) = await bot.open_alerts()
    assert (alert.kind, alert.subject) == ("event_stuck", "b")
    assert "No money moves by it" in alert.text

    rules.failing = set()
    bot.world.clock.advance(3600)
    await bot.handle()

    assert await bot.unhandled() == []
    assert await raised(bot) == {"b"}, "its own alert; the one about it is resolved"


async def test_a_rule_sees_each_event_once_whichever_way_it_came(bot: Bot, rules: Rules) -> None:
    await deliver(bot, *(f"e{n}" for n in range(25)))
    await asyncio.gather(*(inbox.process_next(bot.world.core) for _ in range(5)))
    await deliver(bot, *(f"e{n}" for n in range(25)))
    await bot.handle()

    assert set(rules.shown.values()) == {1}
    assert len(rules.shown) == 25


async def test_what_is_read_of_an_event_says_when_it_happened_and_that_it_is_late(
    bot: Bot, monkeypatch: pytest.MonkeyPatch
) -> None:
    received: list[ReceivedEvent] = []

    async def on_event(tx: Tx, core: Core, one: ReceivedEvent) -> None:
        received.append(one)

    monkeypatch.setattr(inbox, "on_event", on_event)
    await bot.deliver(bot.event("card.unloaded", {}, event_id="fresh", minutes_ago=15))
    await bot.deliver(bot.event("card.unloaded", {}, event_id="late", minutes_ago=16))
    await bot.handle()

    assert {one.event.id: one.is_late for one in received} == {"fresh": False, "late": True}


async def test_the_loop_handles_what_comes_at_once_and_what_is_left_from_before(
    bot: Bot, rules: Rules
) -> None:
    await deliver(bot, "before")
    running = asyncio.create_task(inbox.run(bot.world.core))
    try:
        await eventually("what was left is handled", lambda: rules.shown)
        await deliver(bot, "now")
        began = asyncio.get_running_loop().time()
        await eventually("what comes is handled", lambda: rules.shown["now"], every_s=0.005)
        assert asyncio.get_running_loop().time() - began < inbox.IDLE_S / 2, "woken by the bell"
    finally:
        running.cancel()
        await asyncio.wait({running})


async def test_what_an_event_said_is_forgotten_in_time_and_it_is_not_handled_again(
    bot: Bot, rules: Rules
) -> None:
    event = bot.event("card.authorized", authorized(merchant="RARE MERCHANT"), event_id="e1")
    rules.failing = {"stuck"}
    await bot.deliver(event)
    await deliver(bot, "stuck")
    await bot.handle()
    keeps = Retention(events=timedelta(days=7))
    bot.world.clock.advance(7 * 86_400 + 1)
    await retention.prune(bot.world.core, keeps)

    assert await bot.rows("SELECT event_id FROM inbox WHERE sealed_payload IS NOT NULL") == "('stuck',)"
    await bot.deliver(event)
    await bot.handle()
    assert rules.shown["e1"] == 1
    found = await bot.purchase("tx-1")
    assert found is not None, "what it meant is kept"
    assert found.merchant == "RARE MERCHANT"


async def test_an_event_not_of_the_documented_form_is_kept_and_shown_as_it_is(bot: Bot) -> None:
    await bot.deliver(bot.event("card.authorized", {"transaction_id": 7}, event_id="odd"))

    await bot.handle()

    assert await bot.unhandled() == []
    assert (await bot.payload("odd"))["data"] == {"transaction_id": 7}
