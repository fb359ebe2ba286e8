"""Have a card's 3-D Secure codes delivered to the webhook instead of by SMS [Cards, PUT 3ds].

One way: `sms` is refused ever after. The card provider takes it without checking that the program has webhook
mode, and where codes reach nobody, online purchases fail: so an admin says that it has, a delivery must
have been verified here lately, and somebody must be named to get the codes. No call reads the mode back.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from bot.operations._base import Concern, Facts, Line, Look, Operation, Sought
from bot.operations._card_switch import CARD
from bot.operations._facts import card_facts, closed
from bot.operations._fields import Field
from bot.operations._handling import DELIVERED_WITHIN, Handling
from bot.operations.value_types import TICKED
from bot.outcomes import Evidence, Finding, Outcome
from bot.partner.calls import cards as card_calls
from bot.partner.client import PartnerClient

MODE = "webhook"


class CodesByWebhook(Operation):
    """Sending a card's 3-D Secure codes to the webhook, permanently. Source: Cards, PUT 3ds.

    `lines` and `concerns` read what `bot.services.requests.local_facts` adds: deliveries, and who gets codes.
    """

    kind = "card_3ds"
    title = "3-D Secure by webhook"
    verb = "Send codes by webhook"
    command = ("card", "3ds")
    example = "/card 3ds 4242"
    help = (
        "send a card's 3-D Secure codes to the person named for it, by webhook instead of SMS; cannot be undone"
        " (admins)"
    )
    phrases = ("send the codes of {card} by webhook",)
    endpoint = card_calls.SET_3DS
    card = CARD
    program_enabled = Field(
        "The program has webhook mode enabled",
        TICKED,
        element="check",
        hint="Ask your card provider: no call shows it. Without it, online purchases of the card fail.",
        missing="Tick this once your card provider has said that the program has webhook mode.",
        safeguard=True,
    )
    handling = Handling(
        asked_by_admins=True, needs_deliveries=True, superseded_by=("card_3ds",), reads_back=False
    )
    place = 9
    intent = "set_3ds"
    no_opposite = "Only your card provider can turn it off again."

    def summary(self) -> str:
        """Names the card and whether an admin ticked that the program has webhook mode."""
        said = TICKED.show(self.program_enabled)
        return (
            f"Send the 3-D Secure codes of {self.target_label} by webhook for good (program enabled: {said})"
        )

    def body(self) -> dict[str, Any]:
        """`method`, always "webhook"; the API refuses "sms" (Cards, PUT 3ds)."""
        return {"method": MODE}

    async def read(self, partner: PartnerClient) -> Facts:
        """The card's status and balance, and the registered address for events, None without one."""
        hook = await partner.webhook()
        return {**await card_facts(partner, self.card), "webhook_url": hook.url if hook else None}

    def lines(self, facts: Facts) -> list[Line]:
        """Where codes go from then on, the last verified delivery in UTC, and what was set here before."""
        return [
            ("Codes go to", "the webhook, from then on and for good"),
            ("Then to", facts.get("code_person") or "nobody"),
            ("Registered address", facts["webhook_url"] or "none"),
            ("Last verified delivery", facts.get("verified_at") or "none"),
            ("Mode now", "not shown by your card provider; SMS or webhook for a new card"),
            ("Set here before", facts.get("set_before") or "never through Countersign"),
            (
                "Program enabled",
                f"{TICKED.show(self.program_enabled)}, as the admin who requests it confirms",
            ),
        ]

    def concerns(self, facts: Facts) -> list[Concern]:
        """Stops without an address, a delivery verified lately, or a person who gets the codes."""
        found = closed(facts)
        if facts["webhook_url"] is None:
            found.append(Concern("No address is registered for events: register one first.", stops=True))
        elif not facts.get("is_verified"):
            lately = f"{DELIVERED_WITHIN // timedelta(minutes=1)} minutes"
            text = (
                f"No delivery was verified here in the last {lately}, so it is not known that codes would reach"
                " Countersign. Have an event delivered again: /countersign webhook redeliver EVENT."
            )
            found.append(Concern(text, stops=True))
        if not facts.get("code_person"):
            text = (
                "Nobody is named to get this card's codes. An admin names somebody for the card's reference first:"
                " /countersign people map REFERENCE @person."
            )
            found.append(Concern(text, stops=True))
        return [
            *found,
            Concern("This cannot be undone: after it, SMS is refused for this card permanently."),
            Concern("While deliveries fail, 3-D Secure purchases with the card cannot complete."),
        ]

    def stops(self, facts: Facts, *, again: bool) -> list[str]:
        """Setting the mode twice sets it once, and doubt is worse than a delivery that came late."""
        return [] if again else super().stops(facts, again=again)

    async def send(self, partner: PartnerClient, key: str, body: bytes) -> Outcome:
        """Done when the answer says "webhook" for this card, otherwise UNKNOWN; no later call proves it."""
        done = await partner.set_3ds(self.card, body)
        facts = {"card_id": done.card_id, "three_ds_method": done.three_ds_method}
        if done.three_ds_method == MODE and done.card_id == self.card:
            text = (
                f"The 3-D Secure codes of {self.target_label} come by webhook now. This record is the only one: your"
                " card provider does not show the mode. No money moved."
            )
            return Outcome(Finding.SUCCEEDED, text, facts)
        return Outcome(
            Finding.UNKNOWN,
            f"Your card provider says {done.three_ds_method} for this card: not confirmed. No money moves by this. It"
            " is sent again shortly, so do not repeat this.",
            facts,
        )

    async def look(self, partner: PartnerClient, sought: Sought) -> Look:
        """Never a proof: no call of the API shows the mode."""
        text = "Your card provider does not show a card's 3-D Secure mode, so it may be set already."
        return Look(Evidence.UNPROVEN, text, {})
