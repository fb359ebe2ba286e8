"""The journal as an HTTP archive, which browsers and proxies read: HAR 1.2, with a few fields of our own.

Fields whose names begin with an underscore are ours, as the format has it: `_sandbox` says when and with what a replay
begins,
`_account` and `_key` whose call it was and by which key, `_deliveries` how deliveries went that ended after it,
`_lost` that the client never saw the answer, `_control` that it was the tester's call.
"""

from __future__ import annotations

from collections import defaultdict
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qsl

from sandbox.partner import codec
from sandbox.partner.calls import journal
from sandbox.partner.state import World

_UNKNOWN = -1  # what HAR has for a size that nobody measured


def written(world: World) -> dict[str, Any]:
    """The whole archive. No API key is in it; request bodies are as they came, answers are masked."""
    went = defaultdict[int, list[dict[str, Any]]](list)
    for row in world.store.all(
        "SELECT event_id, at, status, problem, after_call FROM deliveries ORDER BY seq"
    ):
        went[row["after_call"]].append({name: row[name] for name in ("event_id", "at", "status", "problem")})
    entries = journal.read_all(world)
    first = entries[0]["seq"] if entries else 0
    begun = codec.decode((world.store.note("beginning") or "{}").encode())
    return {
        "log": {
            "version": "1.2",
            "creator": {"name": "countersign-sandbox", "version": "1"},
            "_sandbox": {
                "seed": world.seed,
                "scenario": world.store.note("scenario"),
                "begun_at": world.store.note("begun_at"),
                **begun,
                "deliveries": [one for after, some in went.items() if after < first for one in some],
            },
            "entries": [_entry(world, one, went[one["seq"]]) for one in entries],
        }
    }


def _entry(world: World, one: dict[str, Any], went: list[dict[str, Any]]) -> dict[str, Any]:
    query = f"?{one['query']}" if one["query"] else ""
    return {
        "startedDateTime": one["at"],
        "time": 0,
        "request": {
            "method": one["method"],
            "url": f"{world.origin}{one['path']}{query}",
            "httpVersion": "HTTP/1.1",
            "headers": _headers({"Idempotency-Key": one["idempotency_key"]}),
            "queryString": [
                {"name": name, "value": value}
                for name, value in parse_qsl(one["query"], keep_blank_values=True)
            ],
            "cookies": [],
            "headersSize": _UNKNOWN,
            "bodySize": _UNKNOWN,
            **_body(one["body"]),
        },
        "response": _response(one),
        "cache": {},
        "timings": {"send": 0, "wait": 0, "receive": 0},
        "_account": one["account"],
        "_key": one["api_key"],
        "_deliveries": went,
        "_lost": one["lost"],
        "_control": one["control"],
    }


def _body(body: Any) -> dict[str, Any]:
    if body is None:
        return {}
    text = body if isinstance(body, str) else codec.encode(body).decode()
    return {"postData": {"mimeType": "application/json", "text": text}}


def _response(one: dict[str, Any]) -> dict[str, Any]:
    status = one["status"] or 0
    text = "" if one["response"] is None else codec.encode(one["response"]).decode()
    return {
        "status": status,
        "statusText": HTTPStatus(status).phrase if status else "",
        "httpVersion": "HTTP/1.1",
        "headers": [],
        "cookies": [],
        "content": {"size": len(text.encode()), "mimeType": "application/json", "text": text},
        "redirectURL": "",
        "headersSize": _UNKNOWN,
        "bodySize": _UNKNOWN,
    }


def _headers(given: dict[str, str | None]) -> list[dict[str, str]]:
    return [{"name": name, "value": value} for name, value in given.items() if value is not None]
