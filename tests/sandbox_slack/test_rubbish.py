"""Whatever an app or a test sends, the answer is Slack's kind of refusal and never a crash."""

import random
from typing import Any

import pytest
from aiohttp import ClientSession

from sandbox.slack.control import CALLS
from sandbox.slack.web_api import METHODS
from tests.sandbox_slack.conftest import MakeStage
from tests.sandbox_slack.stage import amount_input, button, modal, text

pytestmark = pytest.mark.by_turns(4)

Json = dict[str, Any]

#: Arguments that methods take, each with something that is right.
RIGHT: Json = {
    "channel": "C0OPS", "user": "U0BOB", "users": "U0BOB", "text": "x", "ts": "1.0", "thread_ts": None,
    "blocks": [button(), {"type": "section", "text": {"type": "mrkdwn", "text": "x"}}],
    "metadata": {"event_type": "r", "event_payload": {}}, "attachments": [], "view": modal(amount_input(), button()),
    "view_id": "V1", "hash": "1.x", "trigger_id": "1.2.x", "user_id": "U0BOB", "usergroup": "S0APPROVERS",
    "types": "public_channel", "limit": 10, "cursor": "", "oldest": "1.0", "inclusive": True,
    "files": [{"id": "F1", "title": "x"}], "channel_id": "C0OPS", "filename": "a.csv", "length": 4,
    "message_ts": "1.0", "status": "x", "title": "x", "prompts": [{"title": "x", "message": "y"}],
}  # fmt: skip
#: Fields of control calls.
FIELDS = [
    "user", "channel", "text", "ts", "thread_ts", "view_id", "block_id", "action_id", "value", "values",
    "selected_option", "selected_options", "tab", "id", "name", "members", "users", "handle", "effect", "method",
    "nth", "times", "seconds", "reason", "blocks", "deleted", "tz",
]  # fmt: skip


def _scalar(rng: random.Random) -> Any:
    return rng.choice(
        [None, [], {}, [[]], True, False, 0, -1, 1.5, 10**30, "", "x", "C0OPS", "D0BOB", "U0BOB", "S0APPROVERS", "\x00",
         "ü" * 300, "1.0", "home", "error", "chat.update", "{}", "[", "[{}]", "/card",
         "@Countersign <@U0BOT> #card-ops <#C1|x>"]
    )  # fmt: skip


def _value(rng: random.Random, depth: int = 0) -> Any:
    shape = rng.random()
    if depth > 3 or shape < 0.5:
        return _scalar(rng)
    if shape < 0.65:
        return [_value(rng, depth + 1) for _ in range(rng.randrange(3))]
    if shape < 0.8:
        keys = rng.sample(["type", "text", "elements", "element", "block_id", "rows", "options", "b"], 3)
        return {key: _value(rng, depth + 1) for key in keys}
    return _spoilt(rng, rng.choice([button(), amount_input(), modal(amount_input()), text("x"), [button()]]))


def _spoilt(rng: random.Random, value: Any) -> Any:
    """Something right with one thing wrong in it."""
    if isinstance(value, list) and value:
        return [_spoilt(rng, value[0]), *value[1:]]
    if isinstance(value, dict) and value:
        key = rng.choice(list(value))
        deeper = rng.random() < 0.6 and isinstance(value[key], dict | list)
        return {**value, key: _spoilt(rng, value[key]) if deeper else _scalar(rng)}
    return _scalar(rng)


@pytest.mark.parametrize("seed", range(4))
async def test_no_arguments_make_a_method_crash(make_stage: MakeStage, seed: int) -> None:
    stage = await make_stage(connect=False)
    rng = random.Random(seed)
    errors: set[str] = set()
    for number in range(1500):
        if number % 15 == 0:
            await stage.post("clock", advance_seconds=61)
        method, wrong = rng.choice([("chat.postMessage", ["blocks"]), ("views.open", ["view"])])
        if rng.random() < 0.5:
            method = rng.choice([name for name in METHODS if name != "apps.connections.open"])
            wrong = rng.sample(list(RIGHT), rng.randrange(3))
        args = {**RIGHT, **{name: _spoilt(rng, RIGHT[name]) for name in wrong}}
        answer = await stage.api(method, **args)
        assert answer["_status"] in (200, 429), (method, args)
        assert isinstance(answer["ok"], bool)
        errors.add(str(answer.get("error")))

    assert {"None", "invalid_arguments", "invalid_blocks", "invalid_trigger_id"} <= errors


@pytest.mark.parametrize("seed", range(4))
async def test_no_body_makes_a_control_call_crash(make_stage: MakeStage, seed: int) -> None:
    stage = await make_stage(connect=False)
    sent = await stage.client.chat_postMessage(channel="C0OPS", text="R-1", blocks=[button()])
    rng = random.Random(seed)
    calls = [call for call in CALLS if call not in ("reset", "clock")]
    async with ClientSession() as http:
        for _ in range(1500):
            call = rng.choice(calls)
            body = {name: _value(rng) for name in rng.sample(FIELDS, 5)} | {"user": "U0BOB"}
            if rng.random() < 0.5:
                body = {"user": "U0BOB", "channel": "C0OPS", "ts": sent["ts"], "action_id": "approve"} | {
                    name: _value(rng) for name in rng.sample(FIELDS, 1)
                }
            known = {name: value for name, value in body.items() if rng.random() < 0.9}
            async with http.post(f"{stage.running.url}/_control/{call}", json=known) as answer:
                assert answer.status in (200, 400), (call, known, await answer.text())
        async with http.get(f"{stage.running.url}/_control/see?user=U0BOB") as answer:
            assert answer.status == 200


async def test_arguments_come_as_json_form_or_query(make_stage: MakeStage) -> None:
    stage = await make_stage(connect=False)
    url, token = f"{stage.running.api_url}chat.postMessage", stage.running.bot_token
    form = {"token": token, "channel": "C0OPS", "text": "form", "blocks": '[{"type":"divider"}]'}
    broken = {**form, "blocks": "[{"}
    async with ClientSession() as http:
        answers = [
            await (await http.post(url, data=form)).json(),
            await (await http.get(url, params={"token": token, "channel": "C0OPS", "text": "query"})).json(),
            await (await http.post(url, data=broken)).json(),
            await (await http.post(url, data="{", headers={"Content-Type": "application/json"})).json(),
            await (await http.post(url, json=[1])).json(),
        ]

    assert answers[0]["message"]["blocks"][0]["type"] == "divider"
    assert answers[1]["message"]["text"] == "query"
    assert [one.get("error") for one in answers[2:]] == [
        "invalid_blocks_format",
        "invalid_json",
        "json_not_object",
    ]
