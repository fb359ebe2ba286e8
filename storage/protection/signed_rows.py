"""Rows that decide who gets what, under a MAC: changed, invented or deleted by somebody else, they count for nothing.

A signature says what a row is, or that there is none, with a number that grows with each change. It is written in the
transaction of the change, by `changing`. A row without its signature was not written by us. A missing row whose
signature tells of one was deleted by somebody else.

An older row put back together with its older signature is found by the number, which the audit log has as well: the
entry of a change says the numbers of the rows that were signed with it. Whoever reads the log, as each process does at
its start, knows the newest number of each row, of those that were taken out, too; a row with a lower one counts for
nothing.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any

from sqlalchemy import RowMapping, Select, Table, bindparam, delete, select

from storage import audit, columns
from storage import tables as t
from storage.columns import json_text
from storage.errors import ChangedOutside
from storage.log_record import LogFacts, on_record
from storage.transaction import Tx
from storage.upsert import upsert
from storage.vault import length_prefixed

RowRead = RowMapping | Mapping[str, Any]
"""A row by its columns, as it was read or is written."""

UNREADABLE = (ValueError, ArithmeticError, TypeError)
"""What a column raises for a value that we never write."""
_PURPOSE = "row_mac"
_NONE = "none"  # no JSON object, so no row is taken for it
NUMBERED = "rows.numbered"
"""The action of an entry that says nothing but numbers of rows."""


@dataclass(frozen=True, slots=True)
class SignedTable:
    """A table whose rows are signed: the column that names a row, and those that the signature covers.

    `alive`: the states of rows that may still give somebody something; empty = all do, for as long as they are there.
    """

    table: Table
    key: str
    columns: tuple[str, ...]
    alive: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return self.table.name

    def text(self, row: RowRead | None) -> str:
        """What is signed of a row; None = there is none. "" for one that cannot be read, which is never signed."""
        if row is not None and not set(self.columns) <= set(row):
            return ""
        return _NONE if row is None else json_text({name: row[name] for name in self.columns})


PROGRAM = SignedTable(t.program, "name", ("partner_id", "drafts_since", "drafts_until"))
PAUSE = SignedTable(t.pause, "program", ("by", "by_name", "reason", "since"))
CODE_RECIPIENT = SignedTable(t.person_card, "partner_ref", ("slack_id",))
MUTE = SignedTable(t.mute, "name", ("rule", "by", "since", "until"))
CONSENT = SignedTable(
    t.consent,
    "id",
    (
        *("kind", "subject", "terms", "asked_by", "asked_by_name", "asked_at"),
        *("expires_at", "state", "answered_by", "answered_at"),
    ),
    alive=("open",),
)
DETAILS_LINK = SignedTable(
    t.card_reveal,
    "request_id",
    ("state", "valid_until", "links", "token_digest", "expires_at", "spent_at"),
    alive=("owed", "sent"),
)
SIGNED_TABLES = (PROGRAM, PAUSE, CODE_RECIPIENT, MUTE, CONSENT, DETAILS_LINK)

_S = t.row_signature.c
_OF = select(_S.version, _S.mac).where(
    _S.table_name == bindparam("table_name"), _S.row_key == bindparam("row_key")
)
_LOCKED = _OF.with_for_update()


@asynccontextmanager
async def changing(tx: Tx, signed: SignedTable, key: str) -> AsyncIterator[None]:
    """Change a row inside: it has to be as it was signed before, and is signed as it is after.

    Raises `ChangedOutside`, and nothing is changed then.
    """
    await require(tx, signed, key)
    yield
    await sign(tx, signed, key)


async def require(tx: Tx, signed: SignedTable, key: str) -> None:
    """Raise `ChangedOutside` unless the row, or its absence, is as we left it."""
    if not await is_as_left(tx, signed, key):
        raise ChangedOutside(
            f"A row of the table {signed.name} ({key}) was changed outside Countersign, so it is not used. Keep a copy"
            " of the database, and run `countersign audit verify --deep`."
        )


async def is_as_left(tx: Tx, signed: SignedTable, key: str) -> bool:
    """Is the row as it is now, or that there is none, as we left it? As `is_ours`."""
    # Who changes it just now does so first: then row and signature are of one moment.
    if tx.writes and tx.is_postgres:
        await tx.run(_LOCKED, {"table_name": signed.name, "row_key": key})
    return await is_ours(tx, signed, key, await _row(tx, signed, key))


async def is_ours(tx: Tx, signed: SignedTable, key: str, row: RowRead | None) -> bool:
    """Is this what we last made of the row `key`? Never signed and not there is as it should be.

    Where it is not, people are notified, although it may be right again when all rows are looked at next.
    """
    seen = tx.versions.get((signed.name, key), 0)
    asked = {"table_name": signed.name, "row_key": key}
    found = (await tx.run(_LOCKED if tx.writes else _OF, asked)).one_or_none()
    if found is None:
        is_as_left = row is None and not was_signed(tx, signed, key)
        is_changed = row is not None or number_on_record(tx, signed.name, key) > 0
    else:
        is_as_left = holds(tx, signed, key, row, found.version, found.mac, seen)
        # By a key that was retired meanwhile: another process has signed it again.
        is_changed = not _was_by_retired_key(tx, signed, key, row, found.version, found.mac)
    if not is_as_left and is_changed and not await _is_of_an_earlier_moment(tx, signed, key, row):
        met(tx, signed)
    return is_as_left


def met(tx: Tx, signed: SignedTable) -> None:
    """A row of this table was met that is not as we left it: people are to be notified, also where it is right again
    by then."""
    tx.chain.rows_met.add(signed.name)


async def _is_of_an_earlier_moment(tx: Tx, signed: SignedTable, key: str, row: RowRead | None) -> bool:
    """Was the row read before another process changed it, and its signature after that? A reading shows one moment, and
    SQLite has one writer."""
    if not (tx.writes and tx.is_postgres):
        return False
    return signed.text(await _row(tx, signed, key)) != signed.text(row)


def was_signed(tx: Tx, signed: SignedTable, key: str) -> bool:
    """Was the row `key`, or its absence, ever signed, as far as this process knows? Then its signature is there for
    good: where it is not, somebody else took it out."""
    return (signed.name, key) in tx.versions or number_on_record(tx, signed.name, key) > 0


async def is_signed(tx: Tx, signed: SignedTable, key: str) -> bool:
    """Is there a signature of the row `key`, or of its absence?"""
    return (await tx.run(_OF, {"table_name": signed.name, "row_key": key})).one_or_none() is not None


def holds(
    tx: Tx, signed: SignedTable, key: str, row: RowRead | None, version: int, mac: str, seen: int
) -> bool:
    """Does a signature, as it was read, fit the row? `seen`: the number this process knew before it was read."""
    if not tx.vault.check_mac(_PURPOSE, _bytes(tx, signed, key, version, row), mac):
        return False
    # A reading may be of a moment before the last change; a transaction that writes sees all that was committed. What
    # was on record when it began, each of them sees.
    if version < max(seen if tx.writes else 0, number_on_record(tx, signed.name, key)):
        return False
    _remember(tx, signed, key, version)
    return True


def _was_by_retired_key(
    tx: Tx, signed: SignedTable, key: str, row: RowRead | None, version: int, mac: str
) -> bool:
    """Whose signature names such a key is not whose it is: anybody can write the name."""
    is_named = tx.vault.signed_under(mac) in tx.vault.retired
    return is_named and tx.vault.check_mac(
        _PURPOSE, _bytes(tx, signed, key, version, row), mac, as_proof=True
    )


async def sign(tx: Tx, signed: SignedTable, key: str) -> None:
    """Sign the row as it is now, or that there is none, whatever it was before: for what people decided again."""
    row = await _row(tx, signed, key)
    asked = {"table_name": signed.name, "row_key": key}
    found = (await tx.run(_LOCKED, asked)).one_or_none()
    if found is not None and found.version > _known(tx, signed, key):
        # Another process has signed it since, or somebody else wrote a number that none comes after.
        await on_record.of(tx)
    # Of a row from before entries said numbers, the row alone has it.
    number = _known(tx, signed, key) or columns.counted(0 if found is None else found.version)
    await _write(tx, signed, key, number + 1, row)
    put_on_record(tx, signed.name, key, number + 1)


def _known(tx: Tx, signed: SignedTable, key: str) -> int:
    """The highest number that the row was ever signed with, as far as this process knows."""
    return max(tx.versions.get((signed.name, key), 0), number_on_record(tx, signed.name, key))


async def _write(tx: Tx, signed: SignedTable, key: str, version: int, row: RowRead | None) -> None:
    mac = tx.vault.mac(_PURPOSE, _bytes(tx, signed, key, version, row))
    made = {"table_name": signed.name, "row_key": key, "version": version, "mac": mac}
    await upsert(tx, t.row_signature, [made], key=("table_name", "row_key"))
    _remember(tx, signed, key, version)


def number_on_record(tx: Tx, table: str, key: str) -> int:
    """The highest number that a row was ever signed with, by what was read of the audit log; 0 = it has none."""
    return tx.log.numbers.get(table, {}).get(key, 0) if isinstance(tx.log, LogFacts) else 0


def put_on_record(tx: Tx, table: str, key: str, number: int) -> None:
    """The next entry of this transaction says it, or one of its own where there is none."""
    if not tx.numbered:
        tx.before_commit(lambda: _numbered(tx), first=True)
    tx.numbered.setdefault(table, {})[key] = number


async def _numbered(tx: Tx) -> None:
    if tx.numbered:
        await audit.append(tx, actor="system:storage", action=NUMBERED, subject="rows")


async def put_all_on_record(tx: Tx) -> None:
    """The numbers of rows of which no entry says one: they are from before entries did. Raises `LogNotWhole`."""
    await on_record.of(tx)
    for signed in SIGNED_TABLES:
        changed = set(await changed_outside(tx, signed, only_alive=True))
        _, asked = _compared(signed, bool(signed.alive))
        for made in (await tx.run(asked)).all():
            if made.row_key not in changed and not number_on_record(tx, signed.name, made.row_key):
                put_on_record(tx, signed.name, made.row_key, made.version)


async def sign_as(tx: Tx, signed: SignedTable, key: str, written: RowRead | None) -> None:
    """Sign the row that was just written, or (None) that it was taken out. Raises `ChangedOutside` where the database
    has something else, as a trigger of somebody's undid it."""
    row = await _row(tx, signed, key)
    if signed.text(row) == signed.text(written):
        await sign(tx, signed, key)
        if await is_ours(tx, signed, key, row):
            return
    raise undone(signed, key)


