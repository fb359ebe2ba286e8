"""Logs that somebody made up are never called whole: random ones that Countersign cannot have written.

The model here is a second one, made by hand of what people and the bot do. It tells logs of requests as they may go,
and breaks each with one entry that cannot follow. `verify_audit.py` calls each genuine one whole, each other broken.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import verify_audit
from storage import audit
from storage.protection.chain_replay import Replayed

PEOPLE = ("U0ALICE", "U0BOB", "U0CAROL", "U0DAVE")
BOT, EXPIRY, RESTORE = "system:execution", "system:expiry", "system:restore"
Json = dict[str, Any]
Entry = tuple[str, str, str, Json]  # who, what, about what, with what


@dataclass
class Asked:
    """A request of the model, as it stands."""

    id: str
    by: str
    digest: str
    kind: str = "card_topup"
    needed: int = 1
    passkey: bool = False
    state: str = "pending"
    version: int = 1
    given: list[str] = field(default_factory=list)
    calls: int = 0
    rows: list[Asked] = field(default_factory=list)
    of_list: bool = False
    was_given: bool = False  # one approval at least, whatever became of it
    is_void: bool = False
    said: dict[str, str] = field(default_factory=dict)

    def entry(self, who: str, action: str, state: str = "", **more: Any) -> Entry:
        if state:
            self.state, self.version = state, self.version + 1
        body = {"kind": self.kind, "digest": self.digest, "state": self.state, **more}
        return who, action, f"request:{self.id}:{self.version}", body

    def submitted(self) -> Entry:
        more: Json = {"rows": [row.id for row in self.rows]} if self.rows else {}
        return self.entry(
            self.by, "request.submitted", approvals_needed=self.needed, passkey=self.passkey, **more
        )


class Teller:
    """Tells what happens to some requests, one step after the other, as Countersign writes it."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.entries: list[Entry] = []
        self.asked: list[Asked] = []
        self.number = 0

    def tell(self, steps: int) -> None:
        self.ask()
        for _ in range(steps):
            if self.chance.random() < 0.02:
                self.put_older_copy_in_place()
            self.chance.choice((self.ask, self.go_on, self.go_on, self.go_on))()

    def put_older_copy_in_place(self) -> None:
        """What somebody has approved by then counts no more. Most of it is cancelled at once; some is hidden then."""
        self.entries.append((RESTORE, "database.restored", "database", {"head": 1, "lost": []}))
        for one in self.asked:
            if one.state == "approved" or (one.state == "pending" and one.was_given):
                one.is_void = True
                if not one.rows and self.chance.random() < 0.7:
                    self.end(one, "cancelled", RESTORE)

    def made(self, by: str) -> Asked:
        self.number += 1
        digest = f"{self.number:04x}" * 19
        return Asked(f"R-{self.number:04d}", by, digest, needed=self.chance.choice((1, 1, 2)))

    def ask(self) -> None:
        by = self.chance.choice(PEOPLE)
        if self.chance.random() < 0.6:
            alone = self.made(by)
            self.entries.append(alone.submitted())
            self.asked.append(alone)
            return
        rows = [self.made(by) for _ in range(self.chance.choice((2, 3)))]
        whole = self.made(by)
        whole.rows = rows
        for row in rows:
            row.of_list = True
            self.entries.append(row.submitted())
        self.entries.append(whole.submitted())
        self.asked += [whole, *rows]

    def go_on(self) -> None:
        one = self.chance.choice(self.asked)
        steps = list(self.steps(one))
        if steps:
            self.chance.choice(steps)()

    def steps(self, one: Asked) -> Iterator[Callable[[], None]]:
        """What may happen to it next."""
        if one.of_list and one.state in ("pending", "rejected", "cancelled", "expired"):
            return
        if one.is_void and one.state in ("pending", "approved"):
            if not one.rows:
                yield lambda: self.end(one, "cancelled", RESTORE)
            return
        match one.state:
            case "pending":
                yield from (lambda: self.approve(one),) * 4
                yield lambda: self.end(one, "rejected", self.other(one))
                yield lambda: self.end(one, "cancelled", one.by)
                yield lambda: self.end(one, "expired", EXPIRY)
                if len(one.rows) > 1:
                    yield lambda: self.leave_out(one)
            case "approved" if not one.rows:
                yield from (lambda: self.attempt(one),) * 3
                if not one.of_list:
                    yield lambda: self.stop(one)
                    yield lambda: self.end(one, "cancelled", one.by)
            case "executing" if not one.rows:
                yield lambda: self.attempt(one)
                for state in ("succeeded", "failed", "unresolved", "executing"):
                    yield partial(self.outcome, one, state)
            case "unresolved":
                yield lambda: self.attempt(one)
                yield lambda: self.say(one)
                yield lambda: self.outcome(one, "succeeded")
                yield lambda: self.outcome(one, "failed")
            case "failed":
                yield lambda: self.add(one, BOT, "request.landed_late", "succeeded")
                yield lambda: self.reopen(one)
            case "succeeded":
                yield lambda: self.add(one, "system:upkeep", "request.purged")

    def add(self, one: Asked, who: str, action: str, state: str = "", **more: Any) -> None:
        self.entries.append(one.entry(who, action, state, **more))

    def other(self, one: Asked, *but: str) -> str:
        return self.chance.choice([p for p in PEOPLE if p != one.by and p not in but])

    def approve(self, one: Asked) -> None:
        who = self.other(one, *one.given)
        one.given.append(who)
        one.was_given = True
        is_last = len(one.given) >= one.needed
        for row in one.rows if is_last else ():
            self.add(row, who, "request.approval", "approved", batch=one.id, by=list(one.given))
        one.version += 1
        state = "approved" if is_last else ""
        self.add(one, who, "request.approval", state, approvals=len(one.given), mac="x")

    def end(self, one: Asked, state: str, who: str) -> None:
        self.add(one, who, f"request.{state}", state)
        for row in one.rows:
            self.add(row, who, f"request.{state}", state, batch=one.id)

    def stop(self, one: Asked) -> None:
        who = self.other(one)
        self.add(one, who, "request.rejected_before_sending")
        self.end(one, "cancelled", who)

    def leave_out(self, one: Asked) -> None:
        out = one.rows.pop(self.chance.randrange(len(one.rows)))
        self.add(out, one.by, "request.cancelled", "cancelled", batch=one.id)
        self.number += 1
        one.digest, one.version, one.given = f"{self.number:04x}" * 19, one.version + 1, []
        more: Json = {"approvals_needed": one.needed, "passkey": one.passkey}
        self.add(one, one.by, "request.rows_left_out", rows=[out.id], **more)

    def attempt(self, one: Asked) -> None:
        one.calls += 1
        state = "executing" if one.state == "approved" else one.state
        self.add(one, BOT, "request.attempt", state, number=one.calls, step="send")

    def outcome(self, one: Asked, state: str) -> None:
        self.add(one, BOT, "request.outcome", state, finding=state, attempt=one.calls)

    def reopen(self, one: Asked) -> None:
        """What was said before was of how it had ended then."""
        self.add(one, BOT, "request.reopened", "unresolved")
        one.said = {}

    def say(self, one: Asked) -> None:
        who, verdict = self.chance.choice(PEOPLE), self.chance.choice(("succeeded", "failed"))
        agrees = any(v == verdict for p, v in one.said.items() if p != who)
        one.said[who] = verdict
        action = "request.resolved_by_hand" if agrees else "request.resolution_proposed"
        self.add(one, who, action, verdict if agrees else "", verdict=verdict, evidence="e", mac="x")
        one.said = {} if agrees else one.said


