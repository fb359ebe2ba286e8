"""Sentences changed so that they no longer say what they said: what must then not open, and what must not turn round.

Each change knows what may follow: after a negation, a quotation or a hidden character nothing may open; after a slip,
a cut or a shuffle at most the form that the sentence itself opens, with the same values.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from bot.intents import Parsed
from tests.support.authors import Said, facts, same

_HIDDEN: Final = "\u200b\u200c\u2060\u202e\u2066\ufeff\u00ad\u2800\u3164\u034f"
_LETTERS: Final = "abcdefghijklmnopqrstuvwxyz"


#: `2k` without its letter is another amount, plainly said.
_HASH: Final = re.compile(r"0[xX][0-9a-fA-F]{8,}")
_BY_A_FIGURE: Final = re.compile(r"\d")
#: Without these a sentence plainly says the opposite.
_DIRECTION: Final = re.compile(
    r"(?i)\W*(?:on|off|out|from|back|kill|up|down|not|-cont|un|again|minus|plus|unload)\W*"
)


@dataclass(frozen=True)
class Mutated:
    """A changed sentence. `closed`: no form may open for it, whatever the sentence was."""

    said: Said
    how: str
    text: str
    closed: bool


def _slip(text: str, chance: random.Random) -> str:
    """One letter wrong, missing, twice or swapped with the next."""
    hashes = [found.span() for found in _HASH.finditer(text)]  # another letter there is another transaction
    places = [
        i
        for i, c in enumerate(text[:-1])
        if c.isalpha()
        and not _BY_A_FIGURE.search(text[max(i - 1, 0) : i + 2])
        and not any(start <= i < end for start, end in hashes)
    ]
    if not places:
        return text
    at = chance.choice(places)
    match chance.randrange(4):
        case 0:
            return text[:at] + chance.choice(_LETTERS) + text[at + 1 :]
        case 1:
            return text[:at] + text[at + 1 :]
        case 2:
            return text[:at] + text[at] + text[at:]
        case _:
            return text[:at] + text[at + 1] + text[at] + text[at + 2 :]


def _cut(text: str, chance: random.Random) -> str:
    """One word less."""
    words = text.split(" ")
    others = [number for number, word in enumerate(words) if not _DIRECTION.fullmatch(word)]
    if len(words) > 2 and others:
        words.pop(chance.choice(others))
    return " ".join(words)


def _shuffled(text: str, chance: random.Random) -> str:
    """Its clauses in another order."""
    parts = re.split(r"(?<=[.!?;])\s+|,\s+|\n", text)
    chance.shuffle(parts)
    return ", ".join(part.rstrip(".") for part in parts)


def _negated(text: str, chance: random.Random) -> str:
    before = chance.choice(
        (
            "please don't ",
            "do not ",
            "no need to ",
            "we should not ",
            "never ",
            "don't ",
            "I'd rather not ",
            "not yet: ",
        )
    )
    return before + text[:1].lower() + text[1:]


def _taken_back(text: str, chance: random.Random) -> str:
    return text.rstrip(" .!") + chance.choice(
        (". never mind", " - just kidding", ". scratch that", ". forget it", ", not", ". no wait, don't")
    )


def _quoted(text: str, chance: random.Random) -> str:
    flat = text.replace("\n", " ").replace('"', "").replace("“", "").replace("”", "")
    return chance.choice(
        ('Bob wrote: "{}"', "> {}", "“{}”", "Carol says: {}", "she asked us: {}", "`please {}`")
    ).format(flat)


def _doubted(text: str, chance: random.Random) -> str:
    flat = text[:1].lower() + text[1:]
    return chance.choice(
        ("if he calls, {}", "should we {}", "maybe {}", "what if we {}", "was it right to {}")
    ).format(flat)


def _hidden(text: str, chance: random.Random) -> str:
    at = chance.randrange(len(text) + 1)
    return text[:at] + chance.choice(_HIDDEN) + text[at:]


_CHANGES: Final[tuple[tuple[str, Callable[[str, random.Random], str], bool], ...]] = (
    ("slip", _slip, False),
    ("cut", _cut, False),
    ("shuffled", _shuffled, False),
    ("negated", _negated, True),
    ("taken back", _taken_back, True),
    ("quoted", _quoted, True),
    ("doubted", _doubted, True),
    ("hidden", _hidden, True),
)


#: (one sentence, a request) -> the changes that mean the same for it: a "not" in front of several sentences is said of the
#: first alone, and what is no request may become one by the word that is cut from it.
_CHANGES_OF: Final = {
    (plain, asks): [
        row
        for row in _CHANGES
        if (plain or row[0] not in ("negated", "doubted", "taken back"))
        and (asks or row[0] not in ("cut", "slip"))
    ]
    for plain in (True, False)
    for asks in (True, False)
}


def mutations(said: list[Said], count: int, seed: int) -> Iterator[Mutated]:
    """So many changed sentences, the same for the same seed."""
    chance = random.Random(seed)
    for number in range(count):
        one = said[number % len(said)]
        how, change, closed = chance.choice(_CHANGES_OF[_is_plain(one), one.kind == "wish"])
        yield Mutated(one, how, change(one.text, chance), closed)


def _is_plain(said: Said) -> bool:
    """One sentence with one thing in it: only then a word before it is about all of it."""
    return not re.search(r"[.!?;:\n,]\s", said.text.strip()) and said.intent != "several"


_OPPOSITE: Final = (
    {"topup_card", "unload_card"},
    {"freeze_card", "unfreeze_card"},
    {"unfreeze_card", "close_card"},
)


def harm_of(mutated: Mutated, parsed: Parsed) -> str:
    """What opened that must not have, else empty. A value may be less than was said, never another one."""
    opened = next((reading for reading in parsed.readings if reading.opened), None)
    if opened is None:
        return ""
    said = mutated.said
    if {said.intent, opened.intent} in _OPPOSITE:
        return f"flipped to {opened.intent}"
    if mutated.closed:
        return f"opened {opened.intent} though {mutated.how}"
    if said.kind != "wish":
        return f"opened {opened.intent} for {said.kind}"
    if mutated.how == "cut":
        return ""  # what is left may plainly say something else
    if opened.intent != said.intent and opened.intent != {"reveal_card": "card_reveal"}.get(said.intent):
        return f"opened {opened.intent}, said {said.intent}"
    for name in ("card", "amount", "phone", "tx_hash", "network"):
        read, wanted = opened.slots.get(name), said.slots.get(name)
        if read is not None and wanted is not None and not same(name, read, wanted):
            return f"{name} {read!r}, said {wanted!r}"
    return ""


__all__ = ["Mutated", "facts", "harm_of", "mutations"]
