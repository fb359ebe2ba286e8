"""Everything one simulator is made of, built once and handed around: no globals."""

import random
from dataclasses import dataclass, field

from sandbox.partner.clock import Clock
from sandbox.partner.ids import Ids
from sandbox.partner.store import Store


@dataclass
class World:
    """``recent_calls`` holds, per API key digest, the moments of the last minute's calls.

    ``bodies`` holds full request bodies by journal number; on disk they are masked.
    """

    store: Store
    clock: Clock
    ids: Ids
    seed: str
    chance: random.Random
    recent_calls: dict[str, list[float]] = field(default_factory=dict)
    bodies: dict[int, bytes] = field(default_factory=dict)

    @classmethod
    def of(cls, store: Store, seed: str) -> "World":
        """A world on this store, drawing from this seed."""
        chance = random.Random(seed)  # noqa: S311 - chances must repeat for a seed
        return cls(store, Clock(store), Ids(store, seed), seed, chance)

    def reseed(self, seed: str) -> None:
        """Draw ids and chances from this seed from now on; kept for a restart."""
        self.seed = seed
        self.ids = Ids(self.store, seed)
        self.chance = random.Random(seed)  # noqa: S311 - chances must repeat for a seed
        self.store.keep("seed", seed)
