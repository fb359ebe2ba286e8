"""POST /cards/{cardId}/unload: money from a card back to the float (Cards)."""

from __future__ import annotations

from decimal import Decimal

from sandbox.partner.calls import (
    CARD_ERRORS,
    PROCESSOR_ERRORS,
    Call,
    Keyed,
    Operation,
    idempotency,
    processor,
)
from sandbox.partner.cards import cards, unloads
from sandbox.partner.http import Answer, Refusal, bad_request, conflict
from sandbox.partner.schemas import read_body, request_schemas, response_schemas


async def unload(call: Call) -> Answer:
    """POST /cards/{cardId}/unload; a closed card holds nothing, so by default it answers 402 (U35)."""
    card = cards.of_call(call)
    key = idempotency.key_of(call.request)
    amount_usd: Decimal = read_body(request_schemas.UNLOAD_BODY, call.request.body)["amount_usd"]
    earlier = idempotency.find(call, "unload", key)
    if earlier:
        return _repeated_unload(call, earlier, card.id, amount_usd)
    if card.closed and call.account.settings.unload_closed == "bad_request":
        raise bad_request("The card is closed.")
    if amount_usd > card.balance_usd:
        raise Refusal(402, "INSUFFICIENT_FUNDS", "The card holds less than that; nothing was moved.")
    reply = processor.ask(call)
    if reply.verdict == "refused":
        raise processor.error_of(reply)
    with call.world.store.transaction():
        keyed = idempotency.claim(call, "unload", key, card_id=card.id, amount_usd=amount_usd)
        cards.change_balance(call.world, card, -amount_usd)
    await call.crash_point()
    keyed = idempotency.after_waiting(call.world, keyed)
    if keyed.state != "in_flight":
        return _repeated_unload(call, keyed, card.id, amount_usd)
    if reply.verdict == "unknown":
        idempotency.settle(call.world, keyed, "unresolved")
        raise processor.error_of(reply)
    return Answer.of(unloads.credit_unload(call.world, keyed))


def _repeated_unload(call: Call, earlier: Keyed, card_id: str, amount_usd: Decimal) -> Answer:
    settings = call.account.settings
    if earlier.card_id != card_id or (settings.key_amount == "conflict" and earlier.amount_usd != amount_usd):
        raise conflict(idempotency.OTHER_USE)
    if earlier.state != "done" or earlier.answer is None:
        raise conflict(idempotency.REFUNDED if earlier.state == "refunded" else idempotency.IN_FLIGHT)
    if settings.unload_replay == "conflict":
        raise conflict("This Idempotency-Key was used.")
    return Answer.of({**earlier.answer, "partner_balance_usd": call.account.balance_usd})


OPERATIONS = (
    Operation(
        "POST",
        "/cards/{cardId}/unload",
        "cards:write",
        unload,
        response_schemas.UNLOAD,
        body=request_schemas.UNLOAD_BODY,
        keyed=True,
        midway=True,
        processor=True,
        waits=True,
        codes={
            **CARD_ERRORS,
            402: ("INSUFFICIENT_FUNDS",),
            409: ("ALREADY_PROCESSED",),
            **PROCESSOR_ERRORS,
        },
    ),
)
