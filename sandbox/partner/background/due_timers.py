"""Runs what has fallen due, at the moment it was due, in order, however far the clock was pushed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from sandbox.partner import codec
from sandbox.partner.funding import deposits, submissions
from sandbox.partner.ledger import monthly_fees
from sandbox.partner.purchases import purchases, three_d_secure
from sandbox.partner.state import World

_HANDLERS: dict[str, Callable[[World, str], None]] = {
    monthly_fees.MONTH_TIMER: monthly_fees.month_begins,
    submissions.RECHECK_TIMER: submissions.recheck,
    purchases.AUTHORIZATION_TIMER: purchases.expire,
    three_d_secure.CHALLENGE_TIMER: three_d_secure.run_out,
    deposits.EXPIRY_TIMER: deposits.expire,
}


def run_due(world: World, until: str | None = None) -> None:
    """Run every timer due by the clock, or by the stamp `until`, oldest first; a handler may set further ones."""
    while _run_next(world, until):
        pass


async def run_due_in_turns(world: World, until: str | None = None) -> None:
    """The same, letting others go on between any two: months of a large fleet's fees take their time.

    Each timer is whole before anybody else sees it; a request that comes meanwhile runs the rest first.
    """
    ran = True
    while ran:
        ran = _run_next(world, until)
        await asyncio.sleep(0)


def _run_next(world: World, until: str | None) -> bool:
    """The one that was due first, in one transaction; False when none is due."""
    now = codec.stamp(world.clock.now())
    row = world.store.one(
        "SELECT * FROM timers WHERE due_at <= ? ORDER BY due_at, seq LIMIT 1", min(now, until or now)
    )
    if row is None:
        return False
    with world.store.transaction(), world.clock.at(codec.moment(row["due_at"])):
        world.store.run("DELETE FROM timers WHERE seq = ?", row["seq"])
        _HANDLERS[row["kind"]](world, row["subject"])
    return True
