"""Calls that leave the bot: what was approved, as it was approved, while it may (I-2, I-4, I-22, I-24)."""

from __future__ import annotations

import json
import re
from decimal import Decimal
from typing import Any

from sandbox.partner import http
from tests.simulation.invariants.record import AT_ONCE_S, SWITCHES, Record, Sent, seconds
from tests.simulation.network import Call
from tests.simulation.plan import ENDPOINTS

# A freeze that cannot leave sooner than that waits for something it should not wait for.
EMERGENCY_S = 20.0
Json = dict[str, Any]
_READS_BY_POST = ("/cards/balances",)
_KINDS_BY_CALL: dict[str, tuple[str, ...]] = {}
for _kind, _endpoint in ENDPOINTS.items():
    _KINDS_BY_CALL[_endpoint] = (*_KINDS_BY_CALL.get(_endpoint, ()), _kind)


class Departures:
    """Every changing call, as it leaves and as it arrives."""

    def __init__(self, known: Record) -> None:
        self.known = known

    def on_departure(self, request: http.Request, call: Call) -> None:
        """A call leaves the bot: only what was approved, as it was approved, while it may (I-2, I-4, I-24)."""
        path = request.path.partition("/v1")[2]
        if path.endswith(("/pan", "/pan-token")):
            self.known.pan_calls += 1
        if request.method == "GET" or path in _READS_BY_POST:
            return
        rows = self._requests_of(request, path)
        sent = Sent(
            self.known.world.loop.time(),
            tuple(row["id"] for row in rows),
            f"{request.method} {path}",
            call,
            keys=tuple(row["key"] for row in rows),
        )
        self.known.sent.append(sent)
        self.known.by_request[id(request)] = request, sent
        call.about = ", ".join(sent.ids)
        if not rows:
            if not path.startswith("/cards/") or not path.endswith(("/pan", "/pan-token")):
                self.known.broken("I-2 approved", f"{sent.what} left, and no request is under way for it")
            return
        for row in rows if len(rows) == 1 else ():
            self._may_leave(row, request, path, sent)

    def _requests_of(self, request: http.Request, path: str) -> list[Any]:
        key = request.header("Idempotency-Key")
        if key:
            found = self.known.world.rows("SELECT * FROM request WHERE key = ?", key[0])
            if found or not path.startswith("/cards/"):
                return found
        kinds = [
            kind
            for endpoint, names in _KINDS_BY_CALL.items()
            if _matches(endpoint, request.method, path)
            for kind in names
        ]
        rows = self.known.world.rows("SELECT * FROM request WHERE state IN ('executing', 'unresolved')")
        found = [row for row in rows if row["kind"] in kinds and row["rows"] is None]
        segments = path.split("/")
        found = [row for row in found if not path.startswith("/cards/") or row["subject"] in segments]
        # Of several that ask for the same it is of one for which a call is on record and has no answer yet.
        return [row for row in found if self._awaits_an_answer(row)] or found

    def _awaits_an_answer(self, row: Any) -> bool:
        sent = "SELECT 1 FROM attempt WHERE request_id = ? AND answered_at IS NULL AND purpose <> 'look'"
        return bool(self.known.world.rows(sent, row["id"]))

    def _may_leave(self, row: Any, request: http.Request, path: str, sent: Sent) -> None:
        world, now = self.known.world, self.known.world.loop.time()
        if row["state"] not in ("executing", "unresolved"):
            self.known.broken(
                "I-2 approved", f"{row['id']} is {row['state']}, and {request.method} {path} left"
            )
        open_attempts = world.rows(
            "SELECT * FROM attempt WHERE request_id = ? AND answered_at IS NULL ORDER BY number DESC",
            row["id"],
        )
        if not open_attempts:
            self.known.broken(
                "I-2 attempt", f"{row['id']}: {request.method} {path} left before its attempt was written"
            )
            return
        sent.attempt = open_attempts[0]["id"]
        claimed_s = seconds(open_attempts[0]["sent_at"])
        self._not_while_ending(row, sent.call.by, claimed_s)
        is_first = row["id"] not in self.known.first_sent
        self.known.first_sent.add(row["id"])
        self._terms(row, request, path)
        valid_s = seconds(row["valid_until"]) if row["valid_until"] else None
        may_expire = world.clocks_never_wrong and row["id"] not in self.known.held_by_a_pause
        if is_first and may_expire and valid_s is not None and now > valid_s + AT_ONCE_S:
            self.known.broken(
                "I-4 validity", f"{row['id']} left {now - valid_s:.0f} s after its approval ran out"
            )
        early_s = self.known.not_before.get(row["id"], now) - now
        if is_first and world.clocks_never_wrong and early_s > AT_ONCE_S:
            self.known.broken("I-4 cool-off", f"{row['id']} left {early_s:.0f} s before it may")
        if self.known.paused_at is not None and now > self.known.paused_at + AT_ONCE_S:
            self.known.broken(
                "I-4 pause", f"{row['id']} left {now - self.known.paused_at:.0f} s after sending was paused"
            )
        if is_first and not row["break_glass"]:
            self._approvers_still_there(row, claimed_s)
        if is_first and not row["break_glass"]:
            self._people_were_known(row, claimed_s)
        self._is_the_newest(row, now)

    def _not_while_ending(self, row: Any, process: str, claimed_s: float) -> None:
        asked = self.known.ending.get(process)
        if asked is not None and claimed_s > asked + AT_ONCE_S and self.known.world.clocks_never_wrong:
            self.known.broken(
                "ending claims nothing", f"{row['id']} was claimed after {process} was asked to end"
            )

    def _approvers_still_there(self, row: Any, claimed_s: float) -> None:
        of = row["parent_id"] or row["id"]
        made = self.known.world.rows(
            "SELECT actor FROM decision WHERE request_id = ? AND kind = 'approve'", of
        )
        able = {d["actor"] for d in made} & self.known.world.able_to_approve()
        gone = [d["actor"] for d in made if self.known.gone_since.get(d["actor"], 1e9) < claimed_s - 15]
        if gone and len(able) < row["approvals_needed"]:
            self.known.broken("I-4 approvers", f"{row['id']} left although {gone} could not approve any more")

    def _people_were_known(self, row: Any, claimed_s: float) -> None:
        """I-22: nothing is sent for the first time while nobody can say who the approvers are."""
        since = self.known.world.slack_away_since
        if row["kind"] == "card_freeze":
            return  # what only makes things safer does not wait for Slack
        if since is not None and claimed_s > since + 40:
            self.known.broken(
                "I-22 fail closed", f"{row['id']} was claimed {claimed_s - since:.0f} s into Slack's outage"
            )

    def _is_the_newest(self, row: Any, now: float) -> None:
        """An older order on the same target does not leave once a newer one was given."""
        kinds = SWITCHES.get(row["kind"], ())
        for other in self.known.world.rows("SELECT * FROM request WHERE subject = ?", row["subject"]):
            if other["kind"] not in kinds or other["id"] == row["id"] or other["approved_at"] is None:
                continue
            if (other["kind"], other["terms"]) == (row["kind"], row["terms"]):
                continue  # the same order twice
            approved_s = self.known.approved_s.get(other["id"])
            if approved_s is None or approved_s <= self.known.approved_s.get(row["id"], approved_s):
                continue
            if other["first_sent_at"] and now > approved_s + AT_ONCE_S:
                self.known.broken(
                    "the newest decision holds",
                    f"{row['id']} ({row['kind']}) left after {other['id']} ({other['kind']}), which is newer",
                )

    def _terms(self, row: Any, request: http.Request, path: str) -> None:
        """I-2 and I-24: the card and the amount are those that were approved, to the digit."""
        terms = json.loads(row["terms"])
        if row["kind"] not in ("card_topup", "card_unload"):
            self._fields(row, terms, request.body or b"")
            return
        text = re.search(rb'"amount_usd"\s*:\s*([0-9.eE+-]+)', request.body or b"")
        said = text.group(1).decode() if text else "nothing"
        if not re.fullmatch(r"[0-9]+(\.[0-9]{1,2})?", said) or Decimal(said) != Decimal(terms["amount_usd"]):
            self.known.broken("I-24 amount", f"{row['id']} asks for {terms['amount_usd']}, {said} left")
        if row["subject"] not in path.split("/"):
            self.known.broken("I-2 card", f"{row['id']} is about {row['subject']}, {path} left")

    def _fields(self, row: Any, terms: Json, body: bytes) -> None:
        """I-2: every other value is the one that was approved, too; of what is masked, as much as is shown."""
        said = json.loads(body, parse_float=Decimal) if body else {}
        for name, approved in _wanted(row["kind"], terms).items():
            left = said.get(name)
            same = left == approved or _as_number(left) == _as_number(approved) is not None
            if isinstance(approved, str) and "•" in approved:
                shown = approved.rpartition("•")[2]
                same = bool(left) and str(left).endswith(shown)
            if not same:
                self.known.broken("I-2 terms", f"{row['id']}: {name} {approved} was approved, {left} left")

    def on_arrival(self, request: http.Request, answer: http.Answer | None) -> None:
        """A call arrived at S; with its answer, what it did there is known."""
        if answer is not None and answer.status == 429:
            self._within_the_rate(request)
        known = self.known.by_request.get(id(request))
        if known is None or answer is None:
            return
        _, sent = known
        # Of a broken connection the journal knows what the answer would have been.
        status: int | None = answer.status
        if not status:
            row = self.known.world.partner.store.one("SELECT status FROM journal ORDER BY seq DESC LIMIT 1")
            status = row["status"] if row is not None else None
        if status:
            sent.status = status
        if status in (200, 201):
            self.known.world.say(f"The API did {sent.what} for {', '.join(sent.ids) or 'nobody'}.")

    def _within_the_rate(self, request: http.Request) -> None:
        """I-20: one process, whose clock is right, never asks more often than it may; nobody made the API say so."""
        world = self.known.world
        if not self.known.limits_planted and len(world.processes) == 1 and world.clocks_never_wrong:
            self.known.broken("I-20 rate", f"the API was asked too often, at last for {request.path}")

    def emergencies_first(self, harmless: bool) -> None:
        """A Freeze now leaves before everything else; `harmless`: nothing but the API's silence is in its way."""
        if not harmless:
            return
        for request_id, at in self.known.emergencies.items():
            # Where somebody else froze the card a moment later, theirs decides, and this one is cancelled.
            over = self.known.world.rows(
                "SELECT subject FROM request WHERE id = ? AND state = 'cancelled'", request_id
            )
            by_another = f"/{over[0]['subject']}/freeze" if over else "nothing"
            left = [
                sent.at
                for sent in self.known.sent
                if request_id in sent.ids or (sent.at >= at and sent.what.endswith(by_another))
            ]
            late = (left[0] if left else self.known.world.loop.time()) - at
            if late > EMERGENCY_S:
                self.known.broken("emergencies first", f"{request_id} left {late:.0f} s after Freeze now")


