"""An SQLite file that is replaced, moved or deleted while it is open: nothing is stored into it, and nothing mixed."""

from __future__ import annotations

import asyncio
import errno
import os
import re
import shutil
import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy.exc import OperationalError

from bot.domain.time import SystemClock
from storage import audit
from storage.database import Database, url_of
from storage.errors import DatabaseMissing, DatabaseUnreachable
from storage.events import Ingest
from storage.events.ingest import Arrival
from storage.faults import is_out_of_use
from storage.maintenance import CopyRefused, put_back, why_not_written
from storage.migrate import migrate
from storage.store import Store
from tests.storage.conftest import Opener
from tests.storage.restores import VAULT
from tests.support.databases import migrated_file

pytestmark = pytest.mark.by_turns(6)

# Made by `_an_older_copy_beside_it`.
ENTRIES = 22


def _renamed_over(db: Path) -> None:
    """As rsync and `cp` followed by `mv` do it."""
    shutil.copy(db.with_name("old"), db.with_name("new"))
    os.rename(db.with_name("new"), db)


def _moved_away_and_another(db: Path) -> None:
    os.rename(db, db.with_name("newest"))
    shutil.copy(db.with_name("old"), db)


def _deleted(db: Path) -> None:
    db.unlink()


def _deleted_with_all_beside_it(db: Path) -> None:
    for one in db.parent.glob(f"{db.name}*"):
        one.unlink()


def _moved_away(db: Path) -> None:
    os.rename(db, db.with_name("newest"))


def _folder_moved_away(db: Path) -> None:
    shutil.copytree(db.parent, db.parent.with_name("copied"))
    os.rename(db.parent, db.parent.with_name("elsewhere"))


def _log_deleted(db: Path) -> None:
    _log(db).unlink()


def _log_replaced(db: Path) -> None:
    _log(db).unlink()
    _log(db).write_bytes(b"")


def _with_its_log_replaced(db: Path) -> None:
    """As a snapshot of both is put back: what is in the log of the snapshot is not lost by it."""
    _log_deleted(db)
    _renamed_over(db)
    _log(db).write_bytes(b"its own log")


WAYS = [
    _renamed_over,
    _moved_away_and_another,
    _deleted,
    _deleted_with_all_beside_it,
    _moved_away,
    _folder_moved_away,
    _log_deleted,
    _log_replaced,
    _with_its_log_replaced,
]


def _log(db: Path) -> Path:
    return db.with_name(f"{db.name}-wal")


async def _entry(store: Store) -> None:
    async with store.begin() as tx:
        await audit.append(tx, actor="test", action="test", subject="test", body={"text": "x" * 5000})


def _kept(db: Path) -> list[Path]:
    return list(db.parent.glob(f"{db.name}.kept-*"))


def _entries(db: Path) -> int:
    """How many entries the audit log in a file has that is whole."""
    with closing(sqlite3.connect(db)) as found:
        assert found.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        return int(found.execute("SELECT count(*) FROM audit").fetchone()[0])


async def _an_older_copy_beside_it(db: Path, open_store: Opener) -> Store:
    """Open, with an entry in its log that the file itself does not have; `old` is the file of before."""
    db.parent.mkdir(exist_ok=True)
    await migrated_file(db)
    store = await open_store(url_of(db))
    await _entry(store)
    await store.checkpoint()
    shutil.copy(db, db.with_name("old"))
    for _ in range(20):
        await _entry(store)
    await store.checkpoint()
    await _entry(store)
    return store


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__.strip("_"))
async def test_nothing_is_read_or_stored_by_it_and_it_is_said(
    tmp_path: Path, open_store: Opener, way: Callable[[Path], None]
) -> None:
    db = tmp_path / "folder" / "bot.db"
    store = await _an_older_copy_beside_it(db, open_store)
    ingest = await Ingest.open(store, SystemClock())
    assert await why_not_written(store) == ""

    way(db)

    with pytest.raises(OperationalError) as written:
        await _entry(store)
    assert is_out_of_use(written.value)
    with pytest.raises(OperationalError):
        async with store.read():
            pass
    with pytest.raises(OperationalError):
        await ingest.put(Arrival("evt_1", "main", "x", datetime.now(UTC), "webhook", b"{}"))
    said = await why_not_written(store)
    assert "while Countersign ran" in said
    assert "nothing is read, approved or sent" in said
    assert ("is gone" in said) == (not db.exists())
    await ingest.close()


