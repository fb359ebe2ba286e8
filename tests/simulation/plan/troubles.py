"""Everything that may go wrong, each by what it adds to a plan."""

from __future__ import annotations

import random
from typing import Any

from tests.simulation.network import API, RECEIVER, RELAY, SLACK
from tests.simulation.plan.requests import ask
from tests.simulation.plan.words import (
    API_FAULTS,
    ASK,
    CRASH_POINTS,
    DECIDE,
    ENDPOINTS,
    PATHS,
    PURCHASES,
    READS,
    REFUSALS,
    SLACK_METHODS,
)
from tests.simulation.world import ALICE, BOB, CAROL, DAVE, GUEST


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


def _audit(rng: random.Random, add: Any, kinds: list[str]) -> None:
    add("no audit entry", seconds=rng.choice((0.3, 3.0, 15.0)))


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
    kind = rng.choice(("float", "orphan", *PURCHASES))
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
    """Many calls that nobody answers, none of which waits for another one; and an emergency."""
    for what in ("PUT", "/topup"):
        add("network", 0.02, side=API, effect="no answer", what=what, times=60, seconds=1.0)
    given = {"amount": rng.choice((10, 50)), "now": False, "pick": 0, "in_slack": False}
    for kind in ("card_limits", "card_phone"):
        for card in range(4):
            add(ASK, 0.02, kind=kind, by=rng.choice((ALICE, DAVE)), card=card, **given)
    for number in range(8):
        wait = 2.0 if number == 0 else 0.3
        add(DECIDE, wait, by=BOB, pick=7 - number, action="approve", in_slack=False)
    add("ask many", 0.3, kind="card_topup", by=ALICE, cards=[0, 1, 2, 3], amount=10)
    add(DECIDE, 2.0, by=BOB, pick=0, action="approve", in_slack=False)
    add(ASK, 2.0, kind="card_freeze", by=ALICE, **{**given, "card": rng.randrange(4), "now": True})
    add("time passes", 0.3, seconds=25.0, every=1.0)


def _old_rows(rng: random.Random, add: Any, kinds: list[str]) -> None:
    add("old row", pick=rng.randrange(100))


def _forgeries(rng: random.Random, add: Any, kinds: list[str]) -> None:
    add("forgeries", count=rng.choice((3, 6, 9)))


def _policy(rng: random.Random, add: Any, kinds: list[str]) -> None:
    """The reviewed file is edited, and the bot started anew; sometimes not at once."""
    change = rng.choice(
        (
            {"approvals": 2},
            {"approvals": 1},
            {"tier_usd": 100},
            {"per_requester_usd": 600},
            {"total_usd": 900},
            {"freeze_now": False},
            {"expires": "15m"},
            {"relays": False},
            {"relays": True},
        )
    )
    add("policy", change=change, restarts=rng.random() < 0.8)


def _delegations(rng: random.Random, add: Any, kinds: list[str]) -> None:
    """Somebody decides in another's place, and both of them try."""
    pair = rng.choice(((BOB, DAVE), (CAROL, DAVE), (BOB, ALICE), None))
    add("policy", change={"stands_for": pair}, restarts=True)
    for by in rng.sample((BOB, CAROL, DAVE, ALICE), 2):
        add(DECIDE, rng.choice((0.0, 0.3, 2.0)), by=by, pick=0, action="approve", in_slack=False)


def _new_keys(rng: random.Random, add: Any, kinds: list[str]) -> None:
    add("new api key", revoked=rng.choice(("before", "after", "after", "never")))


def _master_keys(rng: random.Random, add: Any, kinds: list[str]) -> None:
    """A rotation, whole or left off in the middle; or a start with a wrong key."""
    if rng.random() < 0.2:
        add("wrong master key")
        return
    stages = ("add", "make first", "seal anew")
    for stage in stages[: rng.choice((1, 2, 3, 3, 3))]:
        add("master key", stage=stage)


def _restores(rng: random.Random, add: Any, kinds: list[str]) -> None:
    """A copy of the database is made; something is requested; the copy is put in place of it, mostly."""
    add("back up")
    ask(rng, add, kinds, 0.0)
    if rng.random() < 0.8:
        add("restore")


def _relay(rng: random.Random, add: Any, kinds: list[str]) -> None:
    """Something to pass on, and a receiver that does not take it."""
    add("money", kind=rng.choice(PURCHASES), card=rng.randrange(4), amount=rng.choice((5, 40)))
    draw = rng.random()
    if draw < 0.4:
        statuses = [rng.choice((500, 503, 410, 302, 404))] * rng.choice((1, 3, 12))
        add("relay answers", statuses=statuses)
    elif draw < 0.8:
        effect = rng.choice(("refused", "lost", "answer lost", "no answer", "doubled", "slow"))
        add("network", side=RELAY, effect=effect, what="", times=rng.choice((1, 3, 8)), seconds=20.0)
    else:
        add("outage", side=RELAY, effect="refused", seconds=rng.choice((200.0, 5000.0)))


