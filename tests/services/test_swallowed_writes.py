"""A trigger that somebody put into the database undoes what Countersign writes: nobody reads that it was done.

The thief here owns the database and puts triggers into it before people act. Each case is one table and one kind of
change, or entries of the audit log that are taken out again with the end of the log set back. On PostgreSQL a deferred
trigger does so at the commit, when nothing can look any more: the process notices from memory, and a start by the
anchors. The master key, and what is kept outside the database, are not theirs.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError

from bot import startup
from bot.cli import environment, keys
from bot.domain.errors import CountersignError
from bot.domain.requests import State
from bot.services import audit_anchors, execution
from bot.services.operators import changed_rows, draft_only, otp_recipients, pausing
from bot.services.passkeys import enrolment
from bot.services.passkeys.page import PageRefused
from storage import audit
from storage.cards import otp_recipients as recipients
from storage.errors import ChangedOutside, LogNotWhole
from storage.sqlite import SqliteConnection
from storage.tables import metadata
from tests.services.outcome_steps import alert_kinds
from tests.services.test_passkeys_on_record import confirm_by_click, next_start
from tests.support.databases import BACKENDS, PostgresDatabases
from tests.support.passkeys import SITE, Devices, everybody_has_one, with_passkeys
from tests.support.world import ALICE, BOB, CAROL, World, a_world

pytestmark = pytest.mark.by_turns(5)

ENDS = "('passkey.ended', 'passkey.all_ended', 'passkey.reset')"
ADDS = "('passkey.added')"
# SQLite has no such triggers.
AT_COMMIT = "postgresql at the commit"
Refused = (CountersignError, PageRefused, SQLAlchemyError)


@pytest.fixture
async def world(url: str, tmp_path: Path) -> AsyncIterator[World]:
    async with a_world(tmp_path, url=url) as made:
        yield made


@pytest.fixture
def at_commit(request: pytest.FixtureRequest) -> bool:
    """Is the trigger run by the commit? The tests that ask are marked with `at_each_moment`."""
    return bool(request.node.callspec.params["url"] == AT_COMMIT)


at_each_moment = pytest.mark.parametrize("url", [*BACKENDS, AT_COMMIT], indirect=True)


async def put(world: World, *statements: str) -> None:
    async with world.store._writer.begin() as connection:
        for one in statements:
            await connection.execute(text(one.replace(":", r"\:")))


def is_postgres(world: World) -> bool:
    return world.store.database.path is None


_WRITABLE = {True: "DROP TRIGGER IF EXISTS audit_no_change ON audit", False: "DROP TRIGGER audit_no_delete"}


async def swallow(world: World, table: str, change: str, when: str = "") -> None:
    """From now on this kind of change of the table does nothing, and raises nothing."""
    condition = f"WHEN ({when})" if when else ""
    if is_postgres(world):
        await put(
            world,
            "CREATE OR REPLACE FUNCTION nothing() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$",
            f"CREATE TRIGGER thief_{table} BEFORE {change} ON {table} FOR EACH ROW {condition}"
            " EXECUTE FUNCTION nothing()",
        )
        return
    trigger = (
        f"CREATE TRIGGER thief_{table} BEFORE {change} ON {table} {condition} BEGIN SELECT raise(ignore); END"
    )
    await put(world, trigger)


async def take_out(world: World, actions: str, *, at_commit: bool = False) -> None:
    """From now on an entry of these actions is taken out again once it is there, and the end of the log set back."""
    await put(world, _WRITABLE[is_postgres(world)])
    if not is_postgres(world):
        await put(
            world,
            f"CREATE TRIGGER thief_log AFTER INSERT ON audit WHEN new.action IN {actions} BEGIN"
            " DELETE FROM audit WHERE seq = new.seq;"
            " UPDATE audit_head SET seq = new.seq - 1, hash = new.prev; END",
        )
        return
    kind = "CREATE CONSTRAINT TRIGGER" if at_commit else "CREATE TRIGGER"
    deferred = "DEFERRABLE INITIALLY DEFERRED" if at_commit else ""
    await put(
        world,
        "CREATE FUNCTION taken_out() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
        " DELETE FROM audit WHERE seq >= new.seq; UPDATE audit_head SET seq = new.seq - 1, hash = new.prev"
        " WHERE seq >= new.seq; RETURN NULL; END $$",
        f"{kind} thief_log AFTER INSERT ON audit {deferred} FOR EACH ROW WHEN (new.action IN {actions})"
        " EXECUTE FUNCTION taken_out()",
    )


async def keep_passkeys(world: World, change: str, at_commit: bool) -> None:
    """From now on no row of a passkey is changed so, or on PostgreSQL each is put back at the commit."""
    if not at_commit:
        await swallow(world, "passkey", "UPDATE", change)
        return
    columns = ", ".join(f"{c.name} = old.{c.name}" for c in metadata.tables["passkey"].columns)
    await put(
        world,
        f"CREATE FUNCTION put_back() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE passkey SET {columns}"
        " WHERE id = new.id; RETURN NULL; END $$",
        "CREATE CONSTRAINT TRIGGER thief_passkey AFTER UPDATE ON passkey DEFERRABLE INITIALLY DEFERRED FOR EACH ROW"
        f" WHEN ({change}) EXECUTE FUNCTION put_back()",
    )


async def triggers_gone(world: World) -> None:
    """The thief takes them out again, and leaves no trace."""
    if is_postgres(world):
        named = "SELECT tgname, tgrelid::regclass FROM pg_trigger WHERE tgname LIKE 'thief_%'"
    else:
        named = "SELECT name, tbl_name FROM sqlite_master WHERE type = 'trigger' AND name LIKE 'thief_%'"
    async with world.store.read() as tx:
        found = (await tx.run(text(named.replace("::", r"\:\:")))).all()
    for one in found:
        trigger, table = tuple(one)
        await put(
            world, f"DROP TRIGGER {trigger} ON {table}" if is_postgres(world) else f"DROP TRIGGER {trigger}"
        )


async def starts(world: World) -> bool:
    """Another process looks at the database as a start does; does it begin to work with it?"""
    await triggers_gone(world)
    next_start(world)
    try:
        if await startup.check_audit(world.store, world.core.anchors) is not None:
            return False  # in safe mode
        await changed_rows.undo_what_was_put_back(world.core)
    except (startup.CannotStart, ChangedOutside):
        return False
    return True


async def pays(world: World, devices: Devices) -> bool:
    """Does Bob's device still approve?"""
    try:
        await devices.approve(await world.top_up("50", approved=False))
    except Refused:
        return False
    return True


