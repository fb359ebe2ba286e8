"""What the audit chain tells of passkeys: which of them count, and who had one.

The rows of passkeys can be hidden, deleted and put back by whoever writes to the database, and so can entries; a view
or an index can show other entries to one query than to the next. So each process goes through the chain once, checks
every entry, and takes what it tells from the very rows that it checked. It keeps that in memory, and from then on reads
what was added since. That an entry is gone is found so, and then no passkey counts, and none is a first one.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from storage import audit
from storage.errors import ChangedOutside, EndOfLogLost, NotReadYet
from storage.operators import safe_mode
from storage.transaction import Confirmed, Made, PasskeysOnRecord, Tx

MADE = "passkey.made"
ADDED = "passkey.added"
ENDED = "passkey.ended"
ALL_ENDED = "passkey.all_ended"
"""Of one person: every passkey that they had until then has ended, whichever rows there were to see."""
RESET = "passkey.reset"
"""Everybody's have ended, and the next one is a first one again."""
KEPT = "anchors.kept"
"""A place outside the database keeps anchors from now on; `seq` and `hash` are of one that it has."""

_WANTED = frozenset({MADE, ADDED, ENDED, ALL_ENDED, RESET, KEPT, safe_mode.RESTORED})
_ABOUT = "passkey"
_ALL = f"{_ABOUT}:all"
AT_ONCE = 1000
"""So many entries are read within a transaction: more would keep others waiting. `learn` reads them before."""


def subject_of_all(person: str) -> str:
    """What an entry is about that concerns all passkeys of a person."""
    return f"{_ABOUT}:of:{person}"


async def of(tx: Tx) -> PasskeysOnRecord:
    """What the chain tells up to its end. Raises `ChangedOutside` where it isn't whole, or lacks an entry that this
    process knows, and `NotReadYet` where more of it has to be read first than a transaction has time for."""
    end = await audit.head(tx)
    if end.seq - tx.passkeys.seq > AT_ONCE:
        raise tx.chain.fault or NotReadYet(
            "Countersign is still reading its audit log after a start, which tells it whose passkeys count. Nothing was"
            " recorded. Try again in some seconds."
        )
    found = await _read(tx, tx.passkeys, end, end.seq)
    if tx.writes:  # some of it may be of this transaction
        tx.after_commit(lambda: tx.chain.learned(found))
    else:
        tx.chain.learned(found)
    return found


async def is_copy_in_doubt(tx: Tx) -> bool:
    """Is it safe mode, and did nobody reset passkeys at the machine since it began?

    The newer database may be put back until then, and what is kept outside the database is of that one. Whoever resets
    passkeys goes on with this copy.
    """
    if await safe_mode.current(tx) is None:
        return False
    try:
        return not (await of(tx)).reset_after_restore
    except (ChangedOutside, NotReadYet):
        return True


async def learn(tx: Tx) -> int:
    """Read on for a while, in a transaction that only reads, and keep it; how many entries are left to read. Raises
    `ChangedOutside`."""
    end, known = await audit.head(tx), tx.passkeys
    to = max(known.seq, min(end.seq, known.seq + AT_ONCE))
    try:
        found = await _read(tx, known, end, to)
    except ChangedOutside as fault:
        tx.chain.fault = fault
        raise
    tx.chain.fault = None
    tx.chain.learned(found)
    return end.seq - found.seq


async def _read(tx: Tx, known: PasskeysOnRecord, end: audit.Head, to: int) -> PasskeysOnRecord:
    """What is known, and the entries up to this number."""
    if known.seq > end.seq:
        raise await _too_short(tx, known.seq)
    found = await _walk(tx, known, to) if to > known.seq else known
    if found.seq == end.seq:
        if found.unproven:
            raise _changed(min(found.unproven.values()))
        if end.seq and found.hash != end.hash:
            raise _changed(end.seq)
    seq, digest = tx.known_end
    if seq > end.seq:
        raise await _too_short(tx, seq)
    if seq and seq <= found.seq and not found.fingerprints.has(seq, digest):
        raise _changed(seq)
    return found


