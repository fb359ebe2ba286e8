"""What must be true after all the kills, read from the outside: the simulator's ledger, the bot's file, Slack.

Nothing of the bot is used to read it, but for the command that a person would run: `countersign audit verify`.
"""

from __future__ import annotations

import asyncio
import json
import math
import os
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from tests.crash.outside import APPROVALS, Json, Outside
from tests.crash.process import ROOT
from tests.support.posted_ids import dedupe_of

SETTLED = ("succeeded", "failed", "unresolved")
# What a card reads once a switch has succeeded.
SWITCHES = {"card_freeze": "FROZEN", "card_unfreeze": "ACTIVE"}
Rows = list[Any]


async def violations(world: Outside) -> list[str]:
    """Every promise that was broken, as a sentence; empty when all were kept. The bot may be up or down."""
    requests = world.rows("SELECT * FROM request ORDER BY created_at")
    # A batch sends nothing itself; its rows have no cards of their own in the channel.
    sent = [request for request in requests if request["rows"] is None]
    shown = [request for request in requests if request["parent_id"] is None]
    truth, order = world.truth(), Order.read(world)
    found = [
        *_states(requests, order),
        *_during_pauses(order),
        *_switches(world, sent, order),
        *_debits(sent, _rows_of_the_bot(world, truth), truth),
        *_cards(sent, truth),
        *_submissions(sent, truth),
        *_ledger(truth),
        *_decisions(world),
        *_messages(world, shown),
    ]
    audit = await audit_complaint(world)
    return [*found, audit] if audit else found


@dataclass
class Order:
    """In which order things were decided and done, by the numbers of the audit log's entries: no clock is asked."""

    approved: dict[str, int] = field(default_factory=dict)
    # Calls that may change something; looks are none.
    called: dict[str, list[int]] = field(default_factory=dict)
    ended: dict[str, int] = field(default_factory=dict)
    # When all sending was paused, and until when; the last one perhaps without an end.
    pauses: list[tuple[float, float]] = field(default_factory=list)

    @classmethod
    def read(cls, world: Outside) -> Order:
        found = cls()
        for row in world.rows("SELECT seq, action, subject FROM audit WHERE outcome = 'ok' ORDER BY seq"):
            _, _, rest = row["subject"].partition(":")
            found._take(row["seq"], row["action"], rest.partition(":")[0])
        purposes: dict[str, list[str]] = {}
        for row in world.rows("SELECT request_id, purpose FROM attempt ORDER BY request_id, number"):
            purposes.setdefault(row["request_id"], []).append(row["purpose"])
        for request_id, entries in found.called.items():  # one for each call, in the order of their numbers
            each = zip(entries, purposes[request_id], strict=True)
            found.called[request_id] = [seq for seq, purpose in each if purpose != "look"]
        return found

    def _take(self, seq: int, action: str, request_id: str) -> None:
        if action == "program.write_paused":
            self.pauses.append((seq, math.inf))
        elif action == "program.write_resumed":
            self.pauses[-1] = (self.pauses[-1][0], seq)
        elif action in ("request.approval", "request.break_glass"):
            self.approved[request_id] = seq  # of several, the one that settled it
        elif action == "request.attempt":
            self.called.setdefault(request_id, []).append(seq)
        elif action.startswith("request."):
            self.ended[request_id] = seq


def _states(requests: Rows, order: Order) -> Iterator[str]:
    """What was approved has an outcome, or never left because somebody stopped it or wanted something else."""
    for request in requests:
        if not request["approved_at"] or request["state"] in SETTLED:
            continue
        approved, ended = order.approved.get(request["id"], 0), order.ended.get(request["id"], math.inf)
        stopped = any(since < ended and until > approved for since, until in order.pauses)
        met = any(r["subject"] == request["subject"] and r["id"] != request["id"] for r in requests)
        may_end = {"cancelled": met, "expired": met or stopped}.get(request["state"], False)
        if request["first_sent_at"] or not may_end:
            yield f"{request['id']} was approved and ends as {request['state']}: {request['outcome_text']}"