@pytest.mark.parametrize("is_killed", [False, True], ids=["stopped", "killed"])
@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__.strip("_"))
async def test_neither_file_takes_anything_from_the_other_and_what_was_open_is_kept(
    tmp_path: Path, open_store: Opener, way: Callable[[Path], None], is_killed: bool
) -> None:
    db = tmp_path / "folder" / "bot.db"
    store = await _an_older_copy_beside_it(db, open_store)
    other = _entries(db.with_name("old"))
    way(db)

    said = await why_not_written(store)
    if not is_killed:
        await store.close()
    if way is _with_its_log_replaced:
        assert _log(db).read_bytes() == b"its own log"
        _log(db).unlink()

    kept = _kept(db)
    assert [str(one) in said for one in kept] == [True] * (way is not _folder_moved_away)
    for one in kept:
        assert _entries(one) == ENTRIES
        assert one.stat().st_mode & 0o077 == 0
    if db.exists():
        assert _entries(db) == (ENTRIES if way in (_log_deleted, _log_replaced) else other)
    if db.with_name("newest").exists():
        assert _entries(db.with_name("newest")) == ENTRIES


async def test_a_reader_that_is_in_the_way_holds_it_up_and_no_longer(
    tmp_path: Path, open_store: Opener
) -> None:
    db = tmp_path / "bot.db"
    store = await _an_older_copy_beside_it(db, open_store)
    async with store.read() as tx:
        await audit.head(tx)
        _renamed_over(db)
        assert "while Countersign ran" in await why_not_written(store)
        assert _log(db).stat().st_size > 0

    assert "while Countersign ran" in await why_not_written(store)

    assert _log(db).stat().st_size == 0
    assert len(_kept(db)) == 1, "it is kept once"


async def test_what_is_written_when_it_is_replaced_is_not_said_to_be_done(
    tmp_path: Path, open_store: Opener
) -> None:
    store = await _an_older_copy_beside_it(tmp_path / "bot.db", open_store)
    done_after: list[str] = []

    async def write() -> None:
        async with store.begin() as tx:
            tx.after_commit(lambda: done_after.append("done"))
            await audit.append(tx, actor="test", action="test", subject="test")
            _renamed_over(tmp_path / "bot.db")

    with pytest.raises(OperationalError):
        await write()

    assert done_after == []


async def test_it_goes_on_where_the_same_file_is_moved_back(tmp_path: Path, open_store: Opener) -> None:
    db = tmp_path / "bot.db"
    store = await _an_older_copy_beside_it(db, open_store)
    _moved_away(db)
    assert "is gone" in await why_not_written(store)

    os.rename(db.with_name("newest"), db)

    assert await why_not_written(store) == ""
    await _entry(store)
    _moved_away(db)
    assert "is gone" in await why_not_written(store)
    assert _log(db).stat().st_size == 0, "and what was written since is safe, too"
    os.rename(db.with_name("newest"), db)
    await store.close()
    assert _entries(db) == ENTRIES + 1


async def _killed(db: Path) -> None:
    """A process that is killed with changes in its log, right after it wrote them."""
    script = (
        "import asyncio, os, sys\n"
        "from pathlib import Path\n"
        "from storage import audit\n"
        "from storage.database import url_of\n"
        "from storage.store import Store\n"
        "from bot.domain.time import SystemClock\n"
        "from tests.storage.restores import VAULT\n"
        "async def main():\n"
        "    store = await Store.open(url_of(Path(sys.argv[1])), vault=VAULT, clock=SystemClock())\n"
        "    async with store.begin() as tx:\n"
        "        await audit.append(tx, actor='test', action='test', subject='test')\n"
        "    os._exit(9)\n"
        "asyncio.run(main())\n"
    )
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", script, str(db))
    assert await process.wait() == 9


