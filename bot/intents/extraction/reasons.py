"""Why something is requested, where its message says so: what follows "because", "for the", or a comma and "he"."""

from __future__ import annotations

import re
from typing import Final

from bot.domain.late_patterns import late

_SHORTEST, _LONGEST = 4, 200
_WHY: Final = late(
    r"(?:\bbecause\s+(?!of\b)|\breason\s*:\s*|(?:\bas|\bsince|[.,;:!–—-])\s+(?=(?:he|she|they|his|her|their|someone"
    r"|somebody)\b)|\bfor\s+(?=(?:the|an?|his|her|their|our)\s)(?!\w+\s+(?:card|moment|time|day|week|month|year|amount"
    r"|limit|good)s?\b))(?P<reason>[^\n]+)$",
    re.IGNORECASE,
)
_POLITE: Final = late(r"[\s.,;!]*(?:\b(?:please|pls|thanks|thank you|thx)\b)?[\s.,;!]*$", re.IGNORECASE)
# A digit or an address may be a card, a phone or an amount: such a reason is for its writer to type.
_PRIVATE: Final = late(r"[0-9@<>§]")


def reason_in(text: str) -> str:
    """The reason for the form, to be checked by its writer; "" where the message gives none or one with figures."""
    found = _WHY.search(text)
    if found is None:
        return ""
    reason = _POLITE.sub("", found["reason"]).strip()
    if _PRIVATE.search(reason) or not _SHORTEST <= len(reason) <= _LONGEST:
        return ""
    return reason[0].upper() + reason[1:]
