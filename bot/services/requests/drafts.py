"""From typed fields to a preview: what would be asked for, and what it would do to the float.

A draft is kept sealed in the database from its preview until it is submitted, so nothing that was shown is lost by
a restart and no personal detail travels through Slack's hidden fields.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from decimal import Decimal
from typing import Any

from bot.domain.alerts import request_alerts
from bot.domain.card_details import NOT_SET_UP
from bot.domain.cards import CardEntry, NamedBy
from bot.domain.errors import InvalidFields, LookupFailed, NotFound
from bot.domain.limits import IsSame, LimitUse, never_fits, require_possible
from bot.domain.money import format_usd
from bot.domain.people import APPROVAL_VALID_IN_WORDS, Actor, Standing
from bot.domain.requests import HOW_TO_RESOLVE, OPEN, Request, State, who_may_be_second
from bot.operations import (
    Concern,
    Facts,
    Line,
    Operation,
    read_reason,
    refuse_card_number,
    stored_facts,
    urgency,
    value_types,
)
from bot.services import alerts, people
from bot.services.audit import audited_refusal
from bot.services.cards import card_choice
from bot.services.core import Core
from bot.services.operators import changed_rows, otp_recipients, programs
from bot.services.requests import granted_sums, local_facts
from storage.cards import cards
from storage.errors import ChangedOutside
from storage.requests import Draft, drafts, requests
from storage.transaction import Tx

# A preview of what may be done at once waits so long for Slack to say whose others' accounts are.
WHOSE_WITHIN_S = 1.5
SIMILAR_WITHIN = timedelta(hours=24)
_MOST_CANDIDATES = 5


@dataclass(frozen=True, slots=True)
class Preview:
    """What the person reads before submitting. `approvers` are the Slack ids who may approve it now."""

    draft: Draft
    operation: Operation
    lines: tuple[Line, ...]
    concerns: tuple[Concern, ...]
    approvals_needed: int
    approvers: frozenset[str]
    live: bool
    paused: str  # why nothing is sent to its program now, in a sentence


def operation_of(core: Core, draft: Draft) -> Operation:
    """What a draft asks for."""
    return core.kinds[draft.kind].of_stored(draft.values, draft.target_label, private=draft.values)


async def begin(
    core: Core,
    *,
    owner: str,
    kind: str,
    texts: Mapping[str, str],
    reason: str,
    run_now: bool = False,
    program: str | None = None,
    card_by: NamedBy | None = None,
) -> Draft:
    """Check typed fields: what they ask for, as a draft that `preview` keeps. No network. `card_by` as `by` in
    `resolve_card`.

    Raises `InvalidFields` with all problems; then nothing of what was typed is kept, and the refusal is
    audited.
    """
    async with audited_refusal(core, owner, f"{kind}.begin", of=InvalidFields):
        cls = core.kinds[kind]
        errors: dict[str, str] = {}
        try:
            reason = read_reason(reason)
        except ValueError as error:
            errors["reason"] = str(error)
        if cls.handling.needs_public_url and not core.reveals.base_url:
            errors["reason"] = NOT_SET_UP
        async with core.store.read() as tx:
            try:
                operation, of_card = await read_form(tx, core, cls, texts, card_by)
            except InvalidFields as found:
                raise InvalidFields(found.errors | errors) from None
            if errors:
                raise InvalidFields(errors)
            return Draft(
                id=core.ids.ulid(),
                owner=owner,
                kind=kind,
                program=of_card or program or core.default_program,
                values=operation.stored(),
                target_label=operation.target_label,
                reason=reason,
                run_now=run_now and cls.handling.can_run_now and core.policy.of(kind).now,
                facts={},
                created_at=tx.now,
            )


async def read_form(
    tx: Tx, core: Core, cls: type[Operation], texts: Mapping[str, str], by: NamedBy | None = None
) -> tuple[Operation, str | None]:
    """What these texts ask for, and the program of the card they name, None where they name none.

    `by` as in `resolve_card`. Raises `InvalidFields` with everything that is wrong.
    """
    errors: dict[str, str] = {}
    values: dict[str, Any] = {}
    label, program = "", None
    try:
        values = cls.parse(texts)
    except InvalidFields as found:
        errors.update(found.errors)
    for field in cls.fields:
        if field.card and field.name not in errors:
            try:
                entry = await resolve_card(tx, texts.get(field.name) or "", by)
                values[field.name], label, program = value_types.CardId(entry.id), entry.label, entry.program
                errors.update(cls.misfits(values, entry))
            except (NotFound, ValueError) as error:
                errors[field.name] = str(error)
    operation = cls(values, label)
    errors = _over_limit(core, operation) | errors
    if errors:
        raise InvalidFields(errors)
    return operation, program


def _over_limit(core: Core, operation: Operation) -> dict[str, str]:
    """The error on the field of the amount where nobody could ever approve so much; empty where it may fit."""
    field = next((f.name for f in operation.fields if f.holds is value_types.USD), "")
    never = never_fits(core.policy.limits, operation.exposure_usd()) if field in operation.values else ""
    return {field: never} if never else {}


async def resolve_card(tx: Tx, text: str, by: NamedBy | None = None) -> CardEntry:
    """The one card that `text` names; by its last four, reference, id or holder alone where `by` says so.

    Raises `NotFound`, with the candidates where there are several, and ValueError for a card number.
    """
    found = await cards.match(tx, text, by)
    if len(found) == 1:
        return found[0]
    refuse_card_number(text)
    written = text[:60]
    if not found and by is not None:
        raise NotFound(f"No card has the {by} “{written}”.")
    if not found:
        raise NotFound(await card_choice.why_none(tx, text))
    shown = "; ".join(map(_candidate, found[:_MOST_CANDIDATES]))
    more = f"; and {len(found) - _MOST_CANDIDATES} more" if len(found) > _MOST_CANDIDATES else ""
    raise NotFound(
        f"“{written}” fits {card_choice.how_many(found)}: {shown}{more}. Give the id of the one you mean."
    )


def _candidate(entry: CardEntry) -> str:
    """`ALICE MOREAU ••4242 (reference TEAM-7, id …)`: enough to tell it apart, and to name it."""
    reference = f"reference {entry.partner_ref}, " if entry.partner_ref else ""
    return f"{entry.label} ({reference}id {entry.id})"


async def preview(core: Core, draft: Draft) -> Preview:
    """Read the facts live, keep them with the draft, and say what the request would do.

    Raises PartnerError; what acts blind rather than not at all goes by the last reading. Without a preview the draft is
    kept as it is, to be changed.
    """
    try:
        return await _preview(core, draft)
    except Exception:
        async with core.store.begin() as tx:
            await drafts.put(tx, draft)
        raise


async def _preview(core: Core, draft: Draft) -> Preview:
    actor = await people.require_may_ask(
        core,
        draft.owner,
        core.kinds[draft.kind],
        action=f"{draft.kind}.preview",
        within_s=people.SHOWN_WITHIN_S,
        safer=core.kinds[draft.kind].handling.is_urgent,
    )
    operation = operation_of(core, draft)
    facts = dict(await local_facts.facts_for_preview(core, operation, draft.program))
    await _require_same_card(core, operation, draft.program)
    standing = await people.standing_lately(core)
    operation = type(operation)({**operation.values, **operation.learned(facts)}, draft.target_label)
    draft = replace(draft, values=operation.stored())
    require_possible(core.policy.limits, operation.exposure_usd())
    if draft.run_now:
        draft = replace(draft, own_accounts=await _own_accounts(core, draft, actor, standing))
    async with core.store.begin() as tx:
        facts |= await recorded_facts(tx, core, operation, draft.program)
        facts |= await local_facts.facts(tx, operation, draft.program)
        draft = replace(draft, facts=stored_facts(facts))
        await drafts.put(tx, draft)
        lines = [*operation.lines(facts), *await recorded_lines(tx, core, operation, facts, draft.owner)]
        asked = await granted_sums.of_amounts(
            tx,
            core,
            draft.kind,
            draft.owner,
            operation.exposure_usd(),
            [(operation.subject, operation.exposure_usd())] if operation.subject else [],
        )
        over = await limit_warnings(tx, core, operation.exposure_usd(), draft.owner)
        if draft.run_now and not await may_run_now(tx, core, draft):
            draft = replace(draft, run_now=False)
            await drafts.put(tx, draft)
            over = [_too_often(core, operation), *over]
        paused = await programs.why_waits(tx, draft.program, is_urgent=operation.handling.is_urgent)
    return Preview(
        draft=draft,
        operation=operation,
        lines=(*lines, *granted_sums.lines_of(core.policy.of(draft.kind), asked)),
        concerns=(
            *((Concern(urgency.while_paused(draft.kind, paused)),) if paused else ()),
            *over,
            *operation.concerns(facts),
            *recorded_concerns(operation, facts),
        ),
        approvals_needed=asked.conditions.needed,
        approvers=who_may_be_second(draft.owner, standing),
        live=core.is_live(draft.program),
        paused=paused,
    )


async def _own_accounts(core: Core, draft: Draft, actor: Actor, standing: Standing) -> tuple[str, ...]:
    """All accounts of this person that are known, for `may_run_now`; others that had this kind done at once are looked
    up where it matters whose they are. What is urgent isn't held up: what is known has to do."""

    async def judge(_: Standing, _seen: Collection[str], counted: people.Counted) -> people.Counted:
        async with core.store.read() as tx:
            done = await requests.done_at_once(tx, draft.kind)
        people.by_persons(
            lambda is_same: _may_run_again(core, draft, done, is_same),
            counted,
            own=[draft.owner],
            others=done,
        )
        return counted

    counted = None
    with suppress(LookupFailed, TimeoutError):
        async with asyncio.timeout(WHOSE_WITHIN_S):
            counted = await people.judged(core, standing, (actor,), judge)
    counted = counted or people.counted_now(core, standing, {actor.id: actor})
    return tuple(sorted(counted.standing.accounts_of([draft.owner])))


