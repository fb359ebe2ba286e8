"""What the audit log tells that money and keys depend on, for whoever leans on it.

A view, a rule or an index can hide genuine entries from one query and show them to the next. So nobody asks the log for
the entries they want: each process goes through all of it once, checks every entry, and takes what it tells from the
very rows that it checked. It keeps that in memory, and from then on reads what was added since. Some ten microseconds
an entry: a start on 60,000 entries waits about a second for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime

from bot.domain.errors import Stale
from bot.domain.requests import Request
from storage import audit
from storage.errors import LogNotWhole, NotAsCounted, NotAsOnRecord
from storage.log_record import counted, open_requests
from storage.log_record.log_facts import LogFacts, Working, is_wanted
from storage.transaction import Added, Contradiction, Fingerprints, Tx, fingerprint

_NOT_AS_COUNTED = "counts for this by the audit log, and its row is not there or says something else"
MOST_NOTED = 1000
"""So many requests are remembered of which people are still to be notified."""


async def of(tx: Tx) -> LogFacts:
    """What the log tells up to its end. Raises `LogNotWhole` where an entry is missing, was changed, or lacks in it
    although this process knows it. Master keys that were retired are known to the vault from here on."""
    end = await audit.head(tx)
    known = tx.log if isinstance(tx.log, LogFacts) else LogFacts()
    if known.seq > end.seq:
        raise LogNotWhole(known.seq, "head")
    found = await _walked(tx, known, end.seq) if end.seq > known.seq else known
    if found.unproven:
        raise LogNotWhole(min(found.unproven.values()), "key", found.unproven)
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
    tx.log = found  # what this transaction sees from here on is not before it
    return found


class FirstReading:
    """What the log tells, from its entries as somebody else goes through all of them and checks each: `take` is given
    every one. `kept_open` is as for `Working`."""

    def __init__(self, kept_open: Mapping[str, open_requests.OpenRequest]) -> None:
        self._facts, self._fingerprints = Working(LogFacts(), kept_open), bytearray()
        self._signers, self._retired = set[str](), dict[str, int]()
        self._began_at, self._last, self._is_whole = "", audit.Head(0, audit.FIRST_PREV), True

    def take(self, link: audit.Link) -> None:
        """Go on by the next entry."""
        self._began_at = self._began_at or link.at
        self._last = audit.Head(link.seq, link.hash)
        self._fingerprints += fingerprint(link.hash)
        self._signers.add(link.signer)
        self._is_whole &= link.seq <= self._retired.get(link.signer, link.seq)
        if link.action == audit.RETIRED_KEY and link.outcome == "ok":
            _, _, retired = link.subject.partition(":")
            if retired != link.signer:
                self._retired[retired] = link.seq
        if is_wanted(link.action) or audit.has_numbers(link.body):
            self._facts.add(link)

    def keep(self, tx: Tx) -> None:
        """The chain was found whole: whoever asks `of` reads on from here, but for what a retired key signed."""
        if self._last.seq and self._is_whole:
            tx.log = replace(
                self._facts.facts(),
                seq=self._last.seq,
                hash=self._last.hash,
                began_at=datetime.fromisoformat(self._began_at),
                fingerprints=Fingerprints().and_(self._fingerprints),
                signers=frozenset(self._signers),
                retired=self._retired,
            )


async def known(tx: Tx) -> LogFacts:
    """As `of`, and without asking the database again: what others have added in the last seconds may lack. For what is
    only shown, and what is held against the log at the end of the transaction (`Count`)."""
    found = tx.chain.log
    if not isinstance(found, LogFacts):
        return await of(tx)
    return _with_own(found, [*tx.chain.own, *tx.appended], tx)


async def open_request(tx: Tx, request_id: str) -> open_requests.OpenRequest | None:
    """A request as the log has it open. Where this process knows none, it reads on: another may have been asked for it
    a moment ago. Raises `LogNotWhole`."""
    found = (await known(tx)).open.get(request_id)
    return (await of(tx)).open.get(request_id) if found is None else found


async def version(tx: Tx, request_id: str, *, now: bool) -> int:
    """The highest version of a request that an entry names; 0 where none does. Of one that the log has open it is
    known, as far as this process has read, or `now`; else its entries are read. Raises `LogNotWhole`."""
    found = None if now else (await known(tx)).open.get(request_id)
    found = found or (await of(tx)).open.get(request_id)
    newest = 0 if found is None else found.version
    if found is None:
        async for entry in audit.about(tx, f"request:{request_id}"):
            named = entry.subject.rpartition(":")[2]
            if audit.is_genuine(tx, entry) and named.isdecimal():
                newest = max(newest, int(named))
    ours = (one.subject for one in tx.appended if one.subject.startswith(f"request:{request_id}:"))
    return max([newest, *(int(one.rpartition(":")[2]) for one in ours)])


async def terms(tx: Tx, row: Request) -> tuple[str, str]:
    """The kind and the fingerprint that are on record of this request; its row's where the log does not have it open.

    Where the row has what this process has read, the log is not read again. Raises `LogNotWhole`."""
    said = row.kind, row.digest
    read = tx.log.open.get(row.id) if isinstance(tx.log, LogFacts) else None
    if read is not None and (read.kind or row.kind, read.digest) == said:
        return said
    found = (await of(tx)).open.get(row.id)
    return said if found is None else (found.kind or row.kind, found.digest)


async def require_fits(tx: Tx) -> None:
    """Does what this transaction adds about requests, and a second person's yes, follow what the log has of them?

    And is what it has counted as the log has it? Raises `NotAsOnRecord` where it is not, `Stale` where others went on
    meanwhile, and `LogNotWhole`. To be asked at the end of a transaction that adds something: nobody else adds to the
    log until it is over, so what was read of it is all there is. Where a request is ended and no more, nothing is
    raised, as that is what the log has of it.
    """
    if tx.reports_loss or not tx.appended:
        return
    before = await _before(tx)
    _keep(tx, before)  # others have committed it: who tries again after `Stale` has read it
    known, was = dict(before.open), dict(tx.was)
    for entry in tx.appended:
        _require_asked(tx, before, entry)
        request_id = open_requests.id_of(entry)
        is_written = request_id in tx.was
        # What the row said is of before the first entry about it.
        row = was.pop(request_id, None)
        wrong = open_requests.contradiction(known.get(request_id), entry, row, is_written=is_written)
        if wrong is None and request_id not in known:
            wrong = counted.contradiction(before.counted, entry, row, is_written=is_written)
        if wrong is not None:
            note(tx, wrong)
        if wrong is not None and not wrong.is_harmless:
            raise NotAsOnRecord(wrong.request_id, wrong.why)
        if open_requests.says_older_terms(known.get(request_id), entry):
            raise Stale(
                f"The master key was changed just now, and {request_id} with it. Nothing was recorded. Try again."
            )
        open_requests.take(known, entry)
    await _require_counted(tx, before)
    found = _with_own(before, tx.appended, tx)
    tx.after_commit(lambda: _keep(tx, found))


async def _require_counted(tx: Tx, before: LogFacts) -> None:
    """What limits, tiers and the newest of a setting were counted from is in the database as on record."""
    own = {open_requests.id_of(entry) for entry in tx.appended}
    count: counted.Count
    for count in tx.counted:
        if count.debits is not None and count.debits != before.debits:
            raise Stale(
                "A debit that no request explains was found in the ledger just now, and it counts towards the limits."
                " Nothing was recorded. Try again."
            )
        if not counted.wrong(count, count.rows, before.counted, but=own):
            continue
        # On PostgreSQL others may have gone on since it was counted.
        request_id = counted.wrong(count, await count.read(), before.counted, but=own)
        if not request_id:
            raise Stale("Another request went on at the same time. Try again.")
        wrong = Contradiction(request_id, _NOT_AS_COUNTED, was_counted=True)
        note(tx, wrong)
        raise NotAsCounted(wrong.request_id, wrong.why)


def _require_asked(tx: Tx, before: LogFacts, entry: Added) -> None:
    """What a second person says yes to was asked, and neither answered since nor over."""
    _, _, asked = entry.subject.partition(":")
    if entry.action == audit.CONSENT_GIVEN and entry.outcome == "ok" and asked not in before.asked:
        wrong = Contradiction(asked, "was answered or over already by the audit log")
        note(tx, wrong)
        raise NotAsOnRecord(wrong.request_id, wrong.why)


def note(tx: Tx, wrong: Contradiction) -> None:
    """For whoever notifies people of it, also where this transaction comes to nothing."""
    if len(tx.chain.put_back) < MOST_NOTED:
        tx.chain.put_back.setdefault(wrong.request_id, wrong)


async def _before(tx: Tx) -> LogFacts:
    """What the log tells up to the first entry of this transaction. Nothing is read that this process added itself."""
    first = tx.appended[0]
    known = tx.chain.log if isinstance(tx.chain.log, LogFacts) else LogFacts()
    known = _with_own(known, tx.chain.own, tx)
    if known.seq < first.seq - 1:
        known = await _walked(tx, known, first.seq - 1)
    if known.unproven:
        raise LogNotWhole(min(known.unproven.values()), "key", known.unproven)
    if (known.seq, known.hash) != (first.seq - 1, first.prev):
        raise LogNotWhole(max(known.seq, 1), "head")
    return known


def _with_own(known: LogFacts, own: Iterable[Added], tx: Tx) -> LogFacts:
    """With those of these entries that follow it without a gap. Where a master key is retired, all of it is read."""
    following: list[Added] = []
    seq, digest = known.seq, known.hash
    for one in own:
        if one.seq <= seq:
            continue
        if (one.seq, one.prev) != (seq + 1, digest) or one.action == audit.RETIRED_KEY:
            break
        following.append(one)
        seq, digest = one.seq, one.hash
    if not following:
        return known
    first_at = datetime.fromisoformat(following[0].at)
    return replace(
        known.and_(one for one in following if is_wanted(one.action) or audit.has_numbers(one.body)),
        seq=seq,
        hash=digest,
        began_at=known.began_at if known.seq else first_at,
        fingerprints=known.fingerprints.and_(b"".join(fingerprint(one.hash) for one in following)),
        signers=known.signers | {tx.vault.primary_kid},
    )


def _keep(tx: Tx, found: LogFacts) -> None:
    """For the next reading, where none has come further meanwhile."""
    if tx.chain.log is not None and found.seq <= tx.chain.log.seq:
        return
    settled = found.fingerprints.settled()
    if settled is not None:
        tx.chain.read_on(replace(found, fingerprints=settled))


async def _walked(tx: Tx, known: LogFacts, to: int) -> LogFacts:
    facts = Working(known)
    walk = audit.Walk(
        tx.vault,
        first=known.seq + 1,
        previous=known.hash,
        wanted=is_wanted,
        take=facts.add,
        retired=known.retired,
        unproven=known.unproven,
    )
    await walk.to(tx, to)
    if walk.fault is not None:
        raise LogNotWhole(*walk.fault)
    return replace(
        facts.facts(),
        seq=to,
        hash=walk.last_hash,
        began_at=datetime.fromisoformat(walk.began_at) if walk.began_at else known.began_at,
        fingerprints=known.fingerprints.and_(walk.fingerprints),
        signers=known.signers | walk.signers,
        retired=walk.retired,
        unproven=walk.unproven,
    )
