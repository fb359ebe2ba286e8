"""What a look-up is: the words that ask for it, what it answers, and what help says about it.

A command's look-ups are a tuple of `LookUp` in a module of their own; `handlers.commands.all_lookups` puts them into
one table. A new one is a function and a row.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from zoneinfo import ZoneInfo

from bot.domain.people import Actor
from bot.domain.time import Period, periods
from bot.operations import Operation
from bot.services.core import Core
from bot.services.messages import request_links
from bot.services.people import Role
from handlers.guard import Turn
from handlers.views import Block

_MENTION = re.compile(r"<@([UW][A-Z0-9]+)(?:\|[^>]*)?>")
# A person, a channel or a user group, as Slack writes it in a text, with or without its name.
_NAMED = re.compile(r"<([@#]|!subteam\^)([A-Z0-9]+)(?:\|([^>]*))?>")
# By its number, or as the buttons say it: also beside which row it begins.
_PAGE = re.compile(r"(?:^|\s)page\s+([1-9][0-9]{0,4})(?:\s+(after|before)\s+(\S{1,80}))?\s*$", re.IGNORECASE)


def mentioned(word: str) -> str:
    """The Slack id of the person whom a whole word mentions (`<@U0BOB>`, `<@U0BOB|bob>`); else empty."""
    found = _MENTION.fullmatch(word)
    return found[1] if found else ""


def as_typed(text: str) -> str:
    """Free text in which nobody is mentioned: `<@U0BOB|bob>` as `@bob`, `<#C0OPS|card-ops>` as `#card-ops`."""
    return _NAMED.sub(_name, text)


def _name(found: re.Match[str]) -> str:
    sign = "#" if found[1] == "#" else "@"
    return sign + (found[3] or found[2]).removeprefix("@")


@dataclass(frozen=True, slots=True)
class Command:
    """What was asked. `subcommand` is "" where the command stands alone; `rest` are its arguments as typed."""

    command: str
    subcommand: str
    rest: str

    @property
    def text(self) -> str:
        """The whole in one line, to be read again by `from_text`."""
        return " ".join(filter(None, (self.command, self.subcommand, self.rest)))

    def kind(self, kinds: Mapping[str, type[Operation]]) -> type[Operation] | None:
        """The operation kind this asks for, if it asks for one."""
        return next((k for k in kinds.values() if k.command == (self.command, self.subcommand)), None)


class NotUnderstood(Exception):
    """The arguments are none of this look-up; its text is the sentence that says which part is wrong."""


@dataclass(frozen=True, slots=True)
class Asking:
    """One look-up on its way: who asks what, and through which turn. `page` counts from 1.

    `beside` is where the page next to it ended, as `after:R-7K3M`; empty where only the number is known.
    """

    turn: Turn
    actor: Actor
    command: Command
    page: int = 1
    beside: str = ""

    @classmethod
    def of(cls, turn: Turn, actor: Actor, command: Command) -> Asking:
        """`page 3` at the end is the page; the rest is the look-up's own."""
        found = _PAGE.search(command.rest)
        if found is None:
            return cls(turn, actor, command)
        beside = f"{found[2].lower()}:{found[3]}" if found[2] else ""
        rest = command.rest[: found.start()].strip()
        return cls(turn, actor, replace(command, rest=rest), int(found[1]), beside)

    @property
    def core(self) -> Core:
        return self.turn.core

    @property
    def slack_id(self) -> str:
        return self.actor.id

    @property
    def rest(self) -> str:
        """The arguments as typed, without the page and without a program named last."""
        head, _, last = self.command.rest.rpartition(" ")
        return head.strip() if last in self.core.partners else self.command.rest

    @property
    def program(self) -> str:
        """The program named last (`/float other`), where there are several; else the default one."""
        last = self.command.rest.rpartition(" ")[2]
        return last if last in self.core.partners else self.core.default_program

    @property
    def zone(self) -> ZoneInfo:
        """The person's own time zone."""
        return self.actor.zone

    @property
    def again(self) -> str:
        """The same look-up without its page, as a button carries it."""
        return self.command.text

    async def link_to(self, request_id: str) -> str:
        """The address of a request's message; empty where there is none."""
        return (await request_links.of(self.core, [request_id])).get(request_id, "")

    def period(self, text: str | None = None) -> tuple[str, Period | None]:
        """A period at the end of the arguments, or of `text`, in this person's time zone, and what stands before it.

        Raises InvalidInput for what is meant as a period and is none.
        """
        return periods.split(self.rest if text is None else text, self.core.clock.now(), self.zone)

    def days_back(self, days: int) -> Period:
        """What is shown when nobody names a period."""
        return periods.back(days, self.core.clock.now(), self.zone)


Answer = Callable[[Asking], Awaitable[Block]]


@dataclass(frozen=True, slots=True)
class LookUp:
    """One look-up. `name` is command and subcommand, "" where the command stands alone.

    `usage` and `help` are what help shows, empty where another row tells it. `shared`: its answer may be shown
    to a channel; the others are about the person who asked. `role`: who may use it, where not everybody may; `group`
    is the heading under which help lists it. `is_safer`: it stops something, so it is never too much for one person.
    """

    name: tuple[str, str]
    answer: Answer
    usage: str = ""
    help: str = ""
    shared: bool = False
    role: Role | None = None
    group: str = "look up"
    is_safer: bool = False
