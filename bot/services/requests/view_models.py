"""A request as a value for the views: its terms, its decisions, and the facts kept with it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from bot.domain.alerts import funding_alerts
from bot.domain.ids import short_code
from bot.domain.limits import never_approvable
from bot.domain.requests import SENT, TERMINAL, UNSENT, Decision, Request, State
from bot.operations import Concern, Facts, Line, Operation, loaded_facts
from bot.services import display_names
from bot.services.alerts import urgent_rules
from bot.services.core import Core
from bot.services.operators import programs
from bot.services.processes import unseen_requests
from bot.services.requests import batch_results, granted_sums, local_facts
from bot.services.requests.drafts import recorded_concerns
from bot.view_models import RequestView
from storage.messages import alerts
from storage.operators import stops
from storage.requests import decisions
from storage.transaction import Tx


async def request(tx: Tx, core: Core, found: Request) -> RequestView:
    """The card of a request: what it is, who decided, and what came of it, with people by their names."""
    found = replace(found, outcome_text=await display_names.in_text(tx, found.outcome_text))
    batch = await batch_results.batch(tx, core, found) if found.is_batch else None
    left_out = {row.number for row in batch.rows if row.is_left_out} if batch else set()
    lines, concerns = shown_facts(core, found, left_out=left_out)
    waiting = tuple(await urgent_rules.waiting_of(tx, found))
    made = tuple(await decisions.of(tx, found.id))
    lines = (*lines, *await granted_sums.lines(tx, core, found))
    if found.state is State.PENDING and (why := never_approvable(core.policy.limits, found.exposure_usd)):
        concerns = (Concern(why, stops=True), *concerns)
    return RequestView(
        request=await granted_sums.as_asked_now(tx, core, found, made),
        title=core.kinds[found.kind].title if found.kind in core.kinds else found.kind,
        code=short_code(found.digest),
        decisions=made,
        lines=lines,
        concerns=concerns,
        approver_names=core.policy.people.approvers,
        live=core.is_live(found.program),
        next_look_at=await _next_look_at(tx, core, found),
        batch=batch,
        paused=await _why_waits(tx, core, found) if found.state in UNSENT or waiting else "",
        waits_for=await local_facts.goes_first(tx, core, found),
        can_be_cancelled=found.parent_id is None and await local_facts.can_be_cancelled(tx, core, found),
        waiting=waiting,
        alert_id=await _alert_about(tx, found),
        draft_only=await is_draft(tx, found),
        sent_from=_sent_from(found, made, tx.now),
        cool_off=await _cool_off(tx, core, found),
    )


async def _why_waits(tx: Tx, core: Core, found: Request) -> str:
    is_urgent = found.kind in core.kinds and core.kinds[found.kind].handling.is_urgent
    waits = await programs.why_waits(tx, found.program, is_urgent=is_urgent)
    return waits or ("" if is_urgent else await unseen_requests.why(tx, found))


async def _cool_off(tx: Tx, core: Core, found: Request) -> timedelta:
    if found.state is not State.PENDING:
        return timedelta(0)
    return (await granted_sums.of_request(tx, core, found)).conditions.waits


def _sent_from(found: Request, made: Sequence[Decision], now: datetime) -> datetime | None:
    """While it waits for the time that the policy gives approvers to stop it."""
    at = granted_sums.sent_from(found, made)
    return at if at is not None and now < at else None


async def is_draft(tx: Tx, found: Request) -> bool:
    """Is nothing sent for it, as its program is for drafts only? What was sent before that began is none."""
    return found.state not in SENT and await programs.is_draft_only(tx, found.program)


async def _next_look_at(tx: Tx, core: Core, found: Request) -> datetime | None:
    """When it is looked at next, which is never in the past; None where that waits for a key or for a person."""
    if found.state not in (State.EXECUTING, State.UNRESOLVED) or found.due_at is None:
        return None
    stopped = await stops.of(tx, found.program)
    is_held = found.kind in core.kinds and not stopped.sends(core.kinds[found.kind].endpoint)
    if stopped.by_key or (is_held and not found.outcome_unknown):
        return None
    return found.due_at if found.due_at > tx.now else None


async def _alert_about(tx: Tx, found: Request) -> str:
    """The id of the newest alert about what goes on after the request; empty where there is none."""
    if found.stage is None or not found.outcome:
        return ""
    alert = await alerts.newest(tx, funding_alerts.FUNDING.name, str(found.outcome.get("funding_id", "")))
    return alert.id if alert else ""


def shown_facts(
    core: Core, found: Request, *, left_out: Collection[int] = ()
) -> tuple[tuple[Line, ...], tuple[Concern, ...]]:
    """The lines and concerns of the facts kept with the request; of a batch without the rows `left_out`."""
    cls = core.kinds.get(found.kind)
    if cls is None or not found.facts or found.parent_id is not None:
        return (), ()
    facts = loaded_facts(found.facts)
    if found.is_batch:
        return batch_results.effect(core, found, facts, left_out=left_out)
    operation = cls.of_stored(found.terms, found.subject_label)
    concerns = [*operation.concerns(facts), *recorded_concerns(operation, facts)]
    return tuple(_true_now(operation, found, facts)), tuple(concerns)


def _true_now(operation: Operation, found: Request, facts: Facts) -> list[Line]:
    """Of what the preview showed, what is still true in the state it is in: no balances once it has ended."""
    if found.state is State.SUCCEEDED:
        return operation.lines_after(facts)
    return [] if found.state in TERMINAL and operation.moves_money else operation.lines(facts)
