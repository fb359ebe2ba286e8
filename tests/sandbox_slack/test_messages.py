"""Messages, threads, ephemerals, response URLs, files, rates and scopes."""

import copy
from typing import Any

import pytest
from slack_bolt.async_app import AsyncApp
from slack_sdk.errors import SlackApiError

from tests.sandbox_slack.conftest import MakeStage
from tests.sandbox_slack.stage import MANIFEST, Stage, button

Json = dict[str, Any]


def _without_scope(scope: str) -> Json:
    manifest = copy.deepcopy(MANIFEST)
    manifest["oauth_config"]["scopes"]["bot"].remove(scope)
    return manifest


async def _refused(call: Any) -> str:
    """The error with which Slack's own client reports a refusal."""
    with pytest.raises(SlackApiError) as caught:
        await call
    return str(caught.value.response["error"])


async def test_a_message_is_kept_as_slack_keeps_it(make_stage: MakeStage) -> None:
    stage = await make_stage(connect=False)
    blocks = [{"type": "section", "text": {"type": "mrkdwn", "text": "*R-1* pending"}}]
    sent = await stage.client.chat_postMessage(channel="#card-ops", text="R-1", blocks=blocks)
    message = sent["message"]

    assert sent["channel"] == "C0OPS"
    assert (message["user"], message["bot_id"], message["app_id"]) == ("U0BOT", "B0BOT", "A0COUNTERSIGN")
    assert message["blocks"][0]["block_id"]
    assert message["blocks"][0]["text"]["verbatim"] is False


async def test_timestamps_are_unique_and_rise(make_stage: MakeStage) -> None:
    stage = await make_stage(connect=False)
    channels = ("C0OPS", "C0ALERTS", "C0APPROVALS", "C0OPS", "C0ALERTS")
    posts = [await stage.client.chat_postMessage(channel=channel, text="x") for channel in channels]
    stamps = [post["ts"] for post in posts]

    assert stamps == sorted(set(stamps))


async def test_update_replaces_what_is_given_and_keeps_the_rest(make_stage: MakeStage) -> None:
    stage = await make_stage(connect=False)
    metadata = {"event_type": "request", "event_payload": {"id": "R-1"}}
    sent = await stage.client.chat_postMessage(
        channel="C0OPS", text="a", blocks=[button()], metadata=metadata
    )
    await stage.client.chat_update(channel="C0OPS", ts=sent["ts"], text="b")
    [kept] = await stage.messages("U0BOB", "C0OPS")
    await stage.client.chat_update(channel="C0OPS", ts=sent["ts"], text="c", blocks=[])
    [bare] = await stage.messages("U0BOB", "C0OPS")

    assert (kept["text"], len(kept["blocks"]), kept["metadata"]) == ("b", 1, metadata)
    assert kept["edited"]
    assert (bare["text"], bare["blocks"], bare["metadata"]) == ("c", [], metadata)


async def test_only_its_own_messages_can_be_updated_or_deleted(make_stage: MakeStage) -> None:
    stage = await make_stage(connect=False)
    typed = await stage.act("message", user="U0BOB", channel="C0OPS", text="mine")
    where = {"channel": "C0OPS", "ts": typed["ts"]}

    assert await _refused(stage.client.chat_update(**where, text="x")) == "cant_update_message"
    assert await _refused(stage.client.chat_delete(**where)) == "cant_delete_message"
    assert (
        await _refused(stage.client.chat_update(channel="C0OPS", ts="1.0", text="x")) == "message_not_found"
    )
    assert await _refused(stage.client.chat_update(channel="C404", ts="1.0", text="x")) == "channel_not_found"


async def test_an_ephemeral_is_for_one_person_and_cannot_be_updated(make_stage: MakeStage) -> None:
    stage = await make_stage(connect=False)
    sent = await stage.client.chat_postEphemeral(channel="C0OPS", user="U0ALICE", text="psst")

    assert [m["text"] for m in await stage.messages("U0ALICE", "C0OPS")] == ["psst"]
    assert await stage.messages("U0BOB", "C0OPS") == []
    ts = sent["message_ts"]
    assert await _refused(stage.client.chat_update(channel="C0OPS", ts=ts, text="x")) == "message_not_found"
    stranger = stage.client.chat_postEphemeral(channel="C0OPS", user="U0STRANGER", text="psst")
    assert await _refused(stranger) == "user_not_in_channel"


