"""What people on duty do apart from requests: pause and resume, confirm each other, hand over, name code recipients.

A pause stops sending at once and takes one person; resuming takes two, as switching off draft only does. Programs and
their keys, delegations, and whether the database is as it was left are here too.
"""

__all__ = [
    "changed_rows",
    "confirmation_answers",
    "confirmations",
    "deep_check",
    "delegations",
    "draft_only",
    "handover",
    "health",
    "key_change",
    "late_stops",
    "otp_recipients",
    "pausing",
    "people_watch",
    "programs",
    "safe_mode",
]
