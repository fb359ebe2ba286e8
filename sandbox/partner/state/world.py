"""Everything one simulator is made of, built once and handed around: no globals."""

from __future__ import annotations

import asyncio
import random
import sqlite3
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sandbox.partner import codec
from sandbox.partner.state.clock import Clock
from sandbox.partner.state.ids import Ids
from sandbox.partner.state.store import Store

# Sends method, address, headers and body over loopback; gives the status and the Location, if any.
# Raises OSError when nobody answers.
Post = Callable[[str, str, dict[str, str], bytes], Awaitable[tuple[int, str | None]]]
Control = Callable[[str, str, bytes], tuple[int, bytes]]
# Method, path below the base path with its query, headers and body of an API call; gives the status, None where the
# answer was lost, and the body. Raises RuntimeError for a call that would have to wait.
Api = Callable[[str, str, Sequence[tuple[str, str]], bytes], tuple[int | None, bytes]]


@dataclass(frozen=True)
class Snapshot:
    """The whole content of a simulator at one moment."""

    content: sqlite3.Connection
    bodies: dict[int, bytes]


@dataclass(frozen=True)
class Summed:
    """Figures over every row, with the state of the store they belong to."""

    figures: dict[str, Any]
    changes: int
    rests_until: float


@dataclass(frozen=True)
class UnderWay:
    """A delivery that has left and was not answered yet, and the reset or restore it belongs to."""

    event_id: str
    account: str
    at: datetime
    epoch: int


@dataclass
class World:
    """`recent_calls` holds, per API key digest, the moments of the last minute's calls.

    `bodies` holds full request bodies by journal number; on disk they are masked. `origin` is where this simulator
    is reached, `names` the host names by which it may be called, `post` how deliveries leave it; `standing_key` is
    the one that always works here; `control` and `api` make a control call and an API call at once (scenarios in
    files do). `stirred` is set when a delivery may be due, `under_way` those that have left. `busy_since`
    (monotonic) is when they began, `catching_up` how many wait for them to end. `epoch` counts resets and restores:
    what began before one says nothing of what is there after it.
    """

    store: Store
    clock: Clock
    ids: Ids
    seed: str
    chance: random.Random
    recent_calls: dict[str, list[float]] = field(default_factory=dict)
    bodies: dict[int, bytes] = field(default_factory=dict)
    origin: str = "http://127.0.0.1:8401"
    names: tuple[str, ...] = ()
    standing_key: str = field(default="", repr=False)
    post: Post | None = None
    control: Control | None = None
    api: Api | None = None
    stirred: asyncio.Event = field(default_factory=asyncio.Event)
    delivering: asyncio.Lock = field(default_factory=asyncio.Lock)
    under_way: dict[asyncio.Task[None], UnderWay] = field(default_factory=dict)
    busy_since: float = 0.0
    catching_up: int = 0
    epoch: int = 0
    summed: Summed | None = None
    snapshots: dict[str, Snapshot] = field(default_factory=dict)

    @classmethod
    def of(cls, store: Store, seed: str) -> World:
        """A world on this store, drawing from this seed."""
        chance = random.Random(seed)  # noqa: S311 - chances must repeat for a seed
        return cls(store, Clock(store), Ids(store, seed), seed, chance)

    def remember(self, figures: dict[str, Any], rests_until: float) -> None:
        """Keep sums for the viewer until something changes and the moment (monotonic) has passed."""
        self.summed = Summed(figures, self.store.changes, rests_until)

    def reseed(self, seed: str) -> None:
        """Draw ids and chances from this seed from now on; kept for a restart."""
        self.seed = seed
        self.ids = Ids(self.store, seed)
        self.chance = random.Random(seed)  # noqa: S311 - chances must repeat for a seed
        self.store.keep("seed", seed)

    def restore(self, snapshot: Snapshot) -> None:
        """Go back to a snapshot: content, clock and seed."""
        self.store.put_back(snapshot.content)
        self.epoch += 1
        self.clock = Clock(self.store)
        self.bodies = dict(snapshot.bodies)
        self.summed = None
        self.recent_calls.clear()
        self.reseed(self.store.note("seed") or self.seed)


def stamp_now(world: World) -> str:
    """Return the simulator's time as the API writes it: ISO 8601, UTC, milliseconds and Z (U77)."""
    return codec.stamp(world.clock.now())
