"""The webhook's signing secrets of each program: sealed at once, shown never, replaced by rotation.

Which of them counts is what the audit log says. A row says it too, for people and for what is over; whoever writes to
the database and puts an old secret back, or lets it be taken for longer, gains nothing by it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import bindparam, delete, insert, or_, select, update

from bot.partner.secret import Secret
from storage import audit
from storage import tables as t
from storage.log_record import PREVIOUS_TAKEN_FOR, LogFacts, SecretsOnRecord, on_record
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


@dataclass(frozen=True, slots=True)
class By:
    """Who changes a secret, as the audit log has it; `request`: in the course of which ("" = of none)."""

    actor: str = "system:storage"
    request: str = ""
    policy_version: str = ""


_COLUMNS = tuple(t.webhook_secret.c[name] for name in WebhookSecret.__slots__)
# What is asked all the time is built once.
_S = t.webhook_secret.c
_EACH = select(*_COLUMNS).where(_S.program == bindparam("program")).order_by(_S.version)
_ALL = select(*_COLUMNS).order_by(_S.program, _S.version)
_NEWEST = select(*_COLUMNS).where(_S.program == bindparam("program")).order_by(_S.version.desc()).limit(1)
_OVER = (
    delete(t.webhook_secret)
    .where(_S.state == "previous", _S.until <= bindparam("now"))
    .returning(_S.program, _S.version)
)


async def put(
    tx: Tx, program: str, secret: Secret, *, previous_until: datetime, by: By | None = None
) -> WebhookSecret:
    """Make `secret` the current one, on record; the one before is taken until `previous_until`, for what is under way,
    and for `PREVIOUS_TAKEN_FOR` at most. Rows that somebody else wrote go."""
    version = await _next_version(tx, program)
    current = update(t.webhook_secret).where(_S.program == program, _S.state == "current")
    until = min(previous_until, tx.now + PREVIOUS_TAKEN_FOR)
    await tx.run(current.values(state="previous", until=until))
    sealed = tx.vault.seal(secret.reveal().encode(), WEBHOOK_SECRET.ref(program, version))
    row = {"version": version, "sealed_secret": sealed, "state": "current", "since": tx.now}
    await tx.run(insert(t.webhook_secret).values(program=program, **row))
    return await _on_record(tx, WebhookSecret(program, version, "current", tx.now, None), by or By())


async def note_lost(tx: Tx, program: str, *, by: By | None = None) -> WebhookSecret:
    """The card provider made a secret whose answer never came: only another rotation gives one we know."""
    version = await _next_version(tx, program)
    row = {"version": version, "sealed_secret": None, "state": "lost", "since": tx.now}
    await tx.run(insert(t.webhook_secret).values(program=program, **row))
    return await _on_record(tx, WebhookSecret(program, version, "lost", tx.now, None), by or By())


async def accepted(tx: Tx, program: str) -> tuple[Secret, ...]:
    """The secrets that may sign a delivery now, the newest first. Raises `CannotOpen` when tampered with, and
    `LogNotWhole`."""
    known = _of(await on_record.of(tx), program)
    mine = select(_S.version, _S.sealed_secret).where(
        _S.program == program, or_(_S.state == "current", (_S.state == "previous") & (_S.until > tx.now))
    )
    rows = (await tx.run(mine.order_by(_S.version.desc()))).all()
    opened = (
        tx.vault.open(row.sealed_secret, WEBHOOK_SECRET.ref(program, row.version))
        for row in rows
        if known.takes(row.version, tx.now)
    )
    return tuple(Secret(value.decode()) for value in opened)


async def newest(tx: Tx, program: str) -> WebhookSecret | None:
    """What was last received of this program's secret; None before the first registration."""
    row = (await tx.run(_NEWEST, {"program": program})).one_or_none()
    return None if row is None else WebhookSecret(**row._mapping)


async def not_on_record(tx: Tx) -> list[str]:
    """The programs of which the rows aren't as the audit log has them: one was put back, invented, deleted, or is to be
    taken for longer. Raises `LogNotWhole`."""
    facts = await on_record.of(tx)
    rows = [WebhookSecret(**row._mapping) for row in (await tx.run(_ALL)).all()]
    programs = {*facts.secrets, *(row.program for row in rows)}
    return sorted(
        program
        for program in programs
        if not _are_as_on_record(_of(facts, program), [row for row in rows if row.program == program])
    )


async def drop_old(tx: Tx, *, by: By | None = None) -> int:
    """Forget the secrets that are taken no more, on record; returns how many."""
    rows = (await tx.run(_OVER, {"now": tx.now})).all()
    for program, version in sorted((row.program, row.version) for row in rows):
        await _say(tx, "webhook.secret_dropped", program, {"version": version}, by or By())
    return len(rows)


def _are_as_on_record(known: SecretsOnRecord, rows: Iterable[WebhookSecret]) -> bool:
    states = {row.version: row for row in rows}
    has_current = all(version in states for version, until in known.taken.items() if until is None)
    return has_current and all(_is_as_on_record(known, row) for row in states.values())


def _is_as_on_record(known: SecretsOnRecord, row: WebhookSecret) -> bool:
    if row.version not in known.taken:
        return row.state == "lost" and row.version <= known.newest
    until = known.taken[row.version]
    if until is None or row.until is None:
        return (row.state, row.until, until) == ("current", None, None)
    return row.state == "previous" and row.until <= until


async def _next_version(tx: Tx, program: str) -> int:
    """Never used before: the version is bound into the sealed text, and an old one would open under it again."""
    rows = [WebhookSecret(**row._mapping) for row in (await tx.run(_EACH, {"program": program})).all()]
    known = _of(tx.log, program) if isinstance(tx.log, LogFacts) else SecretsOnRecord()
    if not _are_as_on_record(
        known, rows
    ):  # somebody else wrote some of it, or another process has rotated it
        known = _of(await on_record.of(tx), program)
        await _drop(tx, program, [row.version for row in rows if not _is_as_on_record(known, row)])
    return known.newest + 1  # no row that is as on record has a higher one


async def _drop(tx: Tx, program: str, versions: Collection[int]) -> None:
    if versions:
        await tx.run(delete(t.webhook_secret).where(_S.program == program, _S.version.in_(versions)))


def _of(facts: LogFacts, program: str) -> SecretsOnRecord:
    return facts.secrets.get(program, SecretsOnRecord())


async def _on_record(tx: Tx, made: WebhookSecret, by: By) -> WebhookSecret:
    body = {"version": made.version, "state": made.state}
    await _say(
        tx, "webhook.secret", made.program, {"request": by.request, **body} if by.request else body, by
    )
    return made


async def _say(tx: Tx, action: str, program: str, body: dict[str, object], by: By) -> None:
    subject = f"program:{program}"
    await audit.append(
        tx, actor=by.actor, action=action, subject=subject, body=body, policy_version=by.policy_version
    )
