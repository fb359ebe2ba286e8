"""Situations in which two things have to meet: each a few steps that make the meeting likely, not certain.

Drawn step by step such meetings are rare; how each ends is left to the seed all the same.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from tests.simulation.network import API, RECEIVER, SLACK
from tests.simulation.plan.words import ASK, DECIDE, ENDPOINTS
from tests.simulation.world import ALICE, BOB, CAROL, DAVE

Burst = Callable[[random.Random, Any], None]
TOP_UP = ENDPOINTS["card_topup"]
_APPROVE = {"action": "approve", "in_slack": False}
# As the network names the calls that carry out these kinds.
_CALLS = {"card_topup": "/topup", "card_order": "POST /cards", "funding_submit": "POST /funding"}


def _asked(rng: random.Random, add: Any, kind: str, wait: float = 0.3, **given: Any) -> None:
    """Somebody requests this."""
    amount = rng.choice((10, 25, 50, 300))
    usual = {"by": ALICE, "card": 0, "amount": amount, "now": False, "pick": 0, "in_slack": False}
    add(ASK, wait, kind=kind, **{**usual, **given})


def _approved(rng: random.Random, add: Any, kind: str, wait: float = 0.3, **given: Any) -> None:
    """Somebody requests this, and one or two others approve it."""
    _asked(rng, add, kind, wait, **given)
    for by in rng.choice(((BOB,), (BOB,), (BOB, CAROL))):
        add(DECIDE, rng.choice((0.6, 1.0, 2.0)), by=by, pick=0, **_APPROVE)


def _passes(rng: random.Random, add: Any, *waits: float) -> None:
    """Nothing happens but that somebody looks at something. Between looks everything due has one turn at least."""
    for wait in waits:
        add("look", wait, by=rng.choice((ALICE, BOB)), command=rng.choice(("home", "/float", "/requests")))


def _settles(add: Any, seconds: float, every: float) -> None:
    """Nobody does anything, and what is due has its turn again and again."""
    add("time passes", seconds=seconds, every=every, wait=0.3)


def _late_lookups(rng: random.Random, add: Any) -> None:
    what = rng.choice(("users.info", "usergroups.list", ""))
    times = rng.choice((2, 4, 8))
    add("network", 0.3, side=SLACK, effect="slow", what=what, times=times, seconds=rng.choice((2.0, 6.0)))


def _pause_at_the_claim(rng: random.Random, add: Any) -> None:
    """What was approved is about to be sent, and somebody pauses."""
    kind = rng.choice(("card_topup", "card_topup", "card_unload", "card_freeze"))
    _approved(rng, add, kind)
    if rng.random() < 0.5:
        _late_lookups(rng, add)
    else:
        add("network", 0.0, side=API, effect="slow", what="GET", times=3, seconds=rng.choice((2.0, 6.0)))
    add("pause", rng.choice((0.0, 0.02, 0.3, 2.0)), by=CAROL)
    add("resume", rng.choice((20.0, 70.0)), by=BOB)


def _waits_for_a_resume(rng: random.Random, add: Any) -> None:
    """Approved while sending is paused; by the time of the resume the approval is old, or an approver is gone."""
    add("pause", 0.3, by=CAROL)
    _approved(rng, add, rng.choice(("card_topup", "card_limits")))
    if rng.random() < 0.6:
        add("group", 2.0, users=rng.choice(([CAROL, DAVE], [DAVE, CAROL, ALICE])))
        add("resume", rng.choice((20.0, 70.0)), by=CAROL, second=DAVE)
        add("group", 20.0, users=[BOB, CAROL])
    else:
        add("resume", 1000.0, by=BOB)


def _list_in_a_pause(rng: random.Random, add: Any) -> None:
    """Several cards are to be frozen while sending is paused: the list waits, is withdrawn, or nobody decides on it."""
    add("pause", 0.3, by=CAROL)
    cards = rng.sample(range(4), rng.choice((2, 3)))
    add("ask many", 0.3, kind="card_freeze", by=ALICE, cards=cards, amount=1)
    ending = rng.randrange(3)
    if ending < 2:
        for by in (BOB, CAROL):
            add(DECIDE, rng.choice((0.6, 1.0, 2.0)), by=by, pick=0, **_APPROVE)
    if ending == 0:
        add(DECIDE, rng.choice((2.0, 200.0)), by=ALICE, pick=0, in_slack=False)
    _passes(rng, add, 200.0, 1000.0)
    add("resume", rng.choice((2.0, 1000.0)), by=BOB)


def _little_budget(rng: random.Random, add: Any) -> None:
    """The API allows few calls a minute, so what was approved waits for its turn; meanwhile things change."""
    if rng.random() < 0.3:
        _asked(rng, add, "card_freeze", now=True)
    several = rng.choice((2, 3, 3))
    for number in range(several):
        kind = rng.choice(("card_topup", "card_unfreeze", "card_unload", "card_limits", "card_phone"))
        _asked(rng, add, kind, rng.choice((0.3, 2.0)), card=rng.choice((number, 0)))
    add("rate", 2.0, per_minute=rng.choice((4, 6, 10)))
    for _ in range(several):
        add(DECIDE, rng.choice((0.3, 2.0)), by=rng.choice((BOB, CAROL)), pick=0, **_APPROVE)
    _settles(add, rng.choice((2.0, 20.0, 60.0, 70.0, 100.0)), every=6.0)
    draw = rng.choice(("pause", "pause", "pause", "Slack is away", "freeze", "others approve"))
    if draw == "pause":
        add("pause", 0.3, by=CAROL)
    elif draw == "Slack is away":
        add("outage", 0.3, side=SLACK, effect="refused", seconds=300.0)
    elif draw == "freeze":
        _asked(rng, add, "card_freeze", by=DAVE, now=True)
    else:
        add("group", 0.3, users=[CAROL, DAVE])
    _settles(add, 130.0, every=20.0)
    add("rate", 0.3, per_minute=300)
    add("resume", 2.0, by=BOB)


def _over_the_limits(rng: random.Random, add: Any) -> None:
    """Several top-ups together are more than one person, or everybody, may have in a day."""
    add("policy", 0.3, change={"per_requester_usd": 600, "total_usd": 900, "tier_usd": 500}, restarts=True)
    for _ in range(rng.choice((2, 3, 4))):
        by = rng.choice((ALICE, ALICE, DAVE))
        _asked(rng, add, "card_topup", by=by, card=rng.randrange(3), amount=rng.choice((300, 501)))
        for decider in (BOB, CAROL):
            add(DECIDE, rng.choice((0.0, 0.3)), by=decider, pick=0, **_APPROVE)


def _lands_late(rng: random.Random, add: Any) -> None:
    """The first call arrives long after it was given up; every repeat is lost, or refused."""
    seconds = rng.choice((30.0, 60.0, 130.0, 900.0, 2000.0))
    add("network", 0.3, side=API, effect="late", what="/topup", times=1, seconds=seconds)
    if rng.random() < 0.5:
        add("network", 0.0, side=API, effect="lost", what="/topup", times=30, seconds=1.0)
    else:
        status, code = rng.choice(((404, "NOT_FOUND"), (402, "INSUFFICIENT_FUNDS"), (400, "BAD_REQUEST")))
        fault = {"operation": TOP_UP, "effect": "status", "status": status, "code": code, "times": 1}
        add("api fault", 0.0, fault=fault)
    if rng.random() < 0.4:
        code = rng.choice(("5xx", "timeout"))
        add(
            "api fault",
            0.0,
            fault={"operation": TOP_UP, "effect": "processor", "processor": code, "times": 30},
        )
    _approved(rng, add, "card_topup")
    if rng.random() < 0.6:
        _settles(add, 40.0, every=rng.choice((6.0, 20.0)))
    _passes(rng, add, 200.0, 1000.0, rng.choice((2.0, 1000.0)))


def _the_same_again(rng: random.Random, add: Any) -> None:
    """What was asked for is in doubt, or given up, and somebody asks for just the same."""
    kind = rng.choice(("card_order", "card_order", "funding_submit"))
    pick = rng.randrange(2)
    lasts = rng.choice((200.0, 1300.0))
    effect = rng.choice(("lost", "answer lost"))
    add("outage", 0.3, side=API, effect=effect, seconds=lasts, what=_CALLS[kind])
    _approved(rng, add, kind, pick=pick)
    _passes(rng, add, 200.0)
    if rng.random() < 0.5:
        _passes(rng, add, 1000.0)
        add("by hand", 200.0, pick=0, verdict="failed")
    _approved(rng, add, kind, 6.0, pick=pick)
    _passes(rng, add, 20.0, 200.0)


def _lost_among_equals(rng: random.Random, add: Any) -> None:
    """Two people ask for just the same, both get it approved, and the call of one of them is lost."""
    kind = rng.choice(("funding_submit", "deposit_quote"))
    same = {"pick": rng.randrange(2), "card": rng.randrange(3), "amount": rng.choice((10, 50))}
    for by in (ALICE, DAVE):
        _asked(rng, add, kind, rng.choice((0.3, 2.0)), by=by, **same)
    effect, is_first = rng.choice(("lost", "lost", "late")), rng.random() < 0.7
    for number, is_lost in enumerate((is_first, not is_first)):
        if is_lost:
            lost = {"side": API, "effect": effect, "what": ENDPOINTS[kind], "times": 1}
            add("network", 2.0, **lost, seconds=rng.choice((3.0, 130.0)))
        add(DECIDE, rng.choice((0.6, 2.0, 4.0)), by=BOB, pick=1 - number, **_APPROVE)
    if rng.random() < 0.5:
        add("pause", rng.choice((0.6, 2.0, 6.0)), by=CAROL)
    _settles(add, 30.0, every=6.0)
    _passes(rng, add, 200.0, 1000.0)


def _overtaken(rng: random.Random, add: Any) -> None:
    """Of two orders on the same setting the older one is held up, and the newer one comes meanwhile.

    The clock by which the older one was approved may be wrong, and set right by then.
    """
    older = rng.choice(("card_unfreeze", "card_unfreeze", "card_limits", "card_phone"))
    card, (one, other) = rng.randrange(4), rng.sample((10, 25, 50, 300), 2)
    if older == "card_unfreeze":
        _asked(rng, add, "card_freeze", card=card, now=True)
    newer = "card_freeze" if older == "card_unfreeze" else older
    _asked(rng, add, older, 2.0, card=card, amount=one, pick=0)
    is_pause, is_wrong = rng.random() < 0.3, rng.random() < 0.4
    if not is_pause and newer != "card_freeze":
        _asked(rng, add, newer, by=DAVE, card=card, amount=other, pick=1)  # while the card can be read
    if is_pause:
        add("pause", 2.0, by=CAROL)
    else:
        seconds = rng.choice((20.0, 40.0, 70.0))
        add("outage", 2.0, side=API, effect=rng.choice(("refused", "lost")), seconds=seconds, what="GET")
    if is_wrong:
        add("clock", 0.3, wrong_by=rng.choice((-90.0, -5.0, 5.0, 90.0, 600.0)))
    add(DECIDE, 0.3, by=BOB, pick=1, **_APPROVE)
    _settles(add, rng.choice((6.0, 20.0, 40.0, 70.0)), every=6.0)
    if is_wrong:
        add("clock", 0.3, wrong_by=0.0)
    if newer == "card_freeze":
        _asked(rng, add, newer, by=DAVE, card=card, now=True)
    elif is_pause:
        _asked(rng, add, newer, by=DAVE, card=card, amount=other, pick=1)
    add(DECIDE, 0.6, by=CAROL, pick=0, **_APPROVE)
    if is_pause:
        add("resume", rng.choice((0.3, 6.0)), by=BOB)
    _settles(add, 60.0, every=6.0)


def _slack_goes_next(rng: random.Random, add: Any) -> None:
    """What was approved has to wait for the API; by the time that it could be sent, Slack is away."""
    kind = rng.choice(("card_topup", "card_topup", "card_unload", "card_limits", "card_order"))
    _asked(rng, add, kind, amount=rng.choice((10, 50)), card=rng.randrange(3))
    seconds = rng.choice((60.0, 70.0, 130.0))
    add("outage", 2.0, side=API, effect=rng.choice(("refused", "lost")), seconds=seconds, what="GET")
    add(DECIDE, 0.3, by=rng.choice((BOB, CAROL)), pick=0, **_APPROVE)
    effect = rng.choice(("refused", "refused", "lost", "no answer"))
    add("outage", rng.choice((2.0, 6.0)), side=SLACK, effect=effect, seconds=rng.choice((200.0, 400.0)))
    _settles(add, 180.0, every=20.0)


def _closed_by_half(rng: random.Random, add: Any) -> None:
    """The balance went back to the float, and the card stayed open; nobody was answered, and no repeat arrives."""
    add("api fault", 0.3, fault={"operation": ENDPOINTS["card_close"], "effect": "drop_midway", "times": 1})
    # The first call is the one that arrives.
    arrives = {"side": API, "what": "/close", "times": 1, "seconds": 2.0}
    add("network", 0.0, effect=rng.choice(("slow", "slow", "late", "doubled")), **arrives)
    effect = rng.choice(("lost", "refused"))
    add("network", 0.0, side=API, effect=effect, what="/close", times=30, seconds=1.0)
    _approved(rng, add, "card_close", card=rng.randrange(4))
    if rng.random() < 0.5:
        add("pause", rng.choice((6.0, 20.0)), by=CAROL)
        _settles(add, 100.0, every=20.0)
    _passes(rng, add, 200.0, 1000.0)


def _disk_in_mid_call(rng: random.Random, add: Any) -> None:
    """A call takes long, and the disk is full when its lease has to be renewed."""
    add("network", 0.3, side=API, effect="slow", what="/topup", times=1, seconds=rng.choice((20.0, 28.0)))
    _approved(rng, add, "card_topup")
    add("disk full", rng.choice((2.0, 6.0)), seconds=rng.choice((8.0, 12.0)))
    _passes(rng, add, 20.0)


def _cards_wait(rng: random.Random, add: Any) -> None:
    """Slack takes no messages for longer than an hour."""
    add("outage", 0.3, side=SLACK, effect="refused", seconds=5000.0, what="chat.")
    _approved(rng, add, rng.choice(("card_topup", "card_limits")))
    _passes(rng, add, 1000.0, 1000.0, 1000.0, 1000.0)


def _taken_over(rng: random.Random, add: Any) -> None:
    """Whoever carries out a call stands still for longer than its lease, and goes on then."""
    times, seconds = rng.choice((1, 2, 2, 3)), rng.choice((10.0, 40.0, 60.0))
    add("network", 0.3, side=API, effect="slow", what="/topup", times=times, seconds=seconds)
    _approved(rng, add, "card_topup")
    seconds = rng.choice((40.0, 50.0, 70.0, 120.0))
    add("standstill", rng.choice((0.6, 2.0, 6.0)), after=rng.randrange(60), seconds=seconds, holds=True)
    _passes(rng, add, 20.0)


def _no_answers(rng: random.Random, add: Any) -> None:
    """No repeat gets an answer, until people have to look."""
    kind = rng.choice(("card_topup", "card_topup", "card_order", "funding_submit"))
    effect = rng.choice(("no answer", "answer lost", "lost"))
    add("outage", 0.3, side=API, effect=effect, seconds=3000.0, what=_CALLS[kind])
    _approved(rng, add, kind)
    _passes(rng, add, 1000.0, 1000.0)


def _refused_key(rng: random.Random, add: Any) -> None:
    """The API takes the key no more, and is given another."""
    add("new api key", 0.3, revoked="before")
    _approved(rng, add, "card_topup")


def _lost_commits(rng: random.Random, add: Any) -> None:
    """The connection to the database breaks during COMMIT: whether it was done is not known."""
    _asked(rng, add, rng.choice(("card_topup", "card_order", "card_freeze")), now=False)
    times = rng.choice((1, 1, 2, 4))
    for _ in range(rng.choice((1, 2))):
        add("lost commits", rng.choice((0.0, 0.02, 0.3)), times=times, done=rng.random() < 0.6)
        by = rng.choice((BOB, CAROL))
        add(DECIDE, 0.02, by=by, pick=0, **_APPROVE)
        add("lost commits", rng.choice((0.0, 0.02, 0.3)), times=times, done=rng.random() < 0.6)


def _purchases(rng: random.Random, add: Any) -> None:
    """Somebody buys, and what becomes of the purchases comes out of order, or only from the log of events."""
    _approved(rng, add, "webhook_register", by=CAROL)
    if rng.random() < 0.7:
        effect = rng.choice(("late", "late", "doubled", "lost", "answer lost"))
        times, seconds = rng.choice((1, 2, 4)), rng.choice((2.0, 20.0))
        add("network", 2.0, side=RECEIVER, effect=effect, what="", times=times, seconds=seconds)
    for _ in range(rng.choice((1, 2, 3))):
        add("money", 0.3, kind="purchase", card=rng.randrange(3), amount=rng.choice((5, 40)))
    for _ in range(rng.choice((1, 2, 3))):
        kind = rng.choice(("settle", "settle", "reverse", "refund", "decline"))
        add(
            "money", rng.choice((0.3, 6.0)), kind=kind, card=rng.randrange(3), amount=rng.choice((1, 2, 3, 4))
        )


def _orphan(rng: random.Random, add: Any) -> None:
    """Money leaves under a key of this installation that nobody here knows."""
    _approved(rng, add, "card_topup")
    add(
        "money",
        rng.choice((0.3, 6.0, 60.0)),
        kind="orphan",
        card=rng.randrange(3),
        amount=rng.choice((5, 40)),
    )


BURSTS: tuple[Burst, ...] = (
    _pause_at_the_claim,
    _waits_for_a_resume,
    _list_in_a_pause,
    _little_budget,
    _over_the_limits,
    _lands_late,
    _lands_late,
    _the_same_again,
    _lost_among_equals,
    _overtaken,
    _slack_goes_next,
    _closed_by_half,
    _disk_in_mid_call,
    _cards_wait,
    _taken_over,
    _no_answers,
    _refused_key,
    _lost_commits,
    _purchases,
    _orphan,
)
NEEDS_TWO_PROCESSES = frozenset({_taken_over})
