"""Transactions commit or roll back whole, readers wait for nobody, and one process owns a SQLite file."""

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from storage import database, instance
from storage.cards import api_snapshots
from storage.database import PRAGMAS
from storage.errors import BadDatabaseUrl, DatabaseInUse, DatabaseMissing, DatabaseUnreachable, SchemaBehind
from storage.migrate import migrate
from storage.store import Store
from storage.vault import Vault
from tests.storage.conftest import MASTER, Opener
from tests.support.clock import FrozenClock
from tests.support.databases import Databases


async def test_a_block_that_raises_leaves_nothing(store: Store) -> None:
    async def half() -> None:
        async with store.begin() as tx:
            await api_snapshots.put(tx, "main", "float", {"balance_usd": "1.00"})
            raise RuntimeError("half-way")

    with pytest.raises(RuntimeError, match="half-way"):
        await half()

    async with store.read() as tx:
        assert await api_snapshots.get(tx, "main", "float") is None


async def test_callbacks_run_after_the_commit_and_never_after_a_rollback(store: Store) -> None:
    ran: list[str] = []

    async with store.begin() as tx:
        tx.after_commit(lambda: ran.append("committed"))
        assert ran == []

    async def half() -> None:
        async with store.begin() as tx:
            tx.after_commit(lambda: ran.append("rolled back"))
            raise RuntimeError

    with pytest.raises(RuntimeError):
        await half()

    assert ran == ["committed"]


async def test_a_cancelled_block_leaves_nothing_and_frees_the_lock(store: Store) -> None:
    inside = asyncio.Event()

    async def work() -> None:
        async with store.begin() as tx:
            await api_snapshots.put(tx, "main", "float", "half")
            inside.set()
            await asyncio.Event().wait()

    task = asyncio.create_task(work())
    await inside.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    async with store.begin() as tx:
        assert await api_snapshots.get(tx, "main", "float") is None
        await api_snapshots.put(tx, "main", "float", "whole")


async def test_a_reader_neither_waits_for_a_writer_nor_sees_its_half(store: Store) -> None:
    async with store.begin() as tx:
        await api_snapshots.put(tx, "main", "float", "new")

        async with store.read() as other:
            assert await api_snapshots.get(other, "main", "float") is None


async def test_a_reader_sees_one_moment_however_long_it_looks(store: Store) -> None:
    async with store.read() as tx:
        assert await api_snapshots.get(tx, "main", "float") is None
        async with store.begin() as writing:
            await api_snapshots.put(writing, "main", "float", "new")

        assert await api_snapshots.get(tx, "main", "float") is None


async def test_a_read_block_cannot_write(store: Store) -> None:
    with pytest.raises(DBAPIError):
        async with store.read() as tx:
            await api_snapshots.put(tx, "main", "float", "new")


async def test_fifty_writers_at_once_all_get_their_turn(store: Store) -> None:
    async def count() -> None:
        async with store.begin() as tx:
            await tx.run(text("UPDATE audit_head SET seq = seq + 1"))

    await asyncio.gather(*(count() for _ in range(50)))

    async with store.read() as tx:
        assert (await tx.run(text("SELECT seq FROM audit_head"))).scalar_one() == 50


async def test_a_second_process_on_one_sqlite_file_is_refused(
    sqlite_files: Databases, open_store: Opener, clock: FrozenClock
) -> None:
    url = sqlite_files.migrated()
    first = await open_store(url)

    second = await asyncio.to_thread(_open_in_another_process, url)
    await first.close()
    third = await asyncio.to_thread(_open_in_another_process, url)

    assert second.returncode == 3
    assert "Another Countersign process is using" in second.stdout
    assert "PostgreSQL" in second.stdout
    assert third.returncode == 0, third.stderr
    sqlite_files.drop(url)


async def test_commands_that_read_work_beside_the_owner(sqlite_files: Databases, open_store: Opener) -> None:
    url = sqlite_files.migrated()
    owner = await open_store(url)
    async with owner.begin() as tx:
        await api_snapshots.put(tx, "main", "float", "new")

    beside = await open_store(url, exclusive=False)

    async with beside.read() as tx:
        found = await api_snapshots.get(tx, "main", "float")
    assert found is not None
    assert found.value == "new"


