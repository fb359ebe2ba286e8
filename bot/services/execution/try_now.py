"""Try now: a person does not wait for the next try of what cannot wait and has not happened."""

from __future__ import annotations

from bot.domain.errors import Stale
from bot.domain.people import draft_only
from bot.domain.requests import Request, State
from bot.operations import urgency
from bot.services import audit, outbox_messages, people
from bot.services.alerts import put_back_rules, urgent_rules
from bot.services.audit import audited_refusal
from bot.services.core import Core
from bot.services.operators import programs
from bot.services.requests import existing_as_on_record
from storage.requests import requests
from storage.transaction import Tx


async def try_now(core: Core, request_id: str, slack_id: str) -> Request:
    """Have it tried at once, for the requester and every approver; of a batch every row that has not happened.

    Raises NotAllowed for others and Stale where there is nothing to try. Audited, refusals too.
    """
    refusals = audited_refusal(core, slack_id, "request.try_now", f"request:{request_id}")
    async with refusals, put_back_rules.noticed(core):
        actor = await people.member(core, slack_id)
        async with core.store.read() as tx:
            is_own = (await existing_as_on_record(tx, request_id)).requester == actor.id
        if not is_own:
            people.require_approver(core, actor, await people.standing(core))
        async with core.store.begin() as tx:
            # What is on record of it is of this very moment: a try may be ending now.
            await requests.lock_rows(tx, request_id)
            whole = await existing_as_on_record(tx, request_id)
            waiting = await _waiting(tx, whole)
            for request in waiting:
                await _due_now(tx, core, request)
            await audit.of_request(
                tx, core, whole, actor.id, "request.try_now", {"tried": [r.id for r in waiting]}
            )
            await outbox_messages.line(
                tx, core, whole, "try_now", actor=actor.id, tag=f"{actor.id}:{core.ids.ulid()}"
            )
            return whole


async def _waiting(tx: Tx, whole: Request) -> list[Request]:
    """What there is to try. Raises Stale."""
    waiting = await urgent_rules.waiting_of(tx, whole)
    if not waiting:
        has_happened = whole.state is State.SUCCEEDED or urgency.is_for_now(whole)
        how = f" {whole.outcome_text}" if has_happened else ""
        raise Stale(f"{whole.id} is {whole.state}: there is nothing to try now.{how}")
    paused = await programs.why_paused(tx, whole.program)
    if paused:
        how = "drafts off" if draft_only.is_said_in(paused) else "resume"
        raise Stale(f"{whole.id} cannot be sent now. {paused} `/countersign {how}` starts sending again.")
    return waiting


async def _due_now(tx: Tx, core: Core, request: Request) -> None:
    """Due, unless a try is under way: that one is as good, and says itself when the next one is."""
    if not await tx.lasts(request.lease_until):
        await requests.touch(tx, request, due_at=tx.now)
    await core.carry_out(tx, request)
