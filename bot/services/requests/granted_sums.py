"""What a requester was granted in the last 24 hours together with a request: for limits, and tiers that look at it.

So that an amount above one cannot be split into several below it, or among several accounts of one person. Nothing is
read where there is no limit, or for kinds without such a tier.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal

from bot.domain.limits import WINDOW, Grants, IsSame, LimitUse, uses
from bot.domain.money import exact_sum, format_usd
from bot.domain.people import KindPolicy, Limits, Per, Sums
from bot.domain.requests import Conditions, Decision, DecisionKind, Request, State
from bot.domain.time import in_words
from bot.operations import Line
from bot.services import people
from bot.services.core import Core
from bot.services.requests import batch_rows
from storage.requests import requests
from storage.transaction import Tx

SENT = "Sent"
"""Before how long it waits after its last approval."""
_LABELS: Mapping[Per, str] = {
    Per.CARD: "This card in 24 hours",
    Per.REQUESTER: "This requester in 24 hours",
}


@dataclass(frozen=True, slots=True)
class Policed:
    """What the policy asks for now; `sums` is None where none of its tiers looks at them."""

    conditions: Conditions
    sums: Sums | None


async def of_request(
    tx: Tx,
    core: Core,
    request: Request,
    *,
    counted: people.Counted | None = None,
    until: datetime | None = None,
) -> Policed:
    """What the policy asks for of a request, with what was granted until now, or before `until`. A batch counts with
    its rows. Call `lock_limits` first when a decision hangs on it.

    What other accounts of the requester were granted counts as well: `counted` says who belongs together, and
    `NotKnownWhose` is raised for others that may matter. Without it, as far as this process knows.
    """
    policy = core.policy.of(request.kind)
    grants = await _for_sums(tx, policy, request.exposure_usd, until)
    by_card = await _by_card(tx, core, request)

    def judge(is_same: IsSame) -> Policed:
        return _policed(policy, request.requester, request.exposure_usd, by_card, grants, is_same)

    counted = counted or people.Counted(people.known_persons(core))
    if grants is not None:
        people.by_persons(
            lambda is_same: judge(is_same).conditions,
            counted,
            own=[request.requester],
            others=grants.by_account(),
        )
    return judge(counted.standing.is_same_person)


async def of_amounts(
    tx: Tx,
    core: Core,
    kind: str,
    requester: str,
    exposure_usd: Decimal,
    by_card: Iterable[tuple[str, Decimal]],
) -> Policed:
    """The same of something that is not requested yet: its amount in all, and each card with its amount, in USD."""
    policy = core.policy.of(kind)
    grants = await _for_sums(tx, policy, exposure_usd)
    is_same = people.known_persons(core).is_same_person
    return _policed(policy, requester, exposure_usd, by_card, grants, is_same)


async def granted_usd(tx: Tx, core: Core, kind: str, requester: str) -> Decimal | None:
    """What the person with this account was granted in the last 24 hours; None where no tier of the kind looks at it.

    As far as this process knows who belongs together.
    """
    if not core.policy.of(kind).looks_at_sums:
        return None
    grants = await requests.grants(tx, tx.now - WINDOW)
    return exact_sum(one.usd for one in grants.of(requester, people.known_persons(core).is_same_person))


async def _for_sums(
    tx: Tx, policy: KindPolicy, exposure_usd: Decimal, until: datetime | None = None
) -> Grants | None:
    """What was granted in the 24 hours that end now, or at `until`; None where no tier looks at it."""
    if not policy.looks_at_sums or not exposure_usd:
        return None
    return await requests.grants(tx, (until or tx.now) - WINDOW, until=until)


def _policed(
    policy: KindPolicy,
    requester: str,
    exposure_usd: Decimal,
    by_card: Iterable[tuple[str, Decimal]],
    grants: Grants | None,
    is_same: IsSame,
) -> Policed:
    sums = None
    if grants is not None:
        granted = _by_subject((one.subject, one.usd) for one in grants.of(requester, is_same))
        card_usd = max(
            (usd + granted.get(card, Decimal(0)) for card, usd in _by_subject(by_card).items()),
            default=exposure_usd,
        )
        sums = Sums(card_usd, exact_sum(granted.values()) + exposure_usd)
    conditions = Conditions(policy.approvals_needed(exposure_usd, sums), policy.waits(exposure_usd, sums))
    return Policed(conditions, sums)


def _by_subject(amounts: Iterable[tuple[str, Decimal]]) -> dict[str, Decimal]:
    found: dict[str, Decimal] = {}
    for subject, usd in amounts:
        found[subject] = found.get(subject, Decimal(0)) + usd
    return found


async def limit_uses(
    tx: Tx, core: Core, requester: str, *, approvers: Collection[str] = ()
) -> Sequence[LimitUse]:
    """How much of each limit was used in the last 24 hours, as far as this process knows who belongs together."""
    grants = await _for_limits(tx, core.policy.limits)
    if grants is None:
        return ()
    is_same = people.known_persons(core).is_same_person
    return uses(core.policy.limits, grants, requester=requester, approvers=approvers, is_same=is_same)


async def passed_limit(
    tx: Tx,
    core: Core,
    request: Request,
    approvers: Collection[str],
    counted: people.Counted,
    *,
    until: datetime | None = None,
    limits: Limits | None = None,
) -> LimitUse | None:
    """The first rolling limit that this request passes with what was granted until now, or before `until`.

    `limits`: those of the policy, unless given.

    `approvers`: accounts that approve it. `counted` as in `of_request`. Call `lock_limits` first when a
    decision hangs on it.
    """
    limits = core.policy.limits if limits is None else limits
    grants = await _for_limits(tx, limits, until) if request.exposure_usd else None
    if grants is None:
        return None

    def judge(is_same: IsSame) -> LimitUse | None:
        found = uses(limits, grants, requester=request.requester, approvers=approvers, is_same=is_same)
        return next((use for use in found if not use.allows(request.exposure_usd)), None)

    # More accounts only add to it.
    if (known := judge(counted.standing.is_same_person)) is None:
        people.by_persons(
            lambda is_same: judge(is_same) is None,
            counted,
            own=[request.requester, *approvers],
            others=grants.by_account(with_approvers=True),
        )
    return known


async def _for_limits(tx: Tx, limits: Limits, until: datetime | None = None) -> Grants | None:
    """None where there is no limit."""
    if limits == Limits():
        return None
    of_pairs = limits.per_pair_usd is not None
    return await requests.grants(tx, (until or tx.now) - WINDOW, until=until, with_approvers=of_pairs)


async def _by_card(tx: Tx, core: Core, request: Request) -> list[tuple[str, Decimal]]:
    if not core.policy.of(request.kind).looks_at_sums:
        return []
    of = await batch_rows.included(tx, request) if request.is_batch else [request]
    return [(one.subject, one.exposure_usd) for one in of if one.subject]


async def lines(tx: Tx, core: Core, request: Request) -> tuple[Line, ...]:
    """The sums that the tiers look at, this request included, and from where on they ask for more. Of a pending one."""
    if request.state is not State.PENDING:
        return ()
    asked = await of_request(tx, core, request)
    return lines_of(core.policy.of(request.kind), asked)


def lines_of(policy: KindPolicy, asked: Policed) -> tuple[Line, ...]:
    """`This card in 24 hours`, `998.00 USD with this one; 2 approvals above 500.00 USD`; and how long it waits."""
    found = []
    for per in policy.looks_at_sums if asked.sums is not None else ():
        sums = asked.sums or Sums(Decimal(0), Decimal(0))
        usd = sums.card_usd if per is Per.CARD else sums.requester_usd
        steps = ", ".join(
            f"{tier.approvals} approvals above {format_usd(tier.above_usd)}"
            for tier in policy.tiers
            if tier.per is per
        )
        found.append((_LABELS[per], f"{format_usd(usd)} with this one; {steps}"))
    if asked.conditions.waits:
        waits = (
            f"{in_words(asked.conditions.waits)} after the last approval; until then any approver can stop it"
        )
        found.append((SENT, waits))
    return tuple(found)


async def as_asked_now(tx: Tx, core: Core, request: Request, made: Iterable[Decision]) -> Request:
    """The same for people to read, with as many approvals as it needs now, or as it needed when it was approved.

    Never to be stored or checked: what was requested says how many were needed then.
    """
    approvals = [decision for decision in made if decision.kind is DecisionKind.APPROVE]
    needed = Conditions.of(approvals).needed
    if request.state is State.PENDING and request.parent_id is None and request.kind in core.kinds:
        needed = max(needed, (await of_request(tx, core, request)).conditions.needed)
    return replace(request, approvals_needed=max(request.approvals_needed, needed))


def sent_from(request: Request, made: Iterable[Decision]) -> datetime | None:
    """From when on an approved request is sent, where the policy lets it wait; None where it does not."""
    waits = Conditions.of(d for d in made if d.kind is DecisionKind.APPROVE).waits
    if request.state is not State.APPROVED or request.approved_at is None or not waits:
        return None
    return request.approved_at + waits
