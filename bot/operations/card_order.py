"""Order a card: a new virtual card with zero balance [Cards, POST /cards].

Phone and e-mail are sealed with the request and purged when the outcome is definite. There is no
way to prove that an order did not happen: GET /cards shows presence, never absence.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, ClassVar

from bot.domain.cards import label
from bot.domain.money import format_usd
from bot.operations._base import Batch, Buttons, Concern, Facts, Line, Look, Operation, Sought
from bot.operations._facts import float_facts
from bot.operations._fields import Field, optional
from bot.operations._whose import only_ours
from bot.operations.value_types import CARDHOLDER_NAME, COUNTRY_CODE, EMAIL, PARTNER_REF, PHONE
from bot.outcomes import Evidence, Finding, Outcome
from bot.partner.calls import cards as card_calls
from bot.partner.client import PartnerClient
from bot.partner.errors import Forbidden
from bot.partner.models import Card, LedgerEntry


class Many(Batch):
    """A list of cards to order."""

    headers: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "card_holder_name": ("name", "cardholder", "holder"),
        "phone_country_code": ("country", "phone country"),
        "phone": ("phone number",),
        "email": ("e-mail", "mail"),
        "partner_ref": ("reference", "ref"),
    }
    examples = ("Alice Moreau,44,7400123456,alice@example.com,TEAM-7",)
    twins = ("card_holder_name", "partner_ref")

    def summary(self, cards: str, total_usd: Decimal) -> str:
        """Without the amount: an order moves no money to a card."""
        return f"Order {cards}"

    async def account(self, partner: PartnerClient) -> dict[str, Any]:
        """Adds the monthly fee of one card, in USD (Fee schedule, GET /fees)."""
        fees = (await partner.fees()).transaction
        return {**await super().account(partner), "monthly_fee_usd": fees.monthly_per_card_usd}

    async def row_facts(self, operation: Operation, partner: PartnerClient) -> Facts:
        """The account's facts, without the search for cards of the same name or reference.

        That search was made for the whole list when it was requested. To list every card for each row would
        use up the rate limit.
        """
        return {**await self.account(partner), "twins": []}

    def lines(self, rows: int, total_usd: Decimal, facts: Facts) -> list[Line]:
        """The first month's fees of all rows and the float, in USD, and the allowance before and after."""
        left = facts["allowance_left"]
        fees, available = facts["monthly_fee_usd"] * rows, facts["float_available_usd"]
        return [
            ("First month's fees", format_usd(fees)),
            ("Float available", f"{format_usd(available)} → {format_usd(available - fees)}"),
            ("Card allowance", "no cap" if left is None else f"{left} → {left - rows} left permanently"),
        ]

    def concerns(
        self, rows: int, total_usd: Decimal, facts: Facts, of_rows: Sequence[Concern]
    ) -> list[Concern]:
        """Warns when the allowance or the float does not suffice for all rows."""
        found = [*of_rows]
        left = facts["allowance_left"]
        if left is not None and rows > left:
            text = f"The lifetime card allowance has {left} left, and {rows} are requested: the others will fail."
            found.insert(0, Concern(text))
        available = facts["float_available_usd"]
        fees_usd = facts["monthly_fee_usd"] * rows
        if fees_usd > available:
            text = (
                f"The float ({format_usd(available)}) does not cover the first month's fees"
                f" ({format_usd(fees_usd)})."
            )
            found.append(Concern(text))
        return found


