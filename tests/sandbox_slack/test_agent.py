"""The agent surface and shortcuts on messages: as strict as Slack, and seen by the person they are for."""

import copy
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from slack_sdk.errors import SlackApiError

from tests.sandbox_slack.stage import MANIFEST, Stage

Json = dict[str, Any]
MakeStage = Callable[..., Awaitable[Stage]]
PROMPTS = [{"title": "Float", "message": "float"}]


async def direct(stage: Stage) -> Json:
    """The app's conversation as Bob sees it."""
    found: Json = next(c for c in (await stage.see("U0BOB"))["channels"] if c["id"] == "D0BOB")
    return found


async def test_a_status_goes_away_with_the_answer_or_after_two_minutes(make_stage: MakeStage) -> None:
    stage = await make_stage(connect=False)
    for answered in (True, False):
        asked = await stage.client.chat_postMessage(channel="D0BOB", text="x")
        await stage.client.assistant_threads_setStatus(
            channel_id="D0BOB", thread_ts=asked["ts"], status="is looking"
        )
        assert (await direct(stage))["statuses"] == [{"thread_ts": asked["ts"], "status": "is looking"}]

        if answered:
            await stage.client.chat_postMessage(channel="D0BOB", text="y", thread_ts=asked["ts"])
        else:
            await stage.post("clock", advance_seconds=121)
        assert (await direct(stage))["statuses"] == []


async def test_prompts_of_the_manifest_stand_until_others_are_suggested(make_stage: MakeStage) -> None:
    stage = await make_stage(connect=False, manifest=with_scope())

    assert (await direct(stage))["prompts"]["prompts"][0]["message"] == "what's our float"
    await stage.client.assistant_threads_setSuggestedPrompts(
        channel_id="D0BOB", title="Ask", prompts=[*PROMPTS]
    )

    assert (await direct(stage))["prompts"] == {"title": "Ask", "prompts": PROMPTS}


def with_scope(**features: Any) -> Json:
    manifest = copy.deepcopy(MANIFEST)
    manifest["oauth_config"]["scopes"]["bot"].append("assistant:write")
    manifest["features"] |= features
    return manifest


@pytest.mark.parametrize(
    ("prompts", "error"),
    [([], "invalid_arguments"), (PROMPTS * 5, "invalid_arguments"), ([{"title": "x"}], "invalid_arguments")],
)
async def test_prompts_are_one_to_four_with_a_title_and_a_message(
    make_stage: MakeStage, prompts: list[dict[str, str]], error: str
) -> None:
    stage = await make_stage(connect=False, manifest=with_scope())

    with pytest.raises(SlackApiError, match=error):
        await stage.client.assistant_threads_setSuggestedPrompts(channel_id="D0BOB", prompts=prompts)


async def test_without_the_scope_the_feature_or_the_message_slack_refuses(make_stage: MakeStage) -> None:
    unscoped = await make_stage(connect=False)
    with pytest.raises(SlackApiError, match="missing_scope"):
        await unscoped.client.assistant_threads_setSuggestedPrompts(channel_id="D0BOB", prompts=[*PROMPTS])
    with pytest.raises(SlackApiError, match="invalid_thread_ts"):
        await unscoped.client.assistant_threads_setStatus(channel_id="D0BOB", thread_ts="1.2", status="x")

    manifest = with_scope()
    del manifest["features"]["agent_view"]
    plain = await make_stage(connect=False, manifest=manifest)
    with pytest.raises(SlackApiError, match="feature_not_enabled"):
        await plain.client.assistant_threads_setSuggestedPrompts(channel_id="D0BOB", prompts=[*PROMPTS])
    assert (await direct(plain))["prompts"] is None


async def test_a_shortcut_brings_the_message_and_a_trigger_of_its_user(make_stage: MakeStage) -> None:
    bodies: list[Json] = []

    async def ask(ack: Any, body: Json, respond: Any) -> None:
        await ack()
        bodies.append(body)
        await respond(text="read", response_type="ephemeral")

    stage = await make_stage(wire=lambda app: app.shortcut("ask")(ask))
    said = await stage.act("message", user="U0ALICE", channel="C0OPS", text="float?")

    done = await stage.act("shortcut", user="U0BOB", channel="C0OPS", ts=said["ts"], callback_id="ask")

    assert done["acked"]
    (body,) = bodies
    assert (body["user"]["id"], body["message"]["user"], body["message"]["text"]) == (
        "U0BOB", "U0ALICE", "float?",
    )  # fmt: skip
    assert body["trigger_id"]
    assert (await stage.see("U0BOB"))["shortcuts"][0]["callback_id"] == "ask"
    for ts, callback_id in ((said["ts"], "other"), ("1.2", "ask")):
        await stage.post("act/shortcut", 400, user="U0BOB", channel="C0OPS", ts=ts, callback_id=callback_id)
