"""Starts: the empty account that a reset gives, and named situations to try a client against.

A scenario empties the simulator, plants the people and the float, and sets the situation up. What it
returns says what is left to do: `cards` to work with, a hash to `submit`, and `after`, the
control calls that follow.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

from sandbox.partner.accounts import accounts
from sandbox.partner.funding import Payment
from sandbox.partner.ledger import monthly_fees
from sandbox.partner.scenarios import scenario_file, seeds
from sandbox.partner.scenarios.files import FILES
from sandbox.partner.scenarios.funding_scenarios import FUNDING
from sandbox.partner.scenarios.spending_scenarios import SPENDING, buy, spend_a_little
from sandbox.partner.state import World

Setup = Callable[[World, list[str]], dict[str, Any]]


def empty(world: World, seed: str | None) -> None:
    """Nothing but accounts and their keys; switches at their defaults, float 0; the clock goes on (control: reset)."""
    with world.store.transaction():
        world.store.empty()
        world.epoch += 1
        accounts.reset_all(world)
        world.bodies.clear()
        world.recent_calls.clear()
        world.reseed(seed or world.seed)
        monthly_fees.start(world)


def play(world: World, name: str) -> dict[str, Any]:
    """Set a scenario up on an emptied simulator."""
    with world.store.transaction():
        cards = seeds.plant(world)
        left = SCENARIOS[name](world, cards)
        world.store.run("DELETE FROM journal")  # a replay plays the scenario, not the calls it is made of
        world.store.keep("scenario", name)
    return {"scenario": name, "cards": cards, **left}


def _of_file(path: Path) -> Setup:
    """What a file says."""
    return lambda world, cards: scenario_file.set_up(world, cards, path)


def _settings(world: World, **changes: Any) -> None:
    accounts.change_settings(world, accounts.first_account(world), changes)


def _happy_day(world: World, cards: list[str]) -> dict[str, Any]:
    """Everything works: some purchases, one of them refunded; a transfer waits on the chain to be submitted."""
    spend_a_little(world, cards)
    transaction = seeds.tx_hash(2)
    seeds.send(world, [Payment(seeds.WALLET, "USDC", Decimal(750))], transaction)
    return {"submit": {"network": "POLYGON", "tx_hash": transaction}}


def _negative(world: World, cards: list[str]) -> dict[str, Any]:
    """The submission that funded the float can be reversed after its money went to cards."""
    seeds.top_up(world, cards[0], Decimal(4000), "topup-before-reversal")
    row = world.store.one("SELECT id FROM funding LIMIT 1")
    funding_id = row["id"] if row else ""
    return {"after": [{"path": f"funding/{funding_id}/decide", "body": {"decision": "reverse"}}]}


def _month_end(world: World, cards: list[str]) -> dict[str, Any]:
    """A card ordered in the last hour of a month; the clock stands still there."""
    month_ends = monthly_fees.next_month(world.clock.now())
    world.clock.change("frozen", month_ends - timedelta(hours=1), None)
    late = seeds.order(world, "TOMAS BREKKE", "emp-1099")
    return {"late": late, "closes": cards[0], "after": [{"path": "clock", "body": {"advance_seconds": 7200}}]}


def _storm(world: World, _cards: list[str]) -> dict[str, Any]:
    """Every key of the first account has ten requests a minute."""
    world.store.update("api_keys", "account", accounts.first_account(world), rate_limit_per_minute=10)
    return {}


def _odd_shapes(world: World, cards: list[str]) -> dict[str, Any]:
    """Invented keys under other names, and a status, an event type and a decline code nobody knows."""
    _settings(world, profile="scrambled")
    buy(world, cards[1], "9", "Corner Coffee")
    buy(world, cards[1], "9", "Corner Coffee", decline_code="unknown")
    world.store.update("cards", "id", cards[0], status="UNDER_OBSERVATION")
    return {}


SCENARIOS: dict[str, Setup] = {
    "happy-day": _happy_day,
    "reversal-negative-float": _negative,
    "storm-429": _storm,
    "month-end": _month_end,
    "odd-shapes": _odd_shapes,
    **{name: _of_file(path) for name, path in FILES.items() if name not in FUNDING},
    **SPENDING,
    **FUNDING,
}
