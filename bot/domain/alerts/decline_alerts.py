"""The alert of declined purchases: what it is, and its title and text for one decline and for many.

Why a purchase was declined, and what helps, is in `decline_causes`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Final

from bot.domain.alerts.alert_kind import (
    RECEIVED_LATE,
    AlertKind,
    Button,
    Ending,
    Facts,
    Remedy,
    Said,
    Severity,
    Wording,
    over,
)
from bot.domain.alerts.decline_causes import cause_in_words, retry_in_words
from bot.domain.freezes import Freeze
from bot.domain.money import format_usd

NAMES_KEPT: Final = 100
"""Of a storm so many names of cards and of merchants are kept; the counts are true whatever it holds."""
_NAMES_SHOWN = 8
COUNTED: Final = "seen:"
"""Begins the name of the reading that keeps what a message counts; the key of its condition follows."""

_MANY = "Together {total}. Cards: {cards}. Merchants: {merchants}. {help}{late}"


def _remedy_of_cause(facts: Facts) -> Remedy | None:
    return cause_in_words(facts.get("code", "")).remedy


DECLINE = AlertKind(
    name="decline",
    raised_when="a purchase is declined: one message a cause within `alerts.declines.window`, a cluster at"
    " `cluster_at`; fraud and security one message a card",
    found_by="events",
    ends="no decline of the cause in `window`; of fraud and security none in a day",
    wordings={
        "one": Wording(
            tuple(Severity),
            "Declined at {merchant}: {card}, {what}",
            "{purchase} did not go through: {what}. {help}{late}",
        ),
        "one card": Wording(tuple(Severity), "Declined {count:,} times: {card}, {what}", _MANY),
        "many cards": Wording(tuple(Severity), "Declined: {count:,} purchases, {what}", _MANY),
        "cluster": Wording(tuple(Severity), "Cluster of declines: {count:,} purchases, {what}", _MANY),
    },
    endings={
        "": Ending(
            "No more declines: {what}",
            "{count}, {total} in all. The last one was on {last:%Y-%m-%d %H:%M} UTC.",
        ),
        "not counted": Ending("No more declines of this cause", "The alert was open for {lasted}."),
    },
    remedies=(Remedy.TOP_UP_CARD, Remedy.RAISE_CARD_LIMITS, Remedy.UNFREEZE_CARD),
    remedy_by=_remedy_of_cause,
    digest_word="declines of one cause",
)


STOPPED = AlertKind(
    name="stopped",
    raised_when="a purchase is declined on a card that a request here froze: one message for each freeze",
    found_by="events",
    ends="a day without another one, or the freeze is taken back",
    wordings={
        "one": Wording((Severity.INFO,), "Stopped: {purchase}, {card} is frozen", "{why} Nothing to do."),
        "more": Wording(
            (Severity.INFO,),
            "Stopped {count:,} times: {card} is frozen",
            "Together {total}, the last one {purchase}. {why} Nothing to do.",
        ),
    },
    endings=over(
        "“{title}” is closed", "No other purchase was tried for a day, or the freeze was taken back."
    ),
    buttons=(Button.SHOW_CARD, Button.ACK, Button.MORE),
    digest_word="purchases on frozen cards",
)


@dataclass(frozen=True, slots=True)
class Declines:
    """What one message counts: declines of one cause, `late` of them received late; `total_usd` of their amounts.

    `cards` and `merchants`: how many each had, at most `NAMES_KEPT` of them. `retryable`: of the last one.
    """

    code: str
    count: int
    late: int
    total_usd: Decimal
    cards: Mapping[str, int]
    merchants: Mapping[str, int]
    retryable: bool | None


def declined(
    found: Declines,
    *,
    card: str,
    amount_usd: Decimal | None,
    merchant: str | None,
    is_severe: bool,
    is_cluster: bool,
) -> Said:
    """The words for these declines; `card`, `amount_usd` and `merchant` are of the last one."""
    severity = Severity.CRITICAL if is_severe or is_cluster else Severity.INFO
    cause = cause_in_words(found.code)
    names = list(found.cards)
    if found.count == 1:
        case = "one"
    elif len(names) == 1:
        case, card = "one card", names[0]
    else:
        case = "cluster" if is_cluster else "many cards"
    return DECLINE.says(
        case,
        severity=severity,
        card=card,
        merchant=_merchant(merchant),
        purchase=_purchase(amount_usd, merchant),
        what=cause.what,
        count=found.count,
        total=format_usd(found.total_usd),
        cards=_names(found.cards),
        merchants=_names(found.merchants),
        help=f"{retry_in_words(found.retryable)} {cause.next_step}",
        late=_late(found),
    )


def stopped(
    freeze: Freeze,
    *,
    card: str,
    amount_usd: Decimal | None,
    merchant: str | None,
    count: int,
    total_usd: Decimal,
) -> Said:
    """The words for what one freeze stopped; `amount_usd` and `merchant` are of the last purchase."""
    amount = "a purchase" if amount_usd is None else format_usd(abs(amount_usd))
    purchase = f"{amount} at {_merchant(merchant)}"
    if count == 1:
        return STOPPED.says("one", purchase=purchase, card=card, why=freeze.in_words)
    return STOPPED.says(
        "more", purchase=purchase, card=card, why=freeze.in_words, count=count, total=format_usd(total_usd)
    )


def cluster(count: int, code: str) -> str:
    """The line in the thread that calls people, when declines become a cluster."""
    return f"{count} declines in a short time: {cause_in_words(code).what}."


def with_blocked_card(
    code: str, *, amount_usd: Decimal | None, merchant: str | None, received_late: datetime | None
) -> str:
    """How a block is known that a decline reported. `received_late`: when it happened, where that was long before."""
    late = f" {RECEIVED_LATE.format(at=received_late)}" if received_late else ""
    return f"{_purchase(amount_usd, merchant)} was declined: {cause_in_words(code).what}.{late}"


def _merchant(name: str | None) -> str:
    return name or "an unnamed merchant"


def _purchase(amount_usd: Decimal | None, merchant: str | None) -> str:
    amount = "A purchase" if amount_usd is None else f"A purchase of {format_usd(abs(amount_usd))}"
    return f"{amount} at {_merchant(merchant)}"


def _names(kept: Mapping[str, int]) -> str:
    """The most frequent ones, each with its count."""
    most = sorted(kept.items(), key=lambda item: (-item[1], item[0]))
    said = ", ".join(name if count == 1 else f"{name} ({count:,})" for name, count in most[:_NAMES_SHOWN])
    left = len(most) - _NAMES_SHOWN
    more = f"{left} more" if len(most) < NAMES_KEPT else "many more"
    return f"{said} and {more}" if left > 0 else said


def _late(found: Declines) -> str:
    if not found.late:
        return ""
    return f" Received late: {found.late:,} of {found.count:,}, more than a quarter of an hour after."
