"""One person who sends much delays nobody else: a budget of plain English, and one message of a person at a time."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from typing import Any

import pytest

from bot import intents
from bot.domain.errors import Stale, TooMuch
from bot.domain.requests import State
from bot.services import people
from bot.services.requests import approvals
from handlers import budget
from handlers.budget import Budget
from handlers.conversation import messages
from handlers.turns import EventTurns
from storage import audit
from storage.store import Store
from tests.conftest import MOST_DONE, MOST_LOOKS
from tests.handlers.slack_driver import ALICE, BOB, CAROL, OPS, SlackDriver
from tests.support.utterances import facts
from tests.support.waiting import eventually

DM_ALICE, DM_BOB = "D0ALICE", "D0BOB"
# What took the longest in the tests of security, 2,000 characters of each.
COSTLY = (
    "pending ",
    "§c§ 3205 50 ",
    "*",
    "\n",
    "2675? ",
    "1 ",
    "nora's ",
    "may's ",
    "in ",
    "and ",
    "ho-77 ",
    "' ",
)


@pytest.fixture(autouse=True)
def _a_minute_is_full(monkeypatch: pytest.MonkeyPatch) -> None:
    """As it is in the product: other tests do more than that while the clock stands."""
    monkeypatch.setattr(people, "MOST_LOOKS", MOST_LOOKS)
    monkeypatch.setattr(budget, "MOST_DONE", MOST_DONE)


def test_a_person_has_so_many_messages_a_minute_and_each_counts_for_one_minute() -> None:
    kept = Budget()
    assert [kept.take(ALICE, float(second)) for second in range(20)] == [True] * 20

    assert not kept.take(ALICE, 59.9)
    assert kept.take(BOB, 59.9)
    assert kept.take(ALICE, 60.1)
    assert not kept.take(ALICE, 60.2)


def test_that_it_was_too_many_is_said_once() -> None:
    kept = Budget()

    assert [kept.say_so(ALICE), kept.say_so(ALICE), kept.say_so(BOB)] == [True, False, True]


async def test_over_the_budget_plain_english_gets_one_sentence_and_commands_their_answer(
    driver: SlackDriver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(budget, "MOST", 2)
    for _ in range(5):
        await driver.message(ALICE, "what's our float now?", DM_ALICE)

    said = [m["text"] for m in await driver.messages(ALICE, DM_ALICE)]
    assert sum("more than 20 messages" in text for text in said) == 1

    await driver.message(ALICE, "card list", DM_ALICE)
    after = [m["text"] for m in await driver.messages(ALICE, DM_ALICE)]
    assert len(after) > len(said)


async def test_two_accounts_of_one_person_have_one_budget(
    driver: SlackDriver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(budget, "MOST", 1)
    monkeypatch.setattr(people, "known_person", lambda _core, _slack_id: "one person")
    await driver.message(ALICE, "what's our float now?", DM_ALICE)

    await driver.message(BOB, "what's our float now?", DM_BOB)

    said = [m["text"] for m in await driver.messages(BOB, DM_BOB)]
    assert sum("more than 20 messages" in text for text in said) == 1


async def test_what_is_too_much_costs_no_call_of_slack_and_no_look_into_the_database(
    driver: SlackDriver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(budget, "MOST", 1)
    for text in (
        "what's our float now?",
        "what's our float today?",
    ):  # the second is refused, and that is said
        await driver.message(ALICE, text, DM_ALICE)
    calls = len(driver.slack.workspace.calls)

    looks = list[str]()

    def looked(*_: Any) -> bool:
        looks.append("looked")
        return False

    monkeypatch.setattr(Store, "read", looked)
    monkeypatch.setattr(messages, "holds_card_number", looked)
    await driver.act("message", {"user": ALICE, "channel": DM_ALICE, "text": "1 " * 900}, settle=False)
    await eventually("the ack", lambda: not driver.slack.workspace.delivery._waiting)
    assert await driver.after.drain(10) == 0

    assert looks == []
    assert [call["method"] for call in list(driver.slack.workspace.calls)[calls:]] == []


async def test_a_sentence_asks_slack_once_who_wrote_it(driver: SlackDriver) -> None:
    """Slack answers about 100 such questions a minute for the whole installation."""
    before = len(driver.slack.workspace.calls)
    await driver.message(ALICE, "top up Marta by 60", DM_ALICE)

    assert "Nothing has been requested yet" in str((await driver.messages(ALICE, DM_ALICE))[-1])
    calls = [call["method"] for call in list(driver.slack.workspace.calls)[before:]]
    assert calls.count("users.info") == 1


@pytest.mark.parametrize("as_command", [False, True])
async def test_of_a_hundred_messages_at_once_few_are_dispatched_before_another_persons(
    as_command: bool,
) -> None:
    turns, order = EventTurns(), list[str]()

    def event(person: str) -> Any:
        async def dispatched() -> None:
            await asyncio.sleep(0)
            order.append(person)

        body = {"command": "/card", "user_id": person} if as_command else {"event": {"user": person}}
        return turns.one_of_each_person(body, dispatched)

    await asyncio.gather(*(event(ALICE) for _ in range(100)), event(BOB), event(""))

    assert max(order.index(BOB), order.index("")) <= 2
    assert turns._lines == {}


async def test_what_one_person_sends_at_once_is_dispatched_one_after_the_other(
    driver: SlackDriver, monkeypatch: pytest.MonkeyPatch
) -> None:
    inside, most = 0, 0
    plain = EventTurns.one_of_each_person

    async def watched(self: EventTurns, body: Any, next_: Any) -> None:
        async def counted() -> None:
            nonlocal inside, most
            inside += 1
            most = max(most, inside)
            await next_()
            inside -= 1

        await plain(self, body, counted)

    monkeypatch.setattr(EventTurns, "one_of_each_person", watched)
    driver._build()  # the listeners again, with what is watched

    hello = {"user": ALICE, "channel": DM_ALICE, "text": "card list"}
    await asyncio.gather(*(driver.act("message", hello, settle=False) for _ in range(20)))
    await driver.settle()

    assert most == 1


async def test_what_one_person_sends_at_once_is_read_one_after_the_other() -> None:
    kept, inside, most = Budget(), 0, 0

    class Now:
        def monotonic(self) -> float:
            return 0.0

    async def read() -> None:
        nonlocal inside, most
        async with kept.turn_of(ALICE, Now()):  # type: ignore[arg-type]  # only this of a clock is used
            inside += 1
            most = max(most, inside)
            await asyncio.sleep(0)
            inside -= 1

    await asyncio.gather(*(read() for _ in range(30)))

    assert most == 1
    assert kept._people == {}


async def test_the_answers_to_one_person_are_found_one_after_the_other(
    driver: SlackDriver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each is found after its ack, so that the order of the acks alone would not see to it."""
    inside, most = 0, 0

    async def counted(*_: Any) -> None:
        nonlocal inside, most
        inside += 1
        most = max(most, inside)
        for _round in range(5):
            await asyncio.sleep(0)
        inside -= 1

    monkeypatch.setattr("handlers.conversation.dialog.talk_about", counted)
    asked = {"user": ALICE, "channel": DM_ALICE, "text": "what's our float now?"}
    await asyncio.gather(*(driver.act("message", asked, settle=False) for _ in range(10)))
    await driver.settle()

    assert most == 1


