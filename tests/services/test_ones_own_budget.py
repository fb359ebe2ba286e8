"""Who did so much that Slack is not asked about them any more holds up themselves alone: not what others do, nor what
is sent, and it is said in a sentence."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

import aiohttp
import pytest

from bot import details, passkey_page
from bot.domain.card_details import Manner
from bot.domain.errors import CountersignError, TooMuch
from bot.domain.requests import State
from bot.partner.secret import Secret
from bot.services import people, requests
from bot.services.execution import Shown, card_details_access
from bot.services.overview import home
from bot.services.passkeys import page
from bot.services.passkeys.page_content import Page
from bot.services.requests import drafts
from bot.web import build, serve
from tests.conftest import MOST_LOOKS
from tests.services.looking_doors import BY_OTHERS, BY_WHOM, DOORS, policy
from tests.services.test_reveal import approved, link
from tests.support.passkeys import everybody_has_one, token_of
from tests.support.world import ALICE, BOB, CAROL, World, a_world

pytestmark = pytest.mark.by_turns(2)

SENTENCE = "You did more within a minute"


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with a_world(tmp_path, policy=policy()) as made:
        yield made


async def use_up(world: World, monkeypatch: pytest.MonkeyPatch, who: str) -> None:
    """They do what Slack is asked for until it is too much."""
    monkeypatch.setattr(people, "MOST_LOOKS", MOST_LOOKS)
    with suppress(TooMuch):
        for _ in range(MOST_LOOKS + 1):
            await people.member(world.core, who)
        raise AssertionError("it was never too much")


async def ask_for_the_float(world: World, who: str) -> None:
    with pytest.raises(TooMuch):
        await people.require_reader(world.core, who)


@pytest.mark.parametrize(("door", "who"), BY_OTHERS)
async def test_what_others_do_goes_on(
    world: World, monkeypatch: pytest.MonkeyPatch, door: str, who: str
) -> None:
    act = await DOORS[door].begin(world)
    await use_up(world, monkeypatch, who)
    await world.advance(people.ANSWERED_WITHIN_S + 1)
    await ask_for_the_float(world, who)

    await act()


#: Goes by the look that used it up.
SHOWN_BY_AN_OLDER_LOOK = "the click to approve"


#: These only make things safer.
SAFER = {"a rejection", "a pause"}


@pytest.mark.parametrize(
    ("door", "who"), [one for one in BY_WHOM if one[0] not in {SHOWN_BY_AN_OLDER_LOOK, *SAFER}]
)
async def test_what_they_do_themselves_is_refused_in_a_sentence_and_works_a_minute_later(
    world: World, monkeypatch: pytest.MonkeyPatch, door: str, who: str
) -> None:
    act = await DOORS[door].begin(world)
    await use_up(world, monkeypatch, who)
    await world.advance(people.ANSWERED_WITHIN_S + 1)

    with pytest.raises(CountersignError, match=SENTENCE) as refused:
        await act()
    assert refused.value.reason == "too_much"
    await world.advance(60)
    await act()


@pytest.mark.parametrize(("door", "who"), [one for one in BY_WHOM if one[0] in SAFER])
async def test_what_makes_things_safer_is_done_all_the_same(
    world: World, monkeypatch: pytest.MonkeyPatch, door: str, who: str
) -> None:
    act = await DOORS[door].begin(world)
    await use_up(world, monkeypatch, who)
    await world.advance(people.ANSWERED_WITHIN_S + 1)
    await ask_for_the_float(world, who)

    await act()


async def test_a_freeze_now_is_done_all_the_same(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    await use_up(world, monkeypatch, BOB)
    await world.advance(people.ANSWERED_WITHIN_S + 1)
    card = {"card": world.cards[0]["id"]}
    draft = await drafts.begin(
        world.core, owner=BOB, kind="card_freeze", texts=card, reason="lost", run_now=True
    )

    await drafts.preview(world.core, draft)
    request = await requests.submit(world.core, draft.id, BOB)
    await world.run_due()

    assert (await world.request(request.id)).state is State.SUCCEEDED


@pytest.mark.parametrize("who", [ALICE, BOB])
@pytest.mark.parametrize("kind", ["card_freeze", "card_topup"])
async def test_what_they_requested_or_approved_is_sent(
    world: World, monkeypatch: pytest.MonkeyPatch, kind: str, who: str
) -> None:
    amount = {"amount_usd": "50"} if kind == "card_topup" else {}
    request = await world.ask(kind, {"card": world.cards[0]["id"], **amount})
    await world.approve(request)
    await world.advance(61)
    await use_up(world, monkeypatch, who)
    await world.advance(people.ANSWERED_WITHIN_S + 1)
    await ask_for_the_float(world, who)

    await world.run_due()

    assert (await world.request(request.id)).state is State.SUCCEEDED


async def test_the_home_of_others_is_drawn_and_they_are_not_counted_for_it(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    await world.top_up("50", approved=False)
    await use_up(world, monkeypatch, BOB)
    await world.advance(people.ANSWERED_WITHIN_S + 1)
    await ask_for_the_float(world, BOB)

    tab = await home.of(world.core, await home.shared(world.core), CAROL)

    assert tab.may_decide
    await people.require_reader(world.core, CAROL)


async def test_being_named_by_others_costs_nobody_their_own(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(people, "MOST_LOOKS", MOST_LOOKS)
    for _ in range(MOST_LOOKS + 1):
        await people.full_member(world.core, ALICE)
        await world.advance(1)

    await people.require_member(world.core, ALICE, action="test")


async def test_who_approves_with_a_passkey_approves_fourteen_requests_within_a_minute(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The click and what the page sends are looked at as they come; the page is shown by the look at the click."""
    devices = await everybody_has_one(world)
    requests = [await world.top_up("5", approved=False, card=n % 3) for n in range(14)]
    await world.advance(61)
    monkeypatch.setattr(people, "MOST_LOOKS", MOST_LOOKS)

    for request in requests:
        await devices.approve(request, BOB)
        await world.advance(2)

    assert [(await world.request(one.id)).state for one in requests] == [State.APPROVED] * 14


@pytest.mark.parametrize("path", ["/details", "/passkey/open"])
async def test_a_web_page_answers_it_with_a_sentence(
    world: World, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    if path == "/details":
        who, token = ALICE, await link(world, await approved(world))
    else:
        devices = await everybody_has_one(world)
        who, token = BOB, token_of(await devices.link(await world.top_up("50", approved=False), BOB))
    await use_up(world, monkeypatch, who)
    await world.advance(people.ANSWERED_WITHIN_S + 1)  # past what the last look serves for

    async def open_details(given: Secret, manner: Manner) -> Shown:
        return await card_details_access.open_link(world.core, given, manner)

    async def open_page(given: Secret) -> Page:
        return await page.open_link(world.core, given)

    async def finish(given: Secret, answer: object) -> page.Done:
        raise AssertionError("nothing is finished here")

    def pages(app: aiohttp.web.Application) -> None:
        details.add_to(app, open_details, origins=["https://x.example"], nonce=lambda: "n", https=False)
        passkey_page.add_to(app, open_page, finish, nonce=lambda: "n", https=False)

    server = await serve(build({}, more=[pages]), host="127.0.0.1", port=0)
    try:
        async with aiohttp.ClientSession() as browser:
            for _ in range(2):
                async with browser.post(server.url + path, json={"token": token.reveal()}) as answer:
                    assert answer.status == 429
                    assert SENTENCE in (await answer.json())["error"]
            await world.advance(61)
            async with browser.post(server.url + path, json={"token": token.reveal()}) as answer:
                assert answer.status == 200
    finally:
        await server.stop()
