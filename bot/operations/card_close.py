"""Close a card for good: its balance goes back to the float, then it is deleted [Cards, POST close].

It cannot be undone, gives back no card allowance, and the month is billed in full. The same key gives
the first answer again, and a card that reads DELETED is closed, whoever asks.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import aclosing
from decimal import Decimal
from itertools import count
from typing import Any, ClassVar, cast

from bot.domain.cards import DELETED, CardEntry
from bot.domain.money import exact_sum, format_usd
from bot.operations._base import Buttons, Concern, Facts, Field, InWords, Line, Look, Operation
from bot.operations._card_switch import CARD
from bot.operations._facts import float_facts
from bot.operations._handling import Handling
from bot.outcomes import Evidence, Finding, Outcome
from bot.partner.calls import cards as card_calls
from bot.partner.client import PartnerClient

_FOUR_DIGITS = re.compile(r"[0-9]{4}")
# Purchases settle within a day or so, so what is open is among the newest.
_NEWEST = 50


def _last_four(text: str) -> str:
    digits = text.lstrip("•*xX ")
    if not _FOUR_DIGITS.fullmatch(digits):
        raise ValueError("Type the last four digits of the card, for example 4242.")
    return digits


class Close(Operation):
    """Closing a card permanently; its balance goes back to the float, in USD. Source: Cards, POST close."""

    kind = "card_close"
    title = "Close a card"
    verb = "Close for good"
    command = ("card", "close")
    example = "/card close 4242"
    help = (
        "close a card for good: what is on it goes back to the float, and its place in the card allowance is gone;"
        " freezing can be undone, closing cannot"
    )
    phrases = ("close {card}", "close {card} for good")
    endpoint = card_calls.CLOSE
    fields = (
        CARD,
        Field(
            "last4", "Last four digits", _last_four, hint="Typed again, to be sure of the card.", anew=True
        ),
    )
    # A card that another request has closed since reads just like one that this one closed.
    handling = Handling(doubts=("card_topup", "card_unload", "card_close"), superseded_by=("card_close",))
    in_words: ClassVar[InWords] = {
        (503, "UNAVAILABLE"): ("The card's balance could not be read, so the card stays open.", ""),
    }
    place = 6
    intent = "close_card"
    leaves_card = DELETED
    buttons = Buttons(more=5)

    @classmethod
    def misfits(cls, values: Mapping[str, str], card: CardEntry) -> dict[str, str]:
        """The card's last four digits, typed again, must be those of the card."""
        if card.last4 is None:
            text = "The service has not told the last four digits of this card yet. Try in a moment."
            return {"last4": text}
        if values.get("last4") not in (None, card.last4):
            return {"last4": f"These are not the last four digits of {card.holder}'s card. Check the card."}
        return {}

    def summary(self) -> str:
        """Names the card; the digits typed again are only a safeguard."""
        return f"Close {self.target_label} for good"

    def body(self) -> dict[str, Any]:
        """Empty: the call has no body."""
        return {}

    async def read(self, partner: PartnerClient) -> Facts:
        """Float, card and monthly fee in USD as exact text, with the number and sum of unsettled purchases.

        `open_purchases` counts among the newest 50 purchases and `open_usd` is their sum.
        """
        found = await partner.card(self.subject)
        held = found.balance_usd
        open_usd = await _open_purchases(partner, self.subject)
        return {
            **await float_facts(partner),
            "card_status": found.card.status,
            "card_last4": found.card.last4,
            "card_balance_usd": None if held is None else str(held),
            "monthly_fee_usd": str((await partner.fees()).transaction.monthly_per_card_usd),
            "open_purchases": len(open_usd),
            "open_usd": str(exact_sum(open_usd)),
        }

    def lines(self, facts: Facts) -> list[Line]:
        """What goes back to the float in USD, the last monthly fee, and that no card allowance comes back."""
        held, left = facts.get("card_balance_usd"), facts["allowance_left"]
        returned = None if held is None else Decimal(held)
        lines = [
            ("Card status", f"{facts.get('card_status') or 'not reported yet'} → {DELETED}, for good"),
            ("Goes back to the float", format_usd(returned)),
            (
                "Monthly fee",
                f"{format_usd(Decimal(facts['monthly_fee_usd']))} for this month in full, none after it",
            ),
            (
                "Card allowance",
                "no cap" if left is None else f"{left} left before and after: none comes back",
            ),
        ]
        if returned is not None:
            before = Decimal(facts["float_balance_usd"])
            lines.insert(2, ("Float balance", f"{format_usd(before)} → {format_usd(before + returned)}"))
        return lines

    def concerns(self, facts: Facts) -> list[Concern]:
        """Stops for a closed card, other last digits and a negative balance; warns of unsettled purchases."""
        if facts.get("card_status") == DELETED:
            return [Concern("The card is closed already.", stops=True)]
        found = [
            Concern("A closed card cannot be opened again. To stop purchases only, freeze it: /card freeze.")
        ]
        found += _not_closable(facts, self.values.get("last4"))
        number = facts["open_purchases"]
        if number:
            what = "One purchase" if number == 1 else f"{number} purchases"
            amount = format_usd(Decimal(facts["open_usd"]))
            found.append(
                Concern(
                    f"{what} of {amount} not yet settled: what is refunded after closing has no card to go to. Wait"
                    " until the merchants have settled, if it is not urgent."
                )
            )
        return found

    async def send(self, partner: PartnerClient, key: str, body: bytes) -> Outcome:
        """Closes the card without a body; an answer for another card is UNRESOLVED."""
        done = await partner.close(self.subject, key=key)
        facts = {"returned_usd": str(done.returned_usd), "card_id": done.card_id}
        if done.card_id != self.subject:
            return Outcome(
                Finding.UNRESOLVED,
                "The API answered for another card than was approved. Do not repeat this: a person has to look at"
                " both cards.",
                facts,
                alarm="The answer to a close names another card: the key may have been used before.",
            )
        return Outcome(
            Finding.SUCCEEDED,
            f"{self.target_label} is closed. {format_usd(done.returned_usd)} went back to the float.",
            facts,
        )

    async def look(self, partner: PartnerClient, key: str, since: Any) -> Look:
        """Done when the card reads DELETED, whoever closed it."""
        status = (await partner.card(self.subject)).card.status
        facts = {"card_status": status}
        if status == DELETED:
            text = "The card reads DELETED: it is closed, and what was on it went back to the float."
            return Look(Evidence.DONE, text, facts)
        return Look(Evidence.ABSENT, f"The card reads {status or 'no status yet'}: it is not closed.", facts)


def _not_closable(facts: Facts, typed: str | None) -> list[Concern]:
    """What the API would refuse, and the wrong card."""
    held, last4 = facts.get("card_balance_usd"), facts.get("card_last4")
    if last4 is not None and typed not in (None, last4):
        return [Concern(f"The card ends in {last4}, and {typed} was typed.", stops=True)]
    if held is None:
        return [Concern("The card's balance cannot be read now; until it can, the API leaves the card open.")]
    if Decimal(held) < 0:
        return [Concern(f"The card owes {format_usd(-Decimal(held))}; the API leaves it open.", stops=True)]
    return []


async def _open_purchases(partner: PartnerClient, card_id: str) -> list[Decimal]:
    """What the newest purchases that are not settled come to, each in USD."""
    found: list[Decimal] = []
    seen = count(1)
    async with aclosing(cast(Any, partner.transactions(card_id))) as rows:  # left early, so it is closed
        async for row in rows:
            if row.status in ("pending", "partially_reversed"):
                found.append(row.amount_usd)
            if next(seen) == _NEWEST:
                break
    return found
