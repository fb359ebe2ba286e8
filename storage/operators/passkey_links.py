"""One-time links to the page for passkeys: opened once, then the page's own secret is used once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Update, delete, insert, select, update

from storage import tables as t
from storage.transaction import Tx

_L = t.passkey_link.c
# Kept a little, so that a link that is used too late is refused with the right sentence.
_KEPT_FOR = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class PasskeyLink:
    """Whose link it is and what for. `view_id`: the Slack window that waits for it, empty for none."""

    token_digest: str
    slack_id: str
    purpose: str
    subject: str
    version: int
    digest: str
    nonce: str
    terms: Mapping[str, Any]
    view_id: str
    made_at: datetime
    expires_at: datetime
    page_digest: str | None = None
    spent_at: datetime | None = None


_COLUMNS = tuple(_L[name] for name in PasskeyLink.__slots__)


async def make(tx: Tx, link: PasskeyLink) -> None:
    """Keep a new link, and forget those that are long over."""
    await tx.run(delete(t.passkey_link).where(_L.expires_at < tx.now - _KEPT_FOR))
    await tx.run(insert(t.passkey_link).values({name: getattr(link, name) for name in PasskeyLink.__slots__}))


async def of_token(tx: Tx, digest: str) -> PasskeyLink | None:
    return await _one(tx, _L.token_digest == digest)


async def of_page(tx: Tx, digest: str) -> PasskeyLink | None:
    return await _one(tx, _L.page_digest == digest)


async def _one(tx: Tx, condition: Any) -> PasskeyLink | None:
    row = (await tx.run(select(*_COLUMNS).where(condition))).one_or_none()
    return None if row is None else PasskeyLink(**row._mapping)


async def open_page(
    tx: Tx, token_digest: str, page_digest: str, terms: Mapping[str, Any]
) -> PasskeyLink | None:
    """The link becomes a page, with these terms; None for whoever comes second, or too late."""
    mine = update(t.passkey_link).where(
        _L.token_digest == token_digest, _L.page_digest.is_(None), _L.expires_at > tx.now
    )
    return await _changed(tx, mine.values(page_digest=page_digest, terms=dict(terms)))


async def spend(tx: Tx, page_digest: str) -> PasskeyLink | None:
    """Use the page up, whatever comes of it; None for whoever comes second, or too late."""
    mine = update(t.passkey_link).where(
        _L.page_digest == page_digest, _L.spent_at.is_(None), _L.expires_at > tx.now
    )
    return await _changed(tx, mine.values(spent_at=tx.now))


async def _changed(tx: Tx, statement: Update) -> PasskeyLink | None:
    row = (await tx.run(statement.returning(*_COLUMNS))).one_or_none()
    return None if row is None else PasskeyLink(**row._mapping)
