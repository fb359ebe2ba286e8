"""Limits of a requester or a pair, and the number of Freeze now a day, are of people: all accounts of one count.

Two accounts are known to be one person's by `same_person` in the file, or by their mailbox.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest

from bot.domain.errors import LookupFailed, OverLimit
from bot.domain.people import Actor, KindPolicy, Limits, Policy
from bot.domain.requests import State
from bot.intents import WhatIf
from bot.services import people, requests
from bot.services.overview import what_if
from bot.services.requests import drafts
from bot.services.shared_look import FAILED_FOR_S, SharedLooks
from storage.errors import NotAsOnRecord
from tests.support.databases import BACKENDS
from tests.support.world import ALICE, BOB, CAROL, HOME, World, a_policy, a_world
from tests.thief.edits import opened
from tests.thief.programme import place_of

pytestmark = pytest.mark.by_turns(5)

ALICE_TWO, BOB_TWO = "U0ALICETWO", "U0BOBTWO"
ACCOUNTS = {
    ALICE: "mailbox of alice",
    ALICE_TWO: "mailbox of alice",
    BOB: "mailbox of bob",
    BOB_TWO: "mailbox of bob",
}
FIVE_HUNDRED = Decimal(500)


@pytest.fixture
async def world(tmp_path: Path, url: str) -> AsyncIterator[World]:
    """Alice and Bob have two accounts each; all but Alice's may approve."""
    async with a_world(tmp_path, url=url, policy=of_limits()) as made:
        for account in (ALICE_TWO, BOB_TWO):
            made.people.actors[account] = Actor(account, account[2:].title(), team_id=HOME)
        made.people.groups["@card-approvers"].add(BOB_TWO)
        yield made


def of_limits(**most: Decimal) -> Policy:
    kinds = {"card_freeze": KindPolicy(now_per_person=2)}
    return replace(a_policy(), kinds=kinds, limits=Limits(**most), version=f"limits {sorted(most)}")


def know(world: World, way: str, policy: Policy) -> None:
    if way == "by the mailbox":
        for account, mailbox in ACCOUNTS.items():
            world.people.change(account, mailbox=mailbox)
    else:
        same = ((ALICE, ALICE_TWO), (BOB, BOB_TWO))
        policy = replace(policy, people=replace(policy.people, same_person=same))
    # Nothing is known from before: another process goes on.
    world.rebuild(policy=policy, people_kept={}, people_seen=SharedLooks())


WAYS = pytest.mark.parametrize("way", ["by the file", "by the mailbox"])
BOTH = pytest.mark.parametrize("url", BACKENDS, indirect=True)
SQLITE = pytest.mark.parametrize("url", BACKENDS[:1], indirect=True)
#: Who asks for and who approves the second top-up of 400 USD after Alice's, which Bob approved.
SECOND = {
    "per_requester_usd": [(ALICE_TWO, CAROL, False), (CAROL, BOB, True)],
    "per_pair_usd": [
        (ALICE, BOB_TWO, False),
        (ALICE_TWO, BOB, False),
        (ALICE_TWO, BOB_TWO, False),
        (ALICE_TWO, CAROL, True),
        (CAROL, BOB, True),
    ],
}
CASES = [(limit, *case) for limit, cases in SECOND.items() for case in cases]


@BOTH
@WAYS
@pytest.mark.parametrize(("limit", "requester", "approver", "fits"), CASES)
async def test_a_limit_counts_all_accounts_of_a_person(
    world: World, way: str, limit: str, requester: str, approver: str, fits: bool
) -> None:
    know(world, way, of_limits(**{limit: FIVE_HUNDRED}))
    await _top_up(world, ALICE, BOB)
    know(world, way, world.core.policy)

    state = await _top_up(world, requester, approver)

    assert (state is State.APPROVED) == fits


async def _top_up(world: World, requester: str, approver: str, amount: str = "400") -> State:
    request = await world.ask(
        "card_topup", {"card": world.cards[0]["id"], "amount_usd": amount}, by=requester
    )
    world.rebuild(people_kept={}, people_seen=SharedLooks())
    with suppress(OverLimit):
        await world.approve(request, by=approver)
    return (await world.request(request.id)).state


