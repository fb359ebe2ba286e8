"""Reactions, channels, pins, bookmarks, groups, files, links, scheduled and streamed messages, and their events."""

import time
from pathlib import Path
from typing import Any

import pytest
import yaml
from slack_bolt.async_app import AsyncApp

from sandbox.slack import control, web_api
from sandbox.slack.delivery.events import SCOPE_OF
from sandbox.slack.state.manifest import SUPPORTED_EVENTS
from tests.sandbox_slack.conftest import MakeStage
from tests.sandbox_slack.stage import Json, Stage
from tests.support.waiting import eventually

pytestmark = pytest.mark.by_turns(4)

ANY_APP: Json = yaml.safe_load((Path(web_api.__file__).parents[1] / "any_app.yml").read_text())
WITH_MORE: Json = {
    **ANY_APP,
    "features": {
        **ANY_APP["features"],
        "unfurl_domains": ["shop.example"],
        "shortcuts": [{"name": "New lunch", "type": "global", "callback_id": "new", "description": "Ask"}],
    },
}


async def full(make_stage: MakeStage, **options: Any) -> Stage:
    """An app with every scope that takes every event."""

    def wire(app: AsyncApp) -> None:
        async def take(event: Json) -> None:
            pass

        for kind in {name.partition(".")[0] for name in SUPPORTED_EVENTS}:
            app.event(kind)(take)

    return await make_stage(manifest=WITH_MORE, wire=wire, **options)


async def done(stage: Stage, method: str, **args: Any) -> Json:
    answer = await stage.api(method, **args)
    assert answer["ok"], (method, answer)
    return answer


async def refused(stage: Stage, method: str, **args: Any) -> str:
    answer = await stage.api(method, **args)
    assert not answer["ok"], (method, answer)
    return str(answer["error"])


async def event_sent(stage: Stage, kind: str) -> Json:
    """The newest event of a type that went to the app; Bolt keeps the app's own from its listeners."""

    async def look() -> Json | None:
        sent = [one["payload"].get("event", {}) for one in (await stage.state())["payloads"]]
        return next((one for one in reversed(sent) if one.get("type") == kind), None)

    found = await eventually(kind, look)
    assert found is not None
    return found


def test_every_event_that_is_sent_is_known_at_load_with_its_scope() -> None:
    """S4: and the other way round."""
    assert SUPPORTED_EVENTS - {"app_home_opened"} == set(SCOPE_OF)


async def test_an_event_that_never_comes_is_said_at_load(make_stage: MakeStage) -> None:
    settings = {
        **ANY_APP["settings"],
        "event_subscriptions": {"bot_events": ["call_rejected", "reaction_added"]},
    }
    stage = await make_stage(manifest={**ANY_APP, "settings": settings}, connect=False)
    [line] = stage.running.workspace.manifest.unsupported
    assert "call_rejected" in line


@pytest.mark.parametrize("method", sorted(web_api.METHODS))
async def test_a_method_without_its_scope_or_arguments_is_refused_and_never_breaks(
    make_stage: MakeStage, method: str
) -> None:
    """Every method, called with nothing, with a made-up channel, and by an app without scopes."""
    stage = await full(make_stage, connect=False)
    for args in ({}, {"channel": "C0NONE", "timestamp": "1.1", "ts": "1.1", "name": "x", "user": "U0NONE"}):
        answer = await stage.api(method, **args)
        assert answer["_status"] == 200
        assert answer["ok"] or answer["error"], method
    poor = {**ANY_APP, "oauth_config": {"scopes": {"bot": []}}}
    stage = await make_stage(manifest=poor, connect=False)
    answer = await stage.api(method, channel="C0OPS", types="public_channel")
    if web_api.METHODS[method].scope is not None:
        assert (answer["error"], bool(answer["needed"])) == ("missing_scope", True)


