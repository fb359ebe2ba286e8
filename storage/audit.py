"""The audit chain: every change leaves a link, in the transaction of the change.

A link's hash covers its fields and the hash before it; its MAC needs the master key, so whoever can
only write to the database cannot make a new chain. A chain cannot show that its tail was cut off:
anchors, kept outside the database, do.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from functools import cache, partial
from typing import Any, NamedTuple

from sqlalchemy import (
    ColumnElement,
    Connection,
    Row,
    Select,
    bindparam,
    delete,
    insert,
    literal,
    or_,
    select,
    type_coerce,
    update,
)
from sqlalchemy.exc import IntegrityError
from sqlalchemy.types import NULLTYPE

from bot.domain.money import guarded
from storage import tables as t
from storage.columns import json_text, time_text
from storage.errors import EndOfLogLost, LogNotWhole
from storage.transaction import Added, Tx, fingerprint
from storage.vault import Vault, length_prefixed

_DOMAIN = b"countersign-audit-v1"
_HEAD = select(t.audit_head.c.seq, t.audit_head.c.hash)
_HEAD_LOCKED = _HEAD.with_for_update()
#: No entry of ours has a number as high as the first; from the second on, none can be added after one.
_NEVER, _NONE_FOLLOWS = 2**62, 2**63 - 2**20
_LAST = (
    select(t.audit.c.seq, t.audit.c.hash)
    .where(t.audit.c.seq < _NEVER)
    .order_by(t.audit.c.seq.desc())
    .limit(1)
)
_LINK = insert(t.audit)
# Only from where the chain was thought to end: who was mistaken looks, and moves it from there.
_MOVE_HEAD = (
    update(t.audit_head)
    .where(t.audit_head.c.seq == bindparam("known_seq"), t.audit_head.c.hash == bindparam("known_hash"))
    .values(seq=bindparam("seq"), hash=bindparam("hash"))
)
# What a transaction added, and where the chain ends now: a trigger of the database may have undone either.
_READ_BACK = select(t.audit_head.c.seq, t.audit_head.c.hash, t.audit.c.seq, t.audit.c.hash).join(
    t.audit, t.audit.c.seq.between(bindparam("first"), bindparam("last"))
)
_HASH_AT = select(t.audit.c.hash).where(t.audit.c.seq == bindparam("seq"))
# The links as they are stored: what is checked needs no objects, and its time is text where it was hashed as text.
_STORED = select(t.audit.c.seq, type_coerce(t.audit.c.at, NULLTYPE), *list(t.audit.c)[2:]).order_by(
    t.audit.c.seq
)
_BATCH = 500
_TEXT = {str}
Write = Callable[[str], object]
FIRST_PREV = ""  # what the first link has for the hash before it
RETIRED_KEY = "keys.retired"
SIGNED_AGAIN = "request.signed_again"
"""Of a request whose fingerprint changed with the master key; `before` is the one until then."""
CONSENT_GIVEN = "consent.given"
NUMBERS = "signed_rows"
"""In an entry: by table and key, the numbers of the rows that were signed with it; see `storage.protection`."""
_SAYS_NUMBERS = f'"{NUMBERS}":'
ENDED = "ended"
"""In an entry about a request that has ended: the fingerprints of how its row said before the change that it did ("" =
it was open then), and of how it does now."""
KEPT = "request.kept"
"""How the row of a request that has ended was left, where no other entry says so."""
TELLS_ONLY = frozenset({"request.stage", "request.debited", KEPT})
"""These change nothing of what the log has of their request."""


@dataclass(frozen=True, slots=True)
class Head:
    """The end of the chain; seq 0 and no hash when it is empty."""

    seq: int
    hash: str


@dataclass(frozen=True, slots=True)
class Entry:
    """One link of the chain. `body` is canonical JSON text, as it was hashed."""

    seq: int
    at: datetime
    actor: str
    action: str
    subject: str
    outcome: str
    reason_code: str
    body: str
    policy_version: str
    prev: str
    hash: str
    mac: str


@dataclass(frozen=True, slots=True)
class Anchor:
    """A statement about the chain's end, to be kept outside the database."""

    seq: int
    hash: str
    at: str
    mac: str

    def line(self) -> str:
        """One line of JSON, for a log or an append-only file."""
        return json.dumps(asdict(self), sort_keys=True)

    @classmethod
    def from_line(cls, line: str) -> Anchor:
        """Raises ValueError when the line is not an anchor."""
        try:
            read = json.loads(line)
            seq, at = read["seq"], str(read["at"])
            if type(seq) is int and seq > 0 and datetime.fromisoformat(at).tzinfo is not None:
                return cls(seq, str(read["hash"]), at, str(read["mac"]))
        except (KeyError, TypeError, ValueError, RecursionError):
            pass  # whoever may write to a place may write anything there
        raise ValueError("this line is not an audit anchor")


