"""What other systems get of an event, signed how, and when it is tried again. Pure.

Of each event type the fields named here are passed on, and of any other type its id and type alone. A
one-time code is never among them: events of 3-D Secure challenges are not relayed at all. The form is that
of Standard Webhooks 1.0: `webhook-id`, `webhook-timestamp`, `webhook-signature`.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

# About 24 h in all, the pauses that receivers of this form know.
_PAUSES = tuple(
    timedelta(seconds=s) for s in (5, 30, 120, 600, 1800, 3600, 7200, 14400, 14400, 14400, 14400, 10800)
)
GIVEN_UP_AFTER = timedelta(hours=24)
_SECRET_PREFIX = "whsec_"  # noqa: S105 - the form's own prefix, no secret

_PURCHASE = (
    "card_id", "partner_ref", "transaction_id", "event", "status", "is_pending", "delivery_status", "merchant",
    "mcc_code", "mcc_category", "merchant_country", "amount_usd", "original_amount", "original_currency",
    "bill_currency", "exchange_rate", "fee_usd", "occurred_at",
)  # fmt: skip
_FIELDS: Mapping[str, tuple[str, ...]] = {
    "card.authorized": _PURCHASE,
    "card.transaction": _PURCHASE,
    "card.declined": _PURCHASE,
    "card.unloaded": ("card_id", "partner_ref"),
    "card.status_changed": ("card_id", "partner_ref", "reason"),
    "float.credited": ("funding_id", "fee_usd", "credited_usd"),
}
_PARTS: Mapping[str, tuple[str, ...]] = {
    "fee_breakdown": ("fx_usd", "atm_usd"),
    "decline_reason": ("code", "message", "retryable", "card_blocked"),
}


@dataclass(frozen=True, slots=True)
class Destination:
    """Another system that gets its copy of the named events."""

    name: str
    url: str
    events: tuple[str, ...]


def content(event_type: str, created_at: datetime, program: str, data: object) -> dict[str, Any]:
    """The body of a message, with exact numbers. What is not named here, or is no plain value, is left out."""
    named = _FIELDS.get(event_type, ())
    given = data if isinstance(data, Mapping) else {}
    passed = {name: given[name] for name in named if name in given and _is_plain(given[name])}
    for name, inner in _PARTS.items() if named is _PURCHASE else ():
        part = given.get(name)
        if isinstance(part, Mapping):
            passed[name] = {key: part[key] for key in inner if key in part and _is_plain(part[key])}
    return {"type": event_type, "timestamp": created_at.isoformat(), "program": program, "data": passed}


def _is_plain(value: object) -> bool:
    return value is None or isinstance(value, str | int | bool | Decimal)


def secret_text(key: bytes) -> str:
    """A signing key as receivers are given it."""
    return _SECRET_PREFIX + base64.b64encode(key).decode()


def headers(message_id: str, body: bytes, at: datetime, keys: Sequence[bytes]) -> dict[str, str]:
    """Signed for this attempt; with each key while the master key is being rotated."""
    stamp = str(int(at.timestamp()))
    signed = f"{message_id}.{stamp}.".encode() + body
    made = (base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode() for key in keys)
    return {
        "content-type": "application/json",
        "webhook-id": message_id,
        "webhook-timestamp": stamp,
        "webhook-signature": " ".join(f"v1,{signature}" for signature in made),
    }


def next_attempt(message_id: str, attempts: int, since: datetime, now: datetime) -> datetime | None:
    """When to try again after the n-th failure (from 1); None: given up.

    Up to a tenth later than the pause, by the message, so that a destination that comes back is not met by
    all of them at once.
    """
    pause = _PAUSES[min(attempts, len(_PAUSES)) - 1]
    due = now + pause * (1 + zlib.crc32(message_id.encode()) % 100 / 1000)
    if attempts <= len(_PAUSES) and due < since + GIVEN_UP_AFTER:
        return due
    return None
