"""Starts: the empty account that a reset gives, and named situations to try a client against.

A scenario empties the simulator, plants the people and the float, and sets the situation up. What it
returns says what is left to do: `cards` to work with, a hash to `submit`, and `after`, the
control calls that follow.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from typing import Any

from sandbox.partner import money
from sandbox.partner.accounts import accounts
from sandbox.partner.calls import Fault, faults
from sandbox.partner.funding import Payment
from sandbox.partner.ledger import ledger, monthly_fees
from sandbox.partner.scenarios import seeds
from sandbox.partner.scenarios.funding_scenarios import FUNDING
from sandbox.partner.scenarios.spending_scenarios import SPENDING, buy, spend_a_little
from sandbox.partner.state import World

TOP_UP = "POST /cards/{cardId}/topup"
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
        world.store.keep("scenario", name)
    return {"scenario": name, "cards": cards, **left}


def _settings(world: World, **changes: Any) -> None:
    accounts.change_settings(world, accounts.first_account(world), changes)


def _happy_day(world: World, cards: list[str]) -> dict[str, Any]:
    """Everything works: some purchases, one of them refunded; a transfer waits on the chain to be submitted."""
    spend_a_little(world, cards)
    transaction = seeds.tx_hash(2)
    seeds.send(world, [Payment(seeds.WALLET, "USDC", Decimal(750))], transaction)
    return {"submit": {"network": "POLYGON", "tx_hash": transaction}}


def _struck(*rules: Fault) -> Setup:
    """The next calls of an operation go wrong."""

    def set_up(world: World, _cards: list[str]) -> dict[str, Any]:
        for rule in rules:
            faults.add(world, rule)
        return {}

    return set_up


def _resolved(outcome: str) -> Setup:
    """The next top-up stays unresolved; support settles it afterwards."""

    def set_up(world: World, _cards: list[str]) -> dict[str, Any]:
        faults.add(world, Fault(operation=TOP_UP, effect="processor", processor="5xx"))
        return {"after": [{"path": "topups/{key}/resolve", "body": {"as": outcome}}]}

    return set_up


def _changed(**changes: Any) -> Setup:
    """The card provider has agreed something else with the partner."""

    def set_up(world: World, _cards: list[str]) -> dict[str, Any]:
        _settings(world, **changes)
        return {}

    return set_up


def _headroom(world: World, _cards: list[str]) -> dict[str, Any]:
    """A large balance under a ceiling that leaves 100."""
    owner = accounts.account(world, accounts.first_account(world))
    limit_usd = money.add(ledger.outstanding_usd(world, owner), Decimal(100))
    _settings(world, float_limit_usd=money.text(limit_usd))
    return {}


def _unload_lost(world: World, _cards: list[str]) -> dict[str, Any]:
    _settings(world, unload_replay="conflict")
    faults.add(world, Fault(operation="POST /cards/{cardId}/unload", effect="drop_after_commit"))
    return {}


def _unreadable(world: World, cards: list[str]) -> dict[str, Any]:
    world.store.update("cards", "id", cards[0], balance_readable=0)
    return {"after": [{"path": f"cards/{cards[0]}", "body": {"balance_readable": True}}]}


def _blocked(world: World, cards: list[str]) -> dict[str, Any]:
    world.store.update("cards", "id", cards[0], status="BLOCKED")
    return {}


def _quota(world: World, cards: list[str]) -> dict[str, Any]:
    _settings(world, cards_limit=len(cards) + 3)
    return {}


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
    "topup-lost-after-commit": _struck(Fault(operation=TOP_UP, effect="drop_after_commit")),
    "topup-lost-before-commit": _struck(Fault(operation=TOP_UP, effect="drop_before_commit")),
    "topup-processor-5xx-then-credited": _resolved("credited"),
    "topup-processor-5xx-then-refunded": _resolved("refunded"),
    "topup-processor-409-refund": _struck(Fault(operation=TOP_UP, effect="processor", processor="409")),
    "topup-503-spent-key": _struck(Fault(operation=TOP_UP, effect="processor", processor="401")),
    "topup-404-hides-replay": _struck(
        Fault(operation=TOP_UP, effect="drop_after_commit"),
        Fault(operation=TOP_UP, effect="status", status=404, nth=2),
    ),
    "topup-402-headroom": _headroom,
    "unload-lost-answer": _unload_lost,
    "close-unreadable-balance": _unreadable,
    "quota-mid-batch": _quota,
    "blocked-card": _blocked,
    "reversal-negative-float": _negative,
    "storm-429": _storm,
    "month-end": _month_end,
    "odd-shapes": _odd_shapes,
    **SPENDING,
    **FUNDING,
}
