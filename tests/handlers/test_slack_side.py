"""What Slack tells of people, and what becomes of messages when Slack is in trouble."""

import asyncio
import logging
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from slack_sdk.errors import SlackApiError

from bot.domain import slack_faults
from bot.domain.errors import LookupFailed
from bot.domain.requests import State
from bot.services.messages import MessageGone, SlackRefused, SlackTrouble
from handlers.background_tasks import AfterAck
from handlers.slack_api import SlackDirectory, SlackPublisher, errors
from handlers.views.error_messages import SLACK_SAID, explain_slack
from tests.handlers import sample_requests
from tests.handlers.slack_driver import ALICE, APPROVALS, BOB, CAROL, SlackDriver

pytestmark = pytest.mark.by_turns(4)


async def test_names_are_groups_people_and_ids_read_live(driver: SlackDriver) -> None:
    directory = await SlackDirectory.connect(driver.client)
    assert directory.home_team == "T0SANDBOX"

    assert await directory.members(["@card-approvers"]) == {BOB, CAROL}
    assert await directory.members(["S0ADMINS", "@alice", "U0BOB"]) == {CAROL, ALICE, BOB}
    await driver.tell("groups", {"handle": "card-approvers", "users": [CAROL]})
    assert await directory.members(["@card-approvers"]) == {CAROL}
    for unknown in ("@nobody", "S0NOBODY", "@gus"):
        with pytest.raises(LookupFailed, match="nothing was done"):
            await directory.members([unknown])


async def test_of_an_address_nothing_but_a_keyed_hash_comes_from_slack(driver: SlackDriver) -> None:
    asked: list[str] = []

    def keyed(mailbox: str) -> str:
        asked.append(mailbox)
        return f"keyed {len(mailbox)}"

    directory = SlackDirectory(driver.client, home_team="T0SANDBOX", keyed=keyed)
    bob = await directory.actor(BOB)

    (mailbox,) = asked
    assert mailbox.startswith("bob@")
    assert bob.mailbox == f"keyed {len(mailbox)}"
    assert "@" not in repr(bob)
    assert (await SlackDirectory(driver.client, home_team="T0SANDBOX").actor(BOB)).mailbox == ""


async def test_a_username_is_looked_for_once_and_its_id_counts_from_then_on(driver: SlackDriver) -> None:
    """Slack allows few lists of everybody: a message that mentions people by name must not keep a click from them."""
    directory = SlackDirectory(driver.client, home_team="T0SANDBOX")

    def lists() -> int:
        return sum(call["method"] == "users.list" for call in driver.slack.workspace.calls)

    before = lists()
    for _ in range(5):
        assert await directory.members_lately(["@alice"]) == {ALICE}
        assert await directory.members(["@alice"]) == {ALICE}
    assert lists() - before == 1


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"is_ext_shared": True}, "is_ext_shared"),
        ({"members": [ALICE, BOB, "U0GUEST"]}, "has_guests"),
        ({"members": [ALICE, "U0STRANGER"]}, "has_guests"),
        ({"members": [ALICE, BOB, "U0GONE"]}, ""),
    ],
    ids=["shared", "a guest", "a stranger", "one who left"],
)
async def test_a_channel_that_others_read_is_known(
    driver: SlackDriver, change: dict[str, Any], code: str
) -> None:
    directory = await SlackDirectory.connect(driver.client)
    assert await directory.open_to_others(APPROVALS) == ""

    await driver.tell("channels", {"id": APPROVALS, **change})

    assert await directory.open_to_others(APPROVALS) == code


async def test_of_a_large_channel_guests_are_found_in_the_list_of_everybody(driver: SlackDriver) -> None:
    people = [f"U0MORE{n:02}" for n in range(30)]
    for one in people:
        await driver.tell("people", {"id": one, "name": one.lower(), "is_restricted": one.endswith("29")})
    directory = await SlackDirectory.connect(driver.client)

    await driver.tell("channels", {"id": APPROVALS, "members": people[:29]})
    assert await directory.open_to_others(APPROVALS) == ""
    await driver.tell("channels", {"id": APPROVALS, "members": people})
    assert await directory.open_to_others(APPROVALS) == "has_guests"


