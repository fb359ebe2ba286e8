"""The plan of a seed: some kinds of requests and some kinds of trouble, not all of them."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

from tests.simulation.plan.bursts import BURSTS, NEEDS_TWO_PROCESSES
from tests.simulation.plan.requests import ask
from tests.simulation.plan.steps import Plan, Step
from tests.simulation.plan.troubles import TROUBLE
from tests.simulation.plan.words import ASK, DECIDE, FREQUENT, KINDS, WAITS
from tests.simulation.world import ALICE, BOB, CAROL, DAVE

# What may go wrong in any plan; themes have more.
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
    "audit",
    "clocks",
    "people",
    "pauses",
    "support",
    "money",
    "keys",
    "limits",
    "policy",
    "delegations",
    "new keys",
    "master keys",
    "relay",
    "deliveries",
    "envelopes",
    "clicks",
    "clicks",
    "database",
    "joiners",
    "reveals",
    "restores",
    "forgeries",
    "clock of one",
    "funding decided",
)
# Of so many plans the policy asks for passkeys.
PASSKEYS = 0.1
# Of so many, approvers have time to stop what is approved.
COOLS_OFF = 0.12
# Timers that cost much and matter seldom, by the trouble to which they matter.
_JOBS = {
    "restores": "anchor",
    "delegations": "delegations",
    "reveals": "reveals",
    "relay": "declines",
    "deliveries": "declines",
    "policy": "policy",
}


@dataclass(frozen=True)
class Theme:
    """What is rare together by chance, and known to be dangerous together."""

    kinds: tuple[str, ...]
    troubles: tuple[str, ...]
    alone: bool = False  # nothing else goes wrong


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
    Theme(("card_limits",), ("crowd",), alone=True),
    Theme(("card_freeze", "card_unfreeze", "card_limits"), ("clock of one", "clocks")),
    Theme((), ("old rows",)),
    Theme((), ("forgeries", "kills")),
    Theme(("card_topup",), ("audit", "clicks")),
    Theme((), ("policy", "pauses", "kills")),
    Theme(("card_topup",), ("delegations", "policy", "clicks")),
    Theme(("card_topup", "card_order"), ("new keys", "master keys", "kills")),
    Theme(("card_topup", "card_order"), ("restores", "network")),
    Theme(("card_topup", "card_unload"), ("restores", "kills", "processor")),
    Theme((), ("relay", "kills", "policy")),
    Theme((), ("deliveries", "kills", "money")),
    Theme((), ("envelopes", "clicks", "network")),
    Theme((), ("clicks", "joiners", "pauses")),
    Theme((), ("database", "kills", "disk")),
    Theme(("card_topup",), ("clock of one", "standstills")),
    Theme(("card_reveal",), ("reveals", "joiners", "pauses")),
    Theme(("card_reveal",), ("reveals", "kills", "network")),
    Theme(("funding_submit",), ("funding decided", "network", "deliveries")),
)
# What needs a webhook to be registered.
_BY_WEBHOOK = {"webhook_rotate", "deliveries", "relay", "forgeries"}


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
        pause = rng.choices(WAITS, FREQUENT)[0] if wait is None else wait
        steps.append(Step(len(steps), pause, doing, given))

    manner = rng.choice(("any", "theme", "theme", "bursts", "bursts", "bursts"))
    harmless = False
    if manner == "theme":
        theme = rng.choice(THEMES)
        harmless = theme.alone
        kinds = [*theme.kinds] or kinds
        troubles = [*theme.troubles, *theme.troubles, *troubles[: 0 if harmless else 1]]
    if not harmless and (_BY_WEBHOOK & {*kinds, *troubles} or rng.random() < 0.25):
        add(ASK, 0.3, kind="webhook_register", by=CAROL, card=0, amount=1, now=False, pick=0, in_slack=False)
        add(DECIDE, 0.6, by=BOB, pick=0, action="approve", in_slack=False)
    bursts = rng.sample(BURSTS, rng.choice((1, 1, 1, 1, 1, 1, 1, 2))) if manner == "bursts" else []
    for burst in bursts:
        for _ in range(rng.choice((1, 1, 1, 2))):
            burst(rng, add)
        if rng.random() < 0.5:
            TROUBLE[rng.choice(troubles)](rng, add, kinds)
    if harmless:
        TROUBLE[troubles[0]](rng, add, kinds)
    for _ in range(rng.choice((0, 0, 1, 2, 4)) if bursts or harmless else rng.choice((2, 3, 4, 6, 10))):
        if rng.random() < 0.5:
            ask(rng, add, kinds, in_slack)
        elif rng.random() < 0.3:
            by = rng.choice((ALICE, BOB, CAROL, DAVE))
            add(DECIDE, by=by, pick=rng.randrange(100), in_slack=rng.random() < in_slack)
        elif rng.random() < 0.1:
            command = rng.choice(("home", "/float", "/requests", "/countersign status", "/card show Marta"))
            add("look", by=rng.choice((ALICE, BOB, CAROL)), command=command)
        else:
            TROUBLE[rng.choice(troubles)](rng, add, kinds)
    scopes: tuple[str, ...] = ()
    if "keys" in troubles and rng.random() < 0.5:
        scopes = tuple(rng.sample(("users:write", "users:write", "deposits:write"), 1))
    settings: dict[str, Any] = {}
    if rng.random() < 0.3:
        settings["processor_timeout"] = rng.choice(("500", "hang"))
    if rng.random() < 0.1:
        settings["unload_replay"] = "conflict"
    asked_for = {step.given.get("kind") for step in steps}
    if "card_3ds" in asked_for:
        settings["threeds_webhook_enabled"] = True
    if "deposit_quote" in asked_for:
        settings["deposits_enabled"] = True
    several = not {"standstills", "clock of one"}.isdisjoint(troubles)
    several = several or not NEEDS_TWO_PROCESSES.isdisjoint(bursts)
    replicas = 2 if several or rng.random() < 0.12 else 1
    jobs = frozenset(_JOBS[trouble] for trouble in troubles if trouble in _JOBS)
    relays = "relay" in troubles
    drawn = tuple(burst.__name__ for burst in bursts)
    # A stream of its own, so that the plans stay what they were.
    passkeys = random.Random(f"passkeys {seed}").random() < PASSKEYS
    cools_off = not harmless and random.Random(f"cool-off {seed}").random() < COOLS_OFF
    cool_off_s = random.Random(f"cool-off of {seed}").choice((20, 90, 600)) if cools_off else 0
    return Plan(seed, tuple(steps), scopes, settings, replicas, jobs, relays, passkeys, cool_off_s, drawn)
