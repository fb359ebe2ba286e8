"""What an answer of the Partner API proves about an operation.

A status code alone never proves a failure. Whether a refusal is definite depends on history: after
an attempt whose outcome is unknown, a refusal of the next one speaks only of that next one. So each
kind of call has two tables: for a first attempt, and for a re-send after an unknown one.

Sources: Cards, POST topup (404 beats replay, 502 leaves the float debited, 503 refunds and spends
the key); unload (no row of the ledger is documented); close (503 UNAVAILABLE leaves the card open);
POST /cards (502 releases the key); freeze (502 and 503 change nothing); PUT limits, phone, 3ds and
fees; POST /funding (idempotent on the hash); redeliver; Errors.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from typing import Any

from bot.domain.secret import Secret


class Finding(StrEnum):
    """What to make of an answer, or of evidence."""

    SUCCEEDED = "succeeded"
    REFUSED = "refused"  # proved that nothing moved, or that it came back: failed
    NOTHING_YET = "nothing_yet"  # this call changed nothing and may be sent again as it is
    WAIT = "wait"  # 429: not executed; the same bytes after the pause
    HELD = "held"  # 401, 403: the program's writes pause
    UNKNOWN = "unknown"  # may or may not have happened: the same key again
    UNRESOLVED = "unresolved"  # money may have moved and the API has no recorded result
    EVIDENCE = "evidence"  # this answer decides nothing: look at ledger, card or submission


class Call(StrEnum):
    """The calls that change something, as the tables below know them."""

    ORDER = "order"
    TOPUP = "topup"
    UNLOAD = "unload"
    FREEZE = "freeze"
    CLOSE = "close"
    LIMITS = "limits"
    PHONE = "phone"
    THREEDS = "3ds"
    FUNDING = "funding"
    MARKUP = "markup"
    WEBHOOK = "webhook"
    REDELIVER = "redeliver"
    DEPOSIT = "deposit"
    REVEAL = "reveal"  # makes a link and calls nothing


ANY = "*"
_Table = Mapping[tuple[int, str], Finding]

_COMMON: _Table = {
    (429, "RATE_LIMITED"): Finding.WAIT,
    (401, ANY): Finding.HELD,
    (403, ANY): Finding.HELD,
    (500, ANY): Finding.UNKNOWN,
}

# What is no such card, submission or path, or no such method, did nothing; after a doubt it tells nothing.
_COMMON_AT_FIRST: _Table = {(404, "NOT_FOUND"): Finding.REFUSED, (405, "BAD_REQUEST"): Finding.REFUSED}
_COMMON_AFTER_UNKNOWN: _Table = {(404, "NOT_FOUND"): Finding.EVIDENCE, (405, "BAD_REQUEST"): Finding.EVIDENCE}

# A setting at the processor: nothing says that a 502 or 503 left it as it was.
_SETTING_AT_FIRST: _Table = {
    (400, ANY): Finding.REFUSED,
    (404, "NOT_FOUND"): Finding.REFUSED,
    (502, "UNAVAILABLE"): Finding.UNKNOWN,
    (503, ANY): Finding.UNKNOWN,
}
_SETTING_AFTER_UNKNOWN: _Table = {
    (400, ANY): Finding.EVIDENCE,
    (404, "NOT_FOUND"): Finding.EVIDENCE,
    (502, "UNAVAILABLE"): Finding.UNKNOWN,
    (503, ANY): Finding.UNKNOWN,
}

FIRST: Mapping[Call, _Table] = {
    Call.TOPUP: {
        (400, "BAD_REQUEST"): Finding.REFUSED,
        (402, "INSUFFICIENT_FUNDS"): Finding.REFUSED,
        (404, "NOT_FOUND"): Finding.REFUSED,
        (409, "QUOTA"): Finding.REFUSED,
        # A fresh 80-bit key cannot be known already: a restored backup, or the key has leaked.
        (409, "ALREADY_PROCESSED"): Finding.UNRESOLVED,
        (502, "UNAVAILABLE"): Finding.UNRESOLVED,
        (503, "UPSTREAM_AUTH"): Finding.EVIDENCE,
    },
    Call.ORDER: {
        (400, ANY): Finding.REFUSED,
        (409, "QUOTA"): Finding.REFUSED,
        (409, "ALREADY_PROCESSED"): Finding.UNKNOWN,
        (502, "UNAVAILABLE"): Finding.UNKNOWN,
        (503, ANY): Finding.UNKNOWN,
    },
    Call.FREEZE: {
        (400, "BAD_REQUEST"): Finding.REFUSED,
        (404, "NOT_FOUND"): Finding.REFUSED,
        (502, "UNAVAILABLE"): Finding.NOTHING_YET,
        (503, "UPSTREAM_AUTH"): Finding.NOTHING_YET,
    },
    Call.FUNDING: {
        (400, "BAD_REQUEST"): Finding.REFUSED,
        (409, "ALREADY_SUBMITTED"): Finding.REFUSED,
        (409, "ALREADY_CREDITED"): Finding.REFUSED,
        (429, "TOO_MANY_PENDING"): Finding.REFUSED,
        (503, "UNAVAILABLE"): Finding.NOTHING_YET,
    },
    Call.UNLOAD: {
        (400, "BAD_REQUEST"): Finding.REFUSED,
        (402, "INSUFFICIENT_FUNDS"): Finding.REFUSED,
        (404, "NOT_FOUND"): Finding.REFUSED,
        # As on a top-up: a fresh key cannot be known already.
        (409, "ALREADY_PROCESSED"): Finding.UNRESOLVED,
        (502, "UNAVAILABLE"): Finding.UNKNOWN,
        (503, ANY): Finding.UNKNOWN,
    },
    Call.CLOSE: {
        (400, "BAD_REQUEST"): Finding.REFUSED,
        (404, "NOT_FOUND"): Finding.REFUSED,
        (409, "ALREADY_PROCESSED"): Finding.UNKNOWN,
        (502, "UNAVAILABLE"): Finding.UNKNOWN,
        (503, "UNAVAILABLE"): Finding.NOTHING_YET,  # the balance cannot be read: the card stays open
        (503, "UPSTREAM_AUTH"): Finding.UNKNOWN,
    },
    Call.LIMITS: _SETTING_AT_FIRST,
    Call.PHONE: _SETTING_AT_FIRST,
    Call.THREEDS: _SETTING_AT_FIRST,
    Call.MARKUP: {(400, "BAD_REQUEST"): Finding.REFUSED},
    # A quote moves nothing, but it makes an address that waits for money.
    Call.DEPOSIT: _SETTING_AT_FIRST,
    Call.REDELIVER: {
        (400, "BAD_REQUEST"): Finding.REFUSED,
        (404, "NOT_FOUND"): Finding.REFUSED,
        (502, "UNAVAILABLE"): Finding.UNKNOWN,
        (503, ANY): Finding.UNKNOWN,
    },
    # It may be a save that failed; either way the registration is as it was.
    Call.WEBHOOK: {(400, "BAD_REQUEST"): Finding.REFUSED},
    Call.REVEAL: {},
}

AFTER_UNKNOWN: Mapping[Call, _Table] = {
    Call.TOPUP: {
        (400, "BAD_REQUEST"): Finding.EVIDENCE,
        (402, "INSUFFICIENT_FUNDS"): Finding.EVIDENCE,
        (404, "NOT_FOUND"): Finding.EVIDENCE,
        (409, "QUOTA"): Finding.EVIDENCE,
        (409, "ALREADY_PROCESSED"): Finding.EVIDENCE,
        (502, "UNAVAILABLE"): Finding.UNRESOLVED,
        (503, "UPSTREAM_AUTH"): Finding.EVIDENCE,
    },
    Call.ORDER: {
        (400, ANY): Finding.EVIDENCE,
        (409, "QUOTA"): Finding.EVIDENCE,
        (409, "ALREADY_PROCESSED"): Finding.UNKNOWN,
        (502, "UNAVAILABLE"): Finding.UNKNOWN,
        (503, ANY): Finding.UNKNOWN,
    },
    Call.FREEZE: {
        (400, "BAD_REQUEST"): Finding.EVIDENCE,
        (404, "NOT_FOUND"): Finding.EVIDENCE,
        (502, "UNAVAILABLE"): Finding.EVIDENCE,
        (503, "UPSTREAM_AUTH"): Finding.EVIDENCE,
    },
    Call.FUNDING: {
        # A repeat of one's own hash passes these checks, so nothing is stored yet: but the first
        # attempt may still be on its way.
        (429, "TOO_MANY_PENDING"): Finding.EVIDENCE,
        (409, "ALREADY_SUBMITTED"): Finding.EVIDENCE,
        (409, "ALREADY_CREDITED"): Finding.EVIDENCE,
        (400, "BAD_REQUEST"): Finding.EVIDENCE,
        (503, "UNAVAILABLE"): Finding.UNKNOWN,
    },
    Call.UNLOAD: {
        (400, "BAD_REQUEST"): Finding.EVIDENCE,
        (402, "INSUFFICIENT_FUNDS"): Finding.EVIDENCE,
        (404, "NOT_FOUND"): Finding.EVIDENCE,
        (409, "ALREADY_PROCESSED"): Finding.EVIDENCE,
        (502, "UNAVAILABLE"): Finding.UNKNOWN,
        (503, ANY): Finding.UNKNOWN,
    },
    Call.CLOSE: {
        (400, "BAD_REQUEST"): Finding.EVIDENCE,
        (404, "NOT_FOUND"): Finding.EVIDENCE,
        (409, "ALREADY_PROCESSED"): Finding.EVIDENCE,
        (502, "UNAVAILABLE"): Finding.UNKNOWN,
        (503, ANY): Finding.UNKNOWN,
    },
    Call.LIMITS: _SETTING_AFTER_UNKNOWN,
    Call.PHONE: _SETTING_AFTER_UNKNOWN,
    Call.THREEDS: _SETTING_AFTER_UNKNOWN,
    Call.MARKUP: {(400, "BAD_REQUEST"): Finding.EVIDENCE},
    Call.DEPOSIT: _SETTING_AFTER_UNKNOWN,
    Call.REDELIVER: {
        (400, "BAD_REQUEST"): Finding.EVIDENCE,
        (404, "NOT_FOUND"): Finding.EVIDENCE,
        (502, "UNAVAILABLE"): Finding.UNKNOWN,
        (503, ANY): Finding.UNKNOWN,
    },
    Call.WEBHOOK: {(400, "BAD_REQUEST"): Finding.EVIDENCE},
    Call.REVEAL: {},
}


def classify(call: Call, status: int | None, code: str | None, *, outcome_unknown: bool) -> Finding:
    """What an error answer proves. No status, or a pair no table names, proves nothing: UNKNOWN."""
    if status is None or code is None:
        return Finding.UNKNOWN
    own, common = (AFTER_UNKNOWN, _COMMON_AFTER_UNKNOWN) if outcome_unknown else (FIRST, _COMMON_AT_FIRST)
    for table in (own[call], common, _COMMON):
        for key in ((status, code), (status, ANY)):
            if key in table:
                return table[key]
    return Finding.UNKNOWN


# Same key again after these pauses; afterwards the request is `unresolved` and only reconciled.
RETRY_PAUSES = tuple(timedelta(seconds=s) for s in (5, 15, 30, 60, 120, 300, 600))
# A switch that was taken shows on the card within seconds, or something is wrong.
CONFIRM_PAUSES = tuple(timedelta(seconds=s) for s in (2, 5, 10, 30))


@dataclass(frozen=True, slots=True)
class Outcome:
    """A finding with the sentence people read and the facts kept with the request.

    `text` says what happened, whether money moved and what to do next.
    """

    finding: Finding
    text: str
    facts: Mapping[str, Any] = field(default_factory=dict)
    retry_after_s: float | None = None
    alarm: str = ""  # a top-severity alert is due, for this reason
    cause: str = ""  # what the API said, in words, without what follows from it
    pauses: tuple[timedelta, ...] = RETRY_PAUSES  # before each repeat while nobody knows
    secret: Secret | None = None  # given this once: sealed in the transaction that records the outcome


RECONCILE_EVERY = timedelta(minutes=15)  # to 24 h after the first send
RECONCILE_DAILY = timedelta(days=1)
RECONCILE_DENSE_FOR = timedelta(hours=24)
# No request of ours can still be on its way: the longest client timeout (75 s read, 5 s connect)
# and a margin for a slow network after it.
QUIESCENCE = timedelta(seconds=100)
# Late-landing sweep: a request given up as failed without proof is looked up again this long.
LATE_LANDING_FOR = timedelta(hours=48)
# The API does not say how long it keeps a key: past this only look-ups.
KEY_TRUSTED_FOR = timedelta(hours=24)
# Sealed details of an unresolved order are kept this long, for the same body under the same key.
PRIVATE_KEPT_FOR = timedelta(hours=72)


def next_pause(attempts: int, pauses: tuple[timedelta, ...] = RETRY_PAUSES) -> timedelta | None:
    """The pause after the n-th attempt without a definite answer (n from 1); None = used up."""
    return pauses[attempts - 1] if attempts <= len(pauses) else None


def reconcile_pause(since_first_sent: timedelta) -> timedelta:
    """How long an unresolved request rests between looks."""
    return RECONCILE_EVERY if since_first_sent < RECONCILE_DENSE_FOR else RECONCILE_DAILY
