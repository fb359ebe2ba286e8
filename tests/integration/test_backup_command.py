"""`countersign backup` and `restore`, as an operator types them."""

from __future__ import annotations

import asyncio
import base64
import os
import sqlite3
import stat
import subprocess
import sys
from contextlib import closing
from pathlib import Path

from storage.operators import safe_mode
from tests.integration.surroundings import ROOT, Surroundings
from tests.support.waiting import eventually


def countersign(around: Surroundings, *words: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, **around.env, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [sys.executable, "-m", "bot", *words], env=env, capture_output=True, text=True, check=False
    )


async def test_a_backup_is_taken_beside_a_running_bot_and_put_back_in_safe_mode(
    around: Surroundings, tmp_path: Path
) -> None:
    running = await around.start()
    copy = tmp_path / "copy.db"
    try:
        taken = countersign(around, "backup", str(copy))
        assert taken.returncode == 0, taken.stderr
        assert "is written and checked" in taken.stdout
        assert stat.S_IMODE(copy.stat().st_mode) == 0o600
        assert [name for name in os.listdir(tmp_path) if ".part" in name] == [], "nothing unfinished is left"

        again = countersign(around, "backup", str(copy))
        assert (again.returncode, "never overwritten" in again.stderr) == (2, True)
        refused = countersign(around, "restore", str(copy))
        assert refused.returncode == 1
        assert "Another Countersign process is using" in refused.stderr
    finally:
        await running.stop()

    damaged = tmp_path / "damaged.db"
    damaged.write_bytes(copy.read_bytes()[:40_000])
    before = around.database.read_bytes()
    refused = countersign(around, "restore", str(damaged))
    assert (refused.returncode, "is damaged" in refused.stderr) == (2, True)
    assert around.database.read_bytes() == before
    assert "There is no backup at" in countersign(around, "restore", str(tmp_path / "none.db")).stderr

    restored = countersign(around, "restore", str(copy))
    assert restored.returncode == 0, restored.stderr
    assert "The next start is in safe mode" in restored.stdout
    (kept,) = [tmp_path / name for name in os.listdir(tmp_path) if name.startswith("bot.db.before-restore-")]
    assert sqlite3.connect(kept).execute("SELECT count(*) FROM audit").fetchone()[0] > 0

    running = await around.start()
    try:
        async with running.core.store.read() as tx:
            assert await safe_mode.current(tx) is not None
    finally:
        await running.stop()


async def test_sigterm_ends_a_backup_as_an_error_does(around: Surroundings, tmp_path: Path) -> None:
    """As at the end of the machine: nothing unfinished is left."""
    running = await around.start()
    await running.stop()
    with closing(sqlite3.connect(around.database)) as database:
        database.execute("CREATE TABLE large (content BLOB)")
        database.executemany("INSERT INTO large VALUES (zeroblob(1000000))", [()] * 30)
        database.commit()
    before = set(os.listdir(tmp_path))
    env = {**os.environ, **around.env, "PYTHONPATH": str(ROOT)}
    backup = [sys.executable, "-m", "bot", "backup", str(tmp_path / "copy.db")]
    copying = await asyncio.create_subprocess_exec(*backup, env=env, stderr=subprocess.PIPE)

    async def is_under_way() -> bool:
        return any(".part" in name for name in os.listdir(tmp_path))

    await eventually("the copy is begun", is_under_way, within_s=60, every_s=0.01)
    copying.terminate()
    _, said = await copying.communicate()

    assert (copying.returncode, said) == (1, b"It was ended by SIGTERM before it was done.\n")
    assert set(os.listdir(tmp_path)) - before <= {"bot.db-wal", "bot.db-shm"}


def test_a_backup_of_a_database_that_is_not_there_is_refused_in_a_sentence(tmp_path: Path) -> None:
    database, target = tmp_path / "bot.db", tmp_path / "copy.db"
    env = {**os.environ, "PYTHONPATH": str(ROOT), "COUNTERSIGN_DATABASE_URL": f"sqlite:///{database}"}
    master = base64.b64encode(os.urandom(32)).decode()

    done = subprocess.run(
        [sys.executable, "-m", "bot", "backup", str(target)],
        env={**env, "COUNTERSIGN_MASTER_KEYS": master},
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stdout) == (2, "")
    assert f"There is no database at {database}" in done.stderr
    assert "Traceback" not in done.stderr
    assert os.listdir(tmp_path) == [], "nothing was made"
