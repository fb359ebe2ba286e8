"""Mute rules: named, with who made them and until when. What they silence is kept, only not posted."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, or_, select

from storage import tables as t
from storage.protection import MUTE, signed_rows
from storage.transaction import Tx
from storage.upsert import upsert


@dataclass(frozen=True, slots=True)
class Mute:
    """Alerts of `kind`, all of them or those whose subject or title holds `about`."""

    name: str
    kind: str
    about: str
    by: str
    since: datetime
    until: datetime | None

    def silences(self, kind: str, *texts: str) -> bool:
        return kind == self.kind and (not self.about or any(self.about in text for text in texts))


async def put(tx: Tx, *, name: str, kind: str, about: str, by: str, until: datetime | None) -> None:
    """Make the rule, or put it in place of the one of the same name."""
    rule = {"kind": kind, "about": about}
    row = {"name": name, "rule": rule, "by": by, "since": tx.now, "until": until}
    await upsert(tx, t.mute, [row], key=("name",))
    await signed_rows.sign(tx, MUTE, name)


async def drop(tx: Tx, name: str) -> bool:
    """End the rule; False when there is none of this name. Where somebody took the row out, there is."""
    return await signed_rows.drop(tx, MUTE, name)


async def in_force(tx: Tx) -> list[Mute]:
    """The rules that silence alerts now; one that is not as we left it silences nothing."""
    asked = select(t.mute).where(_now(tx)).order_by(t.mute.c.name)
    found = await signed_rows.readable_or_not(tx, MUTE, asked)
    return [_mute(row) for row in await signed_rows.ours(tx, MUTE, found)]


def _now(tx: Tx) -> ColumnElement[bool]:
    return or_(t.mute.c.until.is_(None), t.mute.c.until > tx.now)


def _mute(row: Any) -> Mute:
    rule = row["rule"]
    return Mute(row["name"], rule["kind"], rule["about"], row["by"], row["since"], row["until"])
