"""What the audit log tells that money and keys depend on, worked out of its entries one by one.

This knows no database: `storage.log_record.on_record` reads the entries and checks them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, Protocol

from storage import audit
from storage.log_record import counted, debits, open_requests
from storage.log_record.open_requests import OpenRequest
from storage.transaction import Fingerprints

WANTED = frozenset(
    {
        "program.write_paused",
        "program.write_resumed",
        "program.drafts_on",
        "program.drafts_off",
        "code.name_person",
        "people.recorded",
        "people.changed",
        "name.resolved",
        "policy.loaded",
        "rows.signed",
        "consent.asked",
        "consent.given",
        "consent.declined",
        "consent.expired",
        "passkey.reset",
        "passkey.reset_reported",
        "passkey.page_opened",
        "passkey.page_used",
        "webhook.secret",
        "webhook.secret_dropped",
        "database.restored",
        "database.voided",
        "database.accepted",
        debits.FOUND,
        debits.LISTED,
        "ledger.begun",
        "readings.signed",
    }
)
"""The actions of the entries that tell something here, beside those about requests."""
PAGE_OPENED, PAGE_USED = "passkey.page_opened", "passkey.page_used"
"""A one-time link was opened, and the page that it led to was answered; each happens once to a link."""
_RESTORES = "system:restore"  # whoever does it, what safe mode does is done by this
_USED_KEPT_FOR = timedelta(days=1)  # such a link is good for some minutes
RESET_REPORTED = "passkey.reset_reported"
"""People were notified in Slack that all passkeys were reset."""
# An approval is sent within a day or not at all: nobody changes the file more often.
_POLICIES_KEPT = 20
PREVIOUS_TAKEN_FOR = timedelta(minutes=10)
"""What was signed with a webhook secret before it was replaced, and is still on its way, is taken for this long."""


def is_wanted(action: str) -> bool:
    """Does an entry of this action tell something here? Any tells the numbers of the rows that were signed with it."""
    return (
        action in WANTED or action == open_requests.ANSWERED_LATE or action.startswith(open_requests.BEGINS)
    )


class LogEntry(open_requests.EntryOnRequest, Protocol):
    """An entry that was checked, as `storage.audit.Link`."""

    @property
    def policy_version(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Policy:
    """A policy that was loaded: its version, its settings in words, and who has which role by it, as
    `bot.domain.people.policy_on_record` has it (None = not on record). `read_after`: the number of the last entry when
    a process read its file last."""

    version: str
    settings: Mapping[str, str] | None
    read_after: int = 0
    people: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Reset:
    """All passkeys were reset by entry `seq`; `by` is who did it at the machine."""

    seq: int
    by: str
    at: datetime


@dataclass(frozen=True, slots=True)
class SafeMode:
    """An older copy was put in place, as the entry `seq` says since `entered_at`.

    `head_seq`: the last entry of the copy's audit chain, made at `head_at`; `anchor_seq`: the last one that is known
    to have been made, by `anchor_at`. Where the anchors say nothing, both are of the copy. `voided`: how many requests
    lost their approvals, None until that is done; `ended`: how many have until then.
    """

    head_seq: int
    head_at: datetime | None
    anchor_seq: int
    anchor_at: datetime | None
    entered_at: datetime
    seq: int
    voided: int | None = None
    ended: int = 0

    @property
    def mark(self) -> str:
        """Tells it from every other one, also of another copy of this database."""
        return f"{self.seq} {self.entered_at.isoformat()}"


@dataclass(frozen=True, slots=True)
class SecretsOnRecord:
    """The webhook secrets of a program. `newest`: the highest number that one of them ever had. `taken`: the numbers of
    those that may sign a delivery, and until when, in UTC (None = the current one)."""

    newest: int = 0
    taken: Mapping[int, datetime | None] = field(default_factory=dict)

    def takes(self, version: int, now: datetime) -> bool:
        """May a delivery that comes now be signed with the secret of this number?"""
        until = self.taken.get(version, now)
        return until is None or until > now

    def and_new(self, version: int, state: str, at: datetime) -> SecretsOnRecord:
        """With a new one, made at `at`. A number that was given before is said once more, and changes nothing."""
        if version <= self.newest:
            return self
        taken = self.taken
        if state == "current":
            ends = at + PREVIOUS_TAKEN_FOR
            taken = {one: ends if until is None else until for one, until in taken.items()}
            taken[version] = None
        return SecretsOnRecord(version, taken)

    def without(self, version: int) -> SecretsOnRecord:
        """With one dropped, for good."""
        return replace(self, taken={one: until for one, until in self.taken.items() if one != version})


@dataclass(frozen=True, slots=True)
class LogFacts:
    """What the entries up to number `seq`, with the fingerprint `hash`, tell. The first was made at `began_at`, in UTC
    (None = there is none).

    `paused`: program -> who paused it, of those that are paused. `drafts`: programs that are for drafts only. `codes`:
    reference -> Slack id of who gets its codes ("" = nobody). `roles`: role -> Slack id -> when they were added, in UTC
    (None = they were there when it was recorded first). `names`: name of the policy -> the Slack id it meant first.
    `policy`: the one that was loaded last. `policies`: those that were loaded, by their versions, without old ones.
    `rows_signed`: number of the entry that says that rows were signed (0 = there is none). `signers`: ids of all master
    keys that signed entries. `retired`: master keys, by the entry that says so; `unproven`: those that are not in the
    keyring, whose entries nothing proves until such an entry comes. `fingerprints`: of all entries. `open`: the
    requests that have not ended, by id. `asked`: ids of what waits for a second person's yes, asked since the last safe
    mode began. `reset`: the last reset of all passkeys, where people were not notified of it. `safe_modes`: every one
    there was, the first one first; `restored`: the one that nobody left. `secrets`: program -> its webhook secrets.
    `counted`: what was approved in the last two days. `debits`: those of which no request knows. `ledgers`: program ->
    how many rows its ledger had when it was first read here. `readings_signed`: as `rows_signed`, of readings.
    `numbers`: table -> key -> the highest number that the row was signed with. `used`: the links to pages for passkeys
    that were used within a day: how (`PAGE_OPENED`, `PAGE_USED`) and their nonce, and when.
    """

    seq: int = 0
    hash: str = ""
    began_at: datetime | None = None
    paused: Mapping[str, str] = field(default_factory=dict)
    drafts: frozenset[str] = frozenset()
    codes: Mapping[str, str] = field(default_factory=dict)
    roles: Mapping[str, Mapping[str, datetime | None]] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)
    policy: Policy | None = None
    policies: Mapping[str, Policy] = field(default_factory=dict)
    rows_signed: int = 0
    signers: frozenset[str] = frozenset()
    retired: Mapping[str, int] = field(default_factory=dict)
    unproven: Mapping[str, int] = field(default_factory=dict)
    fingerprints: Fingerprints = field(default_factory=Fingerprints)
    open: Mapping[str, OpenRequest] = field(default_factory=dict)
    asked: frozenset[str] = frozenset()
    reset: Reset | None = None
    safe_modes: tuple[SafeMode, ...] = ()
    restored: SafeMode | None = None
    secrets: Mapping[str, SecretsOnRecord] = field(default_factory=dict)
    counted: counted.Hours = field(default_factory=dict)
    debits: debits.Debits = field(default_factory=dict)
    ledgers: Mapping[str, int] = field(default_factory=dict)
    readings_signed: int = 0
    numbers: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    used: Mapping[tuple[str, str], datetime] = field(default_factory=dict)

    def and_(self, links: Iterable[LogEntry]) -> LogFacts:
        """With what these entries tell, which come next. What was refused tells nothing."""
        found = Working(self)
        for one in links:
            found.add(one)
        return found.facts()


class Working:
    """Facts while entries are added to them; those that are given stay as they are.

    `kept_open`: the requests that have not ended, where somebody else keeps them as each entry is added.
    """

    def __init__(self, before: LogFacts, kept_open: Mapping[str, OpenRequest] | None = None) -> None:
        self._before, self._kept_open = before, kept_open
        self._paused, self._drafts = dict(before.paused), set(before.drafts)
        self._codes, self._names, self._roles = dict(before.codes), dict(before.names), dict(before.roles)
        self._policy, self._rows_signed, self._open = before.policy, before.rows_signed, dict(before.open)
        self._policies = dict(before.policies)
        self._asked, self._reset, self._secrets = set(before.asked), before.reset, dict(before.secrets)
        self._safe_modes, self._restored = before.safe_modes, before.restored
        self._counted = counted.Working(before.counted)
        self._debits, self._ledgers = before.debits, before.ledgers
        self._readings_signed = before.readings_signed
        self._used = before.used
        # Of a table that is changed, a copy: what was read before stays as it is.
        self._numbers, self._own_numbers = dict(before.numbers), dict[str, dict[str, int]]()

    def add(self, one: LogEntry) -> None:
        """Go on by the next entry. What was refused tells nothing."""
        if one.outcome == "ok":
            self.take_numbers(one)
            self.take(one)

    def take(self, one: LogEntry) -> None:
        if one.action.startswith(open_requests.BEGINS) or one.action == open_requests.ANSWERED_LATE:
            self._of_request(one)
            self._take_end(one)
            return
        _, _, about = one.subject.partition(":")
        match one.action:
            case "program.write_paused":
                self._paused[about] = one.actor
            case "program.write_resumed":
                self._paused.pop(about, None)
            case "program.drafts_on":
                self._drafts.add(about)
            case "program.drafts_off":
                self._drafts.discard(about)
            case "code.name_person":
                self._codes[about] = str(_body(one).get("person", ""))
            case "people.recorded" | "people.changed":
                self._role(about, one)
            case "name.resolved":
                self._names.setdefault(about, str(_body(one)["id"]))
            case "policy.loaded":
                self._loaded(one)
            case "rows.signed":
                self._rows_signed = one.seq
            case _:
                self._said(one, about)

    def _of_request(self, one: LogEntry) -> None:
        is_late = one.action == open_requests.ANSWERED_LATE
        if self._kept_open is None:
            (open_requests.take_late_answer if is_late else open_requests.take)(self._open, one)
        if not is_late:
            self._counted.take(one, one.at)

    def take_numbers(self, one: LogEntry) -> None:
        if not audit.has_numbers(one.body):
            return
        for table, numbers in _body(one)[audit.NUMBERS].items():
            if table not in self._own_numbers:
                self._numbers[table] = self._own_numbers[table] = dict(self._numbers.get(table, {}))
            known = self._own_numbers[table]
            for key, number in numbers.items():
                known[key] = max(known.get(key, 0), number)

    def _loaded(self, one: LogEntry) -> None:
        body = _body(one)
        version, known = one.policy_version, self._policies
        # A start takes a while, and another process may have begun with a newer file in it.
        read_after = min(one.seq - 1, int(body.get("read_after", one.seq)))
        before = known[version].read_after if version in known else 0
        self._policy = Policy(version, body.get("settings"), max(before, read_after), body.get("people"))
        known[version] = self._policy
        if len(known) > _POLICIES_KEPT:
            del known[min(known, key=lambda one: known[one].read_after)]

    def _said(self, one: LogEntry, about: str) -> None:
        """What was asked of a second person, and what was done at the machine."""
        match one.action:
            case "consent.asked":
                self._asked.add(about)
            case "consent.given" | "consent.declined" | "consent.expired":
                self._asked.discard(about)
            case "passkey.reset":
                self._reset = Reset(one.seq, one.actor, datetime.fromisoformat(one.at))
            case "passkey.reset_reported":
                self._reset = None
            case "webhook.secret" | "webhook.secret_dropped":
                self._secret(about, one)
            case "database.restored":
                again = _restored(one)
                open_requests.take_restored(self._open)
                self._asked.clear()  # nobody says yes to what was asked before, whatever a row hides
                if self._restored is not None:
                    before, mode = self._restored.seq, again.seq
                    self._debits = debits.found_again(self._debits, before=before, mode=mode)
                self._safe_modes, self._restored = (*self._safe_modes, again), again
            case "database.voided":
                if self._restored is not None:
                    self._now(replace(self._restored, voided=int(_body(one)["voided"])))
            case "database.accepted":
                self._restored = None
            case "passkey.page_opened" | "passkey.page_used":
                at = datetime.fromisoformat(one.at)
                kept = {link: then for link, then in self._used.items() if then > at - _USED_KEPT_FOR}
                self._used = {**kept, (one.action, str(_body(one)["nonce"])): at}
            case _:
                self._read_from_the_api(about, one)

    def _take_end(self, one: LogEntry) -> None:
        """Did safe mode end it while it began? A row that ended with its list names that."""
        mode = self._restored
        if mode is None or mode.voided is not None or one.actor != _RESTORES:
            return
        if one.action == "request.cancelled" and "batch" not in _body(one):
            self._now(replace(mode, ended=mode.ended + 1))

    def _now(self, mode: SafeMode) -> None:
        self._restored, self._safe_modes = mode, (*self._safe_modes[:-1], mode)

    def _read_from_the_api(self, program: str, one: LogEntry) -> None:
        match one.action:
            case debits.FOUND:
                mode = 0 if self._restored is None else self._restored.seq
                self._debits = debits.and_found(self._debits, one, mode=mode)
            case debits.LISTED:
                self._debits = debits.and_listed(self._debits, one)
            case "ledger.begun":
                self._ledgers = {program: int(_body(one)["rows"]), **self._ledgers}
            case "readings.signed":
                self._readings_signed = one.seq

    def _secret(self, program: str, one: LogEntry) -> None:
        before, body = self._secrets.get(program, SecretsOnRecord()), _body(one)
        version = int(body["version"])
        self._secrets[program] = (
            before.and_new(version, str(body["state"]), datetime.fromisoformat(one.at))
            if one.action == "webhook.secret"
            else before.without(version)
        )

    def _role(self, role: str, one: LogEntry) -> None:
        before, added_at = self._roles.get(role), datetime.fromisoformat(one.at)
        self._roles[role] = {
            person: None if before is None else before.get(person, added_at) for person in _body(one)["now"]
        }

    def facts(self) -> LogFacts:
        return replace(
            self._before,
            paused=self._paused,
            drafts=frozenset(self._drafts),
            codes=self._codes,
            names=self._names,
            roles=self._roles,
            policy=self._policy,
            policies=self._policies,
            rows_signed=self._rows_signed,
            open=self._open if self._kept_open is None else self._kept_open,
            asked=frozenset(self._asked),
            reset=self._reset,
            safe_modes=self._safe_modes,
            restored=self._restored,
            secrets=self._secrets,
            counted=self._counted.hours(),
            debits=self._debits,
            ledgers=self._ledgers,
            readings_signed=self._readings_signed,
            numbers=self._numbers,
            used=self._used,
        )


def _restored(one: LogEntry) -> SafeMode:
    body = _body(one)
    head = int(body["head"])
    return SafeMode(
        head,
        _time(body.get("head_at")),
        int(body.get("anchor", head)),
        _time(body.get("anchor_at")),
        datetime.fromisoformat(one.at),
        one.seq,
    )


def _time(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None


def _body(one: LogEntry) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(one.body)  # ours, as its signature says
    return found
