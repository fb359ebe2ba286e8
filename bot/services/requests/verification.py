"""Checks one request against everything that was sealed about it: its digest, its decisions, its audit entries.

What is stored is worked out again here, under the master key; nothing is believed because it stands in a row.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from bot import operations
from bot.domain.ids import short_code
from bot.domain.requests import Checked, Conditions, Decision, DecisionKind, Request, State, Verification
from bot.services.core import Core
from bot.services.requests.lifecycle import existing
from bot.services.requests.signatures import approved_by, given, has_its_body, has_its_digest
from storage import audit
from storage.errors import CannotOpen, Purged
from storage.requests import decisions, requests
from storage.transaction import Tx

LONG_CHAIN = 20_000
"""From so many entries on it takes seconds, and is worth a word before."""

_ENTRIES = "Audit entries"
_CHAIN = "Audit chain"
_ROWS_LEFT_OUT = "request.rows_left_out"
# With another master key everything that is open is signed again.

# States that nobody reaches without the approvals.
_DECIDED = frozenset({State.APPROVED, State.EXECUTING, State.SUCCEEDED, State.FAILED, State.UNRESOLVED})


async def chain_length(core: Core) -> int:
    async with core.store.read() as tx:
        return (await audit.head(tx)).seq


async def verify(core: Core, request_id: str) -> Verification:
    """All checks of one request, in one reading of the database. Raises NotFound."""
    async with core.store.read() as tx:
        request = await existing(tx, request_id)
        made = await decisions.all_of(tx, request.id)
        checks = [
            _terms(tx, request),
            await _body(tx, request),
            _decisions(tx, request, made),
            _approvals(tx, request, made),
            *await _audited(tx, request),
        ]
        if request.is_batch:
            checks.insert(4, await _rows(tx, request))
        return Verification(request, tuple(checks), tx.now)


def _unreadable(what: str) -> Checked:
    return Checked(what, holds=False, found="a row of it cannot be read: it holds what is never written here")


def _terms(tx: Tx, request: Request) -> Checked:
    holds = has_its_digest(tx.vault, request, as_proof=True)
    code = short_code(request.digest)
    found = (
        f"the fingerprint of id, program, kind, card, amounts, reason, requester, key, policy and facts is the one"
        f" stored; its check code is {code}"
        if holds
        else f"the stored terms do not give the stored fingerprint (check code {code}): they were changed"
    )
    return Checked("Terms", holds, found)


async def _body(tx: Tx, request: Request) -> Checked:
    what = "Body as sent"
    try:
        frozen = await requests.frozen(tx, request.id)
    except Purged:
        return Checked(what, holds=True, found="deleted when the outcome was settled, as it should be")
    except CannotOpen:
        return Checked(what, holds=False, found="it cannot be opened under this master key")
    holds = has_its_body(tx.vault, request, frozen.body, as_proof=True)
    return Checked(what, holds, "as it was frozen at submit" if holds else "not what was frozen at submit")


def _decisions(tx: Tx, request: Request, made: Sequence[Decision]) -> Checked:
    """Each is signed under our key, and is about these very terms."""
    wrong = [
        d for d in made if not decisions.is_genuine(tx.vault, d, as_proof=True) or d.digest != request.digest
    ]
    if wrong:
        kinds = ", ".join(f"{d.kind} in the name of {d.actor_name}" for d in wrong)
        return Checked(
            "Decisions", holds=False, found=f"not signed by Countersign about these terms: {kinds}"
        )
    if not made:
        return Checked("Decisions", holds=True, found="none were made")
    kinds = ", ".join(f"{d.kind} by {d.actor_name}" for d in made)
    return Checked("Decisions", holds=True, found=f"each is signed, and about these terms: {kinds}")


def _approvals(tx: Tx, request: Request, made: Sequence[Decision]) -> Checked:
    """A state that needs approvals has them, of people other than the requester."""
    if request.state not in _DECIDED:
        return Checked("Approvals", holds=True, found=f"none are needed to be {request.state}")
    if request.break_glass:
        own = {d.actor for d in given(tx.vault, request, made, DecisionKind.BREAK_GLASS, as_proof=True)} == {
            request.requester
        }
        return Checked("Approvals", own, f"{operations.run_now_label(request.kind)}, by the requester alone")
    approvers = approved_by(tx.vault, request, made, as_proof=True)
    asked = Conditions.of(given(tx.vault, request, made, DecisionKind.APPROVE, as_proof=True))
    needed = max(request.approvals_needed, asked.needed)
    holds = len(approvers) >= needed
    return Checked(
        "Approvals",
        holds,
        f"{len(approvers)} of {needed} needed, none of them the requester's",
    )


async def _rows(tx: Tx, batch: Request) -> Checked:
    """Of a batch: each row has its own terms, key and decisions, under the same key."""
    rows = await requests.rows_of(tx, batch.id)
    wrong = []
    for row in rows:
        made = await decisions.all_of(tx, row.id)
        if not (
            _terms(tx, row).holds and _decisions(tx, row, made).holds and _approvals(tx, row, made).holds
        ):
            wrong.append(row.id)
    if wrong:
        return Checked("Rows", holds=False, found=f"not as they were approved: {', '.join(wrong)}")
    return Checked("Rows", holds=True, found=f"terms, decisions and approvals of all {len(rows)} hold")


async def _audited(tx: Tx, request: Request) -> tuple[Checked, Checked]:
    """What the audit log tells of this request, and whether the log is whole: both of one reading, as a second one may
    be shown other entries."""
    of_it: list[audit.Link] = []
    about, versions = f"request:{request.id}", f"request:{request.id}:"

    def take(link: audit.Link) -> None:
        if link.subject == about or link.subject.startswith(versions):
            of_it.append(link)

    try:
        report = await audit.verify(tx, take=take)
    except ValueError:
        return _unreadable(_ENTRIES), _unreadable(_CHAIN)
    return _entries(request, of_it), _chain(report)


def _entries(request: Request, links: Sequence[audit.Link]) -> Checked:
    """The audit tells of this request from its submit on, with this digest.

    Only another master key gives a request another digest, and the leaving out of rows a batch, whose approvals fall
    with the old one.
    """
    what = _ENTRIES
    seqs: list[int] = []
    submitted, recorded = False, ""
    for entry in links:
        before, recorded = recorded, _digest_in(entry) or recorded
        may_differ = entry.action == audit.SIGNED_AGAIN or (
            request.is_batch and entry.action == _ROWS_LEFT_OUT
        )
        if before not in ("", recorded) and not may_differ:
            return Checked(what, holds=False, found=f"entry {entry.seq} has another fingerprint")
        submitted = submitted or entry.action == "request.submitted"
        seqs.append(entry.seq)
    if not submitted:
        return Checked(what, holds=False, found="there is none for its submission")
    if recorded != request.digest:
        return Checked(what, holds=False, found=f"the last of them, {seqs[-1]}, has another fingerprint")
    span = f"{seqs[0]:,}" if len(seqs) == 1 else f"{seqs[0]:,} to {seqs[-1]:,}"
    return Checked(
        what, holds=True, found=f"{len(seqs)}, from its submission on, with its fingerprint: {span}"
    )


def _digest_in(entry: audit.Link) -> str:
    """The digest an entry tells of; "" where it tells of none (a refusal), "?" where it cannot be read."""
    try:
        return str(json.loads(entry.body).get("digest") or "")
    except (ValueError, AttributeError):
        return "?"


def _chain(report: audit.Report) -> Checked:
    if report.ok:
        found = f"whole: each of its {report.count:,} entries follows the one before and is signed"
        return Checked(_CHAIN, holds=True, found=found)
    found = f"broken at entry {report.first_bad:,} ({report.kind}); the {report.count:,} before it are whole"
    return Checked(_CHAIN, holds=False, found=found)
