"""Words around a request that make it somebody else's, a later one, or one that still waits for a yes.

The last look asks here. An infinitive has to be asked for (`please`, `I need you to`): `Bob to freeze it`, `our policy is to
close it`, `I can load it` tell of it. An approval that is awaited, a draft, a note for information and an hour that is still to
come keep the form closed. The patterns are compiled when the first request is looked at.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from bot.intents.plain_text import ACTION_VERBS, without_hours, word_set
from bot.intents.requests.parts import cut
from bot.intents.requests.wording import is_small, said_in

#: Words after which an infinitive is asked for.
_ASKS_FOR: Final = word_set(
    """
    need needs needed want wants wanna like love you u ya please pls plz kindly possible able forgot as ahead time
    therefore hence thus hereby help ask asks asking request requesting requested required wish mind needful is are has have ought sure glad
    grateful action urgent urgently someone somebody and then now also going decided agreed bound happy chance
    assist fixing politely respectfully
    moment way good best back up due from on it them him her card get got remember try hereby team arrange kind manage ensure proceed threeds deposit funding
    """
)
_ALLOWED: Final = "|".join(sorted(_ASKS_FOR))
_VERB: Final = rf"(?:{ACTION_VERBS})"
#: What is requested of us: `about to pause the campaign` speaks of something else.
_OURS: Final = r"(?:[\w-]+ )?(?:cards?|accounts?|plastic|prepaid|freeze|block|lock|hold|limits?|mark-?up|float|balance|numbers?|phone|codes?|top|load|deposits?|transfers?|funding|amounts?|sums?|money|funds|same|ones?|others?|daily|weekly|monthly|requests?|forms?|rest|markup)"
_YES: Final = r"(?:approval|confirmation|ok|okay|sign-?off|go-?ahead|clearance|authori[sz]ation|consent|green light|signature|decision)"
#: Somebody else who may, must or wants to do it: `onto §c1§ Bob can load §a2§`, whatever the order.
_DOES: Final = r"(?:can|may|will|should|could|would|must|shall|might|cannot|(?:has|have|needs?|ought|wants?|wishes|is|are|was|were|plans?|hopes?|intends?|is going|are going|is about|is supposed|is meant|is allowed|gets|got) to)"
_DOER: Final = r"(?<![\w'’])(?!(?:you|u|ya|ye|yous|yer|y'?all|we|i|someone|somebody|team|bot|all|no|not|who|which|what|it|that|this|there|please|pls|kindly|also|now|so|and|then|card|cards|plastic|prepaid|limit|limits|amount|request|money|money's|if)\s)(?:[a-z][\w.'’-]*|§[cm]\d+§)"
_DONE_BY: Final = r"(?:(?:un|re|de)?-?(?:freeze|block|lock|activate|load|suspend|fund|enable|submit)|put|add|give|send|take|pull|set|move|transfer|raise|lower|cap|limit|close|terminate|cancel|top ?up|top|increase|reduce|pause|withdraw|recharge|credit|deactivate|return|(?:change|update)(?=[^.,;!?]*§t)|reveal)"
_REPORTS: Final = (
    rf"{_DOER}\s+{_DOES}\s+(?:please |now |also |then |just |only |again )*{_DONE_BY}(?:\s+(?:up|back|on|onto|off|from|the|a|her|his|their|card|limits?|daily|weekly|monthly|of|for|to|phone|number)){{0,4}}(?=\s*(?:§[act]|\W*$|[.,;!]|(?:it(?! into?\b)|him|her|them|please|pls|for good|permanently)\b))",
    rf"\bby (?!(?:you|us|now|today|then|mistake|noon|link|the bot|the)\b (?!team|driver))(?:[a-z][\w.'’-]* ){{1,3}}?(?:{_DOES} )?(?:please )?(?:to )?be [a-z]+(?:ed|en|ut|et)\b",
    rf"(?<![\w'’])(?!(?:{_ALLOWED})\s)[a-z][\w'’]*\s+to\s+(?:please\s+)?(?!book\b(?! (?:it|this|that|the (?:deposit|transfer|funding)|our|§h))){_VERB}\b(?! (?:the|our|his|her|their|its|all|my) (?!{_OURS}\b)[a-z]+)",
    rf"\b(?:policy|plan|instruction|instructions|advice|rule|idea|script|habit|practice|job|task|duty|procedure|usual|aim|goal|intention)\s+(?:is|was|would be|are|were)\s+to\s+{_VERB}\b",
    rf"(?:\b(?:i|he|she|they)|§c\d+§)(?:'ll| will| can| could| would| shall| may)\s+(?:now |just |also |then |have to |need to )?(?!(?:order|book|register|create|update)\b){_VERB}\b(?! the (?:heat|blame|flak|hit|rap|fall|call|bus|train|rest))",
    rf"\bto\s+(?:please\s+)?§c\d+§\s+(?:card\s+)?{_VERB}\b",
    rf"\b(?:that|whether|if) (?!you\b|we\b|someone\b|somebody\b)[a-z]+ will (?:please )?(?:§c\d+§ )?{_VERB}\b",
    rf"\b(?:i|we|he|she|they)'d have to\b|\bwe(?:'ll| will)\s+(?:now |just |also |then )?{_VERB}\b",
    r"\b(?:got|had|received|took) (?:an? |the )?(?:phone ?)?(?:call|mail|e-?mail|message|letter|note|sms|text) (?:to|asking|saying)\b|\bprompt(?:ed|s) (?:me|us) to\b",
    rf"(?<!\bi )\b(?:waiting|wait|forgot|forgets|forgotten|refused|failed|used|unable|hesitat\w+|afraid|tempted|not necessary|no question) (?:\w+ )?to\s+{_VERB}\b",
)
_WAITS: Final = (
    rf"\b(?:pending|await(?:s|ing|ed)?|subject to|upon|waiting for|waits? for|requires?|needs|lacks|without|conditional (?:on|upon))\s+(?:[\w'’§]+\s+){{0,3}}?{_YES}\b",
    rf"\b(?:on|after|once|when|following) (?:[\w'’]+ ){{0,2}}?{_YES}\b(?:\s+(?:from|of|by)\b[^.]*)?\W*$|\bwhen (?:it is )?(?:confirmed|approved|signed|cleared)\b",
    rf"\b{_YES}\s+(?:is |are |still |yet )*(?:awaited|pending|to follow|follows|required|missing|outstanding|needed|to come)\b",
    r"\b(?:has|have|needs?|must|still) to (?:first )?(?:approve|confirm|sign|agree|decide|ok)\b|\b(?:will|i'?ll|shall) (?:let you know|(?:first )?(?:confirm|approve|decide|sign))\b|\bto be (?:confirmed|decided|approved|discussed|announced)\b|\btb[acd]\b",
    r"\bfor (?:your |my |our |everyone's )?(?:information|info|awareness)\b",
    r"[,;–-]\s*(?:but )?(?:[a-z']+ ){1,3}first(?: then| please| pls)?\W*$",
    r"[-–—(:]\s*(?:draft|cancelled|canceled|void|withdrawn|unapproved)\b\W*$|\bcancel (?:my|the|that|this) (?:\w+ )?(?:message|line|mail|text)\b",
    r"[,.]?\s(?:correct|right|ok|okay|yes|agreed|fine|true)\s*\?\W*$",
)
_ELSE_TO_ASK: Final = (
    r"(?:^|[.,;:!–-]\s*|\b(?:and|but|then|please|pls|first)\s+)(?:please |pls |first )*(?:(?:check|confirm|verify|coordinate|align|speak|talk|clear (?:it|this|that)) with|run (?:it|this|that) (?:by|past)|(?:ask|consult)(?= [a-z§][\w§]*\W*(?:first|please|pls|before)?\W*$)) (?!you\b|me\b|us\b|for\b)[a-z§]",
)
_TAKEN_BACK: Final = (
    r"[.;!,–—-]\s*(?:i take (?:it|that) back|my (?:mistake|bad|error)|stop|cancel(?: that| it)?|abort|haha\w*|lol|a joke|joke)\W*$",
    r"\((?:a |only |just )?(?:test|sample|copied|copy|forwarded|fwd|pasted|template)\b[^)]*\)|\bsent by the\b",
    r"[,.]\s*(?:he|she|they|(?:(?:mr|ms|mrs|miss|dr|madam|sir|our|the|my|his|her) )?§[cm]\d+§|(?:the|our|my|his|her) [a-z]+) (?:beg|demand|plead|shout|yell|scream|order|command|insist|implor|cri|cry)\w*(?=\W*$|\s*[,.;–-])|[,.]\s*(?:begs|demands|pleads|shouts|yells|sayeth|insists|orders) (?:the|my|our|his|her|[a-z]+)\b",
    r"[-–—,.]\s*(?:but )?(?:why|thoughts|is (?:that|this) (?:ok|okay|fine|right|good)(?: (?:with|for) (?:you|us))?|(?:any )?objections|makes sense|or not)\s*\?\W*$",
    r"\b[a-z]+ permitting\b|\b(?:like|(?<!same )as) last (?:time|month|week|year)\b|\baccording to (?!(?:plan|schedule|the|our|new|travel|company|internal|agreement|contract|budget|my|invoice|attached|policy)\b)",
    r"\b(?:as soon as|the moment|the minute|the second|the day) (?!possible|you )[a-z§][\w§'’]* (?:is|are|signs|comes|gets|calls|lands|arrives|returns|says|pays|leaves|answers)\b",
    rf"^\W*(?:can|could|will|would) (?!(?:you|u|ya|ye|yous|yer|y'?all|we|i|someone|somebody|one|anyone|anybody|please|pls|kindly|daily|weekly|monthly|card|the|this|that|his|her|their|our|my)\b)[a-z§][\w§]* {_VERB}\b|\b(?:no longer|instead of) (?:the )?{_VERB}\b|^\W*search for\b",
)
_ON_HOLD: Final = r"[-–—(:]\s*(?:on hold|hold)\b\W*$"


#: A value by which a request is known.
_VALUE: Final = re.compile(r"§[ahten]\d+§|\bwebhook\b|\bthreeds\b|\bmark-? ?up\b")


def is_not_asked_for(text: str, intent: str, dated: str) -> bool:
    """Is what a masked, `spaced` text says somebody else's to do, or does it still wait for a yes or an hour?

    `dated`: the same with its days in words.
    """
    if intent == "reveal_card" and any(_is_shown_later(part.text) for part in cut(text)):
        return True
    if _against().search(text) or (intent != "freeze_card" and _on_hold().search(text)):
        return True
    again = intent != "set_limits"
    return any(_is_put_off(part.text, and_again=again) for part in cut(dated))


_SHOWN: Final = re.compile(r"\b(?:numbers?|digits|details|reveal\w*|link|card)\b")


def _is_shown_later(part: str) -> bool:
    """Is what is to be shown wanted at an hour that is to come?"""
    return _SHOWN.search(part) is not None and (
        part.startswith("after ") or without_hours(part, and_again=True) != part
    )


def _is_put_off(part: str, *, and_again: bool) -> bool:
    """Does an hour that is to come stand in the request itself, or alone? In a story it is the story's."""
    bare = without_hours(part, and_again=and_again)
    if bare == part:
        return False
    if is_small(bare) or said_in(bare) or _VALUE.search(bare) or _REQUESTED.search(bare):
        return True
    return _ASKS.search(bare) is not None and not _TELLS.search(bare)