async def drop(tx: Tx, signed: SignedTable, key: str) -> bool:
    """Take the row out, and sign that there is none, whatever somebody made of it meanwhile; False when there was none,
    as we left it. Raises `ChangedOutside` where the database did not keep that."""
    was_as_left = await is_as_left(tx, signed, key)
    gone = (await tx.run(delete(signed.table).where(signed.table.c[signed.key] == key))).rowcount
    await sign_as(tx, signed, key, None)
    return bool(gone) or not was_as_left


def undone(signed: SignedTable, key: str) -> ChangedOutside:
    return ChangedOutside(
        f"The database did not keep a change of the table {signed.name} ({key}): something in it undoes what"
        " Countersign writes. Nothing was done. Tell an admin: look for triggers in the database that aren't of"
        " Countersign."
    )


async def readable_or_not(tx: Tx, signed: SignedTable, wanted: Select[Any]) -> list[RowRead]:
    """All rows of a table that a statement wants, also where somebody wrote into one what is no time, word or JSON.

    Such a row is nobody's: it comes without its columns, but for its name, and no signature fits it.
    """
    try:
        return list((await tx.run(wanted)).mappings().all())
    except UNREADABLE:
        key = signed.table.c[signed.key]
        names = (await tx.run(wanted.with_only_columns(key))).scalars().all()
        return [await _one_of(tx, signed, str(name)) for name in names]


