"""Bugs planted on purpose, to see that the simulation finds each: how many schedules that takes is the detection curve.

Nothing here runs unless it is asked for. A bug is a patch and the rules that must be broken by it.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from unittest.mock import patch

from sqlalchemy import update

from bot.domain.people import KindPolicy
from bot.operations import Operation
from bot.outcomes import planning
from bot.partner.client import PartnerClient
from bot.partner.errors import PartnerError
from bot.services import alerts
from bot.services.execution import maintenance, presend_checks
from bot.services.messages import Outbox
from bot.services.operators import programs
from bot.services.requests import approvals
from storage import audit
from storage import tables as t
from storage.messages import outbox
from storage.operators import pauses
from storage.requests import attempts, requests

Plant = Callable[[ExitStack], None]


@dataclass(frozen=True)
class Bug:
    """`plant` puts it in until the stack closes; one of `rules` must be broken then."""

    name: str
    rules: tuple[str, ...]
    plant: Plant


def _put(stack: ExitStack, where: Any, name: str, what: Any) -> None:
    stack.enter_context(patch.object(where, name, what))


def _new_key_on_retry(stack: ExitStack) -> None:
    honest, made = PartnerClient.top_up, [0]

    async def top_up(self: PartnerClient, card_id: str, body: bytes, *, key: str) -> Any:
        made[0] += 1
        return await honest(self, card_id, body, key=f"{key}-{made[0]}")

    _put(stack, PartnerClient, "top_up", top_up)


def _bodies_swapped(stack: ExitStack) -> None:
    honest = PartnerClient.top_up

    async def top_up(self: PartnerClient, card_id: str, body: bytes, *, key: str) -> Any:
        return await honest(self, card_id, b'{"amount_usd":7.00}', key=key)

    _put(stack, PartnerClient, "top_up", top_up)


def _a_cent_more(stack: ExitStack) -> None:
    honest = PartnerClient.top_up

    async def top_up(self: PartnerClient, card_id: str, body: bytes, *, key: str) -> Any:
        more = re.sub(rb'("amount_usd"\s*:\s*[0-9]+)(\.[0-9]+)?', rb"\1.001", body)
        return await honest(self, card_id, more, key=key)

    _put(stack, PartnerClient, "top_up", top_up)


def _another_card(stack: ExitStack) -> None:
    honest = PartnerClient.top_up

    async def top_up(self: PartnerClient, card_id: str, body: bytes, *, key: str) -> Any:
        return await honest(self, card_id.swapcase(), body, key=key)

    _put(stack, PartnerClient, "top_up", top_up)


def _attempt_recorded_after(stack: ExitStack) -> None:
    honest = attempts.start

    async def start(tx: Any, request: Any, purpose: str) -> Any:
        made = await honest(tx, request, purpose)
        await tx.run(update(t.attempt).where(t.attempt.c.id == made.id).values(answered_at=made.sent_at))
        return made

    _put(stack, attempts, "start", start)


def _refusal_ends_a_doubt(stack: ExitStack) -> None:
    honest = Operation.judge

    def judge(self: Operation, error: PartnerError, *, outcome_unknown: bool) -> Any:
        return honest(self, error, outcome_unknown=False)

    _put(stack, Operation, "judge", judge)


def _one_approval_is_enough(stack: ExitStack) -> None:
    _put(stack, KindPolicy, "approvals_needed", lambda _self, _usd: 1)


def _approvals_last_for_ever(stack: ExitStack) -> None:
    _put(stack, planning, "approval_is_valid", lambda _request, _now: True)


def _gone_approvers_count(stack: ExitStack) -> None:
    _put(stack, presend_checks, "_approvers_stand", _nothing)


def _pauses_not_asked_at_the_claim(stack: ExitStack) -> None:
    honest = pauses.of

    async def of(tx: Any, program: str) -> Any:
        return None if tx.writes else await honest(tx, program)

    _put(stack, pauses, "of", of)


def _limits_not_counted(stack: ExitStack) -> None:
    _put(stack, approvals, "_within_limits", _nothing)


def _unresolved_untold(stack: ExitStack) -> None:
    honest = alerts.raise_

    async def raise_(tx: Any, core: Any, said: Any, **more: Any) -> Any:
        return None if said.kind.name == "unresolved" else await honest(tx, core, said, **more)

    _put(stack, alerts, "raise_", raise_)


def _no_late_landings(stack: ExitStack) -> None:
    _put(stack, maintenance, "sweep_late_landings", _nothing)


def _paused_for_ever(stack: ExitStack) -> None:
    _put(stack, programs, "probe_paused", _nothing)


def _no_read_back(stack: ExitStack) -> None:
    async def heal_one(self: Outbox, row: Any) -> None:
        async with self._core.store.begin() as tx:
            await outbox.retry(tx, row.id, due_at=tx.now, error="not looked for")

    _put(stack, Outbox, "_heal_one", heal_one)


def _sent_before_sending(stack: ExitStack) -> None:
    honest = outbox.sending

    async def sending(tx: Any, row_id: int) -> bool:
        taken = await honest(tx, row_id)
        await outbox.sent(tx, row_id)
        return taken

    _put(stack, outbox, "sending", sending)


def _lease_for_ever(stack: ExitStack) -> None:
    """What a dead process had claimed nobody takes over."""
    honest = requests.due

    async def due(tx: Any, **more: Any) -> list[str]:
        found = []
        for request_id in await honest(tx, **more):
            request = await requests.get(tx, request_id)
            if request is not None and (request.lease_owner is None or request.state.value != "executing"):
                found.append(request_id)
        return found

    _put(stack, requests, "due", due)


def _given_up_at_once(stack: ExitStack) -> None:
    """What the ledger does not show yet counts as never executed."""
    _put(stack, planning, "QUIESCENCE", timedelta(0))


def _an_entry_missing(stack: ExitStack) -> None:
    honest = audit.append

    async def append(tx: Any, **entry: Any) -> Any:
        return None if entry["action"] == "request.approved" else await honest(tx, **entry)

    _put(stack, audit, "append", append)


def _look_ups_fail_open(stack: ExitStack) -> None:
    """Where Slack cannot say who approved, they are taken for who they were."""
    honest = presend_checks._approvers_stand

    async def stand(*given: Any) -> Any:
        try:
            return await honest(*given)
        except Exception:  # noqa: BLE001 - the bug
            return None

    _put(stack, presend_checks, "_approvers_stand", stand)


async def _nothing(*_args: Any, **_more: Any) -> None: ...


BUGS: dict[str, Bug] = {
    bug.name: bug
    for bug in (
        Bug("new key on retry", ("I-1 once", "I-2 approved", "I-7 true"), _new_key_on_retry),
        Bug("sealed bodies swapped", ("I-24 amount",), _bodies_swapped),
        Bug("a tenth of a cent more", ("I-24 amount",), _a_cent_more),
        Bug("another card", ("I-2 card",), _another_card),
        Bug("attempt recorded after the call", ("I-2 attempt",), _attempt_recorded_after),
        Bug("a refusal ends a doubt", ("I-7 true",), _refusal_ends_a_doubt),
        Bug("one approval is enough", ("I-3 approvals",), _one_approval_is_enough),
        Bug("approvals last for ever", ("I-4 validity",), _approvals_last_for_ever),
        Bug("approvers who left still count", ("I-4 approvers",), _gone_approvers_count),
        Bug("a pause is not seen at the claim", ("I-4 pause",), _pauses_not_asked_at_the_claim),
        Bug("limits are not counted", ("I-11 limits",), _limits_not_counted),
        Bug("unresolved without an alert", ("I-8 told",), _unresolved_untold),
        Bug("no sweep for late landings", ("I-7 true",), _no_late_landings),
        Bug("a refused key stays refused", ("a pause ends",), _paused_for_ever),
        Bug("messages are not read back", ("I-9 doubled",), _no_read_back),
        Bug("marked as sent before sending", ("I-8 told", "no message is lost"), _sent_before_sending),
        Bug("a dead process keeps its claim", ("I-6 ends",), _lease_for_ever),
        Bug("an entry is missing", ("I-17 entries",), _an_entry_missing),
        Bug("look-ups fail open", ("I-22 fail closed",), _look_ups_fail_open),
        Bug("given up at once", ("I-7 true",), _given_up_at_once),
    )
}

Work = Awaitable[None]
