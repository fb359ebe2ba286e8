"""Stopping what is sent to the API, by one person; going on, by two.

A pause stops sending and nothing else: people ask and approve, readings go on, and what was sent already is
looked up, though not sent again. An approved request waits, and ends when its approval runs out. That the API
does not take the key is another pause (`bot.services.operators.programs`), which ends by itself when a key works.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta
from functools import partial

from bot.domain.alerts import people_alerts
from bot.domain.errors import InvalidInput, NotAllowed, NotFound
from bot.domain.people import Actor, draft_only
from bot.domain.requests import State
from bot.operations import readers
from bot.services import alerts, audit, audit_anchors, held_stops, outbox_messages, people
from bot.services.alerts import urgent_rules
from bot.services.core import Core
from bot.services.operators import confirmations, safe_mode
from bot.services.operators import programs as program_pauses
from bot.services.people import Role, Roles
from storage.operators import Pause, held_endpoints, pauses, programs
from storage.requests import Consent, requests
from storage.requests import confirmations as consent_rows
from storage.transaction import Tx

RESUME = confirmations.RESUME
_ASKED_FOR = timedelta(hours=1)
_REDRAWN = 200
_RESUMED_MEANWHILE = "Two people resumed sending meanwhile."


async def pause(core: Core, slack_id: str, named: Sequence[str], reason: str) -> list[str]:
    """Stop sending to these programs at once, on one approver's or admin's word.

    Returns those that ran until now. Raises NotAllowed, InvalidInput, NotFound, and `ChangedOutside` where the database
    did not keep it. Refusals are audited. Where it cannot be recorded for another reason than a refusal, it is held.
    """
    reason = read_optional_reason(reason)
    if unknown := [program for program in named if program not in core.partners]:
        raise NotFound(f"There is no program {unknown[0]!r}. Nothing was changed.")
    known: list[Actor] = []

    async def do(_is_again: bool) -> list[str]:
        if not known:  # once is enough: it is tried again where it could not be recorded
            known.append(await _may(core, slack_id, "program.pause", people.roles_lately))
        return await _pause(core, known[0], named, reason)

    return await core.held.recorded(held_stops.of_program(slack_id, tuple(named)), do, core.clock)


async def _pause(core: Core, actor: Actor, named: Sequence[str], reason: str) -> list[str]:
    stopped = []
    async with core.store.begin() as tx:
        for program in named:
            if not await pauses.put(tx, program, by=actor.id, by_name=actor.name, reason=reason):
                continue
            stopped.append(program)
            about, body = f"program:{program}", {"reason": reason}
            await audit.record(tx, core, actor.id, "program.write_paused", about, body)
            said = people_alerts.PAUSED.says(program=program, who=actor.name, reason=reason)
            await alerts.raise_(
                tx,
                core,
                said,
                condition=people_alerts.PAUSED.condition(program),
                subject=program,
                program=program,
            )
            await _redraw(tx, core, program)
    if stopped:
        await audit_anchors.drop_after_a_stop(core)  # that it is paused is known outside the database, too
    return stopped


async def to_pause(core: Core, slack_id: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The programs this person may pause now, and those that are paused already. Raises NotAllowed."""
    await _may(core, slack_id, "program.pause", people.roles_lately)
    async with core.store.read() as tx:
        paused = {one.program for one in await pauses.all(tx)}
    named = sorted(core.partners)
    return tuple(p for p in named if p not in paused), tuple(p for p in named if p in paused)


async def may_pause(core: Core, slack_id: str) -> bool:
    """For offering it only; a refusal is no event here."""
    return slack_id in (await people.roles_lately(core)).of(Role.APPROVER_OR_ADMIN)


def read_optional_reason(reason: str) -> str:
    """Seconds may count, so it may be left out. Raises InvalidInput."""
    if not reason.strip():
        return "no reason given"
    try:
        return readers.read_reason(reason)
    except ValueError as error:
        raise InvalidInput("reason", str(error)) from None


