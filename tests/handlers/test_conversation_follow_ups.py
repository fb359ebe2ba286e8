"""Follow-ups: what is said in a thread, or below it in the main box, changes what was said before."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.handlers.slack_driver import ALICE, BOB, OPS, SlackDriver, card_option
from tests.handlers.talk import Talk

pytestmark = pytest.mark.by_turns(4)

Json = dict[str, Any]


@pytest.fixture
async def talk(driver: SlackDriver) -> AsyncIterator[Talk]:
    """The cards are MARTA KOWALSKA 3205, JONAS ÄHLSTRÖM 7578, PRIYA NAIR 5589, DANIEL OKAFOR 6994 …"""
    yield Talk(driver)
    assert not (await driver.state())["missed_acks"]


class MainBox:
    """Alice types everything below the threads, in the main box of her direct message."""

    def __init__(self, driver: SlackDriver, user: str = ALICE, channel: str = "D0ALICE") -> None:
        self.driver, self.user, self.channel, self.talk = driver, user, channel, Talk(driver, user, channel)

    async def say(self, text: str) -> str:
        self.talk = Talk(self.driver, self.user, self.channel)
        return await self.talk.say(text)


@pytest.fixture(params=["thread", "main box"])
async def said(request: pytest.FixtureRequest, driver: SlackDriver) -> AsyncIterator[Any]:
    """What is said, in one thread or each time outside any."""
    place = Talk(driver) if request.param == "thread" else MainBox(driver)
    yield place
    assert not (await driver.state())["missed_acks"]


def buttons_of(place: Any) -> Talk:
    found: Talk = place if isinstance(place, Talk) else place.talk
    return found


async def test_another_card_is_looked_up_in_the_same_way(said: Any) -> None:
    assert "MARTA KOWALSKA" in await said.say("balance of Marta's card")

    assert "JONAS" in await said.say("and Jonas's?")
    assert "PRIYA" in (shown := await said.say("what about 5589"))
    assert "Balance" in shown


async def test_another_period_is_looked_up_in_the_same_way(said: Any) -> None:
    this = await said.say("what did we spend this month?")

    last = await said.say("last month")
    assert "Spent" in last
    assert this != last
    assert "Spent" in await said.say("and yesterday?")


async def test_a_period_keeps_the_card_it_was_asked_of(said: Any) -> None:
    await said.say("purchases on 3205 this week")

    assert "MARTA KOWALSKA" in (shown := await said.say("and last week?"))
    assert "purchase" in shown


async def test_make_it_another_amount_offers_the_form_again_with_it(said: Any, driver: SlackDriver) -> None:
    await said.say("top up Marta Kowalska by 60")

    await said.say("no, make it 80")
    assert await driver.requests() == []
    await buttons_of(said).press("Review and submit")

    form = await buttons_of(said).form()
    card = next(c for c in driver.world.cards if c["last4"] == "3205")
    assert (form["card"], form["amount_usd"]) == (card_option(card), "80")


async def test_an_amount_in_doubt_is_asked_about_and_never_taken(said: Any) -> None:
    await said.say("top up Marta Kowalska by 60")

    shown = await said.say("make it 2,75")

    assert "2.75 or 275" in shown
    assert "Review and submit" not in await buttons_of(said).buttons()


async def test_the_same_for_another_card_is_a_form_of_its_own(said: Any) -> None:
    await said.say("top up Marta Kowalska by 60")

    await said.say("same for Jonas")
    await buttons_of(said).press("Review and submit")

    form = await buttons_of(said).form()
    assert "7578" in form["card"]
    assert form["amount_usd"] == "60"


async def test_a_question_about_another_card_after_a_request_offers_no_form(said: Any) -> None:
    await said.say("top up Marta Kowalska by 60")

    await said.say("and Jonas?")

    assert "Review and submit" not in await buttons_of(said).buttons()


async def test_the_other_one_is_the_card_talked_about_before(said: Any) -> None:
    await said.say("balance of 3205")
    await said.say("balance of 7578")

    assert "MARTA KOWALSKA" in await said.say("and the other one?")
    assert "JONAS" in await said.say("the other one")


async def test_another_question_about_the_same_card_needs_no_name(said: Any) -> None:
    await said.say("purchases on 3205 this week")

    shown = await said.say("and the balance?")

    assert "MARTA KOWALSKA ••3205" in shown
    assert "Balance" in shown


async def test_purchases_are_narrowed_down_afterwards(said: Any) -> None:
    await said.say("purchases on 3205 this week")

    assert "above 100.00 USD" in await said.say("only above 100")
    shown = await said.say("at Shell")
    assert "MARTA KOWALSKA" in shown
    assert "at “Shell”, above 100.00 USD" in shown


async def test_it_means_the_card_talked_about_before(said: Any) -> None:
    await said.say("balance of 3205")

    assert "MARTA KOWALSKA" in await said.say("freeze it")


@pytest.mark.parametrize("text", ["and Jonas's?", "last month", "make it 80", "the other one"])
async def test_after_half_an_hour_nothing_is_followed_up(said: Any, driver: SlackDriver, text: str) -> None:
    await said.say("balance of 7578")
    await said.say("purchases on 3205 this week")
    await said.say("top up Marta Kowalska by 60")
    before = len(await driver.requests())
    driver.world.clock.advance(1801)

    shown = await said.say(text)

    assert "JONAS" not in shown
    assert "Spent" not in shown
    assert "Review and submit" not in await buttons_of(said).buttons()
    assert len(await driver.requests()) == before


async def test_nobody_follows_up_what_somebody_else_said(driver: SlackDriver) -> None:
    await driver.message(ALICE, "@Countersign balance of 3205", OPS)
    bob = MainBox(driver, BOB, "D0BOB")

    assert "MARTA" not in await bob.say("put 40 on it")
    assert "Did you mean" not in await bob.say("last month")


async def test_a_channel_outside_a_thread_follows_nothing_up(driver: SlackDriver) -> None:
    first, second = Talk(driver, ALICE, OPS), Talk(driver, ALICE, OPS)
    await first.say("top up Marta Kowalska by 60")

    shown = await second.say("make it 80")

    assert "MARTA" not in shown


async def test_a_follow_up_of_nothing_is_no_request(talk: Talk) -> None:
    for text in ("make it 80", "same for Jonas", "the other one"):
        await talk.say(text)

        assert "Review and submit" not in await talk.buttons()


async def test_a_follow_up_waits_while_something_is_asked(talk: Talk) -> None:
    await talk.say("balance of 7578")
    await talk.say("top up 3205")

    await talk.say("make it 80")
    await talk.press("Review and submit")

    assert "3205" in (form := await talk.form())["card"]
    assert form["amount_usd"] == "80"


async def test_a_dialog_keeps_no_text_of_what_was_looked_up(driver: SlackDriver, talk: Talk) -> None:
    from sqlalchemy import text

    await talk.say("purchases at Shell on 3205 this week")

    async with driver.world.store.read() as tx:
        row = str((await tx.run(text("SELECT * FROM dialog"))).one())
    assert "Shell" not in row
    assert "purchases" not in row
