"""The simulator's database: SQLite in a file or in memory, one connection, one versioned schema.

Money is exact text and is never summed in SQL. WAL with synchronous=NORMAL survives kill -9: what
was committed is there afterwards, which is what the two commits of a top-up are for.
"""

from __future__ import annotations

import base64
import contextlib
import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from functools import cache
from typing import Any

from sandbox.partner import money

_FIRST = """
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

# Spending, deliveries and deposits; and running counts, so that no page of a list counts its table.
_SECOND = """
ALTER TABLE cards ADD COLUMN daily_limit_usd TEXT;
ALTER TABLE cards ADD COLUMN weekly_limit_usd TEXT;
ALTER TABLE cards ADD COLUMN monthly_limit_usd TEXT;
ALTER TABLE cards ADD COLUMN threeds TEXT NOT NULL DEFAULT 'sms';
ALTER TABLE cards ADD COLUMN details_available INTEGER NOT NULL DEFAULT 1;
ALTER TABLE cards ADD COLUMN expiry_known INTEGER NOT NULL DEFAULT 1;
ALTER TABLE cards ADD COLUMN unreadable_rows INTEGER NOT NULL DEFAULT 0;
CREATE INDEX cards_open ON cards (account, seq) WHERE status != 'DELETED';
ALTER TABLE accounts ADD COLUMN open_cards INTEGER NOT NULL DEFAULT 0;
ALTER TABLE accounts ADD COLUMN ledger_rows INTEGER NOT NULL DEFAULT 0;
ALTER TABLE accounts ADD COLUMN ledger_last_at TEXT NOT NULL DEFAULT '';
ALTER TABLE accounts ADD COLUMN ledger_in_order INTEGER NOT NULL DEFAULT 1;
ALTER TABLE accounts ADD COLUMN net_topups_usd TEXT NOT NULL DEFAULT '0';
ALTER TABLE ledger ADD COLUMN number INTEGER NOT NULL DEFAULT 0;
CREATE INDEX ledger_by_number ON ledger (account, number);
CREATE INDEX timers_by_due ON timers (due_at, seq);
CREATE TABLE purchases (
  seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT UNIQUE NOT NULL, transaction_id TEXT UNIQUE NOT NULL,
  account TEXT NOT NULL, card_id TEXT NOT NULL, partner_ref TEXT, at TEXT NOT NULL, status TEXT NOT NULL,
  kind TEXT NOT NULL, merchant TEXT, mcc_code TEXT NOT NULL, original_amount TEXT NOT NULL,
  original_currency TEXT NOT NULL, authorized_usd TEXT NOT NULL, charge_usd TEXT NOT NULL,
  amount_usd TEXT NOT NULL, fx_fee_usd TEXT NOT NULL, atm_fee_usd TEXT NOT NULL, own_fee_usd TEXT NOT NULL,
  client_fee_usd TEXT NOT NULL, decline_code TEXT, card_blocked INTEGER NOT NULL, taken_usd TEXT NOT NULL,
  refunded_usd TEXT NOT NULL, suspense_usd TEXT NOT NULL);
CREATE INDEX purchases_by_card ON purchases (card_id, at, seq);
CREATE TABLE webhooks (account TEXT PRIMARY KEY, url TEXT NOT NULL, secret TEXT NOT NULL,
  updated_at TEXT NOT NULL);
ALTER TABLE events ADD COLUMN next_at TEXT;
CREATE INDEX events_by_account ON events (account, created_at, seq);
CREATE INDEX events_due ON events (next_at) WHERE next_at IS NOT NULL;
CREATE TABLE deliveries (
  seq INTEGER PRIMARY KEY AUTOINCREMENT, event_id TEXT NOT NULL, account TEXT NOT NULL,
  number INTEGER NOT NULL, at TEXT NOT NULL, url TEXT NOT NULL, status INTEGER, problem TEXT,
  hops INTEGER NOT NULL);
CREATE INDEX deliveries_by_event ON deliveries (event_id, seq);
CREATE TABLE challenges (
  seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT UNIQUE NOT NULL, card_id TEXT NOT NULL, event_id TEXT,
  amount_usd TEXT NOT NULL, merchant TEXT NOT NULL, transaction_id TEXT NOT NULL, state TEXT NOT NULL,
  created_at TEXT NOT NULL);
CREATE TABLE detail_links (
  digest TEXT PRIMARY KEY, card_id TEXT NOT NULL, purpose TEXT NOT NULL, expires_at TEXT NOT NULL,
  used INTEGER NOT NULL);