async def test_reactions_come_and_go_with_their_events(make_stage: MakeStage) -> None:
    stage = await full(make_stage)
    ts = (await done(stage, "chat.postMessage", channel="C0OPS", text="Lunch?"))["ts"]
    where = {"channel": "C0OPS", "timestamp": ts}
    await done(stage, "reactions.add", name=":eyes:", **where)
    assert await refused(stage, "reactions.add", name="eyes", **where) == "already_reacted"
    assert await refused(stage, "reactions.remove", name="wave", **where) == "no_reaction"
    assert await refused(stage, "reactions.add", name="No Emoji!", **where) == "invalid_name"
    assert (
        await refused(stage, "reactions.add", name="x", channel="C0OPS", timestamp="1.1")
        == "message_not_found"
    )
    await stage.post("act/react", user="U0BOB", channel="C0OPS", ts=ts, name="eyes")
    shown = (await done(stage, "reactions.get", **where))["message"]["reactions"]
    assert shown == [{"name": "eyes", "users": ["U0BOT", "U0BOB"], "count": 2}]
    await stage.post("act/react", user="U0BOB", channel="C0OPS", ts=ts, name="eyes", remove=True)
    await done(stage, "reactions.remove", name="eyes", **where)
    assert "reactions" not in (await done(stage, "reactions.get", **where))["message"]
    event = await event_sent(stage, "reaction_removed")
    assert event["item"] == {"type": "message", "channel": "C0OPS", "ts": ts}
    assert (event["user"], (await event_sent(stage, "reaction_added"))["user"]) == ("U0BOT", "U0BOB")


async def test_a_channel_is_made_changed_and_archived(make_stage: MakeStage) -> None:
    stage = await full(make_stage)
    made = (await done(stage, "conversations.create", name="lunch"))["channel"]
    assert (made["name"], made["is_member"], made["creator"]) == ("lunch", True, "U0BOT")
    assert await refused(stage, "conversations.create", name="lunch") == "name_taken"
    assert await refused(stage, "conversations.create", name="Big Lunch") == "invalid_name_specials"
    channel = {"channel": made["id"]}
    await done(stage, "conversations.invite", users="U0ALICE,U0BOB", **channel)
    assert await refused(stage, "conversations.invite", users="U0BOB", **channel) == "already_in_channel"
    assert await refused(stage, "conversations.invite", users="U0BOT", **channel) == "cant_invite_self"
    await done(stage, "conversations.kick", user="U0BOB", **channel)
    assert (await done(stage, "conversations.members", **channel))["members"] == ["U0BOT", "U0ALICE"]
    assert (await done(stage, "conversations.setTopic", topic="Noodles", **channel))["channel"]["topic"][
        "value"
    ] == "Noodles"
    await done(stage, "conversations.setPurpose", purpose="Food", **channel)
    assert (await done(stage, "conversations.rename", name="dinner", **channel))["channel"][
        "name"
    ] == "dinner"
    assert await refused(stage, "conversations.rename", name="x", channel="C0OPS") == "not_authorized"
    mine = [one["name"] for one in (await done(stage, "users.conversations"))["channels"]]
    assert "dinner" in mine
    assert "general" not in mine
    await done(stage, "conversations.archive", **channel)
    assert await refused(stage, "chat.postMessage", text="late", **channel) == "is_archived"
    assert await refused(stage, "conversations.archive", **channel) == "already_archived"
    await done(stage, "conversations.unarchive", **channel)
    await done(stage, "conversations.leave", **channel)
    assert (await done(stage, "conversations.leave", **channel))["not_in_channel"] is True
    for kind in ("channel_created", "member_joined_channel", "member_left_channel", "channel_rename",
                 "channel_archive", "channel_unarchive"):  # fmt: skip
        await event_sent(stage, kind)
    await stage.post("act/join", user="U0BOT", channel="dinner")
    assert (await event_sent(stage, "member_joined_channel"))["channel"] == made["id"]


