"""Whatever was done to an SQLite file and its log: the two are opened together where they are of each other, and never
where they are not."""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Awaitable, Callable
from contextlib import closing, suppress
from pathlib import Path
from random import Random

import pytest

from bot.domain.time import SystemClock
from storage import audit, instance, sqlite_log
from storage.database import Database, url_of
from storage.errors import DatabaseUnreachable
from storage.store import Store
from tests.storage.restores import VAULT
from tests.storage.test_misplaced_file import _entries
from tests.support import hot_writes
from tests.support.databases import migrated_file
from tests.support.disks import a_small_disk, mount
from tests.support.world import World, a_world

REPOSITORY = Path(__file__).parents[2]


async def _work(store: Store, random: Random) -> None:
    """One change: of what there is, of many new pages, or of nothing that is on record."""
    what = random.choice(("small", "new pages", "unrecorded"))
    async with store.begin() as tx:
        if what == "unrecorded":
            await instance.note_probe(tx, takes_room=False)
            return
        for _ in range(1 if what == "small" else 20):
            body = {"x": "y" * (10 if what == "small" else 9000)}
            await audit.append(tx, actor="t", action="t", subject="t", body=body)


def _files(db: Path) -> tuple[bytes, bytes]:
    log = db.with_name(f"{db.name}-wal")
    return db.read_bytes(), log.read_bytes() if log.exists() else b""


async def _killed_after(db: Path, random: Random, *, begins: str, changes: int) -> tuple[bytes, int]:
    """A process worked on the file and was killed; its log and lock are left. `begins`: what it did to its log before
    these changes. Returns the file as it was before them, and how many entries there are now."""
    store = await Store.open(url_of(db), vault=VAULT, clock=SystemClock())
    if begins == "folds":
        for _ in range(random.randint(1, 4)):
            await _work(store, random)
        await store.checkpoint()
    before, _ = _files(db)
    for _ in range(changes):
        await _work(store, random)
    if begins == "goes on":
        with closing(sqlite3.connect(db)) as other:
            other.execute("PRAGMA wal_checkpoint(PASSIVE)")
        before, _ = _files(db)
        await _work(store, random)
    file, log = _files(db)
    entries = _entries(db)
    await store.close()
    assert log
    _write(db, file, log)
    _as_the_killed_has_noted_it(db)
    return before, entries


def _write(db: Path, file: bytes, log: bytes) -> None:
    db.write_bytes(file)
    _log(db).write_bytes(log)


def _log(db: Path) -> Path:
    return db.with_name(f"{db.name}-wal")


def _as_the_killed_has_noted_it(db: Path) -> None:
    """Its log has another inode in this test than it would have had."""
    lock = db.with_name(f"{db.name}.lock")
    words = lock.read_bytes().split()
    words[:3] = [b"%d" % one.stat().st_ino for one in (db, _log(db), lock)]
    lock.write_bytes(b" ".join(words) + b"\n")


def _fold_in_part(db: Path, random: Random) -> None:
    """As a fold leaves the file that was killed, or found a full disk: some pages are in it, in whichever order."""
    file, log = bytearray(db.read_bytes()), _log(db).read_bytes()
    size = int.from_bytes(file[16:18], "big")
    newest = dict[int, bytes]()
    at = 32
    while log[at + 8 : at + 16] == log[16:24]:
        newest[int.from_bytes(log[at : at + 4], "big")] = log[at + 24 : at + 24 + size]
        at += 24 + size
    for number in random.sample(sorted(newest), random.randint(0, len(newest))):
        end = number * size
        file += bytes(max(0, end - len(file)))
        file[end - size : end] = newest[number]
    with db.open("r+b") as target:
        target.write(file)


def _tar(folder: Path, to: Path) -> None:
    subprocess.run(["tar", "-C", str(folder), "-cf", str(to.with_suffix(".tar")), "."], check=True)
    to.mkdir(exist_ok=True)
    subprocess.run(["tar", "-C", str(to), "-xf", str(to.with_suffix(".tar"))], check=True)


def _cp(folder: Path, to: Path) -> None:
    to.mkdir(exist_ok=True)
    subprocess.run(["cp", "-r", f"{folder}/.", str(to)], check=True)


def _cp_a(folder: Path, to: Path) -> None:
    to.mkdir(exist_ok=True)
    subprocess.run(["cp", "-a", f"{folder}/.", str(to)], check=True)


