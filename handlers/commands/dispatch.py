"""Look-ups: a command in, a message out. Used by slash commands, mentions, messages, pages and sharing.

The table is made of the rows of each command's module; `handlers.commands.lookup` says what a row is.
"""

from __future__ import annotations

from collections.abc import Mapping

from bot.domain.errors import NotFound
from bot.services import people
from bot.services.core import Core
from bot.services.requests import request_lookups
from handlers.commands import (
    card_lookups,
    countersign_lookups,
    exports,
    float_lookups,
    funding_lookups,
    operator_lookups,
)
from handlers.commands import request_lookups as request_answers
from handlers.commands.grammar import Command
from handlers.commands.lookup import Asking, LookUp, NotUnderstood
from handlers.guard import Turn
from handlers.views import Block, help_text, replies

_HELP = ("countersign", "help")
_MODULES = (
    card_lookups,
    float_lookups,
    funding_lookups,
    request_answers,
    countersign_lookups,
    operator_lookups,
    exports,
)
LOOK_UPS: Mapping[tuple[str, str], LookUp] = {
    look_up.name: look_up for module in _MODULES for look_up in module.LOOK_UPS
}
COMMANDS = tuple(dict.fromkeys(command for command, _ in LOOK_UPS))


async def answer(turn: Turn, asked: Command) -> Block:
    """The answer to a look-up, or help. Raises NotAllowed for those who may use nothing."""
    found = await understood(turn, asked)
    if found is not None:
        return found
    await people.require_member(turn.core, turn.user, action="lookup")
    return await _help(turn.core, turn.user, asked)


async def understood(turn: Turn, asked: Command) -> Block | None:
    """The answer to a look-up; None where the words are none. Raises as `answer` does."""
    look_up = LOOK_UPS.get((asked.command, asked.subcommand))
    if look_up is None:
        return None
    actor = await people.require_member(turn.core, turn.user, action="lookup")
    try:
        found = await look_up.answer(Asking.of(turn, actor, asked))
    except NotUnderstood:
        return None
    return replies.with_share(found, asked.text) if look_up.shared else found


async def shared(turn: Turn, asked: Command) -> Block:
    """The same look-up for a channel, asked again now, with the name of who shares it."""
    actor = await people.require_member(turn.core, turn.user, action="lookup.share")
    look_up = LOOK_UPS.get((asked.command, asked.subcommand))
    if look_up is None or not look_up.shared:
        raise NotFound("This answer is for you alone and cannot be shared.")
    return replies.shared_by(await look_up.answer(Asking.of(turn, actor, asked)), actor.name)


async def require_asker(core: Core, slack_id: str) -> None:
    await people.require_requester(core, slack_id, action="request.say")


async def cancel_button(core: Core, slack_id: str, request_id: str) -> Block:
    """A request's cancellation said in a message: the button that asks once more."""
    await people.require_member(core, slack_id, action="lookup")
    return replies.cancel((await request_lookups.request_picture(core, request_id)).request)


async def roles(core: Core, slack_id: str) -> tuple[bool, bool]:
    """May this person ask, and may they decide?"""
    names = core.policy.people.requesters
    may_ask = not names or slack_id in await core.directory.members(names)
    return may_ask, slack_id in await people.approvers(core)


async def _help(core: Core, slack_id: str, asked: Command) -> Block:
    may_ask, may_decide = await roles(core, slack_id)
    is_help = "help" in (asked.subcommand, asked.rest.lower()) or not (asked.subcommand or asked.rest)
    note = (
        ""
        if is_help or not asked.command
        else f"“{asked.text[:80]}” is not understood. This is what you may do:"
    )
    only = asked.command if asked.command in COMMANDS and asked.command != "countersign" else ""
    return help_text.help_answer(
        core.kinds,
        {command: reads_of(command) for command in COMMANDS if only in ("", command)},
        may_ask=may_ask,
        may_decide=may_decide,
        note=note,
        programs=sorted(core.partners),
    )


def reads_of(command: str) -> list[tuple[str, str]]:
    """What may be looked up by a command: how it is typed, and what it says."""
    own = [("/countersign help", "this")] if command == "countersign" else []
    if command == "card":
        own = [
            (
                "/card topup bulk",
                "many cards from a list; also `order bulk`, `freeze bulk`, or a CSV file sent to me",
            )
        ]
    return own + [(row.usage, row.help) for row in LOOK_UPS.values() if row.name[0] == command and row.usage]
