"""The card directory: a copy of what the API listed, so that people can name a card at once."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from functools import cache
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Row,
    Select,
    Text,
    Update,
    bindparam,
    case,
    func,
    or_,
    select,
    tuple_,
    update,
)

from bot.domain.cards import DELETED, CardEntry, NamedBy, label
from bot.domain.time import CLOCKS_DIFFER
from storage import tables as t
from storage.cards import card_counts, card_words
from storage.cards.card_words import holder_key
from storage.columns import json_text
from storage.transaction import Tx, one_of
from storage.upsert import upsert
from storage.vault import length_prefixed

_COLUMNS = tuple(t.card.c[name] for name in CardEntry.__slots__)
# What is asked all the time is built once.
_BY_ID = select(*_COLUMNS).where(t.card.c.id == bindparam("id"))
_C = t.card.c
_SEEN_AFTER = one_of(
    select(_C.id).where(_C.seen_at > bindparam("moment"), _C.seen_at <= bindparam("now")), _C.id
)
_SEEN_BY = one_of(select(_C.id).where(_C.seen_at == bindparam("moment")), _C.id)
_LABELS = one_of(select(_C.id, _C.holder, _C.last4), _C.id)
_MARK_GONE = (
    update(t.card)
    .where(_C.program == bindparam("of"), _C.seen_at < bindparam("seen_before"), _C.gone_at.is_(None))
    .values(gone_at=bindparam("now", type_=_C.gone_at.type))
    .returning(_C.id)
)
_GONE_AFTER = (
    select(*_COLUMNS)
    .where(_C.program == bindparam("program"), _C.gone_at > bindparam("at"))
    .order_by(_C.holder_key, _C.id)
)
_SYNCED_AT = select(t.card_sync.c.synced_at).where(t.card_sync.c.program == bindparam("program"))
# A text that fits more cards than these is too short to name one: not all of them are looked at.
MOST_MEANT = 200
_LOOKED_AT = 250
_LABEL = "row_mac"
# Cards in one status that people ask for, which is none of those that are gone.
_ONE_STATUS = "one"


@dataclass(frozen=True, slots=True)
class ListedAfter:
    """A card beside which a page of the list begins: the first after it, or with `back` the last before it."""

    holder_key: str
    card_id: str
    back: bool = False


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
            "mac": tx.vault.mac(_LABEL, _label_bytes(tx, program, entry)),
        }
        for entry in cards
        if entry.id not in shown_since
    ]
    await upsert(tx, t.card, rows, key=("id",), keep=("balance_usd", "balance_at", "created_at"))
    written = [entry for entry in cards if entry.id not in shown_since]
    # Of two entries of one card the last one was written.
    words = {one.id: card_words.words_of(one.holder, one.last4, one.partner_ref) for one in written}
    await card_words.keep(tx, words)
    await card_counts.put_together(tx)
    return shown_since


async def _seen_after(tx: Tx, ids: Collection[str], moment: datetime) -> set[str]:
    """Those of a time that is still to come are of a clock that has stepped back since: they do not count."""
    found = await tx.run_among(_SEEN_AFTER, ids, moment=moment, now=tx.now + CLOCKS_DIFFER)
    return {row.id for row in found}


async def get(tx: Tx, card_id: str) -> CardEntry | None:
    row = (await tx.run(_BY_ID, {"id": card_id})).one_or_none()
    return None if row is None else _entry(row)


async def signed_reference(tx: Tx, card_id: str) -> str | None:
    """The reference of a card; None where the card is not as it was last read from the API."""
    row = (await tx.run(select(*_COLUMNS, t.card.c.mac).where(t.card.c.id == card_id))).one_or_none()
    return row.partner_ref if row is not None and _is_as_read(tx, row) else None


async def are_as_read(tx: Tx) -> bool:
    """Is every card who the API said it is?"""
    rows = (await tx.run(select(*_COLUMNS, t.card.c.mac))).all()
    return not [row.id for row in rows if not _is_as_read(tx, row)]


async def sign_again(tx: Tx) -> None:
    """Sign the cards under the first master key that were signed under another and are as they were read."""
    rows = (await tx.run(select(*_COLUMNS, t.card.c.mac).where(t.card.c.mac.is_not(None)))).all()
    for row in rows:
        if tx.vault.signed_under(row.mac) == tx.vault.primary_kid or not _is_as_read(tx, row):
            continue
        entry = CardEntry(**{name: getattr(row, name) for name in CardEntry.__slots__})
        mac = tx.vault.mac(_LABEL, _label_bytes(tx, entry.program, entry))
        await tx.run(update(t.card).where(t.card.c.id == row.id, t.card.c.mac == row.mac).values(mac=mac))


def _is_as_read(tx: Tx, row: Row[Any]) -> bool:
    entry = CardEntry(**{name: getattr(row, name) for name in CardEntry.__slots__})
    data = _label_bytes(tx, entry.program, entry)
    return row.mac is not None and tx.vault.check_mac(_LABEL, data, row.mac)


def _label_bytes(tx: Tx, program: str, entry: CardEntry) -> bytes:
    """Who the card is: what people know it by, and whose codes it gets."""
    parts = ("card", tx.vault.instance, entry.id, program, entry.holder)
    return length_prefixed(
        *(part.encode() for part in parts), json_text([entry.last4, entry.partner_ref]).encode()
    )


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
    # By id: the card may have been read again between the two statements.
    if closed is not None and closed.id not in {entry.id for entry in found}:
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
        known = {entry.id for entry in found}
        found += [entry for entry in await _beginning(tx, key.split(), among) if entry.id not in known]
    return found


async def _beginning(tx: Tx, words: list[str], among: ColumnElement[bool]) -> list[CardEntry]:
    """Cards of whose holder's words each of these begins another one; `MOST_MEANT` at most."""
    if not words:
        return []
    # The database finds those with all the words; whether each is another one is decided here.
    longest, *others = sorted(words, key=len, reverse=True)
    has_others = [card_words.of_card((word,)) for word in others]
    found = await _of_ids(tx, await _beginning_with(tx, longest, among, *has_others))
    return [entry for entry in found if _begins_words(words, holder_key(entry.holder).split())][:MOST_MEANT]