async def test_where_the_app_may_not_write(make_stage: MakeStage) -> None:
    stage = await make_stage(connect=False)
    await stage.post("channels", name="old", members=["U0BOT"], archived=True)
    await stage.post("channels", name="secret", members=["U0BOB"], is_private=True)
    post = stage.client.chat_postMessage

    assert await _refused(post(channel="C0GENERAL", text="x")) == "not_in_channel"
    assert await _refused(post(channel="#old", text="x")) == "is_archived"
    assert await _refused(post(channel="#secret", text="x")) == "channel_not_found"
    assert await _refused(post(channel="U0GONE", text="x")) == "user_disabled"
    assert (await stage.api("chat.postMessage", channel="C0OPS"))["error"] == "no_text"
    assert await _refused(post(channel="C0OPS", text="x", thread_ts="1.0")) == "thread_not_found"
    assert (await post(channel="U0BOB", text="x"))["channel"] == "D0BOB"


async def test_a_thread_is_counted_on_its_parent_and_left_out_of_history(make_stage: MakeStage) -> None:
    stage = await make_stage(connect=False)
    parent = await stage.client.chat_postMessage(channel="C0OPS", text="R-1")
    reply = await stage.act("message", user="U0BOB", channel="C0OPS", text="why?", thread_ts=parent["ts"])
    await stage.client.chat_postMessage(channel="C0OPS", text="because", thread_ts=reply["ts"])
    history = await stage.client.conversations_history(channel="C0OPS")
    replies = await stage.client.conversations_replies(channel="C0OPS", ts=parent["ts"])
    link = await stage.client.chat_getPermalink(channel="C0OPS", message_ts=reply["ts"])

    assert [(m["text"], m["reply_count"]) for m in history["messages"]] == [("R-1", 2)]
    assert [m["text"] for m in replies["messages"]] == ["R-1", "why?", "because"]
    assert {m["thread_ts"] for m in replies["messages"]} == {parent["ts"]}
    assert f"?thread_ts={parent['ts']}" in link["permalink"]


async def test_metadata_is_read_back_only_on_request_and_its_form_is_checked(make_stage: MakeStage) -> None:
    """How an outbox finds out after a crash whether its message was posted."""
    stage = await make_stage(connect=False)
    metadata = {"event_type": "request", "event_payload": {"outbox_id": "7"}}
    await stage.client.chat_postMessage(channel="C0OPS", text="x", metadata=metadata)
    plain = await stage.client.conversations_history(channel="C0OPS")
    whole = await stage.client.conversations_history(channel="C0OPS", include_all_metadata=True)

    assert "metadata" not in plain["messages"][0]
    assert whole["messages"][0]["metadata"] == metadata
    wrong = stage.client.chat_postMessage(channel="C0OPS", text="x", metadata={"event_type": "r"})
    assert await _refused(wrong) == "invalid_metadata_format"


async def test_history_pages_by_cursor_and_cuts_by_time(make_stage: MakeStage) -> None:
    stage = await make_stage(connect=False)
    stamps = [
        (await stage.act("message", user="U0BOB", channel="C0OPS", text=str(n)))["ts"] for n in range(5)
    ]
    first = await stage.client.conversations_history(channel="C0OPS", limit=3)
    cursor = first["response_metadata"]["next_cursor"]
    second = await stage.client.conversations_history(channel="C0OPS", limit=3, cursor=cursor)
    since = await stage.client.conversations_history(channel="C0OPS", oldest=stamps[2])
    from_then = await stage.client.conversations_history(channel="C0OPS", oldest=stamps[2], inclusive=True)

    assert [m["text"] for m in first["messages"]] == ["4", "3", "2"]
    assert ([m["text"] for m in second["messages"]], second["has_more"]) == (["1", "0"], False)
    assert [m["text"] for m in since["messages"]] == ["4", "3"]
    assert len(from_then["messages"]) == 3
    assert await _refused(stage.client.conversations_history(channel="C0OPS", cursor="?")) == "invalid_cursor"


