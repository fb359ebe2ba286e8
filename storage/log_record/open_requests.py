"""Which requests are open by the audit log, and what no entry about a request may say after another. Pure.

A row of the database that somebody put back says that a request is pending or approved although it was rejected,
cancelled, stopped or sent since: row, decisions and signatures are genuine then. The log tells.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, MutableMapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import lru_cache
from typing import Any, Protocol

from bot.domain.requests import (
    OPEN,
    TRANSITIONS,
    UNSENT,
    Attempt,
    Event,
    Request,
    State,
    fingerprints,
    moves_of,
)
from storage.audit import ENDED, SIGNED_AGAIN
from storage.columns import time_text
from storage.transaction import Contradiction, RequestRow

BEGINS = "request."
SUBMITTED, APPROVAL, AT_ONCE = "request.submitted", "request.approval", "request.break_glass"
ATTEMPT, OUTCOME, LEFT_OUT = "request.attempt", "request.outcome", "request.rows_left_out"
RESOLVED, PROPOSED = "request.resolved_by_hand", "request.resolution_proposed"
DOUBTED = "request.doubted"
"""Of a request that may have been sent without our knowledge; its body has how that was to leave its row."""
WORDS = "words"
"""In an entry by which people decide: what their decisions say, as fingerprints by their ids."""
UNTIL = "until"
"""In the entry that says that a request is approved: until when that is good, as its row has it."""
NO_ROW = "none"
"""The fingerprint of no row: such a request goes no further, and people are notified as soon as it is looked at."""
ANSWERED_LATE = "attempt.answered"
"""Of a call whose process had lost its request by then."""
REOPENED = "request.reopened"
CONFIRMED = "request.confirmed"
PUT_RIGHT = "request.put_right"
"""Of a request whose row was not as on record: it has ended, or people have to say how it did."""
_STATES = {state.value: state for state in State}
_CLAIMED = moves_of(Event.CLAIM)
_FROM_PENDING = frozenset({APPROVAL, AT_ONCE})
_STOPS = frozenset({State.REJECTED, State.CANCELLED, State.EXPIRED})
# What is said of a request that has ended leads on to nothing, but for these.
_NEEDS_OPEN = frozenset({APPROVAL, AT_ONCE, ATTEMPT, OUTCOME, RESOLVED, PROPOSED, LEFT_OUT})
# A request that failed is looked at again; a list follows its rows.
_REOPENS = frozenset({REOPENED, "request.unresolved"})
_ENDS = frozenset(f"{BEGINS}{state}" for state in _STOPS)
# Nothing more of a list is sent after these; what was sent of it is looked up.
_STOPS_THE_REST = frozenset({"request.stopped", "request.rejected_before_sending", PUT_RIGHT})
# Somebody decided; each of these says by which decisions.
_OF_DECISIONS = frozenset({APPROVAL, AT_ONCE, PROPOSED, "request.rejected_before_sending"})
# What these are about is what was requested.
_GIVES = frozenset({APPROVAL, AT_ONCE, ATTEMPT, RESOLVED})
# These lean on what people have approved until then.
_NEEDS_ITS_APPROVALS = frozenset({APPROVAL, AT_ONCE, ATTEMPT})
_OTHER_APPROVAL = "when it was approved was changed in its row"
_OTHERWISE_ENDED = "how it ended was changed in its row"
_OTHER_END = "when its approval ends was changed in its row"
# Nothing of these calls anything, or says what came of a call: what the row says of its calls is as before.
_KEEPS_CALLS = frozenset(
    {
        *(APPROVAL, AT_ONCE, LEFT_OUT, PROPOSED, RESOLVED, "request.rejected_before_sending"),
        *(f"{BEGINS}{state}" for state in _STOPS),
    }
)
_OLDER = "and an older state of it was put back"


class EntryOnRequest(Protocol):
    """An entry of the log, as `LogEntry`."""

    @property
    def seq(self) -> int: ...
    @property
    def at(self) -> str: ...
    @property
    def actor(self) -> str: ...
    @property
    def action(self) -> str: ...
    @property
    def subject(self) -> str: ...
    @property
    def outcome(self) -> str: ...
    @property
    def body(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Call:
    """The fingerprints of a call as it began, and of what it was answered ("" = not yet). `is_late`: its process had
    lost the request by then."""

    call: str
    answer: str = ""
    is_late: bool = False


@dataclass(frozen=True, slots=True)
class Ended:
    """How a row of a list ended; `end`: the fingerprint of what its row says of that ("" = not known)."""

    state: State
    end: str


@dataclass(frozen=True, slots=True)
class OpenRequest:
    """A request that has not ended, as its last entry, number `seq`, has left it.

    `calls`: how many were begun. `said`: how it ended as each person said last, by Slack id. `progress`: the
    fingerprint of what its row says of its calls, and `made`: each call by its number; None = an older version made
    some of it. `approved_at`: when it was approved, as the log writes it ("" = not yet, None = not known any more);
    `until`: until when that is good, the same (None = an older version approved it, or a list, whose rows have it).
    `kind`: as it was submitted ("" = not known). `parent`: the list that it is a row of, once that was approved. Of a
    list, `ended`: its rows that have ended, by id; `is_stopped`: nothing more of it is sent. `is_given`: somebody has
    approved it. `decided`: the ids of the decisions on it, the first one first (None = an older version recorded some
    without their ids). `is_of_copy`: it was open when an older copy of the database was put in place; `is_void`: and
    approved by then, which counts no more.
    """

    seq: int
    state: State
    version: int
    digest: str
    calls: int = 0
    approved_at: str | None = ""
    until: str | None = None
    said: Mapping[str, str] | None = None
    progress: str | None = None
    made: Mapping[int, Call] | None = field(default_factory=dict)
    kind: str = ""
    parent: str = ""
    ended: Mapping[str, Ended] = field(default_factory=dict)
    is_stopped: bool = False
    is_given: bool = False
    decided: tuple[str, ...] | None = ()
    is_of_copy: bool = False
    is_void: bool = False

    @property
    def counts_no_more(self) -> bool:
        """May it neither be sent nor approved any more, though it is not over?"""
        return self.is_void and self.state in UNSENT


def id_of(entry: EntryOnRequest) -> str:
    """Of the request that this entry changes or keeps; "" = it is about something else, or tells of a refusal."""
    if entry.outcome != "ok" or not entry.action.startswith(BEGINS):
        return ""
    about, _, rest = entry.subject.partition(":")
    return rest.partition(":")[0] if about == "request" else ""


def state_of(entry: EntryOnRequest) -> State | None:
    """The state in which it has left its request; None where it changes none, as one that was signed again."""
    return None if entry.action == SIGNED_AGAIN else _state(_read(entry))


def take(found: MutableMapping[str, OpenRequest], entry: EntryOnRequest) -> None:
    """Go on by an entry. What contradicts those before it brings nothing back that has ended."""
    request_id = id_of(entry)
    if not request_id:
        return
    known = found.get(request_id)
    if known is None and entry.action != SUBMITTED and entry.action not in _REOPENS:
        _left_otherwise(found, request_id, entry)
        return
    if entry.action in _ENDS:
        _end(found, request_id, State(entry.action.removeprefix(BEGINS)), entry)
        return
    body = _read(entry)
    if known is not None and entry.action == DOUBTED:
        found[request_id] = replace(known, progress=str(body["progress"]))
        return
    if known is not None and entry.action == SIGNED_AGAIN:  # whatever it says beside that
        found[request_id] = replace(known, seq=entry.seq, digest=str(body.get("digest", "")))
        return
    state = _state(body)
    if state is None:
        return
    if state not in OPEN:
        _end(found, request_id, state, entry)
        return
    if known is not None and _why_not(known, entry, state):
        return
    before = known or OpenRequest(entry.seq, state, 0, "")
    found[request_id] = OpenRequest(
        entry.seq,
        state,
        _version(entry),
        str(body.get("digest", "")),
        calls=before.calls + (entry.action == ATTEMPT),
        said=_said(before, entry, body),
        progress=body.get("progress"),
        made=_made(before, entry, body, is_new=known is None),
        approved_at=_approved_at(known, entry, state),
        until=body.get(UNTIL, before.until),
        kind=before.kind or str(body.get("kind", "")),
        parent=before.parent or _parent_of(found, request_id, entry, body),
        is_stopped=before.is_stopped or entry.action in _STOPS_THE_REST,
        is_given=before.is_given or entry.action in _FROM_PENDING,
        decided=_decided(before, entry, body, is_new=known is None),
    )


def _decided(
    before: OpenRequest, entry: EntryOnRequest, body: Mapping[str, Any], *, is_new: bool
) -> tuple[str, ...] | None:
    if before.decided is None or (is_new and entry.action != SUBMITTED):
        return None
    if entry.action == LEFT_OUT:  # what was approved until then counts no more
        return ()
    said = tuple(body.get(WORDS, ()))
    return None if entry.action in _OF_DECISIONS and not said else (*before.decided, *said)


def _end(
    found: MutableMapping[str, OpenRequest], request_id: str, state: State, entry: EntryOnRequest
) -> None:
    """It is open no more, and its list knows how it ended."""
    known = found.pop(request_id, None)
    whole = found.get(known.parent) if known is not None and known.parent else None
    if known is not None and whole is not None:
        ended = Ended(state, _end_of(_read(entry)))
        found[known.parent] = replace(whole, ended={**whole.ended, request_id: ended})


def _left_otherwise(found: MutableMapping[str, OpenRequest], request_id: str, entry: EntryOnRequest) -> None:
    """A row that has ended says something else of that since, as that its amount came back."""
    end = _end_of(_read(entry)) if f'"{ENDED}":' in entry.body else ""
    whole = found.get(_list_of(found, request_id)) if end else None
    if whole is not None:
        ended = replace(whole.ended[request_id], end=end)
        found[_list_of(found, request_id)] = replace(whole, ended={**whole.ended, request_id: ended})


def _end_of(body: Mapping[str, Any]) -> str:
    return str(body.get(ENDED, ("", ""))[1])


def _parent_of(
    found: Mapping[str, OpenRequest], request_id: str, entry: EntryOnRequest, body: Mapping[str, Any]
) -> str:
    """Of an entry by which a row is approved, or is looked at again."""
    if entry.action in _REOPENS:
        return _list_of(found, request_id)
    return str(body.get("batch", "")) if entry.action == APPROVAL else ""


def _list_of(found: Mapping[str, OpenRequest], request_id: str) -> str:
    """The open list of which this is a row that has ended; "" = there is none."""
    return next((list_id for list_id, one in found.items() if request_id in one.ended), "")


def row_differs(row: Request, known: Mapping[str, OpenRequest]) -> Contradiction | None:
    """Where the row of a list, or of any request, is in another state than the log has it, or has ended otherwise.

    Of what has ended only rows are known whose lists are open. `known`: all that are open."""
    one, whole = known.get(row.id), known.get(row.parent_id or "")
    ended = None if one is not None or whole is None else whole.ended.get(row.id)
    state = one.state if one is not None else ended.state if ended is not None else None
    if state is None:
        return None
    if state is not row.state:
        how = f"somebody changed its row to {row.state}"
    elif ended is not None and ended.end and ended.end != fingerprints.of_end(row):
        how = _OTHERWISE_ENDED
    else:
        return None
    why = f"is {state} by the audit log, and {how}"
    return Contradiction(row.id, why, "" if one is None else state)


def take_restored(found: MutableMapping[str, OpenRequest]) -> None:
    """An older copy of the database was put in place: what was approved until then may have been sent, or stopped,
    since the copy was made. Whatever a row hides while safe mode begins, no approval of before counts after it."""
    for request_id, known in found.items():
        found[request_id] = replace(known, is_of_copy=True, is_void=known.is_given)


def _approved_at(known: OpenRequest | None, entry: EntryOnRequest, state: State) -> str | None:
    if entry.action in _FROM_PENDING and state is State.APPROVED:
        return entry.at
    if known is not None:
        return known.approved_at
    return "" if entry.action == SUBMITTED else None


def take_late_answer(found: MutableMapping[str, OpenRequest], entry: EntryOnRequest) -> None:
    """The same of the answer to a call whose process had lost its request."""
    _, _, call = entry.subject.partition(":")
    request_id, _, number = call.rpartition(".")
    known = found.get(request_id)
    if known is None or known.made is None or not number.isdecimal() or int(number) not in known.made:
        return
    call_made = replace(known.made[int(number)], answer=str(_read(entry)["answer"]), is_late=True)
    found[request_id] = replace(known, made={**known.made, int(number): call_made})


def _made(
    before: OpenRequest, entry: EntryOnRequest, body: Mapping[str, Any], *, is_new: bool
) -> Mapping[int, Call] | None:
    if before.made is None or (is_new and entry.action != SUBMITTED):
        return None
    if entry.action == ATTEMPT:
        return {**before.made, body["number"]: Call(body["call"])} if "call" in body else None
    if entry.action != OUTCOME or "attempt" not in body:  # nothing was called
        return before.made
    number = int(body["attempt"])
    if "answer" not in body or number not in before.made:
        return None
    return {**before.made, number: replace(before.made[number], answer=body["answer"])}


def calls_at_end(before: OpenRequest, entry: EntryOnRequest) -> str:
    """The fingerprint of all calls of a request that ended with this entry, as `fingerprints.leant_on` has it; "" =
    not known."""
    made = _made(before, entry, _read(entry), is_new=False)
    return (
        "" if made is None else fingerprints.of_calls({n: one.answer or one.call for n, one in made.items()})
    )


def _said(before: OpenRequest, entry: EntryOnRequest, body: Mapping[str, Any]) -> Mapping[str, str] | None:
    if entry.action != PROPOSED:
        return before.said
    return {**(before.said or {}), entry.actor: str(body.get("verdict", ""))}


def contradiction(
    known: OpenRequest | None,
    entry: EntryOnRequest,
    row: RequestRow | None = None,
    *,
    is_written: bool = True,
) -> Contradiction | None:
    """Why this entry does not follow what the log has of its request, which is `known` (None = not open).

    `row` is what the row said before this transaction changed it, where it did. Where the transaction has not written
    the row at all (`is_written`), the entry must leave all as it was.
    """
    request_id = id_of(entry)
    if not request_id or entry.action in (SUBMITTED, DOUBTED):
        return None
    body = _read(entry)
    state = _state(body)
    if _is_put_right(known, entry, state):
        return None
    is_signing = entry.action == SIGNED_AGAIN  # which ends nothing, so nothing of it is harmless
    is_harmless = not is_signing and state in _STOPS and (known is None or known.state in UNSENT)
    if known is None:
        if not (row is not None and is_harmless) and not _wrongly_goes_on(entry, state):
            return None
        return Contradiction(request_id, "has ended by the audit log", is_harmless=is_harmless)
    why = _row_differs(known, row) or (_why_not(known, entry, state) if state else "")
    why = why or _leans_on_void(known, entry)
    if not why and entry.action == SIGNED_AGAIN:
        why = _signed_otherwise(known, entry, body)
    elif not why and not is_written and state is not None:
        why = _unwritten_differs(known, entry, body)
    if not why and entry.action in _GIVES and body.get("digest", known.digest) != known.digest:
        why = "asks for something else by the audit log"
    if not why and entry.action == RESOLVED and not _two_agree(known, entry, body):
        why = "was called so by one person alone, by the audit log"
    if not why and entry.action == ATTEMPT and body.get("number", known.calls + 1) <= known.calls:
        why = f"was sent or looked up {known.calls} times by the audit log"
    if not why and _calls_differ(known, body):
        why = "had other calls by the audit log than the database says"
    if not why and _progress_differs(known, entry, body):
        why = "says something else of its calls than the entry before"
    return Contradiction(request_id, why, known.state, is_harmless) if why else None


def _leans_on_void(known: OpenRequest, entry: EntryOnRequest) -> str:
    is_wrong = known.counts_no_more and entry.action in _NEEDS_ITS_APPROVALS
    return "was approved before an older copy of the database was put in place" if is_wrong else ""


def _signed_otherwise(known: OpenRequest, entry: EntryOnRequest, body: Mapping[str, Any]) -> str:
    """Signing again changes the fingerprint alone: all else is as the entries before have left it."""
    is_as_left = (_state(body), body.get("before")) == (known.state, known.digest)
    if not is_as_left or _is_older(known, _version(entry)):
        return f"is {known.state} by the audit log, and was not signed again as it is by its row"
    is_other = known.progress is not None and body.get("progress", known.progress) != known.progress
    if is_other or _approval_differs(known, body.get("approved", known.approved_at)):
        return f"is {known.state} by the audit log, and what its row says beside that was changed"
    return ""


def _unwritten_differs(known: OpenRequest, entry: EntryOnRequest, body: Mapping[str, Any]) -> str:
    """What somebody else wrote into the row does not get on record by an entry that changes nothing."""
    says = (_state(body), body.get("digest", known.digest))
    if says != (known.state, known.digest) or _is_older(known, _version(entry)):
        to = "" if says[0] is known.state else f" to {says[0]}"
        return f"{_says(known)}, and somebody changed its row{to}"
    is_other = known.progress is not None and body.get("progress", known.progress) != known.progress
    return f"{_says(known)}, and what its row says of its calls was changed" if is_other else ""


def _is_older(known: OpenRequest, version: int) -> bool:
    """Does the row say an older version than the log? A newer one says nothing: each change of the row raises it, and
    one that changes nothing of what the log has, as a reminder or another time to try, has no entry."""
    return version < known.version


def _approval_differs(known: OpenRequest, approved_at: str | None) -> bool:
    """Does the row say that it was approved at another time than it was? Then its wait would be another."""
    return known.approved_at is not None and approved_at is not None and approved_at != known.approved_at


def says_its_terms(action: str) -> bool:
    """Does an entry of this action say what is asked for, so that it is held against what was requested? Any other that
    changes a request tells what became of that."""
    return action in (SUBMITTED, LEFT_OUT) or action in _GIVES


def says_older_terms(known: OpenRequest | None, entry: EntryOnRequest) -> bool:
    """Does an entry that tells what became of a request have the fingerprint of before it was signed again, as whoever
    made it had read the log only that far?"""
    may_differ = entry.action in (SIGNED_AGAIN, DOUBTED) or says_its_terms(entry.action)
    if known is None or not known.digest or may_differ:
        return False
    return str(_read(entry).get("digest", known.digest)) != known.digest


def _progress_differs(known: OpenRequest, entry: EntryOnRequest, body: Mapping[str, Any]) -> bool:
    """Does an entry that calls nothing leave another row than the one before it? A row of a list says that it was left
    out, which is no call."""
    if known.progress is None or entry.action not in _KEEPS_CALLS or "progress" not in body:
        return False
    is_left_out = entry.action == f"{BEGINS}{State.CANCELLED}" and "batch" in body
    return not is_left_out and body["progress"] != known.progress


def calls_changed(known: OpenRequest, row: Request, made: Iterable[Attempt]) -> bool:
    """Does the row of an open request, or one of its attempts, say something else of its calls than the log?"""
    is_other = known.progress is not None and known.progress != fingerprints.of_progress(row)
    return is_other or _calls_differ(known, fingerprints.leant_on(made))


def _calls_differ(known: OpenRequest, body: Mapping[str, Any]) -> bool:
    """Does this entry follow from attempts that say something else of the calls until then than the log?

    What a process answered that was no longer to answer may be on record before others can read it.
    """
    if known.made is None or "calls" not in body:  # an older version made some of them
        return False
    unanswered = set(body.get("unanswered", ()))
    if any(
        known.made[number].answer and not known.made[number].is_late
        for number in unanswered & known.made.keys()
    ):
        return True
    each = {n: one.call if n in unanswered else one.answer for n, one in known.made.items()}
    return str(body["calls"]) != fingerprints.of_calls(each)


def changed(row: Request, known: OpenRequest | None, made: Iterable[Attempt]) -> Contradiction | None:
    """As `differs`, with its calls `made`, and where its row says an older version than the log."""
    wrong = differs(row, known)
    if (
        wrong is None
        and known is not None
        and (_is_older(known, row.version) or calls_changed(known, row, made))
    ):
        why = f"{_says(known)}, and what the database says of its calls was changed"
        return Contradiction(row.id, why, known.state)
    return wrong


def differs(row: Request, known: OpenRequest | None) -> Contradiction | None:
    """Where the row of a request is open and not as the log has it (`known`, None = not open)."""
    if row.state not in OPEN:
        return None
    if known is None:
        return Contradiction(row.id, "has ended by the audit log")
    progress = known.progress or fingerprints.of_progress(row)
    is_as_left = (known.state, known.digest, progress) == (
        row.state,
        row.digest,
        fingerprints.of_progress(row),
    )
    if not is_as_left:
        return Contradiction(row.id, f"is {known.state} by the audit log, {_OLDER}", known.state)
    if _approval_differs(known, approved_at(row)):
        return Contradiction(row.id, f"{_says(known)}, and {_OTHER_APPROVAL}", known.state)
    if known.until is not None and known.until != good_until(row):
        return Contradiction(row.id, f"{_says(known)}, and {_OTHER_END}", known.state)
    return None


def _two_agree(known: OpenRequest, entry: EntryOnRequest, body: Mapping[str, Any]) -> bool:
    """Did somebody else say the same, and did not correct it since?"""
    others = {verdict for person, verdict in (known.said or {}).items() if person != entry.actor}
    return body.get("verdict") in others


def _is_put_right(known: OpenRequest | None, entry: EntryOnRequest, state: State | None) -> bool:
    if entry.action != PUT_RIGHT or state is None:
        return False
    was_sent = known is not None and known.state not in UNSENT
    return state is State.UNRESOLVED if was_sent else state not in OPEN


def ends_what_is_over(known: State, entry: EntryOnRequest) -> bool:
    """Is this entry the end of what had ended before, as `known` says? Somebody had put an older row back, and it ended
    like any other: that changes nothing of how it had."""
    return known not in OPEN and entry.action in _ENDS


def _wrongly_goes_on(entry: EntryOnRequest, state: State | None) -> bool:
    if entry.action in _REOPENS:
        return False
    return entry.action in _NEEDS_OPEN or state in OPEN


def _row_differs(known: OpenRequest, row: RequestRow | None) -> str:
    if row is None:
        return ""
    if row.state == known.state and not _is_older(known, row.version):
        if _approval_differs(known, row.approved_at):
            return f"{_says(known)}, and {_OTHER_APPROVAL}"
        is_other = known.progress is not None and row.progress not in ("", known.progress)
        return (
            f"is {known.state} by the audit log, and what its row says of its calls was changed"
            if is_other
            else ""
        )
    return f"is {known.state} by the audit log, {_OLDER}"


def _says(known: OpenRequest) -> str:
    return f"is {known.state} by the audit log"


def approved_at(row: Request) -> str:
    """When it was approved by its row, as the log writes it; "" = not yet."""
    return _text_of(row.approved_at)


def good_until(row: Request) -> str:
    """Until when its approval is good by its row, the same."""
    return _text_of(row.valid_until)


def _text_of(at: datetime | None) -> str:
    return "" if at is None else time_text(at)


def _why_not(known: OpenRequest, entry: EntryOnRequest, state: State) -> str:
    """In words that follow the id of the request; "" where the entry may follow."""
    says = f"is {known.state} by the audit log"
    if entry.action in _FROM_PENDING:
        return "" if known.state is State.PENDING else says
    if entry.action == ATTEMPT:
        return "" if _CLAIMED.get(known.state) is state else says
    return "" if state is known.state or state in TRANSITIONS[known.state].values() else says


def _state(body: Mapping[str, Any]) -> State | None:
    """None where the entry says none, as those of a refusal."""
    said = body.get("state")
    return _STATES.get(said) if isinstance(said, str) else None


def _version(entry: EntryOnRequest) -> int:
    _, _, version = entry.subject.rpartition(":")
    return int(version) if version.isdecimal() else 0


def _read(entry: EntryOnRequest) -> Mapping[str, Any]:
    return read_body(entry.body)


@lru_cache(maxsize=8)
def read_body(body: str) -> Mapping[str, Any]:
    """What the body of an entry says; nothing where it is no JSON object, as one that was changed.

    Of one entry it is asked several times in a row, and of a long log that would take most of the time.
    """
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
