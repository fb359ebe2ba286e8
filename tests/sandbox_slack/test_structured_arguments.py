"""Lists and objects reach every method in both ways: in a JSON body, and as JSON in a field of a form.

Slack's SDK for JavaScript sends every call as a form, so an argument that is read in one way only cannot be used from
there at all.
"""

import ast
import asyncio
import inspect
import json
import shutil
import subprocess
import textwrap
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sandbox.slack.web_api.methods import METHODS
from tests.sandbox_slack.conftest import MakeStage
from tests.sandbox_slack.stage import Json, Stage, modal
from tests.sandbox_slack.test_collaboration import WITH_MORE

BLOCKS = [{"type": "section", "text": {"type": "plain_text", "text": "Hello"}}]
METADATA = {"event_type": "asked", "event_payload": {"number": 1}}
CONTENT = {"blocks": BLOCKS, "attachments": [{"text": "More"}], "metadata": METADATA}
CHUNKS = [{"type": "markdown_text", "text": "Hello"}]
PROMPTS = {"suggested_prompts": [{"title": "Float", "message": "what is it"}]}
AN_AGENT: Json = {**WITH_MORE, "features": {**WITH_MORE["features"], "agent_view": PROMPTS}}

#: The structured arguments of each method that has any.
STRUCTURED: dict[str, Json] = {
    "chat.postMessage": CONTENT,
    "chat.postEphemeral": CONTENT,
    "chat.update": CONTENT,
    "chat.scheduleMessage": CONTENT,
    "chat.startStream": {"chunks": CHUNKS},
    "chat.appendStream": {"chunks": CHUNKS},
    "chat.stopStream": {**CONTENT, "chunks": CHUNKS},
    "chat.unfurl": {"unfurls": {"https://shop.example/1": {"text": "A shop"}}},
    "files.completeUploadExternal": {"files": [{"id": "", "title": "A file"}]},
    "assistant.threads.setStatus": {"loading_messages": ["Reading", "Thinking"]},
    "assistant.threads.setSuggestedPrompts": {"prompts": [{"title": "Float", "message": "what is it"}]},
    "views.open": {"view": modal()},
    "views.push": {"view": modal()},
    "views.update": {"view": modal()},
    "views.publish": {"view": {"type": "home", "blocks": []}},
}
TYPES = Path(__file__).parent / "types"
MODULES = TYPES / "node_modules"


def _structured(function: Callable[..., Any], seen: set[Callable[..., Any]]) -> set[str]:
    """The names that a function of the Web API, or one that it calls, reads as a list or an object."""
    if function in seen or not function.__module__.startswith("sandbox.slack.web_api"):
        return set()
    seen.add(function)
    names: set[str] = set()
    for node in ast.walk(ast.parse(textwrap.dedent(inspect.getsource(function)))):
        if not isinstance(node, ast.Call):
            continue
        if isinstance(node.func, ast.Attribute) and node.func.attr == "structure":
            assert isinstance(node.args[0], ast.Constant)
            names.add(str(node.args[0].value))
        elif isinstance(node.func, ast.Name):
            called = function.__globals__.get(node.func.id)
            names |= _structured(called, seen) if inspect.isfunction(called) else set()
    return names


def test_every_structured_argument_of_every_method_is_known_here() -> None:
    found = {name: _structured(method.call, set()) for name, method in METHODS.items()}
    assert {name: names for name, names in found.items() if names} == {
        name: set(arguments) for name, arguments in STRUCTURED.items()
    }


