"""People as last seen at Slack: for names in sentences, and to notice a changed group. Never for deciding."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import asdict, dataclass
from datetime import datetime

from sqlalchemy import delete, insert, select

from bot.domain.people.actors import Actor
from storage import tables as t
from storage.store import Tx
from storage.upsert import upsert


@dataclass(frozen=True, slots=True)
class Seen:
    """An account as Slack described it at `checked_at`."""

    actor: Actor
    real_name: str
    checked_at: datetime


@dataclass(frozen=True, slots=True)
class RoleChange:
    """Who came into a role and who left it since it was last resolved."""

    added: frozenset[str]
    removed: frozenset[str]

    def __bool__(self) -> bool:
        return bool(self.added or self.removed)


async def put(tx: Tx, actor: Actor, *, real_name: str = "") -> None:
    """Remember an account as Slack described it now."""
    seen = asdict(actor)
    row = {**seen, "slack_id": seen.pop("id"), "real_name": real_name, "checked_at": tx.now}
    del row["id"]
    await upsert(tx, t.person, [row], key=("slack_id",))


async def get(tx: Tx, slack_id: str) -> Seen | None:
    row = (await tx.run(select(t.person).where(t.person.c.slack_id == slack_id))).one_or_none()
    if row is None:
        return None
    actor = Actor(id=slack_id, **{name: getattr(row, name) for name in Actor.__slots__ if name != "id"})
    return Seen(actor, row.real_name, row.checked_at)


async def put_role(tx: Tx, role: str, members: Collection[str], *, source: str) -> RoleChange:
    """Replace a role's members by those just resolved from `source`; returns what changed."""
    before = await role_members(tx, role)
    now = frozenset(members)
    await tx.run(delete(t.person_role).where(t.person_role.c.role == role))
    if now:
        rows = [{"slack_id": m, "role": role, "source": source, "seen_at": tx.now} for m in sorted(now)]
        await tx.run(insert(t.person_role), rows)
    return RoleChange(now - before, before - now)


async def role_members(tx: Tx, role: str) -> frozenset[str]:
    """The role's members when it was last resolved."""
    asked = select(t.person_role.c.slack_id).where(t.person_role.c.role == role)
    return frozenset((await tx.run(asked)).scalars())