async def lost(world: World) -> None:
    await enrolment.lost(world.core, BOB, BOB)


async def revoked(world: World) -> None:
    (mine,) = await Devices(world).ids(BOB)
    await enrolment.revoke(world.core, BOB, mine)


async def all_reset(world: World) -> None:
    await keys._reset_passkeys()


@pytest.fixture
def command_line(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """`countersign keys reset-passkeys` in a process of its own on this database."""

    class Opened:
        async def __aenter__(self) -> object:
            return world.store

        async def __aexit__(self, *_: object) -> None:
            return None

    monkeypatch.setattr(environment, "open_store", lambda **_: Opened())
    monkeypatch.setattr(environment, "anchor_places", lambda _: world.core.anchors)
    monkeypatch.setattr(environment, "operator", lambda: "cli:root")


WAYS: dict[str, Callable[[World], Awaitable[None]]] = {
    "lost": lost,
    "revoked": revoked,
    "reset": all_reset,
}


@pytest.mark.walk
@at_each_moment
@pytest.mark.usefixtures("command_line")
@pytest.mark.parametrize("rows_too", [False, True], ids=["the log", "the log and the row"])
@pytest.mark.parametrize("way", WAYS)
async def test_a_passkey_that_did_not_end_is_not_said_to_have_ended(
    world: World, way: str, rows_too: bool, at_commit: bool
) -> None:
    devices = await everybody_has_one(world)
    await take_out(world, ENDS, at_commit=at_commit)
    if rows_too:
        await keep_passkeys(world, "new.state = 'ended'", at_commit)

    with pytest.raises(ChangedOutside):
        await WAYS[way](world)

    if at_commit:
        assert not await pays(world, devices), "this process knows that it ended"
        assert not await starts(world), "the anchors do, too"


@pytest.mark.usefixtures("command_line")
@pytest.mark.parametrize("way", WAYS)
async def test_nor_where_only_its_row_stays(world: World, way: str) -> None:
    devices = await everybody_has_one(world)
    await keep_passkeys(world, "new.state = 'ended'", at_commit=False)

    with pytest.raises(ChangedOutside, match="could not be ended"):
        await WAYS[way](world)

    assert await starts(world)
    assert await pays(world, devices)


@at_each_moment
async def test_a_first_passkey_that_is_not_on_record_was_not_added(world: World, at_commit: bool) -> None:
    world.rebuild(policy=with_passkeys(world.core.policy), passkeys=SITE)
    devices = Devices(world)
    made = await devices.make(BOB)
    await take_out(world, ADDS, at_commit=at_commit)

    with pytest.raises(LogNotWhole, match="Nothing was done"):
        await confirm_by_click(world, made, CAROL)

    if at_commit:
        assert not await starts(world), "else a thief's device for Bob could be confirmed by a click"
        return
    async with world.store.read() as tx:
        assert (await tx.run(text("SELECT state FROM passkey"))).scalar_one() == "waiting"
        assert (await audit.verify(tx)).ok


@at_each_moment
async def test_what_was_undone_at_the_commit_is_noticed_by_the_next_entry_and_by_the_anchors(
    world: World, at_commit: bool
) -> None:
    await world.top_up("50", approved=False)
    await take_out(world, "('program.write_paused')", at_commit=at_commit)

    with pytest.raises(LogNotWhole):
        await pausing.pause(world.core, BOB, ["main"], "the key may be stolen")

    await triggers_gone(world)
    if not at_commit:
        assert await starts(world)
        return
    with pytest.raises(LogNotWhole):
        await world.top_up("60", approved=False)
    with pytest.raises(LogNotWhole):
        await audit_anchors.drop_if_due(world.core)
    await changed_rows.watch(world.core)
    assert "changed_outside" in await alert_kinds(world), "people read that the log isn't whole"
    with pytest.raises(LogNotWhole):
        await world.top_up("61", approved=False)
    assert not await starts(world)


async def draft_only_begins(world: World) -> None:
    await draft_only.at_start(world.core, is_on=True)


async def paused(world: World) -> None:
    await pausing.pause(world.core, BOB, ["main"], "the key may be stolen")


async def codes_named(world: World) -> None:
    await otp_recipients.ask(world.core, CAROL, "emp-1", ALICE)
    await Devices(world).confirm("emp-1", BOB, otp_recipients.NAME)


async def codes_ended(world: World) -> None:
    await otp_recipients.unname(world.core, CAROL, "emp-1")


async def nothing_leaves(world: World) -> bool:
    request = await world.top_up("50")
    await execution.execute(world.core, request.id)
    return (await world.request(request.id)).state is not State.SUCCEEDED


async def test_what_is_looked_at_is_not_so_before(world: World) -> None:
    assert not await nothing_leaves(world)
    assert not await codes_go_to(world, ALICE)


async def codes_go_to(world: World, person: str | None) -> bool:
    async with world.store.read() as tx:
        return await recipients.person_of(tx, "emp-1") == person


ACTS: dict[str, tuple[Callable[[World], Awaitable[None]], Callable[[World], Awaitable[bool]]]] = {
    "draft only": (draft_only_begins, nothing_leaves),
    "paused": (paused, nothing_leaves),
    "codes ended": (codes_ended, lambda world: codes_go_to(world, None)),
    "codes named": (codes_named, lambda world: codes_go_to(world, ALICE)),
}
CHANGES = ("INSERT", "UPDATE", "DELETE")


@asynccontextmanager
async def lent(folder: Path, databases: PostgresDatabases | None) -> AsyncIterator[World]:
    await asyncio.to_thread(folder.mkdir)
    url = "" if databases is None else databases.migrated()
    async with a_world(folder, url=url) as made:
        async with made.store.begin() as tx:
            await recipients.put(tx, "emp-1", BOB)
            body = {"person": BOB}
            await audit.append(tx, actor=CAROL, action="code.name_person", subject="code:emp-1", body=body)
        yield made
    if databases is not None:
        databases.drop(url)


@pytest.fixture(params=BACKENDS)
def made_on(request: pytest.FixtureRequest) -> PostgresDatabases | None:
    """Where the databases of the worlds are made; None = SQLite files."""
    return None if request.param == "sqlite" else request.getfixturevalue("postgres_databases")


async def changes_by(world: World, act: Callable[[World], Awaitable[None]]) -> set[tuple[str, str]]:
    """Table and kind of each change that the act makes, also of one that is undone again.

    A trigger on any other change never runs: with it everything goes as without.
    """
    if not is_postgres(world):
        found: set[tuple[str, str]] = set()
        async with world.store._writer.begin() as connection:  # the only one that writes
            assert isinstance(connection, SqliteConnection)
            connection._dbapi.create_function("seen", 2, lambda *change: found.add(change))
        await put(
            world,
            *(
                f"CREATE TRIGGER seen_{table}_{change} BEFORE {change} ON {table}"
                f" BEGIN SELECT seen('{table}', '{change}'); END"
                for table in metadata.tables
                for change in CHANGES
            ),
        )
        await act(world)
        return set(found)
    await put(
        world,
        # A sequence is not set back by a rollback.
        "CREATE FUNCTION seen() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
        " PERFORM nextval(lower('seen_' || TG_TABLE_NAME || '_' || TG_OP));"
        " IF TG_OP = 'DELETE' THEN RETURN old; END IF; RETURN new; END $$",
        *(f"CREATE SEQUENCE seen_{table}_{change}" for table in metadata.tables for change in CHANGES),
        *(
            f"CREATE TRIGGER seen BEFORE {' OR '.join(CHANGES)} ON {table} FOR EACH ROW EXECUTE FUNCTION seen()"
            for table in metadata.tables
        ),
    )
    await act(world)
    async with world.store.read() as tx:
        used = text("SELECT sequencename FROM pg_sequences WHERE last_value IS NOT NULL")
        names = set((await tx.run(used)).scalars())
    return {
        (table, change)
        for table in metadata.tables
        for change in CHANGES
        if f"seen_{table}_{change}".lower() in names
    }


@pytest.mark.walk
@pytest.mark.parametrize("name", ACTS)
async def test_what_people_read_as_done_is_so_after_a_start_whatever_table_keeps_no_change(
    made_on: PostgresDatabases | None, tmp_path: Path, name: str
) -> None:
    """Each change that the act makes is swallowed in a world of its own."""
    act, is_so = ACTS[name]
    async with lent(tmp_path / "seen", made_on) as world:
        changes = await changes_by(world, act)
        assert await is_so(world)
    assert ("audit", "INSERT") in changes
    wrong = []
    for number, (table, change) in enumerate(sorted(changes)):
        async with lent(tmp_path / str(number), made_on) as world:
            await swallow(world, table, change)
            try:
                await act(world)
            except Refused:
                continue
            if await starts(world) and not await is_so(world):
                wrong.append(f"{change} of {table}")
    assert wrong == []


async def test_an_entry_that_is_undone_as_the_last_of_its_transaction_is_noticed_before_the_commit(
    world: World,
) -> None:
    """Nothing comes behind it that would take its number."""
    await take_out(world, ENDS)

    with pytest.raises(LogNotWhole):
        async with world.store.begin() as tx:
            await audit.append(tx, actor=BOB, action="passkey.ended", subject="passkey:P1")
