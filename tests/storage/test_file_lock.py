"""One process at a time on one SQLite file: the lock is of the file, whatever path leads to it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from storage.database import FileLock
from storage.errors import DatabaseInUse


def same(folder: Path, file: Path) -> Path:
    return file


def dotted(folder: Path, file: Path) -> Path:
    return file.parent / ".." / file.parent.name / file.name


def link(folder: Path, file: Path) -> Path:
    (folder / "link.db").symlink_to(file)
    return folder / "link.db"


def link_to_a_link(folder: Path, file: Path) -> Path:
    (folder / "again.db").symlink_to(link(folder, file))
    return folder / "again.db"


def linked_folder(folder: Path, file: Path) -> Path:
    (folder / "way").symlink_to(file.parent)
    return folder / "way" / file.name


def relative(folder: Path, file: Path) -> Path:
    return Path(os.path.relpath(file))


def hard_link(folder: Path, file: Path) -> Path:
    if sys.platform != "linux":
        pytest.skip("only Linux has names for sockets that are no files")
    (folder / "hard.db").hardlink_to(file)
    return folder / "hard.db"


WAYS = (same, dotted, link, link_to_a_link, linked_folder, relative, hard_link)
A_WAY = pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "data").mkdir()
    (tmp_path / "elsewhere").mkdir()
    found = tmp_path / "data" / "bot.db"
    found.touch()
    return found


@A_WAY
def test_no_path_leads_to_a_second_lock_of_one_file(
    file: Path, tmp_path: Path, way: Callable[[Path, Path], Path]
) -> None:
    other = way(tmp_path / "elsewhere", file)
    held = FileLock(file)
    with pytest.raises(DatabaseInUse):
        FileLock(other)
    held.release()

    again = FileLock(other)
    with pytest.raises(DatabaseInUse):
        FileLock(file)
    again.release()


def test_two_files_of_one_name_are_locked_apart(tmp_path: Path) -> None:
    locks = []
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "bot.db").touch()
        locks.append(FileLock(tmp_path / folder / "bot.db"))
    for lock in locks:
        lock.release()
