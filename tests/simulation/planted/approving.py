"""Bugs in who decides, and in how long that counts."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import asdict
from typing import Any

from sqlalchemy import select

from bot.domain.errors import AlreadyDecided, CountersignError, LookupFailed, OwnRequest
from bot.domain.people import KindPolicy
from bot.domain.requests import State
from bot.domain.requests import approvals as rules
from bot.outcomes import planning
from bot.services import people
from bot.services.execution import presend_checks
from bot.services.requests import approvals, lifecycle
from storage import database
from storage import tables as t
from storage.requests import decisions, requests
from storage.upsert import insert_new
from tests.simulation import inline_sqlite
from tests.simulation.planted.bug import Acts, Bug, peek, put


def _requester_approves(stack: ExitStack, acts: Acts) -> None:
    """Nowhere is it asked whether it is one's own request: not by the rules, not by the database."""
    honest, honest_insert = rules.why_not_second, decisions.insert

    def why_not_second(actor: str, *, asked_by: str, **more: Any) -> Any:
        own = actor == asked_by and acts()
        return honest(actor, asked_by="nobody" if own else asked_by, **more)

    async def insert(tx: Any, decision: Any) -> None:
        try:
            await honest_insert(tx, decision)
        except OwnRequest:
            if not acts():
                raise
            if not await insert_new(tx, t.decision, asdict(decision)):
                raise AlreadyDecided("Your decision is in already.") from None

    def set_pragmas(dbapi: Any, **more: Any) -> None:
        database.set_pragmas(dbapi, **more)
        dbapi.execute("PRAGMA ignore_check_constraints = ON")

    put(stack, rules, "why_not_second", why_not_second)
    put(stack, decisions, "insert", insert)
    put(stack, inline_sqlite, "set_pragmas", set_pragmas)


def _one_approval_is_enough(stack: ExitStack, acts: Acts) -> None:
    honest = KindPolicy.approvals_needed

    def approvals_needed(self: KindPolicy, *given: Any) -> int:
        needed = honest(self, *given)
        return 1 if needed > 1 and acts() else needed

    put(stack, KindPolicy, "approvals_needed", approvals_needed)


def _approvals_last_for_ever(stack: ExitStack, acts: Acts) -> None:
    """Nowhere is it asked whether an approval is still valid: not by a timer, the last look, or the claim."""
    honest, honest_claim, honest_expire = planning.approval_is_valid, requests.claim, lifecycle._expire_in

    async def claim(tx: Any, request_id: str, **more: Any) -> Any:
        lapsed = (
            t.request.c.id == request_id,
            t.request.c.state == State.APPROVED,
            t.request.c.valid_until <= tx.now,
        )
        if more.get("may_expire", True) and peek(tx, select(t.request.c.id).where(*lapsed)) and acts():
            more["may_expire"] = False
        return await honest_claim(tx, request_id, **more)

    async def expire_in(tx: Any, core: Any, request: Any) -> bool:
        return False if request.state is State.APPROVED and acts() else await honest_expire(tx, core, request)

    put(stack, planning, "approval_is_valid", lambda request, now: honest(request, now) or acts())
    put(stack, requests, "claim", claim)
    put(stack, lifecycle, "_expire_in", expire_in)


def _gone_approvers_count(stack: ExitStack, acts: Acts) -> None:
    honest = presend_checks._approvers_stand

    async def stand(*given: Any) -> Any:
        found = await honest(*given)
        return None if found is not None and acts() else found

    put(stack, presend_checks, "_approvers_stand", stand)


def _look_ups_fail_open(stack: ExitStack, acts: Acts) -> None:
    """Where Slack cannot say who approved, they are taken for who they were."""
    honest = presend_checks._approvers_stand

    honest_since, away = people.seen_to_send_since, set[str]()

    async def stand(core: Any, request: Any, *more: Any) -> Any:
        away.discard(request.id)
        try:
            return await honest(core, request, *more)
        except LookupFailed:
            if not acts():
                raise
            away.add(request.id)
            return None

    def since(*given: Any) -> Any:
        return None if away else honest_since(*given)

    put(stack, presend_checks, "_approvers_stand", stand)
    put(stack, people, "seen_to_send_since", since)


def _limits_not_counted(stack: ExitStack, acts: Acts) -> None:
    honest = approvals._within_limits

    async def within_limits(*given: Any, **more: Any) -> Any:
        try:
            return await honest(*given, **more)
        except CountersignError:
            if not acts():
                raise

    put(stack, approvals, "_within_limits", within_limits)


BUGS = (
    Bug("the requester approves", ("I-3 approvals",), _requester_approves),
    Bug("one approval is enough", ("I-3 needed", "I-3 approvals"), _one_approval_is_enough),
    Bug("approvals never expire", ("I-4 validity",), _approvals_last_for_ever),
    Bug("approvers who left still count", ("I-4 approvers",), _gone_approvers_count),
    Bug("look-ups fail open", ("I-22 fail closed",), _look_ups_fail_open),
    Bug("limits are not counted", ("I-11 limits",), _limits_not_counted),
)
