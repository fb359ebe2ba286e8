"""Freeze a card: purchases are declined, the balance stays, the monthly fee goes on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Any, ClassVar

from bot.domain.money import format_usd
from bot.operations._base import Batch, Buttons, Concern, Facts, Line
from bot.operations._card_switch import CARD_HEADERS, CardSwitch
from bot.partner.client import PartnerClient


class Many(Batch):
    """A list of cards to freeze."""

    headers: ClassVar[Mapping[str, tuple[str, ...]]] = {"card": CARD_HEADERS}
    examples = ("4242", "TEAM-7")
    on_frozen = "is frozen already"

    def summary(self, cards: str, total_usd: Decimal) -> str:
        """Without the amount: a freeze moves no money."""
        return f"Freeze {cards}"

    async def account(self, partner: PartnerClient) -> dict[str, Any]:
        """Nothing: a freeze does not depend on the float."""
        return {}

    def lines(self, rows: int, total_usd: Decimal, facts: Facts) -> list[Line]:
        """That the monthly fees continue."""
        return [("Goes on", "the monthly fees")]


class Freeze(CardSwitch):
    """Stopping all purchases of a card until it is unfrozen; no money moves. Source: Cards, POST freeze."""

    kind = "card_freeze"
    title = "Freeze a card"
    verb = "Freeze"
    command = ("card", "freeze")
    example = "/card freeze 4242"
    help = "stop all purchases on a card"
    phrases = ("freeze {card}", "lock {card}")
    frozen = True
    done = "frozen"
    # A thief does not wait for a balance to become readable.
    handling = replace(CardSwitch.handling, can_run_now=True, must_recheck=False, urgent=True)
    place = 4
    intent = "freeze_card"
    leaves_card = "FROZEN"
    undone_by = "card_unfreeze"
    buttons = Buttons(first_on={"ACTIVE": 2}, home=3)
    batch = Many()

    def lines(self, facts: Facts) -> list[Line]:
        """The status before and after, and what stays on the card in USD."""
        balance = facts.get("card_balance_usd")
        return [
            ("Card status", f"{facts.get('card_status') or 'not reported yet'} → FROZEN"),
            ("Stays on the card", "unknown" if balance is None else format_usd(Decimal(balance))),
            ("Goes on", "the monthly fee"),
        ]

    def concerns(self, facts: Facts) -> list[Concern]:
        """Stops for a closed, blocked or expired card."""
        status = facts.get("card_status")
        if status == "FROZEN":
            return [Concern("The card is frozen already.")]
        if status in ("DELETED", "BLOCKED", "EXPIRED"):
            return [Concern(f"The card reads {status}: it cannot be used and cannot be frozen.", stops=True)]
        return []
