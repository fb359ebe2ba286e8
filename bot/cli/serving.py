"""Signals and clean shutdown, in one place for every command that keeps running or has something to clear up.

The first SIGINT or SIGTERM ends everything in the reverse order of its start; a second one ends it at once, as the help
of `countersign run` says. Both are safe: what was under way goes on at the next start.
"""

from __future__ import annotations

import asyncio
import errno
import signal
from collections.abc import Callable, Coroutine
from contextlib import AsyncExitStack
from typing import Any

from bot.cli.terminal import ExitCode, Mistake

# Below the ten seconds after which Docker and most supervisors send SIGKILL.
SHUTDOWN_S = 9.5
_TERMINATED = "SIGTERM"


def run(work: Coroutine[Any, Any, None]) -> None:
    """Run `work` to its end in a fresh event loop."""
    asyncio.run(work)


def run_until_terminated(work: Coroutine[Any, Any, None]) -> None:
    """The same of a command that ends by itself: SIGTERM ends it as an error does, so that it leaves nothing
    unfinished. A second one ends it at once."""
    asyncio.run(_until_terminated(work))


async def _until_terminated(work: Coroutine[Any, Any, None]) -> None:
    loop, working = asyncio.get_running_loop(), asyncio.ensure_future(work)

    def stop() -> None:
        loop.remove_signal_handler(signal.SIGTERM)
        working.cancel(_TERMINATED)

    loop.add_signal_handler(signal.SIGTERM, stop)
    try:
        await working
    except asyncio.CancelledError as ended:
        if ended.args != (_TERMINATED,):
            raise
        raise Mistake("It was ended by SIGTERM before it was done.", ExitCode.NOT_WELL) from None


async def until_signalled(start: Callable[[AsyncExitStack], Coroutine[Any, Any, None]]) -> None:
    """Start, wait for a signal, stop. `start` opens things on the stack; a signal meanwhile cancels it."""
    signalled = asyncio.Event()
    loop = asyncio.get_running_loop()

    def stop() -> None:
        signalled.set()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)  # from now on a signal kills

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop)
    stack = AsyncExitStack()
    starting = asyncio.create_task(start(stack))
    waiting = asyncio.create_task(signalled.wait())
    try:
        await asyncio.wait({starting, waiting}, return_when=asyncio.FIRST_COMPLETED)
        if starting.done():
            starting.result()
            await waiting
    finally:
        starting.cancel()
        waiting.cancel()
        await asyncio.wait({starting, waiting})
        await _close(stack)


async def _close(stack: AsyncExitStack) -> None:
    try:
        async with asyncio.timeout(SHUTDOWN_S):
            await stack.aclose()
    except TimeoutError:
        raise Mistake(
            f"Not everything ended within {SHUTDOWN_S:g} seconds. The next start continues from there.",
            ExitCode.NOT_WELL,
        ) from None


def port_taken(error: OSError, port: int, option: str) -> Exception:
    """The error to raise for a server that could not listen."""
    if error.filename is not None:
        return Mistake(
            f"{error.filename} cannot be used ({error.strerror}). Give it to the user that Countersign runs as."
        )
    if error.errno in (errno.EADDRINUSE, errno.EACCES):
        return Mistake(
            f"Port {port} is used by another program. End that one, or choose another with {option}."
        )
    return error
