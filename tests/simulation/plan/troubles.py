"""Everything that may go wrong, each by what it adds to a plan."""

from __future__ import annotations

import random
from typing import Any

from tests.simulation.network import API, SLACK
from tests.simulation.plan.requests import ask
from tests.simulation.plan.words import (
    API_FAULTS,
    ASK,
    CRASH_POINTS,
    DECIDE,
    ENDPOINTS,
    PATHS,
    READS,
    REFUSALS,
    SLACK_METHODS,
)
from tests.simulation.world import ALICE, BOB, CAROL, DAVE


def _api_fault(rng: random.Random, add: Any, kinds: list[str]) -> None:
    operations = [ENDPOINTS[kind] for kind in kinds if kind in ENDPOINTS] or ["POST /cards/{cardId}/topup"]
    operation = rng.choice(operations) if rng.random() < 0.75 else rng.choice(READS)
    fault = rng.choice(API_FAULTS)
    add("api fault", fault={"operation": operation, **fault, "times": rng.choice((1, 1, 2, 9))})


def _network(rng: random.Random, add: Any, kinds: list[str]) -> None:
    effect = rng.choice(("refused", "lost", "answer lost", "no answer", "late", "late", "doubled", "slow"))
    side = rng.choice((API, API, API, SLACK))
    what = rng.choice(PATHS) if side == API else rng.choice(SLACK_METHODS)
    seconds = rng.choice((3.0, 20.0, 70.0, 130.0, 700.0))
    add("network", side=side, effect=effect, what=what, times=rng.choice((1, 1, 2, 8)), seconds=seconds)


def _outage(side: str) -> Any:
    def add_it(rng: random.Random, add: Any, kinds: list[str]) -> None:
        effect = rng.choice(("refused", "no answer", "lost"))
        seconds = rng.choice((5.0, 40.0, 200.0, 1200.0, 5000.0))
        add("outage", side=side, effect=effect, seconds=seconds)

    return add_it


def _slack_refusal(rng: random.Random, add: Any, kinds: list[str]) -> None:
    method = rng.choice(SLACK_METHODS)
    if rng.random() < 0.5:
        fault: dict[str, Any] = {"effect": "error", "error": rng.choice(REFUSALS)}
    else:
        fault = {"effect": rng.choice(("429", "503")), "seconds": rng.choice((1.0, 30.0))}
    add("slack fault", fault={"method": method, **fault, "times": rng.choice((1, 3, 8, 30))})


def _kill(rng: random.Random, add: Any, kinds: list[str]) -> None:
    add("kill", after=rng.randrange(400), down=rng.choice((0.0, 2.0, 40.0, 300.0)))


def _restart(rng: random.Random, add: Any, kinds: list[str]) -> None:
    add("restart", after=rng.randrange(200), down=rng.choice((0.0, 2.0, 60.0)))


def _die_at(rng: random.Random, add: Any, kinds: list[str]) -> None:
    add("die at", point=rng.choice(CRASH_POINTS), nth=rng.choice((1, 1, 2, 5)), down=rng.choice((0.0, 40.0)))


def _disk(rng: random.Random, add: Any, kinds: list[str]) -> None:
    add("disk full", seconds=rng.choice((0.2, 3.0, 15.0)))


def _clock(rng: random.Random, add: Any, kinds: list[str]) -> None:
    add("clock", wrong_by=rng.choice((-3600.0, -5.0, -1.0, 5.0, 90.0, 3600.0, 0.0)))


def _people(rng: random.Random, add: Any, kinds: list[str]) -> None:
    who = rng.choice((ALICE, BOB, CAROL))
    change = rng.choice(
        ({"deleted": True}, {"is_restricted": True}, {"deleted": False, "is_restricted": False})
    )
    if rng.random() < 0.3:
        add("group", users=rng.choice(([BOB], [CAROL], [BOB, CAROL, DAVE], [BOB, CAROL])))
    else:
        add("person", who=who, change=change)


def _pause(rng: random.Random, add: Any, kinds: list[str]) -> None:
    add("pause" if rng.random() < 0.6 else "resume", by=rng.choice((BOB, CAROL)))


def _support(rng: random.Random, add: Any, kinds: list[str]) -> None:
    add("support", pick=rng.randrange(100), verdict=rng.choice(("credited", "refunded")))


def _money(rng: random.Random, add: Any, kinds: list[str]) -> None:
    kind = rng.choice(("float", "purchase", "decline", "orphan"))
    add("money", kind=kind, card=rng.randrange(4), amount=rng.choice((5, 40, 3000)))


def _keys(rng: random.Random, add: Any, kinds: list[str]) -> None:
    add("api key", scopes=rng.choice(("all", "read only", "all", "no users:write")))


