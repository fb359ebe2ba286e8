"""Money coming back from a card: unload and close (Cards).

An unload debits the card first and credits the float second, each in its own commit; what dies in
between is on neither, and support settles it.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from sandbox.partner import cards, money
from sandbox.partner.accounts import accounts
from sandbox.partner.calls import Call, Keyed, idempotency, processor
from sandbox.partner.events import event_log
from sandbox.partner.http import Answer, Refusal, bad_request, conflict, unavailable
from sandbox.partner.ledger import ledger
from sandbox.partner.schemas import read_body, request_schemas
from sandbox.partner.state import World, stamp_now


async def unload(call: Call) -> Answer:
    """POST /cards/{cardId}/unload; a closed card holds nothing, so it answers 402 (U35)."""
    card = cards.of_call(call)
    key = idempotency.key_of(call.request)
    amount_usd: Decimal = read_body(request_schemas.UNLOAD_BODY, call.request.body)["amount_usd"]
    earlier = idempotency.find(call, "unload", key)
    if earlier:
        return _repeated_unload(call, earlier, card.id, amount_usd)
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
    return Answer.of(credit_unload(call.world, keyed))


def _repeated_unload(call: Call, earlier: Keyed, card_id: str, amount_usd: Decimal) -> Answer:
    settings = call.account.settings
    if earlier.card_id != card_id or (settings.key_amount == "conflict" and earlier.amount_usd != amount_usd):
        raise conflict(idempotency.OTHER_USE)
    if earlier.state != "done" or earlier.answer is None:
        raise conflict(idempotency.REFUNDED if earlier.state == "refunded" else idempotency.IN_FLIGHT)
    if settings.unload_replay == "conflict":
        raise conflict("This Idempotency-Key was used.")
    return Answer.of({**earlier.answer, "partner_balance_usd": call.account.balance_usd})


def credit_unload(world: World, keyed: Keyed) -> dict[str, Any]:
    """The second commit: the float is credited, then the event goes out (R119)."""
    card, amount_usd = _money_of(world, keyed)
    named = accounts.account(world, keyed.account).settings.unload_reference == "key"
    with world.store.transaction():
        reference = f"unload:{keyed.key}" if named else None
        ledger.post(world, keyed.account, amount_usd, "refund", reference, card_id=card.id, keyed=keyed.id)
        answer = {
            "card_id": card.id,
            "unloaded_usd": amount_usd,
            "partner_balance_usd": accounts.account(world, keyed.account).balance_usd,
        }
        idempotency.settle(world, keyed, "done", answer)
        told = {**answer, "partner_ref": card.partner_ref, "occurred_at": stamp_now(world)}
        event_log.emit(world, keyed.account, "card.unloaded", told)
    return answer


def return_unload(world: World, keyed: Keyed) -> None:
    """Support's other choice: the card gets its money back."""
    card, amount_usd = _money_of(world, keyed)
    with world.store.transaction():
        cards.change_balance(world, card, amount_usd)
        idempotency.settle(world, keyed, "refunded")


def _money_of(world: World, keyed: Keyed) -> tuple[cards.Card, Decimal]:
    card = cards.find(world, keyed.card_id or "")
    if card is None or keyed.amount_usd is None:
        raise ValueError(f"keyed call {keyed.id} moves no money")
    return card, keyed.amount_usd


async def close(call: Call) -> Answer:
    """POST /cards/{cardId}/close: read the balance, return it, delete the card, all or nothing."""
    card = cards.of_call(call)
    key = idempotency.key_of(call.request)
    earlier = idempotency.find(call, "close", key)
    if earlier:
        if earlier.card_id != card.id or earlier.answer is None:
            raise conflict(idempotency.OTHER_USE)
        return Answer.of({**earlier.answer, "partner_balance_usd": call.account.balance_usd})
    if card.closed:
        again = call.account.settings.close_again
        raise conflict("The card is closed.") if again == "conflict" else bad_request("The card is closed.")
    _check_closable(call, card)
    return Answer.of(_sweep(call, card, key))


def _check_closable(call: Call, card: cards.Card) -> None:
    """Whatever keeps the balance from being read leaves the card open (R135)."""
    reply = processor.ask(call)
    if reply.code in {"400", "401", "412"}:
        raise processor.error_of(reply)
    if reply.verdict != "ok" or not card.balance_readable or card.balance_usd < money.ZERO:
        raise unavailable(503, "The card's balance cannot be read; the card stays open.")


def _sweep(call: Call, card: cards.Card, key: str | None) -> dict[str, Any]:
    with call.world.store.transaction():
        keyed = idempotency.claim(call, "close", key, card_id=card.id, amount_usd=card.balance_usd)
        if card.balance_usd > money.ZERO:
            cards.change_balance(call.world, card, -card.balance_usd)
            ledger.post(
                call.world,
                call.account_id,
                card.balance_usd,
                "refund",
                f"card-close:{card.id}",
                card_id=card.id,
                keyed=keyed.id,
            )
        closed_at = stamp_now(call.world)
        synced_at = min(card.synced_at, closed_at)  # the processor has just spoken of the card
        closed = {"status": "DELETED", "closed_at": closed_at, "synced_at": synced_at}
        call.world.store.update("cards", "id", card.id, **closed)
        cards.count_open(call.world, call.account_id, card.id, -1)
        answer = {
            "card_id": card.id,
            "returned_usd": card.balance_usd,
            "partner_balance_usd": call.account.balance_usd,
        }
        idempotency.settle(call.world, keyed, "done", answer)
    return answer