async def test_two_replicas_share_a_postgres_database(
    postgres_databases: Databases, open_store: Opener
) -> None:
    url = postgres_databases.migrated()
    one, two = await open_store(url), await open_store(url)

    async with one.begin() as tx:
        await api_snapshots.put(tx, "main", "float", "new")
    async with two.read() as tx:
        assert await api_snapshots.get(tx, "main", "float") is not None

    await one.close()
    await two.close()
    postgres_databases.drop(url)


async def test_a_database_without_tables_is_refused_with_the_fix(empty_url: str, open_store: Opener) -> None:
    expected = DatabaseMissing if empty_url.startswith("sqlite") else SchemaBehind
    with pytest.raises(expected, match="countersign migrate"):
        await open_store(empty_url)

    assert not _exists(empty_url), "looking must not make a file"


async def test_a_file_that_is_no_database_is_named(tmp_path: Path, open_store: Opener) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("not a database, but long enough to have a header of its own\n" * 50)

    with pytest.raises(DatabaseUnreachable, match=r"notes\.txt"):
        await open_store(f"sqlite:///{path}")


@pytest.mark.parametrize("url", ["mysql://x/y", "sqlite://", "sqlite:///:memory:", "nonsense", ""])
async def test_an_address_we_cannot_use_is_explained(url: str, open_store: Opener) -> None:
    with pytest.raises(BadDatabaseUrl, match="sqlite:///"):
        await open_store(url)


async def test_an_unreachable_server_is_named_without_its_password(open_store: Opener) -> None:
    with pytest.raises(DatabaseUnreachable) as caught:
        await open_store("postgresql://bot:hunter2@127.0.0.1:1/none")

    assert "127.0.0.1" in str(caught.value)
    assert "hunter2" not in str(caught.value)


async def test_all_connections_of_a_process_keep_sixty_four_mib_of_pages_together_at_most(
    sqlite_files: Databases, open_store: Opener
) -> None:
    url = sqlite_files.empty()
    await migrate(url)
    store = await open_store(url)
    asked = text("PRAGMA cache_size")

    async with store.begin() as tx:
        writer_kib = -(await tx.run(asked)).scalar_one()
    async with store.read() as tx:
        reader_kib = -(await tx.run(asked)).scalar_one()

    # The one that writes, that of the inbox, and four that read.
    assert 2 * writer_kib + 4 * reader_kib <= 64 * 1024
    await store.close()
    sqlite_files.drop(url)


async def test_the_sqlite_file_is_for_its_owner_alone_and_set_up_to_keep_intents(
    sqlite_files: Databases, open_store: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "PRAGMAS", PRAGMAS)  # tests do without the wait for the disk
    url = sqlite_files.empty()
    await migrate(url)
    store = await open_store(url)

    asked = ("journal_mode", "synchronous", "foreign_keys", "secure_delete")
    async with store.begin() as tx:
        found = [(await tx.run(text(f"PRAGMA {name}"))).scalar_one() for name in asked]

    assert found == ["wal", 2, 1, 1]
    assert _mode(url) == 0o600
    await store.close()
    sqlite_files.drop(url)


async def test_the_instance_has_a_name_of_six_letters_and_digits(store: Store, vault: Vault) -> None:
    async with store.read() as tx:
        assert await instance.instance(tx) == store.instance
    assert len(store.instance) == 6
    assert store.instance.isalnum()


def _mode(url: str) -> int:
    return Path(url.removeprefix("sqlite:///")).stat().st_mode & 0o777


def _exists(url: str) -> bool:
    return url.startswith("sqlite") and Path(url.removeprefix("sqlite:///")).exists()


_OPEN = """
import asyncio, sys
from bot.domain.time.clock import SystemClock
from storage.errors import DatabaseInUse
from storage.migrate import migrate
from storage.store import Store
from storage.vault import Keyring, Vault

async def main() -> int:
    try:
        store = await Store.open(sys.argv[1], vault=Vault(Keyring.parse(sys.argv[2])), clock=SystemClock())
    except DatabaseInUse as error:
        print(error)
        return 3
    await store.close()
    return 0

sys.exit(asyncio.run(main()))
"""


def _open_in_another_process(url: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", _OPEN, url, MASTER]
    return subprocess.run(command, capture_output=True, text=True, timeout=50)


async def test_the_owner_in_this_process_is_refused_a_second_time(
    sqlite_files: Databases, open_store: Opener
) -> None:
    url = sqlite_files.migrated()
    await open_store(url)

    with pytest.raises(DatabaseInUse):
        await open_store(url)