def _rsync(folder: Path, to: Path) -> None:
    """It writes new files and renames them; times go with them."""
    to.mkdir(exist_ok=True)
    for one in sorted(folder.iterdir(), key=lambda one: one.name):
        shutil.copy2(one, to / f".{one.name}.new")
        os.replace(to / f".{one.name}.new", to / one.name)


COPIES: list[Callable[[Path, Path], None]] = [_tar, _cp, _cp_a, _rsync]


def _chown_all(db: Path) -> None:
    for one in sorted(db.parent.iterdir()):
        os.chown(one, os.getuid(), os.getgid())


def _chmod_all(db: Path) -> None:
    for one in sorted(db.parent.iterdir()):
        one.chmod(0o600)


def _touch_log(db: Path) -> None:
    with suppress(FileNotFoundError):
        os.utime(_log(db))


def _touch_file(db: Path) -> None:
    os.utime(db)


TOUCHES: list[Callable[[Path], None]] = [_chown_all, _chmod_all, _touch_log, _touch_file, lambda _db: None]


@pytest.fixture
async def db(tmp_path: Path) -> Path:
    found = tmp_path / "data" / "bot.db"
    found.parent.mkdir()
    await migrated_file(found)
    return found


async def _why_not(db: Path) -> str:
    try:
        await (await Store.open(url_of(db), vault=VAULT, clock=SystemClock())).close()
    except DatabaseUnreachable as refused:
        return str(refused)
    return ""


