"""What events mean: purchases and declines, figures worth an alert, what is passed on, how long it is kept. Pure."""

from bot.domain.events.purchase_filter import PurchaseFilter
from bot.domain.events.purchases import DeclineFacts, Kind, Purchase, PurchaseLeg, State, purchase_of
from bot.domain.events.relay import Destination, headers, secret_text
from bot.domain.events.retention import Retention
from bot.domain.events.spend import SpendReport, Spent, spend_of
from bot.domain.events.statements import (
    DECLINED,
    OPEN_IN_WORDS,
    WAITING_IN_WORDS,
    CardStatement,
    DeclineGroup,
    DeclineLine,
    DeclineReport,
    LedgerLine,
    LedgerReport,
    PurchaseLine,
    RequestPage,
    by_cause,
    by_day,
)

__all__ = [
    "DECLINED",
    "OPEN_IN_WORDS",
    "WAITING_IN_WORDS",
    "CardStatement",
    "DeclineFacts",
    "DeclineGroup",
    "DeclineLine",
    "DeclineReport",
    "Destination",
    "Kind",
    "LedgerLine",
    "LedgerReport",
    "Purchase",
    "PurchaseFilter",
    "PurchaseLeg",
    "PurchaseLine",
    "RequestPage",
    "Retention",
    "SpendReport",
    "Spent",
    "State",
    "by_cause",
    "by_day",
    "headers",
    "purchase_filter",
    "purchase_of",
    "relay",
    "secret_text",
    "spend_of",
]
