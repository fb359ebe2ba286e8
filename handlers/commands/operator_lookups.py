"""`/countersign` for the people of a shift: status, pause and resume, hand-over, what-if, who gets codes."""

from __future__ import annotations

from functools import partial

from bot import intents
from bot.domain.errors import NotFound
from bot.services import people
from bot.services.operators import draft_only, handover, pausing
from bot.services.overview import status, what_if
from handlers.commands import otp_recipients
from handlers.commands.lookup import Asking, LookUp, as_typed
from handlers.views import Block, replies
from handlers.views.lookups import status as status_view

_HOW_WHAT_IF = (
    "Ask for example /countersign what-if 40 cards at 200, or what-if top up 12 cards by 75, or what-if how many"
    " cards at 200."
)

_HOW_DRAFTS = (
    "Draft only is switched on in countersign.toml: [slack] draft_only = true. An admin and a second person switch it"
    " off until the next start with /countersign drafts off."
)


async def _status(asked: Asking) -> Block:
    named, _ = _programs(asked)
    may_pause = asked.slack_id in (await people.roles(asked.core)).of(people.Role.APPROVER_OR_ADMIN)
    return status_view.status(await status.now(asked.core, named), may_pause=may_pause)


async def _pause(asked: Asking) -> Block:
    named, reason = _programs(asked)
    stopped = await pausing.pause(asked.core, asked.slack_id, named, reason)
    return status_view.paused(stopped, [program for program in named if program not in stopped])


async def _resume(asked: Asking) -> Block:
    named, _ = _programs(asked)
    return replies.said(" ".join(await pausing.resume(asked.core, asked.slack_id, named)))


async def _drafts(asked: Asking) -> Block:
    word, _, rest = asked.command.rest.strip().partition(" ")
    if word.lower() != "off":
        raise NotFound(_HOW_DRAFTS)
    named = [rest.strip()] if rest.strip() in asked.core.partners else sorted(asked.core.partners)
    return replies.said(" ".join(await draft_only.switch_off(asked.core, asked.slack_id, named)))


def _programs(asked: Asking) -> tuple[list[str], str]:
    """The program named first, all of them without one, and the words after it."""
    first, _, rest = asked.command.rest.strip().partition(" ")
    if first in asked.core.partners:
        return [first], as_typed(rest.strip())
    return sorted(asked.core.partners), as_typed(asked.command.rest.strip())


async def _handover(asked: Asking) -> Block:
    """A preview; what begins with "post", as its button says it, is posted."""
    note = as_typed(asked.command.rest).strip()
    word, _, rest = note.partition(" ")
    if word.lower() != _POST:
        text = await handover.preview(asked.core, asked.slack_id, note)
        return status_view.handover_preview(text, f"countersign handover {_POST} {note}")
    await handover.give(asked.core, asked.slack_id, rest)
    return replies.said("✓ Your hand-over is in the alerts channel. The next person presses Accept there.")


async def _what_if(asked: Asking) -> Block:
    found = intents.read_what_if(asked.rest, asked=True)
    if found is None:
        raise NotFound(_HOW_WHAT_IF)
    return status_view.what_if(await what_if.answer(asked.core, found, asked.slack_id, program=asked.program))


async def _people(asked: Asking) -> Block:
    return await otp_recipients.answer(asked.core, asked.slack_id, asked.command.rest)


# The first word of what the button under the preview of a hand-over asks for.
_POST = "post"

_on_duty = partial(LookUp, group="on duty")
LOOK_UPS = (
    LookUp(
        ("countersign", "status"),
        _status,
        "/countersign status",
        "current float, requests and alerts, and whether sending is paused",
    ),
    _on_duty(
        ("countersign", "pause"),
        _pause,
        "/countersign pause [PROGRAM] [REASON]",
        "stop sending to your card provider immediately",
        role=people.Role.APPROVER_OR_ADMIN,
        is_safer=True,
    ),
    _on_duty(
        ("countersign", "resume"),
        _resume,
        "/countersign resume [PROGRAM]",
        "start sending again, with a second person's confirmation",
        role=people.Role.APPROVER_OR_ADMIN,
    ),
    _on_duty(
        ("countersign", "drafts"),
        _drafts,
        "/countersign drafts off [PROGRAM]",
        "send what is approved, with a second person's confirmation",
        role=people.Role.ADMIN,
    ),
    _on_duty(
        ("countersign", "handover"),
        _handover,
        "/countersign handover [NOTE]",
        "show what is open, and post it for the next shift",
    ),
    LookUp(
        ("countersign", "what-if"),
        _what_if,
        "/countersign what-if 40 cards at 200",
        "would it fit? It makes no request",
        shared=True,
    ),
    _on_duty(
        ("countersign", "people"),
        _people,
        "/countersign people [map REFERENCE @PERSON]",
        "who gets the one-time codes of which card",
        role=people.Role.ADMIN,
    ),
)
