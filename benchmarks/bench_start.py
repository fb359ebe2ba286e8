"""How long the command and the demo take to start, and what the demo weighs; the floor is Bolt's import."""

from __future__ import annotations

import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from urllib.request import urlopen

import psutil

from benchmarks import Row
from tests.support.ports import free_ports

ROOT = Path(__file__).parents[1]
ROUNDS = 5


def measure() -> list[Row]:
    """Medians over some rounds, bytecode compiled."""
    bolt = _median("-c", "import slack_bolt.app.async_app")
    bot = _median("-c", "import bot.app")
    help_s = _median("-m", "bot", "--help")
    ready_s, memory_mb = _demo()
    return [
        Row("import slack_bolt.app.async_app", f"{bolt:.2f} s"),
        Row("import bot.app", f"{bot:.2f} s", f"{bot / bolt:.1f} times Bolt alone"),
        Row("countersign --help", f"{help_s:.2f} s", "wanted: under 0.5 s"),
        Row("countersign demo --fresh, until the page answers", f"{ready_s:.2f} s", "wanted: under 5 s"),
        Row("memory of the demo, sandbox included", f"{memory_mb:.0f} MB"),
    ]


def _median(*arguments: str) -> float:
    times = []
    for _ in range(ROUNDS):
        before = time.perf_counter()
        subprocess.run([sys.executable, *arguments], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
        times.append(time.perf_counter() - before)
    return statistics.median(times)


def _demo() -> tuple[float, float]:
    """Seconds from the command to the printed address with the page answering, and resident megabytes."""
    port = free_ports(4)
    with tempfile.TemporaryDirectory() as folder:
        before = time.perf_counter()
        with subprocess.Popen(
            [sys.executable, "-m", "bot", "demo", "--fresh", "--port", str(port)],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"},
            stdout=subprocess.PIPE,
            text=True,
        ) as demo:
            assert demo.stdout is not None
            for line in demo.stdout:
                if f"127.0.0.1:{port}" in line:
                    break
            urlopen(f"http://127.0.0.1:{port}/", timeout=5).close()
            ready_s = time.perf_counter() - before
            memory_mb = psutil.Process(demo.pid).memory_info().rss / 1024 / 1024
            demo.send_signal(signal.SIGTERM)
            demo.stdout.read()
    return ready_s, memory_mb
