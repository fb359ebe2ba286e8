"""The table of control calls, and the answer to one (`/_control`, for loopback peers only).

Amounts are decimal strings or numbers. What a call does not name keeps its value; an unknown field or value is
a 400 that names it. One table of calls, each with the form of its body.
"""

from __future__ import annotations

import msgspec

from sandbox.partner import codec
from sandbox.partner.accounts import api_keys
from sandbox.partner.background import delivery_queue, due_timers
from sandbox.partner.calls import journal
from sandbox.partner.control import (
    account_calls,
    blockchain_calls,
    card_calls,
    description,
    simulator_calls,
    spending_calls,
)
from sandbox.partner.control.forms import ControlCall, Nothing, Reply, Wrong
from sandbox.partner.state import World


def read_index(world: World, form: Nothing) -> Reply:
    """Every control call, with what it does."""
    return {"calls": [_listed(call) for call in CALLS]}


def _listed(call: ControlCall) -> dict[str, str]:
    path = "/_control" + (f"/{call.path}" if call.path else "")
    return {"method": call.method, "path": path, "summary": (call.run.__doc__ or "").partition("\n")[0]}


def read_description(world: World, form: Nothing) -> Reply:
    """The control calls as OpenAPI 3.1, from the forms that check their bodies."""
    return description.document(CALLS)


#: After these the journal begins again, or is another one.
_JOURNAL_BEGINS_AGAIN = ("reset", "scenarios", "snapshot", "snapshots")

CALLS: tuple[ControlCall, ...] = (
    ControlCall("GET", "", Nothing, read_index),
    ControlCall("GET", "openapi.json", Nothing, read_description),
    *simulator_calls.CALLS,
    *account_calls.CALLS,
    *card_calls.CALLS,
    *blockchain_calls.CALLS,
    *spending_calls.CALLS,
)


async def handle_and_deliver(
    world: World, method: str, path: str, body: bytes, *, deliver: bool = True
) -> tuple[int, bytes]:
    """As `handle`; when the clock was moved, what is due has been attempted before the answer.

    Without `deliver` what the clock has made due waits: somebody else says how deliveries went.
    """
    due_timers.run_due(world)
    answer = _answer(world, method, path, body)
    if path == "clock" and deliver:
        await delivery_queue.catch_up(world)
    return answer


def handle(world: World, method: str, path: str, body: bytes) -> tuple[int, bytes]:
    """Answer a control call; `path` is what follows `/_control/`. Nothing is delivered."""
    due_timers.run_due(world)
    answer = _answer(world, method, path, body)
    due_timers.run_due(world)
    return answer


def _answer(world: World, method: str, path: str, body: bytes) -> tuple[int, bytes]:
    try:
        call, values = _find(method, path.split("/"))
        form = msgspec.convert(codec.decode(body) if body else {}, call.form)
        reply = call.run(world, form, *values)
        answer = codec.encode(reply)
        if call.method != "GET" and path.partition("/")[0] not in _JOURNAL_BEGINS_AGAIN:
            about = reply.get("key") or getattr(form, "key", None) if path == "keys" else None
            journal.write_control(
                world, method, path, body, api_keys.find_key(world, about) if about else None
            )
        return 200, answer
    except Wrong as error:
        return error.status, codec.encode({"error": str(error)})
    except (codec.Malformed, msgspec.ValidationError) as error:
        return 400, codec.encode({"error": str(error)})


def _find(method: str, segments: list[str]) -> tuple[ControlCall, list[str]]:
    known = False
    for call in CALLS:
        wanted = call.path.split("/")
        if len(wanted) != len(segments):
            continue
        values = [given for want, given in zip(wanted, segments, strict=True) if want == "{}"]
        if all(want in ("{}", given) for want, given in zip(wanted, segments, strict=True)):
            known = True
            if call.method == method:
                return call, values
    raise Wrong(f"{method} /_control/{'/'.join(segments)} is not a control call", 405 if known else 404)
