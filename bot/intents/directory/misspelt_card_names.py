"""Catches a card holder's misspelt name: a word one slip (a letter wrong, missing, added or swapped) away from it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bot.intents.directory.card_directory import WORD, Directory, bare_word
from bot.intents.directory.ordinary_words import ORDINARY
from bot.intents.model import KnownCard

_SHORTEST = 4


def find_misspelt_names(text: str, cards: Directory) -> Iterator[tuple[str, Sequence[KnownCard]]]:
    """Each word that is nearly a holder's name, as it was written, and the cards that may be meant."""
    for found in WORD.finditer(text):
        word = bare_word(found[0])
        if word in ORDINARY or found[0].isdigit():
            continue
        near = cards_named_like(word, cards)
        if near:
            yield found[0], near


def cards_named_like(word: str, cards: Directory) -> Sequence[KnownCard]:
    """Cards with a name one slip away from a folded word: same first letter, at least four letters."""
    near = names_spelled_nearly(word, cards.words_spelled_like(word))
    return [card for w in near for card in cards.with_word(w)]


def names_spelled_nearly(word: str, names: Sequence[str]) -> list[str]:
    """Those of the folded `names` that are one slip away from a folded word of at least four letters."""
    if len(word) < _SHORTEST:
        return []
    from rapidfuzz.distance import OSA

    return [name for name in names if name != word and OSA.distance(name, word, score_cutoff=1) <= 1]