def log_of(entries: list[Entry]) -> list[str]:
    """With numbers and fingerprints that fit."""
    lines, before = [], ""
    for number, (who, action, subject, body) in enumerate(entries, start=1):
        entry: Json = {"seq": number, "at": "2026-03-02T09:00:00.000000Z", "actor": who, "action": action}
        entry |= {
            "subject": subject,
            "outcome": "ok",
            "reason_code": "",
            "policy_version": "v",
            "prev": before,
        }
        entry["body"] = json.dumps(body, sort_keys=True, separators=(",", ":"))
        entry |= {"mac": "m", "hash": (before := verify_audit.fingerprint(entry))}
        lines.append(json.dumps(entry))
    return lines


def why_broken(entries: list[Entry]) -> str:
    passkeys = verify_audit.Passkeys(None)
    try:
        verify_audit.check_chain(log_of(entries), passkeys.see)
        passkeys.finish()
    except verify_audit.Broken as fault:
        return str(fault)
    return ""


def called_wrong(entries: list[Entry]) -> list[tuple[str, str]]:
    """By the check of the product, had somebody with the master key written these entries."""
    found = Replayed()
    for line in map(json.loads, log_of(entries)):
        found.take_link(audit.Link(**{name: line[name] for name in audit.Link._fields if name in line}))
    return found.wrong


