"""One person who sends much delays nobody else: a budget of plain English, and one message of a person at a time."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest

from bot import intents
from handlers import budget
from handlers.budget import Budget
from tests.handlers.slack_driver import ALICE, BOB, SlackDriver
from tests.support.utterances import facts

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
