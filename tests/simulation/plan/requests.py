"""Requests as a plan has them: somebody asks, others decide."""

from __future__ import annotations

import random
from typing import Any

from tests.simulation.plan.words import ASK, DECIDE
from tests.simulation.world import ALICE, BOB, CAROL, DAVE


def ask(rng: random.Random, add: Any, kinds: list[str], in_slack: float) -> None:
    kind = rng.choice(kinds)
    who = rng.choice((ALICE, ALICE, DAVE))
    if kind in ("webhook_register", "webhook_rotate", "fees_markup", "card_3ds", "event_redeliver"):
        who = rng.choice((CAROL, CAROL, CAROL, CAROL, ALICE))
    many = kind in ("card_topup", "card_freeze") and rng.random() < 0.12
    now = kind == "card_freeze" and rng.random() < 0.5
    pick = rng.randrange(100)
    slack = rng.random() < in_slack
    if many:
        add(
            "ask many",
            kind=kind,
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
