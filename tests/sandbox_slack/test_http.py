"""Signed HTTP delivery to the real Bolt app, the alternative to Socket Mode."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiohttp import web
from slack_bolt.adapter.aiohttp import to_aiohttp_response, to_bolt_request
from slack_bolt.async_app import AsyncApp

from sandbox.slack import Options
from tests.sandbox_slack.conftest import MakeStage
from tests.sandbox_slack.stage import Stage, amount_input, button, modal

Json = dict[str, Any]


class HttpApp:
    """A web server in front of the stage's Bolt app."""

    def __init__(self, runner: web.AppRunner) -> None:
        self._runner = runner
        self.stage: Stage | None = None
        self.headers: list[dict[str, str]] = []
        self.answer: web.Response | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._runner.addresses[0][1]}/slack/events"

    async def take(self, request: web.Request) -> web.Response:
        assert self.stage is not None
        self.headers.append(dict(request.headers))
        if self.answer is not None:
            return self.answer
        answer = await self.stage.app.async_dispatch(await to_bolt_request(request))
        response: web.Response = await to_aiohttp_response(answer)
        return response


@pytest.fixture
async def http_app() -> AsyncIterator[HttpApp]:
    site = web.Application()
    runner = web.AppRunner(site)
    app = HttpApp(runner)
    site.router.add_post("/slack/events", app.take)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    yield app
    await runner.cleanup()


async def test_commands_clicks_submissions_and_events_arrive_signed(
    make_stage: MakeStage, http_app: HttpApp
) -> None:
    received: list[str] = []

    def wire(app: AsyncApp) -> None:
        @app.command("/card")
        async def card(ack: Any, body: Json, client: Any) -> None:
            received.append("command")
            await client.views_open(trigger_id=body["trigger_id"], view=modal(amount_input()))
            await ack("Fill in the form.")

        @app.action("approve")
        async def approve(ack: Any) -> None:
            received.append("click")
            await ack()

        @app.view("form")
        async def form(ack: Any) -> None:
            received.append("submission")
            await ack(response_action="errors", errors={"amount": "No."})

        @app.event("message")
        async def message() -> None:
            received.append("event")

    http_app.stage = stage = await make_stage(
        wire=wire, connect=False, options=Options(request_url=http_app.url)
    )
    command = await stage.act("command", user="U0ALICE", channel="C0OPS", text="/card")
    [view] = (await stage.see("U0ALICE"))["views"]
    submitted = await stage.act(
        "submit", user="U0ALICE", view_id=view["id"], values={"amount": {"value": "0"}}
    )
    sent = await stage.client.chat_postMessage(channel="C0OPS", text="R-1", blocks=[button()])
    click = await stage.act("click", user="U0BOB", channel="C0OPS", ts=sent["ts"], action_id="approve")
    event = await stage.act("message", user="U0BOB", channel="D0BOB", text="help")

    assert received == ["command", "submission", "click", "event"]
    assert command["reply"]["text"] == "Fill in the form."
    assert submitted["errors"] == {"amount": "No."}
    assert click["acked"]
    assert event["acked"]
    assert all(headers["X-Slack-Signature"].startswith("v0=") for headers in http_app.headers)


async def test_a_signature_from_another_time_is_refused_by_the_app(
    make_stage: MakeStage, http_app: HttpApp
) -> None:
    def wire(app: AsyncApp) -> None:
        @app.command("/card")
        async def card(ack: Any) -> None:
            await ack()

    http_app.stage = stage = await make_stage(
        wire=wire, connect=False, options=Options(request_url=http_app.url)
    )
    await stage.post("faults", method="slash_commands", effect="skew", seconds=-301)
    stale = await stage.act("command", user="U0ALICE", channel="C0OPS", text="/card")
    fresh = await stage.act("command", user="U0ALICE", channel="C0OPS", text="/card")

    assert (stale["acked"], stale["reason"]) == (False, "http_401")
    assert fresh["acked"]


async def test_a_retry_says_so_in_its_headers(make_stage: MakeStage, http_app: HttpApp) -> None:
    http_app.stage = stage = await make_stage(connect=False, options=Options(request_url=http_app.url))
    await stage.act("message", user="U0BOB", channel="D0BOB", text="nobody listens for this")
    for _ in range(100):
        if len(http_app.headers) > 1:
            break
        await stage.state()

    assert "X-Slack-Retry-Num" not in http_app.headers[0]
    assert http_app.headers[1]["X-Slack-Retry-Num"] == "1"
    assert http_app.headers[1]["X-Slack-Retry-Reason"] == "http_error"


async def test_the_address_is_verified_by_a_challenge_that_the_app_sends_back(
    make_stage: MakeStage, http_app: HttpApp
) -> None:
    """S6."""
    http_app.stage = stage = await make_stage(connect=False, options=Options(request_url=http_app.url))
    assert await stage.post("verify_url") == {"ok": True, "verified": True, "reason": None}
    assert http_app.headers[0]["X-Slack-Signature"].startswith("v0=")


@pytest.mark.parametrize(
    ("status", "text", "reason"),
    [(200, "hello", "wrong_challenge"), (500, "", "http_500"), (None, "", "no_connection")],
)
async def test_an_address_that_does_not_send_the_challenge_back_is_not_verified(
    make_stage: MakeStage, http_app: HttpApp, status: int | None, text: str, reason: str
) -> None:
    url = http_app.url if status else "http://127.0.0.1:9/slack/events"
    http_app.answer = web.Response(status=status or 200, text=text)
    http_app.stage = stage = await make_stage(connect=False, options=Options(request_url=url))
    assert await stage.post("verify_url") == {"ok": True, "verified": False, "reason": reason}


async def test_there_is_no_address_to_verify_in_socket_mode(make_stage: MakeStage) -> None:
    stage = await make_stage(connect=False)
    assert "Socket Mode" in (await stage.post("verify_url", status=400))["error"]
