"""Fetching a file that a person sent in a direct message. Slack's SDK has no call for it.

Slack answers a download that it does not allow with a way to its sign-in page, which is a 200 with HTML:
no redirect is followed and no HTML is taken. The bot token goes to Slack's own host only.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import aiohttp
from slack_sdk.web.async_client import AsyncWebClient

from bot.domain.errors import InvalidInput, NotFound

SLACK_FILES = "files.slack.com"
_TIMEOUT = aiohttp.ClientTimeout(total=20)


class NotFetched(NotFound):
    """Slack did not give the file; the text says what to do."""

    reason = "file_not_fetched"


async def fetch(client: AsyncWebClient, file: Mapping[str, Any], *, most_bytes: int) -> bytes:
    """The bytes of a shared file. Raises `InvalidInput` for one that is too large, `NotFetched`."""
    if int(file.get("size") or 0) > most_bytes:
        raise InvalidInput("file", f"The file has {file['size']:,} bytes; at most {most_bytes:,} are read.")
    url = str(file.get("url_private_download") or "")
    if not _is_slacks(url, client.base_url):
        raise NotFetched("This file is not kept by Slack itself. Upload it, or paste the list.")
    headers = {"Authorization": f"Bearer {client.token}"}
    try:
        async with (
            aiohttp.ClientSession(trust_env=True, timeout=_TIMEOUT) as session,
            session.get(url, headers=headers, allow_redirects=False) as answer,
        ):
            if answer.status == 200 and answer.content_type != "text/html":
                content = await answer.content.read(most_bytes + 1)
                while len(content) <= most_bytes and (more := await answer.content.read(most_bytes)):
                    content += more
            else:
                raise _refused(answer.status)
    except (aiohttp.ClientError, TimeoutError):
        raise NotFetched("Slack did not give the file just now. Upload it again in a minute.") from None
    if len(content) > most_bytes:
        raise InvalidInput("file", f"The file has more than {most_bytes:,} bytes, which is all that is read.")
    return content


def _is_slacks(url: str, base_url: str) -> bool:
    """Slack's host for files over https; with a stand-in for Slack, the stand-in itself."""
    asked, api = urlsplit(url), urlsplit(base_url)
    if f".{api.hostname}".endswith(".slack.com"):
        return asked.scheme == "https" and asked.netloc == SLACK_FILES
    return (asked.scheme, asked.netloc) == (api.scheme, api.netloc)


def _refused(status: int) -> NotFetched:
    if status == 429 or status >= 500:
        return NotFetched("Slack did not give the file just now. Upload it again in a minute.")
    return NotFetched(
        "Slack does not let Countersign read this file. Tell an admin: the app's installation may lack files:read."
    )
