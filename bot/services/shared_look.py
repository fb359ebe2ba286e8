"""One look at something slow and rationed, shared by everybody who needs it within a few seconds.

For what many ask at once and may be a moment old; never for a person's click, which is checked live.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from bot.domain.errors import CountersignError
from bot.domain.time import Clock
from bot.partner.errors import PartnerError

T = TypeVar("T")

# Six looks a minute where it fails, of the some twenty that Slack allows.
FAILED_FOR_S = 10.0
#: So many looks are kept, of people, of accounts and of cards; then the older half goes.
MOST_KEPT = 1_000


@dataclass(frozen=True, slots=True)
class _Seen:
    at: float
    ended_at: float
    value: Any
    error: CountersignError | PartnerError | None
    good: _Seen | None = None  # of one that failed: the last before it that did not

    @property
    def may_pass(self) -> bool:
        """Is it an answer that may be a fault of a moment, as that an account is gone?"""
        return self.error is None and getattr(self.value, "is_gone", False)

    def good_for_s(self, within_s: float) -> float:
        if self.may_pass:
            return 0.0
        return within_s if self.error is None else min(within_s, FAILED_FOR_S)

    def failed_since(self, came_at: float) -> bool:
        """Did it fail, or find nobody, while somebody waited for it who came then?"""
        return (self.error is not None or self.may_pass) and self.ended_at > came_at


class SharedLooks:
    """What was seen last, by what it is about.

    A look that failed is shared like any other, however long it took: those who waited for it fail with it, and do
    not wait for one failure after the other. That somebody is gone serves those who waited, and nobody later.
    """

    def __init__(self) -> None:
        self._seen: dict[Hashable, _Seen] = {}
        self._turns: defaultdict[Hashable, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def at(
        self, about: Hashable, ask: Callable[[], Awaitable[T]], clock: Clock, *, within_s: float
    ) -> T:
        """What `ask` answered to a look begun less than `within_s` ago, or answers now; raises what it raised.

        An answer that was itself seen earlier, by another process, says by its `ago_s` how many seconds before.
        """
        came_at = clock.monotonic()
        async with self._turns[about]:
            seen = self._seen.get(about)
            failed_meanwhile = seen is not None and seen.failed_since(came_at)
            if seen is None or not (
                failed_meanwhile or clock.monotonic() - seen.at < seen.good_for_s(within_s)
            ):
                seen = self._keep(about, await self._ask(ask, clock))
        if seen.error is not None:
            raise seen.error
        found: T = seen.value
        return found

    async def lately(
        self,
        about: Hashable,
        ask: Callable[[], Awaitable[T]],
        clock: Clock,
        *,
        within_s: float,
        first: Callable[[], None] = lambda: None,
    ) -> T:
        """What `ask` answered to a look begun less than `within_s` before the caller came, or answers now.

        So all who wait for one slow look are served by it. Raises what it raised, for `FAILED_FOR_S` at most. `first`
        is called where this caller needs a look: what it raises is for them alone, and nobody else is served by it.
        """
        came_at = clock.monotonic()
        async with self._turns[about]:
            seen = self._seen.get(about)
            if seen is None or not (
                seen.failed_since(came_at) or seen.at > came_at - seen.good_for_s(within_s)
            ):
                first()
                seen = self._keep(about, await self._ask(ask, clock))
        if seen.error is not None:
            raise seen.error
        found: T = seen.value
        return found

    def note(self, about: Hashable, begun_at: float, value: object, clock: Clock) -> None:
        """What somebody saw who looked for themselves, as the look that is shared from now on."""
        self._keep(about, _Seen(begun_at, clock.monotonic(), value, None))

    def _keep(self, about: Hashable, seen: _Seen) -> _Seen:
        """The newest is the last one, whatever it is about."""
        before = self._seen.pop(about, None)
        if seen.error is not None and before is not None:
            seen = replace(seen, good=before if before.error is None else before.good)
        if len(self._seen) >= MOST_KEPT:
            for older in list(self._seen)[: MOST_KEPT // 2]:
                del self._seen[older]
            # Nobody waits for what has no look and no turn.
            idle = [one for one, turn in self._turns.items() if one not in self._seen and not turn.locked()]
            for one in idle:
                del self._turns[one]
        self._seen[about] = seen
        return seen

    def last(self, about: Hashable) -> Any | None:
        """What was seen last, however long ago; None before the first, and where that look failed."""
        seen = self._seen.get(about)
        return None if seen is None or seen.error is not None else seen.value

    def remembered(self, clock: Clock, *, within_s: float) -> dict[Hashable, Any]:
        """All that was seen by looks begun less than `within_s` ago, by what it is about; of one that failed, what was
        seen before."""
        good = ((about, seen if seen.error is None else seen.good) for about, seen in self._seen.items())
        since = clock.monotonic() - within_s
        return {about: seen.value for about, seen in good if seen is not None and seen.at > since}

    def begun_at(self, about: Hashable) -> float | None:
        """When the look that is shared now began, by the monotonic clock; None before the first."""
        seen = self._seen.get(about)
        return None if seen is None else seen.at

    async def _ask(self, ask: Callable[[], Awaitable[Any]], clock: Clock) -> _Seen:
        at = clock.monotonic()
        try:
            found = await ask()
        except (CountersignError, PartnerError) as error:
            return _Seen(at, clock.monotonic(), None, error)
        ended_at = clock.monotonic()
        return _Seen(min(at, ended_at - getattr(found, "ago_s", 0.0)), ended_at, found, None)
