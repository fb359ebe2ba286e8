"""Causes of a decline in plain words: what happened, whether a retry can help, what to do.

`retryable` and `card_blocked` of the decline decide, not its code; codes are an open list [decline_reason].
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from bot.domain.alerts.alert_kind import Remedy

BLOCKED = "card_blocked"  # a code of the API
SEVERE = frozenset({"fraud_risk_declined", "security_check_failed", BLOCKED})


@dataclass(frozen=True, slots=True)
class Cause:
    """`what` completes "declined: …"; `next_step` is a sentence; `remedy` what can be done here, if anything."""

    what: str
    next_step: str
    remedy: Remedy | None = None


_CAUSES: Mapping[str, Cause] = {
    "insufficient_card_balance": Cause(
        "the card does not hold enough",
        "Top up the card, then the cardholder can try again.",
        Remedy.TOP_UP_CARD,
    ),
    "issuer_funds_unavailable": Cause(
        "your card provider could not fund the purchase", "Contact your card provider if it keeps happening."
    ),
    "daily_limit_exceeded": Cause(
        "the card's daily limit is used up", "Raise the limit or wait.", Remedy.RAISE_CARD_LIMITS
    ),
    "weekly_limit_exceeded": Cause(
        "the card's weekly limit is used up", "Raise the limit or wait.", Remedy.RAISE_CARD_LIMITS
    ),
    "monthly_limit_exceeded": Cause(
        "the card's monthly limit is used up", "Raise the limit or wait.", Remedy.RAISE_CARD_LIMITS
    ),
    "single_purchase_limit_exceeded": Cause(
        "the purchase is above what one purchase may cost",
        "Split the purchase; this ceiling cannot be raised.",
    ),
    "velocity_limit_exceeded": Cause(
        "too many purchases in a short time", "Wait. More attempts can get the card blocked."
    ),
    BLOCKED: Cause(
        "the card is not usable",
        "If it is frozen, find out who froze it and why before anybody unfreezes it; if it is BLOCKED, only your"
        " card provider can unblock it.",
    ),
    "fraud_risk_declined": Cause(
        "the purchase looked like fraud", "Ask the cardholder whether it was theirs; freeze the card if not."
    ),
    "security_check_failed": Cause(
        "a security check failed, such as a wrong CVV or expiry",
        "Ask the cardholder to check what they typed. Repeated failures can get the card blocked.",
    ),
    "merchant_category_blocked": Cause(
        "purchases at this kind of merchant are not allowed", "Buy elsewhere, or ask your card provider."
    ),
    "processing_error": Cause(
        "the purchase could not be processed", "Contact your card provider if it keeps happening."
    ),
    "authorization_timeout": Cause(
        "nobody answered the purchase in time", "Contact your card provider if it keeps happening."
    ),
    "unknown": Cause("your card provider gave no reason", "Ask your card provider if it keeps happening."),
}


def cause_in_words(code: str) -> Cause:
    """The cause behind a code; one that is not known is shown as it is."""
    return _CAUSES.get(code) or Cause(
        f"your card provider says {code}", "Ask your card provider what it means."
    )


def retry_in_words(retryable: bool | None) -> str:
    if retryable is None:
        return "Whether a retry can help is not known."
    return "A retry can help." if retryable else "Retrying won't help."


def is_severe(code: str, card_blocked: bool | None) -> bool:
    """Worth a message for each card: fraud, security, a blocked card."""
    return bool(card_blocked) or code in SEVERE
