"""What this process has counted since its start, for whoever watches it from outside: calls, executions, acks.

Calls are parts of traces, too, where somebody collects them.

Nothing here names a person, a request or a card. What the database can tell is not counted here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import accumulate

from bot.domain.time import Clock
from bot.services.traces import Traces

#: Upper bounds in seconds: Slack wants an ack within 3, a change at the API may take more than a minute.
ACK_BOUNDS_S = (0.05, 0.1, 0.3, 1.0, 3.0)
CALL_BOUNDS_S = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 90.0)
_MOST_ALERTS = 1_000
# An HTTP status from here on.
_REFUSED = 400


class Durations:
    """How many took how long. `bounds_s` are upper bounds in seconds, the least first."""

    def __init__(self, bounds_s: Sequence[float]) -> None:
        self.bounds_s = tuple(bounds_s)
        self.total_s = 0.0
        self._counts = [0] * (len(self.bounds_s) + 1)

    def add(self, seconds: float) -> None:
        """Count one."""
        place = next((n for n, bound in enumerate(self.bounds_s) if seconds <= bound), len(self.bounds_s))
        self._counts[place] += 1
        self.total_s += seconds

    @property
    def up_to(self) -> Sequence[int]:
        """How many took no longer than each bound, and last how many there were."""
        return list(accumulate(self._counts))


class Readings:
    """For how long accounts were not read, whatever happened to the clock meanwhile."""

    def __init__(self) -> None:
        self._seen: dict[str, tuple[datetime, float, float]] = {}

    def age_s(self, program: str, read_at: datetime, clock: Clock) -> float:
        """Seconds since the reading that was dated so. What is seen first is as old as its date says, and never of a
        time before the last look at another one."""
        now_s = clock.monotonic()
        known = self._seen.get(program)
        if known is not None and known[0] == read_at:
            began_s = known[1]
        else:
            by_date_s = max(0.0, (clock.now() - read_at).total_seconds())
            began_s = now_s - by_date_s if known is None else max(now_s - by_date_s, known[2])
        self._seen[program] = read_at, began_s, now_s
        return now_s - began_s


@dataclass(slots=True)
class Measures:
    """One in a process."""

    executions: Counter[str] = field(default_factory=Counter)  # by finding
    calls: Counter[tuple[str, str]] = field(default_factory=Counter)  # by operation and status
    call_times: dict[str, Durations] = field(default_factory=dict)  # by operation
    acks: dict[str, Durations] = field(default_factory=dict)  # by kind of interaction
    traces: Traces = field(default_factory=Traces)
    readings: Readings = field(default_factory=Readings)
    alerts_raised_s: dict[str, float] = field(default_factory=dict)
    """When this process raised the newest ones, by id, on the monotonic clock; without those that it ended."""
    chain_checked_to: int = 0
    """The last entry of the audit chain when it was found whole last; 0 before that."""
    chain_checked_at_s: float | None = None
    """When that was, on the monotonic clock."""

    def executed(self, finding: str) -> None:
        """An execution came to this."""
        self.executions[finding] += 1

    def called(self, operation: str, status: int | None, seconds: float) -> None:
        """The API was called. `status`: None where nothing came back."""
        self.calls[operation, "none" if status is None else str(status)] += 1
        self.call_times.setdefault(operation, Durations(CALL_BOUNDS_S)).add(seconds)
        failed = status is None or status >= _REFUSED
        self.traces.took(operation, seconds, failed=failed, **({"status": status} if status else {}))

    def raised(self, alert_id: str, now_s: float) -> None:
        """This process raised an alert. Others may end it, so that the oldest are forgotten."""
        self.alerts_raised_s[alert_id] = now_s
        if len(self.alerts_raised_s) > _MOST_ALERTS:
            del self.alerts_raised_s[next(iter(self.alerts_raised_s))]

    def acked(self, kind: str, seconds: float) -> None:
        """Slack has our answer to a command, a button, a form or an event."""
        self.acks.setdefault(kind, Durations(ACK_BOUNDS_S)).add(seconds)
        self.traces.acked()
