"""Exact USD arithmetic: never through float, never rounded by the default 28-digit context."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import ROUND_HALF_UP, Context, Decimal

EXACT = Context(prec=60)  # 10 decimals and any balance anyone will try leave room to spare
CENT = Decimal("0.01")
LEDGER_STEP = Decimal("0.0000000001")  # the ledger keeps 10 decimal places
ZERO = Decimal(0)


def of(stored: str) -> Decimal:
    """An amount as it is stored."""
    return Decimal(stored)


def add(*amounts_usd: Decimal) -> Decimal:
    """Exact sum of the arguments."""
    return total(amounts_usd)


def total(amounts_usd: Iterable[Decimal]) -> Decimal:
    """Exact sum of an iterable; 0 when it is empty."""
    result = ZERO
    for amount_usd in amounts_usd:
        result = EXACT.add(result, amount_usd)
    return result


def share(amount_usd: Decimal, rate: Decimal) -> Decimal:
    """`rate` (a fraction) of the amount, at the ledger's 10 decimals."""
    return EXACT.multiply(amount_usd, rate).quantize(LEDGER_STEP, ROUND_HALF_UP, EXACT)


def cents(amount_usd: Decimal) -> Decimal:
    """To the cent, half up: how the processor keeps what a card is charged."""
    return amount_usd.quantize(CENT, ROUND_HALF_UP, EXACT)


def plain(amount: Decimal) -> Decimal:
    """The same value without an exponent or trailing zeros, so that JSON shows plain digits."""
    text = format(amount, "f")
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return Decimal(0) if text in {"-0", ""} else Decimal(text)


def text(amount: Decimal) -> str:
    """Plain digits, as money is stored and as the control API writes it."""
    return str(plain(amount))


def decimals(amount: Decimal) -> int:
    """How many decimal places the value needs; 25.000 needs none (the value counts, U42).

    Works on the digits, never on the written-out number: 1e1000000000 is short to send and long to write.
    """
    _, digits, exponent = amount.as_tuple()
    if not isinstance(exponent, int) or not amount:
        return 0
    zeros = next((place for place, digit in enumerate(reversed(digits)) if digit), 0)
    return max(0, -exponent - zeros)
