"""Conditions that somebody should look at: raised, kept, answered by people, resolved.

One open alert for each condition, however often it is seen; the message is edited in place and its thread is the
history. The `*_rules` modules turn readings of the API into conditions; `alert_actions` holds what people do with an
alert; `remedies` the request that would solve it.
"""

from bot.services.alerts.lifecycle import (
    called,
    called_by_line,
    facts_of,
    keep,
    raise_,
    resolve,
    tell,
    thread_line,
)

__all__ = [
    "alert_actions",
    "called",
    "called_by_line",
    "card_rules",
    "decline_rules",
    "facts_of",
    "float_rules",
    "funding_rules",
    "keep",
    "ledger_rules",
    "put_back_rules",
    "raise_",
    "remedies",
    "resolve",
    "tell",
    "thread_line",
    "unsent_debits",
    "urgent_rules",
    "view_models",
    "webhook_rules",
]
