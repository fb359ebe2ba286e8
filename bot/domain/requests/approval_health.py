"""Approval health: how long requests wait, how many expire, who approves for whom, what nobody can have read.

Pure: computed from the requests of a period and the approvals and rejections on them. What is done at once and
confirmed afterwards (Freeze now) waits for nobody and is not counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from statistics import median

from bot.domain.requests.approvals import DecisionKind
from bot.domain.requests.lifecycle import State
from bot.domain.time import in_words

TOO_QUICK = timedelta(seconds=3)
"""An approval sooner after the request was made than anybody reads it."""

_ENOUGH = 3  # approvals to call a pair frequent


@dataclass(frozen=True, slots=True)
class DecisionTime:
    """A request with one approval or rejection on it; `kind` and the fields after it are None where there is none."""

    request_id: str
    state: State
    requester: str
    requester_name: str
    created_at: datetime
    approved_at: datetime | None
    kind: DecisionKind | None
    actor: str | None
    actor_name: str | None
    decided_at: datetime | None

    @property
    def took(self) -> timedelta | None:
        """From the request to its last approval, or to its rejection; None while it is not decided."""
        ended = self.approved_at or (self.decided_at if self.kind is DecisionKind.REJECT else None)
        return None if ended is None else ended - self.created_at


@dataclass(frozen=True, slots=True)
class ApprovalHealth:
    """Figures of the requests that were made in a period. `pair`: approver, requester, and how many approvals."""

    requests: int
    decided: int
    median_time: timedelta | None
    expired: int
    approvals: int
    pair: tuple[str, str, int] | None
    too_quick: int

    @property
    def text(self) -> str:
        """In sentences; empty where nothing was requested."""
        if not self.requests:
            return ""
        return " ".join(
            sentence for sentence in (self._decided, self._expired, self._pair, self._quick) if sentence
        )

    @property
    def _decided(self) -> str:
        made = f"{_counted(self.requests, 'request')}, {self.decided:,} of them decided"
        if self.median_time is None:
            return f"{made}."
        return f"{made}. Median time from request to decision: {in_words(self.median_time)}."

    @property
    def _expired(self) -> str:
        number = f"{self.expired:,}" if self.expired else "None"
        return f"{number} expired without a decision."

    @property
    def _pair(self) -> str:
        if self.pair is None or self.approvals < _ENOUGH:
            return ""
        approver, requester, times = self.pair
        return f"{approver} approves most often for {requester}: {times:,} of {_counted(self.approvals, 'approval')}."

    @property
    def _quick(self) -> str:
        seconds = f"{TOO_QUICK.seconds} seconds"
        if not self.approvals:
            return ""
        if not self.too_quick:
            return f"No approval was given within {seconds} of its request."
        return f"{_counted(self.too_quick, 'approval')} given within {seconds} of the request, too soon to read it."


def approval_health(found: Iterable[DecisionTime]) -> ApprovalHealth:
    """One of them for each approval and rejection; a request without any is there once."""
    rows = list(found)
    by_request = {row.request_id: row for row in rows}
    took_s = {row.request_id: row.took.total_seconds() for row in rows if row.took is not None}
    approvals = [row for row in rows if row.kind is DecisionKind.APPROVE]
    pairs = Counter((row.actor, row.requester) for row in approvals)
    return ApprovalHealth(
        requests=len(by_request),
        decided=len(took_s),
        median_time=timedelta(seconds=median(took_s.values())) if took_s else None,
        expired=sum(row.state is State.EXPIRED and row.approved_at is None for row in by_request.values()),
        approvals=len(approvals),
        pair=_named(max(pairs, key=lambda pair: (pairs[pair], pair)), approvals) if pairs else None,
        too_quick=sum(
            row.decided_at is not None and row.decided_at - row.created_at < TOO_QUICK for row in approvals
        ),
    )


def _named(pair: tuple[str | None, str], approvals: list[DecisionTime]) -> tuple[str, str, int]:
    """By the names they had last, and how often."""
    given = [row for row in approvals if (row.actor, row.requester) == pair]
    return given[-1].actor_name or "", given[-1].requester_name, len(given)


def _counted(number: int, word: str) -> str:
    return f"{number:,} {word}" if number == 1 else f"{number:,} {word}s"
