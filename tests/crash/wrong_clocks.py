"""Clocks of machines that are wrong: each bot has its own, set by libfaketime while it works.

Its wall clock alone is wrong, as after a bad time server; what measures how long something takes goes on as it does.
"""

from __future__ import annotations

from pathlib import Path

LIBRARY = next(iter(sorted(Path("/usr/lib").glob("*/faketime/libfaketime.so.1"))), None)
# A process reads the file again after so long.
SEEN_WITHIN_S = 1


class MachineClock:
    """The clock of one machine, in a file that its processes read."""

    def __init__(self, path: Path) -> None:
        """It is right to begin with."""
        self._path = path
        self.set_wrong_by(0)

    @property
    def environment(self) -> dict[str, str]:
        """What a process needs to go by it, from its start on."""
        assert LIBRARY is not None, "libfaketime is not here; apt has it"
        return {
            "LD_PRELOAD": str(LIBRARY),
            "FAKETIME_TIMESTAMP_FILE": str(self._path),
            "FAKETIME_CACHE_DURATION": str(SEEN_WITHIN_S),
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        }

    def set_wrong_by(self, seconds: int) -> None:
        """Ahead of the true time by so much, or behind it. Each reader sees the old file or the new one."""
        new = self._path.with_suffix(".new")
        new.write_text(f"{seconds:+d}\n")
        new.replace(self._path)
