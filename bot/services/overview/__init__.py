"""The bot as a whole: Home, status, policy, what-if, exports.

Reads the other rooms; nothing else imports this one.
"""

from bot.services.overview.export_rows import KINDS, ExportSpec

__all__ = [
    "KINDS",
    "ExportSpec",
    "alert_list",
    "exports",
    "home",
    "policy_lookups",
    "status",
    "what_if",
]
