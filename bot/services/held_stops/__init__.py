"""What people asked to stop and could not be recorded: held in this process until it is.

Whoever can write to the database can keep anything from being recorded in it. So that a stop still stops, nothing of
what it was about is sent by the process that was asked, whatever the database says. It is kept in memory alone: another
process, and this one after a restart, know of it only once it is recorded. `operators.late_stops` keeps trying.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import TypeVar

from bot.domain.errors import CountersignError, NotFound
from bot.domain.ids import read_request_id
from bot.domain.time import Clock
from storage.errors import StorageError

__all__ = [
    "MOST",
    "Held",
    "HeldStops",
    "Stop",
    "about_codes",
    "is_refusal",
    "note",
    "of_consent",
    "of_program",
    "of_request",
    "said",
]

log = logging.getLogger("countersign.stops")

T = TypeVar("T")

#: So many of one person, beside their pauses: nobody can have everything held, and a pause always is.
MOST = 20
_UNTIL = (
    " Countersign keeps trying to record it, and the alerts channel says how it ends. If Countersign is restarted"
    " before that, do it again."
)
#: What is held is held in one process, and that is said to whoever relies on it.
_HERE = " by the process of Countersign that was asked; where several run, another one"
_TOO_MANY = (
    f"{MOST} stops of yours are held like this already, and no more are: what you wanted to stop may be sent. Pause"
    " sending, or ask somebody else to stop it."
)


class _Note(str):
    """Goes with the error that kept a stop from being recorded."""

    __slots__ = ()


def said(error: BaseException) -> str:
    """What is held meanwhile, for whoever did what this error kept from being recorded; empty where nothing is."""
    return next((note for note in getattr(error, "__notes__", ()) if isinstance(note, _Note)), "")


def note(error: Exception, stop: Stop, *, is_kept: bool) -> None:
    """What is held meanwhile goes with the error. `is_kept`: it is tried again."""
    meanwhile = stop.meanwhile + _UNTIL if is_kept else _TOO_MANY
    error.add_note(_Note(f"This is not recorded yet, as the database did not take it. {meanwhile}"))


def is_refusal(error: Exception) -> bool:
    """That somebody may not, or that it is too late: the rules say so, and nothing went wrong."""
    return isinstance(error, CountersignError) and not isinstance(error, StorageError)


@dataclass(frozen=True, slots=True)
class Stop:
    """What somebody does to stop something.

    `by`: their Slack id. `about`: what is stopped, as the audit log names it: `program:main`, `request:R-AB12`. `deed`:
    what they did, after their name in a sentence. `meanwhile`: what is held until that is recorded, as a sentence.
    """

    by: str
    about: tuple[str, ...]
    deed: str
    meanwhile: str

    @property
    def subject(self) -> str:
        """What is stopped, in words."""
        return " and ".join(one.partition(":")[2] for one in self.about)

    @property
    def is_pause(self) -> bool:
        """There are no more of these than programs."""
        return all(one.startswith("program:") for one in self.about)


@dataclass(eq=False, slots=True)
class Held:
    """A stop that could not be recorded, since `at`. `again` tries once more.

    `ended`: how, by the case of the alert; nothing is held by it any more. `why`: the refusal. `is_raised`: an alert
    says it; `is_said`: a message past the outbox does.
    """

    stop: Stop
    at: datetime
    again: Callable[[], Awaitable[object]]
    ended: str = ""
    why: str = ""
    is_raised: bool = False
    is_said: bool = False


@dataclass(slots=True)
class HeldStops:
    """Those of this process."""

    bell: asyncio.Event = field(default_factory=asyncio.Event)  # rung when there is one more
    _held: dict[Stop, Held] = field(default_factory=dict)

    async def recorded(self, stop: Stop, do: Callable[[bool], Awaitable[T]], clock: Clock) -> T:
        """Do what stops something. Where that fails for anything but a refusal, hold what it was to stop; raise on.

        `do` learns whether it is tried again: then it refuses nothing that is so already, by whoever, as its own
        answer from the database may be what was lost.
        """
        try:
            done = await do(False)
        except Exception as error:
            if not is_refusal(error):
                log.critical("stop.not_recorded", extra={"by": stop.by, "about": stop.about}, exc_info=error)
                note(error, stop, is_kept=self.put(Held(stop, clock.now(), partial(do, True))))
            raise
        self.end(stop.about, "recorded")
        return done

    def end(self, about: tuple[str, ...], how: str, why: str = "") -> None:
        """Those that are about nothing else are over."""
        for held in self.waiting():
            if set(held.stop.about) <= set(about):
                held.ended, held.why = how, why

    def put(self, held: Held) -> bool:
        """False where there are too many of this person to keep it. Of the same stop the first is kept."""
        known = self._held.get(held.stop)
        if known is not None and not known.ended:
            return True
        if known is None and not held.stop.is_pause and self._of(held.stop.by) >= MOST:
            return False
        self._held[held.stop] = held
        self.bell.set()
        return True

    def _of(self, by: str) -> int:
        return sum(stop.by == by and not stop.is_pause for stop in self._held)

    def drop(self, held: Held) -> None:
        """It is over, and people know it."""
        if self._held.get(held.stop) is held:
            del self._held[held.stop]

    def all(self) -> list[Held]:
        """In the order in which they came."""
        return list(self._held.values())

    def waiting(self) -> list[Held]:
        """Those that are not recorded."""
        return [held for held in self._held.values() if not held.ended]

    def holds(self, *subjects: str | None) -> bool:
        """Did somebody ask to stop one of these, and that is not recorded?"""
        return any(subject in held.stop.about for held in self.waiting() for subject in subjects)


def of_program(by: str, named: tuple[str, ...]) -> Stop:
    """A pause of these."""
    names = " and ".join(named)
    about = tuple(f"program:{one}" for one in named)
    return Stop(by, about, f"paused {names}", f"Nothing is sent to {names} meanwhile{_HERE} may still send.")


def of_request(by: str, request_id: str, deed: str) -> Stop:
    """A "no" to a request, or its withdrawal; `deed`: what they did with it. Raises NotFound for what is no id."""
    about = read_request_id(request_id)
    return Stop(
        by,
        (f"request:{about}",),
        f"{deed} {about}",
        f"Nothing of {about} is sent meanwhile{_HERE} may still send it.",
    )


def about_codes(by: str, reference: str) -> Stop:
    """Nobody is to get the codes of this reference."""
    return Stop(
        by,
        (f"code:{reference}",),
        f"ended the one-time codes of {reference}",
        f"No code of {reference} is sent to anybody meanwhile{_HERE} may still send one.",
    )


def of_consent(by: str, consent_id: str) -> Stop:
    """A "no" to what waits for a second person. Raises NotFound for what is no id."""
    if not consent_id.isprintable():
        raise NotFound("This request is no longer open. Nothing was changed.")
    return Stop(
        by,
        (f"consent:{consent_id}",),
        "declined what waits for a second person",
        f"No confirmation of it is taken meanwhile{_HERE} may still take one.",
    )