@dataclass(frozen=True, slots=True)
class Report:
    """What `verify` found. `kind` is the class of the first fault, at `first_bad`:

    gap (a missing number), prev (does not follow the link before it), hash (a field was changed),
    key (signed under a key that is not in the keyring), mac (not signed by us), head (the table ends
    elsewhere than its head row says), anchor (an anchor tells of another chain).
    """

    ok: bool
    count: int
    last: int
    first_bad: int | None = None
    kind: str | None = None


@dataclass(frozen=True, slots=True)
class Manifest:
    """What an export holds: its links, the last of them, and the SHA-256 of its bytes."""

    count: int
    head_seq: int
    head_hash: str
    sha256: str


def _are_texts(values: Iterable[object]) -> bool:
    """SQLite keeps bytes in a column for texts, where somebody writes them."""
    return set(map(type, values)) == _TEXT


def _hash(seq: int, texts: Iterable[str], prev: str) -> str:
    """SHA-256 over a link's number and its texts from `at` to `policy_version`, each with its length, and the hash
    before it; hex."""
    covered = length_prefixed(b"%d" % seq, *[text.encode() for text in texts])
    return hashlib.sha256(b"".join((_DOMAIN, covered, prev.encode()))).hexdigest()


async def append(
    tx: Tx,
    *,
    actor: str,
    action: str,
    subject: str,
    outcome: str = "ok",
    reason_code: str = "",
    body: Mapping[str, Any] | None = None,
    policy_version: str = "",
) -> int:
    """Add a link and return its number; the change and its link stand or fall together.

    `body`: ids, amounts, digests; nothing personal, no secret, no float. On PostgreSQL this holds the
    head row until the transaction ends, so do it late in the transaction.

    Raises `EndOfLogLost` where the head row was taken out or set back, and `LogNotWhole` where the chain lacks an entry
    that this process knows; then the transaction is to be given up. So it is where the entry is not there any more when
    the transaction ends: a trigger of the database may take it out again.
    """
    texts = {
        "actor": actor,
        "action": action,
        "subject": subject,
        "outcome": outcome,
        "reason_code": reason_code,
        "body": json_text(_with_numbers(tx, body or {}) if outcome == "ok" else body or {}),
        "policy_version": policy_version,
    }
    covered = (time_text(tx.now), *texts.values())
    chain = tx.chain
    link = None if chain.end_seq is None else await _moved(tx, chain.end_seq, chain.end_hash, covered)
    if link is None:  # somebody else has added to it, or what this process added was undone
        end = await _end_with_all_known(tx)
        link = await _moved(tx, end.seq, end.hash, covered)
    if link is None:
        raise EndOfLogLost("does not keep what is written to it")
    mac = tx.vault.mac("audit_mac", link["hash"].encode())
    try:
        await tx.run(_LINK, {"at": tx.now, **texts, **link, "mac": mac})
    except IntegrityError as error:  # there is an entry of this number
        raise EndOfLogLost("was set back") from error
    seq, digest = int(link["seq"]), str(link["hash"])
    added = Added(seq, covered[0], **texts, prev=str(link["prev"]), hash=digest)
    if not tx.reports_loss:  # else the lost entry stays the last that is known, and nothing else is added
        chain.end_seq, chain.end_hash = seq, digest
        tx.after_commit(lambda: chain.committed(seq, digest))
        tx.after_commit(lambda: chain.own.append(added))
    if not tx.appended:
        tx.before_commit(lambda: _require_appended(tx))
    tx.appended.append(added)
    if outcome == "ok" and is_held(action):
        tx.hold_entries()
    return seq


