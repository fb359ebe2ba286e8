"""Named situations of spending and deliveries: purchases in odd orders, outages, rotations, 3-D Secure.

Deliveries go to the host of `HOOK`; `deliveries` (control) says where that is on this machine.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from typing import Any

from sandbox.partner.accounts import accounts
from sandbox.partner.background import deliveries
from sandbox.partner.cards import Card, cards
from sandbox.partner.purchases import DeclineCode, Order, Purchase, purchases
from sandbox.partner.state import World, stamp_now

HOOK = "https://hooks.example.com/webhooks/main"
Setup = Callable[[World, list[str]], dict[str, Any]]


def buy(world: World, card_id: str, amount_usd: str, merchant: str, **more: Any) -> Purchase:
    """A purchase on a planted card."""
    return purchases.authorize(world, card(world, card_id), Order(Decimal(amount_usd), merchant, **more))


def card(world: World, card_id: str) -> Card:
    """A planted card by its id; KeyError when it is not here."""
    found = cards.find(world, card_id)
    if found is None:
        raise KeyError(card_id)
    return found


def settle(world: World, purchase: Purchase) -> Purchase:
    """Settle a purchase for what was authorized, without a further fee."""
    return purchases.settle(world, purchase, purchase.charge_usd, Decimal(0))


def register(world: World) -> None:
    """An endpoint that has been there all along: earlier events reached it. Its secret has to be rotated."""
    account_id = accounts.first_account(world)
    secret = world.ids.webhook_secret()
    now = stamp_now(world)
    world.store.run("INSERT OR REPLACE INTO webhooks VALUES (?, ?, ?, ?)", account_id, HOOK, secret, now)
    world.store.run("UPDATE events SET delivered = 1, delivered_at = created_at, attempts = 1")


def spend_a_little(world: World, planted: list[str]) -> None:
    """What a few people bought in the last days; one thing was brought back."""
    now = world.clock.now()
    history: tuple[tuple[int, int, str, str, dict[str, Any]], ...] = (
        (52, 0, "42.80", "Blue Bottle Books", {"mcc_code": "5812"}),
        (40, 2, "96.00", "Rail Travel", {"original_amount": Decimal("88.40"), "original_currency": "EUR"}),
        (27, 0, "18.25", "Corner Coffee", {}),
        (5, 2, "64.90", "Cloud Hosting", {"mcc_code": "5734"}),
    )
    for hours, who, amount_usd, merchant, more in history:
        with world.clock.at(now - timedelta(hours=hours)):
            bought = buy(world, planted[who], amount_usd, merchant, **more)
        if hours > 24:
            with world.clock.at(now - timedelta(hours=hours - 22)):
                bought = settle(world, bought)
        if merchant == "Rail Travel":
            with world.clock.at(now - timedelta(hours=3)):
                purchases.refund(world, bought, bought.charge_usd, Decimal(0))


def _outage(world: World, planted: list[str]) -> dict[str, Any]:
    """Nobody answers at the endpoint for three hours; eight attempts take two."""
    register(world)
    deliveries.change(world, "drop", None)
    buy(world, planted[0], "12", "Corner Coffee")
    return {
        "webhook": HOOK,
        "after": [
            {"path": "clock", "body": {"advance_seconds": 3 * 3600}},
            {"path": "deliveries", "body": {"mode": "normal"}},
        ],
    }


def _rotation(world: World, planted: list[str]) -> dict[str, Any]:
    """Events wait behind a pause; whoever rotates now gets them signed with the new secret."""
    register(world)
    deliveries.change(world, "pause", None)
    for amount_usd in ("5", "6"):
        buy(world, planted[0], amount_usd, "Corner Coffee")
    return {"webhook": HOOK, "after": [{"path": "deliveries", "body": {"mode": "normal"}}]}


def _settlement_first(world: World, planted: list[str]) -> dict[str, Any]:
    """Settlement and authorization are both due; the newer one leaves first."""
    register(world)
    deliveries.change(world, "reorder", None)
    bought = buy(world, planted[0], "20", "Corner Coffee")
    settle(world, bought)
    return {"webhook": HOOK, "transaction_id": bought.transaction_id}


_CLUSTER: tuple[DeclineCode, ...] = ("insufficient_card_balance", "merchant_category_blocked")


def _decline_cluster(world: World, planted: list[str]) -> dict[str, Any]:
    """Eight declines of two causes within five minutes."""
    now = world.clock.now()
    for number in range(8):
        with world.clock.at(now - timedelta(seconds=240 - 30 * number)):
            buy(world, planted[number % 2], "15", "Game Store", decline_code=_CLUSTER[number % 2])
    return {"causes": list(_CLUSTER)}


def _threeds(enabled: bool) -> Setup:
    def set_up(world: World, planted: list[str]) -> dict[str, Any]:
        register(world)
        world.store.update("cards", "id", planted[0], threeds="webhook")
        changes = {"threeds_webhook_enabled": enabled}
        accounts.change_settings(world, accounts.first_account(world), changes)
        if enabled:
            deliveries.change(world, "drop", None)
        purchase = {"path": f"cards/{planted[0]}/3ds", "body": {"amount_usd": "25", "merchant": "Web Shop"}}
        wait = {"path": "clock", "body": {"advance_seconds": 300}}
        return {"webhook": HOOK, "after": [purchase, wait]}

    return set_up


SPENDING: dict[str, Setup] = {
    "webhook-outage-3h": _outage,
    "rotation-during-backlog": _rotation,
    "settlement-first": _settlement_first,
    "decline-cluster": _decline_cluster,
    "threeds-endpoint-down": _threeds(enabled=True),
    "threeds-not-enabled": _threeds(enabled=False),
}