async def test_nothing_is_posted_or_drawn_again_in_a_channel_that_others_read(driver: SlackDriver) -> None:
    await driver.ask_top_up()
    shown = len(await driver.messages(BOB, APPROVALS))
    driver.core.channels.withheld[APPROVALS] = "has_guests"

    await driver.ask_top_up()
    assert len(await driver.messages(BOB, APPROVALS)) == shown

    driver.core.channels.withheld.clear()
    await driver.outbox.try_again()
    await driver.settle()
    assert len(await driver.messages(BOB, APPROVALS)) > shown


async def test_people_are_what_slack_says_now(driver: SlackDriver) -> None:
    directory = await SlackDirectory.connect(driver.client)

    assert (await directory.actor(ALICE)).name == "Alice Moreau"
    assert (await directory.actor("U0GUEST")).is_restricted
    assert (await directory.actor("U0STRANGER")).is_stranger
    assert (await directory.actor("U0GONE")).deleted
    await driver.tell("people", {"id": ALICE, "deleted": True})
    assert (await directory.actor(ALICE)).deleted
    with pytest.raises(LookupFailed):
        await directory.actor("U0NOBODY")


async def test_channels_are_found_by_name(driver: SlackDriver) -> None:
    directory = await SlackDirectory.connect(driver.client)

    assert await directory.channel("#card-approvals") == APPROVALS
    assert await directory.channel("C0OPS") == "C0OPS"
    with pytest.raises(LookupFailed, match="#nowhere"):
        await directory.channel("#nowhere")


@pytest.mark.parametrize("effect", ["500", "503", "error", "reset_after"])
async def test_a_failed_look_up_is_never_an_answer(driver: SlackDriver, effect: str) -> None:
    directory = await SlackDirectory.connect(driver.client)
    more = {"error": "fatal_error"} if effect == "error" else {}
    await driver.tell("faults", {"method": "users.info", "effect": effect, "times": 3, **more})

    with pytest.raises(LookupFailed):
        await directory.actor(ALICE)


async def test_over_slacks_rate_a_look_up_waits_a_little(driver: SlackDriver) -> None:
    waited: list[float] = []

    async def sleep(seconds: float) -> None:
        waited.append(seconds)

    directory = SlackDirectory(driver.client, home_team="T0SANDBOX", sleep=sleep)
    await driver.tell("faults", {"method": "users.info", "effect": "429", "seconds": 3})

    assert (await directory.actor(ALICE)).id == ALICE
    assert waited == [3]


async def post(driver: SlackDriver, dedupe: str = "card:R-7K3M:1") -> Any:
    view = sample_requests.a_card()
    return await SlackPublisher(driver.client).post(view, channel=APPROVALS, dedupe=dedupe)


async def test_a_posted_message_is_found_by_its_id_also_in_a_thread(driver: SlackDriver) -> None:
    publisher = SlackPublisher(driver.client)
    since = sample_requests.NOW.replace(year=2020)
    posted = await post(driver)
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
    assert await publisher.open_direct(ALICE) == "D0ALICE"


@pytest.mark.parametrize("ahead", [timedelta(minutes=-50), timedelta(hours=1), timedelta(days=400)])
async def test_a_posted_message_is_found_by_a_bot_whose_clock_is_wrong(
    driver: SlackDriver, ahead: timedelta
) -> None:
    publisher = SlackPublisher(driver.client)
    posted = await post(driver)
    line = await publisher.post(
        sample_requests.a_line("approval", State.PENDING),
        channel=APPROVALS,
        dedupe="line:1",
        thread_ts=posted.ts,
    )
    since = datetime.now(UTC) + ahead

    assert await publisher.find(channel=APPROVALS, dedupe="card:R-7K3M:1", since=since) == posted
    found = await publisher.find(channel=APPROVALS, dedupe="line:1", since=since, thread_ts=posted.ts)
    assert found == line


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
    driver: SlackDriver,
    fault: dict[str, Any],
    trouble: type[Exception],
    maybe_sent: bool,
    retry_after_s: float | None,
) -> None:
    await driver.tell("faults", {"method": "chat.postMessage", **fault})

    with pytest.raises(trouble) as raised:
        await post(driver)

    assert getattr(raised.value, "maybe_sent", None) is maybe_sent
    assert getattr(raised.value, "retry_after_s", None) == retry_after_s


