"""One run in which the stand-in sends the app everything it can send and answers every method once.

What it really sent is what the shape checks look at.
"""

import copy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from slack_bolt.async_app import AsyncApp

from tests.sandbox_slack.stage import MANIFEST, Stage, amount_input, button, modal, text

Json = dict[str, Any]

OPTIONS = [{"text": text(name), "value": name.lower()} for name in ("Cancel", "Copy")]
CLICKED: list[tuple[str, Any]] = [
    ("button", None),
    ("overflow", "cancel"),
    ("static_select", "copy"),
    ("checkboxes", ["copy"]),
    ("radio_buttons", "copy"),
    ("users_select", "U0BOB"),
    ("channels_select", "C0OPS"),
    ("conversations_select", "C0OPS"),
    ("multi_users_select", ["U0BOB"]),
    ("multi_static_select", ["copy"]),
    ("datepicker", "2026-03-02"),
    ("timepicker", "09:30"),
]


@dataclass
class Recording:
    """What was sent: envelope payloads by kind, answers by method, clicks by element."""

    envelopes: dict[str, list[Json]] = field(default_factory=dict)
    answers: dict[str, list[Json]] = field(default_factory=dict)

    def clicks(self) -> dict[str, Json]:
        """One block_actions payload from a message for each type of element."""
        sent = self.envelopes["block_actions"]
        return {one["actions"][0]["type"]: one for one in sent if one["container"]["type"] == "message"}


def _manifest() -> Json:
    manifest = copy.deepcopy(MANIFEST)
    manifest["settings"]["event_subscriptions"]["bot_events"] += ["user_change", "message.channels"]
    manifest["oauth_config"]["scopes"]["bot"] += ["assistant:write", "channels:join"]
    return manifest


def _element(kind: str) -> Json:
    made: Json = {"type": kind, "action_id": kind}
    if kind == "button":
        made |= {"text": text("Go"), "value": "R-1", "style": "primary"}
    if kind in ("overflow", "static_select", "multi_static_select", "checkboxes", "radio_buttons"):
        made["options"] = OPTIONS
    return made


def _wire(app: AsyncApp) -> None:
    select = {"type": "external_select", "action_id": "pick", "min_query_length": 0}
    card = {"type": "input", "block_id": "card", "label": text("Card"), "element": select}
    view = modal(amount_input(), card, button(), notify_on_close=True, external_id="one")

    @app.command("/card")
    async def command(ack: Any, body: Json, client: Any) -> None:
        await ack()
        await client.views_open(trigger_id=body["trigger_id"], view=view)

    @app.view("form")
    async def submitted(ack: Any) -> None:
        await ack(response_action="update", view=view)

    @app.view_closed("form")
    async def closed(ack: Any) -> None:
        await ack()

    @app.options("pick")
    async def pick(ack: Any) -> None:
        await ack(options=OPTIONS)

    @app.action("approve")
    async def approve(ack: Any, body: Json, client: Any) -> None:
        await ack()
        if body["container"]["type"] == "view":
            await client.views_push(trigger_id=body["trigger_id"], view={**view, "external_id": "two"})

    async def taken(ack: Any) -> None:
        await ack()

    for kind, _ in CLICKED:
        app.action(kind)(taken)
    app.shortcut("ask")(taken)
    for name in ("app_mention", "app_home_opened", "message", "subteam_members_changed", "user_change"):
        app.event(name)(taken)


async def record(folder: Path) -> Recording:
    """Play the run."""
    async with Stage(folder, manifest=_manifest(), wire=_wire) as stage:
        await _clicks(stage)
        await _modals(stage)
        await _events(stage)
        await _methods(stage)
        state = await stage.state()
    recording = Recording()
    for envelope, record in zip(state["payloads"], state["envelopes"], strict=True):
        recording.envelopes.setdefault(record["kind"], []).append(envelope["payload"])
    for call in state["calls"]:
        assert call["ok"], call
        recording.answers.setdefault(call["method"], []).append(call["answer"])
    return recording


