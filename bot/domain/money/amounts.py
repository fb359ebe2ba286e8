"""Dollars as exact decimals: reading what a person typed, writing what a person reads, adding up.

Amounts typed by people have at most two decimals; amounts of the float's ledger keep up to ten
[Ledger entry]. Nothing here ever goes through a float or rounds without saying so.
"""

import re
from collections.abc import Iterable
from decimal import Context, Decimal, Inexact, InvalidOperation

MOST_USD = Decimal(10**9)
"""More than this is a slip of the finger: no float of this API comes near a billion dollars."""

# Twenty integer digits and ten decimals, summed many times, stay far below 50 digits; should a sum
# ever need more, it raises instead of losing the tail (the default context keeps 28 and is silent).
_EXACT = Context(prec=50, traps=[Inexact, InvalidOperation])

_PLAIN = re.compile(r"\$?(?P<whole>0|[1-9][0-9]{0,2}(?:,[0-9]{3})+|[1-9][0-9]*)(?:\.(?P<cents>[0-9]+))?")
_EXPONENT = re.compile(r"[+-]?[0-9.]+[eE][+-]?[0-9]+")
_NEGATIVE = re.compile(r"(-|−|–)\$?[0-9.,]+|\$(-|−)[0-9.,]+|\([0-9.,]+\)")
_COMMAS = re.compile(r"\$?[0-9][0-9.,]*,[0-9.,]*")

# As a spreadsheet writes amounts where a comma stands before the cents: 15,50 and 1.250,00.
_COMMA_CENTS = re.compile(
    r"(?P<dollar>\$?)(?P<whole>0|[1-9][0-9]{0,2}(?:\.[0-9]{3})+|[1-9][0-9]*),(?P<cents>[0-9]+)"
)

# Longer than "$1,000,000,000.00" by far: nobody means it, and reading it would cost time.
_LONGEST = 40


class InvalidAmount(ValueError):
    """The text is no amount we accept. Its message is a sentence for the form field."""


def parse_usd(text: str) -> Decimal:
    """The amount a person typed, in dollars: more than 0, at most two decimals, at most 10^9.

    Accepts `25`, `25.5`, `25.00`, `$25.00`, and thousands commas where they belong (`1,250.00`).
    Raises InvalidAmount with a sentence that says what was wrong and how to write it.
    """
    typed = text.strip(" ")
    if not typed:
        raise InvalidAmount("Enter an amount in US dollars, for example 25.00.")
    match = _PLAIN.fullmatch(typed) if len(typed) <= _LONGEST else None
    if match is None:
        raise InvalidAmount(_what_was_wrong(typed))
    cents = match["cents"] or ""
    if len(cents) > 2:
        raise InvalidAmount("Use at most two decimals, whole cents, for example 25.50.")
    amount_usd = Decimal(f"{match['whole'].replace(',', '')}.{cents or '0'}")
    if amount_usd == 0:
        raise InvalidAmount("The amount must be more than zero, for example 25.00.")
    if amount_usd > MOST_USD:
        raise InvalidAmount(f"The amount may be at most {format_usd(MOST_USD)}, for example 25.00.")
    return amount_usd


def with_point(text: str) -> str:
    """An amount from a file in which a comma stands before the cents, written with a point: `15,50` is `15.50`.

    Whatever does not read so comes back as it is. Raises InvalidAmount for three digits after the comma: `1,250`
    would be a thousand times as much to one reader as to another.
    """
    match = _COMMA_CENTS.fullmatch(text.strip(" "))
    if match is None:
        return text
    whole, cents = match["whole"], match["cents"]
    if len(cents) == 3 and len(whole) <= 3:
        raise InvalidAmount(
            "Three digits after the comma can be read in two ways in a file with semicolons. "
            "Write cents with two digits, as in 15,50, and thousands without a separator, as in 1250."
        )
    return f"{match['dollar']}{whole.replace('.', '')}.{cents}"


def _what_was_wrong(typed: str) -> str:
    """One sentence for a text that is no plain amount. It never repeats what was typed."""
    if len(typed) > _LONGEST:
        return "That is too long for an amount. Write plain dollars, for example 25.00."
    if _NEGATIVE.fullmatch(typed):
        return "The amount must be more than zero, for example 25.00."
    if _EXPONENT.fullmatch(typed):
        return "Write the amount out in plain digits without an exponent, for example 1000.00."
    if _COMMAS.fullmatch(typed):
        return (
            "A comma may only separate thousands, as in 1,250.00. "
            "Write cents after a point, for example 1.50."
        )
    return "Write the amount as plain dollars in digits, for example 25.00 or 1,250.00."


def format_usd(amount_usd: Decimal | None) -> str:
    """`1,234.50 USD`; None, an amount nobody knows, is `unknown` and never 0.

    Shows two decimals, and more only where the amount has them, so nothing is rounded away.
    """
    if amount_usd is None:
        return "unknown"
    whole, _, cents = plain(amount_usd.copy_abs()).partition(".")
    cents = cents.rstrip("0").ljust(2, "0")
    sign = "-" if amount_usd < 0 else ""
    return f"{sign}{int(whole):,}.{cents} USD"


def plain(amount: Decimal) -> str:
    """The number in plain digits, its scale kept, never with an exponent. Refuses NaN and infinities."""
    if not amount.is_finite():
        raise ValueError("not a finite number")
    return format(amount, "f")


def exact_sum(amounts: Iterable[Decimal]) -> Decimal:
    """The sum to the last digit; raises decimal.Inexact where 50 digits would not hold it."""
    total = Decimal(0)
    for amount in amounts:
        total = _EXACT.add(total, amount)
    return total