async def _beginning_with(tx: Tx, beginning: str, *among: ColumnElement[bool]) -> set[str]:
    """Ids of cards with a word that begins so, those with the first such words where there are hundreds."""
    w = t.card_word.c
    asked = (
        select(w.card_id).join(t.card, t.card.c.id == w.card_id).where(card_words.begins(beginning), *among)
    )
    return set((await tx.run(asked.order_by(w.word, w.card_id).limit(_LOOKED_AT))).scalars())


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

    A word is the beginning of a name, of the last four digits, of the reference or a part of it, of the status, or the
    whole id. Those whose last four or reference is just this text come first, then by holder; of a text that fits
    hundreds of cards, those with the first words that begin so.
    """
    words, whole, c = text.split(), text.strip(), t.card.c
    if not words:
        asked = select(*_COLUMNS).where(_is_open()).order_by(c.holder_key, c.last4, c.id)
        return [_entry(row) for row in (await tx.run(asked.limit(limit))).all()]
    statuses = await card_counts.by_status(tx)
    first, *others = await _rarest_first(tx, words, statuses)
    among = [_is_open(), *(_is_said_by(word) for word in others)]
    ids = set((await tx.run(select(c.id).where(c.id == first, *among))).scalars())
    for beginning in card_words.beginnings(first):
        ids |= await _beginning_with(tx, beginning, *among)
    for status in _statuses_beginning(first, statuses):
        has_it = select(c.id).where(c.status == status, *among).order_by(c.holder_key, c.id)
        ids |= set((await tx.run(has_it.limit(limit))).scalars())
    is_it = case((or_(c.last4 == whole.lstrip("•*"), func.lower(c.partner_ref) == whole.lower()), 0), else_=1)
    return (await _of_ids(tx, ids, is_it, c.holder_key, c.last4, c.id))[:limit]


async def _rarest_first(tx: Tx, words: list[str], statuses: Collection[str]) -> list[str]:
    """The words, the one by which the fewest cards are found at the beginning."""
    if len(words) == 1:
        return words
    found = []
    for word in words:
        n = await card_words.how_many(tx, card_words.beginnings(word), most=_LOOKED_AT)
        found.append((_LOOKED_AT if _statuses_beginning(word, statuses) else n, -len(word), word))
    return [word for _, _, word in sorted(found)]


def _statuses_beginning(word: str, statuses: Collection[str]) -> list[str]:
    return sorted(status for status in statuses if status and status.lower().startswith(word.lower()))


def _is_said_by(word: str) -> ColumnElement[bool]:
    """Is this word a part of what people call the card?"""
    c = t.card.c
    has_status = func.lower(c.status).startswith(word.lower(), autoescape=True)
    return or_(card_words.of_card(card_words.beginnings(word)), has_status, c.id == word)


async def with_name_word(tx: Tx, word: str, *, limit: int) -> list[CardEntry]:
    """Open cards with this whole word, compared as `holder_key` does, in the name: some, where many have it."""
    w = t.card_word.c
    some = select(w.card_id).where(w.word == word).order_by(w.card_id).limit(_LOOKED_AT)
    found = await _of_ids(tx, set((await tx.run(some)).scalars()))
    return [entry for entry in found if entry.gone_at is None and entry.status != DELETED][:limit]


async def labels(tx: Tx, card_ids: Collection[str]) -> dict[str, str]:
    """`ALICE MOREAU ••4242` by card id, closed cards too; ids the directory does not know are missing."""
    rows = await tx.run_among(_LABELS, card_ids)
    return {row.id: label(row.holder, row.last4) for row in rows}


async def all(  # noqa: A001  read as `cards.all`
    tx: Tx,
    *,
    status: str | None = None,
    program: str | None = None,
    limit: int = 50,
    skip: int = 0,
    beside: ListedAfter | None = None,
) -> list[CardEntry]:
    """Cards by holder name; closed ones only when `status` asks for them.

    A page begins `beside` the last card of the one before it, whatever came or went meanwhile. What is to `skip` is
    read all the same: skip little.
    """
    given: dict[str, Any] = {"status": status, "program": program, "most": limit, "past": skip}
    is_back = None if beside is None else beside.back
    if beside is not None:
        given |= {"beside_key": beside.holder_key, "beside_id": beside.card_id}
    which = None if status is None else DELETED if status == DELETED else _ONE_STATUS
    asked = _listed(which, of_program=program is not None, is_back=is_back)
    found = [_entry(row) for row in (await tx.run(asked, given)).all()]
    return found[::-1] if is_back else found


@cache
def _listed(which: str | None, *, of_program: bool, is_back: bool | None) -> Select[Any]:
    """`is_back`: see `ListedAfter`; None = from the first card on."""
    order = (_C.holder_key, _C.id)
    wanted = [~_is_open()] if which == DELETED else [_is_open()]
    wanted += [_C.status == bindparam("status")] if which == _ONE_STATUS else []
    wanted += [_C.program == bindparam("program")] if of_program else []
    if is_back is not None:
        place = tuple_(bindparam("beside_key", type_=Text()), bindparam("beside_id", type_=Text()))
        wanted.append(tuple_(*order) < place if is_back else tuple_(*order) > place)
    asked = select(*_COLUMNS).where(*wanted).order_by(*(one.desc() if is_back else one for one in order))
    return asked.limit(bindparam("most")).offset(bindparam("past"))


async def listed_at(tx: Tx, card_id: str, *, back: bool = False) -> ListedAfter | None:
    """The place of a card in the list; None for one that the directory does not know."""
    asked = select(t.card.c.holder_key).where(t.card.c.id == card_id)
    found = (await tx.run(asked)).scalar_one_or_none()
    return None if found is None else ListedAfter(found, card_id, back)


async def count(tx: Tx, *, status: str | None = None) -> int:
    """As it is kept; the closed ones, for which nothing is kept, are counted."""
    if status != DELETED:
        kept = await card_counts.by_status(tx)
        return kept.total() if status is None else kept[status]
    asked = select(func.count()).select_from(t.card).where(~_is_open())
    return int((await tx.run(asked)).scalar_one())


async def seen_at(tx: Tx, card_id: str) -> datetime | None:
    """When the card was last read from the API; None for one that never was."""
    return (await tx.run(select(t.card.c.seen_at).where(t.card.c.id == card_id))).scalar_one_or_none()


async def synced_at(tx: Tx, program: str) -> datetime | None:
    """When the program's directory was last read whole."""
    return (await tx.run(_SYNCED_AT, {"program": program})).scalar_one_or_none()