async def _clicks(stage: Stage) -> None:
    elements = [_element(kind) for kind, _ in CLICKED if kind != "checkboxes"]
    blocks: list[Json] = [
        {"type": "actions", "elements": elements},
        {"type": "section", "text": text("Pick"), "accessory": _element("checkboxes")},
    ]
    sent = await stage.client.chat_postMessage(channel="C0OPS", text="R-1", blocks=blocks)
    for kind, value in CLICKED:
        await stage.act("click", user="U0BOB", channel="C0OPS", ts=sent["ts"], action_id=kind, value=value)
    hidden = await stage.client.chat_postEphemeral(channel="C0OPS", user="U0BOB", text="?", blocks=[button()])
    await stage.act("click", user="U0BOB", channel="C0OPS", ts=hidden["message_ts"], action_id="approve")


async def _modals(stage: Stage) -> None:
    await stage.act("command", user="U0ALICE", channel="C0OPS", text="/card topup 4242 50")
    view = (await stage.see("U0ALICE"))["views"][0]
    where = {"user": "U0ALICE", "view_id": view["id"]}
    await stage.act("suggest", **where, block_id="card", action_id="pick", value="c")
    values = {"amount": {"value": "5"}, "card": {"pick": "copy"}}
    await stage.act("submit", **where, values=values)
    await stage.act("click", **where, action_id="approve")
    top = (await stage.see("U0ALICE"))["views"][-1]
    await stage.act("close", user="U0ALICE", view_id=top["id"])
    form = modal(amount_input())
    await stage.client.views_update(view_id=view["id"], view=form)
    home = {"type": "home", "blocks": [button()]}
    await stage.client.views_publish(user_id="U0BOB", view=home)


async def _events(stage: Stage) -> None:
    await stage.act("home", user="U0BOB", tab="home")
    asked = await stage.act("message", user="U0ALICE", channel="C0OPS", text="@Countersign help")
    await stage.act("message", user="U0ALICE", channel="C0OPS", text="thanks", thread_ts=asked["ts"])
    await stage.act("message", user="U0ALICE", channel="D0ALICE", text="help")
    await stage.act("shortcut", user="U0BOB", channel="C0OPS", ts=asked["ts"], callback_id="ask")
    await stage.post("groups", handle="card-approvers", users=["U0ALICE", "U0BOB"])
    await stage.post("people", id="U0BOB", real_name="Bob T.")


async def _methods(stage: Stage) -> None:
    client = stage.client
    parent = await client.chat_postMessage(
        channel="C0ALERTS", text="x", metadata={"event_type": "r", "event_payload": {}}
    )
    await client.chat_postMessage(channel="C0ALERTS", text="y", thread_ts=parent["ts"])
    await client.chat_update(channel="C0ALERTS", ts=parent["ts"], text="z")
    await client.chat_getPermalink(channel="C0ALERTS", message_ts=parent["ts"])
    await client.conversations_history(channel="C0ALERTS", include_all_metadata=True)
    await client.conversations_replies(channel="C0ALERTS", ts=parent["ts"])
    await client.chat_delete(channel="C0ALERTS", ts=parent["ts"])
    await client.conversations_list()
    await client.conversations_info(channel="C0OPS", include_num_members=True)
    await client.conversations_members(channel="C0OPS")
    await client.conversations_open(users="U0BOB", return_im=True)
    await client.conversations_join(channel="C0GENERAL")
    for user in ("U0ALICE", "U0STRANGER", "U0GONE", "U0BOT"):
        await client.users_info(user=user)
    await client.users_list()
    await client.usergroups_list(include_users=True)
    await client.usergroups_users_list(usergroup="S0APPROVERS")
    await client.files_upload_v2(channel="C0APPROVALS", filename="a.csv", content="a,b\n")
    direct = await client.chat_postMessage(channel="D0BOB", text="x")
    where = {"channel_id": "D0BOB", "thread_ts": direct["ts"]}
    await client.assistant_threads_setStatus(**where, status="is thinking")
    await client.assistant_threads_setTitle(**where, title="Top up")
    prompts = [{"title": "Help", "message": "help"}]
    await client.assistant_threads_setSuggestedPrompts(**where, prompts=prompts)
