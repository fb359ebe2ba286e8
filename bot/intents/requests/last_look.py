"""The last look at a message before a form opens for it, whoever read it: nothing of the whole may speak against it.

It finds what stands far from the request: whose words they are, to whom they are said, a change of mind, a difference
instead of an amount, another thing of the same number.
"""

from __future__ import annotations

import re
from typing import Final

from bot.intents.model import Reading
from bot.intents.readings import Context
from bot.intents.recognition import spaced
from bot.intents.requests.around import introduces
from bot.intents.requests.wording import is_small

_BEFORE_COLON: Final = re.compile(r"^(?P<who>[^:>\n]{1,70})\s*(?::|>)\s+(?=\S)")
#: A request begins there by itself: `top up please: §c1§ with §a2§`.
_ASKS: Final = re.compile(
    r"\b(?:top(?:ping)?[ -]?up|topup|load|unload|freeze|unfreeze|block|unblock|lock|unlock|close|closure|order|issue|submit|book|set|limits?|card|markup|change|update|phone|mobile|number|threeds|funding|deposit"
    r"|need|please|kindly|request|action|particulars|could|can|would|hash|network|urgent|quick|pls|declare|register|transfer|reveal)\b|§|\bso\W*$"
)
_OF_SOMEWHERE: Final = re.compile(r"^§[cm]\d+§\s+(?:from|in|at|of)\b")
_REMARK: Final = re.compile(
    r"^\W*(?:fyi|todo|to[ -]?do|reminder|re|fwd?|subject|draft|template|log|minutes|caption|headline|note|memo|quote)\b"
    r"|\b(?:remind (?:me|us)|(?:ask|tell|let|have|get|want|allow|remind|beg) (?:him|her|them|somebody|someone|(?!you\b|after\b)[a-z][a-z'’-]*|§[cm]\d+§) to (?!be\b|the\b|this|that|it\b|§|his|her|my|a\b))\b"
)
_NAME: Final = r"[A-Z][\w'’-]*[a-z][\w'’-]*"
_ADDRESSED: Final = re.compile(
    rf"^\W*?(?P<who>@[\w'’.-]+(?: {_NAME}){{0,2}}|{_NAME}(?: {_NAME}){{0,2}}|§m\d+§)"
    r"(?:,? (?:please|pls|can|could|would|will)\b|, (?!(?:please|pls|kindly)\W*$))"
)
_GREETS: Final = frozenset(
    [
        "hi",
        "hello",
        "hey",
        "please",
        "pls",
        "kindly",
        "dear",
        "team",
        "good",
        "morning",
        "guys",
        "thanks",
        "sorry",
        "urgent",
        "now",
        "so",
        "and",
        "ok",
        "okay",
        "also",
        "then",
        "bot",
        "countersign",
        "folks",
        "all",
        "everyone",
        "yes",
        "quick",
        "hiya",
        "yo",
        "emergency",
        "morning",
        "afternoon",
        "evening",
        "just",
        "again",
    ]
)
_REPORTED: Final = re.compile(
    r"\b(?:mention\w*|recommend\w*(?! it)|promis\w+(?! (?:it to )?(?:him|her|them|§c\d+§)\b)(?<!i promised)(?<!i promise)|claim(?:s|ed)|texted|keeps? (?:repeating|saying)|suggest\w*|reckons?|insist\w* (?:that|we|to)|proposed?)\b"
    r"|(?:^|[.,;!]\s*)should (?!be\b)|\bin the event\b|\b(?:one|you|we|i) would (?:have to|then)\b|\b(?:it )?would be (?:best|better|wise|wiser|safer|smart|good|fine) (?:to|if)\b"
    r"|\b(?:yourself|myself)\b|\b(?:himself|herself|themselves|itself)\W*$"
)
_TAKEN_BACK: Final = re.compile(
    r"\bsecond thoughts?,? (?:no|not|leave|don'?t)\b|[.,;–-]\s*no(?:pe)?\b(?! (?:rush|hurry|more|longer|need to|receipts?|card|worries|problem|harm|idea|answer|reply|cash|money|trace|drama|one))|\boops\b|\bi mean(?=\s+(?:un|not|no\b|§|freeze|block|load|close|top|take|put))|\bi meant\b(?! another)|\bwrong (?:channel|chat|thread|window|person|group)\b"
    r"|\bnot that\b|\byeah,? right\b|^\W*done\b|(?<!is )(?<!was )\bdone\W*$|\bwait\b|\b(?:only )?a test\b|^\W*test\b|\bor was it\b|\bsorry,? (?:i meant|no|not|§[ac])"
)
_STATED: Final = re.compile(
    r"\b(?:thanks|thank you|sorry|apologies) for (?:un|re)?(?:freez|block|lock|clos|load|topp|putt|unload|tak|add|send|reveal)\w*ing\b|\bagree to\b|\bif you (?:like|wish|want)\b|\bby the (?:issuer|bank|provider)\b"
    r"|\b(?:next|coming|every|each) §[pl]|§c\d+§ (?:is |was )?no longer needed|\bmark-? ?up (?:is|was) (?:now )?§a|\bwas (?:booked|submitted|registered|reported|denied|refused|rejected)\b|"
    r"^\W*the §a\d+§|\btook (?:me |us |only )?(?:\w+ )?(?:minutes?|hours?|seconds?|days?|ages)\b|\bby (?:him|her|them)\W*$|^[^.,;]*\barrived\W*$"
)
#: An amount that the balance shall come to, or a part above a mark.
_NOT_BY: Final = {
    "topup_card": re.compile(
        r"\b(?:top(?:ped|ping)?[ -]?up|topup|fill(?: up)?|load|bring|raise|increase|up)\s+(?:§c\d+§|it|(?:the|her|his|that) card)\s+(?:up |back )?to §a|\b(?:failed|fails|missing|arrived?|rejected|refused|denied)\b|\b(?:above|over|below|under|until|till) §a|\bup to §a"
    ),
    "unload_card": re.compile(
        r"\b(?:above|over|below|under|except|but|leave|leaving|down to) §a|\bdown to\b"
    ),
    "set_markup": re.compile(
        r"\bby §a|\b(?:lower|raise|cut|bump|increase|decrease|reduce|drop|up)\s+(?:the |our |a )?(?:deposits? )?mark-? ?up\s+§a|§a\d+§ (?:more|less|up|down)\b"
    ),
    "reveal_card": re.compile(r"\b(?:was|had|been|were|denied|refused)\b"),
    "set_limits": re.compile(r"\bby §a|§a\d+§ (?:more|less)\b|\b(?:another|extra|additional) §a"),
}
_OTHER_THING: Final = re.compile(
    r"\b(?:close|unload|load|freeze|lock|unlock|block|suspend|pause|terminate|top up)\s+(?:the|a|my|our|this|that)\s+"
    r"(?!(?:cards?|crad|account|plastic|prepaid|one|old|new|said|following|freeze|hold|lock|block|sum|amount|rest|balance|limit|daily|weekly|monthly|same|virtual|physical|money|extra|usual|unused|whole|full|entire|remaining|company|corporate"
    r"|employee|marketing|ads?|spending|float|other|above|below|mentioned|respective|lost|stolen|missing|frozen|topup|top)\b)[a-z]+\s+(?:[a-z]+\s+){0,2}§c"
)
_WEEKDAY: Final = re.compile(
    r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b|\b(?:mon|tue|wed|thu|fri|sat|sun)\b", re.IGNORECASE
)


