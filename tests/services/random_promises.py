"""What must hold in a random life: after each step, at each call that leaves, and at the end.

The invariants are those of the written trust model: I-1 to I-7, I-17, I-18, I-22 and I-23. Those without a number say
what they hold.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import httpx

from bot.domain.alerts import catalogue
from bot.domain.requests import SENT, TRANSITIONS, DecisionKind, Request, State
from sandbox.partner.calls import idempotency
from sandbox.partner.cards import cards
from storage import audit
from storage.operators import pauses
from storage.requests import decisions
from storage.requests import requests as request_rows
from tests.services.outcome_steps import net_of, open_alerts, top_ups
from tests.support.world import ALICE, World

SWITCHES = ("card_freeze", "card_unfreeze")
_KEYED = {"card_topup": "topup", "card_order": "create"}
_IN_FORCE = (State.APPROVED, State.EXECUTING, State.UNRESOLVED, State.SUCCEEDED)
# Alerts that only a person ends.
_NEVER_END = {name for name, kind in catalogue.CATALOGUE.items() if kind.ends.startswith("never")}


class Promises:
    """What was seen of the requests so far, and what is broken of what is promised about them."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.ids: list[str] = []
        self.late: set[str] = set()  # arrived after they were called failed, and no sweep has come by since
        self.by_hand: dict[str, State] = {}  # what two people said
        self.broken: list[str] = []
        self._seen: dict[str, Request] = {}
        self._first_sends: set[str] = set()

    # At each call that leaves

    async def departs(self, call: httpx.Request) -> None:
        """What was committed before now has been seen by what leaves now."""
        async with self.world.store.read() as tx:
            if await pauses.of(tx, "main") is not None:
                self.broken.append(f"left although sending is paused: {call.method} {call.url.path}")
            found = await request_rows.find(tx, states=list(State), limit=100)
        key = call.headers.get("Idempotency-Key")
        for request in found:
            if key == request.key and request.first_sent_at is not None:
                await self._is_valid(request)
        if call.url.path.endswith("/freeze"):
            card_id = call.url.path.split("/")[-2]
            self._is_the_newest(call, [r for r in found if r.subject == card_id and r.kind in SWITCHES])

    async def _is_valid(self, request: Request) -> None:
        attempts = await self.world.attempts(request.id)
        now, valid_until = self.world.clock.now(), request.valid_until
        if len(attempts) == 1 and valid_until is not None and now >= valid_until:
            self.broken.append(f"I-4: {request.id} left after its approval had lapsed")

    def _is_the_newest(self, call: httpx.Request, switches: list[Request]) -> None:
        in_force = [r for r in switches if r.state in _IN_FORCE and r.approved_at is not None]
        newest = max(in_force, key=lambda r: (r.approved_at, r.created_at), default=None)
        freezes = b"true" in call.content
        if newest is not None and (newest.kind == "card_freeze") != freezes:
            self.broken.append(f"an older switch left after {newest.id} ({newest.kind}), which is newer")

    # After each step

    async def check(self) -> None:
        assert not self.broken, self.broken
        async with self.world.store.read() as tx:
            found = [await request_rows.get(tx, request_id) for request_id in self.ids]
        now = [request for request in found if request is not None]
        for request in now:
            before = self._seen.get(request.id)
            if before is None or before.version != request.version:
                self._moved_as_designed(request)
                await self._sent_as_approved(request)
                if request.state is State.UNRESOLVED:
                    about = {alert.subject for alert in await open_alerts(self.world)}
                    assert request.id in about, "unresolved without an alert"
            self._claims_are_true(request)
            self._seen[request.id] = request
        strangers = {c["idempotency_key"] for c in top_ups(self.world)} - {r.key for r in now}
        assert not strangers, "I-1: a key that belongs to no request"
        self._nothing_is_counted_twice(now)

    def _moved_as_designed(self, request: Request) -> None:
        before = self._seen.get(request.id)
        if before is None:
            return
        assert request.version >= before.version
        assert request.key == before.key
        reached, edge = {before.state}, {before.state}
        while edge:
            edge = {to for state in edge for to in TRANSITIONS[state].values()} - reached
            reached |= edge
        assert request.state in reached, f"I-5: {before.state} became {request.state}"
        said = self.by_hand.get(request.id)
        assert said in (None, request.state), f"two people said {said}, and it became {request.state}"

    async def _sent_as_approved(self, request: Request) -> None:
        sent = [a for a in await self.world.attempts(request.id) if a.purpose != "look"]
        if not sent:
            assert request.state not in (State.SUCCEEDED, State.UNRESOLVED), (
                f"never sent, and {request.state}"
            )
            return
        assert request.state in SENT, f"I-2: sent, and {request.state}"
        if request.kind == "card_topup":
            self._body_is_as_approved(request)
        async with self.world.store.read() as tx:
            given = [d for d in await decisions.of(tx, request.id) if decisions.is_genuine(tx.vault, d)]
        able = {d.actor for d in given if d.kind is DecisionKind.APPROVE} - {ALICE}
        needed = 0 if request.break_glass else 2 if request.exposure_usd > 500 else 1
        assert len(able) >= needed, "I-3: sent without its approvals"
        if request.id in self._first_sends:
            return
        self._first_sends.add(request.id)
        if not request.break_glass:
            assert not self.world.people.broken, "I-22: sent although nobody could be looked up"
        gone = [a for a in able if self.world.people.actors[a].deleted]
        assert not gone, "I-4: sent after an approver was deactivated"
        assert request.valid_until is not None
        assert sent[0].sent_at <= request.valid_until, "I-4: sent too late"

    def _body_is_as_approved(self, request: Request) -> None:
        calls = [c for c in top_ups(self.world) if c["idempotency_key"] == request.key]
        wanted_usd = Decimal(request.terms["amount_usd"])
        assert all(Decimal(str(c["body"]["amount_usd"])) == wanted_usd for c in calls)
        assert all(request.subject in c["path"] for c in calls)

    def _claims_are_true(self, request: Request) -> None:
        if request.kind in SWITCHES or request.id in self.by_hand:
            return
        done = self.at_the_service(request) == "done"
        moved = net_of(self.world, request.key) if request.kind == "card_topup" else Decimal(done)
        if request.state is State.FAILED:
            assert moved == 0 or request.id in self.late, "I-7: called failed although it moved something"
        elif request.state is State.SUCCEEDED:
            assert moved != 0, "I-7: called succeeded although nothing moved"
            assert done, "I-7: called succeeded, and the card has nothing"
        elif request.state not in SENT:
            assert moved == 0, f"{request.state}, and something moved"

    def _nothing_is_counted_twice(self, requests: list[Request]) -> None:
        outcomes: dict[str, str] = {}
        for request in requests:
            debits = self.world.simulator.world.store.number(
                "SELECT count(*) FROM ledger WHERE kind = 'card_topup' AND reference = ?",
                f"topup:{request.key}",
            )
            assert debits <= 1, "I-1: debited twice"
            if request.kind == "card_order" and request.state is State.SUCCEEDED:
                card_id = (request.outcome or {}).get("card_id", "")
                if card_id:
                    assert outcomes.setdefault(card_id, request.id) == request.id, "one card, two outcomes"
                    assert card_id == self._made_by(request), "the card is another order's"

    def at_the_service(self, request: Request) -> str | None:
        """What the API's side has of its key: in flight, done, refunded, unresolved, or nothing."""
        kind: Any = _KEYED[request.kind]
        keyed = idempotency.unsettled(self.world.simulator.world, kind, request.key)
        return None if keyed is None else keyed.state

    def _made_by(self, request: Request) -> str | None:
        keyed = idempotency.unsettled(self.world.simulator.world, "create", request.key)
        return None if keyed is None or keyed.answer is None else keyed.answer["card"]["id"]

    # At the end

    async def check_the_end(self) -> None:
        named = {alert.subject for alert in await open_alerts(self.world)}
        switched = []
        for request_id in self.ids:
            request = await self.world.request(request_id)
            assert request.state not in (State.APPROVED, State.EXECUTING), f"I-6: still {request.state}"
            if request.state is State.UNRESOLVED:
                held = self.at_the_service(request) if request.kind in _KEYED else None
                stuck = held in ("in_flight", "unresolved") or request.needs_person
                assert stuck, f"I-23: unresolved, and your card provider says {held}"
                assert request.id in named, "it waits for a person, and nobody is told"
            if request.kind in SWITCHES and request.state is State.SUCCEEDED:
                switched.append(request)
        if switched:
            self._card_is_as(max(switched, key=lambda r: (str(r.approved_at), r.created_at)))
        await self._each_alert_ended()
        async with self.world.store.read() as tx:
            report = await audit.verify(tx)
        assert report.ok, "I-17: the audit chain is broken"

    def _card_is_as(self, newest: Request) -> None:
        """Every switch of a life is about one card."""
        card = cards.find(self.world.simulator.world, newest.subject)
        assert card is not None
        wanted = "FROZEN" if newest.kind == "card_freeze" else "ACTIVE"
        assert card.status == wanted, f"{newest.kind} succeeded as the newest, and the card is {card.status}"

    async def _each_alert_ended(self) -> None:
        for alert in await open_alerts(self.world):
            if alert.kind in _NEVER_END:
                continue
            assert alert.subject in self.ids, f"{alert.kind} of {alert.subject} has not ended"
            state = (await self.world.request(alert.subject)).state
            assert state is State.UNRESOLVED, f"{alert.kind}: its request is {state}"
