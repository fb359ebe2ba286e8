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
from bot.domain.money import exact_sum, format_usd, ledger_text
from bot.operations._base import Buttons, Concern, Facts, InWords, Line, Look, Operation, Sought
from bot.operations._card_switch import CARD
from bot.operations._facts import float_after, float_facts
from bot.operations._fields import Field
from bot.operations._handling import Handling
from bot.operations.value_types import ValueType
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


LAST_FOUR = ValueType(str, _last_four, str)


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
    card = CARD
    last4 = Field("Last four digits", LAST_FOUR, hint="Typed again, to be sure of the card.", safeguard=True)
    handling = Handling(doubts=("card_topup", "card_unload", "card_close"))
    in_words: ClassVar[InWords] = {
        (503, "UNAVAILABLE"): ("The card's balance could not be read, so the card stays open.", ""),
    }
    moves_money = True
    may_have = "The card may be closed, or its money back on the float without it"
    place = 6
    intent = "close_card"
    no_opposite = "A closed card can't be opened again."
    leaves_card = DELETED
    buttons = Buttons(more=5)

    @classmethod
    def misfits(cls, values: Mapping[str, Any], card: CardEntry) -> dict[str, str]:
        """The card's last four digits, typed again, must be those of the card."""
        if card.last4 is None:
            text = "Your card provider has not given the last four digits of this card yet. Try again in a minute."
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
        """Float, card and monthly fee in USD, with the number and sum of unsettled purchases.

        `open_purchases` counts among the newest 50 purchases and `open_usd` is their sum.
        """
        found = await partner.card(self.card)
        open_usd = await _open_purchases(partner, self.card)
        return {
            **await float_facts(partner),
            "card_status": found.card.status,
            "card_last4": found.card.last4,
            "card_balance_usd": found.balance_usd,
            "monthly_fee_usd": (await partner.fees()).transaction.monthly_per_card_usd,
            "open_purchases": len(open_usd),
            "open_usd": exact_sum(open_usd),
        }

    def lines(self, facts: Facts) -> list[Line]:
        """What goes back to the float in USD, the last monthly fee, and that no card allowance comes back."""
        returned, left = facts.get("card_balance_usd"), facts["allowance_left"]
        lines = [
            ("Card status", f"{facts.get('card_status') or 'not reported yet'} → {DELETED}, for good"),
            ("Goes back to the float", format_usd(returned)),
            (
                "Monthly fee",
                f"{format_usd(facts['monthly_fee_usd'])} for this month in full, none after it",
            ),
            (
                "Card allowance",
                "no cap" if left is None else f"{left} left before and after: none comes back",
            ),
        ]
        if returned is not None:
            before = facts["float_balance_usd"]
            lines.insert(2, ("Float balance", f"{format_usd(before)} → {format_usd(before + returned)}"))
        return lines

    def lines_after(self, facts: Facts) -> list[Line]:
        """The monthly fee and the allowance: the status and the balances of before are no longer true."""
        return [line for line in self.lines(facts) if line[0] in ("Monthly fee", "Card allowance")]

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
            amount = format_usd(facts["open_usd"])
            found.append(
                Concern(
                    f"{what} of {amount} not yet settled. A refund after closing would have no card to go to. If it is"
                    " not urgent, wait until the merchants have settled."
                )
            )
        return found

    async def send(self, partner: PartnerClient, key: str, body: bytes) -> Outcome:
        """Closes the card without a body; an answer for another card is UNRESOLVED."""
        done = await partner.close(self.card, key=key)
        facts = {"returned_usd": str(done.returned_usd), "card_id": done.card_id}
        if done.card_id != self.card:
            return Outcome(
                Finding.UNRESOLVED,
                "Your card provider answered for another card than was approved. Do not repeat this: a person has to"
                " look at both cards.",
                facts,
                alarm="The answer to a close names another card: the key may have been used before.",
            )
        return Outcome(
            Finding.SUCCEEDED,
            f"{self.target_label} is closed. {format_usd(done.returned_usd)} went back to the float."
            f" {float_after(done.partner_balance_usd)}",
            facts,
        )

    @classmethod
    def effect(cls, facts: Facts) -> str:
        """The card that was closed, for good: it can be only once."""
        return facts.get("card_id") or ""

    async def look(self, partner: PartnerClient, sought: Sought) -> Look:
        """Done when the card reads DELETED, unless another request closed it.

        The balance goes back before the card is deleted, so an open card proves nothing by itself: it is absent only
        where the card's balance and the ledger show that its money did not move. Source: Cards, POST close.
        """
        found = await partner.card(self.card)
        me = await partner.me()
        is_closed = found.card.status == DELETED
        is_empty = is_closed or (found.balance_usd is not None and found.balance_usd <= 0)
        returned = await _returned(partner, self.card, sought, is_empty=is_empty)
        before = sought.facts.get("card_balance_usd")
        float_before = sought.facts.get("float_balance_usd")
        facts = {
            "card_status": found.card.status,
            "card_balance_before_usd": None if before is None else str(before),
            "card_balance_usd": None if found.balance_usd is None else str(found.balance_usd),
            "float_balance_before_usd": None if float_before is None else str(float_before),
            "float_balance_usd": str(me.float.balance_usd),
            "returned_usd": None if returned is None else str(returned),
        }
        if is_closed:
            closed_by = (await sought.others()).taken.get(self.card)
            if closed_by is not None:
                return Look(Evidence.UNDONE, f"The card reads DELETED: {closed_by} closed it.", facts)
            text = f"The card reads DELETED: it is closed. {_back_in_words(returned)}"
            return Look(Evidence.DONE, text, {**facts, "card_id": self.card})
        reads = f"The card reads {found.card.status or 'no status yet'}: it is not closed"
        if found.balance_usd is None:
            text = f"{reads}, and its balance cannot be read, so nobody can say where its money is."
            return Look(Evidence.UNPROVEN, text, facts)
        held = f"it held {format_usd(before)} when this was requested"
        if returned is not None or (is_empty and (before is None or before > 0)):
            text = (
                f"{reads}, but its money has left it: {held} and holds {format_usd(found.balance_usd)} now."
                f" {_back_in_words(returned)} The float is {format_usd(me.float.balance_usd)} now."
            )
            return Look(Evidence.UNPROVEN if returned is None else Evidence.HALF_DONE, text, facts)
        text = (
            f"{reads}. It holds {format_usd(found.balance_usd)}, and the ledger shows nothing back from it."
        )
        return Look(Evidence.ABSENT, text, {**facts, "debit_usd": None})


