"""One budget for all processes that use a key: they keep it in one place, and take places from there in turn.

Whoever asks holds the budget for a moment (`SharedMinute`), so of a hundred and twenty places a minute no two
processes get the same. Asking for each call would cost a transaction a call, so a process that calls often takes a few
places at a time while there are plenty; they count as used until the last moment at which they may be. Near the limit
each place is taken by itself, and a process that waits is known to the others: what is urgent goes first wherever
it waits. What answers say of the rate is passed on with the next question, and at once where nothing is left.

While nobody answers, each process goes on by what it knows itself, as if it were alone: too much is refused by the
card provider and does nothing, and a freeze must not wait for a database.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

from bot.partner.clock import Clock
from bot.partner.ratelimit.budget import DEFAULT_PER_MINUTE, Lane, RollingBudget, as_stored
from bot.partner.ratelimit.limiter import Place, RateLimiter

log = logging.getLogger("countersign.partner")

# Places taken ahead are used within so long, or not at all.
LOT_GOOD_FOR_S = 2.0
# A lot is what comes free in this part of the minute, and is taken while so many lots are free.
_LOT_PART, _LOTS_FREE = 40, 4
_MOST_IN_A_LOT = 32
# A place that is used so long after it was taken counts from then; the minute has a second to spare for less.
_LATE_S = 0.25
# Who waits asks again so soon at the latest, as others may have given places back, and is known to wait for a little
# longer than that.
_ASKS_EVERY_S = 5.0
_KNOWN_FOR_S = 7
# Who keeps the budget is waited for so long.
_ANSWERS_WITHIN_S = 2.0


@dataclass(slots=True)
class Held:
    """The budget as it was stored, of whole numbers and text, None at first; and now, in seconds on a clock of all."""

    stored: dict[str, Any] | None
    at: float


class SharedMinute(Protocol):
    """The minute of one key, kept for all processes in one place."""

    def held(self) -> AbstractAsyncContextManager[Held]:
        """Nobody else reads or changes it until the block ends; what `stored` is then is kept."""
        ...


@dataclass(frozen=True, slots=True)
class _Spare:
    """A place taken ahead: until when it may be used by our clock, and what it counts as with the others."""

    until_s: float
    counted_at: float
    lane: Lane


# What others have to know: does it to the budget, given how to read a time of our clock on theirs.
_Change = Callable[[RollingBudget, Callable[[float], float]], None]


class SharedRateLimiter(RateLimiter):
    """As `RateLimiter`, with one minute for all processes that share `minute`. `owner` names this process to them."""

    def __init__(
        self, clock: Clock, minute: SharedMinute, *, owner: str, per_minute: int = DEFAULT_PER_MINUTE
    ) -> None:
        super().__init__(clock, per_minute=per_minute)
        self._minute = minute
        self._owner = owner
        self._spare: deque[_Spare] = deque()
        self._changes: list[_Change] = []
        self._asked_at = float("-inf")
        self._passing_on: set[asyncio.Task[None]] = set()

    def set_limit(self, per_minute: int) -> None:
        if per_minute != self._budget.per_minute:
            super().set_limit(per_minute)
            self._changes.append(lambda budget, _: budget.set_limit(per_minute))

    def block(self, seconds: float, lane: Lane | None = None) -> None:
        super().block(seconds, lane)
        until, lanes = self._clock.monotonic() + seconds, self._blocked_with(lane)
        self._spare.clear()
        self._changes.append(lambda budget, theirs: budget.block(theirs(until), lanes))
        self._pass_on()

    def observe(self, *, limit: int | None, remaining: int | None) -> None:
        if limit is not None:
            self.set_limit(limit)
        if remaining is None:
            return
        seen_at = self._clock.monotonic()
        self._budget.observe(remaining, seen_at)
        self._changes.append(lambda budget, theirs: budget.observe(remaining, theirs(seen_at)))
        if remaining <= 0:
            self._spare.clear()
            self._pass_on()

    async def aclose(self) -> None:
        """Let what is being passed on arrive."""
        if self._passing_on:
            await asyncio.wait(set(self._passing_on))

    async def _take(self, lane: Lane, left: float) -> Place:
        while True:
            spare = self._spare_for(lane)
            if spare is not None:
                return self._place(spare)
            try:
                taken = await self._ask(lane, at_once=left <= 0)
            except (
                Exception
            ):  # whatever keeps the budget from us: it is a courtesy, and goes on by what is known here
                log.exception("rate.not_shared", extra={"lane": lane.name})
                return await super()._take(lane, left)
            if isinstance(taken, _Spare):
                return self._place(taken)
            seconds = min(taken, left, _ASKS_EVERY_S)
            await self._clock.sleep(seconds)
            left -= seconds

    async def _ask(self, lane: Lane, *, at_once: bool) -> _Spare | float:
        """A place, perhaps with more to spare; or for how long there is none, in seconds."""
        asked_at, changes = self._clock.monotonic(), self._changes
        is_busy = asked_at < self._asked_at + LOT_GOOD_FOR_S
        self._changes = []
        try:
            async with asyncio.timeout(_ANSWERS_WITHIN_S), self._minute.held() as held:
                budget, waiting = self._read(held, changes)
                self._rest_with(budget, held.at)
                waits = (
                    0.0 if at_once else budget.wait(lane, held.at, self._ahead(lane) + _ahead(waiting, lane))
                )
                taken = [] if waits > 0 else self._taken_of(budget, lane, held.at, is_busy=is_busy)
                still_waiting = self._waiting_but(None if waits > 0 else lane)
                if still_waiting:
                    waiting[self._owner] = [int(held.at) + _KNOWN_FOR_S, still_waiting]
                held.stored = {"budget": budget.stored(), "waiting": waiting}
        except BaseException:
            self._changes = changes + self._changes
            raise
        self._asked_at = asked_at
        if not taken:
            return waits
        until_s = asked_at + LOT_GOOD_FOR_S
        first, *more = [_Spare(until_s, counted_at, lane) for counted_at in taken]
        self._spare.extend(more)
        return first

    def _read(self, held: Held, changes: list[_Change]) -> tuple[RollingBudget, dict[str, Any]]:
        """The budget with what we know and others do not, and who else waits: owner -> until when, how many by lane."""
        stored = held.stored or {}
        budget = (
            RollingBudget.of_stored(stored["budget"]) if stored else RollingBudget(self._budget.per_minute)
        )
        now = self._clock.monotonic()
        for change in changes:
            change(budget, lambda ours: held.at - (now - ours))
        waiting = {
            owner: known
            for owner, known in stored.get("waiting", {}).items()
            if owner != self._owner and known[0] > held.at
        }
        return budget, waiting

    def _rest_with(self, budget: RollingBudget, at: float) -> None:
        """What rests there rests here, so that no place that was taken ahead for another lane goes to it."""
        now = self._clock.monotonic()
        for lane in Lane:
            self._budget.block(now + budget.blocked(lane, at), [lane])

    def _taken_of(self, budget: RollingBudget, lane: Lane, at: float, *, is_busy: bool) -> list[float]:
        """When each place that is taken counts."""
        lot = min(_MOST_IN_A_LOT, budget.per_minute // _LOT_PART)
        takes_lot = is_busy and lane is not Lane.URGENT and budget.free(lane, at) >= lot * _LOTS_FREE
        ahead = as_stored(at + LOT_GOOD_FOR_S)
        taken = [as_stored(at), *([ahead] * (lot - 1) if takes_lot else [])]
        for counted_at in taken:
            budget.take(counted_at)
        return taken

    def _waiting_but(self, one: Lane | None) -> dict[str, int]:
        """How many wait here, by lane, without one of that lane."""
        found = {lane.name: waiting - (lane is one) for lane, waiting in self._waiting.items()}
        return {name: waiting for name, waiting in found.items() if waiting > 0}

    def _spare_for(self, lane: Lane) -> _Spare | None:
        """One that was taken ahead for this lane, or for one that has no larger share."""
        now = self._clock.monotonic()
        while self._spare and self._spare[0].until_s <= now:
            self._give_back(self._spare.popleft())
        if self._budget.blocked(lane, now):
            return None
        for spare in self._spare:
            if self._budget.share(spare.lane) <= self._budget.share(lane):
                self._spare.remove(spare)
                return spare
        return None

    def _give_back(self, spare: _Spare) -> None:
        self._changes.append(lambda budget, _: budget.give_back(spare.counted_at))

    def _place(self, spare: _Spare) -> Place:
        return Place(self._clock, self._budget, partial(self._used, spare))

    def _used(self, spare: _Spare, after_s: float | None) -> None:
        """Its request goes out now, so long after it was taken; None = it does not."""
        if after_s is None:
            self._give_back(spare)
        elif after_s > _LATE_S:
            at = self._clock.monotonic()
            self._changes.append(lambda budget, theirs: budget.moved(spare.counted_at, as_stored(theirs(at))))
        else:
            return
        self._pass_on()

    def _pass_on(self) -> None:
        """Let the others know now, not with the next question."""
        task = asyncio.get_running_loop().create_task(self._passed_on(), name="rate budget")
        self._passing_on.add(task)
        task.add_done_callback(self._passing_on.discard)

    async def _passed_on(self) -> None:
        changes, self._changes = self._changes, []
        if not changes:
            return
        try:
            async with asyncio.timeout(_ANSWERS_WITHIN_S), self._minute.held() as held:
                budget, waiting = self._read(held, changes)
                held.stored = {"budget": budget.stored(), "waiting": waiting}
        except Exception:  # it goes with the next question
            self._changes = changes + self._changes
            log.exception("rate.not_passed_on")


def _ahead(waiting: dict[str, Any], lane: Lane) -> int:
    """How many wait elsewhere that go before this lane."""
    return sum(count for _, lanes in waiting.values() for name, count in lanes.items() if Lane[name] < lane)
