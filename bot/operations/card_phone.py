"""Change the phone that one-time codes of a card go to [Cards, PUT phone].

A way to take a card over, so always two people. Nothing reads the number back: what was set here is
known from our own records alone, and a lost answer is settled by the same value again.
"""

from __future__ import annotations

from typing import Any

from bot.operations._base import Buttons, Concern, Facts, Line, Look, Operation, Sought
from bot.operations._card_switch import CARD
from bot.operations._facts import card_facts, closed
from bot.operations._fields import Field
from bot.operations._handling import Handling
from bot.operations.value_types import COUNTRY_CODE, PHONE
from bot.outcomes import Evidence, Finding, Outcome
from bot.partner.calls import cards as card_calls
from bot.partner.client import PartnerClient


class ChangePhone(Operation):
    """Changing the phone number that gets a card's one-time codes by SMS. Source: Cards, PUT phone."""

    kind = "card_phone"
    title = "Change a card's phone"
    verb = "Change the phone"
    command = ("card", "phone")
    example = "/card phone 4242"
    help = "change the number that the one-time codes of a card's online purchases are sent to"
    phrases = ("change the phone of {card} to {phone}",)
    endpoint = card_calls.SET_PHONE
    card = CARD
    phone_country_code = Field("Country code", COUNTRY_CODE, placeholder="49", hint="Digits only")
    phone = Field("Phone", PHONE, hint="Without the country code")
    handling = Handling(superseded_by=("card_phone",), reads_back=False)
    place = 8
    intent = "change_phone"
    no_opposite = "The old number isn't known here. Request a change to the number that should be set."
    buttons = Buttons(more=4)

    def summary(self) -> str:
        """Shows the number masked."""
        return f"Change the phone of {self.target_label} to {self._number}"

    @property
    def _number(self) -> str:
        """Masked, whoever reads it."""
        return f"+{self.phone_country_code} {self.phone}"

    def body(self) -> dict[str, Any]:
        """The country code as a whole number, the phone as digits."""
        return {"phone_country_code": self.phone_country_code, "phone": self.phone.reveal()}

    async def read(self, partner: PartnerClient) -> Facts:
        """The card's status and balance; no call shows the number."""
        return await card_facts(partner, self.card)

    def lines(self, facts: Facts) -> list[Line]:
        """The new number, masked, and what was set by Countersign before."""
        return [
            ("Codes go to", f"{self._number} from then on"),
            ("Until now", "not shown by your card provider"),
            ("Set here before", facts.get("set_before") or "never through Countersign"),
            ("Card status", facts.get("card_status") or "not reported yet"),
        ]

    def concerns(self, facts: Facts) -> list[Concern]:
        """Warns that whoever has the phone can confirm purchases; stops for a closed card."""
        return [
            *closed(facts),
            Concern(
                "Whoever holds this phone can confirm online purchases with the card, and changing it is how cards"
                " are taken over. Ask the cardholder in a way you know, not in the way this request came."
            ),
            Concern("It matters only while the card gets its codes by SMS."),
        ]

    async def send(self, partner: PartnerClient, key: str, body: bytes) -> Outcome:
        """Done when the answer says `updated` for this card; the API does not echo the number."""
        done = await partner.set_phone(self.card, body)
        if done.updated and done.card_id == self.card:
            text = f"The one-time codes of {self.target_label} go to {self._number} now. No money moved."
            return Outcome(Finding.SUCCEEDED, text, {"card_id": done.card_id})
        return Outcome(
            Finding.UNKNOWN,
            "Your card provider did not say that the phone was changed. No money moves by this. The same number is sent"
            " again shortly, so do not repeat this.",
        )

    async def look(self, partner: PartnerClient, sought: Sought) -> Look:
        """Never a proof: no call of the API shows the number."""
        text = "Your card provider does not show the number of a card: only the cardholder can say where codes go."
        return Look(Evidence.UNPROVEN, text, {})