async def may_run_now(tx: Tx, core: Core, draft: Draft) -> bool:
    """Whether this person may have one more of this kind done at once, with all accounts that the preview found to be
    theirs, or that are known by now."""
    persons = people.known_persons(core).with_persons([{draft.owner, *draft.own_accounts}])
    return _may_run_again(core, draft, await requests.done_at_once(tx, draft.kind), persons.is_same_person)


def _may_run_again(core: Core, draft: Draft, done: Mapping[str, int], is_same: IsSame) -> bool:
    """`done`: how often by each account."""
    by_person = sum(count for account, count in done.items() if is_same(draft.owner, account))
    return by_person < core.policy.of(draft.kind).now_per_person


def _too_often(core: Core, operation: Operation) -> Concern:
    most = core.policy.of(operation.kind).now_per_person
    return Concern(
        f"You used {operation.handling.run_now} {most} times in the last 24 hours, which is the most for one person."
        " So this is requested like any other: somebody else has to approve it before it is done."
    )


async def _require_same_card(core: Core, operation: Operation, program: str) -> None:
    """Raises `ChangedOutside` where the directory calls another card by this name than the API does."""
    really = local_facts.other_card(operation, core.partners[program])
    if not really:
        return
    async with core.store.begin() as tx:
        said = request_alerts.CHANGED_OUTSIDE.says("rows", what=changed_rows.WORDS[changed_rows.CARDS])
        condition = request_alerts.CHANGED_OUTSIDE.condition(changed_rows.CARDS)
        await alerts.raise_(tx, core, said, condition=condition, subject=operation.subject, program=program)
    raise ChangedOutside(
        f"The directory calls this card {operation.target_label}, and your card provider calls it {really}. Nothing was"
        " recorded. Try again in ten minutes, when the directory has been read again, and tell an admin."
    )


