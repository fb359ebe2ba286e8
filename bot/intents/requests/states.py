"""How a card is now, said beside a request: `activate the frozen card of Will` stops nothing.

A participle before the card is a word for the card, never what is asked for. Behind it (`4402 blocked, open it again`) it
counts so where the message holds a word that undoes it. Who says the verb itself (`freeze the closed one`) asks for it.
"""

from __future__ import annotations

import re
from typing import Final

_STATE: Final = r"(?:frozen|freezed|froze|blocked|locked|closed|suspended|paused|disabled|deactivated|stopped|halted|inactive|cancelled|canceled|terminated|iced)"
#: What may be undone: nobody opens a closed card again.
_NOT_FINAL: Final = r"(?:frozen|freezed|blocked|locked|suspended|paused|disabled|deactivated|halted|inactive)"
_STILL: Final = r"(?:(?:is|was|are|still|now|currently|already|that|which|has been|got|been|,)\s*)"
#: `the frozen card`, `blocked §c1§`; `I want it blocked` and `to be frozen` have the card before it.
_A_CARD: Final = r"(?=(?:(?:prepaid|company|virtual|physical|corporate|fuel|travel)\s+)?(?:cards?|one|plastic|account|prepaid)\b|§c)"
_BEFORE_THE_CARD: Final = re.compile(rf"\b{_STATE}\s+{_A_CARD}")
_LEFT_OUT: Final = re.compile(rf"\b{_NOT_FINAL}\s+{_A_CARD}")
_BEHIND_THE_CARD: Final = re.compile(rf"§c\d+§(?:\s+(?:card|one))?[\s,]*{_STILL}*{_STATE}\b")
_UNDOES: Final = re.compile(
    r"\b(?:re-?|un-?)?(?:activat\w*|enabl\w*|open(?:ed|ing)?|instat\w*|releas\w*|resum\w*|restor\w*|liberat\w*)\b|\b(?:un|de)-?(?:freez|froz|block|lock|paus|suspend|ic)\w*"
    r"|\b(?:thaw|defrost)\w*|\bfree\b|\blift\w*|\busable\b|\bagain\b|\bonce more\b|\bactive\b|\blive\b(?! in\b)|\bback (?:from|in|at|home|to)\b|\bfound(?: it| (?:her|his|the|their) (?:card|wallet|purse|bag|phone))?\W*(?:$|[,.;!])|\bfound it\b|\b(?:switch|turn|bring|put|get|set|make)\b[^.;!?]{0,40}\b(?:on|back|works?|working|live|active)\b"
)
_STOPS: Final = re.compile(
    r"(?<!un )(?<!de )(?<!un-)(?<!de-)\b(?:freeze|block|lock|suspend|pause|disable|deactivate|stop|halt|close|terminate|cancel|kill|shut|retire|delete)\b"
)


def without_states(text: str) -> str:
    """A masked text without the words that tell how its card is now, as far as they stand before it."""
    return _LEFT_OUT.sub("", text)


def only_tells_a_state(text: str) -> bool:
    """Is the only word of a masked text that could stop a card one for how it is?"""
    if _STOPS.search(text):
        return False
    return _BEFORE_THE_CARD.search(text) is not None or (
        _BEHIND_THE_CARD.search(text) is not None and _UNDOES.search(text) is not None
    )


__all__ = ["only_tells_a_state", "without_states"]
