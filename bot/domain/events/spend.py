"""What was spent in a period: in all, by card, by merchant, and what was declined by cause. Pure.

Amounts are those of the authorization, as everywhere; what was reversed or refunded since is a figure of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from bot.domain.events.purchases import Purchase, State
from bot.domain.money import exact_sum
from bot.domain.time import Period

UNNAMED = "unnamed merchant"


@dataclass(frozen=True, slots=True)
class Spent:
    """So many purchases for so much in USD, of one card or at one merchant; or so many declines of one cause."""

    name: str
    count: int
    amount_usd: Decimal


@dataclass(frozen=True, slots=True)
class SpendReport:
    """The purchases of a program that began in a period, and those declined in it. Amounts in USD.

    `cards`, `merchants` and `declined` (by code) have all there are, the largest amount first, and each adds up to its
    total. `back_usd` was reversed or refunded of these purchases. `unknown` counts those whose authorization was not
    received, so that their amount is not known. `last_event_at`: when the newest event of any purchase happened.
    `about` says in words which purchases were asked for, empty for all; `elsewhere` are merchants of the period where
    none of them fits.
    """

    program: str
    period: Period
    cards: tuple[Spent, ...]
    merchants: tuple[Spent, ...]
    declined: tuple[Spent, ...]
    charged: tuple[tuple[datetime, Decimal], ...]
    fee_usd: Decimal
    back_usd: Decimal
    unknown: int
    last_event_at: datetime | None
    live: bool
    draft_only: bool = False
    about: str = ""
    elsewhere: tuple[str, ...] = ()

    @property
    def count(self) -> int:
        return len(self.charged)

    @property
    def charged_usd(self) -> Decimal:
        return exact_sum(amount_usd for _, amount_usd in self.charged)

    @property
    def declined_count(self) -> int:
        return sum(cause.count for cause in self.declined)

    @property
    def declined_usd(self) -> Decimal:
        return exact_sum(cause.amount_usd for cause in self.declined)


def spend_of(
    found: Sequence[Purchase],
    labels: Mapping[str, str],
    *,
    program: str,
    period: Period,
    last_event_at: datetime | None,
    live: bool,
    draft_only: bool = False,
    about: str = "",
    elsewhere: tuple[str, ...] = (),
) -> SpendReport:
    """The report over these purchases, which all began in the period. `labels` names cards by their ids."""
    charged = [p for p in found if p.charge_usd is not None]
    declined = [p for p in found if p.charge_usd is None and p.state is State.DECLINED]
    return SpendReport(
        program=program,
        period=period,
        cards=_by(
            charged, lambda p: labels.get(p.card_id or "", f"card {p.card_id}" if p.card_id else "a card")
        ),
        merchants=_by(charged, lambda p: p.merchant or UNNAMED),
        declined=_by(declined, lambda p: p.decline.code if p.decline else "unknown"),
        charged=tuple((p.first_at, _amount(p)) for p in charged),
        fee_usd=exact_sum(p.fee_usd for p in charged if p.fee_usd is not None),
        back_usd=exact_sum(p.reversed_usd + p.refunded_usd for p in charged),
        unknown=len(found) - len(charged) - len(declined),
        last_event_at=last_event_at,
        live=live,
        draft_only=draft_only,
        about=about,
        elsewhere=elsewhere,
    )


def _by(found: Iterable[Purchase], name: Callable[[Purchase], str]) -> tuple[Spent, ...]:
    amounts: dict[str, list[Decimal]] = {}
    for purchase in found:
        amounts.setdefault(name(purchase), []).append(_amount(purchase))
    sums = [Spent(named, len(some), exact_sum(some)) for named, some in amounts.items()]
    return tuple(sorted(sums, key=lambda spent: (-spent.amount_usd, spent.name)))


def _amount(purchase: Purchase) -> Decimal:
    """Without its sign, which tells nothing [Purchase rules 4]."""
    reported = purchase.declined_usd if purchase.charge_usd is None else purchase.charge_usd
    return (reported or Decimal(0)).copy_abs()
