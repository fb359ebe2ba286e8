"""The rolling limits of the policy: what of them is used, what they leave, and the words for both.

A limit holds for any 24 hours: by one requester, by one requester with one approver, or by everybody. What
was approved counts (`bot.domain.requests.COMMITTED`); `storage.requests.limit_uses` does the counting.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from decimal import ROUND_FLOOR, Decimal
from enum import StrEnum

from bot.domain.errors import OverLimit
from bot.domain.money import format_usd

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


@dataclass(frozen=True, slots=True)
class LimitUse:
    """One limit and what was approved under it within the window, both in USD. `approver`: of a pair."""

    scope: Scope
    limit_usd: Decimal
    spent_usd: Decimal
    approver: str = ""

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

    def with_more(self, usd: Decimal) -> str:
        """What was used, what would be added, of how much."""
        return f"{format_usd(self.spent_usd)} + {format_usd(usd)} of {format_usd(self.limit_usd)}"

    def left(self) -> str:
        return f"{format_usd(self.left_usd)} of {format_usd(self.limit_usd)} left"

    def obstacle(self) -> str:
        """Why no more fits, in a sentence."""
        return f"{self.label} of {format_usd(self.limit_usd)} leaves {format_usd(self.left_usd)}."

    def refusal(self, usd: Decimal) -> str:
        """To the approver whose approval would pass the limit."""
        by = {
            Scope.REQUESTER: "by this requester",
            Scope.PAIR: f"by this requester with <@{self.approver}>",
            Scope.TOTAL: "in all",
        }[self.scope]
        return (
            f"This would pass the 24-hour limit {by}: {format_usd(self.spent_usd)} and {format_usd(usd)}"
            f" are more than {format_usd(self.limit_usd)}. The request stays pending; approve it once some of the"
            " 24 hours have passed."
        )


def require_room(uses: Iterable[LimitUse], usd: Decimal) -> None:
    """Raise `OverLimit` for the first limit that `usd` more would pass."""
    for use in uses:
        if not use.allows(usd):
            raise OverLimit(use.refusal(usd))
