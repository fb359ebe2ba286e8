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


#: `without the number`, `w/o pan`, `number not required`: nobody wants to see it. Not `not only the number`.
_NUMBER: Final = r"(?:(?:the |its |his |her |their |a |any |full |whole |entire |complete |card |long |16-digit |§[xak]\d+§ )*(?:card )?(?:number|pan|digits|nr))"
_WITHOUT: Final = re.compile(
    rf"\b(?:without|w/o|with o|w/out|with out|sans|minus|except(?: for)?|excluding|excl\.?|omitting|but not|and not|not|no|no need (?:for|of)|leave (?:out|off)|skip|hide|don['’]?t (?:need|want|show|send|give)(?: me)?|do not (?:need|want|show|send|give)(?: me)?) {_NUMBER}\b(?! of (?:requests|cards|payments|purchases))"
    rf"|\b{_NUMBER} (?:is |are )?(?:not (?:required|needed|necessary|wanted|included|asked for)|excluded|omitted|left out|aside|apart)\b|\bnever ?mind {_NUMBER}\b"
)
_SHOWN: Final = re.compile(
    r"\b(?:details?|particulars?|info|information|status|data|profile|record|summary|overview|usual|bits|basics|essentials|share|show|tell|see|look|pull up|bring up|what(?:['’]s| is)|who|have|get|give|send)\b"
)


def asks_without_number(masked: str) -> bool:
    """Does a masked text ask what a card is, and say that its number is not wanted?"""
    text = masked.lower()
    return _WITHOUT.search(text) is not None and _SHOWN.search(_WITHOUT.sub(" ", text)) is not None


def lookup_meant(intent: str, masked: str) -> str:
    """The look-up that a masked text asks for, though it was read as a request of this intent; empty where it is none."""
    meant, pattern = _MEANT.get(intent, ("", None))
    return meant if pattern is not None and pattern.search(_WITHOUT.sub(" ", masked.lower())) else ""


__all__ = ["asks_without_number", "lookup_meant"]
