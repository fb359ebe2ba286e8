"""Opens the database, and hands out transactions.

`async with store.begin() as tx:` commits when the block ends and rolls back when it raises. On SQLite
every such transaction takes the write lock at its start, so that two of them never meet half-way; do
nothing slow inside, and never call abroad. `store.read()` is a snapshot that waits for nobody.
On SQLite writers of this process take turns (`write_turn`), instead of polling for the database's lock.
"""

from __future__ import annotations

import asyncio
import logging
import os
import sqlite3
import sys
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from sqlalchemy import Connection, text
from sqlalchemy.exc import IntegrityError, OperationalError, SQLAlchemyError

from bot.domain.time import Clock
from storage import audit, instance, master_keys
from storage.database import Database, FileLock, connections_named, log_path, process_name
from storage.errors import Unreadable
from storage.faults import named
from storage.log_record import on_record
from storage.migrate import require_current
from storage.operators import leases
from storage.protection import unreadable_rows, upgrades
from storage.set_aside import SetAside, UnreadableRow
from storage.sqlite import Misplaced, OpenFile, SqliteConnection, SqliteEngine, is_busy
from storage.sqlite_log import mark_change
from storage.transaction import ChainMemory, Contradiction, Tx
from storage.vault import Vault

log = logging.getLogger("countersign.storage")

if TYPE_CHECKING:  # with it comes the ORM, which nothing here uses: a tenth of a start on SQLite
    from sqlalchemy.ext.asyncio import AsyncEngine

#: One engine to write through and one to read through.
Engine: TypeAlias = "AsyncEngine | SqliteEngine"
Engines: TypeAlias = "Callable[[Database], tuple[Engine, Engine]]"

_READERS = 4
_POSTGRES_CONNECTIONS = 8
# Rows of an index that SQLite looks at to know how it is filled.
_ANALYSED = 400
# Where a transaction fails, so many rows of each table that it read are looked at: some ten milliseconds.
_LOOKED_AT_ONCE = 1000
# What fails again and again for another reason has no table looked through more often.
_IN_ORDER_S = 600.0
# A checkpoint that finds a reader in its way is tried again after these, with writers between.
_FOLD_PAUSES_S = (0.1, 0.2, 0.4, 0.8)
# Our own transactions hold a lock for some milliseconds.
_PROBE_WAITS_MS = 1000
# A frozen process keeps its connections and the rows that it has locked: no longer than this, so that others go on. Our
# own transactions wait for nothing but the database.
_STANDS_STILL_MS = 5000
# Every process asks whether there is room on PostgreSQL's disk so often; each time leaves rows in its catalogue.
_ROOM_LASTS_S = 20.0


class _TakenBack(Exception):
    """Ends a transaction that was only to be tried."""


