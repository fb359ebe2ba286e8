"""Does the master key fit this database? A canary of each key in use is sealed under it, and opened at each start."""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import cache
from typing import Any

from sqlalchemy import Select, delete, insert, select, update

from storage import audit
from storage import tables as t
from storage.errors import LogNotWhole, WrongMasterKey
from storage.log_record import on_record
from storage.sealed_columns import DOES_NOT_OPEN, opens_any
from storage.set_aside import as_stored, shown, text_of
from storage.transaction import Tx
from storage.vault import Ref, Sealed, Vault

_CONSTANT = b"countersign keycheck, rows signed"
# Of a database whose rows have not been signed yet: see `storage.upgrades`.
_UNSIGNED = b"countersign keycheck"

_NAME = re.compile(r"[a-z0-9]{6}")
_CHANGED_NAME = (
    "Somebody changed the name of this installation, the row instance of the table meta. It was {name}: keep a copy of"
    " the database, then put it back, in SQL: UPDATE meta SET value = '{name}' WHERE name = 'instance'"
)
# So many requests are asked for the name of the installation.
_KEYS_TRIED = 200

RETIRED = audit.RETIRED_KEY


def _canary(kid: str) -> Ref:
    return Ref("keycheck", "keycheck", "sealed", kid)


async def check_canary(tx: Tx) -> list[str]:
    """Raise `WrongMasterKey` unless every key this database uses is in the keyring and is the true one.

    Whoever can write to the database can spoil or plant a canary, and keeps nothing from being started by it, where the
    audit log says which keys are needed. Returns the ids of keys whose canaries do not open then.
    """
    wrong = sorted(kid for kid, fits in (await canaries(tx)).items() if not fits)
    if not wrong or await fits_all_the_same(tx, needs_log=True):
        return wrong
    raise await does_not_fit(tx, wrong)


async def fits_all_the_same(tx: Tx, *, needs_log: bool = False) -> bool:
    """Does the keyring fit although a canary does not open? Every key that signed an entry of the audit log is in it or
    was retired, and something opens, which nothing does under another name of the installation.

    `needs_log`: without an entry it does not, as nothing tells which keys are needed. Raises `WrongMasterKey` where a
    key is missing that signed entries and was not retired. Of a log that is not whole other looks tell.
    """
    is_empty = False
    try:
        is_empty = (await on_record.of(tx)).seq == 0
    except LogNotWhole as error:
        if error.kids:
            raise await does_not_fit(tx, error.kids) from None
    if needs_log and is_empty:
        return False
    # Only now: a key that was retired opens nothing from here on.
    return any((await canaries(tx)).values()) or await opens_any(tx)


async def canaries(tx: Tx) -> dict[str, bool]:
    """Does the canary of this key open? By key id; of keys that are not in the keyring none does."""
    return {
        kid: _opened(tx.vault, kid, sealed) in (_CONSTANT, _UNSIGNED) for kid, sealed in await _planted(tx)
    }


async def _planted(tx: Tx) -> list[tuple[str, Sealed]]:
    """All canaries with their key ids, whatever somebody wrote there: none keeps the others from being read."""
    found = await tx.run(_all_planted(tx.is_postgres))
    return [(text_of(row.kid), Sealed(text_of(row.sealed))) for row in found.all()]


@cache
def _all_planted(is_postgres: bool) -> Select[Any]:
    k = t.keycheck.c
    return select(*(as_stored(one, is_postgres=is_postgres).label(one.name) for one in (k.kid, k.sealed)))


def _opened(vault: Vault, kid: str, sealed: Sealed) -> bytes | None:
    try:
        return vault.open(sealed, _canary(kid))
    except DOES_NOT_OPEN:
        return None


async def does_not_fit(tx: Tx, wrong: Collection[str]) -> WrongMasterKey:
    """`wrong`: ids of keys that are missing, or whose canaries do not open."""
    names = shown_list(wrong)
    if not set(wrong) <= set(tx.vault.kids):
        return WrongMasterKey(
            "The master key does not fit this database, so nothing was started."
            f" It needs the key(s) {names}; given: {', '.join(tx.vault.kids)}."
            " Give the keyring that was used before."
        )
    # By its id each of them is the true key.
    found = (
        "Nothing that was sealed opens under the master key(s)"
        f" {names}, although they are the right ones, so nothing was started."
    )
    if name := await _true_name(tx):
        return WrongMasterKey(f"{found} {_CHANGED_NAME.format(name=name)}")
    return WrongMasterKey(
        f"{found} Somebody changed the name of this installation, the row instance of the table meta, or the table"
        " keycheck and the audit log. Keep a copy of the database. The name is the six letters and digits after co- in"
        " the idempotency keys of before: put it back, or restore a backup."
    )


async def _true_name(tx: Tx) -> str:
    """The name of this installation by the keys of its requests, where a canary opens under it; "" where none does."""
    newest = select(t.request.c.key).order_by(t.request.c.id.desc()).limit(_KEYS_TRIED)
    names = {parts[1] for key in (await tx.run(newest)).scalars() if len(parts := str(key).split("-")) == 3}
    planted = await _planted(tx)
    for name in sorted(one for one in names if _NAME.fullmatch(one)):
        vault = tx.vault.bound_to(name)
        if any(_opened(vault, kid, sealed) is not None for kid, sealed in planted):
            return name
    return ""


def shown_list(kids: Collection[str]) -> str:
    """Ids of master keys, for people: in one line, whatever somebody wrote there."""
    return ", ".join(shown((kid,)) for kid in sorted(kids))


async def replant(tx: Tx, kid: str) -> None:
    """Take the canary of a key out, and plant it again where the key is in the keyring."""
    await tx.run(delete(t.keycheck).where(t.keycheck.c.kid == kid))
    if kid in tx.vault.kids and kid not in tx.vault.retired:
        sealed = tx.vault.seal_under(kid, _CONSTANT, _canary(kid))
        await tx.run(insert(t.keycheck).values(kid=kid, sealed=sealed))


async def older_in_use(tx: Tx) -> list[str]:
    """Keys other than the first under which this database still has something, and which were not retired in it.

    While a key is changed there is one, and again after a backup of before the change was put back: the copy does not
    know that it was retired.
    """
    known = sorted(kid for kid, _ in await _planted(tx))
    others = tx.vault.kids[1:]  # what is under another one opens nowhere
    return [kid for kid in known if kid in others and kid not in tx.vault.retired]


async def is_unsigned(tx: Tx) -> bool:
    """Is this database from before its rows were signed?"""
    return any(_opened(tx.vault, kid, sealed) == _UNSIGNED for kid, sealed in await _planted(tx))


async def mark_signed(tx: Tx) -> None:
    """Its rows are signed from now on."""
    k = t.keycheck.c
    for kid in [kid for kid, _ in await _planted(tx) if kid in tx.vault.kids]:
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
    if tx.vault.primary_kid not in {kid for kid, _ in await _planted(tx)}:
        sealed = tx.vault.seal(_CONSTANT, _canary(tx.vault.primary_kid))
        await tx.run(insert(t.keycheck).values(kid=tx.vault.primary_kid, sealed=sealed))