@pytest.mark.by_turns(4)
@pytest.mark.parametrize("seed", range(24))
async def test_a_log_of_its_own_is_opened_whatever_happened_to_the_two(
    db: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    random = Random(seed)
    if seed % 4 == 3:  # an older version, which said nothing in its changes
        monkeypatch.setattr(sqlite_log, "mark_change", lambda _run: None)
    begins = random.choice(("folds", "goes on", ""))
    _, entries = await _killed_after(db, random, begins=begins, changes=random.randint(1, 5))
    if random.random() < 0.7:
        _fold_in_part(db, random)
    if random.random() < 0.5:
        random.choice(COPIES)(db.parent, tmp_path / "elsewhere")
        db = tmp_path / "elsewhere" / "bot.db"
    random.choice(TOUCHES)(db)

    assert await _why_not(db) == ""
    assert _entries(db) == entries
    with closing(sqlite3.connect(db)) as opened:
        assert opened.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


@pytest.mark.by_turns(4)
@pytest.mark.parametrize("seed", range(24))
async def test_a_log_of_a_later_file_is_never_opened_with_it(db: Path, tmp_path: Path, seed: int) -> None:
    """A file or a folder of before is put back over that of a killed process."""
    random = Random(seed)
    store = await Store.open(url_of(db), vault=VAULT, clock=SystemClock())
    for _ in range(random.randint(1, 3)):
        await _work(store, random)
    await store.close()
    shutil.copytree(db.parent, tmp_path / "saved", copy_function=shutil.copy2)
    await _killed_after(db, random, begins="folds", changes=random.randint(1, 5))
    if random.random() < 0.5:
        (tmp_path / "saved" / "bot.db.lock").unlink()
    if random.random() < 0.5:
        shutil.copyfile(tmp_path / "saved" / "bot.db", db)
    else:
        random.choice(COPIES)(tmp_path / "saved", db.parent)
    for _ in range(random.randint(0, 2)):
        random.choice(TOUCHES)(db)
    before = _files(db)

    assert "is of another file than" in await _why_not(db)
    assert _files(db) == before


async def test_a_mixture_of_an_older_version_is_seen_on_a_copy(
    db: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_log, "mark_change", lambda _run: None)
    shutil.copytree(db.parent, tmp_path / "saved", copy_function=shutil.copy2)
    store = await Store.open(url_of(db), vault=VAULT, clock=SystemClock())
    for _ in range(60):
        async with store.begin() as tx:
            await audit.append(tx, actor="t", action="t", subject="t", body={"x": "y" * 3000})
    await store.checkpoint()
    await store.close()
    await _killed_after(db, Random(1), begins="", changes=4)
    _tar(tmp_path / "saved", db.parent)
    _chown_all(db)

    assert "is of another file than" in await _why_not(db)


async def test_copies_that_a_killed_start_left_are_gone_at_the_next(db: Path) -> None:
    left, works = db.parent / ".bot.db.abc.part", db.parent / ".bot.db.def.part"
    for folder in (left, works):
        folder.mkdir()
        (folder / "bot.db").write_bytes(b"x")
    of_a_backup = db.parent / ".bot.db.ghi.part"
    of_a_backup.touch()
    handle = os.open(works, os.O_RDONLY)
    fcntl.flock(handle, fcntl.LOCK_EX)

    assert Database.parse(url_of(db)).log_of_another() is None

    os.close(handle)
    assert not left.exists()
    assert works.exists()
    assert of_a_backup.exists()


CHILD = """
import asyncio, sys
from pathlib import Path
from bot.domain.time import SystemClock
from storage import audit
from storage.database import url_of
from storage.store import Store
from tests.storage.restores import VAULT

async def main(db, count):
    store = await Store.open(url_of(Path(db)), vault=VAULT, clock=SystemClock())
    try:
        for _ in range(count):
            async with store.begin() as tx:
                for _ in range(50):
                    await audit.append(tx, actor="t", action="t", subject="t", body={"x": "y" * 20000})
        print("folds", flush=True)
        while True:
            await store.checkpoint()
    except Exception as error:
        print(type(error).__name__, flush=True)
        await asyncio.sleep(60)

asyncio.run(main(sys.argv[1], int(sys.argv[2])))
"""


def _size(db: Path) -> int:
    return db.stat().st_size


def _child(db: Path, count: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", CHILD, str(db), str(count)]
    return subprocess.Popen(command, cwd=REPOSITORY, stdout=subprocess.PIPE, text=True)


async def test_a_process_that_is_killed_while_it_folds_its_log_starts_again(db: Path) -> None:
    child = _child(db, 10)
    assert child.stdout is not None
    size = _size(db)
    assert child.stdout.readline() == "folds\n"
    for _ in range(1_000_000):
        if _size(db) > size:
            break
    child.send_signal(signal.SIGKILL)
    child.communicate()

    assert await _why_not(db) == ""
    assert _entries(db) == 500


async def test_after_a_full_disk_it_starts_again_once_there_is_room() -> None:
    with a_small_disk(5) as folder:
        db = folder / "bot.db"
        await migrated_file(db)
        child = _child(db, 100)
        assert child.stdout is not None
        assert child.stdout.readline() == "OperationalError\n"
        child.send_signal(signal.SIGKILL)
        child.communicate()
        mount("-o", "remount,size=60m", str(folder))

        assert await _why_not(db) == ""
        assert _entries(db)


def _a_row_that_no_column_takes(other: sqlite3.Connection) -> None:
    other.execute("PRAGMA ignore_check_constraints=ON")
    columns = [row[1] for row in other.execute("PRAGMA table_info(request)") if row[3] or row[5]]
    marks = ",".join("?" * len(columns))
    other.execute(f"INSERT INTO request ({','.join(columns)}) VALUES ({marks})", ["1"] * len(columns))


@pytest.mark.parametrize(
    "write",
    [
        lambda other: other.execute("CREATE TABLE mine (x)"),
        lambda other: other.execute("DELETE FROM audit_head"),
        _a_row_that_no_column_takes,
    ],
    ids=["a table", "no end of the log", "a row that no column takes"],
)
async def test_what_somebody_else_wrote_and_left_in_the_log_makes_it_no_other_files(
    db: Path, write: Callable[[sqlite3.Connection], object]
) -> None:
    """What they wrote is found by other means, if it is wrong."""
    store = await Store.open(url_of(db), vault=VAULT, clock=SystemClock())
    await _work(store, Random(1))
    await store.close()
    with closing(sqlite3.connect(db)) as other:
        write(other)
        other.commit()
        files = _files(db)
    assert files[1]
    _write(db, *files)

    assert await _why_not(db) == ""


async def optimize(world: World) -> None:
    await world.store.optimize()


@pytest.mark.parametrize(
    "write", [hot_writes.life_of_a_request, hot_writes.events, hot_writes.new_cards, optimize]
)
async def test_whatever_changes_the_file_leaves_new_numbers_in_it(
    tmp_path: Path, write: Callable[[World], Awaitable[None]]
) -> None:
    async with a_world(tmp_path) as world:
        path = world.store.database.path
        assert path is not None
        with closing(sqlite3.connect(path)) as other:
            (before,) = other.execute("PRAGMA user_version").fetchone()
            await write(world)
            (after,) = other.execute("PRAGMA user_version").fetchone()

    assert after != before
