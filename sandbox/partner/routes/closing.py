"""POST /cards/{cardId}/close: what is left on a card goes back to the float, and the card is gone (Cards)."""

from __future__ import annotations

from typing import Any

from sandbox.partner import money
from sandbox.partner.calls import CARD_ERRORS, Call, Keyed, Operation, idempotency, processor
from sandbox.partner.cards import Card, cards
from sandbox.partner.http import Answer, bad_request, conflict, unavailable
from sandbox.partner.ledger import ledger
from sandbox.partner.schemas import response_schemas
from sandbox.partner.state import stamp_now


async def close(call: Call) -> Answer:
    """POST /cards/{cardId}/close: read the balance, return it, then delete the card, each in its own commit."""
    card = cards.of_call(call)
    key = idempotency.key_of(call.request)
    earlier = idempotency.find(call, "close", key)
    if earlier:
        if earlier.card_id != card.id:
            raise conflict(idempotency.OTHER_USE)
        if earlier.answer is None:  # its money went back and no more: the replay does the rest
            return Answer.of(_delete(call, card, earlier))
        return Answer.of({**earlier.answer, "partner_balance_usd": call.account.balance_usd})
    if card.closed:
        again = call.account.settings.close_again
        raise conflict("The card is closed.") if again == "conflict" else bad_request("The card is closed.")
    _check_closable(call, card)
    keyed = _sweep(call, card, key)
    await call.crash_point()
    keyed = idempotency.after_waiting(call.world, keyed)
    if keyed.answer is not None:
        return Answer.of({**keyed.answer, "partner_balance_usd": call.account.balance_usd})
    return Answer.of(_delete(call, card, keyed))


def _check_closable(call: Call, card: Card) -> None:
    """Whatever keeps the balance from being read leaves the card open (R135), and so does a negative one."""
    reply = processor.ask(call)
    if reply.code in {"400", "401", "412"}:
        raise processor.error_of(reply)
    if reply.verdict != "ok" or not card.balance_readable:
        raise unavailable(503, "The card's balance cannot be read; the card stays open.")
    if card.balance_usd < money.ZERO:
        overdrawn = f"{money.cents(-card.balance_usd):.2f}"
        raise bad_request(
            f"The card is overdrawn by {overdrawn} USD; it stays open until a top-up has covered that."
        )


def _sweep(call: Call, card: Card, key: str | None) -> Keyed:
    """The first commit: what is on the card goes back to the float."""
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
    return keyed


def _delete(call: Call, card: Card, keyed: Keyed) -> dict[str, Any]:
    """The second commit: the card is gone."""
    with call.world.store.transaction():
        closed_at = stamp_now(call.world)
        synced_at = min(card.synced_at, closed_at)  # the processor has just spoken of the card
        closed = {"status": "DELETED", "closed_at": closed_at, "synced_at": synced_at}
        if call.account.settings.closed_balance == "zero":
            closed |= {"cached_usd": "0", "cached_at": closed_at}
        call.world.store.update("cards", "id", card.id, **closed)
        cards.count_open(call.world, call.account_id, card.id, -1)
        answer = {
            "card_id": card.id,
            "returned_usd": keyed.amount_usd,
            "partner_balance_usd": call.account.balance_usd,
        }
        idempotency.settle(call.world, keyed, "done", answer)
    return answer


OPERATIONS = (
    Operation(
        "POST",
        "/cards/{cardId}/close",
        "cards:write",
        close,
        response_schemas.CLOSE,
        keyed=True,
        midway=True,
        processor=True,
        waits=True,
        scope_source="invented",
        codes={**CARD_ERRORS, 409: ("ALREADY_PROCESSED",), 503: ("UNAVAILABLE", "UPSTREAM_AUTH")},
    ),
)
