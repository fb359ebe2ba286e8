"""Does the master key fit this database? A canary of each key in use is sealed under it, and opened at each start."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress

from sqlalchemy import delete, insert, select, update

from storage import audit
from storage import tables as t
from storage.errors import CannotOpen, WrongMasterKey
from storage.log_record import on_record
from storage.transaction import Tx
from storage.vault import Ref, Vault

_CONSTANT = b"countersign keycheck, rows signed"
# Of a database whose rows have not been signed yet: see `storage.upgrades`.
_UNSIGNED = b"countersign keycheck"


RETIRED = audit.RETIRED_KEY


def _canary(kid: str) -> Ref:
    return Ref("keycheck", "keycheck", "sealed", kid)


async def check_canary(tx: Tx) -> None:
    """Raise `WrongMasterKey` unless every key this database uses is in the keyring and is the true one."""
    wrong = [kid for kid, fits in (await canaries(tx)).items() if not fits]
    if wrong:
        raise does_not_fit(tx.vault, wrong)


async def canaries(tx: Tx) -> dict[str, bool]:
    """Does the canary of this key open? By key id; of keys that are not in the keyring none does."""
    found = {}
    for row in (await tx.run(select(t.keycheck))).all():
        try:
            found[row.kid] = tx.vault.open(row.sealed, _canary(row.kid)) in (_CONSTANT, _UNSIGNED)
        except CannotOpen:
            found[row.kid] = False
    return found


def does_not_fit(vault: Vault, wrong: Collection[str]) -> WrongMasterKey:
    """`wrong`: ids of keys whose canaries do not open."""
    if set(wrong) <= set(vault.kids):  # by its id each of them is the true key
        return WrongMasterKey(
            f"What tells whether the master key(s) {', '.join(sorted(wrong))} fit this database does not open, although"
            " they are in the keyring, so nothing was started. Somebody changed the tables keycheck or meta of the"
            " database: keep a copy of it, then run `countersign keys rewrap`, or restore a backup."
        )
    return WrongMasterKey(
        "The master key does not fit this database, so nothing was started."
        f" It needs the key(s) {', '.join(sorted(wrong))}; given: {', '.join(vault.kids)}."
        " Give the keyring that was used before."
    )


async def replant(tx: Tx, kid: str) -> None:
    """Take the canary of a key out, and plant it again where the key is in the keyring."""
    await tx.run(delete(t.keycheck).where(t.keycheck.c.kid == kid))
    if kid in tx.vault.kids:
        sealed = tx.vault.seal_under(kid, _CONSTANT, _canary(kid))
        await tx.run(insert(t.keycheck).values(kid=kid, sealed=sealed))


async def older_in_use(tx: Tx) -> list[str]:
    """Keys other than the first under which this database still has something, and which were not retired in it.

    While a key is changed there is one, and again after a backup of before the change was put back: the copy does not
    know that it was retired.
    """
    known = sorted((await tx.run(select(t.keycheck.c.kid))).scalars())
    return [kid for kid in known if kid != tx.vault.primary_kid and kid not in tx.vault.retired]


async def is_unsigned(tx: Tx) -> bool:
    """Is this database from before its rows were signed?"""
    for row in (await tx.run(select(t.keycheck))).all():
        with suppress(CannotOpen):  # which says nothing, where it is looked at at all
            if tx.vault.open(row.sealed, _canary(row.kid)) == _UNSIGNED:
                return True
    return False


async def mark_signed(tx: Tx) -> None:
    """Its rows are signed from now on."""
    k = t.keycheck.c
    for kid in list((await tx.run(select(k.kid))).scalars()):
        sealed = tx.vault.seal_under(kid, _CONSTANT, _canary(kid))
        await tx.run(update(t.keycheck).where(k.kid == kid).values(sealed=sealed))


async def see_retired(tx: Tx) -> None:
    """Learn which keys of the keyring were retired, by a quick look for whatever opens the database.

    Raises `WrongMasterKey` when the first key of the keyring is one of them. Somebody may hide such an entry from this
    look, so whoever sends, signs or believes a signature calls `learn_retired` before: a start does.
    """
    vault = tx.vault
    for kid in vault.kids:
        async for entry in audit.about(tx, _about(kid)):
            by_another = vault.signed_under(entry.mac) != kid
            if entry.action == RETIRED and by_another and audit.is_genuine(tx, entry):
                vault.retired[kid] = entry.seq
    _require_first(vault)


async def learn_retired(tx: Tx) -> None:
    """Learn which keys of the keyring were retired, from all of the audit chain: it remembers that, and the keyring
    needs no change.

    Raises `WrongMasterKey` when the first key of the keyring is one of them, and `LogNotWhole`.
    """
    await on_record.of(tx)
    _require_first(tx.vault)


def _require_first(vault: Vault) -> None:
    if vault.primary_kid in vault.retired:
        raise WrongMasterKey(
            f"The first key of the keyring, {vault.primary_kid}, was retired at entry"
            f" {vault.retired[vault.primary_kid]} of the audit chain, so nothing was started. Put the key that took"
            " its place first, or a new one."
        )


async def retire(tx: Tx, *, actor: str) -> list[str]:
    """Retire every key but the first that was used for signing and holds nothing any more; returns their ids.

    A key that was never used is one that is to come, and stays.
    """
    others = [kid for kid in tx.vault.kids[1:] if kid not in tx.vault.retired]
    signers = (await on_record.of(tx)).signers
    gone = [kid for kid in others if kid in signers]
    for kid in gone:
        await audit.append(tx, actor=actor, action=RETIRED, subject=_about(kid))
    await learn_retired(tx)
    return gone


def _about(kid: str) -> str:
    return f"master_key:{kid}"


async def plant_canaries(tx: Tx) -> None:
    """A canary for the primary key if it has none, so that its loss is noticed at the next start."""
    known = set((await tx.run(select(t.keycheck.c.kid))).scalars())
    if tx.vault.primary_kid not in known:
        sealed = tx.vault.seal(_CONSTANT, _canary(tx.vault.primary_kid))
        await tx.run(insert(t.keycheck).values(kid=tx.vault.primary_kid, sealed=sealed))
