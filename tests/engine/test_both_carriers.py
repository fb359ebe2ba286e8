"""What every carrier keeps, the embedded one and procrastinate on PostgreSQL: the request's row is the truth."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg
import pytest
from sqlalchemy import text

from bot.domain.time import SystemClock
from bot.engine.distributed import Distributed
from bot.engine.embedded import Embedded
from storage.store import Store
from storage.vault import Keyring, Vault
from tests.support.databases import PostgresDatabases, SqliteFiles
from tests.support.waiting import eventually
from tests.support.world import MASTER

pytestmark = pytest.mark.by_turns(4)

_ONE = text("SELECT 1")
ROOT = Path(__file__).parents[2]
QUEUES = {"money:main": 2, "money:other": 2, "emergency:main": None}


@dataclass(frozen=True)
class Lane:
    """A queue as the database names it."""

    name: str
    ids: list[str]
    at_once: int | None


@dataclass
class Rows:
    """What the database says is due, by queue, until it was carried out."""

    due: dict[str, str] = field(default_factory=dict)  # id -> its queue
    done: list[str] = field(default_factory=list)
    running: set[str] = field(default_factory=set)
    most_at_once: int = 0
    is_hidden: bool = False  # from the sweep
    hangs: set[str] = field(default_factory=set)
    fails: set[str] = field(default_factory=set)

    async def named(self, but_not: Collection[str]) -> list[Lane]:
        found: dict[str, list[str]] = {name: [] for name in QUEUES}
        for id_, queue in self.due.items():
            if id_ not in but_not and not self.is_hidden:
                found[queue].append(id_)
        return [Lane(name, ids, QUEUES[name]) for name, ids in found.items()]

    async def execute(self, id_: str) -> None:
        assert id_ not in self.running, "two at once"
        if id_ not in self.due:
            return
        self.running.add(id_)
        self.most_at_once = max(self.most_at_once, len(self.running))
        try:
            if id_ in self.fails:
                self.done.append(f"{id_} failed")
                raise RuntimeError("it breaks")
            await (asyncio.Event().wait() if id_ in self.hangs else asyncio.sleep(0.02))
            self.due.pop(id_, None)
            self.done.append(id_)
        finally:
            self.running.discard(id_)


@dataclass
class Place:
    """A database, and how a carrier is made on it."""

    store: Store
    url: str
    carriers: list[Any] = field(default_factory=list)

    @property
    def is_shared(self) -> bool:
        return self.store.database.path is None

    def carrier(self, *, sweep_every_s: float = 0.3) -> Any:
        made = (
            Distributed(self.store.database.libpq, QUEUES, sweep_every_s=sweep_every_s)
            if self.is_shared
            else Embedded(sweep_every_s=sweep_every_s)
        )
        self.carriers.append(made)
        return made

    @asynccontextmanager
    async def running(self, rows: Rows, **options: Any) -> AsyncIterator[Any]:
        carrier = self.carrier(**options)
        task = asyncio.create_task(carrier.run(rows.named, rows.execute))
        try:
            yield carrier
        finally:
            task.cancel()
            await asyncio.wait([task])
            await carrier.drain(2)

    async def enqueue(self, carrier: Any, rows: Rows, id_: str, queue: str = "money:main") -> None:
        async with self.store.begin() as tx:
            await carrier.enqueue(tx, id_, queue)
            rows.due[id_] = queue

    async def jobs(self) -> int:
        """How many the carrier keeps in the database."""
        async with await psycopg.AsyncConnection.connect(self.url) as connection:
            row = await (await connection.execute("SELECT count(*) FROM procrastinate_jobs")).fetchone()
        return row[0] if row else 0


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> SqliteFiles:
    return SqliteFiles(tmp_path_factory.mktemp("files"))


@pytest.fixture(params=["embedded", "procrastinate"])
async def place(
    request: pytest.FixtureRequest, files: SqliteFiles, postgres_databases: PostgresDatabases
) -> AsyncIterator[Place]:
    kept: SqliteFiles | PostgresDatabases = files if request.param == "embedded" else postgres_databases
    url = kept.migrated()
    made = await _opened(url)
    yield made
    await made.store.close()
    kept.drop(url)


async def _opened(url: str) -> Place:
    return Place(await Store.open(url, vault=Vault(Keyring.parse(MASTER)), clock=SystemClock()), url)


async def test_what_is_enqueued_is_carried_out_without_a_sweep(place: Place) -> None:
    rows = Rows()
    async with place.running(rows, sweep_every_s=60) as carrier:
        await asyncio.sleep(0.5)
        rows.is_hidden = place.is_shared
        began = asyncio.get_running_loop().time()
        await place.enqueue(carrier, rows, "R-1")
        await eventually("it is done", lambda: rows.done == ["R-1"], within_s=4)
        assert asyncio.get_running_loop().time() - began < 3


async def test_what_is_rolled_back_was_never_enqueued(place: Place) -> None:
    rows = Rows()
    async with place.running(rows) as carrier:
        with suppress(RuntimeError):
            async with place.store.begin() as tx:
                await carrier.enqueue(tx, "R-1", "money:main")
                raise RuntimeError("the change does not happen")
        await place.enqueue(carrier, rows, "R-2")
        await eventually("the other is done", lambda: rows.done == ["R-2"])
    if place.is_shared:
        assert await place.jobs() == 0


async def test_what_was_enqueued_twice_in_a_change_leaves_the_change_whole(place: Place) -> None:
    rows = Rows()
    carrier = place.carrier()
    for _ in range(2):
        await place.enqueue(carrier, rows, "R-1")
    async with place.store.begin() as tx:
        await carrier.enqueue(tx, "R-1", "money:main")
        assert (await tx.run(_ONE)).scalar_one() == 1
    async with place.running(rows):
        await eventually("it is done", lambda: rows.done == ["R-1"])


async def test_what_the_carrier_lost_the_sweep_finds(place: Place) -> None:
    rows = Rows(due={"R-1": "money:main", "R-2": "emergency:main"})
    async with place.running(rows):
        await eventually("both are done", lambda: sorted(rows.done) == ["R-1", "R-2"])


async def test_a_queue_has_its_own_places_and_one_that_hangs_holds_up_no_other(place: Place) -> None:
    rows = Rows(hangs={"R-1", "R-2"})
    async with place.running(rows) as carrier:
        for id_ in ("R-1", "R-2", "R-3"):
            await place.enqueue(carrier, rows, id_)
        await eventually("its places are taken", lambda: rows.running == {"R-1", "R-2"})
        await place.enqueue(carrier, rows, "R-4", "emergency:main")
        await place.enqueue(carrier, rows, "R-5", "money:other")
        await eventually("the others are done", lambda: sorted(rows.done) == ["R-4", "R-5"])
        assert rows.running == {"R-1", "R-2"}


async def test_what_fails_is_tried_again_and_not_at_once(place: Place) -> None:
    rows = Rows(fails={"R-1"})
    async with place.running(rows, sweep_every_s=0.1) as carrier:
        await place.enqueue(carrier, rows, "R-1")
        await eventually("it failed", lambda: rows.done)
        await asyncio.sleep(0.6)
        assert len(rows.done) == 1, "a second has to pass"
        rows.fails.clear()
        await eventually("it is done", lambda: rows.done == ["R-1 failed", "R-1"])


async def test_a_closed_carrier_takes_up_nothing_and_lets_what_runs_end(place: Place) -> None:
    rows = Rows()
    async with place.running(rows) as carrier:
        await place.enqueue(carrier, rows, "R-1")
        await eventually("it runs", lambda: rows.running or rows.done)
        carrier.close()
        await place.enqueue(carrier, rows, "R-2")
        await carrier.drain(5)
        assert rows.done == ["R-1"]
    async with place.running(rows):
        await eventually("the next process goes on", lambda: rows.done == ["R-1", "R-2"])


async def test_what_hangs_at_the_end_is_left_after_its_time(place: Place) -> None:
    rows = Rows(hangs={"R-1"})
    async with place.running(rows) as carrier:
        await place.enqueue(carrier, rows, "R-1")
        await eventually("it runs", lambda: rows.running)
        began = asyncio.get_running_loop().time()
        await carrier.drain(0.5)
        assert asyncio.get_running_loop().time() - began < 4


class Elsewhere:
    """A carrier in another process, which a test kills or stops."""

    def __init__(self, place: Place, folder: Path) -> None:
        self.folder = folder
        for name in ("due", "begun"):
            (folder / name).mkdir()
        arguments = [
            sys.executable,
            "-m",
            "tests.engine.carrier_process",
            place.store.database.libpq,
            str(folder),
        ]
        self.process = subprocess.Popen(arguments, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)})

    async def begins(self, id_: str) -> None:
        (self.folder / "due" / id_).touch()
        began = self.folder / "begun" / id_
        await eventually(f"{id_} was begun there", began.exists, within_s=20)

    def __enter__(self) -> Elsewhere:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()


@pytest.mark.timed
async def test_what_a_killed_process_had_begun_another_takes_up_within_ten_seconds(
    place: Place, tmp_path: Path
) -> None:
    rows = Rows(due={"R-hangs": "money:main"})
    with Elsewhere(place, tmp_path) as other:
        await other.begins("R-hangs")
        other.process.kill()
        other.process.wait()
        async with place.running(rows):
            await eventually("it is done here", lambda: rows.done == ["R-hangs"], within_s=10)
    if place.is_shared:
        assert await place.jobs() == 0


@pytest.mark.timed
async def test_a_process_that_stood_still_works_again_when_others_have_taken_its_work(
    place: Place, tmp_path: Path
) -> None:
    rows = Rows(due={"R-hangs": "money:main"})
    with Elsewhere(place, tmp_path) as other:
        await other.begins("R-hangs")
        other.process.send_signal(signal.SIGSTOP)
        async with place.running(rows):
            await eventually("it is done here", lambda: rows.done == ["R-hangs"], within_s=10)
        (other.folder / "due" / "R-hangs").unlink()
        other.process.send_signal(signal.SIGCONT)
        await other.begins("R-2")
