"""A PostgreSQL server for what carries work there."""

from collections.abc import Iterator

import pytest

from tests.support.databases import PostgresDatabases, postgres_server


@pytest.fixture(scope="module")
def databases() -> Iterator[PostgresDatabases]:
    try:
        with postgres_server() as url:
            made = PostgresDatabases(url)
            yield made
            made.close()
    except ImportError:
        pytest.skip("several executors on PostgreSQL: set TEST_POSTGRES_URL, or install the server's wheel")
