"""Moves of requests, after every commit: along the graph, one version each, each with its entry (I-5, I-17)."""

from __future__ import annotations

import re
from typing import Any

from bot.domain.requests import TRANSITIONS, State
from tests.simulation.invariants.approvals import Approvals
from tests.simulation.invariants.record import AT_ONCE_S, KEYED, SWITCHES, Record, Seen, seconds
from tests.simulation.loop import OWNER
from tests.simulation.world import Process

# The longest that a client waits for an answer, and some more: until then a call may still arrive.
TRAVELS_FOR_S = 90.0
# By people, or because the API refuses the key.
_STOPPED = "SELECT 1 FROM pause UNION ALL SELECT 1 FROM program WHERE paused_reason IS NOT NULL"
# Parts of the sentences that say why: a person, a newer order, the people, the policy, the facts, or the data.
_WHY_CANCELLED = (
    "A passkey with which this was approved",
    *("by the requester", "before it was sent", "decides this now", "a newer request on the same target"),
    *(
        "no longer an",
        "no longer a full member",
        "count as one person",
        "The policy now asks for",
        "The policy now has a 24-hour limit",
    ),
    *("may not make requests any more", "once drafts are switched off"),
    *("ask again when it fits", "What is stored is not what was approved"),
)
_APPROVED_LATER = re.compile(r"(\S+), which was approved later, decides this now")
_WATCHED = "SELECT id, state, version, fence, lease_owner, lease_until, rows FROM request"


