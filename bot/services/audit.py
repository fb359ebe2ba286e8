"""Puts on record what people and the bot did, and what they were refused.

Every entry joins the audit chain (`storage.audit`) and names the policy in force. What was done is recorded in the
transaction that does it, so that the two stand or fall together; a refusal changes nothing, and has its own.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import asynccontextmanager, nullcontext
from typing import Any

from bot.domain.errors import CountersignError, PerhapsGone
from bot.domain.requests import OPEN, Request, State, fingerprints
from bot.services.core import Core
from storage import audit as chain
from storage import columns
from storage.errors import StorageError
from storage.log_record import counted, on_record, open_requests
from storage.requests import requests
from storage.transaction import Tx

# What an older copy would send, or send again, although it was stopped: so an anchor tells of each at once. What has
# succeeded is paid once by its key.
_STOPPED = frozenset({State.REJECTED, State.CANCELLED, State.EXPIRED, State.FAILED})
_STOPS_A_PART = frozenset(
    {"request.stopped", "request.rows_left_out", "request.rejected_before_sending", "request.held_by_a_pause"}
)
# The same of a whole program; and that an older copy was accepted, in which approvals of before are void.
_HOLDS = frozenset(
    {"program.paused", "program.write_paused", "program.drafts_on", "endpoint.held", "database.accepted"}
)


def broken(seq: int | None, kind: str | None) -> str:
    """That the chain is broken at an entry, for whoever is at the machine: the cause, and what to do first."""
    said = f"The audit chain is broken at entry {seq} ({kind})"
    if kind == "key":
        return (
            f"{said}: it is signed under a master key that is not in the keyring. Put the line of that key back, below"
            " the first line: a retired key proves old entries, and does nothing else. If there never was such a key,"
            " somebody changed the database outside Countersign: keep a copy of it before anything else."
        )
    return (
        f"{said}: somebody changed the database outside Countersign. Keep a copy of it before anything else, and see"
        " “tampered” in the runbook."
    )


async def record(
    tx: Tx,
    core: Core,
    actor: str,
    action: str,
    subject: str,
    body: Mapping[str, Any] | None = None,
    *,
    reason_code: str = "",
) -> None:
    """`actor` (a Slack id, or `system:…`) did `action` to `subject` (`kind:id`).

    `body`: ids, amounts, digests; nothing personal, no secret, no float. Late in the transaction, as on
    PostgreSQL nobody else can add to the chain until it ends.
    """
    await chain.append(
        tx,
        actor=actor,
        action=action,
        subject=subject,
        reason_code=reason_code,
        body=body,
        policy_version=core.policy.version,
    )
    if action in _HOLDS:
        tx.after_commit(core.anchors.due.set, though_unsure=True)


def ended(tx: Tx, request: Request) -> dict[str, Any]:
    """For the body of an entry about a request that has ended: how this transaction has left it, where it has changed
    that. Empty otherwise: what somebody else wrote there does not get on record."""
    steps = tx.ended.pop(request.id, ())
    return {chain.ENDED: [steps[0][0], steps[-1][1]]} if steps else {}


async def of_request(
    tx: Tx,
    core: Core,
    request: Request,
    actor: str,
    action: str,
    body: Mapping[str, Any] | None = None,
    *,
    approvers: Collection[str] = (),
) -> None:
    """What `actor` did to a request, which is as this transaction has left it: with its kind, state and digest.

    At its end the transaction raises `NotAsOnRecord` where that does not follow what the log has of the request. So
    write the request with a guarded change first, or hold it and read it then: one that was read before may have gone
    on in another process.

    `approvers`: all who approved it, where this is the approval that was missing.
    """
    recorded = {
        "kind": request.kind,
        "state": request.state.value,
        "digest": request.digest,
        "progress": fingerprints.of_progress(request),
        **(body or {}),
    }
    is_changed = request.id in tx.was or action in _STOPS_A_PART
    if is_changed and not open_requests.says_its_terms(action):
        # What somebody else wrote there does not get on record: an export would look forged from then on.
        kind, digest = await on_record.terms(tx, request)
        recorded |= {"kind": kind, "digest": digest, **(body or {})}
    recorded |= ended(tx, request)
    if words := tx.words.pop(request.id, None):
        recorded[open_requests.WORDS] = words
    if counted.says_what_counts(action) and request.state is State.APPROVED and not request.is_batch:
        recorded[counted.COUNTS] = counted.as_recorded(request, approvers)
        recorded[open_requests.UNTIL] = open_requests.good_until(request)
    await chain.append(
        tx,
        actor=actor,
        action=action,
        subject=f"request:{request.id}:{await _version(tx, request)}",
        body=recorded,
        policy_version=core.policy.version,
    )
    if request.state in _STOPPED or action in _STOPS_A_PART:
        tx.after_commit(core.anchors.due.set, though_unsure=True)


async def _version(tx: Tx, request: Request) -> int:
    """As its row was written in this transaction, or as it is on record: never less than an entry of before has.

    Of an open one that somebody put back, the log is to see the version, and refuse the entry.
    """
    is_seen = request.id in tx.was or (request.state in OPEN and columns.is_ours(request.version))
    return request.version if is_seen else await requests.version_of(tx, request)


async def of_signing_again(tx: Tx, request: Request, actor: str, *, before: str) -> None:
    """A command, which knows no policy, signed the request again under another master key.

    `before`: the digest that it had until then, which signatures of passkeys on it still name. At its end the
    transaction raises `NotAsOnRecord` where the request's row is not as the log has it. Of one that has ended the log
    is held against nothing, so the entry has nothing else of its row.
    """
    recorded = {"kind": request.kind, "digest": request.digest, "before": before}
    if request.state in OPEN:
        recorded |= {
            "state": request.state.value,
            "progress": fingerprints.of_progress(request),
            "approved": open_requests.approved_at(request),
        }
    subject = f"request:{request.id}:{await _version(tx, request)}"
    await chain.append(tx, actor=actor, action=chain.SIGNED_AGAIN, subject=subject, body=recorded)


async def of_not_signing_again(tx: Tx, request_id: str, actor: str) -> None:
    """A command did not sign the request again, as it is not as on record."""
    subject = f"request:{request_id}"
    await chain.append(
        tx,
        actor=actor,
        action=chain.SIGNED_AGAIN,
        subject=subject,
        outcome="refused",
        reason_code="not_as_on_record",
    )


async def of_another_first_key(
    tx: Tx, actor: str, counts: Mapping[str, int], *, not_signed: Collection[str]
) -> None:
    """A command moved everything to the first key of the keyring; `not_signed` are ids of requests."""
    subject = f"master_key:{tx.vault.primary_kid}"
    body = {**counts, "not_signed": list(not_signed)}
    await chain.append(tx, actor=actor, action="keys.rewrapped", subject=subject, body=body)


@asynccontextmanager
async def audited_refusal(
    core: Core,
    actor: str,
    action: str,
    subject: str = "",
    *,
    of: type[Exception] = CountersignError,
    reason: str = "",
) -> AsyncIterator[None]:
    """What is refused within is on record, and raised on: who wanted what, and why not. About a request it is a part of
    its trace.

    Only errors of the type `of` are refusals, and never that somebody may be gone. `reason` is the word for it where
    the error has none that says enough. Goes around a transaction and never into one, as what was refused is rolled
    back.
    """
    about, _, request_id = subject.partition(":")
    with core.traces.of(request_id, action) if about == "request" else nullcontext():
        try:
            yield
        except PerhapsGone:
            raise
        except of as refusal:
            # What keeps a stop from being recorded is on record once, however often it is tried again.
            if isinstance(refusal, StorageError) and core.held.holds(subject):
                raise
            async with core.store.begin() as tx:
                await chain.append(
                    tx,
                    actor=actor,
                    action=action,
                    subject=subject,
                    outcome="refused",
                    reason_code=reason or getattr(refusal, "reason", "refused"),
                    policy_version=core.policy.version,
                )
            raise
