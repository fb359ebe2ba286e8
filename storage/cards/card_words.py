"""What people may begin to type for a card, in a table of its own: found by an index, whatever the number of cards.

    moreau, berg-stein, stein    words of the holder's name, and what follows a hyphen in them
    #emp-0042, #0042, #42        the reference, and what follows a separator, letters or zeros in it
    •4242                        the last four digits

Names are kept as `holder_key` compares them, references in small letters. The words of a card are written by
`cards.put_many`, with the card itself.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping

from sqlalchemy import ColumnElement, Select, and_, bindparam, delete, func, or_, select

from storage import tables as t
from storage.transaction import Tx, one_of
from storage.upsert import insert_all_new

REFERENCE, LAST4 = "#", "•"
_AFTER_ALL = "\U0010ffff"  # no text goes on with a later letter
# Where people begin to type a reference; of a longer one only its first parts are found.
_PART = re.compile(r"(?<=[^0-9a-z])(?=[0-9a-z])|(?<=[a-z])(?=[0-9])|(?<=[0-9])(?=[a-z])|(?<=0)(?=[1-9])")
_MOST_PARTS = 12

_W = t.card_word.c
_KEPT = one_of(select(_W.card_id, _W.word), _W.card_id)


def holder_key(name: str) -> str:
    """A name as it is compared: no accents, no case, single spaces."""
    plain = unicodedata.normalize("NFKD", name)
    return " ".join("".join(char for char in plain if not unicodedata.combining(char)).casefold().split())


def words_of(holder: str, last4: str | None, partner_ref: str | None) -> frozenset[str]:
    """Every beginning under which a card is looked for."""
    found = set[str]()
    for word in holder_key(holder).split():
        found.add(word)
        found |= {word[cut.end() :] for cut in re.finditer("-", word)}
        found |= set(word.split("-"))  # whole, for whoever mistypes one
    for piece in (partner_ref or "").lower().split():
        starts = [0, *(cut.start() for cut in _PART.finditer(piece))]
        found |= {REFERENCE + piece[start:] for start in starts[:_MOST_PARTS]}
    if last4:
        found.add(LAST4 + last4)
    return frozenset(found - {""})


async def keep(tx: Tx, wanted: Mapping[str, frozenset[str]]) -> None:
    """Make these the words of these cards, by card id. Their rows are written before, and held until the end: so two
    who write one card do so one after the other."""
    kept: dict[str, set[str]] = {card_id: set() for card_id in wanted}
    for row in await tx.run_among(_KEPT, wanted):
        kept[row.card_id].add(row.word)
    over = [{"card": i, "gone": w} for i in sorted(wanted) for w in sorted(kept[i] - wanted[i])]
    fresh = [{"card_id": i, "word": w} for i in sorted(wanted) for w in sorted(wanted[i] - kept[i])]
    if over:
        await tx.run(_DROPPED, over)
    await insert_all_new(tx, t.card_word, fresh)


_DROPPED = delete(t.card_word).where(_W.card_id == bindparam("card"), _W.word == bindparam("gone"))


def beginnings(word: str) -> tuple[str, ...]:
    """What the words of a card begin with for which somebody types `word`; nothing where it says nothing."""
    digits = word.lstrip("•*")
    found = [holder_key(word), REFERENCE + word.lower()]
    if digits.isascii() and digits.isdigit():
        found.append(LAST4 + digits)
    return tuple(one for one in found if one)


def begins(beginning: str, word: ColumnElement[str] = _W.word) -> ColumnElement[bool]:
    """As a range: `LIKE` with a value that is not known yet finds no index."""
    return and_(word >= beginning, word < beginning + _AFTER_ALL)


def of_card(beginnings: Iterable[str]) -> ColumnElement[bool]:
    """Has the card of the row a word that begins with one of these?"""
    one = t.card_word.alias()
    mine = [begins(beginning, one.c.word) for beginning in beginnings]
    return select(one.c.card_id).where(one.c.card_id == t.card.c.id, or_(*mine)).exists()


async def how_many(tx: Tx, beginnings: Iterable[str], *, most: int) -> int:
    """How many words begin with one of these, counted up to `most`."""
    found = 0
    for beginning in beginnings:
        some = select(_W.card_id).where(begins(beginning)).order_by(_W.word).limit(most - found).subquery()
        found += int((await tx.run(select(func.count()).select_from(some))).scalar_one())
        if found >= most:
            return most
    return found


async def names_beginning(tx: Tx, beginning: str) -> list[str]:
    """The words of holders' names that begin so, each once, in order: one step for each, not for each card."""
    return list((await tx.run(_each_once(beginning))).scalars())


def _each_once(beginning: str) -> Select[tuple[str]]:
    first = select(func.min(_W.word).label("word")).where(begins(beginning)).cte("each_word", recursive=True)
    later = select(func.min(_W.word)).where(_W.word > first.c.word, _W.word < beginning + _AFTER_ALL)
    steps = first.union_all(select(later.scalar_subquery()).where(first.c.word.is_not(None)))
    return select(steps.c.word).where(steps.c.word.is_not(None))