async def _returned(
    partner: PartnerClient, card_id: str, sought: Sought, *, is_empty: bool
) -> Decimal | None:
    """What the ledger shows as come back from the card while our call could act, in USD; None = no such row.

    A return of a card's balance is a `refund` with the card's id; that of a refused top-up has none [Ledger entry].
    An unload may leave a row like it. So a row that names another key is not ours, and one that names nothing is ours
    only where no row names the card, and the card is empty: a close takes all that is on it.
    """
    rows: dict[str, list[Decimal]] = {}
    for entry in await partner.ledger_since(sought.ledger_since):
        if entry.kind == "refund" and entry.card_id == card_id and sought.may_have_made(entry.created_at):
            rows.setdefault(ledger_text.key_in(entry.reference), []).append(entry.amount_usd)
    ours = [*rows.get(sought.key, ()), *rows.get(card_id, ())] or (rows.get("", []) if is_empty else [])
    return exact_sum(ours) if ours else None


def _back_in_words(returned: Decimal | None) -> str:
    if returned is None:
        return "The ledger shows no balance of it that went back: compare the float with what the card held."
    return f"The ledger shows {format_usd(returned)} back on the float."


def _not_closable(facts: Facts, typed: str | None) -> list[Concern]:
    """What the API would refuse, and the wrong card."""
    held, last4 = facts.get("card_balance_usd"), facts.get("card_last4")
    if last4 is not None and typed not in (None, last4):
        return [Concern(f"The card ends in {last4}, and {typed} was typed.", stops=True)]
    if held is None:
        return [
            Concern(
                "The card's balance cannot be read now; until it can, your card provider leaves the card open."
            )
        ]
    if held < 0:
        return [
            Concern(
                f"The card's balance is negative, {format_usd(-held)}; your card provider leaves it open.",
                stops=True,
            )
        ]
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
