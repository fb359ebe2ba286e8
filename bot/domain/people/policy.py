"""Who may approve what, how many must, for how long a request waits, and how much may pass in a day.

The values come from the reviewed `countersign.toml` (`bot.config` reads it); nothing in Slack or in
the database changes them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from decimal import Decimal
from enum import StrEnum

from bot.domain.people.delegation import Delegation
from bot.domain.people.one_person import joined
from bot.domain.sentences import with_stop
from bot.domain.time import in_words

# From the deciding approval to the first byte sent. Long enough for a restart, short enough that
# nobody is surprised by a payment approved before lunch.
APPROVAL_VALID_FOR = timedelta(minutes=15)
APPROVAL_VALID_IN_WORDS = f"{APPROVAL_VALID_FOR // timedelta(minutes=1)} minutes"


def approved_while_paused(why_paused: str) -> str:
    """`why_paused`, a sentence, and what a pause means for a request that is approved meanwhile."""
    return f"{with_stop(why_paused)} What is approved meanwhile waits {APPROVAL_VALID_IN_WORDS} at most."


class Per(StrEnum):
    """Which amount a tier looks at: this request's, or the sum of what its requester was granted in 24 hours."""

    REQUEST = "request"
    CARD = "card"  # for the card of the request, this one included
    REQUESTER = "requester"  # in all, this one included


@dataclass(frozen=True, slots=True)
class Sums:
    """What a requester was granted in the last 24 hours together with one request that is not granted yet, in USD.

    `card_usd`: for the card of that request; of a list, for the card of its rows that comes to most.
    """

    card_usd: Decimal
    requester_usd: Decimal


@dataclass(frozen=True, slots=True)
class Tier:
    """Above this many dollars, this many approvals, each with a passkey where `passkey` says so.

    `cool_off`: it is sent no sooner than this long after its last approval.
    """

    above_usd: Decimal
    approvals: int
    passkey: bool = False
    per: Per = Per.REQUEST
    cool_off: timedelta = timedelta(0)

    def is_reached(self, exposure_usd: Decimal, sums: Sums | None = None) -> bool:
        """Does this tier count for a request of that amount? Without `sums`, a tier that looks at them does not."""
        if self.per is Per.REQUEST:
            return exposure_usd > self.above_usd
        if sums is None or not exposure_usd:
            return False
        sum_usd = sums.card_usd if self.per is Per.CARD else sums.requester_usd
        return sum_usd > self.above_usd

    def described(self) -> str:
        """`2 above 500 USD for one card in 24 hours, with a passkey`"""
        passkey = ", with a passkey" if self.passkey else ""
        waits = f", sent {in_words(self.cool_off)} later" if self.cool_off else ""
        return f"{self.approvals} above {self.above_usd} USD{SUM_WORDS[self.per]}{passkey}{waits}"


SUM_WORDS: Mapping[Per, str] = {
    Per.REQUEST: "",
    Per.CARD: " for one card in 24 hours",
    Per.REQUESTER: " for one requester in 24 hours",
}
"""After the amount of a tier, which amount it is."""


class Call(StrEnum):
    """Who is mentioned in a request's message: those who can decide on it, or nobody."""

    GROUP = "group"
    NOBODY = "nobody"


@dataclass(frozen=True, slots=True)
class KindPolicy:
    """The policy of one operation kind. `approvals` counts people other than the requester."""

    approvals: int = 1
    expires: timedelta = timedelta(hours=8)
    tiers: tuple[Tier, ...] = ()
    now: bool = True  # of a kind that can run at once, such as a freeze: may the requester have it so?
    now_per_person: int = 10  # so many of them by one person in 24 hours; the next one waits for an approval
    call: Call = Call.GROUP
    passkey: bool = False  # is an approval given with a passkey?
    cool_off: timedelta = timedelta(0)  # so long after the last approval it is sent at the earliest

    @property
    def looks_at_sums(self) -> tuple[Per, ...]:
        """Which sums of 24 hours its tiers look at, each once; empty = the amount of each request alone."""
        return tuple(dict.fromkeys(t.per for t in self.tiers if t.per is not Per.REQUEST))

    def approvals_needed(self, exposure_usd: Decimal, sums: Sums | None = None) -> int:
        """The highest number asked by any tier that `exposure_usd`, or a sum of 24 hours, is above."""
        return max([self.approvals, *(t.approvals for t in self.tiers if t.is_reached(exposure_usd, sums))])

    def waits(self, exposure_usd: Decimal, sums: Sums | None = None) -> timedelta:
        """How long after the last approval it is sent at the earliest, by the longest that counts."""
        return max([self.cool_off, *(t.cool_off for t in self.tiers if t.is_reached(exposure_usd, sums))])

    def described(self) -> dict[str, str]:
        """Setting -> its value in words."""
        return {
            "approvals": str(self.approvals),
            "expires": in_words(self.expires),
            "tiers": ", ".join(tier.described() for tier in self.tiers) or "none",
            "cool_off": in_words(self.cool_off),
            "now": "yes" if self.now else "no",
            "now_per_person": str(self.now_per_person),
            "passkey": "yes" if self.passkey else "no",
        }

    def needs_passkey(self, exposure_usd: Decimal) -> bool:
        """Whether each approval is given with a passkey: always, or by any tier that `exposure_usd` is above."""
        return self.passkey or any(t.passkey for t in self.tiers if t.is_reached(exposure_usd))

    @property
    def passkey_above_usd(self) -> Decimal | None:
        """Above which amount approvals are given with a passkey: 0 = always, None = never."""
        if self.passkey:
            return Decimal(0)
        return min((t.above_usd for t in self.tiers if t.passkey), default=None)

    @property
    def asks_for_passkey(self) -> bool:
        """At any amount."""
        return self.passkey_above_usd is not None

    @property
    def most_approvals(self) -> int:
        return max([self.approvals, *(t.approvals for t in self.tiers)])


