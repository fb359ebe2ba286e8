"""Does the master key fit this database? A canary of each key in use is sealed under it, and opened at each start."""

from __future__ import annotations

from sqlalchemy import insert, select, update

from storage import tables as t
from storage.errors import CannotOpen, WrongMasterKey
from storage.transaction import Tx
from storage.vault import Ref

_CONSTANT = b"countersign keycheck, rows signed"
# Of a database whose rows have not been signed yet: see `storage.upgrades`.
_UNSIGNED = b"countersign keycheck"


def _canary(kid: str) -> Ref:
    return Ref("keycheck", "keycheck", "sealed", kid)


async def check_canary(tx: Tx) -> None:
    """Raise `WrongMasterKey` unless every key this database uses is in the keyring and is the true one."""
    rows = (await tx.run(select(t.keycheck))).all()
    wrong = []
    for row in rows:
        try:
            fits = tx.vault.open(row.sealed, _canary(row.kid)) in (_CONSTANT, _UNSIGNED)
        except CannotOpen:
            fits = False
        if not fits:
            wrong.append(row.kid)
    if wrong:
        raise WrongMasterKey(
            "The master key does not fit this database, so nothing was started."
            f" It needs the key(s) {', '.join(sorted(wrong))}; given: {', '.join(tx.vault.kids)}."
            " Give the keyring that was used before."
        )


async def is_unsigned(tx: Tx) -> bool:
    """Is this database from before its rows were signed?"""
    rows = (await tx.run(select(t.keycheck))).all()
    return any(tx.vault.open(row.sealed, _canary(row.kid)) == _UNSIGNED for row in rows)


async def mark_signed(tx: Tx) -> None:
    """Its rows are signed from now on."""
    k = t.keycheck.c
    for kid in list((await tx.run(select(k.kid))).scalars()):
        sealed = tx.vault.seal_under(kid, _CONSTANT, _canary(kid))
        await tx.run(update(t.keycheck).where(k.kid == kid).values(sealed=sealed))


async def plant_canaries(tx: Tx) -> None:
    """A canary for the primary key if it has none, so that its loss is noticed at the next start."""
    known = set((await tx.run(select(t.keycheck.c.kid))).scalars())
    if tx.vault.primary_kid not in known:
        sealed = tx.vault.seal(_CONSTANT, _canary(tx.vault.primary_kid))
        await tx.run(insert(t.keycheck).values(kid=tx.vault.primary_kid, sealed=sealed))
