"""Look-ups in the words of a request: `could I have the balance on ads-eu`, `bring up the details of jonas-w`."""

from __future__ import annotations

import re
from typing import Final

#: Intent of a form -> the look-up that is meant where the pattern fits.
_MEANT: Final = {
    "unload_card": (
        "card_balance",
        re.compile(
            r"\b(?:have|get|see|know|bring up|pull up|give me|send me|tell me|show me|share|grab|fetch|check|look up)\b(?: \w+){0,3}? balances?\b"
            r"(?!.*\b(?:back|off|out|home|return\w*|unload\w*|float|pot|pool|main account|empt\w*|drain\w*|sweep\w*|withdr\w*|take|taken|move\w*|transfer\w*|recall\w*)\b)"
        ),
    ),
    "reveal_card": (
        "card_show",
        re.compile(
            r"^(?!.*\b(?:links?|reveal\w*|unmask\w*|unhide|full|whole|entire|complete|numbers?|digits|secure\w*|safe\w*|disclos\w*|protected|pan)\b)",
            re.DOTALL,
        ),
    ),
}


def lookup_meant(intent: str, masked: str) -> str:
    """The look-up that a masked text asks for, though it was read as a request of this intent; empty where it is none."""
    meant, pattern = _MEANT.get(intent, ("", None))
    return meant if pattern is not None and pattern.search(masked.lower()) else ""


__all__ = ["lookup_meant"]
