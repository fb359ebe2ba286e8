"""What Slack says of our tokens: whose they are, what they may do, and what time it is there."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from email.utils import parsedate_to_datetime

from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from handlers.slack_api.errors import code_of


@dataclass(frozen=True, slots=True)
class BotToken:
    """A bot token that Slack takes. `scopes` and `slack_time` are None where Slack did not say."""

    user: str
    team: str
    scopes: frozenset[str] | None
    slack_time: datetime | None


async def bot_token(client: AsyncWebClient) -> BotToken | str:
    """What the token is, or Slack's error code."""
    try:
        answer = await client.auth_test()
    except SlackApiError as error:
        return code_of(error)
    headers = {name.lower(): str(value) for name, value in (answer.headers or {}).items()}
    scopes, date = headers.get("x-oauth-scopes"), headers.get("date")
    return BotToken(
        user=str(answer["user"]),
        team=str(answer["team"]),
        scopes=None if scopes is None else frozenset(s.strip() for s in scopes.split(",")),
        slack_time=None if date is None else parsedate_to_datetime(date),
    )


async def app_token_fault(client: AsyncWebClient, token: str) -> str | None:
    """None when Slack opens a socket for this app token, else its error code."""
    try:
        await client.apps_connections_open(app_token=token)
    except SlackApiError as error:
        return code_of(error)
    return None
