"""Look-ups: a command in, a message out. Used by slash commands, mentions, messages, pages and sharing."""

from __future__ import annotations

from dataclasses import dataclass

from bot import operations
from bot.domain.errors import NotFound
from bot.services import conversation, people
from bot.services.cards import card_choice
from bot.services.core import Core
from bot.services.people import Role
from bot.services.requests import request_lookups
from handlers.commands import grammar
from handlers.commands.all_lookups import COMMANDS, LOOK_UPS
from handlers.commands.lookup import Asking, Command, NotUnderstood
from handlers.guard import Turn
from handlers.views import Block, help_text, replies

_MORE = "more"  # after help: examples


async def answer(turn: Turn, asked: Command) -> Block:
    """The answer to a look-up, help, or what was probably meant. Raises NotAllowed for those who may use nothing."""
    try:
        found = await _looked_up(turn, asked)
    except NotUnderstood as wrong:
        return await _not_understood(turn, asked, str(wrong))
    if found is not None:
        return found
    await people.require_reader(turn.core, turn.user)
    if _is_for_help(asked):
        return await _help(turn.core, turn.user, asked)
    return await _not_understood(turn, asked)


async def understood(turn: Turn, asked: Command) -> Block | None:
    """The answer to a look-up; None where the words are none. Raises as `answer` does."""
    try:
        return await _looked_up(turn, asked)
    except NotUnderstood:
        return None


async def _looked_up(turn: Turn, asked: Command) -> Block | None:
    """None where there is no such look-up. Raises NotUnderstood."""
    look_up = LOOK_UPS.get((asked.command, asked.subcommand))
    if look_up is None:
        return None
    actor = await people.require_reader(turn.core, turn.user, safer=look_up.is_safer)
    found = await look_up.answer(Asking.of(turn, actor, asked))
    return replies.with_share(found, asked.text) if look_up.shared else found


async def shared(turn: Turn, asked: Command) -> Block:
    """The same look-up for a channel, asked again now, with the name of who shares it."""
    actor = await people.require_reader(turn.core, turn.user, action="lookup.share")
    look_up = LOOK_UPS.get((asked.command, asked.subcommand))
    if look_up is None or not look_up.shared:
        raise NotFound("This answer is for you alone and cannot be shared.")
    return replies.shared_by(await look_up.answer(Asking.of(turn, actor, asked)), actor.name)


async def require_asker(core: Core, slack_id: str) -> None:
    await people.require_requester(core, slack_id, action="request.say", within_s=people.ANSWERED_WITHIN_S)


async def cancel_button(core: Core, slack_id: str, request_id: str) -> Block:
    """A request's cancellation said in a message: the button that asks once more."""
    await people.require_reader(core, slack_id)
    return replies.cancel((await request_lookups.request_view(core, request_id)).request)


@dataclass(frozen=True, slots=True)
class Uses:
    """What a person may do here: ask for operations, and what is for some roles only."""

    may_ask: bool
    roles: frozenset[Role]
    may_decide: bool


async def uses_of(core: Core, slack_id: str) -> Uses:
    """As Slack said lately: for showing what there is, while each use is judged again."""
    names, now = core.policy.people.requesters, await people.roles_lately(core)
    may_ask = not names or slack_id in await core.directory.members_lately(names)
    roles = frozenset(role for role in Role if slack_id in now.of(role))
    return Uses(may_ask, roles, slack_id in now.standing.approvers)


def commands_for(core: Core, uses: Uses) -> list[help_text.Use]:
    """Every subcommand that this person may use, look-ups first within its command."""
    found = [
        help_text.Use(row.name, row.group, row.usage.removeprefix(f"/{row.name[0]} "), row.usage, row.help)
        for row in LOOK_UPS.values()
        if row.usage and (row.role is None or row.role in uses.roles)
    ]
    for cls in map(core.kinds.__getitem__, operations.listed(core.offered_kinds)):
        if Role.ADMIN in uses.roles if cls.handling.asked_by_admins else uses.may_ask:
            usage = f"{cls.command[1]} [bulk]" if cls.batch else cls.command[1]
            found.append(help_text.Use(cls.command, "request", usage, cls.example, cls.help))
    return sorted(found, key=lambda use: COMMANDS.index(use.name[0]))


def _is_for_help(asked: Command) -> bool:
    return asked.subcommand == "help" or not (asked.subcommand or asked.rest) or asked.command == "help"


async def _help(core: Core, slack_id: str, asked: Command) -> Block:
    """`/card help` is about one command, `/countersign help` about all; `more` after it shows examples."""
    uses = await uses_of(core, slack_id)
    words = [word for word in asked.rest.lower().split() if word in (*COMMANDS, _MORE)]
    only = next((word for word in (asked.command, *words) if word in COMMANDS and word != "countersign"), "")
    shown = [use for use in commands_for(core, uses) if only in ("", use.name[0])]
    if _MORE in words:
        card = await card_choice.example(core)
        return help_text.examples(
            shown, card.last4 if card and card.last4 else "", uses.may_decide, sorted(core.partners)
        )
    more = " ".join(filter(None, ("countersign help", only, _MORE)))
    return help_text.help_answer(shown, may_ask=uses.may_ask, may_decide=uses.may_decide, more=more)


async def _not_understood(turn: Turn, asked: Command, wrong: str = "") -> Block:
    """Which part is wrong, what was probably meant, and how to get help."""
    known = [use.name for use in commands_for(turn.core, await uses_of(turn.core, turn.user))]
    meant = None if asked.subcommand and wrong else grammar.nearest(asked, known)
    command = asked.command if asked.command in COMMANDS else "countersign"
    said = f"/{asked.command} {asked.subcommand or asked.rest}".strip()[:60]
    holds_number = conversation.holds_card_number(f"{said} {wrong}")
    if wrong and meant is None and not holds_number:
        return help_text.not_understood(wrong, "", command)
    text = "This" if holds_number else f"“{said}”"
    return help_text.not_understood(
        f"{text} is not understood. Nothing was requested.", " ".join(meant or ()), command
    )


def is_command(core: Core, asked: Command) -> bool:
    """Whether the words of a message may be those of a command; a look-up may still find that they are none."""
    name = (asked.command, asked.subcommand)
    is_request = asked.kind(core.kinds) is not None or name == ("requests", "cancel")
    return is_request or name in LOOK_UPS or is_for_help(asked)


def is_for_help(asked: Command) -> bool:
    """Nothing at all, `help`, or a command alone, or with `help` after it."""
    if asked.command in ("", "help"):
        return not (asked.subcommand or asked.rest)
    is_alone = asked.command in COMMANDS and not asked.rest and asked.subcommand in ("", "help")
    return is_alone and (asked.command, asked.subcommand) not in LOOK_UPS
