"""Many rows at once, as years of work leave them: for the plans and the times of statements when tables are large.

A request and what comes with it each 90 minutes, back from a moment on: with more of them they reach further back, and
a day or an open list holds no more of them. Rows are copies of a template with other ids, names and times; what is
sealed in them cannot be opened, and signatures do not hold.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import psycopg
from sqlalchemy import Table, make_url

from bot.domain.requests import State
from storage import tables as t
from storage.cards.card_words import holder_key, words_of
from storage.columns import json_text, money_text, time_text
from storage.database import Database

APART = timedelta(minutes=90)
PEOPLE = 40
_KINDS = (
    "card_topup",
    "card_topup",
    "card_topup",
    "card_freeze",
    "card_unfreeze",
    "card_order",
    "card_close",
)
_STATES = (*[State.SUCCEEDED] * 16, State.FAILED, State.REJECTED, State.CANCELLED, State.EXPIRED)
_STATUSES = (*["ACTIVE"] * 17, "FROZEN", "BLOCKED", "DELETED")
_FIRST = (
    "alma",
    "bruno",
    "chiara",
    "dag",
    "elif",
    "femi",
    "greta",
    "hana",
    "igor",
    "june",
    "kofi",
    "lena",
    "milo",
)
_LAST = (
    "aalto",
    "berg",
    "costa",
    "dupre",
    "egede",
    "fuchs",
    "garcia",
    "holm",
    "ito",
    "janda",
    "kaya",
    "lund",
    "mori",
)
_SYLLABLES = (
    "ba",
    "cor",
    "del",
    "fin",
    "gra",
    "hol",
    "jen",
    "kil",
    "mar",
    "nor",
    "pet",
    "ros",
    "sta",
    "tor",
    "vel",
)


@dataclass(frozen=True, slots=True)
class Size:
    """How many rows: so many requests and cards, and in the proportion of years of work of everything else."""

    requests: int
    events_each: int = 10
    messages_each: int = 4

    @property
    def events(self) -> int:
        return self.requests * self.events_each

    @property
    def messages(self) -> int:
        """Of the outbox and of the audit log, each."""
        return self.requests * self.messages_each


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of one table: what all of them have, and what the nth of them has."""

    table: Table
    count: int
    all_have: Mapping[str, Any]
    nth_has: Mapping[str, Callable[[int], Any]] = field(default_factory=dict)


