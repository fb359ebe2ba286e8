"""Who is who, membership changes, events and their retries."""

import asyncio
import copy
from typing import Any

from slack_bolt.async_app import AsyncApp

from tests.sandbox_slack.conftest import MakeStage
from tests.sandbox_slack.stage import MANIFEST, Stage

Json = dict[str, Any]


def _declaring(*events: str) -> Json:
    manifest = copy.deepcopy(MANIFEST)
    manifest["settings"]["event_subscriptions"]["bot_events"] = list(events)
    return manifest


class Received:
    """A Bolt app that takes every event."""

    def __init__(self) -> None:
        self.bodies: list[Json] = []

    @property
    def events(self) -> list[Json]:
        return [body["event"] for body in self.bodies]

    def wire(self, app: AsyncApp) -> None:
        @app.middleware
        async def note(body: Json, next_: Any) -> None:
            if body.get("type") == "event_callback":
                self.bodies.append(body)
            await next_()

        for name in ("app_mention", "app_home_opened", "message", "subteam_members_changed", "user_change"):
            app.event(name)(_take)


async def _take() -> None:
    return None


async def _count(received: Received, number: int) -> None:
    for _ in range(200):
        if len(received.bodies) >= number:
            return
        await asyncio.sleep(0.02)
    raise AssertionError(f"{len(received.bodies)} events instead of {number}")


async def test_kinds_of_people_can_be_told_apart(make_stage: MakeStage) -> None:
    stage = await make_stage(connect=False)

    async def info(user: str) -> Json:
        found: Json = (await stage.client.users_info(user=user))["user"]
        return found

    assert (await info("U0ALICE"))["tz"] == "Europe/Paris"
    assert (await info("U0GUEST"))["is_restricted"] is True
    assert (await info("U0GONE"))["deleted"] is True
    assert (await info("U0BOT"))["is_bot"] is True
    stranger = await info("U0STRANGER")
    assert (stranger["is_stranger"], stranger["team_id"]) == (True, "T0OTHER")
    assert "email" not in stranger["profile"]
    assert (await stage.api("users.info", user="U404"))["error"] == "user_not_found"


async def test_a_group_is_read_live_and_its_change_is_reported(make_stage: MakeStage) -> None:
    received = Received()
    stage = await make_stage(wire=received.wire)
    before = await stage.client.usergroups_users_list(usergroup="S0APPROVERS")
    await stage.post("groups", handle="card-approvers", users=["U0CAROL", "U0ALICE"])
    after = await stage.client.usergroups_users_list(usergroup="S0APPROVERS")
    groups = await stage.client.usergroups_list(include_users=True)
    await _count(received, 1)

    assert before["users"] == ["U0BOB", "U0CAROL"]
    assert after["users"] == ["U0CAROL", "U0ALICE"]
    assert groups["usergroups"][0]["users"] == ["U0CAROL", "U0ALICE"]
    event = received.events[0]
    assert (event["added_users"], event["removed_users"]) == (["U0ALICE"], ["U0BOB"])


async def test_a_mention_in_a_channel_and_a_direct_message_reach_the_app(make_stage: MakeStage) -> None:
    received = Received()
    stage = await make_stage(wire=received.wire)
    asked = await stage.act(
        "message", user="U0ALICE", channel="C0OPS", text="@Countersign card list @bob & <b>"
    )
    direct = await stage.act("message", user="U0ALICE", channel="D0ALICE", text="help")
    silent = await stage.act("message", user="U0ALICE", channel="C0OPS", text="hello all")
    outside = await stage.act("message", user="U0ALICE", channel="C0GENERAL", text="@Countersign help")

    assert asked["acked"]
    assert direct["acked"]
    assert (silent["delivered"], outside["delivered"]) == (False, False)
    assert [event["type"] for event in received.events] == ["app_mention", "message"]
    assert received.events[0]["text"] == "<@U0BOT> card list <@U0BOB> &amp; &lt;b&gt;"
    assert (received.events[1]["channel_type"], received.events[1]["channel"]) == ("im", "D0ALICE")


async def test_the_apps_own_direct_messages_and_edits_come_back_to_it(make_stage: MakeStage) -> None:
    received = Received()
    stage = await make_stage(wire=received.wire)
    sent = await stage.client.chat_postMessage(channel="U0ALICE", text="Approved")
    await stage.client.chat_update(channel=sent["channel"], ts=sent["ts"], text="Done")
    state = await stage.state()
    posted, changed = [one["payload"]["event"] for one in state["payloads"]]

    assert posted["bot_id"] == "B0BOT"
    assert changed["subtype"] == "message_changed"
    assert changed["previous_message"]["text"] == "Approved"
    assert received.bodies == []  # Bolt drops what its own user did


