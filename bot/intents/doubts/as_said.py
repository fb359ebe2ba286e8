"""The text with a sign for each value, as `Found.masked` has it, but with what the sign of a card or an amount takes in."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count

from bot.intents.extraction import Entity

_LETTERS = {"card": "c", "amount": "a", "rate": "a"}


def as_said(masked: str, written: str, entities: Sequence[Entity]) -> str:
    """`freeze §c0§'s husband's card`, where the sign alone would swallow whose it is, and `daily limit +§a1§`."""
    for number, entity in zip(count(), entities, strict=False):
        if entity.kind not in _LETTERS:
            continue
        sign = f"§{_LETTERS[entity.kind]}{number}§"
        inside = written[entity.start : entity.end].rstrip()
        if entity.kind == "card" and inside.endswith(("'s", "s'")):
            masked = masked.replace(sign, f"{sign}'s", 1)
        elif entity.kind != "card" and inside.startswith(("+", "-")):
            masked = masked.replace(sign, f"{inside[0]}{sign}", 1)
    return masked


def with_days(masked: str, written: str, entities: Sequence[Entity]) -> str:
    """`put §a0§ on §c1§ this morning`: the days in words, which tell whether they are over."""
    for number, entity in zip(count(), entities, strict=False):
        if entity.kind == "period":
            masked = masked.replace(f"§p{number}§", written[entity.start : entity.end], 1)
    return masked


__all__ = ["as_said", "with_days"]