@dataclass(frozen=True, slots=True)
class Limits:
    """Rolling 24 hours, in USD; None = no limit."""

    per_requester_usd: Decimal | None = None
    per_pair_usd: Decimal | None = None
    total_usd: Decimal | None = None


LIMITS = ("per_requester_usd", "per_pair_usd", "total_usd")
"""Their names, in the order in which they are described."""
NO_LIMIT = "no limit"


@dataclass(frozen=True, slots=True)
class People:
    """Names as written in the file: Slack ids, `@group` handles or `@user` names."""

    requesters: tuple[str, ...] = ()  # empty = every full member
    approvers: tuple[str, ...] = ()
    admins: tuple[str, ...] = ()
    same_person: tuple[tuple[str, ...], ...] = ()  # accounts of one person, for each person who has several
    settle: timedelta = timedelta(0)  # a new approver counts only after this time


@dataclass(frozen=True, slots=True)
class Policy:
    """All that `countersign.toml` says about deciding. `version` is the digest of the file."""

    people: People
    kinds: Mapping[str, KindPolicy] = field(default_factory=dict)
    default: KindPolicy = KindPolicy()
    limits: Limits = Limits()
    version: str = ""
    delegations: tuple[Delegation, ...] = ()

    def of(self, kind: str) -> KindPolicy:
        return self.kinds.get(kind, self.default)

    @property
    def uses_passkeys(self) -> bool:
        """Whether any kind asks for a passkey, at any amount."""
        return any(one.asks_for_passkey for one in (self.default, *self.kinds.values()))


def described(policy: Policy) -> dict[str, str]:
    """Setting -> its value in words, for everything that says who decides what: to see what has changed."""
    people, limits = policy.people, policy.limits
    found = {
        "people.requesters": ", ".join(people.requesters) or "every full member",
        "people.approvers": ", ".join(people.approvers),
        "people.admins": ", ".join(people.admins) or "the approvers",
        "people.same_person": "; ".join(" = ".join(accounts) for accounts in people.same_person) or "none",
        "people.settle": in_words(people.settle),
        "people.delegations": "; ".join(
            f"{d.away} to {d.delegate}, {d.since:%Y-%m-%d} to {d.until:%Y-%m-%d}" for d in policy.delegations
        )
        or "none",
    }
    for name in LIMITS:
        most = getattr(limits, name)
        found[f"limits.{name}"] = NO_LIMIT if most is None else f"{most} USD"
    for kind, rule in (("default", policy.default), *sorted(policy.kinds.items())):
        found |= {f"policy.{kind}.{name}": words for name, words in rule.described().items()}
    return found


def changes(before: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """A sentence for each setting that is not as it was, in the order of `now`."""
    names = [*now, *(name for name in before if name not in now)]
    return [
        f"{name}: was {before.get(name, 'not set')}, is {now.get(name, 'not set')}."
        for name in names
        if before.get(name) != now.get(name)
    ]


def never_met(
    policy: Policy,
    kinds: Collection[str],
    requesters: frozenset[str] | None,
    approvers: frozenset[str],
    same_person: Iterable[Collection[str]] = (),
) -> list[str]:
    """Why this policy could never be met by these people; empty when it can.

    `kinds` are all there are, in the order in which they are listed. `requesters` is None when every full
    member may ask. Accounts of each group of `same_person` count once. `approvers` are those the policy names: a
    delegate adds nobody, as the two count as one. Each sentence names the kind and the fix.
    """
    problems = []
    if not approvers:
        return [
            f"Nobody is in people.approvers ({', '.join(policy.people.approvers)}), so no request can be approved. Add"
            " people to the group in Slack, or name others in countersign.toml."
        ]
    persons = joined({}, same_person)
    able_people = {persons.get(one, one) for one in approvers}
    asking = None if requesters is None else {persons.get(one, one) for one in requesters}
    for kind in dict.fromkeys((*kinds, *policy.kinds)):
        needed = policy.of(kind).most_approvals
        if asking is not None and len(asking) == 1:
            able = len(able_people - asking)
            who = "other than the only requester"
        else:
            able = len(able_people)
            who = "in all"
        if able < needed:
            problems.append(
                f"policy.{kind} asks for {needed} approval(s), but there are only {able} approver(s) {who}."
                " Add approvers or ask for fewer approvals."
            )
    return problems
