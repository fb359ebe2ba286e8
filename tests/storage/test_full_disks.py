"""Whatever needs room on a disk that is full ends with a sentence that names this disk, and leaves nothing half done.

How much is left decides what fails: the log's index, the copy, or its last page. So each is tried with one amount after
the other.
"""

from __future__ import annotations

import asyncio
import gc
import gzip
import os
import shutil
import sqlite3
from collections.abc import Awaitable, Callable, Iterator
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psycopg
import pytest
from sqlalchemy.exc import OperationalError

from bot.cli.terminal import ExitCode, explain
from bot.domain.time import SystemClock
from storage import audit
from storage.database import Database, url_of
from storage.errors import DatabaseAway, DatabaseUnreachable, DiskFull
from storage.faults import explained, fault_of
from storage.maintenance import back_up, put_back
from storage.migrate import migrate
from storage.store import Store
from tests.storage.restores import VAULT
from tests.support.databases import Databases, PostgresDatabases, migrated_file
from tests.support.disks import fill
from tests.support.waiting import eventually

OLD_SCHEMA = Path(__file__).parent / "data" / "schema-0012.db.gz"


def leave(folder: Path, kilobytes: int) -> None:
    """Fill the disk up to so much."""
    filler = folder / "filler"
    fill(filler)
    os.truncate(filler, filler.stat().st_size - kilobytes * 1024)


def with_each(folder: Path, amounts: range | tuple[int, ...]) -> Iterator[int]:
    """With each amount of room, on a disk that is empty but for the filler."""
    for kilobytes in amounts:
        for one in folder.iterdir():
            one.unlink()
        yield kilobytes


def names_in(folder: Path) -> list[str]:
    return sorted(os.listdir(folder))


def sizes_in(folder: Path) -> dict[str, int]:
    return {one.name: one.stat().st_size for one in folder.iterdir()}


def said_of(error: BaseException) -> tuple[str, ExitCode]:
    """What the person at the terminal reads, and the exit code. Where it is None, they read a traceback."""
    assert isinstance(error, Exception)
    found = explain(error)
    assert found is not None, f"a traceback: {error!r}"
    sentences, code = found
    return " ".join(sentences), code


async def outcome(work: Awaitable[Any]) -> Exception | None:
    found: BaseException | None
    (found,) = await asyncio.gather(work, return_exceptions=True)
    return found if isinstance(found, Exception) else None


async def opened(url: str) -> None:
    await (await Store.open(url, vault=VAULT, clock=SystemClock())).close()


async def in_use(url: str) -> None:
    """Something is recorded in it, so that it can be backed up."""
    store = await Store.open(url, vault=VAULT, clock=SystemClock())
    async with store.begin() as tx:
        await audit.append(tx, actor="test", action="test", subject="test")
    await store.close()


