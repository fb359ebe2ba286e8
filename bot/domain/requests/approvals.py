"""Four eyes: who may act as the second person, whose words count together, and does an approval settle it?

`why_not_second` is the one rule. An approval, the confirmation of a Freeze now, a resolution by hand and the
yes to what another person asked for are judged by it, and so is, by `second_people`, whether the words that are
stored are enough: for a batch, before the first byte, before card details are shown, and in the proof of a
request. `decide` judges an approval as a whole. The answer is a reason, never a bare boolean, so that the
person, the audit and the tests read the same word.

Two conditions are read from Slack by whoever asks: that the person is a full member now
(`bot.domain.people.actors`), and who the approvers are now (`Standing`).
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from bot.domain.people import Standing
from bot.domain.requests.lifecycle import Request, State


class DecisionKind(StrEnum):
    APPROVE = "approve"
    REJECT = "reject"
    BREAK_GLASS = "break_glass"
    CONFIRM = "confirm"
    RESOLVE = "resolve"


BY_ANOTHER = frozenset({DecisionKind.APPROVE, DecisionKind.REJECT, DecisionKind.CONFIRM})
"""Decisions that are never the requester's own."""


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
    assertion: Mapping[str, Any] | None = None  # as `Assertion.as_json`, where it was given with a passkey
    conditions: Mapping[str, Any] | None = (
        None  # as `Conditions.as_json`, where the policy asked for more by then
    )


# More than anybody sets, and still a time that can be added to another.
_LONGEST_S = 10**8


@dataclass(frozen=True, slots=True)
class Conditions:
    """What the policy asked for when an approval was given, beyond what stands in the request.

    `needed`: how many approvals, where sums of 24 hours had grown since it was made. `waits`: how long after the last
    approval it is sent at the earliest. Both are under the decision's MAC.
    """

    needed: int = 0
    waits: timedelta = timedelta(0)

    def as_json(self) -> dict[str, Any] | None:
        """As it is stored with a decision; None where it says nothing."""
        given = {"needed": self.needed, "waits_s": int(self.waits.total_seconds())}
        return {name: value for name, value in given.items() if value} or None

    @classmethod
    def of(cls, made: Iterable[Decision]) -> Conditions:
        """The strictest of what these approvals say. What is no number says nothing: it was not written by us."""
        said = [d.conditions for d in made if isinstance(d.conditions, Mapping)]
        needed, waits_s = (
            max((one[name] for one in said if isinstance(one.get(name), int)), default=0)
            for name in ("needed", "waits_s")
        )
        return cls(needed, timedelta(seconds=min(waits_s, _LONGEST_S)))


class Reason(StrEnum):
    """Why a decision counts or does not."""

    COUNTS = "counts"  # recorded, more approvals needed
    SETTLES = "settles"  # recorded, and the quorum is met
    OWN_REQUEST = "own_request"
    OWN_OTHER_ACCOUNT = "own_other_account"  # the requester, with another account
    OF_ONES_DELEGATE = "of_ones_delegate"  # the requester and this person count as one
    NOT_AN_APPROVER = "not_an_approver"
    NOT_SETTLED = "not_settled"  # an approver for too short a time
    ALREADY_DECIDED = "already_decided"
    DECIDED_FROM_OTHER_ACCOUNT = "decided_from_other_account"
    DECIDED_BY_DELEGATE = "decided_by_delegate"  # somebody who counts as one with this person approved
    NOT_PENDING = "not_pending"
    EXPIRED = "expired"
    STALE = "stale"  # another digest or version was shown


@dataclass(frozen=True, slots=True)
class Verdict:
    reason: Reason
    approvals: int = 0  # including this one, when it counts
    waits: timedelta = timedelta(
        0
    )  # how long after this approval it is sent at the earliest, when it settles it

    @property
    def counts(self) -> bool:
        return self.reason in (Reason.COUNTS, Reason.SETTLES)


