"""Links of the audit chain for showing and handing out: those about one thing, and those of a time."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import datetime

from sqlalchemy import or_, select

from storage import tables as t
from storage.audit import Entry
from storage.store import Tx

_BATCH = 2_000


async def about(tx: Tx, subject: str) -> AsyncIterator[Entry]:
    """The links about `subject`, and about its versions (`subject:3`), in order."""
    a, after = t.audit.c, 0
    mine = or_(a.subject == subject, a.subject.startswith(f"{subject}:", autoescape=True))
    while True:
        asked = select(t.audit).where(a.seq > after, mine).order_by(a.seq).limit(_BATCH)
        rows = (await tx.run(asked)).all()
        for row in rows:
            yield Entry(**row._mapping)
        if len(rows) < _BATCH:
            return
        after = rows[-1].seq


async def page(tx: Tx, *, since: datetime, until: datetime, after: int, limit: int) -> list[Entry]:
    """The links made in the period with a number above `after`, in order."""
    a = t.audit.c
    asked = select(t.audit).where(a.seq > after, a.at >= since, a.at < until).order_by(a.seq).limit(limit)
    return [Entry(**row._mapping) for row in (await tx.run(asked)).all()]