#: `please arrange that §c1§ is frozen`, `§c1§ has to be closed`.
_REQUESTED: Final = re.compile(
    r"\b(?:please|pls|plz|kindly)\b(?! note)[^.]*(?:§c|\bit\b|\bcard\b)|\b(?:arrange|ensure|make sure|see to it|take care)(?: it)? that\b|(?:§c\d+§|\bit|\bcard)(?: card)? (?:should|must|shall|has to|have to|needs to|ought to|is to|to) (?:\w+ )?be\b"
)
#: What is requested, in a part that holds no value: `at month end a new card for`, `limits for §c1§`.
_ASKS: Final = re.compile(
    r"\b(?:card|limits|load|unload|top[ -]?up|topup|order|issue|submit|register|funding|deposit)\b"
)
#: Somebody or something is, has or does something.
_TELLS: Final = re.compile(
    r"\b(?:is|are|am|was|were|be|been|has|have|had|do|does|did|will|would|he|she|they|we|i|it|who|which|hes|shes|im|ive|(?:he|she|it|that|there|who)['’]s|[a-z]+['’](?:m|re|ll|ve)|got|went|came|lost|left|took|paid|spent|found|wants?|[a-z]{2,}(?<!ne)ed|(?:need|fl|go|leav|start|land|arriv|com|happen|work|stay|pay|run|open|clos|travel|driv|mov|join|renew|expir)(?:s|es|ies|ing))\b"
)


@cache
def _against() -> re.Pattern[str]:
    return re.compile("|".join(_REPORTS + _WAITS + _ELSE_TO_ASK + _TAKEN_BACK))


@cache
def _on_hold() -> re.Pattern[str]:
    return re.compile(_ON_HOLD)


__all__ = ["is_not_asked_for"]