async def test_a_conversation_with_several_people_is_one_group_message(make_stage: MakeStage) -> None:
    """S6."""
    stage = await full(make_stage)
    first = (await done(stage, "conversations.open", users="U0ALICE,U0BOB", return_im=True))["channel"]
    again = (await done(stage, "conversations.open", users="U0BOB,U0ALICE"))["channel"]
    assert (first["id"], first["is_mpim"]) == (again["id"], True)
    await done(stage, "chat.postMessage", channel=first["id"], text="Hello both")
    assert [one["text"] for one in await stage.messages("U0BOB", first["id"])] == ["Hello both"]
    await stage.act("message", user="U0BOB", channel=first["id"], text="Hello")
    assert (await event_sent(stage, "message"))["channel_type"] == "mpim"


async def test_people_are_found_by_their_address_and_shown_with_it(make_stage: MakeStage) -> None:
    """S6."""
    stage = await full(make_stage)
    await stage.post("people", name="ann", email="Ann@Shop.example")
    found = (await done(stage, "users.lookupByEmail", email="ann@shop.example"))["user"]
    assert (found["name"], found["profile"]["email"]) == ("ann", "Ann@Shop.example")
    assert (await done(stage, "users.profile.get", user=found["id"]))["profile"][
        "email"
    ] == "Ann@Shop.example"
    assert (await done(stage, "users.getPresence", user=found["id"]))["presence"] == "active"
    assert await refused(stage, "users.lookupByEmail", email="nobody@shop.example") == "users_not_found"
    assert (await event_sent(stage, "team_join"))["user"]["name"] == "ann"


async def test_pins_and_bookmarks_are_kept_at_the_top(make_stage: MakeStage) -> None:
    stage = await full(make_stage)
    ts = (await done(stage, "chat.postMessage", channel="C0OPS", text="Rules"))["ts"]
    await done(stage, "pins.add", channel="C0OPS", timestamp=ts)
    assert await refused(stage, "pins.add", channel="C0OPS", timestamp=ts) == "already_pinned"
    [item] = (await done(stage, "pins.list", channel="C0OPS"))["items"]
    assert item["message"]["text"] == "Rules"
    await done(stage, "pins.remove", channel="C0OPS", timestamp=ts)
    assert await refused(stage, "pins.remove", channel="C0OPS", timestamp=ts) == "no_pin"
    await event_sent(stage, "pin_removed")
    link = {"title": "Menu", "type": "link", "link": "https://shop.example/menu"}
    made = (await done(stage, "bookmarks.add", channel_id="C0OPS", **link))["bookmark"]
    where = {"channel_id": "C0OPS", "bookmark_id": made["id"]}
    assert (await done(stage, "bookmarks.edit", title="Card", **where))["bookmark"]["title"] == "Card"
    assert [
        one["title"] for one in (await done(stage, "bookmarks.list", channel_id="C0OPS"))["bookmarks"]
    ] == ["Card"]
    await done(stage, "bookmarks.remove", **where)
    assert await refused(stage, "bookmarks.remove", **where) == "not_found"


async def test_a_user_group_is_made_and_filled(make_stage: MakeStage) -> None:
    stage = await full(make_stage)
    given = {"description": "Who cooks", "channels": "C0OPS,C0ALERTS"}
    made = (await done(stage, "usergroups.create", name="Cooks", handle="cooks", **given))["usergroup"]
    assert (made["description"], made["prefs"]["channels"]) == ("Who cooks", ["C0OPS", "C0ALERTS"])
    group = made["id"]
    assert made["created_by"] == "U0BOT"
    assert await refused(stage, "usergroups.create", name="Other", channels="C0NONE") == "channel_not_found"
    changed = await done(stage, "usergroups.users.update", usergroup=group, users="U0BOB,U0CAROL")
    assert changed["usergroup"]["users"] == ["U0BOB", "U0CAROL"]
    assert await refused(stage, "usergroups.users.update", usergroup=group, users="U0NONE") == "invalid_users"
    assert (await event_sent(stage, "subteam_created"))["subteam"]["handle"] == "cooks"
    assert (await event_sent(stage, "subteam_updated"))["subteam"]["user_count"] == 2
    assert (await event_sent(stage, "subteam_members_changed"))["added_users"] == ["U0BOB", "U0CAROL"]


