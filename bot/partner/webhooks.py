"""Is this delivery genuine, fresh and whole, and what does it say? Pure.

`verify` takes bytes and headers and gives a Delivery or a refusal; `unwrap` makes a typed event of what
was taken in.

The signature is over the timestamp header, a full stop and the raw body, with the whole secret as key,
`whsec_` included: it is neither stripped nor decoded [Signature]. Event and delivery headers are not
signed, so type and id are taken from the body. The card provider sets no freshness window; ours is on both
sides of the clock, on the timestamp of this attempt, since the event itself may be old on a retry.

Once taken in an event is never refused: what cannot be read comes back as an UnknownEvent, for a person
to see. The payload of a 3-D Secure challenge is not shown in the document, so the place of its one-time
code is a setting and any other place may hold a copy: of a challenge only the few fields listed here are
kept, cut clean of the code.
"""

import hashlib
import hmac
import json
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from pydantic import Field

from bot.partner import codec
from bot.partner.models import CHALLENGE, Answer, Event, Unreadable, Utc
from bot.partner.models import events as typed
from bot.partner.redaction import REMOVED, redact
from bot.partner.secret import Secret

TOLERANCE_SECONDS = 300
MOST_BYTES = 64 * 1024
_DEEPEST = 32

# Ids and types are kept as names of rows: visible ASCII, no longer than any real one.
_NAME = "^[!-~]{1,200}$"
_SIGNATURE = re.compile(r"[0-9a-f]{64}")
_TIMESTAMP = re.compile(r"[0-9]{1,11}")

CODE_PATH = ("code",)
"""Where the code of a challenge is assumed to be; a guess until a real challenge was seen."""

_KEPT_OF_A_CHALLENGE = (
    "card_id", "partner_ref", "transaction_id", "merchant", "amount_usd", "original_amount",
    "original_currency", "expires_at",
)  # fmt: skip

_MODELS: Mapping[str, type[typed.KnownEvent]] = {
    "card.authorized": typed.CardAuthorized,
    "card.transaction": typed.CardTransaction,
    "card.declined": typed.CardDeclined,
    "card.unloaded": typed.CardUnloaded,
    "card.status_changed": typed.CardStatusChanged,
    CHALLENGE: typed.ThreeDsChallenge,
    "float.credited": typed.FloatCredited,
}


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
        _STRICT.decode(raw.decode())
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


# Made once: making one takes as long as reading an event with it.
_STRICT = json.JSONDecoder(object_pairs_hook=_refuse_doubles, parse_int=str, parse_float=str)


def unwrap(source: bytes | Delivery | Event, *, code_path: Sequence[str] = CODE_PATH) -> typed.TypedEvent:
    """The event in a verified delivery, in the stored bytes of one, or in a row of the event log.

    `code_path` leads to the one-time code inside the payload of a challenge. Raises Malformed for bytes
    that are no event envelope; whatever else is unexpected comes back as an UnknownEvent.
    """
    event = _stored(source) if isinstance(source, bytes) else source
    data = event.payload if isinstance(event, Event) else event.data
    code = _at(data, code_path) if event.type == CHALLENGE else None
    envelope = {
        "id": event.id,
        "type": event.type,
        "created_at": event.created_at.isoformat(),
        "data": storable(event.type, data, code_path=code_path),
    }
    found = _typed(envelope)
    if code is not None and isinstance(found, typed.ThreeDsChallenge):
        return found.model_copy(update={"code": Secret(code)})
    return found


def storable(
    event_type: str, data: Mapping[str, Any], *, code_path: Sequence[str] = CODE_PATH
) -> Mapping[str, Any]:
    """The payload as it may be written down: of a challenge only fields known to be harmless."""
    if event_type != CHALLENGE:
        return data
    code = _at(data, code_path)
    kept = {name: data[name] for name in _KEPT_OF_A_CHALLENGE if name in data}
    return {name: _clean(item, code) for name, item in kept.items() if not isinstance(item, (dict, list))}


def _stored(raw: bytes) -> Delivery:
    try:
        return Delivery.read(codec.decode(raw))
    except (codec.BadJson, Unreadable) as error:
        raise Malformed(f"no event: {error}") from None


def _typed(envelope: dict[str, Any]) -> typed.TypedEvent:
    model = _MODELS.get(envelope["type"])
    if model is None:
        return typed.UnknownEvent.read(envelope)
    try:
        return model.read(envelope)
    except Unreadable as error:
        return typed.UnknownEvent.read({**envelope, "fault": str(error)})


def _at(data: Any, path: Sequence[str]) -> str | None:
    """The code at the end of the path, as text; codes that came as a number count too."""
    for name in path:
        data = data.get(name) if isinstance(data, Mapping) else None
    if isinstance(data, int) and not isinstance(data, bool):
        return str(data)
    return data if isinstance(data, str) and data else None


def _clean(item: Any, code: str | None) -> Any:
    """The item without the code: a challenge may say it a second time in words."""
    if code is None or code not in str(item):
        return item
    return redact(item, [code]) or REMOVED
