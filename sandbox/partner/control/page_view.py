"""What the viewer page draws: the newest of everything, and totals that cost little to ask for again.

Sums over every row are worked out again only when something changed, and never so often that a large
simulator spends its time on being watched.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import msgspec

from sandbox.partner import codec, invariants, money
from sandbox.partner.accounts import Account, accounts
from sandbox.partner.background import deliveries
from sandbox.partner.calls import chaos, faults, idempotency, journal
from sandbox.partner.cards import cards
from sandbox.partner.control import state_view
from sandbox.partner.funding import deposits, submissions
from sandbox.partner.ledger import ledger
from sandbox.partner.purchases import purchases
from sandbox.partner.state import World

_SHOWN = 60  # rows of a list
_REST = 20  # after summing for a second, no sums for this many


def view(world: World) -> dict[str, Any]:
    """Newest rows first; a masked journal."""
    owner = accounts.account(world, accounts.first_account(world))
    return {
        "clock": codec.stamp(world.clock.now()),
        "clock_mode": world.clock.mode,
        "account": state_view.account_text(owner),
        "float": state_view.float_text(world, owner),
        "open_cards": owner.open_cards,
        "keys": state_view.keys(world),
        **_lists(world),
        **_sums(world, owner),
        "faults": faults.all_faults(world),
        "chaos": msgspec.to_builtins(chaos.current(world)),
        "timers": state_view.timers(world)[:_SHOWN],
        "webhooks": state_view.webhooks(world),
        "delivery_mode": deliveries.mode(world),
        "delivery_map": deliveries.hosts(world),
        "journal": journal.read_masked(world, _SHOWN),
    }


def _lists(world: World) -> dict[str, Any]:
    def newest(table: str, shown: Callable[[Any], Any]) -> list[Any]:
        sql = f"SELECT * FROM {table} ORDER BY seq DESC LIMIT {_SHOWN}"  # noqa: S608 - names of this function
        return [shown(row) for row in world.store.all(sql)]

    keyed = world.store.all(f"SELECT * FROM keyed ORDER BY id DESC LIMIT {_SHOWN}")  # noqa: S608 - a number
    sent = world.store.all(f"SELECT * FROM transfers ORDER BY sent_at DESC LIMIT {_SHOWN}")  # noqa: S608 - a number
    return {
        "cards": newest("cards", lambda row: state_view.card_text(world, cards.of_row(row))),
        "ledger": newest("ledger", ledger.entry),
        "purchases": newest("purchases", lambda row: state_view.purchase_text(purchases.of_row(row))),
        "challenges": newest("challenges", state_view.challenge_text),
        "deposits": newest("deposits", lambda row: state_view.texts(deposits.shown(row))),
        "funding": newest("funding", lambda row: state_view.funding_text(submissions.of_row(row))),
        "events": newest("events", lambda row: _event(world, row)),
        "idempotency": [state_view.keyed_text(idempotency.of_row(row)) for row in keyed],
        "transfers": [{**dict(row), "payments": msgspec.json.decode(row["payments"])} for row in sent],
    }


def _event(world: World, row: Any) -> dict[str, Any]:
    """An event with every attempt to deliver it."""
    attempts = world.store.all("SELECT * FROM deliveries WHERE event_id = ? ORDER BY seq", row["id"])
    names = ("number", "at", "url", "status", "problem", "hops")
    tried = [{name: one[name] for name in names} for one in attempts]
    return {**state_view.event_text(row), "deliveries": tried}


def _sums(world: World, owner: Account) -> dict[str, Any]:
    known = world.summed
    if known and (known.changes == world.store.changes or time.monotonic() < known.rests_until):
        return known.figures
    began = time.monotonic()
    wrong = invariants.broken(world)
    held = world.store.all("SELECT balance_usd FROM cards WHERE account = ?", owner.id)
    figures = {
        "suspense_usd": money.text(invariants.suspense_usd(world, owner.id)),
        "ledger_sum": money.text(ledger.rows_total(world, owner.id)),
        "on_cards_usd": money.text(money.total(money.of(row["balance_usd"]) for row in held)),
        "invariants": {"ok": not wrong, "broken": wrong},
    }
    ended = time.monotonic()
    world.remember(figures, rests_until=ended + _REST * (ended - began))
    return figures
