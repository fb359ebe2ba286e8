"""What alerts are: every kind with its words, its severity, its buttons and its end, and when a figure is worth one.

`catalogue` has all kinds by name. The row of each stands in the file of its subject, with its title, its text and how
it says that it is over: `float_alerts`, `funding_alerts`, `account_alerts` (allowance, key, reading), `decline_alerts`,
`card_alerts`, `otp_alerts`, `delivery_alerts` (webhook, inbox, relay, messages), `people_alerts` (pauses, shifts, …),
`passkey_alerts`, `process_alerts`, `request_alerts`. `alert_rules` says when a float, an allowance or a submission is
worth an alert, `decline_causes` what the codes of declines mean. Pure: raising alerts is the work of
`bot.services.alerts`.
"""

from bot.domain.alerts.alert_kind import (
    CLOSED_BY_HAND,
    RECEIVED_LATE,
    AlertKind,
    Button,
    Ended,
    Remedy,
    Said,
    Severity,
)
from bot.domain.alerts.alert_rules import Alerting, DeclineAlert, FloatAlert

__all__ = [
    "CLOSED_BY_HAND",
    "RECEIVED_LATE",
    "AlertKind",
    "Alerting",
    "Button",
    "DeclineAlert",
    "Ended",
    "FloatAlert",
    "Remedy",
    "Said",
    "Severity",
    "account_alerts",
    "alert_rules",
    "card_alerts",
    "catalogue",
    "decline_alerts",
    "decline_causes",
    "delivery_alerts",
    "float_alerts",
    "funding_alerts",
    "otp_alerts",
    "passkey_alerts",
    "people_alerts",
    "process_alerts",
    "request_alerts",
]
