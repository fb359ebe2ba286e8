"""How far a reader walks to follow one use case: each function of ours that is entered, and each way back.

    python -m tests.support.walk            the walk of `execute` over one approved top-up, on the simulator
    python -m tests.support.walk event      the walk of one purchase's event, from its delivery until it is handled

What is counted, while one call is awaited and in its own task alone:

    entries   a plain function or a coroutine of one of `ROOMS` starts; waiting and going on is no new entry
    places    the different functions among them
    modules   the files they stand in
    crossings an entry leads into another file than the one that was being read
    returns   a function ends and reading goes on in another file
    back      those returns that lead to one of the files named, such as the two that carry out a request

Left out is what nobody stops at to understand a use case: generators and context managers, constructors that
`dataclass` writes, and the ground under every query (`GROUND`: columns, ciphers, transactions).
"""

from __future__ import annotations

import asyncio
import dis
import json
import sys
import tempfile
from collections.abc import Coroutine
from dataclasses import dataclass, field
from inspect import CO_ASYNC_GENERATOR, CO_GENERATOR
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from bot.services import execution
from bot.services.events import inbox
from tests.events.receiving import a_bot, authorized
from tests.support.world import a_world

ROOMS = ("bot.services.", "bot.outcomes.", "bot.operations.", "storage.")
GROUND = (
    *("storage.transaction", "storage.store", "storage.columns", "storage.vault", "storage.upsert"),
    *("storage.key_rotation", "storage.sealed_columns", "storage.master_keys"),
)
_WAITS = dis.opmap["YIELD_VALUE"]


@dataclass
class Walk:
    """The functions entered, as `module:name` in the order of the walk, and where reading went on after each."""

    entered: list[str] = field(default_factory=list)
    crossings: int = 0
    back_in: list[str] = field(default_factory=list)  # the module that each return leads to

    @property
    def places(self) -> set[str]:
        return set(self.entered)

    @property
    def modules(self) -> set[str]:
        return {place.partition(":")[0] for place in self.entered}

    def back(self, *modules: str) -> int:
        """Returns that lead to one of these modules."""
        return len([module for module in self.back_in if module in modules])


class _Follower:
    def __init__(self, walk: Walk) -> None:
        self.walk = walk
        self.task = asyncio.current_task()
        self.stack: list[tuple[str, CodeType]] = []

    def __call__(self, frame: FrameType, event: str, _: object) -> None:
        if event not in ("call", "return") or not _is_ours(frame):
            return
        if asyncio.current_task() is not self.task:
            return
        instruction, argument = frame.f_code.co_code[frame.f_lasti : frame.f_lasti + 2]
        if event == "call" and argument == 0:  # RESUME 0 starts a function; 1 to 3 go on after waiting
            self._enter(frame)
        elif event == "return" and instruction != _WAITS:
            self._leave(frame)

    def _enter(self, frame: FrameType) -> None:
        module = frame.f_globals["__name__"]
        if self.stack and self.stack[-1][0] != module:
            self.walk.crossings += 1
        self.stack.append((module, frame.f_code))
        self.walk.entered.append(f"{module}:{frame.f_code.co_qualname}")

    def _leave(self, frame: FrameType) -> None:
        if not self.stack or self.stack[-1][1] is not frame.f_code:
            return  # SQLAlchemy called it, out of our sight
        module, _ = self.stack.pop()
        if self.stack and self.stack[-1][0] != module:
            self.walk.back_in.append(self.stack[-1][0])


def _is_ours(frame: FrameType) -> bool:
    code = frame.f_code
    if code.co_flags & (CO_GENERATOR | CO_ASYNC_GENERATOR) or code.co_name.startswith("<"):
        return False
    name = str(frame.f_globals.get("__name__", ""))
    return name.startswith(ROOMS) and name not in GROUND and code.co_filename != "<string>"


async def follow(call: Coroutine[Any, Any, object]) -> Walk:
    """Await `call` and return the walk it made."""
    walk = Walk()
    sys.setprofile(_Follower(walk))
    try:
        await call
    finally:
        sys.setprofile(None)
    return walk


async def over_a_top_up(folder: Path) -> Walk:
    """The walk of `execute` over one approved top-up that succeeds at once."""
    async with a_world(folder) as world:
        request = await world.top_up()
        return await follow(execution.execute(world.core, request.id))


async def over_an_event(folder: Path) -> Walk:
    """The walk of a delivery of one authorization through the receiver, and of its handling."""
    async with a_world(folder) as world, a_bot(world) as bot:
        raw = json.dumps(bot.event("card.authorized", authorized())).encode()
        headers = bot.signed(raw)

        async def deliver() -> None:
            assert await bot.receive("main", raw, headers)
            assert await inbox.process_next(world.core)

        return await follow(deliver())


async def _print(of: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        walk = await (over_an_event if of == "event" else over_a_top_up)(Path(folder))
    print(*walk.entered, sep="\n")
    room = "bot.services.events." if of == "event" else "bot.services.execution."
    ours = sorted(m for m in walk.modules if m.startswith(room))
    print(
        f"\nentries {len(walk.entered)}, places {len(walk.places)}, modules {len(walk.modules)},"
        f" crossings {walk.crossings}, returns {len(walk.back_in)}"
    )
    print("returns to", *(f"{module} {walk.back(module)}" for module in ours), sep="\n  ")


if __name__ == "__main__":
    asyncio.run(_print("".join(sys.argv[1:2])))
