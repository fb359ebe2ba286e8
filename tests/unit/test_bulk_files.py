"""The bot token is sent to Slack's own host for files, and nowhere else."""

from __future__ import annotations

import pytest
from slack_sdk.web.async_client import AsyncWebClient

from bot.domain.errors import InvalidInput
from handlers.slack_api import fetch
from handlers.slack_api.files import NotFetched

SLACK = "https://slack.com/api/"
STAND_IN = "http://127.0.0.1:8400/api/"


@pytest.mark.parametrize(
    ("base_url", "url"),
    [
        (SLACK, "https://evil.example/files-pri/T1-F1/download/x.csv"),
        (SLACK, "http://files.slack.com/files-pri/T1-F1/download/x.csv"),
        (SLACK, "https://files.slack.com.evil.example/x.csv"),
        (SLACK, "https://files.slack.com@evil.example/x.csv"),
        (SLACK, "https://files.slack.com:8443/x.csv"),
        (SLACK, "https://slack.com/x.csv"),
        (SLACK, ""),
        (STAND_IN, "http://127.0.0.1:8401/x.csv"),
        (STAND_IN, "https://files.slack.com/x.csv"),
    ],
)
async def test_no_other_address_is_asked(base_url: str, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def asked(*_: object, **__: object) -> None:
        raise AssertionError("somebody was asked")

    monkeypatch.setattr("handlers.slack_api.files.aiohttp.ClientSession", asked)
    client = AsyncWebClient(token="xoxb-secret", base_url=base_url)

    with pytest.raises(NotFetched, match="not kept by Slack itself"):
        await fetch(client, {"size": 10, "url_private_download": url}, most_bytes=100)


async def test_a_file_that_says_it_is_too_large_is_not_fetched() -> None:
    client = AsyncWebClient(token="xoxb-secret", base_url=SLACK)

    with pytest.raises(InvalidInput, match="at most 100 are read"):
        await fetch(client, {"size": 101, "url_private_download": ""}, most_bytes=100)