def _with_numbers(tx: Tx, body: Mapping[str, Any]) -> Mapping[str, Any]:
    """With the numbers of the rows that this transaction signed, of which an older one is not to be put back."""
    if not tx.numbered:
        return body
    numbered, tx.numbered = tx.numbered, {}
    return {**body, NUMBERS: numbered}


def has_numbers(body: str) -> bool:
    """Does the body of an entry say them? Within a text of others, its quotes would be escaped."""
    return _SAYS_NUMBERS in body


def is_held(action: str) -> bool:
    """Is what was done held against what the log has, as more may follow from it? See `log_record.on_record`."""
    return action == CONSENT_GIVEN or (action.startswith("request.") and action not in TELLS_ONLY)


async def _end_with_all_known(tx: Tx) -> Head:
    """Where the chain ends, held until the transaction does. Raises `EndOfLogLost`, `LogNotWhole`."""
    # As it is before the statement: what is committed later may not be seen by it.
    known = (tx.chain.known_seq, tx.chain.known_hash)
    if tx.appended:
        known = (tx.appended[-1].seq, tx.appended[-1].hash)
    end = (await tx.run(_HEAD_LOCKED)).one_or_none()
    if end is None:
        raise EndOfLogLost("is gone")
    if end.seq >= _NONE_FOLLOWS:
        raise EndOfLogLost("names a number that none can follow")
    if known[0] and (end.seq, end.hash) != known and not tx.reports_loss:
        if not await _has(tx, *known):
            raise LogNotWhole(known[0], "head")
        if end.seq <= known[0]:
            raise EndOfLogLost("was set back")
    return Head(end.seq, end.hash)


async def _has(tx: Tx, seq: int, digest: str) -> bool:
    found: str | None = (await tx.run(_HASH_AT, {"seq": seq})).scalar_one_or_none()
    return found == digest


async def _require_appended(tx: Tx) -> None:
    """Raise `LogNotWhole` unless all that this transaction added is there, and the chain ends with it."""
    if not tx.appended:
        return
    added = [(one.seq, one.hash) for one in tx.appended]
    asked = {"first": added[0][0], "last": added[-1][0]}
    rows = [tuple(row) for row in (await tx.run(_READ_BACK, asked)).all()]
    there = {(seq, digest) for _, _, seq, digest in rows}
    ends = {(seq, digest) for seq, digest, _, _ in rows}
    missing = [seq for seq, digest in added if (seq, digest) not in there]
    if missing or ends != {added[-1]}:
        raise LogNotWhole(min(missing, default=asked["last"]), "gap" if missing else "head")


async def lacked(tx: Tx) -> Head | None:
    """The last entry that this process knows, where the database does not have it any more: then what it shows is not
    what was done. None where all is there."""
    return await _lacked(tx, await head(tx)) if tx.known_end[0] else None


async def _lacked(tx: Tx, end: Head) -> Head | None:
    """The same, where the chain ends so by its row."""
    seq, digest = tx.known_end
    if not seq:
        return None
    is_there = end.hash == digest if end.seq == seq else end.seq > seq and await _has(tx, seq, digest)
    return None if is_there else Head(seq, digest)


async def _moved(tx: Tx, known_seq: int, known_hash: str, covered: Iterable[str]) -> dict[str, Any] | None:
    """Move the chain's end on by a link that covers these texts; None where the chain does not end where it was known
    to. On PostgreSQL it is held from then on."""
    seq, prev = known_seq + 1, known_hash or FIRST_PREV
    digest = _hash(seq, covered, prev)
    to = {"known_seq": known_seq, "known_hash": known_hash, "seq": seq, "hash": digest}
    if not (await tx.run(_MOVE_HEAD, to)).rowcount:
        return None
    return {"seq": seq, "prev": prev, "hash": digest}


