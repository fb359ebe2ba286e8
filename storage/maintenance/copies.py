"""Copies of a database: taken while it is in use, checked, and put back.

A copy is one SQLite file, whichever database it is of, so it can be looked into without a server, and what is sealed in
it stays sealed. Of an SQLite database it is taken page by page, of PostgreSQL row by row from one snapshot. Put back on
PostgreSQL, the rows go into an empty database: the one that is replaced stays as it is.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import sqlite3
import stat
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from sqlalchemy import Connection, create_engine, func, insert, select, text
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.pool import NullPool

from bot.domain.time import Clock
from storage import audit, tables
from storage.database import Database, file_lock, lock_path, url_of
from storage.errors import DatabaseUnreachable, StorageError
from storage.maintenance.write_probe import explained
from storage.migrate import migrate, require_current
from storage.operators import safe_mode
from storage.store import Store
from storage.vault import Vault

_PIECE = 1000
_NO_ROOM = "{folder} has no room for the copy. Free some space there, or use another disk."
_DAMAGED = "{copy} is damaged ({fault}). Take another backup, or use an older one."
# They have rows in an empty database, or get them by triggers.
_MADE_WITH_THE_SCHEMA = (tables.meta, tables.audit_head, tables.card_count)


class CopyRefused(StorageError):
    """A copy cannot be taken or put back like this; the text says why and what to do."""

    reason = "copy_refused"


@dataclass(frozen=True, slots=True)
class Copied:
    """What a copy holds: how many requests, and where its audit chain ends."""

    requests: int
    audit_entries: int
    last_entry_at: datetime | None


async def back_up(url: str, target: Path, *, vault: Vault, clock: Clock) -> Copied:
    """Write a copy of the database at `url` to the new file `target`, beside whatever works on it, and check it.

    Raises `CopyRefused`, and storage errors. What was written is removed then.
    """
    if target.exists():  # noqa: ASYNC240 - one look
        raise CopyRefused(
            f"{target} is there already. Name a new file: an older backup is never overwritten."
        )
    database = Database.parse(url)
    database.require_file()
    await require_current(url)
    unfinished = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
    try:
        with _made(unfinished):
            if database.path is None:
                await migrate(url_of(unfinished))
                await asyncio.to_thread(_copy_rows, database, Database.parse(url_of(unfinished)))
            else:
                await asyncio.to_thread(_copy_file, database.path, unfinished)
            found = await check(unfinished, vault=vault, clock=clock)
            os.rename(unfinished, target)
    except OSError as error:
        raise CopyRefused(f"{target} cannot be written ({error.strerror}).") from None
    return found


async def check(copy: Path, *, vault: Vault, clock: Clock) -> Copied:
    """Is it whole: its pages, its audit chain from end to end, and sealed under these keys? Raises `CopyRefused`."""
    if fault := await asyncio.to_thread(_damage, copy):
        raise CopyRefused(_DAMAGED.format(copy=copy, fault=fault))
    store = await Store.open(url_of(copy), vault=vault, clock=clock, exclusive=False)
    try:
        async with store.read() as tx:
            report = await audit.verify(tx)
            if not report.ok:
                raise CopyRefused(
                    f"The audit chain in {copy} is broken at entry {report.first_bad} ({report.kind}), so the"
                    " database was changed outside Countersign."
                )
            counted = (await tx.run(select(func.count()).select_from(tables.request))).scalar_one()
            return Copied(int(counted), report.last, await audit.made_at(tx, report.last))
    finally:
        await store.close()
        await asyncio.to_thread(_as_one_file, copy)


async def put_back(url: str, copy: Path, *, vault: Vault, clock: Clock) -> tuple[Copied, Path | None]:
    """Make this copy the database at `url`, in safe mode; returns what it holds, and where the SQLite file that it
    replaces is kept. Nothing may work on the database meanwhile.

    Raises `CopyRefused`, `DatabaseInUse`, and storage errors; the database is as it was then.
    """
    if not copy.is_file():  # noqa: ASYNC240 - one look
        raise CopyRefused(f"There is no backup at {copy}.")
    if fault := await asyncio.to_thread(_damage, copy):
        raise CopyRefused(_DAMAGED.format(copy=copy, fault=fault))
    database = Database.parse(url)
    folder = _folder_for_work(copy, database)
    work = folder / f".restore.{secrets.token_hex(4)}.part"
    try:
        with _made(work):
            await asyncio.to_thread(_copy_file, copy, work)
            await migrate(url_of(work))
            found = await check(work, vault=vault, clock=clock)
            await _ask_for_safe_mode(work, vault, clock)
            if database.path is None:
                await _fill(url, work)
                return found, None
            return found, await asyncio.to_thread(_replace, database.path, work)
    except OSError as error:
        raise CopyRefused(f"The backup cannot be put in place ({error.strerror}).") from None
    finally:
        for name in ("-wal", "-shm", ".lock"):
            work.with_name(work.name + name).unlink(missing_ok=True)
        for kept in folder.glob(f"{work.name}.before-upgrade-from-*"):
            kept.unlink()


def _folder_for_work(copy: Path, database: Database) -> Path:
    """Where the file can be renamed to the database; for PostgreSQL beside the copy, or where temporary files are: the
    copy may be on a disk that can only be read."""
    if database.path is not None:
        database.path.parent.mkdir(parents=True, exist_ok=True)
        return database.path.parent
    return copy.parent if os.access(copy.parent, os.W_OK) else Path(tempfile.gettempdir())


async def _ask_for_safe_mode(copy: Path, vault: Vault, clock: Clock) -> None:
    """Whatever the anchors say: the next start finds it in force."""
    store = await Store.open(url_of(copy), vault=vault, clock=clock)
    try:
        async with store.begin() as tx:
            head = await audit.head(tx)
            at = await audit.made_at(tx, head.seq)
            await safe_mode.enter(
                tx,
                f"restore-{secrets.token_hex(8)}",
                head_seq=head.seq,
                head_at=at,
                anchor_seq=head.seq,
                anchor_at=at,
            )
            await audit.append(
                tx,
                actor="system:restore",
                action=safe_mode.RESTORED,
                subject="database",
                body={"head": head.seq, "anchor": head.seq},
            )
    finally:
        await store.close()
    await asyncio.to_thread(_as_one_file, copy)


async def _fill(url: str, copy: Path) -> None:
    """The rows of the copy, into an empty database."""
    await migrate(url)
    target = Database.parse(url)
    if await asyncio.to_thread(_has_rows, target):
        raise CopyRefused(
            f"The database {target.shown} is not empty. Make a new one with createdb, point COUNTERSIGN_DATABASE_URL to"
            " it, and restore again: the old one stays as it is."
        )
    await asyncio.to_thread(_copy_rows, Database.parse(url_of(copy)), target)


def _copy_file(source: Path, target: Path) -> None:
    old, new = _to_read(source), sqlite3.connect(target)
    with closing(old), closing(new):
        # In one step: SQLite begins again where something was written between two of them, so on a database that is at
        # work it would never end. Writers go on meanwhile, in the log.
        try:
            old.backup(new)
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_FULL:
                raise CopyRefused(_NO_ROOM.format(folder=target.parent)) from None
            raise DatabaseUnreachable(f"The database {source} cannot be read ({error}).") from None
    _as_one_file(target)


def _to_read(path: Path) -> sqlite3.Connection:
    """Never made where it is missing: a name that is read otherwise would give an empty database."""
    return sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)


def _as_one_file(path: Path) -> None:
    """Without a log beside it, which SQLite would have to make to read it: that fails on a disk that can only be
    read."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode=DELETE")


