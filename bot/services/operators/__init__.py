"""What people on duty do apart from requests: pause and resume, confirm each other, hand over, name code recipients.

A pause stops sending at once and takes one person; resuming takes two. Programs and their keys, delegations, and
which process leads are here too.
"""

from bot.services.operators.leadership import Leader

__all__ = [
    "Leader",
    "confirmation_answers",
    "confirmations",
    "delegations",
    "handover",
    "health",
    "otp_recipients",
    "pausing",
    "programs",
]
