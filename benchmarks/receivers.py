"""Receivers and their load for the benchmarks of ingest: started on tmpfs behind a disk of fixed slowness."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
ROOT = FOLDER.parent
TMPFS = Path("/dev/shm")
# One commit on a fresh database in `sys.argv[1]`, timed; the least of ten, in milliseconds.
_PROBE = """
import sqlite3, sys, time
db = sqlite3.connect(sys.argv[1], isolation_level=None)
db.execute("PRAGMA journal_mode=WAL"), db.execute("PRAGMA synchronous=FULL"), db.execute("CREATE TABLE t (x)")
def commit():
    before = time.perf_counter()
    db.execute("INSERT INTO t VALUES (1)")
    return (time.perf_counter() - before) * 1000
print(min(commit() for _ in range(10)))
"""


class NotMeasured(RuntimeError):
    """The run does not measure what it says; the text tells why."""


class NoSlowDisk(NotMeasured):
    """This machine cannot make the slow disk: no compiler, no memory file system."""


class Receivers:
    """Receivers of several modes, one process each, all behind the same slow disk."""

    def __init__(self, folder: Path, urls: dict[str, str]) -> None:
        self._folder = folder
        self._urls = urls
        self._acknowledged = dict.fromkeys(urls, 0)

    def load(
        self, mode: str, name: str, *, connections: int, rate: float = 0, seconds: float
    ) -> dict[str, Any]:
        """What one load got from this receiver; every delivery of it must have been taken."""
        words = [self._urls[mode], name, *map(str, (connections, rate, seconds))]
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks.deliveries", *words],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
        result: dict[str, Any] = json.loads(done.stdout)
        if result["wrong"] or result["exhausted"] or not result["answered"]:
            raise NotMeasured(f"{mode}: {result}")
        self._acknowledged[mode] += result["answered"]
        return result

    def check(self) -> None:
        """Every acknowledged event is in the database, and no other. Raises NotMeasured."""
        for mode, acknowledged in self._acknowledged.items():
            with sqlite3.connect(self._folder / f"{mode}.db") as connection:
                (stored,) = connection.execute("SELECT count(*) FROM inbox").fetchone()
            connection.close()
            if stored != (0 if mode == "nowhere" else acknowledged):
                raise NotMeasured(f"{mode}: {acknowledged} acknowledged, {stored} stored")


@contextmanager
def receivers(*modes: str, fsync_ms: float) -> Iterator[Receivers]:
    """Receivers of these modes; `fsync_ms` is added to each flush. Raises NotMeasured where that is not so."""
    if not TMPFS.is_dir():
        raise NoSlowDisk(f"there is no {TMPFS}, a disk that takes no time of its own")
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=TMPFS)))
        env = _slow_disk(folder, fsync_ms)
        urls = {mode: stack.enter_context(_receiver(mode, folder, env)) for mode in modes}
        yield Receivers(folder, urls)


def _slow_disk(folder: Path, fsync_ms: float) -> dict[str, str]:
    """The environment in which every flush takes that long, proved by a commit in it."""
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        raise NoSlowDisk("no C compiler is there to build the slow disk with")
    library = folder / "slowsync.so"
    source = str(FOLDER / "slowsync.c")
    subprocess.run([compiler, "-shared", "-fPIC", "-O2", "-o", str(library), source, "-ldl"], check=True)
    env = {**os.environ, "LD_PRELOAD": str(library), "SLOWSYNC_US": str(int(fsync_ms * 1000))}
    probe = [sys.executable, "-c", _PROBE, str(folder / "probe.db")]
    took_ms = float(subprocess.run(probe, env=env, capture_output=True, text=True, check=True).stdout)
    if took_ms < fsync_ms:
        raise NotMeasured(f"a commit took {took_ms:.2f} ms: the disk is not slowed to {fsync_ms:g} ms")
    return env


@contextmanager
def _receiver(mode: str, folder: Path, env: dict[str, str]) -> Iterator[str]:
    command = [sys.executable, "-m", "benchmarks.receiver", mode, str(folder)]
    with subprocess.Popen(command, cwd=ROOT, env=env, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            url = process.stdout.readline().strip()
            if not url:
                raise NotMeasured(f"the receiver {mode} did not start")
            yield url
        finally:
            process.terminate()


def spread(values: list[float]) -> str:
    """The least and the most of the rounds."""
    return f"[{min(values):.2f}–{max(values):.2f}]"


def median(values: list[float]) -> float:
    return statistics.median(values)
