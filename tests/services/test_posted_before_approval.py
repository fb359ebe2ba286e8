"""A request is approved once its message is in Slack: then it shows what becomes of it, whatever database is used."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest

from bot.domain.errors import NotPosted
from bot.domain.requests import Request, State
from bot.operations import kinds
from bot.services.messages import MessageGone, Outbox, SlackRefused, SlackTrouble
from bot.services.passkeys.page import PageRefused
from bot.services.requests import approvals
from storage import audit
from storage.messages import alerts as alert_rows
from storage.requests import decisions
from tests.services.bulk_requests import a_list, ask_bulk
from tests.services.scripted_slack import ScriptedSlack, Trouble
from tests.support import posting
from tests.support.kinds import asked
from tests.support.passkeys import everybody_has_one
from tests.support.world import BOB, CAROL, World

pytestmark = pytest.mark.usefixtures("deposits_are_set_up")


async def approve(world: World, request: Request, by: str = BOB) -> State:
    found, _ = await approvals.approve(world.core, request.id, by, shown_digest=request.digest)
    return found.state


async def refused(world: World, request: Request, by: str = BOB) -> str:
    """The sentence; at the click as well, and nothing of it is recorded but the refusal."""
    async with world.store.read() as tx:
        before = await decisions.of(tx, request.id)
    with pytest.raises(NotPosted) as at_the_click:
        await approvals.require_may_approve(world.core, request.id, by)
    with pytest.raises(NotPosted) as refusal:
        await approve(world, request, by)
    assert str(at_the_click.value) == str(refusal.value)
    async with world.store.read() as tx:
        assert await decisions.of(tx, request.id) == before
        *_, entry = [one async for one in audit.about(tx, f"request:{request.id}")]
    assert (entry.outcome, entry.reason_code) == ("refused", "not_posted")
    return str(refusal.value)


@pytest.mark.by_turns(3)
@pytest.mark.parametrize("kind", kinds())
async def test_no_kind_is_approved_before_it_is_in_slack_but_a_freeze(world: World, kind: str) -> None:
    request = await asked(world, kind)
    by = BOB if request.requester != BOB else CAROL

    if kind == "card_freeze":
        assert await approve(world, request, by) is State.APPROVED
        return
    said = await refused(world, request, by)
    assert said == (
        f"Countersign knows no message of {request.id} in the approvals channel yet, so what becomes of it would not be"
        " seen there. Nothing was approved. Try again in a few seconds."
    )
    await posting.post(world.core, request.id)
    assert await approve(world, request, by) is State.APPROVED


async def test_nor_is_the_first_of_two_approvals_taken(world: World) -> None:
    request = await world.top_up("600", approved=False)
    await refused(world, request)
    await posting.post(world.core, request.id)
    assert await approve(world, request) is State.PENDING
    assert await approve(world, await world.request(request.id), CAROL) is State.APPROVED


async def test_nor_is_a_list(world: World) -> None:
    batch = await ask_bulk(world, a_list(world, "10", "20"))
    await refused(world, batch)
    await posting.post(world.core, batch.id)
    assert await approve(world, batch) is State.APPROVED


async def test_nor_does_a_freeze_in_a_list_wait(world: World) -> None:
    rows = "\n".join(["card", *(card["id"] for card in world.cards[:2])])
    batch = await ask_bulk(world, rows, kind="card_freeze")
    assert await approve(world, batch) is State.APPROVED


async def test_nor_does_a_passkey_help(world: World) -> None:
    devices = await everybody_has_one(world)
    request = await world.top_up("60", approved=False)
    link = await devices.link(request, BOB)
    await posting.forget(world.core, request.id)
    with pytest.raises(PageRefused, match="in the approvals channel yet") as refusal:
        await devices.use(link, BOB)
    assert refusal.value.reason == "not_posted"


Break = Callable[[World, ScriptedSlack, Request], Awaitable[None]]


def refuses(trouble: Trouble, times: int = 1) -> Break:
    async def it_is(world: World, slack: ScriptedSlack, _request: Request) -> None:
        slack.next_post = [trouble] * times
        await Outbox(world.core, slack, spacing_s=0).deliver_due()

    return it_is


CLOSED = {
    "not_in_channel": "Countersign is not in the approvals channel (not_in_channel). Invite it there with /invite"
    " @Countersign. Then try again.",
    "is_archived": "The approvals channel is archived (is_archived). Unarchive it.",
    "missing_scope": "The Slack app lacks a permission (missing_scope).",
    "503": "Slack does not work right now (503).",
}


@pytest.mark.by_turns(3)
@pytest.mark.parametrize("error", CLOSED)
async def test_the_refusal_says_what_is_wrong_in_slack(world: World, error: str) -> None:
    slack = ScriptedSlack()
    first = await world.top_up("50", approved=False)
    await refuses(SlackTrouble(error))(world, slack, first)
    said = await refused(world, first)
    assert said.startswith(f"Countersign knows no message of {first.id} in the approvals channel yet")
    assert CLOSED[error] in said

    second = await world.top_up("51", approved=False)  # which was not tried so far
    assert CLOSED[error] in await refused(world, second)


@pytest.mark.parametrize(
    "error", ["Slack did not say who may approve", "not drawn: KeyError", "msg_blocks_too_long"]
)
async def test_what_keeps_one_message_back_is_not_said_of_another(world: World, error: str) -> None:
    slack = ScriptedSlack()
    first = await world.top_up("50", approved=False)
    await refuses(SlackTrouble(error, only_this=True))(world, slack, first)
    second = await world.top_up("51", approved=False)  # which was not tried so far

    assert (await refused(world, second)).endswith("Nothing was approved. Try again in a few seconds.")
    assert ". Then try again." in await refused(world, first)


@pytest.mark.parametrize("kind", ["card_topup", "card_freeze"])
@pytest.mark.parametrize("was_posted", [True, False])
async def test_the_alert_about_a_refused_message_says_what_can_be_done(
    world: World, kind: str, was_posted: bool
) -> None:
    request = await asked(world, kind)
    if was_posted:
        await posting.post(world.core, request.id)
        await approvals.redraw(world.core, request.id)
    slack = ScriptedSlack()
    slack.next_post = [SlackRefused("msg_too_long")] * 3
    slack.next_update = [SlackRefused("msg_too_long")] * 3
    for _ in range(3):
        await Outbox(world.core, slack, spacing_s=0).deliver_due()

    async with world.store.read() as tx:
        (alert,) = [one for one in await alert_rows.open_ones(tx) if one.kind == "message_failed"]
    cannot = kind == "card_topup" and not was_posted
    assert ("Nobody can approve the request without it: reject it" in alert.text) is cannot


async def test_one_that_slack_refused_for_good_is_requested_again(world: World) -> None:
    request = await world.top_up("50", approved=False)
    await refuses(SlackRefused("msg_too_long"))(world, ScriptedSlack(), request)
    said = await refused(world, request)
    assert said == (
        f"Slack refused the message of {request.id} (msg_too_long), so nobody can see it in the approvals channel."
        " Nothing was approved. Reject it, and request it again."
    )


async def test_one_whose_message_was_deleted_is_approved_once_it_is_posted_again(world: World) -> None:
    slack = ScriptedSlack()
    outbox = Outbox(world.core, slack, spacing_s=0)
    request = await world.top_up("50", approved=False)
    await outbox.deliver_due()
    slack.next_update = [MessageGone("message_not_found")]
    await approvals.redraw(world.core, request.id)
    await outbox.deliver_due()

    await refused(world, request)
    await world.advance(5)
    await outbox.deliver_due()
    assert await approve(world, request) is State.APPROVED