def _during_pauses(order: Order) -> Iterator[str]:
    """Transactions come one after the other: what comes after a pause has seen it."""
    for since, until in order.pauses:
        for request_id, calls in order.called.items():
            for call in calls:
                if since < call < until:
                    yield f"{request_id} was sent by entry {call}, and sending was paused by entry {since}"


def _switches(world: Outside, requests: Rows, order: Order) -> Iterator[str]:
    """The newest word on a card wins: an older one is not sent after it, and the card is as the newest wants it."""
    on_cards: dict[str, Rows] = {}
    for request in requests:
        if request["kind"] in SWITCHES and request["id"] in order.approved:
            on_cards.setdefault(request["subject"], []).append(request)
    status = {card["id"]: card["status"] for card in world.cards()}
    for card_id, found in on_cards.items():
        for request in found:
            yield from _sent_too_late(request, found, order)
        *_, newest = sorted(found, key=lambda r: order.approved[r["id"]])
        if newest["state"] == "succeeded" and status[card_id] != SWITCHES[newest["kind"]]:
            yield f"{newest['id']} succeeded, and its card is {status[card_id]}"


def _sent_too_late(request: Any, on_card: Rows, order: Order) -> Iterator[str]:
    for call in order.called.get(request["id"], []):
        for newer in on_card:
            was_in_force = (
                newer["state"] in ("succeeded", "unresolved") or order.ended.get(newer["id"], math.inf) > call
            )
            if order.approved[request["id"]] < order.approved[newer["id"]] < call and was_in_force:
                yield f"{request['id']} was sent after {newer['id']}, which is newer, was approved"


def _rows_of_the_bot(world: Outside, truth: Json) -> Rows:
    """What top-ups and their refunds moved since the bot was first started."""
    moves = [r for r in truth["ledger"] if r["kind"] in ("card_topup", "refund")]
    return [r for r in moves if r["reference"] not in world.seeded]


def _debits(requests: Rows, rows: Rows, truth: Json) -> Iterator[str]:
    """At most one debit per request, over all keys: amounts occur once, so a debit tells whose it is."""
    keyed = {one["key"]: one["state"] for one in truth["idempotency"] if one["kind"] == "topup"}
    owners = {}
    for request in requests:
        if request["kind"] == "card_topup":
            amount_usd = Decimal(json.loads(request["terms"])["amount_usd"])
            owners[amount_usd] = request
            mine = [r for r in rows if abs(Decimal(r["amount_usd"])) == amount_usd]
            yield from _of_one(request, amount_usd, mine, keyed)
    for row in rows:
        if abs(Decimal(row["amount_usd"])) not in owners:
            yield f"{row['reference']} moved {row['amount_usd']} and is of no request"


def _of_one(request: Any, amount_usd: Decimal, rows: Rows, keyed: dict[str, str]) -> Iterator[str]:
    name, state = request["id"], request["state"]
    debits = [r for r in rows if r["kind"] == "card_topup"]
    net_usd = -sum(Decimal(r["amount_usd"]) for r in rows)
    credited = keyed.get(request["key"]) == "done"
    if len(debits) > 1:
        yield f"{name} was debited {len(debits)} times: {[r['reference'] for r in debits]}"
    if any(r["reference"] != f"topup:{request['key']}" for r in debits):
        yield f"{name} used another key than its own: {[r['reference'] for r in debits]}"
    if debits and not request["approved_at"]:
        yield f"{name} was debited without an approval"
    if state == "succeeded" and not (net_usd == amount_usd and credited):
        yield f"{name} succeeded, but {net_usd} left the float and the card got it: {credited}"
    if state == "failed" and net_usd:
        yield f"{name} failed, but {net_usd} left the float"


