"""An event loop of one thread without sockets: its clock moves only when it is told, the seed says what runs next.

Every task belongs to an `Owner` (a process of the bot, or the world around it). A process that is killed never runs
again: what it had ready or waiting is thrown away, without a `finally`, as by `kill -9`.
"""

from __future__ import annotations

import asyncio
import heapq
import random
from asyncio import events
from collections.abc import Callable, Coroutine
from contextvars import Context, ContextVar, copy_context
from typing import Any

# A run that handles so many callbacks without the clock moving turns in circles.
MOST_AT_ONE_TIME = 2_500


class Owner:
    """A process, or the world. `alive` turns False once and for all."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.alive = True
        self.stands_still_until = float("-inf")  # as after SIGSTOP; nothing of it runs before
        self.tasks: list[asyncio.Task[Any]] = []
        self.context: Context = copy_context()
        self.context.run(OWNER.set, self)

    def __repr__(self) -> str:
        return self.name


OWNER: ContextVar[Owner | None] = ContextVar("owner", default=None)


class Stuck(RuntimeError):
    """The simulated program runs in circles: the clock does not move any more."""


class _Handle(events.Handle):
    """A callback, without the base class's questions to the loop: they are most of what one costs here."""

    __slots__ = ()

    def __init__(self, callback: Any, args: Any, loop: Any, context: Context | None) -> None:
        self._context = copy_context() if context is None else context
        self._loop, self._callback, self._args = loop, callback, args
        self._cancelled, self._repr, self._source_traceback = False, None, None

    def cancel(self) -> None:
        self._cancelled, self._callback, self._args = True, None, ()  # what they hold is let go


class _Alarm(events.TimerHandle):
    """The same, for later."""

    __slots__ = ()
    __init__ = _Handle.__init__
    cancel = _Handle.cancel


class SimulatedLoop(asyncio.BaseEventLoop):
    """See the head of this file. `choice` draws which of the ready callbacks runs; None keeps their order."""

    def __init__(self, choice: random.Random | None) -> None:
        super().__init__()
        self._scheduled: Any  # (seconds, alarm): compared by the first of them
        self._ready: Any = []  # a list instead of a deque: any place of it is taken
        self.choice = choice
        self.seconds = 0.0
        self._nobody = Context()
        self.handled = 0
        self.errors: list[dict[str, Any]] = []
        self.before_each: Callable[[], None] | None = None
        self.set_exception_handler(lambda _loop, context: self.errors.append(context))

    def time(self) -> float:
        """Seconds since this loop was made."""
        return self.seconds

    def call_soon(  # type: ignore[override]
        self, callback: Any, *args: Any, context: Context | None = None
    ) -> events.Handle:
        handle = _Handle(callback, args, self, context)
        self._ready.append(handle)
        return handle

    def call_at(  # type: ignore[override]
        self, when: float, callback: Any, *args: Any, context: Context | None = None
    ) -> events.TimerHandle:
        alarm: Any = _Alarm(callback, args, self, context)
        alarm._when = when
        heapq.heappush(self._scheduled, (when, alarm))
        made: events.TimerHandle = alarm
        return made

    def call_later(  # type: ignore[override]
        self, delay: float, callback: Any, *args: Any, context: Context | None = None
    ) -> events.TimerHandle:
        return self.call_at(self.seconds + delay, callback, *args, context=context)

    def spawn(
        self, owner: Owner, work: Coroutine[Any, Any, Any], name: str | None = None
    ) -> asyncio.Task[Any]:
        """Start a task that belongs to `owner`, from outside the loop or from anybody's task."""
        task = self.create_task(work, name=name, context=owner.context.copy())
        task._log_destroy_pending = False  # type: ignore[attr-defined]  # those of the killed are never awaited
        owner.tasks.append(task)
        return task

    def create_task(self, coro: Any, **more: Any) -> asyncio.Task[Any]:
        task = super().create_task(coro, **more)
        task._log_destroy_pending = False  # type: ignore[attr-defined]
        return task

    def run_in_executor(  # type: ignore[override]
        self, executor: Any, func: Callable[..., Any], *args: Any
    ) -> asyncio.Future[Any]:
        """There are no threads: it runs in this one, a little later."""
        done = self.create_future()

        def run() -> None:
            if done.cancelled():
                return
            try:
                result = func(*args)
            except Exception as error:  # noqa: BLE001 - handed to whoever awaits it
                done.set_exception(error)
            else:
                done.set_result(result)

        self.call_soon(run)
        return done

    def drive(self, until: float, *, leap: Callable[[], float] | None = None, most: int | None = None) -> int:
        """Run what is ready, moving the clock on to `until` at most; returns how many callbacks ran.

        `leap` says by how many seconds at least the clock jumps when nothing is ready, as on a machine that
        stood still; `most` ends the drive after so many callbacks, in the middle of everything.
        """
        ran = at_one_time = 0
        before = events._get_running_loop()
        events._set_running_loop(self)
        try:
            while most is None or ran < most:
                if not self._ready:
                    at_one_time = 0
                    if not self._move_on(until, leap):
                        break
                    continue
                handle = self._take()
                ran += 1
                at_one_time += 1
                if at_one_time > MOST_AT_ONE_TIME:
                    raise Stuck(f"{MOST_AT_ONE_TIME} callbacks at {self.seconds:.3f} s: {handle!r}")
                if handle._cancelled:
                    continue
                owner = handle._context.get(OWNER)
                if owner is not None and (not owner.alive or self._held(owner, handle)):
                    continue
                if self.before_each is not None:
                    self.before_each()
                handle._run()
        finally:
            events._set_running_loop(before)
            self.handled += ran
        return ran

    def idle(self) -> bool:
        """Nothing is ready: everybody waits for the clock, or for somebody else."""
        return not self._ready

    def forget(self) -> None:
        """Throw away everything at the end of a run; nothing of it runs any more."""
        self._ready.clear()
        self._scheduled.clear()

    def __del__(self) -> None:
        """Nothing is open, so there is nothing to complain of."""

    def _take(self) -> Any:
        ready = self._ready
        if self.choice is None or len(ready) == 1:
            return ready.pop(0)
        place = self.choice._randbelow(len(ready))  # type: ignore[attr-defined] # as randrange, which asks more
        handle = ready[place]
        ready[place] = ready[-1]
        ready.pop()
        return handle

    def _held(self, owner: Owner, handle: Any) -> bool:
        """Of a process that stands still: put off until it goes on."""
        if owner.stands_still_until <= self.seconds:
            return False
        self.call_at(owner.stands_still_until, handle._run, context=self._nobody)
        return True

    def _move_on(self, until: float, leap: Callable[[], float] | None) -> bool:
        """To the next alarm, or further by a leap; False when `until` comes first."""
        scheduled = self._scheduled
        while scheduled and (scheduled[0][1]._cancelled or not _alive(scheduled[0][1])):
            heapq.heappop(scheduled)
        if not scheduled or scheduled[0][0] > until:
            self.seconds = max(self.seconds, until)
            return False
        at = max(self.seconds, scheduled[0][0])
        if leap is not None:
            at = min(until, max(at, self.seconds + leap()))
        self.seconds = at
        while scheduled and scheduled[0][0] <= self.seconds:
            self._ready.append(heapq.heappop(scheduled)[1])
        return True

    # What the base class asks of a loop with a selector.
    def _process_events(self, event_list: Any) -> None: ...

    def _write_to_self(self) -> None: ...


def _alive(handle: Any) -> bool:
    owner = handle._context.get(OWNER)
    return owner is None or owner.alive
