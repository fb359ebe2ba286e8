"""The rolling limits of the policy: what of them is used, what they leave, and the words for both.

A limit holds for any 24 hours: by one requester, by one requester with one approver, or by everybody. What
was approved counts (`bot.domain.requests.COMMITTED`); `storage.requests.limit_uses` does the counting.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import ROUND_FLOOR, Decimal
from enum import StrEnum

from bot.domain.errors import OverLimit
from bot.domain.money import format_usd
from bot.domain.people import Limits

WINDOW = timedelta(hours=24)


class Scope(StrEnum):
    """Whose approved amounts a limit counts."""

    REQUESTER = "requester"
    PAIR = "pair"  # of a requester and one who approved
    TOTAL = "total"


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

    def _passes(self, usd: Decimal) -> str:
        return (
            f"This would pass the 24-hour limit {_BY[self.scope].format(approver=self.approver)}:"
            f" {format_usd(self.spent_usd)} and {format_usd(usd)} are more than {format_usd(self.limit_usd)}."
        )

    def _when(self, usd: Decimal) -> str:
        at = self.fits_from(usd)
        return f"from {at:%Y-%m-%d %H:%M} UTC on" if at else ""


def _short(usd: Decimal) -> str:
    """`5,000`, and `40.50` where there are cents."""
    return format_usd(usd).removesuffix(" USD").removesuffix(".00")


def require_room(uses: Iterable[LimitUse], usd: Decimal) -> None:
    """Raise `OverLimit` for the first limit that `usd` more would pass."""
    for use in uses:
        if not use.allows(usd):
            raise OverLimit(use.refusal(usd))
