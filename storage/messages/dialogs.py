"""Dialogs: what a person and the bot are at in one thread, for half an hour.

A row holds ids and typed values, never what was written. The values are sealed, because a phone number or
an e-mail address may be among them. Whoever reads a dialog first sweeps away what has run out.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Row, delete, select

from storage import columns
from storage import tables as t
from storage.columns import json_text
from storage.sealed_columns import DIALOG_SLOTS
from storage.transaction import Tx
from storage.upsert import upsert

LASTS = timedelta(minutes=30)


@dataclass(frozen=True, slots=True)
class Place:
    """Where somebody talks. `thread_ts` is the ts of the message that the thread hangs on."""

    team_id: str
    channel_id: str
    thread_ts: str
    user_id: str


@dataclass(frozen=True, slots=True)
class Dialog:
    """One conversation. `version` grows with every change of what is asked or offered.

    `asked_slot` is empty where nothing is asked; `candidates` are the answers offered for it, as typed.
    """

    id: str
    place: Place
    intent: str
    slots: Mapping[str, Any]
    asked_slot: str
    candidates: tuple[str, ...]
    last_card_id: str
    misses: int
    version: int
    created_at: datetime
    expires_at: datetime


async def put(tx: Tx, dialog: Dialog) -> None:
    """Keep it, over what was known of this person in this thread."""
    place = dialog.place
    row = {
        "team_id": place.team_id,
        "channel_id": place.channel_id,
        "thread_ts": place.thread_ts,
        "user_id": place.user_id,
        "id": dialog.id,
        "intent": dialog.intent,
        "sealed_slots": tx.vault.seal(json_text(dict(dialog.slots)).encode(), DIALOG_SLOTS.ref(dialog.id)),
        "asked_slot": dialog.asked_slot,
        "candidates": list(dialog.candidates),
        "last_card_id": dialog.last_card_id,
        "misses": dialog.misses,
        "version": dialog.version,
        "created_at": dialog.created_at,
        "expires_at": dialog.expires_at,
    }
    await upsert(tx, t.dialog, [row], key=("team_id", "channel_id", "thread_ts", "user_id"))


async def at(tx: Tx, place: Place) -> Dialog | None:
    """What this person is at in this thread."""
    return await _one(tx, *_of(place), t.dialog.c.thread_ts == place.thread_ts)


async def asking(tx: Tx, place: Place) -> Dialog | None:
    """The newest open question to this person in this channel, whatever its thread."""
    return await _one(tx, *_of(place), t.dialog.c.asked_slot != "")


async def latest(tx: Tx, place: Place) -> Dialog | None:
    """What this person said last in this channel, whatever its thread."""
    return await _one(tx, *_of(place), newest=t.dialog.c.expires_at)


async def get(tx: Tx, dialog_id: str) -> Dialog | None:
    return await _one(tx, t.dialog.c.id == dialog_id)


async def drop(tx: Tx, dialog_id: str) -> None:
    await tx.run(delete(t.dialog).where(t.dialog.c.id == dialog_id))


async def _one(
    tx: Tx, *wanted: ColumnElement[bool], newest: ColumnElement[Any] = t.dialog.c.created_at
) -> Dialog | None:
    """Sweeps first, so it needs a transaction that writes."""
    await tx.run(delete(t.dialog).where(t.dialog.c.expires_at <= tx.now))
    asked = select(t.dialog).where(*wanted).order_by(newest.desc(), t.dialog.c.thread_ts.desc()).limit(1)
    row = (await tx.run(asked)).one_or_none()
    return None if row is None else _dialog(tx, row)


def _of(place: Place) -> tuple[ColumnElement[bool], ...]:
    c = t.dialog.c
    return (c.team_id == place.team_id, c.channel_id == place.channel_id, c.user_id == place.user_id)


def _dialog(tx: Tx, row: Row[Any]) -> Dialog:
    return Dialog(
        id=row.id,
        place=Place(row.team_id, row.channel_id, row.thread_ts, row.user_id),
        intent=row.intent,
        slots=json.loads(tx.vault.open(row.sealed_slots, DIALOG_SLOTS.ref(row.id))),
        asked_slot=row.asked_slot,
        candidates=tuple(row.candidates),
        last_card_id=row.last_card_id,
        misses=columns.counted(row.misses),
        version=columns.counted(row.version),
        created_at=row.created_at,
        expires_at=row.expires_at,
    )