async def _one_of(tx: Tx, signed: SignedTable, key: str) -> RowRead:
    return await _row(tx, signed, key) or {signed.key: key}


async def ours(tx: Tx, signed: SignedTable, rows: Iterable[RowRead]) -> list[RowRead]:
    """Those of the rows that are as we left them. For tables of few rows."""
    return [row for row in rows if await is_ours(tx, signed, str(row[signed.key]), row)]


async def changed_outside(tx: Tx, signed: SignedTable, *, only_alive: bool = False) -> list[str]:
    """The keys of all rows of a table that are not as we left them: edited, invented, deleted.

    `only_alive`: of a table that keeps what is over, look at the rows that are not.
    """
    is_part = only_alive and bool(signed.alive)
    wanted, asked = _compared(signed, is_part)
    rows = {str(row[signed.key]): row for row in await readable_or_not(tx, signed, wanted)}
    made = {row.row_key: row for row in (await tx.run(asked)).all()}
    # Where both are gone, the row and that it was taken out.
    known = tx.log.numbers.get(signed.name, {}) if isinstance(tx.log, LogFacts) and not is_part else {}
    return sorted(
        key
        for key in {*rows, *made, *known}
        if key not in made
        or not holds(tx, signed, key, rows.get(key), made[key].version, made[key].mac, seen=0)
    )


