"""Unload a card: move money from it back to the float, 1:1 and free [Cards, POST unload].

No reading settles a lost answer: the ledger has no documented row for an unload, and balances move for
other reasons too. Only the same key answers; where it does not, two people decide by what `look` shows.
"""

from __future__ import annotations

from contextlib import aclosing
from datetime import datetime
from decimal import Decimal
from typing import Any, ClassVar, cast

from bot.domain.money import format_usd
from bot.operations._base import Buttons, Concern, Facts, InWords, Line, Look, Operation, Sought
from bot.operations._card_switch import CARD
from bot.operations._facts import card_facts, closed, float_after, float_facts
from bot.operations._fields import Field
from bot.operations._handling import Handling
from bot.operations.value_types import USD
from bot.outcomes import Evidence, Finding, Outcome, timing
from bot.partner.calls import cards as card_calls
from bot.partner.client import PartnerClient

_CARD_SHORT = "The card holds less than the amount."


class Unload(Operation):
    """Moving money from a card back to the float, 1:1 and without a fee, in USD. Source: Cards, POST unload."""

    kind = "card_unload"
    title = "Unload a card"
    verb = "Unload"
    command = ("card", "unload")
    example = "/card unload 4242 50"
    help = "move money from a card back to the float, 1:1 and free; the card stays open"
    phrases = ("unload {amount_usd} from {card}", "take {amount_usd} off {card}")
    endpoint = card_calls.UNLOAD
    card = CARD
    amount_usd = Field("Amount (USD)", USD, placeholder="50.00")
    handling = Handling(doubts=("card_topup", "card_unload", "card_close"))
    in_words: ClassVar[InWords] = {
        (402, "INSUFFICIENT_FUNDS"): (
            _CARD_SHORT,
            "Look at the card's balance, then make a new request for less.",
        ),
    }
    moves_money = True
    may_have = "Money may have left the card"
    place = 3
    intent = "unload_card"
    opposite = "card_topup"
    buttons = Buttons(more=1)

    def exposure_usd(self) -> Decimal:
        """The whole amount: it counts as money moved, though none leaves the float."""
        return self.amount_usd

    def summary(self) -> str:
        """Names the card and the amount in USD."""
        return f"Unload {format_usd(self.amount_usd)} from {self.target_label} back to the float"

    def body(self) -> dict[str, Any]:
        """`amount_usd`, a JSON number with at most two decimals (Cards, POST unload)."""
        return {"amount_usd": self.amount_usd}

    async def read(self, partner: PartnerClient) -> Facts:
        """The float and the card's balance in USD, and the card's status."""
        return {**await float_facts(partner), **await card_facts(partner, self.card)}

    def lines(self, facts: Facts) -> list[Line]:
        """The card's balance and the float before and after, in USD."""
        held = facts.get("card_balance_usd")
        left = "unknown" if held is None else _change(held, -self.amount_usd)
        return [
            ("Card balance", left),
            ("Float balance", _change(facts["float_balance_usd"], self.amount_usd)),
            ("Card status", facts.get("card_status") or "not reported yet"),
            ("Fee", "none; the monthly fee of the card continues"),
        ]

    def lines_after(self, facts: Facts) -> list[Line]:
        """The fee alone: the balances of before are no longer true."""
        return [line for line in self.lines(facts) if line[0] == "Fee"]

    def concerns(self, facts: Facts) -> list[Concern]:
        """Stops when the card holds less than the amount or is closed."""
        found = closed(facts)
        held = facts.get("card_balance_usd")
        if held is None:
            found.append(
                Concern("The card's balance cannot be read now, so nobody can say whether this fits.")
            )
        elif self.amount_usd > held:
            text = f"{_CARD_SHORT} It holds {format_usd(held)}, so your card provider would refuse this."
            found.append(Concern(text, stops=True))
        found.append(
            Concern("The card holds less immediately, so purchases that come in now may be declined.")
        )
        return found

    def stops(self, facts: Facts, *, again: bool) -> list[str]:
        """Nothing stops a repeat: an unload that went through leaves the card short.

        Only the same key shows what happened, and it moves no more than the card holds.
        """
        return [] if again else super().stops(facts, again=again)

    async def send(self, partner: PartnerClient, key: str, body: bytes) -> Outcome:
        """Unloads; an answer with another card or amount is UNRESOLVED."""
        done = await partner.unload(self.card, body, key=key)
        facts = {"unloaded_usd": str(done.unloaded_usd), "card_id": done.card_id}
        if done.unloaded_usd != self.amount_usd or done.card_id != self.card:
            return Outcome(
                Finding.UNRESOLVED,
                "Your card provider answered with another card or amount than was approved. Do not repeat this: a"
                " person has to look at the card and the float.",
                facts,
                alarm="The answer to an unload names another card or amount: the key may have been used before.",
            )
        return Outcome(
            Finding.SUCCEEDED,
            f"{format_usd(done.unloaded_usd)} moved from {self.target_label} back to the float."
            f" {float_after(done.partner_balance_usd)}",
            facts,
        )

    async def look(self, partner: PartnerClient, sought: Sought) -> Look:
        """What a person needs to decide by, amounts in USD as exact text; never a proof of how it ended. A row under
        its key shows that the same key answers, and does not move money a second time."""
        held = (await partner.card(self.card)).balance_usd
        me = await partner.me()
        event = await _event_of(partner, self.card, sought.since - timing.CLOCKS_AGREE)
        moved = await partner.ledger_since(sought.ledger_since)
        rows = [row for row in moved if row.names_key(sought.key)]
        text = (
            "No reading proves what became of an unload."
            f" The card holds {format_usd(held)} now, the float {format_usd(me.float.balance_usd)};"
            f" the event log has {'one' if event else 'no'} card.unloaded of this card since, and the ledger"
            f" {'a' if rows else 'no'} row with this key."
        )
        facts = {
            "card_balance_usd": None if held is None else str(held),
            "float_balance_usd": str(me.float.balance_usd),
            "event": event,
            "ledger_row_usd": str(rows[0].amount_usd) if rows else None,
        }
        return Look(Evidence.TRACED if rows else Evidence.UNPROVEN, text, facts)


def _change(before_usd: Decimal, by_usd: Decimal) -> str:
    return f"{format_usd(before_usd)} → {format_usd(before_usd + by_usd)}"


async def _event_of(partner: PartnerClient, card_id: str, since: datetime) -> str | None:
    """The id of the newest card.unloaded that names this card; its payload is not documented."""
    log = cast(Any, partner.events(event_type="card.unloaded", since=since))
    async with aclosing(log) as events:  # left before its end, so it has to be closed
        async for event in events:
            if event.payload.get("card_id") == card_id:
                return str(event.id)
    return None
