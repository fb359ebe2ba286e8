"""Reads "could we …" questions: how many cards, and how much on each. Pure.

`read_what_if` takes what is asked and leaves everything else to the other readers: it answers None unless the text is
such a question. It never leads to a request.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal

from bot.domain.late_patterns import late
from bot.domain.money import InvalidAmount, parse_usd

MOST_CARDS = 10_000
_TO_TWELVE = (
    *("one", "two", "three", "four", "five", "six"),
    *("seven", "eight", "nine", "ten", "eleven", "twelve"),
)
_NUMBER_WORDS = {word: number for number, word in enumerate(_TO_TWELVE, 1)} | {
    "a dozen": 12,
    "twenty": 20,
    "thirty": 30,
    "forty": 40,
    "fifty": 50,
    "a hundred": 100,
    "hundred": 100,
}
_COUNT = r"(?P<count>[0-9]{1,6}|" + "|".join(sorted(_NUMBER_WORDS, key=len, reverse=True)) + r"|how many)"
_CURRENCY = r"(?:\s*(?:usd|dollars?|bucks?))?"
_AMOUNT = r"\$?\s*(?P<amount>[0-9][0-9,]*(?:\.[0-9]+)?)\s*(?P<kilo>k\b)?" + _CURRENCY
_CARDS = rf"{_COUNT}\s+(?:more\s+|new\s+|of\s+(?:our|the)\s+)?cards?\b"
# "40 cards at 200", "25 cards with 150 each", "12 cards, $75 each", "40 cards" alone.
_EACH = rf"(?:\s*,?\s*(?:at|with|for|by|of|à|@|loaded\s+with|each\s+(?:with|at))?\s*{_AMOUNT})?"
_CARDS_EACH = late(rf"\b{_CARDS}{_EACH}", re.IGNORECASE)
# "put 50 on 30 cards", "load 150 each onto 25 cards".
_TURNED = late(
    rf"{_AMOUNT}\s*(?:each\s+|apiece\s+)?(?:on|onto|to|for)\s+(?:each\s+of\s+)?{_CARDS}", re.IGNORECASE
)
_ASKED = late(
    r"\b(?:can|could|may|might|would|do|does|if|is there|enough|afford|what[ -]?if|how many)\b",
    re.IGNORECASE,
)
_ORDERS = late(r"\b(?:order|open|issue|create|make|new|get)\b", re.IGNORECASE)
_TOPS_UP = late(r"\b(?:top[ -]?up|load|fund|put|add)\b", re.IGNORECASE)
_FITS = late(r"\b(?:enough|afford|fit|fits|room|what[ -]?if)\b", re.IGNORECASE)
# "Can you order" asks for it to be done; other verbs ask for something else.
_ASKED_OF_US = late(
    r"\b(?:can|could|would|will)\s+you\b|\b(?:un)?(?:freeze|close|cancel|block|unload|limits?)\b",
    re.IGNORECASE,
)
# What turns the question into one that is not about now, or not about us.
_NOT_NOW = late(r"\b(?:yesterday|last|did|were|was|ago|tomorrow|next)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class WhatIf:
    """`count` None = how many could it be. `amount_usd` None = nothing is put on them."""

    count: int | None
    amount_usd: Decimal | None
    orders: bool  # new cards; else top-ups of cards there are

    @property
    def text(self) -> str:
        """`40 cards at 200.00`: what was understood, to be read again by `read_what_if(…, asked=True)`."""
        count = "how many" if self.count is None else str(self.count)
        verb = "order " if self.orders else "top up "
        each = f" at {self.amount_usd:.2f}" if self.amount_usd is not None else ""
        return f"{verb}{count} cards{each}"


def read_what_if(text: str, *, asked: bool = False) -> WhatIf | None:
    """The question in this text, or None. `asked`: it was put as one, as `/countersign what-if` does.

    A number that is left over (a date, a second amount, a card's digits) is a reason not to answer: it may
    change what was meant.
    """
    is_question = _ASKED.search(text) and ("?" in text or _ASKED.match(text.strip()))
    about_us = _ORDERS.search(text) or _TOPS_UP.search(text) or _FITS.search(text)
    if not asked and not (is_question and about_us):
        return None
    if _NOT_NOW.search(text) or _ASKED_OF_US.search(text):
        return None
    match = _TURNED.search(text) or _CARDS_EACH.search(text)
    if match is None:
        return None
    rest = f"{text[: match.start()]} {text[match.end() :]}"
    if re.search(r"\d", rest):
        return None
    count, amount_usd = _count(match["count"]), _amount(match)
    if count == 0 or (match["amount"] and amount_usd is None) or (count or 0) > MOST_CARDS:
        return None
    orders = not _TOPS_UP.search(text) or bool(_ORDERS.search(text))
    if not orders and amount_usd is None:
        return None
    return WhatIf(count, amount_usd, orders)


def _count(text: str) -> int | None:
    words = " ".join(text.lower().split())
    if words == "how many":
        return None
    return _NUMBER_WORDS[words] if words in _NUMBER_WORDS else int(words)


def _amount(match: re.Match[str]) -> Decimal | None:
    if not match["amount"]:
        return None
    try:
        amount_usd = parse_usd(match["amount"])
        return parse_usd(str(amount_usd * 1000)) if match["kilo"] else amount_usd
    except InvalidAmount:
        return None
