"""Signs what may still be sent again, when another master key takes the place of the one it was signed under.

Only what is as it was signed before, and is as the audit log has it: what somebody changed stays refused. What has
ended keeps its old signatures, as proof, where nothing can follow from it any more.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace

from bot.domain.requests import OPEN, Request, digest_of_rows
from bot.outcomes import timing
from bot.services import audit
from bot.services.requests import (
    batch_approval,
    batch_rows,
    body_mac,
    digest_of,
    has_its_body,
    has_its_digest,
)
from storage import key_rotation, master_keys
from storage.errors import CannotOpen, NotAsOnRecord, Purged, Unreadable
from storage.log_record import on_record, open_requests
from storage.requests import attempts, decisions, requests
from storage.store import Store
from storage.transaction import Tx

_NOT_AS_SIGNED = "is not what was requested, or a row of it is not, or is gone"
_OTHER_CALLS = "had other calls by the audit log than the database says"


@dataclass(frozen=True, slots=True)
class SignedAgain:
    """How many requests were signed again, and the ids of those that were not: they are not as on record, or not as
    they were signed."""

    count: int
    not_as_on_record: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class KeyChanged:
    """`moved`: how many sealed values moved to the first key. `signed`: of requests. `retired`: ids of the keys that
    are retired by it. `cells`: names of those that somebody else wrote, which were left."""

    moved: int
    signed: SignedAgain
    retired: tuple[str, ...]
    cells: tuple[str, ...]


async def to_the_first_key(store: Store, actor: str) -> KeyChanged:
    """Seal and sign everything again under the first key of the keyring, and retire the others. On record.

    What somebody else wrote into the database keeps no key from being retired: it is left as it is, is not believed,
    and is named. `store` is opened without a look at its canaries. May be stopped and run again, beside a running bot.
    Raises `WrongMasterKey` and `LogNotWhole`.
    """
    await store.leave_out_all()
    canaries = await key_rotation.settle_canaries(store)
    async with store.read() as tx:  # nothing that a retired key signed is signed again
        await master_keys.learn_retired(tx)
    done = await key_rotation.rewrap(store)
    signed = await sign_open_again(store, actor)
    async with store.begin() as tx:
        counts = {"moved": done.moved, "left": len(done.left), "signed": signed.count}
        await audit.of_another_first_key(tx, actor, counts, not_signed=signed.not_as_on_record)
        retired = await master_keys.retire(tx, actor=actor)
    unreadable = [f"{row.table}.{row.column} of {row.row}" for row in store.set_aside if row.because is None]
    cells = tuple(dict.fromkeys([*canaries, *map(str, done.left), *unreadable]))
    return KeyChanged(done.moved, signed, tuple(retired), cells)


async def sign_open_again(store: Store, actor: str) -> SignedAgain:
    """Sign requests of which something may still be done, and the decisions on them, under the first master key.

    In small transactions, so that it may be stopped and run again beside a running bot, which notifies people of those
    that are not as on record. What cannot be read is among `store.set_aside` then, and is not signed. Raises
    `LogNotWhole`.
    """
    async with store.read() as tx:
        ids = await _to_sign(tx)
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
        except Unreadable:  # whoever names what is set aside names it
            continue
    return SignedAgain(count, tuple(wrong))


async def _to_sign(tx: Tx) -> list[str]:
    """By the rows, and by the log: what is open there is looked at whatever somebody made of its row."""
    by_rows = await requests.still_to_sign(tx, failed_since=tx.now - timing.LATE_LANDING_FOR)
    known = (await on_record.of(tx)).open
    found = {one.id: one.parent_id or one.id for one in await requests.among(tx, known)}
    return sorted({*by_rows, *(found.get(request_id, request_id) for request_id in known)})


async def _sign_again(tx: Tx, request_id: str, actor: str) -> int:
    request = await requests.get(tx, request_id)
    if request is None:
        tx.require_readable("request", request_id)
        raise NotAsOnRecord(request_id, "is not in the database any more")
    # On rows that were left out nothing depends any more: they keep their signatures, as proof.
    rows = await batch_rows.included(tx, request) if request.is_batch else []
    whole = [*rows, request]
    if all(tx.vault.signed_under(one.digest) == tx.vault.primary_kid for one in whole):
        return 0
    if not _are_as_signed(tx, request, rows):
        if request.state not in OPEN and _were_as_signed(tx, whole):
            return 0  # a key that was retired before proves what has ended, and no more
        raise NotAsOnRecord(request.id, _NOT_AS_SIGNED)
    for one in whole:
        await _require_its_calls(tx, one)
    terms = dict(request.terms)
    if rows:
        again = [await _one(tx, row, row.terms, actor) for row in rows]
        terms[batch_approval.ROWS_DIGEST] = digest_of_rows(row.digest for row in again)
    await _one(tx, request, terms, actor)
    return len(whole)


def _are_as_signed(tx: Tx, request: Request, rows: list[Request]) -> bool:
    """Is this what was requested, and, of a list, are these all its rows? What is wrong with a list stays wrong."""
    if not has_its_digest(tx.vault, request):
        return False
    return not request.is_batch or batch_approval.are_the_rows(tx, request, rows)


def _were_as_signed(tx: Tx, whole: list[Request]) -> bool:
    return all(has_its_digest(tx.vault, one, as_proof=True) for one in whole)


async def _require_its_calls(tx: Tx, request: Request) -> None:
    """What its row and its attempts say of its calls is as on record; the rest is looked at with the entry.

    The log is read after them: an answer that came late may be on record before others can read it, and never the other
    way round.
    """
    made = await attempts.of(tx, request.id)
    known = (await on_record.of(tx)).open.get(request.id)
    if known is not None and open_requests.calls_changed(known, request, made):
        raise NotAsOnRecord(request.id, _OTHER_CALLS)


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
    for decision in await decisions.all_of(tx, before.id):
        if decision.digest == before.digest and decisions.is_genuine(tx.vault, decision):
            word = replace(decision, digest=after.digest)
            await decisions.sign_again(tx, replace(word, mac=decisions.mac(tx.vault, word)))
    await audit.of_signing_again(tx, after, actor, before=before.digest)
    return after
