"""Faults on demand: which call of which operation goes wrong, and how.

`nth` counts, from 1 and since the fault was set, the calls of the operation (on `card_id`, when
named) that passed the key, the rate limit and the scope. Effects:

- `status`: answered with `status` and `code` before anything happens;
- `delay`: waits `seconds`; a call with two commits waits between them, so it can be seen in flight;
- `hang`: waits `seconds`, then closes; nothing of the call happens;
- `drop_before_commit`, `reset`: closed, or reset, and nothing of the call happens;
- `drop_after_commit`: all of it happens, the answer is lost;
- `drop_midway`: the first of its two commits happens, no answer;
- `garbage`: all of it happens, the answer is a 200 that is not JSON;
- `processor`: what the card processor answers to this call.
"""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from sandbox.partner.state import World

ProcessorAnswer = Literal["400", "401", "403", "404", "409", "412", "429", "5xx", "timeout", "capacity"]
Effect = Literal[
    "status",
    "delay",
    "hang",
    "drop_before_commit",
    "drop_after_commit",
    "drop_midway",
    "reset",
    "garbage",
    "processor",
]
Code = Literal[
    "UNAUTHORIZED",
    "FORBIDDEN",
    "NOT_FOUND",
    "INSUFFICIENT_FUNDS",
    "ALREADY_PROCESSED",
    "ALREADY_SUBMITTED",
    "ALREADY_CREDITED",
    "RATE_LIMITED",
    "TOO_MANY_PENDING",
    "QUOTA",
    "INVALID_NAME",
    "INVALID_EMAIL",
    "INVALID_PHONE",
    "PHONE_COUNTRY_NOT_ALLOWED",
    "UPSTREAM_AUTH",
    "UNAVAILABLE",
    "BAD_REQUEST",
]
Positive = Annotated[int, msgspec.Meta(ge=1)]
HANG_SECONDS = 3600.0  # longer than any client waits


class Fault(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One fault as the tester sets it; the head of this file explains the effects. `seconds` is a wait."""

    operation: str
    effect: Effect
    nth: Positive = 1
    times: Positive = 1
    card_id: str | None = None
    probability: Annotated[float, msgspec.Meta(gt=0, le=1)] | None = None
    status: Annotated[int, msgspec.Meta(ge=400, le=599)] | None = None
    code: Code | None = None
    processor: ProcessorAnswer | None = None
    seconds: Annotated[float, msgspec.Meta(ge=0)] | None = None


def add(world: World, fault: Fault) -> int:
    """Set a fault; its id. The caller has checked that it makes sense for the operation."""
    return world.store.insert("faults", rule=msgspec.json.encode(fault).decode(), seen=0, fired=0)


def clear(world: World) -> None:
    """Forget every fault, those that have not struck included."""
    world.store.run("DELETE FROM faults")


def all_faults(world: World) -> list[dict[str, object]]:
    """Each fault as it was set, with how often it has fired."""
    rows = world.store.all("SELECT * FROM faults ORDER BY id")
    return [{"id": row["id"], **msgspec.json.decode(row["rule"]), "fired": row["fired"]} for row in rows]


def due(world: World, operation: str, card_id: str | None) -> Fault | None:
    """The fault that strikes this call, if any; the oldest wins, and every match is counted."""
    striking: Fault | None = None
    for row in world.store.all("SELECT * FROM faults ORDER BY id"):
        fault = msgspec.json.decode(row["rule"], type=Fault)
        if fault.operation != operation or (fault.card_id and fault.card_id != card_id):
            continue
        seen = row["seen"] + 1
        strikes = seen >= fault.nth and row["fired"] < fault.times and striking is None
        if strikes and fault.probability is not None:
            strikes = world.chance.random() < fault.probability
        world.store.update("faults", "id", row["id"], seen=seen, fired=row["fired"] + strikes)
        striking = fault if strikes else striking
    return striking
