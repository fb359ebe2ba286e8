"""What to do next with an approved request, and what an outcome does to it. Pure.

The history of attempts decides as much as the last answer: whether the key is known to the API,
whether it is spent, how often nobody knew. `next_step` chooses between sending and looking;
`after` turns an outcome into the change of the request.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from bot.domain.requests import UNSENT, Attempt, Event, Request, State
from bot.outcomes.outcome import Outcome
from bot.outcomes.timing import (
    KEY_TRUSTED_FOR,
    KEY_TRUSTED_UNSEEN_FOR,
    QUIESCENCE,
    RETRY_PAUSES,
    URGENT_EVERY,
    next_pause,
    reconcile_pause,
    urgent_pause,
    urgent_pauses_are_over,
)
from bot.partner.answers import Finding
from bot.partner.endpoints import Endpoint, meaning

HELD_FOR = timedelta(seconds=30)


class Step(StrEnum):
    SEND = "send"  # the first time
    REPLAY = "replay"  # the same key and bytes again
    LOOK = "look"  # read only


class Evidence(StrEnum):
    """What a look at the API (never a send) shows of a request."""

    DONE = "done"
    UNDONE = "undone"  # proved: it did not happen, or it was given back
    DEBITED = "debited"  # off the float, the credit is not proved
    TRACED = "traced"  # something names its key, so the API has that; what became of it is not proved
    HALF_DONE = "half_done"  # money moved, and the rest did not happen
    ABSENT = "absent"  # no trace
    UNSEEN = "unseen"  # not where it may or may not show: the same call again tells, a person if it may not be made
    UNPROVEN = "unproven"  # no trace, and absence proves nothing here
    REPLACED = (
        "replaced"  # a newer request was sent on the same setting: what is set now says nothing of this one
    )


_HAPPENED = frozenset({Finding.SUCCEEDED, Evidence.DONE, Evidence.DEBITED, Evidence.HALF_DONE})
_NAMES_ITS_KEY = frozenset({Evidence.DEBITED, Evidence.TRACED})
_NOBODY_KNOWS = frozenset({Finding.UNKNOWN, Finding.UNRESOLVED, Finding.EVIDENCE})
# What is sure not to have been executed. Every other attempt that did not end the request left a doubt.
_NOT_EXECUTED = frozenset({Finding.WAIT, Finding.HELD, Finding.NOTHING_YET})


def _shows_the_key(attempt: Attempt) -> bool:
    """It proves that the API has the key: repeating it cannot be the first to arrive.

    A row of the ledger under it does, and so does an answer about the key itself. A bare 502 does not: it may be of a
    gateway that passed nothing on.
    """
    if attempt.finding in _NAMES_ITS_KEY:
        return True
    if (
        attempt.code == "ALREADY_PROCESSED"
    ):  # and no reading tells what became of it: only the key itself may yet
        return attempt.finding in (Finding.UNRESOLVED, Evidence.UNPROVEN)
    return attempt.finding == Finding.UNRESOLVED and attempt.status == 200


@dataclass(frozen=True, slots=True)
class History:
    """What the attempts so far say together."""

    sent: bool
    unanswered: bool
    was_carried_out: bool  # a call was answered with success, or a look found its effect: it did happen
    not_executed: int  # sends that were sure not to be executed
    unknown: int  # sends and looks after which nobody knew
    key_seen: bool
    key_spent: bool
    last_doubt_at: datetime | None  # when the last send with an unknown outcome left
    last_asked_at: datetime | None  # when the last answered attempt left, a look or a send
    replaced_at: datetime | None  # when the last look left that met a newer request's work

    @classmethod
    def of(cls, attempts: Sequence[Attempt], endpoint: Endpoint) -> History:
        """What the attempts at this endpoint under one key say, in the order they were made."""
        sends = [a for a in attempts if a.purpose != Step.LOOK]
        unanswered = [a for a in sends if a.answered_at is None]
        doubtful = [a for a in sends if a.finding in _NOBODY_KNOWS or a.finding in _NAMES_ITS_KEY]
        last = [a.sent_at for a in (*unanswered, *doubtful)]
        asked = [a.sent_at for a in attempts if a.answered_at is not None]
        replaced = [a.sent_at for a in attempts if a.finding == Evidence.REPLACED]
        return cls(
            sent=bool(sends),
            unanswered=bool(unanswered),
            was_carried_out=any(a.status == 200 or a.finding in _HAPPENED for a in attempts),
            not_executed=len([a for a in sends if a.finding in _NOT_EXECUTED]),
            unknown=len([a for a in attempts if a.answered_at is None or a.finding not in _NOT_EXECUTED]),
            key_seen=any(map(_shows_the_key, attempts)),
            key_spent=any(meaning(endpoint, a.status, a.code).spends_key for a in sends),
            last_doubt_at=max(last, default=None),
            last_asked_at=max(asked, default=None),
            replaced_at=max(replaced, default=None),
        )

    @property
    def leaves_a_doubt(self) -> bool:
        """Something of it may have been executed, or the API is known to have its key."""
        return self.unanswered or self.last_doubt_at is not None or self.key_seen or self.key_spent

    def is_quiet(self, now: datetime) -> bool:
        """No request of ours with this key can still be on its way."""
        return self.last_doubt_at is None or now >= self.last_doubt_at + QUIESCENCE

    @property
    def is_looked_at(self) -> bool:
        """The API was asked once more since no request of ours can still be on its way."""
        return self.last_asked_at is not None and self.is_quiet(self.last_asked_at)

    @property
    def is_replaced(self) -> bool:
        """Nothing of it can still arrive, and a newer request was sent on its setting: no reading tells any more."""
        return self.replaced_at is not None and self.is_quiet(self.replaced_at)


def next_step(
    request: Request, history: History, now: datetime, *, approval_holds: bool, is_urgent: bool = False
) -> Step:
    """Send, repeat or only look. `approval_holds`: the re-check just made found nothing against it.

    A repeat may be the first to arrive, so without proof that the API knows the key it needs a valid
    approval. An outdated key is never sent again, a spent one only where the ledger shows its debit alone:
    then no other debit can come of it, and only its 200 tells that the card was credited.
    """
    if is_outdated(request, now, is_urgent=is_urgent):
        return Step.LOOK
    if history.key_seen:
        return Step.REPLAY
    if history.key_spent or not approval_holds or approval_is_void(request):
        return Step.LOOK
    return Step.REPLAY if history.sent else Step.SEND


def is_outdated(request: Request, now: datetime, *, is_urgent: bool = False) -> bool:
    """The key must not be sent any more: look only.

    So long after the first send the API may have forgotten it; or the request was given up once, and
    `key_expires_at` says since when. What is urgent does the same however often it is sent, with a key that the API
    knows or without.
    """
    if is_urgent:
        return False
    expires_at = request.key_expires_at
    if approval_is_void(request):
        expires_at = request.created_at + KEY_TRUSTED_UNSEEN_FOR
    if expires_at is not None and now >= expires_at:
        return True
    return request.first_sent_at is not None and now >= request.first_sent_at + KEY_TRUSTED_FOR


def is_doubtful(request: Request, now: datetime) -> bool:
    """It was not sent by what is on record, and may have been before an older copy of the database was put in place, so
    long ago that the API may have forgotten its key: it must not be sent at all, nor approved."""
    return request.state in UNSENT and request.key_expires_at is not None and now >= request.key_expires_at


def may_have_been_sent_since(request: Request, now: datetime) -> datetime:
    """From when on the API may show a trace of it: the first send, or the request itself where an older copy of the
    database has forgotten sends."""
    sent_at = request.first_sent_at or now
    return min(request.created_at, sent_at) if is_of_a_copy(request) else sent_at


def is_of_a_copy(request: Request) -> bool:
    """Was it open in an older copy of the database that was put in place? What was done after the copy is not known."""
    was_unsent = request.key_expires_at == request.created_at + KEY_TRUSTED_UNSEEN_FOR
    return was_unsent or approval_is_void(request)


def approval_is_void(request: Request) -> bool:
    """It was being sent when an older copy of the database was made, so its approval is of before: it is sent again
    only where the API is known to have its key. Such a key counts as expired from the start, as no other does."""
    return request.key_expires_at is not None and request.key_expires_at <= request.created_at


def doubts(request: Request, now: datetime, *, of_a_copy: bool = True) -> dict[str, Any]:
    """What is written of an open request that may have been sent without our knowledge: from now on a refusal of it
    proves nothing.

    What was not sent by what is on record may have been, so its key counts as known to the API from the request on.
    Where it is of an older copy of the database (`of_a_copy`), what was sent needs a new approval, unless the API is
    known to have its key.
    """
    found: dict[str, Any] = {"outcome_unknown": True}
    expires_at = request.key_expires_at
    if request.state in UNSENT:
        if request.first_sent_at is None and expires_at is None:
            found["key_expires_at"] = request.created_at + KEY_TRUSTED_UNSEEN_FOR
    elif of_a_copy and (expires_at is None or expires_at > now):
        found["key_expires_at"] = request.created_at
    return found


def approval_is_valid(request: Request, now: datetime) -> bool:
    return request.valid_until is not None and now < request.valid_until


# What follows from it where nothing of it was done.
_REQUEST_AGAIN = re.compile(r"\s*(?:Make a new request|Request it again) if it is still wanted\.")
_INSTEAD = (
    "An older copy of the database was put in place while this was open, so it may have been requested again and paid"
    " since: check the card and the ledger before you request it again."
)
_ASK_A_PERSON = "Someone must check this by hand. Do not repeat it."
_REPLACED = (
    "Do not repeat this. Two people close it with Resolve: they say whether it was in force for a while."
)


def settle(
    evidence: Evidence,
    text: str,
    *,
    history: History,
    refused: Outcome | None,
    approval_holds: bool,
    outdated: bool,
    now: datetime,
    waits_for: str = "",
) -> Outcome:
    """What a look proves. `refused` is the answer of this attempt that sent us to look, if one did.

    `waits_for`: why nobody can say just now whether it may be sent again; then no absence ends it.

    Absence is believed only when nothing of ours can still arrive, and only from sources where a
    trace would have to be.
    """
    if refused is not None and refused.cause and evidence is not Evidence.DONE:
        text = f"{refused.cause} {text}"
    match evidence:
        case Evidence.DONE:
            return Outcome(Finding.SUCCEEDED, text)
        case Evidence.UNDONE:
            return Outcome(
                Finding.REFUSED, f"{text} Nothing is missing. Request it again if it is still wanted."
            )
        case Evidence.DEBITED | Evidence.TRACED if refused is None and not history.key_spent and not outdated:
            return Outcome(Finding.UNKNOWN, f"{text} Do not repeat this; the same key is sent again.")
        case Evidence.DEBITED:
            return Outcome(
                Finding.UNRESOLVED,
                f"{text} Do not repeat this; Countersign checks it with your card provider.",
            )
        case Evidence.UNPROVEN | Evidence.TRACED | Evidence.HALF_DONE:
            return Outcome(Finding.UNRESOLVED, f"{text} {_ASK_A_PERSON}")
    if not history.is_quiet(now):
        return Outcome(Finding.UNKNOWN, f"{text} An earlier attempt may still arrive; do not repeat this.")
    if evidence is Evidence.REPLACED:
        return Outcome(Finding.UNRESOLVED, f"{text} {_REPLACED}")
    if refused is None and approval_holds and not history.key_spent and not outdated:
        return Outcome(Finding.UNKNOWN, f"{text} Do not repeat this; the same key is sent again.")
    if evidence is Evidence.UNSEEN:
        return Outcome(Finding.UNRESOLVED, f"{text} {_ASK_A_PERSON}")
    if waits_for:
        return Outcome(Finding.NOTHING_YET, f"{text} {waits_for}", cause=waits_for)
    cause = refused.cause if refused else ""
    return Outcome(
        Finding.REFUSED, f"{text} Nothing moved. Make a new request if it is still wanted.", cause=cause
    )


@dataclass(frozen=True, slots=True)
class Change:
    """What an outcome does to a request. `due_in` None = nothing more to do."""

    event: Event | None
    due_in: timedelta | None
    outcome_unknown: bool
    needs_person: bool
    text: str


# True of every kind; what that means for money stands beside the state word.
LAPSED = (
    "The approval expired before it could be sent again. It was not carried out. Make a new request if it is still"
    " wanted."
)


def after(
    outcome: Outcome,
    request: Request,
    history: History,
    now: datetime,
    *,
    readable: bool,
    is_urgent: bool = False,
) -> Change:
    """The change an outcome makes. `history` includes the attempt just answered; `readable` = another look may
    tell more."""
    unknown = request.outcome_unknown
    match outcome.finding:
        case Finding.SUCCEEDED:
            return Change(Event.SUCCEED, None, unknown, False, outcome.text)
        case Finding.REFUSED:
            return Change(Event.FAIL, None, unknown, False, _beside_a_copy(request, outcome.text))
        case _ if is_urgent and readable:
            return _tried_again(outcome, request, now)
        case Finding.WAIT | Finding.NOTHING_YET | Finding.HELD:
            return _not_executed(outcome, request, history, now)
    unresolved = outcome.finding is Finding.UNRESOLVED
    pause = next_pause(max(history.unknown, 1), outcome.pauses)
    lost = (unresolved or pause is None) and request.state is State.EXECUTING
    first_sent_at = request.first_sent_at or now
    outdated = is_outdated(request, now)
    return Change(
        event=Event.LOSE_SIGHT if lost else None,
        due_in=pause or reconcile_pause(now - first_sent_at),
        outcome_unknown=True,
        needs_person=request.needs_person or outdated or (unresolved and not readable),
        text=outcome.text,
    )


def _beside_a_copy(request: Request, text: str) -> str:
    """Of this request nothing moved, and another one may have been paid instead of it, which nothing here knows."""
    return f"{_REQUEST_AGAIN.sub('', text)} {_INSTEAD}" if is_of_a_copy(request) else text


def _tried_again(outcome: Outcome, request: Request, now: datetime) -> Change:
    """What cannot wait has not happened, or nobody knows: it is tried again, and its approval does not expire.

    After a 429 too: a place in the rolling minute may be free in a second, whatever Retry-After says [Errors].
    """
    since = now - (request.first_sent_at or now)
    unknown = request.outcome_unknown or outcome.finding in _NOBODY_KNOWS
    lost = unknown and request.state is State.EXECUTING and urgent_pauses_are_over(since)
    return Change(
        event=Event.LOSE_SIGHT if lost else None,
        due_in=urgent_pause(since),
        outcome_unknown=unknown,
        needs_person=request.needs_person,
        text=outcome.text,
    )


def not_final(outcome: Outcome, request: Request) -> Change:
    """It has happened, and something older may undo it: the request stays as it is and is looked at again soon."""
    return Change(None, URGENT_EVERY, request.outcome_unknown, request.needs_person, outcome.text)


def _not_executed(outcome: Outcome, request: Request, history: History, now: datetime) -> Change:
    """429, 401, 403, no connection: this call did nothing, and the history stays what it was."""
    pause = _pause(outcome, history)
    if request.outcome_unknown or request.state is State.UNRESOLVED:
        return Change(None, pause, request.outcome_unknown, request.needs_person, outcome.text)
    if request.valid_until is None or not approval_is_valid(request, now):
        return Change(Event.FAIL, None, False, False, f"{outcome.cause} {LAPSED}".strip())
    # Woken when the approval expires, if not before: then it ends, as nothing was executed.
    return Change(None, min(pause, request.valid_until - now), False, False, outcome.text)


def _pause(outcome: Outcome, history: History) -> timedelta:
    if outcome.finding is Finding.HELD:
        return HELD_FOR
    if outcome.finding is Finding.WAIT:
        return timedelta(seconds=outcome.retry_after_s or 60)
    return next_pause(max(history.not_executed, 1)) or RETRY_PAUSES[-1]


def never_executed(request: Request, history: History, now: datetime) -> bool:
    """The approval has expired and whatever was sent is sure not to have been executed: it has failed."""
    return was_refused(request, history) and not approval_is_valid(request, now)


def was_refused(request: Request, history: History) -> bool:
    """It was sent, and every call of it is sure not to have been executed: it may still be cancelled."""
    is_in_doubt = request.outcome_unknown or history.leaves_a_doubt
    return history.sent and not is_in_doubt and not history.was_carried_out
