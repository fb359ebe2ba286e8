"""What look-ups tell of money that moved: purchases of a card, declines by cause, rows of the ledger.

Values without behaviour beyond adding up. Amounts are exact; None is unknown and never zero.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from zoneinfo import ZoneInfo

from bot.domain.events.purchases import Open
from bot.domain.freezes import Freeze
from bot.domain.money import exact_sum
from bot.domain.requests import Request
from bot.domain.time import Period

DECLINED = "declined"
# So many bars can be told apart.
_MOST_DAYS = 31

# Why a charge must not be booked as it stands [Purchase rules].
OPEN_IN_WORDS = {
    Open.SETTLED_DIFFERENTLY: "settled at another amount",
    Open.SETTLED_TWICE: "settled twice",
    Open.SETTLED_AFTER_REVERSAL: "settled after it was given back",
    Open.AUTHORIZED_TWICE: "authorized twice",
    Open.DECLINED_AND_CHARGED: "declined and charged",
    Open.UNKNOWN_LEG: "an event that is not known",
}
WAITING_IN_WORDS = "its authorization is missing"


@dataclass(frozen=True, slots=True)
class PurchaseLine:
    """One purchase. `charge_usd` has its fee in it: the authorization's where we received it, else the row's.

    `open` says why it must not be booked as it is, empty when it may. `has_events` = its events are known here,
    `listed` = the card provider's history has it.
    """

    at: datetime
    status: str
    merchant: str
    charge_usd: Decimal | None
    fee_usd: Decimal | None
    original: str = ""
    decline_code: str = ""
    retryable: bool | None = None
    card_blocked: bool | None = None
    open: tuple[str, ...] = ()
    has_events: bool = False
    listed: bool = True
    transaction_id: str = ""
    stopped_by: Freeze | None = None  # the freeze of ours that stopped it

    @property
    def is_declined(self) -> bool:
        return self.status == DECLINED


@dataclass(frozen=True, slots=True)
class CardStatement:
    """A card's purchases in a period, the newest first. `all_read` False: there are more than were read.

    `about` says in words which of them were asked for; empty for all.
    """

    card_id: str
    label: str
    period: Period
    lines: tuple[PurchaseLine, ...]
    read_at: datetime
    all_read: bool = True
    about: str = ""

    @property
    def charged(self) -> tuple[PurchaseLine, ...]:
        """Without declines, whose amount is not zero [Transaction row]."""
        return tuple(line for line in self.lines if not line.is_declined)

    @property
    def charged_usd(self) -> Decimal:
        return exact_sum(line.charge_usd for line in self.charged if line.charge_usd is not None)

    @property
    def fee_usd(self) -> Decimal:
        return exact_sum(line.fee_usd for line in self.charged if line.fee_usd is not None)


@dataclass(frozen=True, slots=True)
class DeclineLine:
    """One declined purchase as its event reported it."""

    at: datetime
    code: str
    label: str  # of the card
    merchant: str
    amount_usd: Decimal | None
    retryable: bool | None
    card_blocked: bool | None
    stopped_by: Freeze | None = None  # the freeze of ours that stopped it


@dataclass(frozen=True, slots=True)
class DeclineGroup:
    """Declines of one cause: how many, of what value, on which cards and at which merchants, most first.

    What one freeze of ours stopped is a group of its own.
    """

    code: str
    count: int
    amount_usd: Decimal
    cards: tuple[tuple[str, int], ...]
    merchants: tuple[tuple[str, int], ...]
    retryable: bool | None
    stopped_by: Freeze | None = None


@dataclass(frozen=True, slots=True)
class DeclineReport:
    """Declines of a program in a period by cause, the most frequent first. `total` counts all there are."""

    program: str
    period: Period
    groups: tuple[DeclineGroup, ...]
    latest: tuple[DeclineLine, ...]
    total: int
    counted: int
    last_event_at: datetime | None  # of the newest event of any kind


def by_cause(lines: Sequence[DeclineLine]) -> tuple[DeclineGroup, ...]:
    """Declines by code; whether a retry helps is said only where all of a cause agree."""
    codes: dict[tuple[str, str], list[DeclineLine]] = {}
    for line in lines:
        freeze = line.stopped_by.request.id if line.stopped_by else ""
        codes.setdefault((line.code, freeze), []).append(line)
    groups = [
        DeclineGroup(
            code=code,
            count=len(some),
            amount_usd=exact_sum(line.amount_usd.copy_abs() for line in some if line.amount_usd is not None),
            cards=_most(Counter(line.label for line in some)),
            merchants=_most(Counter(line.merchant for line in some)),
            retryable=some[0].retryable if len({line.retryable for line in some}) == 1 else None,
            stopped_by=some[0].stopped_by,
        )
        for (code, _), some in codes.items()
    ]
    return tuple(sorted(groups, key=lambda group: (-group.count, group.code)))


def _most(counter: Counter[str]) -> tuple[tuple[str, int], ...]:
    return tuple(sorted(counter.items(), key=lambda item: (-item[1], item[0])))


@dataclass(frozen=True, slots=True)
class LedgerLine:
    """One movement of the float with what it was, in words."""

    at: datetime
    amount_usd: Decimal
    kind: str
    words: str
    reference: str
    request_id: str = ""


@dataclass(frozen=True, slots=True)
class LedgerReport:
    """The float's movements in a period, the newest first."""

    program: str
    period: Period
    lines: tuple[LedgerLine, ...]
    read_at: datetime
    all_read: bool = True

    @property
    def in_usd(self) -> Decimal:
        return exact_sum(line.amount_usd for line in self.lines if line.amount_usd > 0)

    @property
    def out_usd(self) -> Decimal:
        return exact_sum(line.amount_usd for line in self.lines if line.amount_usd < 0)

    @property
    def moved(self) -> tuple[LedgerLine, ...]:
        """The lines without the markers of the books, which move nothing."""
        return tuple(line for line in self.lines if line.amount_usd)

    def by_kind(self) -> list[tuple[str, int, Decimal]]:
        """(kind, how many, their sum) of what moved, by name."""
        kinds = sorted({line.kind for line in self.moved})
        return [
            (kind, len(some), exact_sum(line.amount_usd for line in some))
            for kind in kinds
            if (some := [line for line in self.moved if line.kind == kind])
        ]


def by_day(moved: Iterable[tuple[datetime, Decimal]], period: Period) -> tuple[tuple[date, Decimal], ...]:
    """Sums by day of the period's zone, its every day; by seven days where it has more than 31."""
    zone = ZoneInfo(period.zone)
    first = period.since.astimezone(zone).date()
    last = (period.until - timedelta(microseconds=1)).astimezone(zone).date()
    step = 1 if (last - first).days < _MOST_DAYS else 7
    sums: dict[date, list[Decimal]] = {
        first + timedelta(days=n): [] for n in range(0, (last - first).days + 1, step)
    }
    for at, amount_usd in moved:
        passed = (at.astimezone(zone).date() - first).days
        sums[first + timedelta(days=passed - passed % step)].append(amount_usd)
    return tuple((day, exact_sum(amounts)) for day, amounts in sums.items())


@dataclass(frozen=True, slots=True)
class RequestPage:
    """A page of requests that fit a search, the newest first; pages count from 1.

    `pages` is None where there are more than `total`: no further is counted. `has_more`: others follow this page.
    """

    rows: tuple[Request, ...]
    total: int
    page: int
    pages: int | None
    has_more: bool = False