def _limits(rng: random.Random, add: Any, kinds: list[str]) -> None:
    fault = {"effect": "status", "status": 429, "code": "RATE_LIMITED", "times": 1}
    add("api fault", fault={"operation": rng.choice(READS), **fault})


def _late(rng: random.Random, add: Any, kinds: list[str]) -> None:
    what = rng.choice(
        [ENDPOINTS[kind].rpartition("/")[2] for kind in kinds if kind in ENDPOINTS] or ["topup"]
    )
    seconds = rng.choice((130.0, 400.0, 900.0))
    add("network", side=API, effect="late", what=what, times=rng.choice((1, 2, 8)), seconds=seconds)
    if rng.random() < 0.5:
        add("network", 0.3, side=API, effect="lost", what="topup", times=8, seconds=1.0)


def _processor(rng: random.Random, add: Any, kinds: list[str]) -> None:
    operation = rng.choice([ENDPOINTS[kind] for kind in kinds if kind in ENDPOINTS] or ["POST /cards"])
    code = rng.choice(("5xx", "5xx", "timeout", "400"))
    times = rng.choice((1, 2, 9, 30))
    add("api fault", fault={"operation": operation, "effect": "processor", "processor": code, "times": times})


def _by_hand(rng: random.Random, add: Any, kinds: list[str]) -> None:
    """Two people end what is in doubt, and ask again."""
    add("by hand", pick=rng.randrange(100), verdict=rng.choice(("failed", "failed", "succeeded")))
    if rng.random() < 0.7:
        ask(rng, add, kinds, 0.0)


def _slack_look_ups(rng: random.Random, add: Any, kinds: list[str]) -> None:
    fault: dict[str, Any] = {
        "method": "usergroups.list",
        "effect": "429",
        "seconds": rng.choice((1.0, 5.0)),
        "times": 2,
    }
    add("slack fault", fault=fault)


def _slow(rng: random.Random, add: Any, kinds: list[str]) -> None:
    what = rng.choice(PATHS[:6])
    add("network", side=API, effect="slow", what=what, times=3, seconds=rng.choice((15.0, 25.0, 40.0)))


def _references(rng: random.Random, add: Any, kinds: list[str]) -> None:
    """Cards named by what stands on a list, instead of by their id."""
    add("ask by name", by=ALICE, text=rng.choice(("3205", "p-2", "MARTA KOWALSKA")), many=rng.random() < 0.5)


def _standstill(rng: random.Random, add: Any, kinds: list[str]) -> None:
    """A process that stands still for longer than its lease, and goes on as if nothing had happened."""
    if rng.random() < 0.6:
        add("network", 0.3, side=API, effect="slow", what="topup", times=2, seconds=rng.choice((2.0, 10.0)))
    add("standstill", after=rng.randrange(300), seconds=rng.choice((5.0, 35.0, 50.0, 120.0)))


def _crowd(rng: random.Random, add: Any, kinds: list[str]) -> None:
    """Many calls that nobody answers, and an emergency."""
    add("network", 0.3, side=API, effect="no answer", what="limits", times=60, seconds=1.0)
    for number in range(12):
        given = {"kind": "card_limits", "by": ALICE, "card": number % 3 + 1, "amount": 100 + number}
        add(ASK, 0.02, **given, now=False, pick=0, in_slack=False)
        add(DECIDE, 0.3, by=BOB, pick=0, action="approve", in_slack=False)
    add(ASK, 2.0, kind="card_freeze", by=ALICE, card=0, amount=1, now=True, pick=0, in_slack=False)


def _old_rows(rng: random.Random, add: Any, kinds: list[str]) -> None:
    add("old row", pick=rng.randrange(100))


def _forgeries(rng: random.Random, add: Any, kinds: list[str]) -> None:
    add("forgeries", count=rng.choice((3, 6, 9)))


TROUBLE = {
    "late": _late,
    "processor": _processor,
    "by hand": _by_hand,
    "slack look-ups": _slack_look_ups,
    "slow": _slow,
    "references": _references,
    "forgeries": _forgeries,
    "standstills": _standstill,
    "crowd": _crowd,
    "old rows": _old_rows,
    "api faults": _api_fault,
    "network": _network,
    "api outage": _outage(API),
    "slack outage": _outage(SLACK),
    "slack refusals": _slack_refusal,
    "kills": _kill,
    "restarts": _restart,
    "crash points": _die_at,
    "disk": _disk,
    "clocks": _clock,
    "people": _people,
    "pauses": _pause,
    "support": _support,
    "money": _money,
    "keys": _keys,
    "limits": _limits,
}
