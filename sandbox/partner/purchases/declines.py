"""Why a purchase is declined: the closed list of codes, each with a sentence and what to expect of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

from sandbox.partner.schemas import scrambled

DeclineCode = Literal[
    "insufficient_card_balance",
    "issuer_funds_unavailable",
    "daily_limit_exceeded",
    "weekly_limit_exceeded",
    "monthly_limit_exceeded",
    "single_purchase_limit_exceeded",
    "velocity_limit_exceeded",
    "card_blocked",
    "fraud_risk_declined",
    "security_check_failed",
    "merchant_category_blocked",
    "processing_error",
    "authorization_timeout",
    "unknown",
]
CODES: tuple[str, ...] = get_args(DeclineCode)


@dataclass(frozen=True)
class _Meaning:
    message: str
    retryable: bool = False


_MEANINGS: dict[str, _Meaning] = {
    "insufficient_card_balance": _Meaning("The card does not hold enough for this purchase."),
    "issuer_funds_unavailable": _Meaning("The purchase could not be funded right now.", retryable=True),
    "daily_limit_exceeded": _Meaning("The card's daily limit is used up."),
    "weekly_limit_exceeded": _Meaning("The card's weekly limit is used up."),
    "monthly_limit_exceeded": _Meaning("The card's monthly limit is used up."),
    "single_purchase_limit_exceeded": _Meaning("The purchase is above the limit for one purchase."),
    "velocity_limit_exceeded": _Meaning("Too many purchases in a short time."),
    "card_blocked": _Meaning("The card cannot be used."),
    "fraud_risk_declined": _Meaning("The purchase was declined for security."),
    "security_check_failed": _Meaning("A security check of the purchase failed."),
    "merchant_category_blocked": _Meaning("Purchases at this kind of merchant are not allowed."),
    "processing_error": _Meaning("The purchase could not be processed.", retryable=True),
    "authorization_timeout": _Meaning("The purchase was not answered in time.", retryable=True),
    "unknown": _Meaning("The purchase was declined."),
}


def reasons() -> list[dict[str, str]]:
    """Every code with its sentence."""
    return [{"code": code, "message": meaning.message} for code, meaning in _MEANINGS.items()]


def reason(code: str, card_blocked: bool, profile: str) -> dict[str, Any]:
    """The decline_reason object.

    `scrambled` gives `unknown` a code outside the list (U13) and leaves `retryable` out (U14).
    """
    meaning = _MEANINGS[code]
    facts = {"code": code, "message": meaning.message, "retryable": meaning.retryable}
    if profile == "scrambled":
        facts["code"] = scrambled(code) if code == "unknown" else code
        del facts["retryable"]
    return {**facts, "card_blocked": card_blocked}
