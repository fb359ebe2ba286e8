"""The command in a process of its own, with what it costs."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from tests.support.world import MASTER, World

_ROOT = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True)
class Ran:
    """What it said; how long it took, by the clock and of the processor, in seconds; its largest memory in MB."""

    said: str
    took_s: float
    cpu_s: float
    most_mb: float


def as_a_command(world: World, *words: str) -> Ran:
    """`countersign` with these words, on the database of this world. It has to end well."""
    env = {
        "PATH": os.environ["PATH"],
        "COUNTERSIGN_DATABASE_URL": f"sqlite:///{world.database}",
        "COUNTERSIGN_MASTER_KEYS": MASTER,
    }
    begun_s = time.perf_counter()
    command = [sys.executable, "-m", "bot", *words]
    process = subprocess.Popen(command, cwd=_ROOT, env=env, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    with process.stdout as out:
        said = out.read()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, said
    took_s = time.perf_counter() - begun_s
    return Ran(said, took_s, used.ru_utime + used.ru_stime, used.ru_maxrss / 1e3)