CREATE TABLE deposits (
  seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT UNIQUE NOT NULL, account TEXT NOT NULL,
  card_id TEXT NOT NULL, asset TEXT NOT NULL, chain TEXT NOT NULL, deposit_address TEXT NOT NULL,
  send_amount TEXT NOT NULL, rate_usd TEXT NOT NULL, svc_fee_usd TEXT NOT NULL, partner_fee_usd TEXT NOT NULL,
  credit_usd TEXT NOT NULL, status TEXT NOT NULL, tx_hash TEXT, expires_at TEXT NOT NULL, credited_at TEXT,
  created_at TEXT NOT NULL);
CREATE INDEX deposits_by_account ON deposits (account, seq);
UPDATE accounts SET
  open_cards = (SELECT count(*) FROM cards WHERE account = accounts.id AND status != 'DELETED'),
  ledger_rows = (SELECT count(*) FROM ledger WHERE account = accounts.id);
UPDATE ledger SET number = (
  SELECT count(*) FROM ledger AS older WHERE older.account = ledger.account
  AND (older.created_at, older.seq) <= (ledger.created_at, ledger.seq));
UPDATE accounts SET ledger_last_at =
  coalesce((SELECT max(created_at) FROM ledger WHERE account = accounts.id), '');
"""

# How many open cards each run of CARD_BLOCK numbers holds: how a page far down is found without a scan.
CARD_BLOCK = 512
_THIRD = f"""
CREATE TABLE card_blocks (account TEXT NOT NULL, block INTEGER NOT NULL, open INTEGER NOT NULL,
  PRIMARY KEY (account, block));
