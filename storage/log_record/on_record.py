"""What the audit log tells that money and keys depend on, for whoever leans on it.

A view, a rule or an index can hide genuine entries from one query and show them to the next. So nobody asks the log for
the entries they want: each process goes through all of it once, checks every entry, and takes what it tells from the
very rows that it checked. It keeps that in memory, and from then on reads what was added since. Some ten microseconds
an entry: a start on 60,000 entries waits about a second for it.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from storage import audit
from storage.errors import LogNotWhole
from storage.log_record.log_facts import WANTED, LogFacts
from storage.transaction import Tx


async def of(tx: Tx) -> LogFacts:
    """What the log tells up to its end. Raises `LogNotWhole` where an entry is missing, was changed, or lacks in it
    although this process knows it. Master keys that were retired are known to the vault from here on."""
    end = await audit.head(tx)
    known = tx.log if isinstance(tx.log, LogFacts) else LogFacts()
    if known.seq > end.seq:
        raise LogNotWhole(known.seq, "head")
    found = await _walked(tx, known, end.seq) if end.seq > known.seq else known
    if found.unproven:
        raise LogNotWhole(min(found.unproven.values()), "key")
    if end.seq and found.hash != end.hash:
        raise LogNotWhole(end.seq, "head")
    seq, digest = tx.known_end
    if seq and not found.fingerprints.has(seq, digest):
        raise LogNotWhole(seq, "head")
    tx.vault.retired.update({kid: at for kid, at in found.retired.items() if kid in tx.vault.kids})
    if tx.writes:  # some of it may be of this transaction
        tx.after_commit(lambda: _keep(tx, found))
    else:
        _keep(tx, found)
    return found


def _keep(tx: Tx, found: LogFacts) -> None:
    """For the next reading, where none has come further meanwhile."""
    if tx.chain.log is not None and found.seq <= tx.chain.log.seq:
        return
    settled = found.fingerprints.settled()
    if settled is not None:
        tx.chain.read_on(replace(found, fingerprints=settled))


async def _walked(tx: Tx, known: LogFacts, to: int) -> LogFacts:
    walk = audit.Walk(
        tx.vault,
        first=known.seq + 1,
        previous=known.hash,
        wanted=WANTED.__contains__,
        retired=known.retired,
        unproven=known.unproven,
    )
    await walk.to(tx, to)
    if walk.fault is not None:
        raise LogNotWhole(*walk.fault)
    return replace(
        known.and_(walk.links),
        seq=to,
        hash=walk.hashes[-1],
        began_at=datetime.fromisoformat(walk.began_at) if walk.began_at else known.began_at,
        fingerprints=known.fingerprints.and_(walk.hashes),
        signers=known.signers | walk.signers,
        retired=walk.retired,
        unproven=walk.unproven,
    )
