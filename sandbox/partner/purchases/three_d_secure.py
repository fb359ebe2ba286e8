"""3-D Secure: an online purchase that waits for a one-time code (Card; card.3ds_challenge).

Completed `at once`, it goes on by itself: in `sms` mode immediately, in `webhook` mode when the endpoint takes the
code. Completed `by code`, it goes on when the cardholder enters the code, and a wrong code or giving up declines
it. Five minutes without the code decline it in any case: because the endpoint is down, because the program was
never enabled and no code goes out (U51), or because nobody entered it. On a card that cannot be used no code is
asked for: the challenge is `refused`, and the purchase declined as any other on that card.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from decimal import Decimal
from typing import Any, Literal

from sandbox.partner import codec
from sandbox.partner.accounts import account
from sandbox.partner.cards import Card, cards
from sandbox.partner.events import event_log, webhooks
from sandbox.partner.purchases import purchases
from sandbox.partner.purchases.purchase import Order
from sandbox.partner.state import World, stamp_now, timers

CHALLENGE_TIMER = "challenge"
VALID_FOR = timedelta(minutes=5)
Completion = Literal["at once", "by code"]
State = Literal["open", "passed", "failed", "abandoned", "expired", "refused"]
_ASKED_FOR_NOTHING = ("passed", "refused")  # the purchase is authorized or declined by the card's own rules


@dataclass(frozen=True)
class Challenge:
    """A challenge as stored. `code` is None where none was sent; it is for the cardholder and nobody else."""

    id: str
    card_id: str
    event_id: str | None
    amount_usd: str
    merchant: str
    transaction_id: str
    state: State
    created_at: str
    complete: Completion
    tries: int
    code: str | None = field(repr=False)

    def shown(self) -> dict[str, Any]:
        """All of it but the code."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__ if name != "code"}


def open_challenge(
    world: World, card: Card, amount_usd: Decimal, merchant: str, complete: Completion = "at once"
) -> Challenge:
    """A 3-D Secure purchase; its purchase has the same transaction_id throughout."""
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
            complete=complete,
        )
        by_sms = card.threeds == "sms"
        if card.status != "ACTIVE":  # nobody is asked for a code: the purchase is declined
            _finish(world, challenge_id, "refused")
            return _found(world, challenge_id)
        if by_sms and complete == "at once":
            _finish(world, challenge_id, "passed")
            return _found(world, challenge_id)
        enabled = account(world, card.account).settings.threeds_webhook_enabled
        if by_sms:
            world.store.update("challenges", "id", challenge_id, code=world.ids.code())
        elif enabled and webhooks.find(world, card.account) is not None:
            code = world.ids.code()
            event_id = _send_code(world, card, transaction_id, amount_usd, merchant, code)
            world.store.update("challenges", "id", challenge_id, event_id=event_id, code=code)
        timers.set_timer(world, world.clock.now() + VALID_FOR, CHALLENGE_TIMER, challenge_id)
    return _found(world, challenge_id)


def find(world: World, challenge_id: str) -> Challenge | None:
    """The challenge with this id, or None."""
    row = world.store.one("SELECT * FROM challenges WHERE id = ?", challenge_id)
    if row is None:
        return None
    return Challenge(**{name: row[name] for name in Challenge.__dataclass_fields__})


def _found(world: World, challenge_id: str) -> Challenge:
    found = find(world, challenge_id)
    if found is None:
        raise KeyError(challenge_id)
    return found


def enter(world: World, challenge: Challenge, code: str) -> Challenge:
    """The cardholder enters a code: the right one buys, and the last wrong one that he may enter declines."""
    if code == challenge.code:
        _finish(world, challenge.id, "passed")
    else:
        with world.store.transaction():
            world.store.update("challenges", "id", challenge.id, tries=challenge.tries + 1)
            if tries_left(world, _found(world, challenge.id)) <= 0:
                _finish(world, challenge.id, "failed")
    return _found(world, challenge.id)


def abandon(world: World, challenge: Challenge) -> Challenge:
    """The cardholder gives up; the purchase is declined."""
    _finish(world, challenge.id, "abandoned")
    return _found(world, challenge.id)


def tries_left(world: World, challenge: Challenge) -> int:
    """How many codes the cardholder may still enter."""
    card = cards.find(world, challenge.card_id)
    most = account(world, card.account).settings.threeds_tries if card else 1
    return most - challenge.tries


def _send_code(
    world: World, card: Card, transaction_id: str, amount_usd: Decimal, merchant: str, code: str
) -> str:
    data = {
        "card_id": card.id,
        "partner_ref": card.partner_ref,
        "transaction_id": transaction_id,
        "code": code,
        "merchant": merchant,
        "amount_usd": amount_usd,
        "original_amount": amount_usd,
        "original_currency": "USD",
        "expires_at": codec.stamp(world.clock.now() + VALID_FOR),
    }
    return event_log.emit(world, card.account, "card.3ds_challenge", data)


def delivered(world: World, event_id: str) -> None:
    """An event reached the endpoint: if it carried a code and nobody has to enter it, its purchase goes on."""
    row = world.store.one(
        "SELECT id FROM challenges WHERE event_id = ? AND state = 'open' AND complete = 'at once'", event_id
    )
    if row is not None:
        _finish(world, row["id"], "passed")


def run_out(world: World, challenge_id: str) -> None:
    """Five minutes without the code: the purchase is declined."""
    row = world.store.one("SELECT id FROM challenges WHERE id = ? AND state = 'open'", challenge_id)
    if row is not None:
        _finish(world, challenge_id, "expired")


def _finish(world: World, challenge_id: str, state: State) -> None:
    challenge = _found(world, challenge_id)
    card = cards.find(world, challenge.card_id)
    if card is None:
        raise KeyError(challenge_id)
    order = Order(
        amount_usd=Decimal(challenge.amount_usd),
        merchant=challenge.merchant,
        decline_code=None if state in _ASKED_FOR_NOTHING else "security_check_failed",
    )
    with world.store.transaction():
        world.store.update("challenges", "id", challenge_id, state=state)
        timers.clear_timer(world, CHALLENGE_TIMER, challenge_id)
        purchases.authorize(world, card, order, challenge.transaction_id)