async def test_a_burst_into_one_channel_is_limited_to_one_a_second(make_stage: MakeStage) -> None:
    stage = await make_stage(connect=False)
    answers = [await stage.api("chat.postMessage", channel="C0OPS", text=str(n)) for n in range(4)]
    elsewhere = await stage.api("chat.postMessage", channel="C0ALERTS", text="x")
    await stage.post("clock", advance_seconds=1.1)
    later = await stage.api("chat.postMessage", channel="C0OPS", text="4")

    assert [one["_status"] for one in answers] == [200, 200, 200, 429]
    assert (answers[3]["error"], answers[3]["_headers"]["Retry-After"]) == ("ratelimited", "1")
    assert elsewhere["ok"]
    assert later["ok"]


async def test_a_method_over_its_tier_waits_for_the_minute_to_pass(make_stage: MakeStage) -> None:
    stage = await make_stage(connect=False)
    answers = [await stage.api("usergroups.list") for _ in range(21)]

    assert [one["_status"] for one in answers] == [200] * 20 + [429]
    assert 55 <= int(answers[20]["_headers"]["Retry-After"]) <= 60
    await stage.post("clock", advance_seconds=61)
    assert (await stage.api("usergroups.list"))["ok"]


async def test_a_method_whose_scope_is_not_declared_is_refused_with_both_lists(make_stage: MakeStage) -> None:
    stage = await make_stage(connect=False, manifest=_without_scope("usergroups:read"))
    refused = await stage.api("usergroups.users.list", usergroup="S0APPROVERS")

    assert (refused["error"], refused["needed"]) == ("missing_scope", "usergroups:read")
    assert "chat:write" in refused["provided"].split(",")


async def test_the_scope_of_a_conversation_depends_on_its_kind(make_stage: MakeStage) -> None:
    stage = await make_stage(connect=False)
    await stage.post("channels", id="G0SECRET", name="secret", members=["U0BOT"], is_private=True)

    assert (await stage.api("conversations.info", channel="C0OPS"))["ok"]
    assert (await stage.api("conversations.info", channel="G0SECRET"))["needed"] == "groups:read"
    listed = await stage.api("conversations.list", types="public_channel,private_channel")
    assert listed["needed"] == "groups:read"
    assert (await stage.api("conversations.history", channel="G0SECRET"))["needed"] == "groups:history"


async def test_tokens_are_told_apart(make_stage: MakeStage) -> None:
    stage = await make_stage(connect=False)
    http, api = stage.http(), stage.running.api_url

    async def error(method: str, token: str | None) -> str:
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        async with http.post(f"{api}{method}", headers=headers) as answer:
            return str((await answer.json()).get("error"))

    assert await error("auth.test", None) == "not_authed"
    assert await error("auth.test", "xoxb-wrong") == "invalid_auth"
    assert await error("auth.test", stage.running.app_token) == "not_allowed_token_type"
    assert await error("apps.connections.open", stage.running.bot_token) == "not_allowed_token_type"
    assert await error("chat.postMesage", stage.running.bot_token) == "unknown_method"


async def test_no_token_enters_the_log_of_calls(make_stage: MakeStage) -> None:
    stage = await make_stage(connect=False)
    async with stage.http().get(
        f"{stage.running.api_url}auth.test", params={"token": stage.running.bot_token}
    ) as answer:
        assert (await answer.json())["ok"]

    state = str(await stage.state())
    assert "auth.test" in state
    assert stage.running.bot_token not in state


class Urls:
    """Collects the response URLs an app is given."""

    def __init__(self) -> None:
        self.given: list[str] = []

    def wire(self, app: AsyncApp) -> None:
        @app.command("/card")
        async def card(ack: Any, body: Json) -> None:
            self.given.append(body["response_url"])
            await ack()

        @app.action("approve")
        async def approve(ack: Any, body: Json) -> None:
            self.given.append(body["response_url"])
            await ack()


