"""POST /cards/{cardId}/topup: money from the float to a card (Cards)."""

from __future__ import annotations

from decimal import Decimal

from sandbox.partner import money
from sandbox.partner.calls import (
    CARD_ERRORS,
    PROCESSOR_ERRORS,
    Call,
    Keyed,
    Operation,
    idempotency,
    processor,
)
from sandbox.partner.cards import Card, cards, topups
from sandbox.partner.http import Answer, Refusal, bad_request, conflict
from sandbox.partner.ledger import ledger
from sandbox.partner.schemas import read_body, request_schemas, response_schemas


async def top_up(call: Call) -> Answer:
    """POST /cards/{cardId}/topup, in the order of checks of U19."""
    card = cards.of_call(call)
    key = idempotency.key_of(call.request)
    amount_usd: Decimal = read_body(request_schemas.TOPUP_BODY, call.request.body)["amount_usd"]
    if call.account.settings.funds_check == "before_replay":
        _check_funds(call, amount_usd)
    earlier = idempotency.find(call, "topup", key)
    if earlier:
        return _repeated_top_up(call, earlier, card.id, amount_usd)
    if card.closed:
        raise bad_request("The card is closed.")
    _check_funds(call, amount_usd)
    keyed = topups.debit_for_top_up(call.world, card, amount_usd, key)
    await call.crash_point()
    keyed = idempotency.after_waiting(call.world, keyed)
    if keyed.state != "in_flight":
        return _repeated_top_up(call, keyed, card.id, amount_usd)
    return await _ask_for_credit(call, keyed, cards.of_call(call))


def _check_funds(call: Call, amount_usd: Decimal) -> None:
    available_usd = ledger.available_usd(call.world, call.account)
    if amount_usd > available_usd:
        message = f"The amount is above the {money.text(available_usd)} USD available."
        raise Refusal(402, "INSUFFICIENT_FUNDS", message)


def _repeated_top_up(call: Call, earlier: Keyed, card_id: str, amount_usd: Decimal) -> Answer:
    """The three meanings of ALREADY_PROCESSED, or the original amounts with today's float."""
    if earlier.card_id != card_id:
        raise conflict(idempotency.OTHER_USE)
    if call.account.settings.key_amount == "conflict" and earlier.amount_usd != amount_usd:
        raise conflict(idempotency.OTHER_USE)
    if earlier.state == "refunded":
        raise conflict(idempotency.REFUNDED)
    if earlier.state != "done" or earlier.answer is None:
        raise conflict(idempotency.IN_FLIGHT)
    return Answer.of({**earlier.answer, "partner_balance_usd": call.account.balance_usd})


async def _ask_for_credit(call: Call, keyed: Keyed, card: Card) -> Answer:
    refuses_frozen = card.status == "FROZEN" and call.account.settings.topup_frozen == "refuse"
    spendable = card.status == "ACTIVE" or (card.status == "FROZEN" and not refuses_frozen)
    reply = processor.ask(call, "" if spendable else "400")
    if reply.verdict == "unknown":
        idempotency.settle(call.world, keyed, "unresolved")
        raise await processor.timed_out(call) if reply.code == "timeout" else processor.error_of(reply)
    if reply.verdict == "refused":
        topups.refund_top_up(call.world, keyed)
        raise processor.error_of(reply, issues=True)
    return Answer.of(topups.credit_top_up(call.world, keyed))


OPERATIONS = (
    Operation(
        "POST",
        "/cards/{cardId}/topup",
        "cards:write",
        top_up,
        response_schemas.TOPUP,
        body=request_schemas.TOPUP_BODY,
        keyed=True,
        midway=True,
        processor=True,
        waits=True,
        codes={
            **CARD_ERRORS,
            402: ("INSUFFICIENT_FUNDS",),
            409: ("ALREADY_PROCESSED", "QUOTA"),
            **PROCESSOR_ERRORS,
        },
    ),
)
