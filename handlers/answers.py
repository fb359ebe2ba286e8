"""Look-ups: a command in, a message out. Used by slash commands, mentions, direct messages and sharing."""

from __future__ import annotations

from bot.domain.errors import NotFound
from bot.operations._base import Operation
from bot.services import lookups, people, registration, requests
from bot.services.core import Core
from handlers import alert_answers
from handlers.grammar import Command
from handlers.views import guidance, replies, webhook
from handlers.views.blocks import Block

_STATUSES = ("ACTIVE", "FROZEN", "BLOCKED")
# Answers that may be shown to a channel; the others are about the person who asked.
_SHARED = frozenset(
    {("card", "list"), ("card", "show"), ("float", ""), ("requests", "show"), ("countersign", "policy")}
)


async def answer(core: Core, slack_id: str, asked: Command) -> Block:
    """The answer to a look-up, or help. Raises NotAllowed for those who may use nothing."""
    await people.require_member(core, slack_id, action="lookup")
    if not asked.is_look_up or (asked.command == "float" and asked.rest not in ("", *core.partners)):
        return await _help(core, slack_id, asked)
    found = await _LOOK_UPS[asked.command](core, slack_id, asked)
    return replies.with_share(found, asked.text) if _is_shareable(asked) else found


def _is_shareable(asked: Command) -> bool:
    return (asked.command, asked.subcommand) in _SHARED


async def shared(core: Core, slack_id: str, asked: Command) -> Block:
    """The same look-up for a channel, asked again now, with the name of who shares it."""
    await people.require_member(core, slack_id, action="lookup.share")
    if not _is_shareable(asked):
        raise NotFound("This answer is for you alone and cannot be shared.")
    return replies.shared_by(await _LOOK_UPS[asked.command](core, slack_id, asked), slack_id)


async def require_asker(core: Core, slack_id: str) -> None:
    await people.require_requester(core, slack_id, action="request.say")


async def cancel_button(core: Core, slack_id: str, request_id: str) -> Block:
    """A request's cancellation said in a message: the button that asks once more."""
    await people.require_member(core, slack_id, action="lookup")
    return replies.cancel((await lookups.request_picture(core, request_id)).request)


async def roles(core: Core, slack_id: str) -> tuple[bool, bool]:
    """May this person ask, and may they decide?"""
    names = core.policy.people.requesters
    may_ask = not names or slack_id in await core.directory.members(names)
    return may_ask, slack_id in await people.approvers(core)


async def _help(core: Core, slack_id: str, asked: Command) -> Block:
    may_ask, may_decide = await roles(core, slack_id)
    is_help = asked.subcommand == "help" or not (asked.subcommand or asked.rest)
    note = (
        ""
        if is_help or not asked.command
        else f"“{asked.text[:80]}” is not understood. This is what you may do:"
    )
    only = asked.command if asked.command in _LOOK_UPS and asked.command != "countersign" else ""
    return guidance.help_answer(
        core.kinds,
        may_ask=may_ask,
        may_decide=may_decide,
        note=note,
        only=only,
        programs=sorted(core.partners),
    )


async def _card(core: Core, slack_id: str, asked: Command) -> Block:
    if asked.subcommand == "show":
        if not asked.rest:
            raise NotFound("Name the card: /card show 4242, or a name, reference or id.")
        return replies.card_answer(await lookups.card_now(core, asked.rest))
    words = asked.rest.upper().split()
    status = next((s for s in _STATUSES if s in words), None)
    page = next((int(w) for w in words if w.isascii() and w.isdigit() and len(w) < 6), 1)
    return replies.card_list(await lookups.card_list(core, status=status, page=page))


async def _float(core: Core, slack_id: str, asked: Command) -> Block:
    return replies.float_answer(await lookups.float_now(core, program=_program(core, asked)))


def _program(core: Core, asked: Command) -> str:
    """The program named last (`/float other`), where there are several; else the default one."""
    word = asked.rest.rpartition(" ")[2]
    return word if word in core.partners else core.default_program


async def _funding(core: Core, slack_id: str, asked: Command) -> Block:
    program = _program(core, asked)
    if asked.subcommand == "addresses":
        return replies.addresses(await lookups.funding_addresses(core, program=program), program)
    if asked.subcommand == "show":
        if not asked.rest:
            raise NotFound("Name the submission: /funding show ID-OR-HASH. /funding list shows them.")
        wanted = asked.rest.split()[0]
        return replies.funding_answer(await lookups.funding_show(core, wanted, program=program))
    return replies.funding_list(await lookups.funding_list(core, program=program), program)


async def _requests(core: Core, slack_id: str, asked: Command) -> Block:
    if not asked.subcommand:
        return replies.inbox(await lookups.inbox_of(core, slack_id))
    if not asked.rest:
        raise NotFound(f"Name the request: /requests {asked.subcommand} R-XXXX.")
    if asked.subcommand == "show":
        return replies.request_answer(await lookups.request_picture(core, asked.rest))
    cancelled = await requests.cancel(core, asked.rest, slack_id)
    return replies.said(f"{cancelled.id} is cancelled. Nothing of it was sent.")


async def _countersign(core: Core, slack_id: str, asked: Command) -> Block:
    if asked.subcommand == "policy":
        return guidance.policy(lookups.policy_picture(core))
    if asked.subcommand == "alerts":
        return await alert_answers.answer(core, slack_id, asked.rest)
    if asked.subcommand == "webhook":
        return webhook.answer(await registration.look(core, slack_id, _program(core, asked)))
    if asked.subcommand == "who":
        return guidance.who(await lookups.who(core, _kind_named(core, asked.rest).kind, slack_id))
    return await _help(core, slack_id, Command("countersign", "help", ""))


def _kind_named(core: Core, text: str) -> type[Operation]:
    """`topup`, `card topup`, `card_topup` or `Top up a card`; raises NotFound with what there is."""
    wanted = text.strip().lower().lstrip("/").replace("_", " ")
    for kind, cls in core.kinds.items():
        named = {
            kind.replace("_", " "),
            " ".join(cls.command),
            cls.command[1],
            cls.title.lower(),
            cls.verb.lower(),
        }
        if wanted in named:
            return cls
    names = ", ".join(" ".join(cls.command) for cls in core.kinds.values())
    raise NotFound(f"Name an operation: /countersign who topup. There are: {names}.")


_LOOK_UPS = {
    "card": _card,
    "float": _float,
    "funding": _funding,
    "requests": _requests,
    "countersign": _countersign,
}
