"""The small world for tests of the use cases."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from tests.support.databases import BACKENDS, PostgresDatabases
from tests.support.kinds import QUOTE_NAMES, kind_class
from tests.support.world import World, a_world


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with a_world(tmp_path) as made:
        yield made


@pytest.fixture(params=BACKENDS)
def url(request: pytest.FixtureRequest) -> Iterator[str]:
    """Of a database of the test's own, on PostgreSQL; "" = an SQLite file, which the world makes."""
    if request.param.startswith("sqlite"):
        yield ""
        return
    databases: PostgresDatabases = request.getfixturevalue("postgres_databases")
    made = databases.migrated()
    yield made
    databases.drop(made)


@pytest.fixture
def deposits_are_set_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """The fields of a quote are named, as they are where deposits are agreed on."""
    monkeypatch.setattr(kind_class("deposit_quote"), "body_names", QUOTE_NAMES)
