"""The connection to Slack: the Web API client, and the two ways by which Slack reaches the bot.

With `SLACK_APP_TOKEN` the bot opens a socket to Slack (Socket Mode); without it Slack posts signed requests to the
bot's own web server. What is done with them is the business of `handlers`.
"""

from __future__ import annotations

import asyncio
import os
import re
import time
from collections.abc import Mapping
from contextlib import AsyncExitStack, suppress
from typing import Any
from urllib.parse import urlsplit

from aiohttp.web import Request, StreamResponse, json_response
from slack_bolt.adapter.socket_mode.async_handler import AsyncSocketModeHandler
from slack_bolt.async_app import AsyncApp
from slack_sdk.errors import SlackApiError
from slack_sdk.signature import SignatureVerifier
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from bot.config import Settings
from bot.domain import slack_faults
from bot.partner.loopback import is_loopback
from bot.services.traces import Traces
from bot.startup import CannotStart
from bot.web import SlackEvents
from handlers.slack_api import code_of

# How far a signed request's time may be from ours, and how long its body may take, so that the
# connection ends within ten.
SIGNED_WITHIN_S = 300
BODY_WITHIN_S = 8.0
# A start does not wait longer for a socket to Slack.
CONNECTS_WITHIN_S = 5.0
# Below what a check of `/readyz` may take.
_ANSWERS_WITHIN_S = 1.5
# Of the ten seconds a shutdown may take.
CLOSES_WITHIN_S = 1.0


class _Traced(AsyncWebClient):
    """Its calls are parts of traces. Those of handlers are not: Bolt makes a client of its own for each."""

    traces = Traces()

    async def api_call(self, api_method: str, **asked: Any) -> AsyncSlackResponse:
        began, failed = time.monotonic(), True
        try:
            answer = await super().api_call(api_method, **asked)
            failed = False
            return answer
        finally:
            self.traces.took(f"Slack {api_method}", time.monotonic() - began, failed=failed)


def client(settings: Settings, traces: Traces | None = None) -> AsyncWebClient:
    """The Web API client of the settings, without retries: a repeated post would be a double one."""
    if settings.slack_bot_token is None:
        raise CannotStart("SLACK_BOT_TOKEN is not set.")
    _ignore_proxies_for_loopback(settings.slack_api_url)
    made = _Traced(
        token=settings.slack_bot_token.reveal(), base_url=settings.slack_api_url, retry_handlers=[]
    )
    made.traces = traces or Traces()
    return made


def _ignore_proxies_for_loopback(url: str) -> None:
    """The Slack SDK reads the proxy variables at each request and knows no NO_PROXY, so a stand-in on this
    machine is reached only without them."""
    if is_loopback(urlsplit(url).hostname or ""):
        for name in ("HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"):
            os.environ.pop(name, None)


def bolt_app(settings: Settings, slack: AsyncWebClient) -> AsyncApp:
    """The Bolt app on which handlers are registered. Raises `CannotStart` when Slack has no way to reach it."""
    secret = settings.slack_signing_secret
    if settings.slack_app_token is None and secret is None:
        raise CannotStart("Set SLACK_APP_TOKEN (Socket Mode) or SLACK_SIGNING_SECRET (HTTP mode).")
    # `process_before_response`: the default looks for the ack every 10 ms; here it goes out at once.
    # Without a name Bolt reads the source of every caller on the stack to find one. It makes a logger of that name
    # and sets its level: so it is no name of ours.
    return AsyncApp(
        name="slack_bolt.countersign",
        client=slack,
        signing_secret=secret.reveal() if secret else None,
        request_verification_enabled=secret is not None,
        process_before_response=True,
    )


def http_events(settings: Settings, app: AsyncApp) -> SlackEvents | None:
    """What answers Slack's signed requests; None in Socket Mode, where there are none."""
    if settings.socket_mode:
        return None
    from slack_bolt.adapter.aiohttp import to_aiohttp_response, to_bolt_request

    secret = settings.slack_signing_secret
    verifier = SignatureVerifier(secret.reveal() if secret else "")

    async def answer(request: Request) -> StreamResponse:
        if not _may_be_signed(request.headers):
            return _not_from_slack()
        try:
            async with asyncio.timeout(BODY_WITHIN_S):
                body = await request.read()
        except TimeoutError:
            return _unanswered(408, f"the body did not come within {BODY_WITHIN_S:g} s")
        if secret is None or not _is_signed(verifier, body, request.headers):
            return _not_from_slack()
        return await to_aiohttp_response(await app.async_dispatch(await to_bolt_request(request)))

    return answer


def _may_be_signed(headers: Mapping[str, str]) -> bool:
    """Whether it has the form of a signed request of now: looked at before the body is read."""
    stamp, signature = headers.get("X-Slack-Request-Timestamp", ""), headers.get("X-Slack-Signature", "")
    if not re.fullmatch(r"[0-9]{1,12}", stamp) or not re.fullmatch(r"v0=[0-9a-f]{64}", signature):
        return False
    return abs(time.time() - int(stamp)) <= SIGNED_WITHIN_S


def _is_signed(verifier: SignatureVerifier, body: bytes, headers: Mapping[str, str]) -> bool:
    try:
        return verifier.is_valid_request(body, dict(headers))
    except UnicodeDecodeError:  # Slack sends text, which the verifier reads
        return False


def _not_from_slack() -> StreamResponse:
    return _unanswered(401, "not signed by Slack")


def _unanswered(status: int, why: str) -> StreamResponse:
    """Closes the connection, as the rest of the body may never come."""
    response = json_response({"error": why}, status=status)
    response.force_close()
    return response


class Socket:
    """The connection of Socket Mode; nothing in HTTP mode, where Slack comes to us."""

    def __init__(self, settings: Settings, app: AsyncApp) -> None:
        self._app, self._token = app, settings.slack_app_token
        self._handler: Any = None  # its methods are untyped

    async def open(self, stack: AsyncExitStack) -> None:
        """Connect until the stack closes. While Slack is down the client goes on trying, and the start goes on."""
        if self._token is None:
            return
        # Not before: it opens an HTTP session when it is made, which a start that fails would leave open.
        self._handler = AsyncSocketModeHandler(self._app, self._token.reveal())
        connecting = asyncio.create_task(self._handler.connect_async(), name="slack socket")

        async def close() -> None:
            connecting.cancel()
            await asyncio.wait({connecting})
            with suppress(TimeoutError):  # a Slack that stands still does not say goodbye
                async with asyncio.timeout(CLOSES_WITHIN_S):
                    await self._handler.close_async()

        stack.push_async_callback(close)
        done, _ = await asyncio.wait({connecting}, timeout=CONNECTS_WITHIN_S)
        for task in done:
            task.result()

    async def fault(self) -> str | None:
        """What is wrong with the connection, in a sentence; None when it stands."""
        if self._token is None or (self._handler and await self._handler.client.is_connected()):
            return None
        return "The socket to Slack is not connected: nothing that people do there arrives."


async def fault(slack: AsyncWebClient) -> str | None:
    """What Slack has against our token, in a sentence; None when it takes it."""
    try:
        async with asyncio.timeout(_ANSWERS_WITHIN_S):
            await slack.auth_test()
    except TimeoutError:
        return "Slack does not answer. Messages and approvals wait, and continue when it does."
    except SlackApiError as error:
        return slack_faults.explained(code_of(error))
    except Exception as error:  # noqa: BLE001 - the SDK lets the errors of its HTTP library through as they are
        return f"Slack does not answer ({type(error).__name__}). Messages and approvals wait."
    return None
