"""A transaction whose task is cancelled, at whichever of its steps, leaves neither rows nor a lock behind."""

import asyncio
import gc
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from itertools import count
from typing import Any

import pytest

from storage.cards import api_snapshots
from storage.sqlite import SqliteConnection
from storage.sqlite import connections as sqlite_connections
from storage.store import Store

SOON_S = 3.0  # well below the ten seconds that SQLite waits for a lock
STEPS = ("begin", "execute", "commit", "run_sync")
Step = Callable[..., Coroutine[Any, Any, Any]]
HOW = ["before the statement runs", "while it runs", "when it has run", "twice"]


class Canceller:
    """Cancels the task that makes the n-th of the calls to an SQLite connection that may wait."""

    def __init__(self, nth: int, how: str) -> None:
        self.nth, self.how = nth, how
        self.calls = 0

    def around(self, step: Step) -> Step:
        async def cancelled(connection: SqliteConnection, *given: Any) -> Any:
            task = asyncio.current_task()
            assert task is not None
            if task.get_name() != "to be cancelled":
                return await step(connection, *given)
            self.calls += 1
            if self.calls != self.nth and not (self.how == "twice" and self.calls > self.nth):
                return await step(connection, *given)
            if self.how == "when it has run":
                done = await step(connection, *given)
                task.cancel()
                await asyncio.sleep(0)
                return done
            if self.how == "while it runs":
                asyncio.get_running_loop().call_soon(task.cancel)
            else:
                task.cancel()
            return await step(connection, *given)

        return cancelled


@pytest.fixture(autouse=True)
def _no_collection_of_garbage() -> Iterator[None]:
    """What a lock hangs on must not be up to the collector, which need not come."""
    gc.disable()
    yield
    gc.enable()


async def _changes(store: Store) -> None:
    async with store.begin() as tx:
        await api_snapshots.put(tx, "main", "float", "half")
        await api_snapshots.take(tx, "main", "float", of=tx.now)
        await api_snapshots.put(tx, "main", "float", "whole")


Work = Callable[[], Coroutine[Any, Any, object]]
Check = Callable[[object], Awaitable[None]]


async def _cancelled_at_every_step(
    monkeypatch: pytest.MonkeyPatch, how: str, work: Work, check: Check, *, steps: int
) -> None:
    """Cancel `work` at its first step, at its second, and so on to its end; `check` after each what it left behind."""
    for nth in count(1):
        canceller = Canceller(nth, how)
        with monkeypatch.context() as patched:
            patched.setattr(sqlite_connections, "TURN_S", 0.0)  # every statement lets others go first
            for step in STEPS:
                patched.setattr(SqliteConnection, step, canceller.around(getattr(SqliteConnection, step)))
            task = asyncio.create_task(work(), name="to be cancelled")
            # The error is kept, as whoever logs it would: its traceback keeps the cursors.
            (ended,) = await asyncio.gather(task, return_exceptions=True)
        async with asyncio.timeout(SOON_S):
            await check((nth, ended))
        if canceller.calls < nth:
            break
    assert nth > steps


@pytest.mark.parametrize("how", HOW)
async def test_a_transaction_cancelled_at_any_step_leaves_no_lock(
    sqlite_store: Store, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    async def check(cancelled: object) -> None:
        async with sqlite_store.begin() as tx:
            found = await api_snapshots.get(tx, "main", "float")
            await api_snapshots.drop(tx, "main", "float")
        assert found is None or found.value == "whole", cancelled

    await _cancelled_at_every_step(monkeypatch, how, lambda: _changes(sqlite_store), check, steps=5)


@pytest.mark.parametrize("how", HOW)
async def test_a_checkpoint_cancelled_at_any_step_leaves_the_next_writer_its_turn(
    sqlite_store: Store, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    async def check(cancelled: object) -> None:
        await _changes(sqlite_store)

    await _cancelled_at_every_step(monkeypatch, how, sqlite_store.checkpoint, check, steps=1)
