"""Passkeys by person. What gives one its force is sealed: whose it is, its public key, its state, its counter.

The plain columns repeat some of it, to search by; where they differ from what is sealed, the passkey doesn't count. An
older row put back doesn't count for a process that has seen a newer one.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from datetime import datetime
from typing import Any

from sqlalchemy import Row, bindparam, select, update

from storage import tables as t
from storage.columns import time_text
from storage.errors import CannotOpen
from storage.sealed_columns import PASSKEY
from storage.transaction import Tx
from storage.upsert import insert_new

_P = t.passkey.c
_OF_PERSON = select(t.passkey).where(_P.slack_id == bindparam("slack_id")).order_by(_P.created_at, _P.id)


@dataclass(frozen=True, slots=True)
class Key:
    """What is sealed. `public_key` and `credential_id` are base64url; `rp_id` is the host that it belongs to.

    `state`: waiting (for another person's confirmation), active or ended. `sign_count` is as the device last said.
    `added_at`: since
    when it counts or counted, as text; empty = it never did.
    """

    slack_id: str
    credential_id: str
    public_key: str
    rp_id: str
    state: str
    sign_count: int
    added_at: str = ""


@dataclass(frozen=True, slots=True)
class Passkey:
    """A passkey as it is stored. `key` is None where what is sealed does not open, or says otherwise."""

    id: str
    slack_id: str
    name: str
    state: str
    version: int
    created_at: datetime
    added_at: datetime | None
    used_at: datetime | None
    ended_at: datetime | None
    ended_why: str
    key: Key | None

    @property
    def is_active(self) -> bool:
        return self.state == "active" and self.key is not None


NOT_ENDED = (
    "Passkey {id} could not be ended: its row changed meanwhile, or something in the database undoes what Countersign"
    " writes. Nothing was done. Try again, and tell an admin if it stays so."
)


async def add(tx: Tx, passkey_id: str, name: str, key: Key) -> bool:
    """Keep a new one; False where this credential is known already."""
    row = {
        "id": passkey_id,
        "slack_id": key.slack_id,
        "credential_id": key.credential_id,
        "name": name,
        "state": key.state,
        "version": 1,
        "sealed_key": _sealed(tx, passkey_id, 1, key),
        "created_at": tx.now,
        "added_at": None,
        "used_at": None,
        "ended_at": None,
        "ended_why": "",
    }
    return await insert_new(tx, t.passkey, row)


async def get(tx: Tx, passkey_id: str) -> Passkey | None:
    row = (await tx.run(select(t.passkey).where(_P.id == passkey_id))).one_or_none()
    return None if row is None else _read(tx, row)


async def of_person(tx: Tx, slack_id: str) -> list[Passkey]:
    """All that this person ever had, the oldest first."""
    return [_read(tx, row) for row in (await tx.run(_OF_PERSON, {"slack_id": slack_id})).all()]


async def everybodys(tx: Tx) -> list[Passkey]:
    """All that are active or wait for a confirmation, by person."""
    found = select(t.passkey).where(_P.state != "ended").order_by(_P.slack_id, _P.created_at, _P.id)
    return [_read(tx, row) for row in (await tx.run(found)).all()]


async def ever_added(tx: Tx) -> list[Key]:
    """The keys that ever counted, those that have ended too, by what is sealed."""
    found = [_opened(tx, row) for row in (await tx.run(select(t.passkey))).all()]
    return [key for key in found if key is not None and key.added_at]


async def activate(tx: Tx, found: Passkey) -> bool:
    """Another person confirmed it; False when it changed meanwhile."""
    return await _change(tx, found, {"state": "active", "added_at": time_text(tx.now)}, added_at=tx.now)


async def end(tx: Tx, found: Passkey, why: str) -> bool:
    """It counts no more, for good; False when it changed meanwhile."""
    return await _change(tx, found, {"state": "ended"}, ended_at=tx.now, ended_why=why)


async def reword_ends(tx: Tx, slack_id: str, why: str) -> None:
    """All of this person's that have ended, ended for this reason."""
    mine = update(t.passkey).where(_P.slack_id == slack_id, _P.state == "ended")
    await tx.run(mine.values(ended_why=why))


async def used(tx: Tx, found: Passkey, sign_count: int) -> bool:
    """It signed, and its device has counted so far; False when it changed meanwhile."""
    return await _change(tx, found, {"sign_count": sign_count}, used_at=tx.now)


async def rename(tx: Tx, passkey_id: str, name: str) -> bool:
    """False when it is not there any more."""
    return bool((await tx.run(update(t.passkey).where(_P.id == passkey_id).values(name=name))).rowcount)


async def _change(tx: Tx, found: Passkey, sealed: Mapping[str, Any], **values: Any) -> bool:
    version = found.version
    if found.key is not None:  # what is sealed has it, so it is as we left it
        version += 1
        key = replace(found.key, **sealed)
        values |= {"sealed_key": _sealed(tx, found.id, version, key), "version": version}
    if "state" in sealed:
        values["state"] = sealed["state"]
    mine = update(t.passkey).where(_P.id == found.id, _P.version == found.version)
    is_changed = bool((await tx.run(mine.values(values))).rowcount)
    if is_changed and found.key is not None:
        tx.after_commit(lambda: _remember(tx, found.id, version))
    return is_changed


def _remember(tx: Tx, passkey_id: str, version: int) -> None:
    """What this process has seen committed."""
    name = (t.passkey.name, passkey_id)
    tx.versions[name] = max(tx.versions.get(name, 0), version)


def _sealed(tx: Tx, passkey_id: str, version: int, key: Key) -> str:
    text = json.dumps(asdict(key), sort_keys=True, separators=(",", ":"))
    return tx.vault.seal(text.encode(), PASSKEY.ref(passkey_id, version))


def _read(tx: Tx, row: Row[Any]) -> Passkey:
    shown = {f.name: getattr(row, f.name) for f in fields(Passkey) if f.name != "key"}
    return Passkey(**shown, key=_opened(tx, row))


def _opened(tx: Tx, row: Row[Any]) -> Key | None:
    try:
        key = Key(**json.loads(tx.vault.open(row.sealed_key, PASSKEY.ref(row.id, row.version))))
    except CannotOpen:
        return None
    # A reading may be of a moment before the last change; a transaction that writes sees all that was committed.
    if tx.writes and row.version < tx.versions.get((t.passkey.name, row.id), 0):
        return None
    as_shown = (row.slack_id, row.credential_id, row.state)
    return key if (key.slack_id, key.credential_id, key.state) == as_shown else None
