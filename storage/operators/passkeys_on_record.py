"""What the audit chain tells of passkeys: which of them count, and who had one.

The rows of passkeys can be hidden, deleted and put back by whoever writes to the database, and so can entries. So each
process goes through the chain once, checks every entry, and keeps in memory what it tells; from then on it checks what
was added since. That an entry is gone is found so, and then no passkey counts, and none is a first one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from storage import audit, master_keys
from storage.columns import time_text
from storage.errors import ChangedOutside
from storage.transaction import Confirmed, PasskeysOnRecord, Tx

ADDED = "passkey.added"
ENDED = "passkey.ended"
ALL_ENDED = "passkey.all_ended"
"""Of one person: every passkey that they had until then has ended, whichever rows there were to see."""
RESET = "passkey.reset"
"""Everybody's have ended, and the next one is a first one again."""

_ABOUT = "passkey"
#: So many of the newest anchors are compared: each of them speaks for all that came before it.
_COMPARED = 100


def subject_of_all(person: str) -> str:
    """What an entry is about that concerns all passkeys of a person."""
    return f"{_ABOUT}:of:{person}"


async def of(tx: Tx) -> PasskeysOnRecord:
    """What the chain tells up to its end. Raises `ChangedOutside` where it isn't whole, or lacks an entry that this
    process knows."""
    known = tx.chain.passkeys
    end = await audit.head(tx)
    for seq, digest in ((known.seq, known.hash), tx.known_end):
        if seq and (seq > end.seq or await audit.hash_of(tx, seq) != digest):
            raise _changed(seq)
    if end.seq == known.seq:
        if end.hash != known.hash:
            raise _changed(end.seq)
        return known
    gone = await master_keys.gone(tx)
    report = await audit.verify(tx, from_seq=known.seq + 1, to_seq=end.seq, gone=gone)
    if not report.ok or await audit.hash_of(tx, end.seq) != end.hash:
        raise _changed(report.first_bad or end.seq)
    new = [one async for one in audit.about(tx, _ABOUT) if known.seq < one.seq <= end.seq]
    found = replace(_after(known, new), seq=end.seq, hash=end.hash)
    if tx.writes:  # some of it may be of this transaction
        tx.after_commit(lambda: tx.chain.learned(found))
    else:
        tx.chain.learned(found)
    return found


async def is_whole(tx: Tx, found: PasskeysOnRecord, anchors: Sequence[audit.Anchor]) -> bool:
    """Does the chain have every entry that is known outside the database since passkeys were last reset?

    Those lost with an older copy that was put in place count as missing, too: who had a passkey may be among them.
    """
    since = [one for one in anchors if found.reset_at is None or one.at > found.reset_at]
    ours = sorted((one for one in since if audit.is_ours(tx, one)), key=lambda one: one.seq)
    for one in ours[-_COMPARED:]:
        if await audit.hash_of(tx, one.seq) != one.hash:
            return False
    return True


def _after(known: PasskeysOnRecord, entries: Iterable[audit.Entry]) -> PasskeysOnRecord:
    counting, had_one, reset_at = dict(known.counting), set(known.had_one), known.reset_at
    for entry in entries:
        if entry.outcome != "ok":
            continue
        passkey_id, body = entry.subject.removeprefix(f"{_ABOUT}:"), audit.body_of(entry)
        if entry.action == ADDED:
            confirmed = Confirmed(str(body["person"]), str(body["public_key"]))
            counting[passkey_id] = confirmed
            had_one.add(confirmed.person)
        elif entry.action == ENDED:
            counting.pop(passkey_id, None)
        elif entry.action == ALL_ENDED:
            counting = {name: one for name, one in counting.items() if one.person != body["person"]}
        elif entry.action == RESET:
            counting, reset_at = {}, time_text(entry.at)
            had_one.clear()
    return replace(known, counting=counting, had_one=frozenset(had_one), reset_at=reset_at)


def _changed(seq: int) -> ChangedOutside:
    return ChangedOutside(
        f"The audit log isn't as Countersign left it, at entry {seq}, so no passkey counts now. Nothing was recorded."
        " Tell an admin: keep a copy of the database, and run `countersign audit verify`."
    )
