"""Starts: the empty account that a reset gives, and named scenarios that set up a situation."""

from collections.abc import Callable
from decimal import Decimal
from typing import Any

from sandbox.partner import accounts, cards, fees, idempotency, ledger, moves
from sandbox.partner.world import World

# Holder, reference, float moved onto the card, status. Ordered like this, the fifth card's id is
# the fourth's with its case swapped.
_PEOPLE: tuple[tuple[str, str, str, str], ...] = (
    ("MARTA KOWALSKA", "emp-1042", "320.00", "ACTIVE"),
    ("JONAS ÄHLSTRÖM", "emp-1057", "185.50", "ACTIVE"),
    ("PRIYA NAIR", "emp-1063", "640.25", "ACTIVE"),
    ("DANIEL OKAFOR", "emp-1071", "75.00", "ACTIVE"),
    ("SOFIA MARCHETTI", "emp-1088", "0", "ACTIVE"),
    ("LENA FISCHER", "emp-1090", "58.30", "FROZEN"),
)
_FLOAT_USD = Decimal(5500)
DEMO_WALLET = "0x52908400098527886E0F7030069857D2E4169EE7"


def empty(world: World, seed: str | None) -> None:
    """Nothing but accounts and their keys; switches at their defaults, float 0 (control: reset)."""
    with world.store.transaction():
        world.store.empty()
        accounts.reset_all(world)
        world.bodies.clear()
        world.recent_calls.clear()
        world.reseed(seed or world.seed)
        fees.start(world)


def play(world: World, name: str) -> dict[str, Any]:
    """Set up a scenario on an emptied simulator; what it made."""
    with world.store.transaction():
        made = SCENARIOS[name](world)
    return {"scenario": name, **made}


def _card(world: World, name: str, partner_ref: str, amount_usd: str, status: str = "ACTIVE") -> str:
    account_id = accounts.first_account(world)
    claimed = idempotency.claim_for(world, account_id, "create", f"seed-order-{partner_ref}")
    card = cards.issue(world, account_id, name, partner_ref, claimed)
    idempotency.settle(world, claimed, "done", {"card": cards.shown(world, card)})
    if Decimal(amount_usd) > 0:
        keyed = moves.debit_for_top_up(world, card, Decimal(amount_usd), f"seed-topup-{partner_ref}")
        moves.credit_top_up(world, keyed)
    world.store.update("cards", "id", card.id, status=status, synced_at=card.created_at)
    return card.id


def happy_day(world: World) -> dict[str, Any]:
    """A funded float and six cards, one pair of ids differing in case only, one card frozen."""
    account_id = accounts.first_account(world)
    ledger.post(world, account_id, _FLOAT_USD, "funding", description="Settled by arrangement")
    return {"cards": [_card(world, *person) for person in _PEOPLE]}


SCENARIOS: dict[str, Callable[[World], dict[str, Any]]] = {"happy-day": happy_day}
