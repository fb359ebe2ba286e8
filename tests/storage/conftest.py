"""Every storage test runs on SQLite and on PostgreSQL."""

from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any

import pytest

from storage.store import Store
from storage.vault import Keyring, Vault
from tests.support.clock import FrozenClock
from tests.support.databases import Databases, SqliteFiles
from tests.support.disks import a_small_disk

MASTER = "lyRuFlrH8Ycz2eWVpYVS0eFBW1vKlmFXZBQuQ0ZkHbg="


@pytest.fixture
def url(databases: Databases) -> Iterator[str]:
    """The address of a migrated database for a test that leaves the schema as it is."""
    lent = databases.lend()
    yield lent
    databases.take_back(lent)


@pytest.fixture
def own_url(databases: Databases) -> Iterator[str]:
    """The address of a migrated database whose schema the test may change."""
    made = databases.migrated()
    yield made
    databases.drop(made)


@pytest.fixture
def empty_url(databases: Databases) -> Iterator[str]:
    """The address of a database without tables."""
    made = databases.empty()
    yield made
    databases.drop(made)


@pytest.fixture
def vault() -> Vault:
    return Vault(Keyring.parse(MASTER))


Opener = Callable[..., Coroutine[Any, Any, Store]]


@pytest.fixture
async def open_store(vault: Vault, clock: FrozenClock) -> AsyncIterator[Opener]:
    """Opens stores and closes them at the end."""
    opened: list[Store] = []

    async def open_(url: str, **options: Any) -> Store:
        store = await Store.open(url, **{"vault": vault, "clock": clock, **options})
        opened.append(store)
        return store

    yield open_
    for store in opened:
        await store.close()


@pytest.fixture
async def store(url: str, open_store: Opener) -> Store:
    return await open_store(url)


@pytest.fixture
async def own_store(own_url: str, open_store: Opener) -> Store:
    """A store whose schema the test may change."""
    return await open_store(own_url)


@pytest.fixture
async def sqlite_store(sqlite_files: SqliteFiles, open_store: Opener) -> AsyncIterator[Store]:
    """For tables of cases that do not depend on the database."""
    url = sqlite_files.migrated()
    store = await open_store(url)
    yield store
    await store.close()
    sqlite_files.drop(url)


@pytest.fixture
def small_disk() -> Iterator[Path]:
    """A file system of 6 MB of its own."""
    with a_small_disk() as folder:
        yield folder