async def test_a_scheduled_message_is_written_when_its_time_comes(make_stage: MakeStage) -> None:
    stage = await full(make_stage, connect=False)
    at = int(time.time()) + 3600
    waiting = await done(stage, "chat.scheduleMessage", channel="C0OPS", text="Lunch now", post_at=at)
    other = await done(stage, "chat.scheduleMessage", channel="C0OPS", text="Never", post_at=at)
    assert waiting["post_at"] == at
    listed = (await done(stage, "chat.scheduledMessages.list"))["scheduled_messages"]
    assert [one["text"] for one in listed] == ["Lunch now", "Never"]
    scheduled = {"channel": "C0OPS", "scheduled_message_id": other["scheduled_message_id"]}
    await done(stage, "chat.deleteScheduledMessage", **scheduled)
    assert await refused(stage, "chat.deleteScheduledMessage", **scheduled) == "invalid_scheduled_message_id"
    for post_at, error in ((1, "time_in_past"), (at + 200 * 86400, "time_too_far")):
        assert (
            await refused(stage, "chat.scheduleMessage", channel="C0OPS", text="x", post_at=post_at) == error
        )
    assert await stage.messages("U0ALICE", "C0OPS") == []
    await stage.post("clock", advance_seconds=3601)
    assert [one["text"] for one in await stage.messages("U0ALICE", "C0OPS")] == ["Lunch now"]


async def test_a_message_streams_in(make_stage: MakeStage) -> None:
    stage = await full(make_stage, connect=False)
    ts = (await done(stage, "chat.postMessage", channel="D0ALICE", text="Question"))["ts"]
    stream = await done(stage, "chat.startStream", channel="D0ALICE", thread_ts=ts, markdown_text="One")
    where = {"channel": "D0ALICE", "ts": stream["ts"]}
    await done(stage, "chat.appendStream", markdown_text=", two", **where)
    await done(stage, "chat.appendStream", chunks=[{"type": "markdown_text", "text": ", three"}], **where)
    ended = await done(stage, "chat.stopStream", markdown_text=".", blocks=[{"type": "divider"}], **where)
    assert (ended["message"]["text"], len(ended["message"]["blocks"])) == ("One, two, three.", 1)
    assert (
        await refused(stage, "chat.appendStream", markdown_text="x", **where)
        == "message_not_in_streaming_state"
    )
    assert await refused(stage, "chat.startStream", channel="C0OPS", thread_ts="1.1") == "thread_not_found"


async def test_files_are_listed_shown_and_deleted(make_stage: MakeStage) -> None:
    stage = await full(make_stage)
    sent = await stage.client.files_upload_v2(filename="menu.txt", content="soup", channel="C0OPS")
    file = sent["files"][0]["id"]
    assert (await done(stage, "files.info", file=file))["file"]["name"] == "menu.txt"
    assert [one["id"] for one in (await done(stage, "files.list", channel="C0OPS"))["files"]] == [file]
    assert (await event_sent(stage, "file_shared"))["file_id"] == file
    await done(stage, "files.delete", file=file)
    assert await refused(stage, "files.info", file=file) == "file_not_found"
    await event_sent(stage, "file_deleted")


