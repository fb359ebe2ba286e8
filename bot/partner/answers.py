"""What an answer of the API means, in one table: for each endpoint, each status and code it may answer.

A row says what to make of the answer to a first attempt, what to make of it after an attempt whose outcome
nobody knows, whether the idempotency key is spent, and how often the client itself may send the call again.
Whatever else speaks of an answer is derived from here: `certainty` for the errors, `retrying` for the client,
and what becomes of a request.

Two questions decide a row: can anything have happened, and may the key be used again. Where the document
leaves one open the worse is assumed. A refusal speaks of its own call only, so after a doubt it never ends
anything. A pair that is not in the table is not an answer of the service at all, and proves nothing.

Source: the API document. Its endpoints stand here in its order, each with its chapter; what a row holds is in
the endpoint's own paragraph, what all share in the chapter "Errors".
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from bot.partner.endpoints import Endpoint


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
    RELEASED = "released"  # given free by the service, which keeps nothing of the call


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
words than the service's own: a proxy's page."""

NOT_SENT = Answer(Finding.REFUSED, Finding.EVIDENCE)
"""Refused by the client itself, before any byte left."""

NOT_CONNECTED = Answer(Finding.NOTHING_YET, Finding.UNKNOWN)
"""No connection came about, so no byte left."""


@dataclass(frozen=True, slots=True)
class Section:
    """An endpoint's rows, and the chapter of the document that describes it."""

    chapter: str
    rows: Rows


# What proves nothing, for a call that changes something: the same key again finds out.
_OPEN = Answer(Finding.UNKNOWN, Finding.UNKNOWN)
# A clear refusal: nothing moved, and the key is unused.
_REFUSED = Answer(Finding.REFUSED, Finding.EVIDENCE)
# The same where the float came back with the key spent, or where the document does not say whether it is:
# sent again it would turn a clear answer into an unclear 409.
_REFUSED_FOR_GOOD = Answer(Finding.REFUSED, Finding.EVIDENCE, Key.SPENT)


def _pages(answer: Answer, *statuses: int) -> Rows:
    return {(status, None): answer for status in statuses}


# On every endpoint [Errors]. A call over the rate never reaches its handler.
COMMON: Rows = {
    (400, "BAD_REQUEST"): _REFUSED,
    (401, "UNAUTHORIZED"): Answer(Finding.HELD, Finding.HELD),
    (403, "FORBIDDEN"): Answer(Finding.HELD, Finding.HELD),
    (404, "NOT_FOUND"): _REFUSED,
    (405, "BAD_REQUEST"): _REFUSED,
    (429, "RATE_LIMITED"): Answer(Finding.WAIT, Finding.WAIT),
}

# A read moves nothing whatever happens to it, so a failure of the service's side may be asked again.
_ASK_AGAIN = Answer(Finding.NOTHING_YET, Finding.NOTHING_YET, repeats=3)
_READ: Rows = {
    **COMMON,
    (429, "RATE_LIMITED"): Answer(Finding.WAIT, Finding.WAIT, repeats=1),
    (500, "UNAVAILABLE"): _ASK_AGAIN,
    (502, "UNAVAILABLE"): _ASK_AGAIN,
    (503, "UNAVAILABLE"): _ASK_AGAIN,
    (503, "UPSTREAM_AUTH"): _ASK_AGAIN,
    **_pages(_ASK_AGAIN, 500, 502, 503),
    NO_ANSWER: _ASK_AGAIN,
}

# Reads too, but each call makes another address that shows a card: a person asks again, not the client.
_READ_ONCE: Rows = {pair: replace(answer, repeats=0) for pair, answer in _READ.items()}

# A change of the service's own records: after an internal fault it may be done or not.
_RECORD_CHANGE: Rows = {**COMMON, (500, "UNAVAILABLE"): _OPEN, NO_ANSWER: _OPEN}

# A change at the processor. Unlike freeze, nothing says that a 502 or 503 left all as it was.
_CARD_CHANGE: Rows = {**_RECORD_CHANGE, (502, "UNAVAILABLE"): _OPEN, (503, "UPSTREAM_AUTH"): _OPEN}

# A setting sent twice is set once, and can be read back or sent again by the operation.
_OPEN_ONCE_MORE = replace(_OPEN, repeats=1)
_CARD_SETTING: Rows = {
    **_CARD_CHANGE,
    (502, "UNAVAILABLE"): _OPEN_ONCE_MORE,
    (503, "UPSTREAM_AUTH"): _OPEN_ONCE_MORE,
    **_pages(_OPEN_ONCE_MORE, 502, 503),
    NO_ANSWER: _OPEN_ONCE_MORE,
}

