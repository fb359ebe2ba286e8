"""What cannot wait, such as a freeze: whether a request of it has happened, and what people are shown until then."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from functools import cache
from typing import Any, Final

from bot import operations
from bot.domain.people import approved_while_paused, draft_only
from bot.domain.requests import EITHER, Request, State
from bot.domain.sentences import with_stop
from bot.operations._base import Operation
from bot.operations._handling import Urgency
from bot.outcomes import Finding, Outcome, timing

_TO_COME = frozenset({State.APPROVED, State.EXECUTING, State.UNRESOLVED})
# What an outcome keeps of what a pause held back before its first try.
HELD_BY_A_PAUSE: Final = {"held_by_a_pause": True}
# What an outcome keeps while it has happened and is not final: the ids of the older requests that may undo it.
_MAY_UNDO_IT = "may_be_undone_by"
# What an outcome keeps where a newer request was sent on the setting: its id. The older one waits for nothing then.
_REPLACED_BY = "replaced_by"


@cache
def _kinds() -> Mapping[str, type[Operation]]:
    return operations.kinds()


def urgency_of(kind: str) -> Urgency | None:
    """What a kind says of itself; None for one that can wait, or that this version does not know."""
    cls = _kinds().get(kind)
    return cls.handling.urgency if cls else None


def failed_how(kind: str) -> str:
    """What is true of every request of this kind that has failed: of its money, or of what it would have changed."""
    urgency = urgency_of(kind)
    if urgency is not None:
        return urgency.not_done
    return EITHER if operations.moves_money(kind) else "nothing was changed"


def is_waiting(request: Request) -> bool:
    """Urgent, approved, and at least one try of it has failed: as far as anybody knows it has not happened.

    A batch never waits: its rows are what is tried.
    """
    if request.is_batch or request.state not in _TO_COME or urgency_of(request.kind) is None:
        return False
    if is_for_now(request) or (request.outcome or {}).get(_REPLACED_BY):
        return False
    return bool(request.outcome_text) or request.outcome_unknown or request.state is State.UNRESOLVED


def is_for_now(request: Request) -> bool:
    """It has happened as far as the last reading goes, and an older call that is on its way may undo it."""
    return request.state in _TO_COME and bool((request.outcome or {}).get(_MAY_UNDO_IT))


def not_yet(request: Request) -> str:
    """What stands beside the state word while it waits ("Not frozen yet") or is not final, else empty."""
    urgency = urgency_of(request.kind)
    if urgency is None:
        return ""
    if is_for_now(request):
        return urgency.for_now
    return urgency.not_yet if is_waiting(request) else ""


def for_now(outcome: Outcome, kind: str, older: Iterable[Request]) -> Outcome:
    """A success that is not final: what these older requests have sent may still be carried out after it."""
    urgency, found = urgency_of(kind), sorted(older, key=lambda request: request.id)
    if urgency is None:
        return outcome
    named = ", ".join(f"{request.id} ({request.summary})" for request in found)
    are, them = ("is", "it") if len(found) == 1 else ("are", "they")
    text = (
        f"{urgency.for_now}. {outcome.text} {named} {are} older and still under way: {them} may undo this."
        f" Countersign looks every {timing.URGENT_EVERY.seconds} seconds and sends this again if that happens; it says"
        " when this is final."
    )
    facts = {**outcome.facts, _MAY_UNDO_IT: [request.id for request in found]}
    return replace(outcome, finding=Finding.UNKNOWN, text=text, facts=facts)


def no_longer_for_now(outcome: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """The same facts of an outcome once they no longer hold."""
    return None if outcome is None else {name: outcome[name] for name in outcome if name != _MAY_UNDO_IT}


def replaced_by(newer: Request) -> dict[str, Any]:
    """What an outcome keeps of the newer request on its setting, which was sent after it."""
    return {_REPLACED_BY: newer.id}


def waited_for_a_pause(request: Request) -> bool:
    """A pause held it back before its first try: then no time ends it."""
    return bool(request.outcome) and HELD_BY_A_PAUSE.items() <= dict(request.outcome or {}).items()


def while_paused(kind: str, why: str) -> str:
    """`why` sending is paused, and what that means for a request of this kind that is made or approved meanwhile."""
    urgency = urgency_of(kind)
    if draft_only.is_said_in(why):
        return draft_only.approved_as_draft(why, urgency.not_done if urgency else "")
    if urgency is None:
        return approved_while_paused(why)
    return (
        f"{with_stop(why)} So this is not sent now, and the card is {urgency.not_done}. {urgency.meanwhile} It waits"
        f" until sending resumes and then goes first; it does not expire. {urgency.advice}"
    )


def while_stopped(why: str) -> str:
    """That what waits is not sent just now; `why` is a sentence, with or without its full stop."""
    return (
        f"It is not sent now: {with_stop(why)} It is sent as soon as sending resumes, before everything else."
    )


def next_try(request: Request, at: Callable[[datetime], str]) -> str:
    """When it is tried again, in a sentence; `at` writes a time. For a request whose first try was made."""
    first = request.first_sent_at
    if request.due_at is None or first is None:
        return "Countersign tries again every 5 seconds."
    often_until = first + timing.URGENT_FOR
    if request.due_at <= often_until:
        return f"Countersign tries again every 5 seconds until {at(often_until)}, then less and less often."
    return f"Countersign keeps trying. The next try is at {at(request.due_at)}."
