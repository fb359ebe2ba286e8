"""Bugs planted on purpose, to see that random lives find them. Nothing here runs unless it is asked for.

The last six are defects that this bot once had; reviews found them, and these programmes had not.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from typing import Any

import pytest

from bot.domain.alerts import Said, request_alerts
from bot.domain.requests import Reason, Request, State, Verdict, approvals
from bot.operations import Others, card_order
from bot.operations.card_topup import TopUp
from bot.outcomes import Evidence, Finding, Outcome, planning
from bot.partner.answers import Answer, Pair
from bot.partner.calls import Calls
from bot.partner.calls import cards as card_calls
from bot.partner.ratelimit import Lane, Place, RollingBudget
from bot.services import alerts, execution
from bot.services.core import Core
from bot.services.execution import claims, evidence, maintenance, presend_checks
from storage.requests import decisions
from storage.requests import requests as rows
from storage.transaction import Tx

Plant = Callable[[pytest.MonkeyPatch], None]


def a_new_key_on_every_retry(patch: pytest.MonkeyPatch) -> None:
    send = TopUp.send
    tries: Counter[str] = Counter()

    async def again(self: TopUp, partner: Any, key: str, body: bytes) -> Any:
        tries[key] += 1
        return await send(self, partner, key if tries[key] == 1 else f"{key}-{tries[key]}", body)

    patch.setattr(TopUp, "send", again)


def _rewrite(patch: pytest.MonkeyPatch, change: Callable[[Pair, Answer], Answer]) -> None:
    """Let the table say something else of the answers to a top-up."""
    rows = {pair: change(pair, row) for pair, row in card_calls.TOP_UP.rows.items()}
    patch.setattr(card_calls.TOP_UP, "rows", rows)


def a_4xx_is_definite_whatever_came_before(patch: pytest.MonkeyPatch) -> None:
    _rewrite(patch, lambda pair, row: replace(row, after_doubt=row.first))


def a_502_is_a_failure(patch: pytest.MonkeyPatch) -> None:
    failed = (502, "UNAVAILABLE")
    _rewrite(patch, lambda pair, row: replace(row, first=Finding.REFUSED) if pair == failed else row)


def no_fence(patch: pytest.MonkeyPatch) -> None:
    finish = rows.finish

    async def unfenced(tx: Any, request: Any, event: Any, **changes: Any) -> Any:
        now = await rows.get(tx, request.id)
        assert now is not None
        mine = replace(request, fence=now.fence, lease_owner=now.lease_owner)
        return await finish(tx, mine, event, **changes)

    patch.setattr(rows, "finish", unfenced)


def people_may_approve_their_own(patch: pytest.MonkeyPatch) -> None:
    def lax(request: Any, earlier: Any, **said: Any) -> Verdict:
        verdict = approvals.decide(request, earlier, **said)
        return Verdict(Reason.SETTLES, 1) if verdict.reason is Reason.OWN_REQUEST else verdict

    patch.setattr("bot.services.requests.approvals.decide", lax)
    patch.setattr(decisions, "BY_ANOTHER", frozenset())


def an_unresolved_outcome_is_not_alerted(patch: pytest.MonkeyPatch) -> None:
    raise_ = alerts.raise_

    async def quiet(tx: Tx, core: Core, said: Said, **more: Any) -> None:
        if said.kind is not request_alerts.UNRESOLVED:
            await raise_(tx, core, said, **more)

    patch.setattr(alerts, "raise_", quiet)


def approvers_are_not_looked_up_again(patch: pytest.MonkeyPatch) -> None:
    async def stand(*_: Any) -> None:
        return None

    patch.setattr(presend_checks, "_approvers_stand", stand)


def a_debit_is_a_success(patch: pytest.MonkeyPatch) -> None:
    settle = planning.settle

    def hasty(evidence: Evidence, text: str, **more: Any) -> Outcome:
        seen = Evidence.DONE if evidence is Evidence.DEBITED else evidence
        return settle(seen, text, **more)

    patch.setattr(planning, "settle", hasty)


def a_debit_that_completed_late_is_a_success(patch: pytest.MonkeyPatch) -> None:
    """A debit proves no credit, and what two people said stands; the sweep knew neither."""
    completed = maintenance._completed_late

    async def hasty(tx: Tx, core: Core, request: Request, look: Any) -> None:
        done = replace(look, evidence=Evidence.DONE) if look.evidence is Evidence.DEBITED else look
        await completed(tx, core, request, done)

    async def nobody(*_: Any) -> None:
        return None

    patch.setattr(maintenance, "_completed_late", hasty)
    patch.setattr(maintenance, "resolved_as", nobody)


def any_card_of_the_name_proves_an_order(patch: pytest.MonkeyPatch) -> None:
    async def none(*_: Any) -> Others:
        return Others({}, ())

    async def no_claims(*_: Any) -> dict[str, Any]:
        return {}

    patch.setattr(evidence, "_others", none)
    patch.setattr(card_order, "_claims", no_claims)


def a_first_send_asks_for_nothing_newer(patch: pytest.MonkeyPatch) -> None:
    superseded = presend_checks._superseded

    async def repeats_only(tx: Tx, core: Core, request: Request) -> presend_checks.Answer:
        return None if request.state is State.APPROVED else await superseded(tx, core, request)

    patch.setattr(presend_checks, "_superseded", repeats_only)


def the_budget_is_waited_for_after_the_claim(patch: pytest.MonkeyPatch) -> None:
    async def at_once(self: Calls, lane: Lane) -> Place:
        return Place(self._clock, RollingBudget())

    patch.setattr(Calls, "place", at_once)
    patch.setattr(Calls, "at", lambda self, _: self)


def a_freeze_stands_in_the_same_queue(patch: pytest.MonkeyPatch) -> None:
    due = execution.due

    async def one_queue(core: Core, but_not: Any = ()) -> list[execution.Queue]:
        found = await due(core, but_not)
        ids = [request_id for queue in found for request_id in queue.ids]
        return [execution.Queue("all", ids, execution.AT_ONCE)]

    patch.setattr(execution, "due", one_queue)


def a_failed_renewal_takes_the_answer_with_it(patch: pytest.MonkeyPatch) -> None:
    async def keep(core: Core, request: Request) -> None:
        held = True
        while held:
            await core.clock.sleep(core.lease_s / 3)
            async with core.store.begin() as tx:
                held = await rows.renew(
                    tx, request.id, owner=core.owner, fence=request.fence, lease_s=core.lease_s
                )

    @asynccontextmanager
    async def kept(core: Core, request: Request, lease_s: float) -> AsyncIterator[None]:
        task = asyncio.create_task(keep(core, request))
        try:
            yield
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    patch.setattr(claims, "lease_kept", kept)
