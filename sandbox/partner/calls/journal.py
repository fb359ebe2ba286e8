"""Every API request since the reset, and its answer.

Headers are not kept, so no API key is. On disk phone numbers and e-mails are masked; as long as the
process lives, the journal gives request bodies as they came, since a test of a client must see
what the client sent.
"""

from __future__ import annotations

from typing import Any

from sandbox.partner import codec
from sandbox.partner.http import Answer, Request, Wire
from sandbox.partner.schemas import scrambled
from sandbox.partner.state import World, stamp_now

_MASKED = {"email", "phone", "secret", "details_url", "url", "pan", "cvv"}
_MASK = "[masked]"
# A one-time code, also under the name the scrambled profile gives it; not the code of an error or a decline.
_ONE_TIME = {"code", scrambled("code")}
_NO_SECRET_BESIDE = {"error", "message"}


def write(
    world: World, request: Request, account_id: str | None, answer: Answer, lost: Answer | None
) -> None:
    """Note a request and its answer; `lost` is the answer that a broken connection swallowed."""
    answered = lost or answer
    body = request.body or b""
    key = request.header("Idempotency-Key")
    number = world.store.insert(
        "journal",
        at=stamp_now(world),
        account=account_id,
        method=request.method,
        path=request.path,
        idempotency_key=key[0] if key else None,
        body=_masked_text(body),
        status=answered.status or None,
        response=_masked_text(answered.body),
        lost=int(answer.wire is not Wire.ANSWER),
    )
    if body:
        world.bodies[number] = body


def read(world: World) -> list[dict[str, Any]]:
    """The journal, oldest first. `lost` says that the client never saw `status` and `response`."""
    return [_entry(world, row) for row in world.store.all("SELECT * FROM journal ORDER BY seq")]


def read_masked(world: World, most: int) -> list[dict[str, Any]]:
    """The newest entries, newest first, without personal details: for a page that is on a screen."""
    rows = world.store.all("SELECT * FROM journal ORDER BY seq DESC LIMIT ?", most)
    return [_shown(row, _parsed((row["body"] or "").encode())) for row in rows]


def _entry(world: World, row: Any) -> dict[str, Any]:
    full = world.bodies.get(row["seq"])
    return _shown(row, _parsed(full if full is not None else (row["body"] or "").encode()))


def _shown(row: Any, body: Any) -> dict[str, Any]:
    return {
        "at": row["at"],
        "account": row["account"],
        "method": row["method"],
        "path": row["path"],
        "idempotency_key": row["idempotency_key"],
        "body": body,
        "status": row["status"],
        "response": _parsed((row["response"] or "").encode()),
        "lost": bool(row["lost"]),
    }


def _parsed(raw: bytes) -> Any:
    """The JSON value, the text where it is no JSON, None where there is nothing."""
    if not raw:
        return None
    try:
        return codec.decode(raw)
    except codec.Malformed:
        return raw.decode("utf-8", "replace")


def _masked_text(raw: bytes) -> str | None:
    if not raw:
        return None
    value = _parsed(raw)
    if isinstance(value, str):
        return codec.encode("[not JSON]").decode()
    return codec.encode(masked(value)).decode()


def masked(value: Any) -> Any:
    """The same without what nobody may read: personal details, addresses of card details, one-time codes."""
    if isinstance(value, dict):
        hidden = _MASKED if _NO_SECRET_BESIDE & value.keys() else _MASKED | _ONE_TIME
        return {
            key: _MASK if key in hidden and item is not None else masked(item) for key, item in value.items()
        }
    if isinstance(value, list):
        return [masked(item) for item in value]
    return value