@pytest.mark.by_turns(2)
@pytest.mark.parametrize(
    ("kind", "what"),
    [
        ("command", {"channel": OPS, "text": "/card list"}),
        ("command", {"channel": OPS, "text": "/card topup 3205 50"}),
        ("command", {"channel": OPS, "text": "/card topup bulk"}),
        ("message", {"channel": DM_ALICE, "text": "card list"}),
        ("home", {"tab": "home"}),
    ],
    ids=["look-up", "form", "list", "message", "home"],
)
async def test_however_much_one_person_does_at_once_the_others_have_slack_to_themselves(
    driver: SlackDriver, kind: str, what: dict[str, str]
) -> None:
    """Slack answers about 100 questions about people a minute, and the stand-in no more."""
    before = len(driver.slack.workspace.calls)
    await asyncio.gather(
        *(driver.act(kind, {"user": ALICE, **what}, settle=False) for _ in range(150)),
    )
    await eventually("the acks", lambda: not driver.slack.workspace.delivery._waiting)
    assert await driver.after.drain(20) == 0

    calls = [call["method"] for call in list(driver.slack.workspace.calls)[before:]]
    assert calls.count("users.info") <= people.MOST_LOOKS
    await driver.command(BOB, "/float")
    assert "Available" in str(await driver.shown_to(BOB))
    await driver.command(CAROL, "/card freeze")
    assert "Freeze" in str((await driver.modal(CAROL))["title"])


async def test_who_decides_without_end_is_refused_in_a_sentence_and_the_next_minute_is_theirs(
    driver: SlackDriver,
) -> None:
    world = driver.world
    request = await world.top_up("50", approved=False)
    for _ in range(people.MOST_LOOKS):
        with pytest.raises(Stale):
            await approvals.approve(world.core, request.id, BOB, shown_digest="another")

    with pytest.raises(TooMuch, match="other people are not held up"):
        await world.approve(request, by=BOB)
    await world.advance(60)
    await world.approve(request, by=BOB)


async def test_who_decides_on_what_somebody_requested_who_did_too_much_reads_nothing_of_it(
    driver: SlackDriver,
) -> None:
    request = await driver.ask_top_up()
    with suppress(TooMuch):
        while True:
            await people.member(driver.core, ALICE)
    await driver.world.advance(people.ANSWERED_WITHIN_S + 1)
    await driver.command(ALICE, "/float")
    assert "more within a minute" in str(await driver.shown_to(ALICE))

    await driver.press(BOB, await driver.card(request.id), "request:approve")
    await driver.submit(BOB)

    assert (await driver.world.request(request.id)).state is State.APPROVED
    async with driver.world.store.read() as tx:
        refused = [(e.actor, e.action) async for e in audit.entries(tx) if e.outcome != "ok"]
    assert {actor for actor, _ in refused} <= {ALICE}


@pytest.mark.timed
def test_no_text_of_2000_characters_holds_the_loop_for_long() -> None:
    """Six in ten of the limit of 100 ms; `python -m benchmarks` has the figures."""
    known: Any = facts()
    for piece in COSTLY:
        text = (piece * 2000)[:2000]
        intents.parse(text, known)
        begun = time.thread_time()
        intents.parse(text, known)
        assert time.thread_time() - begun < 0.060, piece
