"""Arguments of a Web API call, whichever way they came: JSON body, form, multipart or query.

In a form, lists and objects are JSON in a string; Slack's SDK for JavaScript sends every call so. Tokens come as a
bearer header or as `token`. Unknown arguments are ignored, as Slack does.
"""

from __future__ import annotations

import json
from typing import Any

from aiohttp import web

from sandbox.slack.errors import SlackError, invalid_arguments
from sandbox.slack.json_object import Json


class Args:
    """Typed access to what was sent; a wrong type or a missing value is Slack's refusal."""

    def __init__(self, values: Json) -> None:
        self.values = values

    def has(self, name: str) -> bool:
        """Whether the argument was given, and is not null."""
        return self.values.get(name) is not None

    def text(self, name: str, default: str = "") -> str:
        """The argument as text; a number is written out. Raises SlackError `invalid_arguments` for anything else."""
        value = self.values.get(name)
        if value is None:
            return default
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise invalid_arguments(f"must be a valid string [json-pointer:/{name}]")
        return str(value)

    def required(self, name: str) -> str:
        """The argument as text. Raises SlackError `invalid_arguments` when it is missing or empty."""
        value = self.text(name)
        if not value:
            raise invalid_arguments(f"missing required field: {name}")
        return value

    def flag(self, name: str, default: bool = False) -> bool:
        """The argument as true or false; in a form `true` and `1` are true."""
        value = self.values.get(name)
        if value is None:
            return default
        if isinstance(value, str):
            return value.lower() in ("true", "1")
        return bool(value)

    def integer(self, name: str, default: int, *, low: int, high: int) -> int:
        """A number from `low` to `high`; above it is lowered, as Slack does with limits."""
        text = self.text(name)
        if not text:
            return default
        if not text.isascii() or not text.isdigit() or int(text) < low:
            raise invalid_arguments(f"must be a valid integer of at least {low} [json-pointer:/{name}]")
        return min(int(text), high)

    def listing(self, name: str) -> list[str]:
        """`a,b` in a form, or a JSON list."""
        value = self.values.get(name)
        if isinstance(value, list):
            return [str(item) for item in value]
        return [item.strip() for item in self.text(name).split(",") if item.strip()]

    def structure(self, name: str, kind: type, error: str) -> Any:
        """A list or an object; JSON in a string is read. Raises SlackError with `error`."""
        value = self.values.get(name)
        if isinstance(value, str):
            try:
                value = json.loads(value) if value else None
            except ValueError:
                raise SlackError(error) from None
        if value is not None and not isinstance(value, kind):
            raise SlackError(error)
        return value


async def read(request: web.Request) -> Args:
    """Take a call's arguments; the bearer token is put among them. Raises SlackError."""
    values: Json = dict(request.query)
    if request.method == "POST":
        values |= await _body(request)
    scheme, _, bearer = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() == "bearer" and bearer:
        values["token"] = bearer.strip()
    return Args(values)


async def _body(request: web.Request) -> Json:
    if request.content_type == "application/json":
        try:
            body = await request.json()
        except ValueError:
            if (await request.read()).strip():
                raise SlackError("invalid_json") from None
            return {}  # Slack's synchronous SDK sends nothing as JSON
        if not isinstance(body, dict):
            raise SlackError("json_not_object")
        return body
    if request.content_type in ("application/x-www-form-urlencoded", "multipart/form-data"):
        form = await request.post()
        return {key: value for key, value in form.items() if isinstance(value, str)}
    return {}
