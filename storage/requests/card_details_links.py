"""One-time links to card details: one row for each approved request, and of its token only the digest.

A newer link takes the place of the one before, so at most one is alive; spending it is one UPDATE. The rows are
signed: one that is not as we left it is none.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Update, bindparam, select, update

from storage import columns
from storage import tables as t
from storage.protection import DETAILS_LINK, signed_rows
from storage.transaction import Tx
from storage.upsert import upsert

_ALIVE = ("owed", "sent")


@dataclass(frozen=True, slots=True)
class Reveal:
    """`state`: `owed` (no link reached the person), sent, opened (details were given) or over.

    `valid_until` is the approval's; `expires_at` and `spent_at` are of the newest link, `links` counts them.
    """

    request_id: str
    state: str
    valid_until: datetime
    links: int
    token_digest: str | None
    expires_at: datetime | None
    spent_at: datetime | None

    @property
    def is_alive(self) -> bool:
        """May another link be made for it, as far as its state tells?"""
        return self.state in _ALIVE


_COLUMNS = tuple(t.card_reveal.c[name] for name in Reveal.__slots__)
_R = t.card_reveal.c
_EXPIRED = (
    select(_R.request_id)
    .where(_R.state.in_(_ALIVE), _R.valid_until <= bindparam("before"))
    .order_by(_R.request_id)
)


async def grant(tx: Tx, request_id: str, valid_until: datetime) -> None:
    """Links may be made for this request until then."""
    row: dict[str, Any] = {"request_id": request_id, "state": "owed", "valid_until": valid_until, "links": 0}
    row |= dict.fromkeys(("token_digest", "expires_at", "spent_at"))
    # One that is there already was invented: no link is made before its request was carried out.
    await upsert(tx, t.card_reveal, [row], key=("request_id",))
    await signed_rows.sign(tx, DETAILS_LINK, request_id)


async def get(tx: Tx, request_id: str) -> Reveal | None:
    found = await _one(tx, t.card_reveal.c.request_id == request_id)
    if found is None:  # people are notified where somebody took it out
        await signed_rows.is_ours(tx, DETAILS_LINK, request_id, None)
    return found


async def of_token(tx: Tx, digest: str) -> Reveal | None:
    """The request whose newest link this is."""
    return await _one(tx, t.card_reveal.c.token_digest == digest)


async def _one(tx: Tx, condition: Any, *, lock: bool = False) -> Reveal | None:
    asked = select(*_COLUMNS).where(condition)
    row = (await tx.run(asked.with_for_update() if lock else asked)).mappings().one_or_none()
    if row is None or not await signed_rows.is_ours(tx, DETAILS_LINK, row["request_id"], row):
        return None
    return Reveal(**row)


async def make_link(tx: Tx, request_id: str, digest: str, expires_at: datetime) -> Reveal | None:
    """Put a new link in the place of the last; None when none may be made any more."""
    r = t.card_reveal.c
    mine = update(t.card_reveal).where(
        r.request_id == request_id, r.state.in_(_ALIVE), r.valid_until > tx.now
    )
    made = {
        "token_digest": digest,
        "expires_at": expires_at,
        "spent_at": None,
        "links": columns.one_more(r.links),
    }
    return await _changed(tx, request_id, mine.values(**made))


async def spend(tx: Tx, digest: str) -> Reveal | None:
    """Use the link up; None for whoever comes second, too late, or with another token."""
    r = t.card_reveal.c
    mine = update(t.card_reveal).where(
        r.token_digest == digest, r.spent_at.is_(None), r.expires_at > tx.now, r.state.in_(_ALIVE)
    )
    return await _changed(tx, await _of_digest(tx, digest), mine.values(spent_at=tx.now))


async def mark_sent(tx: Tx, request_id: str) -> Reveal | None:
    """A link reached the person; None when that was known, or it has been opened already."""
    r = t.card_reveal.c
    mine = update(t.card_reveal).where(r.request_id == request_id, r.state.in_(_ALIVE))
    return await _changed(tx, request_id, mine.values(state="sent"))


async def mark_opened(tx: Tx, digest: str) -> Reveal | None:
    """Details are given for this spent link; None when a newer link took its place meanwhile."""
    r = t.card_reveal.c
    mine = update(t.card_reveal).where(r.token_digest == digest, r.state.in_(_ALIVE))
    opened = mine.where(r.spent_at.is_not(None)).values(state="opened")
    return await _changed(tx, await _of_digest(tx, digest), opened)


async def expired(tx: Tx, before: datetime) -> list[str]:
    """Requests whose approval ended before this without details given."""
    return list((await tx.run(_EXPIRED, {"before": before})).scalars())


async def end(tx: Tx, request_id: str) -> Reveal | None:
    """No link of it works any more; None when it had ended."""
    r = t.card_reveal.c
    mine = update(t.card_reveal).where(r.request_id == request_id, r.state.in_(_ALIVE))
    return await _changed(tx, request_id, mine.values(state="over"))


async def _of_digest(tx: Tx, digest: str) -> str | None:
    asked = select(t.card_reveal.c.request_id).where(t.card_reveal.c.token_digest == digest)
    return (await tx.run(asked)).scalar_one_or_none()


async def _changed(tx: Tx, request_id: str | None, statement: Update) -> Reveal | None:
    """Nothing is changed of a row that is not as we left it."""
    if request_id is None or await _one(tx, t.card_reveal.c.request_id == request_id, lock=True) is None:
        return None
    row = (await tx.run(statement.returning(*_COLUMNS))).one_or_none()
    if row is None:
        return None
    await signed_rows.sign(tx, DETAILS_LINK, request_id)
    return Reveal(**row._mapping)
