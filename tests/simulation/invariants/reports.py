"""What people can read: every outcome, every doubt, once, and nothing lost (I-8 to I-10, I-12, I-13)."""

from __future__ import annotations

from collections import Counter
from typing import Any

from tests.simulation.invariants.record import SENT, Record, all_text, seconds
from tests.simulation.world import ALERTS, APPROVALS
from tests.support.posted_ids import dedupe_of

# What expired is shown so within half a minute.
EXPIRES_WITHIN_S = 40.0

REMINDED_EVERY_S = 4 * 3600.0
REMINDED_WITHIN_S = 100.0

# The group of those who may approve, as Slack shows it and as it is called.
APPROVERS = ("<!subteam^S0APPROVERS", "@card-approvers")
# What Slack says of a direct message to an account that can have none.
_NOBODY_THERE = ("cannot_dm_bot", "user_disabled")


class Reports:
    """Messages, events and alerts at the end of a run."""

    def __init__(self, known: Record) -> None:
        self.known = known

    def at_the_end(self, rows: list[Any]) -> None:
        self._told(rows)
        self._messages()
        self._events()
        self._waits_for_somebody(rows)
        self._orphans_told()

    def _told(self, rows: list[Any]) -> None:
        """I-8: every outcome is on the request's card, every doubt in the alerts channel."""
        cards: dict[str, list[str]] = {}
        for message in self.known.world.slack.store.messages[APPROVALS]:
            if (dedupe := dedupe_of(message)).startswith("card:"):
                cards.setdefault(dedupe.split(":")[1], []).append(all_text(message))
        alerts = " ".join(all_text(message) for message in self.known.world.slack.store.messages[ALERTS])
        for row in rows:
            if row["parent_id"] is not None or self.known.as_restored(row):
                continue
            texts = cards.get(row["id"], [])
            if len(texts) != 1 and self.known.restored_from is None:
                self.known.broken("I-8 told", f"{row['id']} has {len(texts)} cards in the channel")
            elif (
                texts
                and row["rows"] is None
                and row["kind"] != "funding_submit"
                and row["state"] not in texts[0]
            ):
                self.known.broken(
                    "I-8 told", f"{row['id']} is {row['state']}, its card says: {texts[0][:120]}"
                )
            if row["state"] == "unresolved" and row["id"] not in alerts:
                self.known.broken("I-8 told", f"{row['id']} is unresolved, and no alert says so")

    def reminders(self, rows: list[Any]) -> None:
        """I-8: as long as an outcome is unknown people are reminded of it every four hours."""
        now = self.known.world.loop.time()
        for row in rows:
            if row["state"] != "unresolved" or row["parent_id"] is not None:
                continue
            nth, over_s = divmod(now - seconds(row["first_sent_at"]), REMINDED_EVERY_S)
            asked = "SELECT 1 FROM outbox WHERE dedupe LIKE ?"
            due = nth >= 1 and over_s > REMINDED_WITHIN_S
            if due and not self.known.world.rows(asked, f"%{row['id']}%reminder_unresolved%{nth:.0f}"):
                self.known.broken(
                    "I-8 reminders", f"{row['id']} is unresolved for {nth * 4:.0f} h in silence"
                )

    def _messages(self) -> None:
        """I-9, and no message is lost: none given up, none still to send."""
        slack = self.known.world.slack.store.messages.values()
        posts = Counter(self.known.world.slack_side.posted.all())
        # An older copy of the database knows nothing of what was posted after it was made.
        may_be_doubled = self.known.restored_from is not None
        for dedupe, count in posts.items():
            if count > 1 and not may_be_doubled:
                self.known.broken("I-9 doubled", f"{dedupe} was posted {count} times")
        self._posted({*posts, *(dedupe_of(message) for messages in slack for message in messages)})
        for row in self.known.world.rows("SELECT * FROM outbox WHERE state <> 'sent'"):
            if any(old in row["subject"] for old in self.known.old_rows):
                continue
            if row["state"] == "dropped" and row["last_error"] == "its subject is gone":
                continue
            if row["state"] == "dropped" and row["last_error"] == "invalid_blocks":
                continue
            if row["state"] == "dropped" and row["last_error"] in _NOBODY_THERE and self._is_reported():
                continue  # an account that was closed, or became an app, can be sent nothing; an alert says so
            self.known.broken(
                "no message is lost", f"{row['dedupe']} is {row['state']}: {row['last_error'][:80]}"
            )

    def _posted(self, posts: set[str]) -> None:
        """What is called sent stands in Slack: a direct message itself, of a card or an alert the message there is."""
        there: dict[tuple[str, str], list[str]] = {}
        for row in self.known.world.rows("SELECT kind, subject, dedupe FROM outbox WHERE state = 'sent'"):
            one = "" if row["kind"] in ("card", "alert") else row["dedupe"]
            if row["kind"] != "line":  # one may cover several
                there.setdefault((row["subject"], one), []).append(row["dedupe"])
        for (subject, _), dedupes in there.items():
            if posts.isdisjoint(dedupes) and self.known.restored_from is None:
                self.known.broken(
                    "no message is lost", f"{dedupes[0]} on {subject} is called sent, and stands nowhere"
                )

    def _is_reported(self) -> bool:
        return bool(self.known.world.rows("SELECT 1 FROM alert WHERE kind = 'message_failed'"))

    def _events(self) -> None:
        """I-12 and I-13: every event of S is in the inbox, and handled."""
        known = {
            row["event_id"]: row["state"]
            for row in self.known.world.rows("SELECT event_id, state FROM inbox")
        }
        for row in self.known.world.partner.store.all("SELECT id, type, created_at FROM events"):
            if row["id"] not in known:
                self.known.broken(
                    "I-13 events", f"{row['type']} {row['id']} of {row['created_at']} never arrived"
                )
            elif known[row["id"]] != "processed":
                self.known.broken("I-12 events", f"{row['type']} {row['id']} is not handled")

    def _orphans_told(self) -> None:
        """I-10: what the ledger has of this installation and D does not know is an alert."""
        told = self.known.world.rows(
            "SELECT 1 FROM alert WHERE kind IN ('unexplained_movement', 'older_copy')"
        )
        states = (
            self.known.world.rows("SELECT state FROM request WHERE id = ? AND kind = 'card_topup'", one)
            for one in self.known.undone
        )
        if not told and any(found and found[0]["state"] not in SENT for found in states):
            self.known.broken(
                "I-10 orphans", f"money moved for {sorted(self.known.undone)}, and no alert says so"
            )
        if self.known.orphans and not told:
            self.known.broken(
                "I-10 orphans",
                f"debits {sorted(self.known.orphans)} are known to nobody, and no alert says so",
            )

    def _waits_for_somebody(self, rows: list[Any]) -> None:
        """What has not ended waits for people, and its card says for whom."""
        now = self.known.world.loop.time()
        cards = {
            dedupe.split(":")[1]: all_text(message)
            for message in self.known.world.slack.store.messages[APPROVALS]
            if (dedupe := dedupe_of(message)).startswith("card:")
        }
        for row in rows:
            if row["state"] != "pending" or row["parent_id"] is not None or row["id"] in self.known.old_rows:
                continue
            over_s = now - seconds(row["expires_at"])
            if over_s > EXPIRES_WITHIN_S:
                self.known.broken("requests end", f"{row['id']} is pending {over_s:.0f} s after it expired")
            if self.known.as_restored(row):
                continue
            if not any(name in cards.get(row["id"], APPROVERS[0]) for name in APPROVERS):
                self.known.broken("requests end", f"{row['id']} waits, and its card does not say for whom")
