"""A random life of requests in a small world: faults, crashes, stalls, time, people; and what must hold.

Requests meet: on one card, for cards of one name, on one setting. What is promised is in `random_promises`; where a
request may have to wait while the world moves on is in `random_line`.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import AsyncExitStack, suppress
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any, ClassVar, TypeVar
from unittest.mock import patch

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from sqlalchemy.exc import OperationalError

from bot.domain.errors import CountersignError
from bot.domain.requests import OPEN, Request, State
from bot.engine.embedded import Embedded
from bot.partner.client import PartnerClient
from bot.partner.errors import PartnerError
from bot.services import execution, requests
from bot.services.alerts import ledger_rules
from bot.services.execution import maintenance
from bot.services.operators import confirmations, pausing, programs
from bot.services.requests import approvals
from storage.requests import requests as request_rows
from tests.services.random_line import Budget, Line, SlowSlack
from tests.services.random_promises import Promises
from tests.support.kinds import NORA, PATH
from tests.support.waiting import eventually
from tests.support.world import ALICE, BOB, CAROL, Died, World, a_world

T = TypeVar("T")
ENDPOINTS = {kind: PATH[kind] for kind in ("card_topup", "card_order", "card_freeze", "card_unfreeze")}
FAULTS: tuple[dict[str, Any], ...] = (
    {"effect": "drop_before_commit"},
    {"effect": "drop_after_commit"},
    {"effect": "garbage"},
    *(
        {"effect": "processor", "processor": code}
        for code in ("400", "401", "403", "5xx", "capacity", "timeout")
    ),
    {"effect": "status", "status": 400, "code": "BAD_REQUEST"},
    {"effect": "status", "status": 402, "code": "INSUFFICIENT_FUNDS"},
    {"effect": "status", "status": 403, "code": "FORBIDDEN"},
    {"effect": "status", "status": 404, "code": "NOT_FOUND"},
    {"effect": "status", "status": 500, "code": "UNAVAILABLE"},
    {"effect": "status", "status": 429, "code": "RATE_LIMITED"},
    {"effect": "status", "status": 401, "code": "UNAUTHORIZED"},
)
# Calls of two commits can be lost between them, too.
TOPUP_FAULTS = (*FAULTS, {"effect": "drop_midway"})
# After these nobody knows what became of the money.
MONEY_FAULTS: tuple[dict[str, Any], ...] = (
    {"effect": "processor", "processor": "5xx"},
    {"effect": "drop_after_commit"},
    {"effect": "drop_midway"},
    {"effect": "drop_before_commit"},
)
CRASH_POINTS = ("execution.before_claim", "execution.claimed", "execution.answered", "execution.finishing")
# Where a request may have to wait, and what may happen then.
WAITS = ("slack", "reading", "budget")
MEANWHILE = ("pause", "cancel", "lapse", "freeze now", "cut the key")
# What people want in one life: of one sort, so that requests meet, or of all.
THEMES: dict[str, tuple[str, ...]] = {
    "money": ("card_topup",),
    "switches": ("card_freeze", "card_unfreeze"),
    "orders": ("card_order",),
    "all": tuple(ENDPOINTS),
}
# What may go wrong in one life: some of it, so that it comes often enough to matter.
TROUBLES = (
    "faults",
    "second thoughts",
    "people",
    "pauses",
    "scopes",
    "late",
    "by hand",
    "support",
    "deaths",
    "waits",
    "database",
    "hanging",
)
ALL_SCOPES = "users:read users:write cards:read cards:write deposits:read deposits:write"
FEW_SCOPES = "users:read cards:read"
# More calls than are carried out together; and, in real seconds, how long a freeze may take while all of them hang.
HANGING, AT_ONCE_S = 9, 10.0
AT_MOST = 4


def trouble(name: str) -> Callable[[Any], Any]:
    """A rule of a life in which this may go wrong."""
    return precondition(lambda life: name in life.goes_wrong)


class RequestMachine(RuleBasedStateMachine):
    """One example: a fresh database and simulator, a few requests, and whatever may happen to them."""

    to_the_end: ClassVar[bool] = True

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.stack = AsyncExitStack()
        folder = self.stack.enter_context(tempfile.TemporaryDirectory())
        self.world: World = self.do(self.stack.enter_async_context(a_world(Path(folder))))
        self.promises = Promises(self.world)
        self.ids = self.promises.ids
        self.do(self._put_in_line())
        self.kinds: tuple[str, ...] = THEMES["all"]
        self.goes_wrong: frozenset[str] = frozenset(TROUBLES)
        self.restarts = 0

    def do(self, work: Coroutine[Any, Any, T]) -> T:
        return self.runner.run(work)

    async def _put_in_line(self) -> None:
        """The bot's client with a budget, a Slack and a line in which it may have to wait."""
        world = self.world
        self.key: str = (await world.tell("keys", {"rate_limit_per_minute": 10**6}))["key"]
        self.budget, self.line, self.slack = Budget(world.clock), Line(self.promises.departs), SlowSlack()
        client = PartnerClient(
            world.simulator.base_url, self.key, limiter=self.budget, clock=world.clock, http=self.line
        )
        self.stack.push_async_callback(client.aclose)
        world.people = self.slack
        world.rebuild(partners={"main": client}, directory=self.slack)

    # What people do

    @initialize(
        life=st.data(),
        amount=st.sampled_from(["10", "50"]),
        times=st.sampled_from([1, 9]),
        at_once=st.booleans(),
    )
    def an_approved_request_that_may_meet_trouble(
        self, life: st.DataObject, amount: str, times: int, at_once: bool
    ) -> None:
        fault = life.draw(st.sampled_from(({}, *FAULTS)))
        self.kinds = THEMES[life.draw(st.sampled_from(sorted(THEMES)))]
        self.goes_wrong = life.draw(st.frozensets(st.sampled_from(TROUBLES), min_size=1, max_size=4))
        self.ask(self.kinds[0], amount, card=0, now=False, approved=True)
        if fault:
            self._fault(self.kinds[0], fault, times)
        if at_once:
            self.run()

    @precondition(lambda self: len(self.ids) < AT_MOST)
    @rule(
        kind=st.data(),
        amount=st.sampled_from(["10", "50", "501"]),
        card=st.integers(0, 1),
        now=st.booleans(),
        approved=st.booleans(),
    )
    def ask_for_something(
        self, kind: st.DataObject, amount: str, card: int, now: bool, approved: bool
    ) -> None:
        self.ask(kind.draw(st.sampled_from(self.kinds)), amount, card=card, now=now, approved=approved)

    def ask(self, kind: str, amount: str, *, card: int, now: bool, approved: bool) -> None:
        texts = {"card": self.world.cards[0 if "freeze" in kind else card]["id"]}
        if kind == "card_topup":
            texts["amount_usd"] = amount
        if kind == "card_order":
            texts = NORA
        with suppress(CountersignError, PartnerError):
            request = self.do(self.world.ask(kind, texts, now=now and kind == "card_freeze"))
            self.ids.append(request.id)
            if approved:
                self.approve(len(self.ids) - 1, BOB, stale=False)

    @trouble("second thoughts")
    @rule(which=st.integers(0, 3), by=st.sampled_from([ALICE, BOB, CAROL]), stale=st.booleans())
    def approve(self, which: int, by: str, stale: bool) -> None:
        request = self._pick(which)
        if request is not None:
            digest = "0" * 64 if stale else request.digest
            with suppress(CountersignError):
                self.do(self.world.approve(replace(request, digest=digest), by=by))

    @trouble("second thoughts")
    @rule(which=st.integers(0, 3), by=st.sampled_from([ALICE, BOB]))
    def withdraw(self, which: int, by: str) -> None:
        request = self._pick(which)
        if request is not None:
            with suppress(CountersignError):
                if by == ALICE:
                    self.do(requests.cancel(self.world.core, request.id, by))
                else:
                    self.do(approvals.reject(self.world.core, request.id, by, reason="not now"))

    @trouble("by hand")
    @rule(which=st.integers(0, 3), verdict=st.sampled_from(["failed", "succeeded"]))
    def two_people_say_how_it_ended(self, which: int, verdict: str) -> None:
        request = self._pick(which)
        if request is not None and request.state is State.UNRESOLVED:
            with suppress(CountersignError):
                for person in (ALICE, BOB):
                    self.do(
                        approvals.resolve(
                            self.world.core, request.id, person, verdict=verdict, evidence="We asked support"
                        )
                    )
                self.promises.by_hand[request.id] = State(verdict)

    @trouble("people")
    @rule(who=st.sampled_from([BOB, CAROL]), deleted=st.booleans())
    def deactivate(self, who: str, deleted: bool) -> None:
        self.world.people.change(who, deleted=deleted)
        self._forget_the_last_look()

    @trouble("people")
    @rule(broken=st.booleans())
    def slack_lookups_fail(self, broken: bool) -> None:
        self.world.people.broken = broken
        self._forget_the_last_look()

    def _forget_the_last_look(self) -> None:
        """A look at the people is shared for some seconds."""
        self.do(self.world.advance(11))

    @trouble("pauses")
    @rule(paused=st.booleans())
    def pause_or_resume(self, paused: bool) -> None:
        with suppress(CountersignError):
            self.do(self._paused() if paused else self._resumed())

    async def _paused(self) -> None:
        await pausing.pause(self.world.core, BOB, ["main"], "who knows")

    async def _resumed(self) -> None:
        await pausing.resume(self.world.core, BOB, ["main"])
        await pausing.resume(self.world.core, CAROL, ["main"])

    # What the world does

    @trouble("faults")
    @rule(kind=st.data(), fault=st.sampled_from(FAULTS), times=st.sampled_from([1, 2, 9]))
    def fault(self, kind: st.DataObject, fault: dict[str, Any], times: int) -> None:
        self._fault(kind.draw(st.sampled_from(self.kinds)), fault, times)

    @trouble("faults")
    @rule(fault=st.sampled_from(TOPUP_FAULTS), times=st.integers(1, 2))
    def fault_of_a_top_up(self, fault: dict[str, Any], times: int) -> None:
        self._fault("card_topup", fault, times)

    def _fault(self, kind: str, fault: dict[str, Any], times: int) -> None:
        self.do(self.world.tell("faults", {"operation": ENDPOINTS[kind], **fault, "times": times}))

    @trouble("scopes")
    @rule(few=st.booleans())
    def the_key_gets_scopes(self, few: bool) -> None:
        self._scopes(FEW_SCOPES if few else ALL_SCOPES)

    def _scopes(self, scopes: str) -> None:
        self.world.simulator.world.store.run("UPDATE api_keys SET scopes = ?", scopes)

    @rule(seconds=st.sampled_from([1, 5, 15, 31, 60, 120, 600, 3600, 50 * 3600]))
    def time_passes(self, seconds: int) -> None:
        self.do(self.world.advance(seconds))

    @trouble("late")
    @rule(which=st.integers(0, 3), fault=st.sampled_from(({}, *MONEY_FAULTS)))
    def a_lost_request_arrives_late(self, which: int, fault: dict[str, Any]) -> None:
        """What our client gave up arrives after all, however long it took."""
        request = self._pick(which)
        if request is None or request.key not in self.line.lost:
            return
        if fault and request.kind == "card_topup":
            self._fault(request.kind, fault, 1)
        if request.state is State.FAILED:
            self.promises.late.add(request.id)
        self.do(self.line.arrive_late(request.key))

    @trouble("support")
    @rule(which=st.integers(0, 3), verdict=st.sampled_from(["credited", "refunded"]))
    def support_settles(self, which: int, verdict: str) -> None:
        request = self._pick(which)
        if request is None or request.kind != "card_topup":
            return
        if self.promises.at_the_service(request) in ("in_flight", "unresolved"):
            self.do(self.world.tell(f"topups/{request.key}/resolve", {"as": verdict}))

    # What we do

    @rule()
    def run(self) -> None:
        self.do(self.world.run_due())

    @rule(rounds=st.sampled_from([1, 1, 9]))
    def run_in_time(self, rounds: int) -> None:
        """Each request at the moment it is due, as a process does that is left alone."""
        for request_id in self.ids * rounds:
            request = self.do(self.world.request(request_id))
            if request.due_at is not None and request.state in OPEN:
                pause = (request.due_at - self.world.clock.now()).total_seconds()
                self.do(self.world.advance(max(0.0, pause)))
                self.do(self.world.run_due())

    @trouble("deaths")
    @rule(point=st.sampled_from(CRASH_POINTS))
    def die_at(self, point: str) -> None:
        def kill(reached: str) -> None:
            if reached == point:
                raise Died

        whole = self.world.core
        self.world.rebuild(crash_point=kill)
        with suppress(Died):
            self.do(self.world.run_due())
        self.restarts += 1
        self.world.rebuild(crash_point=whole.crash_point, owner=f"process-{self.restarts}")

    @trouble("deaths")
    @rule(which=st.integers(0, 3), both_lost=st.booleans())
    def stall_past_the_lease(self, which: int, both_lost: bool) -> None:
        """I-18: what a worker brings back after its lease is over changes nothing."""
        request = self._pick(which)
        if request is None:
            return
        left: list[Request] = []
        if both_lost:
            self._fault(request.kind, {"effect": "drop_before_commit"}, 2)

        async def meanwhile() -> None:
            await self.world.advance(self.world.core.lease_s + 1)
            await execution.execute(replace(self.world.core, owner="other"), request.id)
            left.append(await self.world.request(request.id))

        self.line.while_answered.does(meanwhile)
        self.do(execution.execute(self.world.core, request.id))
        self.line.while_answered.does(None)
        if left and left[0].fence > request.fence + 1:
            assert self.do(self.world.request(request.id)) == left[0], "a worker without its lease wrote"

    @trouble("waits")
    @rule(which=st.integers(0, 3), where=st.sampled_from(WAITS), what=st.sampled_from(MEANWHILE))
    def the_world_moves_on_while_it_waits(self, which: int, where: str, what: str) -> None:
        """It is being looked at, or stands in line for its place; what is committed then stops it."""
        request = self._pick(which)
        if request is None:
            return
        place = {
            "slack": self.slack.meanwhile,
            "reading": self.line.while_reading,
            "budget": self.budget.meanwhile,
        }[where]
        place.does(self._moving_on(request, what))
        self.do(execution.execute(self.world.core, request.id))
        place.does(None)

    def _moving_on(self, request: Request, what: str) -> Callable[[], Awaitable[None]]:
        async def act() -> None:
            with suppress(CountersignError, PartnerError):
                match what:
                    case "pause":
                        await self._paused()
                    case "cancel":
                        await requests.cancel(self.world.core, request.id, ALICE)
                    case "lapse":
                        await self.world.advance(16 * 60)
                    case "cut the key":
                        self._scopes(FEW_SCOPES)
                    case "freeze now" if len(self.ids) < AT_MOST:
                        texts = {"card": self.world.cards[0]["id"]}
                        self.ids.append((await self.world.ask("card_freeze", texts, now=True)).id)

        return act

    @trouble("database")
    @rule(which=st.integers(0, 3))
    def the_database_is_away_while_it_is_called(self, which: int) -> None:
        """What the API answered is on record all the same: it is known here alone."""
        request = self._pick(which)
        if request is None:
            return
        refused: list[str] = []

        async def refuse(*_: Any, **__: Any) -> bool:
            refused.append("renewal")
            raise OperationalError("COMMIT", None, Exception("database is locked"))

        async def meanwhile() -> None:
            await asyncio.sleep(0)  # until the lease is being kept
            await self.world.advance(self.world.core.lease_s / 3 + 1)
            with suppress(AssertionError):  # a look, or a lease that is not kept
                await eventually("a renewal was tried", lambda: refused, within_s=0.2, every_s=0.002)

        with patch.object(request_rows, "renew", refuse):
            self.line.while_answered.does(meanwhile)
            self.do(execution.execute(self.world.core, request.id))
            self.line.while_answered.does(None)
        sent = self.do(self.world.attempts(request.id))
        assert not refused or sent[-1].answered_at is not None, (
            "your card provider answered, and it is not on record"
        )

    @trouble("hanging")
    @precondition(lambda self: len(self.ids) < AT_MOST and "card_freeze" in self.kinds)
    @rule()
    def a_freeze_among_calls_that_hang(self) -> None:
        """A freeze goes out at once, though everything else that was approved before it hangs."""
        self.do(self._untroubled())  # so that nothing but those calls stands in its way
        self.do(self._freeze_among_hanging())

    async def _freeze_among_hanging(self) -> None:
        world, engine = self.world, Embedded(sweep_every_s=0.02)
        self.line.hangs = asyncio.Event()
        for number in range(HANGING):
            order = await world.ask(
                "card_order", {**NORA, "card_holder_name": f"Hanging {'ABCDEFGHI'[number]}"}
            )
            await world.approve(order)
            self.ids.append(order.id)

        async def due(but_not: Any) -> Any:
            return await execution.due(world.core, but_not)

        running = asyncio.create_task(engine.run(due, lambda id_: execution.execute(world.core, id_)))
        await asyncio.sleep(0.2)
        freeze = await world.ask("card_freeze", {"card": world.cards[0]["id"]}, now=True)
        self.ids.append(freeze.id)

        async def left() -> bool:
            return (await world.request(freeze.id)).state is not State.APPROVED

        await eventually("the freeze left", left, within_s=AT_ONCE_S)
        self.line.hangs.set()
        self.line.hangs = None
        await engine.drain(AT_ONCE_S)
        running.cancel()
        await asyncio.wait({running})

    @rule()
    def housekeeping(self) -> None:
        self.do(requests.expire_due(self.world.core))
        self.do(self._sweep())
        self.do(programs.probe_paused(self.world.core))

    async def _sweep(self) -> None:
        await ledger_rules.compare(self.world.core, "main")
        await maintenance.sweep_late_landings(self.world.core)
        self.promises.late.clear()

    # What must hold

    @invariant()
    def every_promise_holds(self) -> None:
        self.do(self.promises.check())

    def teardown(self) -> None:
        try:
            if self.to_the_end:
                self.do(self._calm())
                self.do(self.promises.check())
                self.do(self.promises.check_the_end())
        finally:
            self.do(self.stack.aclose())
            self.runner.close()

    def _pick(self, which: int) -> Request | None:
        return self.do(self.world.request(self.ids[which % len(self.ids)])) if self.ids else None

    async def _untroubled(self) -> None:
        """Faults stop, people are back, the key may do everything, nobody has paused anything."""
        await self.world.control.delete("/_control/faults")
        self.world.people.broken = False
        for person in (BOB, CAROL):
            self.world.people.change(person, deleted=False)
        await self.world.advance(11)  # for how long a look at the people is shared
        self._scopes(ALL_SCOPES)
        await programs.probe_paused(self.world.core)
        with suppress(CountersignError):
            await self._resumed()

    async def _calm(self) -> None:
        """Nothing goes wrong any more, and time runs until everything that can settle has."""
        await self._untroubled()
        until = self.world.clock.now() + timedelta(hours=3)
        while self.world.clock.now() < until:
            await programs.probe_paused(self.world.core)
            await self.world.run_due()
            await requests.expire_due(self.world.core)
            await confirmations.expire_due(self.world.core)
            async with self.world.store.read() as tx:
                waiting = await request_rows.find(tx, states=OPEN)
            due = [r.due_at for r in waiting if r.due_at is not None]
            pause = (min(due) - self.world.clock.now()).total_seconds() if due else 9 * 3600
            await self.world.advance(max(31.0, pause))  # past any lease of a dead process
        await self._sweep()


