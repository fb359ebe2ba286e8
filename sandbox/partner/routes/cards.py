"""Order a card, list and read cards, freeze and unfreeze one (Cards)."""

from __future__ import annotations

import math
from typing import Any

from sandbox.partner.accounts import Account
from sandbox.partner.calls import (
    CARD_ERRORS,
    PROCESSOR_ERRORS,
    Call,
    Keyed,
    Operation,
    idempotency,
    processor,
)
from sandbox.partner.cards import Card, cardholders, cards
from sandbox.partner.events import event_log
from sandbox.partner.http import Answer, Refusal, bad_request, conflict, unavailable
from sandbox.partner.ledger import ledger
from sandbox.partner.schemas import integer, read_body, request_schemas, response_schemas
from sandbox.partner.state import stamp_now


async def order(call: Call) -> Answer:
    """POST /cards: claim the key, ask the processor, then create card, first fee and claim row at once."""
    key = idempotency.key_of(call.request)
    try:
        wanted = _wanted(call)
    except Refusal:
        spends = call.account.settings.create_400_key == "spent"
        if key and spends and not idempotency.find(call, "create", key):
            idempotency.claim(call, "create", key, state="spent")
        raise
    earlier = idempotency.find(call, "create", key)
    if earlier:
        return _repeated(call, earlier)
    _check_allowance(call.account)
    if call.account.settings.order_without_float == "refuse":
        fee_usd = call.account.settings.monthly_fee_usd
        if ledger.available_usd(call.world, call.account) < fee_usd:
            raise bad_request("The float does not cover the first monthly fee.")
    claimed = idempotency.claim(call, "create", key)
    await call.crash_point()
    claimed = idempotency.after_waiting(call.world, claimed)
    reply = processor.ask(call)
    try:
        if reply.verdict != "ok":
            raise processor.error_of(reply, issues=True)
        _check_allowance(call.account)  # another order may have taken the last one meanwhile
    except Refusal:
        idempotency.release(call.world, claimed)
        raise
    with call.world.store.transaction():
        card = cards.issue(call.world, call.account_id, wanted["name"], wanted["partner_ref"], claimed)
        answer = {"card": cards.shown(call.world, card)}
        idempotency.settle(call.world, claimed, "done", answer)
    return Answer.of(answer, 201)


def _wanted(call: Call) -> dict[str, Any]:
    body = read_body(request_schemas.ORDER_BODY, call.request.body)
    name = cardholders.stored_name(body["card_holder_name"])
    cardholders.check_email(body["email"])
    cardholders.check_phone(body["phone_country_code"], body["phone"], call.account.settings)
    return {"name": name, "partner_ref": body.get("partner_ref") or None}


def _repeated(call: Call, earlier: Keyed) -> Answer:
    if earlier.state != "done" or earlier.answer is None:
        raise conflict(idempotency.IN_FLIGHT if earlier.state == "in_flight" else idempotency.OTHER_USE)
    card = cards.find(call.world, earlier.answer["card"]["id"])
    if call.account.settings.create_replay == "current" and card:
        return Answer.of({"card": cards.shown(call.world, card)}, 201)
    return Answer.of(earlier.answer, 201)


def _check_allowance(owner: Account) -> None:
    limit = owner.settings.cards_limit
    if limit is not None and owner.cards_ordered >= limit:
        raise Refusal(409, "QUOTA", "The lifetime card allowance is used up.")


async def list_cards(call: Call) -> Answer:
    """GET /cards: newest first without closed cards; limit clamped, never refused."""
    limit = max(1, min(100, _truncated(call.query.get("limit"), 50)))
    offset = max(0, min(_truncated(call.query.get("offset"), 0), 2**62))
    found = cards.open_page(call.world, call.account_id, limit, offset)
    return Answer.of({"cards": [cards.shown(call.world, card) for card in found], "count": len(found)})


def _truncated(text: str | None, default: int) -> int:
    """A number as a lenient parser reads it: fractions truncated, anything not finite is the default."""
    try:
        value = float(text) if text and text.isascii() and "_" not in text else math.nan
    except ValueError:
        value = math.nan
    return int(value) if math.isfinite(value) else default


async def read_card(call: Call) -> Answer:
    """GET /cards/{cardId}: a failed balance read is a null beside the card, a failed look-up a 502."""
    card = cards.of_call(call)
    reply = processor.ask(call)
    if reply.verdict != "ok":
        raise processor.error_of(reply) if reply.code == "401" else unavailable(502, processor.FAILING)
    balance_usd = card.balance_usd if card.balance_readable else None
    return Answer.of({"card": cards.shown(call.world, card), "balance_usd": balance_usd})


async def freeze(call: Call) -> Answer:
    """POST /cards/{cardId}/freeze: the card is looked up before the body; the key is checked, not used."""
    card = cards.of_call(call)
    idempotency.key_of(call.request)
    frozen = read_body(request_schemas.FREEZE_BODY, call.request.body)["frozen"]
    if card.closed:
        raise bad_request("The card is closed.")
    if card.status not in {"ACTIVE", "FROZEN"}:
        raise bad_request(f"A card that is {card.status} cannot be frozen or unfrozen.")
    processor.must_agree(call)
    with call.world.store.transaction():
        _set_frozen(call, cards.of_call(call), frozen)
    return Answer.of({"card_id": card.id, "frozen": frozen})


def _set_frozen(call: Call, card: Card, frozen: bool) -> None:
    status = "FROZEN" if frozen else "ACTIVE"
    repeated = card.status == status
    synced_at = min(card.synced_at, stamp_now(call.world))  # the processor has just spoken of the card
    call.world.store.update("cards", "id", card.id, status=status, synced_at=synced_at)
    if repeated and call.account.settings.repeat_freeze_event == "no":
        return
    reason = "partner_freeze" if frozen else "partner_unfreeze"
    payload = {
        "reason": reason,
        "card_id": card.id,
        "partner_ref": card.partner_ref,
        "status": status,
        "occurred_at": stamp_now(call.world),
    }
    event_log.emit(call.world, call.account_id, "card.status_changed", payload)


OPERATIONS = (
    Operation(
        "POST",
        "/cards",
        "cards:write",
        order,
        response_schemas.CARD_ANSWER,
        body=request_schemas.ORDER_BODY,
        keyed=True,
        midway=True,
        processor=True,
        waits=True,
        status=201,
        codes={
            400: (
                "BAD_REQUEST",
                "INVALID_NAME",
                "INVALID_EMAIL",
                "INVALID_PHONE",
                "PHONE_COUNTRY_NOT_ALLOWED",
            ),
            409: ("QUOTA", "ALREADY_PROCESSED"),
            **PROCESSOR_ERRORS,
        },
    ),
    Operation(
        "GET",
        "/cards",
        "cards:read",
        list_cards,
        response_schemas.CARDS,
        # Whatever else is sent is clamped or taken as the default, so no bound is described.
        query=(integer("limit", default=50, required=False), integer("offset", default=0, required=False)),
    ),
    Operation(
        "GET",
        "/cards/{cardId}",
        "cards:read",
        read_card,
        response_schemas.CARD_AND_BALANCE,
        processor=True,
        codes={**CARD_ERRORS, **PROCESSOR_ERRORS},
    ),
    Operation(
        "POST",
        "/cards/{cardId}/freeze",
        "cards:write",
        freeze,
        response_schemas.FREEZE,
        body=request_schemas.FREEZE_BODY,
        keyed=True,
        processor=True,
        codes={**CARD_ERRORS, **PROCESSOR_ERRORS},
    ),
)
