"""Who has looked at Home lately, and the fingerprint of what they were shown: never what it said."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import bindparam, delete, func, select, update

from storage import tables as t
from storage.transaction import Tx
from storage.upsert import upsert

_H = t.home_view.c
_SINCE = (
    select(t.home_view)
    .where(_H.opened_at >= bindparam("at"))
    .order_by(_H.published_at.nulls_first(), _H.slack_id)
    .limit(bindparam("most"))
)
_MARKER = select(
    select(func.max(t.outbox.c.id)).scalar_subquery(),
    select(func.max(t.reading.c.read_at)).scalar_subquery(),
    select(func.max(t.card_sync.c.synced_at)).scalar_subquery(),
)


@dataclass(frozen=True, slots=True)
class HomeView:
    """`published_at` None = nothing was shown yet."""

    slack_id: str
    opened_at: datetime
    published_at: datetime | None
    fingerprint: str


async def opened(tx: Tx, slack_id: str) -> None:
    """This person opened Home now; what is drawn for it is recorded by `published`."""
    row = {"slack_id": slack_id, "opened_at": tx.now, "published_at": None, "fingerprint": ""}
    await upsert(tx, t.home_view, [row], key=("slack_id",))


async def published(tx: Tx, slack_id: str, fingerprint: str) -> None:
    mine = update(t.home_view).where(t.home_view.c.slack_id == slack_id)
    await tx.run(mine.values(published_at=tx.now, fingerprint=fingerprint))


async def since(tx: Tx, at: datetime, *, limit: int) -> list[HomeView]:
    """Who opened it from then on, the one published longest ago first."""
    found = (await tx.run(_SINCE, {"at": at, "most": limit})).all()
    return [HomeView(**row._mapping) for row in found]


async def drop(tx: Tx, slack_id: str) -> None:
    """Nothing more is drawn for this person until they open it again."""
    await tx.run(delete(t.home_view).where(t.home_view.c.slack_id == slack_id))


async def marker(tx: Tx) -> str:
    """Moves whenever something that Home shows may have changed: a message to send, or anything read again."""
    return "|".join(map(str, (await tx.run(_MARKER)).one()))
