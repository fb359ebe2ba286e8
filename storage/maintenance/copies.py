"""Copies of a database: taken while it is in use, checked, and put back.

A copy is one SQLite file, whichever database it is of, so it can be looked into without a server, and what is sealed in
it stays sealed. Of an SQLite database it is taken page by page, of PostgreSQL row by row from one snapshot. Put back on
PostgreSQL, the rows go into an empty database: the one that is replaced stays as it is.
"""

from __future__ import annotations

import asyncio
import fcntl
import glob
import os
import re
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
from storage.errors import DatabaseUnreachable, DiskFull, StorageError
from storage.faults import fault_of, named
from storage.migrate import migrate, require_current
from storage.operators import restored_copies, safe_mode
from storage.store import Store
from storage.vault import Vault

_PIECE = 1000
_PAGE_BYTES = 4096
_NO_ROOM = "{folder} has no room for the copy. Free some space there, or use another disk."
_DATABASE_DAMAGED = (
    "The database {shown} is damaged ({fault}), so no backup was written. Stop Countersign, keep the file, and restore"
    " the newest backup."
)
# Any number that only restores use.
_ALONE = text("SELECT pg_advisory_lock(1919251319)")
# Of names that belong to a database.
_BESIDE = ("-journal", "-wal", "-shm", ".lock", ".anchors")
_UNFINISHED = re.compile(r"\..+\.[0-9a-f]{8}\.part")
# In the name of what a restore replaced; with its log it is whole.
_REPLACED = ".before-restore-"
_DAMAGED = "{copy} is damaged ({fault}). Take another backup, or use an older one."
_NO_BACKUP = (
    "{copy} isn't a backup of Countersign: it is empty, or of another program. Name a file that `countersign backup`"
    " wrote."
)
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
    database = Database.parse(url)
    if _is_beside(target, database):
        raise CopyRefused(f"{target} would be taken for a part of the database. Name another file.")
    _require_free(target)
    database.require_file()
    await require_current(url)
    _remove_left(target.parent)
    unfinished = _unfinished(target.parent, target.name)
    try:
        with _made(unfinished), _as_known(unfinished, target):
            if database.path is None:
                await migrate(url_of(unfinished))
                await asyncio.to_thread(_copy_rows, database, Database.parse(url_of(unfinished)))
            else:
                await asyncio.to_thread(_copy_file, database.path, unfinished)
            if fault := await asyncio.to_thread(_damage, unfinished):
                raise CopyRefused(_DATABASE_DAMAGED.format(shown=database.shown, fault=fault))
            if not await asyncio.to_thread(_was_in_use, unfinished):
                raise CopyRefused(
                    f"Nothing was ever recorded in {database.shown}, so there is nothing to back up. Check"
                    " COUNTERSIGN_DATABASE_URL, or start Countersign first."
                )
            found = await check(unfinished, vault=vault, clock=clock, shown=database.shown)
            _name_new(unfinished, target)
    except OSError as error:
        raise CopyRefused(f"{target} cannot be written ({error.strerror}).") from None
    return found


