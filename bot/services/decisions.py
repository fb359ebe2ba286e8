"""Decisions under a MAC: a state flipped in the database by hand is not an approval."""

from __future__ import annotations

from dataclasses import replace

from bot.domain.actors import Actor
from bot.domain.approvals import Decision, DecisionKind
from bot.domain.requests import Request
from bot.services.core import Core
from bot.services.signatures import decision_mac
from storage.store import Tx


def signed(
    tx: Tx,
    core: Core,
    request: Request,
    kind: DecisionKind,
    actor: Actor,
    *,
    reason: str = "",
    verdict: str = "",
) -> Decision:
    """A decision by `actor` about exactly these terms, now."""
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
        decided_at=tx.now,
        reason=reason,
        verdict=verdict,
    )
    return replace(decision, mac=decision_mac(tx.vault, decision))


def for_row(tx: Tx, core: Core, row: Request, decision: Decision) -> Decision:
    """The same decision on one row of the batch it was made on."""
    made = replace(decision, id=core.ids.ulid(), request_id=row.id, digest=row.digest, decided_at=tx.now)
    return replace(made, mac=decision_mac(tx.vault, made))
