"""Bugs in who decides, and in how long that counts."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import asdict
from typing import Any

from bot.domain.errors import AlreadyDecided, CountersignError, OwnRequest
from bot.domain.people import KindPolicy
from bot.domain.requests import approvals as rules
from bot.outcomes import planning
from bot.services.execution import presend_checks
from bot.services.requests import approvals
from storage import database
from storage import tables as t
from storage.requests import decisions
from storage.upsert import insert_new
from tests.simulation import inline_sqlite
from tests.simulation.planted.bug import Acts, Bug, put


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
    put(stack, presend_checks, "why_not_second", why_not_second)
    put(stack, decisions, "insert", insert)
    put(stack, inline_sqlite, "set_pragmas", set_pragmas)


def _one_approval_is_enough(stack: ExitStack, acts: Acts) -> None:
    honest = KindPolicy.approvals_needed

    def approvals_needed(self: KindPolicy, usd: Any) -> int:
        needed = honest(self, usd)
        return 1 if needed > 1 and acts() else needed

    put(stack, KindPolicy, "approvals_needed", approvals_needed)


def _approvals_last_for_ever(stack: ExitStack, acts: Acts) -> None:
    honest = planning.approval_is_valid
    put(stack, planning, "approval_is_valid", lambda request, now: honest(request, now) or acts())


def _gone_approvers_count(stack: ExitStack, acts: Acts) -> None:
    honest = presend_checks._approvers_stand

    async def stand(*given: Any) -> Any:
        found = await honest(*given)
        return None if found is not None and acts() else found

    put(stack, presend_checks, "_approvers_stand", stand)


def _look_ups_fail_open(stack: ExitStack, acts: Acts) -> None:
    """Where Slack cannot say who approved, they are taken for who they were."""
    honest = presend_checks._approvers_stand

    async def stand(*given: Any) -> Any:
        try:
            return await honest(*given)
        except Exception:
            if not acts():
                raise
            return None

    put(stack, presend_checks, "_approvers_stand", stand)


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
    Bug("approvals last for ever", ("I-4 validity",), _approvals_last_for_ever),
    Bug("approvers who left still count", ("I-4 approvers",), _gone_approvers_count),
    Bug("look-ups fail open", ("I-22 fail closed",), _look_ups_fail_open),
    Bug("limits are not counted", ("I-11 limits",), _limits_not_counted),
)