async def check(copy: Path, *, vault: Vault, clock: Clock, shown: str = "") -> Copied:
    """Is it whole: its pages, its audit chain from end to end, and sealed under these keys? Raises `CopyRefused`.
    `shown`: what it is a copy of, by which people know it."""
    if fault := await asyncio.to_thread(_damage, copy):
        raise CopyRefused(_DAMAGED.format(copy=copy, fault=fault))
    store = await Store.open(url_of(copy), vault=vault, clock=clock, exclusive=False)
    try:
        async with store.read() as tx:
            report = await audit.verify(tx)
            if not report.ok:
                raise CopyRefused(
                    f"The audit chain in {shown or copy} is broken at entry {report.first_bad} ({report.kind}), so the"
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
    if (beside := _logs_beside(copy)) and _REPLACED not in copy.name:
        raise CopyRefused(
            f"{beside} lies beside the backup, and `countersign backup` writes no such file: SQLite would mix the two."
            f" Nothing was changed. Move it away and restore again. Only if {copy} isn't a backup, and both were copied"
            " from a Countersign that was killed: put both in place of the database, with Countersign stopped."
        )
    if fault := await asyncio.to_thread(_damage, copy):
        raise CopyRefused(_DAMAGED.format(copy=copy, fault=fault))
    if not await asyncio.to_thread(_was_in_use, copy):
        raise CopyRefused(_NO_BACKUP.format(copy=copy))
    database = Database.parse(url)
    if why := database.leads_nowhere():
        raise CopyRefused(why)
    try:
        folder = _folder_for_work(copy, database)
        _remove_left(folder)
        for lock in folder.glob(".restore.*.part.lock"):
            if not lock.with_suffix("").exists():
                lock.unlink(missing_ok=True)
        work = _unfinished(folder, "restore")
        with _made(work), _as_known(work, copy):
            return await _put_in_place(url, copy, work, vault, clock)
    except OSError as error:
        raise CopyRefused(f"The backup cannot be put in place ({error.strerror}).") from None


async def _put_in_place(
    url: str, copy: Path, work: Path, vault: Vault, clock: Clock
) -> tuple[Copied, Path | None]:
    database = Database.parse(url)
    try:
        await asyncio.to_thread(_copy_file, copy, work)
        try:
            await migrate(url_of(work))
        except SQLAlchemyError:
            raise CopyRefused(_NO_BACKUP.format(copy=copy)) from None
        found = await check(work, vault=vault, clock=clock, shown=str(copy))
        await _ask_for_safe_mode(work, vault, clock)
        if database.path is None:
            await _fill(url, work)
            return found, None
        return found, await asyncio.to_thread(_replace, database.path.resolve(), work)
    finally:
        for kept in work.parent.glob(f"{work.name}.before-upgrade-from-*"):
            kept.unlink()


def _is_beside(target: Path, database: Database) -> bool:
    """Is it a name that SQLite or Countersign gives to what belongs to the database?"""
    if database.path is None:
        return False
    for path in (database.path, database.path.resolve()):
        names = {f"{path.name}{end}" for end in _BESIDE}
        if target.name in names and target.parent.resolve() == path.parent.resolve():
            return True
    return False


def _was_in_use(copy: Path) -> bool:
    """Has it a form of Countersign's, the name of an installation and an entry in its audit log?"""
    asked = (
        "SELECT version_num FROM alembic_version",
        "SELECT value FROM meta WHERE name = 'instance'",
        "SELECT seq FROM audit LIMIT 1",
    )
    with closing(_to_read(copy)) as connection:
        try:
            return all(connection.execute(one).fetchone() is not None for one in asked)
        except sqlite3.OperationalError as error:
            _raise_where_it_is(error, copy)
            return False  # there is no such table


def _require_free(target: Path) -> None:
    """Raise `CopyRefused` where something has the name of a new backup, or would be taken for a part of it."""
    if target.exists():
        raise CopyRefused(
            f"{target} is there already. Name a new file: an older backup is never overwritten."
        )
    if target.is_symlink():
        raise CopyRefused(
            f"{target} is a link to a file that is not there. Nothing was written. Mount its disk, or name another"
            " file."
        )
    if beside := _logs_beside(target):
        raise CopyRefused(
            f"{beside} is there, of another file that had this name: SQLite would take it for a part of the backup."
            " Name another file, or move it away."
        )


def _logs_beside(path: Path) -> Path | None:
    """A log of SQLite's that lies beside a file, or where a file is to be."""
    real = path.resolve()
    for end in ("-wal", "-journal"):
        log = real.with_name(f"{real.name}{end}")
        with suppress(OSError):
            if log.stat().st_size:
                return log
    return None


def _folder_for_work(copy: Path, database: Database) -> Path:
    """Where the file can be renamed to the database; for PostgreSQL beside the copy, or where temporary files are: the
    copy may be on a disk that can only be read."""
    if database.path is not None:
        folder = database.path.resolve().parent
        folder.mkdir(parents=True, exist_ok=True)
        return folder
    return copy.parent if os.access(copy.parent, os.W_OK) else Path(tempfile.gettempdir())


async def _ask_for_safe_mode(copy: Path, vault: Vault, clock: Clock) -> None:
    """Whatever the anchors say: the next start finds it in force."""
    store = await Store.open(url_of(copy), vault=vault, clock=clock)
    try:
        async with store.begin() as tx:
            # Before what was added just now, where the copy is of an older version.
            head = await restored_copies.before_its_upgrade(tx, store.ended_at)
            at = await audit.made_at(tx, head)
            await safe_mode.enter(tx, head_seq=head, head_at=at, anchor_seq=head, anchor_at=at)
    finally:
        await store.close()
    await asyncio.to_thread(_as_one_file, copy)


async def _fill(url: str, copy: Path) -> None:
    """The rows of the copy, into an empty database."""
    await migrate(url)
    target = Database.parse(url)
    await asyncio.to_thread(_fill_alone, target, copy)


def _fill_alone(target: Database, copy: Path) -> None:
    """One restore after the other: whoever comes later sees that it is not empty any more."""
    engine = create_engine(target.url, poolclass=NullPool, isolation_level="AUTOCOMMIT")
    try:
        with named(target), engine.connect() as alone:
            alone.execute(_ALONE)  # until this connection ends
            _fill_empty(target, copy)
    finally:
        engine.dispose()


def _fill_empty(target: Database, copy: Path) -> None:
    if _has_rows(target):
        raise CopyRefused(
            f"The database {target.shown} is not empty. Make a new one with createdb, point COUNTERSIGN_DATABASE_URL to"
            " it, and restore again: the old one stays as it is."
        )
    _copy_rows(Database.parse(url_of(copy)), target)


def _copy_file(source: Path, target: Path) -> None:
    old, new = _to_read(source), sqlite3.connect(target)
    with closing(old), closing(new):
        # In one step: SQLite begins again where something was written between two of them, so on a database that is at
        # work it would never end. Writers go on meanwhile, in the log.
        try:
            old.backup(new)
        except sqlite3.OperationalError as error:
            # It does not say of which of the two it is.
            _raise_where_it_is(error, target, source)
            raise DatabaseUnreachable(f"The database {source} cannot be read ({error}).") from None
        except sqlite3.DatabaseError as error:
            raise CopyRefused(_DATABASE_DAMAGED.format(shown=source, fault=error)) from None
    _as_one_file(target)


def _raise_where_it_is(error: sqlite3.OperationalError, *files: Path) -> None:
    """Raise what is wrong with the first of them whose disk stores nothing, or lacks the room that SQLite needs beside
    it, also to read."""
    for file in files:
        database = Database.parse(url_of(file))
        fault = fault_of(error, database)
        if isinstance(fault, DiskFull) or (fault is not None and database.refuses(_PAGE_BYTES)):
            raise fault from None


def _to_read(path: Path) -> sqlite3.Connection:
    """Never made where it is missing: a name that is read otherwise would give an empty database."""
    return sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)