async def head(tx: Tx) -> Head:
    """Where the chain ends, as its row says; where somebody took the row out, at 0, which no entry agrees with."""
    row = (await tx.run(_HEAD)).one_or_none()
    return Head(0, "") if row is None else Head(row.seq, row.hash)


async def wait_for_who_adds(tx: Tx) -> None:
    """Until whoever adds to the chain now has done so: a commit whose answer was lost may still be under way. SQLite's
    write lock does so already."""
    if tx.is_postgres:
        await tx.run(_HEAD_LOCKED)


async def head_is_lost(tx: Tx) -> bool:
    """Did somebody take out the row of the chain's end, set it back, or write one that no entry can follow, so that
    nothing can be added any more?

    A row that is ahead of the entries stays: it is what is left to see that entries were cut off.
    """
    row, last = (await tx.run(_HEAD)).one_or_none(), (await tx.run(_LAST)).one_or_none()
    if row is None or row.seq >= _NONE_FOLLOWS:
        return True
    return last is not None and (row.seq < last.seq or (row.seq == last.seq and bool(row.hash != last.hash)))


async def put_head_back(tx: Tx) -> bool:
    """Where the row of the chain's end is lost, write it again after the last entry there is; was it lost?"""
    if not await head_is_lost(tx):
        return False
    last = (await tx.run(_LAST)).one_or_none()
    await tx.run(delete(t.audit_head))
    await tx.run(
        insert(t.audit_head), {"id": 1, "seq": last.seq if last else 0, "hash": last.hash if last else ""}
    )
    return True


async def made_at(tx: Tx, seq: int) -> datetime | None:
    """When this entry was made; None where it is not there."""
    asked = select(t.audit.c.at).where(t.audit.c.seq == seq)
    found: datetime | None = (await tx.run(asked)).scalar_one_or_none()
    return found


async def last_until(tx: Tx, at: datetime) -> tuple[int, datetime | None]:
    """Number and time of the newest entry that was made until then; (0, None) where there is none."""
    a = t.audit.c
    row = (await tx.run(select(a.seq, a.at).where(a.at <= at).order_by(a.seq.desc()).limit(1))).one_or_none()
    return (0, None) if row is None else (row.seq, row.at)


async def anchor(tx: Tx) -> Anchor | None:
    """A signed statement of the chain's end as it is now; None while the chain is empty.

    Where the database lacks an entry that this process knows, the statement is of that one: what hides it in the
    database is seen by it, also after a start.
    """
    end = await head(tx)
    if not tx.appended:
        end = await _lacked(tx, end) or end
    if end.seq == 0:
        return None
    at = time_text(tx.now)
    return Anchor(end.seq, end.hash, at, tx.vault.mac("audit_mac", _anchor_bytes(end.seq, end.hash, at)))


async def entries(tx: Tx, *, from_seq: int = 1, to_seq: int | None = None) -> AsyncIterator[Entry]:
    """The links in order, read in pieces: memory stays flat however long the chain is."""
    async for entry in _walk(tx, *([] if to_seq is None else [t.audit.c.seq <= to_seq]), after=from_seq - 1):
        yield entry


def body_of(entry: Entry) -> dict[str, Any]:
    """What a link keeps; nothing where somebody made it what isn't a JSON object."""
    try:
        found = json.loads(entry.body)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def is_genuine(tx: Tx, entry: Entry) -> bool:
    """Was this link written by us, as it is? That it is in its place is what `verify` says."""
    texts = (entry.actor, entry.action, entry.subject, entry.outcome, entry.reason_code, entry.body)
    if not _are_texts((*texts, entry.policy_version, entry.prev, entry.hash, entry.mac)):
        return False
    digest = _hash(entry.seq, (time_text(entry.at), *texts, entry.policy_version), entry.prev)
    return digest == entry.hash and tx.vault.check_mac("audit_mac", digest.encode(), entry.mac, as_proof=True)


