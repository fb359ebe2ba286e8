"""The simulator's clock: real time with an offset, or frozen. Every stamp and timer follows it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Literal

from sandbox.partner import codec
from sandbox.partner.state.store import Store

Mode = Literal["realtime", "frozen"]


def system_now() -> datetime:
    """The machine's time, aware UTC."""
    return datetime.now(UTC)


class Clock:
    """Kept in the store, so that a restart goes on from the same time."""

    def __init__(self, store: Store, real_now: Callable[[], datetime] = system_now) -> None:
        self._store = store
        self._real_now = real_now
        self._pinned: datetime | None = None
        self._mode: Mode = "frozen" if store.note("clock_mode") == "frozen" else "realtime"
        self._offset = timedelta(microseconds=int(store.note("clock_offset_us") or 0))
        frozen_at = store.note("clock_frozen_at")
        self._frozen_at = codec.moment(frozen_at) if frozen_at else real_now()

    @property
    def mode(self) -> Mode:
        """Whether the clock runs or stands still."""
        return self._mode

    def now(self) -> datetime:
        """Aware UTC, in whole milliseconds (the precision of the API's stamps)."""
        if self._pinned is not None:
            return self._pinned
        moment = self._frozen_at if self._mode == "frozen" else self._real_now() + self._offset
        return moment.replace(microsecond=moment.microsecond // 1000 * 1000)

    def change(self, mode: Mode | None, to: datetime | None, by: timedelta | None) -> None:
        """Switch mode, then set, then advance; what is None stays."""
        now = (to or self.now()) + (by or timedelta(0))
        self._mode = mode or self._mode
        self._frozen_at = now
        self._offset = now - self._real_now() if (to or by or mode == "realtime") else self._offset
        self._store.keep("clock_mode", self._mode)
        self._store.keep("clock_frozen_at", now.isoformat())
        self._store.keep("clock_offset_us", str(self._offset // timedelta(microseconds=1)))

    def restart(self) -> None:
        """Real time again, as at the first start."""
        self._mode, self._offset, self._frozen_at = "realtime", timedelta(0), self._real_now()
        for name in ("clock_mode", "clock_frozen_at", "clock_offset_us"):
            self._store.run("DELETE FROM notes WHERE name = ?", name)

    @property
    def real_now(self) -> datetime:
        """The machine's time, whatever this clock says."""
        return self._real_now()

    @contextlib.contextmanager
    def at(self, moment: datetime) -> Iterator[None]:
        """Run a timer at the moment it was due, however late it runs."""
        before, self._pinned = self._pinned, moment
        try:
            yield
        finally:
            self._pinned = before
