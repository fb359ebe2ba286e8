"""The bot as a process that can be killed at any moment, started by forking one that has imported everything.

Reads one order a line from standard input, forks a bot for it, and writes what happens, one JSON object a
line: `pid`, then perhaps `ready`, `refused` or `crashed`, and `ended` with the exit code (negative = the
signal). One bot at a time. A new process is real; only the second that imports take is saved.
"""

import asyncio
import json
import logging
import os
import signal
import ssl
import sys
import traceback
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from bot import app, log, startup
from bot.cli.serving import until_signalled
from bot.cli.terminal import explain
from bot.config import Config, Settings
from bot.domain import process_roles
from bot.engine.embedded import Embedded
from bot.engine.timers import Timers
from bot.partner.ratelimit import Held
from bot.services.events import Sender
from bot.services.execution import presend_checks
from bot.services.messages import delivery
from bot.services.processes import StoredMinute
from bot.startup import Overrides
from tests.crash.planted_bugs import BUGS
from tests.crash.time_jumps import LeapingClock, LeapingTimers, Leaps

# Time leaps here, so what looks at the clock every so often has to look more often.
LOOK_EVERY_S = 0.05
READINGS_GOOD_FOR_S = 600.0


class Redirected(Sender):
    """A sender of the relay for which public names lead to ports of this machine, whose certificate it trusts.

    Given from outside, as a production bot is given none.
    """

    def __init__(self, given: dict[str, Any]) -> None:
        async def resolve(host: str) -> list[str]:
            return ["127.0.0.1"]

        self._port_of: dict[str, int] = given["ports"]
        tls = ssl.create_default_context(cafile=given["certificate"])
        ports = frozenset(self._port_of.values())
        super().__init__(resolve=resolve, denied=lambda _: False, ports=ports, tls=tls)

    async def post(self, url: str, body: bytes, headers: Mapping[str, str]) -> int:
        parts = urlsplit(url)
        host = parts.hostname or ""
        return await super().post(f"https://{host}:{self._port_of[host]}{parts.path}", body, headers)


class LeapingMinute(StoredMinute):
    """The minute of a key passes with the leaps, as it does at the card provider. By the database's clock the minute
    after a 429 would take hours here, and every approval would be over."""

    clock: LeapingClock

    @asynccontextmanager
    async def held(self) -> AsyncIterator[Held]:
        async with super().held() as held:
            held.at = self.clock.now().timestamp()
            yield held


def say(**what: Any) -> None:
    """One line, written at once and whole."""
    os.write(1, (json.dumps(what) + "\n").encode())


def crash_at(point: str, nth: int) -> Callable[[str], None]:
    """A hook that kills this process, as `kill -9` does, when it passes `point` for the nth time."""
    passed = 0

    def hook(name: str) -> None:
        nonlocal passed
        if name == point:
            passed += 1
            if passed == nth:
                say(crashed=name)
                os.kill(os.getpid(), signal.SIGKILL)

    return hook


async def run(order: dict[str, Any]) -> None:
    """Start as `countersign run` does, tell when people can act, end on a signal."""
    settings = Settings.from_env(order["env"])
    config = partial(Config.load, settings.config_path)

    clock = LeapingMinute.clock = LeapingClock(Leaps(Path(order["leaps"])))

    async def start(stack: AsyncExitStack) -> None:
        overrides = Overrides(
            clock=clock,
            timers=Timers if order["all_timers"] else partial(LeapingTimers, clock, jobs=order["jobs"]),
            crash_point=crash_at(order["point"], order["nth"]),
            lease_s=order["lease_s"],
            sender=partial(Redirected, order["relay"]) if order["relay"] else Sender,
        )
        running = await app.start(settings, config, overrides, roles=process_roles.parse(order["roles"]))
        stack.push_async_callback(running.stop)
        say(ready=running.url)

    await until_signalled(start)


def bot(order: dict[str, Any]) -> int:
    """One life of a bot; its exit code."""
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    with Path(order["log"]).open("a", buffering=1) as stream:
        os.dup2(stream.fileno(), 2)  # a traceback is read by whoever reads the log
        if order["bug"]:
            BUGS[order["bug"]]()
        log.configure("json", stream=stream, level=order["level"])
        logging.getLogger(__name__).debug("a new life, %s", order["bug"] or "as it should be")
        try:
            asyncio.run(run(order))
        except Exception as error:
            shown = explain(error)
            if shown is None:
                raise
            sentence = " ".join(shown[0])
            say(refused=sentence)
            stream.write(f"{sentence}\n")
            return int(shown[1])
    return 0


def _leave(code: int) -> None:
    """End the forked process here, so that it never goes on with its parent's work."""
    if sys.exc_info()[0] is not None:
        traceback.print_exc()
    sys.stderr.flush()
    os._exit(code)


def main() -> None:
    """Fork a bot for every order, until the orders end."""
    setattr(app, "Embedded", partial(Embedded, sweep_every_s=LOOK_EVERY_S))  # noqa: B010 - mypy knows it as a class
    setattr(startup, "StoredMinute", LeapingMinute)  # noqa: B010 - as above
    delivery.IDLE_S = LOOK_EVERY_S
    # A leap makes every reading older by seconds. How old one may be is held by tests/services/test_last_look.py.
    for limit in ("PEOPLE_GOOD_FOR_S", "_PEOPLE_SHARED_FOR_S", "FACTS_GOOD_FOR_S"):
        setattr(presend_checks, limit, READINGS_GOOD_FOR_S)
    say(forks=os.getpid())
    for line in sys.stdin:
        pid = os.fork()
        if pid == 0:
            code = 1
            try:
                code = bot(json.loads(line))
            finally:
                _leave(code)
        say(pid=pid)
        say(ended=os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))


if __name__ == "__main__":
    main()
