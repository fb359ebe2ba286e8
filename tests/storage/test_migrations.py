"""The schema grows by revisions: the same as the tables, once however many start, whole or not at all."""

import asyncio
import os
import random
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, MetaData, Table, create_engine, inspect, text

from bot.domain.requests import DecisionKind
from storage import migrate as migrating
from storage.database import Database
from storage.errors import DatabaseInUse, SchemaBehind, SchemaTooNew
from storage.events import inbox
from storage.migrate import migrate, newest
from storage.migrations import carrier_schema
from storage.operators import safe_mode
from storage.requests import decisions
from storage.store import Store
from storage.tables import metadata
from tests.storage.conftest import Opener
from tests.storage.factories import decision, insert, request
from tests.support.databases import Databases

pytestmark = pytest.mark.by_turns(2)

THIS = newest()


def test_the_revisions_make_exactly_the_declared_tables(url: str) -> None:
    engine = create_engine(Database.parse(url).url)
    with engine.connect() as connection:
        context = MigrationContext.configure(
            connection,
            opts={"compare_type": True, "compare_server_default": True, "include_name": _is_ours},
        )
        assert compare_metadata(context, metadata) == []
    engine.dispose()


def _is_ours(name: str | None, _kind: str, _parents: object) -> bool:
    """What the carrier makes for itself is its own business."""
    return not (name or "").startswith("procrastinate_")


def test_the_carriers_tables_are_those_of_the_package_that_is_installed() -> None:
    """A newer one that changes them needs a revision that calls `carrier_schema.bring_up`, and its name here."""
    assert carrier_schema.newest() == "03.04.00_50_post_add_retry_failed_job_procedure.sql"


def test_the_revisions_are_those_that_alembic_finds() -> None:
    """Read from the files without it, as a start needs nothing else of it."""
    scripts = ScriptDirectory(str(migrating._FOLDER))

    newest, known = migrating._revisions(migrating._FOLDER)

    assert newest == scripts.get_current_head()
    assert known == {script.revision for script in scripts.walk_revisions()}


def test_the_revisions_make_the_declared_checks_and_keys(url: str, databases: Databases) -> None:
    """Alembic does not compare CHECKs, primary and foreign keys: the databases' own words are compared."""
    declared_url = databases.empty()
    declared = create_engine(Database.parse(declared_url).url)
    migrated = create_engine(Database.parse(url).url)
    with declared.begin() as connection:
        metadata.create_all(connection)

    with declared.connect() as one, migrated.connect() as other:
        assert _rules(one) == _rules(other)

    declared.dispose()
    migrated.dispose()
    databases.drop(declared_url)


def _rules(connection: Connection) -> dict[str, Any]:
    found = inspect(connection)
    return {
        table: {
            "columns": [(c["name"], str(c["type"]), c["nullable"]) for c in found.get_columns(table)],
            "primary": found.get_pk_constraint(table)["constrained_columns"],
            "foreign": sorted(str(sorted(k.items(), key=str)) for k in found.get_foreign_keys(table)),
            "unique": sorted(
                str((u["name"], u["column_names"])) for u in found.get_unique_constraints(table)
            ),
            "checks": sorted(str((c["name"], c["sqltext"])) for c in found.get_check_constraints(table)),
        }
        for table in sorted(metadata.tables)
    }


async def test_of_four_starters_at_once_one_migrates(empty_url: str) -> None:
    drawn = random.Random(7)
    names: list[str] = []

    def choose(letters: str) -> str:
        names.append(drawn.choice(letters))
        return names[-1]

    found = await asyncio.gather(*(migrate(empty_url, choose=choose) for _ in range(4)))

    assert found == [newest()] * 4
    assert len(names) == 6, "the name of the instance is drawn by the one that migrated"
    assert _revision(empty_url) == newest()


async def test_an_upgrade_that_fails_leaves_no_table(empty_url: str) -> None:
    def choose(letters: str) -> str:
        raise RuntimeError("the disk is full")

    with pytest.raises(RuntimeError, match="disk is full"):
        await migrate(empty_url, choose=choose)

    engine = create_engine(Database.parse(empty_url).url)
    assert inspect(engine).get_table_names() == []
    engine.dispose()
    assert await migrate(empty_url) == newest()


