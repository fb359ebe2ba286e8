"""A log of changes beside an SQLite file that is not of that file: nothing opens the two together."""

from __future__ import annotations

import errno
import hashlib
import shutil
import sqlite3
from collections.abc import Awaitable, Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from bot.domain.time import SystemClock
from storage import database
from storage.database import Database, url_of
from storage.errors import DatabaseUnreachable
from storage.maintenance import CopyRefused, back_up, put_back
from storage.migrate import migrate
from storage.sqlite import OpenFile
from storage.store import Store
from tests.storage.conftest import Opener
from tests.storage.restores import VAULT
from tests.storage.test_misplaced_file import _entries, _entry
from tests.support.databases import migrated_file


def _content(folder: Path) -> dict[str, str]:
    return {
        one.name: hashlib.sha256(one.read_bytes()).hexdigest()
        for one in sorted(folder.iterdir())
        if not one.name.endswith("-shm")
    }


async def _open(db: Path, open_store: Opener) -> Store:
    db.parent.mkdir(exist_ok=True)
    await migrated_file(db)
    store = await open_store(url_of(db))
    for _ in range(3):
        await _entry(store)
    return store


@pytest.fixture(autouse=True)
def keeps() -> Iterator[list[sqlite3.Connection]]:
    """Connections without which the last one to close folds the log and removes it."""
    found: list[sqlite3.Connection] = []
    yield found
    for one in found:
        one.close()


async def _killed(db: Path, store: Store, keeps: list[sqlite3.Connection]) -> None:
    """As `kill -9` leaves its files."""
    keeps.append(sqlite3.connect(db))
    keeps[-1].execute("SELECT 1 FROM meta").fetchall()
    await store.close()
    assert db.with_name(f"{db.name}-wal").stat().st_size


async def _worked_and_killed(
    db: Path, store: Store, keeps: list[sqlite3.Connection], *, entries: int, folds: bool
) -> None:
    """So many entries are in the file by then, where the log is folded, and four more in the log alone."""
    for _ in range(entries):
        await _entry(store)
    if folds:
        await store.checkpoint()
    for _ in range(4):
        await _entry(store)
    await _killed(db, store, keeps)


async def _from_a_backup(db: Path, _store: Store) -> Path:
    copy = db.parent.parent / "copy.db"
    await back_up(url_of(db), copy, vault=VAULT, clock=SystemClock())
    return copy


async def _from_a_file_of_before(db: Path, store: Store) -> Path:
    await store.checkpoint()
    copy = db.parent.parent / "copy.db"
    shutil.copyfile(db, copy)
    return copy


Made = Callable[[Path, Store], Awaitable[Path]]


async def _from_a_file_of_long_before(db: Path, store: Store) -> Path:
    copy = await _from_a_file_of_before(db, store)
    await _entry(store)
    await store.checkpoint()
    return copy


@pytest.mark.parametrize("made", [_from_a_backup, _from_a_file_of_long_before])
@pytest.mark.parametrize("folds", [True, False])
async def test_what_cp_writes_into_the_file_of_a_killed_bot_is_not_mixed_with_its_log(
    tmp_path: Path, open_store: Opener, keeps: list[sqlite3.Connection], made: Made, folds: bool
) -> None:
    db = tmp_path / "db" / "bot.db"
    store = await _open(db, open_store)
    copy = await made(db, store)
    await _worked_and_killed(db, store, keeps, entries=30, folds=folds)
    shutil.copyfile(copy, db)  # the same inode
    before = _content(db.parent)

    for _ in range(2):
        with pytest.raises(DatabaseUnreachable, match="is of another file than"):
            await Store.open(url_of(db), vault=VAULT, clock=SystemClock(), exclusive=False)
    with pytest.raises(DatabaseUnreachable, match="is of another file than"):
        await migrate(url_of(db))
    with pytest.raises(DatabaseUnreachable, match="is of another file than"):
        await back_up(url_of(db), tmp_path / "other.db", vault=VAULT, clock=SystemClock())
    with pytest.raises(CopyRefused, match="is of another file than"):
        await put_back(url_of(db), copy, vault=VAULT, clock=SystemClock())
    assert _content(db.parent) == before


def _put_back_by_tar(saved: Path, folder: Path) -> None:
    for one in saved.iterdir():
        (folder / one.name).unlink(missing_ok=True)
        shutil.copy2(one, folder / one.name)


def _put_back_by_cp_keeping_times(saved: Path, folder: Path) -> None:
    shutil.copytree(saved, folder, dirs_exist_ok=True, copy_function=shutil.copy2)


def _put_back_by_cp(saved: Path, folder: Path) -> None:
    shutil.copytree(saved, folder, dirs_exist_ok=True, copy_function=shutil.copyfile)


def _put_back_without_its_lock(saved: Path, folder: Path) -> None:
    shutil.copyfile(saved / "bot.db", folder / "bot.db")
    (folder / "bot.db.lock").unlink()


