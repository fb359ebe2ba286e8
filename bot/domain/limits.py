"""The rolling limits of the policy: what of them is used, what they leave, and the words for both.

A limit holds for any 24 hours: by one requester, by one requester with one approver, or by everybody. Each of them is a
person with all their accounts. What was approved counts (`bot.domain.requests.COMMITTED`), as `storage.requests.grants`
reads it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import ROUND_FLOOR, Decimal
from enum import StrEnum, auto

from bot.domain.errors import OverLimit
from bot.domain.money import exact_sum, format_usd
from bot.domain.people import Limits

WINDOW = timedelta(hours=24)


class Scope(StrEnum):
    """Whose approved amounts a limit counts."""

    REQUESTER = auto()
    PAIR = auto()  # of a requester and one who approved
    TOTAL = auto()


_LABELS: Mapping[Scope, str] = {
    Scope.REQUESTER: "Your limit in 24 hours",
    Scope.PAIR: "Your limit with one approver in 24 hours",
    Scope.TOTAL: "Everybody's limit in 24 hours",
}


# The same as those who approve read it.
_LABELS_FOR_APPROVERS: Mapping[Scope, str] = {
    Scope.REQUESTER: "Requester's limit in 24 hours",
    Scope.PAIR: "Requester's limit with one approver in 24 hours",
    Scope.TOTAL: "Everybody's limit in 24 hours",
}


# Of which limit it is, to those who approve.
_BY: Mapping[Scope, str] = {
    Scope.REQUESTER: "by this requester",
    Scope.PAIR: "by this requester with <@{approver}>",
    Scope.TOTAL: "in all",
}
# The same in what is said of a request that was stopped.
_BY_NOW: Mapping[Scope, str] = {
    Scope.REQUESTER: "by one requester",
    Scope.PAIR: "by one requester with one approver",
    Scope.TOTAL: "in all",
}
_UNLESS = "unless more is approved meanwhile"


def most_possible_usd(limits: Limits) -> Decimal | None:
    """The most that one request may ask for, in USD: more of it nobody could ever approve. None = no limit."""
    return min((limit for limit, _ in _each(limits)), default=None)


def never_fits(limits: Limits, usd: Decimal) -> str:
    """Why nobody could ever approve this much in one request, to who asks for it; "" where it may fit."""
    over = [(limit, scope) for limit, scope in _each(limits) if usd > limit]
    if not over:
        return ""
    limit, scope = min(over)
    return (
        f"{_LABELS[scope]} is {format_usd(limit)}: {format_usd(usd)} in one request can never be approved. Request"
        f" {format_usd(limit)} at most."
    )


def never_approvable(limits: Limits, usd: Decimal) -> str:
    """The same to those who would approve it: of a request that was made before there was this limit."""
    most_usd = most_possible_usd(limits)
    if most_usd is None or usd <= most_usd:
        return ""
    return (
        f"{format_usd(usd)} is more than a 24-hour limit of {format_usd(most_usd)} by itself: nobody can approve"
        " this. Reject it; its requester can request less."
    )


def require_possible(limits: Limits, usd: Decimal) -> None:
    """Raise `OverLimit` for what nobody could ever approve. Nothing of it is recorded then."""
    never = never_fits(limits, usd)
    if never:
        raise OverLimit(never)


def _each(limits: Limits) -> list[tuple[Decimal, Scope]]:
    found = (
        (limits.per_requester_usd, Scope.REQUESTER),
        (limits.per_pair_usd, Scope.PAIR),
        (limits.total_usd, Scope.TOTAL),
    )
    return [(limit, scope) for limit, scope in found if limit is not None]


#: Do two accounts, by Slack id, belong to one person?
IsSame = Callable[[str, str], bool]


@dataclass(frozen=True, slots=True)
class Grant:
    """A request, or a row of a list, that was approved and not given back: when, how much in USD, and on what.

    Of a debit that nobody knows the approval of, see `storage.requests.lost_debits`, `requester` is empty. `approvers`:
    Slack ids, empty where nobody asked for them.
    """

    at: datetime
    usd: Decimal
    subject: str
    requester: str = ""
    approvers: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Grants:
    """What was approved within some time by everybody. `lost` may have been, and counts for each person."""

    made: tuple[Grant, ...] = ()
    lost: tuple[Grant, ...] = ()

    def of(self, requester: str, is_same: IsSame) -> list[Grant]:
        """Those that the person with this account requested, and those that are lost."""
        return [*(one for one in self.made if is_same(requester, one.requester)), *self.lost]

    def of_pair(self, requester: str, approver: str, is_same: IsSame) -> list[Grant]:
        """Of those the ones that the person with the account `approver` approved, and those that are lost."""
        theirs = self.of(requester, is_same)
        return [
            one
            for one in theirs
            if not one.requester or any(is_same(approver, account) for account in one.approvers)
        ]

    def by_account(self, *, with_approvers: bool = False) -> dict[str, Decimal]:
        """How much, in USD, each account asked for, or approved as well; of those of which it was more than nothing."""
        found: dict[str, Decimal] = {}
        for grant in (one for one in self.made if one.usd):
            for account in {grant.requester, *(grant.approvers if with_approvers else ())}:
                found[account] = found.get(account, Decimal(0)) + grant.usd
        return found


@dataclass(frozen=True, slots=True)
class LimitUse:
    """One limit and what was approved under it within the window, both in USD. `approver`: of a pair.

    `approved`: when each amount was approved, in USD, so that it can be said when it counts no longer.
    """

    scope: Scope
    limit_usd: Decimal
    spent_usd: Decimal
    approver: str = ""
    approved: Sequence[tuple[datetime, Decimal]] = ()

    @property
    def left_usd(self) -> Decimal:
        return max(Decimal(0), self.limit_usd - self.spent_usd)

    def allows(self, usd: Decimal) -> bool:
        """Does this much more keep within the limit? All of what is left does."""
        return self.spent_usd + usd <= self.limit_usd

    def most_of(self, each_usd: Decimal) -> int:
        """How many amounts of `each_usd`, more than 0, still fit."""
        return int((self.left_usd / each_usd).to_integral_value(ROUND_FLOOR))

    @property
    def label(self) -> str:
        """As the requester reads it, before a figure."""
        return _LABELS[self.scope]

    @property
    def label_for_approvers(self) -> str:
        """As those who approve read it, before a figure."""
        return _LABELS_FOR_APPROVERS[self.scope]

    def used_with(self, usd: Decimal) -> str:
        """`40 of 5,000 used`: what would be used with this much more, in USD."""
        return f"{_short(self.spent_usd + usd)} of {_short(self.limit_usd)} used"

    def obstacle(self, usd: Decimal) -> str:
        """Why this much more does not fit, in a sentence."""
        used = f", and {format_usd(self.spent_usd)} of it is used" if self.spent_usd else ""
        return f"{self.label} is {format_usd(self.limit_usd)}{used}. This needs {format_usd(usd)}."

    def fits_from(self, usd: Decimal) -> datetime | None:
        """From when on this much more fits, should nothing else be approved; None where that cannot be known."""
        left = self.spent_usd
        for at, amount_usd in sorted(self.approved):
            left -= amount_usd
            if left + usd <= self.limit_usd:
                # Shown to the minute, so never a minute too soon.
                return at + WINDOW + timedelta(minutes=1)
        return None

    def warning(self, usd: Decimal) -> str:
        """To the requester, before it is asked for: this would pass the limit as things are."""
        when = self._when(usd)
        until = (
            f"It can be approved {when}, {_UNLESS}."
            if when
            else "It fits once enough of the last 24 hours has passed."
        )
        return (
            f"{self.label} of {format_usd(self.limit_usd)} leaves {format_usd(self.left_usd)}, which is less than"
            f" {format_usd(usd)}. {until}"
        )

    def caution(self, usd: Decimal) -> str:
        """To an approver, before the approval: the last one would be refused as things are."""
        when = self._when(usd)
        until = (
            f"until it fits, {when}, {_UNLESS}" if when else "until enough of the last 24 hours has passed"
        )
        return f"{self._passes(usd)} The last approval is refused {until}."

    def refusal(self, usd: Decimal) -> str:
        """To the approver whose approval would pass the limit."""
        when = self._when(usd)
        again = (
            f"it fits {when}, {_UNLESS}" if when else "try again once enough of the last 24 hours has passed"
        )
        return f"{self._passes(usd)} The request stays pending; {again}."

    def stop(self, usd: Decimal) -> str:
        """Why this much more is not sent although it was approved: the limit was lowered since, or is new."""
        before = f"{format_usd(self.spent_usd)} approved before and " if self.spent_usd else ""
        return (
            f"The policy now has a 24-hour limit {_BY_NOW[self.scope]} of {format_usd(self.limit_usd)}:"
            f" {before}{format_usd(usd)} pass it. Nothing was sent; request it again when it fits."
        )

    def _passes(self, usd: Decimal) -> str:
        return (
            f"This would pass the 24-hour limit {_BY[self.scope].format(approver=self.approver)}:"
            f" {format_usd(self.spent_usd)} and {format_usd(usd)} are more than {format_usd(self.limit_usd)}."
        )

    def _when(self, usd: Decimal) -> str:
        at = self.fits_from(usd)
        return f"from {at:%Y-%m-%d %H:%M} UTC on" if at else ""


def uses(
    limits: Limits, grants: Grants, *, requester: str, is_same: IsSame, approvers: Collection[str] = ()
) -> list[LimitUse]:
    """How much of each limit that there is `grants` has used: those that count for the person who asks, for them with
    each of `approvers`, and for everybody. The grants have their approvers where there is a limit of pairs."""
    found: list[LimitUse] = []
    if limits.per_requester_usd is not None:
        found.append(_use(Scope.REQUESTER, limits.per_requester_usd, grants.of(requester, is_same)))
    if limits.per_pair_usd is not None:
        for one in sorted(set(approvers)):
            pair = grants.of_pair(requester, one, is_same)
            found.append(_use(Scope.PAIR, limits.per_pair_usd, pair, one))
    if limits.total_usd is not None:
        found.append(_use(Scope.TOTAL, limits.total_usd, [*grants.made, *grants.lost]))
    return found


def _use(scope: Scope, limit_usd: Decimal, counted: Sequence[Grant], approver: str = "") -> LimitUse:
    spent_usd = exact_sum(one.usd for one in counted)
    return LimitUse(scope, limit_usd, spent_usd, approver, tuple((one.at, one.usd) for one in counted))


def _short(usd: Decimal) -> str:
    """`5,000`, and `40.50` where there are cents."""
    return format_usd(usd).removesuffix(" USD").removesuffix(".00")