async def about(tx: Tx, subject: str) -> AsyncIterator[Entry]:
    """The links about `subject`, and about its versions (`subject:3`), in order."""
    asked = _about(tx.is_postgres, *t.audit.c)
    # They are few. Put in order here: for an order by number the database would go through all there are.
    for row in sorted((await tx.run(asked, _named(subject))).all(), key=lambda row: int(row.seq)):
        yield _entry(row)


async def newest_about(tx: Tx, subject: str) -> int:
    """The number of the newest of these links; 0 where there is none."""
    found = (await tx.run(_about(tx.is_postgres, t.audit.c.seq), _named(subject))).scalars()
    return max(found, default=0)


def _named(subject: str) -> dict[str, str]:
    return {"subject": subject, "versions": f"{subject}:", "after": f"{subject};"}


@cache
def _about(is_postgres: bool, *columns: ColumnElement[Any]) -> Select[Any]:
    a = t.audit.c
    # As one range, byte by byte: for `LIKE` SQLite uses no index.
    least, below = ("~>=~", "~<~") if is_postgres else (">=", "<")
    subject, versions, after = (
        bindparam(name, type_=a.subject.type) for name in ("subject", "versions", "after")
    )
    near = (a.subject.bool_op(least)(subject), a.subject.bool_op(below)(after))
    mine = or_(a.subject == subject, a.subject.bool_op(least)(versions))
    return select(*columns).where(*near, mine)


async def page(tx: Tx, *, since: datetime, until: datetime, after: int, limit: int) -> list[Entry]:
    """The links made in the period with a number above `after`, in order."""
    return await _piece(tx, t.audit.c.at >= since, t.audit.c.at < until, after=after, limit=limit)


async def _walk(tx: Tx, *wanted: ColumnElement[bool], after: int = 0) -> AsyncIterator[Entry]:
    while found := await _piece(tx, *wanted, after=after, limit=_BATCH):
        for entry in found:
            yield entry
        after = found[-1].seq


async def _piece(tx: Tx, *wanted: ColumnElement[bool], after: int, limit: int) -> list[Entry]:
    a = t.audit.c
    asked = select(t.audit).where(a.seq > after, *wanted).order_by(a.seq).limit(limit)
    return [_entry(row) for row in (await tx.run(asked)).all()]


async def verify(
    tx: Tx,
    *,
    from_seq: int = 1,
    to_seq: int | None = None,
    anchors: Sequence[Anchor] = (),
    gone: Mapping[str, int] | None = None,
    take: Take | None = None,
) -> Report:
    """Recompute the chain from `from_seq` to `to_seq` (its end when None), and compare the anchors.

    `take` is given each link that was found whole, as it was read for the check: whoever uses what the log tells takes
    it so, as a second query may be shown other links. Where the report is not `ok`, it was not given all of them.

    `gone`: keys that were retired and are not in the keyring any more, with the number of the entry that says so. What
    came before it is then taken by its fingerprints alone, which the entries after it cover.

    On SQLite this works in a thread, so the loop goes on however long the chain is.
    """
    end = await head(tx)
    stop = end.seq if to_seq is None else min(to_seq, end.seq)
    anchored = {a.seq: a for a in anchors}
    check = _Check(tx.vault, end.seq, from_seq, await _before(tx, from_seq), anchored, gone or {}, take)
    # Read past `stop` when the whole chain is asked for: rows beyond the head row are a fault too.
    asked = _STORED if to_seq is None else _STORED.where(t.audit.c.seq <= to_seq)
    while check.fault is None and await tx.connection.run_sync(partial(check.piece, asked)):
        pass
    count, last = check.count, check.expected - 1
    if check.fault is not None:
        return Report(False, count, last, *check.fault)
    if last < stop or (to_seq is None and count and check.previous != end.hash):
        return Report(False, count, last, min(check.expected, max(stop, 1)), "head")
    if not end.seq and not count and await _was_anything_done(tx):
        return Report(False, 0, 0, 1, "head")
    beyond = sorted(a.seq for a in anchors if a.seq > end.seq)
    if beyond:
        return Report(False, count, last, end.seq + 1, "anchor")
    forged = [a.seq for a in anchors if not is_ours(tx, a)]
    if forged:
        return Report(False, count, last, min(forged), "anchor")
    return Report(True, count, last)