async def resume(core: Core, slack_id: str, named: Sequence[str]) -> list[str]:
    """Ask to go on, or confirm what somebody else asked: a sentence for each paused program of these.

    Raises NotAllowed, NotFound when none of them is paused.
    """
    actor = await _may(core, slack_id, "program.resume", people.roles)
    await confirmations.expire_due(core)
    async with core.store.read() as tx:
        paused = [p for p in await pauses.all(tx) if p.program in named]
        held = {p.program: program_pauses.sentence(p) for p in paused}
        for program in sorted(set(named) - {p.program for p in paused}):
            if why := await program_pauses.why_held(tx, program):
                held[program] = why
        if held and (why_not := await safe_mode.why_not_resumed(tx)):
            raise NotFound(why_not)
        asked = {name: await consent_rows.open_one(tx, RESUME, name) for name in held}
        known_ones = [p for p in await programs.all(tx) if p.name in named]
        no_key = {p.name for p in known_ones if p.is_paused}
        drafting = [p.name for p in known_ones if p.is_draft_only]
    if not held and no_key:
        raise NotFound(
            f"Nobody paused {', '.join(sorted(no_key))}: your card provider does not take the key. Sending"
            " starts again within a minute of a key that works; see the alert."
        )
    if not held and drafting:
        raise NotFound(
            f"Nobody paused {', '.join(drafting)}: draft only is on. An admin and a second person switch it off with"
            " `/countersign drafts off`."
        )
    if not held:
        raise NotFound(f"Nobody paused {' or '.join(named)}. Nothing was changed.")
    said = []
    for program in held:
        known = asked[program]
        if known is not None and known.asked_by != actor.id:
            said.append(await confirmations.give(core, ACT, known.id, actor.id))
        else:
            said.append(await _ask(core, program, actor))
    return said


async def _facts(tx: Tx, consent: Consent) -> dict[str, str]:
    """Why nothing is sent now, as the second person reads it."""
    program = consent.subject
    paused = await pauses.of(tx, program)
    why = program_pauses.sentence(paused) if paused else await program_pauses.why_held(tx, program) or ""
    return {"program": program, "pause": f"{why}{await safe_mode.summary(tx)}"}


async def _ask(core: Core, program: str, actor: Actor) -> str:
    async with core.store.begin() as tx:
        consent = await confirmations.ask(
            tx,
            core,
            ACT,
            actor,
            subject=program,
            terms={},
            program=program,
        )
    if consent is None:
        return f"You asked to resume {program} already. Another approver or admin has to confirm it."
    return f"Asked. Another approver or admin has to confirm it before anything is sent to {program}."


async def _resumed(tx: Tx, core: Core, consent: Consent, actor: Actor) -> str:
    program = consent.subject
    if why_not := await safe_mode.why_not_resumed(tx):
        raise NotFound(why_not)
    held = await held_endpoints.of(tx, program)
    for one in held:
        await program_pauses.release(tx, core, program, one.endpoint, by=actor.id)
    if not await pauses.drop(tx, program) and not held:
        return f"Sending to {program} was not paused any more."
    body = {"reason": f"asked by {consent.asked_by}"}
    await audit.record(tx, core, actor.id, "program.write_resumed", f"program:{program}", body)
    await alerts.resolve(tx, core, people_alerts.PAUSED.condition(program), actor=actor.id)
    await safe_mode.leave(tx, core, actor.id)
    await requests.due_at_once(tx, program)
    await _redraw(tx, core, program)
    tx.after_commit(partial(core.held.end, (f"program:{program}",), "not done", _RESUMED_MEANWHILE))
    who = f"{consent.asked_by_name} asked, {actor.name} confirmed."
    if await program_pauses.is_draft_only(tx, program):
        return f"The pause of {program} is over: {who} {draft_only.sentence(program)}"
    return f"Sending to {program} has resumed: {who}"


async def _redraw(tx: Tx, core: Core, program: str) -> None:
    """The cards of what waits say so, and stop saying so; what is approved goes out at once."""
    states = (State.PENDING, State.APPROVED)
    for request in await requests.find(tx, program=program, states=states, limit=_REDRAWN):
        await outbox_messages.redraw(tx, core, request)
    await urgent_rules.all_stops_changed(tx, core, program)
    tx.after_commit(core.carrier.wake)


async def _may(core: Core, slack_id: str, action: str, roles: Callable[[Core], Awaitable[Roles]]) -> Actor:
    """A pause must not fail because Slack counts look-ups: for it a reading of half a minute ago is good enough, and a
    look of the last minute where the person did too much within it."""
    refusal = NotAllowed(_not_allowed(core), "not_an_approver")
    return await people.require_role(
        core,
        slack_id,
        Role.APPROVER_OR_ADMIN,
        refusal,
        action=action,
        read=roles,
        safer=roles is people.roles_lately,
    )


def _not_allowed(core: Core) -> str:
    named = dict.fromkeys([*core.policy.people.approvers, *core.policy.people.admins])
    return f"Only {', '.join(named)} may pause and resume. Ask one of them; nothing was changed."


ACT = confirmations.Act(
    RESUME, _ASKED_FOR, Role.APPROVER_OR_ADMIN, Role.APPROVER_OR_ADMIN, _resumed, _not_allowed, _facts
)


async def of(core: Core, program: str) -> Pause | None:
    async with core.store.read() as tx:
        return await pauses.of(tx, program)
