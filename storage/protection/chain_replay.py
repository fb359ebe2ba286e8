"""What the audit chain tells of requests, of who gets codes, of pauses and passkeys, gone through from its beginning.

To be compared with the tables: what was changed there without an entry shows. It is taken from the very rows that the
chain's check reads, beside the loop. Where the chain is broken, entries are taken as they are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from sqlalchemy import Connection, select

from bot.domain.requests import OPEN, TRANSITIONS, State
from storage import audit
from storage import tables as t
from storage.columns import time_text
from storage.log_record import counted, on_record, open_requests
from storage.transaction import Tx

_PIECE = 5_000
_A = t.audit.c
_DECISIONS = {
    "request.approval": "approve",
    "request.rejected": "reject",
    "request.rejected_before_sending": "reject",
    "request.break_glass": "break_glass",
    "request.confirmed": "confirm",
    "request.resolution_proposed": "resolve",
    "request.resolved_by_hand": "resolve",
}


@dataclass(slots=True)
class RequestReplayed:
    """A request as its entries tell of it: its last fingerprint and state, who decided, how many calls were begun.

    `approved_at`: when, as the log writes it ("" = never); `at_once`: it was done without an approval. `newest`: the
    highest version that an entry names. Of what follows, entries of an older version have nothing: `ended`: the
    fingerprint of how its row says that it ended; `made`: that of its calls then; `words`: those of what each decision
    says, by its id; `said`: of each that counts still, its kind and the Slack id, by its id. There are as many of these
    as requests, so they are small.
    """

    digest: str = ""
    state: str = ""
    submitted: bool = False
    calls: int = 0
    approved_at: str = ""
    at_once: bool = False
    decisions: frozenset[tuple[str, str]] = frozenset()  # kind, Slack id
    version: str = ""
    newest: int = 0
    ended: str = ""
    made: str = ""
    words: tuple[tuple[str, str], ...] | None = None
    said: tuple[tuple[str, tuple[str, str]], ...] = ()

    def may_become(self, state: str, action: str, version: str) -> bool:
        """Does such an entry tell of a step, and not of what somebody made of the row?"""
        if state in (self.state, "") or not self.state or action == open_requests.PUT_RIGHT:
            return True
        return version != self.version and state in TRANSITIONS[State(self.state)].values()


@dataclass(slots=True)
class Replayed:
    """`requests` by id; `codes` by reference: the Slack id, "" = nobody; `paused` and `drafts` by program.

    `passkeys` by id: whose it is, "" = it has ended; only those that counted. `open`: requests that have not ended, by
    id. `wrong`: entries about requests that follow none before them, by what they are about, and how.
    """

    requests: dict[str, RequestReplayed] = field(default_factory=dict)
    codes: dict[str, str] = field(default_factory=dict)
    paused: dict[str, bool] = field(default_factory=dict)
    drafts: dict[str, bool] = field(default_factory=dict)
    passkeys: dict[str, str] = field(default_factory=dict)
    entries: int = 0
    open: dict[str, open_requests.OpenRequest] = field(default_factory=dict)
    wrong: list[tuple[str, str]] = field(default_factory=list)
    _sets: dict[frozenset[tuple[str, str]], frozenset[tuple[str, str]]] = field(default_factory=dict)

    def take_link(self, link: audit.Link) -> None:
        """Go on by an entry that was checked. What was refused changed nothing."""
        if link.outcome == "ok":
            self._hold(link)
            self.take(link.actor, link.action, link.subject, link.body, link.at)

    def _hold(self, link: audit.Link) -> None:
        """Was it sent, approved or resolved after it had ended, or otherwise than it was then?"""
        if link.action == "database.restored":
            open_requests.take_restored(self.open)
            return
        if link.action == open_requests.ANSWERED_LATE:
            open_requests.take_late_answer(self.open, link)
            self._answered_late(link.subject)
            return
        request_id = open_requests.id_of(link)
        if not request_id:
            return
        before = self.open.get(request_id)
        found = open_requests.contradiction(before, link)
        if found is not None and not found.is_harmless:
            how = f"{link.action} is on record at entry {link.seq}, and it {found.why}"
            self.wrong.append((found.request_id, how))
        open_requests.take(self.open, link)
        self._ended_with(request_id, before, link)

    def _ended_with(
        self, request_id: str, before: open_requests.OpenRequest | None, link: audit.Link
    ) -> None:
        """The calls of a request that ends with this entry; more are made only if it is reopened."""
        if request_id in self.open or before is None:
            if request_id in self.open and request_id in self.requests:
                self.requests[request_id].made = ""
            return
        found = self.requests.setdefault(request_id, RequestReplayed())
        found.made = open_requests.calls_at_end(before, link)

    def _answered_late(self, subject: str) -> None:
        """What a call was answered after its request had ended: nothing is said of those calls any more."""
        request_id, _, _ = subject.partition(":")[2].rpartition(".")
        if request_id in self.requests and request_id not in self.open:
            self.requests[request_id].made = ""

    def take(self, actor: str, action: str, subject: str, body: str, at: str) -> None:
        """Go on by one entry. A body that is not ours is left out: the chain shows that it was changed."""
        self.entries += 1
        about, _, rest = subject.partition(":")
        if about == "request":
            self._of_request(actor, action, rest, open_requests.read_body(body), at)
        elif action == "code.name_person" and about == "code":
            self.codes[rest] = str(open_requests.read_body(body).get("person", ""))
        elif action in ("program.write_paused", "program.write_resumed"):
            self.paused[rest] = action == "program.write_paused"
        elif action in ("program.drafts_on", "program.drafts_off"):
            self.drafts[rest] = action == "program.drafts_on"
        elif action == "passkey.added":
            self.passkeys[rest] = str(open_requests.read_body(body).get("person", ""))
        elif action == "passkey.ended":
            self.passkeys[rest] = ""
        elif action == "passkey.all_ended":
            self._passkeys_ended(str(open_requests.read_body(body).get("person", "")))
        elif action == "passkey.reset":
            self.passkeys = dict.fromkeys(self.passkeys, "")

    def _passkeys_ended(self, of: str) -> None:
        for passkey_id, person in self.passkeys.items():
            if person == of:
                self.passkeys[passkey_id] = ""

    def _of_request(self, actor: str, action: str, about: str, body: Mapping[str, Any], at: str) -> None:
        request_id, _, version = about.partition(":")
        is_signing = action == audit.SIGNED_AGAIN
        if (known := self.requests.get(request_id)) is not None:
            self._left(request_id, known, version, body)
        if "digest" not in body or not (is_signing or "state" in body):
            return  # a refusal, which changes nothing
        found = known or self.requests.setdefault(request_id, RequestReplayed())
        found.digest = str(body["digest"])
        if is_signing:
            return
        if found.may_become(str(body["state"]), action, version):
            found.state, found.version = str(body["state"]), version
        if action == "request.submitted":
            found.submitted = True
        elif action == "request.attempt":
            found.calls += 1
        elif found.state == State.APPROVED and counted.says_what_counts(action):
            found.approved_at, found.at_once = at, action == open_requests.AT_ONCE
        if action == "request.rows_left_out":
            found.decisions = frozenset(one for one in found.decisions if one[0] != "approve")
            found.said = tuple(one for one in found.said if one[1][0] != "approve")
        elif action in _DECISIONS and not (action == "request.rejected" and "batch" in body):
            kind = _DECISIONS[action]
            found.decisions = self._shared(
                frozenset({*found.decisions, *((kind, str(who)) for who in body.get("by", [actor]))})
            )
            found.said += tuple((one, (kind, actor)) for one in body.get("words", ()))

    def _shared(self, decisions: frozenset[tuple[str, str]]) -> frozenset[tuple[str, str]]:
        """The same few people decide on all there are."""
        return self._sets.setdefault(decisions, decisions)

    def _left(self, request_id: str, found: RequestReplayed, version: str, body: Mapping[str, Any]) -> None:
        """How the request was left, and what was said of it."""
        found.newest = max(found.newest, int(version) if version.isdecimal() else 0)
        if "words" in body:
            found.words = (*(found.words or ()), *body["words"].items())
        if audit.ENDED in body:
            was, now = body[audit.ENDED]
            if was and found.ended and was != found.ended:
                self.wrong.append((request_id, "how it ended was edited before Countersign changed it"))
            found.ended = now
        elif body.get("state") in OPEN:
            found.ended = ""


async def replayed(tx: Tx, anchors: Sequence[audit.Anchor] = ()) -> tuple[audit.Report, Replayed]:
    """All of the chain, and whether it is whole. On SQLite this works in a thread, so the loop goes on however long the
    chain is. It is gone through once, also where this process has not read it before: what `on_record` takes of it is
    taken with it."""
    found, last = Replayed(), 0
    reading = on_record.FirstReading(found.open) if tx.log is None else None

    def take(link: audit.Link) -> None:
        found.take_link(link)
        if reading is not None:
            reading.take(link)

    report = await audit.verify(tx, anchors=anchors, take=take)
    if report.ok and reading is not None:
        reading.keep(tx)
    if not report.ok:
        found = Replayed()
        while (upto := await tx.connection.run_sync(partial(_piece, found, last))) > last:
            last = upto
    return report, found


def _piece(found: Replayed, after: int, connection: Connection) -> int:
    """Take the next entries; returns the number of the last of them, or `after` where there are none."""
    asked = select(_A.seq, _A.at, _A.actor, _A.action, _A.subject, _A.body).where(
        _A.seq > after, _A.outcome == "ok"
    )
    rows = connection.execute(asked.order_by(_A.seq).limit(_PIECE)).all()
    for _, at, actor, action, subject, body in rows:
        found.take(actor, action, subject, body, time_text(at))
    return rows[-1].seq if rows else after
