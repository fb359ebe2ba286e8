"""What each error code of the card provider's API says to a person, and whose matter it is.

The one place where a code has words. A change adds whether money moved (`bot.operations`), a look-up that
nothing was recorded (`handlers.views.error_messages`). Where one call means something of its own by a code, its
file in `bot.operations` says so. Source: the API document, Errors.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class Fault(StrEnum):
    """On whose side the cause is."""

    PROVIDER = "your card provider"
    YOURS = "yours"  # what was asked for, the key, or how often was asked
    EITHER = "either"  # the code alone does not tell


@dataclass(frozen=True, slots=True)
class ErrorMessage:
    """One code. `happened` and `next_step` are sentences.

    `by_new_request`: once the cause is gone, a new request does what the refused one asked for.
    """

    happened: str
    next_step: str
    fault: Fault
    by_new_request: bool = False

    @property
    def after_refusal(self) -> str:
        """What to do about a request that was refused with this code."""
        if not self.by_new_request:
            return self.next_step
        return f"{self.next_step.removesuffix('.')}, then make a new request."


NO_ANSWER: Final = "Your card provider gave no usable answer."

MESSAGES: Final[Mapping[str, ErrorMessage]] = {
    "BAD_REQUEST": ErrorMessage(
        "Your card provider refused this as invalid.",
        "Check what you requested.",
        Fault.YOURS,
        by_new_request=True,
    ),
    "INVALID_NAME": ErrorMessage(
        "Your card provider refused the cardholder name.",
        "Correct the name.",
        Fault.YOURS,
        by_new_request=True,
    ),
    "INVALID_EMAIL": ErrorMessage(
        "Your card provider refused the e-mail address.",
        "Correct the e-mail address.",
        Fault.YOURS,
        by_new_request=True,
    ),
    "INVALID_PHONE": ErrorMessage(
        "Your card provider refused the phone number.",
        "Correct the phone number.",
        Fault.YOURS,
        by_new_request=True,
    ),
    "PHONE_COUNTRY_NOT_ALLOWED": ErrorMessage(
        "Your card provider does not allow phone numbers from this country.",
        "Use a number from another country.",
        Fault.YOURS,
        by_new_request=True,
    ),
    "UNAUTHORIZED": ErrorMessage(
        "Your card provider did not accept the key: it is missing, unknown or revoked, or the account is suspended.",
        "Tell an admin.",
        Fault.EITHER,
    ),
    "INSUFFICIENT_FUNDS": ErrorMessage(
        "The float available is smaller than the amount.",
        "Fund the float or request a smaller amount.",
        Fault.YOURS,
        by_new_request=True,
    ),
    "FORBIDDEN": ErrorMessage("The API key lacks the scope for this call.", "Tell an admin.", Fault.YOURS),
    "NOT_FOUND": ErrorMessage(
        "Your card provider does not know this card or submission.",
        "Check the card, or the id of the submission.",
        Fault.YOURS,
        by_new_request=True,
    ),
    "ALREADY_PROCESSED": ErrorMessage(
        "Your card provider already knows this request and gives no result for it.",
        "Look at /requests before you request it again.",
        Fault.EITHER,
    ),
    "ALREADY_SUBMITTED": ErrorMessage(
        "Another account has already submitted this transaction hash.",
        "Contact your card provider if the money is yours.",
        Fault.YOURS,
    ),
    "ALREADY_CREDITED": ErrorMessage(
        "This transaction was already credited by other means.",
        "Find it in the ledger; there is nothing to do.",
        Fault.YOURS,
    ),
    "QUOTA": ErrorMessage(
        "The card allowance is used up, or your card provider's issuing capacity is full.",
        "Contact your card provider. Retrying won't help.",
        Fault.EITHER,
    ),
    "RATE_LIMITED": ErrorMessage(
        "Your card provider's rate limit was reached.", "Ask again in a minute.", Fault.YOURS
    ),
    "TOO_MANY_PENDING": ErrorMessage(
        "Five funding submissions are still unverified, and your card provider takes no sixth.",
        "Wait until some are found or rejected.",
        Fault.YOURS,
        by_new_request=True,
    ),
    "UPSTREAM_AUTH": ErrorMessage(
        "Your card provider could not sign in to its card processor.",
        "Ask again in a few minutes.",
        Fault.PROVIDER,
    ),
    "UNAVAILABLE": ErrorMessage(
        "Your card provider had an internal error.", "Ask again in a few minutes.", Fault.PROVIDER
    ),
}
