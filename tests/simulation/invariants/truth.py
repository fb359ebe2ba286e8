"""What D says happened is what S did (I-1, I-2, I-6, I-7), and an answer that came is written down."""

from __future__ import annotations

import json
from typing import Any

from sandbox.partner.accounts import accounts
from tests.simulation.invariants.record import KEYED, SENT, SWITCHES, Record

_TERMS = "SELECT terms FROM request WHERE id = ?"


class Truth:
    """Outcomes against the sandbox's own books."""

    def __init__(self, known: Record) -> None:
        self.known = known

    def at_the_end(self, rows: list[Any]) -> None:
        for row in rows:
            if row["rows"] is None:
                self._ended(row)
                self._true(row)
        self._answers_kept()

    def settled(self, rows: list[Any]) -> None:
        """I-23: hours after the trouble ended nothing is in doubt but what S keeps so, or cannot be asked for."""
        for row in rows:
            if row["state"] != "unresolved" or row["kind"] not in KEYED or row["id"] in self.known.reopened:
                continue  # a key that was given up is never sent again, so nothing but people can say it was credited
            if row["rows"] is not None:
                continue  # nothing is sent for a list itself: it settles with its rows
            kept = self.known.world.partner.store.one(
                "SELECT state FROM keyed WHERE kind = ? AND key = ?", KEYED[row["kind"]], row["key"]
            )
            held = kept["state"] if kept is not None else "never seen"
            if row["kind"] == "card_unload" and self._gives_no_second_answer():
                continue
            # Of a top-up the ledger proves that nothing came, too.
            if held == "done" or (row["kind"] == "card_topup" and held in ("refunded", "never seen")):
                self.known.broken(
                    "I-23 settles", f"{row['id']} ({row['kind']}) stays unresolved; at the API it is {held}"
                )

    def _gives_no_second_answer(self) -> bool:
        """Does S refuse the key of an unload that was done? No reading proves one, so people have to say it."""
        partner = self.known.world.partner
        return accounts.account(partner, accounts.first_account(partner)).settings.unload_replay == "conflict"

    def after_step(self) -> None:
        """I-1 and the sandbox's own sums, and nobody's loop runs in circles."""
        store = self.known.world.partner.store
        for row in store.all(
            "SELECT reference, count(*) AS n FROM ledger WHERE kind = 'card_topup' GROUP BY reference HAVING n > 1"
        ):
            self.known.broken("I-1 once", f"{row['n']} debits under {row['reference']}")
        for row in store.all("SELECT reference, amount_usd FROM ledger WHERE kind = 'card_topup'"):
            key = (row["reference"] or "").removeprefix("topup:")
            if key in self.known.orphans or key.startswith("seed-"):
                continue
            found = self.known.world.rows("SELECT id, state FROM request WHERE key = ?", key)
            if not found and key in self.known.overtaken:
                self.known.orphans.add(key)  # it was under way, and came after the copy
                continue
            is_sent = bool(found) and found[0]["state"] in SENT
            if found and not is_sent and key in self.known.on_their_way:
                self.known.undone.add(found[0]["id"])
            if found and found[0]["id"] in self.known.undone:
                continue
            if not is_sent:
                self.known.broken(
                    "I-2 approved", f"{row['reference']} took {row['amount_usd']} without a request"
                )

    def _ended(self, row: Any) -> None:
        if row["state"] in ("approved", "executing"):
            self.known.broken(
                "I-6 ends", f"{row['id']} ({row['kind']}) is still {row['state']}: {row['outcome_text']}"
            )

    def _true(self, row: Any) -> None:
        """I-7: what D says happened is what S did, for this request and under its own key."""
        kind, state = row["kind"], row["state"]
        name = f"{row['id']} ({kind})"
        if kind in KEYED:
            self._true_by_key(row, name)
        elif kind == "card_close" and state == "failed" and self.known.emptied(row):
            if self.known.by_hand(row, "failed"):
                return
            self.known.broken("I-7 true", f"{name} is called failed, and the card's money went back")
        elif kind == "card_reveal":
            return
        elif kind == "funding_submit" and state == "succeeded":
            self._network_of(row, name)
            self._by_itself(row, name)
        elif state == "succeeded" and kind not in SWITCHES:
            # Of a switch the card itself is the proof: what it should be, it is.
            self._by_itself(row, name)
        elif state in ("failed", "cancelled", "expired", "rejected") and self.known.did_alone(row):
            if self.known.by_hand(row, "failed") or self._said_to_be_lost(row) or self._said_to_be_open(row):
                return
            self.known.broken("I-7 true", f"{name} is called {state}, and its call had its effect")

    def _network_of(self, row: Any, name: str) -> None:
        terms = json.loads(row["terms"])
        kept = self.known.world.partner.store.one(
            "SELECT network FROM funding WHERE tx_hash = ?", terms["tx_hash"]
        )
        if self.known.by_hand(row, "succeeded") or self._resubmitted(row, terms["tx_hash"]):
            return
        # The API's people may look for it elsewhere later on, which is said.
        if "is looked for on" in row["outcome_text"]:
            return
        if kept is None or kept["network"] != terms["network"]:
            has = "nothing" if kept is None else kept["network"]
            self.known.broken(
                "I-7 true", f"{name} on {terms['network']} is called succeeded; the API has {has}"
            )

    def _resubmitted(self, row: Any, tx_hash: str) -> bool:
        """A later submission of the same hash was taken as well: the network is the later one's."""
        applied = [one for sent in self.known.sent if sent.status in (200, 201) for one in sent.ids]
        after = applied[applied.index(row["id"]) + 1 :] if row["id"] in applied else []
        others = [one for one in after if one != row["id"]]
        # One that an older copy of the database does not know proves nothing any more.
        found = [kept for one in others for kept in self.known.world.rows(_TERMS, one)]
        return any(json.loads(kept["terms"]).get("tx_hash") == tx_hash for kept in found)

    def _by_itself(self, row: Any, name: str) -> None:
        """No outcome rests on what another request did."""
        if not self.known.applied(row["id"]) and not self.known.by_hand(row, "succeeded"):
            self.known.broken(
                "own effect", f"{name} is called succeeded, and no call of its own had an effect"
            )

    def _said_to_be_open(self, row: Any) -> bool:
        """What was done after the copy was made is not known in it, and people are asked to look."""
        return self.known.restored_from is not None and "may have been carried out" in row["outcome_text"]

    def _said_to_be_lost(self, row: Any) -> bool:
        """A secret whose answer was lost is of no use to anybody; that is right where it was written down as lost."""
        if not row["kind"].startswith("webhook_"):
            return False
        said = "SELECT body FROM audit WHERE action = 'webhook.secret' AND body LIKE ?"
        return any(
            json.loads(one["body"])["state"] == "lost"
            for one in self.known.world.rows(said, f'%"{row["id"]}"%')
        )

    def _true_by_key(self, row: Any, name: str) -> None:
        store, state = self.known.world.partner.store, row["state"]
        kept = store.one("SELECT * FROM keyed WHERE kind = ? AND key = ?", KEYED[row["kind"]], row["key"])
        held = kept["state"] if kept is not None else "never seen"
        by_hand = self.known.by_hand(row, "succeeded") or self.known.by_hand(row, "failed")
        if row["kind"] == "card_topup":
            net = self.known.net_usd(row)
            if state == "succeeded" and held != "done" and not self.known.by_hand(row, "succeeded"):
                self.known.broken(
                    "I-7 true", f"{name} is called succeeded; at the API it is {held}, {net} USD moved"
                )
            if state == "failed" and net and not self.known.by_hand(row, "failed"):
                self.known.broken(
                    "I-7 true", f"{name} is called failed; at the API it is {held}, {net} USD moved"
                )
        elif state == "succeeded" and held != "done" and not self.known.by_hand(row, "succeeded"):
            self.known.broken("I-7 true", f"{name} is called succeeded; under its key the API has {held}")
        elif state == "failed" and held == "done" and not self.known.by_hand(row, "failed"):
            self.known.broken("I-7 true", f"{name} is called failed; under its key the API has {held}")
        if (
            state not in SENT
            and held in ("done", "unresolved", "in_flight")
            and row["id"] not in self.known.undone
        ):
            self.known.broken("I-7 true", f"{name} is called {state}; under its key the API has {held}")
        if state in ("succeeded", "failed") and by_hand and self._overturned(row):
            self.known.broken("two people decided", f"{name} is {state} against what two people said")

    def _overturned(self, row: Any) -> bool:
        return self.known.by_hand(row, "failed" if row["state"] == "succeeded" else "succeeded")

    def _answers_kept(self) -> None:
        """An answer that reached a living process is written down."""
        died = {process.owner.name: process.died_at for process in self.known.world.processes}
        for sent in self.known.sent:
            came = sent.call.returned
            if came is None or not sent.attempt or came > self.known.world.loop.time() - 30:
                continue
            ended = min(died.get(sent.call.by, 1e9), self.known.ending.get(sent.call.by, 1e9))
            if (
                ended < came + 20
                or self.known.is_forgotten(came)
                or came - 1 <= self.known.disk_full_until <= came + 20
                or self.known.disk_full_until > came
            ):
                continue
            row = self.known.world.rows(
                "SELECT a.answered_at, a.fence < r.fence AS taken_over, a.number < r.attempts AS older FROM attempt a"
                " JOIN request r ON r.id = a.request_id WHERE a.id = ?",
                sent.attempt,
            )
            # On a clock that is fast another's lease is over sooner.
            lost_lease = sent.call.by in self.known.stood_still or not self.known.world.leases_are_right
            if row and row[0]["answered_at"] is None and not (lost_lease and row[0]["taken_over"]):
                self.known.broken(
                    "an answer is kept", f"{sent.what} for {', '.join(sent.ids)} was answered {sent.status}"
                )
