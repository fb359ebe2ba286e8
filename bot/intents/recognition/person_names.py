"""Whose name goes on a new card: capitalised words with particles between them, nobody's department, no verb behind.

A name that might be read two ways is none: it is asked for.
"""

from __future__ import annotations

import re
from typing import Final

from bot.intents.directory import fold
from bot.intents.plain_text import word_set

#: Inside a name, never at its end: `Femke de Boer`.
PARTICLES: Final = word_set(
    """
    de da van von der den ter ten dos das do del della di du des la le el al bin binti bint ibn zu af av st san santa y
    """
)
#: Who tells of somebody, and is nobody by that name.
_DEPARTMENTS: Final = word_set(
    """
    hr it cfo ceo coo cto cio ciso vp svp evp md pm po pa pr qa sre kyc aml gm r&d ops finance legal payroll
    procurement compliance treasury accounting accounts audit purchasing logistics operations security marketing sales
    support facilities admin administration management recruiting recruitment people board headquarters hq office
    controlling engineering dispatch
    """
)
_DASHES: Final = frozenset("–-")
_A_PARTICLE: Final = "|".join(sorted(PARTICLES))
FULL_NAME: Final = re.compile(
    rf"(?<![\w§@'])[A-ZÀ-Ž][a-zà-ž'’]+(?: (?:{_A_PARTICLE})){{0,2}}(?: [A-ZÀ-Ž][a-zà-ž'’-]+){{1,2}}(?![\w§@])"
)
_SHORT: Final = 4  # letters of an acronym
_FEWEST: Final = 3  # letters by which an address knows a name


def person_named(written: str, cased: str, email: str = "") -> str:
    """A name that was read from a text, as far as it is somebody's; empty where it is none or may be another."""
    if written == written.lower():
        return written
    words = written.split()
    if _DASHES & set(words):
        return written  # a group of its own: `Marketing – Events`
    whole = [word for word in words if word[0].isupper() or not word[0].isalpha() or word in PARTICLES]
    ends = next((at for at, word in enumerate(words) if word not in whole), len(words))
    name = words[:ends]
    while name and name[-1] in PARTICLES:
        name.pop()
    if not name or any(fold(word) in _DEPARTMENTS for word in name):
        return ""
    if len(name) == 1:
        alone = name[0]
        others = [found for found in FULL_NAME.findall(cased) if alone not in found.split()]
        acronym = alone.isupper() and len(alone) <= _SHORT
        return "" if acronym or others or ends < len(words) else alone
    if ends < len(words) and not _knows(email, name[-1]):
        return ""
    return " ".join(name)


def _knows(email: str, word: str) -> bool:
    local = fold(email.split("@", maxsplit=1)[0])
    return len(word) >= _FEWEST and fold(word).replace("-", "") in re.sub(r"[^a-z]", "", local)


__all__ = ["FULL_NAME", "PARTICLES", "person_named"]
