"""What a piece of work costs: transactions and statements of the database, calls of the API, questions to Slack."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import event

from storage.store import Store
from tests.support.world import World

_OF_SQLITE = ("COMMIT", "ROLLBACK", "PRAGMA", "SAVEPOINT", "RELEASE")


@dataclass(slots=True)
class Cost:
    """What was counted. A statement of a transaction's own beginning and end is none."""

    writes: int = 0
    reads: int = 0
    statements: list[str] = field(default_factory=list)
    api_calls: list[str] = field(default_factory=list)
    slack: list[str] = field(default_factory=list)

    @property
    def transactions(self) -> int:
        """Those that may write and those that only read."""
        return self.writes + self.reads

    def shown(self) -> str:
        """For the message of a test that fails."""
        lines = [f"{self.writes} writing, {self.reads} reading, {len(self.statements)} statements"]
        return "\n".join([*lines, *self.statements, *self.api_calls, *self.slack])


@contextmanager
def counted(world: World) -> Iterator[Cost]:
    """Count until the end of the block, on SQLite; what the bot asked the API and Slack as well."""
    cost = Cost()
    with _statements(world.store, cost), _slack(world, cost), _api(world, cost):
        yield cost


@contextmanager
def _statements(store: Store, cost: Cost) -> Iterator[None]:
    def counts(_c: Any, _cursor: Any, statement: str, *_: Any) -> None:
        text = " ".join(statement.split())
        if text.startswith("BEGIN IMMEDIATE"):
            cost.writes += 1
        elif text.startswith("BEGIN"):
            cost.reads += 1
        elif not text.startswith(_OF_SQLITE):
            cost.statements.append(text)

    engines = [store._writer.sync_engine, store._reader.sync_engine]
    for engine in engines:
        event.listen(engine, "before_cursor_execute", counts)
    try:
        yield
    finally:
        for engine in engines:
            event.remove(engine, "before_cursor_execute", counts)


@contextmanager
def _slack(world: World, cost: Cost) -> Iterator[None]:
    directory: Any = world.people
    before = {name: getattr(directory, name) for name in ("actor", "each", "members", "members_lately")}
    inside = False

    def counting(name: str) -> Any:
        async def asked(*given: Any) -> Any:
            nonlocal inside
            if inside:  # one question asked by way of another is one
                return await before[name](*given)
            cost.slack.append(name)
            inside = True
            try:
                return await before[name](*given)
            finally:
                inside = False

        return asked

    for name in before:
        setattr(directory, name, counting(name))
    try:
        yield
    finally:
        for name in before:
            delattr(directory, name)


@contextmanager
def _api(world: World, cost: Cost) -> Iterator[None]:
    wire: Any = world.core.partners["main"]._wire
    exchange = wire.exchange

    async def counting(out: Any) -> Any:
        cost.api_calls.append(str(out.endpoint.value))
        return await exchange(out)

    wire.exchange = counting
    try:
        yield
    finally:
        del wire.exchange