class TroubledLife(RequestMachine):
    """One that always begins with a top-up gone wrong, and stops without a calm: for hunting bugs."""

    to_the_end = False

    @initialize(fault=st.sampled_from(MONEY_FAULTS))
    def an_approved_request_that_may_meet_trouble(self, fault: dict[str, Any]) -> None:
        self.kinds = THEMES["money"]
        self.ask("card_topup", "50", card=0, now=False, approved=True)
        self.ask("card_topup", "10", card=1, now=False, approved=False)
        self._fault("card_topup", fault, 1)
        self.run()


class Scene(RequestMachine):
    """One with a beginning from which a certain defect is near, without a calm: for hunting it."""

    to_the_end = False


class GivenUp(Scene):
    """A top-up whose calls were all lost, until it was called failed."""

    @initialize()
    def an_approved_request_that_may_meet_trouble(self) -> None:
        self.kinds, self.goes_wrong = THEMES["money"], frozenset({"late", "by hand"})
        self.ask("card_topup", "50", card=0, now=False, approved=True)
        self._fault("card_topup", {"effect": "drop_before_commit"}, 9)
        self.run()
        self.time_passes(3600)
        self.run()
        self.do(self._untroubled())


class LostOrder(Scene):
    """Two orders for the same name: the first was lost, the second made its card."""

    @initialize(seconds=st.sampled_from([60, 3600]))
    def an_approved_request_that_may_meet_trouble(self, seconds: int) -> None:
        self.kinds, self.goes_wrong = THEMES["orders"], frozenset({"late", "people"})
        self._fault("card_order", {"effect": "drop_before_commit"}, 1)
        for _ in range(2):
            self.ask("card_order", "", card=0, now=False, approved=True)
            self.run()
        self.time_passes(seconds)
        self.run()


