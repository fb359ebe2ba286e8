"""More executors on one database cost no more calls: whoever reserves a request does all the work of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.engine.several import REQUESTS, several
from tests.support.databases import PostgresDatabases

# An execution: the card, the top-up, and a share of what one look at the account is good for.
CALLS_AN_EXECUTION = 3


@pytest.mark.by_turns(4)
@pytest.mark.parametrize("count", [1, 2, 3])
async def test_the_calls_of_an_execution_do_not_grow_with_the_executors(
    postgres_databases: PostgresDatabases, tmp_path: Path, count: int
) -> None:
    url = postgres_databases.migrated()
    async with several(url, tmp_path, count) as executors:
        calls = await executors.calls_of(REQUESTS)
    postgres_databases.drop(url)
    print(f"\n{count} executors, {REQUESTS} executions: {sum(calls.values())} calls {calls}")

    assert calls["POST topup"] == REQUESTS
    assert sum(calls.values()) <= CALLS_AN_EXECUTION * REQUESTS
