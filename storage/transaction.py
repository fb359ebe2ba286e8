"""One transaction: the statements of the query modules run in it, and what waits for its commit.

With it goes what this process knows of the audit chain: nobody who writes to the database takes that away. After a
start it is of no use; then anchors outside the database say where the chain ended.
"""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from sqlalchemy import (
    ColumnElement,
    CursorResult,
    DateTime,
    Executable,
    Insert,
    Interval,
    Row,
    Select,
    Table,
    bindparam,
    func,
    literal,
    select,
    text,
)

from storage.columns import UtcDateTime
from storage.errors import Unreadable
from storage.set_aside import SetAside, tables_of
from storage.sqlite import SqliteConnection
from storage.vault import Vault

if TYPE_CHECKING:  # with it comes the ORM, which nothing here uses: a tenth of a start on SQLite
    from sqlalchemy.ext.asyncio import AsyncConnection

#: PostgreSQL's own, which all who share the database share; it goes on within a transaction.
DATABASE_CLOCK = func.clock_timestamp(type_=DateTime(timezone=True))
#: No lease is for longer. One that says so is nobody's: somebody wrote it into the database so that nothing is done.
LONGEST_LEASE = timedelta(minutes=2)
LATEST_BY_DATABASE = DATABASE_CLOCK + LONGEST_LEASE
_MACHINE_NOW, _LATEST, _LEASE_END = (
    bindparam(name, type_=UtcDateTime()) for name in ("machine_now", "latest", "lease_end")
)
_HOLD = text("SELECT pg_advisory_xact_lock(hashtextextended(:name, 0))")
# Databases bound the parameters of one statement; SQLite's older ones at 999.
_AT_ONCE = 500
#: Tables of which a row that cannot be read stays, whatever is to be written under its key.
KEPT_FOR_PEOPLE = frozenset({"request", "decision", "attempt"})


Connected: TypeAlias = "AsyncConnection | SqliteConnection"


#: So many bytes of each entry's fingerprint: nobody makes another entry with the same ones.
_EACH = 16
# More are read from the database.
_OWN_KEPT = 1000


@dataclass(frozen=True, slots=True)
class Confirmed:
    """A passkey as others confirmed it: whose it is, its public key in base64url, and the number of that entry."""

    person: str
    public_key: str
    seq: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Made:
    """A passkey that waits for others: whose it is, and the passkey that signed for it ("" = none did)."""

    person: str
    signed_by: str


def fingerprint(digest: str) -> bytes:
    """What is kept of the hash of an entry, which is in hex."""
    return bytes.fromhex(digest)[:_EACH]


class Fingerprints:
    """Those of all entries up to one. What is learned for good is shared by all later ones; `tail` is of this one
    alone."""

    def __init__(self, shared: bytearray | None = None, length: int = 0, tail: bytes = b"") -> None:
        self._shared = bytearray() if shared is None else shared
        self._length, self._tail = length, tail

    def and_(self, more: bytes | bytearray) -> Fingerprints:
        """With those of the entries that follow, each made by `fingerprint`."""
        return Fingerprints(self._shared, self._length, self._tail + more)

    def has(self, seq: int, digest: str) -> bool:
        """Is this the fingerprint (hex) of the entry with this number?"""
        at = (seq - 1) * _EACH
        try:
            wanted = fingerprint(digest)
        except ValueError:
            return False
        if at < 0 or len(wanted) != _EACH:
            return False
        if at < self._length:
            return bytes(self._shared[at : at + _EACH]) == wanted
        return self._tail[at - self._length : at - self._length + _EACH] == wanted

    def settled(self) -> Fingerprints | None:
        """With its tail among those that are shared; None where another reading found others meanwhile."""
        known = bytes(self._shared[self._length :])
        if not self._tail.startswith(known):
            return None
        self._shared.extend(self._tail[len(known) :])
        return Fingerprints(self._shared, len(self._shared))