async def export(
    tx: Tx, write: Write, form: str, *, from_seq: int = 1, to_seq: int | None = None
) -> Manifest:
    """Write the links as `jsonl` or `csv`, one a line; returns what was written.

    In CSV a text that a spreadsheet would take for a formula gets an apostrophe before it; JSON lines
    hold every text as it was hashed. Raises ValueError for another form.
    """
    if form not in ("jsonl", "csv"):
        raise ValueError(f"The audit log is exported as jsonl or csv, not {form}.")
    digest, count, last = hashlib.sha256(), 0, Head(0, FIRST_PREV)

    def put(line: str) -> None:
        digest.update(line.encode())
        write(line)

    if form == "csv":
        put(_csv_line([field.name for field in fields(Entry)]))
    async for entry in entries(tx, from_seq=from_seq, to_seq=to_seq):
        values = {**asdict(entry), "at": time_text(entry.at)}
        put(
            _csv_line(list(values.values()))
            if form == "csv"
            else json.dumps(values, ensure_ascii=False) + "\n"
        )
        count, last = count + 1, Head(entry.seq, entry.hash)
    return Manifest(count, last.seq, last.hash, digest.hexdigest())


def _csv_line(values: Sequence[object]) -> str:
    line = io.StringIO()
    csv.writer(line, lineterminator="\n", quoting=csv.QUOTE_ALL).writerow(
        [guarded(value) if isinstance(value, str) else value for value in values]
    )
    return line.getvalue()


class Link(NamedTuple):
    """A link of the chain as it was read and checked, in one. `signer`: the id of the master key that signed it."""

    seq: int
    at: str
    actor: str
    action: str
    subject: str
    outcome: str
    body: str
    policy_version: str
    hash: str
    signer: str = ""


Take = Callable[[Link], None]


def _link(seq: int, texts: Sequence[str], digest: str, signer: str) -> Link:
    at, actor, action, subject, outcome, _, body, policy_version = texts
    return Link(seq, at, actor, action, subject, outcome, body, policy_version, digest, signer)


class _Check:
    """How far a chain was found whole. `fault` is where it is not, and why: see `Report`."""

    def __init__(
        self,
        vault: Vault,
        end: int,
        first: int,
        previous: str | None,
        anchored: Mapping[int, Anchor],
        gone: Mapping[str, int],
        take: Take | None = None,
    ) -> None:
        self.previous, self.expected, self.count = previous, first, 0
        self.fault: tuple[int, str] | None = None
        self._vault, self._end, self._anchored, self._gone = vault, end, anchored, gone
        self._take = take

    def piece(self, asked: Select[Any], connection: Connection) -> bool:
        """Read and check the next links; False when there were none."""
        more = asked.where(t.audit.c.seq >= self.expected).limit(_BATCH)
        links = connection.execute(more).all()
        for seq, at, *texts, prev, digest, mac in links:
            # Text on SQLite, as it was hashed.
            texts.insert(0, time_text(at) if isinstance(at, datetime) else at)
            kind = self._kind(seq, texts, prev, digest, mac)
            if kind is not None:
                self.fault = (self.expected if kind == "gap" else seq, kind)
                return False
            self.previous, self.expected, self.count = digest, seq + 1, self.count + 1
            if self._take is not None:
                self._take(_link(seq, texts, digest, self._vault.signed_under(mac)))
        return bool(links)

    def _kind(self, seq: int, texts: Sequence[str], prev: str, digest: str, mac: str) -> str | None:
        if seq != self.expected:
            return "gap"
        if not _are_texts((*texts, prev, digest, mac)):
            return "hash"
        if self.previous is not None and prev != self.previous:
            return "prev"
        if _hash(seq, texts, prev) != digest:
            return "hash"
        return self._signature(seq, texts, digest, mac)

    def _signature(self, seq: int, _texts: Sequence[str], digest: str, mac: str) -> str | None:
        """What is wrong with who signed it, and with where it stands."""
        is_of_gone = seq < self._gone.get(self._vault.signed_under(mac), 0)
        if not is_of_gone and not self._vault.check_mac("audit_mac", digest.encode(), mac, as_proof=True):
            return "mac" if self._vault.signed_under(mac) in self._vault.kids else "key"
        if seq > self._vault.retired.get(self._vault.signed_under(mac), seq):
            return "mac"  # by a key that was retired before: whoever has it is not us
        if seq in self._anchored and self._anchored[seq].hash != digest:
            return "anchor"
        return "head" if seq > self._end else None


