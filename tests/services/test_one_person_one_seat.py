"""One person has one seat, however many Slack accounts they have: by `same_person`, or by their mailbox."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest
from sqlalchemy import text

from bot.domain.errors import AlreadyDecided, LookupFailed, NotAllowed, UnknownName
from bot.domain.people import Actor, KindPolicy
from bot.domain.people.policy import Per, Tier
from bot.domain.requests import Request, State
from bot.services import people
from bot.services.execution import presend_checks
from bot.services.operators import pausing
from bot.services.requests import approvals
from bot.services.shared_look import SharedLooks
from tests.services.outcome_steps import execute, processor
from tests.support.world import ALICE, BOB, CAROL, HOME, World, a_policy, a_world

BOB_ADMIN = "U0BOBADMIN"
ALICE_TWO = "U0ALICETWO"
BOBS_MAIL, ALICES_MAIL = "mailbox of bob", "mailbox of alice"


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    """Bob and Alice have two accounts each, and every one of these may approve; above 100 USD it takes two."""
    kinds = {"card_topup": KindPolicy(tiers=(Tier(Decimal(100), 2),))}
    async with a_world(tmp_path, policy=replace(a_policy(), kinds=kinds)) as made:
        made.people.actors[BOB_ADMIN] = Actor(BOB_ADMIN, "Bob (admin)", team_id=HOME)
        made.people.actors[ALICE_TWO] = Actor(ALICE_TWO, "Alice two", team_id=HOME)
        made.people.groups["@card-approvers"] |= {BOB_ADMIN, ALICE_TWO}
        yield made


@pytest.fixture(params=["by the file", "by the mailbox"])
def known(request: pytest.FixtureRequest, world: World) -> World:
    """The accounts of one person are known in one of the two ways."""
    if request.param == "by the file":
        same = ((BOB, BOB_ADMIN), (ALICE, ALICE_TWO))
        policy = world.core.policy
        world.rebuild(policy=replace(policy, people=replace(policy.people, same_person=same)))
    else:
        _give_mailboxes(world)
    return world


def _give_mailboxes(world: World) -> None:
    for account, mailbox in ((BOB, BOBS_MAIL), (BOB_ADMIN, BOBS_MAIL), (ALICE, ALICES_MAIL)):
        world.people.change(account, mailbox=mailbox)
    world.people.change(ALICE_TWO, mailbox=ALICES_MAIL)


async def test_a_second_account_of_the_requester_cannot_approve(known: World) -> None:
    request = await known.top_up("50", approved=False)

    with pytest.raises(NotAllowed, match="another account of yours"):
        await known.approve(request, by=ALICE_TWO)

    assert (await known.request(request.id)).state is State.PENDING
    assert (await known.approve(request, by=BOB))[0].state is State.APPROVED


async def test_two_accounts_of_one_approver_give_one_approval(known: World) -> None:
    request = await known.top_up("150", approved=False)
    await known.approve(request, by=BOB)
    current = await known.request(request.id)

    with pytest.raises(AlreadyDecided, match="another account of yours"):
        await known.approve(current, by=BOB_ADMIN)

    approved, _ = await known.approve(current, by=CAROL)
    assert approved.state is State.APPROVED


async def test_a_second_account_confirms_nothing_that_the_first_one_did_at_once(known: World) -> None:
    frozen = await known.ask("card_freeze", {"card": known.cards[0]["id"]}, by=BOB, now=True)
    await known.run(5)

    with pytest.raises(NotAllowed, match="another account of yours"):
        await approvals.confirm(known.core, frozen.id, BOB_ADMIN)

    assert (await approvals.confirm(known.core, frozen.id, CAROL)).state is State.SUCCEEDED


async def test_a_second_account_confirms_no_resume_that_the_first_one_asked_for(known: World) -> None:
    names = known.core.policy
    known.rebuild(policy=replace(names, people=replace(names.people, admins=())))
    await pausing.pause(known.core, BOB, ["main"], "to look at something")
    await pausing.resume(known.core, BOB, ["main"])

    with pytest.raises(NotAllowed, match="another account of yours"):
        await pausing.resume(known.core, BOB_ADMIN, ["main"])


async def test_two_accounts_of_one_person_never_agree_on_an_outcome(known: World) -> None:
    request = await _unresolved(known)
    await approvals.resolve(known.core, request.id, BOB, verdict="succeeded", evidence="seen in the ledger")

    after = await approvals.resolve(
        known.core, request.id, BOB_ADMIN, verdict="succeeded", evidence="seen in the ledger"
    )

    assert after.state is State.UNRESOLVED
    ended = await approvals.resolve(
        known.core, request.id, CAROL, verdict="succeeded", evidence="seen in the ledger"
    )
    assert ended.state is State.SUCCEEDED


async def _unresolved(world: World) -> Request:
    await processor("5xx").set(world, "POST /cards/{cardId}/topup")
    request = await execute(world, await world.top_up("50"))
    assert request.state is State.UNRESOLVED
    return request


async def test_what_two_accounts_of_one_person_approved_is_not_sent(world: World) -> None:
    """Nobody knew at the approval that they are one person; it is looked at again before the first byte."""
    request = await world.top_up("150", approved=False)
    await world.approve(request, by=BOB)
    approved, _ = await world.approve(await world.request(request.id), by=BOB_ADMIN)
    assert approved.state is State.APPROVED

    _give_mailboxes(world)
    await world.advance(presend_checks.PEOPLE_GOOD_FOR_S)
    done = await execute(world, approved)

    assert done.state is State.CANCELLED
    assert "count as one person" in done.outcome_text
    assert await world.sent("POST /topup") == []


async def test_what_the_requester_approved_from_a_second_account_is_not_sent(world: World) -> None:
    approved, _ = await world.approve(await world.top_up("50", approved=False), by=ALICE_TWO)

    _give_mailboxes(world)
    await world.advance(presend_checks.PEOPLE_GOOD_FOR_S)
    done = await execute(world, approved)

    assert done.state is State.CANCELLED
    assert await world.sent("POST /topup") == []


async def test_accounts_linked_through_a_third_are_one_person(world: World) -> None:
    policy = world.core.policy
    same = ((BOB, CAROL),)
    world.rebuild(policy=replace(policy, people=replace(policy.people, same_person=same)))
    world.people.change(CAROL, mailbox=BOBS_MAIL)
    world.people.change(BOB_ADMIN, mailbox=BOBS_MAIL)
    request = await world.ask("card_topup", {"card": world.cards[0]["id"], "amount_usd": "50"}, by=BOB)

    with pytest.raises(NotAllowed, match="another account of yours"):
        await world.approve(request, by=CAROL)


@pytest.mark.parametrize("per", [Per.CARD, Per.REQUESTER])
async def test_what_the_requester_was_granted_under_another_account_is_in_the_sum_of_a_tier(
    known: World, per: Per
) -> None:
    policy = known.core.policy
    known.rebuild(
        policy=replace(policy, kinds={"card_topup": KindPolicy(tiers=(Tier(Decimal(500), 2, per=per),))})
    )
    assert (await _granted(known, ALICE)).state is State.APPROVED

    again = await _granted(known, ALICE_TWO)

    assert (again.state, again.approvals_needed) == (State.PENDING, 2)
    assert (await _granted(known, BOB)).state is State.APPROVED, "another person's sum is their own"


async def test_accounts_are_looked_up_for_a_sum_only_where_it_can_matter_whose_they_are(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked_up, plain = list[str](), world.people.actor

    async def actor(slack_id: str) -> Actor:
        looked_up.append(slack_id)
        return await plain(slack_id)

    monkeypatch.setattr(world.people, "actor", actor)
    policy = world.core.policy
    tiers = (Tier(Decimal(500), 2, per=Per.REQUESTER),)
    world.rebuild(policy=replace(policy, kinds={"card_topup": KindPolicy(tiers=tiers)}))
    await _granted(world, ALICE, "400")
    looked_up.clear()

    await _granted(world, BOB, "50")
    assert ALICE not in looked_up

    # Another process goes on, which saw nobody yet.
    world.rebuild(people_kept={}, people_seen=SharedLooks())
    await _granted(world, BOB, "100")
    assert ALICE in looked_up


async def _granted(world: World, requester: str, amount_usd: str = "400") -> Request:
    """A top-up of the first card that Carol has approved, which may not be enough."""
    card = world.cards[0]["id"]
    request = await world.ask("card_topup", {"card": card, "amount_usd": amount_usd}, by=requester)
    return (await world.approve(request, by=CAROL))[0]


async def test_a_name_in_same_person_that_slack_does_not_have_stops_every_decision(world: World) -> None:
    async def each(lists: object) -> object:
        raise UnknownName("Slack knows no person named @bob-admin.", "@bob-admin")

    policy = world.core.policy
    request = await world.top_up("50", approved=False)
    world.rebuild(
        policy=replace(policy, people=replace(policy.people, same_person=(("@bob", "@bob-admin"),)))
    )
    world.people.each = each  # type: ignore[method-assign,assignment]  # Slack has it no more

    with pytest.raises(LookupFailed, match="@bob-admin"):
        await world.approve(request)


async def test_no_address_and_no_hash_of_one_is_kept(known: World) -> None:
    _give_mailboxes(known)
    await people.member(known.core, BOB)
    await known.approve(await known.top_up("50", approved=False))

    async with known.store.read() as tx:
        tables = (await tx.run(text("SELECT name FROM sqlite_master WHERE type = 'table'"))).scalars().all()
        rows = [repr((await tx.run(text(f'SELECT * FROM "{table}"'))).all()) for table in tables]
    assert BOBS_MAIL not in "".join(rows)


async def test_a_quorum_of_accounts_that_are_too_few_people_is_reported(world: World) -> None:
    policy = world.core.policy
    kinds = {"card_topup": KindPolicy(approvals=3)}
    world.people.groups["@card-approvers"] = {BOB, BOB_ADMIN, CAROL}
    assert not any("card_topup" in p for p in await _problems(world, kinds))

    same = ((BOB, BOB_ADMIN),)
    world.rebuild(policy=replace(policy, people=replace(policy.people, same_person=same)))

    assert any("card_topup" in p and "only 2" in p for p in await _problems(world, kinds))


async def _problems(world: World, kinds: dict[str, KindPolicy]) -> list[str]:
    world.rebuild(policy=replace(world.core.policy, kinds=kinds))
    return await people.policy_problems(world.core)


@pytest.mark.parametrize(
    "change",
    [
        {"deleted": True},
        {"is_restricted": True},
        {"is_ultra_restricted": True},
        {"is_stranger": True},
        {"is_bot": True},
        {"team_id": "T0OTHER"},
    ],
    ids=lambda change: next(iter(change)),
)
@pytest.mark.parametrize("who", [ALICE, BOB], ids=["the requester", "the approver"])
async def test_nothing_is_sent_for_who_is_no_full_member_any_more(
    world: World, who: str, change: dict[str, object]
) -> None:
    approved = await world.top_up("50")

    world.people.change(who, **change)
    await world.advance(presend_checks.PEOPLE_GOOD_FOR_S)
    done = await execute(world, approved)

    assert done.state is State.CANCELLED
    assert await world.sent("POST /topup") == []


@pytest.mark.parametrize(
    "change", [{"is_restricted": True}, {"is_stranger": True}], ids=["guest", "stranger"]
)
async def test_a_request_of_somebody_who_became_a_guest_is_not_approved(
    world: World, change: dict[str, object]
) -> None:
    request = await world.top_up("50", approved=False)

    world.people.change(ALICE, **change)

    with pytest.raises(NotAllowed, match="reject this request"):
        await world.approve(request)