@dataclass(frozen=True, slots=True)
class PasskeysOnRecord:
    """What the entries up to number `seq`, with the fingerprint `hash`, tell of passkeys.

    `counting`, by id: those that were confirmed and have not ended, by themselves, with all of their person's, or with
    everybody's. `made`, by id: those that wait. `had_one`: who had one since everybody's were last reset; `reset_at`:
    when that was (None = never), as text. `kept`: by place outside the database, number and fingerprint of the first
    anchor that it kept since then. `reset_after_restore`: were they reset since an older copy of the database was last
    found in place, or was none ever? `fingerprints`: of all entries that were read. `retired`: master keys, by the
    entry that says so; `unproven`: those that are not in the keyring, whose entries nothing proves until such an entry
    comes.
    """

    seq: int = 0
    hash: str = ""
    counting: Mapping[str, Confirmed] = field(default_factory=dict)
    made: Mapping[str, Made] = field(default_factory=dict)
    had_one: frozenset[str] = frozenset()
    reset_at: str | None = None
    reset_after_restore: bool = True
    kept: Mapping[str, tuple[int, str]] = field(default_factory=dict)
    fingerprints: Fingerprints = field(default_factory=Fingerprints)
    retired: Mapping[str, int] = field(default_factory=dict)
    unproven: Mapping[str, int] = field(default_factory=dict)

    @property
    def last_added(self) -> int:
        """The number of the entry that made the newest passkey count of those that count now; 0 = there is none."""
        return max((one.seq for one in self.counting.values()), default=0)


@dataclass(frozen=True, slots=True)
class Added:
    """An entry that a transaction of this process adds to the audit chain, as it is hashed."""

    seq: int
    at: str
    actor: str
    action: str
    subject: str
    outcome: str
    reason_code: str
    body: str
    policy_version: str
    prev: str
    hash: str


@dataclass(frozen=True, slots=True)
class RequestRow:
    """What the row of a request says of its state, its version, and the fingerprint of what it says of its calls ("" =
    nothing of that was leant on). `approved_at`: when it was approved, as the log writes it ("" = not yet, None = that
    was not leant on)."""

    state: str
    version: int
    progress: str
    approved_at: str | None = None


@dataclass(frozen=True, slots=True)
class Contradiction:
    """What the audit log does not have of a request: `why` follows its id in a sentence.

    `on_record`: the state that the log has of it; "" = it is not open. `is_harmless`: it is ended, and no more.
    `was_counted`: its row was changed or taken out, and something was counted from it.
    """

    request_id: str
    why: str
    on_record: str = ""
    is_harmless: bool = False
    was_counted: bool = False


class Read(Protocol):
    """What the chain tells up to the entry `seq`: `storage.log_record` makes it."""

    @property
    def seq(self) -> int: ...

    @property
    def hash(self) -> str: ...


@dataclass(slots=True)
class ChainMemory:
    """`end_seq` and `end_hash`: where the chain ended when this process added to it last; None before that. Others may
    have added since, and what was added here may have been rolled back: whoever relies on it checks it in the
    statement that moves the end.

    `known_seq` and `known_hash` are of the last entry that this process has committed, or has read as committed: it is
    there for good.
    `passkeys`: as far as the chain was checked and read; `fault`: why it could not be read on. `log`: what else it
    tells, as far as it was checked and read. `own`: what this process has committed last, so that it need not be read.
    `put_back`: requests whose rows contradict it and of which people are still to be notified, by id. `rows_met`:
    tables of which a signed row was met that is not as it was left, the same.
    """

    end_seq: int | None = None
    end_hash: str = ""
    known_seq: int = 0
    known_hash: str = ""
    passkeys: PasskeysOnRecord = field(default_factory=PasskeysOnRecord)
    fault: Exception | None = None
    log: Read | None = None
    own: deque[Added] = field(default_factory=lambda: deque(maxlen=_OWN_KEPT))
    put_back: dict[str, Contradiction] = field(default_factory=dict)
    rows_met: set[str] = field(default_factory=set)

    def committed(self, seq: int, digest: str) -> None:
        """This entry is in the database for good."""
        if seq > self.known_seq:
            self.known_seq, self.known_hash = seq, digest

    def learned(self, found: PasskeysOnRecord) -> None:
        """This is what the chain tells of passkeys, all of it committed."""
        if found.seq <= self.passkeys.seq:
            return
        settled = found.fingerprints.settled()
        if settled is not None:
            self.passkeys = replace(found, fingerprints=settled)
            self.committed(found.seq, found.hash)

    def read_on(self, found: Read) -> None:
        """This is what the chain tells of everything else, all of it committed."""
        if self.log is None or found.seq > self.log.seq:
            self.log = found
            self.committed(found.seq, found.hash)
            while self.own and self.own[0].seq <= found.seq:
                self.own.popleft()


def lease_clock(*, is_postgres: bool) -> ColumnElement[datetime]:
    """As `Tx.lease_clock`, in a statement that is built once; to be run with `Tx.times`."""
    return DATABASE_CLOCK if is_postgres else _MACHINE_NOW


def lease_holds(until: ColumnElement[Any], *, is_postgres: bool) -> ColumnElement[bool]:
    """Does a lease until then keep others out? Not one that is over, or is for longer than any of ours.

    Of a statement that is built once; to be run with `Tx.times`.
    """
    latest = LATEST_BY_DATABASE if is_postgres else _LATEST
    return until.between(lease_clock(is_postgres=is_postgres), latest)