async def test_an_event_is_sent_only_if_it_and_its_scope_are_declared(make_stage: MakeStage) -> None:
    manifest = _declaring("app_mention", "message.im")
    manifest["oauth_config"]["scopes"]["bot"].remove("im:history")
    received = Received()
    stage = await make_stage(wire=received.wire, manifest=manifest)
    await stage.post("groups", handle="card-approvers", users=["U0CAROL"])
    direct = await stage.act("message", user="U0ALICE", channel="D0ALICE", text="help")
    home = await stage.act("home", user="U0ALICE", tab="home")

    assert (direct["delivered"], home["delivered"]) == (False, False)
    assert (await stage.state())["envelopes"] == []


async def test_an_event_is_tried_again_at_once_after_one_and_after_five_minutes(
    make_stage: MakeStage,
) -> None:
    """What arrived while no socket was open is seen only as a retry, with the same event_id."""
    received = Received()
    stage = await make_stage(wire=received.wire, connect=False)
    await stage.act("message", user="U0ALICE", channel="D0ALICE", text="help")

    async def attempts(number: int) -> list[Json]:
        for _ in range(200):
            found: list[Json] = (await stage.state())["envelopes"]
            if len(found) >= number:
                return found
            await asyncio.sleep(0.02)
        raise AssertionError(f"no {number} attempts")

    assert [one["retry_attempt"] for one in await attempts(2)] == [0, 1]
    await stage.post("clock", advance_seconds=59)
    await asyncio.sleep(0.1)
    assert len(await attempts(2)) == 2
    await stage.post("clock", advance_seconds=2)
    assert (await attempts(3))[2]["retry_attempt"] == 2
    await stage.connect()
    await stage.post("clock", advance_seconds=301)
    await _count(received, 1)

    state = await stage.state()
    sent = [payload["payload"]["event_id"] for payload in state["payloads"]]
    assert set(sent) == {received.bodies[0]["event_id"]}
    assert [one["acked"] for one in state["envelopes"]] == [False, False, False, True]


async def test_people_are_added_and_changed_while_the_app_runs(make_stage: MakeStage) -> None:
    received = Received()
    stage = await make_stage(wire=received.wire, manifest=_declaring("user_change"))
    added = await stage.post("people", name="dan", real_name="Dan Okafor", tz="Africa/Lagos")
    await stage.post("people", id="U0BOB", deleted=True)
    await _count(received, 2)
    dan = await stage.client.users_info(user=added["person"]["id"])

    assert dan["user"]["tz_offset"] == 3600
    assert [event["user"]["deleted"] for event in received.events] == [False, True]
    assert (await stage.see(added["person"]["id"]))["me"]["is_full_member"] is True
    assert (await stage.post("people", 400, name="eve", tz="Mars/Base"))[
        "error"
    ] == "tz: 'Mars/Base' is no time zone"


async def test_channels_are_listed_as_the_app_may_see_them(make_stage: MakeStage) -> None:
    stage: Stage = await make_stage(connect=False)
    listed = await stage.client.conversations_list()
    members = await stage.client.conversations_members(channel="C0ALERTS")
    opened = await stage.client.conversations_open(users="U0BOB", return_im=True)

    assert {one["name"]: one["is_member"] for one in listed["channels"]} == {
        "card-ops": True, "card-approvals": True, "card-alerts": True, "general": False,
    }  # fmt: skip
    assert members["members"] == ["U0ALICE", "U0BOB", "U0CAROL", "U0BOT"]
    assert (opened["channel"]["id"], opened["channel"]["user"]) == ("D0BOB", "U0BOB")
    assert (await stage.api("conversations.open", users="U0BOT"))["error"] == "cannot_dm_bot"


async def test_an_app_sees_the_addresses_of_its_workspace_only_with_the_scope_for_it(
    make_stage: MakeStage,
) -> None:
    async def addresses(*more: str) -> set[str]:
        manifest = copy.deepcopy(MANIFEST)
        scopes = set(manifest["oauth_config"]["scopes"]["bot"]) - {"users:read.email"}
        manifest["oauth_config"]["scopes"]["bot"] = sorted({*scopes, *more})
        stage = await make_stage(connect=False, manifest=manifest)
        people = [*(await stage.client.users_list())["members"]]
        people.append((await stage.client.users_info(user="U0STRANGER"))["user"])
        return {one["profile"]["email"] for one in people if "email" in one["profile"]}

    assert await addresses() == set()
    seen = await addresses("users:read.email")
    assert {"alice@northwind-team.example", "bob@northwind-team.example"} <= seen
    assert not any("sven" in address or "countersign" in address for address in seen)
