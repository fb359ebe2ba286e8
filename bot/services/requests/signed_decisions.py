"""Decisions under a MAC: a state flipped in the database by hand is not an approval.

What counts of the stored ones is decided here, for whatever is done by leave of two people.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from bot.domain.people import Actor
from bot.domain.requests import Conditions, Decision, DecisionKind, Request, second_people
from bot.services.core import Core
from bot.services.requests.signatures import decision_mac, given
from storage.requests import decisions
from storage.transaction import Tx
from storage.vault import Vault


def signed(
    tx: Tx,
    core: Core,
    request: Request,
    kind: DecisionKind,
    actor: Actor,
    *,
    reason: str = "",
    verdict: str = "",
    after: datetime | None = None,
    assertion: Mapping[str, Any] | None = None,
    conditions: Conditions | None = None,
) -> Decision:
    """A decision by `actor` about exactly these terms, now.

    It is dated later than `after`, also when the clock stepped back since: the order of what one person said shows.
    """
    soonest = tx.now if after is None else after + timedelta(microseconds=1)
    decision = Decision(
        id=core.ids.ulid(),
        request_id=request.id,
        kind=kind,
        actor=actor.id,
        actor_name=actor.name,
        requester=request.requester,
        digest=request.digest,
        policy_version=core.policy.version,
        mac="",
        decided_at=max(tx.now, soonest),
        reason=reason,
        verdict=verdict,
        assertion=assertion,
        conditions=None if conditions is None else conditions.as_json(),
    )
    return replace(decision, mac=decision_mac(tx.vault, decision))


def for_row(tx: Tx, core: Core, row: Request, decision: Decision) -> Decision:
    """The same decision on one row of the batch it was made on."""
    made = replace(decision, id=core.ids.ulid(), request_id=row.id, digest=row.digest, decided_at=tx.now)
    return replace(made, mac=decision_mac(tx.vault, made))


def approved_by(
    vault: Vault, request: Request, made: Iterable[Decision], *, as_proof: bool = False
) -> list[str]:
    """The different people who approved exactly these terms, none of them the requester, as it is stored."""
    approvals = given(vault, request, made, DecisionKind.APPROVE, as_proof=as_proof)
    return second_people((d.actor for d in approvals), asked_by=request.requester)


async def resolved_as(tx: Tx, request: Request) -> str | None:
    """How two people said the request ended, "succeeded" or "failed"; None where no two agree. Newest words count."""
    words = newest_words(tx.vault, request, await decisions.of(tx, request.id)).values()
    verdict, count = max(Counter(w.verdict for w in words).items(), key=lambda item: item[1], default=("", 0))
    return verdict if count > 1 else None


def newest_words(vault: Vault, request: Request, made: Iterable[Decision]) -> dict[str, Decision]:
    """What each person last said of an unknown outcome, by their Slack id.

    A newest word that is not genuine counts as nothing: it never brings back what the person took back by it.
    """
    said = {d.actor: d for d in made if d.kind is DecisionKind.RESOLVE}
    return {d.actor: d for d in given(vault, request, said.values(), DecisionKind.RESOLVE)}
