"""The control calls: 400s that name what is wrong, live view, reset, persistence over kill -9."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientSession

from sandbox.slack import Options, serve
from sandbox.slack.faults import ENVELOPE_TYPES, INTERACTIONS
from sandbox.slack.state import ManifestError
from sandbox.slack.state.manifest import SUPPORTED_EVENTS
from sandbox.slack.web_api import METHODS
from tests.sandbox_slack.conftest import MakeStage
from tests.sandbox_slack.stage import MANIFEST, button

Json = dict[str, Any]

WRONG: list[tuple[str, Json, str]] = [
    ("act/command", {"user": "U0ALICE", "channel": "C0OPS"}, "text is missing"),
    ("act/command", {"user": "U0", "channel": "C0OPS", "text": "/card"}, "there is no person 'U0'"),
    ("act/command", {"user": "U0ALICE", "channel": "C0", "text": "/card"}, "there is no channel 'C0'"),
    (
        "act/command",
        {"user": "U0BOT", "channel": "C0OPS", "text": "/card"},
        "the app's own user does not act; use the Web API",
    ),
    (
        "act/message",
        {"user": "U0ALICE", "channel": "D0BOB", "text": "x"},
        "D0BOB is somebody else's conversation",
    ),
    ("act/click", {"user": "U0ALICE", "action_id": "a"}, "say where: view_id, or channel and ts"),
    ("act/home", {"user": "U0ALICE", "tab": "about"}, "tab: 'about' is not one of home, messages"),
    ("people", {"id": "U0BOB", "deleted": "yes"}, "deleted: true or false is wanted, not 'yes'"),
    (
        "people",
        {"id": "U0BOB", "phone": "1"},
        "unknown field 'phone' (known: deleted, email, id, is_bot, is_restricted, is_stranger,"
        " is_ultra_restricted, name, real_name, team_id, tz)",
    ),
    ("groups", {"handle": "x", "users": ["U9"]}, "there is no person 'U9'"),
    (
        "faults",
        {"effect": "explode"},
        "effect: 'explode' is not one of 429, 500, 503, delay, disconnect, duplicate, error,"
        " lost_ack, reset_after, silence",
    ),
    (
        "faults",
        {"method": "chat.update", "effect": "lost_ack"},
        "effect 'lost_ack' is not one of 429, 500, 503, delay, error, reset_after",
    ),
    (
        "faults",
        {"method": "chat.udpate", "effect": "429"},
        "method: 'chat.udpate' is neither a Web API method, response_url or files.download, nor one of "
        + ", ".join(sorted(INTERACTIONS | ENVELOPE_TYPES | SUPPORTED_EVENTS)),
    ),
    ("faults", {"effect": "429", "nth": 0}, "nth: a whole number of at least 1 is wanted, not 0"),
    ("clock", {"advance_seconds": -1}, "advance_seconds: the clock only goes forward"),
    (
        "disconnect",
        {"reason": "bored"},
        "reason: 'bored' is not one of warning, refresh_requested, link_disabled, too_many_websockets",
    ),
    ("reset", {"hard": True}, "unknown field 'hard' (known: none)"),
]


@pytest.mark.parametrize(("call", "body", "error"), WRONG, ids=lambda one: str(one)[:24])
async def test_a_wrong_control_call_is_answered_with_what_is_wrong(
    make_stage: MakeStage, call: str, body: Json, error: str
) -> None:
    stage = await make_stage(connect=False)

    assert await stage.post(call, 400, **body) == {"error": error}


async def test_a_page_is_shown_what_changes_and_only_its_own_persons_view(make_stage: MakeStage) -> None:
    stage = await make_stage(connect=False)
    async with stage.http().ws_connect(f"{stage.running.url}/_control/live?user=U0BOB") as live:
        first = await live.receive_json(timeout=2)
        await stage.client.chat_postEphemeral(channel="C0OPS", user="U0ALICE", text="for Alice")
        await stage.client.chat_postMessage(channel="C0OPS", text="for all")
        seen: list[str] = []
        while "for all" not in seen:
            shown = (await live.receive_json(timeout=2))["see"]
            seen = [m["text"] for one in shown["channels"] for m in one["messages"]]

    assert first["type"] == "see"
    assert first["see"]["me"]["id"] == "U0BOB"
    assert first["see"]["commands"][0] == {
        "command": "/card", "description": "Cards", "usage_hint": "topup [CARD]",
    }  # fmt: skip
    assert seen == ["for all"]
    assert [line["what"] for line in shown["wire"]] == ["call", "call"]


async def test_a_click_nobody_answers_is_toasted_to_who_clicked(make_stage: MakeStage) -> None:
    stage = await make_stage(connect=False)
    sent = await stage.client.chat_postMessage(channel="C0OPS", text="R-1", blocks=[button()])
    async with stage.http().ws_connect(f"{stage.running.url}/_control/live?user=U0BOB") as live:
        await stage.act("click", user="U0BOB", channel="C0OPS", ts=sent["ts"], action_id="approve")
        toast: Json = {}
        while toast.get("type") != "toast":
            toast = await live.receive_json(timeout=2)

    assert toast["text"] == "This app is not responding. Try again in a moment."


async def test_reset_brings_back_the_seed_world(make_stage: MakeStage) -> None:
    stage = await make_stage()
    await stage.client.chat_postMessage(channel="C0OPS", text="x")
    await stage.post("people", id="U0BOB", deleted=True)
    await stage.post("reset")
    state = await stage.state()

    assert state["messages"]["C0OPS"] == []
    assert {person["id"]: person["deleted"] for person in state["people"]}["U0BOB"] is False
    assert (state["calls"], state["connections"]) == ([], 1)


async def test_every_method_that_is_offered_is_driven_by_a_test() -> None:
    """A method nobody calls here is a method nobody knows to work."""
    tests = "".join(path.read_text() for path in Path(__file__).parent.glob("test_*.py"))
    named = {name: (name, name.replace(".", "_"), name.replace(".", "_").lower()) for name in METHODS}
    spelled_apart = {"files.getUploadURLExternal", "files.completeUploadExternal"}  # files_upload_v2

    untried = [name for name, forms in named.items() if not any(form in tests for form in forms)]
    assert [name for name in untried if name not in spelled_apart] == []


async def test_assistant_methods_are_taken_and_checked(make_stage: MakeStage) -> None:
    manifest = json.loads(json.dumps(MANIFEST))
    manifest["oauth_config"]["scopes"]["bot"] += ["assistant:write", "channels:join", "chat:write.public"]
    stage = await make_stage(connect=False, manifest=manifest)
    parent = await stage.client.chat_postMessage(channel="D0BOB", text="x")
    where = {"channel_id": "D0BOB", "thread_ts": parent["ts"]}

    assert (await stage.api("assistant.threads.setStatus", **where, status="is thinking"))["ok"]
    assert (await stage.api("assistant.threads.setTitle", **where, title="Top up"))["ok"]
    prompts = [{"title": "Help", "message": "help"}]
    assert (await stage.api("assistant.threads.setSuggestedPrompts", **where, prompts=prompts))["ok"]
    assert (await stage.api("conversations.join", channel="C0GENERAL"))["channel"]["is_member"]
    people = await stage.client.users_list(limit=2)
    assert (len(people["members"]), bool(people["response_metadata"]["next_cursor"])) == (2, True)


async def test_it_listens_on_loopback_only_and_says_what_is_wrong_with_a_manifest(tmp_path: Path) -> None:
    path = tmp_path / "manifest.json"
    path.write_text("{}")

    with pytest.raises(ValueError, match="loopback"):
        await serve(host="0.0.0.0", port=0, manifest_path=path)
    with pytest.raises(ManifestError, match=r"display_information\.name"):
        await serve(port=0, manifest_path=path)
    with pytest.raises(ManifestError, match="cannot read the manifest"):
        await serve(port=0, manifest_path=tmp_path / "none.yml")


async def test_tokens_depend_on_the_seed_alone(tmp_path: Path) -> None:
    path = tmp_path / "manifest.json"
    path.write_text(json.dumps(MANIFEST))
    tokens = []
    for seed in (1, 1, 2):
        running = await serve(port=0, manifest_path=path, options=Options(seed=seed))
        tokens.append((running.bot_token, running.app_token, running.signing_secret))
        await running.close()

    assert tokens[0] == tokens[1] != tokens[2]


SERVER = """
import asyncio, sys
from sandbox.slack import serve
async def main():
    running = await serve(port=0, manifest_path=sys.argv[1], state_path=sys.argv[2])
    print(running.url, flush=True)
    await asyncio.Event().wait()