async def test_a_response_url_works_five_times_within_thirty_minutes(make_stage: MakeStage) -> None:
    urls = Urls()
    stage = await make_stage(wire=urls.wire)
    await stage.act("command", user="U0ALICE", channel="C0OPS", text="/card")
    await stage.act("command", user="U0ALICE", channel="C0OPS", text="/card")
    invalid = await stage.respond(urls.given[0], text="")
    used = [await stage.respond(urls.given[0], text=str(n)) for n in range(6)]
    await stage.post("clock", advance_seconds=1801)
    late = await stage.respond(urls.given[1], text="x")

    assert invalid[0] == 400
    assert used[:5] == [(200, "ok")] * 5
    assert (used[5][0], "used_url" in used[5][1]) == (404, True)
    assert (late[0], "expired_url" in late[1]) == (404, True)


async def test_a_response_url_can_fail_too_and_that_is_no_use_of_it(make_stage: MakeStage) -> None:
    urls = Urls()
    stage = await make_stage(wire=urls.wire)
    await stage.act("command", user="U0ALICE", channel="C0OPS", text="/card")
    await stage.post("faults", method="response_url", effect="429", times=5)
    refused = [(await stage.respond(urls.given[0], text="x"))[0] for _ in range(5)]
    displayed = [(await stage.respond(urls.given[0], text="x"))[0] for _ in range(6)]

    assert refused == [429] * 5
    assert displayed == [200] * 5 + [404]


async def test_a_response_url_answers_privately_unless_told_otherwise(make_stage: MakeStage) -> None:
    urls = Urls()
    stage = await make_stage(wire=urls.wire)
    await stage.act("command", user="U0ALICE", channel="C0GENERAL", text="/card")
    await stage.respond(urls.given[0], text="for you")
    await stage.respond(urls.given[0], text="for all", response_type="in_channel")

    assert [m["text"] for m in await stage.messages("U0ALICE", "C0GENERAL")] == ["for you", "for all"]
    assert [m["text"] for m in await stage.messages("U0BOB", "C0GENERAL")] == ["for all"]


async def test_a_response_url_replaces_and_deletes_the_message_it_came_from(make_stage: MakeStage) -> None:
    urls = Urls()
    stage = await make_stage(wire=urls.wire)
    sent = await stage.client.chat_postEphemeral(channel="C0OPS", user="U0BOB", text="?", blocks=[button()])
    await stage.act("click", user="U0BOB", channel="C0OPS", ts=sent["message_ts"], action_id="approve")
    await stage.respond(urls.given[0], text="Done", replace_original=True)
    replaced = await stage.messages("U0BOB", "C0OPS")
    await stage.respond(urls.given[0], delete_original=True)

    assert [(m["text"], m["blocks"], m["ephemeral"]) for m in replaced] == [("Done", [], True)]
    assert await stage.messages("U0BOB", "C0OPS") == []


async def test_a_click_tells_where_it_was_and_what_the_message_says(make_stage: MakeStage) -> None:
    received: list[Json] = []

    def wire(app: AsyncApp) -> None:
        @app.action("approve")
        async def approve(ack: Any, body: Json) -> None:
            received.append(body)
            await ack()

    stage = await make_stage(wire=wire)
    sent = await stage.client.chat_postMessage(channel="C0APPROVALS", text="R-1", blocks=[button()])
    hidden = await stage.client.chat_postEphemeral(channel="C0OPS", user="U0BOB", text="?", blocks=[button()])
    await stage.act("click", user="U0BOB", channel="C0APPROVALS", ts=sent["ts"], action_id="approve")
    await stage.act("click", user="U0BOB", channel="C0OPS", ts=hidden["message_ts"], action_id="approve")
    refused = await stage.post(
        "act/click", 400, user="U0CAROL", channel="C0OPS", ts=hidden["message_ts"], action_id="approve"
    )

    assert received[0]["actions"][0]["value"] == "R-1"
    assert received[0]["message"]["text"] == "R-1"
    assert received[0]["user"]["team_id"] == "T0SANDBOX"
    assert received[1]["container"]["is_ephemeral"] is True
    assert "message" not in received[1]
    assert refused["error"] == "only U0BOB sees that message"