async def _rest(stage: Stage, method: str) -> Json:
    """What else a call of the method needs; made again for each call."""
    stage.running.workspace.rates.reset()
    direct = (await stage.api("conversations.open", users="U0ALICE"))["channel"]["id"]
    asked = (await stage.api("chat.postMessage", channel=direct, text="Hello"))["ts"]
    if method == "chat.unfurl":
        link = await stage.act("message", user="U0ALICE", channel="C0OPS", text="See https://shop.example/1")
        return {"channel": "C0OPS", "ts": link["ts"]}
    if method in ("chat.appendStream", "chat.stopStream"):
        begun = await stage.api("chat.startStream", channel=direct, thread_ts=asked, markdown_text="Well, ")
        return {"channel": direct, "ts": begun["ts"]}
    if method.startswith("assistant."):
        return {"channel_id": direct, "thread_ts": asked, "status": "is thinking"}
    if method == "files.completeUploadExternal":
        place = await stage.api("files.getUploadURLExternal", filename="a.txt", length=1)
        async with stage.http().post(place["upload_url"], data=b"x") as answer:
            assert answer.status == 200
        return {"files": [{"id": place["file_id"], "title": "A file"}]}
    if method.startswith("views."):
        return await _view(stage, method)
    rest: Json = {
        "chat.postEphemeral": {"channel": "C0OPS", "user": "U0ALICE"},
        "chat.update": {"channel": direct, "ts": asked},
        "chat.scheduleMessage": {"channel": "C0OPS", "post_at": int(time.time()) + 900},
        "chat.startStream": {"channel": direct, "thread_ts": asked},
    }
    found: Json = rest.get(method, {"channel": "C0OPS"})
    return found


async def _view(stage: Stage, method: str) -> Json:
    if method == "views.publish":
        return {"user_id": "U0ALICE"}
    workspace = stage.running.workspace
    workspace.views.reset()
    if method == "views.open":
        return {"trigger_id": workspace.triggers.issue("U0ALICE")}
    opened = await stage.api("views.open", view=modal(), trigger_id=workspace.triggers.issue("U0ALICE"))
    view_id = opened["view"]["id"]
    if method == "views.update":
        return {"view_id": view_id}
    return {"trigger_id": workspace.triggers.issue("U0ALICE", view_id)}


async def _as_form(stage: Stage, method: str, arguments: Json) -> Json:
    fields = {name: one if isinstance(one, str) else json.dumps(one) for name, one in arguments.items()} | {
        "token": stage.running.bot_token
    }
    async with stage.http().post(f"{stage.running.api_url}{method}", data=fields) as answer:
        body: Json = await answer.json()
        return body


@pytest.mark.parametrize("method", sorted(STRUCTURED))
async def test_structured_arguments_come_as_json_and_in_a_form(make_stage: MakeStage, method: str) -> None:
    stage = await make_stage(manifest=AN_AGENT, connect=False)
    arguments = {**STRUCTURED[method], **await _rest(stage, method)}
    by_json = await stage.api(method, **arguments)
    assert by_json["ok"], by_json
    arguments = {**STRUCTURED[method], **await _rest(stage, method)}
    by_form = await _as_form(stage, method, arguments)
    assert by_form["ok"], by_form
    assert by_form.get("message", {}).get("text") == by_json.get("message", {}).get("text")


@pytest.mark.parametrize(
    ("method", "name"), [(method, name) for method, names in STRUCTURED.items() for name in names]
)
async def test_a_field_of_a_form_that_is_not_json_is_refused(
    make_stage: MakeStage, method: str, name: str
) -> None:
    stage = await make_stage(manifest=AN_AGENT, connect=False)
    arguments = {**STRUCTURED[method], **await _rest(stage, method), name: "{"}
    answer = await _as_form(stage, method, arguments)
    assert not answer["ok"]


@pytest.mark.skipif(
    not (MODULES / "@slack" / "bolt").is_dir() or shutil.which("node") is None,
    reason="Bolt for JavaScript is not installed: npm ci in tests/sandbox_slack/types",
)
async def test_bolt_for_javascript_sends_structured_arguments(make_stage: MakeStage) -> None:
    stage = await make_stage(manifest=AN_AGENT, connect=False)
    script = Path(__file__).parent / "structured_arguments.js"
    settings = {
        "SLACK_API_URL": stage.running.api_url,
        "SLACK_BOT_TOKEN": stage.running.bot_token,
        "CONTROL": f"{stage.running.url}/_control/",
        "NODE_PATH": str(MODULES),
    }
    node = shutil.which("node")
    assert node is not None
    process = await asyncio.create_subprocess_exec(
        node, str(script), env=settings, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    printed, _ = await asyncio.wait_for(process.communicate(), 60)
    lines = printed.decode().splitlines()
    assert lines, "nothing was printed"
    assert [line for line in lines if not line.endswith(": ok")] == []
