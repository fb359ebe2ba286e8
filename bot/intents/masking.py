"""A text without its values: cards, amounts, dates, names and everything with a digit become the word for their kind.

For texts that nobody understood, which an operator may keep to see what people say. What stays are the words
themselves, in small letters.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final

from bot.domain.late_patterns import late
from bot.intents.directory import ORDINARY, Directory, fold, name_words
from bot.intents.extraction import as_one_line, read_entities
from bot.intents.model import Facts
from bot.intents.plain_text import clean

MOST: Final = 300  # characters kept of a text
_KIND: Final = late(r"§([a-z])\d+§")
_IN_WORDS: Final = {
    "c": "<card>",
    "a": "<amount>",
    "h": "<hash>",
    "y": "<address>",
    "n": "<network>",
    "t": "<phone>",
    "e": "<email>",
    "p": "<date>",
    "l": "<date>",
    "r": "<request>",
    "m": "<person>",
    "k": "<reference>",
    "f": "<other>",
}
_TOKEN: Final = late(r"<[a-z]+>|[^\s<>]+")
_WORD: Final = late(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_BEFORE_STOP: Final = late(r" (?=[,.;:!?](?: |$))")
_ENDS: Final = late(r"[.!?:]$")


def masked(text: str, facts: Facts, names: Collection[str] = ()) -> str:
    """The text with its values masked, at most `MOST` characters; empty where it must not be kept at all.

    `names` are of people who are known though no card has their name. A word with a capital is taken for a name unless
    it begins a sentence and is a word of every day.
    """
    cleaned = clean(text, facts.our_id)
    if cleaned.guarded or cleaned.too_long:
        return ""
    found = read_entities(as_one_line(cleaned.text), facts, Directory.of(facts.cards))
    worded = _KIND.sub(lambda sign: _IN_WORDS.get(sign[1], "<number>"), found.cased)
    known = {word for name in names for word in name_words(name)}
    return _BEFORE_STOP.sub("", " ".join(_tokens(worded, known)))[:MOST]


def _tokens(text: str, known: Collection[str]) -> list[str]:
    tokens: list[str] = []
    begins = True
    for token in _TOKEN.findall(text):
        tokens.append(token if token.startswith("<") else _token(token, known, begins=begins))
        begins = bool(_ENDS.search(token))
    return tokens


def _token(token: str, known: Collection[str], *, begins: bool) -> str:
    """One word with what is glued to it."""
    if re.search(r"\d|@|://|www\.", token):
        return "<number>" if re.search(r"\d", token) else "<address>"

    def word(found: re.Match[str]) -> str:
        plain = fold(found[0])
        bare = re.sub(r"['’]s$", "", plain)
        is_capital = found[0][0].isupper() and found[0] != "I" and not found[0].startswith(("I'", "I’"))
        if bare in known or (is_capital and not (begins and bare in ORDINARY)):
            return "<name>"
        return plain

    return _WORD.sub(word, token)