async def test_a_log_that_a_killed_process_left_is_not_taken_for_that_of_another_file(tmp_path: Path) -> None:
    db = tmp_path / "bot.db"
    await migrated_file(db)
    shutil.copy(db, db.with_name("old"))
    await _killed(db)
    assert _log(db).stat().st_size > 0
    _moved_away_and_another(db)
    before = db.read_bytes(), _log(db).read_bytes()

    for _ in range(2):
        with pytest.raises(DatabaseUnreachable, match="of another file"):
            await Store.open(url_of(db), vault=VAULT, clock=SystemClock())
        with pytest.raises(DatabaseUnreachable, match="of another file"):
            await migrate(url_of(db))
    assert (db.read_bytes(), _log(db).read_bytes()) == before

    # As it says: what was there is whole with its log, and the other one without.
    os.rename(_log(db), db.with_name("newest-wal"))
    store = await Store.open(url_of(db), vault=VAULT, clock=SystemClock())
    await store.close()
    assert _entries(db.with_name("newest")) == 1
    assert _entries(db) == 0


async def test_after_a_kill_the_same_file_goes_on_with_its_log(tmp_path: Path) -> None:
    db = tmp_path / "bot.db"
    await migrated_file(db)
    await _killed(db)

    store = await Store.open(url_of(db), vault=VAULT, clock=SystemClock())

    await store.close()
    assert _entries(db) == 1


async def test_a_start_makes_no_empty_database_beside_one_that_was_deleted_and_kept(
    tmp_path: Path, open_store: Opener
) -> None:
    db = tmp_path / "bot.db"
    store = await _an_older_copy_beside_it(db, open_store)
    _deleted_with_all_beside_it(db)
    await why_not_written(store)
    await store.close()
    (kept,) = _kept(db)

    with pytest.raises(DatabaseMissing, match="Rename that to") as refused:
        await migrate(url_of(db))
    assert str(kept) in str(refused.value)

    os.rename(kept, db)
    await migrate(url_of(db))
    assert _entries(db) == ENTRIES


@pytest.mark.parametrize("is_empty", [False, True], ids=["", "an empty file is there"])
@pytest.mark.parametrize("has_lock", [True, False], ids=["", "without what it noted"])
async def test_a_start_makes_nothing_beside_a_log_whose_database_is_gone(
    tmp_path: Path, has_lock: bool, is_empty: bool
) -> None:
    db = tmp_path / "bot.db"
    await migrated_file(db)
    await _killed(db)
    _moved_away(db)
    if is_empty:  # a copy onto a full disk
        db.touch()
    if not has_lock:  # as a version from before left it
        db.with_name("bot.db.lock").write_bytes(b"")
    before = _log(db).read_bytes()

    with pytest.raises(DatabaseMissing, match="in no other file"):
        await migrate(url_of(db))
    with pytest.raises(DatabaseMissing, match="in no other file"):
        await Store.open(url_of(db), vault=VAULT, clock=SystemClock())
    assert (db.stat().st_size == 0) if is_empty else not db.exists()
    assert _log(db).read_bytes() == before

    os.rename(db.with_name("newest"), db)
    await migrate(url_of(db))
    assert _entries(db) == 1


async def test_a_restore_over_an_empty_file_keeps_the_log_beside_it(tmp_path: Path) -> None:
    db = tmp_path / "bot.db"
    await migrated_file(db)
    store = await Store.open(url_of(db), vault=VAULT, clock=SystemClock())
    await _entry(store)
    await store.close()
    shutil.copy(db, db.with_name("backup"))
    await _killed(db)
    before = _log(db).read_bytes()
    db.write_bytes(b"")

    _, replaced = await put_back(url_of(db), db.with_name("backup"), vault=VAULT, clock=SystemClock())

    assert replaced is not None
    assert _log(replaced).read_bytes() == before


async def test_a_restore_folds_no_log_into_a_file_that_it_is_not_of(tmp_path: Path) -> None:
    db = tmp_path / "bot.db"
    await migrated_file(db)
    store = await Store.open(url_of(db), vault=VAULT, clock=SystemClock())
    await _entry(store)
    await store.close()
    shutil.copy(db, db.with_name("old"))
    shutil.copy(db, db.with_name("backup"))
    await _killed(db)
    _moved_away_and_another(db)
    before = db.read_bytes(), _log(db).read_bytes()

    with pytest.raises(CopyRefused, match="of another file"):
        await put_back(url_of(db), db.with_name("backup"), vault=VAULT, clock=SystemClock())

    assert (db.read_bytes(), _log(db).read_bytes()) == before
    os.rename(_log(db), db.with_name("newest-wal"))
    await put_back(url_of(db), db.with_name("backup"), vault=VAULT, clock=SystemClock())
    assert _entries(db.with_name("newest")) == 2


