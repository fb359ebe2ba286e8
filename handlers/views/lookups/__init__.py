"""The answers to look-ups: cards, float, ledger, funding, requests, status, webhook, exports."""

from handlers.views.lookups.cards import Button

__all__ = [
    "Button",
    "cards",
    "exports",
    "float_and_ledger",
    "funding",
    "otp_recipients",
    "request_lists",
    "spend",
    "status",
    "webhook",
]
