"""What is done to a channel is written in it and sent to the app, by every call that does it."""

import time
from typing import Any

import pytest

from sandbox.slack.web_api.collaboration import channel_changes
from tests.sandbox_slack.conftest import MakeStage
from tests.sandbox_slack.stage import Json, Stage
from tests.sandbox_slack.test_collaboration import done, event_sent, full, refused

BOT = "<@U0BOT>"
#: Each call: what else it is given, the message that it writes, with the fields that go with it, and its other event.
WRITTEN: dict[str, tuple[Json, str, Json, str]] = {
    "conversations.setTopic": (
        {"topic": "Soup"}, "channel_topic", {"text": f"{BOT} set the channel topic: Soup", "topic": "Soup"}, "",
    ),
    "conversations.setPurpose": (
        {"purpose": "Eat"}, "channel_purpose", {"text": f"{BOT} set the channel purpose: Eat", "purpose": "Eat"}, "",
    ),
    "conversations.rename": (
        {"name": "soup"}, "channel_name",
        {"text": f'{BOT} has renamed the channel from "lunch" to "soup"', "old_name": "lunch", "name": "soup"},
        "channel_rename",
    ),
    "conversations.invite": (
        {"users": "U0CAROL"}, "channel_join",
        {"user": "U0CAROL", "text": "<@U0CAROL> has joined the channel", "inviter": "U0BOT"},
        "member_joined_channel",
    ),
    "conversations.join": ({}, "channel_join", {"text": f"{BOT} has joined the channel"}, "member_joined_channel"),
    "conversations.leave": ({}, "channel_leave", {"text": f"{BOT} has left the channel"}, "member_left_channel"),
    "conversations.archive": ({}, "channel_archive", {"text": f"{BOT} archived the channel"}, "channel_archive"),
    "conversations.unarchive": (
        {}, "channel_unarchive", {"text": f"{BOT} un-archived the channel"}, "channel_unarchive",
    ),
}  # fmt: skip
#: A new channel is empty, and Slack's page on kicking says nothing of a message.
SILENT = {"conversations.create", "conversations.kick"}


def test_every_call_that_changes_a_channel_is_known_here() -> None:
    assert set(channel_changes.METHODS) | {"conversations.join"} == set(WRITTEN) | SILENT


async def _channel(stage: Stage, method: str) -> str:
    channel = str((await done(stage, "conversations.create", name="lunch"))["channel"]["id"])
    if method == "conversations.join":
        await done(stage, "conversations.leave", channel=channel)
    if method == "conversations.unarchive":
        await done(stage, "conversations.archive", channel=channel)
    return channel


@pytest.mark.parametrize("method", sorted(WRITTEN))
async def test_a_change_is_in_the_history_and_is_an_event(make_stage: MakeStage, method: str) -> None:
    more, subtype, fields, event = WRITTEN[method]
    stage = await full(make_stage)
    channel = await _channel(stage, method)
    await done(stage, method, channel=channel, **more)
    written = stage.running.workspace.store.messages[channel][-1]
    wanted: dict[str, Any] = {"type": "message", "subtype": subtype, "user": "U0BOT", **fields}
    assert {name: written[name] for name in wanted} == wanted
    sent = await event_sent(stage, "message")
    assert {name: sent[name] for name in wanted} == wanted
    assert (sent["channel"], sent["channel_type"]) == (channel, "channel")
    if event:
        assert (await event_sent(stage, event))["type"] == event


async def test_who_joins_and_leaves_is_written_for_people_too(make_stage: MakeStage) -> None:
    stage = await full(make_stage)
    await stage.post("act/leave", user="U0BOB", channel="C0OPS")
    await stage.post("act/join", user="U0BOB", channel="C0OPS")
    history = (await done(stage, "conversations.history", channel="C0OPS"))["messages"]
    assert [(one["subtype"], one["user"]) for one in history] == [
        ("channel_join", "U0BOB"),
        ("channel_leave", "U0BOB"),
    ]


async def test_an_app_that_is_there_already_is_warned(make_stage: MakeStage) -> None:
    stage = await full(make_stage)
    answer = await done(stage, "conversations.join", channel="C0OPS")
    assert answer["response_metadata"]["warnings"]
    assert await stage.messages("U0ALICE", "C0OPS") == []


async def test_with_force_those_who_can_be_invited_are(make_stage: MakeStage) -> None:
    stage = await full(make_stage)
    channel = await _channel(stage, "conversations.invite")
    assert (
        await refused(stage, "conversations.invite", channel=channel, users="U0NOBODY,U0CAROL")
        == "user_not_found"
    )
    answer = await done(stage, "conversations.invite", channel=channel, users="U0NOBODY,U0CAROL", force=True)
    assert answer["errors"] == [{"user": "U0NOBODY", "ok": False, "error": "user_not_found"}]
    members = (await done(stage, "conversations.members", channel=channel))["members"]
    assert members == ["U0BOT", "U0CAROL"]
    again = {"channel": channel, "users": "U0NOBODY,U0CAROL", "force": True}
    assert await refused(stage, "conversations.invite", **again) == "user_not_found"