async def test_links_to_declared_domains_are_reported_and_unfurled(make_stage: MakeStage) -> None:
    stage = await full(make_stage)
    link = "https://www.shop.example/menu"
    said = await stage.act(
        "message", user="U0ALICE", channel="C0OPS", text=f"See {link} and https://other.example"
    )
    event = await event_sent(stage, "link_shared")
    assert [one["url"] for one in event["links"]] == [link]
    unfurls = {link: {"text": "The menu"}}
    await done(stage, "chat.unfurl", channel="C0OPS", ts=said["ts"], unfurls=unfurls)
    [message] = (await done(stage, "conversations.history", channel="C0OPS"))["messages"]
    assert (message["attachments"][0]["from_url"], message["attachments"][0]["id"]) == (link, 1)


async def test_a_global_shortcut_opens_a_form(make_stage: MakeStage) -> None:
    """S4."""
    got: list[Json] = []

    def wire(app: AsyncApp) -> None:
        @app.shortcut("new")
        async def new(ack: Any, shortcut: Json) -> None:
            got.append(shortcut)
            await ack()

    stage = await make_stage(manifest=WITH_MORE, wire=wire)
    assert (await stage.act("shortcut", user="U0ALICE", callback_id="new"))["acked"]
    assert (got[0]["type"], got[0]["user"]["id"], "channel" in got[0]) == ("shortcut", "U0ALICE", False)
    error = (await stage.post("act/shortcut", status=400, user="U0ALICE", callback_id="none"))["error"]
    assert "no global shortcut" in error


async def test_an_own_name_and_picture_need_their_scope(make_stage: MakeStage) -> None:
    """S5."""
    look = {"channel": "C0OPS", "text": "Hi", "username": "Cook", "icon_emoji": "stew"}
    stage = await full(make_stage, connect=False)
    message = (await done(stage, "chat.postMessage", **look))["message"]
    assert (message["username"], message["icons"]) == ("Cook", {"emoji": ":stew:"})
    plain = await make_stage(connect=False)
    assert "username" not in (await done(plain, "chat.postMessage", **look))["message"]


async def test_attachments_are_numbered_and_warnings_given_as_slack_gives_them(make_stage: MakeStage) -> None:
    """S5."""
    stage = await full(make_stage, connect=False)
    attachments = [{"text": "a"}, {"text": "b", "fallback": "B"}]
    sent = await done(stage, "chat.postMessage", channel="C0OPS", text="x" * 40_001, attachments=attachments)
    assert [(one["id"], one["fallback"]) for one in sent["message"]["attachments"]] == [
        (1, "[no preview available]"),
        (2, "B"),
    ]
    assert len(sent["message"]["text"]) == 40_000
    assert sent["warning"] == "missing_charset"
    called = await stage.client.chat_postMessage(channel="C0OPS", text="y" * 40_001)
    assert called["warning"] == "message_truncated"


async def test_scopes_are_shown_to_a_known_token_only(make_stage: MakeStage) -> None:
    """S5."""
    stage = await full(make_stage, connect=False)
    known = await stage.api("users.list")
    assert known["_headers"]["x-accepted-oauth-scopes"] == "users:read"
    assert "x-oauth-scopes" in known["_headers"]
    unknown = await stage.api("users.list", token="xoxb-none")
    assert "x-oauth-scopes" in unknown["_headers"]
    headers = {"Authorization": "Bearer xoxb-none"}
    async with stage.http().post(f"{stage.running.api_url}users.list", headers=headers) as answer:
        assert (await answer.json())["error"] == "invalid_auth"
        assert "x-oauth-scopes" not in answer.headers


async def test_bots_team_emoji_and_the_test_method_answer(make_stage: MakeStage) -> None:
    stage = await full(make_stage, connect=False)
    assert (await done(stage, "bots.info"))["bot"]["user_id"] == "U0BOT"
    assert (await done(stage, "team.info"))["team"]["id"] == "T0SANDBOX"
    assert (await done(stage, "emoji.list"))["emoji"] == {}
    async with stage.http().post(f"{stage.running.api_url}api.test", data={"a": "b"}) as answer:
        assert (await answer.json())["args"] == {"a": "b"}


