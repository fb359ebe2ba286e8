"""Files of backups: no name that something has is taken, nothing damaged goes on, and what fails is put back."""

from __future__ import annotations

import os
import sqlite3
import stat
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from storage.database import Database
from storage.errors import DatabaseUnreachable, DiskFull
from storage.maintenance import copies
from storage.maintenance.copies import CopyRefused


def a_file(path: Path, *statements: str) -> Path:
    with closing(sqlite3.connect(path)) as made:
        for statement in statements or ("CREATE TABLE one (id)",):
            made.execute(statement)
        made.commit()
    return path


@pytest.mark.parametrize("end", ["-wal", "-journal"])
def test_a_new_backup_takes_no_name_that_something_has_or_belongs_to(tmp_path: Path, end: str) -> None:
    target = tmp_path / "backup.db"
    copies._require_free(target)
    log = target.with_name(f"backup.db{end}")
    log.touch()
    copies._require_free(target)  # an empty log says nothing

    log.write_bytes(b"x")
    with pytest.raises(CopyRefused, match=str(log)):
        copies._require_free(target)
    log.unlink()
    target.symlink_to(tmp_path / "gone")
    with pytest.raises(CopyRefused, match="link to a file that is not there"):
        copies._require_free(target)
    target.unlink()
    target.touch()
    with pytest.raises(CopyRefused, match="never overwritten"):
        copies._require_free(target)


def test_no_backup_has_a_name_that_belongs_to_the_database_by_any_path(tmp_path: Path) -> None:
    real = tmp_path / "real"
    real.mkdir()
    (tmp_path / "state.db").symlink_to(a_file(real / "data.db"))
    database = Database.parse(f"sqlite:///{tmp_path / 'state.db'}")

    for path in (tmp_path / "state.db-wal", real / "data.db-wal", real / "data.db.lock"):
        assert copies._is_beside(path, database), path
    for path in (tmp_path / "data.db-wal", tmp_path / "copy.db", real / "state.db-wal"):
        assert not copies._is_beside(path, database), path
    assert not copies._is_beside(tmp_path / "x-wal", Database.parse("postgresql://h/db"))


def test_only_what_countersign_has_worked_with_is_a_copy_of_it(tmp_path: Path) -> None:
    made = (
        "CREATE TABLE alembic_version (version_num)", "INSERT INTO alembic_version VALUES ('1')",
        "CREATE TABLE meta (name, value)", "INSERT INTO meta VALUES ('instance', 'i')",
        "CREATE TABLE audit (seq)", "INSERT INTO audit VALUES (1)",
    )  # fmt: skip
    assert copies._was_in_use(a_file(tmp_path / "whole.db", *made))
    for left_out in range(len(made)):
        rest = [
            one
            for n, one in enumerate(made)
            if n != left_out and not (left_out % 2 == 0 and n == left_out + 1)
        ]
        assert not copies._was_in_use(a_file(tmp_path / f"{left_out}.db", *rest)), made[left_out]


def test_damage_is_said_and_a_whole_file_has_none(tmp_path: Path) -> None:
    whole, none, broken = (tmp_path / name for name in ("whole.db", "none.db", "broken.db"))
    assert copies._damage(a_file(whole)) == ""
    none.write_bytes(b"no database at all" * 100)
    assert copies._damage(none) == "it isn't a database"
    a_file(
        broken,
        "CREATE TABLE one (id)",
        "CREATE TABLE two (id)",
        *["INSERT INTO one VALUES (zeroblob(5000))"] * 5,
    )
    content = bytearray(broken.read_bytes())
    content[4096:8192] = b"\xff" * 4096
    broken.write_bytes(content)
    assert copies._damage(broken) not in ("", "it isn't a database")
    with pytest.raises(CopyRefused, match="cannot be read"):
        copies._damage(tmp_path / "missing.db")
    assert not (tmp_path / "missing.db").exists(), "and none was made"


class Failing:
    """In place of a connection: its backup fails as on a disk."""

    def __init__(self, error: sqlite3.DatabaseError) -> None:
        self._error = error

    def backup(self, _: object) -> None:
        raise self._error

    def close(self) -> None:
        """There is nothing to close."""


def operational(code: int) -> sqlite3.OperationalError:
    error = sqlite3.OperationalError("as SQLite says it")
    error.sqlite_errorcode = code
    return error


