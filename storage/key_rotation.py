"""Moving a database to a new master key, and which keys it still needs.

Rotation: add the new key as the second line everywhere, make it the first line, `rewrap`. Then the old key is
retired: it proves what was signed under it, for as long as its line is in the keyring, and does nothing else.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from sqlalchemy import Column, ColumnElement, delete, literal, or_, select, update

from storage import tables as t
from storage.cards import api_snapshots, cards
from storage.errors import Unreadable
from storage.log_record import on_record
from storage.master_keys import canaries, does_not_fit, fits_all_the_same, plant_canaries, replant
from storage.protection import SIGNED_TABLES, signed_rows
from storage.sealed_columns import (
    BATCH,
    DOES_NOT_OPEN,
    SEALED_COLUMNS,
    SealedColumn,
    older,
    opened,
    place,
    ref,
)
from storage.set_aside import as_stored, shown, text_of
from storage.store import Store
from storage.transaction import Tx
from storage.vault import Sealed

T = TypeVar("T")
_PAUSE_S = 0.05
# No secret was replaced so often; a try takes some microseconds.
_VERSIONS = 1000
_DIGITS = 10


@dataclass(frozen=True, slots=True)
class LeftCell:
    """A sealed value that does not open where it is, so that it was left: somebody wrote it there.

    `row`: the key of its row, for people. `kid`: id of the master key that it names.
    """

    table: str
    column: str
    row: str
    sealed: Sealed

    @property
    def kid(self) -> str:
        return self.sealed.kid

    def __str__(self) -> str:
        return f"{self.table}.{self.column} of {self.row}"


@dataclass(frozen=True, slots=True)
class Rewrapped:
    """How many values moved to the first master key, and which were left as they are."""

    moved: int
    left: tuple[LeftCell, ...] = ()


async def kids_in_use(tx: Tx) -> dict[str, int]:
    """How many sealed values each master key holds, by key id."""
    counts: Counter[str] = Counter()
    for column in SEALED_COLUMNS:
        result = await tx.run(select(column.cell).where(column.cell.is_not(None)))
        counts.update(sealed.kid for sealed in result.scalars())
    return dict(counts)


async def not_opening(tx: Tx) -> list[LeftCell]:
    """The sealed values that are not under the first master key and that none opens: rewrapping leaves them."""
    found = list[LeftCell]()
    for column in SEALED_COLUMNS:
        after: Any = None
        while rows := await older(tx, column, after):
            found += [_left(column, one) for one in rows if opened(tx, column, one) is None]
            after = place(column, rows[-1])
    return found


async def settle_canaries(store: Store) -> list[str]:
    """What tells whether the keyring fits is made again where somebody changed it; names of those cells.

    Raises `WrongMasterKey` where the keyring lacks a key that signed an entry of the audit log and was not retired by
    it, or nothing at all opens under it, and `LogNotWhole`.
    """
    async with store.begin() as tx:
        found = await canaries(tx)
        wrong = sorted(kid for kid, fits in found.items() if not fits)
        if not wrong:
            return []
        if not await fits_all_the_same(tx):
            raise await does_not_fit(tx, wrong)
        await on_record.of(tx)
        for kid in wrong:
            await replant(tx, kid)
    return [f"{t.keycheck.name}.sealed of {shown((kid,))}" for kid in wrong]


async def rewrap(store: Store) -> Rewrapped:
    """Seal everything again under the primary key.

    Runs in small transactions and writes only over the value it read, so it may be killed and run
    again, beside a running bot. Canaries of keys that hold nothing any more are taken out at the end. What does not
    open is left as it is, and keeps nothing else from being moved; so does a row that cannot be read, which is among
    `store.set_aside` then. What is sealed in such a row is moved, too, so that it is there when the row is put right.
    """
    moved, left = 0, dict[tuple[str, str, Sealed], LeftCell]()
    for column in SEALED_COLUMNS:
        while True:  # others may write under an older key, or hold a row, meanwhile
            passed = await _pass(store, column, left)
            moved += passed.moved
            if passed.moved < BATCH and not passed.held:
                break
            await asyncio.sleep(_PAUSE_S if passed.held else 0)
    for signed in SIGNED_TABLES:
        await _without_unreadable(store, partial(signed_rows.sign_again, signed=signed))
    await _without_unreadable(store, cards.sign_again)
    await _without_unreadable(store, api_snapshots.sign_again)
    for column in SEALED_COLUMNS:
        batch = await _without_unreadable(store, partial(_rewrap_set_aside, column=column))
        moved += batch.moved
        left |= {(one.table, one.column, one.sealed): one for one in batch.left}
    await _without_unreadable(store, partial(_end_canaries, left=left.values()))
    return Rewrapped(moved, tuple(left.values()))


async def _pass(store: Store, column: SealedColumn, left: dict[tuple[str, str, Sealed], LeftCell]) -> _Batch:
    """Through all of a column once."""
    moved, held, after = 0, 0, None
    while True:
        batch = await _without_unreadable(store, partial(_rewrap_batch, column=column, after=after))
        moved, held, after = moved + batch.moved, held + batch.held, batch.after
        left |= {(one.table, one.column, one.sealed): one for one in batch.left}
        if after is None:
            return _Batch(moved, held)


async def _without_unreadable(store: Store, do: Callable[[Tx], Awaitable[T]]) -> T:
    """In a transaction, which meets no row any more that was found not to be readable."""
    while True:
        try:
            async with store.begin() as tx:
                return await do(tx)
        except Unreadable as found:
            if not store.set_aside.has_row(found.row):
                raise


@dataclass(frozen=True, slots=True)
class _Batch:
    """How many values moved, and how many rows were held by others. `after`: the place of the last row that was read;
    None = there are no more."""

    moved: int
    held: int
    left: Sequence[LeftCell] = ()
    after: Any = None


async def _rewrap_batch(tx: Tx, column: SealedColumn, after: Any = None) -> _Batch:
    key, moved, held, left = column.table.c[column.key], 0, 0, list[LeftCell]()
    rows = await older(tx, column, after)
    for one in rows:
        value = opened(tx, column, one)
        if value is None:
            left.append(_left(column, one))
            continue
        unchanged = (key == one.key_of_row, column.cell == one.sealed)
        if not await _is_free(tx, key, unchanged):
            held += 1
            continue
        fresh = tx.vault.seal(value, ref(column, one))
        await tx.run(update(column.table).where(*unchanged).values({column.column: fresh}))
        moved += 1
    return _Batch(moved, held, left, place(column, rows[-1]) if len(rows) == BATCH else None)


async def _rewrap_set_aside(tx: Tx, column: SealedColumn) -> _Batch:
    """Those of rows that cannot be read, because of another of their cells."""
    keys = set(tx.set_aside.of(column.table.name))
    moved, left, after = 0, list[LeftCell](), list(column.table.primary_key)
    if not keys:
        return _Batch(0, 0)
    names = [column.key, column.column, *([column.version] if column.version else []), *column.bound]
    cells = [
        as_stored(one, is_postgres=tx.is_postgres) for one in (*after, *(column.table.c[n] for n in names))
    ]
    rows = (await tx.run_with_all(select(*cells).where(cells[len(after) + 1].is_not(None)))).all()
    for row in rows:
        key, (row_id, sealed, *others) = tuple(row[: len(after)]), row[len(after) :]
        if key not in keys or text_of(sealed).startswith(f"v1.{tx.vault.primary_kid}."):
            continue
        versions = _versions(others.pop(0)) if column.version else (1,)
        fresh = _sealed_again(tx, column, text_of(sealed), text_of(row_id), versions, *map(text_of, others))
        if fresh is None:
            left.append(LeftCell(column.table.name, column.column, shown(key), Sealed(text_of(sealed))))
            continue
        its = (
            cell == literal(part, cell.type)
            for cell, part in zip(cells, (*key, row_id, sealed), strict=False)
        )
        await tx.run_with_all(update(column.table).where(*its).values({column.column: fresh}))
        moved += 1
    return _Batch(moved, 0, left)


def _versions(stored: bytes | str | None) -> Iterable[int]:
    """That of a row; where it is what cannot be read, all that it may have been."""
    text = text_of(stored)
    return (int(text),) if text.isascii() and text.isdigit() and len(text) < _DIGITS else range(1, _VERSIONS)


def _sealed_again(
    tx: Tx, column: SealedColumn, sealed: str, row_id: str, versions: Iterable[int], *bound: str
) -> Sealed | None:
    for version in versions:
        cell = column.ref(row_id, version, *bound)
        with suppress(*DOES_NOT_OPEN):
            return tx.vault.seal(tx.vault.open(Sealed(sealed), cell), cell)
    return None


async def _is_free(tx: Tx, key: Column[Any], wanted: Sequence[ColumnElement[bool]]) -> bool:
    """Hold the row without waiting for it, as many are held here in no order that others keep; False where another
    process holds it, or it was changed. SQLite's write lock does so already."""
    if not tx.is_postgres:
        return True
    hold = select(key).where(*wanted).with_for_update(key_share=True, skip_locked=True)
    return bool((await tx.run(hold)).all())


def _left(column: SealedColumn, one: Any) -> LeftCell:
    row = shown(tuple(str(part) for part in place(column, one)))
    return LeftCell(column.table.name, column.column, row, one.sealed)


async def _end_canaries(tx: Tx, left: Iterable[LeftCell]) -> None:
    await plant_canaries(tx)
    spoiled = {one.sealed for one in left}
    used = {tx.vault.primary_kid}
    for column in SEALED_COLUMNS:
        result = await tx.run(select(column.cell).where(column.cell.is_not(None)))
        used |= {sealed.kid for sealed in result.scalars() if sealed not in spoiled}
    kid = t.keycheck.c.kid
    # Those that cannot be read, too, which would keep the bot from starting.
    await tx.run_with_all(delete(t.keycheck).where(or_(kid.is_(None), kid.not_in(used))))