def _as_one_file(path: Path) -> None:
    """Without a log beside it, which SQLite would have to make to read it: that fails on a disk that can only be
    read."""
    # Not made where it was taken away meanwhile, as the command was ended.
    with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=rw", uri=True)) as connection:
        connection.execute("PRAGMA journal_mode=DELETE")


def _damage(path: Path) -> str:
    try:
        with closing(_to_read(path)) as connection:
            (found,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
    except sqlite3.OperationalError as error:
        _raise_where_it_is(error, path)
        raise CopyRefused(f"{path} cannot be read ({error}).") from None
    except sqlite3.DatabaseError:
        return "it isn't a database"
    return "" if found == "ok" else str(found)


def _replace(path: Path, work: Path) -> Path | None:
    """Under the lock of the database, so that no process works on it. The old file is kept under another name."""
    with file_lock(path):
        if fault := Database.parse(url_of(path)).log_of_another(is_locked=True):
            raise CopyRefused(
                str(fault)
            )  # folded in, it would spoil this file, and what is in it would be lost
        _forget_second_names(path)
        kept = path.with_name(f"{path.name}{_REPLACED}{secrets.token_hex(3)}")
        # One that cannot be read keeps its log: whoever looks into it later needs both.
        with suppress(sqlite3.DatabaseError):
            _empty_log(path)
        was_there, log = path.exists(), _log_of(path)
        _belongs_to(path if was_there else path.parent, path, work, keeps_mode=was_there)
        moved: list[tuple[Path, Path]] = []
        try:
            # The log is moved as well where there is no database: SQLite would take it for one of the copy.
            for old, new in ((path, kept), (log, _log_of(kept))):
                if old.exists():
                    _name_again(old, new)
                    moved.append((old, new))
            path.with_name(f"{path.name}-shm").unlink(missing_ok=True)
            # In one step: whenever this is killed, there is a database. With the log of the other beside it nothing
            # opens it.
            os.rename(work, path)
        except OSError as error:
            _undo(moved, path, kept, error)
            raise
        with suppress(FileNotFoundError):
            log.unlink()
        return kept if was_there else None


def _forget_second_names(path: Path) -> None:
    """Those that a restore gave to the database, and was killed before it replaced it: they are no copies."""
    for one in path.parent.glob(f"{glob.escape(path.name)}{_REPLACED}*"):
        with suppress(OSError):
            if path.exists() and one.samefile(path):
                _log_of(one).unlink(missing_ok=True)
                one.unlink()


def _name_new(unfinished: Path, target: Path) -> None:
    """Never the name of what has come there meanwhile, such as another backup."""
    try:
        os.link(unfinished, target)
    except FileExistsError:
        _require_free(target)
        raise
    except OSError:  # a disk that gives a file one name alone
        _require_free(target)
        os.rename(unfinished, target)


def _name_again(old: Path, new: Path) -> None:
    """Another name for it; on a disk that gives a file one name alone, instead of the old one."""
    try:
        os.link(old, new)
    except OSError:
        os.rename(old, new)


def _belongs_to(owner: Path, path: Path, work: Path, *, keeps_mode: bool) -> None:
    """To whom the database belonged, or its folder: whoever restores may be root, and the bot is not."""
    of = owner.stat()
    if os.geteuid() == 0:
        for made in (work, lock_path(path)):
            os.chown(made, of.st_uid, of.st_gid)
    if keeps_mode:
        os.chmod(work, stat.S_IMODE(of.st_mode))


def _empty_log(path: Path) -> None:
    if Database.parse(url_of(path)).is_begun():
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _undo(moved: Sequence[tuple[Path, Path]], path: Path, kept: Path, error: OSError) -> None:
    """Everything is where it was. Raises `CopyRefused` where that fails, too."""
    try:
        for old, new in moved:  # in this order: a log without its database would be lost at the next start
            if old.exists():
                new.unlink()
            else:
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
            with old.execution_options(yield_per=_PIECE).execute(select(table)) as rows:
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
        newest = connection.execute(select(func.max(column))).scalar_one()
        if newest:
            connection.execute(select(func.setval(sequence, newest)))


@contextmanager
def _connected(database: Database) -> Iterator[Connection]:
    """One transaction, in which everything that is read is of one moment."""
    options = {"isolation_level": "REPEATABLE READ"} if database.path is None else {}
    engine = create_engine(database.url, poolclass=NullPool, **options)
    try:
        with named(database), engine.begin() as connection:
            yield connection
    finally:
        engine.dispose()


@contextmanager
def _as_known(unfinished: Path, known: Path) -> Iterator[None]:
    """What goes wrong with an unfinished copy is said of its folder, or of the file by which people know it."""
    try:
        with named(Database.parse(url_of(unfinished))):
            yield
    except StorageError as error:
        if str(unfinished) not in str(error):
            raise
        if isinstance(error, DiskFull):
            raise CopyRefused(_NO_ROOM.format(folder=unfinished.parent)) from None
        raise type(error)(str(error).replace(str(unfinished), str(known))) from None


@contextmanager
def _made(path: Path) -> Iterator[None]:
    """A new file for this user alone, which is gone at the end unless it was renamed."""
    handle = _locked(path)
    try:
        yield
    finally:
        _remove(path)
        os.close(handle)


def _remove(path: Path) -> None:
    for end in ("", "-journal", "-wal", "-shm", ".lock"):
        path.with_name(path.name + end).unlink(missing_ok=True)


def _unfinished(folder: Path, name: str) -> Path:
    return folder / f".{name}.{secrets.token_hex(4)}.part"


def _locked(path: Path) -> int:
    """Make the file and lock it for as long as it is worked on; returns its handle."""
    while True:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        fcntl.flock(handle, fcntl.LOCK_EX)
        if os.fstat(handle).st_nlink:
            return handle
        os.close(handle)  # before it was locked, another process took it for one that was left


def _remove_left(folder: Path) -> None:
    """What processes that were killed have left unfinished in this folder, whatever it was to be: each night's backup
    has another name. One that is worked on is locked."""
    for path in folder.glob(".*.part"):
        if not _UNFINISHED.fullmatch(path.name):
            continue
        with suppress(OSError):
            handle = os.open(path, os.O_RDWR)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                _remove(path)
            finally:
                os.close(handle)
