"""What was tried and is still due rests a little longer each time, so that no carrier spins."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Collection

_FIRST_REST_S = 1.0
_LONGEST_REST_S = 60.0


class Rests:
    """Which ids rest, as this process has tried them. Times are those of the event loop."""

    def __init__(self) -> None:
        self._tried: Counter[str] = Counter()  # how often each was tried, and was still due
        self._until: dict[str, float] = {}

    def resting(self) -> set[str]:
        """Those that are not tried now."""
        now = asyncio.get_running_loop().time()
        return {id_ for id_, until in self._until.items() if until > now}

    def tried(self, id_: str) -> None:
        """If it is due again within this time, then because nothing came of it: not at once, and later each time."""
        self._tried[id_] += 1
        rest_s = min(_LONGEST_REST_S, _FIRST_REST_S * 2 ** (self._tried[id_] - 1))
        self._until[id_] = asyncio.get_running_loop().time() + rest_s

    def end(self, id_: str = "") -> None:
        """It became due for another reason; "" = any of them may have."""
        for rested in [id_] if id_ else list(self._until):
            self._until.pop(rested, None)
            self._tried.pop(rested, None)

    def keep_only(self, ids: Collection[str]) -> None:
        """Whatever else was tried is settled."""
        for settled in self._tried.keys() - set(ids):
            self.end(settled)