async def test_a_database_of_a_newer_program_is_left_alone(own_url: str, open_store: Opener) -> None:
    _set_revision(own_url, "9999")

    with pytest.raises(SchemaTooNew, match="newer Countersign"):
        await migrate(own_url)
    with pytest.raises(SchemaTooNew):
        await open_store(own_url)

    assert _revision(own_url) == "9999"


@pytest.fixture
def next_revision(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program one revision ahead, which adds a table; returns that revision's file."""
    folder = tmp_path / "migrations"
    shutil.copytree(migrating._FOLDER, folder)
    revision = folder / "versions" / "9998_next.py"
    revision.write_text(
        "from alembic import op\n"
        f"revision = '9998'\ndown_revision = '{THIS}'\n"
        "def upgrade():\n    op.execute('CREATE TABLE added (id TEXT PRIMARY KEY)')\n"
    )
    monkeypatch.setattr(migrating, "_FOLDER", folder)
    return revision


async def test_an_older_database_is_refused_until_it_is_migrated(
    own_url: str, next_revision: Path, open_store: Opener
) -> None:
    with pytest.raises(SchemaBehind, match="countersign migrate"):
        await open_store(own_url)

    assert await migrate(own_url) == "9998"
    await open_store(own_url)


async def test_the_sqlite_file_is_copied_before_an_upgrade(
    sqlite_files: Databases, next_revision: Path
) -> None:
    url = sqlite_files.migrated()
    path = Path(url.removeprefix("sqlite:///"))

    await migrate(url)

    copy = path.with_name(f"{path.name}.before-upgrade-from-{THIS}")
    assert os.stat(copy).st_mode & 0o777 == 0o600
    kept = sqlite3.connect(copy)
    assert kept.execute("SELECT version_num FROM alembic_version").fetchall() == [(THIS,)]
    assert kept.execute("SELECT count(*) FROM meta").fetchall() == [(1,)]
    kept.close()
    sqlite_files.drop(url)


async def test_an_upgrade_leaves_new_numbers_in_the_file(
    sqlite_files: Databases, next_revision: Path
) -> None:
    """By which a log of before it is known to be of another state of the file."""
    url = sqlite_files.migrated()
    with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as other:
        before = other.execute("PRAGMA user_version").fetchone()

        await migrate(url)

        assert other.execute("PRAGMA user_version").fetchone() != before
    sqlite_files.drop(url)


async def test_a_revision_that_fails_half_way_leaves_the_old_schema(
    own_url: str, next_revision: Path
) -> None:
    _fail_at_its_end(next_revision)

    with pytest.raises(RuntimeError, match="half-way"):
        await migrate(own_url)

    assert _revision(own_url) == THIS
    engine = create_engine(Database.parse(own_url).url)
    assert "added" not in inspect(engine).get_table_names()
    engine.dispose()


async def test_no_upgrade_beneath_a_running_process(
    own_url: str, open_store: Opener, request: pytest.FixtureRequest
) -> None:
    store = await open_store(own_url)
    request.getfixturevalue("next_revision")

    with pytest.raises(DatabaseInUse, match=r"Stop (it|them) first"):
        await migrate(own_url)

    assert _revision(own_url) == THIS
    await store.close()
    await migrate(own_url)
    assert _revision(own_url) != THIS


def _fail_at_its_end(revision: Path) -> None:
    revision.write_text(revision.read_text() + "    raise RuntimeError('half-way')\n")


def _revision(url: str) -> str:
    """The revision that the database says it is at."""
    engine = create_engine(Database.parse(url).url)
    with engine.connect() as connection:
        found = str(connection.execute(text("SELECT version_num FROM alembic_version")).scalar_one())
    engine.dispose()
    return found


def _set_revision(url: str, revision: str) -> None:
    engine = create_engine(Database.parse(url).url)
    with engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = :to"), {"to": revision})
    engine.dispose()


async def test_what_the_first_schema_held_is_there_after_the_upgrade(
    empty_url: str, open_store: Opener
) -> None:
    _make_first_schema(empty_url)

    assert await migrate(empty_url) == THIS

    store = await open_store(empty_url)
    async with store.read() as tx:
        (event,) = await inbox.waiting(tx)
        assert (event.event_id, event.attempts, event.retry_at) == ("e1", 2, None)


async def test_debits_that_were_listed_before_the_upgrade_are_not_listed_again(
    empty_url: str, open_store: Opener
) -> None:
    """In safe mode so many of those found were listed, in this order; all of an earlier one were."""
    with _a_database_of(empty_url, "0017t") as connection:
        for id_, at, reported, left_at in (("past", 9, 1, 10), ("now", 11, 2, None)):
            connection.execute(
                text(
                    "INSERT INTO safe_mode (id, head_seq, anchor_seq, entered_at, reported, left_at)"
                    " VALUES (:id, 1, 1, :at, :reported, :left)"
                ),
                {"id": id_, "at": _at(at), "reported": reported, "left": left_at and _at(left_at)},
            )
        for reference, hour in (("before", 9), ("d", 14), ("c", 13), ("b", 12), ("a", 12)):
            connection.execute(
                text(
                    "INSERT INTO orphan_debit (program, reference, amount_usd, kind, booked_at, found_at)"
                    " VALUES ('main', :reference, -1, 'topup', :at, :at)"
                ),
                {"reference": reference, "at": _at(hour)},
            )

    assert await migrate(empty_url) == THIS

    store = await open_store(empty_url)
    async with store.begin() as tx:
        assert [row.reference for row in await safe_mode.unlisted(tx)] == ["c", "d"]
        await safe_mode.note_listed(tx)
        assert await safe_mode.unlisted(tx) == []


def _at(hour: int) -> str:
    return f"2026-03-02T{hour:02}:00:00.000000Z"


def _make_first_schema(url: str) -> None:
    """A database as revision 0001 left it, with an event waiting."""
    with _a_database_of(url, "0001") as connection:
        connection.execute(
            text(
                "INSERT INTO inbox (event_id, program, type, created_at, received_at, source, sealed_payload,"
                " state, attempts) VALUES ('e1', 'main', 't', :at, :at, 'webhook', 'v1.x.y', 'received', 2)"
            ),
            {"at": "2026-03-02T09:00:00.000000Z"},
        )


@contextmanager
def _a_database_of(url: str, revision: str) -> Iterator[Connection]:
    """A new database of an earlier revision, to be filled."""
    database = Database.parse(url)
    database.create_file()
    engine = create_engine(database.url)
    config = Config()
    config.set_main_option("script_location", str(migrating._FOLDER))
    with engine.begin() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, revision)
        connection.execute(text("INSERT INTO meta (name, value) VALUES ('instance', 'abc123')"))
        yield connection
    engine.dispose()


