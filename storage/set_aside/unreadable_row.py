"""A row that cannot be read: where it is, and how people name it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

#: Each part of a primary key as the database has it: bytes on SQLite, text on PostgreSQL; None = it is empty.
Key: TypeAlias = tuple[bytes | str | None, ...]

_SHOWN = 60


@dataclass(frozen=True, slots=True)
class UnreadableRow:
    """`column`: the first of its row that cannot be read. `about`: the request that it belongs to, "" = none.

    `key` names the row to the database. `because`: it can be read itself, and is of no use without that one.
    """

    table: str
    column: str
    key: Key
    about: str = ""
    because: UnreadableRow | None = None

    @property
    def row(self) -> str:
        """Its key, for people."""
        return shown(self.key)


def shown(key: Key) -> str:
    """The key of a row, for people: in one line, whatever somebody wrote there."""
    parts = (part.decode(errors="backslashreplace") if isinstance(part, bytes) else part for part in key)
    said = " / ".join(" ".join((part or "(empty)").replace("\0", " ").split()) for part in parts)
    return said if len(said) <= _SHOWN else f"{said[:_SHOWN]}…"


def text_of(stored: bytes | str | None) -> str:
    """A text that was read as it is stored; what is no UTF-8 in it is replaced."""
    return stored.decode(errors="replace") if isinstance(stored, bytes) else stored or ""
