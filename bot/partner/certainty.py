"""What an answer proves about the call that met it, for each call, status and code of the document.

Two questions decide a cell: can anything have happened, and may the idempotency key be used again.
Where the document leaves one open the worse is assumed. A pair that is not in the table is not an
answer of the service at all, and proves nothing.
"""

from collections.abc import Mapping
from enum import StrEnum

from bot.partner.endpoints import FACTS, Endpoint


class Certainty(StrEnum):
    """What an error proves about the call that met it."""

    DEFINITE = "definite"  # moved nothing, key unused
    DEFINITE_KEY_SPENT = "definite_key_spent"  # moved nothing in the end; never send the key again
    AMBIGUOUS = "ambiguous"  # may or may not have happened
    TRANSIENT = "transient"  # not executed, may be sent again as it is


_D, _S, _A, _T = Certainty
_Cells = dict[tuple[int, str], Certainty]

# On every endpoint [Errors]. A call over the rate never reaches its handler.
_COMMON: _Cells = {
    (400, "BAD_REQUEST"): _D,
    (401, "UNAUTHORIZED"): _D,
    (403, "FORBIDDEN"): _D,
    (404, "NOT_FOUND"): _D,
    (405, "BAD_REQUEST"): _D,
    (429, "RATE_LIMITED"): _T,
}

# A read moves nothing whatever happens to it, so a failure of the service's side may be asked again.
_READ: _Cells = _COMMON | {
    (500, "UNAVAILABLE"): _T,
    (502, "UNAVAILABLE"): _T,
    (503, "UNAVAILABLE"): _T,
    (503, "UPSTREAM_AUTH"): _T,
}

# A change of the service's own records: after an internal fault it may be done or not.
_RECORD_CHANGE: _Cells = _COMMON | {(500, "UNAVAILABLE"): _A}

# A change at the processor. Unlike freeze, nothing says that a 502 or 503 left all as it was.
_CARD_CHANGE: _Cells = _RECORD_CHANGE | {
    (502, "UNAVAILABLE"): _A,
    (503, "UPSTREAM_AUTH"): _A,
}

_CHANGES: dict[Endpoint, _Cells] = {
    Endpoint.SET_FEES: _RECORD_CHANGE,
    Endpoint.SUBMIT_FUNDING: _RECORD_CHANGE | {
        (409, "ALREADY_SUBMITTED"): _D,
        (409, "ALREADY_CREDITED"): _D,
        (429, "TOO_MANY_PENDING"): _D,
        # After a 500 the same hash again: a repeat returns the stored record.
        (503, "UNAVAILABLE"): _T,  # nothing recorded
    },
    # The document does not say whether a 400 leaves the key usable, here as on top-up and unload:
    # the worse is assumed, and another try is a new request.
    Endpoint.ORDER_CARD: _CARD_CHANGE | {
        (400, "BAD_REQUEST"): _S,
        (400, "INVALID_NAME"): _S,
        (400, "INVALID_EMAIL"): _S,
        (400, "INVALID_PHONE"): _S,
        (400, "PHONE_COUNTRY_NOT_ALLOWED"): _S,
        (409, "QUOTA"): _D,  # nothing created, no allowance consumed
        (409, "ALREADY_PROCESSED"): _A,  # same key in flight
        (502, "UNAVAILABLE"): _T,  # key released; the same key again
    },
    Endpoint.TOP_UP: _CARD_CHANGE | {
        (400, "BAD_REQUEST"): _S,  # nothing written, or refunded with the key spent
        (402, "INSUFFICIENT_FUNDS"): _D,  # nothing written, key unused
        (409, "QUOTA"): _S,  # processor capacity; the float was refunded
        (409, "ALREADY_PROCESSED"): _A,  # three cases with opposite consequences
        (502, "UNAVAILABLE"): _A,  # unresolved with the float debited, or refunded: it does not say
        (503, "UPSTREAM_AUTH"): _S,  # treated as a rejection: refunded
    },
    Endpoint.UNLOAD: _CARD_CHANGE | {
        (400, "BAD_REQUEST"): _S,
        (402, "INSUFFICIENT_FUNDS"): _D,  # the card holds less; nothing moves
        (409, "ALREADY_PROCESSED"): _A,
        (502, "UNAVAILABLE"): _A,  # between card debit and float credit money is nowhere visible
    },
    Endpoint.SET_LIMITS: _CARD_CHANGE,
    Endpoint.FREEZE: _CARD_CHANGE | {
        (502, "UNAVAILABLE"): _T,  # changes nothing
        (503, "UPSTREAM_AUTH"): _T,  # changes nothing
    },
    Endpoint.SET_PHONE: _CARD_CHANGE | {
        (400, "INVALID_PHONE"): _D,
        (400, "PHONE_COUNTRY_NOT_ALLOWED"): _D,
    },
    Endpoint.CLOSE: _CARD_CHANGE | {
        (400, "BAD_REQUEST"): _S,
        (409, "ALREADY_PROCESSED"): _A,
        (503, "UNAVAILABLE"): _T,  # the balance cannot be read: the card stays open
    },
    Endpoint.SET_3DS: _CARD_CHANGE,
    # A 400 may also be a save that failed [PUT /webhook]; either way the registration is as it was.
    Endpoint.SET_WEBHOOK: _RECORD_CHANGE,
    Endpoint.REDELIVER: _RECORD_CHANGE,
    # Errors of this call are not shown. It makes an offer and moves nothing, but where an offer was
    # made an address waits for money, so a lost one is not called harmless.
    Endpoint.QUOTE_DEPOSIT: _CARD_CHANGE | {(503, "UNAVAILABLE"): _A},
}  # fmt: skip


def documented(operation: Endpoint) -> Mapping[tuple[int, str], Certainty]:
    """Every (status, code) the document gives for this call, and what it proves."""
    return _CHANGES[operation] if FACTS[operation].changes else _READ


def unanswered(operation: Endpoint) -> Certainty:
    """What is known when no reliable answer came: a read moved nothing, a change is open."""
    return Certainty.AMBIGUOUS if FACTS[operation].changes else Certainty.TRANSIENT


def classify(operation: Endpoint, status: int | None, code: str | None) -> Certainty:
    """What this answer proves about this call; a pair the document does not give proves nothing."""
    if status is None or code is None:
        return unanswered(operation)
    return documented(operation).get((status, code), unanswered(operation))
