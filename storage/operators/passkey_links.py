"""One-time links to the page for passkeys: opened once, then the page's own secret is used once.

Each row is under a MAC: whoever can write to the database has no page of anybody else, and adds no device for them.
That a link or a page was used is on record, too: a row of before that is put back opens nothing again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import delete, insert, select, update

from storage import audit
from storage import tables as t
from storage.columns import json_text
from storage.errors import EndOfLogLost, LogNotWhole
from storage.log_record import PAGE_OPENED, PAGE_USED, on_record
from storage.protection import signed_rows
from storage.transaction import Tx
from storage.vault import length_prefixed

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
_PURPOSE = "passkey_link"


def _bytes(tx: Tx, link: PasskeyLink) -> bytes:
    return length_prefixed(tx.vault.instance.encode(), json_text(asdict(link)).encode())


async def make(tx: Tx, link: PasskeyLink) -> None:
    """Keep a new link, and forget those that are long over."""
    await tx.run(delete(t.passkey_link).where(_L.expires_at < tx.now - _KEPT_FOR))
    mac = tx.vault.mac(_PURPOSE, _bytes(tx, link))
    await tx.run(insert(t.passkey_link).values({**asdict(link), "mac": mac}))


async def of_token(tx: Tx, digest: str) -> PasskeyLink | None:
    return await _one(tx, _L.token_digest == digest)


async def of_page(tx: Tx, digest: str) -> PasskeyLink | None:
    return await _one(tx, _L.page_digest == digest)


async def _one(tx: Tx, condition: Any) -> PasskeyLink | None:
    asked = select(*_COLUMNS, _L.mac).where(condition)
    try:
        row = (await tx.run(asked.with_for_update() if tx.writes else asked)).one_or_none()
    except signed_rows.UNREADABLE:
        return None
    if row is None:
        return None
    link = PasskeyLink(**{name: row._mapping[name] for name in PasskeyLink.__slots__})
    return link if tx.vault.check_mac(_PURPOSE, _bytes(tx, link), row.mac or "") else None


async def open_page(
    tx: Tx, token_digest: str, page_digest: str, terms: Mapping[str, Any]
) -> PasskeyLink | None:
    """The link becomes a page, with these terms; None for whoever comes second, or too late."""
    found = await of_token(tx, token_digest)
    if found is None or found.page_digest is not None or found.expires_at <= tx.now:
        return None
    if await is_used(tx, found, PAGE_OPENED):
        return None
    return await _write(tx, replace(found, page_digest=page_digest, terms=dict(terms)))


async def spend(tx: Tx, page_digest: str) -> PasskeyLink | None:
    """Use the page up, whatever comes of it; None for whoever comes second, or too late."""
    found = await of_page(tx, page_digest)
    if found is None or found.spent_at is not None or found.expires_at <= tx.now:
        return None
    if await is_used(tx, found, PAGE_USED):
        return None
    return await _write(tx, replace(found, spent_at=tx.now))


async def is_used(tx: Tx, link: PasskeyLink, how: str) -> bool:
    """Was it opened (`PAGE_OPENED`), or its page answered (`PAGE_USED`)? By its row, and by the audit log: where that
    alone says so, somebody put the row of before back, and people are notified. Raises `LogNotWhole`, `EndOfLogLost`.
    """
    by_row = link.page_digest if how == PAGE_OPENED else link.spent_at
    if by_row is not None:
        return True
    try:
        used = (await on_record.of(tx)).used
    except LogNotWhole:
        if await audit.head_is_lost(tx):
            raise EndOfLogLost("was taken out or set back") from None
        raise
    if (how, link.nonce) not in used:
        return False
    tx.chain.rows_met.add(t.passkey_link.name)
    return True


async def _write(tx: Tx, link: PasskeyLink) -> PasskeyLink:
    """Of a row that this transaction holds."""
    changed = {"page_digest": link.page_digest, "terms": dict(link.terms), "spent_at": link.spent_at}
    mac = tx.vault.mac(_PURPOSE, _bytes(tx, link))
    await tx.run(
        update(t.passkey_link).where(_L.token_digest == link.token_digest).values(**changed, mac=mac)
    )
    return link
