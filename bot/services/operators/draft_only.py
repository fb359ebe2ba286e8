"""Draft only: nothing is sent to the card provider until the file says otherwise, or two people do.

`[slack] draft_only = true` begins it at a start, for every program. It ends at a start without that setting; or by an
admin and a second person, until the next start with it. What was approved as a draft is never sent.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from bot.domain.errors import NotAllowed, NotFound
from bot.domain.people import Actor
from bot.domain.requests import State
from bot.services import audit, outbox_messages, people
from bot.services.core import Core
from bot.services.operators import confirmations
from bot.services.people import Role
from storage.operators import programs
from storage.requests import Consent, requests
from storage.transaction import Tx

_ASKED_FOR = timedelta(hours=1)
_REDRAWN = 200
_BY = "system:app"
_ENDED_BY_FILE = "countersign.toml no longer says draft_only. Nothing else was changed."


async def at_start(core: Core, *, is_on: bool) -> None:
    """Begin or end it for every program, as the file says."""
    for program in sorted(core.partners):
        async with core.store.begin() as tx:
            if is_on and await programs.begin_drafts(tx, program):
                await _changed(tx, core, program, _BY, "program.drafts_on")
            elif not is_on and await programs.end_drafts(tx, program):
                await confirmations.withdraw(tx, core, ACT.kind, program, _ENDED_BY_FILE)
                await _changed(tx, core, program, _BY, "program.drafts_off")


async def switch_off(core: Core, slack_id: str, named: Sequence[str]) -> list[str]:
    """Request that what is approved from now on is sent: a sentence for each of these programs.

    A second person confirms it in the alerts channel. Raises NotAllowed, NotFound where none is for drafts only.
    """
    refusal = NotAllowed(_not_allowed(core), "not_an_admin")
    actor = await people.require_role(core, slack_id, Role.ADMIN, refusal, action="program.drafts_off")
    await confirmations.expire_due(core)
    async with core.store.read() as tx:
        drafting = [p.name for p in await programs.all(tx) if p.is_draft_only and p.name in named]
    if not drafting:
        raise NotFound(f"Draft only is not on for {' or '.join(named)}. Nothing was changed.")
    return [await _ask(core, program, actor) for program in drafting]


async def _ask(core: Core, program: str, actor: Actor) -> str:
    async with core.store.begin() as tx:
        consent = await confirmations.ask(tx, core, ACT, actor, subject=program, terms={}, program=program)
    if consent is None:
        return f"Switching off draft only for {program} was requested already. A second person has to confirm it."
    return f"Requested. An approver or another admin has to confirm it before anything is sent to {program}."


async def _facts(_tx: Tx, consent: Consent) -> dict[str, str]:
    return {"program": consent.subject}


async def _ended(tx: Tx, core: Core, consent: Consent, actor: Actor) -> str:
    program = consent.subject
    if not await programs.end_drafts(tx, program):
        return f"Draft only was not on for {program} any more."
    await _changed(tx, core, program, actor.id, "program.drafts_off")
    return (
        f"Draft only is off for {program}: {consent.asked_by_name} requested it, {actor.name} confirmed. What is"
        " approved from now on is sent. Drafts that were approved before are not sent."
    )


async def _changed(tx: Tx, core: Core, program: str, by: str, action: str) -> None:
    await audit.record(tx, core, by, action, f"program:{program}")
    states = (State.PENDING, State.APPROVED)
    for request in await requests.find(tx, program=program, states=states, limit=_REDRAWN):
        await outbox_messages.redraw(tx, core, request)
    tx.after_commit(core.carrier.wake)


def _not_allowed(core: Core) -> str:
    named = core.policy.people.admins or core.policy.people.approvers
    return f"Draft only is switched off by an admin ({', '.join(named)}) and a second person. Nothing was changed."


ACT = confirmations.Act(
    "drafts_off", _ASKED_FOR, Role.ADMIN, Role.APPROVER_OR_ADMIN, _ended, _not_allowed, _facts
)
