"""Sends an approved request once, whatever dies in between, and finds out what became of it.

Nothing is sent before the claim is committed; one request has one idempotency key, permanently; an outcome that
nobody knows is unresolved, never failed.
"""

from bot.services.execution.card_details_access import NotShown, Shown
from bot.services.execution.ending_without_a_call import lost_with_a_copy
from bot.services.execution.executor import execute
from bot.services.execution.queues import AT_ONCE, Queue, due, every_queue

__all__ = [
    "AT_ONCE",
    "NotShown",
    "Queue",
    "Shown",
    "card_details_access",
    "due",
    "every_queue",
    "execute",
    "lost_with_a_copy",
    "maintenance",
    "try_now",
]
