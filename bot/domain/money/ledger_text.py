"""Rows of the float's ledger in plain words.

A row is explained by its kind, its sign and what its reference names; kinds and forms of references are open
lists, so what is not known is shown as it is [Ledger entry].
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal

_FUNDING = re.compile(
    r"funding-(?P<back>reversal-)?(?P<network>[A-Z]+)-(?P<hash>0x[0-9a-f]{64})(?P<fee>:fee)?"
)
_KEYED = re.compile(r"(?P<what>[a-z-]+):(?P<key>[A-Za-z0-9_-]{1,128})(?::.*)?")
_MONTH = re.compile(r"[0-9]{4}-[0-9]{2}")


@dataclass(frozen=True, slots=True)
class Known:
    """What is known here of what references name: requests by their key, cards by their id."""

    requests: Mapping[str, str] = field(default_factory=dict)
    cards: Mapping[str, str] = field(default_factory=dict)


def key_in(reference: str | None) -> str:
    """The idempotency key a reference ends in; "" where it names none."""
    found = _KEYED.fullmatch(reference or "")
    return found["key"] if found else ""


@dataclass(frozen=True, slots=True)
class FundingNamed:
    """The funding that a reference names: `is_back` where it was taken back, `is_fee` for its load fee."""

    tx_hash: str
    is_back: bool
    is_fee: bool


def funding_in(reference: str | None) -> FundingNamed | None:
    """The funding a reference is of; None where it is of none."""
    found = _FUNDING.fullmatch(reference or "")
    return FundingNamed(found["hash"], bool(found["back"]), bool(found["fee"])) if found else None


def tokens(reference: str | None) -> list[str]:
    """Parts of a reference that may be the id of a card."""
    return [part for part in re.split(r"[^A-Za-z0-9]+", reference or "") if len(part) >= 8]


def in_words(kind: str, amount_usd: Decimal, reference: str | None, card_id: str | None, known: Known) -> str:
    """What the row says happened."""
    card = _card(card_id, reference, known)
    funding = _FUNDING.fullmatch(reference or "")
    if kind == "funding":
        return _funding(amount_usd, funding)
    if kind == "fee":
        return _fee(amount_usd, reference or "", funding, card)
    if kind == "card_topup":
        return f"Top-up of {card}" if card else "Top-up of a card"
    if kind == "refund":
        return _returned(reference or "", card)
    if kind == "adjustment":
        return f"Marker in your card provider's books{f' for {card}' if card else ''}; moves nothing"
    return f"Your card provider calls it {kind}{f', for {card}' if card else ''}"


def _card(card_id: str | None, reference: str | None, known: Known) -> str:
    if card_id:
        return known.cards.get(card_id, f"card {card_id}")
    return next((known.cards[part] for part in tokens(reference) if part in known.cards), "")


def _funding(amount_usd: Decimal, found: re.Match[str] | None) -> str:
    if found is None and amount_usd < 0:
        return "Taken from the float by your card provider and booked as funding; no submission is named"
    where = f" on {found['network']}, {found['hash'][:10]}…" if found else ""
    return (
        f"Funding received{where}" if amount_usd >= 0 else f"Funding taken back by your card provider{where}"
    )


def _fee(amount_usd: Decimal, reference: str, funding: re.Match[str] | None, card: str) -> str:
    if funding or reference.startswith("funding-"):
        return "Load fee of a funding" if amount_usd <= 0 else "Load fee given back with a funding taken back"
    if card:
        month = _MONTH.search(reference)
        return f"Monthly fee of {card}{f' for {month[0]}' if month else ''}"
    return "Fee" if amount_usd <= 0 else "Fee given back"


def _returned(reference: str, card: str) -> str:
    """Never a refund of a merchant: those are on the card [R201]."""
    of = f" of {card}" if card else ""
    if reference.startswith("topup:"):
        return f"Top-up{of} refused by the processor, given back"
    if reference.startswith("unload:"):
        return f"Unload{of}: back from the card to the float"
    return f"Back from the card to the float{of}: an unload, or the balance of a closed card"
