"""Pressed buttons. A button carries an id and a version, never a value: the database decides."""

from handlers.buttons.requests import anything, edit, open_form, request, share

__all__ = [
    "alerts",
    "anything",
    "card_details",
    "edit",
    "open_form",
    "paging",
    "passkey_links",
    "pause",
    "request",
    "share",
]
