"""A request as a value for the views: its terms, its decisions, and the facts kept with it."""

from __future__ import annotations

from bot.domain.ids import short_code
from bot.domain.requests import UNSENT, Request, State
from bot.operations import Concern, Line
from bot.services.alerts import urgent_rules
from bot.services.core import Core
from bot.services.operators import programs
from bot.services.requests import batch_results
from bot.services.requests.drafts import house_concerns
from bot.view_models import RequestView
from storage.requests import decisions
from storage.transaction import Tx


async def request(tx: Tx, core: Core, found: Request) -> RequestView:
    lines, concerns = shown_facts(core, found)
    waiting = tuple(await urgent_rules.waiting_of(tx, found))
    return RequestView(
        request=found,
        title=core.kinds[found.kind].title if found.kind in core.kinds else found.kind,
        code=short_code(found.digest),
        decisions=tuple(await decisions.of(tx, found.id)),
        lines=lines,
        concerns=concerns,
        approver_names=core.policy.people.approvers,
        live=core.live.get(found.program, True),
        next_look_at=found.due_at if found.state in (State.EXECUTING, State.UNRESOLVED) else None,
        batch=await batch_results.batch(tx, core, found) if found.is_batch else None,
        paused=await programs.why_paused(tx, found.program) if found.state in UNSENT or waiting else "",
        waiting=waiting,
    )


def shown_facts(core: Core, found: Request) -> tuple[tuple[Line, ...], tuple[Concern, ...]]:
    """The lines and concerns of the facts kept with the request."""
    cls = core.kinds.get(found.kind)
    if cls is None or not found.facts or found.parent_id is not None:
        return (), ()
    if found.is_batch:
        return batch_results.effect(core, found, found.facts)
    operation = cls(found.terms, found.subject_label)
    concerns = [*operation.concerns(found.facts), *house_concerns(operation, found.facts)]
    return tuple(operation.lines(found.facts)), tuple(concerns)
