"""What one process saw that others may go by for seconds: signed, with the time at which it began to look.

Kept as a reading. Whoever can write to the database can take it away, or put back one that was there before: then its
time is over, as that is signed too.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import select

from storage.cards import api_snapshots
from storage.columns import json_text
from storage.transaction import Tx
from storage.vault import length_prefixed

_PURPOSE = "shared_look"
_PREFIX = "look:"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Look:
    """What was seen, and when the look began, by the clock of leases."""

    value: Any
    began_at: datetime


async def get(tx: Tx, name: str) -> Look | None:
    """The last one; None where there is none, and where it was not signed by one of our processes."""
    kept = await api_snapshots.get(tx, "", _PREFIX + name)
    match kept.value if kept else None:
        case {"value": value, "at_us": int(at_us), "mac": str(mac)}:
            if tx.vault.check_mac(_PURPOSE, _bytes(tx, name, value, at_us), mac):
                return Look(value, _EPOCH + timedelta(microseconds=at_us))
    return None


async def put(tx: Tx, name: str, value: Any, began_at: datetime) -> None:
    """In place of the one before. `value` is plain JSON."""
    at_us = (began_at - _EPOCH) // timedelta(microseconds=1)
    mac = tx.vault.mac(_PURPOSE, _bytes(tx, name, value, at_us))
    await api_snapshots.put(tx, "", _PREFIX + name, {"value": value, "at_us": at_us, "mac": mac})


async def now(tx: Tx) -> datetime:
    """By the clock of leases."""
    found: datetime = (await tx.run(select(tx.lease_clock))).scalar_one()
    return found


def _bytes(tx: Tx, name: str, value: Any, at_us: int) -> bytes:
    parts = (_PURPOSE, tx.vault.instance, name, json_text({"value": value, "at_us": at_us}))
    return length_prefixed(*(part.encode() for part in parts))