def chosen(teller: Teller, *states: str, rows: bool | None = None, lists: bool = False) -> Asked | None:
    """One in such a state; `rows`: True = a row of a list, False = none, None = either."""
    found = [
        one
        for one in teller.asked
        if one.state in states and bool(one.rows) is lists and rows in (None, one.of_list) and not one.is_void
    ]
    return teller.chance.choice(found) if found else None


ENDED = ("rejected", "cancelled", "expired", "succeeded", "failed")
NOT_GRANTED = ("pending", "rejected", "cancelled", "expired")


def sent_before_it_was_approved_or_after_it_ended(teller: Teller) -> bool:
    one = chosen(teller, "pending", *ENDED)
    if one is not None:
        one.state = "executing"
        teller.attempt(one)
    return one is not None


def called_as_often_as_it_was_not(teller: Teller) -> bool:
    one = chosen(teller, "approved", "executing")
    if one is not None:
        one.calls += teller.chance.choice((-1, 1))
        teller.attempt(one)
    return one is not None


def an_outcome_of_what_was_never_sent(teller: Teller) -> bool:
    one = chosen(teller, *NOT_GRANTED, "approved", "succeeded")
    if one is not None:
        teller.outcome(one, teller.chance.choice(("succeeded", "failed", "unresolved")))
    return one is not None


def an_outcome_without_a_state(teller: Teller) -> bool:
    one = chosen(teller, *NOT_GRANTED, "approved", "executing")
    if one is not None:
        who, action, subject, body = one.entry(
            BOT, "request.outcome", finding="succeeded", credited_usd="900"
        )
        del body["state"]
        teller.entries.append((who, action, subject, body))
    return one is not None


def approved_by_its_requester(teller: Teller) -> bool:
    one = chosen(teller, "pending", rows=False, lists=teller.chance.random() < 0.5)
    if one is not None:
        for row in one.rows:
            teller.add(row, one.by, "request.approval", "approved", batch=one.id, by=[one.by])
        one.needed = 1
        teller.add(one, one.by, "request.approval", "approved", approvals=1)
    return one is not None


def approved_by_no_person(teller: Teller) -> bool:
    one = chosen(teller, "pending", rows=False)
    if one is not None:
        who = teller.chance.choice(("system:policy", "cli:root", ""))
        teller.add(one, who, "request.approval", "approved", approvals=1)
    return one is not None


def approved_by_too_few(teller: Teller) -> bool:
    one = chosen(teller, "pending", rows=False, lists=teller.chance.random() < 0.5)
    if one is None or one.needed == 1 or one.given:
        return False
    who = teller.other(one)
    for row in one.rows:
        teller.add(row, who, "request.approval", "approved", batch=one.id, by=[who])
    teller.add(one, who, "request.approval", "approved", approvals=1)
    return True


def rows_approved_with_the_first_of_two_approvals(teller: Teller) -> bool:
    one = chosen(teller, "pending", lists=True)
    if one is None or one.needed == 1 or one.given:
        return False
    who = teller.other(one)
    for row in one.rows:
        teller.add(row, who, "request.approval", "approved", batch=one.id, by=[who])
    teller.add(one, who, "request.approval", approvals=1)
    return True


def a_list_approved_without_one_of_its_rows(teller: Teller) -> bool:
    one = chosen(teller, "pending", lists=True)
    if one is None or one.given:
        return False
    who = teller.other(one)
    one.needed = 1
    for row in one.rows[1:]:
        teller.add(row, who, "request.approval", "approved", batch=one.id, by=[who])
    teller.add(one, who, "request.approval", "approved", approvals=1)
    return True


def a_row_approved_by_itself(teller: Teller) -> bool:
    one = chosen(teller, "pending", rows=True)
    if one is not None:
        teller.add(one, teller.other(one), "request.approval", "approved", approvals=1)
    return one is not None


