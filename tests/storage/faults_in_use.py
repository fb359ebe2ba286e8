"""Run beneath `tests/support/failing_disk.c`: what each place says of each fault of the disk of an SQLite file.

`python -m tests.storage.faults_in_use DATABASE FOLDER ERRNO_FILE FAULT …` prints it as JSON.
"""

from __future__ import annotations

import asyncio
import errno
import json
import multiprocessing
import os
import shutil
import sqlite3
import sys
from collections.abc import Awaitable, Iterator
from contextlib import AsyncExitStack, closing, contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

from sqlalchemy.exc import SQLAlchemyError

from bot.cli.doctor import database_checks
from bot.cli.doctor.findings import Level
from bot.cli.environment import settings
from bot.cli.terminal import explain
from bot.domain.errors import CountersignError
from bot.domain.time import SystemClock
from storage import audit
from storage.database import url_of
from storage.maintenance import back_up, why_not_written
from storage.migrate import migrate
from storage.store import Store
from storage.vault import Keyring, Vault

LOCK, LITTLE_ROOM = "lock", "little room"


@contextmanager
def _with(fault: str, database: Path, errno_file: Path) -> Iterator[None]:
    if fault == LOCK:
        with closing(sqlite3.connect(database)) as other:
            other.execute("BEGIN IMMEDIATE")
            yield
            other.rollback()
    elif fault == LITTLE_ROOM:
        with mock.patch.object(os, "statvfs", _little):
            yield
    else:
        number, *part = fault.split()
        errno_file.write_text(" ".join([str(getattr(errno, number)), *part]))
        yield
        errno_file.unlink()


async def _said(work: Awaitable[Any]) -> tuple[str, int]:
    """Its sentence and exit code; empty and 0 where it is done."""
    try:
        await work
    except (CountersignError, SQLAlchemyError, OSError) as error:
        if (found := explain(error)) is None:
            raise
        return " ".join(found[0]), int(found[1])
    return "", 0


async def _start(url: str, vault: Vault) -> None:
    await migrate(url)
    await (await Store.open(url, vault=vault, clock=SystemClock())).close()


async def _doctor() -> tuple[str, int]:
    async with AsyncExitStack() as stack:
        findings, _ = await database_checks.opened(settings(), stack)
    wrong = [one.text for one in findings if one.level is Level.WRONG]
    return " ".join(wrong), len(wrong)


async def _backup() -> tuple[str, int]:
    url, copy = (
        settings().database_url,
        Path(settings().database_url.removeprefix("sqlite:///")).with_name("copy.db"),
    )
    vault = Vault(Keyring.parse(os.environ["COUNTERSIGN_MASTER_KEYS"]))
    said = await _said(back_up(url, copy, vault=vault, clock=SystemClock()))
    copy.unlink(missing_ok=True)
    return said


def _commands(asked: Connection) -> None:
    """In a process of its own, as they are: closing a file that the bot has open drops its locks there."""
    while (what := asked.recv()) is not None:
        command, fault = what
        statvfs = _little if fault == LITTLE_ROOM else os.statvfs
        with mock.patch.object(os, "statvfs", statvfs):
            asked.send(asyncio.run(_doctor() if command == "doctor" else _backup()))


def _little(_path: Any) -> Any:
    return SimpleNamespace(f_bavail=10, f_frsize=4096)


def _content(database: Path) -> list[str]:
    with closing(sqlite3.connect(database)) as file:
        return list(file.iterdump())


def _begin_again(whole: Path, database: Path) -> None:
    for one in database.parent.iterdir():
        one.unlink()
    shutil.copy(whole, database)


async def _all_said(
    whole: Path, folder: Path, errno_file: Path, fault: str, commands: Connection
) -> dict[str, Any]:
    vault = Vault(Keyring.parse(os.environ["COUNTERSIGN_MASTER_KEYS"]))
    database = folder / "bot.db"
    _begin_again(whole, database)
    url, found = url_of(database), dict[str, Any]()

    async def run(command: str, now_is: str = fault) -> tuple[str, int]:
        await asyncio.to_thread(commands.send, (command, now_is))
        said: tuple[str, int] = await asyncio.to_thread(commands.recv)
        return said

    async def record() -> None:
        async with store.begin() as tx:
            await audit.append(tx, actor="test", action="test", subject="test")

    store = await Store.open(url, vault=vault, clock=SystemClock())
    await record()
    assert await why_not_written(store) == ""
    with _with(fault, database, errno_file):
        found["readyz"] = (await why_not_written(store), 0)
        before, names = _content(database), sorted(os.listdir(folder))
        found["doctor beside the bot"] = await run("doctor")
        found["backup"] = await run("backup")
    found["nothing wrong afterwards"] = await run("doctor", "")
    found["untouched"] = _content(database) == before and sorted(os.listdir(folder)) == names
    await record()
    assert await why_not_written(store) == ""
    await store.close()
    with _with(fault, database, errno_file):
        found["doctor alone"] = await run("doctor")
        if fault != LOCK:  # for which it waits ten seconds
            found["cold start"] = await _said(_start(url, vault))
    return found


async def _main(whole: Path, folder: Path, errno_file: Path, faults: list[str], commands: Connection) -> None:
    found = {fault: await _all_said(whole, folder, errno_file, fault, commands) for fault in faults}
    print(json.dumps(found))


def main(whole: str, folder: str, errno_file: str, *faults: str) -> None:
    """Print it."""
    os.environ["COUNTERSIGN_DATABASE_URL"] = url_of(Path(folder) / "bot.db")
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("fork").Process(target=_commands, args=(theirs,), daemon=True)
    process.start()
    theirs.close()
    asyncio.run(_main(Path(whole), Path(folder), Path(errno_file), list(faults), ours))
    ours.send(None)
    process.join()


if __name__ == "__main__":
    main(*sys.argv[1:])
