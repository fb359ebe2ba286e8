"""Looking at Countersign itself: its policy in words, and who may approve what now."""

from __future__ import annotations

from datetime import timedelta

from bot import operations
from bot.domain.money import format_usd
from bot.domain.requests import who_may_be_second
from bot.services import people
from bot.services.core import Core
from bot.services.requests import granted_sums
from bot.view_models import DelegationView, PolicyRow, PolicyView, WhoView


def policy_view(core: Core) -> PolicyView:
    limits = core.policy.limits
    shown = [
        (label, format_usd(value))
        for label, value in (
            ("For each requester", limits.per_requester_usd),
            ("For each pair of requester and approver", limits.per_pair_usd),
            ("In all", limits.total_usd),
        )
        if value is not None
    ]
    rows = []
    for kind in operations.listed(core.kinds):
        of = core.policy.of(kind)
        cls = core.kinds[kind]
        rows.append(
            PolicyRow(
                kind=kind,
                title=cls.title,
                approvals=of.approvals,
                tiers=of.tiers,
                expires=_duration(of.expires),
                run_now=cls.handling.run_now if of.now else "",
                passkey_above_usd=of.passkey_above_usd,
                cool_off=of.cool_off,
            )
        )
    who = core.policy.people
    return PolicyView(
        tuple(rows),
        who.requesters,
        who.approvers,
        who.admins,
        tuple(shown),
        core.policy.version,
        delegations(core),
    )


def delegations(core: Core) -> tuple[DelegationView, ...]:
    """Those in force and to come, the next to end first."""
    now = core.clock.now()
    ahead = sorted((d for d in core.policy.delegations if now < d.until), key=lambda d: (d.until, d.since))
    return tuple(
        DelegationView(d.away, d.delegate, d.since, d.until, d.reason, in_force=d.in_force(now))
        for d in ahead
    )


def _duration(span: timedelta) -> str:
    seconds = int(span.total_seconds())
    for unit, name in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds % unit == 0 and seconds >= unit:
            return f"{seconds // unit} {name}"
    return f"{seconds} s"


async def who(core: Core, kind: str, requester: str) -> WhoView:
    """Who may approve this kind now, were `requester` to ask."""
    cls = core.kinds[kind]
    standing = await people.standing_lately(core)
    able = who_may_be_second(requester, standing)
    async with core.store.read() as tx:
        granted_usd = await granted_sums.granted_usd(tx, core, kind, requester)
    return WhoView(
        title=cls.title,
        approvals=core.policy.of(kind).approvals,
        able=tuple(sorted(able)),
        names=core.policy.people.approvers,
        requester=requester,
        in_place_of={person: tuple(sorted(standing.stands_for.get(person, ()))) for person in sorted(able)},
        tiers=core.policy.of(kind).tiers,
        granted_usd=granted_usd,
    )
