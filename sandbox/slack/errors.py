"""The two ways a call can be refused.

`SlackError` is an answer Slack would give to the app. `BadAct` is a mistake of whoever drives the
stand-in through `/_control`; Slack has no such thing.
"""

from __future__ import annotations

from typing import Any

from sandbox.slack.json_object import Json


class SlackError(Exception):
    """An answer `{"ok": false, "error": code, ...fields}`, normally with status 200 as Slack does."""

    def __init__(
        self, code: str, *, status: int = 200, headers: dict[str, str] | None = None, **fields: Any
    ) -> None:
        super().__init__(code)
        self.code = code
        self.status = status
        self.headers = headers or {}
        self.fields = fields

    def body(self) -> Json:
        """The answer as a JSON object."""
        return {"ok": False, "error": self.code, **self.fields}


class BadAct(Exception):
    """The control call cannot be done; the text says why. Answered with 400."""


def invalid_arguments(*messages: str) -> SlackError:
    """Slack's form for a wrong argument; each message names the place."""
    return SlackError(
        "invalid_arguments", response_metadata={"messages": [f"[ERROR] {text}" for text in messages]}
    )
