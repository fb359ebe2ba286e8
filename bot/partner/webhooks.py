"""Is this delivery genuine, fresh and whole? Pure: bytes and headers in, a Delivery or a refusal out.

The signature is over the timestamp header, a full stop and the raw body, with the whole secret as key,
`whsec_` included: it is neither stripped nor decoded [Signature]. Event and delivery headers are not
signed, so type and id are taken from the body. The service sets no freshness window; ours is on both
sides of the clock, on the timestamp of this attempt, since the event itself may be old on a retry.
"""

import hashlib
import hmac
import json
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from pydantic import Field

from bot.domain.secret import Secret
from bot.partner import codec
from bot.partner.models import Answer, Unreadable, Utc

TOLERANCE_SECONDS = 300
MOST_BYTES = 64 * 1024
_DEEPEST = 32

# Ids and types are kept as names of rows: visible ASCII, no longer than any real one.
_NAME = "^[!-~]{1,200}$"
_SIGNATURE = re.compile(r"[0-9a-f]{64}")
_TIMESTAMP = re.compile(r"[0-9]{1,11}")


class DeliveryRefused(Exception):
    """This delivery is not taken, and nothing of it may be kept. `status` is the HTTP answer it gets."""

    status = 400


class TooLarge(DeliveryRefused):
    """More bytes than any event has."""

    status = 413


class NotGenuine(DeliveryRefused):
    """No signature, or none that one of our secrets makes."""

    status = 401


class Stale(DeliveryRefused):
    """Genuine, but its timestamp is too far from our clock: a replay, or one of the clocks is wrong."""

    status = 401


class Malformed(DeliveryRefused):
    """Genuine and fresh, but no event envelope."""


class Delivery(Answer):
    """An event as delivered. `data` may hold a one-time code: cut it before anything is stored."""

    id: str = Field(pattern=_NAME)
    type: str = Field(pattern=_NAME)
    created_at: Utc
    data: Mapping[str, Any] = Field(repr=False)


def verify(
    raw: bytes,
    headers: Mapping[str, str],
    secrets: Sequence[Secret],
    now: datetime,
    *,
    tolerance_seconds: int = TOLERANCE_SECONDS,
) -> Delivery:
    """The event in this delivery; `headers` in any case, `now` aware UTC.

    Several `secrets` are for the minutes after a rotation; with none nothing is genuine. Raises
    TooLarge, NotGenuine, Stale or Malformed.
    """
    if len(raw) > MOST_BYTES:
        raise TooLarge(f"more than {MOST_BYTES} bytes")
    lowered = {name.lower(): value for name, value in headers.items()}
    timestamp = lowered.get("x-svc-timestamp", "")
    if not _TIMESTAMP.fullmatch(timestamp):
        raise NotGenuine("the timestamp is missing or not plain digits")
    if not _signed(raw, timestamp, lowered.get("x-svc-signature", ""), secrets):
        raise NotGenuine("the signature is missing or none of ours")
    if abs(now.timestamp() - int(timestamp)) > tolerance_seconds:
        raise Stale(f"the timestamp is more than {tolerance_seconds} s from our clock")
    return _envelope(raw)


def _signed(raw: bytes, timestamp: str, signature: str, secrets: Sequence[Secret]) -> bool:
    """Whether one of the secrets makes this signature. Compares all, each in constant time, as bytes."""
    if not _SIGNATURE.fullmatch(signature):
        return False
    message = timestamp.encode("ascii") + b"." + raw
    matches = [
        hmac.compare_digest(
            hmac.new(secret.reveal().encode(), message, hashlib.sha256).hexdigest().encode(),
            signature.encode(),
        )
        for secret in secrets
    ]
    return any(matches)


def _envelope(raw: bytes) -> Delivery:
    try:
        value = codec.decode(raw)
        if _depth(value) > _DEEPEST:
            raise Malformed("nested too deep")
        # What two readers would read differently is refused; the exact decoder takes the last silently.
        json.loads(raw, object_pairs_hook=_refuse_doubles, parse_int=str, parse_float=str)
        return Delivery.read(value)
    except Unreadable as error:
        raise Malformed(f"no event: {error}") from None
    except ValueError:
        raise Malformed("no JSON") from None


def _depth(value: Any) -> int:
    """How many containers are inside each other."""
    depth, level = 0, [value]
    while level := [item for item in level if isinstance(item, (dict, list))]:
        depth += 1
        level = [inner for item in level for inner in (item.values() if isinstance(item, dict) else item)]
    return depth


def _refuse_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise Malformed("a name appears twice")
    return fields
