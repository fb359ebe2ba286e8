"""A bot that is started on a database with junk in one cell: it starts, or says in a sentence why it does not."""

from __future__ import annotations

import sqlite3
from collections.abc import Awaitable, Callable, Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

from bot import app
from bot.config import Config, Settings
from bot.domain.errors import CountersignError
from bot.startup import Overrides
from tests.integration.surroundings import CONFIG, MASTER
from tests.support.ports import free_ports
from tests.support.world import World, a_world
from tests.thief.edits import opened
from tests.thief.junk import Cell
from tests.thief.junk_walk import ABOUT_ALL, Populated, populated

NOBODY_THERE = "http://127.0.0.1:1/api/"


class _NoTimers:
    """Nothing comes round while it starts."""

    def every(self, name: str, seconds: float, job: Callable[[], Awaitable[None]]) -> None: ...

    def start(self) -> None: ...

    def stop(self) -> None: ...


async def _no_doors(*_given: Any) -> str:
    return "http://nowhere"


def _settings(world: World, database: Path) -> Settings:
    return Settings.from_env(
        {
            "SLACK_API_URL": NOBODY_THERE,
            "SLACK_BOT_TOKEN": "xoxb-sandbox",
            "SLACK_SIGNING_SECRET": "0" * 32,
            "COUNTERSIGN_DATABASE_URL": f"sqlite:///{database}",
            "COUNTERSIGN_MASTER_KEYS": MASTER,
            "COUNTERSIGN_PARTNER_URL": world.simulator.base_url,
            "COUNTERSIGN_PARTNER_KEY": world.simulator.key,
            "COUNTERSIGN_HTTP_BIND": f"127.0.0.1:{free_ports(1)}",
        }
    )


async def start(world: World, database: Path) -> str:
    """What it says instead of starting; "" where it starts. Raises whatever else a person at the terminal would see."""
    overrides = Overrides(timers=_NoTimers, doors=_no_doors)
    try:
        running = await app.start(_settings(world, database), lambda: Config.parse(CONFIG), overrides)
    except CountersignError as refusal:
        return str(refusal)
    await running.stop()
    return ""


async def walk(
    folder: Path, chosen: Iterable[Cell], *, progress: Callable[[str], None] = lambda _line: None
) -> tuple[int, dict[str, str]]:
    """How many cells the database took, and what is wrong with the start on which."""
    base: Populated = await populated(folder)
    taken, wrong = 0, dict[str, str]()
    async with a_world(folder, begun=base.begun) as world:
        await world.store.close()
        with closing(sqlite3.connect(world.database)) as file:
            file.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        kept, database = world.database.read_bytes(), folder / "started.db"
        database.write_bytes(kept)
        assert await start(world, database) == "", "it does not start without junk"
        for cell in chosen:
            _renewed(database, kept)
            try:
                with opened(str(database)) as edited:
                    if not cell.write(edited):
                        continue
            except sqlite3.Error:
                continue
            taken += 1
            await world.advance(61)  # a minute of calls of its own
            if why := await _wrong(world, database, cell):
                wrong[str(cell)] = why
                progress(f"{cell}: {why}")
    return taken, wrong


def _renewed(database: Path, kept: bytes) -> None:
    for beside in database.parent.glob(f"{database.name}*"):
        beside.unlink()
    database.write_bytes(kept)


async def _wrong(world: World, database: Path, cell: Cell) -> str:
    try:
        said = await start(world, database)
    except Exception as error:  # noqa: BLE001 - this is what is looked for
        return f"a traceback: {type(error).__name__}: {str(error)[:100]}"
    if said and cell.table not in ABOUT_ALL:
        return f"it does not start: {said}"
    return ""
