"""Top up a card: move float onto it, 1:1 and free of charge [Cards, POST topup]."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, ClassVar

from bot.domain.alerts import Remedy
from bot.domain.money import format_usd
from bot.operations._base import Batch, Buttons, Concern, Facts, Line, Look, Operation, Sought
from bot.operations._card_switch import CARD, CARD_HEADERS
from bot.operations._facts import card_facts, float_after, float_facts
from bot.operations._fields import Field
from bot.operations._handling import Handling
from bot.operations.value_types import USD
from bot.outcomes import Evidence, Finding, Outcome
from bot.partner.calls import cards as card_calls
from bot.partner.client import PartnerClient
from bot.partner.models import LedgerMark


class Many(Batch):
    """A list of cards to top up."""

    headers: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "card": CARD_HEADERS,
        "amount_usd": ("amount", "usd"),
    }
    examples = ("4242,50.00", "ALICE MOREAU,1250")

    def summary(self, cards: str, total_usd: Decimal) -> str:
        """With the sum of all rows, in USD."""
        return f"Top up {cards} by {format_usd(total_usd)} in all"

    def lines(self, rows: int, total_usd: Decimal, facts: Facts) -> list[Line]:
        """The float before and after, and after all pending requests where there are any, in USD."""
        available = facts["float_available_usd"]
        after = available - total_usd
        after_all = after - facts["pending_usd"]
        held = [("After all pending", format_usd(after_all))] if facts["pending_usd"] else []
        return [("Float available", f"{format_usd(available)} → {format_usd(after)}"), *held]

    def concerns(
        self, rows: int, total_usd: Decimal, facts: Facts, of_rows: Sequence[Concern]
    ) -> list[Concern]:
        """Warns when the sum is more than the float has; rows are then sent while it lasts."""
        available = facts["float_available_usd"]
        if total_usd <= available:
            return [*of_rows]
        text = (
            f"This does not fit: {format_usd(total_usd)} in all is more than the {format_usd(available)} of float"
            " available now. Rows are sent in their order while it lasts; the others end with nothing sent."
        )
        return [Concern(text), *of_rows]


# What the card's status says against putting money on it.
_ON_STATUS = {
    "FROZEN": Concern("The card is frozen: the money will sit on it until it is unfrozen."),
    "DELETED": Concern("The card is closed.", stops=True),
    "BLOCKED": Concern("Your card provider has blocked this card; only they can unblock it.", stops=True),
    "EXPIRED": Concern("The card has expired.", stops=True),
}


class TopUp(Operation):
    """Moving float onto a card, 1:1 and without a fee, in USD. Source: Cards, POST topup."""

    kind = "card_topup"
    title = "Top up a card"
    verb = "Top up"
    command = ("card", "topup")
    example = "/card topup 4242 50"
    help = "move float onto a card, 1:1 and free"
    phrases = ("top up {card} by {amount_usd}", "put {amount_usd} on {card}")
    endpoint = card_calls.TOP_UP
    remedy = Remedy.TOP_UP_CARD
    handling = Handling(moves_float=True, doubts=("card_topup", "card_unload", "card_close"))
    card = CARD
    amount_usd = Field("Amount (USD)", USD, placeholder="50.00")
    moves_money = True
    may_have = "Money may have left the float"
    place = 2
    intent = "topup_card"
    opposite = "card_unload"
    buttons = Buttons(first_on={"ACTIVE": 1, "FROZEN": 2}, home=1)
    batch = Many()

    def exposure_usd(self) -> Decimal:
        """The whole amount: it leaves the float."""
        return self.amount_usd

    def summary(self) -> str:
        """Names the card and the amount in USD."""
        return f"Top up {self.target_label} by {format_usd(self.amount_usd)}"

    def body(self) -> dict[str, Any]:
        """`amount_usd`, a JSON number with at most two decimals (Cards, POST topup)."""
        return {"amount_usd": self.amount_usd}

    async def read(self, partner: PartnerClient) -> Facts:
        """The float and the card's balance in USD, and the card's status."""
        return {**await float_facts(partner), **await card_facts(partner, self.card)}

    def lines(self, facts: Facts) -> list[Line]:
        """The float and the card's balance before and after, in USD."""
        available = facts["float_available_usd"]
        lines = [("Float available", f"{format_usd(available)} → {format_usd(available - self.amount_usd)}")]
        if facts.get("card_balance_usd") is None:
            lines.append(("Card balance", "unknown"))
        else:
            balance = facts["card_balance_usd"]
            lines.append(("Card balance", f"{format_usd(balance)} → {format_usd(balance + self.amount_usd)}"))
        lines.append(("Card status", facts.get("card_status") or "not reported yet"))
        return lines

    def lines_after(self, facts: Facts) -> list[Line]:
        """None: the balances of before are no longer true."""
        return []

    def concerns(self, facts: Facts) -> list[Concern]:
        """Stops when the amount is more than the available float, or the card is closed, blocked or expired."""
        found = [_ON_STATUS[status]] if (status := facts.get("card_status")) in _ON_STATUS else []
        available = facts["float_available_usd"]
        if self.amount_usd > available:
            found.append(
                Concern(
                    f"This does not fit: {format_usd(self.amount_usd)} is more than the"
                    f" {format_usd(available)} of float available now.",
                    stops=True,
                )
            )
        return found

    async def send(self, partner: PartnerClient, key: str, body: bytes) -> Outcome:
        """Tops up; an answer with another card or amount is UNRESOLVED."""
        done = await partner.top_up(self.card, body, key=key)
        facts = {"credited_usd": str(done.credited_usd), "card_id": done.card_id}
        if done.credited_usd != self.amount_usd or done.card_id != self.card:
            return Outcome(
                Finding.UNRESOLVED,
                "Your card provider answered with another card or amount than was approved. Do not repeat this: a"
                " person has to look at the card and the ledger.",
                facts,
                alarm="The answer to a top-up names another card or amount: the key may have been used before.",
            )
        return Outcome(
            Finding.SUCCEEDED,
            f"{format_usd(done.credited_usd)} moved from the float onto {self.target_label}."
            f" {float_after(done.partner_balance_usd)}",
            facts,
        )

    async def look(self, partner: PartnerClient, sought: Sought) -> Look:
        """The ledger row `topup:<key>` proves the debit, not the credit; only the same key shows that.

        A refund row beside it proves that the money came back. Source: Ledger entry, GET /ledger.
        """
        seen = sought.seen
        mark = (
            LedgerMark(seen["ledger_rows"], tuple(seen["ledger_newest"])) if "ledger_rows" in seen else None
        )
        rows = await partner.find_top_up(sought.key, since=sought.ledger_since, mark=mark)
        debit = seen.get("debit_usd") if rows.debit is None else str(rows.debit.amount_usd)
        refund = seen.get("refund_usd") if rows.refund is None else str(rows.refund.amount_usd)
        # With how far the ledger was read, from where the next look goes on.
        goes_on = {"ledger_rows": rows.mark.rows, "ledger_newest": list(rows.mark.newest)}
        facts: dict[str, Any] = {"debit_usd": debit, "refund_usd": refund, **goes_on}
        if debit is None:
            return Look(Evidence.ABSENT, "The ledger shows no debit under this key.", facts)
        if refund is not None:
            return Look(Evidence.UNDONE, "The ledger shows the debit and the refund.", facts)
        return Look(
            Evidence.DEBITED,
            "The ledger shows the debit and no refund: the money left the float, and the card may not have it.",
            facts,
        )
