"""What the audit log keeps of a policy so that a process with an older file can go by it: who has which role.

And what it tells of an earlier policy, from the settings in words that `described` made. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from bot.domain.money import parse_usd
from bot.domain.people.delegation import Delegation
from bot.domain.people.policy import LIMITS, NO_LIMIT, Limits, People, Policy

_SAME_PERSON = "people.same_person"


def people_as_json(policy: Policy) -> dict[str, Any]:
    """Its names as the file has them, and its delegations."""
    named = policy.people
    return {
        "requesters": list(named.requesters),
        "approvers": list(named.approvers),
        "admins": list(named.admins),
        "same_person": [list(accounts) for accounts in named.same_person],
        "settle_s": int(named.settle.total_seconds()),
        "delegations": [
            [d.away, d.delegate, d.since.isoformat(), d.until.isoformat()] for d in policy.delegations
        ],
    }


def people_of(recorded: Mapping[str, Any]) -> tuple[People, tuple[Delegation, ...]]:
    """The reverse of `people_as_json`. The reasons of the delegations are not kept."""
    people = People(
        requesters=tuple(recorded["requesters"]),
        approvers=tuple(recorded["approvers"]),
        admins=tuple(recorded["admins"]),
        same_person=tuple(tuple(accounts) for accounts in recorded["same_person"]),
        settle=timedelta(seconds=recorded["settle_s"]),
    )
    delegations = (
        Delegation(away, delegate, datetime.fromisoformat(since), datetime.fromisoformat(until), "")
        for away, delegate, since, until in recorded["delegations"]
    )
    return people, tuple(delegations)


def lowered(limits: Limits, then: Mapping[str, str], now: Mapping[str, str]) -> Limits:
    """Those of `limits` that are lower than by the settings `then`, or were not there. Both settings are in words.

    A limit of a person is one of them as well where other accounts count as one person now. What the settings do not
    say was not there.
    """
    counts_others = then.get(_SAME_PERSON) != now.get(_SAME_PERSON)

    def is_lowered(name: str, most: Decimal) -> bool:
        before = _limit(then.get(f"limits.{name}", NO_LIMIT))
        of_a_person = name != "total_usd"
        return before is None or most < before or (counts_others and of_a_person)

    kept = {name: most for name in LIMITS if (most := getattr(limits, name)) is not None}
    return Limits(**{name: most for name, most in kept.items() if is_lowered(name, most)})


def _limit(words: str) -> Decimal | None:
    try:
        return parse_usd(words.removesuffix(" USD"))
    except ValueError:
        return None


def counts_sums_otherwise(kind: str, then: Mapping[str, str], now: Mapping[str, str]) -> bool:
    """May a tier of this kind that looks at sums of 24 hours ask for something else than it did? Both in words."""
    return _tiers(kind, then) != _tiers(kind, now) or then.get(_SAME_PERSON) != now.get(_SAME_PERSON)


def _tiers(kind: str, settings: Mapping[str, str]) -> str | None:
    return settings.get(f"policy.{kind}.tiers", settings.get("policy.default.tiers"))
