"""What must be true: after every commit, at every call that leaves, after every step, and at the end.

D is the bot's database, S the API's sandbox, P what Slack shows. Numbers are those of the written trust model (I-1 to
I-24); rules without a number are sentences of their own. A broken promise is a `Violation`; the first one ends a run.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from bot.domain.requests import TRANSITIONS, State
from sandbox.partner import http
from tests.simulation.network import Call
from tests.simulation.plan import ENDPOINTS
from tests.simulation.world import ALERTS, APPROVALS, START, World

# Between a claim and its first byte nothing waits: what was committed longer ago counts as known.
AT_ONCE_S = 1.0
# A freeze that cannot leave sooner than that waits for something it should not wait for.
EMERGENCY_S = 20.0
_READS_BY_POST = ("/cards/balances",)
_KINDS_BY_CALL: dict[str, tuple[str, ...]] = {}
for _kind, _endpoint in ENDPOINTS.items():
    _KINDS_BY_CALL[_endpoint] = (*_KINDS_BY_CALL.get(_endpoint, ()), _kind)
_KEYED = {"card_topup": "topup", "card_order": "create", "card_unload": "unload"}
_SWITCHES = {
    "card_freeze": ("card_freeze", "card_unfreeze"),
    "card_unfreeze": ("card_freeze", "card_unfreeze"),
    "card_limits": ("card_limits",),
    "card_phone": ("card_phone",),
    "card_3ds": ("card_3ds",),
    "fees_markup": ("fees_markup",),
}
_SENT = ("executing", "succeeded", "failed", "unresolved")


@dataclass(frozen=True)
class Violation:
    """A promise that was broken: its rule, what happened, and when (seconds)."""

    rule: str
    text: str
    at: float

    def __str__(self) -> str:
        return f"{self.rule}: {self.text}"


@dataclass
class Sent:
    """A changing call that left: the requests it can be of, and whether it had its effect."""

    at: float
    ids: tuple[str, ...]
    what: str
    call: Call
    attempt: str = ""
    status: int | None = None


@dataclass
class Seen:
    """What a request was at the last commit."""

    state: str
    version: int


@dataclass
class Watch:
    """Looks at everything of one world; `found` holds what was broken, the first first."""

    world: World
    found: list[Violation] = field(default_factory=list)
    seen: dict[str, Seen] = field(default_factory=dict)
    sent: list[Sent] = field(default_factory=list)
    _by_request: dict[int, Sent] = field(default_factory=dict)
    first_sent: set[str] = field(default_factory=set)
    limits_changed: bool = False
    paused_at: float | None = None
    seeded_cards: frozenset[str] = frozenset()
    orphans: set[str] = field(default_factory=set)
    gone_since: dict[str, float] = field(default_factory=dict)
    ending: dict[str, float] = field(default_factory=dict)  # processes that were asked to end, and when
    disk_full_until: float = -1e9
    stood_still: set[str] = field(default_factory=set)  # processes that may have lost a lease
    old_rows: set[str] = field(default_factory=set)  # requests as an older version kept them
    emergencies: dict[str, float] = field(default_factory=dict)  # Freeze now, and when

    def __post_init__(self) -> None:
        world = self.world
        world.on_commit = self.after_commit
        world.on_departure = self.on_departure
        world.on_arrival = self.on_arrival
        self.seeded_cards = frozenset(r["id"] for r in world.partner.store.all("SELECT id FROM cards"))

    def broken(self, rule: str, text: str) -> None:
        violation = Violation(rule, text, self.world.loop.time())
        if not self.found:
            self.world.say(f"BROKEN: {violation}")
        self.found.append(violation)

    # Always

    def after_commit(self) -> None:
        """I-5 and I-17: moves of the graph, one version each, each with an entry in the same commit."""
        paused = self.world.rows("SELECT 1 FROM pause")
        now = self.world.loop.time()
        if not paused:
            self.paused_at = None
        elif self.paused_at is None:
            self.paused_at = now
        for row in self.world.rows("SELECT id, state, version, requester FROM request"):
            seen = self.seen.get(row["id"])
            if seen is None:
                self.seen[row["id"]] = Seen(row["state"], row["version"])
                if row["state"] not in ("pending", "approved"):
                    self.broken("I-5 moves", f"{row['id']} begins as {row['state']}")
                continue
            if (seen.state, seen.version) == (row["state"], row["version"]):
                continue
            if row["version"] < seen.version:
                self.broken("I-5 version", f"{row['id']} went back from {seen.version} to {row['version']}")
            if row["state"] != seen.state:
                self._moved(row, seen)
            seen.state, seen.version = row["state"], row["version"]

    def _moved(self, row: Any, seen: Seen) -> None:
        self.world.say(f"{row['id']}: {seen.state} → {row['state']}")
        if row["state"] not in _reachable(seen.state):
            self.broken("I-5 moves", f"{row['id']} went from {seen.state} to {row['state']}")
        about = f"request:{row['id']}:{row['version']}"
        if not self.world.rows("SELECT 1 FROM audit WHERE subject = ?", about):
            self.broken("I-17 entries", f"{row['id']} became {row['state']} without an entry in the audit")
        if row["state"] == "approved":
            self._approved(row["id"])
        if row["state"] == "cancelled":
            self._cancelled(row["id"])

    def _approved(self, request_id: str) -> None:
        """I-3: enough people, none of them the requester, each of them able to."""
        row = self._row(request_id)
        of = row["parent_id"] or request_id
        made = self.world.rows("SELECT actor, kind FROM decision WHERE request_id = ?", of)
        if row["break_glass"]:
            self.emergencies[request_id] = self.world.loop.time()
            if row["kind"] != "card_freeze":
                self.broken("I-3 emergency", f"{request_id} ({row['kind']}) acted without a second person")
            return
        approvers = {d["actor"] for d in made if d["kind"] == "approve"} - {row["requester"]}
        needed = self.world.rows("SELECT approvals_needed AS n FROM request WHERE id = ?", of)[0]["n"]
        if len(approvers) < needed:
            self.broken("I-3 approvals", f"{request_id} approved by {sorted(approvers)}, {needed} needed")
        amount = Decimal(row["exposure_usd"])
        if row["kind"] == "card_topup" and amount > 500 and not row["parent_id"] and len(approvers) < 2:
            self.broken("I-3 approvals", f"{request_id} of {amount} USD approved by {len(approvers)}")
        self._limits(row)
        able = self.world.able_to_approve()
        for person in approvers - able:
            if self.world.loop.time() - self.gone_since.get(person, self.world.loop.time()) > 30:
                self.broken("I-3 able", f"{request_id}: {person} could not approve any more")

    def _limits(self, row: Any) -> None:
        """I-11: what was approved within 24 hours is within the limits."""
        if not self.world.clocks_never_wrong:
            return
        for what, most_usd, value in (
            ("requester", 2500, row["requester"]),
            ("program", 3500, row["program"]),
        ):
            counted = self.world.rows(
                f"SELECT exposure_usd FROM request WHERE {what} = ? AND rows IS NULL"
                " AND state IN ('approved', 'executing', 'succeeded', 'unresolved')",
                value,
            )
            total_usd = sum((Decimal(one["exposure_usd"]) for one in counted), Decimal(0))
            if total_usd > most_usd:
                self.broken(
                    "I-11 limits", f"{row['id']}: {total_usd} USD approved by this {what}, of {most_usd}"
                )

    def _cancelled(self, request_id: str) -> None:
        """Nothing is called doubtful of which nobody doubts."""
        row = self._row(request_id)
        if "no known outcome" not in row["outcome_text"]:
            return
        others = self.world.rows(
            "SELECT id FROM request WHERE subject = ? AND id <> ? AND (state = 'unresolved' OR outcome_unknown)",
            row["subject"],
            request_id,
        )
        if not others:
            self.broken("a doubt is a doubt", f"{request_id} was cancelled: {row['outcome_text'][:120]}")

    def _row(self, request_id: str) -> Any:
        return self.world.rows("SELECT * FROM request WHERE id = ?", request_id)[0]

    # What leaves

    def on_departure(self, request: http.Request, call: Call) -> None:
        """A call leaves the bot: only what was approved, as it was approved, while it may (I-2, I-4, I-24)."""
        path = request.path.partition("/v1")[2]
        if request.method == "GET" or path in _READS_BY_POST:
            return
        rows = self._requests_of(request, path)
        sent = Sent(
            self.world.loop.time(), tuple(row["id"] for row in rows), f"{request.method} {path}", call
        )
        self.sent.append(sent)
        self._by_request[id(request)] = sent
        call.about = ", ".join(sent.ids)
        if not rows:
            if not path.startswith("/cards/") or not path.endswith(("/pan", "/pan-token")):
                self.broken("I-2 approved", f"{sent.what} left, and no request is under way for it")
            return
        for row in rows if len(rows) == 1 else ():
            self._may_leave(row, request, path, sent)

    def _requests_of(self, request: http.Request, path: str) -> list[Any]:
        key = request.header("Idempotency-Key")
        if key:
            found = self.world.rows("SELECT * FROM request WHERE key = ?", key[0])
            if found or not path.startswith("/cards/"):
                return found
        kinds = [
            kind
            for endpoint, names in _KINDS_BY_CALL.items()
            if _matches(endpoint, request.method, path)
            for kind in names
        ]
        rows = self.world.rows("SELECT * FROM request WHERE state IN ('executing', 'unresolved')")
        found = [row for row in rows if row["kind"] in kinds and row["rows"] is None]
        segments = path.split("/")
        return [row for row in found if not path.startswith("/cards/") or row["subject"] in segments]

    def _may_leave(self, row: Any, request: http.Request, path: str, sent: Sent) -> None:
        world, now = self.world, self.world.loop.time()
        if row["state"] not in ("executing", "unresolved"):
            self.broken("I-2 approved", f"{row['id']} is {row['state']}, and {request.method} {path} left")
        open_attempts = world.rows(
            "SELECT * FROM attempt WHERE request_id = ? AND answered_at IS NULL ORDER BY number DESC",
            row["id"],
        )
        if not open_attempts:
            self.broken(
                "I-2 attempt", f"{row['id']}: {request.method} {path} left before its attempt was written"
            )
            return
        sent.attempt = open_attempts[0]["id"]
        claimed_s = self._seconds(open_attempts[0]["sent_at"])
        self._not_while_ending(row, sent.call.by, claimed_s)
        is_first = row["id"] not in self.first_sent
        self.first_sent.add(row["id"])
        self._terms(row, request, path)
        valid_s = self._seconds(row["valid_until"]) if row["valid_until"] else None
        clocks_agree = world.clocks_never_wrong
        if is_first and clocks_agree and valid_s is not None and now > valid_s + AT_ONCE_S:
            self.broken("I-4 validity", f"{row['id']} left {now - valid_s:.0f} s after its approval ran out")
        if self.paused_at is not None and now > self.paused_at + AT_ONCE_S:
            self.broken(
                "I-4 pause", f"{row['id']} left {now - self.paused_at:.0f} s after sending was paused"
            )
        if is_first and not row["break_glass"]:
            self._approvers_still_there(row, claimed_s)
        if is_first and not row["break_glass"]:
            self._people_were_known(row, claimed_s)
        self._is_the_newest(row, now)

    def _not_while_ending(self, row: Any, process: str, claimed_s: float) -> None:
        asked = self.ending.get(process)
        if asked is not None and claimed_s > asked + AT_ONCE_S and self.world.clocks_never_wrong:
            self.broken("ending claims nothing", f"{row['id']} was claimed after {process} was asked to end")

    def _approvers_still_there(self, row: Any, claimed_s: float) -> None:
        of = row["parent_id"] or row["id"]
        made = self.world.rows("SELECT actor FROM decision WHERE request_id = ? AND kind = 'approve'", of)
        able = {d["actor"] for d in made} & self.world.able_to_approve()
        gone = [d["actor"] for d in made if self.gone_since.get(d["actor"], 1e9) < claimed_s - 15]
        if gone and len(able) < row["approvals_needed"]:
            self.broken("I-4 approvers", f"{row['id']} left although {gone} could not approve any more")

    def _people_were_known(self, row: Any, claimed_s: float) -> None:
        """I-22: nothing is sent for the first time while nobody can say who the approvers are."""
        since = self.world.slack_away_since
        if since is not None and claimed_s > since + 40:
            self.broken(
                "I-22 fail closed", f"{row['id']} was claimed {claimed_s - since:.0f} s into Slack's outage"
            )

    def _is_the_newest(self, row: Any, now: float) -> None:
        """An older order on the same target does not leave once a newer one was given."""
        kinds = _SWITCHES.get(row["kind"], ())
        for other in self.world.rows("SELECT * FROM request WHERE subject = ?", row["subject"]):
            if other["kind"] not in kinds or other["id"] == row["id"] or other["approved_at"] is None:
                continue
            if (other["kind"], other["terms"]) == (row["kind"], row["terms"]):
                continue  # the same order twice
            newer = other["approved_at"] > row["approved_at"]
            if newer and other["first_sent_at"] and now > self._seconds(other["approved_at"]) + AT_ONCE_S:
                self.broken(
                    "the newest decision holds",
                    f"{row['id']} ({row['kind']}) left after {other['id']} ({other['kind']}), which is newer",
                )

    def _terms(self, row: Any, request: http.Request, path: str) -> None:
        """I-2 and I-24: the card and the amount are those that were approved, to the digit."""
        if row["kind"] not in ("card_topup", "card_unload"):
            return
        terms = json.loads(row["terms"])
        text = re.search(rb'"amount_usd"\s*:\s*([0-9.eE+-]+)', request.body or b"")
        said = text.group(1).decode() if text else "nothing"
        if not re.fullmatch(r"[0-9]+(\.[0-9]{1,2})?", said) or Decimal(said) != Decimal(terms["amount_usd"]):
            self.broken("I-24 amount", f"{row['id']} asks for {terms['amount_usd']}, {said} left")
        if row["subject"] not in path.split("/"):
            self.broken("I-2 card", f"{row['id']} is about {row['subject']}, {path} left")

    def on_arrival(self, request: http.Request, answer: http.Answer | None) -> None:
        """A call arrived at S; with its answer, what it did there is known."""
        sent = self._by_request.get(id(request))
        if sent is None or answer is None:
            return
        # Of a broken connection the journal knows what the answer would have been.
        status: int | None = answer.status
        if not status:
            row = self.world.partner.store.one("SELECT status FROM journal ORDER BY seq DESC LIMIT 1")
            status = row["status"] if row is not None else None
        if status:
            sent.status = status
        if status in (200, 201):
            self.world.say(f"  (S did {sent.what} for {', '.join(sent.ids) or 'nobody'})")

    def _seconds(self, stored: str) -> float:
        return (datetime.fromisoformat(stored) - START).total_seconds() if stored else 0.0

    def applied(self, request_id: str) -> bool:
        return any(request_id in sent.ids and sent.status in (200, 201) for sent in self.sent)

    # After every step

    def emergencies_first(self, harmless: bool) -> None:
        """A Freeze now leaves before everything else; `harmless`: nothing but the API's silence is in its way."""
        for request_id, at in self.emergencies.items():
            left = [sent.at for sent in self.sent if request_id in sent.ids]
            late = (left[0] if left else self.world.loop.time()) - at
            if harmless and late > EMERGENCY_S:
                self.broken("emergencies first", f"{request_id} left {late:.0f} s after Freeze now")

    def after_step(self) -> None:
        """I-1 and the sandbox's own sums, and nobody's loop runs in circles."""
        store = self.world.partner.store
        for row in store.all(
            "SELECT reference, count(*) AS n FROM ledger WHERE kind = 'card_topup' GROUP BY reference HAVING n > 1"
        ):
            self.broken("I-1 once", f"{row['n']} debits under {row['reference']}")
        for row in store.all("SELECT reference, amount_usd FROM ledger WHERE kind = 'card_topup'"):
            key = (row["reference"] or "").removeprefix("topup:")
            if key in self.orphans or key.startswith("seed-"):
                continue
            found = self.world.rows("SELECT state, exposure_usd FROM request WHERE key = ?", key)
            if not found or found[0]["state"] not in _SENT:
                self.broken("I-2 approved", f"{row['reference']} took {row['amount_usd']} without a request")

    # At the end

    def at_the_end(self) -> None:
        rows = self.world.rows("SELECT * FROM request ORDER BY created_at, id")
        self.world.say("— everything is at rest; now the checks —")
        for row in rows:
            if row["rows"] is None:
                self._ended(row)
                self._true(row)
        self._answers_kept()
        self._told(rows)
        self._messages()
        self._events()
        self._alerts(rows)
        self._orphans_told()

    def _ended(self, row: Any) -> None:
        if row["state"] in ("approved", "executing"):
            self.broken(
                "I-6 ends", f"{row['id']} ({row['kind']}) is still {row['state']}: {row['outcome_text']}"
            )

    def _true(self, row: Any) -> None:
        """I-7: what D says happened is what S did, for this request and under its own key."""
        kind, state = row["kind"], row["state"]
        name = f"{row['id']} ({kind})"
        if kind in _KEYED:
            self._true_by_key(row, name)
        elif kind == "card_reveal":
            return
        elif kind == "funding_submit" and state == "succeeded":
            self._network_of(row, name)
        elif state == "succeeded" and kind not in _SWITCHES and not self._done(row):
            # Of a switch the card itself is the proof: what it should be, it is.
            self.broken("I-7 true", f"{name} is called succeeded, and no call of its own had an effect")
        elif state in ("failed", "cancelled", "expired", "rejected") and self._did_alone(row):
            if self._by_hand(row, "failed") or kind.startswith("webhook_"):
                return  # a secret that was lost on the way is of no use to anybody, and is said to be lost
            self.broken("I-7 true", f"{name} is called {state}, and its call had its effect")

    def _network_of(self, row: Any, name: str) -> None:
        terms = json.loads(row["terms"])
        kept = self.world.partner.store.one("SELECT network FROM funding WHERE tx_hash = ?", terms["tx_hash"])
        if self._by_hand(row, "succeeded"):
            return
        if kept is None or kept["network"] != terms["network"]:
            has = "nothing" if kept is None else kept["network"]
            self.broken("I-7 true", f"{name} on {terms['network']} is called succeeded; the API has {has}")

    def _done(self, row: Any) -> bool:
        """Its call had its effect, or people said so."""
        return self.applied(row["id"]) or self._by_hand(row, "succeeded") or self._was_so(row)

    def _was_so(self, row: Any) -> bool:
        """An older call of the same content may have brought it about: then nothing false is said of the target."""
        return row["kind"] == "funding_submit" and self.applied(row["id"])

    def _did_alone(self, row: Any) -> bool:
        return any(sent.ids == (row["id"],) and sent.status in (200, 201) for sent in self.sent)

    def _by_hand(self, row: Any, verdict: str) -> bool:
        made = self.world.rows(
            "SELECT count(DISTINCT actor) AS n FROM decision WHERE request_id = ? AND kind = 'resolve' AND verdict = ?",
            row["id"],
            verdict,
        )
        return bool(made[0]["n"] >= 2)

    def _true_by_key(self, row: Any, name: str) -> None:
        store, state = self.world.partner.store, row["state"]
        kept = store.one("SELECT * FROM keyed WHERE kind = ? AND key = ?", _KEYED[row["kind"]], row["key"])
        held = kept["state"] if kept is not None else "never seen"
        by_hand = self._by_hand(row, "succeeded") or self._by_hand(row, "failed")
        if row["kind"] == "card_topup":
            net = sum(
                (
                    Decimal(r["amount_usd"])
                    for r in store.all("SELECT amount_usd FROM ledger WHERE keyed = ?", kept["id"])
                )
                if kept is not None
                else (),
                Decimal(0),
            )
            if state == "succeeded" and held != "done" and not self._by_hand(row, "succeeded"):
                self.broken(
                    "I-7 true", f"{name} is called succeeded; at the API it is {held}, {net} USD moved"
                )
            if state == "failed" and net and not self._by_hand(row, "failed"):
                self.broken("I-7 true", f"{name} is called failed; at the API it is {held}, {net} USD moved")
            if state == "unresolved" and held in ("done", "refunded", "never seen") and not by_hand:
                self.broken("I-23 settles", f"{name} stays unresolved; at the API it is {held}")
        elif state == "succeeded" and held != "done" and not self._by_hand(row, "succeeded"):
            self.broken("I-7 true", f"{name} is called succeeded; under its key the API has {held}")
        elif state == "failed" and held == "done" and not self._by_hand(row, "failed"):
            self.broken("I-7 true", f"{name} is called failed; under its key the API has {held}")
        if state not in _SENT and held in ("done", "unresolved", "in_flight"):
            self.broken("I-7 true", f"{name} is called {state}; under its key the API has {held}")
        if state in ("succeeded", "failed") and by_hand and self._overturned(row):
            self.broken("two people decided", f"{name} is {state} against what two people said")

    def _overturned(self, row: Any) -> bool:
        return self._by_hand(row, "failed" if row["state"] == "succeeded" else "succeeded")

    def did(self, row: Any) -> bool:
        """Whether S did what this request asked for."""
        if row["kind"] not in _KEYED:
            return self.applied(row["id"])
        kept = self.world.partner.store.one(
            "SELECT state FROM keyed WHERE kind = ? AND key = ?", _KEYED[row["kind"]], row["key"]
        )
        return kept is not None and kept["state"] == "done"

    def _answers_kept(self) -> None:
        """An answer that reached a living process is written down."""
        died = {process.owner.name: process.died_at for process in self.world.processes}
        for sent in self.sent:
            came = sent.call.returned
            if came is None or not sent.attempt or came > self.world.loop.time() - 30:
                continue
            ended = min(died.get(sent.call.by, 1e9), self.ending.get(sent.call.by, 1e9))
            if (
                ended < came + 20
                or came - 1 <= self.disk_full_until <= came + 20
                or self.disk_full_until > came
            ):
                continue
            row = self.world.rows(
                "SELECT a.answered_at, a.fence < r.fence AS taken_over, a.number < r.attempts AS older FROM attempt a"
                " JOIN request r ON r.id = a.request_id WHERE a.id = ?",
                sent.attempt,
            )
            lost_lease = sent.call.by in self.stood_still
            if row and row[0]["answered_at"] is None and not (lost_lease and row[0]["taken_over"]):
                self.broken(
                    "an answer is kept", f"{sent.what} for {', '.join(sent.ids)} was answered {sent.status}"
                )

    def _told(self, rows: list[Any]) -> None:
        """I-8: every outcome is on the request's card, every doubt in the alerts channel."""
        cards: dict[str, list[str]] = {}
        for message in self.world.slack.store.messages[APPROVALS]:
            if (dedupe := dedupe_of(message)).startswith("card:"):
                cards.setdefault(dedupe.split(":")[1], []).append(_all_text(message))
        alerts = " ".join(_all_text(message) for message in self.world.slack.store.messages[ALERTS])
        for row in rows:
            if row["parent_id"] is not None:
                continue
            texts = cards.get(row["id"], [])
            if len(texts) != 1:
                self.broken("I-8 told", f"{row['id']} has {len(texts)} cards in the channel")
            elif row["rows"] is None and row["kind"] != "funding_submit" and row["state"] not in texts[0]:
                self.broken("I-8 told", f"{row['id']} is {row['state']}, its card says: {texts[0][:120]}")
            if row["state"] == "unresolved" and row["id"] not in alerts:
                self.broken("I-8 told", f"{row['id']} is unresolved, and no alert says so")

    def _messages(self) -> None:
        """I-9, and no message is lost: none given up, none still to send."""
        posts = Counter(
            dedupe
            for messages in self.world.slack.store.messages.values()
            for message in messages
            if (dedupe := dedupe_of(message))
        )
        for dedupe, count in posts.items():
            if count > 1:
                self.broken("I-9 doubled", f"{dedupe} was posted {count} times")
        for row in self.world.rows("SELECT * FROM outbox WHERE state <> 'sent'"):
            if any(old in row["subject"] for old in self.old_rows):
                continue
            if row["state"] == "dropped" and row["last_error"] == "its subject is gone":
                continue
            if row["state"] == "dropped" and row["last_error"] == "invalid_blocks":
                continue
            self.broken("no message is lost", f"{row['dedupe']} is {row['state']}: {row['last_error'][:80]}")

    def _events(self) -> None:
        """I-12 and I-13: every event of S is in the inbox, and handled."""
        known = {
            row["event_id"]: row["state"] for row in self.world.rows("SELECT event_id, state FROM inbox")
        }
        for row in self.world.partner.store.all("SELECT id, type, created_at FROM events"):
            if row["id"] not in known:
                self.broken("I-13 events", f"{row['type']} {row['id']} of {row['created_at']} never arrived")
            elif known[row["id"]] != "processed":
                self.broken("I-12 events", f"{row['type']} {row['id']} is not handled")

    def _alerts(self, rows: list[Any]) -> None:
        """Every alert was posted, and ends when what it says is over."""
        for row in self.world.rows("SELECT * FROM alert WHERE kind IN ('tampered', 'key_reused')"):
            self.broken("nobody is accused", f"{row['kind']}: {row['title'][:100]}")
        for row in self.world.rows("SELECT name FROM program WHERE paused_reason IS NOT NULL"):
            self.broken("a pause ends", f"{row['name']} is still stopped")
        ids = {row["id"]: row for row in rows}
        for row in self.world.rows("SELECT * FROM alert WHERE state <> 'resolved'"):
            if row["kind"] in self.world.lasting_alerts or any(
                old in row["subject"] for old in self.old_rows
            ):
                continue
            about = ids.get(row["subject"])
            if about is not None and about["state"] == "unresolved":
                continue
            self.broken("every alert ends", f"{row['kind']} on {row['subject']}: {row['title'][:80]}")

    def _orphans_told(self) -> None:
        """I-10: what the ledger has of this installation and D does not know is an alert."""
        told = self.world.rows("SELECT 1 FROM alert WHERE kind = 'unexplained_movement'")
        if self.orphans and not told:
            self.broken(
                "I-10 orphans", f"debits {sorted(self.orphans)} are known to nobody, and no alert says so"
            )

    def final_sums(self) -> Iterator[str]:
        """What the sandbox itself says of its sums."""
        yield from self.world.tell_partner("state", method="GET")["invariants"]["broken"]


def _reachable(state: str) -> frozenset[str]:
    """Where one commit may lead: one move; from pending two, as a decision and what follows are one commit."""
    moves = set(TRANSITIONS[State(state)].values())
    if state == State.PENDING:
        moves |= {there for to in moves for there in TRANSITIONS[to].values()}
    return frozenset(to.value for to in moves)


def _matches(endpoint: str, method: str, path: str) -> bool:
    wanted, _, template = endpoint.partition(" ")
    pattern = re.sub(r"\{\w+\}", "[^/]+", template)
    if template.endswith("/freeze"):
        pattern = pattern.removesuffix("freeze") + "(freeze|unfreeze)"
    return wanted == method and re.fullmatch(pattern, path) is not None


def dedupe_of(message: Any) -> str:
    """The outbox id that a message carries, or nothing."""
    payload = (message.get("metadata") or {}).get("event_payload") or {}
    return str(payload.get("dedupe", ""))


def _all_text(message: Any) -> str:
    """Everything a reader sees of it."""
    return f"{message.get('text', '')} {json.dumps(message.get('blocks') or [])}"


__all__ = ["Violation", "Watch", "dedupe_of", "timedelta"]
