"""LIVE or SANDBOX, with a program of each: what belongs to one program says its word, what belongs to all says LIVE."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from bot.domain.people import Delegation
from bot.partner.secret import Secret
from bot.services.messages import digest
from bot.services.operators import delegations
from storage.operators import programs
from tests.alerts.conftest import ALERTS, Desk
from tests.alerts.test_poller_alerts import balance_at
from tests.handlers.slack_driver import BOB, CAROL

# Which of the two is live, and what a message of `main` begins with: everything here happens at its card provider.
TWO = [({"main": False, "other": True}, "SANDBOX"), ({"main": True, "other": False}, "LIVE")]


@pytest.fixture(params=TWO, ids=lambda two: two[1])
def word(request: pytest.FixtureRequest, desk: Desk) -> str:
    """There are two programs from now on."""
    live, word = request.param
    desk.driver.world.rebuild(live=live)
    return str(word)


async def first_words(desk: Desk) -> set[str]:
    """What each message of the alerts channel begins with, those in threads too."""
    return {m["text"].split(" · ")[0] for m in await desk.driver.messages(BOB, ALERTS) if not m["ephemeral"]}


async def test_an_alert_of_one_program_and_its_thread_say_the_word_of_that_program(
    desk: Desk, word: str
) -> None:
    await balance_at(desk, "900")
    await desk.poll("account")
    assert ("SANDBOX" in await desk.only()) == (word == "SANDBOX")
    for balance in ("1200", "1200"):
        await balance_at(desk, balance)
        await desk.poll("account")

    assert "Resolved" in str(await desk.thread())
    assert await first_words(desk) == {word}


async def test_a_one_time_code_and_its_alert_say_the_word_of_the_cards_program(
    desk: Desk, word: str, challenged: str
) -> None:
    await desk.tell(f"cards/{challenged}/3ds", {"amount_usd": "30", "merchant": "WEB SHOP"})
    await desk.handled()

    direct = [
        c for c in (await desk.driver.see(CAROL))["channels"] if "WEB SHOP" in str(c) and c["id"][0] == "D"
    ]
    (message,) = [m for channel in direct for m in channel["messages"]]
    assert message["text"].startswith(f"{word} · A code for")
    assert await first_words(desk) == {word}


async def test_an_unresolved_request_says_the_word_of_its_program(desk: Desk, word: str) -> None:
    await desk.driver.world.fault("processor", processor="5xx")
    await desk.driver.world.top_up("25")
    await desk.driver.world.run(60)
    await desk.posted()

    assert await first_words(desk) == {word}


@pytest.mark.usefixtures("word")
async def test_drafts_of_another_program_are_not_said_of_this_one(desk: Desk) -> None:
    async with desk.driver.world.store.begin() as tx:
        await programs.put(tx, "other", base_url="https://other.example.com", key=Secret("svc_live_1"))
        await programs.begin_drafts(tx, "other")
    await balance_at(desk, "900")
    await desk.poll("account")

    assert not {words for words in await first_words(desk) if "DRAFT" in words}


@pytest.mark.usefixtures("word")
async def test_a_message_that_belongs_to_all_says_live_where_one_of_them_is(desk: Desk) -> None:
    now = desk.driver.world.clock.now()
    away = Delegation("@bob", "@alice", now, now + timedelta(hours=1), "on leave")
    core = desk.driver.world.rebuild(policy=replace(desk.driver.core.policy, delegations=(away,)))
    await digest.post(core)
    await delegations.announce(core)
    await desk.driver.world.advance(24 * 3600)
    await digest.post(core)
    await desk.posted()

    shown = " ".join(m["text"] for m in await desk.driver.messages(BOB, ALERTS))
    assert "Daily summary" in shown
    assert "A delegation began" in shown
    assert await first_words(desk) == {"LIVE"}