async def _walk(tx: Tx, known: PasskeysOnRecord, to: int) -> PasskeysOnRecord:
    links: list[audit.Link] = []
    walk = audit.Walk(
        tx.vault,
        first=known.seq + 1,
        previous=known.hash,
        wanted=_WANTED.__contains__,
        take=links.append,
        retired=known.retired,
        unproven=known.unproven,
    )
    await walk.to(tx, to)
    if walk.fault is not None:
        raise _changed(walk.fault[0])
    return replace(
        _after(known, links),
        seq=to,
        hash=walk.last_hash,
        fingerprints=known.fingerprints.and_(walk.fingerprints),
        retired=walk.retired,
        unproven=walk.unproven,
    )


def has_all(found: PasskeysOnRecord, anchors: Mapping[str, Sequence[audit.Anchor]], tx: Tx) -> bool:
    """Does the chain have every entry that is known outside the database since passkeys were last reset, and has every
    place what it kept?

    Entries lost with an older copy that was put in place count as missing, too: who had a passkey may be among them. A
    place that lacks what it once kept is not the place of then, such as a disk that is not mounted.
    """
    if set(anchors) - set(found.kept):
        return False
    for place, kept in anchors.items():
        if found.kept[place] not in {(one.seq, one.hash) for one in kept}:
            return False
        for one in kept:
            if found.reset_at is not None and one.at <= found.reset_at:
                continue
            if not found.fingerprints.has(one.seq, one.hash) and audit.is_ours(tx, one):
                return False
    return True


def _after(known: PasskeysOnRecord, links: Iterable[audit.Link]) -> PasskeysOnRecord:
    counting, made, had_one = dict(known.counting), dict(known.made), set(known.had_one)
    reset_at, kept, is_reset = known.reset_at, dict(known.kept), known.reset_after_restore
    for one in links:
        if one.outcome != "ok":
            continue
        passkey_id, body = one.subject.removeprefix(f"{_ABOUT}:"), _body(one)
        if one.action == MADE:
            made[passkey_id] = Made(
                str(body["person"]), str((body.get("assertion") or {}).get("passkey", ""))
            )
        elif one.action == ADDED:
            confirmed = Confirmed(str(body["person"]), str(body["public_key"]), one.seq)
            counting[passkey_id] = confirmed
            made.pop(passkey_id, None)
            had_one.add(confirmed.person)
        elif one.action == ENDED:
            counting.pop(passkey_id, None)
            made.pop(passkey_id, None)
        elif one.action == ALL_ENDED:
            counting = {name: each for name, each in counting.items() if each.person != body["person"]}
            made = {name: each for name, each in made.items() if each.person != body["person"]}
        elif one.action == RESET:
            counting, made, kept, reset_at, is_reset = {}, {}, {}, one.at, True
            had_one.clear()
        elif one.action == safe_mode.RESTORED:
            is_reset = False
        elif one.action == KEPT:
            kept.setdefault(str(body["place"]), (int(body["seq"]), str(body["hash"])))
    return replace(
        known,
        counting=counting,
        made=made,
        had_one=frozenset(had_one),
        reset_at=reset_at,
        reset_after_restore=is_reset,
        kept=kept,
    )


def _body(link: audit.Link) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(link.body)  # ours, as its signature says
    return found


def confirmers_needed(found: PasskeysOnRecord, passkey_id: str, person: str) -> int:
    """How many others confirm this passkey, as it is now: two where the person had one, and none that still counts
    signed for this one."""
    made = found.made.get(passkey_id)
    is_signed_for = made is not None and made.signed_by in found.counting
    return 1 if person not in found.had_one or is_signed_for else 2


async def _too_short(tx: Tx, seq: int) -> ChangedOutside:
    """By the row that says where it ends. Where that alone is wrong, it is written again soon."""
    if await audit.head_is_lost(tx):
        return EndOfLogLost("was taken out or set back")
    return _changed(seq)


def _changed(seq: int) -> ChangedOutside:
    return ChangedOutside(
        f"The audit log isn't as Countersign left it, at entry {seq}, so no passkey counts now. Nothing was recorded."
        " Tell an admin: keep a copy of the database, run `countersign audit verify`, and restore a backup."
    )