async def test_a_message_that_is_gone_is_told_apart_from_a_channel_that_is_closed_to_us(
    driver: SlackDriver,
) -> None:
    publisher = SlackPublisher(driver.client)
    with pytest.raises(MessageGone):
        await publisher.update(sample_requests.a_card(), channel=APPROVALS, ts="1.0001", dedupe="d")
    with pytest.raises(SlackTrouble):
        await publisher.update(sample_requests.a_card(), channel="C0NOWHERE", ts="1.0001", dedupe="d")


@pytest.mark.parametrize("said", ["Mon, 23 Nov 2026 03:00:00 GMT", "", "soon", "nan", "-1"])
def test_a_rate_limit_that_gives_no_number_of_seconds_is_one_all_the_same(said: str) -> None:
    """A proxy may answer with a date; an error in reading it would count as a message that cannot be drawn."""
    answer = SimpleNamespace(status_code=429, headers={"Retry-After": said}, data={})

    error = SlackApiError("no", answer)  # type: ignore[no-untyped-call]  # the SDK's own is not typed

    assert errors.retry_after_s(error) == 1


async def test_a_direct_message_waits_until_the_app_may_write_to_people(driver: SlackDriver) -> None:
    fault = {"method": "chat.postMessage", "effect": "error", "error": "messages_tab_disabled"}
    await driver.tell("faults", fault)
    with pytest.raises(SlackTrouble):
        await SlackPublisher(driver.client).post(sample_requests.a_card(), channel="D0ALICE", dedupe="d:1")
    assert "Messages Tab" in slack_faults.explained("messages_tab_disabled")


@pytest.mark.parametrize(
    "error", ["token_revoked", "not_in_channel", "is_archived", "missing_scope", "odd_word"]
)
async def test_no_word_of_slack_about_access_loses_a_request(driver: SlackDriver, error: str) -> None:
    """Ten refusals: twice as many as once were enough to drop a card for good."""
    fault = {"method": "chat.postMessage", "effect": "error", "error": error, "times": 10}
    await driver.tell("faults", fault)
    request = await driver.ask_top_up()
    for _ in range(12):
        driver.world.clock.advance(125)
        await driver.settle()

    assert request.id in (await driver.card(request.id))["text"]


async def test_a_layout_that_slack_refuses_arrives_as_plain_text_that_says_where_to_decide(
    driver: SlackDriver,
) -> None:
    await driver.tell("faults", {"method": "chat.postMessage", "effect": "error", "error": "invalid_blocks"})
    request = await driver.ask_top_up()

    (message,) = await driver.messages(BOB, APPROVALS)

    assert request.id in message["text"]
    assert f"/requests show {request.id}" in message["text"]
    assert not message.get("blocks")


async def test_a_post_whose_answer_was_lost_is_not_doubled(driver: SlackDriver) -> None:
    await driver.tell("faults", {"method": "chat.postMessage", "effect": "reset_after"})

    request = await driver.ask_top_up()
    for _ in range(3):
        driver.world.clock.advance(5)
        await driver.settle()

    assert await driver.card(request.id), "exactly one, says the helper"


async def test_an_approval_holds_while_slack_cannot_draw_it(driver: SlackDriver) -> None:
    request = await driver.ask_top_up()
    await driver.press(BOB, await driver.card(request.id), "request:approve")
    await driver.tell("faults", {"method": "chat.update", "effect": "503", "times": 2})
    await driver.submit(BOB)
    assert (await driver.newest()).state is State.APPROVED

    for _ in range(4):
        driver.world.clock.advance(10)
        await driver.settle()
    assert "Approved" in (await driver.card(request.id))["text"]


