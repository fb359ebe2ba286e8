"""The endpoints this client calls, and the facts about each that the other modules go by.

An endpoint's name is its method and path as the API document writes them.
"""

from dataclasses import dataclass
from enum import StrEnum

CONNECT_SECONDS = 5.0
"""A host that does not even take the connection in this time is down."""

# Time between two bytes of an answer. A change may wait for the processor behind the service and must
# not be given up early: giving up does not stop it, it only makes the outcome unknown. The service
# itself waits 20 s for the processor [GET transactions], a few tries long, so 75 s is above what a
# healthy answer can take and below what an operator would wait for.
CHANGE_READ_SECONDS = 75.0
# Reads of the service's own records answer at once or not at all, and a person may be waiting.
RECORD_READ_SECONDS = 20.0
# Reads that pass through to the processor: its 20 s and the way there and back.
LIVE_READ_SECONDS = 30.0
# A card's history is searched at the processor: up to five attempts of 20 s each with pauses between
# [GET transactions]. Whoever gives up before the service does makes failures of its own.
HISTORY_READ_SECONDS = 130.0

# Timeouts are per phase, and a peer that drips bytes resets the one for reading each time: the whole
# exchange has a deadline too. Beyond the read time it allows for connecting and for sending.
_DEADLINE_MARGIN_SECONDS = 10.0

LONGEST_CHANGE_SECONDS = CHANGE_READ_SECONDS + _DEADLINE_MARGIN_SECONDS
"""After this no request that changes anything can still be on its way from here."""


class Endpoint(StrEnum):
    """One endpoint; in the order of the API document."""

    ME = "GET /me"
    FEES = "GET /fees"
    SET_FEES = "PUT /fees"
    FUNDING_ADDRESSES = "GET /funding/addresses"
    SUBMIT_FUNDING = "POST /funding"
    FUNDING = "GET /funding/{fundingId}"
    FUNDING_LIST = "GET /funding"
    LEDGER = "GET /ledger"
    ORDER_CARD = "POST /cards"
    CARDS = "GET /cards"
    CARD = "GET /cards/{cardId}"
    BALANCES = "POST /cards/balances"
    TOP_UP = "POST /cards/{cardId}/topup"
    UNLOAD = "POST /cards/{cardId}/unload"
    LIMITS = "GET /cards/{cardId}/limits"
    SET_LIMITS = "PUT /cards/{cardId}/limits"
    FREEZE = "POST /cards/{cardId}/freeze"
    SET_PHONE = "PUT /cards/{cardId}/phone"
    CLOSE = "POST /cards/{cardId}/close"
    SET_3DS = "PUT /cards/{cardId}/3ds"
    TRANSACTIONS = "GET /cards/{cardId}/transactions"
    DETAILS = "GET /cards/{cardId}/pan"
    DETAILS_ONCE = "POST /cards/{cardId}/pan-token"
    WEBHOOK = "GET /webhook"
    SET_WEBHOOK = "PUT /webhook"
    EVENTS = "GET /events"
    REDELIVER = "POST /events/{eventId}/redeliver"
    QUOTE_DEPOSIT = "POST /deposits"
    DEPOSITS = "GET /deposits"

    @property
    def method(self) -> str:
        """`GET`, `POST` or `PUT`."""
        return self.value.partition(" ")[0]

    @property
    def template(self) -> str:
        """The path with its placeholders, as it may stand in a log."""
        return self.value.partition(" ")[2]


@dataclass(frozen=True, slots=True)
class Facts:
    """What is true of an endpoint whatever is sent to it."""

    changes: bool
    read_seconds: float

    @property
    def deadline_seconds(self) -> float:
        """How long one exchange may take in all."""
        return self.read_seconds + _DEADLINE_MARGIN_SECONDS


_RECORD = Facts(changes=False, read_seconds=RECORD_READ_SECONDS)
_LIVE = Facts(changes=False, read_seconds=LIVE_READ_SECONDS)
_HISTORY = Facts(changes=False, read_seconds=HISTORY_READ_SECONDS)
_CHANGE = Facts(changes=True, read_seconds=CHANGE_READ_SECONDS)

FACTS: dict[Endpoint, Facts] = {
    Endpoint.ME: _RECORD,
    Endpoint.FEES: _RECORD,
    Endpoint.SET_FEES: _CHANGE,
    Endpoint.FUNDING_ADDRESSES: _RECORD,
    Endpoint.SUBMIT_FUNDING: _CHANGE,
    Endpoint.FUNDING: _RECORD,
    Endpoint.FUNDING_LIST: _RECORD,
    Endpoint.LEDGER: _RECORD,
    Endpoint.ORDER_CARD: _CHANGE,
    Endpoint.CARDS: _RECORD,
    Endpoint.CARD: _LIVE,
    Endpoint.BALANCES: _LIVE,  # with `refresh` up to 25 processor reads; a POST that changes nothing
    Endpoint.TOP_UP: _CHANGE,
    Endpoint.UNLOAD: _CHANGE,
    Endpoint.LIMITS: _LIVE,
    Endpoint.SET_LIMITS: _CHANGE,
    Endpoint.FREEZE: _CHANGE,
    Endpoint.SET_PHONE: _CHANGE,
    Endpoint.CLOSE: _CHANGE,
    Endpoint.SET_3DS: _CHANGE,
    Endpoint.TRANSACTIONS: _HISTORY,
    Endpoint.DETAILS: _LIVE,
    Endpoint.DETAILS_ONCE: _LIVE,  # a POST that changes nothing: an unused address expires within a minute
    Endpoint.WEBHOOK: _RECORD,
    Endpoint.SET_WEBHOOK: _CHANGE,
    Endpoint.EVENTS: _RECORD,
    Endpoint.REDELIVER: _CHANGE,
    Endpoint.QUOTE_DEPOSIT: _CHANGE,
    Endpoint.DEPOSITS: _RECORD,
}
