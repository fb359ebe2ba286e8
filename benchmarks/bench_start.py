"""How long the command and the demo take to start, and what the demo weighs; the floor is Bolt's import."""

from __future__ import annotations

import asyncio
import os
import resource
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from asyncio.subprocess import Process
from contextlib import suppress
from pathlib import Path
from urllib.request import urlopen

import aiohttp
import psutil

from benchmarks import Row, wanted
from tests.crash.outside import outside
from tests.support.ports import free_ports

ROOT = Path(__file__).parents[1]
ROUNDS = 5
BOLT = "import slack_bolt.app.async_app"
BOT = "import bot.app"


def measure() -> list[Row]:
    """Medians over some rounds, bytecode compiled as pip does it when it installs; ratios within a round."""
    with tempfile.TemporaryDirectory() as bytecode:
        return _measured({**os.environ, "PYTHONPYCACHEPREFIX": bytecode, "PYTHONDONTWRITEBYTECODE": ""})


def _measured(environ: dict[str, str]) -> list[Row]:
    rounds = [[processor_s(way, environ) for way in (BOLT, BOT)] for _ in range(ROUNDS + 1)][1:]
    bolt, bot = (statistics.median(times) for times in zip(*rounds, strict=True))
    times = statistics.median(one[1] / one[0] for one in rounds)
    help_s, version_s = _median("--help", environ), _median("--version", environ)
    ready_s, memory_mb = _demo(environ)
    run_s, import_s = asyncio.run(_run(environ))
    return [
        Row("import slack_bolt.app.async_app", f"{bolt:.2f} s of processor time"),
        Row(
            "import bot.app",
            f"{bot:.2f} s of processor time",
            f"{times:.1f} times Bolt alone {wanted(times, at_most=2.5)}",
        ),
        Row("countersign --help", f"{help_s:.2f} s", wanted(help_s, at_most=0.5, unit=" s")),
        Row("countersign --version", f"{version_s:.2f} s", wanted(version_s, at_most=0.5, unit=" s")),
        Row(
            "countersign demo --fresh, until the page answers",
            f"{ready_s:.2f} s",
            wanted(ready_s, at_most=5, unit=" s"),
        ),
        Row(
            "countersign run beside a local Slack and API, until it is ready",
            f"{run_s:.2f} s",
            f"{run_s / import_s:.1f} times the import of Bolt, {import_s:.2f} s"
            f" {wanted(run_s / import_s, at_most=5)}",
        ),
        Row("memory of the demo, sandbox included", f"{memory_mb:.0f} MB"),
    ]


async def _run(environ: dict[str, str]) -> tuple[float, float]:
    """Seconds until `countersign run` is ready, and of Bolt's import; medians of rounds in turn."""
    taken: list[tuple[float, float]] = []
    for _ in range(ROUNDS):
        with tempfile.TemporaryDirectory() as folder:
            async with outside(Path(folder)) as world:
                port = free_ports(1)
                settings = {**environ, **world.env, "PYTHONPATH": str(ROOT)}
                settings["COUNTERSIGN_HTTP_BIND"] = f"127.0.0.1:{port}"
                ready_s = await _ready(settings, folder, f"http://127.0.0.1:{port}/readyz")
                before = time.perf_counter()
                await (await _python(environ, "-c", BOLT)).wait()
                taken.append((ready_s, time.perf_counter() - before))
    run_s, import_s = (statistics.median(times) for times in zip(*taken, strict=True))
    return run_s, import_s


async def _python(environ: dict[str, str], *words: str, folder: str | Path = ROOT) -> Process:
    return await asyncio.create_subprocess_exec(
        sys.executable, *words, cwd=folder, env=environ, stderr=asyncio.subprocess.DEVNULL
    )


async def _ready(environ: dict[str, str], folder: str, address: str) -> float:
    """Seconds until it says so; it is ended then."""
    before = time.perf_counter()
    process = await _python(environ, "-m", "bot", "run", folder=folder)
    try:
        async with aiohttp.ClientSession() as session:
            while True:
                if process.returncode is not None:
                    raise RuntimeError(f"countersign run ended with {process.returncode}")
                with suppress(aiohttp.ClientError):
                    async with session.get(address) as answer:
                        if answer.status == 200:
                            return time.perf_counter() - before
                await asyncio.sleep(0.01)
    finally:
        if process.returncode is None:
            process.terminate()
            await process.wait()


def processor_s(code: str, environ: dict[str, str]) -> float:
    """Seconds of processor time of a process that runs this: they say the same on a busy machine."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=environ, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _median(option: str, environ: dict[str, str]) -> float:
    times = []
    for _ in range(ROUNDS):
        before = time.perf_counter()
        command = [sys.executable, "-m", "bot", option]
        subprocess.run(command, cwd=ROOT, env=environ, check=True, stdout=subprocess.DEVNULL)
        times.append(time.perf_counter() - before)
    return statistics.median(times)


def _demo(environ: dict[str, str]) -> tuple[float, float]:
    """Seconds from the command to the printed address with the page answering, and resident megabytes."""
    port = free_ports(4)
    with tempfile.TemporaryDirectory() as folder:
        before = time.perf_counter()
        with subprocess.Popen(
            [sys.executable, "-m", "bot", "demo", "--fresh", "--port", str(port)],
            cwd=folder,
            env={**environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"},
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