async def test_an_error_of_ours_keeps_the_ack_and_names_a_reference_that_is_in_the_log(
    driver: SlackDriver, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def broken(*_: Any, **__: Any) -> None:
        raise RuntimeError("planted")

    monkeypatch.setattr("bot.services.money.float_lookups.float_now", broken)
    monkeypatch.setattr("bot.services.requests.drafts.begin", broken)
    with caplog.at_level(logging.ERROR, "countersign.handlers"):
        outcome = await driver.command(ALICE, "/float")
        assert outcome["acked"]
        answer = (await driver.shown_to(ALICE))["text"]
        await driver.command(ALICE, "/card topup")
        outcome = await driver.submit(ALICE, {"card": "3205", "amount_usd": "5", "reason": "Lunch"})
        assert outcome["acked"]
        shown = str(await driver.modal(ALICE))

    references = [str(getattr(r, "reference", "")) for r in caplog.records]
    assert len(references) == 2
    assert references[0] in answer
    assert references[1] in shown
    assert "planted" not in answer + shown


async def test_an_answer_that_slack_did_not_take_is_no_error_of_ours_and_says_where_to_look(
    driver: SlackDriver, caplog: pytest.LogCaptureFixture
) -> None:
    await driver.tell("faults", {"method": "response_url", "effect": "reset_after", "times": 2})
    with caplog.at_level(logging.WARNING, "countersign.handlers"):
        await driver.command(ALICE, "/float")

    assert [record.message for record in caplog.records] == ["handlers.slack_away"]
    said = (await driver.shown_to(ALICE))["text"]
    assert "Slack did not take this (no answer)" in said
    assert "look at /requests" in said


@pytest.mark.parametrize("command", ["/float", "/card show 3205", "/countersign status"])
async def test_an_answer_that_the_response_url_refused_comes_as_a_direct_message(
    driver: SlackDriver, command: str
) -> None:
    await driver.tell("faults", {"method": "response_url", "effect": "500", "times": 9})
    await driver.command(ALICE, command)

    (answer,) = [m for m in await driver.messages(ALICE, "D0ALICE") if m["is_app"]]
    assert answer["blocks"]


@pytest.mark.parametrize("code", [*SLACK_SAID, "internal_error", "a_word_of_tomorrow", "no answer"])
def test_what_is_said_of_slacks_trouble_never_says_that_nothing_was_recorded(code: str) -> None:
    """What was done may be recorded by then: it can be the answer alone that Slack did not take."""
    assert "Nothing" not in explain_slack(code)


async def test_a_trigger_that_died_is_explained(driver: SlackDriver) -> None:
    await driver.tell("faults", {"method": "views.open", "effect": "error", "error": "expired_trigger_id"})
    await driver.command(ALICE, "/card topup")

    assert "three seconds" in (await driver.shown_to(ALICE))["text"]


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


async def test_an_approver_group_that_becomes_too_small_is_an_alert(driver: SlackDriver) -> None:
    await driver.tell("groups", {"handle": "card-approvers", "users": [CAROL]})
    await driver.settle()
    alerts = await driver.messages(CAROL, "C0ALERTS")
    assert any("approver" in str(m) for m in alerts)

    await driver.tell("groups", {"handle": "card-approvers", "users": [BOB, CAROL]})
    driver.world.clock.advance(timedelta(minutes=1).total_seconds())
    await driver.settle()
    assert any("Resolved" in m["text"] for m in await driver.messages(CAROL, "C0ALERTS"))


@pytest.mark.parametrize("code", ["user_not_found", "user_not_visible"])
async def test_a_token_of_another_workspace_does_not_know_the_account_of_the_bot(
    driver: SlackDriver, code: str
) -> None:
    """What it says of other accounts tells nothing of them then."""
    directory = await SlackDirectory.connect(driver.client)
    late = SlackDirectory(driver.client, home_team="T0SANDBOX")
    assert await directory.knows_itself()
    assert await late.knows_itself()
    assert not await SlackDirectory(driver.client, home_team="T0ANOTHER").knows_itself()

    await driver.tell("faults", {"method": "users.info", "effect": "error", "error": code, "times": 2})

    assert not await directory.knows_itself()
    assert not await late.knows_itself()