async def recorded_facts(tx: Tx, core: Core, operation: Operation, program: str) -> Facts:
    """What our own records say: open and similar requests on the same target, what is held of the float."""
    facts = await on_target(tx, operation, program)
    if operation.handling.moves_float:
        hold = await requests.pending_hold(tx, program, core.float_kinds, core.policy.limits)
        facts["pending_usd"] = hold.usd
    return facts


async def on_target(
    tx: Tx, operation: Operation, program: str, *, but: Collection[str] = ()
) -> dict[str, Any]:
    """Ids of requests in doubt on the same target, and ids and states of similar ones; none of `but` among them."""
    facts: dict[str, Any] = {"unresolved": [], "similar": []}
    if not operation.subject:
        return facts
    in_doubt = await requests.find(
        tx,
        program=program,
        subject=operation.subject,
        kinds={operation.kind, *operation.handling.doubts},
        states=(State.EXECUTING, State.UNRESOLVED),
    )
    alike = await requests.find(
        tx,
        program=program,
        subject=operation.subject,
        kinds=(operation.kind,),
        states=(*OPEN, State.SUCCEEDED),
        since=tx.now - SIMILAR_WITHIN,
    )
    doubtful = [other for other in in_doubt if other.id not in but and _speaks_against(other, operation)]
    facts["unresolved"] = [other.id for other in doubtful]
    facts["similar"] = [
        f"{other.id} ({other.word})"
        for other in alike
        if other.id not in {*but, *facts["unresolved"]} and dict(other.terms) == operation.terms()
    ]
    return facts


