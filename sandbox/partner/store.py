"""The simulator's database: SQLite in a file or in memory, one connection, one versioned schema.

Money is exact text and is never summed in SQL. WAL with synchronous=NORMAL survives kill -9: what
was committed is there afterwards, which is what the two commits of a top-up are for.
"""

import contextlib
import sqlite3
from collections.abc import Iterator
from typing import Any

SCHEMA_VERSION = 1

_SCHEMA = """
CREATE TABLE notes (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE accounts (
  id TEXT PRIMARY KEY, seq INTEGER UNIQUE NOT NULL, name TEXT, contact_email TEXT, created_at TEXT NOT NULL,
  settings TEXT NOT NULL, funded_usd TEXT NOT NULL, spent_usd TEXT NOT NULL, markup_pct TEXT NOT NULL,
  accrued_usd TEXT NOT NULL, paid_out_usd TEXT NOT NULL, last_payout_at TEXT,
  cards_ordered INTEGER NOT NULL);
CREATE TABLE api_keys (
  digest TEXT PRIMARY KEY, account TEXT NOT NULL, name TEXT, prefix TEXT NOT NULL, scopes TEXT NOT NULL,
  rate_limit_per_minute INTEGER NOT NULL, revoked INTEGER NOT NULL);
CREATE TABLE cards (
  seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT UNIQUE NOT NULL, account TEXT NOT NULL, partner_ref TEXT,
  card_holder_name TEXT NOT NULL, last4 TEXT NOT NULL, status TEXT NOT NULL, created_at TEXT NOT NULL,
  synced_at TEXT NOT NULL, closed_at TEXT, balance_usd TEXT NOT NULL, balance_readable INTEGER NOT NULL,
  cached_usd TEXT, cached_at TEXT);
CREATE INDEX cards_by_account ON cards (account, seq);
CREATE TABLE ledger (
  seq INTEGER PRIMARY KEY AUTOINCREMENT, account TEXT NOT NULL, amount_usd TEXT NOT NULL,
  kind TEXT NOT NULL,
  reference TEXT, card_id TEXT, description TEXT, created_at TEXT NOT NULL, keyed INTEGER);
CREATE INDEX ledger_by_account ON ledger (account, created_at, seq);
CREATE INDEX ledger_by_keyed ON ledger (keyed);
CREATE INDEX ledger_by_reference ON ledger (account, reference);
CREATE TABLE keyed (
  id INTEGER PRIMARY KEY AUTOINCREMENT, account TEXT NOT NULL, kind TEXT NOT NULL, key TEXT NOT NULL,
  card_id TEXT, amount_usd TEXT, state TEXT NOT NULL, answer TEXT, created_at TEXT NOT NULL,
  retired INTEGER NOT NULL DEFAULT 0, given INTEGER NOT NULL);
CREATE UNIQUE INDEX keyed_once ON keyed (account, kind, key) WHERE retired = 0;
CREATE TABLE funding (
  seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT UNIQUE NOT NULL, account TEXT NOT NULL,
  network TEXT NOT NULL,
  tx_hash TEXT NOT NULL, status TEXT NOT NULL, reason TEXT, token TEXT, amount_usd TEXT, fee_usd TEXT,
  credited_usd TEXT, created_at TEXT NOT NULL, credited_at TEXT, lookup_from TEXT NOT NULL,
  verified_at TEXT, UNIQUE (account, tx_hash));
CREATE TABLE transfers (
  network TEXT NOT NULL, tx_hash TEXT NOT NULL, payments TEXT NOT NULL, route TEXT NOT NULL,
  ok INTEGER NOT NULL,
  listed INTEGER NOT NULL, readable INTEGER NOT NULL, sent_at TEXT NOT NULL, arrived_at TEXT, final_at TEXT,
  missing_since TEXT, doubled INTEGER NOT NULL DEFAULT 0, mismatch TEXT,
  credited_elsewhere INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (network, tx_hash));
CREATE TABLE wallets (address TEXT PRIMARY KEY, owner TEXT NOT NULL, registered_at TEXT NOT NULL);
CREATE TABLE events (
  seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT UNIQUE NOT NULL, account TEXT NOT NULL, type TEXT NOT NULL,
  payload TEXT NOT NULL, created_at TEXT NOT NULL, delivered INTEGER NOT NULL, delivered_at TEXT,
  attempts INTEGER NOT NULL);
CREATE TABLE timers (
  seq INTEGER PRIMARY KEY AUTOINCREMENT, due_at TEXT NOT NULL, kind TEXT NOT NULL, subject TEXT NOT NULL,
  UNIQUE (kind, subject));
CREATE TABLE faults (id INTEGER PRIMARY KEY AUTOINCREMENT, rule TEXT NOT NULL, seen INTEGER NOT NULL,
  fired INTEGER NOT NULL);
CREATE TABLE journal (
  seq INTEGER PRIMARY KEY AUTOINCREMENT, at TEXT NOT NULL, account TEXT, method TEXT NOT NULL,
  path TEXT NOT NULL,
  idempotency_key TEXT, body TEXT, status INTEGER, response TEXT, lost INTEGER NOT NULL);
"""

