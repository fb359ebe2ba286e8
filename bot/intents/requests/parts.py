"""A message cut into its parts, each judged by itself: what asks, what only names a value, what tells the story around."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

_WHO: Final = r"(?:he|she|they|it|we|i|you|hes|shes|theyre|its|im|ive|he's|she's|it's|they're|i'm|i've|somebody|someone|§c\d+§)"
#: Where a story begins without a stop: `freeze §c1§ i dont trust that merchant`.
_TELLS: Final = (
    r"(?:he|she|they|hes|shes|theyre|he's|she's|they're|who|it's|its) (?=\w)|i (?:dont|don't|see|saw|think|suspect|cant|can't)|(?:somebody|someone) (?:in|is|has|used|stole|tried)"
    r"|want to (?:test|see|check)|hence|due to|reason"
)
#: After "for": the card, the person, the time; not a reason.
_WHOM: Final = r"(?:§|the (?:time|moment|card|§)|(?:his|her|their|this|that) (?:card|§)|card|good|ever|always|now|me|us|him|her(?! \w)|them|it|a (?:while|bit|moment)|account)"
_CUT: Final = re.compile(
    r"(?P<end>(?<![.!?;…])[.!?;…]+(?=\s|$))|\s*(?<![^\x00-\x7f\w\s§])[^\x00-\x7f\w\s§]+(?=\s|$)|\n|\s*[,:()|\[\]]+\s*|\s+[-–—/]+>?(?=\s)|\s*→\s*"
    rf"|\s+(?=(?:so(?! (?:grateful|kind|good|much|pleased|glad|obliged|happy|very|as to)\b)|because|cause|cuz|coz|bcs|since|hence|therefore|but|otherwise|as (?:{_WHO}|his|her|their|our|my|the|this|there)(?! (?:below|above|following|attached|last|per)\b))\b)"
    rf"|\s+(?:and|n|&)\s+(?={_WHO}\s|would like (?:it|§c|(?:her|his|their|the) card)\b)|\s+(?=(?:can|could|would|will) (?:you|u|we|someone|somebody)\b)|(?<=[a-z§])\s+(?=you (?:can|may) (?:now |please )?(?:lift|lock|un|re|freeze|block|close|switch|turn|put|open|liquidate|load|top|take|pull|empty))"
    r"|\s+(?=(?:please|pls|plz|kindly)\s+\w+\s)|(?<=[a-z])\s+(?=(?:i|we) (?:would )?(?:hereby |therefore |kindly |now )*(?:ask|request) (?:you to|that|for|to)\b)"
    rf"|(?<=[§a-z])\s+(?=(?:{_TELLS})\b)|\s+(?=for (?!{_WHOM}))|\s+(?=(?:till|until|til|while) (?:we|i|he|she|they|it|someone|somebody|she's|he's|they're|it's|i'm)\b)"
)
#: Before a name, where its stop ends no sentence.
_TITLE: Final = re.compile(
    r"\b(?:mr|ms|mrs|miss|dr|prof|herr|frau|madam|sir|chief|oga|engr|colleague)\.?\s+(?=§[cm])"
)
_UNFINISHED: Final = re.compile(
    r"\b(?:thinks?|thought|believes?|says?|said|told (?:me|us)|tells? (?:me|us)|knows?|confirmed|intimated|that|which|who|when|if|once|unless|until|till|before|after|than|provided|where|because|whether|^\W*i|^\W*we|hear|heard|not|never|dont|don't|doesn't|doesnt|didn't|(?:^|[,;] ?|so |and )(?:can|could|may|might|would|shall))\s*$"
)
_JOINING: Final = re.compile(
    r"^(?:(?:so|and|then|but|also|because|cause|cuz|coz|since|hence|therefore|as|n|well|ok|okay|now|yes|yeah)\b[\s,]*)+"
)


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a message between two stops or joining words; `asked` where a question mark ends it."""

    text: str
    asked: bool = False
    joined: str = ""  # the word that joins it to the part before: "so", "because"
    sentence: int = 0
    colon: bool = False  # a colon ends it
    goes_on: bool = False  # it does not begin its sentence


def cut(text: str) -> list[Part]:
    """The parts of a masked, `spaced` text, in its order; empty ones left out."""
    return list(_cut(text))


@lru_cache(maxsize=16)  # one text is looked at from a dozen sides
def _cut(text: str) -> tuple[Part, ...]:
    return tuple(_parts(text))


_WHEN_WORDS: Final = frozenset(
    [
        "at",
        "by",
        "for",
        "in",
        "after",
        "from",
        "per",
        "until",
        "till",
        "on",
        "of",
        "the",
        "to",
        "every",
        "each",
        "within",
        "about",
        "only",
        "just",
        "next",
        "this",
        "that",
        "a",
        "an",
        "and",
        "or",
        "but",
        "not",
        "before",
        "during",
        "since",
        "week",
        "weeks",
        "day",
        "days",
        "month",
        "months",
        "time",
        "times",
    ]
)


def tells_enough(text: str) -> bool:
    """Is there more in a part than how often, for how long or when: a story of its own?"""
    words = re.findall(r"(?<!§)\b[a-z']{2,}\b", text)
    return len([word for word in words if word not in _WHEN_WORDS]) > 1