async def test_a_folder_that_was_put_back_whole_after_a_kill_goes_on(tmp_path: Path) -> None:
    """Its files may have got each other's numbers: what was noted of them is of the folder before."""
    db = tmp_path / "bot.db"
    await migrated_file(db)
    await _killed(db)
    log, lock = _log(db).stat().st_ino, db.with_name("bot.db.lock")
    lock.write_bytes(b"%d %d %d\n" % (db.stat().st_ino + 1, log, lock.stat().st_ino + 1))

    store = await Store.open(url_of(db), vault=VAULT, clock=SystemClock())

    await store.close()
    assert _entries(db) == 1


async def test_what_was_open_is_kept_as_soon_as_there_is_room(
    tmp_path: Path, open_store: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    db = tmp_path / "bot.db"
    store = await _an_older_copy_beside_it(db, open_store)
    is_full, opened = True, os.open

    def full(path: Any, *flags: Any, **more: Any) -> int:
        if is_full and ".kept-" in str(path):
            raise OSError(errno.ENOSPC, "No space left on device")
        return opened(path, *flags, **more)

    monkeypatch.setattr(os, "open", full)
    _deleted(db)
    for _ in range(2):
        assert "Don't stop Countersign" in await why_not_written(store)

    is_full = False
    assert ".kept-" in await why_not_written(store)

    await why_not_written(store)
    (kept,) = _kept(db)
    assert _entries(kept) == ENTRIES


@pytest.mark.parametrize("beside", ["-journal", "-wal", "-shm"])
def test_who_finds_no_database_reads_which_file_was_kept_and_not_what_sqlite_has_beside_it(
    tmp_path: Path, beside: str
) -> None:
    kept = tmp_path / "bot.db.kept-20260302T090000"
    kept.write_bytes(b"whole")
    kept.with_name(kept.name + beside).write_bytes(b"left by a process that was killed")

    said = Database.parse(url_of(tmp_path / "bot.db")).left_behind()

    assert f"what was open is kept as {kept}. " in said
    assert beside not in said


async def test_where_the_path_is_a_link_who_finds_no_database_reads_which_file_was_kept(
    tmp_path: Path,
) -> None:
    (tmp_path / "disk").mkdir()
    link, real = tmp_path / "bot.db", tmp_path / "disk" / "bot.db"
    link.symlink_to(real)
    kept = tmp_path / "bot.db.kept-20260302T090000Z"
    kept.write_bytes(b"whole")

    for opening in (migrate(url_of(link)), Store.open(url_of(link), vault=VAULT, clock=SystemClock())):
        with pytest.raises(
            DatabaseMissing, match=f"is kept as {kept}. Nothing was started. Move that to {real}"
        ):
            await opening
    assert not real.exists()


@pytest.mark.parametrize("left", ["-wal", ".kept-20260302T090000Z", ".kept-1.part", ".before-restore-1a2b3c"])
@pytest.mark.parametrize("beside", ["it", "the link to it", "the file that the link leads to"])
async def test_no_empty_database_is_begun_beside_anything_that_is_left_of_one(
    tmp_path: Path, beside: str, left: str
) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    path = real = disk / "countersign.db"
    if beside != "it":
        path = tmp_path / "bot.db"
        path.symlink_to(real)
    real.touch()
    of = path if beside == "the link to it" and left != "-wal" else real
    lies = of.with_name(of.name + left)
    lies.write_bytes(b"with what was in it")

    for opening in (migrate(url_of(path)), Store.open(url_of(path), vault=VAULT, clock=SystemClock())):
        with pytest.raises(DatabaseMissing, match="Nothing was started") as refused:
            await opening
        assert str(lies) in str(refused.value)
        if "part" not in left:
            assert re.search(rf"(Rename|rename|Put).* to {real}(,| and start)", str(refused.value))
    assert lies.read_bytes() == b"with what was in it"
    assert real.stat().st_size == 0


async def test_no_empty_database_is_begun_where_only_an_unfinished_copy_was_kept(tmp_path: Path) -> None:
    part = tmp_path / "bot.db.kept-20260302T090000.part"
    part.write_bytes(b"half")

    with pytest.raises(DatabaseMissing, match=r"is not whole\. Nothing was started") as refused:
        await migrate(url_of(tmp_path / "bot.db"))

    assert str(part) in str(refused.value)
    assert not (tmp_path / "bot.db").exists()
