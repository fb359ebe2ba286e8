"""What can go wrong with a call, and how certain it is that nothing happened.

    PartnerError                        operation, status, code, message, certainty, …
    ├── NotSent                         refused here, before any byte left: a bad id or key
    ├── NoAnswer                        timeout, connection lost: nobody knows what happened
    │   ├── NotConnected                no connection came about, so no byte left
    │   └── UnreadableAnswer            a redirect, no JSON, too large, a code the document does not
    │                                   give for this call: to a change as good as no answer
    ├── LedgerMoving                    no two pages of the ledger would fit together
    └── Refused                         the card provider answered with one of its codes
        ├── BadRequest                  BAD_REQUEST
        ├── InvalidDetail               INVALID_NAME, INVALID_EMAIL, INVALID_PHONE, PHONE_COUNTRY_NOT_ALLOWED
        ├── Unauthorized                UNAUTHORIZED: key missing, unknown or revoked, or account suspended
        ├── InsufficientFunds           INSUFFICIENT_FUNDS: the float (top-up) or the card (unload)
        ├── Forbidden                   FORBIDDEN: the key lacks a scope
        ├── NotFound                    NOT_FOUND: unknown, or another account's
        ├── AlreadyProcessed            ALREADY_PROCESSED: one of several meanings, never "done"
        ├── AlreadySubmitted            ALREADY_SUBMITTED: another account keeps the hash
        ├── AlreadyCredited             ALREADY_CREDITED: by other means
        ├── QuotaExceeded               QUOTA: card allowance, or capacity
        ├── RateLimited                 RATE_LIMITED: not executed; retry_after in seconds
        ├── TooManyPending              TOO_MANY_PENDING: five unverified submissions
        ├── UpstreamAuth                UPSTREAM_AUTH
        └── Unavailable                 UNAVAILABLE: means different things by endpoint

Branch on `certainty` before the class. The certainty speaks of **this** call only: a refusal of a
re-send proves nothing about an earlier attempt under the same key whose outcome is unknown.
"""

from collections.abc import Mapping

from bot.partner.certainty import Certainty
from bot.partner.endpoints import Endpoint


class PartnerError(Exception):
    """A call that did not give what was asked. Its text and fields hold no secret or personal detail.

    `operation` is the endpoint; `status` and `code` are None where there was no readable answer;
    `message` is the card provider's sentence, cleaned, or ours; `retry_after` is in seconds; `sent_key` is the
    idempotency key that went out; `body` is what may be kept of the error body; `attempts` counts the
    exchanges made in this call, and `earlier_in_doubt` says that one before the last may have happened.
    """

    def __init__(
        self,
        message: str,
        *,
        operation: Endpoint,
        certainty: Certainty,
        status: int | None = None,
        code: str | None = None,
        retry_after: float | None = None,
        sent_key: str | None = None,
        body: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.operation = operation
        self.certainty = certainty
        self.status = status
        self.code = code
        self.retry_after = retry_after
        self.sent_key = sent_key
        self.body = dict(body or {})
        self.attempts = 1
        self.earlier_in_doubt = False

    def __str__(self) -> str:
        answer = " ".join(str(part) for part in (self.status, self.code) if part is not None)
        return f"{self.operation}: {answer or type(self).__name__}: {self.message}"


class NotSent(PartnerError):
    """Refused by the client itself: an id, key or body that no call may carry."""


class NoAnswer(PartnerError):
    """No answer that can be relied on: a change may or may not have happened."""


class NotConnected(NoAnswer):
    """No connection came about, so no byte of the request left this machine."""


class UnreadableAnswer(NoAnswer):
    """Something answered, but not in the card provider's words. `code` is None: it must not be branched on."""


class LedgerMoving(PartnerError):
    """The ledger kept changing while its pages were read; read it again a little later."""


class Refused(PartnerError):
    """The card provider answered with one of its codes."""


class BadRequest(Refused):
    """BAD_REQUEST: malformed, out of range, a closed card, or refused by the processor."""


class InvalidDetail(Refused):
    """A cardholder detail was refused; `field` names it."""

    @property
    def field(self) -> str:
        """The field of the request body that was refused."""
        return _DETAIL_FIELDS[self.code or ""]


class Unauthorized(Refused):
    """Key missing, unknown or revoked, or account suspended: nothing tells the four apart."""


class InsufficientFunds(Refused):
    """More than the float can spend (top-up) or than the card holds (unload)."""


class Forbidden(Refused):
    """The key lacks a scope; the message names it."""


class NotFound(Refused):
    """Unknown, or another account's."""


class AlreadyProcessed(Refused):
    """The key is in flight, spent, bound to another card, or its outcome is not recorded."""


class AlreadySubmitted(Refused):
    """Another account keeps this funding hash."""


class AlreadyCredited(Refused):
    """This transaction was credited by other means."""


class QuotaExceeded(Refused):
    """The lifetime card allowance is used up, or capacity is."""


class RateLimited(Refused):
    """Not executed: the key's rolling minute is used up."""


class TooManyPending(Refused):
    """Five unverified funding submissions are open; there is no time after which to try again."""


class UpstreamAuth(Refused):
    """The card provider could not authenticate at the processor."""


class Unavailable(Refused):
    """The card provider or its processor failed."""


_DETAIL_FIELDS = {
    "INVALID_NAME": "card_holder_name",
    "INVALID_EMAIL": "email",
    "INVALID_PHONE": "phone",
    "PHONE_COUNTRY_NOT_ALLOWED": "phone_country_code",
}

CLASSES: dict[str, type[Refused]] = {
    "BAD_REQUEST": BadRequest,
    "INVALID_NAME": InvalidDetail,
    "INVALID_EMAIL": InvalidDetail,
    "INVALID_PHONE": InvalidDetail,
    "PHONE_COUNTRY_NOT_ALLOWED": InvalidDetail,
    "UNAUTHORIZED": Unauthorized,
    "INSUFFICIENT_FUNDS": InsufficientFunds,
    "FORBIDDEN": Forbidden,
    "NOT_FOUND": NotFound,
    "ALREADY_PROCESSED": AlreadyProcessed,
    "ALREADY_SUBMITTED": AlreadySubmitted,
    "ALREADY_CREDITED": AlreadyCredited,
    "QUOTA": QuotaExceeded,
    "RATE_LIMITED": RateLimited,
    "TOO_MANY_PENDING": TooManyPending,
    "UPSTREAM_AUTH": UpstreamAuth,
    "UNAVAILABLE": Unavailable,
}
"""Every code of the document [Errors] and the error it becomes."""
