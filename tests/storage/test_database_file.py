"""What is said before an SQLite file is opened: where it cannot be written, and what lies in its place or beside it."""

from __future__ import annotations

import errno
import os
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from storage.database import Database, FileLock, RollingBack, lock_path, log_path
from storage.errors import DatabaseInUse, DatabaseMissing, DatabaseUnreachable, EndOfLogLost


@pytest.fixture
def database(tmp_path: Path) -> Database:
    return Database.parse(f"sqlite:///{tmp_path / 'state.db'}")


def path_of(database: Database) -> Path:
    assert database.path is not None
    return database.path


@pytest.mark.parametrize(
    ("number", "says"),
    [
        (errno.EROFS, "read-only file system"),
        (errno.ENOSPC, "is full"),
        (errno.EDQUOT, "is full"),
        (errno.EACCES, "Give them to the user"),
    ],
)
def test_why_a_file_cannot_be_written_is_said_with_what_to_do(
    database: Database, number: int, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(**_: Any) -> None:
        raise OSError(number, os.strerror(number))

    assert database.unwritable() is None
    for name in ("TemporaryFile", "mkstemp"):
        monkeypatch.setattr(f"storage.database.tempfile.{name}", refuse)

    assert says in str(database.unwritable())
    with pytest.raises(DatabaseUnreachable, match=says):
        database.create_file()


def test_a_lock_of_another_user_is_named_as_what_cannot_be_written(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever runs the tests as root may write everything, so the system is asked in its place."""
    database.create_file()
    lock = lock_path(path_of(database))
    lock.touch()
    assert database.unwritable() is None

    monkeypatch.setattr("storage.database.os.access", lambda path, _: path != lock)

    assert str(database.unwritable()).startswith(f"{lock} cannot be written")


def test_a_database_that_is_no_file_has_nothing_beside_it() -> None:
    server = Database.parse("postgresql://me:secret@db.example.com/state")

    assert (server.unwritable(), server.log_of_another()) == (None, None)
    assert (server.leads_nowhere(), server.left_behind()) == ("", "")
    assert server.is_begun()
    assert server.anchors_beside is None
    assert "secret" in server.libpq
    assert "secret" not in server.shown
    server.create_file()
    server.require_file()


def test_a_link_to_nothing_is_no_place_for_a_new_database(database: Database, tmp_path: Path) -> None:
    real = tmp_path / "elsewhere" / "real.db"
    path_of(database).symlink_to(real)
    for attempt in (database.create_file, database.require_file):
        with pytest.raises(DatabaseMissing, match="Mount its disk"):
            attempt()

    real.parent.mkdir()
    kept = real.with_name("real.db.kept-1")
    kept.touch()
    with pytest.raises(DatabaseMissing, match=str(kept)):
        database.require_file()


LEFT: dict[str, tuple[Callable[[Path], None], str]] = {
    "a log with changes": (lambda path: void(log_path(path).write_bytes(b"x")), "that are in no other file"),
    "an empty log": (lambda path: log_path(path).touch(), ""),
    "nothing": (lambda path: None, ""),
    "what a restore replaced": (lambda path: beside(path, ".before-restore-1"), "which `countersign restore` replaced"),
    "what was open, whole": (lambda path: beside(path, ".kept-1"), "Rename that"),
    "what was open, in part": (lambda path: beside(path, ".kept-1-wal"), "is not whole"),
}  # fmt: skip


def void(_: object) -> None:
    """For a step of which only the effect is wanted."""


def beside(path: Path, suffix: str) -> None:
    path.with_name(path.name + suffix).touch()


@pytest.mark.parametrize("is_empty", [False, True])
@pytest.mark.parametrize("left", LEFT)
def test_what_lies_beside_a_file_that_is_missing_or_empty_is_kept_and_named(
    database: Database, left: str, *, is_empty: bool
) -> None:
    """SQLite would delete a log beside a new file, and with it what is in no other file."""
    leave, says = LEFT[left]
    path = path_of(database)
    if is_empty:
        path.touch()
    leave(path)
    before = sorted(path.parent.iterdir())

    said = database.left_behind()

    assert (says in said) if says else said == ""
    assert not said or ("whose file is empty" in said) is is_empty
    if says:
        with pytest.raises(DatabaseMissing, match="For a new, empty database move it away"):
            database.create_file()
        assert sorted(path.parent.iterdir()) == before


def test_a_file_that_is_begun_is_left_as_it_is(database: Database) -> None:
    database.create_file()
    content = path_of(database).read_bytes()
    database.create_file()
    assert path_of(database).read_bytes() == content
    assert database.left_behind() == ""
    assert oct(path_of(database).stat().st_mode & 0o777) == "0o600"


def test_a_connection_that_is_closed_in_its_transaction_lets_others_write(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    first: Any = sqlite3.connect(path, factory=RollingBack, isolation_level=None)
    first.execute("CREATE TABLE one (id)")
    cursor = first.execute("BEGIN IMMEDIATE")
    first.execute("INSERT INTO one VALUES (1)")

    first.close()

    other = sqlite3.connect(path, timeout=0, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    assert other.execute("SELECT count(*) FROM one").fetchone() == (0,)
    other.close()
    assert cursor is not None, "the cursor was alive all the time"


def test_a_lock_that_somebody_has_is_in_use_and_any_other_error_is_raised_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "state.db"
    path.touch()
    held = FileLock(path)
    with pytest.raises(DatabaseInUse, match=str(path)):
        FileLock(path)
    held.release()
    FileLock(path).release()

    def refuse(*_: Any) -> None:
        raise OSError(errno.ENOLCK, "no locks")

    monkeypatch.setattr("storage.database.fcntl.flock", refuse)
    with pytest.raises(OSError, match="no locks"):
        FileLock(path)


def test_two_names_of_one_file_are_one_database(tmp_path: Path) -> None:
    path, link, hard = tmp_path / "state.db", tmp_path / "link.db", tmp_path / "hard" / "state.db"
    path.touch()
    link.symlink_to(path)
    hard.parent.mkdir()
    os.link(path, hard)
    held = FileLock(path)
    for other in (link, hard):
        with pytest.raises(DatabaseInUse):
            FileLock(other)
    held.release()


def test_an_end_of_the_log_that_is_lost_says_how() -> None:
    for how in ("is gone", "was set back"):
        assert how in str(EndOfLogLost(how))
