"""Decisions under a MAC: a state flipped in the database by hand is not an approval."""

from __future__ import annotations

from dataclasses import replace

from bot.domain.people.actors import Actor
from bot.domain.requests.approvals import Decision, DecisionKind, decision_bytes
from bot.domain.requests.lifecycle import Request
from bot.services.core import Core
from storage.store import Tx
from storage.vault import Vault

_PURPOSE = "approval_mac"


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
    return replace(decision, mac=tx.vault.mac(_PURPOSE, decision_bytes(decision)))


def is_genuine(vault: Vault, decision: Decision) -> bool:
    """Was this row written by us, and is it as we wrote it?"""
    return vault.check_mac(_PURPOSE, decision_bytes(decision), decision.mac)