class Store:
    """An open database. Make one with `Store.open`."""

    def __init__(
        self,
        database: Database,
        *,
        writer: Engine,
        reader: Engine,
        prober: Engine,
        vault: Vault,
        clock: Clock,
        lock: FileLock | None,
        file: OpenFile | None,
    ) -> None:
        self.database = database
        self.vault = vault
        self.instance = ""
        #: Number of the last entry of the audit chain when it was opened: what comes after it is of this process, or of
        #: another that is at work.
        self.ended_at = 0
        # How many rows were signed when it was opened, as it is from before there were signatures; None = it is not.
        self.signed_now: int | None = None
        self._writer = writer
        self._reader = reader
        self._prober = prober
        self._clock = clock
        self._had_room_at = float("-inf")
        # Transactions that have changed something.
        self._stored = 0
        #: Is given what was done, and how many seconds it took.
        self.observe: Callable[[str, float], None] | None = None
        self._lock = lock
        self._file = file
        self._changed_ns = 0
        self._chain = ChainMemory()
        #: Rows that cannot be read, which no statement of this process meets.
        self.set_aside = SetAside()
        #: Leases of nobody, which are free for this process.
        self.ghosts = leases.NO_GHOSTS
        # Tables in which to look for more of them, since something failed, and those that were looked through for
        # nothing, and when.
        self._suspected: set[str] = set()
        self._in_order: dict[str, float] = {}
        self._versions: dict[tuple[str, str], int] = {}
        #: Whoever reads on in the audit chain for all: two who read the same take twice the time.
        self.reading_on = asyncio.Lock()
        # What a process before this one has purged may still be in the log.
        self.needs_checkpoint = database.path is not None
        self.write_turn: AbstractAsyncContextManager[object] = (
            nullcontext() if database.path is None else asyncio.Lock()
        )

    @classmethod
    async def open(
        cls,
        url: str,
        *,
        vault: Vault,
        clock: Clock,
        exclusive: bool = True,
        engines: Engines | None = None,
        checks_canaries: bool = True,
    ) -> Store:
        """Open a migrated database and prove that the master key fits.

        `exclusive` refuses a second process on one SQLite file; commands that work beside a running
        bot pass False and use `read()`. `engines` makes the connections another way, for a test that has
        no threads. Without `checks_canaries` whoever opens it calls `key_rotation.settle_canaries` first. Raises
        `DatabaseMissing`, `DatabaseUnreachable`, `DatabaseInUse`, `SchemaBehind`, `SchemaTooNew`, `WrongMasterKey`.
        """
        database = Database.parse(url)
        database.require_file()
        await require_current(url)
        if exclusive and (fault := database.unwritable()):
            raise fault
        lock = FileLock(database.path) if database.path is not None and exclusive else None
        file, store = None, None
        try:
            with named(database):
                if database.path is not None:
                    file = OpenFile(database.path)
                    if lock is not None:
                        lock.note(*file.inodes, changed_ns=file.changed_ns)
                writer, reader = engines(database) if engines else _engines(database, file)
                store = cls(
                    database,
                    writer=writer,
                    reader=reader,
                    prober=engines(database)[0] if engines else _prober(database, file),
                    vault=vault,
                    clock=clock,
                    lock=lock,
                    file=file,
                )
                await store._settle(exclusive, checks_canaries=checks_canaries)
        except BaseException:
            if store is not None:
                await store.close()
            elif lock is not None:
                lock.release()
            raise
        return store

    async def _settle(self, exclusive: bool, *, checks_canaries: bool) -> None:
        """Learn the instance's name, bind the vault to it, and check the keys before anything else."""
        async with self.read() as tx:
            self.instance = await instance.instance(tx)
            self.ended_at = (await audit.head(tx)).seq
            self.vault = tx.vault = self.vault.bound_to(self.instance)
            spoiled = await master_keys.check_canary(tx) if checks_canaries else []
            await master_keys.see_retired(tx)
            is_unsigned = await master_keys.is_unsigned(tx)
        if spoiled:
            log.warning("keys.check_changed_outside", extra={"keys": master_keys.shown_list(spoiled)})
        if is_unsigned:
            async with self.begin() as tx:
                self.signed_now = await upgrades.sign_once(tx)
        if exclusive:
            async with self.begin() as tx:
                for kid in set(spoiled).intersection(tx.vault.kids):
                    await master_keys.replant(tx, kid)
                await master_keys.plant_canaries(tx)
            await self._sign_readings_once()

    async def _sign_readings_once(self) -> None:
        """A row that nothing can read is signed by nobody, and keeps nothing else from being signed."""
        while True:
            try:
                async with self.read() as tx:
                    if not await upgrades.are_readings_unsigned(tx):
                        return
                async with self.begin() as tx:
                    signed = await upgrades.sign_readings_once(tx)
            except Unreadable as found:
                if not self.set_aside.has_row(found.row):
                    raise
            else:
                if signed:
                    self.signed_now = signed + (self.signed_now or 0)
                return

    @property
    def log_known_to(self) -> int:
        """The number of the last entry of the audit log that this process knows to be there; there may be more."""
        return self._chain.known_seq

    @property
    def put_back(self) -> dict[str, Contradiction]:
        """Requests by id whose rows were met and are not as the audit log has them; whoever tells of one takes it
        out."""
        return self._chain.put_back

    @property
    def rows_met(self) -> set[str]:
        """Tables of which a signed row was met that is not as we left it; the same."""
        return self._chain.rows_met

    @asynccontextmanager
    async def begin(self) -> AsyncIterator[Tx]:
        began, tx, is_committing = self._clock.monotonic(), None, False
        try:
            async with self.write_turn, self._writer.begin() as connection:
                self.require_its_file()
                tx = Tx(
                    connection,
                    vault=self.vault,
                    now=self._clock.now(),
                    writes=True,
                    versions=self._versions,
                    chain=self._chain,
                    set_aside=self.set_aside,
                    require_fits=on_record.require_fits,
                )
                yield tx
                await tx.ends()
                self.require_its_file()
                has_changed = isinstance(connection, SqliteConnection) and connection.has_changed
                is_committing = True
            is_committing = False
        except SQLAlchemyError as error:
            await self.keep_what_is_open()
            await self._look_for_the_cause(error, tx)
            raise
        except Exception as error:
            await self._look_for_the_cause(error, tx)
            raise
        finally:
            if is_committing and tx is not None:
                tx.may_be_committed()
        self._stored += has_changed
        self._note_change()
        self._observed("Database write", began)
        tx.committed()

    def _note_change(self) -> None:
        """SQLite may have folded its log into the file just now."""
        if self._lock is None or self._file is None or (now := self._file.changed_ns) == self._changed_ns:
            return
        self._changed_ns = now
        self._lock.note(*self._file.inodes, changed_ns=now, is_news=False)

    def _observed(self, what: str, began: float) -> None:
        if self.observe is not None:
            self.observe(what, self._clock.monotonic() - began)

    def misplaced(self) -> Misplaced | None:
        """Is the SQLite file at its path another one than the one that is open, or none? None where all is well."""
        return None if self._file is None else self._file.misplaced()

    def require_its_file(self) -> None:
        """Raise `OperationalError` where the SQLite file at its path is not the one that is open: what is stored then
        is lost, so nothing is read, approved or sent by it."""
        if self._file is not None:
            self._file.require()

    async def keep_what_is_open(self) -> Path | None:
        """Of an SQLite file that is misplaced: keep what was open, and leave nothing that could get into the other
        file. Returns where it is kept; None where it could not be."""
        if self._file is None or self._file.misplaced() is None:
            return None
        await self._file.keep(self._clock.now())
        return self._file.kept

    @asynccontextmanager
    async def read(self, *, though_misplaced: bool = False) -> AsyncIterator[Tx]:
        """A snapshot for reading only: a write in it is refused by the database.

        `though_misplaced`: of the SQLite file that is open, where another one, or none, is at its path.
        """
        began, tx = self._clock.monotonic(), None
        if self.misplaced() is not None:
            await self.keep_what_is_open()
        try:
            async with self._reader.begin() as connection:
                if not though_misplaced:
                    self.require_its_file()
                tx = Tx(
                    connection,
                    vault=self.vault,
                    now=self._clock.now(),
                    writes=False,
                    versions=self._versions,
                    chain=self._chain,
                    set_aside=self.set_aside,
                )
                yield tx
        except Exception as error:
            await self._look_for_the_cause(error, tx)
            raise
        self._observed("Database read", began)

    async def _look_for_the_cause(self, error: Exception, tx: Tx | None) -> None:
        """Raise `Unreadable` where a transaction failed and the first rows of what it read have one that cannot be
        read. In the rest of them whoever calls `look_on` looks, at its next turn."""
        # What nothing can read may be under the key of a row that was to be written.
        may_be = isinstance(error, IntegrityError) or unreadable_rows.may_be_unreadable(error)
        if tx is None or self.misplaced() is not None or not may_be:
            return
        tables = tx.tables_met() & set(unreadable_rows.LOOKED_THROUGH)
        self._suspected |= tables
        found = list[UnreadableRow]()
        with suppress(SQLAlchemyError):  # it is the database then
            async with self._reader.begin() as connection:
                look = self._looking(connection)
                for table in sorted(tables):
                    found += await unreadable_rows.Walk([table]).on(look, _LOOKED_AT_ONCE)
        if new := self.leave_out(found):
            raise Unreadable(new[0]) from error

    def _looking(self, connection: Any) -> Tx:
        return Tx(connection, vault=self.vault, now=self._clock.now(), writes=False, versions=self._versions)

    def leave_out(self, found: Iterable[UnreadableRow]) -> list[UnreadableRow]:
        """From now on no statement meets these rows; returns those that are new, and those that nothing goes on
        without."""
        never = unreadable_rows.NEVER_SET_ASIDE
        every = unreadable_rows.with_their_requests(found, is_postgres=self.database.path is None)
        return [row for row in every if row.table in never or self.set_aside.put(row)]

    async def leave_out_all(self) -> list[UnreadableRow]:
        """Look through all tables now, however long that takes, and leave out every row that cannot be read, how many
        they are, and whether anything else goes on without them or not: for what has to be done all the same. Returns
        them."""
        async with self._reader.begin() as connection:
            found = await unreadable_rows.find_all(self._looking(connection))
        self.set_aside.most = sys.maxsize
        for row in unreadable_rows.with_their_requests(found, is_postgres=self.database.path is None):
            self.set_aside.put(row)
        return found

    def suspect(self, error: Exception) -> None:
        """Something that is done again and again failed: is it for a row that cannot be read?"""
        if isinstance(error, Unreadable) or unreadable_rows.may_be_unreadable(error):
            self._suspected |= set(unreadable_rows.LOOKED_THROUGH)

    async def look_on(self, walk: unreadable_rows.Walk) -> list[UnreadableRow]:
        """Look through what is suspected, and on in `walk`; returns rows that were found and are new. What was left
        out and can be read again, or is gone, is met again."""
        now_s = self._clock.monotonic()
        suspected = {
            table
            for table in self._suspected
            if now_s - self._in_order.get(table, float("-inf")) >= _IN_ORDER_S
        }
        self._suspected.clear()
        async with self._reader.begin() as connection:
            look = self._looking(connection)
            found = await unreadable_rows.find_all(look, suspected)
            found += await walk.on(look)
            for row in list(self.set_aside):
                if not await unreadable_rows.is_still_so(look, row):
                    self.set_aside.take_back(row)
        self._in_order |= dict.fromkeys(suspected - {row.table for row in found}, now_s)
        return self.leave_out(found)

    async def checkpoint(self) -> bool:
        """Fold SQLite's write-ahead log into the file and empty it, so that purged bytes leave it too.

        False when a reader was in the way for too long: `needs_checkpoint` then, so try again later. Writers do not
        wait for that reader. True on PostgreSQL, which needs none.
        """
        if self.database.path is None:
            return True
        self.needs_checkpoint = True
        for pause_s in (*_FOLD_PAUSES_S, 0):
            # Not inside a transaction, where SQLite would refuse it.
            async with self.write_turn, self._writer.connect() as connection:
                self.needs_checkpoint = not await connection.run_sync(_fold)
            self._note_change()
            if not self.needs_checkpoint:
                return True
            await asyncio.sleep(pause_s)
        return False

    async def optimize(self) -> None:
        """Let the database look again at how many rows there are of what, by which it chooses its indexes.

        Quick however large it is: PostgreSQL reads a sample, and SQLite some hundred rows of each index.
        """
        if self.database.path is None:
            async with self.begin() as tx:
                await tx.run(text("ANALYZE"))
            return
        async with self.write_turn, self._writer.begin() as connection:
            await connection.run_sync(_optimize)

    async def probe(self, *, leaves_nothing: bool = False) -> None:
        """Store a row as every change is stored, waiting a second for a lock at most; raise what is in the way.

        `leaves_nothing`: it is taken back. SQLite, which waits for the end of a transaction, is made to store it, too:
        it is more than fits into memory, and the log is flushed.
        """
        now = self._clock.monotonic()
        takes_room = now - self._had_room_at >= _ROOM_LASTS_S
        with suppress(_TakenBack), self._where_the_lock_is_not_ours():
            async with self._prober.begin() as connection:
                self.require_its_file()
                tx = Tx(
                    connection, vault=self.vault, now=self._clock.now(), writes=True, versions=self._versions
                )
                if tx.is_postgres:
                    await tx.run(text(f"SET LOCAL lock_timeout = {_PROBE_WAITS_MS}"))
                await instance.note_probe(tx, takes_room=takes_room)
                if leaves_nothing:
                    if (path := self.database.path) is not None:
                        await instance.store_at_once(tx)
                        await asyncio.to_thread(_flush, path)
                    raise _TakenBack
        if takes_room:
            self._had_room_at = now

    @contextmanager
    def _where_the_lock_is_not_ours(self) -> Iterator[None]:
        """Many who write here may keep SQLite's lock among them: what they store meanwhile shows that it can be."""
        before = self._stored
        try:
            yield
        except OperationalError as error:
            if not is_busy(error) or self._stored == before:
                raise

    async def server(self) -> str:
        """What the database runs on, with its version."""
        if self.database.path is not None:
            return f"SQLite {sqlite3.sqlite_version}"
        async with self.read() as tx:
            return f"PostgreSQL {(await tx.run(text('SHOW server_version'))).scalar_one()}"

    async def too_old(self) -> str:
        """That the server is of a version with which Countersign does not work, and what to do; empty otherwise."""
        if self.database.path is not None:
            return ""
        async with self.read() as tx:
            number = int((await tx.run(text("SHOW server_version_num"))).scalar_one())
        return TOO_OLD.format(found=number // 10000) if number < OLDEST_POSTGRES * 10000 else ""

    async def close(self) -> None:
        await self._reader.dispose()
        await self._writer.dispose()
        await self._prober.dispose()
        if self._file is not None:
            self._file.close()
            self._file = None
        if self._lock is not None:
            self._lock.release()
            self._lock = None


OLDEST_POSTGRES = 13
TOO_OLD = (
    f"The database runs on PostgreSQL {{found}}, and Countersign needs {OLDEST_POSTGRES} or newer. Upgrade the server"
    " before you start Countersign."
)


def _flush(path: Path) -> None:
    """Of a log, closing it drops no lock of SQLite's."""
    handle = os.open(log_path(path), os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError as error:
        failed = sqlite3.OperationalError(error.strerror)
        failed.sqlite_errorcode = sqlite3.SQLITE_IOERR_FSYNC
        raise OperationalError("fsync", {}, failed) from error
    finally:
        os.close(handle)


def _fold(connection: Connection) -> bool:
    """Fold the log now or not at all: the connection does not wait for readers, with the write lock held."""
    is_busy: int = connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)").scalars().one()
    return not is_busy


def _optimize(connection: Connection) -> None:
    connection.exec_driver_sql(f"PRAGMA analysis_limit={_ANALYSED}")
    # All of it, as `PRAGMA optimize` alone leaves out what this connection has not asked for.
    connection.exec_driver_sql("ANALYZE")
    connection.exec_driver_sql("PRAGMA optimize")
    mark_change(connection.exec_driver_sql)  # SQLite does not count what it writes itself


def _engines(database: Database, file: OpenFile | None) -> tuple[Engine, Engine]:
    """One engine to write through and one to read through."""
    if file is None:
        from sqlalchemy.ext.asyncio import create_async_engine

        named = {"application_name": connections_named(process_name())}
        writer = create_async_engine(
            database.url,
            pool_size=_POSTGRES_CONNECTIONS,
            pool_pre_ping=True,
            connect_args=named | {"options": _with_stopped_ones_ended(database)},
        )
        reader = create_async_engine(
            database.url,
            pool_size=_READERS,
            pool_pre_ping=True,
            connect_args=named,
            isolation_level="REPEATABLE READ",
            execution_options={"postgresql_readonly": True},
        )
        return writer, reader
    return (
        SqliteEngine(file, writes=True, connections=1),
        SqliteEngine(file, writes=False, connections=_READERS),
    )


def _with_stopped_ones_ended(database: Database) -> str:
    """The options of a connection: what stands still in the middle of a transaction is ended with all that it locks."""
    given = str(database.url.query.get("options", ""))
    return f"{given} -c idle_in_transaction_session_timeout={_STANDS_STILL_MS}".strip()


def _prober(database: Database, file: OpenFile | None) -> Engine:
    """To ask whether it can be written. Of its own, as all that write may be waiting for the same lock."""
    if file is None:
        from sqlalchemy.ext.asyncio import create_async_engine

        named = {"application_name": connections_named(process_name())}
        return create_async_engine(
            database.url, pool_size=1, max_overflow=1, pool_pre_ping=True, connect_args=named
        )
    return SqliteEngine(file, writes=True, connections=1, busy_ms=_PROBE_WAITS_MS)