@pytest.mark.parametrize(
    "put_back_by",
    [_put_back_by_tar, _put_back_by_cp_keeping_times, _put_back_by_cp, _put_back_without_its_lock],
)
@pytest.mark.parametrize("folds", [True, False])
async def test_a_folder_of_before_put_back_over_that_of_a_killed_bot_is_refused_or_the_newest(
    tmp_path: Path,
    open_store: Opener,
    keeps: list[sqlite3.Connection],
    put_back_by: Callable[[Path, Path], None],
    folds: bool,
) -> None:
    """Its log is left there. Where nothing was folded in since, file and log together are what was open."""
    db = tmp_path / "db" / "bot.db"
    await (await _open(db, open_store)).close()
    shutil.copytree(db.parent, tmp_path / "saved", copy_function=shutil.copy2)
    store = await open_store(url_of(db))
    await _worked_and_killed(db, store, keeps, entries=60, folds=folds)
    # With the log alone, as nothing has it open after a kill.
    log = db.with_name(f"{db.name}-wal")
    left = log.read_bytes()
    keeps.pop().close()
    log.write_bytes(left)

    put_back_by(tmp_path / "saved", db.parent)
    before = _content(db.parent)

    refused = await _why_not_opened(db)
    if refused:
        assert "is of another file than" in refused
        assert _content(db.parent) == before
        # Where the new log has got the number of the one before, it counts as overwritten.
        assert folds or put_back_by is _put_back_by_cp or put_back_by is _put_back_by_cp_keeping_times
    else:
        assert not folds
        assert _entries(db) == 67


async def _why_not_opened(db: Path) -> str:
    try:
        await migrate(url_of(db))
        await (await Store.open(url_of(db), vault=VAULT, clock=SystemClock())).close()
    except DatabaseUnreachable as refused:
        return str(refused)
    return ""


async def test_where_there_is_no_room_to_compare_the_two_nothing_is_opened(
    tmp_path: Path, open_store: Opener, keeps: list[sqlite3.Connection], monkeypatch: pytest.MonkeyPatch
) -> None:
    db = tmp_path / "db" / "bot.db"
    await _killed(db, await _open(db, open_store), keeps)
    shutil.copyfile(db, tmp_path / "copy")
    (tmp_path / "copy").replace(db)
    db.with_name(f"{db.name}.lock").unlink()

    def full(*_: Any, **__: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(database, "belongs", lambda *_: None)  # as where an older version wrote them
    monkeypatch.setattr(shutil, "copyfile", full)
    with pytest.raises(DatabaseUnreachable, match="needs room for a copy of both"):
        await migrate(url_of(db))


async def test_a_file_that_cannot_be_read_is_not_said_to_need_room(
    tmp_path: Path, open_store: Opener, keeps: list[sqlite3.Connection], monkeypatch: pytest.MonkeyPatch
) -> None:
    db = tmp_path / "db" / "bot.db"
    await _killed(db, await _open(db, open_store), keeps)

    def refused(*_: Any, **__: Any) -> bool:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(database, "belongs", refused)
    assert Database.parse(url_of(db)).log_of_another() is None


@pytest.mark.parametrize("how", ["", "folded", "folded in part", "touched", "copied"])
async def test_a_log_of_its_own_is_opened_after_a_kill(
    tmp_path: Path, open_store: Opener, keeps: list[sqlite3.Connection], how: str
) -> None:
    db = tmp_path / "db" / "bot.db"
    store = await _open(db, open_store)
    for _ in range(30):
        await _entry(store)
    if how.startswith("folded"):
        with closing(sqlite3.connect(db)) as other:
            if how.endswith("part"):
                other.execute("BEGIN")
                other.execute("SELECT count(*) FROM audit").fetchone()
                await _entry(store)
            with closing(sqlite3.connect(db)) as third:
                third.execute("PRAGMA wal_checkpoint(PASSIVE)")
    await _killed(db, store, keeps)
    if how == "touched":
        db.chmod(0o640)
        db.with_name("bot.db-wal").touch()
    if how == "copied":
        shutil.copytree(db.parent, tmp_path / "elsewhere")
        db = tmp_path / "elsewhere" / "bot.db"
        db.chmod(0o640)
    again = await Store.open(url_of(db), vault=VAULT, clock=SystemClock())
    await again.close()
    assert _entries(db) == (34 if how.endswith("part") else 33)


def test_what_was_open_has_its_name_once_it_is_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    db = tmp_path / "bot.db"
    with closing(sqlite3.connect(db)) as made:
        made.execute("PRAGMA journal_mode=WAL")
        made.execute("CREATE TABLE one (x)")
        made.commit()
    file, seen = OpenFile(db), list[list[str]]()
    db.unlink()
    real = sqlite3.connect

    def connect(path: Path, *args: Any, **more: Any) -> sqlite3.Connection:
        seen.append([one.name for one in tmp_path.glob("bot.db.kept-*")])
        found: sqlite3.Connection = real(path, *args, **more)
        return found

    monkeypatch.setattr(sqlite3, "connect", connect)
    file._keep(datetime(2026, 1, 2, tzinfo=UTC))
    file.close()
    assert seen == [["bot.db.kept-20260102T000000Z.part"]]
    assert [one.name for one in tmp_path.glob("bot.db.kept-*")] == ["bot.db.kept-20260102T000000Z"]
