"""What is done all the time costs the same with large tables: the plans of its statements, its pages, what is counted.

The plans are read where the tables are large, with the values that the statements had.
"""

import re
import sqlite3
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pytest
from sqlalchemy import event, make_url, text

from bot.domain.cards import CardEntry
from storage.cards import cards
from storage.store import Store
from tests.support.databases import Databases
from tests.support.hot_paths import HOT, Hot, begin
from tests.support.hot_writes import without_new_indexes
from tests.support.large_data import Size
from tests.support.world import World, a_world

LARGE = Size(requests=20_000, events_each=1, messages_each=1)
GROWING = (
    "request", "decision", "attempt", "inbox", "outbox", "message", "audit", "card", "card_word", "purchase",
    "purchase_event", "alert",
)  # fmt: skip
# A whole table is read in many times these: steps of SQLite's machine, rows that PostgreSQL looks at. The most that
# anything hot takes is the count of the last thousand requests, and the decisions of a month.
MOST_STEPS = 40_000
MOST_ROWS = 3_000
SHOWN = 300
WORSE_BEFORE = {
    "/requests verify, the entries of one",
    "choosing a card, a name",
    "poll: messages to send",
    "poll: expire, remind, purge",
    "poll: the last delivery",
}


@dataclass(frozen=True)
class Statement:
    """One statement as it was run, with its values."""

    text: str
    values: Any


@contextmanager
def recorded(world: World) -> Iterator[list[Statement]]:
    """Every statement of the block."""
    found: list[Statement] = []

    def note(_c: Any, _cursor: Any, statement: str, values: Any, _context: Any, many: bool) -> None:
        found.append(Statement(statement, values[0] if many else values))

    engines = [world.store._reader.sync_engine, world.store._writer.sync_engine]
    for engine in engines:
        event.listen(engine, "before_cursor_execute", note)
    yield found
    for engine in engines:
        event.remove(engine, "before_cursor_execute", note)


class Sqlite:
    """Reads plans of SQLite, and counts the steps of its machine."""

    def __init__(self, path: str) -> None:
        self._connection = sqlite3.connect(path, isolation_level=None)

    def faults(self, one: Statement) -> list[str]:
        plan = self._connection.execute(f"EXPLAIN QUERY PLAN {one.text}", one.values).fetchall()
        found = [line[3] for line in plan if self._is_scan(line[3])]
        steps = self._steps(one)
        return [*found, *([f"{steps:,} steps: {[line[3] for line in plan]}"] if steps > MOST_STEPS else [])]

    def _is_scan(self, line: str) -> bool:
        """A table read whole: without an index. Along an index it is as long as it takes, which the steps show."""
        scanned = re.match(r"SCAN (\w+)(?! USING)", line)
        return scanned is not None and scanned[1] in GROWING

    def _steps(self, one: Statement) -> int:
        steps = 0

        def count() -> None:
            nonlocal steps
            steps += 100

        self._connection.execute("BEGIN")
        self._connection.set_progress_handler(count, 100)
        self._connection.execute(one.text, one.values).fetchall()
        self._connection.set_progress_handler(None, 0)
        self._connection.execute("ROLLBACK")
        return steps

    def close(self) -> None:
        self._connection.close()


class Postgres:
    """Reads plans of PostgreSQL, with the rows that were looked at."""

    def __init__(self, url: str) -> None:
        address = make_url(url).set(drivername="postgresql").render_as_string(hide_password=False)
        self._connection = psycopg.connect(address)

    def faults(self, one: Statement) -> list[str]:
        explained = f"EXPLAIN (ANALYZE, FORMAT JSON) {one.text}"
        (plan,) = self._connection.execute(explained.encode(), one.values).fetchone() or ([],)
        self._connection.rollback()
        looked_at = {
            f"{node['Node Type']} on {node['Relation Name']}": _looked_at(node)
            for node in _nodes(plan[0]["Plan"])
            if node.get("Relation Name") in GROWING
        }
        return [f"rows looked at: {looked_at}"] if sum(looked_at.values()) > MOST_ROWS else []

    def close(self) -> None:
        self._connection.close()


def _nodes(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield node
    for part in node.get("Plans", ()):
        yield from _nodes(part)


def _looked_at(node: dict[str, Any]) -> float:
    rows = (
        node["Actual Rows"]
        + node.get("Rows Removed by Filter", 0)
        + node.get("Rows Removed by Index Recheck", 0)
    )
    return float(rows * node["Actual Loops"])


@pytest.fixture
async def large(databases: Databases, tmp_path: Path) -> AsyncIterator[World]:
    """A world whose tables are large."""
    url = databases.migrated()
    async with a_world(tmp_path, url=url) as world:
        await begin(world, LARGE)
        yield world
    databases.drop(url)


@pytest.mark.by_turns(4)
async def test_no_hot_statement_reads_a_table_whole(large: World) -> None:
    statements = {hot.name: await _statements(large, hot) for hot in HOT}

    found = _faults(large, statements)

    assert sum(map(len, statements.values())) > 200, "the statements were recorded"
    assert not found, "\n".join(f"{n}:\n   {f}" for n, each in found.items() for f in each)

    await without_new_indexes(large)
    found = _faults(large, statements)

    assert found.keys() >= WORSE_BEFORE, "the plans tell where an index is missing"


def _faults(world: World, statements: Mapping[str, Sequence[Statement]]) -> dict[str, list[str]]:
    """What is wrong with the plans, by what is done."""
    database = world.store.database
    url = database.url.render_as_string(hide_password=False)
    reader: Sqlite | Postgres = Sqlite(str(database.path)) if database.path else Postgres(url)
    found: dict[str, list[str]] = {}
    for name, asked in statements.items():
        for one in asked:
            if re.match(r"\W*(SELECT|WITH|UPDATE|DELETE)", one.text):
                shown = f"{one.text[:SHOWN]} … {one.text[-SHOWN:]}"
                found.setdefault(name, []).extend(f"{f}\n      of {shown}" for f in reader.faults(one))
    reader.close()
    return {name: faults for name, faults in found.items() if faults}


async def _statements(world: World, hot: Hot) -> list[Statement]:
    made = await hot.prepared(world) if hot.prepared else None
    with recorded(world) as found:
        await hot.work(world, made)
    return found


async def test_the_database_knows_its_figures_once_it_has_looked_again(store: Store) -> None:
    async with store.begin() as tx:
        await cards.put_many(tx, "main", [CardEntry(f"c{n}", "main", f"HOLDER {n}") for n in range(37)])

    await store.optimize()

    async with store.read() as tx:
        figures = "SELECT CAST(reltuples AS text) FROM pg_class WHERE relname = 'card'"
        if not tx.is_postgres:
            figures = "SELECT stat FROM sqlite_stat1 WHERE tbl = 'card' AND idx = 'ix_card_last4'"
        assert (await tx.run(text(figures))).scalar_one().split()[0] == "37"
