"""Facts several kinds read live before acting, and the concerns that follow from them."""

from __future__ import annotations

from bot.operations._base import Concern, Facts
from bot.partner.client import PartnerClient


async def float_facts(partner: PartnerClient) -> Facts:
    """The float and the card allowance now, amounts as exact text in USD. Raises PartnerError.

    `float_available_usd`, `float_balance_usd`, and `allowance_left`: cards that may still be ordered, None
    without a cap. Source: Account info and Float, GET /me.
    """
    me = await partner.me()
    remaining = None if me.cards.limit is None else me.cards.limit - me.cards.total
    return {
        "float_available_usd": str(me.float.available_usd),
        "float_balance_usd": str(me.float.balance_usd),
        "allowance_left": remaining,
    }


async def card_facts(partner: PartnerClient, card_id: str) -> Facts:
    """A card's status and its balance in USD as exact text. Raises PartnerError.

    A balance of None could not be read; it is never zero. Source: Cards, GET /cards/{cardId}.
    """
    found = await partner.card(card_id)
    balance = found.balance_usd
    return {
        "card_status": found.card.status,
        "card_balance_usd": None if balance is None else str(balance),
    }


def closed(facts: Facts) -> list[Concern]:
    """The concern that stops every change of a closed card; empty for a card in another status."""
    return (
        [Concern("The card is closed: nothing of it can be changed.", stops=True)]
        if facts.get("card_status") == "DELETED"
        else []
    )
