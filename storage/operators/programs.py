"""Card programs and their sealed API keys. A key leaves here only as a `Secret`."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import bindparam, delete, func, insert, select, update

from bot.domain.errors import NotFound
from bot.partner.secret import Secret
from storage import columns
from storage import tables as t
from storage.errors import ChangedOutside
from storage.log_record import on_record
from storage.protection import PAUSE, PROGRAM, signed_rows
from storage.sealed_columns import PROGRAM_KEY
from storage.transaction import Tx

# `svc_live_` and 8 characters: what the API itself calls the prefix and asks to be quoted [GET /me].
_PREFIX_LENGTH = 17
# Of a program's key, the audit log has the number as it has those of signed rows.
_KEY = "program_key"


@dataclass(frozen=True, slots=True)
class Program:
    """One Partner API account. `partner_id` is the account the key proved to be of, once known.

    `drafts_since`, `drafts_until`: when it was last for drafts only, which it still is while there is no end.
    """

    name: str
    base_url: str
    key_version: int
    key_prefix: str
    partner_id: str | None
    paused_reason: str | None
    paused_at: datetime | None
    drafts_since: datetime | None
    drafts_until: datetime | None
    created_at: datetime
    updated_at: datetime

    @property
    def is_paused(self) -> bool:
        return self.paused_at is not None

    @property
    def is_draft_only(self) -> bool:
        """Nothing is sent to it: requests are made and approved for practice."""
        return self.drafts_since is not None and self.drafts_until is None


_COLUMNS = tuple(t.program.c[name] for name in Program.__slots__)
_BY_NAME = select(*_COLUMNS).where(t.program.c.name == bindparam("name"))
_ROW = select(t.program).where(t.program.c.name == bindparam("name"))
_NAMES = select(t.program.c.name)
_KEYS = select(t.program.c.name, t.program.c.key_version).order_by(t.program.c.name)
_ALL = select(*_COLUMNS).order_by(t.program.c.name)


async def put(
    tx: Tx, name: str, *, base_url: str, key: Secret, whatever_was_changed: bool = False
) -> Program:
    """Make a program, or give it a new key and address. The key's version moves on with each key, on record, and is
    never given again.

    `whatever_was_changed`: take what is stored of it as it is from now on, also where somebody else wrote it. Raises
    `LogNotWhole`.
    """
    said = await on_record.of(tx)
    old = await get(tx, name)
    is_as_left = old is not None or await signed_rows.is_ours(tx, PROGRAM, name, None)
    # Of a key from before entries said numbers, the row alone has it.
    version = (_newest_key(tx, name) or columns.counted(0 if old is None else old.key_version)) + 1
    values = {
        "base_url": base_url,
        "sealed_key": tx.vault.seal(key.reveal().encode(), PROGRAM_KEY.ref(name, version, base_url)),
        "key_version": version,
        "key_prefix": key.reveal()[:_PREFIX_LENGTH],
        "updated_at": tx.now,
    }
    is_new = old is None or (whatever_was_changed and not old.is_draft_only)
    if is_new and name in said.drafts:  # whatever its row says, or said; since when is not known any more
        values |= {"drafts_since": said.began_at, "drafts_until": None}
    if old is None:
        await tx.run(insert(t.program).values(name=name, created_at=tx.now, **values))
        # Somebody took the row out that said whether it is for drafts only: nothing is sent until people decide.
        if is_as_left:
            await signed_rows.sign(tx, PROGRAM, name)
        # That there is no pause is signed as well, so that one cannot be taken away together with its signature.
        if not signed_rows.was_signed(tx, PAUSE, name):
            await signed_rows.sign(tx, PAUSE, name)
    else:
        await tx.run(update(t.program).where(t.program.c.name == name).values(values))
    if whatever_was_changed:
        await signed_rows.sign(tx, PROGRAM, name)
    signed_rows.put_on_record(tx, _KEY, name, version)
    return await _known(tx, name)


async def is_as_left(tx: Tx, name: str) -> bool:
    """Is what decides whether anything is sent to it as we left it: its account, and whether it is for drafts only?"""
    row = (await tx.run(_ROW, {"name": name})).mappings().one_or_none()
    return await signed_rows.is_ours(tx, PROGRAM, name, row)


async def get(tx: Tx, name: str) -> Program | None:
    row = (await tx.run(_BY_NAME, {"name": name})).one_or_none()
    return None if row is None else Program(**row._mapping)


async def all(tx: Tx) -> list[Program]:  # noqa: A001  read as `programs.all`
    rows = (await tx.run(_ALL)).all()
    return [Program(**row._mapping) for row in rows]


async def not_removed(tx: Tx) -> list[str]:
    """The names of all programs but those whose removal is on record: also of one whose row somebody took out."""
    rows = (await tx.run(_NAMES)).scalars()
    return sorted({*rows, *await signed_rows.changed_outside(tx, PROGRAM)})


async def key(tx: Tx, name: str) -> Secret:
    """The key, for the address that it was set for.

    Raises `NotFound` for an unknown program, `CannotOpen` when the stored key or its address was changed,
    `ChangedOutside` when an older one was put back, and `LogNotWhole`.
    """
    await on_record.of(tx)
    p = t.program.c
    asked = select(p.sealed_key, p.key_version, p.base_url).where(p.name == name)
    row = (await tx.run(asked)).one_or_none()
    if row is None:
        raise _unknown(name)
    if row.key_version < _newest_key(tx, name):
        raise ChangedOutside(
            f"The key and address of program {name} were replaced or removed by the audit log, and somebody put them"
            f" back into the database. They are not used. Keep a copy of the database, and set the key again with"
            f" `countersign keys set {name} --url …`."
        )
    ref = PROGRAM_KEY.ref(name, row.key_version, row.base_url)
    return Secret(tx.vault.open(row.sealed_key, ref).decode())


def _newest_key(tx: Tx, name: str) -> int:
    return signed_rows.number_on_record(tx, _KEY, name)


async def with_older_key(tx: Tx) -> list[str]:
    """Programs whose key was replaced by the audit log, as far as it was read: somebody put an older row back."""
    rows = (await tx.run(_KEYS)).all()
    # A number that cannot be read is none of ours either.
    return [
        str(row.name)
        for row in rows
        if not isinstance(row.key_version, int) or row.key_version < _newest_key(tx, row.name)
    ]


async def put_keys_on_record(tx: Tx) -> None:
    """Those of which no entry says a number: they are from before entries did."""
    for one in await all(tx):
        if not _newest_key(tx, one.name) and columns.is_ours(one.key_version):
            signed_rows.put_on_record(tx, _KEY, one.name, one.key_version)


async def count_requests(tx: Tx, name: str) -> int:
    """How many requests were ever made for a program, drafts of a practice included."""
    counted = select(func.count()).select_from(t.request).where(t.request.c.program == name)
    return int((await tx.run(counted)).scalar_one())


async def remove(tx: Tx, name: str) -> Program:
    """Remove a program for which there are no requests, and its key; returns what it was. Raises `NotFound`, and
    `LogNotWhole`."""
    await on_record.of(tx)
    removed = await _known(tx, name)
    await tx.run(delete(t.program).where(t.program.c.name == name))
    await signed_rows.sign(tx, PROGRAM, name)
    # No key up to the one that was removed counts.
    number = _newest_key(tx, name) or columns.counted(removed.key_version)
    signed_rows.put_on_record(tx, _KEY, name, number + 1)
    return removed


async def learn_partner_id(tx: Tx, name: str, partner_id: str) -> bool:
    """Tie a program to the account its key belongs to; False when it is tied to another one."""
    known = await get(tx, name)
    if known is None or known.partner_id is not None:
        return known is not None and known.partner_id == partner_id
    p = t.program.c
    first = update(t.program).where(p.name == name, p.partner_id.is_(None)).values(partner_id=partner_id)
    async with signed_rows.changing(tx, PROGRAM, name):
        return bool((await tx.run(first)).rowcount)


async def pause(tx: Tx, name: str, reason: str) -> bool:
    """Stop sending for this program; False when it was paused already, whose reason then stands."""
    p = t.program.c
    running = update(t.program).where(p.name == name, p.paused_at.is_(None))
    return bool((await tx.run(running.values(paused_reason=reason, paused_at=tx.now))).rowcount)


async def unpause(tx: Tx, name: str) -> bool:
    p = t.program.c
    paused = update(t.program).where(p.name == name, p.paused_at.is_not(None))
    return bool((await tx.run(paused.values(paused_reason=None, paused_at=None))).rowcount)


async def begin_drafts(tx: Tx, name: str) -> bool:
    """Send nothing to this program from now on; False when that is so already. Raises `ChangedOutside`."""
    await signed_rows.require(tx, PROGRAM, name)
    known = await get(tx, name)
    if known is None or known.is_draft_only:
        return False
    values = {"drafts_since": tx.now, "drafts_until": None}
    async with signed_rows.changing(tx, PROGRAM, name):
        changed = await tx.run(update(t.program).where(t.program.c.name == name).values(values))
        if not changed.rowcount:  # it is there, and is not changed: somebody's trigger keeps it as it is
            raise signed_rows.undone(PROGRAM, name)
    return True


async def end_drafts(tx: Tx, name: str) -> bool:
    """Send again what is approved from now on; False when that is so already."""
    p = t.program.c
    drafting = update(t.program).where(p.name == name, p.drafts_since.is_not(None), p.drafts_until.is_(None))
    async with signed_rows.changing(tx, PROGRAM, name):
        return bool((await tx.run(drafting.values(drafts_until=tx.now))).rowcount)


async def _known(tx: Tx, name: str) -> Program:
    found = await get(tx, name)
    if found is None:
        raise _unknown(name)
    return found


def _unknown(name: str) -> NotFound:
    return NotFound(f"There is no program named {name}. `countersign keys list` shows those there are.")