class Order(Operation):
    """Ordering a new virtual card with a balance of zero. Source: Cards, POST /cards."""

    kind = "card_order"
    title = "Order a card"
    verb = "Order"
    command = ("card", "order")
    example = "/card order"
    help = "order a new virtual card"
    phrases = ("order a card for {card_holder_name}", "new card for {card_holder_name}")
    endpoint = card_calls.ORDER_CARD
    card_holder_name = Field("Cardholder name", CARDHOLDER_NAME, placeholder="Alice Moreau")
    phone_country_code = Field("Country code", COUNTRY_CODE, placeholder="49", hint="Digits only")
    phone = Field("Phone", PHONE, hint="Without the country code")
    email = Field("Email", EMAIL)
    partner_ref = optional(Field("Partner reference", PARTNER_REF))
    moves_money = True
    may_have = "A card may have been made, with its first month's fee"
    place = 1
    intent = "order_card"
    no_opposite = "A card that was ordered stays. If nobody needs it, close it."
    buttons = Buttons(home=2)
    batch = Many()

    def summary(self) -> str:
        """Shows the name and the reference; phone and e-mail are masked."""
        ref = f", reference {self.partner_ref}" if self.partner_ref else ""
        return (
            f"Order a card for {self.card_holder_name}"
            f" (phone +{self.phone_country_code} {self.phone}, {self.email}{ref})"
        )

    def body(self) -> dict[str, Any]:
        """All fields as text, except the country code, which the API takes as a whole number."""
        ref = {"partner_ref": self.partner_ref} if self.partner_ref else {}
        return {
            "card_holder_name": self.card_holder_name,
            "phone_country_code": self.phone_country_code,
            "phone": self.phone.reveal(),
            "email": self.email.reveal(),
            **ref,
        }

    async def read(self, partner: PartnerClient) -> Facts:
        """The float and the monthly fee in USD, and open cards of the same name or reference.

        `twins` names those cards for people ("NAME ••1234").
        """
        fees = await partner.fees()
        facts = {**await float_facts(partner), "monthly_fee_usd": fees.transaction.monthly_per_card_usd}
        return {**facts, "twins": await self._twins(partner)}

    async def _twins(self, partner: PartnerClient) -> list[str]:
        """Open cards that already carry this reference or name, as "NAME ••1234"."""
        ref, name = self.partner_ref, self.card_holder_name
        return [
            label(card.card_holder_name, card.last4)
            async for card in partner.cards()
            if (ref and card.partner_ref == ref) or card.card_holder_name == name
        ]

    def lines(self, facts: Facts) -> list[Line]:
        """The printed name, the first month's fee in USD, the float and the card allowance before and after."""
        fee, available = facts["monthly_fee_usd"], facts["float_available_usd"]
        left = facts["allowance_left"]
        return [
            ("Printed on the card", self.card_holder_name),
            ("First month's fee", format_usd(fee)),
            ("Float available", f"{format_usd(available)} → {format_usd(available - fee)}"),
            ("Card allowance", "no cap" if left is None else f"{left} → {left - 1} left permanently"),
        ]

    def lines_after(self, facts: Facts) -> list[Line]:
        """The printed name, the fee and the allowance: the float of before is no longer true."""
        return [line for line in self.lines(facts) if line[0] != "Float available"]

    def concerns(self, facts: Facts) -> list[Concern]:
        """Stops when the card allowance is used up; warns of a low float and of the same name or reference."""
        found = []
        if facts["allowance_left"] is not None and facts["allowance_left"] < 1:
            found.append(
                Concern(
                    "The lifetime card allowance is used up. Contact your card provider for more.", stops=True
                )
            )
        fee, available = facts["monthly_fee_usd"], facts["float_available_usd"]
        if fee > available:
            found.append(
                Concern(
                    f"The float ({format_usd(available)}) does not cover the first month's fee ({format_usd(fee)})."
                )
            )
        if facts["twins"]:
            found.append(
                Concern(
                    f"There is a card with this name or reference already: {', '.join(facts['twins'][:3])}."
                )
            )
        return found

    async def send(self, partner: PartnerClient, key: str, body: bytes) -> Outcome:
        """Orders the card; the outcome's facts hold its `card_id` and `last4`."""
        card = await partner.order_card(body, key=key)
        name = card.card_holder_name
        ending = f" ending {card.last4}" if card.last4 else ""
        return Outcome(
            Finding.SUCCEEDED,
            f"Card{ending} ordered for {name}. Its balance is 0.00 USD; the first month's fee is billed.",
            {"card_id": card.id, "last4": card.last4},
        )

    def changed_card(self, outcome: Outcome) -> str | None:
        """The id of the new card: the form names none."""
        return outcome.facts.get("card_id")

    @classmethod
    def effect(cls, facts: Facts) -> str:
        """The id of the card that was made."""
        return facts.get("card_id") or ""

    @property
    def likeness(self) -> str:
        """Name and reference: all that a card shows of its order."""
        return f"{self.card_holder_name}\n{self.partner_ref or ''}"

    async def look(self, partner: PartnerClient, sought: Sought) -> Look:
        """Done when one card can only be of this order; no such card proves nothing.

        The ledger's claim row of the key names its card. Without one it is a card of this name and reference, made
        while a call of ours could make it, that no other order has made or may have made.
        """
        fitting = {card.id: card async for card in partner.cards() if self._fits(card)}
        claims = await _claims(partner, sought)
        mine = [
            card_id for card_id, row in claims.items() if row.names_key(sought.key) and card_id in fitting
        ]
        others = await sought.others()
        if len(mine) == 1 and mine[0] not in others.taken:
            return self._made(fitting[mine[0]], "as the ledger says")
        unclaimed = {
            card.id: card
            for card in fitting.values()
            if card.id not in claims and sought.may_have_made(card.created_at)
        }
        card, why_not = only_ours(unclaimed, others)
        if card is not None:
            return self._made(card, "at that time")
        text = f"No new card for {self.card_holder_name} is in the list that can only be of this order"
        return Look(
            Evidence.UNPROVEN,
            f"{text}{f': {why_not}' if why_not else ''}. It does not prove that none was made.",
            {},
        )

    def _fits(self, card: Card) -> bool:
        return card.card_holder_name == self.card_holder_name and card.partner_ref == self.partner_ref

    def _made(self, card: Card, when: str) -> Look:
        text = f"A card for {card.card_holder_name} was made by this order, {when}."
        return Look(Evidence.DONE, text, {"card_id": card.id, "last4": card.last4})


async def _claims(partner: PartnerClient, sought: Sought) -> Mapping[str, LedgerEntry]:
    """Empty for a key that may order cards and not read the ledger."""
    try:
        return await partner.order_claims(since=sought.ledger_since)
    except Forbidden:
        return {}
