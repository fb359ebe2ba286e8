"""Which requests are open by the audit log, and what no entry about a request may say after another. Pure.

A row of the database that somebody put back says that a request is pending or approved although it was rejected,
cancelled, stopped or sent since: row, decisions and signatures are genuine then. The log tells.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Protocol

from bot.domain.requests import OPEN, TRANSITIONS, UNSENT, Event, Request, State, moves_of
from storage.transaction import Contradiction, RequestRow

BEGINS = "request."
SUBMITTED, APPROVAL, AT_ONCE = "request.submitted", "request.approval", "request.break_glass"
ATTEMPT, OUTCOME, LEFT_OUT = "request.attempt", "request.outcome", "request.rows_left_out"
RESOLVED, PROPOSED = "request.resolved_by_hand", "request.resolution_proposed"
DOUBTED = "request.doubted"
"""Of a request whose key the API may have seen without our knowledge: it counts until `key_expires_at` of the body."""
REOPENED = "request.reopened"
PUT_RIGHT = "request.put_right"
"""Of a request whose row was not as on record: it has ended, or people have to say how it did."""
_CLAIMED = moves_of(Event.CLAIM)
_FROM_PENDING = frozenset({APPROVAL, AT_ONCE})
_STOPS = frozenset({State.REJECTED, State.CANCELLED, State.EXPIRED})
# What is said of a request that has ended leads on to nothing, but for these.
_NEEDS_OPEN = frozenset({APPROVAL, AT_ONCE, ATTEMPT, OUTCOME, RESOLVED, PROPOSED, LEFT_OUT})
# A request that failed is looked at again; a list follows its rows.
_REOPENS = frozenset({REOPENED, "request.unresolved"})
_ENDS = frozenset(f"{BEGINS}{state}" for state in _STOPS)
# What these are about is what was requested.
_GIVES = frozenset({APPROVAL, AT_ONCE, ATTEMPT, RESOLVED})
_OLDER = "and an older state of it was put back"
_TO_THE_SECOND = "%Y-%m-%d %H:%M:%S UTC"


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
class OpenRequest:
    """A request that has not ended, as its last entry, number `seq`, has left it.

    `calls`: how many were begun, the first at `first_at`. `key_until`: its key is not sent from then on, whatever the
    first call says. `said`: how it ended as each person said last, by Slack id. Times are in UTC.
    """

    seq: int
    state: State
    version: int
    digest: str
    calls: int = 0
    said: Mapping[str, str] | None = None
    first_at: datetime | None = None
    key_until: datetime | None = None


def id_of(entry: EntryOnRequest) -> str:
    """Of the request that this entry changes or keeps; "" = it is about something else, or tells of a refusal."""
    if entry.outcome != "ok" or not entry.action.startswith(BEGINS):
        return ""
    about, _, rest = entry.subject.partition(":")
    return rest.partition(":")[0] if about == "request" else ""


def state_of(entry: EntryOnRequest) -> State | None:
    """The state in which it says that its request is; None where it says none."""
    return _state(_read(entry))


def take(found: MutableMapping[str, OpenRequest], entry: EntryOnRequest) -> None:
    """Go on by an entry. What contradicts those before it brings nothing back that has ended."""
    request_id = id_of(entry)
    if not request_id:
        return
    known = found.get(request_id)
    if known is None and entry.action != SUBMITTED and entry.action not in _REOPENS:
        return
    if entry.action in _ENDS:
        found.pop(request_id, None)
        return
    body = _read(entry)
    if entry.action == DOUBTED:
        if known is not None:
            found[request_id] = replace(known, key_until=_time(body, "key_expires_at"))
        return
    state = _state(body)
    if state is None:
        return
    if state not in OPEN:
        found.pop(request_id, None)
        return
    if known is not None and _why_not(known, entry, state):
        return
    before = known or OpenRequest(entry.seq, state, 0, "")
    found[request_id] = replace(
        before,
        seq=entry.seq,
        state=state,
        version=_version(entry),
        digest=str(body.get("digest", "")),
        calls=before.calls + (entry.action == ATTEMPT),
        said=_said(before, entry, body),
        first_at=before.first_at or (_first_sent_at(entry, body) if entry.action == ATTEMPT else None),
        key_until=datetime.fromisoformat(entry.at) if entry.action == REOPENED else before.key_until,
    )


def _first_sent_at(entry: EntryOnRequest, body: Mapping[str, Any]) -> datetime:
    """Logs of before have no such time: there it is when the first attempt was begun."""
    return _time(body, "first_sent_at") or datetime.fromisoformat(entry.at)


def _said(before: OpenRequest, entry: EntryOnRequest, body: Mapping[str, Any]) -> Mapping[str, str] | None:
    if entry.action != PROPOSED:
        return before.said
    return {**(before.said or {}), entry.actor: str(body.get("verdict", ""))}


def contradiction(
    known: OpenRequest | None, entry: EntryOnRequest, row: RequestRow | None = None
) -> Contradiction | None:
    """Why this entry does not follow what the log has of its request, which is `known` (None = not open).

    `row` is what the row said before this transaction changed it, where it did.
    """
    request_id = id_of(entry)
    body = _read(entry)
    state = _state(body)
    if not request_id or entry.action in (SUBMITTED, DOUBTED) or _is_put_right(known, entry, state):
        return None
    is_harmless = state in _STOPS and (known is None or known.state in UNSENT)
    if known is None:
        if not (row is not None and is_harmless) and not _wrongly_goes_on(entry, state):
            return None
        return Contradiction(request_id, "has ended by the audit log", is_harmless=is_harmless)
    why = _row_differs(known, row) or (_why_not(known, entry, state) if state else "")
    if not why and entry.action in _GIVES and body.get("digest", known.digest) != known.digest:
        why = "asks for something else by the audit log"
    if not why and entry.action == RESOLVED and not _two_agree(known, entry, body):
        why = "was called so by one person alone, by the audit log"
    if not why and entry.action == ATTEMPT and body.get("number", known.calls + 1) <= known.calls:
        why = f"was sent or looked up {known.calls} times by the audit log"
    if not why and entry.action == ATTEMPT:
        why = _why_too_late(known, body)
    return Contradiction(request_id, why, known.state, is_harmless) if why else None


def _why_too_late(known: OpenRequest, body: Mapping[str, Any]) -> str:
    """For how long the same key may be sent again is counted from a time of the row: it must not be a later one."""
    if "first_sent_at" not in body:  # it is looked up only, or may be sent however late
        return ""
    first, until = _time(body, "first_sent_at"), _time(body, "key_expires_at")
    if known.first_at is not None and (first is None or first > known.first_at):
        return f"was sent first at {known.first_at:{_TO_THE_SECOND}} by the audit log, and its row says later"
    if known.key_until is not None and (until is None or until > known.key_until):
        return f"was to be sent until {known.key_until:{_TO_THE_SECOND}} by the audit log, and its row says later"
    return ""


def _time(body: Mapping[str, Any], name: str) -> datetime | None:
    found = body.get(name)
    return datetime.fromisoformat(found) if isinstance(found, str) else None


def differs(row: Request, known: OpenRequest | None) -> Contradiction | None:
    """Where the row of a request is open and not as the log has it (`known`, None = not open)."""
    if row.state not in OPEN:
        return None
    if known is None:
        return Contradiction(row.id, "has ended by the audit log")
    if (known.state, known.digest) == (row.state, row.digest):
        return None
    return Contradiction(row.id, f"is {known.state} by the audit log, {_OLDER}", known.state)


def _two_agree(known: OpenRequest, entry: EntryOnRequest, body: Mapping[str, Any]) -> bool:
    """Did somebody else say the same, and did not correct it since?"""
    others = {verdict for person, verdict in (known.said or {}).items() if person != entry.actor}
    return body.get("verdict") in others


def _is_put_right(known: OpenRequest | None, entry: EntryOnRequest, state: State | None) -> bool:
    if entry.action != PUT_RIGHT or state is None:
        return False
    was_sent = known is not None and known.state not in UNSENT
    return state is State.UNRESOLVED if was_sent else state not in OPEN


def _wrongly_goes_on(entry: EntryOnRequest, state: State | None) -> bool:
    if entry.action in _REOPENS:
        return False
    return entry.action in _NEEDS_OPEN or state in OPEN


def _row_differs(known: OpenRequest, row: RequestRow | None) -> str:
    if row is None or (row.state == known.state and row.version >= known.version):
        return ""
    return f"is {known.state} by the audit log, {_OLDER}"


def _why_not(known: OpenRequest, entry: EntryOnRequest, state: State | None) -> str:
    """In words that follow the id of the request; "" where the entry may follow."""
    says = f"is {known.state} by the audit log"
    if state is None:
        return ""
    if entry.action in _FROM_PENDING:
        return "" if known.state is State.PENDING else says
    if entry.action == ATTEMPT:
        return "" if _CLAIMED.get(known.state) is state else says
    return "" if state is known.state or state in TRANSITIONS[known.state].values() else says


def _state(body: Mapping[str, Any]) -> State | None:
    """None where the entry says none, as those of a refusal."""
    try:
        return State(body["state"])
    except (KeyError, ValueError):
        return None


def _version(entry: EntryOnRequest) -> int:
    _, _, version = entry.subject.rpartition(":")
    return int(version) if version.isdecimal() else 0


def _read(entry: EntryOnRequest) -> Mapping[str, Any]:
    try:
        found = json.loads(entry.body)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
