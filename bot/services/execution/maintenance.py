"""Work that no person asks for: purging, late landings, the policy that nobody can meet."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import timedelta

from bot.domain import shared_work
from bot.domain.alerts import people_alerts
from bot.domain.errors import CountersignError, Stale, UnknownName
from bot.domain.money import ledger_text
from bot.domain.requests import REOPENED_AT, Event, Request, State
from bot.domain.sentences import Lines
from bot.operations import Look
from bot.outcomes import Evidence, effects, timing
from bot.partner.errors import PartnerError
from bot.services import alerts, audit, outbox_messages, people
from bot.services.core import Core
from bot.services.execution import effect_writer, evidence
from bot.services.operators import delegations, people_watch
from bot.services.requests import resolved_as
from storage.events import relay, webhook_secrets
from storage.log_record import on_record
from storage.requests import attempts, drafts, request_search, requests
from storage.transaction import Tx

log = logging.getLogger("countersign.upkeep")
# So many rows of the ledger are ten calls of the API.
_WORTH_KEEPING = 1_000
# What a look shows that was not without effect, or may not have been.
_SHOWS_AN_EFFECT = (Evidence.DONE, Evidence.DEBITED, Evidence.TRACED, Evidence.HALF_DONE)
DRAFTS_KEPT_FOR = timedelta(hours=1)


async def purge(core: Core) -> None:
    """Private details that are no longer needed go, in the file's log as well."""
    urgent = [kind for kind, cls in core.kinds.items() if cls.handling.is_urgent]
    async with core.store.read() as tx:
        ids = await requests.purge_due(tx, unresolved_after=timing.PRIVATE_KEPT_FOR, still_sent=urgent)
    for request_id in ids:
        async with core.store.begin() as tx:
            await _purge_one(tx, core, request_id)
    async with core.store.begin() as tx:
        dropped = await drafts.drop_old(tx, older_than=DRAFTS_KEPT_FOR)
        dropped += await relay.drop_old(tx)
        by = webhook_secrets.By(effects.UPKEEP, policy_version=core.policy.version)
        dropped += await webhook_secrets.drop_old(tx, by=by)
    if ids or dropped or core.store.needs_checkpoint:
        await core.store.checkpoint()


async def _purge_one(tx: Tx, core: Core, request_id: str) -> None:
    await requests.purge(tx, request_id)
    request = await requests.get(tx, request_id)
    if request is None:
        return
    asks = request.state is State.UNRESOLVED
    if asks:
        request = await requests.touch(tx, request, needs_person=True)
        await outbox_messages.card(tx, core, request)
    await audit.of_request(tx, core, request, effects.UPKEEP, "request.purged", {"needs_person": asks})


async def sweep_late_landings(core: Core) -> None:
    """Requests given up as failed without proof are looked up again for 48 hours, and for as long those of which the
    audit log has a debit; later, where the ledger shows that something of theirs moved (`ledger_rules`)."""
    async with core.store.read() as tx:
        since = tx.now - timing.LATE_LANDING_FOR
        found = [one.debit for one in (await on_record.known(tx)).debits.values()]
        keys = {ledger_text.key_in(one.reference) for one in found if one.found_at >= since}
        moved = (await request_search.by_key(tx, keys)).values() if keys else ()
        failed = await requests.failed_in_doubt(tx, since=since, also=moved)
    for request in failed:
        # A switch that somebody has set since reads just like one that was carried out late.
        handling = core.kinds[request.kind].handling
        is_switch = bool(handling.superseded_by) and not handling.leaves_a_trace
        if request.program in core.partners and not is_switch:
            await _look_again(core, request)


async def _look_again(core: Core, request: Request) -> None:
    try:
        operation = core.kinds[request.kind].of_stored(request.terms, request.subject_label)
        async with core.store.read() as tx:
            made = await attempts.of(tx, request.id)
        look = await evidence.look(core, request, operation, core.partners[request.program], made)
    except PartnerError as error:
        log.warning("upkeep.not_looked_up", extra={"request": request.id, "error": str(error)})
        return
    try:
        async with core.store.begin() as tx:
            if look.evidence in _SHOWS_AN_EFFECT:
                await _completed_late(tx, core, request, look)
            elif request.due_at is not None or _is_worth_keeping(request, look):
                # Nothing is new but how far was read, so that the next look need not read it again.
                facts = {**(request.outcome or {}), **look.facts}
                await requests.touch(tx, request, outcome=facts, due_at=None)
    except Stale:
        log.info("upkeep.moved_meanwhile", extra={"request": request.id})  # looked up again the next time