async def test_a_scheduled_message_has_the_time_at_which_it_was_due(make_stage: MakeStage) -> None:
    stage = await full(make_stage)
    due = [int(time.time()) + seconds for seconds in (900, 600, 900)]
    for post_at in due:
        await done(stage, "chat.scheduleMessage", channel="C0OPS", text="Later", post_at=post_at)
    await stage.post("clock", advance_seconds=86400)
    written = [one["ts"] for one in await stage.messages("U0ALICE", "C0OPS")]
    assert [int(float(ts)) for ts in written] == sorted(due)
    assert len(set(written)) == 3
    assert await refused(stage, "chat.scheduleMessage", channel="C0OPS", text="Later") == "invalid_arguments"
    wrong = {"channel": "C0OPS", "text": "Later", "post_at": "soon"}
    assert await refused(stage, "chat.scheduleMessage", **wrong) == "invalid_time"


@pytest.mark.parametrize(
    "method", ["chat.postMessage", "chat.postEphemeral", "chat.scheduleMessage", "chat.update"]
)
async def test_markdown_stands_for_text(make_stage: MakeStage, method: str) -> None:
    stage = await full(make_stage)
    more: Json = {"channel": "C0OPS"}
    if method == "chat.postEphemeral":
        more["user"] = "U0ALICE"
    if method == "chat.scheduleMessage":
        more["post_at"] = int(time.time()) + 60
    if method == "chat.update":
        more["ts"] = (await done(stage, "chat.postMessage", channel="C0OPS", text="Before"))["ts"]
    await done(stage, method, markdown_text="**Hello**", **more)
    await stage.post("clock", advance_seconds=120)
    assert (await stage.messages("U0ALICE", "C0OPS"))[-1]["text"] == "**Hello**"
    await done(stage, method, markdown_text="x" * 12_000, **{**more, "post_at": int(time.time()) + 900})
    assert await refused(stage, method, markdown_text="x" * 12_001, **more) == "msg_too_long"
    blocks = [{"type": "divider"}]
    assert await refused(stage, method, markdown_text="x", text="x", **more) == "markdown_text_conflict"
    assert await refused(stage, method, markdown_text="x", blocks=blocks, **more) == "markdown_text_conflict"


async def test_a_stream_has_bounds_and_is_changed_by_nothing_else(make_stage: MakeStage) -> None:
    stage = await full(make_stage)
    asked = (await stage.act("message", user="U0ALICE", channel="D0ALICE", text="Hello"))["ts"]
    begun = await done(stage, "chat.startStream", channel="D0ALICE", thread_ts=asked)
    where = {"channel": "D0ALICE", "ts": begun["ts"]}
    assert await refused(stage, "chat.update", text="x", **where) == "streaming_state_conflict"
    assert await refused(stage, "chat.delete", **where) == "cant_delete_message"
    assert await refused(stage, "chat.appendStream", markdown_text="x" * 12_001, **where) == "msg_too_long"
    for chunk in ("x", {"type": "made_up"}, {}):
        assert await refused(stage, "chat.appendStream", chunks=[chunk], **where) == "invalid_chunks"
    await done(stage, "chat.appendStream", markdown_text="x" * 12_000, **where)
    await done(stage, "chat.stopStream", **where)
    await done(stage, "chat.update", text="x", **where)


async def test_files_are_listed_by_type_and_time(make_stage: MakeStage) -> None:
    stage = await full(make_stage)
    for name in ("a.txt", "b.png", "c.pdf", "d.zip"):
        await stage.client.files_upload_v2(channel="C0OPS", content="x", filename=name)

    async def names(**filters: Any) -> list[str]:
        return sorted(one["name"] for one in (await done(stage, "files.list", **filters))["files"])

    assert await names() == await names(types="all") == ["a.txt", "b.png", "c.pdf", "d.zip"]
    assert await names(types="images") == ["b.png"]
    assert await names(types="pdfs,zips") == ["c.pdf", "d.zip"]
    assert await names(types="gdocs") == []
    now = time.time()
    assert await names(ts_from=now + 60) == await names(ts_to=now - 60) == []
    assert len(await names(ts_from=now - 60, ts_to=now + 60)) == 4
    assert await refused(stage, "files.list", types="bogus") == "unknown_type"
    assert await refused(stage, "files.list", ts_from="soon") == "invalid_arguments"


async def test_a_conversation_is_open_already_from_the_second_time_on(make_stage: MakeStage) -> None:
    stage = await full(make_stage)
    assert "already_open" not in await done(stage, "conversations.open", users="U0BOB,U0CAROL")
    assert (await done(stage, "conversations.open", users="U0BOB,U0CAROL"))["already_open"]


async def test_another_team_is_not_found(make_stage: MakeStage) -> None:
    stage = await full(make_stage)
    assert await refused(stage, "team.info", team="T0OTHER") == "team_not_found"
