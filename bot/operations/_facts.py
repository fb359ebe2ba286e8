"""Facts several kinds read live before acting, and the concerns that follow from them."""

from __future__ import annotations

from bot.operations._base import Concern, Facts
from bot.partner.client import PartnerClient


async def float_facts(partner: PartnerClient) -> Facts:
    """Float and allowance from GET /me; amounts as exact text in USD."""
    me = await partner.me()
    remaining = None if me.cards.limit is None else me.cards.limit - me.cards.total
    return {
        "float_available_usd": str(me.float.available_usd),
        "float_balance_usd": str(me.float.balance_usd),
        "allowance_left": remaining,
    }


async def card_facts(partner: PartnerClient, card_id: str) -> Facts:
    """Status and balance from GET /cards/{cardId}; balance None = unreadable, never zero."""
    found = await partner.card(card_id)
    balance = found.balance_usd
    return {
        "card_status": found.card.status,
        "card_balance_usd": None if balance is None else str(balance),
    }


def closed(facts: Facts) -> list[Concern]:
    """A closed card takes no change of any kind."""
    return (
        [Concern("The card is closed: nothing of it can be changed.", stops=True)]
        if facts.get("card_status") == "DELETED"
        else []
    )


def not_spendable(facts: Facts) -> list[Concern]:
    """A frozen card can be topped up but not spent; a closed or blocked one should get no money."""
    status = facts.get("card_status")
    if status == "FROZEN":
        return [Concern("The card is frozen: the money will sit on it until it is unfrozen.")]
    if status == "DELETED":
        return [Concern("The card is closed.", stops=True)]
    if status == "BLOCKED":
        return [Concern("The service has blocked this card; only the service can unblock it.", stops=True)]
    if status == "EXPIRED":
        return [Concern("The card has expired.", stops=True)]
    return []
