"""Bugs in what became of a request: a wrong word about money, or none."""

from __future__ import annotations

from contextlib import ExitStack
from contextvars import ContextVar
from dataclasses import replace
from datetime import timedelta
from typing import Any

from bot.operations import Operation, Others, kinds
from bot.outcomes import Evidence, planning
from bot.services.execution import api_call, evidence, maintenance
from storage.requests import requests
from tests.simulation.planted.bug import Acts, Bug, put

_SWEEPS: ContextVar[bool] = ContextVar("sweeps", default=False)


def _refusal_ends_a_doubt(stack: ExitStack, acts: Acts) -> None:
    honest = Operation.judge

    def judge(self: Operation, error: Any, *, outcome_unknown: bool) -> Any:
        return honest(self, error, outcome_unknown=outcome_unknown and not acts())

    put(stack, Operation, "judge", judge)


def _no_late_landings(stack: ExitStack, acts: Acts) -> None:
    honest = maintenance._look_again

    async def look_again(core: Any, request: Any) -> None:
        if not acts():
            await honest(core, request)

    put(stack, maintenance, "_look_again", look_again)


def _given_up_at_once(stack: ExitStack, acts: Acts) -> None:
    """What the ledger does not show yet counts as never executed."""
    honest = planning.History.is_quiet

    def is_quiet(self: planning.History, now: Any) -> bool:
        return honest(self, now) or (now - (self.last_doubt_at or now) >= timedelta(0) and acts())

    put(stack, planning.History, "is_quiet", is_quiet)


def _a_debit_is_a_success(stack: ExitStack, acts: Acts) -> None:
    """The sweep for late landings takes a debit for the proof of the credit."""
    honest = maintenance._completed_late

    async def completed_late(tx: Any, core: Any, request: Any, look: Any) -> None:
        if look.evidence is Evidence.DEBITED and acts():
            look = replace(look, evidence=Evidence.DONE)
        await honest(tx, core, request, look)

    put(stack, maintenance, "_completed_late", completed_late)


def _anothers_effect(stack: ExitStack, acts: Acts, *, in_sweep: bool) -> None:
    honest, honest_sweep = evidence._others, maintenance._look_again

    async def look_again(core: Any, request: Any) -> None:
        token = _SWEEPS.set(True)
        try:
            await honest_sweep(core, request)
        finally:
            _SWEEPS.reset(token)

    async def others(core: Any, request: Any, operation: Any) -> Others:
        found = await honest(core, request, operation)
        known = bool(found.taken or found.rivals)
        return Others() if known and _SWEEPS.get() is in_sweep and acts() else found

    put(stack, maintenance, "_look_again", look_again)
    put(stack, evidence, "_others", others)


def _the_sweep_takes_anothers_effect(stack: ExitStack, acts: Acts) -> None:
    """A request that failed gets the effect of the one that replaced it."""
    _anothers_effect(stack, acts, in_sweep=True)


def _a_look_takes_anothers_effect(stack: ExitStack, acts: Acts) -> None:
    """A card, a submission or a quote that another request made counts as one's own."""
    _anothers_effect(stack, acts, in_sweep=False)


def _half_closed_is_nothing(stack: ExitStack, acts: Acts) -> None:
    """A card that is not closed proves that nothing moved."""
    kind: Any = kinds()["card_close"]
    honest = kind.look

    async def look(self: Any, partner: Any, sought: Any) -> Any:
        found = await honest(self, partner, sought)
        if found.evidence in (Evidence.HALF_DONE, Evidence.UNPROVEN) and acts():
            return replace(found, evidence=Evidence.ABSENT)
        return found

    put(stack, kind, "look", look)


def _lost_renewal_loses_the_answer(stack: ExitStack, acts: Acts) -> None:
    """The first renewal of a lease that fails ends the call that it was kept for."""
    honest_renew, honest_answer = requests.renew, api_call.answer_of
    begun, failed = set[str](), set[str]()

    async def renew(tx: Any, request_id: str, **more: Any) -> bool:
        if request_id in begun:
            failed.add(request_id)  # the one before was not committed
        begun.add(request_id)
        held: bool = await honest_renew(tx, request_id, **more)
        tx.after_commit(lambda: begun.discard(request_id))
        return held

    async def answer_of(core: Any, claim: Any, partner: Any) -> Any:
        begun.discard(claim.request.id)
        failed.discard(claim.request.id)
        answered = await honest_answer(core, claim, partner)
        if claim.request.id in begun | failed and acts():
            raise OSError("simulated: the renewal of the lease failed")
        return answered

    put(stack, requests, "renew", renew)
    put(stack, api_call, "answer_of", answer_of)


BUGS = (
    Bug("a refusal ends a doubt", ("I-7 true", "a doubt ends by proof"), _refusal_ends_a_doubt),
    Bug("no sweep for requests completed late", ("I-7 true",), _no_late_landings),
    Bug("given up at once", ("I-7 true", "a doubt ends by proof"), _given_up_at_once),
    Bug(
        "a late debit counts as a success",
        ("I-7 true", "two people decided"),
        _a_debit_is_a_success,
        "D1",
    ),
    Bug(
        "the sweep takes another request's effect",
        ("I-7 true", "own effect", "every alert ends"),
        _the_sweep_takes_anothers_effect,
        "D2",
    ),
    Bug(
        "a look takes another request's effect",
        ("I-7 true", "own effect"),
        _a_look_takes_anothers_effect,
        "D3",
    ),
    Bug("a half-done close is nothing", ("I-7 true",), _half_closed_is_nothing, "D7"),
    Bug("a failed renewal loses the answer", ("an answer is kept",), _lost_renewal_loses_the_answer, "D15"),
)
