"""An unload once the card is debited: credited to the float, or returned to the card (Cards).

An unload debits the card first and credits the float second, each in its own commit; what dies in
between is on neither, and support settles it.
"""

from __future__ import annotations

from typing import Any

from sandbox.partner.accounts import accounts
from sandbox.partner.calls import Keyed, idempotency
from sandbox.partner.cards import cards, topups
from sandbox.partner.events import event_log
from sandbox.partner.ledger import ledger
from sandbox.partner.state import World, stamp_now


def credit_unload(world: World, keyed: Keyed) -> dict[str, Any]:
    """The second commit: the float is credited, then the event goes out (R119)."""
    card, amount_usd = topups.moved_by(world, keyed)
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
        data = {**answer, "partner_ref": card.partner_ref, "occurred_at": stamp_now(world)}
        event_log.emit(world, keyed.account, "card.unloaded", data)
    return answer


def return_unload(world: World, keyed: Keyed) -> None:
    """Support's other choice: the card gets its money back."""
    card, amount_usd = topups.moved_by(world, keyed)
    with world.store.transaction():
        cards.change_balance(world, card, amount_usd)
        idempotency.settle(world, keyed, "refunded")