def _damage(path: Path) -> str:
    try:
        with closing(_to_read(path)) as connection:
            (found,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
    except sqlite3.OperationalError as error:
        raise CopyRefused(f"{path} cannot be read ({error}).") from None
    except sqlite3.DatabaseError:
        return "it isn't a database"
    return "" if found == "ok" else str(found)


def _replace(path: Path, work: Path) -> Path | None:
    """Under the lock of the database, so that no process works on it. The old file is kept under another name."""
    with file_lock(path):
        if why := Database.parse(url_of(path)).log_of_another():
            raise CopyRefused(why)  # folded in, it would spoil this file, and what is in it would be lost
        kept = path.with_name(f"{path.name}.before-restore-{secrets.token_hex(3)}")
        # One that cannot be read keeps its log: whoever looks into it later needs both.
        with suppress(sqlite3.DatabaseError):
            _empty_log(path)
        was_there = path.exists()
        _belongs_to(path if was_there else path.parent, path, work, keeps_mode=was_there)
        moved: list[tuple[Path, Path]] = []
        try:
            # The log is moved as well where there is no database: SQLite would take it for one of the copy.
            for old, new in ((path, kept), (_log_of(path), _log_of(kept))):
                if old.exists():
                    os.rename(old, new)
                    moved.append((old, new))
            path.with_name(f"{path.name}-shm").unlink(missing_ok=True)
            os.rename(work, path)
        except OSError as error:
            _undo(moved, path, kept, error)
            raise
        return kept if was_there else None


def _belongs_to(owner: Path, path: Path, work: Path, *, keeps_mode: bool) -> None:
    """To whom the database belonged, or its folder: whoever restores may be root, and the bot is not."""
    of = owner.stat()
    if os.geteuid() == 0:
        for made in (work, lock_path(path)):
            os.chown(made, of.st_uid, of.st_gid)
    if keeps_mode:
        os.chmod(work, stat.S_IMODE(of.st_mode))


def _empty_log(path: Path) -> None:
    if path.exists():
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _undo(moved: Sequence[tuple[Path, Path]], path: Path, kept: Path, error: OSError) -> None:
    """Everything is where it was. Raises `CopyRefused` where that fails, too."""
    try:
        for old, new in moved:  # in this order: a log without its database would be lost at the next start
            os.rename(new, old)
    except OSError:
        raise CopyRefused(
            f"The backup cannot be put in place ({error.strerror}), nor the database that was there put back."
            f" It is kept as {kept}: rename it to {path}, and its -wal file if there is one."
        ) from None


def _log_of(database: Path) -> Path:
    return database.with_name(f"{database.name}-wal")


def _has_rows(database: Database) -> bool:
    with _connected(database) as connection:
        head = connection.execute(select(tables.audit_head.c.seq)).scalar_one()
        return bool(head or connection.execute(select(func.count()).select_from(tables.request)).scalar_one())


def _copy_rows(source: Database, target: Database) -> None:
    """Every row of every table; both have the newest schema."""
    with _connected(source) as old, _connected(target) as new:
        # What triggers count comes after that which is counted.
        for table in sorted(tables.metadata.sorted_tables, key=lambda one: one is tables.card_count):
            if table in _MADE_WITH_THE_SCHEMA:
                new.execute(table.delete())
            rows = old.execution_options(yield_per=_PIECE).execute(select(table))
            for piece in rows.mappings().partitions(_PIECE):
                new.execute(insert(table), [dict(row) for row in piece])
        if target.path is None:
            _move_sequences(new)


def _move_sequences(connection: Connection) -> None:
    """What PostgreSQL numbers itself goes on after the numbers that were copied."""
    for table in tables.metadata.sorted_tables:
        column = table.autoincrement_column
        if column is None:
            continue
        asked = text("SELECT pg_get_serial_sequence(:table, :column)")
        sequence = connection.execute(asked, {"table": table.name, "column": column.name}).scalar_one()
        if sequence is not None:
            newest = connection.execute(select(func.max(column))).scalar_one()
            if newest:
                connection.execute(select(func.setval(sequence, newest)))


@contextmanager
def _connected(database: Database) -> Iterator[Connection]:
    """One transaction, in which everything that is read is of one moment."""
    options = {"isolation_level": "REPEATABLE READ"} if database.path is None else {}
    engine = create_engine(database.url, poolclass=NullPool, **options)
    try:
        with engine.begin() as connection:
            yield connection
    except SQLAlchemyError as error:
        raise DatabaseUnreachable(explained(error).format(shown=database.shown)) from None
    finally:
        engine.dispose()


@contextmanager
def _made(path: Path) -> Iterator[None]:
    """A new file for this user alone, which is gone at the end unless it was renamed."""
    os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    try:
        yield
    finally:
        path.unlink(missing_ok=True)
        for name in ("-wal", "-shm", ".lock"):
            path.with_name(path.name + name).unlink(missing_ok=True)