class WaitingSwitch(Scene):
    """An unfreeze that has to wait."""

    @initialize(where=st.sampled_from(WAITS), what=st.sampled_from(MEANWHILE))
    def an_approved_request_that_may_meet_trouble(self, where: str, what: str) -> None:
        self.kinds, self.goes_wrong = THEMES["switches"], frozenset({"waits"})
        self.ask("card_unfreeze", "", card=0, now=False, approved=True)
        self.the_world_moves_on_while_it_waits(0, where, what)


class BusyDatabase(Scene):
    """A top-up, and a database that is busy now and then."""

    @initialize(amount=st.sampled_from(["10", "50"]))
    def an_approved_request_that_may_meet_trouble(self, amount: str) -> None:
        self.kinds, self.goes_wrong = THEMES["money"], frozenset({"database"})
        self.ask("card_topup", amount, card=0, now=False, approved=True)
        self.the_database_is_away_while_it_is_called(0)


class Emergency(Scene):
    """Calls that hang when somebody freezes a card."""

    @initialize(waiting=st.booleans())
    def an_approved_request_that_may_meet_trouble(self, waiting: bool) -> None:
        self.kinds, self.goes_wrong = THEMES["switches"], frozenset({"hanging"})
        if waiting:
            self.ask("card_unfreeze", "", card=0, now=False, approved=True)
        self.a_freeze_among_calls_that_hang()