def a_row_approved_with_a_list_of_another(teller: Teller) -> bool:
    whole, one = chosen(teller, "pending", lists=True), chosen(teller, "pending", rows=False)
    if whole is None or one is None:
        return False
    teller.add(one, teller.other(one), "request.approval", "approved", batch=whole.id, by=[teller.other(one)])
    return True


def a_list_of_what_another_has_submitted(teller: Teller) -> bool:
    one = chosen(teller, "pending", rows=False)
    if one is not None:
        whole = teller.made(teller.other(one))
        whole.rows = [one]
        teller.entries.append(whole.submitted())
    return one is not None


def rows_left_out_where_there_are_none(teller: Teller) -> bool:
    one = chosen(teller, "pending")
    if one is not None:
        out = teller.chance.choice(([], [one.id], ["R-9999"]))
        teller.add(one, one.by, "request.rows_left_out", rows=out, approvals_needed=1, passkey=False)
    return one is not None


def a_row_left_out_by_another(teller: Teller) -> bool:
    whole = chosen(teller, "pending", lists=True)
    if whole is None or len(whole.rows) < 2:
        return False
    teller.leave_out(whole)
    _, action, subject, body = teller.entries[-1]
    teller.entries[-1] = (teller.other(whole), action, subject, body)
    return True


def a_row_left_out_that_was_not_cancelled(teller: Teller) -> bool:
    whole = chosen(teller, "pending", lists=True)
    if whole is None or len(whole.rows) < 2:
        return False
    teller.leave_out(whole)
    del teller.entries[-2]
    return True


def submitted_twice(teller: Teller) -> bool:
    one = chosen(teller, "pending", "approved", *ENDED)
    if one is not None:
        one.state = "pending"
        teller.entries.append(one.submitted())
    return one is not None


def submitted_by_no_person(teller: Teller) -> bool:
    one = teller.made("system:app")
    teller.entries.append(one.submitted())
    return True


def submitted_as_if_it_were_approved(teller: Teller) -> bool:
    one = teller.made("U0ALICE")
    one.state = teller.chance.choice(("approved", "executing", "succeeded"))
    teller.entries.append(one.submitted())
    return True


def a_list_sent_itself(teller: Teller) -> bool:
    one = chosen(teller, "approved", lists=True)
    if one is not None:
        teller.attempt(one)
    return one is not None


def rejected_by_no_person(teller: Teller) -> bool:
    one = chosen(teller, "pending", rows=False)
    if one is not None:
        teller.add(one, BOT, "request.rejected", "rejected")
    return one is not None


def resolved_by_one_person(teller: Teller) -> bool:
    one = chosen(teller, "unresolved")
    if one is None:
        return False
    verdict = teller.chance.choice(("succeeded", "failed"))
    one.said = {p: v for p, v in one.said.items() if v == verdict}
    who = teller.chance.choice(list(one.said) or list(PEOPLE))
    if set(one.said) - {who}:
        return False
    teller.add(one, who, "request.resolved_by_hand", verdict, verdict=verdict, evidence="e")
    return True


def resolved_by_what_was_said_before_it_was_reopened(teller: Teller) -> bool:
    one = chosen(teller, "unresolved")
    if one is None:
        return False
    before, now = teller.chance.sample(PEOPLE, 2)
    teller.add(one, before, "request.resolution_proposed", verdict="failed", evidence="e")
    teller.outcome(one, "failed")
    teller.reopen(one)
    teller.add(one, now, "request.resolved_by_hand", "failed", verdict="failed", evidence="e")
    return True


def resolved_otherwise_than_people_said(teller: Teller) -> bool:
    one = chosen(teller, "unresolved")
    if one is not None:
        for person in PEOPLE[:2]:
            teller.add(one, person, "request.resolution_proposed", verdict="failed", evidence="e")
        teller.add(one, PEOPLE[2], "request.resolved_by_hand", "succeeded", verdict="failed", evidence="e")
    return one is not None


def resolved_where_the_outcome_is_known(teller: Teller) -> bool:
    one = chosen(teller, "approved", "executing", *ENDED)
    if one is not None:
        for person in PEOPLE[:2]:
            teller.add(one, person, "request.resolution_proposed", verdict="failed", evidence="e")
    return one is not None


