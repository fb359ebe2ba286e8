"""Requests of which nothing more may be sent, as a start did not see their messages in Slack.

A reading for each, that belongs to no program, so that taking a request up asks nothing more.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, exists, func

from storage import tables as t
from storage.cards import api_snapshots
from storage.transaction import Tx

_PROGRAM, _PREFIX = "", "request_unseen/"


async def every(tx: Tx) -> dict[str, Any]:
    """What is kept of each, in plain JSON, by the request."""
    return {id_: one.value for id_, one in (await api_snapshots.named(tx, _PROGRAM, _PREFIX)).items()}


async def get(tx: Tx, request_id: str) -> Any:
    """None where nothing holds it."""
    kept = await api_snapshots.get(tx, _PROGRAM, _PREFIX + request_id)
    return None if kept is None else kept.value


async def put(tx: Tx, request_id: str, value: Any) -> None:
    """From now on nothing is sent of it, nor of its rows."""
    await api_snapshots.put(tx, _PROGRAM, _PREFIX + request_id, value)


async def drop(tx: Tx, request_id: str) -> None:
    await api_snapshots.drop(tx, _PROGRAM, _PREFIX + request_id)


def is_held() -> ColumnElement[bool]:
    """Of a row of `request`: is it, or the list that it is a row of, one of these?"""
    row, kept = t.request.c, t.reading.c
    own = _PREFIX + func.coalesce(row.parent_id, row.id)
    return exists().where(kept.program == _PROGRAM, kept.name == own)


def cannot_be_read(tx: Tx, request_id: str) -> bool:
    """Is what is kept of this request, or list, left out? Then it is one of these."""
    return tx.set_aside.has(t.reading.name, _PROGRAM, _PREFIX + request_id)
