"""The journal as an HTTP archive, which browsers and proxies read: HAR 1.2, with a few fields of our own.

Fields whose names begin with an underscore are ours, as the format has it: `_sandbox` says what a replay begins with,
`_account` whose call it was, `_lost` that the client never saw the answer, `_control` that it was the tester's call.
"""

from __future__ import annotations

from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qsl

from sandbox.partner import codec
from sandbox.partner.accounts import all_accounts
from sandbox.partner.calls import journal
from sandbox.partner.state import World

_UNKNOWN = -1  # what HAR has for a size that nobody measured


def written(world: World) -> dict[str, Any]:
    """The whole archive. No API key is in it; request bodies are as they came, answers are masked."""
    return {
        "log": {
            "version": "1.2",
            "creator": {"name": "countersign-sandbox", "version": "1"},
            "_sandbox": {
                "seed": world.seed,
                "scenario": world.store.note("scenario"),
                "accounts": [one.id for one in all_accounts(world)],
            },
            "entries": [_entry(world, one) for one in journal.read_all(world)],
        }
    }


def _entry(world: World, one: dict[str, Any]) -> dict[str, Any]:
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
