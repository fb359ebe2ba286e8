"""May this person decide on this request, and does the decision settle it?

`decide` is the one place where an approval is judged; every entry point goes through it. It returns
a verdict with a reason, never a bare boolean, so that the person, the audit and the tests read the
same word.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from bot.domain.people.delegation import Standing
from bot.domain.requests.lifecycle import Request, State


class DecisionKind(StrEnum):
    APPROVE = "approve"
    REJECT = "reject"
    BREAK_GLASS = "break_glass"
    CONFIRM = "confirm"
    RESOLVE = "resolve"


@dataclass(frozen=True, slots=True)
class Decision:
    """What one person decided about one request. `mac` binds it to the terms they were shown."""

    id: str
    request_id: str
    kind: DecisionKind
    actor: str
    actor_name: str
    requester: str
    digest: str
    policy_version: str
    mac: str
    decided_at: datetime
    reason: str = ""
    verdict: str = ""  # resolve only: succeeded | failed


class Reason(StrEnum):
    """Why a decision counts or does not."""

    COUNTS = "counts"  # recorded, more approvals needed
    SETTLES = "settles"  # recorded, and the quorum is met
    OWN_REQUEST = "own_request"
    OF_ONES_DELEGATE = "of_ones_delegate"  # the requester and this person count as one
    NOT_AN_APPROVER = "not_an_approver"
    ALREADY_DECIDED = "already_decided"
    DECIDED_BY_DELEGATE = "decided_by_delegate"  # somebody who counts as one with this person approved
    NOT_PENDING = "not_pending"
    EXPIRED = "expired"
    STALE = "stale"  # another digest or version was shown


@dataclass(frozen=True, slots=True)
class Verdict:
    reason: Reason
    approvals: int = 0  # including this one, when it counts

    @property
    def counts(self) -> bool:
        return self.reason in (Reason.COUNTS, Reason.SETTLES)


def decide(
    request: Request,
    decisions: Sequence[Decision],
    *,
    actor: str,
    standing: Standing,
    shown_digest: str,
    now: datetime,
) -> Verdict:
    """Judge an approval by `actor`, who was shown `shown_digest`.

    `standing` is who may approve, read at this moment. The order is from what the person is to what
    the request is, so that nobody learns more of a request than they may.
    """
    if actor == request.requester:
        return Verdict(Reason.OWN_REQUEST)
    if actor not in standing.approvers:
        return Verdict(Reason.NOT_AN_APPROVER)
    if standing.are_one(actor, request.requester):
        return Verdict(Reason.OF_ONES_DELEGATE)
    earlier = {d.actor for d in decisions if d.kind is DecisionKind.APPROVE}
    if actor in earlier:
        return Verdict(Reason.ALREADY_DECIDED, len(earlier))
    if any(standing.are_one(actor, other) for other in earlier):
        return Verdict(Reason.DECIDED_BY_DELEGATE, len(earlier))
    if request.state is not State.PENDING:
        return Verdict(Reason.NOT_PENDING)
    if request.expires_at <= now:
        return Verdict(Reason.EXPIRED)
    if shown_digest != request.digest:
        return Verdict(Reason.STALE)
    approvals = len(earlier) + 1
    settled = approvals >= request.approvals_needed
    return Verdict(Reason.SETTLES if settled else Reason.COUNTS, approvals)


def decision_bytes(decision: Decision) -> bytes:
    """What a decision's MAC covers: every field that gives it force, length-prefixed."""
    fields = (
        decision.id,
        decision.request_id,
        decision.kind.value,
        decision.actor,
        decision.requester,
        decision.digest,
        decision.policy_version,
        decision.decided_at.isoformat(),
        decision.verdict,
    )
    return b"".join(len(raw).to_bytes(4, "big") + raw for raw in (f.encode() for f in fields))
