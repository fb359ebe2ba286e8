"""Whether a card shall come back: words that make it final and words that mean a while, also with one slip of the pen.

`deactivate it for ever` closes a card, `deactivate it` stops it. One letter decides between the two, so a word that is
only nearly one of these counts as it, and the writer is asked which of the two they want.
"""

from __future__ import annotations

import itertools
import re
from typing import Final

_FINAL: Final = ("forgood", "forever", "foralways", "permanently", "permanent", "definitively")
_A_WHILE: Final = ("temporarily", "temporary", "meanwhile")
#: Words of their own, one letter away from a final one.
_OTHERS: Final = frozenset(
    {
        *(
            "forfood",
            "forwood",
            "forgold",
            "forhood",
            "formood",
            "forgod",
            "forgoods",
            "forevery",
            "fornever",
        ),
        *("forover", "contemporary"),
    }
)
_WORD: Final = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")
#: What is gone for good is no reason to close anything.
_GONE: Final = re.compile(
    r"\b(?:gone|lost|missing|out|away|broken|over|up|dead|left|moved|back)\s+"
    r"(?:for (?:good|ever|always)|forever|permanently)\b"
)
_SHORTEST: Final = 5


def is_for_good(text: str) -> bool:
    """Does a masked text say that something never comes back?"""
    return _holds_nearly(_GONE.sub(" ", text), _FINAL)


def is_for_a_while(text: str) -> bool:
    """Does a masked text say, in one word, that it does?"""
    return _holds_nearly(text, _A_WHILE)


def _holds_nearly(text: str, phrases: tuple[str, ...]) -> bool:
    """Is a word of the text, or two neighbours written as one, at most a slip away from a phrase?"""
    from rapidfuzz.distance import OSA

    words = _WORD.findall(text)
    pairs = [one + other for one, other in itertools.pairwise(words)]
    return any(
        one not in _OTHERS
        and any(
            abs(len(one) - len(phrase)) < 2 and OSA.distance(one, phrase, score_cutoff=1) <= 1
            for phrase in phrases
        )
        for one in (*words, *pairs)
        if len(one) >= _SHORTEST
    )


__all__ = ["is_for_a_while", "is_for_good"]
