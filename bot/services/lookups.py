"""Looking things up: the one door to the look-ups of each subject. Reads only; every number carries its time."""

from __future__ import annotations

from bot.services.card_lookups import PAGE, card_list, card_now
from bot.services.card_reading import SWEEP_BATCH, refresh_card, sweep_balances, sync_cards
from bot.services.float_lookups import FLOAT_FRESH_FOR, float_now, read_account
from bot.services.funding_lookups import funding_addresses, funding_list, funding_show
from bot.services.house_lookups import policy_picture, who
from bot.services.ledger_lookups import earnings, fees, ledger
from bot.services.purchase_lookups import declined, transactions
from bot.services.request_lookups import (
    confirmation,
    inbox_of,
    private_of,
    request_picture,
    rows_to_approve,
    search,
)

__all__ = [
    "FLOAT_FRESH_FOR",
    "PAGE",
    "SWEEP_BATCH",
    "card_list",
    "card_now",
    "confirmation",
    "declined",
    "earnings",
    "fees",
    "float_now",
    "funding_addresses",
    "funding_list",
    "funding_show",
    "inbox_of",
    "ledger",
    "policy_picture",
    "private_of",
    "read_account",
    "refresh_card",
    "request_picture",
    "rows_to_approve",
    "search",
    "sweep_balances",
    "sync_cards",
    "transactions",
    "who",
]
