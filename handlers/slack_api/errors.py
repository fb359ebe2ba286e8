"""What an error answer of Slack's says, whatever form it has: a code, a page of a proxy, or nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aiohttp import ClientError
from slack_sdk.errors import SlackApiError

# What the SDK raises where no answer came: it lets the errors of its HTTP library through as they are.
SlackUnreachable = ClientError

# Slack's own troubles that come as a 200.
TROUBLES = frozenset({"internal_error", "fatal_error", "service_unavailable", "request_timeout"})

# Where it says nothing, or gives a date, as a proxy before Slack may.
_USUAL_REST_S = 1.0


def body_of(error: SlackApiError) -> Mapping[str, Any]:
    """The JSON of the answer; empty when it was none, as from a proxy or at a 5xx."""
    found = getattr(error.response, "data", error.response)
    return found if isinstance(found, Mapping) else {}


def code_of(error: SlackApiError) -> str:
    """Slack's word for it; `no answer` where it gave none."""
    return str(body_of(error).get("error") or "no answer")


def status_of(error: SlackApiError) -> int:
    return int(getattr(error.response, "status_code", 200))


def is_away(error: SlackApiError) -> bool:
    """Is this no answer of Slack's to what was asked: a fault of its own, or that it takes no more just now?"""
    return status_of(error) >= 500 or code_of(error) in TROUBLES or retry_after_s(error) is not None


def retry_after_s(error: SlackApiError) -> float | None:
    """Seconds to wait where Slack takes no more calls just now, else None."""
    if status_of(error) != 429 and code_of(error) != "ratelimited":
        return None
    headers = getattr(error.response, "headers", None) or {}
    said = next((str(value) for name, value in headers.items() if name.lower() == "retry-after"), "")
    return float(said) if said.isdecimal() else _USUAL_REST_S
