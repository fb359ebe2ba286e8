"""The card directory: a copy of what the API listed, so that people can name a card at once."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any

from sqlalchemy import ColumnElement, Row, bindparam, case, func, or_, select, update

from bot.domain.cards import DELETED, CardEntry, NamedBy, label
from storage import tables as t
from storage.transaction import Tx
from storage.upsert import upsert

_COLUMNS = tuple(t.card.c[name] for name in CardEntry.__slots__)


async def put_many(
    tx: Tx, program: str, cards: Iterable[CardEntry], *, read_at: datetime | None = None
) -> set[str]:
    """Add or refresh cards, by a reading that began at `read_at`, None = just now. A card without a balance keeps
    the one read before.

    Returns the ids of those that a later reading has shown already: they are left as they are.
    """
    cards = list(cards)
    shown_since = set() if read_at is None else await _seen_after(tx, [card.id for card in cards], read_at)
    rows = [
        {
            "id": entry.id,
            "program": program,
            "holder": entry.holder,
            "holder_key": holder_key(entry.holder),
            "last4": entry.last4,
            "partner_ref": entry.partner_ref,
            "status": entry.status,
            "created_at": entry.created_at,
            "balance_usd": entry.balance_usd,
            "balance_at": entry.balance_at,
            "seen_at": read_at or tx.now,
            "gone_at": None,
        }
        for entry in cards
        if entry.id not in shown_since
    ]
    await upsert(tx, t.card, rows, key=("id",), keep=("balance_usd", "balance_at", "created_at"))
    return shown_since


async def _seen_after(tx: Tx, ids: Collection[str], moment: datetime) -> set[str]:
    """Those of a time that is still to come are of a clock that has stepped back since: they do not count."""
    c = t.card.c
    asked = select(c.id).where(c.seen_at > moment, c.seen_at <= tx.now)
    return {row.id for row in await tx.run_among(asked, c.id, ids)}


async def get(tx: Tx, card_id: str) -> CardEntry | None:
    row = (await tx.run(select(*_COLUMNS).where(t.card.c.id == card_id))).one_or_none()
    return None if row is None else _entry(row)


async def match(tx: Tx, text: str, by: NamedBy | None = None) -> list[CardEntry]:
    """All the cards that a person may mean by `text`, by holder name. More than one is for them to settle.

    Each card whose id (case-sensitive), last four digits or partner_ref it is, and each whose holder has this
    whole name or, where nobody has, words that begin so, in any order. `by` = by this alone, such as the
    reference. Closed cards are named by their id, or when no open card fits.
    """
    text = text.strip()
    if not text:
        return []
    found = await _match(tx, text, by, _is_open())
    closed = await get(tx, text) if by in (None, NamedBy.ID) else None
    if closed is not None and closed not in found:
        found.append(closed)
    return found or await _match(tx, text, by, ~_is_open())


async def _match(tx: Tx, text: str, by: NamedBy | None, among: ColumnElement[bool]) -> list[CardEntry]:
    c, key = t.card.c, holder_key(text)
    exact = {
        NamedBy.LAST4: c.last4 == text.lstrip("•*"),
        NamedBy.REFERENCE: c.partner_ref == text,
        NamedBy.ID: c.id == text,
        NamedBy.HOLDER: c.holder_key == key,
    }
    found = await _all(tx, or_(*exact.values()) if by is None else exact[by], among)
    whole_name = any(holder_key(entry.holder) == key for entry in found)
    if by in (None, NamedBy.HOLDER) and not whole_name:
        found += [entry for entry in await _beginning(tx, key.split(), among) if entry not in found]
    return found


async def _beginning(tx: Tx, words: list[str], among: ColumnElement[bool]) -> list[CardEntry]:
    """Cards of whose holder's words each of these begins another one."""
    if not words:
        return []
    # The first word narrows it in the database; the rest is decided word by word here.
    some = await _all(tx, t.card.c.holder_key.contains(words[0], autoescape=True), among)
    return [entry for entry in some if _begins_words(words, holder_key(entry.holder).split())]


def _begins_words(typed: list[str], name: list[str]) -> bool:
    """Does every typed word begin a word of the name, each another one?"""
    left = list(name)
    for word in sorted(typed, key=len, reverse=True):
        hit = next((candidate for candidate in left if candidate.startswith(word)), None)
        if hit is None:
            return False
        left.remove(hit)
    return True


async def find(tx: Tx, text: str, *, limit: int) -> list[CardEntry]:
    """At most `limit` open cards of which every word of `text` says something; with no word, the first by holder.

    A word is the beginning of a name or of the last four digits, a part of the reference, the beginning of the status,
    or the whole id. Those whose last four or reference is just this text come first, then by holder.
    """
    wanted = [_is_said_by(word) for word in text.split()]
    c, whole = t.card.c, text.strip()
    first = case((or_(c.last4 == whole.lstrip("•*"), func.lower(c.partner_ref) == whole.lower()), 0), else_=1)
    asked = select(*_COLUMNS).where(_is_open(), *wanted).order_by(first, c.holder_key, c.last4, c.id)
    return [_entry(row) for row in (await tx.run(asked.limit(limit))).all()]


