"""3-D Secure: an online purchase that waits for a one-time code (Card; card.3ds_challenge).

In `sms` mode the code reaches the phone and the purchase goes on at once. In `webhook` mode it goes
on when the endpoint takes the code, and is declined five minutes later when it did not: because the
endpoint is down, or because the program was never enabled and no code goes out (U51).
"""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

from sandbox.partner import codec
from sandbox.partner.accounts import account
from sandbox.partner.cards import Card, cards
from sandbox.partner.events import event_log, webhooks
from sandbox.partner.purchases import purchases
from sandbox.partner.purchases.purchase import Order
from sandbox.partner.state import World, stamp_now, timers

CHALLENGE_TIMER = "challenge"
VALID_FOR = timedelta(minutes=5)


def open_challenge(world: World, card: Card, amount_usd: Decimal, merchant: str) -> str:
    """A 3-D Secure purchase; the challenge's id. Its purchase has the same transaction_id throughout."""
    challenge_id, transaction_id = world.ids.uuid("challenge"), world.ids.uuid("transaction")
    with world.store.transaction():
        world.store.insert(
            "challenges",
            id=challenge_id,
            card_id=card.id,
            event_id=None,
            amount_usd=str(amount_usd),
            merchant=merchant,
            transaction_id=transaction_id,
            state="open",
            created_at=stamp_now(world),
        )
        if card.threeds == "sms" or card.status != "ACTIVE":  # refused before anybody is asked for a code
            _finish(world, challenge_id, passed=True)
            return challenge_id
        enabled = account(world, card.account).settings.threeds_webhook_enabled
        if enabled and webhooks.find(world, card.account) is not None:
            event_id = _send_code(world, card, transaction_id, amount_usd, merchant)
            world.store.update("challenges", "id", challenge_id, event_id=event_id)
        timers.set_timer(world, world.clock.now() + VALID_FOR, CHALLENGE_TIMER, challenge_id)
    return challenge_id


def _send_code(world: World, card: Card, transaction_id: str, amount_usd: Decimal, merchant: str) -> str:
    data = {
        "card_id": card.id,
        "partner_ref": card.partner_ref,
        "transaction_id": transaction_id,
        "code": world.ids.code(),
        "merchant": merchant,
        "amount_usd": amount_usd,
        "original_amount": amount_usd,
        "original_currency": "USD",
        "expires_at": codec.stamp(world.clock.now() + VALID_FOR),
    }
    return event_log.emit(world, card.account, "card.3ds_challenge", data)


def delivered(world: World, event_id: str) -> None:
    """An event reached the endpoint: if it carried a code, its purchase goes on."""
    row = world.store.one("SELECT id FROM challenges WHERE event_id = ? AND state = 'open'", event_id)
    if row is not None:
        _finish(world, row["id"], passed=True)


def run_out(world: World, challenge_id: str) -> None:
    """Five minutes without the code: the purchase is declined."""
    row = world.store.one("SELECT id FROM challenges WHERE id = ? AND state = 'open'", challenge_id)
    if row is not None:
        _finish(world, challenge_id, passed=False)


def _finish(world: World, challenge_id: str, *, passed: bool) -> None:
    row = world.store.one("SELECT * FROM challenges WHERE id = ?", challenge_id)
    card = cards.find(world, row["card_id"]) if row else None
    if row is None or card is None:
        raise KeyError(challenge_id)
    order = Order(
        amount_usd=Decimal(row["amount_usd"]),
        merchant=row["merchant"],
        decline_code=None if passed else "security_check_failed",
    )
    with world.store.transaction():
        world.store.update("challenges", "id", challenge_id, state="passed" if passed else "failed")
        timers.clear_timer(world, CHALLENGE_TIMER, challenge_id)
        purchases.authorize(world, card, order, row["transaction_id"])
