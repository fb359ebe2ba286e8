"""What may have been meant, as buttons: each is answered, undo and pause too, and nothing said before is lost."""

from typing import Any

import pytest

from bot.domain.requests import State
from bot.services import conversation
from bot.services.conversation import Place, ReceivedMessage, suggested
from handlers.commands import intent_commands
from storage.messages import unread_texts
from storage.operators import pauses
from tests.handlers.slack_driver import ALICE, BOB, SlackDriver
from tests.handlers.talk import Talk

_UNDO = "that last one from me was a slip, retract pls"
_PAUSE = "we need the brakes on all outgoing stuff"


def test_every_proposed_look_up_has_the_command_that_answers_it() -> None:
    without = {"help", "undo", "pause_sending"}  # answered by themselves

    assert suggested.LOOKS.keys() - without <= intent_commands.COMMANDS.keys()
    assert intent_commands.COMMANDS.keys() <= suggested.LOOKS.keys()


async def test_a_likely_undo_is_offered_and_its_press_asks_before_anything_is_cancelled(
    driver: SlackDriver,
) -> None:
    request = await driver.ask_top_up()
    talk = Talk(driver)
    await talk.say(_UNDO)
    assert "Undo my last request" in await talk.buttons()

    await talk.press("Undo my last request")

    shown = str(talk.last(await talk.messages()))
    assert request.id in shown
    assert (await driver.world.request(request.id)).state is State.PENDING


async def test_a_likely_pause_is_offered_to_who_may_pause_and_pauses_nothing_by_itself(
    driver: SlackDriver,
) -> None:
    bob = Talk(driver, BOB, "D0BOB")
    await bob.say(_PAUSE)
    (offered,) = [label for label in await bob.buttons() if label.startswith("Pause")]

    await bob.press(offered)

    async with driver.world.store.read() as tx:
        assert await pauses.all(tx) == []


async def test_pausing_is_not_offered_to_who_may_not_pause(driver: SlackDriver) -> None:
    alice = Talk(driver)

    await alice.say(_PAUSE)

    assert not any(label.startswith("Pause") for label in await alice.buttons())


async def test_a_look_up_can_be_followed_up_after_something_else_was_offered(driver: SlackDriver) -> None:
    talk = Talk(driver)
    await talk.say("balance of 7578")
    await talk.say(_UNDO)
    assert "Something else" in await talk.buttons()

    assert "MARTA" in await talk.say("and 3205?")


@pytest.mark.parametrize("text", ["that wiggle from me was a slip, retract pls"])
async def test_a_text_that_was_only_guessed_at_is_kept_where_the_settings_say_so(
    driver: SlackDriver, text: str
) -> None:
    actor = await driver.core.directory.actor(ALICE)
    said = ReceivedMessage(Place("T0SANDBOX", "D0ALICE", "1.0", ALICE), actor, text)

    steps, _ = await conversation.respond(driver.core, said, conversation.Reader(keep_unread=True))

    assert [type(step).__name__ for step in steps] == ["Proposals"]
    async with driver.world.store.read() as tx:
        kept: Any = await unread_texts.kept(tx)
    assert [one.text for one in kept] == [text]
