"""What a message is cut into: the stretch that may be its request, and what stands beside it."""

from __future__ import annotations

from dataclasses import dataclass

from bot.intents.extraction import Entity


@dataclass(frozen=True, slots=True)
class Beside:
    """What stands beside the request: masked, in small letters. `within` its sentence, `before` it; `asked`: it ends in a
    question mark; `colon`: it leads to what follows; `is_why`: what its writer asks for outright follows it, in a sentence with it;
    `written`: the same as it stands in the message."""

    text: str
    entities: tuple[Entity, ...]
    before: bool
    within: bool = False
    asked: bool = False
    colon: bool = False
    is_why: bool = False
    written: str = ""

    @property
    def stands_alone(self) -> bool:
        """Is it a sentence of its own that tells something?"""
        return not (self.asked or self.colon or self.within)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A stretch that may be the request. `text`: in plain words; `own`: the values that it holds as it was written;
    `beside`: everything else; `whole`: the message with the request in plain words; `names_card`: it names its card itself."""

    text: str
    whole: str
    own: tuple[Entity, ...]
    beside: tuple[Beside, ...]
    names_card: bool = False


__all__ = ["Beside", "Candidate"]