async def mark_synced(tx: Tx, program: str, count: int) -> None:
    row = {"program": program, "synced_at": tx.now, "count": count}
    await upsert(tx, t.card_sync, [row], key=("program",))
    await card_counts.put_together(tx)


async def seen_by(tx: Tx, card_ids: Collection[str], moment: datetime) -> set[str]:
    """Those of them that are as the reading showed them that began then: no other was kept since."""
    return {row.id for row in await tx.run_among(_SEEN_BY, card_ids, moment=moment)}


async def mark_gone(tx: Tx, program: str, *, seen_before: datetime) -> list[str]:
    """After a whole listing begun at `seen_before`: cards it did not show are closed. Returns their ids."""
    given = {"of": program, "seen_before": seen_before, "now": tx.now}
    return sorted((await tx.run(_MARK_GONE, given)).scalars())


async def gone_after(tx: Tx, program: str, at: datetime) -> list[CardEntry]:
    """Cards that a whole listing since then no longer showed."""
    found = await tx.run(_GONE_AFTER, {"program": program, "at": at})
    return [_entry(row) for row in found.all()]


async def set_status(tx: Tx, card_id: str, status: str) -> None:
    await tx.run(update(t.card).where(t.card.c.id == card_id).values(status=status))


async def set_balances(tx: Tx, read: Sequence[tuple[str, Decimal, datetime]]) -> None:
    """Many balances with the time each was read at; cards the directory does not know are left out.

    A balance that was read later stays: what is given here may be some minutes old.
    """
    if read:
        rows = [{"card": one, "usd": usd, "at": at, "now": tx.now + CLOCKS_DIFFER} for one, usd, at in read]
        await tx.run(_set_balances(), rows)


