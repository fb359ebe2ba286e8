"""What the simulator keeps: its database, its clock, its ids and its timers, together a `World`.

A `World` is built once and handed to every function; there are no globals. Everything that a restart, a
snapshot or a reset must carry over or forget is in its store. Nothing here knows of cards, calls or HTTP.

Use `World` (and `stamp_now`, its time as the API writes it), `Store`, `Clock` and `Ids` to build one, and `timers`
to be woken.
"""

from __future__ import annotations

from sandbox.partner.state.clock import Clock
from sandbox.partner.state.ids import KEY_PREFIX, Ids
from sandbox.partner.state.store import CARD_BLOCK, Store
from sandbox.partner.state.world import Snapshot, UnderWay, World, stamp_now

__all__ = [
    "CARD_BLOCK",
    "KEY_PREFIX",
    "Clock",
    "Ids",
    "Snapshot",
    "Store",
    "UnderWay",
    "World",
    "stamp_now",
    "store",
    "timers",
]
