"""What Slack tells of people, and what becomes of messages when Slack is in trouble."""

import asyncio
import logging
from datetime import timedelta
from typing import Any

import pytest

from bot.domain.errors import LookupFailed
from bot.domain.requests import State
from bot.services.messages import MessageGone, SlackRefused, SlackTrouble
from handlers.background_tasks import AfterAck
from handlers.slack_api import SlackDirectory, SlackPublisher
from tests.handlers import sample_requests
from tests.handlers.office import ALICE, APPROVALS, BOB, CAROL, Office


async def test_names_are_groups_people_and_ids_read_live(office: Office) -> None:
    directory = await SlackDirectory.connect(office.client)
    assert directory.home_team == "T0SANDBOX"

    assert await directory.members(["@card-approvers"]) == {BOB, CAROL}
    assert await directory.members(["S0ADMINS", "@alice", "U0BOB"]) == {CAROL, ALICE, BOB}
    await office.tell("groups", {"handle": "card-approvers", "users": [CAROL]})
    assert await directory.members(["@card-approvers"]) == {CAROL}
    for unknown in ("@nobody", "S0NOBODY", "@gus"):
        with pytest.raises(LookupFailed, match="nothing was done"):
            await directory.members([unknown])


async def test_people_are_what_slack_says_now(office: Office) -> None:
    directory = await SlackDirectory.connect(office.client)

    assert (await directory.actor(ALICE)).name == "alice"
    assert (await directory.actor("U0GUEST")).is_restricted
    assert (await directory.actor("U0STRANGER")).is_stranger
    assert (await directory.actor("U0GONE")).deleted
    await office.tell("people", {"id": ALICE, "deleted": True})
    assert (await directory.actor(ALICE)).deleted
    with pytest.raises(LookupFailed):
        await directory.actor("U0NOBODY")


async def test_channels_are_found_by_name(office: Office) -> None:
    directory = await SlackDirectory.connect(office.client)

    assert await directory.channel("#card-approvals") == APPROVALS
    assert await directory.channel("C0OPS") == "C0OPS"
    with pytest.raises(LookupFailed, match="#nowhere"):
        await directory.channel("#nowhere")


@pytest.mark.parametrize("effect", ["500", "503", "error", "reset_after"])
async def test_a_failed_look_up_is_never_an_answer(office: Office, effect: str) -> None:
    directory = await SlackDirectory.connect(office.client)
    more = {"error": "fatal_error"} if effect == "error" else {}
    await office.tell("faults", {"method": "users.info", "effect": effect, "times": 3, **more})

    with pytest.raises(LookupFailed):
        await directory.actor(ALICE)


async def test_over_slacks_rate_a_look_up_waits_a_little(office: Office) -> None:
    waited: list[float] = []

    async def sleep(seconds: float) -> None:
        waited.append(seconds)

    directory = SlackDirectory(office.client, home_team="T0SANDBOX", sleep=sleep)
    await office.tell("faults", {"method": "users.info", "effect": "429", "seconds": 3})

    assert (await directory.actor(ALICE)).id == ALICE
    assert waited == [3]


async def post(office: Office, dedupe: str = "card:R-7K3M:1") -> Any:
    picture = sample_requests.a_card()
    return await SlackPublisher(office.client).post(picture, channel=APPROVALS, dedupe=dedupe)


async def test_a_posted_message_is_found_by_its_id_also_in_a_thread(office: Office) -> None:
    publisher = SlackPublisher(office.client)
    since = sample_requests.NOW.replace(year=2020)
    posted = await post(office)
    line = await publisher.post(
        sample_requests.a_line("approval", State.PENDING),
        channel=APPROVALS,
        dedupe="line:1",
        thread_ts=posted.ts,
    )

    assert await publisher.find(channel=APPROVALS, dedupe="card:R-7K3M:1", since=since) == posted
    found = await publisher.find(channel=APPROVALS, dedupe="line:1", since=since, thread_ts=posted.ts)
    assert found == line
    assert await publisher.find(channel=APPROVALS, dedupe="other", since=since) is None
    link = await publisher.permalink(channel=APPROVALS, ts=posted.ts)
    assert link is not None
    assert link.startswith("https://")
    assert await publisher.open_direct(ALICE) == "D0ALICE"


@pytest.mark.parametrize(
    ("fault", "trouble", "maybe_sent", "retry_after_s"),
    [
        ({"effect": "429", "seconds": 7}, SlackTrouble, False, 7),
        ({"effect": "500"}, SlackTrouble, True, None),
        ({"effect": "503"}, SlackTrouble, True, None),
        ({"effect": "reset_after"}, SlackTrouble, True, None),
        ({"effect": "error", "error": "is_archived"}, SlackTrouble, False, None),
        ({"effect": "error", "error": "token_revoked"}, SlackTrouble, False, None),
        ({"effect": "error", "error": "a_word_of_the_future"}, SlackTrouble, False, None),
        ({"effect": "error", "error": "msg_too_long"}, SlackRefused, None, None),
    ],
)
async def test_what_slack_answers_to_a_post_says_whether_it_may_have_been_sent(
    office: Office,
    fault: dict[str, Any],
    trouble: type[Exception],
    maybe_sent: bool,
    retry_after_s: float | None,
) -> None:
    await office.tell("faults", {"method": "chat.postMessage", **fault})

    with pytest.raises(trouble) as raised:
        await post(office)

    assert getattr(raised.value, "maybe_sent", None) is maybe_sent
    assert getattr(raised.value, "retry_after_s", None) == retry_after_s


