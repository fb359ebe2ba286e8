"""The bot's web server over loopback: health, readiness with reasons, Slack's mount point."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

import aiohttp
import pytest
from aiohttp import web

from bot.web import Check, SlackEvents, build, serve


async def fine() -> None:
    return None


async def hanging() -> None:
    await asyncio.Event().wait()


async def broken() -> None:
    raise ConnectionError("postgresql://bot:hunter2@db refused")


async def not_yet() -> str:
    return "Slack is not connected"


@asynccontextmanager
async def running(
    checks: Mapping[str, Check], slack: SlackEvents | None = None
) -> AsyncIterator[aiohttp.ClientSession]:
    server = await serve(build(checks, slack_events=slack), host="127.0.0.1", port=0)
    try:
        async with aiohttp.ClientSession(server.url) as client:
            yield client
    finally:
        await server.stop()


async def test_the_process_is_healthy_even_while_it_is_not_ready() -> None:
    async with running({"slack": not_yet}) as client, client.get("/healthz") as answer:
        assert answer.status == 200


async def test_readiness_names_every_reason_and_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.web.CHECK_TIMEOUT_S", 0.05)
    checks = {"key": fine, "slack": not_yet, "database": broken, "poller": hanging}

    async with running(checks) as client, client.get("/readyz") as answer:
        body = await answer.json()

    assert answer.status == 503
    assert body["ready"] is False
    assert body["checks"] == {
        "key": "ok",
        "slack": "Slack is not connected",
        "database": "failed: ConnectionError",
        "poller": "no answer within 0.05 seconds",
    }


@pytest.mark.parametrize(
    "header",
    [
        *(
            "X-Forwarded-For",
            "Forwarded",
            "X-Real-Ip",
            "Via",
            "X-Forwarded-Host",
            "X-Forwarded-Proto",
            "X-Client-IP",
        ),
        *(
            "CF-Connecting-IP",
            "True-Client-IP",
            "Fastly-Client-IP",
            "X-Envoy-External-Address",
            "X-Request-Id",
        ),
        *("Fly-Client-IP", "CDN-Loop", "X-Amzn-Trace-Id", "Client-IP", "X-Original-For", "X-ProxyUser-Ip"),
    ],
)
async def test_the_reasons_are_for_this_machine_alone(header: str) -> None:
    """They name hosts, paths and people; a proxy asks for somebody else."""
    async with running({"slack": not_yet}) as client:
        async with client.get("/readyz", headers={header: "203.0.113.9"}) as answer:
            assert (answer.status, await answer.json()) == (503, {"ready": False})
        of_a_browser = {"Cookie": "a=b", "Sec-Fetch-Site": "none", "Upgrade-Insecure-Requests": "1"}
        for headers in ({}, of_a_browser):
            async with client.get("/readyz", headers=headers) as answer:
                assert "not connected" in (await answer.json())["checks"]["slack"]


async def test_a_probe_may_look_at_some_checks_only() -> None:
    """An outage of Slack must not take the receiver of events out of service."""
    checks = {"slack": not_yet, "database": fine, "key": fine}
    async with running(checks) as client:
        async with client.get("/readyz?only=database,key") as answer:
            assert (answer.status, (await answer.json())["checks"]) == (200, {"database": "ok", "key": "ok"})
        async with client.get("/readyz?only=databse") as answer:
            assert (answer.status, await answer.json()) == (400, {"error": "Unknown checks: databse"})


async def test_ready_when_every_check_is_well() -> None:
    async with running({"database": fine}) as client, client.get("/readyz") as answer:
        assert answer.status == 200
        assert await answer.json() == {"ready": True, "checks": {"database": "ok"}}


async def test_slack_may_post_only_in_http_mode() -> None:
    async def slack(request: web.Request) -> web.Response:
        return web.Response(text=await request.text())

    async with running({}, slack) as client, client.post("/slack/events", data=b"payload") as answer:
        assert await answer.text() == "payload"
    async with running({}) as client, client.post("/slack/events", data=b"payload") as answer:
        assert answer.status == 404


async def test_an_error_of_ours_says_nothing_about_our_insides() -> None:
    async def slack(_request: web.Request) -> web.Response:
        raise RuntimeError("svc_live_secret in a message")

    async with running({}, slack) as client, client.post("/slack/events") as answer:
        assert answer.status == 500
        assert await answer.json() == {"error": "Internal error"}
        assert answer.headers["Cache-Control"] == "no-store"


async def test_a_port_that_is_taken_is_an_error_and_leaves_nothing_behind() -> None:
    first = await serve(build({}), host="127.0.0.1", port=0)

    with pytest.raises(OSError, match="in use"):
        await serve(build({}), host="127.0.0.1", port=first.port)

    await first.stop()
