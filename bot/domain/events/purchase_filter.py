"""Which purchases are meant: at a merchant, above or below an amount, of one kind. Pure.

`split` reads it out of the arguments of a command (`at "Shell" above 200 declined`), `typed` writes it back, and `fits`
decides on one purchase.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from bot.domain.money import InvalidAmount, format_usd, parse_usd

_QUOTES: Final = str.maketrans({"“": '"', "”": '"', "„": '"'})
_KIND: Final = r"declined|pending|settled|refunded|refunds?|reversed|reversals?"
_BOUND: Final = r"above|over|at least|below|under|at most|up to"
_PART: Final = re.compile(
    rf"(?:^|\s)(?:(?P<bound>{_BOUND})\s+\$?(?P<amount>[0-9][0-9,.]*)(?:\s+usd)?"
    rf'|at\s+(?:"(?P<quoted>[^"]+)"|(?P<plain>(?!(?:least|most)\b)\S+?(?:\s+\S+?)*?))(?=\s+(?:{_BOUND}|{_KIND})\b|\s*$)'
    rf"|(?P<kind>{_KIND}))(?=\s|$)",
    re.IGNORECASE,
)
_SAME: Final = {"over": "above", "under": "below", "up to": "at most"}


@dataclass(frozen=True, slots=True)
class PurchaseFilter:
    """What a purchase has to be; what is empty asks for nothing.

    `merchant` is a part of the merchant's name, whatever its case. `bounds` are (word, amount in USD): `above`,
    `at least`, `below`, `at most`. `kind` is `declined`, `pending`, `settled`, `refunded` or `reversed`.
    """

    merchant: str = ""
    bounds: tuple[tuple[str, Decimal], ...] = ()
    kind: str = ""

    def __bool__(self) -> bool:
        return bool(self.merchant or self.bounds or self.kind)

    def fits(self, merchant: str, amount_usd: Decimal | None, status: str) -> bool:
        """Whether a purchase is meant. A purchase without a known amount fits no bound."""
        if self.merchant and self.merchant.casefold() not in merchant.casefold():
            return False
        if self.kind and self.kind not in _kinds_of(status):
            return False
        return all(amount_usd is not None and _within(word, amount_usd, usd) for word, usd in self.bounds)

    @property
    def in_words(self) -> str:
        """`at “Shell”, above 200.00 USD, declined`; empty where everything is meant."""
        at = f"at “{self.merchant}”" if self.merchant else ""
        return ", ".join(filter(None, (at, *(f"{w} {format_usd(usd)}" for w, usd in self.bounds), self.kind)))

    @property
    def typed(self) -> str:
        """As a command takes it; `split` reads it again."""
        at = f'at "{self.merchant}"' if self.merchant else ""
        return " ".join(filter(None, (at, *(f"{word} {usd}" for word, usd in self.bounds), self.kind)))


def split(text: str) -> tuple[str, PurchaseFilter]:
    """What stands before the filter in the arguments of a command, and the filter; raises InvalidAmount."""
    text = text.translate(_QUOTES)
    found = list(_PART.finditer(text))
    if not found:
        return text.strip(), PurchaseFilter()
    merchant, kind = "", ""
    bounds: list[tuple[str, Decimal]] = []
    for part in found:
        if part["amount"]:
            bounds.append((bound_word(part["bound"]), parse_usd(part["amount"])))
        elif part["kind"]:
            kind = kind_word(part["kind"])
        else:
            merchant = (part["quoted"] or part["plain"]).strip()
    rest = _PART.sub(" ", text[found[0].start() :]).strip()
    head = f"{text[: found[0].start()].strip()} {rest}".strip()
    return head, PurchaseFilter(merchant, tuple(bounds), kind)


def bound_word(word: str) -> str:
    """One word for each meaning: `over` is `above`."""
    plain = " ".join(word.lower().split())
    return _SAME.get(plain, plain)


def kind_word(word: str) -> str:
    """One word for each kind: `refunds` are `refunded`."""
    plain = word.lower()
    return {"refun": "refunded", "rever": "reversed"}.get(plain[:5], plain)


def _within(word: str, amount_usd: Decimal, usd: Decimal) -> bool:
    match word:
        case "above":
            return amount_usd > usd
        case "at least":
            return amount_usd >= usd
        case "below":
            return amount_usd < usd
    return amount_usd <= usd


def _kinds_of(status: str) -> frozenset[str]:
    """The kinds that a status counts as: `partially_refunded` is refunded, `authorized` still pending."""
    word = status.removeprefix("partially_")
    return frozenset({"pending" if word == "authorized" else word})


__all__ = ["InvalidAmount", "PurchaseFilter", "bound_word", "kind_word", "split"]
