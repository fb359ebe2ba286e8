"""Unfreeze a card: purchases work again. A BLOCKED card is the card provider's to unblock, not ours."""

from __future__ import annotations

from bot.domain.alerts import Remedy
from bot.domain.money import format_usd
from bot.operations._base import Buttons, Concern, Facts, Line
from bot.operations._card_switch import CardSwitch


class Unfreeze(CardSwitch):
    """Letting a frozen card be used again; no money moves. Source: Cards, POST freeze."""

    kind = "card_unfreeze"
    remedy = Remedy.UNFREEZE_CARD
    title = "Unfreeze a card"
    verb = "Unfreeze"
    command = ("card", "unfreeze")
    example = "/card unfreeze 4242"
    help = "let a frozen card be used again"
    phrases = ("unfreeze {card}", "unlock {card}")
    frozen = False
    done = "unfrozen"
    place = 5
    intent = "unfreeze_card"
    opposite = "card_freeze"
    leaves_card = "ACTIVE"
    buttons = Buttons(first_on={"FROZEN": 1}, home=4)

    def lines(self, facts: Facts) -> list[Line]:
        """The status before and after, and what can be spent again in USD."""
        balance = facts.get("card_balance_usd")
        return [
            ("Card status", f"{facts.get('card_status') or 'not reported yet'} → ACTIVE"),
            ("Spendable again", "unknown" if balance is None else format_usd(balance)),
        ]

    def concerns(self, facts: Facts) -> list[Concern]:
        """Stops for a blocked card, which only the provider can unblock, and for a closed or expired one."""
        status = facts.get("card_status")
        if status == "BLOCKED":
            return [
                Concern(
                    "Your card provider has blocked this card: only they can unblock it. Contact them.",
                    stops=True,
                )
            ]
        if status in ("DELETED", "EXPIRED"):
            return [Concern(f"The card reads {status}: it cannot be unfrozen.", stops=True)]
        if status == "ACTIVE":
            return [Concern("The card is not frozen.")]
        return []
