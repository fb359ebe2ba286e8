"""Submitted modals: fields become a preview, a preview a request, a confirmation a decision."""

from handlers.modals.submissions import approve, cancel, cards, form, preview, reject, resolve

__all__ = [
    "approve",
    "batches",
    "cancel",
    "cards",
    "form",
    "preview",
    "reject",
    "resolve",
]
