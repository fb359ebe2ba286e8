"""How long a delivery waits for its 200 at 300 a second, counted from the moment it was due; 5 ms a flush."""

from __future__ import annotations

from benchmarks import Row, wanted
from benchmarks.receivers import NoSlowDisk, median, receivers, spread

FSYNC_MS = 5.0
CONNECTIONS = 64
RATE = 300.0
SECONDS = 4.0
ROUNDS = 4  # the first is thrown away
WANTED_FLUSHES = {"group": 3.0, "handled": 6.0}
_NAMES = {
    "nowhere": "receiver without a database",
    "group": "group commit",
    "handled": "group commit, the events handled meanwhile",
    "single": "a commit for each delivery: cannot keep up, waits grow",
}


def measure() -> list[Row]:
    """p50 and p99 of each way, and p99 in flushes of the disk."""
    try:
        return _measured()
    except NoSlowDisk as reason:
        return [Row("not measured", str(reason))]


def _measured() -> list[Row]:
    p50: dict[str, list[float]] = {mode: [] for mode in _NAMES}
    p99: dict[str, list[float]] = {mode: [] for mode in _NAMES}
    with receivers(*_NAMES, fsync_ms=FSYNC_MS) as running:
        for number in range(ROUNDS):
            for mode in _NAMES:
                got = running.load(mode, f"r{number}", connections=CONNECTIONS, rate=RATE, seconds=SECONDS)
                p50[mode].append(got["p50_ms"])
                p99[mode].append(got["p99_ms"])
        running.check()
    return [_row(mode, name, p50[mode][1:], p99[mode][1:]) for mode, name in _NAMES.items()]


def _row(mode: str, name: str, p50: list[float], p99: list[float]) -> Row:
    flushes = [one / FSYNC_MS for one in p99]
    found = median(flushes)
    goal = f" {wanted(found, at_most=WANTED_FLUSHES[mode])}" if mode in WANTED_FLUSHES else ""
    compared = "" if mode == "nowhere" else f"p99 is {found:.1f} flushes {spread(flushes)}{goal}"
    return Row(name, f"p50 {median(p50):.1f} ms, p99 {median(p99):.1f} ms", compared)
