"""A top-up in its two commits: money from the float to a card (Cards).

A top-up has two commits: the float is debited before the processor is called, and the outcome is
recorded after. What dies in between is a debit without an outcome, which is the truth of the
card provider and not an accident of the simulator.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from sandbox.partner import money
from sandbox.partner.accounts import accounts
from sandbox.partner.calls import Keyed, idempotency
from sandbox.partner.cards import cards
from sandbox.partner.cards.cards import Card
from sandbox.partner.ledger import ledger
from sandbox.partner.state import World


def debit_for_top_up(world: World, card: Card, amount_usd: Decimal, key: str | None) -> Keyed:
    """The first commit: the key is bound and the float debited."""
    with world.store.transaction():
        keyed = idempotency.claim_for(
            world, card.account, "topup", key, card_id=card.id, amount_usd=amount_usd
        )
        reference = f"topup:{keyed.key}"
        ledger.post(
            world, card.account, -amount_usd, "card_topup", reference, card_id=card.id, keyed=keyed.id
        )
    return keyed


def credit_top_up(world: World, keyed: Keyed) -> dict[str, Any]:
    """The second commit: the card is credited and the answer recorded."""
    card, amount_usd = moved_by(world, keyed)
    with world.store.transaction():
        cards.change_balance(world, card, amount_usd)
        answer = {
            "card_id": card.id,
            "amount_requested_usd": amount_usd,
            "fee_usd": money.ZERO,  # the load fee was taken when the float was funded
            "credited_usd": amount_usd,
            "partner_balance_usd": accounts.account(world, keyed.account).balance_usd,
        }
        idempotency.settle(world, keyed, "done", answer)
    return answer


def refund_top_up(world: World, keyed: Keyed) -> None:
    """The other second commit: the float gets its money back and the key is spent."""
    _, amount_usd = moved_by(world, keyed)
    same = accounts.account(world, keyed.account).settings.refund_reference == "same"
    reference = f"topup:{keyed.key}" + ("" if same else ":refund")
    with world.store.transaction():
        ledger.post(
            world,
            keyed.account,
            amount_usd,
            "refund",
            reference,
            keyed=keyed.id,
            description="Top-up returned",
        )
        idempotency.settle(world, keyed, "refunded")


def moved_by(world: World, keyed: Keyed) -> tuple[Card, Decimal]:
    """Return the card and the amount (USD) of a keyed call; ValueError when it moves no money."""
    card = cards.find(world, keyed.card_id or "")
    if card is None or keyed.amount_usd is None:
        raise ValueError(f"keyed call {keyed.id} moves no money")
    return card, keyed.amount_usd
