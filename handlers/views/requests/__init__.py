"""A request in Slack: its card in each state, its form and preview, the modals of a decision, batches."""

from handlers.views.requests.forms import REASON, Filled, loading, trouble

__all__ = [
    "REASON",
    "Filled",
    "approval_modals",
    "batch",
    "forms",
    "loading",
    "request_card",
    "states",
    "trouble",
]