class Moves:
    """What every commit made of the requests."""

    def __init__(self, known: Record) -> None:
        self.known = known
        self.approvals = Approvals(known)

    def after_commit(self, process: Process) -> None:
        """I-5 and I-17: moves of the graph, one version each, each with an entry in the same commit."""
        paused = self.known.world.rows("SELECT 1 FROM pause")
        now = self.known.world.loop.time()
        if not paused:
            self.known.paused_at = None
        elif self.known.paused_at is None:
            self.known.paused_at = now
            if not self.known.world.rows(
                "SELECT 1 FROM alert WHERE kind IN ('paused', 'older_copy') AND state <> 'resolved'"
            ):
                self.known.broken("I-8 at once", "sending was paused without an alert")
        if self.known.world.rows(_STOPPED):
            held = self.known.world.rows(
                "SELECT id FROM request WHERE kind = 'card_freeze' AND state = 'approved'"
            )
            self.known.held_by_a_pause |= {row["id"] for row in held}
        for row in self.known.world.rows(_WATCHED):
            seen = self.known.seen.get(row["id"])
            if seen is None:
                self.known.seen[row["id"]] = Seen(row["state"], row["version"])
                self.approvals.asked(row["id"], process.installation.policy)
                if row["state"] not in ("pending", "approved"):
                    self.known.broken("I-5 moves", f"{row['id']} begins as {row['state']}")
                if row["state"] == "approved":  # in an emergency the requester alone decides
                    self.known.approved_s[row["id"]] = now
                    self.approvals.approved(row["id"], process.installation.policy)
                continue
            self._by_the_holder(row, seen)
            seen.fence, seen.holder, seen.lease_until = row["fence"], row["lease_owner"], row["lease_until"]
            if (seen.state, seen.version) == (row["state"], row["version"]):
                continue  # at most it is held, for longer, or given back
            if row["version"] < seen.version:
                self.known.broken(
                    "I-5 version", f"{row['id']} went back from {seen.version} to {row['version']}"
                )
            if row["state"] != seen.state:
                self._moved(row, seen, process)
            seen.state, seen.version = row["state"], row["version"]

    def _by_the_holder(self, row: Any, seen: Seen) -> None:
        """I-18: while a lease lasts nobody else claims the request, or says how its call ended."""
        world = self.known.world
        if seen.state != State.EXECUTING or not seen.lease_until or not world.leases_are_right:
            return
        writer = world.owner_of(OWNER.get())
        lasts = seconds(seen.lease_until) > world.loop.time() + AT_ONCE_S
        changes = row["fence"] != seen.fence or row["state"] != seen.state
        if lasts and changes and writer not in (None, seen.holder):
            self.known.broken(
                "I-18 lease", f"{row['id']} became {row['state']} by {writer}, while {seen.holder} held it"
            )

    def _moved(self, row: Any, seen: Seen, process: Process) -> None:
        self.known.world.say(f"{row['id']} was {seen.state}, and is {row['state']} now.")
        if row["state"] not in _reachable(seen.state):
            self.known.broken("I-5 moves", f"{row['id']} went from {seen.state} to {row['state']}")
        # What changes no decision has none: a stage may follow the move in its commit.
        versions = range(seen.version + 1, row["version"] + 1)
        about = [f"request:{row['id']}:{version}" for version in versions]
        marks = ", ".join("?" * len(about))
        if not self.known.world.rows(f"SELECT 1 FROM audit WHERE subject IN ({marks})", *about):
            self.known.broken(
                "I-17 entries", f"{row['id']} became {row['state']} without an entry in the audit"
            )
        if row["state"] == "approved" and seen.state == "pending":
            self.known.approved_s[row["id"]] = self.known.world.loop.time()
        if row["state"] == "approved":
            self.approvals.approved(row["id"], process.installation.policy)
        if (
            row["state"] == "unresolved" and row["rows"] is None
        ):  # a batch: each of its rows has an alert of its own
            self._reported(row["id"])
        if row["state"] == "cancelled":
            self.cancelled(row["id"])
        if (seen.state, row["state"]) == ("failed", "unresolved"):
            self.known.reopened.add(row["id"])
        if row["state"] == "failed":
            self._failed(row["id"])
        if row["state"] == "succeeded":
            self._switched(row["id"])

    def _reported(self, request_id: str) -> None:
        """I-8: with the doubt itself an alert is committed, and a message that is due at once."""
        found = self.known.world.rows(
            "SELECT id FROM alert WHERE kind = 'unresolved' AND subject = ? AND state <> 'resolved'",
            request_id,
        )
        if not found:
            self.known.broken("I-8 at once", f"{request_id} became unresolved without an alert")
        elif not self.known.world.rows(
            "SELECT 1 FROM outbox WHERE kind = 'alert' AND subject LIKE ?", f"%{found[0]['id']}"
        ):
            self.known.broken("I-8 at once", f"{request_id} became unresolved, and no message says so")

    def _failed(self, request_id: str) -> None:
        """Nothing is called failed while a call for it may still arrive and have its effect.

        A call that takes longer than calls do is looked for by a sweep later on.
        """
        row, now = self.known.row(request_id), self.known.world.loop.time()
        if row["kind"] not in KEYED or self.known.by_hand(row, "failed"):
            return
        kept = "SELECT 1 FROM keyed WHERE kind = ? AND key = ?"
        if self.known.world.partner.store.one(kept, KEYED[row["kind"]], row["key"]) is not None:
            return  # the API has settled it under its key: what arrives again changes nothing
        for sent in self.known.sent:
            travels = sent.call.effect == "late" and sent.call.arrived is None
            if travels and sent.ids == (request_id,) and now - sent.at < TRAVELS_FOR_S:
                took_s = now - sent.at
                self.known.broken(
                    "a doubt ends by proof",
                    f"{request_id} is called failed, and its call of {took_s:.0f} s ago is still on its way",
                )

    def _switched(self, request_id: str) -> None:
        """I-7: a setting that is called set was set by this request, by the same one of another, or is so at S."""
        row = self.known.row(request_id)
        is_batch = row["rows"] is not None
        if is_batch or row["kind"] not in SWITCHES or self.known.by_hand(row, "succeeded"):
            return
        same = self.known.world.rows(
            "SELECT id FROM request WHERE kind = ? AND subject = ? AND terms = ?",
            *(row["kind"], row["subject"], row["terms"]),
        )
        if any(self.known.applied(one["id"]) for one in same):
            return
        card = self.known.world.partner.store.one("SELECT status FROM cards WHERE id = ?", row["subject"])
        wanted = {"card_freeze": "FROZEN", "card_unfreeze": "ACTIVE"}.get(row["kind"])
        if wanted is None or card is None or card["status"] != wanted:
            self.known.broken(
                "I-7 true",
                f"{request_id} ({row['kind']}) is called succeeded, and no call for it had an effect",
            )

    def cancelled(self, request_id: str) -> None:
        """What was requested is cancelled by whoever asked for it, or for a reason of its own.

        Another request that is under way is none, nor is one whose outcome nobody knows: both are waited for.
        """
        row = self.known.row(request_id)
        said = row["outcome_text"]
        is_void = self.known.restored_from is not None and said.startswith("Void: ")
        if row["rows"] is None and not is_void and not any(reason in said for reason in _WHY_CANCELLED):
            self.known.broken("a doubt is a doubt", f"{request_id} was cancelled: {said[:120]}")
        by = _APPROVED_LATER.match(said)
        when = self.known.approved_s
        if by and request_id in when and when.get(by[1], when[request_id]) < when[request_id]:
            self.known.broken(
                "the newest decision holds", f"{request_id} was cancelled by an older one: {said}"
            )


def _reachable(state: str) -> frozenset[str]:
    """Where one commit may lead: one move; from pending two, as a decision and what follows are one commit."""
    moves = set(TRANSITIONS[State(state)].values())
    if state == State.PENDING:
        moves |= {there for to in moves for there in TRANSITIONS[to].values()}
    return frozenset(to.value for to in moves)
