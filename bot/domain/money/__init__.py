"""Amounts in USD as exact decimals: read, written, added up; ledger rows in words; CSV that no spreadsheet runs."""

from bot.domain.money.amounts import InvalidAmount, exact_sum, format_usd, parse_usd, plain, with_point
from bot.domain.money.csv_export import Cell, guarded, line
from bot.domain.money.ledger_text import Known

__all__ = [
    "Cell",
    "InvalidAmount",
    "Known",
    "exact_sum",
    "format_usd",
    "funding_readings",
    "guarded",
    "ledger_text",
    "line",
    "parse_usd",
    "plain",
    "with_point",
]
