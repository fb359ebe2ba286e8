"""A workspace written to a file and read into another: people, channels, messages, files, Home, clock."""

import json
from typing import Any

import httpx
import pytest

from sandbox.slack.control.calls import SNAPSHOT_VERSION
from tests.sandbox_slack.conftest import MakeStage
from tests.sandbox_slack.stage import Stage

Json = dict[str, Any]


async def snapshot(stage: Stage) -> Json:
    async with httpx.AsyncClient(trust_env=False) as http:
        answer: Json = (await http.get(f"{stage.running.url}/_control/snapshot")).raise_for_status().json()
        return answer


def kept(state: Json) -> Json:
    """What a snapshot holds of the whole state."""
    return {
        name: state[name] for name in ("people", "groups", "channels", "messages", "files") if name in state
    }


async def test_a_workspace_is_the_same_in_another_stand_in(make_stage: MakeStage) -> None:
    stage = await make_stage()
    await stage.post("people", name="ida", real_name="Ida Berg")
    await stage.post("channels", name="kitchen", members=["U0ALICE", "U0BOT"])
    said = await stage.act("message", user="U0ALICE", channel="C0OPS", text="hello")
    await stage.act("message", user="U0BOB", channel="C0OPS", text="there", thread_ts=said["ts"])
    await stage.act("upload", user="U0ALICE", channel="C0OPS", files=[{"name": "a.txt", "content": "inside"}])
    await stage.post("clock", advance_seconds=3600)
    before, written = kept(await stage.state()), await snapshot(stage)
    assert before["messages"] or before["channels"]
    text = json.dumps(written)
    assert stage.running.bot_token not in text
    assert stage.running.signing_secret not in text

    other = await make_stage()
    assert kept(await other.state()) != before
    await other.post("snapshot", **written)
    assert kept(await other.state()) == before
    assert await snapshot(other) == written
    await other.act("message", user="U0ALICE", channel="C0OPS", text="and on it goes")
    await other.post("snapshot", **written)
    assert kept(await other.state()) == before


@pytest.mark.parametrize(
    "wrong",
    [
        {"half": "partner"}, {"version": SNAPSHOT_VERSION + 1}, {"content": []}, {"content": [["person", "U1", {}]]},
        {"content": ["x"]}, {"content": [["person", "U1", {"id": "U1", "colour": 1}]]},
    ],
)  # fmt: skip
async def test_what_is_no_snapshot_is_refused_and_changes_nothing(make_stage: MakeStage, wrong: Json) -> None:
    stage = await make_stage()
    await stage.act("message", user="U0ALICE", channel="C0OPS", text="hello")
    before = kept(await stage.state())
    await stage.post("snapshot", status=400, **{**(await snapshot(stage)), **wrong})
    assert kept(await stage.state()) == before
