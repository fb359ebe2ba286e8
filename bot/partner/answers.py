"""What an answer of the API means: the form of a row, and the rows that endpoints share.

An endpoint stands with its rows, its path and its calls in the file of its chapter, in `calls`: for each
status and code it may answer one row.

A row says what to make of the answer to a first attempt, what to make of it after an attempt whose outcome
nobody knows, whether the idempotency key is spent, and how often the client itself may send the call again.
Whatever else speaks of an answer is derived from here: `certainty` for the errors, `retrying` for the client,
and what becomes of a request.

Two questions decide a row: can anything have happened, and may the key be used again. Where the document
leaves one open the worse is assumed. A refusal speaks of its own call only, so after a doubt it never ends
anything. A pair that is not in the table is not an answer of the card provider at all, and proves nothing.

Source: the API document. What a row holds is in the endpoint's own paragraph there, what all share in the
chapter "Errors".
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum


class Finding(StrEnum):
    """What to make of an answer, or of evidence."""

    SUCCEEDED = "succeeded"
    REFUSED = "refused"  # proved that nothing moved, or that it came back: failed
    NOTHING_YET = "nothing_yet"  # this call changed nothing and may be sent again as it is
    WAIT = "wait"  # 429: not executed; the same bytes after the pause
    HELD = "held"  # 401, 403: the key does not work, so nothing more is sent to the program until it does
    UNKNOWN = "unknown"  # may or may not have happened: the same key again
    UNRESOLVED = "unresolved"  # money may have moved and the API has no recorded result
    EVIDENCE = "evidence"  # this answer decides nothing: look at ledger, card or submission


class Key(StrEnum):
    """What becomes of the idempotency key of the call."""

    KEPT = "kept"  # as it was: a repeat of the call carries this key and no other
    SPENT = "spent"  # or perhaps spent: it must never be sent again, another try is a new request
    RELEASED = "released"  # given free by the card provider, which keeps nothing of the call


@dataclass(frozen=True, slots=True)
class Answer:
    """One row: what an answer means.

    `first` is for a first attempt, `after_doubt` for one that follows an attempt whose outcome nobody knows.
    HELD is the finding that holds the program. `key` says what became of the idempotency key.
    `repeats` is how often at most the client itself sends the call again on failures like this one; 0 = never.
    """

    first: Finding
    after_doubt: Finding
    key: Key = Key.KEPT
    repeats: int = 0

    def finding(self, *, in_doubt: bool) -> Finding:
        """What to make of it; `in_doubt`: the outcome of an earlier attempt is not known."""
        return self.after_doubt if in_doubt else self.first

    @property
    def spends_key(self) -> bool:
        """The key must never be sent again."""
        return self.key is Key.SPENT


Pair = tuple[int | None, str | None]
Rows = Mapping[Pair, Answer]

NO_ANSWER: Pair = (None, None)
"""The row for a call that got no answer it can rely on. A row `(502, None)` is for that status in other
words than the card provider's own: a proxy's page."""

NOT_SENT = Answer(Finding.REFUSED, Finding.EVIDENCE)
"""Refused by the client itself, before any byte left."""

NOT_CONNECTED = Answer(Finding.NOTHING_YET, Finding.UNKNOWN)
"""No connection came about, so no byte left."""


# What proves nothing, for a call that changes something: the same key again finds out.
OPEN = Answer(Finding.UNKNOWN, Finding.UNKNOWN)
# A clear refusal: nothing moved, and the key is unused.
REFUSED = Answer(Finding.REFUSED, Finding.EVIDENCE)
# The same where the float came back with the key spent, or where the document does not say whether it is:
# sent again it would turn a clear answer into an unclear 409.
REFUSED_FOR_GOOD = Answer(Finding.REFUSED, Finding.EVIDENCE, Key.SPENT)


def pages(answer: Answer, *statuses: int) -> Rows:
    """The same for these statuses in other words than the card provider's own."""
    return {(status, None): answer for status in statuses}


# On every endpoint [Errors]. A call over the rate never reaches its handler.
COMMON: Rows = {
    (400, "BAD_REQUEST"): REFUSED,
    (401, "UNAUTHORIZED"): Answer(Finding.HELD, Finding.HELD),
    (403, "FORBIDDEN"): Answer(Finding.HELD, Finding.HELD),
    (404, "NOT_FOUND"): REFUSED,
    (405, "BAD_REQUEST"): REFUSED,
    (429, "RATE_LIMITED"): Answer(Finding.WAIT, Finding.WAIT),
}

# A read moves nothing whatever happens to it, so a failure of the card provider's side may be asked again.
_ASK_AGAIN = Answer(Finding.NOTHING_YET, Finding.NOTHING_YET, repeats=3)
READ: Rows = {
    **COMMON,
    (429, "RATE_LIMITED"): Answer(Finding.WAIT, Finding.WAIT, repeats=1),
    (500, "UNAVAILABLE"): _ASK_AGAIN,
    (502, "UNAVAILABLE"): _ASK_AGAIN,
    (503, "UNAVAILABLE"): _ASK_AGAIN,
    (503, "UPSTREAM_AUTH"): _ASK_AGAIN,
    **pages(_ASK_AGAIN, 500, 502, 503),
    NO_ANSWER: _ASK_AGAIN,
}

# Reads too, but each call makes another address that shows a card: a person asks again, not the client.
READ_ONCE: Rows = {pair: replace(answer, repeats=0) for pair, answer in READ.items()}

# A change of the card provider's own records: after an internal fault it may be done or not.
RECORD_CHANGE: Rows = {**COMMON, (500, "UNAVAILABLE"): OPEN, NO_ANSWER: OPEN}

# A change at the processor. Unlike freeze, nothing says that a 502 or 503 left all as it was.
CARD_CHANGE: Rows = {**RECORD_CHANGE, (502, "UNAVAILABLE"): OPEN, (503, "UPSTREAM_AUTH"): OPEN}

# A setting sent twice is set once, and can be read back or sent again by the operation.
OPEN_ONCE_MORE = replace(OPEN, repeats=1)
CARD_SETTING: Rows = {
    **CARD_CHANGE,
    (502, "UNAVAILABLE"): OPEN_ONCE_MORE,
    (503, "UPSTREAM_AUTH"): OPEN_ONCE_MORE,
    **pages(OPEN_ONCE_MORE, 502, 503),
    NO_ANSWER: OPEN_ONCE_MORE,
}

# What can be sent any number of times and is done once.
OPEN_AND_HARMLESS = replace(OPEN, repeats=3)
