"""What may stand in a log line or an error message, when the text came from outside.

The API's `error` sentences are plain English and may repeat what was sent. So whatever was private in
the request is cut out by its value, and what looks like a secret or a contact by its form.
"""

import re
from collections.abc import Collection
from typing import Any

from bot.partner import codec

REMOVED = "[removed]"
"""Stands where something private was."""

# Fields of request bodies that are personal [POST /cards, PUT phone].
_PRIVATE_FIELDS = frozenset({"card_holder_name", "phone", "email"})
_LONGEST = 500

_FORMS = (
    re.compile(r"svc_(?:live|test)_[0-9A-Za-z]+"),
    re.compile(r"whsec_[0-9A-Za-z_-]+"),
    re.compile(r"https?://\S+", re.IGNORECASE),
    re.compile(r"[^\s@<>\"']+@[^\s@<>\"']+\.[^\s@<>\"']+"),
    # Seven digits or more on their own, written together or in groups: phones, card numbers. Amounts,
    # UUIDs and hashes are not on their own or not that long.
    re.compile(r"(?<![0-9A-Za-z.,-])\+?[0-9](?:[ ()-]{0,2}[0-9]){6,18}(?![0-9A-Za-z-]|[.,][0-9])"),
)


def private_values(body: bytes | None) -> frozenset[str]:
    """The personal values in a request body, so that an answer that repeats them can be cleaned."""
    if not body:
        return frozenset()
    try:
        fields = codec.decode(body)
    except codec.BadJson:
        return frozenset()
    if not isinstance(fields, dict):
        return frozenset()
    return frozenset(
        value for name in _PRIVATE_FIELDS if isinstance(value := fields.get(name), str) and value
    )


def redact(text: Any, private: Collection[str] = ()) -> str:
    """`text` with secrets, contacts and the `private` values replaced, control characters dropped, cut short.

    Anything that is not a string gives the empty string.
    """
    if not isinstance(text, str):
        return ""
    clean = "".join(char if char.isprintable() else " " for char in text)
    for value in sorted(private, key=len, reverse=True):
        clean = re.sub(re.escape(value), REMOVED, clean, flags=re.IGNORECASE)
    for form in _FORMS:
        clean = form.sub(REMOVED, clean)
    return clean if len(clean) <= _LONGEST else clean[: _LONGEST - 1] + "…"