def _deliveries(rng: random.Random, add: Any, kinds: list[str]) -> None:
    """Events that come late, twice, in another order, or not at all."""
    for _ in range(rng.choice((1, 2, 3))):
        add("money", 0.3, kind=rng.choice(PURCHASES), card=rng.randrange(2), amount=rng.choice((5, 40)))
    effect = rng.choice(("late", "late", "doubled", "doubled", "lost", "answer lost", "slow"))
    seconds = rng.choice((2.0, 20.0, 700.0))
    add("network", side=RECEIVER, effect=effect, what="", times=rng.choice((1, 2, 5)), seconds=seconds)


def _envelopes(rng: random.Random, add: Any, kinds: list[str]) -> None:
    """What Slack sends to the bot comes late, twice, or its acknowledgement is lost."""
    kind = rng.choice(("slash_commands", "block_actions", "view_submission", "view_submission"))
    effect = rng.choice(("delay", "duplicate", "duplicate", "lost_ack"))
    fault = {"method": kind, "effect": effect, "seconds": rng.choice((0.5, 2.0, 8.0))}
    add("slack fault", fault={**fault, "times": rng.choice((1, 2, 4))})
    add(DECIDE, 0.3, by=rng.choice((BOB, CAROL)), pick=0, action="approve", in_slack=True)


def _clicks(rng: random.Random, add: Any, kinds: list[str]) -> None:
    """Somebody clicks twice, too late, or on what is not theirs to decide."""
    if rng.random() < 0.4:
        by = rng.choice((BOB, CAROL))
        action = rng.choice(("approve", "approve", "reject", "cancel"))
        add("click twice", by=by, pick=rng.randrange(4), action=action)
        return
    by = rng.choice((ALICE, BOB, CAROL, DAVE, GUEST))
    action = rng.choice(("approve", "reject", "cancel", "confirm", "resolve"))
    add("click", by=by, pick=rng.randrange(8), action=action, verdict=rng.choice(("succeeded", "failed")))


def _database(rng: random.Random, add: Any, kinds: list[str]) -> None:
    says = rng.choice(
        ("disk I/O error", "attempt to write a readonly database", "unable to open database file")
    )
    add("database", says=says, seconds=rng.choice((0.2, 3.0, 40.0)))


def _clock_of_one(rng: random.Random, add: Any, kinds: list[str]) -> None:
    add("clock of one", wrong_by=rng.choice((-600.0, -45.0, -5.0, 5.0, 45.0, 600.0)))


def _reveals(rng: random.Random, add: Any, kinds: list[str]) -> None:
    """Somebody uses a link to card details: once, twice at the same moment, too late, or asks for another."""
    if rng.random() < 0.3:
        add("another link", by=rng.choice((ALICE, ALICE, DAVE, BOB)), pick=rng.randrange(4))
    else:
        add("open link", pick=rng.randrange(4), times=rng.choice((1, 1, 2, 3)), as_text=rng.random() < 0.5)


def _joiners(rng: random.Random, add: Any, kinds: list[str]) -> None:
    """Somebody joins, is a guest, a stranger or a bot, or leaves, with requests of theirs under way."""
    who = rng.choice((ALICE, BOB, CAROL, DAVE, DAVE))
    flag = rng.choice(("deleted", "is_restricted", "is_ultra_restricted", "is_stranger", "is_bot"))
    add("person", who=who, change={flag: rng.random() < 0.7})
    if rng.random() < 0.5:
        add("group", 0.3, users=rng.sample((ALICE, BOB, CAROL, DAVE), rng.choice((1, 2, 3))))


def _funding_decided(rng: random.Random, add: Any, kinds: list[str]) -> None:
    add("funding decided", pick=rng.randrange(3), decision=rng.choice(("credit", "credit", "reject")))


TROUBLE = {
    "policy": _policy,
    "delegations": _delegations,
    "new keys": _new_keys,
    "master keys": _master_keys,
    "restores": _restores,
    "relay": _relay,
    "deliveries": _deliveries,
    "envelopes": _envelopes,
    "clicks": _clicks,
    "database": _database,
    "clock of one": _clock_of_one,
    "reveals": _reveals,
    "joiners": _joiners,
    "funding decided": _funding_decided,
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
    "audit": _audit,
    "clocks": _clock,
    "people": _people,
    "pauses": _pause,
    "support": _support,
    "money": _money,
    "keys": _keys,
    "limits": _limits,
}
