"""Readings: the last value read of something at the API (float, fees), with its time."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import select

from storage import tables as t
from storage.store import Tx
from storage.writing import upsert


@dataclass(frozen=True, slots=True)
class Reading:
    """`value` is plain JSON; amounts in it are text."""

    value: Any
    read_at: datetime


async def put(tx: Tx, program: str, name: str, value: Any) -> None:
    row = {"program": program, "name": name, "value": value, "read_at": tx.now}
    await upsert(tx, t.reading, [row], key=("program", "name"))


async def get(tx: Tx, program: str, name: str) -> Reading | None:
    r = t.reading.c
    row = (await tx.run(select(r.value, r.read_at).where(r.program == program, r.name == name))).one_or_none()
    return None if row is None else Reading(row.value, row.read_at)