def why_not_second(
    actor: str,
    *,
    asked_by: str,
    standing: Standing,
    earlier: Collection[str] = (),
    allowed: Collection[str] | None = None,
) -> Reason | None:
    """Why `actor`, a full member, may not act as the second person on what `asked_by` asked for; None = may.

    `standing` is who may approve, read now; `allowed` is who may give this word where that is not
    the approvers alone; `earlier` are those who gave it already. The order is from what the person is to what
    others did, so that nobody learns more than they may.
    """
    if actor == asked_by:
        return Reason.OWN_REQUEST
    if actor not in (standing.approvers if allowed is None else allowed):
        return Reason.NOT_SETTLED if actor in standing.waiting else Reason.NOT_AN_APPROVER
    if standing.is_same_person(actor, asked_by):
        return Reason.OWN_OTHER_ACCOUNT
    if standing.are_one(actor, asked_by):
        return Reason.OF_ONES_DELEGATE
    if actor in earlier:
        return Reason.ALREADY_DECIDED
    if any(standing.is_same_person(actor, other) for other in earlier):
        return Reason.DECIDED_FROM_OTHER_ACCOUNT
    if any(standing.are_one(actor, other) for other in earlier):
        return Reason.DECIDED_BY_DELEGATE
    return None


def who_may_be_second(asked_by: str, standing: Standing) -> frozenset[str]:
    """The approvers who may decide on what this person asks for."""
    may = (p for p in standing.approvers if why_not_second(p, asked_by=asked_by, standing=standing) is None)
    return frozenset(may)


def who_may_decide(request: Request, decisions: Sequence[Decision], standing: Standing) -> frozenset[str]:
    """The approvers who may give the next approval of a pending request."""
    asked_by, earlier = request.requester, _approvers(decisions)
    may = (
        p
        for p in standing.approvers
        if why_not_second(p, asked_by=asked_by, standing=standing, earlier=earlier) is None
    )
    return frozenset(may)


def needs_confirmation(request: Request, decisions: Sequence[Decision]) -> bool:
    """Whether it was done at the requester's word alone, and nobody has confirmed it. Before it happened there is
    nothing to confirm."""
    happened = request.break_glass and request.state is State.SUCCEEDED
    return happened and not any(d.kind is DecisionKind.CONFIRM for d in decisions)


def second_people(given: Iterable[str], *, asked_by: str, standing: Standing | None = None) -> list[str]:
    """Those who gave their word whose words count as different people's, none of them the asker's; in order.

    With `standing`, two who are one person now, by delegation or as two accounts, count once. Without it, it is as it
    was when they gave it. Whether each may still give it is asked apart.
    """
    given = list(given)
    standing = standing or Standing(frozenset(given))
    counted: list[str] = []
    for person in given:
        reason = why_not_second(person, asked_by=asked_by, standing=standing, earlier=counted, allowed=given)
        if reason is None:
            counted.append(person)
    return counted


HOW_TO_RESOLVE = (
    "Countersign keeps checking. If it stays unresolved, two people press Resolve on it and both say how it ended; one"
    " of them is an approver who did not request it."
)
"""What people can do about an outcome that is not known, in whole sentences."""


def two_agree(said: Collection[str], *, asked_by: str, standing: Standing) -> bool:
    """Do two people say so, one of whom may act as the second person? The other may be who asked."""
    able = who_may_be_second(asked_by, standing)
    return any(not standing.are_one(one, other) for one in said if one in able for other in said)


def _approvers(decisions: Sequence[Decision]) -> list[str]:
    return [d.actor for d in decisions if d.kind is DecisionKind.APPROVE]


def decide(
    request: Request,
    decisions: Sequence[Decision],
    *,
    actor: str,
    standing: Standing,
    shown_digest: str,
    now: datetime,
    needed: int = 0,
) -> Verdict:
    """Judge an approval by `actor`, who was shown `shown_digest`.

    `standing` is who may approve, read now. `needed`: how many approvals the policy asks for now, where that is more
    than stands in the request. The person is judged before the request is.
    """
    asked_by = request.requester
    earlier = _approvers(decisions)
    counted = len(second_people(earlier, asked_by=asked_by, standing=standing))
    reason = why_not_second(actor, asked_by=asked_by, standing=standing, earlier=earlier)
    if reason is not None:
        return Verdict(reason, counted)
    if request.state is not State.PENDING:
        return Verdict(Reason.NOT_PENDING)
    if request.expires_at <= now:
        return Verdict(Reason.EXPIRED)
    if shown_digest != request.digest:
        return Verdict(Reason.STALE)
    settled = counted + 1 >= max(request.approvals_needed, needed)
    return Verdict(Reason.SETTLES if settled else Reason.COUNTS, counted + 1)


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
        # Not among them where there are none: so the approvals of before there were any are as they were signed.
        *([] if decision.conditions is None else [_canonical(decision.conditions)]),
    )
    return b"".join(len(raw).to_bytes(4, "big") + raw for raw in (f.encode() for f in fields))


def _canonical(value: object) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"))
