"""Numbers in words: `eighty`, `three hundred and ten`, `a thousand`."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Final

_UNITS: Final = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
    "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)  # fmt: skip
_TENS: Final = (
    "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety",
)  # fmt: skip
SMALL: Final = {
    **{word: number for number, word in enumerate(_UNITS)},
    **{word: 20 + 10 * number for number, word in enumerate(_TENS)},
}
_BIG: Final = {"hundred": 100, "thousand": 1000, "grand": 1000}
_UNREAD: Final = ("half", "couple", "few", "dozen", "million", "billion", "hundreds", "thousands")
NUMBER_WORDS: Final = "|".join(
    [*sorted(SMALL, key=len, reverse=True), *sorted(_UNREAD, key=len, reverse=True), *_BIG]
)


def read_words(words: str) -> Decimal | None:
    """The number, or None where the words do not make exactly one."""
    tokens = [word for word in re.split(r"[\s-]+", words.lower()) if word != "and"]
    if tokens and tokens[0] == "a":
        tokens[0] = "one"
    total = part = 0
    last = ""
    for word in tokens:
        if word in SMALL:
            if last in SMALL and not (SMALL[last] >= 20 and SMALL[word] < 10 and SMALL[word] > 0):
                return None
            part += SMALL[word]
        elif word == "hundred" and 0 < part < 100:
            part *= 100
        elif word in ("thousand", "grand") and 0 < part < 1000 and total == 0:
            total, part = part * 1000, 0
        else:
            return None
        last = word
    return Decimal(total + part) if tokens else None