@cache
def _set_balances() -> Update:
    # One of a time that is still to come is of a clock that has stepped back since.
    is_older = or_(_C.balance_at <= bindparam("at"), _C.balance_at > bindparam("now"))
    is_newer = or_(_C.balance_at.is_(None), is_older)
    changed = update(t.card).where(_C.id == bindparam("card"), is_newer)
    return changed.values(balance_usd=bindparam("usd"), balance_at=bindparam("at"))


def _is_open() -> ColumnElement[bool]:
    c = t.card.c
    return c.gone_at.is_(None) & or_(c.status.is_(None), c.status != DELETED)


async def _of_ids(tx: Tx, ids: Collection[str], *order: Any) -> list[CardEntry]:
    """These cards, by holder or in another order; no more than one statement takes."""
    if not ids:
        return []
    asked = select(*_COLUMNS).where(t.card.c.id.in_(sorted(ids)))
    found = await tx.run(asked.order_by(*(order or (t.card.c.holder_key, t.card.c.id))))
    return [_entry(row) for row in found.all()]


async def _all(tx: Tx, *wanted: ColumnElement[bool]) -> list[CardEntry]:
    asked = select(*_COLUMNS).where(*wanted).order_by(t.card.c.holder_key, t.card.c.id)
    return [_entry(row) for row in (await tx.run(asked)).all()]


def _entry(row: Row[Any]) -> CardEntry:
    return CardEntry(**row._mapping)
