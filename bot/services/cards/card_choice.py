"""Choosing a card in a form: what is offered while somebody types, and the card that a form opens with.

Both read the directory alone, so that they answer while the API does not.
"""

from __future__ import annotations

from dataclasses import dataclass

from bot import intents
from bot.domain.cards import CardEntry
from bot.intents import KnownCard
from bot.operations import refuse_card_number
from bot.services import people
from bot.services.core import Core
from storage.cards import card_words, cards
from storage.transaction import Tx

# What may stand around a word.
_MARKS = ".,;:!?\"'()“”‘’"
OFFERED = 100  # the most options that Slack takes
_NAMED = 5  # candidates in one sentence
_SHOWN = 60  # characters of what was typed


@dataclass(frozen=True, slots=True)
class Chosen:
    """What a form's Card opens with. Where that is no card, `note` says why, in one or two sentences."""

    card: CardEntry | None
    note: str = ""


async def offered(core: Core, slack_id: str, text: str) -> list[CardEntry]:
    """The open cards that `text` may mean, at most `OFFERED`; where it fits none, those with a name like it.

    Raises NotAllowed for those who may look nothing up.
    """
    await people.require_known_member(core, slack_id, action="card.choose")
    async with core.store.read() as tx:
        return await cards.find(tx, text, limit=OFFERED) or await _named_like(tx, text)


async def chosen(core: Core, text: str) -> Chosen:
    """The card that was named by `text` (last four, reference, name or id) before the form was opened."""
    try:
        refuse_card_number(text)
    except ValueError as refusal:
        return Chosen(None, str(refusal))
    async with core.store.read() as tx:
        found = await cards.match(tx, text)
        near = [] if found else await _named_like(tx, text)
    if len(found) == 1:
        return Chosen(found[0])
    written = text[:_SHOWN]
    if found:
        return Chosen(
            None, f"“{written}” fits {how_many(found)}: {_candidates(found)}. Choose one under Card."
        )
    if near:
        return Chosen(
            None, f"No card matches “{written}”. Did you mean {_candidates(near)}? Choose it under Card."
        )
    return Chosen(
        None, f"No card matches “{written}”. Under Card, type a name, the last four digits or a reference."
    )


async def why_none(tx: Tx, text: str) -> str:
    """Why no card is shown for `text`, which names none; with those whose names are nearly it."""
    written = text[:_SHOWN]
    near = await _named_like(tx, text)
    if near:
        return f"No card matches “{written}”. Did you mean {_candidates(near)}?"
    return (
        f"No card matches “{written}”. Name it by last four digits, name, reference or id."
        " `/card list` shows them all."
    )


async def named_first(core: Core, text: str) -> str:
    """The longest beginning of `text`, in whole words, that names a card; all of it where none does."""
    words = text.split()
    async with core.store.read() as tx:
        for count in range(len(words), 0, -1):
            named = " ".join(words[:count])
            if await cards.match(tx, named):
                return named
    return text


async def exact_card_and_rest(core: Core, text: str) -> tuple[str, str]:
    """`6994 lost wallet` as the card and what follows it; all of it as the card where that is not certain.

    Certain is a first word that is the last four digits, the reference or the id of one card, and of no other.
    """
    first, _, rest = text.partition(" ")
    try:
        refuse_card_number(text)
    except ValueError:
        return text, ""
    async with core.store.read() as tx:
        if await cards.match(tx, text):
            return text, ""
        found = await cards.match(tx, first)
    names = {name for entry in found for name in (entry.last4, entry.partner_ref, entry.id)}
    is_certain = len(found) == 1 and first.lstrip("•*") in names
    return (first, rest.strip()) if is_certain else (text, "")


async def example(core: Core) -> CardEntry | None:
    """An active card that its last four digits alone name, for examples; None where there is none."""
    async with core.store.read() as tx:
        for entry in await cards.all(tx, status="ACTIVE", limit=_NAMED):
            if entry.last4 and len(await cards.match(tx, entry.last4)) == 1:
                return entry
    return None


def how_many(found: list[CardEntry]) -> str:
    """`3 cards`; of more than are looked at, `200 cards or more`."""
    return f"{len(found)} cards or more" if len(found) >= cards.MOST_MEANT else f"{len(found)} cards"


def _candidates(found: list[CardEntry]) -> str:
    more = [f"{len(found) - _NAMED} more"] if len(found) > _NAMED else []
    return "; ".join([*map(_candidate, found[:_NAMED]), *more])


def _candidate(entry: CardEntry) -> str:
    """`ALICE MOREAU ••4242 (reference TEAM-7)`."""
    return f"{entry.label} (reference {entry.partner_ref})" if entry.partner_ref else entry.label


async def _named_like(tx: Tx, text: str) -> list[CardEntry]:
    """Cards of which a word of `text` is nearly a name, one slip away from it."""
    known: dict[str, CardEntry] = {}
    for word in text.split():
        typed = card_words.holder_key(word).strip(_MARKS)
        if any(char.isalpha() for char in typed):
            # By the first letter, which is never the one mistyped: names are some thousands, whatever the fleet.
            near = intents.names_spelled_nearly(typed, await card_words.names_beginning(tx, typed[0]))
            known |= {e.id: e for name in near for e in await cards.with_name_word(tx, name, limit=OFFERED)}
    if not known:
        return []
    names = intents.Directory(
        [KnownCard(last4=e.last4 or "", holder=e.holder, id=e.id) for e in known.values()]
    )
    near = [card.id for _, meant in intents.find_misspelt_names(text, names) for card in meant]
    return [known[card_id] for card_id in dict.fromkeys(near)][:OFFERED]