asyncio.run(main())
"""


async def test_messages_and_home_tabs_survive_kill_9(tmp_path: Path) -> None:
    manifest, database = tmp_path / "manifest.json", tmp_path / "slack.db"
    manifest.write_text(json.dumps(MANIFEST))

    def start() -> tuple[subprocess.Popen[str], str]:
        program = subprocess.Popen(
            [sys.executable, "-c", SERVER, str(manifest), str(database)], stdout=subprocess.PIPE, text=True
        )
        assert program.stdout is not None
        return program, program.stdout.readline().strip()

    async def call(http: ClientSession, url: str, method: str, **args: Any) -> Json:
        headers = {"Authorization": f"Bearer {token}"}
        async with http.post(f"{url}/api/{method}", json=args, headers=headers) as answer:
            body: Json = await answer.json()
            return body

    running = await serve(port=0, manifest_path=manifest)
    token = running.bot_token
    await running.close()
    program, url = await asyncio.to_thread(start)
    async with ClientSession() as http:
        sent = await call(http, url, "chat.postMessage", channel="C0OPS", text="R-1", blocks=[button()])
        home = {"type": "home", "blocks": [button()]}
        published = await call(http, url, "views.publish", user_id="U0BOB", view=home)
        await http.post(f"{url}/_control/groups", json={"handle": "card-approvers", "users": ["U0ALICE"]})
        await http.post(f"{url}/_control/clock", json={"advance_seconds": 3600})
        late = await call(http, url, "chat.postMessage", channel="C0ALERTS", text="later")
        os.kill(program.pid, signal.SIGKILL)
        await asyncio.to_thread(program.communicate)
        again, url = await asyncio.to_thread(start)
        try:
            async with http.get(f"{url}/_control/see?user=U0BOB") as answer:
                seen = await answer.json()
            updated = await call(http, url, "chat.update", channel="C0OPS", ts=sent["ts"], text="R-1 done")
            newest = await call(http, url, "chat.postMessage", channel="C0ALERTS", text="newest")
        finally:
            os.kill(again.pid, signal.SIGTERM)
            await asyncio.to_thread(again.communicate)

    names = [channel["name"] for channel in seen["channels"]]
    assert names == ["card-ops", "card-approvals", "card-alerts", "general", "dm-bob"]
    assert [m["text"] for m in seen["channels"][0]["messages"]] == ["R-1"]
    assert seen["home"]["id"] == published["view"]["id"]
    assert next(g["users"] for g in seen["groups"] if g["handle"] == "card-approvers") == ["U0ALICE"]
    assert updated["ok"]
    assert newest["ts"] > late["ts"]
