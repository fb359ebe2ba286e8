"""Texts that cost the parser most: pieces of its own patterns, said again and again to 2,000 characters."""

from __future__ import annotations

import importlib
import pkgutil
import random
import re
import re._constants as sre  # type: ignore[import-not-found] # no stub: what patterns are made of
import re._parser as parser  # type: ignore[import-not-found]
from collections.abc import Iterator
from typing import Any

import bot.intents
from bot.intents.plain_text.cleaning import MOST_CHARS

SPACES = "\t\n\u00a0\u1680\u2000\u2003\u2009\u200a\u202f\u205f\u3000\u2028\u0085\x0b"
SIGNS = ".,;:!?…-–—_*~`'\"()[]{}<>|/\\+=#@&%$£€^→•❄\u200b\u202e"
#: What found patterns that looked through all that stands before or behind each of their matches.
SEEDS = (
    *(f"{space}" for space in SPACES),
    *(f"{space} " for space in SPACES),
    *SIGNS,
    *(f"{sign} " for sign in SIGNS),
    "move 50 from 9140 the card ending 0042 card $ ",
    "no - ",
    "disable..",
    ".?",
    "\n.",
    "kindly ",
    "please, and ",
    "the ",
    "a ",
    "usdc ",
)
_SIGNS_OF = {"a": "50", "c": "3018", "t": "+447700900123", "n": "tron", "h": f"0x{'ab' * 32}"}


def drawn(chance: random.Random, known: list[str]) -> str:
    """A text of pieces of one to three of the patterns, with something of its own before or behind them."""
    pieces = [_written(piece(chance.choice(known), chance)) for _ in range(chance.choice((1, 1, 2, 3)))]
    between = chance.choice(("", " ", " ", ", ", ". ", ", and ", *SIGNS, *SPACES))
    whole = f"{chance.choice(pieces)}{between}" if chance.random() < 0.3 else ""
    while len(whole) < MOST_CHARS:
        said = f"{chance.choice(pieces)}{between}"
        whole += said if said.strip() else "a "
    return whole[:MOST_CHARS]


def _written(text: str) -> str:
    return re.sub(r"§(?P<kind>[a-z]?)\d*§?", lambda found: _SIGNS_OF.get(found["kind"], "3018"), text)


def patterns() -> list[str]:
    """Every pattern of the parser; those that are made late are made."""
    found: dict[str, None] = {}
    for module in pkgutil.walk_packages(bot.intents.__path__, "bot.intents."):
        loaded = importlib.import_module(module.name)
        for value in list(vars(loaded).values()):
            made_late = hasattr(value, "cache_info") and value.__module__ == module.name
            if made_late and not value.__wrapped__.__code__.co_argcount:
                value = value()
            found |= dict.fromkeys(one.pattern for one in _within(value))
    return list(found)


def _within(value: Any) -> Iterator[re.Pattern[str]]:
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, dict):
        yield from _within([*value.keys(), *value.values()])
    elif isinstance(value, tuple | list | set | frozenset):
        for one in value:
            yield from _within(one)


def piece(pattern: str, chance: random.Random) -> str:
    """A stretch of what the pattern matches, from somewhere within it, or all of it."""
    tree = parser.parse(pattern)
    rows = list(_sequences(tree))
    row = chance.choice(rows)
    start = chance.randrange(len(row)) if row else 0
    end = chance.randint(start, len(row)) if chance.random() < 0.5 else len(row)
    return "".join(_said(node, chance) for node in list(row)[start:end])


def _sequences(tree: Any) -> Iterator[Any]:
    yield tree
    for op, arg in tree:
        if op is sre.SUBPATTERN:
            yield from _sequences(arg[3])
        elif op is sre.BRANCH:
            for one in arg[1]:
                yield from _sequences(one)
        elif op in (sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT):
            yield from _sequences(arg[2])
        elif op in (sre.ASSERT, sre.ASSERT_NOT):
            yield from _sequences(arg[1])
        elif op is sre.ATOMIC_GROUP:
            yield from _sequences(arg)


def _said(node: Any, chance: random.Random) -> str:
    op, arg = node
    if op is sre.LITERAL:
        return chr(arg)
    if op is sre.NOT_LITERAL:
        return chance.choice([c for c in "a ,.-" if ord(c) != arg])
    if op is sre.ANY:
        return chance.choice("a ,.")
    if op is sre.IN:
        return _of_set(arg, chance)
    if op is sre.SUBPATTERN:
        return "".join(_said(one, chance) for one in arg[3])
    if op is sre.ATOMIC_GROUP:
        return "".join(_said(one, chance) for one in arg)
    if op is sre.BRANCH:
        return "".join(_said(one, chance) for one in chance.choice(arg[1]))
    if op in (sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT):
        least, most, inner = arg
        times = chance.randint(least, min(int(most), least + chance.choice((0, 1, 2, 8))))
        return "".join(_said(one, chance) for _ in range(times) for one in inner)
    if op is sre.ASSERT and chance.random() < 0.5:
        return "".join(_said(one, chance) for one in arg[1])
    return ""


def _of_set(items: Any, chance: random.Random) -> str:
    if items[0][0] is sre.NEGATE:
        return chance.choice("a ,.")
    op, arg = chance.choice(items)
    if op is sre.LITERAL:
        return chr(arg)
    if op is sre.RANGE:
        return chr(chance.randint(*arg))
    return {
        sre.CATEGORY_DIGIT: "7",
        sre.CATEGORY_SPACE: " ",
        sre.CATEGORY_WORD: "w",
        sre.CATEGORY_NOT_SPACE: "x",
        sre.CATEGORY_NOT_WORD: ",",
        sre.CATEGORY_NOT_DIGIT: "y",
    }[arg]
