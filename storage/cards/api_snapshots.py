"""Readings: the last value read of something at the API (float, fees), with its time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import bindparam, delete, or_, select

from storage import tables as t
from storage.transaction import Tx
from storage.upsert import upsert

_R = t.reading.c
_OF_PROGRAM = _R.program == bindparam("program")
_ONE = select(_R.value, _R.read_at).where(_OF_PROGRAM, _R.name == bindparam("name"))
_BEGINNING = _R.name.startswith(bindparam("prefix"), escape="/")
_NAMED = select(_R.name, _R.value, _R.read_at).where(_OF_PROGRAM, _BEGINNING).order_by(_R.name)
_DROP = delete(t.reading).where(_R.program == bindparam("of"), _R.name == bindparam("named"))


@dataclass(frozen=True, slots=True)
class Reading:
    """`value` is plain JSON; amounts in it are text."""

    value: Any
    read_at: datetime


async def put(tx: Tx, program: str, name: str, value: Any) -> None:
    await put_all(tx, program, {name: value})


async def put_all(tx: Tx, program: str, values: Mapping[str, Any]) -> None:
    """Several readings at once: values by name."""
    rows = [{"program": program, "name": n, "value": v, "read_at": tx.now} for n, v in values.items()]
    await upsert(tx, t.reading, rows, key=("program", "name"))


async def get(tx: Tx, program: str, name: str) -> Reading | None:
    row = (await tx.run(_ONE, {"program": program, "name": name})).one_or_none()
    return None if row is None else Reading(row.value, row.read_at)


async def named(tx: Tx, program: str, prefix: str) -> dict[str, Reading]:
    """All readings whose name begins so, by the rest of the name."""
    escaped = prefix.replace("/", "//").replace("%", "/%").replace("_", "/_")
    rows = (await tx.run(_NAMED, {"program": program, "prefix": escaped})).all()
    return {row.name.removeprefix(prefix): Reading(row.value, row.read_at) for row in rows}


async def take(tx: Tx, program: str, name: str, *, until: datetime | None = None) -> Reading | None:
    """The reading, removed; None where it was made later than `until`, None = now.

    One of a time that is still to come is of a clock that has stepped back since, and was not.
    """
    r = t.reading.c
    was_before = or_(r.read_at <= (until or tx.now), r.read_at > tx.now)
    removed = t.reading.delete().where(r.program == program, r.name == name, was_before)
    row = (await tx.run(removed.returning(r.value, r.read_at))).one_or_none()
    return None if row is None else Reading(row.value, row.read_at)


async def drop(tx: Tx, program: str, name: str) -> None:
    await tx.run(_DROP, {"of": program, "named": name})
