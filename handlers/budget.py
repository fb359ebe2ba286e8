"""How much one person may send: reading plain English costs the bot more than a command, and each answer is one of the
some hundred calls a minute that Slack takes. Everybody shares both.

Commands, forms and buttons do not count as plain English, but all together are no more than `MOST_DONE`; what stops
something is done beyond that (`handlers.safer`). What one person sends is read one after the other, so that whoever
sends many at once waits behind themselves alone.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from bot.domain.time import Clock

MOST = 20
#: Of everything that is done in Slack: commands, clicks, forms, messages, and opening Home.
MOST_DONE = 60
#: Of messages beyond `MOST`, so many are read to know whether they stop something.
MOST_LOOKED_AT = 40
WITHIN_S = 60.0
_MOST_KEPT = 1_000


@dataclass(slots=True)
class _Person:
    """When their last messages were read, by the monotonic clock, and whether they know that it is too many."""

    turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    read_at: deque[float] = field(default_factory=deque)
    looked_at: deque[float] = field(default_factory=deque)
    waiting: int = 0
    knows: bool = False

    def finds(self, look: Callable[[], bool], now_s: float) -> bool:
        while self.looked_at and self.looked_at[0] <= now_s - WITHIN_S:
            self.looked_at.popleft()
        if len(self.looked_at) >= MOST_LOOKED_AT:
            return False
        self.looked_at.append(now_s)
        return look()


class Budget:
    """`MOST` messages of one person in any `WITHIN_S` seconds, or `MOST_DONE` things of all kinds."""

    def __init__(self, *, of_everything: bool = False) -> None:
        self._of_everything = of_everything
        self._people: dict[str, _Person] = {}

    def take(
        self,
        person: str,
        now_s: float,
        *,
        is_safer: bool = False,
        look: Callable[[], bool] = lambda: False,
    ) -> bool:
        """Whether this person's message is read. Counted where it is. `now_s`: by the monotonic clock. `is_safer`: it
        may stop something, so as many are read as there are things that one person does. `look`: what tells whether
        it may, where that is not known; as it takes time, it is asked `MOST_LOOKED_AT` times at most."""
        if len(self._people) >= _MOST_KEPT:
            self._forget(now_s - WITHIN_S)
        known = self._people.setdefault(person, _Person())
        while known.read_at and known.read_at[0] <= now_s - WITHIN_S:
            known.read_at.popleft()
        if len(known.read_at) >= MOST_DONE:
            return False
        if len(known.read_at) >= MOST and not (self._of_everything or is_safer or known.finds(look, now_s)):
            return False
        known.read_at.append(now_s)
        known.knows = False
        return True

    def say_so(self, person: str) -> bool:
        """Whether to say that it was too many: once, and again after a message was read."""
        known = self._people.setdefault(person, _Person())
        said, known.knows = known.knows, True
        return not said

    @asynccontextmanager
    async def turn_of(self, person: str, clock: Clock) -> AsyncIterator[None]:
        """One message of a person at a time."""
        known = self._people.setdefault(person, _Person())
        known.waiting += 1
        try:
            async with known.turn:
                yield
        finally:
            known.waiting -= 1
            self._forget(clock.monotonic() - WITHIN_S)

    def _forget(self, since_s: float) -> None:
        """Who has sent nothing since then."""
        idle = [
            one
            for one, known in self._people.items()
            if not known.waiting and (not known.read_at or known.read_at[-1] < since_s)
        ]
        for one in idle:
            del self._people[one]
