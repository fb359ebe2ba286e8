"""Every number and text of every control call at its edges: refused with a sentence, or taken without harm."""

import json

import pytest

from tests.sandbox_slack.conftest import MakeStage
from tests.sandbox_slack.stage import Stage
from tests.support.extreme_bodies import NUMBERS, extremes
from tests.support.walks import drawn


async def _works(stage: Stage) -> list[int]:
    """The status of what an app and a page ask for all the time."""
    reads = ["_control/state", "_control/see?user=U0ALICE", "_control/snapshot"]
    calls = ["auth.test", "users.list", "conversations.list"]
    token = {"Authorization": f"Bearer {stage.running.bot_token}"}
    statuses = []
    for address in [*reads, *(f"api/{name}" for name in calls)]:
        async with stage.http().get(f"{stage.running.url}/{address}", headers=token) as answer:
            statuses.append(answer.status)
            await answer.read()
    return statuses


@pytest.mark.sampled
async def test_no_extreme_of_a_control_call_breaks_the_stand_in(make_stage: MakeStage) -> None:
    """One in three by turns, and in `make soak` all."""
    stage = await make_stage(connect=False)
    broken: set[tuple[str, str, str]] = set()
    async with stage.http().get(f"{stage.running.url}/_control/openapi.json") as answer:
        document = await answer.json()
    for path, name, body in drawn([*extremes(document)], 3):
        async with stage.http().post(f"{stage.running.url}{path}", data=body) as answer:
            if answer.status not in (200, 400):
                broken.add((path, name, body[-90:]))
        if any(status >= 500 for status in await _works(stage)):
            broken.add((path, "afterwards", body[-90:]))
        await stage.post("reset")
    assert sorted(broken) == []


@pytest.mark.parametrize("raw", NUMBERS, ids=lambda raw: raw[:20])
async def test_no_time_of_a_snapshot_breaks_the_stand_in(make_stage: MakeStage, raw: str) -> None:
    stage = await make_stage(connect=False)
    async with stage.http().get(f"{stage.running.url}/_control/snapshot") as answer:
        written = await answer.json()
    rows = [[kind, key, "@" if kind == "clock" else body] for kind, key, body in written["content"]]
    body = json.dumps({**written, "content": rows}).replace('"@"', raw)
    async with stage.http().post(f"{stage.running.url}/_control/snapshot", data=body) as answer:
        assert answer.status in (200, 400)
    assert [status for status in await _works(stage) if status >= 500] == []
