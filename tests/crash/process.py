"""Starting, killing and ending bots from a test. See `bot_under_test` for the other end of the pipe."""

import asyncio
import json
import os
import signal
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
START_S = 20.0


class Refused(Exception):
    """The bot would not start; the text is what it said."""


class BotProcess:
    """One bot at a time, each in a process of its own."""

    def __init__(self, server: asyncio.subprocess.Process, order: Mapping[str, Any]) -> None:
        self._server = server
        self._order = order
        self._pid: int | None = None
        self._news: dict[str, asyncio.Future[Any]] = {}
        self._reading = asyncio.create_task(self._read())
        self.starts = 0

    @property
    def pid(self) -> int | None:
        """Of the bot that was started last."""
        return self._pid

    async def start(self, *, point: str = "", nth: int = 1, wait: bool = True) -> None:
        """Start a bot that dies at the nth passing of `point`; with `wait`, until people can act.

        Raises `Refused` where it says why it does not start. A bot that dies first is no error here.
        """
        assert self._pid is None, "one bot at a time"
        loop = asyncio.get_running_loop()
        self._news = {name: loop.create_future() for name in ("pid", "ready", "refused", "crashed", "ended")}
        assert self._server.stdin is not None
        order = {**self._order, "point": point, "nth": nth}
        self._server.stdin.write((json.dumps(order) + "\n").encode())
        self._pid = await asyncio.wait_for(self._news["pid"], START_S)
        self.starts += 1
        if wait:
            await self.ready()

    async def ready(self) -> bool:
        """Until people can act; False when the bot died before that. Raises `Refused`."""
        ready, refused, ended = (self._news[name] for name in ("ready", "refused", "ended"))
        done, _ = await asyncio.wait(
            {ready, refused, ended}, timeout=START_S, return_when=asyncio.FIRST_COMPLETED
        )
        assert done, "the bot neither started nor ended"
        if refused in done:
            raise Refused(refused.result())
        return ready in done

    @property
    def url(self) -> str:
        """Where the web server of the bot that is ready answers."""
        return str(self._news["ready"].result())

    @property
    def is_up(self) -> bool:
        """Started, and not known to have ended."""
        return self._pid is not None and not self._news["ended"].done()

    async def kill(self) -> None:
        """`kill -9`, wherever it is."""
        code = await self._end(signal.SIGKILL)
        assert code == -signal.SIGKILL, f"the bot had ended with {code} before it was killed"

    async def terminate(self) -> int:
        """SIGTERM, as a supervisor does; the exit code."""
        return await self._end(signal.SIGTERM)

    def stand_still(self) -> None:
        """As a machine that is frozen: it holds what it holds, and does nothing."""
        assert self._pid is not None, "no bot runs"
        os.kill(self._pid, signal.SIGSTOP)

    def go_on(self) -> None:
        """From where it stood still."""
        assert self._pid is not None, "no bot runs"
        os.kill(self._pid, signal.SIGCONT)

    def ended_after_sigterm_s(self) -> float:
        """SIGTERM, and how long it takes to end while nothing in this process is answered: it only waits."""
        assert self._pid is not None, "no bot runs"
        began = time.monotonic()
        os.kill(self._pid, signal.SIGTERM)
        while _runs(self._pid) and time.monotonic() - began < START_S:
            time.sleep(0.02)
        return time.monotonic() - began

    async def died(self, timeout_s: float) -> str | None:
        """Wait for a crash at its named point: the point, or None if the time passed without one."""
        try:
            await asyncio.wait_for(asyncio.shield(self._news["ended"]), timeout_s)
        except TimeoutError:
            return None
        assert self._news["crashed"].done(), f"the bot ended by itself with {self._news['ended'].result()}"
        self._pid = None
        return str(self._news["crashed"].result())

    async def exit_code(self) -> int:
        """Of a bot that ends by itself."""
        return await self._end(None)

    async def _end(self, number: signal.Signals | None) -> int:
        assert self._pid is not None, "no bot runs"
        if number is not None and not self._news["ended"].done():
            os.kill(self._pid, number)
        code: int = await asyncio.wait_for(asyncio.shield(self._news["ended"]), START_S)
        self._pid = None
        return code

    async def _read(self) -> None:
        assert self._server.stdout is not None
        async for line in self._server.stdout:
            for name, what in json.loads(line).items():
                if name in self._news and not self._news[name].done():
                    self._news[name].set_result(what)

    async def sibling(self, **changed: Any) -> "BotProcess":
        """Another bot under the same orders, but for those `changed`, to run beside this one. The caller closes it."""
        return await open_process({**self._order, **changed})

    async def close(self) -> None:
        """End the bot and what it was forked from."""
        if self.is_up:
            await self._end(signal.SIGKILL)
        assert self._server.stdin is not None
        self._server.stdin.close()
        await self._server.wait()
        await self._reading


def _runs(pid: int) -> bool:
    """It exists, and is more than what its parent has not noticed the end of."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


async def open_process(order: Mapping[str, Any]) -> BotProcess:
    """Orders: `env`, `leaps`, `lease_s`, `bug`, `log`, `level`, as `bot_under_test` reads them."""
    server = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.crash.bot_under_test",
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)},
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    assert server.stdout is not None
    assert await server.stdout.readline(), "the bot cannot be imported: see above"
    return BotProcess(server, order)
