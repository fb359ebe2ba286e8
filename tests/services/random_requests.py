"""A random life of top-ups in a small world: faults, crashes, stalls, time, people; and what must hold after each step.

The invariants are those of the written trust model: I-1 to I-7, I-18 and I-22.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable, Coroutine
from contextlib import AsyncExitStack, suppress
from dataclasses import replace
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from bot.domain.errors import CountersignError
from bot.domain.requests import OPEN, SENT, TRANSITIONS, DecisionKind, Request, State
from bot.partner.client import PartnerClient
from bot.partner.errors import PartnerError
from bot.partner.ratelimit import Lane, Place, RateLimiter
from bot.services import execution, requests
from bot.services.execution import maintenance
from bot.services.operators import programs
from bot.services.requests import approvals
from bot.services.requests.signatures import is_genuine
from sandbox.partner.calls import idempotency
from storage import audit
from storage.requests import decisions
from storage.requests import requests as request_rows
from tests.services.outcome_steps import net_of, open_alerts, top_ups
from tests.support.world import ALICE, BOB, CAROL, Died, World, a_world

T = TypeVar("T")
TOPUP = "POST /cards/{cardId}/topup"
FAULTS: tuple[dict[str, Any], ...] = (
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
    {"effect": "status", "status": 500, "code": "UNAVAILABLE"},
    {"effect": "status", "status": 429, "code": "RATE_LIMITED"},
    {"effect": "status", "status": 401, "code": "UNAUTHORIZED"},
)
# After these nobody knows what became of the money.
MONEY_FAULTS: tuple[dict[str, Any], ...] = (
    {"effect": "processor", "processor": "5xx"},
    {"effect": "drop_after_commit"},
    {"effect": "drop_midway"},
    {"effect": "drop_before_commit"},
)
CRASH_POINTS = ("execution.before_claim", "execution.claimed", "execution.answered", "execution.finishing")
# A request outlives its client by no more than the client's longest timeout.
ZOMBIE_FOR = timedelta(seconds=75)


class Unlimited(RateLimiter):
    """Nothing here is about the rate limit, and the clock stands still for long."""

    def block(self, seconds: float, lane: Lane | None = None) -> None:
        """A 429 came: go on all the same."""


class Stalling:
    """The Partner client, but a top-up may come back only after everybody has given the worker up."""

    def __init__(self, client: PartnerClient) -> None:
        self._client = self._at_its_place = client
        self.meanwhile: Callable[[], Coroutine[Any, Any, None]] | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)

    def at(self, place: Place) -> Stalling:
        self._at_its_place = self._client.at(place)
        return self

    async def top_up(self, *args: Any, **kwargs: Any) -> Any:
        meanwhile, self.meanwhile = self.meanwhile, None
        try:
            return await self._at_its_place.top_up(*args, **kwargs)
        finally:
            if meanwhile is not None:
                await meanwhile()


class RequestMachine(RuleBasedStateMachine):
    """One example: a fresh database and simulator, up to three requests, and whatever may happen to them."""

    to_the_end: ClassVar[bool] = True

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.stack = AsyncExitStack()
        folder = self.stack.enter_context(tempfile.TemporaryDirectory())
        self.world: World = self.do(self.stack.enter_async_context(a_world(Path(folder))))
        self.do(self._widen_the_rate())
        self.ids: list[str] = []
        self.seen: dict[str, Request] = {}
        self.first_sends: set[str] = set()
        self.restarts = 0
        self.resumed = True

    def do(self, work: Coroutine[Any, Any, T]) -> T:
        return self.runner.run(work)

    async def _widen_the_rate(self) -> None:
        key = (await self.world.tell("keys", {"rate_limit_per_minute": 10**6}))["key"]
        limiter = Unlimited(self.world.clock, per_minute=10**6)
        client = PartnerClient(self.world.simulator.base_url, key, limiter=limiter, clock=self.world.clock)
        self.stack.push_async_callback(client.aclose)
        self.partner = Stalling(client)
        partners: Any = {"main": self.partner}
        self.world.rebuild(partners=partners)

    # What people do

    @initialize(
        amount=st.sampled_from(["10", "50"]), fault=st.sampled_from(({}, *FAULTS)), at_once=st.booleans()
    )
    def an_approved_request_that_may_meet_trouble(
        self, amount: str, fault: dict[str, Any], at_once: bool
    ) -> None:
        self.ask(amount, 0)
        self.approve(0, BOB, stale=False)
        if fault:
            self.fault(fault, 1)
        if at_once:
            self.run()

    @precondition(lambda self: len(self.ids) < 3)
    @rule(amount=st.sampled_from(["10", "50", "501"]), card=st.integers(0, 1))
    def ask(self, amount: str, card: int) -> None:
        texts = {"card": self.world.cards[card]["id"], "amount_usd": amount}
        with suppress(CountersignError, PartnerError):
            self.ids.append(self.do(self.world.ask("card_topup", texts)).id)

    @rule(which=st.integers(0, 2), by=st.sampled_from([ALICE, BOB, CAROL]), stale=st.booleans())
    def approve(self, which: int, by: str, stale: bool) -> None:
        request = self._pick(which)
        if request is not None:
            digest = "0" * 64 if stale else request.digest
            with suppress(CountersignError):
                self.do(approvals.approve(self.world.core, request.id, by, shown_digest=digest))

    @rule(which=st.integers(0, 2), by=st.sampled_from([ALICE, BOB]))
    def withdraw(self, which: int, by: str) -> None:
        request = self._pick(which)
        if request is not None:
            with suppress(CountersignError):
                if by == ALICE:
                    self.do(requests.cancel(self.world.core, request.id, by))
                else:
                    self.do(approvals.reject(self.world.core, request.id, by, reason="not now"))

    @rule(who=st.sampled_from([BOB, CAROL]), deleted=st.booleans())
    def deactivate(self, who: str, deleted: bool) -> None:
        self.world.people.change(who, deleted=deleted)

    @rule(broken=st.booleans())
    def slack_lookups_fail(self, broken: bool) -> None:
        self.world.people.broken = broken

    # What the world does

    @rule(fault=st.sampled_from(FAULTS), times=st.integers(1, 2))
    def fault(self, fault: dict[str, Any], times: int) -> None:
        self.do(self.world.tell("faults", {"operation": TOPUP, **fault, "times": times}))

    @rule(seconds=st.sampled_from([1, 5, 15, 31, 60, 120, 600, 3600]))
    def time_passes(self, seconds: int) -> None:
        self.do(self.world.advance(seconds))

    @rule(which=st.integers(0, 2))
    def a_lost_request_arrives_late(self, which: int) -> None:
        """What our client gave up is still on its way for a while."""
        request = self._pick(which)
        if request is None:
            return
        lost = [c for c in top_ups(self.world) if c["idempotency_key"] == request.key and c["status"] is None]
        if lost and self.world.clock.now() - datetime.fromisoformat(lost[-1]["at"]) < ZOMBIE_FOR:
            body = f'{{"amount_usd":{request.terms["amount_usd"]}}}'.encode()
            with suppress(PartnerError):
                self.do(self.partner._client.top_up(request.subject, body, key=request.key))

    @rule(which=st.integers(0, 2), verdict=st.sampled_from(["credited", "refunded"]))
    def support_settles(self, which: int, verdict: str) -> None:
        request = self._pick(which)
        if request is not None and self._at_the_service(request) in ("in_flight", "unresolved"):
            self.do(self.world.tell(f"topups/{request.key}/resolve", {"as": verdict}))

    # What we do

    @rule()
    def run(self) -> None:
        self.do(self._run())

    @rule()
    def run_in_time(self) -> None:
        """Each request at the moment it is due, as a process does that is left alone."""
        for request_id in self.ids:
            request = self.do(self.world.request(request_id))
            if request.due_at is not None and request.state in OPEN:
                pause = (request.due_at - self.world.clock.now()).total_seconds()
                self.do(self.world.advance(max(0.0, pause)))
                self.do(self._run())

    @rule(point=st.sampled_from(CRASH_POINTS))
    def die_at(self, point: str) -> None:
        def kill(reached: str) -> None:
            if reached == point:
                raise Died

        whole = self.world.core
        self.world.rebuild(crash_point=kill)
        with suppress(Died):
            self.do(self._run())
        self.restarts += 1
        self.world.rebuild(crash_point=whole.crash_point, owner=f"process-{self.restarts}")

    @rule(which=st.integers(0, 2), both_lost=st.booleans())
    def stall_past_the_lease(self, which: int, both_lost: bool) -> None:
        """I-18: what a worker brings back after its lease is over changes nothing."""
        request = self._pick(which)
        if request is None:
            return
        left: list[Request] = []
        if both_lost:
            self.fault({"effect": "drop_before_commit"}, 2)

        async def meanwhile() -> None:
            await self.world.advance(self.world.core.lease_s + 1)
            await execution.execute(replace(self.world.core, owner="other"), request.id)
            left.append(await self.world.request(request.id))

        self.partner.meanwhile = meanwhile
        self.do(execution.execute(self.world.core, request.id))
        self.partner.meanwhile = None
        if left and left[0].fence > request.fence + 1:
            assert self.do(self.world.request(request.id)) == left[0], "a worker without its lease wrote"

    @rule()
    def housekeeping(self) -> None:
        self.do(requests.expire_due(self.world.core))
        self.do(maintenance.sweep_late_landings(self.world.core))
        self.do(programs.probe_paused(self.world.core))

    # What must hold

    @invariant()
    def every_promise_holds(self) -> None:
        self.do(self._check())

    def teardown(self) -> None:
        try:
            if self.to_the_end:
                self.do(self._calm())
                self.do(self._check())
                self.do(self._check_the_end())
        finally:
            self.do(self.stack.aclose())
            self.runner.close()

    def _pick(self, which: int) -> Request | None:
        return self.do(self.world.request(self.ids[which])) if which < len(self.ids) else None

    def _at_the_service(self, request: Request) -> str | None:
        keyed = idempotency.unsettled(self.world.simulator.world, "topup", request.key)
        return None if keyed is None else keyed.state

    async def _run(self) -> None:
        await self.world.run_due()

    async def _check(self) -> None:
        keys = set()
        for request_id in self.ids:
            request = await self.world.request(request_id)
            keys.add(request.key)
            self._moved_as_designed(request)
            await self._sent_as_approved(request)
            await self._claims_are_true(request)
            self.seen[request.id] = request
        strangers = {c["idempotency_key"] for c in top_ups(self.world)} - keys
        assert not strangers, "I-1: a key that belongs to no request"

    def _moved_as_designed(self, request: Request) -> None:
        before = self.seen.get(request.id)
        if before is None:
            return
        assert request.version >= before.version
        assert request.key == before.key
        reached, edge = {before.state}, {before.state}
        while edge:
            edge = {to for state in edge for to in TRANSITIONS[state].values()} - reached
            reached |= edge
        assert request.state in reached, f"I-5: {before.state} became {request.state}"

    async def _sent_as_approved(self, request: Request) -> None:
        calls = [c for c in top_ups(self.world) if c["idempotency_key"] == request.key]
        if not calls:
            return
        assert request.state in SENT, f"I-2: sent, and {request.state}"
        wanted_usd = Decimal(request.terms["amount_usd"])
        assert all(Decimal(str(c["body"]["amount_usd"])) == wanted_usd for c in calls)
        assert all(request.subject in c["path"] for c in calls)
        async with self.world.store.read() as tx:
            given = [d for d in await decisions.of(tx, request.id) if is_genuine(tx.vault, d)]
        able = {d.actor for d in given if d.kind is DecisionKind.APPROVE} - {ALICE}
        assert len(able) >= (2 if request.exposure_usd > 500 else 1), "I-3: sent without its approvals"
        if request.id not in self.first_sends:
            self.first_sends.add(request.id)
            assert not self.world.people.broken, "I-22: sent although nobody could be looked up"
            gone = [a for a in able if self.world.people.actors[a].deleted]
            assert not gone, "I-4: sent after an approver was deactivated"
            assert request.valid_until is not None
            assert datetime.fromisoformat(calls[0]["at"]) <= request.valid_until, "I-4: sent too late"

    async def _claims_are_true(self, request: Request) -> None:
        debits = self.world.simulator.world.store.number(
            "SELECT count(*) FROM ledger WHERE kind = 'card_topup' AND reference = ?", f"topup:{request.key}"
        )
        assert debits <= 1, "I-1: debited twice"
        net_usd = net_of(self.world, request.key)
        if request.state is State.FAILED:
            assert net_usd == 0, "I-7: called failed although money moved"
        elif request.state is State.SUCCEEDED:
            assert net_usd == -request.exposure_usd, "I-7: called succeeded although nothing moved"
            assert self._at_the_service(request) == "done", "I-7: called succeeded, and the card has nothing"
        elif request.state is State.UNRESOLVED:
            about = {alert.subject for alert in await open_alerts(self.world)}
            assert request.id in about, "unresolved without an alert"
        elif request.state not in SENT:
            assert net_usd == 0

    async def _calm(self) -> None:
        """Faults stop, people are back, and time runs until everything that can settle has."""
        await self.world.control.delete("/_control/faults")
        self.world.people.broken = False
        for person in (BOB, CAROL):
            self.world.people.change(person, deleted=False)
        until = self.world.clock.now() + timedelta(hours=3)
        while self.world.clock.now() < until:
            await programs.probe_paused(self.world.core)
            await self._run()
            await requests.expire_due(self.world.core)
            async with self.world.store.read() as tx:
                waiting = await request_rows.find(tx, states=OPEN)
            due = [r.due_at for r in waiting if r.due_at is not None]
            pause = (min(due) - self.world.clock.now()).total_seconds() if due else 9 * 3600
            await self.world.advance(max(31.0, pause))  # past any lease of a dead process
        await maintenance.sweep_late_landings(self.world.core)

    async def _check_the_end(self) -> None:
        for request_id in self.ids:
            request = await self.world.request(request_id)
            assert request.state not in (State.APPROVED, State.EXECUTING), f"I-6: still {request.state}"
            if request.state is State.UNRESOLVED:
                held = self._at_the_service(request)
                assert held in ("in_flight", "unresolved"), f"I-23: unresolved, and the service says {held}"
        async with self.world.store.read() as tx:
            report = await audit.verify(tx)
        assert report.ok, "I-17: the audit chain is broken"


class TroubledLife(RequestMachine):
    """One that always begins with an attempt gone wrong, and stops without a calm: for hunting bugs."""

    to_the_end = False

    @initialize(amount=st.just("50"), fault=st.sampled_from(MONEY_FAULTS), at_once=st.just(True))
    def an_approved_request_that_may_meet_trouble(
        self, amount: str, fault: dict[str, Any], at_once: bool
    ) -> None:
        self.ask(amount, 0)
        self.ask("10", 1)
        self.approve(0, BOB, stale=False)
        self.fault(fault, 1)
        self.run()