def lease_end(*, is_postgres: bool) -> ColumnElement[Any]:
    """When a lease taken now is over, in a statement that is built once; to be run with `Tx.lease_times`."""
    return DATABASE_CLOCK + bindparam("lasts", type_=Interval()) if is_postgres else _LEASE_END


def one_of(asked: Select[Any], column: ColumnElement[Any]) -> Select[Any]:
    """Those of `asked` whose `column` is one of some values, for `Tx.run_among`. To be built once."""
    return asked.where(column.in_(bindparam("among", expanding=True)))


class Tx:
    """One transaction. `now` is the clock's time when it began (on SQLite: when it had the lock).

    `versions`: the numbers of signed rows that this process has seen committed, by table and key. `chain`: what it
    knows of the audit chain; `known_end`: number and fingerprint of the last entry that it had committed before;
    `passkeys` and `log`: what it had read of it by then. `appended`: what this transaction adds to it. `was`: what the
    rows of requests said that it changes, by id. `counted`: what it has counted of the rows of others. `numbered`: by
    table and key, the numbers of rows that it signed and that no entry of it says yet. `set_aside`: rows that cannot be
    read, which no statement meets. `require_fits`: see `hold_entries`.
    """

    def __init__(
        self,
        connection: Connected,
        *,
        vault: Vault,
        now: datetime,
        writes: bool,
        versions: dict[tuple[str, str], int],
        chain: ChainMemory | None = None,
        set_aside: SetAside | None = None,
        require_fits: Callable[[Tx], Awaitable[None]] | None = None,
    ) -> None:
        self.connection = connection
        self.vault = vault
        self.now = now
        self.writes = writes
        self.versions = versions
        self.chain = chain or ChainMemory()
        self.set_aside = SetAside() if set_aside is None else set_aside
        self._ran: list[Executable] = []
        # As it is before the first statement: what was committed later may not be seen by it.
        self.known_end = (self.chain.known_seq, self.chain.known_hash)
        self.passkeys, self.log = self.chain.passkeys, self.chain.log
        self.appended: list[Added] = []
        self.was: dict[str, RequestRow] = {}
        #: What people decided, as fingerprints by the ids of their decisions, by requests.
        self.words: dict[str, dict[str, str]] = {}
        #: How this transaction changed requests that have ended, by id, as far as no entry says so: each time the
        #: fingerprints of before ("" = it was open) and after, and the version.
        self.ended: dict[str, list[tuple[str, str, int]]] = {}
        self.numbered: dict[str, dict[str, int]] = {}
        #: Each a `storage.log_record.Count`.
        self.counted: list[Any] = []
        self._require_fits, self._is_held = require_fits, False
        #: What is recorded is that the log isn't whole: it follows what is there, and ends nothing that is known.
        self.reports_loss = False
        #: Messages that are written together later; None = each is written when it is put.
        self.put_later: list[dict[str, Any]] | None = None
        #: Each with whether it runs also where nobody knows if this was committed.
        self._callbacks: list[tuple[Callable[[], None], bool]] = []
        self._checks: list[Callable[[], Awaitable[None]]] = []

    @property
    def is_postgres(self) -> bool:
        return self.connection.dialect.name == "postgresql"

    @property
    def lease_clock(self) -> ColumnElement[datetime]:
        """Leases run on one clock for all processes: the database's on PostgreSQL, the machine's on SQLite."""
        if self.is_postgres:
            return DATABASE_CLOCK
        return literal(self.machine_now, UtcDateTime())

    @property
    def machine_now(self) -> datetime:
        """What the clock of the machine says that all processes on one SQLite file are on."""
        return self.now

    @property
    def times(self) -> dict[str, Any]:
        """The values of these names in statements that are built once."""
        now = self.machine_now
        return {"now": self.now, "machine_now": now, "latest": now + LONGEST_LEASE}

    def lease_times(self, lasts: timedelta) -> dict[str, Any]:
        """The same, with those of a lease for so long; at most `LONGEST_LEASE`."""
        if lasts > LONGEST_LEASE:
            raise ValueError(f"no lease is for longer than {LONGEST_LEASE}")
        return {**self.times, "lasts": lasts, "lease_end": self.machine_now + lasts}

    async def lasts(self, lease_until: datetime | None) -> bool:
        """As `lease_holds`, of a lease that was read."""
        if lease_until is None:
            return False
        now = (
            (await self.run(select(self.lease_clock))).scalar_one() if self.is_postgres else self.machine_now
        )
        return bool(now <= lease_until <= now + LONGEST_LEASE)

    async def hold(self, name: str) -> None:
        """One transaction at a time goes on with `name`, where there is no row yet that could be locked. SQLite's write
        lock does so already.

        Whoever holds several takes them in the order of their names, and locks rows only after that.
        """
        if self.is_postgres:
            await self.run(_HOLD, {"name": name})

    async def run(self, statement: Executable, *args: Any) -> CursorResult[Any]:
        """Execute one statement; for the query modules of this package."""
        self._ran.append(statement)
        if self.set_aside:
            if isinstance(statement, Insert):
                await self._make_way(statement, args)
            statement = self.set_aside.without(statement, is_postgres=self.is_postgres)
        result: CursorResult[Any] = await self.connection.execute(statement, *args)
        return result

    async def _make_way(self, statement: Insert, args: tuple[Any, ...]) -> None:
        """A row that nothing can read, under the key of one that is written now, is taken out: it says nothing, and
        would keep ours from being there. Not of requests, and what was decided on them and called for them, which
        people have to look at."""
        table = statement.table
        if not isinstance(table, Table) or table.name in KEPT_FOR_PEOPLE or not self.set_aside.of(table.name):
            return
        named = statement.compile(dialect=self.connection.dialect).params
        rows = args[0] if args else {}
        for row in rows if isinstance(rows, list) else [rows]:
            takes_out = self.set_aside.takes_out(table, {**named, **row}, is_postgres=self.is_postgres)
            if takes_out is not None:
                for key in (await self.connection.execute(takes_out)).all():
                    self.set_aside.gone(table.name, tuple(key))

    async def run_with_all(self, statement: Executable) -> CursorResult[Any]:
        """Execute one that reads nothing of what is set aside, and is about that, too."""
        result: CursorResult[Any] = await self.connection.execute(statement)
        return result

    def require_readable(self, table: str, row: str) -> None:
        """Raise `Unreadable` where it is not there for that."""
        found = self.set_aside.find(table, row)
        if found is not None:
            raise Unreadable(found)

    def tables_met(self) -> set[str]:
        """By name, those that its statements were about."""
        return {name for statement in self._ran for name in tables_of(statement)}

    async def run_among(self, asked: Select[Any], values: Collection[str], **given: Any) -> list[Row[Any]]:
        """The rows of `asked`, made by `one_of`, for these values, however many they are; `given` to it as well."""
        wanted, found = sorted(values), list[Row[Any]]()
        for start in range(0, len(wanted), _AT_ONCE):
            some = {"among": wanted[start : start + _AT_ONCE]}
            found += (await self.run(asked, {**some, **given})).all()
        return found

    @asynccontextmanager
    async def savepoint(self) -> AsyncIterator[None]:
        """What fails inside is undone, with what it asked for after the commit; the rest goes on."""
        asked_before, appended_before = len(self._callbacks), len(self.appended)
        words_before = {key: dict(each) for key, each in self.words.items()}
        ended_before = {key: list(each) for key, each in self.ended.items()}
        log_before = self.log
        numbered_before = {table: dict(keys) for table, keys in self.numbered.items()}
        try:
            async with self.connection.begin_nested():
                yield
        except BaseException:
            del self._callbacks[asked_before:]
            del self.appended[appended_before:]
            self.words, self.ended = words_before, ended_before
            self.numbered, self.log = numbered_before, log_before
            raise

    def hold_entries(self) -> None:
        """What this transaction adds to the audit log is held against what the log has, as one of the last things."""
        fits = self._require_fits
        if fits is not None and not self._is_held:
            self._is_held = True
            self.before_commit(lambda: fits(self))

    def before_commit(self, check: Callable[[], Awaitable[None]], *, first: bool = False) -> None:
        """Run `check` as the last thing of this transaction; where it raises, all is rolled back. `first`: before
        those that are there, as it adds what they look at."""
        self._checks.insert(0 if first else len(self._checks), check)

    async def ends(self) -> None:
        """All that was to be done is done: is it so?"""
        for check in self._checks:
            await check()

    def after_commit(self, callback: Callable[[], None], *, though_unsure: bool = False) -> None:
        """Run `callback` once this transaction is durable; never if it rolls back. `though_unsure`: also where nobody
        knows which of the two, as the answer to the commit was lost."""
        self._callbacks.append((callback, though_unsure))

    def committed(self) -> None:
        for callback, _ in self._callbacks:
            callback()

    def may_be_committed(self) -> None:
        """The answer to the commit did not come."""
        for callback, though_unsure in self._callbacks:
            if though_unsure:
                callback()