# What can be sent any number of times and is done once.
_OPEN_AND_HARMLESS = replace(_OPEN, repeats=3)

# Orders, top-ups, unloads and closes are never repeated by the client: a repeat can turn a clear refusal
# into an unclear 409, and must happen under the eyes of the stored request [POST topup: 503 spends the key].
ANSWERS: dict[Endpoint, Section] = {
    Endpoint.ME: Section("Account", _READ),
    Endpoint.FEES: Section("Account", _READ),
    Endpoint.SET_FEES: Section("Account", {**_RECORD_CHANGE, NO_ANSWER: _OPEN_ONCE_MORE}),
    Endpoint.FUNDING_ADDRESSES: Section("Account", _READ),
    Endpoint.SUBMIT_FUNDING: Section(
        "Account",
        {
            **_RECORD_CHANGE,
            # After a doubt too a repeat of one's own hash passes these checks, so nothing is stored yet: but
            # the first attempt may still be on its way.
            (409, "ALREADY_SUBMITTED"): _REFUSED,
            (409, "ALREADY_CREDITED"): _REFUSED,
            (429, "TOO_MANY_PENDING"): _REFUSED,
            # Idempotent on the hash: a repeat returns the stored record.
            (500, "UNAVAILABLE"): _OPEN_AND_HARMLESS,
            (503, "UNAVAILABLE"): Answer(Finding.NOTHING_YET, Finding.UNKNOWN, repeats=3),  # nothing recorded
            **_pages(_OPEN_AND_HARMLESS, 500, 503),
            NO_ANSWER: _OPEN_AND_HARMLESS,
        },
    ),
    Endpoint.FUNDING: Section("Account", _READ),
    Endpoint.FUNDING_LIST: Section("Account", _READ),
    Endpoint.LEDGER: Section("Account", _READ),
    Endpoint.ORDER_CARD: Section(
        "Cards",
        {
            **_CARD_CHANGE,
            # The document does not say whether a 400 leaves the key usable, here as on top-up, unload and
            # close: the worse is assumed, and another try is a new request.
            (400, "BAD_REQUEST"): _REFUSED_FOR_GOOD,
            (400, "INVALID_NAME"): _REFUSED_FOR_GOOD,
            (400, "INVALID_EMAIL"): _REFUSED_FOR_GOOD,
            (400, "INVALID_PHONE"): _REFUSED_FOR_GOOD,
            (400, "PHONE_COUNTRY_NOT_ALLOWED"): _REFUSED_FOR_GOOD,
            (409, "QUOTA"): _REFUSED,  # nothing created, no allowance consumed
            (409, "ALREADY_PROCESSED"): _OPEN,  # same key in flight
            (502, "UNAVAILABLE"): replace(_OPEN, key=Key.RELEASED),  # the same key again
        },
    ),
    Endpoint.CARDS: Section("Cards", _READ),
    Endpoint.CARD: Section("Cards", _READ),
    Endpoint.BALANCES: Section("Cards", _READ),
    Endpoint.TOP_UP: Section(
        "Cards",
        {
            **_CARD_CHANGE,
            (400, "BAD_REQUEST"): _REFUSED_FOR_GOOD,  # nothing written, or refunded with the key spent
            (402, "INSUFFICIENT_FUNDS"): _REFUSED,  # nothing written, key unused
            (404, "NOT_FOUND"): _REFUSED,  # checked before the replay, so a repeat may meet it too
            (409, "QUOTA"): _REFUSED_FOR_GOOD,  # processor capacity; the float was refunded
            # Three cases with opposite consequences. A fresh 80-bit key cannot be known already: a restored
            # backup, or the key has leaked.
            (409, "ALREADY_PROCESSED"): Answer(Finding.UNRESOLVED, Finding.EVIDENCE),
            # Unresolved with the float debited, or refunded: it does not say.
            (502, "UNAVAILABLE"): Answer(Finding.UNRESOLVED, Finding.UNRESOLVED),
            # Treated as a rejection: refunded, which the ledger has to show.
            (503, "UPSTREAM_AUTH"): Answer(Finding.EVIDENCE, Finding.EVIDENCE, Key.SPENT),
        },
    ),
    Endpoint.UNLOAD: Section(
        "Cards",
        {
            **_CARD_CHANGE,
            (400, "BAD_REQUEST"): _REFUSED_FOR_GOOD,
            (402, "INSUFFICIENT_FUNDS"): _REFUSED,  # the card holds less; nothing moves
            # As on a top-up: a fresh key cannot be known already.
            (409, "ALREADY_PROCESSED"): Answer(Finding.UNRESOLVED, Finding.EVIDENCE),
            (502, "UNAVAILABLE"): _OPEN,  # between card debit and float credit money is nowhere visible
        },
    ),
    Endpoint.LIMITS: Section("Cards", _READ),
    Endpoint.SET_LIMITS: Section("Cards", _CARD_SETTING),
    Endpoint.FREEZE: Section(
        "Cards",
        {
            **_CARD_SETTING,
            (502, "UNAVAILABLE"): Answer(Finding.NOTHING_YET, Finding.EVIDENCE, repeats=1),  # changes nothing
            (503, "UPSTREAM_AUTH"): Answer(Finding.NOTHING_YET, Finding.EVIDENCE, repeats=1),  # the same
        },
    ),
    Endpoint.SET_PHONE: Section(
        "Cards",
        {
            **_CARD_SETTING,
            (400, "INVALID_PHONE"): _REFUSED,
            (400, "PHONE_COUNTRY_NOT_ALLOWED"): _REFUSED,
        },
    ),
    Endpoint.CLOSE: Section(
        "Cards",
        {
            **_CARD_CHANGE,
            (400, "BAD_REQUEST"): _REFUSED_FOR_GOOD,
            (409, "ALREADY_PROCESSED"): Answer(Finding.UNKNOWN, Finding.EVIDENCE),
            # The balance cannot be read: the card stays open.
            (503, "UNAVAILABLE"): Answer(Finding.NOTHING_YET, Finding.UNKNOWN),
        },
    ),
    Endpoint.SET_3DS: Section("Cards", _CARD_CHANGE),
    Endpoint.TRANSACTIONS: Section("Cards", _READ),
    Endpoint.DETAILS: Section("Card details", _READ_ONCE),
    Endpoint.DETAILS_ONCE: Section("Card details", _READ_ONCE),
    Endpoint.WEBHOOK: Section("Webhooks and events", _READ),
    # A 400 may also be a save that failed; either way the registration is as it was. Never repeated by the
    # client: the answer may have held the only copy of a secret, and the repeat would not bring it again, or
    # would make yet another.
    Endpoint.SET_WEBHOOK: Section("Webhooks and events", _RECORD_CHANGE),
    Endpoint.EVENTS: Section("Webhooks and events", _READ),
    # The event keeps its id, and whoever receives it twice knows it by that.
    Endpoint.REDELIVER: Section(
        "Webhooks and events",
        {
            **_RECORD_CHANGE,
            (500, "UNAVAILABLE"): _OPEN_AND_HARMLESS,
            **_pages(_OPEN_AND_HARMLESS, 500, 502, 503),
            NO_ANSWER: _OPEN_AND_HARMLESS,
        },
    ),
    # Errors of this call are not shown. It makes an offer and moves nothing, but where an offer was made an
    # address waits for money, so a lost one is not called harmless.
    Endpoint.QUOTE_DEPOSIT: Section("Deposits", {**_CARD_CHANGE, (503, "UNAVAILABLE"): _OPEN}),
    Endpoint.DEPOSITS: Section("Deposits", _READ),
}


def meaning(endpoint: Endpoint, status: int | None, code: str | None) -> Answer:
    """The row for this answer; for what the table does not give, that of no answer at all.

    `code` is None for words other than the service's own; `status` too where nothing came back.
    """
    rows = ANSWERS[endpoint].rows
    if (status, code) in rows:
        return rows[status, code]
    # A page that says 404, or a redirect, will say so again; a success that cannot be read may pass.
    return rows[NO_ANSWER] if status in (None, 200) else replace(rows[NO_ANSWER], repeats=0)


def documented(endpoint: Endpoint) -> Mapping[tuple[int, str], Answer]:
    """Every answer the document gives for this endpoint, by status and code."""
    rows = ANSWERS[endpoint].rows
    return {
        (pair[0], pair[1]): row for pair, row in rows.items() if pair[0] is not None and pair[1] is not None
    }
