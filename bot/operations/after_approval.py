"""What follows an approval, in words: for the window in Slack, for the page for passkeys, and for what both answer."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from bot.domain.people import APPROVAL_VALID_IN_WORDS
from bot.domain.requests import HOW_TO_RESOLVE, Request, State
from bot.domain.time import in_words
from bot.operations import urgency


def would_follow(
    asked: Request, given: int, *, is_draft: bool, is_paused: bool, waits: bool, cool_off: timedelta
) -> str:
    """What an approver reads before: which approval of how many it is, and what it leads to. No full stop.

    `given`: approvals so far. `waits`: for another request on the same target. `cool_off`: how long any approver can
    stop it after the last approval.
    """
    left = asked.approvals_needed - given - 1
    if left > 0:
        then = f"It needs {_more_approvals(left)} after yours"
    elif is_draft:
        then = "Nothing is sent: it is a draft"
    elif is_paused:
        then = "It is sent once sending resumes"
    elif cool_off:
        then = f"It is sent {in_words(cool_off)} later, unless an approver stops it"
    elif waits:
        then = "It then waits for another request on the same card"
    else:
        then = "Approving sends it immediately"
    return f"You give approval {given + 1} of {asked.approvals_needed}. {then}"


def follows(
    found: Request,
    approvals: int,
    paused: str = "",
    waits_for: Sequence[str] = (),
    *,
    sent_from: datetime | None,
    unread: bool = False,
) -> str:
    """What is so once the approval is recorded.

    `sent_from`: it is not sent before then, so that an approver can stop it.
    `unread`: the API could not be read for the window, as it has to be before anything is sent.
    """
    if found.state is State.PENDING:
        return f"It needs {_more_approvals(found.approvals_needed - approvals)} before anything is sent."
    if paused:
        return f"{urgency.while_paused(found.kind, paused)} The outcome appears on the request."
    if waits_for:
        why = goes_first(waits_for)
        return f"{why} It waits {APPROVAL_VALID_IN_WORDS} at most; the outcome appears on the request."
    if sent_from is not None:
        return f"It is not sent before {sent_from:%Y-%m-%d %H:%M} UTC. Until then any approver can stop it."
    if unread:
        end = f" {found.valid_until:%Y-%m-%d %H:%M} UTC" if found.valid_until else ""
        return (
            f"Your card provider could not be read just now, so it is not sent yet. It waits"
            f" until{end or ' its approval expires'}, then it ends and nothing is sent. The outcome appears on the"
            " request."
        )
    return "It is being sent now; the outcome appears on the request."


def goes_first(ids_of_others: Sequence[str]) -> str:
    """That nothing is sent before the outcome of other requests on the same card is known, and who can settle it."""
    named = ", ".join(ids_of_others)
    return f"It is not sent yet: it waits for {named} on the same card, whose outcome is not known. {HOW_TO_RESOLVE}"


def when_read(last_read: str) -> str:
    """Where the API could not be read now. `last_read`: when what is shown was read, with its age; "" = never."""
    if not last_read:
        return "Nothing was read earlier either."
    return f"What is shown was read when it was requested ({last_read})."


def _more_approvals(count: int) -> str:
    return f"{count} more approval" if count == 1 else f"{count} more approvals"
