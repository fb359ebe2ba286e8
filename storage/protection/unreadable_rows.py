"""Rows that hold what is no value of their column: which they are, and taking out those that can be read again.

Whoever can write to the database can make such a row. SQLite keeps anything in any column; PostgreSQL has times and
numbers that no calendar and no account has.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import ColumnElement, Table, Text, cast, literal_column, select

from storage import tables as t
from storage.columns import Unread, marked
from storage.transaction import Tx, key_of

COPIES: Final = frozenset(
    {
        *("reading", "reading_history", "card", "card_word", "card_count", "card_sync", "cursor"),
        *("purchase", "purchase_event", "person", "person_role", "home_view", "dialog", "unread_text"),
        *("rate_minute", "replica", "lease", "held_endpoint", "message", "draft"),
    }
)
"""What the card provider or Slack say again, or people type again: such a row is dropped, and the bot goes on."""

DROPPED_AT_START: Final = (
    "The row {row} of the table {table} can't be read: somebody changed the database. It is a copy of what your card"
    " provider or Slack say. Countersign drops it and reads it again: start Countersign, and find out who can write to"
    " the database."
)

_NAMED_MOST = 20
_PAGE = 2000
# Of a table with more rows the first so many are looked through: to name a row is worth some seconds, not minutes.
_LOOKED_THROUGH = 200_000


@dataclass(frozen=True, slots=True)
class UnreadableRow:
    """`row`: its key, "?" where that itself cannot be read. `column`: the first that cannot be. `place`: where it is in
    the file, for the rest of the transaction."""

    table: str
    row: str
    column: str
    place: Any


async def find(
    tx: Tx, table: str, *, column: str = "", row: str = "", most: int = _NAMED_MOST
) -> list[UnreadableRow]:
    """Some of those of one table, by their key. `column`: those that cannot be read for it alone; `row`: that one."""
    its = t.metadata.tables[table]
    keys = list(its.primary_key)
    columns = [*keys, *([its.c[column]] if column else [one for one in its.columns if one not in keys])]
    asked = select(_place(tx, its), *columns).order_by(*keys)
    if row:
        asked = asked.where(*_is(its, row))
    found: list[UnreadableRow] = []
    for start in range(0, _LOOKED_THROUGH, _PAGE):
        result = await tx.connection.execute(asked.limit(_PAGE).offset(start))
        with marked():
            rows = result.all()
        for one in rows:
            bad = next((cell for cell in one if isinstance(cell, Unread)), None)
            if bad is not None:
                found.append(UnreadableRow(table, key_of(table, one) or "?", bad.column, one[0]))
            if len(found) >= most:
                return found
        if len(rows) < _PAGE:
            break
    return found


async def find_all(tx: Tx) -> list[UnreadableRow]:
    """Some of each table but the audit log, which is checked as a whole."""
    names = [name for name in t.metadata.tables if name != t.audit.name]
    return [one for name in names for one in await find(tx, name)]


async def still_unreadable(tx: Tx, table: str, row: str) -> bool:
    """Is this row, named by its key, still there and not to be read?"""
    if table not in t.metadata.tables:
        return False
    return bool(await find(tx, table, row="" if row == "?" else row, most=1))


async def take_out(tx: Tx, table: str, rows: Sequence[str]) -> list[str]:
    """Take out what cannot be read of a table in `COPIES`, and these rows of it, and what belongs to them. Returns the
    keys of those that were."""
    if table not in COPIES:
        raise ValueError(f"{table} is not read again from anywhere")
    its = t.metadata.tables[table]
    found = await find(tx, table, most=_LOOKED_THROUGH)
    for row in {*rows} - {"", "?"} - {one.row for one in found}:
        there = (await tx.connection.execute(select(_place(tx, its)).where(*_is(its, row)))).all()
        found += [UnreadableRow(table, row, "", one[0]) for one in there]
    for one in found:
        if table == t.card.name and not await _facts_forgotten(tx, one):
            words = select(cast(t.card.c.id, Text)).where(_place(tx, t.card) == one.place)
            await tx.run(t.card_word.delete().where(t.card_word.c.card_id.in_(words)))
            await tx.run(its.delete().where(_place(tx, its) == one.place))
        elif table != t.card.name:
            await tx.run(its.delete().where(_place(tx, its) == one.place))
    return [one.row for one in found]


async def _facts_forgotten(tx: Tx, card: UnreadableRow) -> bool:
    """What the card provider says of a card is not known until it is read again; False where that is not enough."""
    facts = ("status", "created_at", "balance_usd", "balance_at", "gone_at")
    if card.column not in facts:
        return False
    place = _place(tx, t.card)
    await tx.run(t.card.update().where(place == card.place).values(dict.fromkeys(facts[2:4])))
    for name in {card.column, *facts} - set(facts[2:4]):
        result = await tx.connection.execute(select(t.card.c[name]).where(place == card.place))
        with marked():
            value = result.scalar_one()
        if isinstance(value, Unread):
            await tx.run(t.card.update().where(place == card.place).values({name: None}))
    result = await tx.connection.execute(select(*t.card.columns).where(place == card.place))
    with marked():
        return not any(isinstance(cell, Unread) for cell in result.one())


def _place(tx: Tx, its: Table) -> ColumnElement[Any]:
    name = "ctid" if tx.is_postgres else "rowid"
    place: ColumnElement[Any] = literal_column(f"{its.name}.{name}")
    return cast(place, Text) if tx.is_postgres else place


def _is(its: Table, row: str) -> Sequence[ColumnElement[bool]]:
    """Each part of the key as text, which it is for people."""
    keys = list(its.primary_key)
    parts = row.split(" / ")
    if len(parts) != len(keys):
        return [cast(keys[0], Text) == parts[0]]
    if len(keys) == 1 and isinstance(keys[0].type, Text):
        return [keys[0] == row]
    return [cast(key, Text) == part for key, part in zip(keys, parts, strict=True)]
