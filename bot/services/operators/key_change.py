"""Signs what may still be sent again, when another master key takes the place of the one it was signed under.

Only what is as it was signed before, and is as the audit log has it: what somebody changed stays refused. What has
ended keeps its old signatures, as proof.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace

from bot.domain.people import APPROVAL_VALID_FOR
from bot.domain.requests import Request, digest_of_rows
from bot.services import audit
from bot.services.requests import (
    batch_approval,
    batch_rows,
    body_mac,
    decision_mac,
    digest_of,
    has_its_body,
    has_its_digest,
    is_genuine,
)
from storage.errors import CannotOpen, NotAsOnRecord, Purged
from storage.log_record import on_record, open_requests
from storage.requests import attempts, decisions, requests
from storage.store import Store
from storage.transaction import Tx


@dataclass(frozen=True, slots=True)
class SignedAgain:
    """How many requests were signed again, and the ids of those that were not: they are not as on record."""

    count: int
    not_as_on_record: tuple[str, ...] = ()


async def sign_open_again(store: Store, actor: str) -> SignedAgain:
    """Sign requests that have not ended, and the decisions on them, under the first master key.

    In small transactions, so that it may be stopped and run again beside a running bot, which notifies people of those
    that are not as on record. Raises `LogNotWhole`.
    """
    async with store.read() as tx:
        # A link to card details needs its approval as long as that is valid.
        ids = await requests.still_to_sign(tx, tx.now - APPROVAL_VALID_FOR)
    count, wrong = 0, list[str]()
    for request_id in ids:
        try:
            async with store.begin() as tx:
                await requests.lock_rows(tx, request_id)
                signed = await _sign_again(tx, request_id, actor)
            count += signed
        except NotAsOnRecord:
            wrong.append(request_id)
            async with store.begin() as tx:
                await audit.of_not_signing_again(tx, request_id, actor)
    return SignedAgain(count, tuple(wrong))


async def _sign_again(tx: Tx, request_id: str, actor: str) -> int:
    request = await requests.get(tx, request_id)
    if request is None:
        return 0
    rows = await requests.rows_of(tx, request.id) if request.is_batch else []
    whole = [*rows, request]
    is_done = all(tx.vault.signed_under(one.digest) == tx.vault.primary_kid for one in whole)
    if is_done or not all(has_its_digest(tx.vault, one) for one in whole):
        return 0
    for one in whole:
        await _require_its_calls(tx, one)
    terms = dict(request.terms)
    if rows:
        again = [await _one(tx, row, row.terms, actor) for row in rows]
        kept = [row.digest for row in again if not batch_rows.is_left_out(row)]
        terms[batch_approval.ROWS_DIGEST] = digest_of_rows(kept)
    await _one(tx, request, terms, actor)
    return len(whole)


async def _require_its_calls(tx: Tx, request: Request) -> None:
    """What its row and its attempts say of its calls is as on record; the rest is looked at with the entry."""
    known = (await on_record.of(tx)).open.get(request.id)
    if known is not None and open_requests.calls_changed(known, request, await attempts.of(tx, request.id)):
        raise NotAsOnRecord(request.id, "had other calls by the audit log than the database says")


async def _one(tx: Tx, before: Request, terms: Mapping[str, str], actor: str) -> Request:
    """One request or row under the first key, with the genuine decisions on it."""
    after = replace(before, terms=terms)
    # Where its body is gone, nothing is compared with it; one that somebody changed stays refused.
    with suppress(Purged, CannotOpen):
        body = (await requests.frozen(tx, before.id)).body
        if has_its_body(tx.vault, before, body):
            after = replace(after, body_mac=body_mac(tx.vault, body))
    after = replace(after, digest=digest_of(tx.vault, after))
    await requests.sign_again(tx, after)
    for decision in await decisions.of(tx, before.id):
        if decision.digest == before.digest and is_genuine(tx.vault, decision):
            word = replace(decision, digest=after.digest)
            await decisions.sign_again(tx, replace(word, mac=decision_mac(tx.vault, word)))
    await audit.of_signing_again(tx, after, actor, before=before.digest)
    return after
