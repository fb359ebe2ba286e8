"""A text as the ranker sees it: words, pairs of words and pieces of words, each in one of a fixed number of buckets.

Names, amounts, hashes and dates are masked: what counts is what is said about them. The pieces of words carry slips
of the pen. The same features are made for training and for reading.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Final
from zlib import crc32

from bot.domain.late_patterns import late

BUCKETS: Final = 1 << 15
#: A long message says what it wants within this many words; more would only take time.
MOST_WORDS: Final = 70
MOST_LETTERS: Final = 30
_SIGN: Final = late(r"§([a-z])\d+§")
_TOKEN: Final = late(r"<\w>|[^\W\d_]+(?:'[^\W\d_]+)*|[?!:=>/□■]")
_PIECES: Final = (3, 4, 5)


def features_of(masked: str) -> tuple[int, ...]:
    """The buckets of a masked text in lower case (`top up §c1§ by §a2§`), each once, in ascending order."""
    tokens = _TOKEN.findall(_SIGN.sub(r" <\1> ", masked.replace("\n", " / ")))[:MOST_WORDS]
    return tuple(sorted({crc32(name.encode()) % BUCKETS for name in _names(tokens)}))


def _names(tokens: list[str]) -> Iterator[str]:
    if not tokens:
        return
    yield "" if len(tokens) > 6 else f"few {len(tokens)}"
    yield f"^{tokens[0]}"
    yield f"^{' '.join(tokens[:2])}"
    yield f"{tokens[-1]}$"
    for token in tokens:
        yield f"w {token}"
        if token.startswith("<") or len(token) < 3:
            continue
        padded = f"_{token[:MOST_LETTERS]}_"
        for size in _PIECES:
            yield from (f"p {padded[at : at + size]}" for at in range(len(padded) - size + 1))
    for first, second in pairwise(tokens):
        yield f"b {first} {second}"
    for first, second in zip(tokens, tokens[2:], strict=False):
        yield f"s {first} {second}"
    for three in zip(tokens, tokens[1:], tokens[2:], strict=False):
        yield f"t {' '.join(three)}"