def _wanted(kind: str, terms: Json) -> Json:
    """What a call of this kind has to say, by the API's own document; empty for a kind that says nothing."""
    if kind in ("card_freeze", "card_unfreeze"):
        return {"frozen": kind == "card_freeze"}
    if kind == "fees_markup":
        return {"markup_pct": Decimal(terms["markup_percent"]) / 100}
    if kind == "deposit_quote":
        return {"card_id": terms["card"], **{name: terms[name] for name in ("amount_usd", "asset", "chain")}}
    names = {
        "card_limits": ("daily_limit", "weekly_limit", "monthly_limit"),
        "card_phone": ("phone_country_code", "phone"),
        "card_order": ("card_holder_name", "partner_ref", "phone_country_code", "phone"),
        "funding_submit": ("tx_hash", "network"),
        "webhook_register": ("url",),
    }.get(kind, ())
    return {name: terms.get(name) for name in names}


def _as_number(value: Any) -> Decimal | None:
    try:
        return Decimal(str(value))
    except ArithmeticError:
        return None


def _matches(endpoint: str, method: str, path: str) -> bool:
    wanted, _, template = endpoint.partition(" ")
    pattern = re.sub(r"\{\w+\}", "[^/]+", template)
    if template.endswith("/freeze"):
        pattern = pattern.removesuffix("freeze") + "(freeze|unfreeze)"
    return wanted == method and re.fullmatch(pattern, path) is not None
