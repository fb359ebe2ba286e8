"""`countersign demo` as a process of its own, for tests that use it as a newcomer would."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any

import httpx

from tests.support.ports import free_ports

ROOT = Path(__file__).parents[2]
# Twice what is promised, so that a slow start fails with its figure and not with a timeout.
PATIENCE_S = 10
#: The page, the simulator, the bot and its metrics, one beside the other.
PORTS = 4
_ADDRESS = re.compile(r"http://127\.0\.0\.1:\d+")

Json = dict[str, Any]


@dataclass
class Demo:
    """A running demo. `ready_s`: from the command's start to the printed address with its page answering."""

    process: Process
    url: str
    partner_url: str
    said: str
    ready_s: float

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])

    async def slack(self, call: str, body: Json | None = None, **query: str) -> Json:
        """A control call of the Slack stand-in: POST with a body, else GET."""
        return await _control(self.url, call, body, query)

    async def partner(self, call: str, body: Json | None = None) -> Json:
        """The same of the Partner API simulator."""
        return await _control(self.partner_url, call, body, {})

    async def end(self, number: signal.Signals = signal.SIGINT) -> float:
        """Ctrl-C; how many seconds it took. The demo must end with 0 and without a word of complaint."""
        began = monotonic()
        self.process.send_signal(number)
        async with asyncio.timeout(2 * PATIENCE_S):
            _, complaint = await self.process.communicate()
        assert self.process.returncode == 0, complaint.decode()
        assert complaint == b"", complaint.decode()
        return monotonic() - began


async def _control(url: str, call: str, body: Json | None, query: dict[str, str]) -> Json:
    async with httpx.AsyncClient(base_url=url, trust_env=False, verify=False) as http:
        address = f"/_control/{call}"
        answer = await (http.get(address, params=query) if body is None else http.post(address, json=body))
    assert answer.status_code == 200, answer.text
    found: Json = answer.json()
    return found


async def spawn(folder: Path, *words: str, zone: str = "") -> Process:
    """`countersign demo …` with its state under `folder`, and none of the settings of this machine.

    `zone`: the time zone of the machine, where it is not the one that it has.
    """
    env = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    if zone:
        env["TZ"] = zone
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "bot", "demo", *words),
        cwd=folder,
        env={**env, "PYTHONPATH": str(ROOT)},
        stdout=PIPE,
        stderr=PIPE,
    )


async def start(folder: Path, port: int, zone: str = "", *words: str) -> Demo:
    """Start it and wait for the address it prints, and for the page there."""
    began = monotonic()
    process = await spawn(folder, "--port", str(port), *words, zone=zone)
    try:
        async with asyncio.timeout(PATIENCE_S):
            said = await _greeting(process)
            url, partner_url = _ADDRESS.findall(said)
            await _page(url)
    except BaseException:
        await kill(process)
        raise
    return Demo(process, url, partner_url, said, monotonic() - began)


async def _greeting(process: Process) -> str:
    """What is printed until everything is named; the last line tells how to end it."""
    assert process.stdout is not None
    assert process.stderr is not None
    said = ""
    while "Ctrl-C" not in said:
        line = await process.stdout.readline()
        assert line, (await process.stderr.read()).decode()
        said += line.decode()
    return said


async def _page(url: str) -> None:
    async with httpx.AsyncClient(trust_env=False, verify=False) as http:
        answer = await http.get(url)
    assert answer.status_code == 200
    assert "<title>" in answer.text


async def kill(process: Process) -> None:
    """End it the hard way, if it still runs."""
    if process.returncode is None:
        process.kill()
        await process.communicate()


async def refused(folder: Path, *words: str) -> str:
    """What a demo says that does not start, which must be an error a person can read, and soon."""
    process = await spawn(folder, *words)
    try:
        async with asyncio.timeout(PATIENCE_S):
            said, complaint = await process.communicate()
    finally:
        await kill(process)
    assert (process.returncode, said) == (2, b""), complaint.decode()
    assert b"Traceback" not in complaint
    return complaint.decode()


@asynccontextmanager
async def running_demo(
    folder: Path, port: int | None = None, zone: str = "", words: Sequence[str] = ()
) -> AsyncIterator[Demo]:
    """A demo of its own under `folder`, started with `words`, gone at the end however the test went."""
    demo = await start(folder, port or free_ports(PORTS), zone, *words)
    try:
        yield demo
    finally:
        await kill(demo.process)
