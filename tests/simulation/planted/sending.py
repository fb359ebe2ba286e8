"""Bugs in what leaves for the API: other bytes, another key, too late."""

from __future__ import annotations

import re
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

from sqlalchemy import update

from bot.domain.requests import Event, State
from bot.partner.client import PartnerClient
from bot.services.execution import presend_checks
from storage import tables as t
from storage.log_record import approval_order
from storage.operators import stops
from storage.requests import attempts, before_sending
from tests.simulation.planted.bug import Acts, Bug, put


def _key_made_anew(stack: ExitStack, acts: Acts) -> None:
    """A repeat takes a new key."""
    honest, known = PartnerClient.top_up, set[str]()

    async def top_up(self: PartnerClient, card_id: str, body: bytes, *, key: str) -> Any:
        again, sent = key in known, key
        known.add(key)
        if again and acts():
            sent = f"{key}-{len(known)}"
            known.add(sent)
        return await honest(self, card_id, body, key=sent)

    put(stack, PartnerClient, "top_up", top_up)


def _bodies_swapped(stack: ExitStack, acts: Acts) -> None:
    """The body of another request goes out under this key."""
    honest, bodies = PartnerClient.top_up, dict[str, bytes]()

    async def top_up(self: PartnerClient, card_id: str, body: bytes, *, key: str) -> Any:
        others = [other for known, other in bodies.items() if known != key and other != body]
        bodies[key] = body
        sent = others[-1] if others and acts() else body
        return await honest(self, card_id, sent, key=key)

    put(stack, PartnerClient, "top_up", top_up)


def _a_cent_more(stack: ExitStack, acts: Acts) -> None:
    honest = PartnerClient.top_up

    async def top_up(self: PartnerClient, card_id: str, body: bytes, *, key: str) -> Any:
        more = re.sub(rb'("amount_usd"\s*:\s*[0-9]+)(\.[0-9]+)?', rb"\1.001", body)
        return await honest(self, card_id, more if acts() else body, key=key)

    put(stack, PartnerClient, "top_up", top_up)


def _another_card(stack: ExitStack, acts: Acts) -> None:
    honest = PartnerClient.top_up

    async def top_up(self: PartnerClient, card_id: str, body: bytes, *, key: str) -> Any:
        return await honest(self, card_id.swapcase() if acts() else card_id, body, key=key)

    put(stack, PartnerClient, "top_up", top_up)


def _attempt_recorded_after(stack: ExitStack, acts: Acts) -> None:
    honest = attempts.start

    async def start(tx: Any, request: Any, purpose: str, **named: Any) -> Any:
        made = await honest(tx, request, purpose, **named)
        if acts():
            await tx.run(update(t.attempt).where(t.attempt.c.id == made.id).values(answered_at=made.sent_at))
        return made

    put(stack, attempts, "start", start)


def _pauses_not_asked_at_the_claim(stack: ExitStack, acts: Acts) -> None:
    honest_hold, honest_of, claiming = stops.hold, before_sending.of, list[Any]()

    async def hold(tx: Any, program: str) -> None:
        await honest_hold(tx, program)
        claiming[:] = [tx]

    async def of(tx: Any, request_id: str, **named: Any) -> Any:
        found = await honest_of(tx, request_id, **named)
        if found is None or tx not in claiming or not found.stopped.by_people or not acts():
            return found
        return replace(found, stopped=replace(found.stopped, by_people=False))

    put(stack, stops, "hold", hold)
    put(stack, before_sending, "of", of)


class _NoPlace:
    """A place in the minute that is taken only once the call is on its way, and waited for there."""

    def use(self) -> bool:
        return False

    def __enter__(self) -> _NoPlace:
        return self

    def __exit__(self, *_error: object) -> None: ...


def _claimed_before_waiting(stack: ExitStack, acts: Acts) -> None:
    """The claim is the last look, and the rate budget is waited for after it."""
    honest = PartnerClient.place

    async def place(self: Any, lane: Any) -> Any:
        waits = self._limiter._wait(self._lane if self._lane is not None else lane) > 0
        return _NoPlace() if waits and acts() else await honest(self, lane)

    put(stack, PartnerClient, "place", place)


def _older_order_first_sent(stack: ExitStack, acts: Acts) -> None:
    """Whether a newer order was given is asked before repeats alone."""
    honest = presend_checks._superseded

    async def superseded(tx: Any, core: Any, request: Any) -> Any:
        newer = await honest(tx, core, request)
        return None if newer is not None and request.state is State.APPROVED and acts() else newer

    put(stack, presend_checks, "_superseded", superseded)


def _the_newest_by_a_clock(stack: ExitStack, acts: Acts) -> None:
    """Which of two was approved last is asked of the clocks of the processes that took the approvals."""
    honest = approval_order.of

    async def of(tx: Any, requests: Any) -> Any:
        order = await honest(tx, requests)
        return lambda one: (0, *order(one)[1:]) if acts() else order(one)

    put(stack, approval_order, "of", of)


def _under_way_cancels_the_next(stack: ExitStack, acts: Acts) -> None:
    """What is under way on the same target ends a further payment, in place of letting it wait."""
    honest = presend_checks._others_on_target

    def others_on_target(*given: Any) -> Any:
        answer = honest(*given)
        stop = presend_checks.Stop(Event.CANCEL, "Another one is under way. Nothing was sent.")
        return stop if answer is not None and acts() else answer

    put(stack, presend_checks, "_others_on_target", others_on_target)


BUGS = (
    Bug("a new idempotency key for each attempt", ("I-1 once", "I-2 approved", "I-7 true"), _key_made_anew),
    Bug("sealed bodies swapped", ("I-24 amount",), _bodies_swapped),
    Bug("a tenth of a cent more", ("I-24 amount",), _a_cent_more),
    Bug("another card", ("I-2 card",), _another_card),
    Bug("attempt recorded after the call", ("I-2 attempt",), _attempt_recorded_after),
    Bug("a pause is not seen at the claim", ("I-4 pause",), _pauses_not_asked_at_the_claim),
    Bug(
        "claimed before the rate budget is waited for",
        ("I-4 pause", "I-4 validity"),
        _claimed_before_waiting,
        "D6",
    ),
    Bug(
        "an older order is sent for the first time",
        ("the newest decision holds",),
        _older_order_first_sent,
        "D5",
    ),
    Bug("the newest by a clock", ("the newest decision holds",), _the_newest_by_a_clock),
    Bug("a call under way counts as a doubt", ("a doubt is a doubt",), _under_way_cancels_the_next, "D16"),
)