def _speaks_against(other: Request, operation: Operation) -> bool:
    """Of two that set something, only where it is in common."""
    if other.kind != operation.kind:
        return True
    return bool(operation.settings & type(operation).of_stored(other.terms).settings)


def recorded_concerns(operation: Operation, facts: Facts) -> list[Concern]:
    found = []
    ids = ", ".join(facts.get("unresolved") or ())
    if ids and operation.handling.alone:
        found.append(Concern(f"{ids} is under way: this one waits for it."))
    elif ids and operation.handling.doubts:
        found.append(
            Concern(
                f"{ids} on the same card has no known outcome yet. This one waits for it, because both might pay;"
                f" once approved, it waits {APPROVAL_VALID_IN_WORDS} at most, then it ends and nothing is sent."
                f" {HOW_TO_RESOLVE}"
            )
        )
    elif ids:
        waits = (
            ""
            if operation.handling.is_urgent
            else " Once approved, this one waits while that may still arrive."
        )
        found.append(Concern(f"{ids} sets the same and has no known outcome yet.{waits}"))
    if facts.get("similar"):
        found.append(Concern(f"The same was requested within 24 hours: {', '.join(facts['similar'])}."))
    return found


async def recorded_lines(
    tx: Tx, core: Core, operation: Operation, facts: Facts, requester: str
) -> list[Line]:
    """Float after everything pending, and how much of the rolling limits this would use."""
    lines: list[Line] = []
    exposure = operation.exposure_usd()
    # Where nothing is held, the line of the float says the same.
    if operation.handling.moves_float and "float_available_usd" in facts and facts["pending_usd"]:
        after_all = facts["float_available_usd"] - exposure - facts["pending_usd"]
        lines.append(("After all pending", format_usd(after_all)))
    lines += await limit_lines(tx, core, exposure, requester)
    reference = operation.first_of(value_types.PARTNER_REF)
    if reference:
        named = await otp_recipients.receiver(tx, reference)
        lines.append(("One-time codes go to", named or "nobody yet: /countersign people names somebody"))
    return lines


async def limit_lines(tx: Tx, core: Core, exposure: Decimal, requester: str) -> list[Line]:
    """How much of the rolling limits, where there are any, this and what was approved lately would use."""
    uses = await granted_sums.limit_uses(tx, core, requester)
    return [(use.label, use.used_with(exposure)) for use in uses] if exposure else []


async def limit_lines_for_approvers(
    tx: Tx, core: Core, request: Request, approvers: Collection[str]
) -> tuple[Line, ...]:
    """The same to those who approve a pending request: of pairs with each of `approvers` the one most used."""
    uses = await _uses_if_approved(tx, core, request, approvers)
    most = {use.label_for_approvers: use for use in sorted(uses, key=lambda use: use.spent_usd)}
    return tuple(
        (use.label_for_approvers, use.used_with(request.exposure_usd))
        for use in uses
        if use is most[use.label_for_approvers]
    )


async def limit_warnings(tx: Tx, core: Core, exposure: Decimal, requester: str) -> list[Concern]:
    """The rolling limits that this would pass because of what else was approved in the last 24 hours."""
    uses = await granted_sums.limit_uses(tx, core, requester)
    return [Concern(use.warning(exposure)) for use in uses if exposure and not use.allows(exposure)]


async def limit_cautions(
    tx: Tx, core: Core, request: Request, approvers: Collection[str]
) -> tuple[Concern, ...]:
    """The same to those who approve: what the last approval would be refused for, with each of `approvers`."""
    uses, usd = await _uses_if_approved(tx, core, request, approvers), request.exposure_usd
    return tuple(Concern(use.caution(usd)) for use in uses if not use.allows(usd))


async def _uses_if_approved(
    tx: Tx, core: Core, request: Request, approvers: Collection[str]
) -> Sequence[LimitUse]:
    """The rolling limits that an approval by one of `approvers` would count towards; none where nothing is pending."""
    if not request.exposure_usd or request.state is not State.PENDING:
        return ()
    return await granted_sums.limit_uses(tx, core, request.requester, approvers=approvers)
