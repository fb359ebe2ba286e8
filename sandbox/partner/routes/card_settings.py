"""What can be set on a card: spending limits, phone number, 3-D Secure mode (Cards)."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from sandbox.partner import money
from sandbox.partner.calls import CARD_ERRORS, PROCESSOR_ERRORS, Call, Operation, idempotency, processor
from sandbox.partner.cards import PERIODS, SINGLE_PURCHASE_USD, Card, cardholders, cards
from sandbox.partner.events import webhooks
from sandbox.partner.http import Answer, bad_request
from sandbox.partner.schemas import read_body, request_schemas, response_schemas


async def read_limits(call: Call) -> Answer:
    """GET /cards/{cardId}/limits, of closed cards too (U35)."""
    card = cards.of_call(call)
    processor.must_agree(call)
    return Answer.of(_limits(card))


async def change_limits(call: Call) -> Answer:
    """PUT /cards/{cardId}/limits: named limits change, the others stay; none can be removed."""
    card = cards.of_call(call)
    wanted: dict[str, Decimal] = read_body(request_schemas.LIMITS_BODY, call.request.body)
    if not wanted:
        raise bad_request("Name at least one of daily_limit, weekly_limit and monthly_limit.")
    _check_open(card)
    processor.must_agree(call)
    columns = {f"{name}_usd": money.text(limit_usd) for name, limit_usd in wanted.items()}
    call.world.store.update("cards", "id", card.id, **columns)
    return Answer.of(_limits(cards.of_call(call)))


def _limits(card: Card) -> dict[str, Any]:
    limits = {f"{period}_limit": getattr(card, f"{period}_limit_usd") for period in PERIODS}
    return {"card_id": card.id, **limits, "per_transaction_limit_usd": SINGLE_PURCHASE_USD}


async def change_phone(call: Call) -> Answer:
    """PUT /cards/{cardId}/phone: checked and handed to the processor, never stored or echoed."""
    card = cards.of_call(call)
    body = read_body(request_schemas.PHONE_BODY, call.request.body)
    cardholders.check_phone(body["phone_country_code"], body["phone"], call.account.settings)
    _check_open(card)
    processor.must_agree(call)
    return Answer.of({"card_id": card.id, "updated": True})


async def change_threeds(call: Call) -> Answer:
    """PUT /cards/{cardId}/3ds: to webhook only, and only while an endpoint is registered.

    A program that is not enabled for webhook mode is not refused: its 3-D Secure purchases fail later.
    """
    card = cards.of_call(call)
    idempotency.key_of(call.request)
    method = read_body(request_schemas.THREEDS_BODY, call.request.body)["method"]
    if method != "webhook":
        raise bad_request("method must be webhook; a card cannot be set to another mode.")
    _check_open(card)
    if webhooks.find(call.world, call.account_id) is None:
        raise bad_request("Webhook mode needs a registered webhook endpoint.")
    processor.must_agree(call)
    call.world.store.update("cards", "id", card.id, threeds="webhook")
    return Answer.of({"card_id": card.id, "three_ds_method": "webhook"})


def _check_open(card: Card) -> None:
    if card.closed:
        raise bad_request("The card is closed.")


OPERATIONS = (
    Operation(
        "GET",
        "/cards/{cardId}/limits",
        "cards:read",
        read_limits,
        response_schemas.LIMITS,
        processor=True,
        codes={**CARD_ERRORS, **PROCESSOR_ERRORS},
    ),
    Operation(
        "PUT",
        "/cards/{cardId}/limits",
        "cards:write",
        change_limits,
        response_schemas.LIMITS,
        body=request_schemas.LIMITS_BODY,
        processor=True,
        codes={**CARD_ERRORS, **PROCESSOR_ERRORS},
    ),
    Operation(
        "PUT",
        "/cards/{cardId}/phone",
        "cards:write",
        change_phone,
        response_schemas.PHONE,
        body=request_schemas.PHONE_BODY,
        processor=True,
        scope_source="invented",
        codes={
            **CARD_ERRORS,
            400: ("BAD_REQUEST", "INVALID_PHONE", "PHONE_COUNTRY_NOT_ALLOWED"),
            **PROCESSOR_ERRORS,
        },
    ),
    Operation(
        "PUT",
        "/cards/{cardId}/3ds",
        "cards:write",
        change_threeds,
        response_schemas.THREEDS,
        body=request_schemas.THREEDS_BODY,
        keyed=True,
        processor=True,
        scope_source="invented",
        codes={**CARD_ERRORS, **PROCESSOR_ERRORS},
    ),
)
