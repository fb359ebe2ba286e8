"""Reads who decides what from `countersign.toml`: people, delegations, policies by kind, limits."""

from __future__ import annotations

import re
from zoneinfo import ZoneInfo

from bot import operations
from bot.config_table import Table
from bot.domain.people.delegation import LONGEST, Delegation
from bot.domain.people.policy import KINDS, KindPolicy, Limits, People, Policy, Tier

_PERSON = re.compile(r"@[a-z0-9][a-z0-9._-]*|[UWS][A-Z0-9]{2,}")
_ONE_PERSON = re.compile(r"@[a-z0-9][a-z0-9._-]*|[UW][A-Z0-9]{2,}")


def read_policy(root: Table, digest: str, zone: ZoneInfo) -> Policy:
    tables = root.table("policy")
    default = _kind(tables.table("default"), KindPolicy())
    known = dict.fromkeys((*KINDS, *operations.kinds()))
    kinds = {kind: _kind(tables.table(kind), default) for kind in known if kind in tables.values}
    tables.refuse_the_rest(known)
    people = root.table("people")
    delegations = _delegations(people, zone)
    return Policy(_people(people), kinds, default, _limits(root.table("limits")), digest, delegations)


def _kind(table: Table, default: KindPolicy) -> KindPolicy:
    """One policy table; what it does not set comes from `default`."""
    approvals = table.count("approvals", default.approvals)
    tiers = _tiers(table, approvals) if "tiers" in table.values else default.tiers
    now = default.now
    if table.name == "policy.card_freeze":
        given = table.get("now", bool, "true or false")
        now = default.now if given is None else given
    expires = table.duration("expires", default.expires)
    table.refuse_the_rest()
    return KindPolicy(approvals, expires, tiers, now)


def _tiers(table: Table, approvals: int) -> tuple[Tier, ...]:
    """Steps that go up in amount and in approvals: any other step would never matter."""
    tiers: list[Tier] = []
    for row in table.tables("tiers"):
        above_usd = row.usd("above_usd", zero=True)
        needed = row.count("approvals", 0)
        row.refuse_the_rest()
        if above_usd is None or not needed:
            if not row.values.get("above_usd") or "approvals" not in row.values:
                table.problem("tiers", 'needs rows of the form { above_usd = "500", approvals = 2 }.')
            continue
        if needed <= max([approvals, *(tier.approvals for tier in tiers)]):
            row.problem(
                "approvals", f"is {needed}, no more than below that amount: the tier would do nothing."
            )
        if tiers and above_usd <= tiers[-1].above_usd:
            row.problem("above_usd", "must be more than in the tier before it.")
        tiers.append(Tier(above_usd, needed))
    return tuple(tiers)


def _people(table: Table) -> People:
    what = 'an "@group", an "@user" or a Slack id'
    people = People(
        **{role: table.texts(role, _PERSON, what) for role in ("requesters", "approvers", "admins")}
    )
    if not people.approvers:
        table.problem("approvers", "names nobody, so no request could ever be approved.")
    table.refuse_the_rest()
    return people


def _delegations(people: Table, zone: ZoneInfo) -> tuple[Delegation, ...]:
    """`{ from = "@bob", to = "@dora", since = 2026-03-02, until = 2026-03-08, reason = "on leave" }`"""
    found: list[Delegation] = []
    for row in people.tables("delegations"):
        away, delegate = (row.text(key, _ONE_PERSON, 'an "@user" or a Slack id') for key in ("from", "to"))
        since, until = row.moment("since", zone), row.moment("until", zone, end_of_day=True)
        reason: str = row.get("reason", str, "a text") or ""
        row.refuse_the_rest()
        for key, value in (("from", away), ("to", delegate), ("reason", reason.strip())):
            if not value:
                row.problem(key, "is needed.")
        if away is None or delegate is None or since is None or until is None:
            continue
        delegation = Delegation(away, delegate, since, until, reason.strip())
        if away == delegate:
            row.problem("to", "is the person who is away.")
        if until <= since:
            row.problem("until", "is not after since.")
        if until - since > LONGEST:
            row.problem("until", f"is more than {LONGEST.days} days away: name them as an approver instead.")
        if any(delegation.overlaps(other) for other in found):
            row.problem("since", "overlaps another delegation between the same two.")
        found.append(delegation)
    return tuple(found)


def _limits(table: Table) -> Limits:
    limits = Limits(**{key: table.usd(key) for key in ("per_requester_usd", "per_pair_usd", "total_usd")})
    table.refuse_the_rest()
    return limits
