"""A PostgreSQL server for what carries work there."""

from collections.abc import Iterator

import pytest

from tests.support.databases import PostgresDatabases, databases_for


@pytest.fixture(scope="module")
def databases() -> Iterator[PostgresDatabases]:
    yield from databases_for("several executors on PostgreSQL")
