"""Whoever changes the schema of the database shows one query other entries than the next, and gets no approval by that.

The thief here has one Slack session and writes to the database, with views, indexes and bytes in place of texts. The
master key and what is kept outside the database are not theirs.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event

from bot import startup
from bot.domain.errors import CountersignError
from bot.domain.requests import Request, State
from bot.services import audit_anchors
from bot.services.anchor_places import AnchorPlaces
from bot.services.passkeys import enrolment
from storage import audit
from storage.store import Store
from storage.vault import Keyring, Vault
from tests.services.test_passkeys_on_record import change, confirm_by_click, next_start, put, reset, rows_of
from tests.support.databases import PostgresDatabases
from tests.support.passkeys import Devices, everybody_has_one
from tests.support.world import ALICE, BOB, CAROL, MASTER, World, a_world

pytestmark = pytest.mark.by_turns(4)

_FIRST = "action = 'passkey.added'"
_ENDS = "action IN ('passkey.ended', 'passkey.all_ended')"


@pytest.fixture
async def on_postgres(postgres_databases: PostgresDatabases, tmp_path: Path) -> AsyncIterator[World]:
    url = postgres_databases.migrated()
    async with a_world(tmp_path, url=url) as world:
        yield world
    postgres_databases.drop(url)


@contextmanager
def readings(world: World) -> Iterator[set[str]]:
    """The statements that read entries meanwhile, as patterns: what is given with them is left open."""
    found: set[str] = set()

    def see(_c: Any, _cursor: Any, statement: str, *_: Any) -> None:
        if re.search(r"\bFROM audit\b", statement):
            found.add(re.sub(r"%\(\w+\)s(::\w+( WITH TIME ZONE)?)?", "%", statement).replace("\n", "%"))

    engines = [world.store._reader.sync_engine, world.store._writer.sync_engine]
    for engine in engines:
        event.listen(engine, "before_cursor_execute", see)
    yield found
    for engine in engines:
        event.remove(engine, "before_cursor_execute", see)


async def hide(world: World, what: str, pattern: str) -> None:
    """From the statement of this pattern alone, entries until now."""
    async with world.store.read() as tx:
        end = (await audit.head(tx)).seq
    literal = pattern.replace("'", "''").replace(":", r"\:")
    await change(
        world,
        f"CREATE OR REPLACE VIEW audit AS SELECT * FROM audit_itself WHERE NOT (seq <= {end} AND {what}"
        f" AND current_query() LIKE '{literal}')",
    )


async def click_of_the_thief(world: World) -> None:
    """A device of the thief's for Bob, and Carol's stolen session."""
    await confirm_by_click(world, await Devices(world).make(BOB), CAROL)


async def attempt(world: World, devices: Devices, request: Request, what: str) -> None:
    try:
        await (click_of_the_thief(world) if what == _FIRST else devices.approve(request))
    except CountersignError:
        return


async def test_no_reading_of_the_log_can_be_lied_to(on_postgres: World) -> None:
    """Each statement that the product reads entries with is shown a log without them, one at a time."""
    world = on_postgres
    devices = await everybody_has_one(world)
    (row,) = await rows_of(world, "passkey", f"slack_id = '{BOB}'")
    request = await world.top_up("50", approved=False)
    await enrolment.lost(world.core, BOB, BOB)
    await audit_anchors.drop(world.core)
    await change(world, "ALTER TABLE audit RENAME TO audit_itself")
    await change(world, "CREATE VIEW audit AS SELECT * FROM audit_itself")
    for what in (_FIRST, _ENDS):
        with readings(world) as patterns:
            await change(world, "DELETE FROM passkey")
            await _put_row(world, row if what == _ENDS else None)
            next_start(world)
            await attempt(world, devices, request, what)
        assert patterns
        for pattern in sorted(patterns):
            await change(world, "DELETE FROM passkey")
            await _put_row(world, row if what == _ENDS else None)
            await hide(world, what, pattern)
            next_start(world)

            await attempt(world, devices, request, what)

            active = await rows_of(world, "passkey", "state = 'active'")
            assert what == _ENDS or not active, pattern
            assert (await world.request(request.id)).state is State.PENDING, pattern


async def _put_row(world: World, row: dict[str, Any] | None) -> None:
    if row is not None:
        await put(world, "passkey", row)


_TABLES = [
    "CREATE INDEX thief ON audit (subject, seq) WHERE NOT ({what})",
    "CREATE INDEX thief ON audit (seq) WHERE NOT ({what})",
    "CREATE INDEX thief ON audit (action, seq) WHERE NOT ({what})",
]


@pytest.mark.parametrize("index", _TABLES, ids=["by subject", "by number", "by action"])
async def test_no_index_hides_the_first_passkeys(world: World, index: str) -> None:
    """SQLite believes an index to have every row, which somebody may have made without some."""
    await everybody_has_one(world)
    await audit_anchors.drop(world.core)
    path = world.store.database.path
    assert path is not None
    await change(world, "DELETE FROM passkey")
    await world.store.close()
    _index_without(path, index, _FIRST)
    vault = Vault(Keyring.parse(MASTER))
    world.store = await Store.open(f"sqlite:///{path}", vault=vault, clock=world.clock)
    world.rebuild(store=world.store)

    with pytest.raises(CountersignError):
        await click_of_the_thief(world)

    assert not await rows_of(world, "passkey", "state = 'active'")
    await world.store.close()


def _index_without(path: Path, index: str, what: str) -> None:
    connection = sqlite3.connect(path, isolation_level=None)
    for (name,) in connection.execute(
        "SELECT name FROM sqlite_master WHERE type = 'index' AND tbl_name = 'audit' AND sql IS NOT NULL"
    ).fetchall():
        connection.execute(f"DROP INDEX {name}")
    connection.execute(index.format(what=what))
    connection.execute("PRAGMA writable_schema = ON")
    as_if_whole = index.partition(" WHERE ")[0]
    connection.execute("UPDATE sqlite_master SET sql = ? WHERE name = 'thief'", (as_if_whole,))
    connection.execute("PRAGMA writable_schema = RESET")
    connection.close()


_COLUMNS = (
    "at",
    "actor",
    "action",
    "subject",
    "outcome",
    "reason_code",
    "body",
    "policy_version",
    "prev",
    "hash",
    "mac",
)


@pytest.mark.by_turns(5)
@pytest.mark.parametrize("column", _COLUMNS)
async def test_bytes_in_place_of_a_text_are_a_broken_entry(world: World, column: str) -> None:
    devices = await everybody_has_one(world)
    request = await world.top_up("50", approved=False)
    await without_triggers(world)
    await change(world, f"UPDATE audit SET {column} = CAST({column} AS BLOB) WHERE seq = 2")
    next_start(world)

    for refused in (lambda: devices.link(request, BOB), lambda: click_of_the_thief(world)):
        with pytest.raises(CountersignError) as said:
            await refused()
        assert "at entry 2" in str(said.value)
    with pytest.raises(startup.CannotStart) as said_at_start:
        await startup.check_audit(world.store, world.core.anchors)
    assert "The audit chain is broken at entry 2" in str(said_at_start.value)


async def without_triggers(world: World) -> None:
    for (name,) in [
        (row["name"],)
        for row in await rows_of(world, "sqlite_master", "type = 'trigger' AND tbl_name = 'audit'")
    ]:
        await change(world, f"DROP TRIGGER {name}")


async def test_a_reset_at_the_machine_makes_no_damaged_log_good(world: World) -> None:
    await everybody_has_one(world)
    await without_triggers(world)
    await change(world, "UPDATE audit SET actor = 'U0X' WHERE seq = 2")
    await reset(world)
    next_start(world)

    with pytest.raises(CountersignError, match="at entry 2, so no passkey counts"):
        await Devices(world).make(ALICE)
    with pytest.raises(startup.CannotStart, match=r"broken at entry 2 .hash.*restore a backup"):
        await startup.check_audit(world.store, AnchorPlaces([]))


async def test_a_click_that_is_refused_keeps_what_was_read_of_the_log(world: World) -> None:
    """And what takes long is read outside transactions that write: nobody waits for the database meanwhile."""
    devices = await everybody_has_one(world)
    request = await world.top_up("50", approved=False)
    async with world.store.begin() as tx:
        for number in range(12_000):
            await audit.append(tx, actor="x", action="alert.raised", subject=f"alert:{number}")
    await enrolment.revoke(world.core, ALICE, (await _ids(devices, ALICE))[0])
    next_start(world)
    known: list[int] = []
    for _ in range(3):
        with pytest.raises(CountersignError) as refused:
            await devices.link(request, ALICE)
        known.append(world.store._chain.passkeys.seq)

    assert 0 < known[0] < known[1] < known[2]
    assert "you have none yet" in str(refused.value)


async def _ids(devices: Devices, person: str) -> list[str]:
    return sorted(await devices.ids(person))