# What a reset empties. Accounts, API keys and notes survive it.
RESET_TABLES = (
    "cards",
    "ledger",
    "keyed",
    "funding",
    "transfers",
    "wallets",
    "events",
    "timers",
    "faults",
    "journal",
)


class Store:
    """Plain SQL in, rows out. Statements outside ``transaction`` commit by themselves."""

    def __init__(self, path: str) -> None:
        self._db = sqlite3.connect(path, isolation_level=None)
        self._db.row_factory = sqlite3.Row
        self._depth = 0
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA synchronous = NORMAL")
        version = self._db.execute("PRAGMA user_version").fetchone()[0]
        if version not in (0, SCHEMA_VERSION):
            raise ValueError(f"{path} holds simulator state of version {version}, this is {SCHEMA_VERSION}")
        if version == 0:
            self._db.executescript(f"BEGIN;{_SCHEMA}PRAGMA user_version = {SCHEMA_VERSION};COMMIT;")

    def close(self) -> None:
        self._db.close()

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        """All or nothing; nested blocks belong to the outermost one."""
        self._depth += 1
        try:
            if self._depth == 1:
                self._db.execute("BEGIN IMMEDIATE")
            yield
            if self._depth == 1:
                self._db.execute("COMMIT")
        except BaseException:
            if self._depth == 1:
                self._db.execute("ROLLBACK")
            raise
        finally:
            self._depth -= 1

    def one(self, sql: str, *values: Any) -> sqlite3.Row | None:
        row: sqlite3.Row | None = self._db.execute(sql, values).fetchone()
        return row

    def all(self, sql: str, *values: Any) -> list[sqlite3.Row]:
        return self._db.execute(sql, values).fetchall()

    def number(self, sql: str, *values: Any) -> int:
        """The first column of the first row, as a count; 0 when there is none."""
        row = self.one(sql, *values)
        return int(row[0] or 0) if row else 0

    def run(self, sql: str, *values: Any) -> int:
        """Execute a statement; the id of an inserted row."""
        return int(self._db.execute(sql, values).lastrowid or 0)

    def insert(self, table: str, **columns: Any) -> int:
        names = ", ".join(columns)
        marks = ", ".join("?" for _ in columns)
        sql = f"INSERT INTO {table} ({names}) VALUES ({marks})"  # noqa: S608 - names are literals of this package
        return self.run(sql, *columns.values())

    def update(self, table: str, where: str, key: Any, **columns: Any) -> None:
        """Set columns of the rows whose column ``where`` equals ``key``."""
        sets = ", ".join(f"{name} = ?" for name in columns)
        sql = f"UPDATE {table} SET {sets} WHERE {where} = ?"  # noqa: S608 - names are literals of this package
        self.run(sql, *columns.values(), key)

    def note(self, name: str) -> str | None:
        row = self.one("SELECT value FROM notes WHERE name = ?", name)
        return str(row["value"]) if row else None

    def keep(self, name: str, value: str) -> None:
        self.run(
            "INSERT INTO notes VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
            name,
            value,
        )

    def count(self, name: str) -> int:
        """The next number of a counter, from 1."""
        number = int(self.note(f"count:{name}") or 0) + 1
        self.keep(f"count:{name}", str(number))
        return number

    def empty(self) -> None:
        """Forget everything a reset forgets."""
        for table in RESET_TABLES:
            self.run(f"DELETE FROM {table}")  # noqa: S608 - one of the names above
        self.run("DELETE FROM sqlite_sequence")
        kept = "('count:api_key', 'count:account')"
        self.run(f"DELETE FROM notes WHERE name LIKE 'count:%' AND name NOT IN {kept}")  # noqa: S608 - as written
