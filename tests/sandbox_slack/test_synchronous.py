"""Slack's synchronous SDK and Bolt on the stand-in, unchanged but for the address of the API."""

import asyncio
import logging
import threading
from collections.abc import Callable
from typing import Any

import pytest
from slack_bolt import App
from slack_bolt.adapter.socket_mode import SocketModeHandler
from slack_sdk import WebClient

from tests.sandbox_slack.conftest import MakeStage
from tests.sandbox_slack.stage import Stage


async def called(stage: Stage, call: Callable[[WebClient], Any]) -> Any:
    """What a call of the synchronous client answers, made from a thread of its own."""
    client = WebClient(stage.running.bot_token, base_url=stage.running.api_url)
    return (await asyncio.to_thread(call, client)).data


@pytest.mark.parametrize(
    "call",
    [WebClient.auth_test, WebClient.conversations_list, WebClient.users_list, WebClient.usergroups_list],
)
async def test_a_call_without_arguments_is_answered(make_stage: MakeStage, call: Callable[..., Any]) -> None:
    """S1: the synchronous client sends an empty body as JSON."""
    stage = await make_stage(connect=False)
    assert (await called(stage, call))["ok"] is True


@pytest.mark.parametrize(
    ("kind", "body", "error"),
    [
        ("application/json", b"", None), ("application/json; charset=utf-8", b" ", None),
        ("application/json", b"{", "invalid_json"), ("application/json", b"[]", "json_not_object"),
        ("application/x-www-form-urlencoded", b"", None), ("text/plain", b"", None),
    ],
)  # fmt: skip
async def test_an_empty_body_of_any_kind_has_no_arguments(
    make_stage: MakeStage, kind: str, body: bytes, error: str | None
) -> None:
    stage = await make_stage(connect=False)
    headers = {"Content-Type": kind, "Authorization": f"Bearer {stage.running.bot_token}"}
    async with stage.http().post(f"{stage.running.api_url}auth.test", data=body, headers=headers) as answer:
        assert (await answer.json()).get("error") == error


async def test_a_synchronous_app_answers_over_socket_mode(make_stage: MakeStage) -> None:
    """S1: `App(client=WebClient(…))` starts, connects, acknowledges, posts and opens a form."""
    stage = await make_stage(connect=False)
    done = threading.Event()

    def start() -> tuple[App, SocketModeHandler]:
        client = WebClient(stage.running.bot_token, base_url=stage.running.api_url)
        app = App(
            client=client, signing_secret=stage.running.signing_secret, logger=logging.getLogger("sync-app")
        )

        @app.command("/card")
        def card(ack: Any, say: Any, client: WebClient, body: dict[str, Any]) -> None:
            ack("got it")
            say("hello from a thread")
            view = {
                "type": "modal",
                "callback_id": "form",
                "title": {"type": "plain_text", "text": "Form"},
                "blocks": [{"type": "divider"}],
            }
            client.views_open(trigger_id=body["trigger_id"], view=view)
            done.set()

        handler = SocketModeHandler(app, stage.running.app_token)
        connect: Callable[[], None] = handler.connect
        connect()
        return app, handler

    _, handler = await asyncio.to_thread(start)
    outcome = await stage.act("command", user="U0ALICE", channel="C0OPS", text="/card topup")
    assert outcome["acked"] is True
    assert await asyncio.to_thread(done.wait, 5)
    messages = [one["text"] for one in await stage.messages("U0ALICE", "C0OPS")]
    assert "hello from a thread" in messages
    assert [view["callback_id"] for view in (await stage.see("U0ALICE"))["views"]] == ["form"]
    await asyncio.to_thread(handler.close)
