"""Freeze a card: purchases are declined, the balance stays, the monthly fee goes on."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

from bot.domain.money.amounts import format_usd
from bot.operations._base import Concern, Facts, Line
from bot.operations._card_switch import CardSwitch


class Freeze(CardSwitch):
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
    handling = replace(CardSwitch.handling, can_run_now=True, must_recheck=False)

    def lines(self, facts: Facts) -> list[Line]:
        balance = facts.get("card_balance_usd")
        return [
            ("Card status", f"{facts.get('card_status') or 'not reported yet'} → FROZEN"),
            ("Stays on the card", "unknown" if balance is None else format_usd(Decimal(balance))),
            ("Goes on", "the monthly fee"),
        ]

    def concerns(self, facts: Facts) -> list[Concern]:
        status = facts.get("card_status")
        if status == "FROZEN":
            return [Concern("The card is frozen already.")]
        if status in ("DELETED", "BLOCKED", "EXPIRED"):
            return [Concern(f"The card reads {status}: it cannot be used and cannot be frozen.", stops=True)]
        return []