class Walk(_Check):
    """Reads links once, checks them, and hands those to `take` that `wanted` asks for, by their action: nothing is read
    a second time, so no view, index or later change shows other links to whoever uses them than to whoever checks them.
    What was taken is worth nothing where `fault` is set in the end.

    `retired` and `unproven` are as `LogFacts` has them.
    """

    def __init__(
        self,
        vault: Vault,
        *,
        first: int,
        previous: str,
        wanted: Callable[[str], bool],
        take: Callable[[Link], None],
        retired: Mapping[str, int],
        unproven: Mapping[str, int],
    ) -> None:
        super().__init__(vault, 0, first, previous, {}, {})
        self._wanted, self._take_link = wanted, take
        self.fingerprints = bytearray()  # of these links, one after the other
        self.signers: set[str] = set()  # ids of the master keys that signed these links
        self.began_at: str | None = None  # when the first link of all was made, where it is among these
        self.retired, self.unproven = dict(retired), dict(unproven)

    @property
    def last_hash(self) -> str:
        """Of the last link, or of the one before the first."""
        return self.previous or ""

    async def to(self, tx: Tx, seq: int) -> None:
        """Go on to this number. `fault` is set where the chain is not whole so far. On SQLite it works in a thread."""
        asked = _STORED.where(t.audit.c.seq <= seq)
        while self.fault is None and self.expected <= seq:
            if not await tx.connection.run_sync(partial(self.piece, asked)) and self.fault is None:
                self.fault = (self.expected, "gap")

    def _signature(self, seq: int, texts: Sequence[str], digest: str, mac: str) -> str | None:
        at, _, action, subject, outcome, *_ = texts
        if seq == 1:
            self.began_at = at
        kid = self._vault.signed_under(mac)
        self.signers.add(kid)
        if seq > min(self.retired.get(kid, seq), self._vault.retired.get(kid, seq)):
            return "mac"
        if kid not in self._vault.kids:
            self.unproven.setdefault(kid, seq)
        elif not self._vault.check_mac("audit_mac", digest.encode(), mac, as_proof=True):
            return "mac"
        elif action == RETIRED_KEY and outcome == "ok":
            _, _, retired = subject.partition(":")
            if retired != kid:
                self.retired[retired] = seq
                self.unproven.pop(retired, None)
        self.fingerprints += fingerprint(digest)
        if self._wanted(action) or has_numbers(texts[6]):
            self._take_link(_link(seq, texts, digest, kid))
        return None


async def _was_anything_done(tx: Tx) -> bool:
    """Is there a request or a decision? Each of them has entries, so an empty chain was emptied."""
    asked = select(literal(1)).where(or_(select(t.request.c.id).exists(), select(t.decision.c.id).exists()))
    return (await tx.run(asked)).first() is not None


async def _before(tx: Tx, from_seq: int) -> str | None:
    """The hash the first link checked must follow; None when that link is missing, too."""
    if from_seq <= 1:
        return FIRST_PREV
    return (await tx.run(select(t.audit.c.hash).where(t.audit.c.seq == from_seq - 1))).scalar_one_or_none()


def is_ours(tx: Tx, anchored: Anchor) -> bool:
    """Was it signed with one of our keys, a retired one included?"""
    data = _anchor_bytes(anchored.seq, anchored.hash, anchored.at)
    return tx.vault.check_mac("audit_mac", data, anchored.mac, as_proof=True)


def _anchor_bytes(seq: int, digest: str, at: str) -> bytes:
    return length_prefixed(b"anchor", str(seq).encode(), digest.encode(), at.encode())


def _entry(row: Row[Any]) -> Entry:
    return Entry(**row._mapping)
