"""What people on duty do apart from requests: pause and resume, confirm each other, hand over, name code recipients.

A pause stops sending at once and takes one person; resuming takes two, as switching off draft only does. Programs and
their keys, delegations, which processes there are and which leads, and the minute of a key that they share are
here too.
"""

from bot.services.operators.leadership import Leader
from bot.services.operators.rate_minute import StoredMinute
from bot.services.operators.replicas import Replica

__all__ = [
    "Leader",
    "Replica",
    "StoredMinute",
    "changed_rows",
    "confirmation_answers",
    "confirmations",
    "delegations",
    "draft_only",
    "handover",
    "health",
    "otp_recipients",
    "pausing",
    "programs",
    "replicas",
]