def stays_closed(reading: Reading, context: Context) -> bool:
    """Whether something in the whole message speaks against opening the form of this reading."""
    text = spaced(context.found.masked)
    if any(pattern.search(text) for pattern in (_REMARK, _REPORTED, _TAKEN_BACK, _STATED, _OTHER_THING)):
        return True
    if _speaks_somebody_else(text) or _is_addressed(context):
        return True
    if reading.intent in _NOT_BY and _NOT_BY[reading.intent].search(text):
        return True
    # "On Monday", said on a Monday, is the next one for most people; Black Friday is none.
    days = context.found.inside(text.replace("black §p", "black "), "period")
    return any(_WEEKDAY.search(day.written) for day in days) and not _tells(text)


def _speaks_somebody_else(text: str) -> bool:
    """`bob: …`, `her post-it: …`: whose words come after the colon?"""
    found = _BEFORE_COLON.search(text)
    if found is None or is_small(found["who"]):
        return False
    who = found["who"].strip()
    return introduces(who) and (_ASKS.search(who) is None or _OF_SOMEWHERE.match(who) is not None)


def _is_addressed(context: Context) -> bool:
    """Is it said to a person: `Bob, please …`, `@O'Neill can you …`?"""
    found = _ADDRESSED.search(context.found.cased)
    if found is None:
        return False
    who = found["who"].lstrip("@").lower()
    return not any(word in _GREETS for word in who.split()) and _ASKS.search(who) is None


def _tells(text: str) -> bool:
    """Does the day stand in a story of its own, apart from the request?"""
    return (
        re.search(
            r"(?:^|[.,;!\n])[^.,;!\n]*\b(?:was|is|since|left|lost|had|has|last|in|from|came|will|until|for|works?|until|\w+ed)\b[^.,;!\n]*§p",
            text,
        )
        is not None
    )


__all__ = ["stays_closed"]
