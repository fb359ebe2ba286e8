"""Is this database an older copy of itself? Then a start begins safe mode.

It looks at the ledgers and at the messages in Slack. Safe mode itself is in `bot.services.operators.safe_mode`.
"""

__all__ = ["copy_detection", "messages_in_slack"]
