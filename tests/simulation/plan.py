"""What a seed does: a list of steps, each with everything it needs drawn beforehand.

A seed takes some kinds of requests and some kinds of trouble, not all of them ("swarm testing"): what is rare among
everything is frequent where little else happens. Few cards, few names and few people, so that requests collide.
Steps are independent of each other: leaving one out changes nothing in the others, which lets a failing seed shrink.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from typing import Any

from tests.simulation.network import API, SLACK
from tests.simulation.world import ALICE, BOB, CAROL, DAVE

ASK, DECIDE = "ask", "decide"
KINDS = (
    "card_topup",
    "card_order",
    "card_unload",
    "card_close",
    "card_limits",
    "card_phone",
    "card_3ds",
    "card_freeze",
    "card_unfreeze",
    "card_reveal",
    "fees_markup",
    "funding_submit",
    "deposit_quote",
    "event_redeliver",
    "webhook_register",
    "webhook_rotate",
)
ENDPOINTS = {
    "card_order": "POST /cards",
    "card_topup": "POST /cards/{cardId}/topup",
    "card_unload": "POST /cards/{cardId}/unload",
    "card_close": "POST /cards/{cardId}/close",
    "card_limits": "PUT /cards/{cardId}/limits",
    "card_phone": "PUT /cards/{cardId}/phone",
    "card_3ds": "PUT /cards/{cardId}/3ds",
    "fees_markup": "PUT /fees",
    "event_redeliver": "POST /events/{eventId}/redeliver",
    "deposit_quote": "POST /deposits",
    "card_freeze": "POST /cards/{cardId}/freeze",
    "card_unfreeze": "POST /cards/{cardId}/freeze",
    "funding_submit": "POST /funding",
    "webhook_register": "PUT /webhook",
    "webhook_rotate": "PUT /webhook",
}
READS = (
    "GET /me",
    "GET /float",
    "GET /cards",
    "GET /cards/{cardId}",
    "GET /ledger",
    "GET /events",
    "GET /funding",
)
# Of network troubles: the names of calls that they may be about.
PATHS = ("topup", "freeze", "close", "unload", "POST /cards", "PUT", "POST", "GET /ledger", "GET", "")
SLACK_METHODS = (
    "chat.postMessage",
    "chat.update",
    "usergroups.list",
    "users.info",
    "conversations.open",
    "views.open",
    "",
)
REFUSALS = (
    "invalid_auth",
    "not_in_channel",
    "is_archived",
    "token_revoked",
    "internal_error",
    "invalid_blocks",
)
CRASH_POINTS = (
    "execution.before_claim",
    "execution.claimed",
    "execution.answered",
    "execution.finishing",
    "execution.finished",
    "outbox.sending",
    "outbox.sent",
    "submit.before_commit",
    "submit.committed",
    "approve.received",
    "approve.before_commit",
    "approve.committed",
    "inbox.verified",
    "inbox.stored",
    "inbox.handled",
    "backfill.read",
)
API_FAULTS: tuple[dict[str, Any], ...] = (
    {"effect": "drop_before_commit"},
    {"effect": "drop_after_commit"},
    {"effect": "drop_midway"},
    {"effect": "garbage"},
    *(
        {"effect": "processor", "processor": code}
        for code in ("400", "401", "403", "5xx", "capacity", "timeout")
    ),
    {"effect": "status", "status": 400, "code": "BAD_REQUEST"},
    {"effect": "status", "status": 402, "code": "INSUFFICIENT_FUNDS"},
    {"effect": "status", "status": 404, "code": "NOT_FOUND"},
    {"effect": "status", "status": 409, "code": "QUOTA"},
    {"effect": "status", "status": 500, "code": "UNAVAILABLE"},
    {"effect": "status", "status": 502, "code": "UNAVAILABLE"},
    {"effect": "status", "status": 503, "code": "UPSTREAM_AUTH"},
    {"effect": "status", "status": 429, "code": "RATE_LIMITED"},
    {"effect": "status", "status": 401, "code": "UNAUTHORIZED"},
    {"effect": "status", "status": 403, "code": "FORBIDDEN"},
)
# Where a fault leaves people in doubt about money, they resolve by hand.
TROUBLES = (
    "api faults",
    "network",
    "api outage",
    "slack outage",
    "slack refusals",
    "kills",
    "restarts",
    "crash points",
    "disk",
    "clocks",
    "people",
    "pauses",
    "support",
    "money",
    "keys",
    "limits",
)


@dataclass(frozen=True)
class Theme:
    """What is rare together by chance, and known to be dangerous together."""

    kinds: tuple[str, ...]
    troubles: tuple[str, ...]


THEMES = (
    Theme(("card_topup",), ("late", "processor", "support")),
    Theme(("card_order",), ("processor", "network", "by hand")),
    Theme(("funding_submit",), ("network", "by hand")),
    Theme(("card_freeze", "card_unfreeze"), ("slack look-ups", "pauses")),
    Theme(("card_freeze", "card_unfreeze", "card_limits"), ("limits", "network")),
    Theme(("card_topup", "card_unload"), ("limits", "pauses")),
    Theme(("card_topup", "card_close"), ("processor", "network", "by hand")),
    Theme(("webhook_register", "webhook_rotate"), ("network", "kills", "disk")),
    Theme((), ("slow", "disk")),
    Theme((), ("keys",)),
    Theme((), ("clocks", "people")),
    Theme((), ("slack outage", "slack refusals")),
    Theme((), ("restarts", "kills")),
    Theme(("card_topup",), ("references",)),
    Theme(("card_topup",), ("standstills", "slow", "network")),
    Theme((), ("standstills", "kills")),
    Theme(("card_freeze",), ("crowd",)),
    Theme((), ("old rows",)),
    Theme((), ("forgeries", "kills")),
)
# Seconds before a step; 0 is in the middle of what goes on.
WAITS = (0.0, 0.0, 0.02, 0.3, 2.0, 6.0, 20.0, 70.0, 200.0, 1000.0)
_FREQUENT = (6, 4, 3, 3, 3, 3, 3, 2, 1, 1)


@dataclass(frozen=True)
class Step:
    """One thing that happens. `number` names it for ever, also in a plan of which others were left out."""

    number: int
    wait: float
    what: str
    given: dict[str, Any]

    def __str__(self) -> str:
        return f"{self.number}: {self.what} {self.given}"


@dataclass(frozen=True)
class Plan:
    """The steps of one seed, and what holds for all of them."""

    seed: int
    steps: tuple[Step, ...]
    scopes_missing: tuple[str, ...] = ()
    settings: dict[str, Any] | None = None  # of the account at the API
    replicas: int = 1

    def only(self, numbers: frozenset[int]) -> Plan:
        """The same with these steps alone."""
        kept = tuple(step for step in self.steps if step.number in numbers)
        return replace(self, steps=kept)


def draw(seed: int) -> Plan:
    """The plan of a seed: always the same."""
    rng = random.Random(f"plan {seed}")
    kinds = ["card_topup"] if rng.random() < 0.5 else []
    kinds += rng.sample(KINDS, rng.choice((1, 1, 2, 3, 4)))
    if "card_unfreeze" in kinds or "card_freeze" in kinds:
        kinds += ["card_freeze", "card_unfreeze"]
    troubles = rng.sample(TROUBLES, rng.choice((1, 2, 3, 4, 6)))
    in_slack = rng.choice((0.0, 0.0, 0.3, 1.0))
    steps: list[Step] = []

    def add(doing: str, wait: float | None = None, **given: Any) -> None:
        pause = rng.choices(WAITS, _FREQUENT)[0] if wait is None else wait
        steps.append(Step(len(steps), pause, doing, given))

    if rng.random() < 0.5:
        theme = rng.choice(THEMES)
        kinds = [*theme.kinds] or kinds
        troubles = [*theme.troubles, *theme.troubles, *troubles[:1]]
    if "webhook_rotate" in kinds or rng.random() < 0.25:
        add(ASK, 0.3, kind="webhook_register", by=CAROL, card=0, amount=1, now=False, pick=0, in_slack=False)
        add(DECIDE, 0.6, by=BOB, pick=0, action="approve", in_slack=False)
    for _ in range(rng.choice((6, 10, 14, 18))):
        if rng.random() < 0.5:
            _ask(rng, add, kinds, in_slack)
        elif rng.random() < 0.3:
            by = rng.choice((ALICE, BOB, CAROL, DAVE))
            add(DECIDE, by=by, pick=rng.randrange(100), in_slack=rng.random() < in_slack)
        elif rng.random() < 0.1:
            command = rng.choice(("home", "/float", "/requests", "/countersign status", "/card show Marta"))
            add("look", by=rng.choice((ALICE, BOB, CAROL)), command=command)
        else:
            _TROUBLE[rng.choice(troubles)](rng, add, kinds)
    scopes: tuple[str, ...] = ()
    if "keys" in troubles and rng.random() < 0.5:
        scopes = tuple(rng.sample(("users:write", "users:write", "deposits:write"), 1))
    settings: dict[str, Any] = {}
    if rng.random() < 0.3:
        settings["processor_timeout"] = rng.choice(("500", "hang"))
    if rng.random() < 0.1:
        settings["unload_replay"] = "conflict"
    if "card_3ds" in kinds:
        settings["threeds_webhook_enabled"] = True
    if "deposit_quote" in kinds:
        settings["deposits_enabled"] = True
    replicas = 2 if "standstills" in troubles or rng.random() < 0.12 else 1
    return Plan(seed, tuple(steps), scopes, settings, replicas)


def _ask(rng: random.Random, add: Any, kinds: list[str], in_slack: float) -> None:
    kind = rng.choice(kinds)
    who = rng.choice((ALICE, ALICE, DAVE))
    if kind in ("webhook_register", "webhook_rotate", "fees_markup", "card_3ds", "event_redeliver"):
        who = rng.choice((CAROL, CAROL, CAROL, CAROL, ALICE))
    many = kind == "card_topup" and rng.random() < 0.12
    now = kind == "card_freeze" and rng.random() < 0.5
    pick = rng.randrange(100)
    slack = rng.random() < in_slack
    if many:
        add(
            "ask many",
            by=who,
            cards=rng.sample(range(4), rng.choice((2, 3))),
            amount=rng.choice((10, 50, 300)),
        )
    else:
        card = rng.choice((0, 0, 0, 1, 2, 3))
        amount = rng.choice((10, 25, 50, 50, 300, 501, 900))
        add(ASK, kind=kind, by=who, card=card, amount=amount, now=now, pick=pick, in_slack=slack)
    if rng.random() < 0.85:
        for by in rng.sample((BOB, CAROL), rng.choice((1, 1, 2))):
            wait = rng.choice((0.3, 0.3, 1.0, 5.0, 30.0))
            add(DECIDE, wait=wait, by=by, pick=0, action="approve", in_slack=slack)


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
        _ask(rng, add, kinds, 0.0)


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


_TROUBLE = {
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
