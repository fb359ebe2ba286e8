"""Cursors of Slack's lists: opaque text that names where the next page begins."""

from __future__ import annotations

import base64
from typing import TypeVar

from sandbox.slack.errors import SlackError
from sandbox.slack.web_api.arguments import Args

T = TypeVar("T")

MAX_LIMIT = 999


def page(items: list[T], args: Args, *, default: int = 100) -> tuple[list[T], str]:
    """The page that `cursor` and `limit` ask for, and the next cursor ("" at the end).

    Raises SlackError `invalid_cursor`."""
    limit = args.integer("limit", default, low=1, high=MAX_LIMIT)
    start = _start(args.text("cursor"))
    end = start + limit
    cursor = base64.b64encode(f"next:{end}".encode()).decode() if end < len(items) else ""
    return items[start:end], cursor


def _start(cursor: str) -> int:
    if not cursor:
        return 0
    try:
        word, _, number = base64.b64decode(cursor, validate=True).decode().partition(":")
    except ValueError:  # not ASCII, not base64, not UTF-8
        raise SlackError("invalid_cursor") from None
    if word != "next" or not (number.isascii() and number.isdigit()):
        raise SlackError("invalid_cursor")
    return int(number)
