"""Runs what has fallen due, at the moment it was due, in order, however far the clock was pushed."""

from collections.abc import Callable

from sandbox.partner import codec, fees, funding
from sandbox.partner.world import World

_HANDLERS: dict[str, Callable[[World, str], None]] = {
    fees.MONTH_TIMER: fees.month_begins,
    funding.RECHECK_TIMER: funding.recheck,
}


def run_due(world: World) -> None:
    """Run every timer that is due by the clock, oldest first; a handler may set further ones."""
    while True:
        now = codec.stamp(world.clock.now())
        row = world.store.one("SELECT * FROM timers WHERE due_at <= ? ORDER BY due_at, seq LIMIT 1", now)
        if row is None:
            return
        with world.store.transaction(), world.clock.at(codec.moment(row["due_at"])):
            world.store.run("DELETE FROM timers WHERE seq = ?", row["seq"])
            _HANDLERS[row["kind"]](world, row["subject"])
