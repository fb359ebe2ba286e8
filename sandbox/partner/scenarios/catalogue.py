"""Starts: the empty account that a reset gives, and named situations to try a client against.

A scenario empties the simulator, plants the people and the float, and sets the situation up. What it
returns says what is left to do: `cards` to work with, a hash to `submit`, and `after`, the
control calls that follow.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sandbox.partner import codec
from sandbox.partner.accounts import accounts, api_keys
from sandbox.partner.ledger import monthly_fees
from sandbox.partner.scenarios import scenario_file, seeds
from sandbox.partner.scenarios.files import FILES
from sandbox.partner.state import World, stamp_now

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
        world.store.keep("begun_at", stamp_now(world))
        note_beginning(world)


def note_beginning(world: World) -> None:
    """Keep with which accounts and API keys the journal begins, for a replay: both outlive a reset."""
    keys = [
        {
            "number": one.number,
            "account": one.account,
            "name": one.name,
            "scopes": list(one.scopes),
            "rate_limit_per_minute": one.rate_limit_per_minute,
            "revoked": one.revoked,
        }
        for one in api_keys.all_keys(world)
    ]
    known = [{"id": one.id, "name": one.name} for one in accounts.all_accounts(world)]
    world.store.keep("beginning", codec.encode({"accounts": known, "keys": keys}).decode())


def play(world: World, name: str) -> dict[str, Any]:
    """Set a scenario up on an emptied simulator."""
    with world.store.transaction():
        cards = seeds.plant(world)
        left = SCENARIOS[name](world, cards)
        world.store.run("DELETE FROM journal")  # a replay plays the scenario, not the calls it is made of
        world.bodies.clear()
        world.store.keep("scenario", name)
    return {"scenario": name, "cards": cards, **left}


@functools.cache
def _read(path: Path) -> scenario_file.Scenario:
    """A file of the simulator's own: it does not change, and tests play some of them thousands of times."""
    return scenario_file.load(path)


def _of_file(path: Path) -> Setup:
    """What a file says."""
    return lambda world, cards: scenario_file.set_up(world, cards, _read(path), path.name)


SCENARIOS: dict[str, Setup] = {name: _of_file(path) for name, path in FILES.items()}
FUNDING: dict[str, Setup] = {
    name: set_up for name, set_up in SCENARIOS.items() if name.startswith("funding-")
}
