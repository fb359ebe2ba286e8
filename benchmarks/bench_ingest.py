"""Deliveries a second that are on disk when answered; 64 connections, 1 ms a flush. Ratios within a round."""

from __future__ import annotations

from benchmarks import Row, wanted
from benchmarks.receivers import NoSlowDisk, median, receivers, spread

FSYNC_MS = 1.0
CONNECTIONS = 64
SECONDS = 2.0
ROUNDS = 6  # the first is thrown away
WANTED_TO_SINGLE, WANTED_TO_NOWHERE = 12.0, 0.65


def measure() -> list[Row]:
    """Group commit against a commit for each delivery and against no database, taking turns."""
    try:
        return _measured()
    except NoSlowDisk as reason:
        return [Row("not measured", str(reason))]


def _measured() -> list[Row]:
    per_s: dict[str, list[float]] = {"nowhere": [], "single": [], "group": []}
    with receivers(*per_s, fsync_ms=FSYNC_MS) as running:
        for number in range(ROUNDS):
            for mode, rates in per_s.items():
                got = running.load(mode, f"r{number}", connections=CONNECTIONS, seconds=SECONDS)
                rates.append(got["per_s"])
        running.check()
    rounds = list(zip(*(rates[1:] for rates in per_s.values()), strict=True))
    to_single = [group / single for _, single, group in rounds]
    to_nowhere = [group / nowhere for nowhere, _, group in rounds]
    single_times, nowhere_times = median(to_single), median(to_nowhere)
    return [
        Row("receiver without a database", f"{median(per_s['nowhere'][1:]):.0f}/s"),
        Row("a commit for each delivery", f"{median(per_s['single'][1:]):.0f}/s"),
        Row(
            "group commit, all acknowledged events found in the table",
            f"{median(per_s['group'][1:]):.0f}/s",
            f"{single_times:.1f} times a commit each {spread(to_single)}"
            f" {wanted(single_times, at_least=WANTED_TO_SINGLE)}; {nowhere_times:.2f} of no database"
            f" {spread(to_nowhere)} {wanted(nowhere_times, at_least=WANTED_TO_NOWHERE)}",
        ),
    ]
