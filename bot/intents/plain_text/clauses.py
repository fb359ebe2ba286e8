"""A masked text cut into clauses, and what speaks against acting on one: a "no", an "if", a "she said"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

ACTION_VERBS: Final = (
    r"top(?:ping)?[ -]?up|load|reload|unload|recharge|fund|credit|add|put|give|freeze|lock"
    r"|block|suspend|pause|disable"
    r"|deactivate|turn|switch|unfreeze|un-freeze|unlock|unblock|reactivate|activate|defrost|resume|re-enable|enable"
    r"|release|lift|remove|close|cancel|terminate|kill|shut|delete|take|pull|withdraw|claw|debit|deduct|return|reduce"
    r"|empty|drain|set|change|raise|lower|increase|decrease|update|cap|limit|submit|book|register|claim|order|issue"
    r"|create|route|move|transfer|stop|approve|reject"
)
_READ_VERBS: Final = (
    r"show|list|tell|what|what's|whats|how|how's|which|who|why|where|when|give me|check|explain"
)
_SOFT: Final = r"(?:please|pls|plz|also|then|just|now|kindly|can you|could you|and|so|instead)"
_SPLIT: Final = re.compile(
    r"(?P<line>\s*\n\s*)|(?P<stop>(?<![.!?;…])[.!?;…]+(?=\s|$))|(?P<dash>\s+[-–—]+\s+)"
    rf"|(?P<join>(?:\s*,|\s+(?:and|then|but|also|plus|so|&)(?=\s)){{1,4}}\s*(?=(?:{_SOFT}\s+){{0,6}}"
    rf"(?:{ACTION_VERBS}|{_READ_VERBS}|do not|don't|dont|never)\b))"
)

_NEGATION: Final = re.compile(
    r"\b(?:not|never|no|nobody|none|neither|nor|without|don'?t|do not|doesn'?t|didn'?t|won'?t|wouldn'?t|can'?t|cannot"
    r"|couldn'?t|shouldn'?t|isn'?t|wasn'?t|aren'?t|weren'?t|hasn'?t|haven'?t|hadn'?t|mustn'?t|needn'?t|aint|ain't"
    r"|no need|rather|instead of|avoid|refrain|forget|nvm|never ?mind|except|stop (?:the )?\w+ing|hold off on"
    r"|abort|undo|scrap|scratch|ignore|disregard|nope|nah|n't)\b|\bdont\b|(?<=\w)n't\b"
)
_HARMLESS_NO: Final = re.compile(
    r"\buntil further notice\b|\bno (?:longer|rush|hurry|worries|problem|stress)\b|\bnot"
    r" (?:urgent|needed any ?more|working|a problem)\b"
    r"|\b(?:can'?t|cannot|couldn'?t) (?:find|pay|use|locate)\b|\bnot only\b|\bif (?:you"
    r" )?(?:can|could|possible|you don't mind)\b"
    r"|\bwhen you (?:can|have (?:a )?(?:time|minute|moment|sec(?:ond)?))\b|\b(?:she|he|they"
    r"|we|i) (?:said|says) (?:thanks|hi)\b"
)
_DOUBT: Final = re.compile(
    r"\b(?:if|unless|whether|in case|once(?! (?:and )?for all\b)|when"
    r"|whenever|before|after|depending|assuming|provided|suppose|supposing"
    r"|should|would have|maybe|perhaps|might|may|possibly|considering|thinking|wondering|wonder|consider|eventually"
    r"|at some point|some ?day|sometime|hypothetically|what if|imagine|for example|e\.g|example"
    r"|said|says|say|saying|asked|asks|ask|asking|told|tell|tells|wrote|writes|written|wants"
    r"|wanted|want (?:him|her|them|us|me)"
    r"|suggest(?:ed|s)?|claim(?:s|ed)|according|mentioned|requested|heard|thinks?|thought|reckons?|supposed|meant"
    r"|was going|were going|was about|going to|gonna|planning|plan to|promised|already|did|why|is it|are we|who"
    r"|until|till|test(?:ing)?|pretend|joking|jk|kidding)\b|§ (?:was|were|would|will)\b"
)
_REPORT_END: Final = re.compile(
    r"\b(?:e\.?g|said|says|asked|asks|told|wrote|writes|quote|message|from \w+|wants|wanted"
    r"|if|unless|example|whether)\b[^\n]*$"
)
_TAKEN_BACK: Final = re.compile(
    r"^(?:actually |oh |sorry |wait |no |ok |hmm )*(?:no|not|nope|nah|don'?t|do not|wait"
    r"|hold on|stop|jk|just kidding|never ?mind|nvm"
    r"|scratch that|cancel that|ignore (?:that|this|me)|forget (?:it|that)|not really"
    r"|kidding|undo|or not|not yet|not now"
    r"|disregard(?: that)?|maybe not|on second thought|my mistake|wrong (?:chat|channel"
    r"|thread)|oops)(?:\s*,?\s*(?:thanks|sorry|please))?$"
)
_ENDS_NEGATED: Final = re.compile(
    r"(?:\b(?:not|never|do not|no)|\bdon'?t|\bwon'?t|\bcan'?t|n't)(?: ever| please| you| we)?\s*[,:]?$"
)

_BARE_DONT: Final = re.compile(
    rf"^(?:\w+[\s,]+){{0,3}}?(?:do not|don'?t|never|not)\b(?! (?:worry|mind|panic"
    rf"|urgent))(?:(?!\b(?:{ACTION_VERBS})\b).)*$"
)


@dataclass(frozen=True, slots=True)
class Clause:
    """`asked` = it ends in a question mark; `sentence` tells which clauses belong together.

    `negated` and `doubted` speak against acting on it.
    """

    text: str
    sentence: int
    asked: bool = False
    negated: bool = False
    doubted: bool = False


def split(masked: str) -> list[Clause]:
    """The clauses of a masked text in its order, empty ones left out."""
    clauses = list(_cut(masked))
    clauses = [replace(c, negated=is_negated(c.text), doubted=is_doubted(c.text)) for c in clauses]
    taken_back = 0  # all that stands before is
    for index, clause in enumerate(clauses):
        following = clauses[index + 1] if index + 1 < len(clauses) else None
        if following is not None and _reaches_on(clause, following):
            clauses[index + 1] = replace(
                following,
                negated=following.negated
                or bool(_ENDS_NEGATED.search(clause.text) or _bare_dont(clause, following)),
                doubted=following.doubted or clause.doubted,
            )
        if _TAKEN_BACK.match(clause.text):
            taken_back = index
    return [replace(c, negated=True) if n < taken_back else c for n, c in enumerate(clauses)]


def _cut(masked: str) -> Iterator[Clause]:
    at = sentence = 0
    for found in _SPLIT.finditer(masked):
        text = masked[at : found.start()].strip(" ,:\t")
        stop = found["stop"] or ""
        if text:
            yield Clause(text, sentence, asked="?" in stop)
        at = found.end()
        if found["line"] or stop:
            sentence += 1
    text = masked[at:].strip(" ,:\t")
    if text:
        yield Clause(text, sentence)


def _reaches_on(clause: Clause, following: Clause) -> bool:
    """Does what is said of the first hold for the second? Within a sentence, and after a bare "don't" or "he said"."""
    if clause.sentence == following.sentence:
        return clause.doubted or bool(_ENDS_NEGATED.search(clause.text)) or _bare_dont(clause, following)
    return bool(_ENDS_NEGATED.search(clause.text) or _REPORT_END.search(clause.text))


def _bare_dont(clause: Clause, following: Clause) -> bool:
    """`Do not, under any circumstances, freeze it`: the "not" waits for its verb."""
    return clause.sentence == following.sentence and _BARE_DONT.search(clause.text) is not None


def is_negated(text: str) -> bool:
    return _NEGATION.search(_HARMLESS_NO.sub(" ", text)) is not None


def is_doubted(text: str) -> bool:
    """Conditional, reported, past or merely considered: no plain request."""
    return _DOUBT.search(_HARMLESS_NO.sub(" ", text)) is not None
