"""What a requester was granted in the last 24 hours together with a request: for tiers of the policy that look at it.

So that an amount above a tier cannot be split into several below it. Nothing is read for kinds without such a tier.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal

from bot.domain.limits import WINDOW
from bot.domain.money import exact_sum, format_usd
from bot.domain.people import KindPolicy, Per, Standing, Sums
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


async def of_request(tx: Tx, core: Core, request: Request, *, until: datetime | None = None) -> Policed:
    """What the policy asks for of a request, with what was granted until now. A batch counts with its rows.

    Call `lock_limits` first when a decision hangs on it. `until` as in `of_amounts`.
    """
    policy = core.policy.of(request.kind)
    amounts = await _by_card(tx, core, request)
    return await of_amounts(tx, policy, request.requester, request.exposure_usd, amounts, until=until)


async def of_person(
    tx: Tx, core: Core, request: Request, standing: Standing, seen: Collection[str]
) -> Policed:
    """As `of_request`, for a decision: what other accounts of the requester were granted counts as well.

    `standing` says who belongs together, of the accounts `seen`. Raises `NotLookedAt` for others that may matter.
    """
    alone = await of_request(tx, core, request)
    if alone.sums is None:
        return alone
    others = await requests.granted_to_others(tx, request.requester, since=tx.now - WINDOW)
    policy, by_card = core.policy.of(request.kind), await _by_card(tx, core, request)

    async def with_those_of(accounts: Iterable[str]) -> Policed:
        more = [others[account] for account in accounts]
        return await of_amounts(tx, policy, request.requester, request.exposure_usd, by_card, more=more)

    # Slack is asked about them only where it could matter whose they are.
    if (await with_those_of(others)).conditions == alone.conditions:
        return alone
    people.require_looked_at(others, seen)
    return await with_those_of(one for one in others if standing.is_same_person(one, request.requester))


async def of_amounts(
    tx: Tx,
    policy: KindPolicy,
    requester: str,
    exposure_usd: Decimal,
    by_card: Iterable[tuple[str, Decimal]],
    *,
    until: datetime | None = None,
    more: Iterable[Mapping[str, Decimal]] = (),
) -> Policed:
    """The same of something that is not requested yet: its amount in all, and each card with its amount, in USD.

    `until`: what was granted before then, within the 24 hours that ended there. `more`: what other accounts
    were granted, by card.
    """
    sums = None
    if policy.looks_at_sums and exposure_usd:
        end = until or tx.now
        granted = await requests.granted(tx, requester, since=end - WINDOW, until=until)
        for card, usd in (each for of_another in more for each in of_another.items()):
            granted[card] = granted.get(card, Decimal(0)) + usd
        here: dict[str, Decimal] = {}
        for card, usd in by_card:
            here[card] = here.get(card, Decimal(0)) + usd
        card_usd = max(
            (usd + granted.get(card, Decimal(0)) for card, usd in here.items()), default=exposure_usd
        )
        sums = Sums(card_usd, exact_sum(granted.values()) + exposure_usd)
    conditions = Conditions(policy.approvals_needed(exposure_usd, sums), policy.waits(exposure_usd, sums))
    return Policed(conditions, sums)


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