async def sign_all_unsigned(tx: Tx) -> int:
    """Sign every row that has no signature, as it is: once, when the database comes from before there were any."""
    count = 0
    for signed in SIGNED_TABLES:
        for key in await _unsigned(tx, signed):
            await sign(tx, signed, key)
            count += 1
    return count


async def sign_again(tx: Tx, signed: SignedTable) -> int:
    """Sign the rows under the first master key that were signed under another and are as we left them; how many."""
    count = 0
    asked = select(_S.row_key, _S.mac, _S.version).where(_S.table_name == signed.name)
    rows = (await tx.run(asked)).all()
    for made in rows:
        if tx.vault.signed_under(made.mac) == tx.vault.primary_kid:
            continue
        row = await _row(tx, signed, made.row_key)
        if await is_ours(tx, signed, made.row_key, row):
            # Its number stays: it is the same row, and nothing under the other key counts from then on.
            await _write(tx, signed, made.row_key, made.version, row)
            count += 1
    return count


async def _unsigned(tx: Tx, signed: SignedTable) -> list[str]:
    key = signed.table.c[signed.key]
    made = select(_S.row_key).where(_S.table_name == signed.name)
    return [str(found) for found in (await tx.run(select(key).where(key.not_in(made)))).scalars()]


async def _row(tx: Tx, signed: SignedTable, key: str) -> RowRead | None:
    try:
        return (await tx.run(_one(signed), {"key": key})).mappings().one_or_none()
    except UNREADABLE:
        return {signed.key: key}


# All of them are compared every minute, and one with each change: what is asked is built once for each table.


@cache
def _one(signed: SignedTable) -> Select[Any]:
    return select(signed.table).where(signed.table.c[signed.key] == bindparam("key"))


@cache
def _compared(signed: SignedTable, only_alive: bool) -> tuple[Select[Any], Select[Any]]:
    """Rows, and signatures; of those alone that may still give somebody something, or of all."""
    wanted, asked = select(signed.table), select(_S.row_key, _S.version, _S.mac)
    asked = asked.where(_S.table_name == signed.name)
    if only_alive:
        is_alive = signed.table.c.state.in_(signed.alive)
        wanted = wanted.where(is_alive)
        asked = asked.where(_S.row_key.in_(select(signed.table.c[signed.key]).where(is_alive)))
    return wanted, asked


def _bytes(tx: Tx, signed: SignedTable, key: str, version: int, row: RowRead | None) -> bytes:
    parts = (tx.vault.instance, signed.name, key, str(version), signed.text(row))
    return length_prefixed(*(part.encode() for part in parts))


def _remember(tx: Tx, signed: SignedTable, key: str, version: int) -> None:
    """Once it is committed; what is read is."""
    name, versions = (signed.name, key), tx.versions

    def remember() -> None:
        versions[name] = max(versions.get(name, 0), version)

    if tx.writes:
        tx.after_commit(remember)
    else:
        remember()