async def test_an_overflow_menu_sends_the_chosen_option(make_stage: MakeStage) -> None:
    received: list[Json] = []

    def wire(app: AsyncApp) -> None:
        @app.action("more")
        async def more(ack: Any, action: Json) -> None:
            received.append(action)
            await ack()

    options = [{"text": {"type": "plain_text", "text": t}, "value": t.lower()} for t in ("Cancel", "Copy")]
    section = {
        "type": "section",
        "text": {"type": "mrkdwn", "text": "R-1"},
        "accessory": {"type": "overflow", "action_id": "more", "options": options},
    }
    stage = await make_stage(wire=wire)
    sent = await stage.client.chat_postMessage(channel="C0OPS", text="R-1", blocks=[section])
    click = {"user": "U0ALICE", "channel": "C0OPS", "ts": sent["ts"], "action_id": "more"}
    await stage.act("click", **click, selected_option="cancel")

    assert received[0]["selected_option"]["value"] == "cancel"
    assert (await stage.post("act/click", 400, **click, selected_option="x"))[
        "error"
    ] == "more offers no option 'x'"


async def test_a_file_goes_up_in_three_steps(make_stage: MakeStage) -> None:
    stage = await make_stage(connect=False)
    parent = await stage.client.chat_postMessage(channel="C0OPS", text="Export")
    done = await stage.client.files_upload_v2(
        channel="C0OPS",
        thread_ts=parent["ts"],
        filename="ledger.csv",
        content="a,b\n1,2\n",
        initial_comment="Here",
    )
    shown = await stage.messages("U0BOB", "C0OPS")

    assert done["files"][0]["name"] == "ledger.csv"
    assert (shown[1]["files"][0]["size"], shown[1]["text"], shown[1]["thread_ts"]) == (
        8,
        "Here",
        parent["ts"],
    )


@pytest.mark.parametrize("effect", ["429", "500", "503"])
async def test_a_switched_on_fault_strikes_the_nth_call_and_does_nothing(
    make_stage: MakeStage, effect: str
) -> None:
    stage = await make_stage(connect=False)
    await stage.post("faults", method="chat.postMessage", effect=effect, nth=2, seconds=7)
    posts = []
    for _ in range(3):
        async with stage.http().post(
            f"{stage.running.api_url}chat.postMessage",
            json={"channel": "C0OPS", "text": "x"},
            headers={"Authorization": f"Bearer {stage.running.bot_token}"},
        ) as answer:
            posts.append((answer.status, answer.headers.get("Retry-After")))

    assert posts == [(200, None), (int(effect), "7" if effect == "429" else None), (200, None)]
    assert len(await stage.messages("U0BOB", "C0OPS")) == 2


async def test_posting_can_work_while_editing_fails(make_stage: MakeStage) -> None:
    stage = await make_stage(connect=False)
    await stage.post("faults", method="chat.update", effect="error", error="fatal_error", times=100)
    sent = await stage.client.chat_postMessage(channel="C0OPS", text="x")

    assert await _refused(stage.client.chat_update(channel="C0OPS", ts=sent["ts"], text="y")) == "fatal_error"


async def test_a_reset_connection_hides_that_the_message_was_posted(make_stage: MakeStage) -> None:
    """The case an outbox must survive: Slack's client sees an error, the channel shows the message."""
    stage = await make_stage(connect=False)
    await stage.post("faults", method="chat.postMessage", effect="reset_after")
    with pytest.raises(Exception, match=r"(?i)disconnected|reset"):
        await stage.client.chat_postMessage(channel="C0OPS", text="x")

    assert len(await stage.messages("U0BOB", "C0OPS")) == 1


async def test_someone_with_the_token_can_tamper_behind_the_apps_back(make_stage: MakeStage) -> None:
    stage: Stage = await make_stage(connect=False)
    sent = await stage.client.chat_postMessage(channel="C0OPS", text="R-1", blocks=[button()])
    await stage.act("edit", channel="C0OPS", ts=sent["ts"], text="all is well", blocks=[])
    [edited] = await stage.messages("U0BOB", "C0OPS")
    await stage.act("delete", channel="C0OPS", ts=sent["ts"])

    assert (edited["text"], edited["blocks"]) == ("all is well", [])
    assert await stage.messages("U0BOB", "C0OPS") == []