async def test_what_people_decided_before_is_there_after_the_upgrade_and_can_be_corrected(
    store: Store, url: str, empty_url: str, open_store: Opener
) -> None:
    """Decisions as revision 0003 kept them: once for each person, the outcome of an unresolved one included."""
    first = decision(request(), "UBOB", DecisionKind.RESOLVE, verdict="failed", reason="nothing there")
    async with store.begin() as tx:
        await insert(tx, request())
        await decisions.insert(tx, first)
    _copy_rows(url, empty_url, "0003", "request", "decision")

    assert await migrate(empty_url) == THIS

    corrected = replace(
        first, id="later", verdict="succeeded", decided_at=first.decided_at + timedelta(minutes=1)
    )
    upgraded = await open_store(empty_url)
    async with upgraded.begin() as tx:
        await decisions.insert(tx, corrected)
        assert await decisions.of(tx, first.request_id) == [first, corrected]


def _copy_rows(source_url: str, target_url: str, revision: str, *names: str) -> None:
    """Make a database of that revision, with what these tables held in `source_url`."""
    Database.parse(target_url).create_file()
    source, target = (
        create_engine(Database.parse(source_url).url),
        create_engine(Database.parse(target_url).url),
    )
    config = Config()
    config.set_main_option("script_location", str(migrating._FOLDER))
    with target.begin() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, revision)
        connection.execute(text("INSERT INTO meta (name, value) VALUES ('instance', 'abc123')"))
    with source.connect() as old, target.begin() as new:
        for name in names:
            table = Table(name, MetaData(), autoload_with=new)
            known = [column.name for column in table.columns]
            rows = old.execute(text(f"SELECT {', '.join(known)} FROM {name}")).mappings().all()
            new.execute(
                text(f"INSERT INTO {name} VALUES ({', '.join(f':{c}' for c in known)})"), [*map(dict, rows)]
            )
    source.dispose()
    target.dispose()