def an_older_version(teller: Teller) -> bool:
    one = chosen(teller, "approved", "executing", "unresolved")
    if one is not None:
        one.version = 0
        teller.add(one, BOT, "request.try_now")
    return one is not None


def another_state_by_an_entry_that_changes_none(teller: Teller) -> bool:
    one = chosen(teller, "pending", "approved", "unresolved")
    if one is not None:
        action = teller.chance.choice(
            ("request.try_now", "request.purged", "request.returned", "request.new")
        )
        after = {"pending": "approved", "approved": "executing", "unresolved": "failed"}[one.state]
        teller.add(one, BOT, action, after)
    return one is not None


def done_immediately_and_no_freeze(teller: Teller) -> bool:
    one = chosen(teller, "pending", rows=False)
    if one is not None:
        teller.add(one, one.by, "request.break_glass", "approved")
    return one is not None


def resumed_by_one_alone(teller: Teller) -> bool:
    who = teller.chance.choice(("system:app", "cli:root", *PEOPLE))
    teller.entries += [
        ("U0ALICE", "program.write_paused", "program:main", {}),
        (who, "program.write_resumed", "program:main", {}),
    ]
    return True


def _put_in_place(teller: Teller, state: str) -> Asked | None:
    teller.put_older_copy_in_place()
    found = [one for one in teller.asked if one.is_void and one.state == state and not one.rows]
    return teller.chance.choice(found) if found else None


def sent_by_an_approval_from_before_an_older_copy(teller: Teller) -> bool:
    one = _put_in_place(teller, "approved")
    if one is not None:
        teller.attempt(one)
    return one is not None


def approved_once_more_after_an_older_copy(teller: Teller) -> bool:
    one = _put_in_place(teller, "pending")
    if one is not None and not one.of_list:
        teller.approve(one)
    return one is not None and not one.of_list


FORGED = (
    sent_by_an_approval_from_before_an_older_copy, approved_once_more_after_an_older_copy,
    sent_before_it_was_approved_or_after_it_ended, called_as_often_as_it_was_not, an_outcome_of_what_was_never_sent,
    an_outcome_without_a_state, approved_by_its_requester, approved_by_no_person, approved_by_too_few,
    rows_approved_with_the_first_of_two_approvals, a_list_approved_without_one_of_its_rows, a_row_approved_by_itself,
    a_row_approved_with_a_list_of_another, a_list_of_what_another_has_submitted, rows_left_out_where_there_are_none,
    a_row_left_out_by_another, a_row_left_out_that_was_not_cancelled, submitted_twice, submitted_by_no_person,
    submitted_as_if_it_were_approved, a_list_sent_itself, rejected_by_no_person, resolved_by_one_person,
    resolved_by_what_was_said_before_it_was_reopened,
    resolved_otherwise_than_people_said, resolved_where_the_outcome_is_known, an_older_version,
    another_state_by_an_entry_that_changes_none, done_immediately_and_no_freeze, resumed_by_one_alone,
)  # fmt: skip
LOGS = 60
NEEDED = 8


@pytest.fixture
def seed(request: pytest.FixtureRequest) -> int:
    """Another one in each run; it is in the message of a failure."""
    return random.SystemRandom().randrange(10**6)


def test_what_may_have_happened_is_called_whole(seed: int) -> None:
    actions, wanted = set[str](), verify_audit._BY_ACTION.keys() - {"request.break_glass"}
    for number in range(seed, seed + 6000):
        if number >= seed + 300 and actions >= wanted:
            break  # what happens seldom was met, too
        teller = Teller(number)
        teller.tell(40)
        assert why_broken(teller.entries) == "", f"seed {number}"
        actions |= {action for _, action, _, _ in teller.entries}
    assert actions >= wanted


@pytest.mark.parametrize("forge", FORGED, ids=lambda one: str(one.__name__))
def test_what_cannot_follow_is_never_called_whole(seed: int, forge: Callable[[Teller], bool]) -> None:
    met = 0
    for number in range(seed, seed + 2000):
        teller = Teller(number)
        teller.tell(teller.chance.randrange(40))
        genuine = list(teller.entries)
        if not forge(teller):
            continue
        assert why_broken(genuine) == "", f"seed {number}"
        assert why_broken(teller.entries), f"seed {number}: {teller.entries[len(genuine) :]}"
        met += 1
        if met == NEEDED:
            return
    raise AssertionError("the model did not get there often enough")


