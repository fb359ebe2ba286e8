"""What a process does again and again, and which of it fails: a log alone shows nobody that something stands still."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, TypeVar

from bot.engine.carried import Due, Queue

log = logging.getLogger("countersign.engine")

T = TypeVar("T")

# One that failed only now and then is no news: three in a row, or a minute of nothing else.
TIMES, FOR_S = 3, 60.0
# Of what nobody reports as done: it works again when it has not failed for so long.
QUIET_S = 300.0
LOOP_FOR_S = 10.0
_MOST = 200


class _Clock(Protocol):
    def now(self) -> datetime: ...

    def monotonic(self) -> float: ...


@dataclass(slots=True)
class Failing:
    """`since`: of the first failure in a row; `_s`: monotonic. `quiet_s`: it works when it has not failed for so long,
    None = it says so itself."""

    name: str
    since: datetime
    since_s: float
    last_s: float
    error: Exception
    count: int = 1
    quiet_s: float | None = None


def _is_long(one: Failing, now_s: float) -> bool:
    if one.quiet_s is not None:  # which is tried again within a second, so often that its number says nothing
        return one.count >= TIMES and one.last_s - one.since_s >= LOOP_FOR_S
    return one.count >= TIMES or now_s - one.since_s >= FOR_S


class Failures:
    """In the memory of one process."""

    def __init__(self) -> None:
        self._failing: dict[str, Failing] = {}
        self._worked: set[str] = set()

    def failed(self, name: str, error: Exception, clock: _Clock, *, quiet_s: float | None = None) -> None:
        """It failed once more. Of very many names some are enough."""
        self._worked.discard(name)
        found = self._failing.get(name)
        if found is not None:
            found.count, found.error, found.last_s = found.count + 1, error, clock.monotonic()
        elif len(self._failing) < _MOST:
            now_s = clock.monotonic()
            self._failing[name] = Failing(name, clock.now(), now_s, now_s, error, quiet_s=quiet_s)

    def worked(self, name: str) -> None:
        """It did what it is for."""
        self._failing.pop(name, None)
        if len(self._worked) < _MOST:
            self._worked.add(name)

    def fails(self, name: str) -> bool:
        """Has it failed, and not worked since?"""
        return name in self._failing

    def standing_still(self, now_s: float) -> list[Failing]:
        """What has failed so often, or for so long, that people are to know it."""
        for one in list(self._failing.values()):
            if one.quiet_s is not None and now_s - one.last_s > one.quiet_s:
                self.worked(one.name)
        return [one for one in self._failing.values() if _is_long(one, now_s)]

    def works(self, name: str) -> bool:
        """Has it worked in this process, and not failed since?"""
        return name in self._worked

    async def each(
        self,
        found: Iterable[T],
        do: Callable[[T], Awaitable[object]],
        name: Callable[[T], str],
        clock: _Clock,
    ) -> int:
        """Do it for each of them, whatever becomes of the others; how many times it was done, and said so."""
        done = 0
        for one in found:
            try:
                done += bool(await do(one))
            except Exception as error:  # it is left out, and people are notified when it lasts
                log.exception("engine.one_failed", extra={"of": name(one)})
                self.failed(name(one), error, clock, quiet_s=QUIET_S)
            else:
                if self.fails(name(one)):
                    self.worked(name(one))
        return done

    def watched_due(self, name: str, due: Due, clock: _Clock) -> Due:
        """The same, which says how it went."""

        async def due_watched(without: Collection[str]) -> Sequence[Queue]:
            try:
                found = await due(without)
            except Exception as error:
                self.failed(name, error, clock, quiet_s=QUIET_S)
                raise
            self.worked(name)
            return found

        return due_watched

    def watched(
        self, name: str, run: Callable[[], Awaitable[object]], clock: _Clock
    ) -> Callable[[], Awaitable[None]]:
        """The same, which says how it went."""

        async def run_watched() -> None:
            try:
                await run()
            except Exception as error:
                self.failed(name, error, clock)
                raise
            self.worked(name)

        return run_watched