def _is_worth_keeping(request: Request, look: Look) -> bool:
    read = (request.outcome or {}).get("ledger_rows", 0)
    return bool(look.facts.get("ledger_rows", 0) > read + _WORTH_KEEPING)


async def _completed_late(tx: Tx, core: Core, request: Request, look: Look) -> None:
    """It was not without effect: done, or reopened where money moved and no more is proved.

    What two people have said is never overturned by a reading: they are notified, once.
    """
    facts = dict(look.facts)
    if await resolved_as(tx, request) is not None:
        if (request.outcome or {}).get("contradicted_by") in (look.evidence.value, Evidence.DONE.value):
            if request.due_at is not None:
                await requests.touch(tx, request, due_at=None)
            return
        facts = {**(request.outcome or {}), **facts, "contradicted_by": look.evidence.value}
        touched = await requests.touch(tx, request, outcome=facts, due_at=None)
        text = f"Two people said that {request.id} failed, and that counts. Your card provider disagrees: {look.text}"
        await effect_writer.write(tx, core, touched, effects.of_contradiction(touched, text))
        return
    if look.evidence is Evidence.DONE:
        text = f"It completed late, after it was given up as failed. {look.text}"
        moved = await requests.move(
            tx, request, Event.LAND_LATE, outcome_text=text, outcome=facts, due_at=None
        )
        await effect_writer.write(tx, core, moved, effects.of_late_landing(moved))
        return
    text = (
        f"It was given up as failed, and a call of it arrived after that. {look.text} Do not repeat this: its key is"
        " not sent any more, and two people have to say how it ended if no reading shows it."
    )
    moved = await requests.move(
        tx,
        request,
        Event.REOPEN,
        outcome_text=text,
        outcome={**facts, REOPENED_AT: tx.now.isoformat()},
        needs_person=True,
        due_at=tx.now + timing.RECONCILE_EVERY,
        finished_at=None,
        key_expires_at=tx.now,  # a key of what was once called failed is never sent again
    )
    sent = effects.Sent(await attempts.of(tx, request.id), core.partners[request.program].key_prefix)
    await effect_writer.write(tx, core, moved, effects.of_reopening(moved, sent=sent))


async def check_policy(core: Core) -> None:
    """A policy that its people can no longer meet is an alert of its own. Where Slack cannot say, nothing changes."""
    try:
        await policy_problems(core)
    except CountersignError as error:
        log.warning("upkeep.policy_not_checked", extra={"error": str(error)})


async def policy_problems(core: Core) -> list[str]:
    """Why the people whom the policy names cannot meet it; an alert says so while it is so. Nothing that needs more
    people than there are is decided meanwhile.

    Raises LookupFailed where Slack does not say who they are.
    """
    try:
        problems = [*await people.policy_problems(core), *await delegations.problems(core)]
        if core.holds(shared_work.POLICY):
            await _note_roles(core)
    except UnknownName as error:
        problems = [str(error)]
    if core.holds(shared_work.POLICY):
        await _alert_of_policy(core, problems)
    return problems


async def _note_roles(core: Core) -> None:
    """Who may approve and who are admins, on record where it has changed."""
    names = core.policy.people
    approvers, admins = await core.directory.each([names.approvers, names.admins])
    await people_watch.note(core, "approvers", approvers)
    if names.admins:
        await people_watch.note(core, "admins", admins)


async def _alert_of_policy(core: Core, problems: Sequence[str]) -> None:
    condition = people_alerts.POLICY.condition()
    async with core.store.begin() as tx:
        if not problems:
            await alerts.resolve(tx, core, condition)
            return
        said = people_alerts.POLICY.says(problems=Lines("\n".join(problems)))
        await alerts.keep(tx, core, said, condition=condition, subject="policy", program="")