def _parts(text: str) -> Iterator[Part]:
    text = _TITLE.sub("", text)
    at = sentence = begun = 0
    for found in _CUT.finditer(text):
        if found[0].isspace() and _UNFINISHED.search(text[at : found.start()]):
            continue  # `Sofia thinks she lost it` is one thing
        stop = found["end"] or ""
        for part in _part(
            text[at : found.start()],
            sentence,
            asked="?" in stop,
            colon=":" in found[0],
            goes_on=begun == sentence + 1,
        ):
            yield part
            begun = sentence + 1
        at = found.end()
        sentence += bool(stop) or "\n" in found[0]
    yield from _part(text[at:], sentence, asked=False, goes_on=begun == sentence + 1)


_HEAD: Final = r"(?:i|we|he|she|they|it|you|there|them [a-z]+|those [a-z]+|(?:the|his|her|their|our|my|a|that|this|one of the|some) (?:[\w'’-]+ ){1,3}?|§c\d+§|[a-z]+)"
#: A story said in one breath before what is asked for: `them boys are going crazy at the pump | put …`.
_TALE: Final = re.compile(
    rf"^(?:(?:well|so|ok|okay|hey|hi|hon|look|listen|lord have mercy|good news|bad news|and|now|it turns out|turns out) )*(?!(?:whatever|what|everything|anything|all|please|pls|kindly|just|then|if|when|the rest)\b){_HEAD}(?:['’]s|['’]re|['’]m)? ?(?:(?:just|still|also|really|already|now|always) )*(?:is|are|was|were|am|has|have|had|got|lost|left|found|ran|drove|missed|took|paid|bought|spent|hit|blew|needs|went|came|goofed|messed|sent|put|broke|forgot|dropped|keeps?|won'?t|can'?t|cant|wont|ain'?t|didn'?t|doesn'?t|don'?t|hasn'?t|haven'?t|'s|'re|(?!(?:need|speed|feed|bleed|indeed|proceed|instead|red)\b)[a-z]{{2,}}ed)\b(?! to\b)"
)
_VERB_OF_OURS: Final = re.compile(
    r"(?<=[\w§]) (?=(?:go (?:on|ahead) and )?(?:put|set|make|cap|limit|freeze|unfreeze|block|unblock|lock|unlock|close|shut|order|change|send|drop|raise|lower|load|top up|take|pull|bring|return|unload|withdraw|transfer|refill|recharge|claw|run|move|bump|switch|turn|add|give|get|submit|thaw)"
    r" (?:§[ca]|it\b|(?:his|her|their|the|that|this) (?:card|daily|weekly|monthly|limit|phone|number|markup)\b|him a card|her a card|them a card|(?:back )?on §c))"
)
#: Behind these words a verb is somebody's.
_NOT_BEFORE_IT: Final = re.compile(
    r"(?:\b(?:i|we|he|she|they|you|it|me|him|us|them|her|who|that|which|to|not|never|and|or|then|please|pls|kindly|also|just|can|could|would|will|shall|should|must|may|might|do|did|does|let|lets|help|make|made|a|an|the|my|his|our|their|of|for|by|with|without|before|after|on|in|at|from|about|than|almost|nearly|always|often|usually|says?|said|asks?|asked|tells?|told|wants?|wanted|if|when|unless|until|till|because|so|but|had|have|has|is|are|was|were|be|been|go|going|gonna|wanna|gotta|need|needs|want|no|any|every|each|initial|first|opening|starting|credit|we've|i've|i'll|we'll|he'll|she'll|they'll|folks|people|guys|boys|staff|team|drivers|crew|accountants?|managers?|boss)|n'?t|['’]ll|['’]d)$"
)


def _in_one_breath(text: str) -> int:
    """Where a request begins behind a story without a stop; 0 where there is none."""
    if len(text) > _MOST_OF_A_BREATH or not _TALE.match(text):
        return 0
    for found in _VERB_OF_OURS.finditer(text):
        head = text[: found.start()]
        if (
            len(head.split()) >= _FEWEST_OF_A_TALE
            and not _NOT_BEFORE_IT.search(head)
            and not _WHO_DOES.search(head)
        ):
            return found.start()
    return 0


_MOST_OF_A_BREATH: Final = 400
_FEWEST_OF_A_TALE: Final = 5
_WHO_DOES: Final = re.compile(
    r"\b(?:who|whoever|that (?:work|drive|use|do|run)\w*|ask\w*|told|tell\w*|said|says?|if|unless|whether|when|let|made|had (?:me|us|him|her|them))\b"
)


def _part(
    text: str, sentence: int, *, asked: bool, colon: bool = False, goes_on: bool = False
) -> Iterator[Part]:
    bare = text.strip(" \t\n,:;.!?-–—/|()[]*")
    breath = _in_one_breath(bare)
    if breath:
        yield from _part(bare[:breath], sentence, asked=False, goes_on=goes_on)
        yield from _part(bare[breath:], sentence, asked=asked, colon=colon, goes_on=True)
    elif bare or asked:
        joined = _JOINING.match(bare)
        rest = bare[joined.end() :] if joined else bare
        yield Part(rest, asked, joined[0].strip(" ,") if joined else "", sentence, colon, goes_on)