def name(n: int) -> str:
    """The holder of the nth card: some thousands of names, each of many cards where there are many cards."""
    first = _FIRST[n % len(_FIRST)]
    last = _LAST[n // 13 % len(_LAST)] + _SYLLABLES[n // 169 % len(_SYLLABLES)]
    return f"{first} {last}".upper()


def fill(url: str, size: Size, until: datetime) -> None:
    """Put `size` rows into a migrated database, the newest a moment before `until`."""
    database = Database.parse(url)
    write = _into_sqlite if database.path is not None else _into_postgres
    write(url, [*_requests(size.requests, until), *_cards(size.requests, until), *_the_rest(size, until)])


def _at(until: datetime, count: int, lasts: timedelta) -> Callable[[int], datetime]:
    """The nth of `count` times that reach back as far as `lasts`."""
    step = lasts / count
    return lambda n: until - (count - n) * step


def _requests(count: int, until: datetime) -> Iterator[Rows]:
    lasts = APART * count
    at = _at(until, count, lasts)

    def request_id(n: int) -> str:
        return f"R-L{n:07}"

    def requester(n: int) -> str:
        return f"U{n % PEOPLE:04}"

    def state(n: int) -> str:
        return str(_STATES[n % len(_STATES)])

    def was_approved(n: int) -> bool:
        return state(n) in ("succeeded", "failed")

    yield Rows(
        t.request,
        count,
        {
            "program": "main", "version": 4, "requester_name": "Someone", "reason": "Fuel",
            "terms": {"amount_usd": "50.00", "card_id": "c"}, "subject_label": "SOMEONE ••4242",
            "summary": "Top up SOMEONE ••4242 by 50.00 USD", "exposure_usd": Decimal("1.00"), "digest": "a" * 64,
            "approvals_needed": 1, "policy_version": "p", "facts": {}, "body_mac": "m" * 44, "break_glass": False,
            "attempts": 1, "fence": 1, "outcome_unknown": False, "needs_person": False, "outcome_text": "Done.",
        },
        {
            "id": request_id, "key": lambda n: f"co-large-{n}", "kind": lambda n: _KINDS[n % len(_KINDS)],
            "state": state, "requester": requester, "subject": lambda n: f"c{n % max(count, 1):07}",
            "created_at": at, "expires_at": lambda n: at(n) + timedelta(hours=8),
            "approved_at": lambda n: at(n) if was_approved(n) else None, "finished_at": at, "purged_at": at,
            "first_sent_at": lambda n: at(n) if was_approved(n) else None,
        },
    )  # fmt: skip
    yield Rows(
        t.decision,
        count,
        {"kind": "approve", "actor_name": "B", "reason": "", "verdict": "", "digest": "a" * 64, "policy_version": "p",
         "mac": "m" * 44},
        {"id": lambda n: f"d{n:07}", "request_id": request_id, "requester": requester, "decided_at": at,
         "actor": lambda n: f"U{(n + 1) % PEOPLE:04}"},
    )  # fmt: skip
    yield Rows(
        t.attempt,
        count,
        {"number": 1, "fence": 1, "owner": "p", "purpose": "send", "status": 200, "detail": ""},
        {"id": lambda n: f"a{n:07}", "request_id": request_id, "sent_at": at, "answered_at": at},
    )
    for kind in ("card", "thread"):
        yield Rows(
            t.message,
            count,
            {"kind": kind, "channel": "C0APPROVALS", "drawn_version": 4},
            {"subject": request_id, "ts": lambda n: f"{n}.0001", "posted_at": at},
        )


def _cards(count: int, until: datetime) -> Iterator[Rows]:
    def card_id(n: int) -> str:
        return f"c{n:07}"

    def reference(n: int) -> str:
        return f"team-{n:06}"

    def last4(n: int) -> str:
        return f"{n * 7 % 10000:04}"

    yield Rows(
        t.card,
        count,
        {"program": "main", "created_at": until, "seen_at": until},
        {"id": card_id, "holder": name, "holder_key": lambda n: holder_key(name(n)), "partner_ref": reference,
         "last4": last4, "status": lambda n: _STATUSES[n * 3 % len(_STATUSES)]},
    )  # fmt: skip
    if "card_word" in t.metadata.tables:
        words = [sorted(words_of(name(n), last4(n), reference(n))) for n in range(count)]
        flat = [(card_id(n), word) for n, mine in enumerate(words) for word in mine]
        yield Rows(
            t.card_word, len(flat), {}, {"card_id": lambda n: flat[n][0], "word": lambda n: flat[n][1]}
        )


def _the_rest(size: Size, until: datetime) -> Iterator[Rows]:
    lasts = APART * size.requests
    at, put_at = _at(until, size.events, lasts), _at(until, size.messages, lasts)
    yield Rows(
        t.inbox,
        size.events,
        {"program": "main", "type": "card.transaction", "state": "processed", "attempts": 0},
        {"event_id": lambda n: f"evt_{n:09}", "source": lambda n: "poll" if n % 10 else "webhook", "created_at": at,
         "received_at": at, "processed_at": at},
    )  # fmt: skip
    yield Rows(
        t.outbox,
        size.messages,
        {"channel": "C0APPROVALS", "kind": "line", "body": {}, "state": "sent", "attempts": 1, "last_error": ""},
        {"id": lambda n: n + 1_000_000, "subject": lambda n: f"R-L{n // size.messages_each:07}",
         "dedupe": lambda n: f"large:{n}", "due_at": put_at, "created_at": put_at, "sent_at": put_at},
    )  # fmt: skip
    yield Rows(
        t.audit,
        size.messages,
        {"actor": "system", "action": "request.outcome", "outcome": "ok", "reason_code": "", "body": "{}",
         "policy_version": "p", "prev": "0" * 64, "hash": "f" * 64, "mac": "m" * 44},
        {"seq": lambda n: n + 1_000_000, "at": put_at,
         "subject": lambda n: f"request:R-L{n // size.messages_each:07}:{n % size.messages_each}"},
    )  # fmt: skip
    legs = size.requests * 2
    leg_at = _at(until, legs, lasts)
    yield Rows(
        t.purchase,
        size.requests,
        {"program": "main", "merchant": "SHOP", "state": "settled", "picture": {}},
        {
            "transaction_id": lambda n: f"t{n:07}",
            "card_id": lambda n: f"c{n:07}",
            "updated_at": lambda n: leg_at(2 * n),
        },
    )
    yield Rows(
        t.purchase_event,
        legs,
        {"program": "main", "facts": {}},
        {"event_id": lambda n: f"leg_{n:09}", "transaction_id": lambda n: f"t{n // 2:07}",
         "card_id": lambda n: f"c{n // 2:07}", "kind": lambda n: "authorized" if n % 2 == 0 else "cleared",
         "occurred_at": leg_at},
    )  # fmt: skip
    alerts = size.requests // 4
    alert_at = _at(until, alerts, lasts)
    yield Rows(
        t.alert,
        alerts,
        {"kind": "card_status", "severity": "high", "title": "T", "text": "X", "state": "resolved", "count": 1,
         "program": "main"},
        {"id": lambda n: f"A-L{n:07}", "dedupe": lambda n: f"card_status:main:c{n:07}", "subject": lambda n: f"c{n:07}",
         "raised_at": alert_at, "updated_at": alert_at, "resolved_at": alert_at},
    )  # fmt: skip


def _columns(rows: Rows) -> list[str]:
    return [*rows.all_have, *rows.nth_has]


def _into_sqlite(url: str, tables: list[Rows]) -> None:
    connection = sqlite3.connect(str(make_url(url).database))
    connection.execute("PRAGMA synchronous=OFF")
    for rows in tables:
        columns = _columns(rows)
        into = (
            f"INSERT INTO {rows.table.name} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"
        )
        connection.executemany(into, _values(rows, time_text, money_text))
    connection.execute("UPDATE audit_head SET seq = coalesce((SELECT max(seq) FROM audit), 0)")
    connection.commit()
    connection.close()


def _into_postgres(url: str, tables: list[Rows]) -> None:
    address = make_url(url).set(drivername="postgresql").render_as_string(hide_password=False)
    with psycopg.connect(address) as connection, connection.cursor() as cursor:
        for rows in tables:
            into = f"COPY {rows.table.name} ({', '.join(_columns(rows))}) FROM STDIN"
            with cursor.copy(into.encode()) as copy:
                for values in _values(rows, lambda at: at, lambda amount: amount):
                    copy.write_row(values)
        cursor.execute("UPDATE audit_head SET seq = coalesce((SELECT max(seq) FROM audit), 0)")
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute("VACUUM")  # as autovacuum would have


def _values(
    rows: Rows, time: Callable[[datetime], Any], money: Callable[[Decimal], Any]
) -> Iterator[tuple[Any, ...]]:
    def stored(value: Any) -> Any:
        if isinstance(value, datetime):
            return time(value)
        if isinstance(value, Decimal):
            return money(value)
        return json_text(value) if isinstance(value, dict) else value

    same = tuple(stored(value) for value in rows.all_have.values())
    made = tuple(rows.nth_has.values())
    for n in range(rows.count):
        yield same + tuple([stored(make(n)) for make in made])
