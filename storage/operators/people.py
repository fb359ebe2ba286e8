"""People as last seen at Slack: for names in sentences, and to notice a preview that is too old. Never for deciding."""

from __future__ import annotations

from dataclasses import dataclass, fields
from datetime import datetime

from sqlalchemy import bindparam, select

from bot.domain.people import Actor
from storage import tables as t
from storage.transaction import Tx
from storage.upsert import upsert

# A mailbox is compared while a decision is made, and never stored; nor is an account that Slack does not know.
_KEPT = tuple(field.name for field in fields(Actor) if field.name not in ("id", "mailbox", "is_gone"))
_BY_ID = select(t.person).where(t.person.c.slack_id == bindparam("slack_id"))


@dataclass(frozen=True, slots=True)
class Seen:
    """An account as Slack described it at `checked_at`."""

    actor: Actor
    real_name: str
    checked_at: datetime


async def put(tx: Tx, actor: Actor, *, real_name: str = "") -> None:
    """Remember an account as Slack described it now."""
    row = {name: getattr(actor, name) for name in _KEPT}
    row |= {"slack_id": actor.id, "real_name": real_name, "checked_at": tx.now}
    await upsert(tx, t.person, [row], key=("slack_id",))


async def get(tx: Tx, slack_id: str) -> Seen | None:
    row = (await tx.run(_BY_ID, {"slack_id": slack_id})).one_or_none()
    if row is None:
        return None
    actor = Actor(id=slack_id, **{name: getattr(row, name) for name in _KEPT})
    return Seen(actor, row.real_name, row.checked_at)


async def names(tx: Tx) -> list[str]:
    """What the accounts that were seen are called, display names and real ones."""
    row = t.person.c
    found = (await tx.run(select(row.name, row.real_name))).all()
    return [name for one in found for name in (one.name, one.real_name) if name]
