"""Sends an approved request once, whatever dies in between, and finds out what became of it.

Nothing is sent before the claim is committed; one request has one idempotency key, permanently; an outcome that
nobody knows is unresolved, never failed.
"""

from bot.services.execution.card_details_access import NotShown, Shown
from bot.services.execution.executor import due, execute

__all__ = [
    "NotShown",
    "Shown",
    "card_details_access",
    "due",
    "execute",
    "maintenance",
    "try_now",
]
