"""What is around a clause when it is read: the facts, the whole message, the thread."""

from __future__ import annotations

from dataclasses import dataclass, field

from bot.intents.directory import Directory
from bot.intents.extraction import Entity, Found
from bot.intents.model import Facts, Thread


@dataclass(frozen=True, slots=True)
class Context:
    """What is around a clause. `doubts` are sentences about the text as a whole."""

    facts: Facts
    cards: Directory
    found: Found
    doubts: tuple[str, ...] = ()
    thread: Thread | None = None
    cards_before: tuple[Entity, ...] = ()
    loose: tuple[Entity, ...] = field(default=())  # numbers of the message that no clause accounts for