@pytest.mark.parametrize(
    "forge", [sent_by_an_approval_from_before_an_older_copy, approved_once_more_after_an_older_copy]
)
def test_the_deep_check_lets_no_approval_from_before_an_older_copy_count(
    seed: int, forge: Callable[[Teller], bool]
) -> None:
    met = 0
    for number in range(seed, seed + 2000):
        teller = Teller(number)
        teller.tell(teller.chance.randrange(40))
        assert called_wrong(teller.entries) == [], f"seed {number}"
        if forge(teller):
            assert called_wrong(teller.entries), f"seed {number}"
            met += 1
        if met == NEEDED:
            return
    raise AssertionError("the model did not get there often enough")


STRANGE: tuple[Any, ...] = (
    None,
    7,
    -1,
    "",
    "x",
    [],
    [[]],
    {},
    {"a": 1},
    True,
    1.5,
    "request",
    "passkey:",
    "a:b:c:d",
)


def spoiled(chance: random.Random, entries: list[Json]) -> None:
    """One value of one entry, or of its body, is something else."""
    entry = chance.choice(entries)
    if chance.random() < 0.5:
        entry[chance.choice([name for name in entry if name not in ("seq", "prev", "hash")])] = chance.choice(
            STRANGE
        )
        return
    body = json.loads(entry["body"])
    body[chance.choice([*body, "assertion", "batch", "rows", "by", "kind", "about", "person"])] = (
        chance.choice(STRANGE)
    )
    entry["action"] = chance.choice(
        [entry["action"], *verify_audit._PURPOSES, "passkey.added", "passkey.all_ended"]
    )
    entry["body"] = json.dumps(body)


def test_what_cannot_be_read_is_said_in_a_sentence(
    seed: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "audit.jsonl"
    for number in range(seed, seed + 300):
        teller = Teller(number)
        teller.tell(15)
        entries, before = [json.loads(line) for line in log_of(teller.entries)], ""
        spoiled(teller.chance, entries)
        for one in entries:
            one["prev"] = before
            one["hash"] = before = verify_audit.fingerprint(one)
        file.write_text("".join(f"{json.dumps(one)}\n" for one in entries))

        code = verify_audit.main([str(file)])

        assert code in (0, 1, 2), f"seed {number}"
        assert len(capsys.readouterr().out.splitlines()) >= 1


@pytest.mark.parametrize("line", ["7", "[]", "null", '"x"', "{}", "{", '{"seq":1}', "[" * 100_000])
def test_a_line_that_is_no_entry_is_said_in_a_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], line: str
) -> None:
    file = tmp_path / "audit.jsonl"
    file.write_text(f"{line}\n")

    assert verify_audit.main([str(file)]) == 2
    assert "It cannot be read as an export" in capsys.readouterr().out


def questions(entries: list[Entry]) -> list[str]:
    passkeys = verify_audit.Passkeys(None)
    verify_audit.check_chain(log_of(entries), passkeys.see)
    passkeys.finish()
    return passkeys.to_ask_about


def test_a_click_for_a_list_is_asked_about_where_a_row_of_it_was_to_be_signed() -> None:
    teller = Teller(1)
    row, whole = teller.made("U0ALICE"), teller.made("U0ALICE")
    row.passkey, row.of_list, whole.rows, whole.needed = True, True, [row], 1
    teller.entries += [row.submitted(), whole.submitted()]
    teller.approve(whole)

    (asked,) = questions(teller.entries)

    assert (
        f"the policy asked for a passkey when {whole.id} was requested, and it was approved by a click"
        in asked
    )


def test_what_was_put_back_is_asked_about_and_not_called_broken() -> None:
    teller = Teller(1)
    one = teller.made("U0ALICE")
    teller.entries.append(one.submitted())
    teller.end(one, "rejected", "U0BOB")
    teller.end(one, "expired", EXPIRY)
    teller.add(one, "system:upkeep", "request.put_right", "rejected", was="approved")

    asked = questions(teller.entries)

    assert len(asked) == 2
    assert all("in the database" in one for one in asked)