INSERT INTO card_blocks SELECT account, seq / {CARD_BLOCK}, sum(status != 'DELETED') FROM cards GROUP BY 1, 2;
"""  # noqa: S608 - a number

# A 3-D Secure challenge that waits for its code.
_FOURTH = """
ALTER TABLE challenges ADD COLUMN complete TEXT NOT NULL DEFAULT 'at once';
ALTER TABLE challenges ADD COLUMN code TEXT;
ALTER TABLE challenges ADD COLUMN tries INTEGER NOT NULL DEFAULT 0;
"""

# What a replay of the journal needs: queries, and the tester's own calls between those of the API.
_FIFTH = """
ALTER TABLE journal ADD COLUMN query TEXT NOT NULL DEFAULT '';
ALTER TABLE journal ADD COLUMN control INTEGER NOT NULL DEFAULT 0;
"""

# Which API key called or was changed, by its number, and after which call of the journal a delivery ended.
_SIXTH = """
ALTER TABLE journal ADD COLUMN api_key INTEGER;
ALTER TABLE deliveries ADD COLUMN after_call INTEGER NOT NULL DEFAULT 0;
"""

_STEPS = (_FIRST, _SECOND, _THIRD, _FOURTH, _FIFTH, _SIXTH)
SCHEMA_VERSION = len(_STEPS)

IN_MEMORY = ":memory:"

_JOURNAL_MODE = slice(18, 20)  # of a database file's header

# What a reset empties. Accounts, API keys and notes survive it.
RESET_TABLES = (
    "cards",
    "card_blocks",
    "ledger",
    "keyed",
    "funding",
    "transfers",
    "wallets",
    "events",
    "timers",
    "faults",
    "journal",
    "purchases",
    "webhooks",
    "deliveries",
    "challenges",
    "detail_links",
    "deposits",
)
_SURVIVING_COUNTS = "('count:api_key', 'count:account')"


@cache
def _empty() -> sqlite3.Connection:
    """The schema without a row, made once: a program that starts simulators by the hundred copies it."""
    db = sqlite3.connect(IN_MEMORY, isolation_level=None, check_same_thread=False)
    for number, step in enumerate(_STEPS, 1):
        db.executescript(f"BEGIN;{step}PRAGMA user_version = {number};COMMIT;")
    return db


class Store:
    """Plain SQL in, rows out. Statements outside `transaction` commit by themselves."""

    def __init__(self, path: str, content: sqlite3.Connection | None = None) -> None:
        """With `content` it begins as the copy that was taken of another one."""
        self._db = sqlite3.connect(path, isolation_level=None)
        self._db.row_factory = sqlite3.Row
        self._depth = 0
        if content is None and path == IN_MEMORY:
            content = _empty()
        if content is not None:
            self.put_back(content)
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA synchronous = NORMAL")
        self._upgrade(path)

    def _upgrade(self, path: str) -> None:
        version = self._db.execute("PRAGMA user_version").fetchone()[0]
        if version > SCHEMA_VERSION:
            raise ValueError(f"{path} holds simulator state of version {version}, this is {SCHEMA_VERSION}")
        for number in range(version, SCHEMA_VERSION):
            self._db.executescript(f"BEGIN;{_STEPS[number]}PRAGMA user_version = {number + 1};COMMIT;")
        if version == 1:  # money, which SQL must not sum
            self._add_up()

    def _add_up(self) -> None:
        """The running total that version 2 keeps."""
        for row in self.all("SELECT id FROM accounts"):
            moved = self.all(
                "SELECT amount_usd FROM ledger WHERE account = ? AND kind IN ('card_topup', 'refund')",
                row["id"],
            )
            outstanding_usd = -money.total(Decimal(one["amount_usd"]) for one in moved)
            self.update("accounts", "id", row["id"], net_topups_usd=money.text(outstanding_usd))

    def close(self) -> None:
        """Close the database; nothing can be read afterwards."""
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
        """The first row of a query, or None."""
        row: sqlite3.Row | None = self._db.execute(sql, values).fetchone()
        return row

    def all(self, sql: str, *values: Any) -> list[sqlite3.Row]:
        """Every row of a query."""
        return self._db.execute(sql, values).fetchall()

    def number(self, sql: str, *values: Any) -> int:
        """The first column of the first row, as a count; 0 when there is none."""
        row = self.one(sql, *values)
        return int(row[0] or 0) if row else 0

    def run(self, sql: str, *values: Any) -> int:
        """Execute a statement; the id of an inserted row."""
        return int(self._db.execute(sql, values).lastrowid or 0)

    def insert(self, table: str, **columns: Any) -> int:
        """Insert one row; its id."""
        names = ", ".join(columns)
        marks = ", ".join("?" for _ in columns)
        sql = f"INSERT INTO {table} ({names}) VALUES ({marks})"  # noqa: S608 - names are literals of this package
        return self.run(sql, *columns.values())

    def insert_all(self, table: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
        """Insert many rows, each with its values in the order of the columns."""
        names, marks = ", ".join(columns), ", ".join("?" for _ in columns)
        sql = f"INSERT INTO {table} ({names}) VALUES ({marks})"  # noqa: S608 - names are literals of this package
        self._db.executemany(sql, rows)

    def update(self, table: str, where: str, key: Any, **columns: Any) -> None:
        """Set columns of the rows whose column `where` equals `key`."""
        sets = ", ".join(f"{name} = ?" for name in columns)
        sql = f"UPDATE {table} SET {sets} WHERE {where} = ?"  # noqa: S608 - names are literals of this package
        self.run(sql, *columns.values(), key)

    def note(self, name: str) -> str | None:
        """A kept note, or None."""
        row = self.one("SELECT value FROM notes WHERE name = ?", name)
        return str(row["value"]) if row else None

    def keep(self, name: str, value: str) -> None:
        """Keep a note under a name; an earlier one is replaced."""
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
        self.run("DELETE FROM notes WHERE name LIKE 'deliveries:%' OR name IN ('chaos', 'scenario')")
        self.run(f"DELETE FROM notes WHERE name LIKE 'count:%' AND name NOT IN {_SURVIVING_COUNTS}")  # noqa: S608 - as written

    @property
    def changes(self) -> int:
        """Grows with every change: the same number, the same content."""
        return self._db.total_changes

    def copy(self) -> sqlite3.Connection:
        """The whole content, in memory."""
        taken = sqlite3.connect(":memory:")
        self._db.backup(taken)
        return taken

    def written_out(self) -> str:
        """The whole content as text: compressed, in Base64."""
        taken = self.copy()
        try:
            content = bytearray(taken.serialize())
        finally:
            taken.close()
        content[_JOURNAL_MODE] = b"\x01\x01"  # not WAL, which a database in memory cannot be opened in
        return base64.b64encode(zlib.compress(bytes(content), 9)).decode()

    @staticmethod
    def read_in(text: str) -> sqlite3.Connection:
        """A copy for `put_back` from what `written_out` wrote. Raises ValueError for anything else."""
        taken = sqlite3.connect(":memory:")
        try:
            taken.deserialize(zlib.decompress(base64.b64decode(text, validate=True)))
            version = taken.execute("PRAGMA user_version").fetchone()[0]
        except (ValueError, zlib.error, sqlite3.Error) as error:
            taken.close()
            raise ValueError("not the content of a simulator") from error
        if version != SCHEMA_VERSION:
            taken.close()
            raise ValueError(f"of version {version}, this is {SCHEMA_VERSION}")
        return taken

    def put_back(self, taken: sqlite3.Connection) -> None:
        """Replace the content with a copy taken before; outside any transaction."""
        taken.backup(self._db)