@pytest.mark.parametrize("start", [migrate, opened])
async def test_a_cold_start_on_a_full_disk_says_so_and_is_tried_again(
    small_disk: Path, tmp_path: Path, start: Callable[[str], Awaitable[Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, database = tmp_path / "whole.db", small_disk / "bot.db"
    await migrated_file(whole)
    monkeypatch.setenv("COUNTERSIGN_DATABASE_URL", url_of(database))
    refused = 0
    for kilobytes in with_each(small_disk, (0, 4, 16, 28, 32, 40, 60)):
        shutil.copy(whole, database)
        leave(small_disk, kilobytes)
        error = await outcome(start(url_of(database)))
        if error is not None:
            said, code = said_of(error)
            assert f"The disk of {database} is full" in said, kilobytes
            assert "Free some" in said
            assert code is ExitCode.NOT_WELL, "so that systemd starts it again"
            refused += 1
    assert refused >= 3


async def test_a_new_database_on_a_full_disk_says_so(small_disk: Path) -> None:
    database = small_disk / "bot.db"
    for kilobytes in with_each(small_disk, (0, 4, 32, 64, 200, 400)):
        leave(small_disk, kilobytes)
        error = await outcome(migrate(url_of(database)))
        assert error is not None
        said, code = said_of(error)
        assert f"The disk of {database} is full" in said, kilobytes
        assert code is ExitCode.NOT_WELL


async def test_an_upgrade_without_room_leaves_the_database_as_it_was_and_no_copy(small_disk: Path) -> None:
    database = small_disk / "bot.db"
    old = gzip.decompress(OLD_SCHEMA.read_bytes())
    size = len(old) // 1024
    refused = 0
    for kilobytes in with_each(small_disk, (0, 20, 40, size // 2, size, size + 20, size + 60, size + 200)):
        database.write_bytes(old)
        leave(small_disk, kilobytes)
        error = await outcome(migrate(url_of(database)))
        if error is not None:
            said, code = said_of(error)
            assert f"The disk of {database} is full" in said, kilobytes
            assert code is ExitCode.NOT_WELL
            with closing(sqlite3.connect(f"{database.as_uri()}?immutable=1", uri=True)) as file:
                assert file.execute("SELECT version_num FROM alembic_version").fetchone() == ("0012",)
            kept = [size for name, size in sizes_in(small_disk).items() if ".before-upgrade-from-" in name]
            assert min(kept, default=len(old)) >= len(old), "whole, or none"
            refused += 1
    assert refused >= 4


async def test_a_backup_without_room_names_its_own_disk_and_leaves_nothing(
    small_disk: Path, databases: Databases, monkeypatch: pytest.MonkeyPatch
) -> None:
    url, whole = databases.migrated(), small_disk / "whole.db"
    await in_use(url)
    monkeypatch.setenv("COUNTERSIGN_DATABASE_URL", url)
    await back_up(url, whole, vault=VAULT, clock=SystemClock())
    size = whole.stat().st_size // 1024
    refused = 0
    for kilobytes in with_each(small_disk, (0, 8, 300, *range(size - 12, size + 72, 12), size + 120)):
        leave(small_disk, kilobytes)
        error = await outcome(back_up(url, small_disk / "copy.db", vault=VAULT, clock=SystemClock()))
        if error is not None:
            said, _ = said_of(error)
            assert f"{small_disk} has no room for the copy" in said, kilobytes
            assert names_in(small_disk) == ["filler"]
            refused += 1
    assert refused >= 6
    databases.drop(url)


async def test_a_restore_without_room_names_the_disk_that_is_full_and_leaves_nothing(
    small_disk: Path, tmp_path: Path, databases: Databases, monkeypatch: pytest.MonkeyPatch
) -> None:
    url, whole = databases.migrated(), tmp_path / "whole.db"
    await in_use(url)
    await back_up(url, whole, vault=VAULT, clock=SystemClock())
    size = whole.stat().st_size // 1024
    target = databases.empty()
    if target.startswith("sqlite"):
        target = url_of(small_disk / "bot.db")
    monkeypatch.setenv("COUNTERSIGN_DATABASE_URL", target)
    refused = 0
    for kilobytes in with_each(small_disk, (0, 8, 300, *range(size - 12, size + 72, 12))):
        copy = shutil.copy(whole, small_disk / "copy.db")
        leave(small_disk, kilobytes)
        error = await outcome(put_back(target, Path(copy), vault=VAULT, clock=SystemClock()))
        if error is None:
            break
        said, _ = said_of(error)
        assert f"{small_disk} has no room for the copy" in said, kilobytes
        assert [one for one in names_in(small_disk) if not one.endswith(".lock")] == ["copy.db", "filler"]
        refused += 1
    assert refused >= 6
    databases.drop(url)


async def test_a_server_that_ends_the_connection_in_mid_backup_is_named_and_not_the_copy(
    postgres_databases: PostgresDatabases, tmp_path: Path
) -> None:
    url = postgres_databases.migrated()
    await in_use(url)
    with psycopg.connect(url) as holding:
        holding.execute("LOCK TABLE webhook_secret IN ACCESS EXCLUSIVE MODE")
        copying = asyncio.create_task(
            outcome(back_up(url, tmp_path / "copy.db", vault=VAULT, clock=SystemClock()))
        )
        with psycopg.connect(url, autocommit=True) as other:

            def is_ended() -> bool:
                found = other.execute(
                    "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
                    " WHERE wait_event_type = 'Lock' AND datname = current_database()"
                )
                return found.fetchone() == (1,)

            await eventually("the backup waits, and is ended", is_ended, within_s=60)
        error = await copying
    assert isinstance(error, DatabaseUnreachable)
    assert str(error).startswith(Database.parse(url).shown)
    assert "copy.db" not in str(error)
    # SQLAlchemy leaves it open on a connection that is gone, of which the driver warns.
    for left in (one for one in gc.get_objects() if isinstance(one, psycopg.ServerCursor)):
        left.close()
    postgres_databases.drop(url)


@pytest.mark.parametrize(
    ("code", "is_full_with_room"),
    [
        (sqlite3.SQLITE_FULL, True),
        (sqlite3.SQLITE_IOERR, False),
        (sqlite3.SQLITE_IOERR_SHMSIZE, False),
        (sqlite3.SQLITE_IOERR_WRITE, False),
        (sqlite3.SQLITE_CANTOPEN, False),
    ],
)
@pytest.mark.parametrize("free", [0, 4096, 10**9])
def test_what_sqlite_calls_otherwise_is_a_full_disk_where_no_room_is_left(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, code: int, is_full_with_room: bool, free: int
) -> None:
    """Without room for its index SQLite speaks of an error of the disk, or cannot open the file."""
    found = SimpleNamespace(f_bavail=free // 4096, f_frsize=4096, f_files=0, f_favail=0)
    monkeypatch.setattr("os.statvfs", lambda _path: found)
    database = Database.parse(url_of(tmp_path / "bot.db"))
    error = sqlite3.OperationalError("anything")
    error.sqlite_errorcode = code
    fault = fault_of(error, database)
    is_full = is_full_with_room or free < 10**6

    assert fault is not None
    assert isinstance(fault, DiskFull) is is_full
    assert (f"The disk of {database.path} is full" in str(fault)) is is_full
    assert explained(OperationalError("BEGIN", {}, error), database) == str(fault)


def test_a_trouble_that_may_pass_is_the_one_with_which_a_start_is_tried_again() -> None:
    assert said_of(DiskFull("x"))[1] is ExitCode.NOT_WELL
    assert said_of(DatabaseAway("x"))[1] is ExitCode.NOT_WELL
    assert said_of(DatabaseUnreachable("x"))[1] is ExitCode.UNUSABLE
