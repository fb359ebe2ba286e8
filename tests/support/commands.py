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
# The largest memory of a process counts that of whoever started it, until it begins: so a small one starts it, and says
# as its last line what it took.
_STARTS = """
import resource, subprocess, sys
ended = subprocess.run(sys.argv[1:]).returncode
took = resource.getrusage(resource.RUSAGE_CHILDREN)
print(took.ru_utime + took.ru_stime, took.ru_maxrss, flush=True)
sys.exit(ended)
"""


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
    command = [sys.executable, "-c", _STARTS, sys.executable, "-m", "bot", *words]
    ended = subprocess.run(command, cwd=_ROOT, env=env, stdout=subprocess.PIPE, text=True, check=False)
    took_s = time.perf_counter() - begun_s
    assert ended.returncode == 0, ended.stdout
    said, _, used = ended.stdout.rstrip("\n").rpartition("\n")
    cpu_s, most_kb = used.split()
    return Ran(said, took_s, float(cpu_s), float(most_kb) / 1e3)