@SQLITE
async def test_accounts_linked_through_a_third_count_together(world: World) -> None:
    policy = of_limits(per_requester_usd=FIVE_HUNDRED)
    world.rebuild(policy=replace(policy, people=replace(policy.people, same_person=((ALICE, BOB_TWO),))))
    for account in (BOB_TWO, ALICE_TWO):
        world.people.change(account, mailbox="shared")
    assert await _top_up(world, ALICE_TWO, CAROL) is State.APPROVED

    assert await _top_up(world, ALICE, CAROL) is State.PENDING


@SQLITE
async def test_others_are_looked_up_only_where_it_can_matter_whose_they_are(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked_up, plain = list[str](), world.people.actor

    async def actor(slack_id: str) -> Actor:
        looked_up.append(slack_id)
        return await plain(slack_id)

    monkeypatch.setattr(world.people, "actor", actor)
    world.rebuild(policy=of_limits(per_requester_usd=FIVE_HUNDRED))
    await _top_up(world, ALICE, BOB)
    looked_up.clear()

    assert await _top_up(world, CAROL, BOB, "50") is State.APPROVED
    assert ALICE not in looked_up

    assert await _top_up(world, CAROL, BOB, "300") is State.APPROVED
    assert ALICE in looked_up


@SQLITE
async def test_who_moved_no_money_is_not_looked_up(world: World) -> None:
    world.rebuild(policy=of_limits(per_requester_usd=FIVE_HUNDRED))
    await world.approve(await world.ask("card_freeze", {"card": world.cards[3]["id"]}, by=CAROL))
    await _top_up(world, ALICE, BOB)

    assert await _top_up(world, ALICE_TWO, BOB, "300") is State.APPROVED


@SQLITE
@pytest.mark.parametrize("is_sure", [False, True], ids=["said once", "said twice"])
async def test_who_gives_up_one_of_two_accounts_has_no_more_to_spend(world: World, *, is_sure: bool) -> None:
    """Its mailbox was seen within the day, and counts on although Slack does not know the account any more."""
    know(world, "by the mailbox", of_limits(per_requester_usd=FIVE_HUNDRED))
    await _top_up(world, ALICE_TWO, BOB)
    world.people.codes[ALICE_TWO] = "user_not_found"
    await world.advance(people.SHOWN_WITHIN_S + 1)
    with pytest.raises(LookupFailed, match="ten seconds"):
        await people.account(world.core, ALICE_TWO)
    if is_sure:
        await world.advance(people.GONE_AFTER_S)
        assert (await people.account(world.core, ALICE_TWO)).is_gone

    request = await world.ask("card_topup", {"card": world.cards[0]["id"], "amount_usd": "400"})

    with pytest.raises(OverLimit):
        await world.approve(request)


@SQLITE
async def test_nothing_is_approved_while_slack_does_not_say_whose_account_it_is(world: World) -> None:
    world.rebuild(policy=of_limits(per_requester_usd=FIVE_HUNDRED))
    await _top_up(world, ALICE_TWO, BOB)
    request = await world.ask("card_topup", {"card": world.cards[0]["id"], "amount_usd": "400"}, by=CAROL)
    world.rebuild(people_kept={}, people_seen=SharedLooks())
    del world.people.actors[ALICE_TWO]

    with pytest.raises(LookupFailed):
        await world.approve(request)


class Slack:
    """What it was asked about, at most `a_minute`; what it says of some accounts instead, and how long it takes."""

    def __init__(self, world: World, *, a_minute: int = 100) -> None:
        self.world, self.a_minute = world, a_minute
        self.asked: list[tuple[float, str]] = []
        self.at_once = self.most_at_once = 0
        self.says: dict[str, str] = {}
        self.takes_s: dict[str, float] = {}
        self.plain = world.people.answer
        world.people.asked = self.actor

    async def actor(self, slack_id: str) -> Actor:
        now_s = self.world.clock.monotonic()
        recent = [at for at, _ in self.asked if at > now_s - 60]
        if len(recent) >= self.a_minute:
            raise LookupFailed("Slack did not say.", "ratelimited")
        self.asked.append((now_s, slack_id))
        self.at_once += 1
        self.most_at_once = max(self.at_once, self.most_at_once)
        try:
            await asyncio.sleep(self.takes_s.get(slack_id, 0))
        finally:
            self.at_once -= 1
        if slack_id in self.says:
            raise LookupFailed("Slack did not say.", self.says[slack_id])
        return await self.plain(slack_id)

    def others(self) -> list[str]:
        """Who was asked about but those who act in these tests."""
        return [one for _, one in self.asked if one.startswith("U0P")]


async def _many(world: World, people_: int, usd: str, mailbox: str = "") -> None:
    """So many people were granted this much each, and another process goes on."""
    for number in range(people_):
        one = f"U0P{number:04}"
        world.people.actors[one] = Actor(one, one, team_id=HOME, mailbox=mailbox or f"mailbox of {one}")
        await _top_up(world, one, BOB, usd)
    world.rebuild(people_kept={}, people_seen=SharedLooks())


@SQLITE
async def test_few_of_many_people_are_looked_up_and_remembered_for_a_day(world: World) -> None:
    world.rebuild(policy=of_limits(per_requester_usd=Decimal(500)))
    await _many(world, 115, "5")
    first, second = [
        await world.ask("card_topup", {"card": world.cards[0]["id"], "amount_usd": "5"}, by=ALICE)
        for _ in range(2)
    ]
    slack = Slack(world)

    await world.approve(first)

    assert (await world.request(first.id)).state is State.APPROVED
    assert 16 <= len(slack.others()) <= people.MOST_LOOKED_UP
    assert slack.most_at_once <= 10
    before = len(slack.others())
    await world.advance(3600)
    await world.approve(second)
    assert (await world.request(second.id)).state is State.APPROVED
    assert len(slack.others()) - before <= 1


@SQLITE
@pytest.mark.parametrize(("granted", "fits"), [("90", False), ("5", True)])
async def test_beyond_the_most_that_are_looked_up_the_smallest_sums_count_by_account(
    world: World, granted: str, fits: bool
) -> None:
    for account in (ALICE, ALICE_TWO):
        world.people.change(account, mailbox="mailbox of alice")
    world.rebuild(policy=of_limits(per_requester_usd=Decimal(100)))
    await _top_up(world, ALICE_TWO, BOB, granted)
    await _many(world, 30, "10")
    slack = Slack(world)

    assert (await _top_up(world, ALICE, CAROL, "100") is State.APPROVED) == fits

    assert (ALICE_TWO in [one for _, one in slack.asked]) != fits
    assert len(slack.others()) == (people.MOST_LOOKED_UP if fits else 9)


@SQLITE
async def test_a_look_that_failed_holds_up_approvals_for_seconds_alone(world: World) -> None:
    world.rebuild(policy=of_limits(per_requester_usd=FIVE_HUNDRED))
    await _top_up(world, ALICE_TWO, BOB)
    request = await world.ask("card_topup", {"card": world.cards[0]["id"], "amount_usd": "400"}, by=CAROL)
    world.rebuild(people_kept={}, people_seen=SharedLooks())
    slack = Slack(world)
    slack.says[ALICE_TWO] = "ratelimited"
    with pytest.raises(LookupFailed):
        await world.approve(request)

    slack.says.clear()
    await world.advance(FAILED_FOR_S)
    await world.approve(request)

    assert (await world.request(request.id)).state is State.APPROVED
    # What was seen before a look that failed serves, too.
    await world.advance(3600)
    slack.says[ALICE_TWO] = "ratelimited"
    with suppress(LookupFailed):
        await people.account_lately(world.core, ALICE_TWO, 1)
    request = await world.ask("card_topup", {"card": world.cards[0]["id"], "amount_usd": "100"}, by=CAROL)
    await world.approve(request)
    assert (await world.request(request.id)).state is State.APPROVED


@SQLITE
@pytest.mark.parametrize("code", ["user_not_found", "user_not_visible"])
async def test_an_account_that_slack_does_not_know_counts_by_itself_and_by_the_file(
    world: World, code: str
) -> None:
    policy = of_limits(per_requester_usd=FIVE_HUNDRED)
    same = replace(policy.people, same_person=((ALICE, ALICE_TWO),))
    world.rebuild(policy=replace(policy, people=same))
    await _top_up(world, ALICE_TWO, BOB)
    requests_ = [
        await world.ask("card_topup", {"card": world.cards[0]["id"], "amount_usd": "200"}, by=by)
        for by in (CAROL, ALICE)
    ]
    world.rebuild(people_kept={}, people_seen=SharedLooks())
    Slack(world).says[ALICE_TWO] = code

    await world.approve(requests_[0])
    with pytest.raises(OverLimit):
        await world.approve(requests_[1])


@SQLITE
async def test_a_freeze_now_does_not_wait_for_slack_to_say_whose_account_another_is(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    know(world, "by the mailbox", of_limits())
    for card in (0, 1):
        await _freeze_now(world, card, ALICE_TWO)
    world.rebuild(people_kept={}, people_seen=SharedLooks())
    Slack(world).takes_s[ALICE_TWO] = 60
    assert drafts.WHOSE_WITHIN_S == 1.5
    monkeypatch.setattr(drafts, "WHOSE_WITHIN_S", 0.05)

    async with asyncio.timeout(10):
        assert await _freeze_now(world, 2, ALICE) is State.APPROVED


@SQLITE
@WAYS
async def test_the_form_and_an_answer_say_what_all_accounts_have_used(world: World, way: str) -> None:
    policy = of_limits(per_requester_usd=FIVE_HUNDRED)
    know(world, way, policy)
    await world.top_up("400")
    await people.member(world.core, ALICE_TWO)
    texts = {"card": world.cards[0]["id"], "amount_usd": "300"}

    draft = await drafts.begin(world.core, owner=ALICE_TWO, kind="card_topup", texts=texts, reason="because")
    shown = await drafts.preview(world.core, draft)
    answer = await what_if.answer(world.core, WhatIf(1, Decimal(300), orders=False), ALICE_TWO)

    assert ("Your limit in 24 hours", "700 of 500 used") in shown.lines
    assert ("Your limit in 24 hours", "700 of 500 used") in answer.lines


@BOTH
@WAYS
async def test_freeze_now_counts_all_accounts_of_a_person(world: World, way: str) -> None:
    know(world, way, of_limits())
    assert await _freeze_now(world, 0, ALICE) is State.APPROVED
    assert await _freeze_now(world, 1, ALICE_TWO) is State.APPROVED
    know(world, way, world.core.policy)

    assert await _freeze_now(world, 2, ALICE_TWO) is State.PENDING
    assert await _freeze_now(world, 3, CAROL) is State.APPROVED


async def _freeze_now(world: World, card: int, by: str) -> State:
    return (await world.ask("card_freeze", {"card": world.cards[card]["id"]}, by=by, now=True)).state


@SQLITE
@WAYS
async def test_forms_that_both_accounts_had_open_get_no_more_than_one_person(world: World, way: str) -> None:
    know(world, way, of_limits())
    forms = []
    for card, by in enumerate((ALICE, ALICE_TWO, ALICE, ALICE_TWO)):
        await people.require_member(world.core, by, action="test")
        texts = {"card": world.cards[card]["id"]}
        draft = await drafts.begin(
            world.core, owner=by, kind="card_freeze", texts=texts, reason="lost", run_now=True
        )
        await drafts.preview(world.core, draft)
        forms.append((draft.id, by))

    states = [(await requests.submit(world.core, form, by)).state for form, by in forms]

    assert states == [State.APPROVED, State.APPROVED, State.PENDING, State.PENDING]


@SQLITE
async def test_a_freeze_now_is_not_held_up_while_slack_does_not_say_whose_account_another_is(
    world: World,
) -> None:
    know(world, "by the mailbox", of_limits())
    for card in (0, 1):
        await _freeze_now(world, card, ALICE_TWO)
    world.rebuild(people_kept={}, people_seen=SharedLooks())
    del world.people.actors[ALICE_TWO]

    assert await _freeze_now(world, 2, ALICE) is State.APPROVED


@BOTH
@pytest.mark.parametrize(
    "edit",
    [
        "DELETE FROM request WHERE id <> '{but}'",
        f"UPDATE request SET requester = '{CAROL}' WHERE id <> '{{but}}'",
        f"UPDATE decision SET actor = '{CAROL}' WHERE request_id <> '{{but}}'",
    ],
)
async def test_what_another_account_was_granted_is_held_against_the_log(world: World, edit: str) -> None:
    know(world, "by the mailbox", of_limits(per_pair_usd=FIVE_HUNDRED))
    await _top_up(world, ALICE, BOB)
    request = await world.ask("card_topup", {"card": world.cards[0]["id"], "amount_usd": "400"}, by=ALICE_TWO)
    with opened(place_of(world)) as database:
        database.write(edit.format(but=request.id))

    with pytest.raises(NotAsOnRecord):
        await world.approve(request, by=BOB_TWO)
