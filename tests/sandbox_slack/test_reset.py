"""A reset, and the fresh start of each test: nothing of what came before is left, wherever the stand-in keeps it."""

import dataclasses
import random
import time
from collections import deque
from typing import Any

from sandbox.slack import Options
from sandbox.slack.workspace import Workspace
from tests.sandbox_slack.conftest import MakeStage
from tests.sandbox_slack.stage import Json, Stage, modal
from tests.sandbox_slack.test_structured_arguments import AN_AGENT

#: What goes on over a reset: connections, what is under way, and who watches.
STAYS = {
    "options", "manifest", "rng", "_rng", "_seq", "next_seq", "on_change", "transport", "_watchers", "_toasts",
    "_sockets", "_tickets", "_tasks", "_waiting", "_moved", "_source", "own_url", "_app_came_by", "_persist", "_added",
    "_resets",
}  # fmt: skip


def kept(value: Any, place: str, seen: set[int]) -> dict[str, Any]:
    """Everything that hangs on an object of the stand-in, by the place where it is."""
    if callable(value) or id(value) in seen:
        return {}
    if isinstance(value, dict):
        pairs = {f"{place}[{key}]": one for key, one in value.items()}
    elif isinstance(value, list | tuple | deque | set):
        pairs = {f"{place}[{number}]": one for number, one in enumerate(value)}
    elif type(value).__module__.startswith("sandbox.slack"):
        held = (
            {one.name: getattr(value, one.name) for one in dataclasses.fields(value)}
            if dataclasses.is_dataclass(value)
            else vars(value)
        )
        pairs = {f"{place}.{name}": one for name, one in held.items() if name not in STAYS}
    else:
        return {place: value}
    seen.add(id(value))
    found: dict[str, Any] = {}
    for where, one in pairs.items():
        found |= kept(one, where, seen)
    seen.discard(id(value))
    return found


def begun(workspace: Workspace) -> dict[str, Any]:
    """What is in the workspace after a reset at a time and with ids that repeat."""
    workspace.clock._source = lambda: 1_800_000_000.0
    workspace.ids._rng = random.Random(1)
    workspace.reset()
    return kept(workspace, "workspace", set())


async def everything(stage: Stage) -> None:
    """Something of each kind that the stand-in keeps."""
    workspace = stage.running.workspace
    api, post = stage.api, stage.post
    message = await api("chat.postMessage", channel="C0OPS", text="Hello")
    assert message["ok"]
    where = {"channel": "C0OPS", "timestamp": message["ts"]}
    opened: Json = await api("views.open", view=modal(), trigger_id=workspace.triggers.issue("U0ALICE"))
    direct = (await api("conversations.open", users="U0ALICE"))["channel"]["id"]
    asked = (await api("chat.postMessage", channel=direct, text="Hello"))["ts"]
    answers = [
        opened,
        await api("chat.postEphemeral", channel="C0OPS", user="U0ALICE", text="Hello"),
        await api("chat.scheduleMessage", channel="C0OPS", text="Later", post_at=1_900_000_000 - 10**8 + 60),
        await api("reactions.add", name="eyes", **where),
        await api("pins.add", **where),
        await api("bookmarks.add", channel_id="C0OPS", title="A", type="link", link="https://shop.example/1"),
        await api("conversations.create", name="new"),
        await api("usergroups.create", name="New", handle="new"),
        await api("views.publish", user_id="U0ALICE", view={"type": "home", "blocks": []}),
        await api("assistant.threads.setStatus", channel_id=direct, thread_ts=asked, status="is thinking"),
        await api(
            "assistant.threads.setSuggestedPrompts",
            channel_id=direct,
            prompts=[{"title": "A", "message": "B"}],
        ),
    ]
    assert [one for one in answers if not one["ok"]] == []
    workspace.response_urls.issue("U0ALICE", "C0OPS")
    await post("people", name="dave", real_name="Dave")
    await post("people", id="U0BOB", deleted=True)
    await post("groups", handle="card-approvers", users=["U0ALICE"])
    await post("channels", id="C0OPS", archived=True)
    await post("faults", method="auth.test", effect="error", error="is_archived")
    await post("faults", method="app_mention", effect="silence", seconds=600)
    await post("act/message", user="U0ALICE", channel="C0ALERTS", text="<@U0BOT> hello")
    await post("clock", advance_seconds=86400)
    await post("socket_mode", enabled=False)


async def test_nothing_is_left_after_a_reset(make_stage: MakeStage) -> None:
    stage = await make_stage(manifest=AN_AGENT, connect=False, options=Options(ack_seconds=0.05))
    at_first = begun(stage.running.workspace)
    await everything(stage)
    assert kept(stage.running.workspace, "workspace", set()) != at_first
    assert begun(stage.running.workspace) == at_first


async def test_an_event_that_nobody_took_is_not_tried_again_after_a_reset(make_stage: MakeStage) -> None:
    stage = await make_stage(manifest=AN_AGENT, connect=False, options=Options(ack_seconds=0.05))
    await stage.act("message", user="U0ALICE", channel="C0OPS", text="<@U0BOT> hello")
    await stage.post("reset")
    await stage.post("clock", advance_seconds=3600)
    await stage.act("home", user="U0ALICE")
    assert {one["kind"] for one in (await stage.state())["envelopes"]} <= {"app_home_opened"}


async def test_an_app_that_is_reached_over_http_is_sent_to_again_after_a_reset(make_stage: MakeStage) -> None:
    """It had been silent for ten minutes by a fault of the test before."""
    options = Options(ack_seconds=0.05, request_url="http://127.0.0.1:9/slack/events")
    stage = await make_stage(manifest=AN_AGENT, connect=False, options=options)
    transport = stage.running.workspace.delivery.transport
    await stage.post("faults", method="app_mention", effect="silence", seconds=600)
    await stage.act("message", user="U0ALICE", channel="C0OPS", text="<@U0BOT> hello")
    assert kept(transport, "transport", set())["transport._silent_until"] > 0
    await stage.post("reset")
    assert kept(transport, "transport", set())["transport._silent_until"] == 0


async def test_a_reset_takes_the_clock_back_and_messages_are_dated_by_it(make_stage: MakeStage) -> None:
    stage = await make_stage(manifest=AN_AGENT, connect=False)
    await stage.post("clock", advance_seconds=86400)
    await stage.api("chat.postMessage", channel="C0OPS", text="Tomorrow")
    await stage.post("reset")
    sent = await stage.api("chat.postMessage", channel="C0OPS", text="Today")
    assert abs(float(sent["ts"]) - time.time()) < 60
