"""What is signed under the master key about a request: its terms, its body, and every decision on it.

Each kind of signature is a MAC under a label, and so a key, of its own: what was signed as one thing is never
taken for another. The labels are named here, and that of decisions in `storage.requests.decisions`, and nowhere else. A
state flipped in the database by hand is not an approval: what counts of the stored decisions is decided here, for
whatever is done by leave of two people.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from bot.domain.errors import NotAllowed
from bot.domain.people import Actor
from bot.domain.requests import (
    Conditions,
    Decision,
    DecisionKind,
    Request,
    is_of_before,
    request_digest,
    second_people,
)
from bot.services.core import Core
from storage.requests import decisions
from storage.transaction import Tx
from storage.vault import Vault

_TERMS = "request_digest"
_BODY = "token_hash"
# Before there was `_TERMS`, the terms were signed under the label of decisions. Decisions and the audit chain
# name a request by that signature, so it cannot be made again: where it is, it still counts. It can stand for
# no decision, whose bytes begin with a length and never with the digit of a digest.
_TERMS_BEFORE = decisions.LABEL


def digest_of(vault: Vault, request: Request) -> str:
    """The keyed digest over all that is fixed when a request is made.

    Keyed, so that nobody who can write to the database alone can make terms and digest agree again.
    """
    return vault.mac(_TERMS, request_digest(request).encode())


def has_its_digest(
    vault: Vault, request: Request, body: bytes | None = None, *, as_proof: bool = False
) -> bool:
    """Is all that was fixed at submit as it was? With `body`: and is that the body that was frozen?

    `as_proof`, here and below: for the record alone, so that what a retired master key signed counts, too.
    """
    terms, labels = request_digest(request).encode(), (_TERMS, _TERMS_BEFORE)
    signed = any(vault.check_mac(label, terms, request.digest, as_proof=as_proof) for label in labels)
    return signed and (body is None or has_its_body(vault, request, body, as_proof=as_proof))


def require_its_digest(vault: Vault, *those: Request) -> None:
    """Raise NotAllowed where one is not what was requested: nobody reads changed terms and decides on the true ones."""
    for request in those:
        if not has_its_digest(vault, request):
            raise changed_outside(request.id)


def changed_outside(request_id: str) -> NotAllowed:
    """That this request is not what was requested, or is gone."""
    return NotAllowed(
        f"What is stored of {request_id} is not what was requested. Nothing was recorded. Keep the database as it is,"
        " and look at `countersign audit verify --deep`.",
        "terms_changed_outside",
    )


def body_mac(vault: Vault, body: bytes) -> str:
    """Of the frozen body, to compare it by: it is sealed, and deleted with the outcome."""
    return vault.mac(_BODY, body)


def has_its_body(vault: Vault, request: Request, body: bytes, *, as_proof: bool = False) -> bool:
    """Is this the body that was frozen at submit?"""
    return vault.check_mac(_BODY, body, request.body_mac, as_proof=as_proof)


def given(
    vault: Vault, request: Request, made: Iterable[Decision], kind: DecisionKind, *, as_proof: bool = False
) -> list[Decision]:
    """Those of `made` that are of this kind, were signed by us, and are about exactly these terms; in order."""
    about = [d for d in made if d.kind is kind and d.digest == request.digest]
    return [d for d in about if decisions.is_genuine(vault, d, as_proof=as_proof)]


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
    return replace(decision, mac=decisions.mac(tx.vault, decision))


def for_row(tx: Tx, core: Core, row: Request, decision: Decision) -> Decision:
    """The same decision on one row of the batch it was made on."""
    made = replace(decision, id=core.ids.ulid(), request_id=row.id, digest=row.digest, decided_at=tx.now)
    return replace(made, mac=decisions.mac(tx.vault, made))


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

    A newest word that is not genuine counts as nothing: it never brings back what the person took back by it. Nor
    does one of before the request was reopened.
    """
    of_now = (d for d in made if not is_of_before(d.decided_at, request))
    said = {d.actor: d for d in of_now if d.kind is DecisionKind.RESOLVE}
    return {d.actor: d for d in given(vault, request, said.values(), DecisionKind.RESOLVE)}
