"""Every API request since the reset, and its answer.

Headers are not kept, so no API key is. On disk phone numbers and e-mails are masked; as long as the
process lives, the journal gives request bodies as they came, since a test of a client must see
what the client sent.
"""

from __future__ import annotations

from typing import Any

from sandbox.partner import codec
from sandbox.partner.accounts import ApiKey
from sandbox.partner.http import Answer, Request, Wire
from sandbox.partner.schemas import scrambled
from sandbox.partner.state import World, stamp_now

_MASKED = {"email", "phone", "secret", "details_url", "url", "pan", "cvv"}
_MASK = "[masked]"
# A one-time code, also under the name the scrambled profile gives it; not the code of an error or a decline.
_ONE_TIME = {"code", scrambled("code")}
_NO_SECRET_BESIDE = {"error", "message"}


def write(
    world: World, request: Request, api_key: ApiKey | None, answer: Answer, lost: Answer | None
) -> None:
    """Note a request and its answer; `lost` is the answer that a broken connection swallowed."""
    answered = lost or answer
    body = request.body or b""
    key = request.header("Idempotency-Key")
    number = world.store.insert(
        "journal",
        at=stamp_now(world),
        account=api_key.account if api_key else None,
        api_key=api_key.number if api_key else None,
        method=request.method,
        path=request.path,
        query=request.query,
        idempotency_key=key[0] if key else None,
        body=_masked_text(body),
        status=answered.status or None,
        response=_masked_text(answered.body),
        lost=int(answer.wire is not Wire.ANSWER),
    )
    if body:
        world.bodies[number] = body


def write_control(world: World, method: str, path: str, body: bytes, api_key: ApiKey | None = None) -> None:
    """Note a tester's call that changed something, for a replay; it is not among the requests of the API.

    `api_key` is the one that it issued or revoked.
    """
    value = _without_keys(_parsed(body)) if body else {}
    world.store.insert(
        "journal",
        at=stamp_now(world),
        method=method,
        path=f"/_control/{path}",
        body=codec.encode(value).decode(),
        api_key=api_key.number if api_key else None,
        status=200,
        lost=0,
        control=1,
    )


def _without_keys(value: Any) -> Any:
    return {key: _MASK if key == "key" else item for key, item in value.items()}


def read(world: World) -> list[dict[str, Any]]:
    """The journal, oldest first. `lost` says that the client never saw `status` and `response`."""
    rows = world.store.all("SELECT * FROM journal WHERE control = 0 ORDER BY seq")
    return [_entry(world, row) for row in rows]


def read_all(world: World) -> list[dict[str, Any]]:
    """The same with the tester's calls in between.

    Each entry also has its `seq`, its `query`, whether it is `control`, and `api_key`, the number of the key.
    """
    rows = world.store.all("SELECT * FROM journal ORDER BY seq")
    return [
        {**_entry(world, row), "control": bool(row["control"])}
        | {name: row[name] for name in ("seq", "query", "api_key")}
        for row in rows
    ]


def last(world: World) -> int:
    """The number of the newest entry; 0 where there is none."""
    return world.store.number("SELECT max(seq) FROM journal")


def read_masked(world: World, most: int) -> list[dict[str, Any]]:
    """The newest entries, newest first, without personal details: for a page that is on a screen."""
    rows = world.store.all("SELECT * FROM journal WHERE control = 0 ORDER BY seq DESC LIMIT ?", most)
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