def test_the_page_of_the_stand_in_names_every_control_call_method_and_event() -> None:
    """S3."""
    page = (Path(__file__).parents[2] / "docs" / "slack-stand-in.md").read_text()
    for call in control.CALLS:
        assert f"`POST {call}`" in page, call
    for method in web_api.METHODS:
        assert f"`{method.rpartition('.')[2]}`" in page, method
    for event in SUPPORTED_EVENTS:
        assert f"`{event}`" in page, event
    compared = (Path(__file__).parents[2] / "docs" / "sandbox.md").read_text()
    assert f"| Slack: methods | {len(web_api.METHODS)} |" in compared


@pytest.mark.parametrize(
    "method", ["archive", "unarchive", "leave", "rename", "setTopic", "setPurpose", "kick", "invite"]
)
async def test_a_direct_message_is_not_changed_as_a_channel(make_stage: MakeStage, method: str) -> None:
    stage = await full(make_stage)
    more = {"name": "x", "topic": "x", "purpose": "x", "user": "U0BOB", "users": "U0BOB"}
    error = await refused(stage, f"conversations.{method}", channel="D0ALICE", **more)
    assert error == "method_not_supported_for_channel_type"
    await done(stage, "chat.postMessage", channel="D0ALICE", text="still here")


async def test_a_link_is_unfurled_by_its_message_or_by_its_id(make_stage: MakeStage) -> None:
    stage = await full(make_stage)
    await stage.act(
        "message", user="U0ALICE", channel="C0OPS", text="see https://shop.example/a?b=1&c=2, please"
    )
    shared = await event_sent(stage, "link_shared")
    link = shared["links"][0]["url"]
    assert link == "https://shop.example/a?b=1&c=2"
    shown = {link: {"text": "A"}}
    by_message = {"channel": "C0OPS", "ts": shared["message_ts"]}
    by_id = {"unfurl_id": shared["unfurl_id"], "source": shared["source"]}
    for named in (by_message, by_id):
        await done(stage, "chat.unfurl", unfurls=shown, **named)
    attachments = (await done(stage, "conversations.history", channel="C0OPS"))["messages"][0]["attachments"]
    assert [one["from_url"] for one in attachments] == [link], "the second time changes the first"
    for wrong, error in (
        ({}, "missing_channel"), ({"channel": "C0OPS"}, "missing_ts"), ({"source": "composer"}, "missing_unfurl_id"),
        ({"unfurl_id": by_id["unfurl_id"]}, "missing_source"), ({**by_id, "unfurl_id": "x"}, "invalid_unfurl_id"),
        ({**by_id, "source": "x"}, "invalid_source"),
    ):  # fmt: skip
        assert await refused(stage, "chat.unfurl", unfurls=shown, **wrong) == error


async def test_bounds_of_a_history_are_times(make_stage: MakeStage) -> None:
    stage = await full(make_stage)
    posted = await done(stage, "chat.postMessage", channel="C0OPS", text="a")
    for name in ("oldest", "latest"):
        for wrong in ("abc", "12:00", "1.2.3", "-"):
            for method, more in (("history", {}), ("replies", {"ts": posted["ts"]})):
                error = await refused(
                    stage, f"conversations.{method}", channel="C0OPS", **{name: wrong}, **more
                )
                assert error == f"invalid_ts_{name}"
    found = await done(stage, "conversations.history", channel="C0OPS", oldest="5")
    assert [one["text"] for one in found["messages"]] == ["a"], "a short time is an early one"


async def test_a_message_is_not_updated_to_nothing(make_stage: MakeStage) -> None:
    stage = await full(make_stage)
    posted = await done(stage, "chat.postMessage", channel="C0OPS", text="a")
    for nothing in ({}, {"text": ""}, {"text": "", "blocks": []}):
        assert await refused(stage, "chat.update", channel="C0OPS", ts=posted["ts"], **nothing) == "no_text"
    assert (await stage.messages("U0ALICE", "C0OPS"))[-1]["text"] == "a"
