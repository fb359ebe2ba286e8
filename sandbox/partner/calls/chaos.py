"""Chaos: a share of all calls and deliveries goes wrong, in ways that a real service and network have.

What happens follows from the seed: the same calls in the same order meet the same trouble. Each refusal and each lost
answer is one that the API document knows, so a client that keeps to the document loses no money in it.
"""

from __future__ import annotations

import random
from typing import Annotated, Literal

import msgspec

from sandbox.partner.calls.faults import Fault
from sandbox.partner.calls.operation import Operation
from sandbox.partner.state import World

Trouble = Literal["lost_answers", "delays", "refusals", "duplicates", "reorders"]
ALL: tuple[Trouble, ...] = ("lost_answers", "delays", "refusals", "duplicates", "reorders")
_OF_CALLS = ("lost_answers", "delays", "refusals")
_NOTE = "chaos"
_DELAY_SECONDS = (0.05, 1.0)


class Chaos(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How much goes wrong: `percent` of calls and of deliveries, by `seed`, in these `kinds`. 0 percent ends it."""

    percent: Annotated[int, msgspec.Meta(ge=0, le=100)]
    seed: str = "chaos"
    kinds: Annotated[tuple[Trouble, ...], msgspec.Meta(min_length=1)] = ALL


def begin(world: World, chaos: Chaos) -> None:
    """Let this chaos rule from the next call on."""
    world.store.keep(_NOTE, msgspec.json.encode(chaos).decode())
    world.store.keep("count:chaos", "0")
    world.stirred.set()


def current(world: World) -> Chaos | None:
    """The chaos that rules; None where there is none."""
    kept = world.store.note(_NOTE)
    chaos = msgspec.json.decode(kept, type=Chaos) if kept else None
    return chaos if chaos and chaos.percent else None


def strike(world: World, operation: Operation) -> Fault | None:
    """The fault that meets this call, if any."""
    chaos = current(world)
    if chaos is None:
        return None
    drawn = _drawn(chaos, str(world.store.count("chaos")))
    kinds = [kind for kind in chaos.kinds if kind in _OF_CALLS]
    if not kinds or drawn.random() * 100 >= chaos.percent:
        return None
    return _fault(drawn, drawn.choice(kinds), operation)


def _fault(drawn: random.Random, kind: str, operation: Operation) -> Fault:
    name = operation.name
    if kind == "delays":
        return Fault(operation=name, effect="delay", seconds=round(drawn.uniform(*_DELAY_SECONDS), 3))
    if kind == "refusals":
        if operation.processor and drawn.random() < 0.5:
            return Fault(operation=name, effect="processor", processor="5xx")
        if drawn.random() < 0.5:
            return Fault(operation=name, effect="status", status=429, code="RATE_LIMITED")
        return Fault(operation=name, effect="status", status=500, code="UNAVAILABLE")
    if drawn.random() < 0.5:
        return Fault(operation=name, effect="drop_before_commit")
    return Fault(operation=name, effect="drop_after_commit")


def comes_twice(world: World, event_id: str, attempt: int) -> bool:
    """Whether this attempt to deliver is made twice."""
    return _of_delivery(world, "duplicates", f"{event_id}:{attempt}")


def lets_the_newest_go_first(world: World, event_id: str, attempt: int) -> bool:
    """Whether this delivery, which is due first, waits for the newest that is due."""
    return _of_delivery(world, "reorders", f"{event_id}:{attempt}")


def _of_delivery(world: World, kind: Trouble, subject: str) -> bool:
    chaos = current(world)
    if chaos is None or kind not in chaos.kinds:
        return False
    return _drawn(chaos, f"{kind}:{subject}").random() * 100 < chaos.percent


def _drawn(chaos: Chaos, what: str) -> random.Random:
    return random.Random(f"{chaos.seed}:{what}")  # noqa: S311 - chances must repeat for a seed
