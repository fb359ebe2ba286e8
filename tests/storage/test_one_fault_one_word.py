"""What is wrong with the disk of an SQLite file is said in the same words wherever it shows: by /readyz, the doctor, a
start and a backup. The doctor, too, sees it where a row is stored as far as SQLite's own memory only.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from bot.cli.terminal import ExitCode
from tests.storage.faults_in_use import LITTLE_ROOM, LOCK
from tests.support.databases import migrated_file
from tests.support.world import MASTER

ROOT = Path(__file__).parents[2]
AGAIN, FOR_GOOD = ExitCode.NOT_WELL, ExitCode.UNUSABLE
# Of each fault: its words, those of a backup into the same folder, and the exit code of a start.
FAULTS = {
    "ENOSPC": (r"The disk of \S+ is full\.", "has no room for the copy", AGAIN),
    "EDQUOT": (r"The disk of \S+ is full.+quota", "has no room for the copy", AGAIN),
    "EFBIG": (r"The disk of \S+ is full", "has no room for the copy", AGAIN),
    "EIO": (r"The disk of \S+ reports errors", r"reports errors|Input/output error", AGAIN),
    "EROFS": (r"read-only", r"[Rr]ead-only", FOR_GOOD),
    "EIO -wal": (r"The disk of \S+ reports errors", "", None),
    LITTLE_ROOM: (r"The disk of \S+ is full: 40 kB are left", "", None),
    LOCK: (r"Another process holds the write lock", "", None),
}


@contextmanager
def failing_disk(tmp_path: Path) -> Iterator[tuple[Path, Path, dict[str, str]]]:
    """A folder, the file that says with what its writes end, and the environment in which it does."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("disks that refuse to store: there is no C compiler")
    library, folder, errno_file = tmp_path / "failing_disk.so", tmp_path / "disk", tmp_path / "errno"
    source = ROOT / "tests" / "support" / "failing_disk.c"
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
    folder.mkdir()
    preloaded = {
        "LD_PRELOAD": str(library),
        "FAILING_DISK": f"{folder}/",
        "FAILING_DISK_ERRNO": str(errno_file),
    }
    yield folder, errno_file, {**os.environ, **preloaded, "COUNTERSIGN_MASTER_KEYS": MASTER}


def said_of(tmp_path: Path, *faults: str) -> dict[str, dict[str, Any]]:
    with failing_disk(tmp_path) as (folder, errno_file, environment):
        files = map(str, (tmp_path / "whole.db", folder, errno_file))
        command = [sys.executable, "-m", "tests.storage.faults_in_use", *files, *faults]
        done = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-4000:]
    found: dict[str, dict[str, Any]] = json.loads(done.stdout.splitlines()[-1])
    return found


async def test_each_fault_of_a_disk_has_the_same_words_wherever_it_shows(tmp_path: Path) -> None:
    await migrated_file(tmp_path / "whole.db")
    found = await asyncio.to_thread(said_of, tmp_path, *FAULTS)
    wrong = []
    for fault, (words, of_backup, code) in FAULTS.items():
        said = found[fault]
        expected = {
            "readyz": (words, 0),
            "doctor beside the bot": (words, 1),
            "doctor alone": (words, 1),
            "backup": (of_backup, None),
            "cold start": (words if code is not None else "", code),
            "nothing wrong afterwards": (None, 0),
        }
        for place, (pattern, ends) in expected.items():
            if place not in said:
                continue
            text, number = said[place]
            fits = text == "" if pattern is None else bool(re.search(pattern, text))
            if not fits or (ends is not None and number != ends):
                wrong.append(f"{fault}, {place}: {text!r} {number}")
        if not said["untouched"]:
            wrong.append(f"{fault}: the doctor or a backup left something")
    assert wrong == []
