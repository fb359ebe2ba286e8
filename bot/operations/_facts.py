"""Facts several kinds read live before acting, the concerns that follow from them, and how facts are stored.

An amount or a fraction among facts is a Decimal, and its name says so: it ends in `_usd`, `_fraction`, `_pct` or
`_limit`. Stored it is exact text, as the API gave it; digests of requests are made of that text, so it never changes.
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

from bot.domain.money import format_usd
from bot.operations._base import Concern, Facts
from bot.partner.client import PartnerClient

_DECIMALS = re.compile(r"\w+_(usd|fraction|pct|limit)")


def stored_facts(facts: Facts) -> dict[str, Any]:
    """As they are kept with a draft and with a request. TypeError for a Decimal whose name says nothing of it."""
    for name, value in facts.items():
        if isinstance(value, Decimal) and not _DECIMALS.fullmatch(name):
            raise TypeError(f"{name} does not say what it counts")
    return {name: str(value) if isinstance(value, Decimal) else value for name, value in facts.items()}


def loaded_facts(stored: Facts) -> dict[str, Any]:
    """The facts as `Operation.read` gave them, from what is kept."""
    return {
        name: Decimal(value) if isinstance(value, str) and _DECIMALS.fullmatch(name) else value
        for name, value in stored.items()
    }


async def float_facts(partner: PartnerClient) -> Facts:
    """The float and the card allowance now, amounts in USD. Raises PartnerError.

    `float_available_usd`, `float_balance_usd`, and `allowance_left`: cards that may still be ordered, None
    without a cap. Source: Account info and Float, GET /me.
    """
    me = await partner.me()
    remaining = None if me.cards.limit is None else me.cards.limit - me.cards.total
    return {
        "float_available_usd": me.float.available_usd,
        "float_balance_usd": me.float.balance_usd,
        "allowance_left": remaining,
    }


def float_after(balance_usd: Decimal) -> str:
    """The float's balance that came with the answer to a call, in a sentence."""
    return f"The float is {format_usd(balance_usd)} now."


async def card_facts(partner: PartnerClient, card_id: str) -> Facts:
    """A card's status and its balance in USD. Raises PartnerError.

    A balance of None could not be read; it is never zero. Source: Cards, GET /cards/{cardId}.
    """
    found = await partner.card(card_id)
    return {
        "card_status": found.card.status,
        "card_balance_usd": found.balance_usd,
    }


def closed(facts: Facts) -> list[Concern]:
    """The concern that stops every change of a closed card; empty for a card in another status."""
    return (
        [Concern("The card is closed: nothing of it can be changed.", stops=True)]
        if facts.get("card_status") == "DELETED"
        else []
    )
