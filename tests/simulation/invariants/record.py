"""What the checks of one world know of it: what was broken, what left, who was gone since when.

D is the bot's database, S the API's sandbox, P what Slack shows.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any

from sandbox.partner import http
from tests.simulation.network import Call
from tests.simulation.world import START, World

# Between a claim and its first byte nothing waits: what was committed longer ago counts as known.
AT_ONCE_S = 1.0
SENT = ("executing", "succeeded", "failed", "unresolved")
# Kinds with a key of their own at the API, and what it calls them there.
KEYED = {"card_topup": "topup", "card_order": "create", "card_unload": "unload"}
SWITCHES = {
    "card_freeze": ("card_freeze", "card_unfreeze"),
    "card_unfreeze": ("card_freeze", "card_unfreeze"),
    "card_limits": ("card_limits",),
    "card_phone": ("card_phone",),
    "card_3ds": ("card_3ds",),
    "fees_markup": ("fees_markup",),
}


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
    keys: tuple[str, ...] = ()


@dataclass
class Seen:
    """What a request was at the last commit. `owner`: the process that had claimed it."""

    state: str
    version: int
    fence: int = 0
    holder: str | None = None  # of its lease
    lease_until: str | None = None


@dataclass
class Record:
    """Looked at by every check; `found` holds what was broken, the first first."""

    world: World
    found: list[Violation] = field(default_factory=list)
    seen: dict[str, Seen] = field(default_factory=dict)
    # When each was approved, by the true time and not by the clock of the process that took it.
    approved_s: dict[str, float] = field(default_factory=dict)
    sent: list[Sent] = field(default_factory=list)
    # By the id of a call, which is kept with it: another may have the same id once it is gone.
    by_request: dict[int, tuple[http.Request, Sent]] = field(default_factory=dict)
    first_sent: set[str] = field(default_factory=set)
    paused_at: float | None = None
    held_by_a_pause: set[str] = field(
        default_factory=set
    )  # freezes that were approved while nothing was sent
    orphans: set[str] = field(default_factory=set)
    on_their_way: set[str] = field(
        default_factory=set
    )  # of calls that the copy has not sent, as it was put in place
    overtaken: set[str] = field(default_factory=set)  # keys that left before an older copy took their place
    gone_since: dict[str, float] = field(default_factory=dict)
    ending: dict[str, float] = field(default_factory=dict)  # processes that were asked to end, and when
    disk_full_until: float = -1e9
    stood_still: set[str] = field(default_factory=set)  # processes that may have lost a lease
    old_rows: set[str] = field(default_factory=set)  # requests as an older version kept them
    shown: list[tuple[float, str]] = field(default_factory=list)  # links that showed card details, and when
    limits_planted: bool = False  # the API was made to say 429
    pan_calls: int = 0  # to the API, for card details
    keys: set[str] = field(default_factory=set)  # of the API, that this installation has had
    copied_at: float | None = None  # when the copy of the database was made
    restored_from: float | None = None  # of the copy that was put in place and taken, when it was made
    restored_at: float | None = None  # and when it was put in place
    restored: dict[str, str] = field(default_factory=dict)  # requests of that copy, and what they were in it
    undone: set[str] = field(default_factory=set)  # of those: not sent as the copy has it, and S did it
    reopened: set[str] = field(default_factory=set)  # given up, and then something of it was done: for people
    emergencies: dict[str, float] = field(default_factory=dict)  # Freeze now, and when
    not_before: dict[str, float] = field(default_factory=dict)  # until then approvers may stop it

    def broken(self, rule: str, text: str) -> None:
        violation = Violation(rule, text, self.world.loop.time())
        if not self.found:
            self.world.say(f"BROKEN: {violation}")
        self.found.append(violation)

    def note_database_trouble(self) -> None:
        """What was to be written just now may not have been."""
        self.disk_full_until = self.world.loop.time()

    def is_forgotten(self, at: float) -> bool:
        """Was it written between the making of a copy and the moment when that was put in place?"""
        if self.restored_from is None or self.restored_at is None:
            return False
        return self.restored_from <= at < self.restored_at

    def note_copy(self) -> None:
        """A copy of the database was made just now."""
        self.copied_at = self.world.loop.time()

    def note_restored(self) -> None:
        """The copy is the database now: what came after it is not known there any more."""
        self.orphans = set(self.orphans)
        self.restored_from, self.restored_at = self.copied_at, self.world.loop.time()
        rows = self.world.rows("SELECT id, state, version FROM request")
        self.seen = {row["id"]: Seen(row["state"], row["version"]) for row in rows}
        self.restored = {row["id"]: row["state"] for row in rows}
        self._note_undone()
        known = {row["key"] for row in self.world.rows("SELECT key FROM request")}
        self.overtaken |= {key for sent in self.sent for key in sent.keys} - known
        self.on_their_way |= {key for sent in self.sent if sent.status is None for key in sent.keys} & known
        for row in self.world.partner.store.all("SELECT reference FROM ledger WHERE kind = 'card_topup'"):
            key = (row["reference"] or "").removeprefix("topup:")
            if key not in known and not key.startswith("seed-"):
                self.orphans.add(key)

    def _note_undone(self) -> None:
        """Money moved, or a card was made, for requests that nothing was sent for as far as the copy knows."""
        kept = {row["key"] for row in self.world.partner.store.all("SELECT key FROM keyed")}
        rows = self.world.rows("SELECT id, key, state FROM request")
        self.undone = {row["id"] for row in rows if row["key"] in kept and row["state"] not in SENT}

    def as_restored(self, row: Any) -> bool:
        """Nothing has become of this request since an older copy of the database was put in place."""
        return bool(self.restored.get(row["id"]) == row["state"])

    def row(self, request_id: str) -> Any:
        """A request as the database has it now."""
        return self.world.rows("SELECT * FROM request WHERE id = ?", request_id)[0]

    def applied(self, request_id: str) -> bool:
        return any(request_id in sent.ids and sent.status in (200, 201) for sent in self.sent)

    def did_alone(self, row: Any) -> bool:
        return any(sent.ids == (row["id"],) and sent.status in (200, 201) for sent in self.sent)

    def by_hand(self, row: Any, verdict: str) -> bool:
        made = self.world.rows(
            "SELECT count(DISTINCT actor) AS n FROM decision WHERE request_id = ? AND kind = 'resolve' AND verdict = ?",
            row["id"],
            verdict,
        )
        return bool(made[0]["n"] >= 2)

    def net_usd(self, row: Any) -> Decimal:
        """What the float lost under this request's own key."""
        ledger = self.world.partner.store.all(
            "SELECT l.amount_usd FROM ledger l JOIN keyed k ON l.keyed = k.id WHERE k.key = ?", row["key"]
        )
        return -sum((Decimal(line["amount_usd"]) for line in ledger), Decimal(0))

    def did(self, row: Any) -> bool:
        """Whether S did what this request asked for."""
        if row["kind"] not in KEYED:
            return self.applied(row["id"])
        kept = self.world.partner.store.one(
            "SELECT state FROM keyed WHERE kind = ? AND key = ?", KEYED[row["kind"]], row["key"]
        )
        return kept is not None and kept["state"] == "done"

    def emptied(self, row: Any) -> bool:
        """Whether half of a close happened: the balance of the card went back to the float."""
        kept = self.world.partner.store.one(
            "SELECT amount_usd FROM keyed WHERE kind = 'close' AND key = ?", row["key"]
        )
        return kept is not None and Decimal(kept["amount_usd"] or 0) > 0


def seconds(stored: str) -> float:
    """A moment of the database in seconds since the seed began."""
    return (datetime.fromisoformat(stored) - START).total_seconds() if stored else 0.0


def all_text(message: Any) -> str:
    """Everything a reader sees of it."""
    return f"{message.get('text', '')} {json.dumps(message.get('blocks') or [])}"
