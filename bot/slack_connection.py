"""The connection to Slack: the Web API client, and the two ways by which Slack reaches the bot.

With `SLACK_APP_TOKEN` the bot opens a socket to Slack (Socket Mode); without it Slack posts signed requests to the
bot's own web server. What is done with them is the business of `handlers`.
"""

from __future__ import annotations

import os
from contextlib import AsyncExitStack
from typing import Any
from urllib.parse import urlsplit

from aiohttp.web import Request, StreamResponse
from slack_bolt.adapter.socket_mode.async_handler import AsyncSocketModeHandler
from slack_bolt.async_app import AsyncApp
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from bot.config import Settings
from bot.partner.loopback import is_loopback
from bot.startup import CannotStart
from bot.web import SlackEvents


def client(settings: Settings) -> AsyncWebClient:
    """The Web API client of the settings, without retries: a repeated post would be a double one."""
    if settings.slack_bot_token is None:
        raise CannotStart("SLACK_BOT_TOKEN is not set.")
    _ignore_proxies_for_loopback(settings.slack_api_url)
    return AsyncWebClient(
        token=settings.slack_bot_token.reveal(), base_url=settings.slack_api_url, retry_handlers=[]
    )


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
    # Without a name Bolt reads the source of every caller on the stack to find one.
    return AsyncApp(
        name="countersign",
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

    async def answer(request: Request) -> StreamResponse:
        return await to_aiohttp_response(await app.async_dispatch(await to_bolt_request(request)))

    return answer


async def open_socket(settings: Settings, app: AsyncApp, stack: AsyncExitStack) -> None:
    """Connect in Socket Mode until the stack closes; nothing to do in HTTP mode."""
    if settings.slack_app_token is None:
        return
    connection: Any = AsyncSocketModeHandler(
        app, settings.slack_app_token.reveal()
    )  # its methods are untyped
    await connection.connect_async()
    stack.push_async_callback(connection.close_async)


async def fault(slack: AsyncWebClient) -> str | None:
    """What Slack has against our token, in a sentence; None when it takes it."""
    try:
        await slack.auth_test()
    except SlackApiError as error:
        return f"Slack answers {error.response['error']}"
    return None
