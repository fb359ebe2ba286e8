"""What only makes things safer, by what Slack sends of it: a pause, a "no", a freeze. It is never too much for one.

Plain English is known for what it is once it is read, and of that each person has another budget; so any message that
says one of these words is read.
"""

from __future__ import annotations

import re

from bot.operations import Operation
from handlers.commands import Command, all_lookups, grammar
from handlers.guard import Turn
from handlers.views import ids

_STOP = frozenset({ids.REJECT, ids.CANCEL})
_SAYS_SO = re.compile(r"\b(?:pause|freeze|stop|reject|cancel)", re.IGNORECASE)
_FORMS = frozenset({ids.FORM, ids.PREVIEW})


def is_safer(turn: Turn) -> bool:
    """Does this click, command, message or form only stop something?"""
    body = turn.body
    if "command" in body:
        return _is_command(turn, grammar.from_slash(str(body["command"]), str(body.get("text") or "")))
    match body.get("type"):
        case "block_actions":
            action = str(turn.action.get("action_id", ""))
            if action.startswith(ids.OPEN_FORM):
                return _is_command(turn, grammar.from_text(str(turn.action.get("value", ""))))
            return action in _STOP or action.startswith(f"{ids.PAUSE}:")
        case "view_submission":
            return _is_form(turn)
        case "event_callback":
            return bool(_SAYS_SO.search(str(turn.event.get("text") or "")))
        case _:
            return False


def _is_command(turn: Turn, asked: Command) -> bool:
    look_up = all_lookups.LOOK_UPS.get((asked.command, asked.subcommand))
    return (look_up is not None and look_up.is_safer) or _is_urgent(asked.kind(turn.core.kinds))


def _is_form(turn: Turn) -> bool:
    name = str(turn.view.get("callback_id"))
    if name not in _FORMS:
        return name in (*_STOP, ids.PAUSE_FORM)
    kind = ids.unpack(turn.view["private_metadata"]).get("kind", "")
    return _is_urgent(turn.core.kinds.get(kind))


def _is_urgent(kind: type[Operation] | None) -> bool:
    return kind is not None and kind.handling.is_urgent
