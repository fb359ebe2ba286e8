"""What was approved or done at once of late, as the audit log has it: what decisions count is held against that. Pure.

Limits and tiers count the requests of 24 hours, and of several on one setting the newest decides. Most of them have
ended, and nothing else holds their rows against the log: whoever changed one, or took it out, had less counted.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from decimal import Decimal
from sys import intern
from typing import Any

from bot.domain.limits import WINDOW
from bot.domain.money import plain
from bot.domain.requests import COMMITTED, OPEN, TRANSITIONS, Request, State
from storage.audit import SIGNED_AGAIN
from storage.columns import amount_of, time_text
from storage.log_record.debits import Debits
from storage.log_record.open_requests import (
    APPROVAL,
    AT_ONCE,
    PUT_RIGHT,
    EntryOnRequest,
    id_of,
    read_body,
    state_of,
)
from storage.transaction import Contradiction, RequestRow

COUNTS = "counts"
"""In the entry that says that a request is approved: what of it is counted."""
KEPT_FOR = 2 * WINDOW
"""So long after its approval a request is known here: a sum is of the 24 hours until an approval, which is sent within
a day or not at all."""
MOST_WAITING = 2_000
_HOUR_S = 3600


@dataclass(frozen=True, slots=True)
class Counted:
    """A request that was approved, and where it stands by its last entry. Lists are not counted, their rows are.

    `usd`: its exposure. `key`: its idempotency key ("" = an older version recorded it). `approvers`: Slack ids of all
    who approved it. `at_once`: it was done without an approval. `digest`: its last fingerprint. `seq`: the number of
    the entry that says that it is approved.
    """

    kind: str
    program: str
    subject: str
    requester: str
    usd: Decimal
    approvers: frozenset[str]
    created_at: datetime
    approved_at: datetime
    at_once: bool
    state: State
    digest: str
    seq: int
    key: str = ""

    @property
    def is_committed(self) -> bool:
        """Does it count towards sums?"""
        return self.state in COMMITTED


_Waiting = list[tuple[str, EntryOnRequest, str]]
#: By the hour of their approval and by id. What does not change is shared with the one before.
Hours = Mapping[int, Mapping[str, Counted]]


@dataclass(frozen=True, slots=True)
class Count:
    """What a transaction has counted and leans on, to be held against the log before it ends.

    `counts`: does it count a request that is so by the log? Nothing that was approved before `since` does. `expects`:
    what its row has to say then. `rows`: what the rows said that it found, by id; `read` finds them again. `debits`:
    those of no request that it has counted, too.
    """

    since: datetime
    counts: Callable[[Counted], bool]
    expects: Callable[[Counted], Any]
    rows: Mapping[str, Any]
    read: Callable[[], Awaitable[Mapping[str, Any]]]
    debits: Debits | None = None


def as_recorded(request: Request, approvers: Collection[str]) -> dict[str, Any]:
    """For the body of the entry that says that it is approved."""
    return {
        "program": request.program,
        "subject": request.subject,
        "requester": request.requester,
        "usd": plain(request.exposure_usd.normalize()),
        "asked": time_text(request.created_at),
        "key": request.key,
        "by": sorted(approvers),
    }


def wrong(count: Count, rows: Mapping[str, Any], hours: Hours, *, but: Collection[str]) -> str:
    """The id of a request that the log says is to be counted and these rows do not, or otherwise; "" = there is none.

    Without those in `but`, which are changed by whoever counts.
    """
    for request_id, one in _since(hours, count.since):
        if request_id not in but and count.counts(one) and rows.get(request_id) != count.expects(one):
            return request_id
    return ""


def _since(hours: Hours, since: datetime) -> Iterator[tuple[str, Counted]]:
    first = _hour(since)
    for hour, found in hours.items():
        if hour >= first:
            yield from found.items()


def _hour(at: datetime) -> int:
    return int(at.timestamp() // _HOUR_S)


def find(hours: Hours, request_id: str) -> Counted | None:
    """None where it was not approved of late, or is a list."""
    return next((found[request_id] for found in hours.values() if request_id in found), None)


def contradiction(
    hours: Hours, entry: EntryOnRequest, row: RequestRow | None, *, is_written: bool
) -> Contradiction | None:
    """Why an entry about a request that has ended does not follow what is counted of it: it leans on a row that says
    something else. None where it is not counted. `row`, `is_written`: as for `open_requests.contradiction`."""
    request_id = id_of(entry)
    one = find(hours, request_id)
    if one is None or (row is None and is_written) or entry.action == PUT_RIGHT:
        return None
    says = state_of(entry) if row is None else State(row.state)
    if says is None or says is one.state:
        return None
    return Contradiction(
        request_id, f"is {one.state} by the audit log, and somebody changed its row to {says}"
    )


def _without_old(waiting: _Waiting, now: str) -> _Waiting:
    """Without what is about requests that were approved too long ago to count."""
    first = datetime.fromtimestamp(_hour(datetime.fromisoformat(now) - KEPT_FOR) * _HOUR_S, UTC)
    since = time_text(first)
    may_count = {
        request_id for request_id, entry, at in waiting if at >= since and says_what_counts(entry.action)
    }
    return [one for one in waiting if one[0] in may_count]


class Working:
    """The hours while entries are added to them; those that are given stay as they are."""

    def __init__(self, before: Hours) -> None:
        self._before = before
        self._hours, self._own = dict(before), dict[int, dict[str, Counted]]()
        # Of those that were added here, by id: a first reading adds years of them, and those before are of two days.
        self._hour_of: dict[str, int] = {}
        self._last: datetime | None = None
        # Of a first reading, which begins years ago: what may be over before it is looked at.
        self._waiting: _Waiting | None = None if before else []
        self._most_waiting = MOST_WAITING

    def take(self, entry: EntryOnRequest, at: str) -> None:
        """Go on by an entry about a request, made at that time."""
        request_id = id_of(entry)
        if self._waiting is None:
            self._take(request_id, entry, at)
            return
        self._waiting.append((request_id, entry, at))
        if len(self._waiting) >= self._most_waiting:
            self._waiting = _without_old(self._waiting, at)
            self._most_waiting = max(MOST_WAITING, 2 * len(self._waiting))

    def _take(self, request_id: str, entry: EntryOnRequest, at: str) -> None:
        hour = self._hour_of.get(request_id)
        if hour is None:
            hour = next((hour for hour, found in self._before.items() if request_id in found), None)
        if hour is None and not says_what_counts(entry.action):
            return
        body = read_body(entry.body)
        self._last = datetime.fromisoformat(at)
        if COUNTS in body:
            now = _hour(self._last)
            if hour is not None and hour != now:
                self._of(hour).pop(request_id, None)
            self._of(now)[request_id] = _approved(entry, body, self._last)
            self._hour_of[request_id] = now
            return
        is_signing = entry.action == SIGNED_AGAIN  # which changes nothing else, whatever it says
        if hour is None or not (is_signing or "state" in body):
            return
        known = self._hours[hour][request_id]
        state = known.state if is_signing else State(body["state"])
        if _follows(known.state, state, entry.action):
            digest = str(body.get("digest", known.digest))
            self._of(hour)[request_id] = replace(known, state=state, digest=digest)

    def _of(self, hour: int) -> dict[str, Counted]:
        """Of this hour, to be changed: those of others are copied once."""
        if hour not in self._own:
            self._hours[hour] = self._own[hour] = dict(self._hours.get(hour, {}))
        return self._own[hour]

    def hours(self) -> Hours:
        """Without those that are over."""
        waiting, self._waiting = self._waiting or (), None
        for request_id, entry, at in waiting:
            self._take(request_id, entry, at)
        if self._last is None:
            return self._hours
        first = _hour(self._last - KEPT_FOR)
        return {hour: found for hour, found in self._hours.items() if hour >= first}


def _approved(entry: EntryOnRequest, body: Mapping[str, Any], at: datetime) -> Counted:
    counts = body[COUNTS]
    return Counted(
        # The same few people, cards and kinds again and again: each text is kept once.
        kind=intern(body["kind"]),
        program=intern(counts["program"]),
        subject=intern(counts["subject"]),
        requester=intern(counts["requester"]),
        usd=amount_of(counts["usd"]),
        approvers=frozenset(intern(one) for one in counts["by"]),
        created_at=datetime.fromisoformat(counts["asked"]),
        approved_at=at,
        at_once=entry.action == AT_ONCE,
        state=State(body["state"]),
        digest=body["digest"],
        seq=entry.seq,
        key=counts.get("key", ""),
    )


def _follows(known: State, state: State, action: str) -> bool:
    """Whoever puts a row back, and has it expire, does not have the request counted no more."""
    if state is known or state in TRANSITIONS[known].values():
        return True
    return action == PUT_RIGHT and known in OPEN


def says_what_counts(action: str) -> bool:
    """Is it the action of an entry that says what of a request is counted, where it is approved?"""
    return action in (APPROVAL, AT_ONCE)
