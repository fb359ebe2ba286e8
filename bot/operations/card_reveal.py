"""Show a card's number and security code to the requester alone, once.

Approved, it calls nothing: the requester gets a one-time link, and the card provider is asked for the details when
that link is used, so that their address is never written down [GET pan, POST pan-token]. No money moves.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bot.operations._base import Buttons, Concern, Facts, Line, Look, Operation, Sought
from bot.operations._card_switch import CARD
from bot.operations._handling import Handling
from bot.outcomes import Effect, Evidence, Finding, GrantLink, Outcome
from bot.partner.calls import history as history_calls
from bot.partner.client import PartnerClient

SCOPE = "cards:pan"
_ODD = {
    "FROZEN": "The card is frozen: its details can be read, and purchases with them are declined.",
    "DELETED": "The card is closed: its details can still be read, and nothing can be bought with them.",
    "BLOCKED": "Your card provider has blocked this card: purchases with its details are declined.",
    "EXPIRED": "The card has expired: nothing can be bought with its details.",
}


def odd_status(status: str | None) -> str:
    """One sentence about what a card in this status can't do, for whoever looks at its details.

    Empty for an active card and for a status without a sentence, null included.
    """
    return _ODD.get(status or "", "")


class Reveal(Operation):
    """Showing a card's number and security code to the requester, once, in a browser.

    Approval grants a link, which `bot.services.cards.details_link` makes. Source: Card details, GET pan, POST
    pan-token.
    """

    kind = "card_reveal"
    title = "Show card details"
    verb = "Show the details"
    command = ("card", "reveal")
    example = "/card reveal 4242"
    help = "show you a card's number and security code in your browser, once"
    phrases = (
        "show me the number of {card}",
        "reveal {card}",
        "reveal the details of {card}",
        "show me the card number of {card}",
        "show the card number of {card}",
    )
    intent = "reveal_card"
    no_opposite = "What was shown can't be hidden again. If the wrong person saw it, freeze the card."
    endpoint = history_calls.DETAILS  # asked when its link is used
    card = CARD
    handling = Handling(needs_public_url=True)
    place = 10
    buttons = Buttons(more=3)

    def summary(self) -> str:
        """Names the card, and the requester as the only reader."""
        return f"Show the card details of {self.target_label} to the requester, once"

    def body(self) -> dict[str, Any]:
        """Empty: approval makes no call."""
        return {}

    async def read(self, partner: PartnerClient) -> Facts:
        """The card's status, and whether the API key has the scope cards:pan."""
        me = await partner.me()
        found = await partner.card(self.card)
        return {"card_status": found.card.status, "may_reveal": SCOPE in me.key.scopes}

    def lines(self, facts: Facts) -> list[Line]:
        """Who sees the details, how, and for how long."""
        return [
            ("Card status", facts.get("card_status") or "not reported yet"),
            ("Seen by", "the requester alone, in a browser, once"),
            ("How", "a link in a direct message, good for two minutes; nothing is stored or shown in Slack"),
        ]

    def concerns(self, facts: Facts) -> list[Concern]:
        """Stops when the API key lacks the scope cards:pan."""
        found = [Concern(text) for text in [odd_status(facts.get("card_status"))] if text]
        if not facts.get("may_reveal"):
            text = (
                f"The API key lacks the scope {SCOPE}, so your card provider would give no details. An admin asks your"
                " card provider to grant it."
            )
            found.append(Concern(text, stops=True))
        return found

    async def send(self, partner: PartnerClient, key: str, body: bytes) -> Outcome:
        """Calls nothing: the API is asked for details when the link is used."""
        text = "Approved: a link that works once goes to the requester alone, in a direct message. Nothing moves by it."
        return Outcome(Finding.SUCCEEDED, text, {"link": "granted"})

    def effects(self, outcome: Outcome) -> Sequence[Effect]:
        """The right to a link, written with the success, so that there is none without the other."""
        return (GrantLink(),) if outcome.finding is Finding.SUCCEEDED else ()

    async def look(self, partner: PartnerClient, sought: Sought) -> Look:
        """Always undone: the right to a link is written with the outcome, so without one no link was made."""
        return Look(Evidence.UNDONE, "No link was made, so nobody saw the details.", {})
