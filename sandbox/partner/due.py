"""Runs what has fallen due, at the moment it was due, in order, however far the clock was pushed."""

from collections.abc import Callable

from sandbox.partner import challenges, codec, deposits, fees, funding, purchases
from sandbox.partner.world import World

_HANDLERS: dict[str, Callable[[World, str], None]] = {
    fees.MONTH_TIMER: fees.month_begins,
    funding.RECHECK_TIMER: funding.recheck,
    purchases.AUTHORIZATION_TIMER: purchases.expire,
    challenges.CHALLENGE_TIMER: challenges.run_out,
    deposits.EXPIRY_TIMER: deposits.expire,
}


def run_due(world: World, until: str | None = None) -> None:
    """Run every timer due by the clock, or by the stamp ``until``, oldest first; a handler may set further ones."""
    while True:
        now = codec.stamp(world.clock.now())
        row = world.store.one(
            "SELECT * FROM timers WHERE due_at <= ? ORDER BY due_at, seq LIMIT 1", min(now, until or now)
        )
        if row is None:
            return
        with world.store.transaction(), world.clock.at(codec.moment(row["due_at"])):
            world.store.run("DELETE FROM timers WHERE seq = ?", row["seq"])
            _HANDLERS[row["kind"]](world, row["subject"])
