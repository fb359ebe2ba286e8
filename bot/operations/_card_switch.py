"""What freezing and unfreezing share: one call with a switch, proved by reading the card.

The answer of POST freeze echoes the request, so it proves nothing: GET /cards/{cardId} does. 502 and
503 change nothing. The call takes a key and does not use it [Cards, POST freeze].
"""

from __future__ import annotations

import asyncio
from typing import Any, ClassVar

from bot.domain import cards
from bot.operations._base import Facts, Look, Operation, Sought
from bot.operations._facts import card_facts
from bot.operations._fields import Field
from bot.operations._handling import Handling
from bot.operations.value_types import CARD_ID
from bot.outcomes import Evidence, Finding, Outcome, timing
from bot.partner.calls import cards as card_calls
from bot.partner.client import PartnerClient
from bot.partner.errors import PartnerError
from bot.partner.ratelimit import Lane

# The proof of a switch that was taken: who waits for it is shown sooner that it is missing than that it hangs.
_PROVED_WITHIN_S = 8.0

CARD = Field("Card", CARD_ID, placeholder="Name, last four digits or reference")
# How lists name the card, apart from the field's own name and label.
CARD_HEADERS = tuple(cards.HEADERS)


class CardSwitch(Operation):
    """Freezing or unfreezing one card: one call with a switch, proved by reading the card.

    Source: Cards, POST freeze.
    """

    frozen: ClassVar[bool]
    done: ClassVar[str]  # "frozen"
    endpoint = card_calls.FREEZE
    card = CARD
    handling = Handling(superseded_by=("card_freeze", "card_unfreeze"))

    def summary(self) -> str:
        """Names the card only: the switch has no other value."""
        return f"{self.verb} {self.target_label}"

    def body(self) -> dict[str, Any]:
        """`frozen`, true or false (Cards, POST freeze)."""
        return {"frozen": self.frozen}

    async def read(self, partner: PartnerClient) -> Facts:
        """The card's status and balance."""
        return await card_facts(partner, self.card)

    @property
    def wanted_status(self) -> str:
        """The card status that proves the switch: "FROZEN" or "ACTIVE" (Card status)."""
        return "FROZEN" if self.frozen else "ACTIVE"

    async def send(self, partner: PartnerClient, key: str, body: bytes) -> Outcome:
        """Sets the switch, then reads the card, as the answer only echoes the request; unproved is UNKNOWN."""
        await partner.freeze(self.card, body)
        try:
            async with asyncio.timeout(_PROVED_WITHIN_S):
                status = (await partner.card(self.card, lane=Lane.MONEY)).card.status
        except (PartnerError, TimeoutError):
            # The switch was taken; only its proof is missing.
            status = None
        if status == self.wanted_status:
            return self._proved()
        taken = f"Your card provider took the request, but the card is not {self.wanted_status} yet: not confirmed."
        return Outcome(
            Finding.UNKNOWN,
            f"{taken} No money moves by this; it is read again shortly.",
            {"card_status": status},
            cause=taken,
            pauses=timing.CONFIRM_PAUSES,
        )

    def _proved(self) -> Outcome:
        return Outcome(
            Finding.SUCCEEDED,
            f"{self.target_label} is {self.done}: the card reads {self.wanted_status}.",
            {"card_status": self.wanted_status},
        )

    async def look(self, partner: PartnerClient, sought: Sought) -> Look:
        """Done when the card has the wanted status, whoever set it."""
        found = await partner.card(self.card)
        facts = {"card_status": found.card.status}
        if found.card.status == self.wanted_status:
            return Look(Evidence.DONE, self._proved().text, facts)
        return Look(
            Evidence.ABSENT,
            f"The card reads {found.card.status or 'no status yet'}: it is not {self.done}.",
            facts,
        )