async def test_a_reply_sent_to_the_channel_too_is_in_its_history(make_stage: MakeStage) -> None:
    stage = await make_stage(connect=False)
    parent = await stage.client.chat_postMessage(channel="C0OPS", text="R-1")
    where = {"channel": "C0OPS", "thread_ts": parent["ts"]}
    await stage.client.chat_postMessage(**where, text="quietly")
    await stage.client.chat_postMessage(**where, text="for all to see", reply_broadcast=True)
    history = await stage.client.conversations_history(channel="C0OPS")

    assert [m["text"] for m in history["messages"]] == ["for all to see", "R-1"]


async def test_feedback_buttons_send_the_one_that_was_pressed(make_stage: MakeStage) -> None:
    received: list[Json] = []

    def wire(app: AsyncApp) -> None:
        @app.action("rate")
        async def rate(ack: Any, action: Json) -> None:
            received.append(action)
            await ack()

    buttons = {
        name: {"text": {"type": "plain_text", "text": name}, "value": name}
        for name in ("positive_button", "negative_button")
    }
    rating = {
        "type": "context_actions",
        "elements": [{"type": "feedback_buttons", "action_id": "rate", **buttons}],
    }
    stage = await make_stage(wire=wire)
    sent = await stage.client.chat_postMessage(channel="C0OPS", text="R-1", blocks=[rating])
    click = {"user": "U0BOB", "channel": "C0OPS", "ts": sent["ts"], "action_id": "rate"}
    await stage.act("click", **click, value="negative_button")
    refused = await stage.post("act/click", 400, **click, value="neither")

    assert (received[0]["value"], received[0]["text"]["text"]) == ("negative_button", "negative_button")
    assert refused["error"] == "rate has no button with the value 'neither'"


async def test_a_read_only_messages_tab_takes_no_text(make_stage: MakeStage) -> None:
    manifest = copy.deepcopy(MANIFEST)
    manifest["features"]["app_home"]["messages_tab_read_only_enabled"] = True
    stage = await make_stage(connect=False, manifest=manifest)
    refused = await stage.post("act/message", 400, user="U0BOB", channel="D0BOB", text="help")

    assert refused["error"] == "the app's messages tab is read-only in the manifest"
    assert (await stage.client.chat_postMessage(channel="D0BOB", text="but the app may write"))["ok"]


async def test_an_app_without_a_messages_tab_cannot_write_to_people(make_stage: MakeStage) -> None:
    manifest = copy.deepcopy(MANIFEST)
    manifest["features"]["app_home"]["messages_tab_enabled"] = False
    stage = await make_stage(connect=False, manifest=manifest)

    assert await _refused(stage.client.chat_postMessage(channel="U0BOB", text="x")) == "messages_tab_disabled"


@pytest.mark.parametrize(
    ("typed", "text", "elements"),
    [
        ("see https://x.example/a?b=1&c=2.", "see <https://x.example/a?b=1&amp;c=2>.",
         [{"type": "text", "text": "see "}, {"type": "link", "url": "https://x.example/a?b=1&c=2"},
          {"type": "text", "text": "."}]),
        ("<https://x.example|here>", "<https://x.example>", [{"type": "link", "url": "https://x.example"}]),
        ("(http://x.example/@bob)", "(<http://x.example/@bob>)",
         [{"type": "text", "text": "("}, {"type": "link", "url": "http://x.example/@bob"},
          {"type": "text", "text": ")"}]),
        ("https:// alone", "https:// alone", [{"type": "text", "text": "https:// alone"}]),
    ],
)  # fmt: skip
async def test_the_address_of_a_page_becomes_a_link(
    make_stage: MakeStage, typed: str, text: str, elements: list[Json]
) -> None:
    stage = await make_stage()
    await stage.act("message", user="U0BOB", channel="C0OPS", text=typed)
    shown = (await stage.messages("U0BOB", "C0OPS"))[-1]
    assert shown["text"] == text
    assert shown["blocks"][0]["elements"][0]["elements"] == elements
