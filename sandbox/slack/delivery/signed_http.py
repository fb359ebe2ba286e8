"""Signed HTTP delivery to the app's request URL: the alternative to Socket Mode.

One URL takes commands, interactions and events. Requests are signed with the app's signing secret;
a body in the 200 answer is the ack's payload. Deviations: `url_verification` only when a tester asks for it (the URL is
an option of the stand-in, not a setting somebody saves), no `ssl_check`.

Source: https://docs.slack.dev/apis/events-api/using-http-request-urls
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
from collections.abc import Callable, Coroutine
from typing import Any
from urllib.parse import parse_qsl, urlencode

from aiohttp import ClientError, ClientSession

from sandbox.slack.clock import Clock
from sandbox.slack.faults import Fault
from sandbox.slack.json_object import Json
from sandbox.slack.state import VERIFICATION_TOKEN

ACK_SECONDS = 3.0


def signature(secret: str, timestamp: str, body: bytes) -> str:
    """`X-Slack-Signature` for a body sent at `timestamp` (seconds, as text).

    Source: https://api.slack.com/authentication/verifying-requests-from-slack
    """
    digest = hmac.new(secret.encode(), b"v0:" + timestamp.encode() + b":" + body, hashlib.sha256)
    return f"v0={digest.hexdigest()}"


class HttpTransport:
    """Posts envelopes to `request_url`. A `Transport`."""

    effects = frozenset({"delay", "lost_ack", "duplicate", "silence", "skew"})
    connections = 1

    def __init__(
        self,
        request_url: str,
        secret: str,
        clock: Clock,
        on_ack: Callable[[str, Json | None], None],
        on_refusal: Callable[[str, str], None],
        spawn: Callable[[Coroutine[Any, Any, None]], object],
    ) -> None:
        self._request_url = request_url
        self._secret = secret
        self._clock = clock
        self._on_ack = on_ack
        self._on_refusal = on_refusal
        self._spawn = spawn
        self._silent_until = 0.0

    async def deliver(self, envelope: Json, fault: Fault | None) -> bool:
        """Start a request with the envelope; its answer is reported later. Always True: somebody may listen there."""
        if asyncio.get_running_loop().time() >= self._silent_until:
            skew = fault.seconds if fault is not None and fault.effect == "skew" else 0.0
            self._spawn(self._post(envelope, skew))
        return True

    async def fall_silent(self, seconds: float) -> None:
        """Send nothing for so many seconds; to the app it looks as if nothing happened in the workspace."""
        self._silent_until = asyncio.get_running_loop().time() + seconds

    async def verify(self, challenge: str) -> str | None:
        """Send `url_verification`; None when the challenge came back, otherwise why not.

        Source: https://docs.slack.dev/reference/events/url_verification
        """
        body = {"token": VERIFICATION_TOKEN, "challenge": challenge, "type": "url_verification"}
        raw = json.dumps(body).encode()
        try:
            async with (
                asyncio.timeout(ACK_SECONDS),
                ClientSession() as session,
                session.post(
                    self._request_url, data=raw, headers=self._headers(raw, "application/json", 0)
                ) as answer,
            ):
                if answer.status != 200:
                    return f"http_{answer.status}"
                return None if _challenge_of(await answer.text()) == challenge else "wrong_challenge"
        except TimeoutError:
            return "timeout"
        except ClientError:
            return "no_connection"

    async def disconnect(self, reason: str) -> None:
        """There is no connection to cut; `effects` keeps callers from asking."""

    def reset(self) -> None:
        """Send again, whatever was silent."""
        self._silent_until = 0.0

    async def close(self) -> None:
        """Nothing stays open between two requests."""

    def _headers(self, body: bytes, content_type: str, skew: float) -> dict[str, str]:
        timestamp = str(int(self._clock.now() + skew))
        return {
            "Content-Type": content_type,
            "X-Slack-Request-Timestamp": timestamp,
            "X-Slack-Signature": signature(self._secret, timestamp, body),
        }

    async def _post(self, envelope: Json, skew: float) -> None:
        body, content_type = _encoded(envelope)
        headers = self._headers(body, content_type, skew)
        if envelope.get("retry_attempt"):
            headers["X-Slack-Retry-Num"] = str(envelope["retry_attempt"])
            headers["X-Slack-Retry-Reason"] = retry_reason(envelope["retry_reason"])
        envelope_id = envelope["envelope_id"]
        try:
            async with (
                ClientSession() as session,
                session.post(self._request_url, data=body, headers=headers) as answer,
            ):
                if answer.status == 200:
                    self._on_ack(envelope_id, _payload(envelope, await answer.text()))
                else:
                    self._on_refusal(envelope_id, f"http_{answer.status}")
        except ClientError:
            self._on_refusal(envelope_id, "no_connection")


def retry_reason(reason: str) -> str:
    """Why an event comes again, in Slack's words; `reason` is why there was no ack.

    Source: https://docs.slack.dev/apis/events-api
    """
    if reason.startswith("http_"):
        return "http_error"
    return {"timeout": "http_timeout", "no_connection": "connection_failed"}.get(reason, "unknown_error")


def _challenge_of(text: str) -> str | None:
    """The challenge in an answer: plain, in a form, or in JSON."""
    try:
        answer = json.loads(text)
    except ValueError:
        return dict(parse_qsl(text)).get("challenge") or text.strip()
    return answer.get("challenge") if isinstance(answer, dict) else str(answer)


def _encoded(envelope: Json) -> tuple[bytes, str]:
    """Events are JSON, commands a form, interactions JSON in a form."""
    payload = envelope["payload"]
    form = "application/x-www-form-urlencoded"
    if envelope["type"] == "slash_commands":
        return urlencode(payload).encode(), form
    if envelope["type"] == "interactive":
        return urlencode({"payload": json.dumps(payload)}).encode(), form
    return json.dumps(payload).encode(), "application/json"


def _payload(envelope: Json, text: str) -> Json | None:
    """The ack's payload; a command may be answered with bare text."""
    if not text.strip() or not envelope["accepts_response_payload"]:
        return None
    try:
        payload = json.loads(text)
    except ValueError:
        return {"text": text}
    return payload if isinstance(payload, dict) else {"text": text}
