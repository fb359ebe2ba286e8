"""Learning from use: off by default; a text that nobody understood is kept without its values, for 30 days."""

from datetime import timedelta

import pytest

from bot import jobs
from bot.services import conversation
from bot.services.conversation import Place, ReceivedMessage, unread
from storage.messages import unread_texts
from tests.handlers.slack_driver import ALICE, SlackDriver
from tests.handlers.talk import Talk


async def say(driver: SlackDriver, text: str, *, keep: bool) -> None:
    actor = await driver.core.directory.actor(ALICE)
    said = ReceivedMessage(Place("T0SANDBOX", "D0ALICE", "1.0", ALICE), actor, text)
    await conversation.respond(driver.core, said, conversation.Reader(keep_unread=keep))


async def kept(driver: SlackDriver) -> list[str]:
    async with driver.world.store.read() as tx:
        return [one.text for one in await unread_texts.kept(tx)]


async def test_nothing_is_kept_unless_the_settings_say_so(driver: SlackDriver) -> None:
    await Talk(driver).say("wiggle 3205 with 40 usd, would Marta Kowalska mind")
    await say(driver, "wiggle 3205", keep=False)

    assert await kept(driver) == []


async def test_a_text_nobody_understood_is_kept_without_its_values(driver: SlackDriver) -> None:
    last4 = driver.world.cards[0]["last4"]

    await say(driver, f"wiggle {last4} by 40 usd for Bob and Ada", keep=True)

    assert await kept(driver) == ["wiggle <card> by <amount> for <name> and <name>"]


@pytest.mark.parametrize(
    "text", ["what's the float?", "hi", "thanks", "freeze 3205", "4111 1111 1111 1111 wiggle"]
)
async def test_what_was_understood_or_holds_a_card_number_is_not_kept(driver: SlackDriver, text: str) -> None:
    await say(driver, text, keep=True)

    assert await kept(driver) == []


async def test_a_job_deletes_what_is_older_than_30_days(driver: SlackDriver) -> None:
    await say(driver, "wiggle it", keep=True)
    driver.world.clock.advance(timedelta(days=31) / timedelta(seconds=1))

    await unread.prune(driver.core)

    assert "unread" in jobs.table.__code__.co_consts
    async with driver.world.store.begin() as tx:
        assert await unread_texts.drop_old(tx) == 0
