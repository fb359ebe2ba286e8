"""Readings: the last value read of something at the API (float, fees), with its time.

Most give nobody anything who changes them. What is built upon the last value, so that what came before is not looked at
again, is signed: `SIGNED` names them. A signed one has a number that grows, so that a process that has seen a newer one
does not take an older one for it; it goes on from the one that stands there, as another process may have written that.
After a restart an older one leads to more being looked at again, and to nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Row, bindparam, delete, select

from storage import tables as t
from storage.columns import json_text
from storage.transaction import Tx
from storage.upsert import upsert
from storage.vault import length_prefixed

_R = t.reading.c
_OF_PROGRAM = _R.program == bindparam("program")
_ONE = select(_R.value, _R.read_at).where(_OF_PROGRAM, _R.name == bindparam("name"))
_LOCKED = _ONE.with_for_update()
_BEGINNING = _R.name.startswith(bindparam("prefix"), escape="/")
SIGNED = frozenset({"ledger_watch", "looked_in_safe_mode"})
"""The names of readings that are signed."""
_SIGNED_ONES = select(_R.program, _R.name, _R.value).where(_R.name.in_(sorted(SIGNED)))
_PURPOSE = "reading"
_NUMBER, _MAC = "n", "mac"  # beside what is in the value
_NAMED = select(_R.name, _R.value, _R.read_at).where(_OF_PROGRAM, _BEGINNING).order_by(_R.name)
_TAKE = (
    delete(t.reading)
    .where(
        _R.program == bindparam("of_program"),
        _R.name == bindparam("named"),
        _R.read_at == bindparam("made_at"),
    )
    .returning(_R.value, _R.read_at)
)
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


async def take(tx: Tx, program: str, name: str, *, of: datetime) -> Reading | None:
    """The reading `of` that time, removed; None where it is not there or was made again since."""
    row = (await tx.run(_TAKE, {"of_program": program, "named": name, "made_at": of})).one_or_none()
    return None if row is None else Reading(row.value, row.read_at)


async def drop(tx: Tx, program: str, name: str) -> None:
    await tx.run(_DROP, {"of": program, "named": name})


async def put_signed(tx: Tx, program: str, name: str, value: Mapping[str, Any]) -> None:
    """In place of the one before, whichever process wrote that."""
    before = (await tx.run(_LOCKED, {"program": program, "name": name})).one_or_none()
    stands = before.value[_NUMBER] if before and _is_ours(tx, program, name, before.value) else 0
    number = max(stands, tx.versions.get(_seen(program, name), 0)) + 1
    numbered = {**value, _NUMBER: number}
    mac = tx.vault.mac(_PURPOSE, _bytes(tx, program, name, numbered))
    await put(tx, program, name, {**numbered, _MAC: mac})
    tx.after_commit(lambda: _remember(tx, program, name, number))


async def get_signed(tx: Tx, program: str, name: str) -> Reading | None:
    """The last one; None where there is none that is ours, and where this process has seen a newer one.

    In a transaction that only reads, ask for it before anything else: one of a moment ago is none that was put back.
    """
    seen = tx.versions.get(_seen(program, name), 0)
    found = await get(tx, program, name)
    if found is None or not _is_ours(tx, program, name, found.value) or found.value[_NUMBER] < seen:
        return None
    _remember(tx, program, name, found.value[_NUMBER])
    return Reading({k: v for k, v in found.value.items() if k not in (_NUMBER, _MAC)}, found.read_at)


async def sign_unsigned(tx: Tx) -> int:
    """Sign those that are to be signed and have no signature, as they are; how many."""
    found = [one for one in await _to_be_signed(tx) if isinstance(one.value, dict) and _MAC not in one.value]
    for one in found:
        await put_signed(tx, one.program, one.name, one.value)
    return len(found)


async def is_any_unsigned(tx: Tx) -> bool:
    return any(isinstance(one.value, dict) and _MAC not in one.value for one in await _to_be_signed(tx))


async def sign_again(tx: Tx) -> None:
    """Under the first master key, those that were signed under another and are as we left them."""
    for one in await _to_be_signed(tx):
        if not _is_ours(tx, one.program, one.name, one.value):
            continue
        if tx.vault.signed_under(one.value[_MAC]) != tx.vault.primary_kid:
            numbered = {k: v for k, v in one.value.items() if k != _MAC}
            mac = tx.vault.mac(_PURPOSE, _bytes(tx, one.program, one.name, numbered))
            r = t.reading.c
            changed = t.reading.update().where(r.program == one.program, r.name == one.name)
            await tx.run(changed.values(value={**numbered, _MAC: mac}))


async def _to_be_signed(tx: Tx) -> Sequence[Row[Any]]:
    return (await tx.run(_SIGNED_ONES)).all()


def _is_ours(tx: Tx, program: str, name: str, value: Any) -> bool:
    match value:
        case {"n": int(), "mac": str(mac)}:
            numbered = {k: v for k, v in value.items() if k != _MAC}
            return tx.vault.check_mac(_PURPOSE, _bytes(tx, program, name, numbered), mac)
    return False


def _bytes(tx: Tx, program: str, name: str, numbered: Mapping[str, Any]) -> bytes:
    parts = (_PURPOSE, tx.vault.instance, program, name, json_text(numbered))
    return length_prefixed(*(part.encode() for part in parts))


def _seen(program: str, name: str) -> tuple[str, str]:
    return (t.reading.name, f"{program}/{name}")


def _remember(tx: Tx, program: str, name: str, number: int) -> None:
    key = _seen(program, name)
    tx.versions[key] = max(tx.versions.get(key, 0), number)