def _cards(requests: Rows, truth: Json) -> Iterator[str]:
    """An order made the card of its own key, or none; and no card is the outcome of two."""
    keyed = {one["key"]: one for one in truth["idempotency"] if one["kind"] == "create"}
    made = Counter(card["card_holder_name"] for card in truth["cards"])
    wanted: Counter[str] = Counter()
    claimed: Counter[str] = Counter()
    for request in requests:
        if request["kind"] != "card_order":
            continue
        name = json.loads(request["terms"])["card_holder_name"]
        is_made = request["key"] in keyed and keyed[request["key"]]["state"] == "done"
        wanted[name] += is_made
        if request["state"] != "unresolved" and is_made != (request["state"] == "succeeded"):
            yield f"{request['id']} is {request['state']}, and its card was made: {is_made}"
        if request["state"] == "succeeded":
            claimed[json.loads(request["outcome"])["card_id"]] += 1
    for name, count in wanted.items():
        if made[name] != count:
            yield f"{made[name]} cards were made for {name}, and {count} orders made one"
    for card_id, count in claimed.items():
        if count > 1:
            yield f"{card_id} is the outcome of {count} orders"


def _submissions(requests: Rows, truth: Json) -> Iterator[str]:
    known = Counter(one["tx_hash"] for one in truth["funding"])
    for request in requests:
        if request["kind"] == "funding_submit":
            count = known[request["subject"]]
            allowed = {"succeeded": (1,), "unresolved": (0, 1)}.get(request["state"], (0,))
            if count not in allowed:
                yield f"{request['id']} is {request['state']} with {count} submissions"


def _ledger(truth: Json) -> Iterator[str]:
    if Decimal(truth["ledger_sum"]) != Decimal(truth["float"]["balance_usd"]):
        yield f"the ledger sums to {truth['ledger_sum']}, the float is {truth['float']['balance_usd']}"
    yield from truth["invariants"]["broken"]


def _decisions(world: Outside) -> Iterator[str]:
    for row in world.rows("SELECT * FROM decision WHERE kind = 'approve' AND actor = requester"):
        yield f"{row['request_id']} was approved by who asked for it"
    for row in world.rows(
        "SELECT id FROM request WHERE first_sent_at IS NOT NULL AND id NOT IN"
        " (SELECT request_id FROM decision WHERE kind = 'approve' OR kind = 'break_glass')"
    ):
        yield f"{row['id']} was sent without an approval"


def _messages(world: Outside, requests: Rows) -> Iterator[str]:
    """Every request has one card in the channel; no message was posted twice; the card says how it ended."""
    for dedupe, count in Counter(world.posted.all()).items():
        if count > 1:
            yield f"{dedupe} was posted {count} times"
    cards: dict[str, list[str]] = {}
    for message in world.slack.workspace.store.messages[APPROVALS]:
        if (dedupe := dedupe_of(message)).startswith("card:"):
            cards.setdefault(dedupe.split(":")[1], []).append(message["text"])
    for request in requests:
        texts = cards.get(request["id"], [])
        if len(texts) != 1:
            yield f"{request['id']} has {len(texts)} cards in the channel"
        elif (word := request["stage"] or request["state"]) not in texts[0]:
            yield f"{request['id']} is {word}, its card says: {texts[0]}"
    # That a request could not be posted is not said any more once it was.
    given_up = "SELECT dedupe, last_error FROM outbox WHERE state = 'dropped' AND dedupe NOT LIKE 'notice:%:unposted'"
    for row in world.rows(given_up):
        yield f"{row['dedupe']} was given up: {row['last_error']}"


async def audit_complaint(world: Outside) -> str | None:
    """What `countersign audit verify` says against the chain, with the anchors kept beside the file."""
    words = ["audit", "verify"]
    anchors = world.database.with_name(world.database.name + ".anchors")
    if anchors.exists():
        words += ["--anchors", str(anchors)]
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "bot",
        *words,
        cwd=world.folder,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), **world.env},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    said, complaint = await process.communicate()
    if process.returncode:
        return f"audit verify exits {process.returncode}: {complaint.decode()}"
    return None if b"whole" in said else f"audit verify says {said.decode()!r}"