@pytest.mark.parametrize(
    ("error", "kind", "says"),
    [
        (operational(sqlite3.SQLITE_FULL), DiskFull, "is full"),
        (operational(sqlite3.SQLITE_IOERR), DatabaseUnreachable, "cannot be read"),
        (sqlite3.DatabaseError("malformed"), CopyRefused, "malformed"),
    ],
)
def test_a_copy_that_fails_says_whether_the_disk_is_full_or_the_database_is_at_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Any, kind: type[Exception], says: str
) -> None:
    monkeypatch.setattr(copies, "_to_read", lambda _: Failing(error))
    with pytest.raises(kind, match=says):
        copies._copy_file(tmp_path / "state.db", tmp_path / "copy.db")


def one_name_alone(*_: Any, **__: Any) -> None:
    """A disk that gives a file one name alone."""
    raise PermissionError(1, "no links here")


@pytest.mark.parametrize("links", [True, False])
def test_a_new_copy_gets_its_name_and_never_that_of_another_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, links: bool
) -> None:
    if not links:
        monkeypatch.setattr(os, "link", one_name_alone)
    unfinished, target, other = (tmp_path / name for name in ("unfinished", "target", "other"))
    unfinished.write_text("new")
    copies._name_new(unfinished, target)
    assert target.read_text() == "new"

    unfinished.write_text("newer") if links else unfinished.touch()
    other.write_text("of somebody")
    with pytest.raises(CopyRefused, match="is there already"):
        copies._name_new(unfinished, other)
    assert other.read_text() == "of somebody"


@pytest.mark.parametrize("links", [True, False])
def test_what_is_replaced_keeps_its_content_under_another_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, links: bool
) -> None:
    if not links:
        monkeypatch.setattr(os, "link", one_name_alone)
    old, new = tmp_path / "old", tmp_path / "new"
    old.write_text("kept")
    copies._name_again(old, new)
    assert (new.read_text(), old.exists()) == ("kept", links)


@pytest.mark.parametrize("is_there", [True, False])
def test_what_was_moved_is_where_it_was_after_a_failure(tmp_path: Path, *, is_there: bool) -> None:
    path, kept = tmp_path / "state.db", tmp_path / "kept"
    kept.write_text("the database")
    if is_there:  # under both names
        os.link(kept, path)
    copies._undo([(path, kept)], path, kept, OSError(5, "no"))
    assert (path.read_text(), kept.exists()) == ("the database", False)


def test_where_even_that_fails_people_read_where_their_database_is(tmp_path: Path) -> None:
    path, kept = tmp_path / "state.db", tmp_path / "kept"
    with pytest.raises(CopyRefused, match=f"kept as {kept}: rename it to {path}"):
        copies._undo([(path, kept)], path, kept, OSError(28, "No space left on device"))


def test_a_second_name_that_a_killed_restore_left_is_forgotten_and_another_file_is_not(
    tmp_path: Path,
) -> None:
    path = a_file(tmp_path / "state.db")
    second, other = (path.with_name(f"state.db{copies._REPLACED}{n}") for n in (1, 2))
    os.link(path, second)
    a_file(other)
    copies._forget_second_names(path)
    assert (path.exists(), second.exists(), other.exists()) == (True, False, True)


@pytest.mark.parametrize(
    ("as_root", "keeps_mode"), [(True, True), (True, False), (False, True), (False, False)]
)
def test_what_is_put_in_place_belongs_to_whom_the_database_belonged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, as_root: bool, keeps_mode: bool
) -> None:
    owner, path, work = (tmp_path / name for name in ("owner", "state.db", "work"))
    for made in (owner, work):
        made.touch()
    owner.chmod(0o640)
    work.chmod(0o600)
    given: list[tuple[Path, int, int]] = []

    def give(made: Path, uid: int, gid: int) -> None:
        given.append((made, uid, gid))

    monkeypatch.setattr(os, "geteuid", lambda: 0 if as_root else 1000)
    monkeypatch.setattr(os, "chown", give)

    copies._belongs_to(owner, path, work, keeps_mode=keeps_mode)

    found = owner.stat()
    to_owner = [(made, found.st_uid, found.st_gid) for made in (work, path.with_name("state.db.lock"))]
    assert given == (to_owner if as_root else [])
    assert stat.S_IMODE(work.stat().st_mode) == (0o640 if keeps_mode else 0o600)
