"""The cards as people name them: by last four, reference, full name, or one word of it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache
from typing import Final, TypeVar, overload

from bot.intents.model import KnownCard

K = TypeVar("K")
V = TypeVar("V")

WORD: Final = re.compile(r"[^\W_]+(?:['-][^\W\d_]+)*")
_LETTERS: Final = str.maketrans({"ł": "l", "ø": "o", "đ": "d", "ı": "i", "æ": "ae", "œ": "oe"})


def fold(text: str) -> str:
    """Without case and accents, for comparing names: `Krüger` -> `kruger`."""
    if text.isascii():
        return text.lower()
    lowered = text.lower().translate(_LETTERS).replace("ß", "ss")
    return "".join(c for c in unicodedata.normalize("NFD", lowered) if not unicodedata.combining(c))


def bare_word(word: str) -> str:
    """A folded word without its possessive ending: `Nora's` -> `nora`."""
    return fold(word[:-2] if word.lower().endswith("'s") else word)


def name_words(name: str) -> tuple[str, ...]:
    """The folded words of a name, a possessive ending left out."""
    return tuple(fold(found[0]) for found in WORD.finditer(name))


class Directory(Sequence[KnownCard]):
    """Cards with their indexes, made at first use. Keep one for as long as the cards are the same."""

    def __init__(self, cards: Sequence[KnownCard] = ()) -> None:
        self._cards = tuple(cards)

    @overload
    def __getitem__(self, index: int) -> KnownCard: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[KnownCard]: ...
    def __getitem__(self, index: int | slice) -> KnownCard | Sequence[KnownCard]:
        return self._cards[index]

    def __len__(self) -> int:
        return len(self._cards)

    @classmethod
    def of(cls, cards: Sequence[KnownCard]) -> Directory:
        return cards if isinstance(cards, Directory) else cls(cards)

    @cached_property
    def _by_last4(self) -> dict[str, list[KnownCard]]:
        return _index((card.last4, card) for card in self._cards if card.last4)

    @cached_property
    def _by_ref(self) -> dict[str, list[KnownCard]]:
        return _index((card.partner_ref.lower(), card) for card in self._cards if card.partner_ref)

    @cached_property
    def _by_id(self) -> dict[str, list[KnownCard]]:
        return _index((card.id.lower(), card) for card in self._cards if card.id)

    @cached_property
    def long_refs(self) -> dict[str, set[str]]:
        """The first word -> the references of several words that begin so, all folded to small letters."""
        found: dict[str, set[str]] = {}
        for ref in self._by_ref:
            words = WORD.findall(ref)
            if len(words) > 1 and any(char.isspace() for char in ref):
                found.setdefault(words[0], set()).add(ref)
        return found

    @cached_property
    def _by_word(self) -> dict[str, list[KnownCard]]:
        """Each word of a name, and each part of a word with a hyphen, to its cards."""
        return _index((word, card) for card in self._cards for word in _words(card.holder))

    @cached_property
    def _spelled(self) -> dict[tuple[str, int], list[str]]:
        """First letter and length -> the words of names, for finding misspelt ones."""
        return _index(((word[0], len(word)), word) for word in self._by_word)

    def with_last4(self, last4: str) -> Sequence[KnownCard]:
        return self._by_last4.get(last4, ())

    def with_ref(self, ref: str) -> Sequence[KnownCard]:
        """By partner reference, whatever the case."""
        return self._by_ref.get(ref.lower(), ())

    def with_ref_or_id(self, written: str) -> Sequence[KnownCard]:
        """By partner reference or by card id, whatever the case."""
        return each_once(self.with_ref(written), self._by_id.get(written.lower(), ()))

    def called(self, written: str) -> Sequence[KnownCard]:
        """All cards called exactly this: by last four, reference, id, or words of the holder's name."""
        words = [bare_word(found[0]) for found in WORD.finditer(written)]
        return each_once(self.with_last4(written), self.with_ref_or_id(written), self.with_words(words))

    def long_ref_at(self, text: str, start: int) -> str:
        """The longest reference of several words that stands in `text` from `start` on, as written there; or ""."""
        first = WORD.match(text, start)
        refs = self.long_refs.get(first[0].lower(), ()) if first else ()
        fits = [
            ref
            for ref in refs
            if text[start : start + len(ref)].lower() == ref and not text[start + len(ref) :][:1].isalnum()
        ]
        return text[start : start + max(map(len, fits), default=0)]

    def with_words(self, words: Sequence[str]) -> Sequence[KnownCard]:
        """Cards whose holder's name has all of these folded words."""
        if not words:
            return ()
        rest, known = set(words[1:]), self._by_word.get(words[0], ())
        return [card for card in known if rest <= _words(card.holder)] if rest else known

    def words_spelled_like(self, word: str) -> list[str]:
        """Words of holders' names that begin like `word` and are at most one letter longer or shorter."""
        return [w for n in (-1, 0, 1) for w in self._spelled.get((word[0], len(word) + n), ())]

    @cached_property
    def _by_sound(self) -> dict[str, list[str]]:
        """How a word of a name sounds -> the words that sound so."""
        return _index((_sound_of(word), word) for word in self._by_word if len(word) >= _SHORTEST_SOUND)

    def sounding_like(self, word: str) -> Sequence[KnownCard]:
        """Cards with a name that sounds like this folded word and is written otherwise: `sophia`, `inez`, `thomas`."""
        if len(word) < _SHORTEST_SOUND:
            return ()
        return [card for name in self._by_sound.get(_sound_of(word), ()) for card in self.with_word(name)]

    def with_word(self, word: str) -> Sequence[KnownCard]:
        """Cards whose holder's name has this folded word."""
        return self._by_word.get(word, ())


_SHORTEST_SOUND: Final = 4
_SOUNDS: Final = (
    ("ph", "f"),
    ("th", "t"),
    ("ck", "k"),
    ("z", "s"),
    ("y", "i"),
    ("ie", "i"),
    ("ee", "i"),
    ("ou", "u"),
    ("oo", "u"),
)
_TWICE: Final = re.compile(r"(\w)\1")


@lru_cache(maxsize=4_096)
def _sound_of(word: str) -> str:
    for written, sound in _SOUNDS:
        word = word.replace(written, sound)
    if word.startswith("c") and word[1:2] not in ("e", "i", "h"):
        word = f"k{word[1:]}"
    return _TWICE.sub(r"\1", word).removesuffix("h")


def each_once(*found: Sequence[KnownCard]) -> tuple[KnownCard, ...]:
    """The cards of all of these, in their order, none of them twice."""
    return tuple({id(card): card for cards in found for card in cards}.values())


@lru_cache(maxsize=4_096)
def _words(holder: str) -> set[str]:
    whole = set(name_words(holder))
    return whole | {part for word in whole for part in word.split("-") if len(part) > 1}


def _index(pairs: Iterator[tuple[K, V]]) -> dict[K, list[V]]:
    index: dict[K, list[V]] = {}
    for key, value in pairs:
        index.setdefault(key, []).append(value)
    return index