async def test_a_message_that_is_gone_is_told_from_a_channel_that_is_closed_to_us(office: Office) -> None:
    publisher = SlackPublisher(office.client)
    with pytest.raises(MessageGone):
        await publisher.update(sample_requests.a_card(), channel=APPROVALS, ts="1.0001")
    with pytest.raises(SlackTrouble):
        await publisher.update(sample_requests.a_card(), channel="C0NOWHERE", ts="1.0001")


@pytest.mark.parametrize(
    "error", ["token_revoked", "not_in_channel", "is_archived", "missing_scope", "odd_word"]
)
async def test_no_word_of_slack_about_access_loses_a_request(office: Office, error: str) -> None:
    """Ten refusals: twice as many as once were enough to drop a card for good."""
    fault = {"method": "chat.postMessage", "effect": "error", "error": error, "times": 10}
    await office.tell("faults", fault)
    request = await office.ask_top_up()
    for _ in range(12):
        office.world.clock.advance(125)
        await office.settle()

    assert request.id in (await office.card(request.id))["text"]


async def test_a_layout_that_slack_refuses_arrives_as_plain_text_that_says_where_to_decide(
    office: Office,
) -> None:
    await office.tell("faults", {"method": "chat.postMessage", "effect": "error", "error": "invalid_blocks"})
    request = await office.ask_top_up()

    (message,) = await office.messages(BOB, APPROVALS)

    assert request.id in message["text"]
    assert f"/requests show {request.id}" in message["text"]
    assert not message.get("blocks")


async def test_a_post_whose_answer_was_lost_is_not_doubled(office: Office) -> None:
    await office.tell("faults", {"method": "chat.postMessage", "effect": "reset_after"})

    request = await office.ask_top_up()
    for _ in range(3):
        office.world.clock.advance(5)
        await office.settle()

    assert await office.card(request.id), "exactly one, says the helper"


async def test_an_approval_holds_while_slack_cannot_draw_it(office: Office) -> None:
    request = await office.ask_top_up()
    await office.press(BOB, await office.card(request.id), "request:approve")
    await office.tell("faults", {"method": "chat.update", "effect": "503", "times": 2})
    await office.submit(BOB)
    assert (await office.newest()).state is State.APPROVED

    for _ in range(4):
        office.world.clock.advance(10)
        await office.settle()
    assert "approved" in (await office.card(request.id))["text"]


async def test_an_error_of_ours_keeps_the_ack_and_names_a_reference_that_is_in_the_log(
    office: Office, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def broken(*_: Any, **__: Any) -> None:
        raise RuntimeError("planted")

    monkeypatch.setattr("bot.services.money.float_lookups.float_now", broken)
    monkeypatch.setattr("bot.services.requests.drafts.begin", broken)
    with caplog.at_level(logging.ERROR, "countersign.handlers"):
        outcome = await office.command(ALICE, "/float")
        assert outcome["acked"]
        told = (await office.told(ALICE))["text"]
        await office.command(ALICE, "/card topup")
        outcome = await office.submit(ALICE, {"card": "4242", "amount_usd": "5", "reason": "Lunch"})
        assert outcome["acked"]
        shown = str(await office.modal(ALICE))

    references = [str(getattr(r, "reference", "")) for r in caplog.records]
    assert len(references) == 2
    assert references[0] in told
    assert references[1] in shown
    assert "planted" not in told + shown


async def test_a_trigger_that_died_is_explained(office: Office) -> None:
    await office.tell("faults", {"method": "views.open", "effect": "error", "error": "expired_trigger_id"})
    await office.command(ALICE, "/card topup")

    assert "three seconds" in (await office.told(ALICE))["text"]


async def test_shutdown_waits_for_what_runs_and_ends_what_hangs() -> None:
    after, done = AfterAck(), []

    async def work(seconds: float) -> None:
        await asyncio.sleep(seconds)
        done.append(seconds)

    after.start(work(0.01))
    after.start(work(60))

    assert await after.drain(0.2) == 1
    assert done == [0.01]
    assert len(after) == 0


async def test_an_approver_group_that_becomes_too_small_is_an_alert(office: Office) -> None:
    await office.tell("groups", {"handle": "card-approvers", "users": [CAROL]})
    await office.settle()
    alerts = await office.messages(CAROL, "C0ALERTS")
    assert any("approver" in str(m) for m in alerts)

    await office.tell("groups", {"handle": "card-approvers", "users": [BOB, CAROL]})
    office.world.clock.advance(timedelta(minutes=1).total_seconds())
    await office.settle()
    assert any("Resolved" in m["text"] for m in await office.messages(CAROL, "C0ALERTS"))
