"""The webhook's signing secrets of each program: sealed at once, shown never, replaced by rotation."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import bindparam, delete, func, insert, or_, select, update

from bot.partner.secret import Secret
from storage import tables as t
from storage.sealed_columns import WEBHOOK_SECRET
from storage.transaction import Tx


@dataclass(frozen=True, slots=True)
class WebhookSecret:
    """What may be shown of a secret. `state`: current, previous (taken until `until`) or lost."""

    program: str
    version: int
    state: str
    since: datetime
    until: datetime | None


_COLUMNS = tuple(t.webhook_secret.c[name] for name in WebhookSecret.__slots__)
# What is asked all the time is built once.
_S = t.webhook_secret.c
_NEWEST = select(*_COLUMNS).where(_S.program == bindparam("program")).order_by(_S.version.desc()).limit(1)
_OVER = (
    delete(t.webhook_secret)
    .where(_S.state == "previous", _S.until <= bindparam("now"))
    .returning(_S.program, _S.version)
)


async def put(tx: Tx, program: str, secret: Secret, *, previous_until: datetime) -> WebhookSecret:
    """Make `secret` the current one; the one before is taken until `previous_until`, for what is under way."""
    s = t.webhook_secret.c
    current = update(t.webhook_secret).where(s.program == program, s.state == "current")
    await tx.run(current.values(state="previous", until=previous_until))
    version = await _next_version(tx, program)
    sealed = tx.vault.seal(secret.reveal().encode(), WEBHOOK_SECRET.ref(program, version))
    row = {"version": version, "sealed_secret": sealed, "state": "current", "since": tx.now}
    await tx.run(insert(t.webhook_secret).values(program=program, **row))
    return WebhookSecret(program, version, "current", tx.now, None)


async def note_lost(tx: Tx, program: str) -> WebhookSecret:
    """The card provider made a secret whose answer never came: only another rotation gives one we know."""
    version = await _next_version(tx, program)
    row = {"version": version, "sealed_secret": None, "state": "lost", "since": tx.now}
    await tx.run(insert(t.webhook_secret).values(program=program, **row))
    return WebhookSecret(program, version, "lost", tx.now, None)


async def accepted(tx: Tx, program: str) -> tuple[Secret, ...]:
    """The secrets that may sign a delivery now, the newest first. Raises `CannotOpen` when tampered with."""
    s = t.webhook_secret.c
    mine = select(s.version, s.sealed_secret).where(
        s.program == program, or_(s.state == "current", (s.state == "previous") & (s.until > tx.now))
    )
    rows = (await tx.run(mine.order_by(s.version.desc()))).all()
    opened = (tx.vault.open(row.sealed_secret, WEBHOOK_SECRET.ref(program, row.version)) for row in rows)
    return tuple(Secret(value.decode()) for value in opened)


async def newest(tx: Tx, program: str) -> WebhookSecret | None:
    """What was last received of this program's secret; None before the first registration."""
    row = (await tx.run(_NEWEST, {"program": program})).one_or_none()
    return None if row is None else WebhookSecret(**row._mapping)


async def drop_old(tx: Tx) -> list[tuple[str, int]]:
    """Forget the secrets that are taken no more; returns the program and version of each."""
    rows = (await tx.run(_OVER, {"now": tx.now})).all()
    return sorted((row.program, row.version) for row in rows)


async def _next_version(tx: Tx, program: str) -> int:
    """Never used before while any is known: the version is bound into the sealed text."""
    s = t.webhook_secret.c
    found = await tx.run(select(func.coalesce(func.max(s.version), 0)).where(s.program == program))
    return int(found.scalar_one()) + 1