def _is_said_by(word: str) -> ColumnElement[bool]:
    """Is this word a part of what people call the card?"""
    c, key, digits = t.card.c, holder_key(word), word.lstrip("•*")
    says = [
        c.holder_key.startswith(key, autoescape=True),
        c.holder_key.contains(f" {key}", autoescape=True),
        c.holder_key.contains(f"-{key}", autoescape=True),
        func.lower(c.partner_ref).contains(word.lower(), autoescape=True),
        func.lower(c.status).startswith(word.lower(), autoescape=True),
        c.id == word,
    ]
    return or_(*says, c.last4.startswith(digits)) if digits.isascii() and digits.isdigit() else or_(*says)


def holder_key(name: str) -> str:
    """A name as it is compared: no accents, no case, single spaces."""
    plain = unicodedata.normalize("NFKD", name)
    return " ".join("".join(char for char in plain if not unicodedata.combining(char)).casefold().split())


async def labels(tx: Tx, card_ids: Collection[str]) -> dict[str, str]:
    """`ALICE MOREAU ••4242` by card id, closed cards too; ids the directory does not know are missing."""
    c = t.card.c
    rows = await tx.run_among(select(c.id, c.holder, c.last4), c.id, card_ids)
    return {row.id: label(row.holder, row.last4) for row in rows}


async def all(  # noqa: A001  read as `cards.all`
    tx: Tx, *, status: str | None = None, program: str | None = None, limit: int = 50, offset: int = 0
) -> list[CardEntry]:
    """Cards by holder name; closed ones only when `status` asks for them."""
    asked = select(*_COLUMNS).where(*_wanted(status, program)).order_by(t.card.c.holder_key, t.card.c.id)
    return [_entry(row) for row in (await tx.run(asked.limit(limit).offset(offset))).all()]


async def count(tx: Tx, *, status: str | None = None, program: str | None = None) -> int:
    asked = select(func.count()).select_from(t.card).where(*_wanted(status, program))
    return int((await tx.run(asked)).scalar_one())


async def seen_at(tx: Tx, card_id: str) -> datetime | None:
    """When the card was last read from the API; None for one that never was."""
    return (await tx.run(select(t.card.c.seen_at).where(t.card.c.id == card_id))).scalar_one_or_none()


async def reading_mark(tx: Tx) -> tuple[int, datetime | None]:
    """How many cards there are and when one was last read: the same as long as no name or number changed."""
    seen_at = (await tx.run(select(func.max(t.card.c.seen_at)))).scalar_one()
    return int((await tx.run(select(func.count()).select_from(t.card))).scalar_one()), seen_at


async def synced_at(tx: Tx, program: str) -> datetime | None:
    """When the program's directory was last read whole."""
    asked = select(t.card_sync.c.synced_at).where(t.card_sync.c.program == program)
    return (await tx.run(asked)).scalar_one_or_none()


async def mark_synced(tx: Tx, program: str, count: int) -> None:
    row = {"program": program, "synced_at": tx.now, "count": count}
    await upsert(tx, t.card_sync, [row], key=("program",))


async def mark_gone(tx: Tx, program: str, *, seen_before: datetime) -> list[str]:
    """After a whole listing begun at `seen_before`: cards it did not show are closed. Returns their ids."""
    c = t.card.c
    missing = (c.program == program, c.seen_at < seen_before, c.gone_at.is_(None))
    changed = update(t.card).where(*missing).values(gone_at=tx.now).returning(c.id)
    return sorted((await tx.run(changed)).scalars())


async def gone_after(tx: Tx, program: str, at: datetime) -> list[CardEntry]:
    """Cards that a whole listing since then no longer showed."""
    return await _all(tx, t.card.c.program == program, t.card.c.gone_at > at)


async def set_status(tx: Tx, card_id: str, status: str) -> None:
    await tx.run(update(t.card).where(t.card.c.id == card_id).values(status=status))


async def set_balances(tx: Tx, read: Sequence[tuple[str, Decimal, datetime]]) -> None:
    """Many balances with the time each was read at; cards the directory does not know are left out.

    A balance that was read later stays: what is given here may be some minutes old.
    """
    if not read:
        return
    c = t.card.c
    is_newer = or_(c.balance_at.is_(None), c.balance_at <= bindparam("balance_at"))
    changed = update(t.card).where(c.id == bindparam("card"), is_newer)
    rows = [
        {"card": card_id, "balance_usd": balance_usd, "balance_at": at} for card_id, balance_usd, at in read
    ]
    await tx.run(
        changed.values(balance_usd=bindparam("balance_usd"), balance_at=bindparam("balance_at")), rows
    )


def _is_open() -> ColumnElement[bool]:
    c = t.card.c
    return c.gone_at.is_(None) & or_(c.status.is_(None), c.status != DELETED)


def _wanted(status: str | None, program: str | None) -> list[ColumnElement[bool]]:
    wanted = [_is_open()] if status != DELETED else [~_is_open()]
    if status is not None and status != DELETED:
        wanted.append(t.card.c.status == status)
    if program is not None:
        wanted.append(t.card.c.program == program)
    return wanted


async def _all(tx: Tx, *wanted: ColumnElement[bool]) -> list[CardEntry]:
    asked = select(*_COLUMNS).where(*wanted).order_by(t.card.c.holder_key, t.card.c.id)
    return [_entry(row) for row in (await tx.run(asked)).all()]


def _entry(row: Row[Any]) -> CardEntry:
    return CardEntry(**row._mapping)
