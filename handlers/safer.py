"""What only makes things safer, by what Slack sends of it: a pause, a "no", a freeze. It is never too much for one.

What a button of a conversation or a draft leads to stands in the database; it may be a freeze, so it counts as one.
Plain English is known for what it is once it is read, and has a budget of its own: of messages only a command that
stops nothing is refused by this one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime

from bot import intents
from bot.operations import Operation
from handlers.commands import Command, all_lookups, dispatch, grammar
from handlers.guard import Turn
from handlers.views import ids

#: To press, or to submit: a "no".
_STOP = frozenset({ids.REJECT, ids.CANCEL, ids.ALERT_DECLINE, ids.BULK_LEAVE_OUT, ids.BULK_LEFT_OUT})
_MAY_STOP = frozenset({ids.EDIT, ids.ALERT_REMEDY, ids.BULK_REVIEW})
#: Of a menu under the dots of a request, the choice that stops it.
_STOPS = "cancel:"
_IN_A_CONVERSATION = "say:"
_SAYS_SO = re.compile(
    r"\b(?:pause|freez|froze|lock|block|stop|halt|hold|suspend|disable|deactivat|reject|cancel|withdraw|undo|lost|stole)",
    re.IGNORECASE,
)
_STOPPING = frozenset({"pause_sending", "undo"})
_CARD = re.compile(r"(?<![0-9])[0-9]{4}(?![0-9])")
_MOST_CARDS = 5
_FORMS = frozenset({ids.FORM, ids.PREVIEW, ids.BULK_PASTE, ids.BULK_PREVIEW})


def is_safer(turn: Turn) -> bool:
    """Does this click, command, message or form only stop something, or may it, as far as this shows?"""
    body = turn.body
    if "command" in body:
        return _is_command(turn, grammar.from_slash(str(body["command"]), str(body.get("text") or "")))
    match body.get("type"):
        case "block_actions":
            return _is_press(turn)
        case "view_submission":
            return _is_form(turn)
        case "event_callback":
            return _is_message(turn, str(turn.event.get("text") or ""))
        case _:
            return False


def says_so(text: str) -> bool:
    """Is there a word in it by which people stop something? It is read whatever else they wrote."""
    return bool(_SAYS_SO.search(text))


def is_read_so(text: str, now: datetime, kinds: Mapping[str, type[Operation]]) -> bool:
    """Does whatever reads plain English find in it, or suggest, that somebody stops something?

    It looks nothing up: numbers of four digits are taken for cards.
    """
    numbers = tuple(dict.fromkeys(_CARD.findall(text)))[:_MOST_CARDS]
    parsed = intents.parse(
        text, intents.Facts(now, cards=tuple(intents.KnownCard(one, "") for one in numbers))
    )
    found = {one.intent for one in parsed.suggestions}
    found |= {intent for one in parsed.readings for intent in (one.intent, one.wanted)}
    return bool(found & (_STOPPING | {kind.intent for kind in kinds.values() if _is_urgent(kind)}))


def _is_press(turn: Turn) -> bool:
    action = str(turn.action.get("action_id", ""))
    value = str((turn.action.get("selected_option") or turn.action).get("value", ""))
    if action.startswith(ids.OPEN_FORM):
        return _is_command(turn, grammar.from_text(value))
    if action == ids.MORE:
        return value.startswith(_STOPS)
    return action in _STOP | _MAY_STOP or action.startswith((f"{ids.PAUSE}:", _IN_A_CONVERSATION))


def _is_message(turn: Turn, text: str) -> bool:
    asked = grammar.from_message(text)
    return says_so(text) or not dispatch.is_command(turn.core, asked)


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
