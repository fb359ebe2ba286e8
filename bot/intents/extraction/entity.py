"""What a stretch of the text stands for. Each character belongs to at most one of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final

#: Kind -> the letter that stands for it in a masked text: `load §a0§ onto §c1§`.
LETTERS: Final = {
    "card": "c",
    "amount": "a",
    "rate": "a",
    "tx_hash": "h",
    "address": "y",
    "network": "n",
    "phone": "t",
    "email": "e",
    "period": "p",
    "later": "l",
    "request": "r",
    "person": "m",
    "number": "x",
    "foreign": "f",
    "reference": "k",
}


@dataclass(frozen=True, slots=True)
class Entity:
    """`written` is what is shown of it; `doubt` a sentence: it may be named, but nothing opens on it."""

    kind: str
    start: int
    end: int
    value: Any = None
    written: str = ""
    doubt: str = ""
    traits: frozenset[str] = frozenset()


@dataclass(slots=True)
class Claims:
    """The text with what was found in it. What is claimed is blank for those who look later."""

    text: str
    found: list[Entity] = field(default_factory=list)
    left: str = ""

    def __post_init__(self) -> None:
        self.left = self.left or self.text

    def claim(self, entities: Iterable[Entity]) -> None:
        """Take those whose place is still free, the first named first."""
        for entity in entities:
            here = self.left[entity.start : entity.end]
            if "\0" in here or not here:
                continue
            self.found.append(entity)
            self.left = self.left[: entity.start] + "\0" * len(here) + self.left[entity.end :]

    def in_order(self) -> list[Entity]:
        return sorted(self.found, key=lambda entity: entity.start)

    def masked(self) -> str:
        """The text with a sign for each entity; its number is its place in `in_order`."""
        parts: list[str] = []
        at = 0
        for number, entity in enumerate(self.in_order()):
            parts += [self.text[at : entity.start], f"§{LETTERS[entity.kind]}{number}§"]
            at = entity.end
        return "".join([*parts, self.text[at:]])
