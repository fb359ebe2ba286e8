"""Deciding in somebody's place for a while, and why that never makes one approver into two. Pure.

A delegation is written in the reviewed `countersign.toml`. While it is in force the delegate may approve, and
so may the one who is away: but the two count as one person. Neither may decide on what the other asked for,
and their words on one request are one word.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from bot.domain.people.one_person import joined

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

    `stands_for`: those who may only by delegation, each with the approvers in whose place they are. `persons`: the
    accounts that belong to one person with others, each with the one that stands for that person. `waiting`: those
    whom the policy names, and who are approvers for too short a time to count.
    """

    approvers: frozenset[str]
    stands_for: Mapping[str, frozenset[str]] = field(default_factory=dict)
    persons: Mapping[str, str] = field(default_factory=dict)
    waiting: frozenset[str] = frozenset()

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

    @property
    def named(self) -> frozenset[str]:
        """The approvers whom the policy names, those who do not count yet among them."""
        return (self.approvers - self.stands_for.keys()) | self.waiting

    def with_persons(self, groups: Iterable[Collection[str]]) -> Standing:
        """The same, where the accounts of each of these groups belong to one person."""
        return replace(self, persons=joined(self.persons, groups))

    def is_same_person(self, one: str, other: str) -> bool:
        """Two accounts of one person, or one account."""
        return self._person(one) == self._person(other)

    def accounts_of(self, accounts: Iterable[str]) -> frozenset[str]:
        """These accounts and all others that are known to belong to the same people."""
        own = frozenset(accounts)
        persons = {self._person(one) for one in own}
        return own | {one for one, person in self.persons.items() if person in persons}

    def are_one(self, one: str, other: str) -> bool:
        """The same person, a delegate and the one in whose place they decide, or two delegates of one."""
        return not self._seats(one).isdisjoint(self._seats(other))

    def _seats(self, account: str) -> frozenset[str]:
        """The persons whose word this account's would be; of no approver's delegate, their own."""
        accounts = self.stands_for.get(account, frozenset()) | {account}
        return frozenset(self._person(one) for one in accounts)

    def _person(self, account: str) -> str:
        return self.persons.get(account, account)
