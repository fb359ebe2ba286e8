"""An account that Slack does not know any more: that is an answer, and no outage. It is said in words, and holds up
nobody; what Slack does not answer stays an outage."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest

from bot.domain.errors import LookupFailed, NotAllowed, OverLimit
from bot.domain.people import Actor, KindPolicy, Limits, Tier
from bot.domain.requests import Request, State
from bot.services import people
from bot.services.operators import confirmation_answers, pausing
from bot.services.requests import approvals
from storage.requests import confirmations as consent_rows
from tests.services.outcome_steps import execute, keys_sent
from tests.support.databases import BACKENDS
from tests.support.world import ALICE, BOB, CAROL, HOME, OWN, World, a_policy, a_world

pytestmark = pytest.mark.by_turns(3)

DORA = "U0DORA"
SQLITE = pytest.mark.parametrize("url", BACKENDS[:1], indirect=True)
BOTH = pytest.mark.parametrize("url", BACKENDS, indirect=True)
GONE = pytest.mark.parametrize("code", ["user_not_found", "user_not_visible"])
OUTAGES = pytest.mark.parametrize("code", ["internal_error", "ratelimited", ""])


@pytest.fixture
async def world(tmp_path: Path, url: str) -> AsyncIterator[World]:
    policy = replace(a_policy(), kinds={"card_topup": KindPolicy(tiers=(Tier(Decimal(100), 2),))})
    async with a_world(tmp_path, url=url, policy=policy) as made:
        made.people.actors[DORA] = Actor(DORA, "Dora", team_id=HOME)
        made.people.groups["@card-approvers"].add(DORA)
        yield made


def says(world: World, slack_id: str, code: str) -> None:
    """Slack answers so about this account from now on."""
    world.people.codes[slack_id] = code


async def _asked(world: World, amount: str) -> Request:
    return await world.ask("card_topup", {"card": world.cards[0]["id"], "amount_usd": amount})


@BOTH
@GONE
@pytest.mark.parametrize(
    ("who", "words"),
    [
        (
            ALICE,
            "Alice, who requested this, has an account that Slack does not know any more. Nothing was sent",
        ),
        (
            BOB,
            "Bob approved this but has an account that Slack does not know any more, so the approval counts no"
            " more. Nothing was sent; ask again.",
        ),
    ],
)
async def test_a_request_of_somebody_who_is_gone_is_cancelled_within_a_minute(
    world: World, code: str, who: str, words: str
) -> None:
    approved = await world.top_up("50")
    says(world, who, code)
    await world.advance(20)

    waits = await execute(world, approved)
    await world.run(40)
    ended = await world.request(approved.id)

    assert waits.state is State.APPROVED
    assert "does not know the account" in waits.outcome_text
    assert ended.state is State.CANCELLED
    assert words in ended.outcome_text
    assert keys_sent(world) == []


@BOTH
@GONE
async def test_what_slack_says_of_everybody_for_a_moment_cancels_nothing(world: World, code: str) -> None:
    """As with a token of another workspace: it does not know the bot either."""
    top_up = await world.top_up("50")
    freeze = await world.ask("card_freeze", {"card": world.cards[1]["id"]})
    await world.approve(freeze)
    await world.advance(20)
    for who in (ALICE, BOB, CAROL, DORA, OWN):
        says(world, who, code)

    await world.run(20)
    waits = await world.request(top_up.id)
    froze = await world.request(freeze.id)
    world.people.codes.clear()
    await world.run(30)

    assert (waits.state, froze.state) == (State.APPROVED, State.SUCCEEDED)
    assert (await world.request(top_up.id)).state is State.SUCCEEDED


@SQLITE
@GONE
@pytest.mark.parametrize("who", [ALICE, BOB])
async def test_a_freeze_of_somebody_who_is_gone_goes_on_as_in_an_outage(
    world: World, code: str, who: str
) -> None:
    freeze = await world.ask("card_freeze", {"card": world.cards[1]["id"]})
    await world.approve(freeze)
    says(world, who, code)
    await world.advance(20)

    assert (await execute(world, freeze)).state is State.SUCCEEDED


@SQLITE
@GONE
async def test_what_slack_said_once_of_an_account_in_vain_ends_nothing(world: World, code: str) -> None:
    """It says so again after it knew the account, or minutes later: a fault of a moment each time."""
    approved = await world.top_up("50")
    for pause_s in (15.0, 90.0, 90.0):
        await world.advance(pause_s)
        says(world, ALICE, code)
        assert (await execute(world, approved)).state is State.APPROVED
        world.people.codes.clear()
        if pause_s == 15.0:
            await world.advance(1)
            await people.account(world.core, ALICE)

    await world.run(30)
    assert (await world.request(approved.id)).state is State.SUCCEEDED


@SQLITE
@GONE
@pytest.mark.parametrize("at", ["the click", "the decision"])
async def test_an_approval_of_somebody_who_is_gone_counts_no_more_as_the_refusal_says(
    world: World, code: str, at: str
) -> None:
    request = await _asked(world, "200")
    await world.approve(request, by=BOB)
    says(world, BOB, code)
    await world.advance(120)

    with pytest.raises(LookupFailed, match="Nothing was recorded\\. Try again in ten seconds"):
        await _tried(world, request, at, CAROL)
    await world.advance(people.GONE_AFTER_S)
    for other in (CAROL, DORA):
        with pytest.raises(NotAllowed, match="Bob approved this but has an account that Slack does not know"):
            await _tried(world, request, at, other)
    ended = await approvals.reject(world.core, request.id, CAROL, reason="Bob has left")
    assert ended.state is State.REJECTED


async def _tried(world: World, request: Request, at: str, other: str) -> None:
    if at == "the click":
        await approvals.require_may_approve(world.core, request.id, other)
    else:
        await world.approve(request, by=other)


@SQLITE
@pytest.mark.parametrize(
    ("who", "first"), [(ALICE, "the decision"), (BOB, "the click"), (BOB, "the decision")]
)
@pytest.mark.parametrize("after_s", [0, 1, 20, 59, 61])
async def test_what_slack_says_once_of_somebody_accuses_nobody_and_is_not_kept(
    world: World, who: str, first: str, after_s: float
) -> None:
    request = await _asked(world, "200")
    await world.approve(request, by=BOB)
    await world.advance(120)
    says(world, who, "user_not_found")

    with pytest.raises(LookupFailed, match="Nothing was recorded\\. Try again in ten seconds"):
        await _tried(world, request, first, CAROL)
    del world.people.codes[who]
    await world.advance(after_s)

    await _tried(world, request, "the click", CAROL)
    await _tried(world, request, "the decision", CAROL)
    assert (await world.request(request.id)).state is State.APPROVED


@SQLITE
@GONE
async def test_what_somebody_requested_who_is_gone_is_not_approved(world: World, code: str) -> None:
    request = await _asked(world, "50")
    says(world, ALICE, code)
    with pytest.raises(LookupFailed, match="Try again in ten seconds"):
        await world.approve(request)
    await world.advance(people.GONE_AFTER_S)

    with pytest.raises(
        NotAllowed, match="does not know the account of the person who asked any more; reject this"
    ):
        await world.approve(request)


@BOTH
@OUTAGES
@pytest.mark.parametrize("who", [ALICE, BOB])
async def test_an_outage_stays_one(world: World, code: str, who: str) -> None:
    approved, pending = await world.top_up("50"), await _asked(world, "200")
    await world.approve(pending)
    says(world, who, code)
    await world.advance(120)

    waits = await execute(world, approved)
    with pytest.raises(LookupFailed):
        await world.approve(await world.request(pending.id), by=CAROL)

    assert (waits.state, keys_sent(world)) == (State.APPROVED, [])
    assert "Slack could not say who this is" in waits.outcome_text


@SQLITE
@GONE
async def test_whose_the_account_was_still_counts(world: World, code: str) -> None:
    """Who gives up one of two accounts is not granted more."""
    two = "U0ALICETWO"
    world.people.actors[two] = Actor(two, "Alice two", team_id=HOME, mailbox="of alice")
    world.people.change(ALICE, mailbox="of alice")
    world.rebuild(policy=replace(a_policy(), kinds={}, limits=Limits(per_requester_usd=Decimal(500))))
    first = await world.ask("card_topup", {"card": world.cards[0]["id"], "amount_usd": "300"}, by=two)
    await world.approve(first)
    says(world, two, code)
    await world.advance(120)

    with pytest.raises(OverLimit):
        await world.approve(await _asked(world, "300"))


@SQLITE
@GONE
async def test_a_resume_that_somebody_asked_for_who_is_gone_is_refused_in_words(
    world: World, code: str
) -> None:
    await pausing.pause(world.core, BOB, ["main"], "a look")
    await pausing.resume(world.core, BOB, ["main"])
    async with world.store.read() as tx:
        consent = await consent_rows.open_one(tx, "resume", "main")
    assert consent is not None
    says(world, BOB, code)
    with pytest.raises(LookupFailed, match="Try again in ten seconds"):
        await confirmation_answers.give(world.core, consent.id, CAROL)
    await world.advance(people.GONE_AFTER_S)

    with pytest.raises(NotAllowed, match="who requested this, may not do so any more"):
        await confirmation_answers.give(world.core, consent.id, CAROL)
