"""One wrong answer of Slack, that it does not know somebody, ends and refuses nothing and is on nobody's record: who
clicks is asked to try again in ten seconds. Where Slack goes on saying so, it is as with anybody who is gone."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.domain.errors import CountersignError
from bot.domain.requests import State
from bot.services import people
from bot.services.passkeys import page
from bot.services.passkeys.page import PageRefused
from storage import audit
from tests.services.looking_doors import BY_OTHERS, BY_WHOM, DOORS, Act, policy
from tests.support.passkeys import everybody_has_one
from tests.support.world import ALICE, BOB, World, a_world

pytestmark = [pytest.mark.walk, pytest.mark.by_turns(2)]

SOON = "ten seconds"
#: Of whom Slack did not know for sure is said in these words, and in no other.
ACCUSING = (
    "does not know this account",
    "no longer a full member",
    "may not do so any more",
    "counts no more",
)


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with a_world(tmp_path, policy=policy()) as made:
        yield made


async def said(act: Act) -> str:
    """What is answered instead; "" where it was done."""
    try:
        await act()
    except CountersignError as error:
        return f"{error} ({error.reason})"
    return ""


async def refusals(world: World) -> list[tuple[str, str, str]]:
    async with world.store.read() as tx:
        return [(e.action, e.actor, e.reason_code) async for e in audit.entries(tx) if e.outcome != "ok"]


@pytest.mark.parametrize("for_s", [0, 9])
@pytest.mark.parametrize(("door", "who"), BY_WHOM + BY_OTHERS)
async def test_what_slack_says_wrongly_for_some_seconds_ends_nothing_and_accuses_nobody(
    world: World, door: str, who: str, for_s: float
) -> None:
    act = await DOORS[door].begin(world)
    await world.advance(6)
    before = await refusals(world)

    world.people.codes[who] = "user_not_found"
    answers = [await said(act)]
    if for_s and answers[0]:
        await world.advance(for_s)
        answers.append(await said(act))
    world.people.codes.clear()

    for answer in filter(None, answers):
        assert SOON in answer, answer
        assert not any(words in answer for words in ACCUSING), answer
    if who == DOORS[door].acting:
        assert answers[0], "it was done without a look at who does it"
    if answers[-1]:
        assert await said(act) == ""
    assert await refusals(world) == before


@pytest.mark.parametrize(("door", "who"), BY_WHOM + BY_OTHERS)
async def test_what_slack_goes_on_saying_is_an_answer(world: World, door: str, who: str) -> None:
    act = await DOORS[door].begin(world)
    await world.advance(6)
    world.people.codes[who] = "user_not_found"
    if await said(act) == "":
        return
    await world.advance(people.GONE_AFTER_S)

    again = await said(act)

    assert SOON not in again
    if who == DOORS[door].acting:
        assert "unknown_account" in again


@pytest.mark.parametrize("who", [ALICE, BOB])
async def test_a_page_that_it_used_up_says_what_to_press_and_another_one_works(
    world: World, who: str
) -> None:
    """What a device signed is good for one try, whatever comes of it."""
    devices = await everybody_has_one(world)
    request = await world.top_up("50", approved=False)
    opened = await devices.open(await devices.link(request, BOB))
    await world.advance(6)
    before = await refusals(world)

    world.people.codes[who] = "user_not_found"
    with pytest.raises(PageRefused, match="Try again in ten seconds\\. This page is used up") as refused:
        await page.finish(world.core, opened.token, devices[BOB].answer(opened.options))
    world.people.codes.clear()

    assert refused.value.status == 503
    assert await refusals(world) == before
    await devices.approve(request)
    assert (await world.request(request.id)).state is State.APPROVED
