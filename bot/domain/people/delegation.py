"""Deciding in somebody's place for a while, and why that never makes one approver into two. Pure.

A delegation is written in the reviewed `countersign.toml`. While it is in force the delegate may approve, and
so may the one who is away: but the two count as one person. Neither may decide on what the other asked for,
and their words on one request are one word.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

LONGEST = timedelta(days=92)
"""Whoever stands in for longer belongs into the approvers."""


@dataclass(frozen=True, slots=True)
class Delegation:
    """`delegate` decides in the place of `away` from `since` to before `until`; names as the file has them."""

    away: str
    delegate: str
    since: datetime
    until: datetime
    reason: str

    def in_force(self, now: datetime) -> bool:
        return self.since <= now < self.until

    def overlaps(self, other: Delegation) -> bool:
        same = (self.away, self.delegate) == (other.away, other.delegate)
        return same and self.since < other.until and other.since < self.until


@dataclass(frozen=True, slots=True)
class Standing:
    """Who may approve now, by Slack id.

    `stands_for`: those who may only by delegation, each with the approvers in whose place they are.
    """

    approvers: frozenset[str]
    stands_for: Mapping[str, frozenset[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, approvers: frozenset[str], delegated: Iterable[tuple[str, str]]) -> Standing:
        """From the approvers named by the policy and pairs of (away, delegate) in force.

        One who is no approver has nothing to delegate, and an approver needs no delegation.
        """
        stands_for: dict[str, frozenset[str]] = {}
        for away, delegate in delegated:
            if away in approvers and delegate not in approvers:
                stands_for[delegate] = stands_for.get(delegate, frozenset()) | {away}
        return cls(approvers | stands_for.keys(), stands_for)

    def are_one(self, one: str, other: str) -> bool:
        """The same person, a delegate and the one in whose place they decide, or two delegates of one."""
        return not self._seats(one).isdisjoint(self._seats(other))

    def _seats(self, person: str) -> frozenset[str]:
        """The approvers of the policy whose word this person's would be; anybody else's is their own."""
        return self.stands_for.get(person, frozenset()) | {person}
