"""The control calls of the Slack stand-in describe themselves, from the fields that check their bodies."""

from typing import Any

import httpx
import jsonschema
import pytest

from sandbox.slack.control import CALLS
from sandbox.slack.faults import EFFECTS
from sandbox.slack.state import SUPPORTED_EVENTS
from tests.sandbox_slack.conftest import MakeStage
from tests.sandbox_slack.stage import Stage

Json = dict[str, Any]


async def read(stage: Stage, path: str) -> Json:
    url = stage.running.url + "/_control" + (f"/{path}" if path else "")
    async with httpx.AsyncClient(trust_env=False) as http:
        answer: Json = (await http.get(url)).raise_for_status().json()
        return answer


async def test_every_control_route_is_described_and_listed(make_stage: MakeStage) -> None:
    stage = await make_stage()
    document = await read(stage, "openapi.json")
    described = {(method.upper(), path) for path, methods in document["paths"].items() for method in methods}
    assert {("POST", f"/_control/{name}") for name in CALLS} <= described
    reads = {
        ("GET", "/_control"), ("GET", "/_control/openapi.json"), ("GET", "/_control/state"), ("GET", "/_control/see"),
        ("GET", "/_control/snapshot"), ("GET", "/_control/file/{file_id}"), ("DELETE", "/_control/faults"),
    }  # fmt: skip
    assert described == reads | {("POST", f"/_control/{name}") for name in CALLS}
    listed = (await read(stage, ""))["calls"]
    assert {(one["method"], one["path"]) for one in listed} == described
    operations = [one for methods in document["paths"].values() for one in methods.values()]
    assert all(one["summary"] for one in operations)
    assert len({one["operationId"] for one in operations}) == len(operations)


BODIES: list[tuple[str, Json, bool]] = [
    ("people", {"id": "U0BOB", "deleted": True}, True), ("people", {"id": "U0BOB", "deleted": "yes"}, False),
    ("people", {"id": "U0BOB", "phone": "1"}, False), ("people", {"id": "U0BOB", "tz": None}, True),
    ("clock", {"advance_seconds": 5}, True), ("clock", {}, False), ("clock", {"advance_seconds": "5"}, False),
    ("groups", {"handle": "x", "users": ["U0BOB"]}, True), ("groups", {"handle": "x", "users": "U0BOB"}, False),
    ("act/home", {"user": "U0ALICE", "tab": "messages"}, True), ("act/home", {"user": "U0ALICE", "tab": "x"}, False),
    ("act/message", {"user": "U0ALICE", "channel": "C0OPS", "text": "hi"}, True),
    ("act/message", {"user": "U0ALICE", "channel": "C0OPS"}, False), ("reset", {}, True), ("reset", {"a": 1}, False),
    ("faults", {"effect": "500", "nth": 0}, False), ("faults", {"effect": "500", "nth": 2}, True),
]  # fmt: skip


@pytest.mark.parametrize(("name", "body", "fits"), BODIES)
async def test_the_description_takes_what_the_call_takes(
    make_stage: MakeStage, name: str, body: Json, fits: bool
) -> None:
    stage = await make_stage()
    document = await read(stage, "openapi.json")
    content = document["paths"][f"/_control/{name}"]["post"]["requestBody"]["content"]
    schema = {**content["application/json"]["schema"], "components": document["components"]}
    assert jsonschema.Draft202012Validator(schema).is_valid(body) is fits
    await stage.post(name, status=200 if fits else 400, **body)


async def test_what_a_field_may_hold_is_in_the_description(make_stage: MakeStage) -> None:
    """From the same table that checks it: effects of faults, and the fields of a file."""
    stage = await make_stage()
    document = await read(stage, "openapi.json")

    def body(call: str) -> Json:
        content = document["paths"][f"/_control/{call}"]["post"]["requestBody"]["content"]
        name = content["application/json"]["schema"]["$ref"].rpartition("/")[2]
        found: Json = document["components"]["schemas"][name]["properties"]
        return found

    assert set(body("faults")["effect"]["enum"]) == EFFECTS
    file = body("act/upload")["files"]["items"]
    assert set(file["properties"]) == {"name", "content", "content_base64"}
    assert (file["required"], file["additionalProperties"]) == (["name"], False)


async def test_an_edit_of_what_a_person_wrote_changes_its_blocks(make_stage: MakeStage) -> None:
    stage = await make_stage()
    written = await stage.act("message", user="U0BOB", channel="C0OPS", text="before")
    await stage.act("edit", channel="C0OPS", ts=written["ts"], text="after @alice")
    shown = (await stage.messages("U0BOB", "C0OPS"))[-1]
    assert shown["text"] == "after <@U0ALICE>"
    assert shown["blocks"][0]["elements"][0]["elements"] == [
        {"type": "text", "text": "after "}, {"type": "user", "user_id": "U0ALICE"},
    ]  # fmt: skip


KINDS = (
    "events_api", "interactive", "slash_commands", "block_actions", "block_suggestion", "message_action", "shortcut",
    "view_submission", "view_closed",
)  # fmt: skip


@pytest.mark.by_turns(5)
@pytest.mark.parametrize("name", [*KINDS, *sorted(SUPPORTED_EVENTS)])
async def test_whatever_is_sent_to_the_app_can_go_wrong(make_stage: MakeStage, name: str) -> None:
    stage = await make_stage()
    await stage.post("faults", method=name, effect="lost_ack")
    refused = await stage.post("faults", status=400, method=name, effect="429")
    assert "lost_ack" in refused["error"]
    described = (await read(stage, "openapi.json"))["components"]["schemas"]["Faults"]["properties"]["method"]
    assert name in SUPPORTED_EVENTS or name in described["description"]


@pytest.mark.parametrize(
    ("name", "strikes"), [("events_api", True), ("app_mention", True), ("interactive", False)]
)
async def test_a_fault_of_a_type_of_envelope_strikes_each_of_its_kinds(
    make_stage: MakeStage, name: str, strikes: bool
) -> None:
    stage = await make_stage()
    await stage.post("faults", method=name, effect="duplicate")
    await stage.act("message", user="U0ALICE", channel="C0OPS", text="<@U0BOT> hello")
    [fault] = (await read(stage, "state"))["faults"]
    assert (fault["seen"] > 0) is strikes
