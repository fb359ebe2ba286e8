"""Freeze a card: purchases are declined, the balance stays, the monthly fee goes on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any, ClassVar

from bot.domain.cards import CardEntry
from bot.domain.money import format_usd
from bot.operations._base import Batch, Buttons, Concern, Facts, InWords, Line
from bot.operations._card_switch import CARD_HEADERS, CardSwitch
from bot.operations._handling import Urgency
from bot.outcomes import Effect, Finding, FollowUrgent, Outcome
from bot.partner.answers import Answer
from bot.partner.client import PartnerClient
from bot.partner.errors import PartnerError


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
        return [("Monthly fees", "continue")]


_URGENCY = Urgency(
    not_yet="Not frozen yet",
    done="Frozen",
    not_done="not frozen",
    meanwhile="Purchases still go through.",
    perhaps="Purchases may still go through.",
    for_now="Frozen for now",
    unchanged="the card stays as it is",
    advice="If it is urgent, call your card provider: they can stop the card, too.",
)
# Purchases fail with a card of these, frozen or not [Card status].
_UNUSABLE = ("DELETED", "BLOCKED", "EXPIRED")


class Freeze(CardSwitch):
    """Stopping all purchases of a card until it is unfrozen; no money moves. Source: Cards, POST freeze."""

    kind = "card_freeze"
    title = "Freeze a card"
    verb = "Freeze"
    command = ("card", "freeze")
    example = "/card freeze 4242"
    help = "stop all purchases on a card"
    phrases = ("freeze {card}", "lock {card}")
    in_words: ClassVar[InWords] = {
        (403, "FORBIDDEN"): (
            "Your card provider says that this key may not freeze cards: it needs the scope cards:write. An admin"
            " asks them to add it, or sets another key with `countersign keys set`.",
            "",
        )
    }
    frozen = True
    done = "frozen"
    # A thief does not wait for a balance to become readable.
    handling = replace(CardSwitch.handling, run_now="Freeze now", must_recheck=False, urgency=_URGENCY)
    place = 4
    intent = "freeze_card"
    leaves_card = "FROZEN"
    undone_by = "card_unfreeze"
    opposite = "card_unfreeze"
    buttons = Buttons(first_on={"ACTIVE": 2}, home=3)
    batch = Many()

    async def read(self, partner: PartnerClient) -> Facts:
        """The card's status and balance, live."""
        return {**await super().read(partner), "read": None}

    def facts_of_last_reading(self, card: CardEntry | None, read: str) -> Facts:
        """The status and balance as last read: a thief does not wait for the card to become readable."""
        balance = card.balance_usd if card else None
        return {
            "card_status": card.status if card else None,
            "card_balance_usd": balance,
            "read": read or "never",
        }

    def lines(self, facts: Facts) -> list[Line]:
        """The status before and after, and what stays on the card in USD."""
        balance = facts.get("card_balance_usd")
        return [
            ("Card status", f"{facts.get('card_status') or 'not reported yet'} → FROZEN"),
            ("Stays on the card", "unknown" if balance is None else format_usd(balance)),
            ("Monthly fee", "continues"),
        ]

    def concerns(self, facts: Facts) -> list[Concern]:
        """Stops for a closed, blocked or expired card; an old reading alone stops nothing."""
        status, read = facts.get("card_status"), facts.get("read")
        if read:
            return [
                Concern(
                    "Your card provider cannot be read right now. The status and the balance are of the last"
                    f" reading ({read}). That does not stop the freeze."
                )
            ]
        if status == "FROZEN":
            return [Concern("The card is frozen already.")]
        if status in _UNUSABLE:
            return [Concern(f"The card reads {status}: it cannot be used and cannot be frozen.", stops=True)]
        return []

    def _answer(self, error: PartnerError) -> Answer:
        """As the table says, but what changed nothing is tried again after a doubt, too: that is harmless, and
        giving up is not."""
        row = super()._answer(error)
        return replace(row, after_doubt=row.first) if row.first is Finding.NOTHING_YET else row

    def in_its_words(self, outcome: Outcome, *, in_doubt: bool) -> Outcome:
        """What happened, and what purchases do: a freeze moves no money, so nothing is said of money."""
        if outcome.finding is Finding.SUCCEEDED:
            return outcome
        status = outcome.facts.get("card_status")
        seen = outcome.cause or (f"The card reads {status}." if status else "The card cannot be read now.")
        if outcome.finding is Finding.REFUSED:
            then = "" if status in _UNUSABLE else f" {_URGENCY.meanwhile}"
            text = f"{seen} The card is not frozen, and this is not tried again.{then}"
            return replace(outcome, text=f"{text} Make a new request if it is still wanted.")
        maybe = in_doubt or outcome.finding not in (Finding.NOTHING_YET, Finding.WAIT, Finding.HELD)
        doubtful = maybe and status != "ACTIVE"
        return replace(outcome, text=f"{seen} {_URGENCY.perhaps if doubtful else _URGENCY.meanwhile}")

    def effects(self, outcome: Outcome) -> Sequence[Effect]:
        """People are notified that it has not happened, and when it has."""
        return [FollowUrgent(is_refused=outcome.finding is Finding.REFUSED and bool(outcome.cause))]
