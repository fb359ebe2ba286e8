"""A card ordered as a list, in lines or with slashes, as the sentence that orders one: `new card → Ada Quist / +31 … / 200 on it`.

The separators become commas, whatever says what is to be on the card becomes `initial load 200`, and what stands behind that
becomes a sentence of its own. Only where a card is ordered with an address and a phone; any other text is left as it is.
"""

from __future__ import annotations

import re
from typing import Final

_ORDERED: Final = re.compile(
    r"\b(?:new|order|issue|another|one more|request|create|make|made|get|got|need|needs|want|wants)\b[^\n]{0,40}?\bcards?\b|\bcard (?:order|request|for|pls|please)\b|\bcards?\b[^\n]{0,20}\b(?:order|ordered|made|issued|needed)\b",
    re.IGNORECASE,
)
_LONGEST: Final = 600  # an order is no longer than that
_PHONE: Final = re.compile(r"\+\s?\d[\d ().-]{6,}\d")
_BEHIND_ORDER: Final = re.compile(
    r"(?P<order>\b(?:cards?|order|request)\b(?:\s+(?:pls|please|plz|for))*)\s*(?:→|:)\s*(?=[^\W\d_])",
    re.IGNORECASE,
)
_SLASH: Final = re.compile(r"\s+[/|•·→]\s+|\s*\n\s*[-*•]\s+")
_MONEY: Final = r"\$?\d[\d.,]*k?(?:\s?(?:usd|dollars|bucks|\$))?"
_BEGIN: Final = (
    r"(?:first|initial|opening|starting|start|load|preload(?:ed)?|begin|budget|balance|top-?up|amount)"
)
_ENDS: Final = r"(?=\s*(?:[,;\n!]|\.(?!\d)|$|\s(?:please|pls|plz|thanks|thx|ta|and|because|since|as|for)\b|\s[^\W\d]+\W*$))"
_ON_IT: Final = re.compile(
    rf"(?P<cut>[,;\n]\s*|\.\s+|\s+(?=and\b|then\b))(?:(?:and|then|also|please|pls|kindly|to|with|put|give|want|needs?)\s+)*"
    rf"(?:(?:{_BEGIN}|her|him|them|it|with|w/?|at|of|on|up|him off|her off)\s*[:=]?\s+)*(?P<before>{_BEGIN})?\s*[:=]?\s*(?:(?:w/?|with|at|of|it with|her with|him with|them with|is|:)\s+)*"
    rf"(?P<amount>{_MONEY})(?P<after>(?:\s+(?:(?:as |for )?(?:an? |the )?{_BEGIN}|to (?:start|begin)|on (?:it|the card|there)|with|for a start))*){_ENDS}",
    re.IGNORECASE,
)
_SAYS_SO: Final = re.compile(rf"\b(?:{_BEGIN}|on (?:it|the card|there)|to (?:start|begin))\b", re.IGNORECASE)
#: What follows the last value of the list: why it is ordered.
_BEHIND: Final = re.compile(
    rf"(?P<load>initial load {_MONEY})\s*[,;\n]\s*(?=[^\W\d_])(?![^\n]*[@+])", re.IGNORECASE
)


def as_an_order(text: str) -> str:
    """The text with such a list as a sentence."""
    if "@" not in text or len(text) > _LONGEST or not _ORDERED.search(text) or not _PHONE.search(text):
        return text
    text = _SLASH.sub(", ", _BEHIND_ORDER.sub(r"\g<order>: ", text))
    items = [found for found in _ON_IT.finditer(text) if _SAYS_SO.search(found[0])]
    if len(items) != 1:
        return text
    item = items[0]
    text = f"{text[: item.start()]}, initial load {item['amount'].strip()}{text[item.end() :]}"
    return _BEHIND.sub(r"\g<load>. ", text)


__all__ = ["as_an_order"]
