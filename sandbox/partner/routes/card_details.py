"""GET /cards/{cardId}/pan and POST /cards/{cardId}/pan-token (Card details)."""

from __future__ import annotations

from sandbox.partner.calls import CARD_ERRORS, PROCESSOR_ERRORS, Call, Operation, processor
from sandbox.partner.cards import card_details, cards
from sandbox.partner.http import Answer, unavailable
from sandbox.partner.schemas import response_schemas


async def read_pan(call: Call) -> Answer:
    """GET /cards/{cardId}/pan: a new address each time; the card's status is not looked at."""
    card = cards.of_call(call)
    processor.must_agree(call)
    if not card.details_available:
        raise unavailable(502, "The card processor returned no details address.")
    month, year = card_details.expiry(card) if card.expiry_known else (None, None)
    address = card_details.page_address(call.world, card, call.origin)
    found = {"details_url": address, "expiration_month": month, "expiration_year": year}
    return Answer.of({"card_id": card.id, **found})


async def mint_pan_token(call: Call) -> Answer:
    """POST /cards/{cardId}/pan-token: for the cardholder's device, once, within a minute."""
    card = cards.of_call(call)
    processor.must_agree(call)
    address = card_details.exchange_address(call.world, card, call.origin)
    return Answer.of({"url": address, "expires_in": card_details.TOKEN_SECONDS, "single_use": True})


OPERATIONS = (
    Operation(
        "GET",
        "/cards/{cardId}/pan",
        "cards:pan",
        read_pan,
        response_schemas.PAN,
        processor=True,
        method_first=True,
        codes={**CARD_ERRORS, **PROCESSOR_ERRORS},
    ),
    Operation(
        "POST",
        "/cards/{cardId}/pan-token",
        "cards:pan",
        mint_pan_token,
        response_schemas.PAN_TOKEN,
        processor=True,
        method_first=True,
        codes={**CARD_ERRORS, **PROCESSOR_ERRORS},
    ),
)
