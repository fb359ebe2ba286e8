"""Which cards a text names. A number or a word counts only as far as its surroundings leave no doubt.

Traits of a card entity: `weak` = a name that is also a word, recognised by its capital alone: good enough to look
something up, not to act; `by_sound` = a name that only sounds like it; `unknown` = named as a card, but no card of the directory.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from bot.intents.directory import ORDINARY, WORD, Directory, bare_word, each_once, fold
from bot.intents.extraction.entity import Entity
from bot.intents.model import KnownCard

#: How far back a value looks for a word that says what it is: looking from the beginning each time takes long.
NEAR: Final = 80
# Enough for the words that say what a name right after them is, `the cards belonging to` the longest.
JUST_BEFORE: Final = 40
_LEAD: Final = (
    r"(?P<lead>(?:\b(?:the|this|that)\s+)?(?:\bcards?\s+)?(?:\b(?:with|having|which has|that has|under)\s+)?(?:\b(?:the|its)\s+)?\b(?:end|ending|final|last|closing|end-)\s*(?:four|4)?\s*(?:numbers?|digits?|no\.?|nr\.?|figures)"
    r"(?:\s+(?:is|are))?\s*:?\s*[#*•…x]{0,20}|(?:\b(?:the|this|that)\s+)?\bcards?(?:\s*:\s*|\s+)(?:(?:number|no\.?|nr\.?)\s*)?(?:that\s+)?"
    r"(?:ending|ends)?\s*(?:in|with|:)?\s*[#*•…x.]{0,20}"
    r"|\b(?:ending|ends)\s+(?:in\s+|with\s+)?[#*•…x]{0,20}|[#*•…]{1,20}|(?<!\w)x{2,20}|\.{3,20})?"
)
_TAIL: Final = r"(?P<tail>(?:'s)?(?:\s+cards?\b(?!\s+number))?)"
_FOUR: Final = re.compile(
    rf"{_LEAD}(?<![\d.,$€£/:+-])(?<![A-Za-z](?=\d))(?P<ref>\d{{4}})(?![\d%€£$])(?![.,:/]\d){_TAIL}",
    re.IGNORECASE,
)
# What says that the digits are a card's last four and no reference.
_LAST_FOUR: Final = re.compile(r"\bend|\b(?:final|last|closing)\b|[*•…]|xx|\.{3}", re.IGNORECASE)
_FOREIGN_BEFORE: Final = re.compile(
    r"(?:\b(?:flight|order|desk|room|ticket|issue|invoice|table|seat|gate|ext(?:ension)?|case|pr|version|bus|train|pin"
    r"|code|year|zip|line|page|step|phone|call|po|bug|task|locker|door|extension|badge|apartment|apt|floor|channel"
    r"|in the year|since|until|before|january|february|march|april|may|june|july|august|september|october"
    r"|november|december|jan|feb|mar|apr|jun|jul|aug|sep|sept|oct|nov|dec)"
    r"(?:\s+(?:number|no\.?|nr\.?|id|is|was))*\s*[#:]?\s*|\b[A-Z]{2,3}[ -]?|\b(?:number|no\.|nr\.?)\s+"
    r"|\d(?:st|nd|rd|th)?,?\s+|[$€£]\s*)$"
)
_MONEY_AFTER: Final = re.compile(
    r"\s*(?:k\b|m\b|usd|us\$|dollars?|bucks?|\$|€|£|eur|pounds?|quid|grand|thousand|hundred|percent|bps|%)"
    r"|\s+(?:boxes|people|items|cards\b|times|days?\b|weeks?\b|months?\b|hours?\b|minutes?\b|euros?|units|pcs)"
    r"|\s+\d{3}\b(?=\s*(?:usd|\$|dollars|bucks))",
    re.IGNORECASE,
)
_LIMIT_BEFORE: Final = re.compile(
    r"(?<!\d\s)\b(?:daily|weekly|monthly|amount|usd)\s*(?:limit)?\s*(?:to|at)?\s*[:=]?\s*$", re.IGNORECASE
)
_POSSESSED: Final = re.compile(
    r"(?:'s|'(?!\w))\s+(?:(?:\w+)\s+){0,2}?(?:cards?|balance|limits?|spend(?:ing)?|purchases|transactions?|tx"
    r"|declines?|phone|mobile|number|cell|sim|ceiling|cap|threeds|history|activity|plastic"
    r"|(?:daily|weekly|monthly)(?= (?:to|at|from|down|up|is|\$?\d)))\b",
    re.IGNORECASE,
)
#: What only a person has: `Will's flight was moved`. No month has a wallet.
_PERSONAL: Final = re.compile(
    r"(?:'s|'(?!\w))\s+(?:(?!card)\w+\s+){0,2}?(?:flights?|train|taxi|wallet|purse|handbag|bag|backpack|pocket|laptop|texts?|messages|kids?|toddler|baby|son|daughter"
    r"|husband|wife|mother|father|mum|visa|passport|boss|manager|chip|codes?|last day|first day|notice|van|car|bike|luggage|receipts)\b",
    re.IGNORECASE,
)
#: Money is put on it or taken off it: `stick 40 dollars on april`, `take 40 back off may`.
_MONEY_MOVED: Final = re.compile(
    r"\b(?:put|add|load|stick|drop|throw|send|give|credit|bung|chuck|pop|top|take|pull|unload|withdraw|claw|remove|get|move|transfer|return|bring|need|slap|shove|slide|toss|fling|sling|lob|whack|shoot|wire|yank|skim|scoop|recover|retrieve|recall|draw|deduct|whip|haul|snatch|peel|strip|hook|boost|zap|pour|lash|wang)\b"
    r"[^.!?\n§]{0,20}?(?:\$\s?\d[\d.,]*|\d[\d.,]*\s?(?:usd|dollars?|dolars|bucks|\$)|\d{2,}[\d.,]*(?=\s)|\d[\d.,]*(?=\s+back\b))(?:\s+(?:more|extra|back|again|over|down|out))?\s+(?:on|onto|on to|to|into|off|off of|from)\s+$",
    re.IGNORECASE,
)
#: `60 for May please, lunch`: a sum that begins what is said.
_A_SUM_FOR: Final = re.compile(
    r"(?:^|[.!?\n]\s*)(?:(?:hi|hey|hello|please|pls|another|and|ok|so)\b[\s,]*)*\$?\d{2,}[\d.,]*(?:\s?(?:usd|dollars?|bucks|\$))?(?:\s+(?:more|extra|back))?\s+(?:for|to|on|onto|off|from)\s+$",
    re.IGNORECASE,
)
_THEN_PLEASE: Final = re.compile(r"\s*,?\s*(?:please|pls|plz|thanks|thx|ta|asap)\b", re.IGNORECASE)
_NO_DATE_AFTER: Final = re.compile(
    r"\s*(?:$|[,;:!?)(\n]|[.](?!\d)|(?:please|pls|plz|ta|thx|thanks|cheers|now|asap|today|quick|again|for (?!\d)|so|because|she|he|they|her|his)\b)",
    re.IGNORECASE,
)
#: A limit is named behind it: `april weekly down to 200`, `bump april to 250 per day`.
_LIMIT_AFTER: Final = re.compile(
    r"\s+(?:daily|weekly|monthly)(?:\s+(?:limit|cap))?\s*(?:(?:down|up)\s+)?(?:to|at|=|:)\s*\$?\d"
    r"|\s+(?:down\s+|up\s+)?(?:to|at)\s+\$?\d[\d.,]*k?(?:\s?(?:usd|dollars|bucks|\$))?\s*(?:(?:an?|per|each|every|the)\s+(?:day|week|month)\b|daily|weekly|monthly|/\s?[dwm])",
    re.IGNORECASE,
)
_LIMIT_VERB: Final = re.compile(
    r"(?:^|[.,:;!?\n(–-]\s*|\b(?:bump|raise|lower|cap|limit|drop|bring|put|set|cut|keep|hold|please|pls|so|and|change)\s+)$",
    re.IGNORECASE,
)
#: `can may have 60 on hers`, `let April see her card details`.
_ALLOWED: Final = re.compile(r"\b(?:can|could|let)\s+$", re.IGNORECASE)
_GETS: Final = re.compile(
    r"\s+(?:please\s+)?(?:(?:have|get|see|use|view)\b(?=\s+(?:\$|\d|an?\s|another|her|his|the|some|more))|(?:spend|pay)\b)",
    re.IGNORECASE,
)
#: `how much did april spend`, `has will got enough`.
_ASKED_OF: Final = re.compile(r"\b(?:did|does|has|had|didn'?t|doesn'?t|hasn'?t)\s+$", re.IGNORECASE)
_DID: Final = re.compile(
    r"\s+(?:(?:already|alredy|really|even|just|ever|actually|also|still)\s+)?(?:spend|spent|pay|paid|buy|bought|use|used|put|get|got|have|make|made|charge|charged|do|done|go|gone|need|lose|lost|receive|received)\b",
    re.IGNORECASE,
)
#: `can you look what may has on her card`.
_WHAT: Final = re.compile(
    r"\b(?:what|whatever|how much|how little|why|where|when)(?: (?:money|cash|does|did|has))?\s+$",
    re.IGNORECASE,
)
_HAS: Final = re.compile(
    r"\s+(?:still |just |really |already )?(?:has|had|spent|spends|bought|buys|paid|pays|swiped|used|uses|got left|owes)\b",
    re.IGNORECASE,
)
_OWNS: Final = re.compile(r"'s\s+(?!(?:not|never|to|be|going)\b)[^\W\d_]", re.IGNORECASE)
_A_CARD_JUST_BEFORE: Final = re.compile(r"(?:^|[\s(])cards?\s+$", re.IGNORECASE)
_OWNED: Final = re.compile(
    r"\s+(?:(?:\w+)\s+){0,1}?(?:cards?|balance|limits?|spend(?:ing)?|purchases|transactions?|declines?|phone|threeds|plastic)\b",
    re.IGNORECASE,
)
#: What stands between two words of one name: `Tomás Rivera`, `T. Rivera`, `Marketing – Ads`.
_BETWEEN: Final = frozenset({" ", ". ", " – ", " - "})
_MINE: Final = re.compile(r"\b(?:my|a|an|your|our|any|the|this|new|its|some|another)\s+$", re.IGNORECASE)
_TITLED: Final = re.compile(r"\b(?:mr|ms|mrs|miss|dr|herr|frau)\.?\s+$", re.IGNORECASE)
_CARD_AFTER: Final = re.compile(r"\s+(?:(?:his|her|their)\s+)?cards?\b", re.IGNORECASE)
_HIS_CARD: Final = re.compile(r"\s+(?:his|her)\s+cards?\b", re.IGNORECASE)
_CARD_OF: Final = re.compile(
    r"\b(?:cards?\s+(?:of|for|from|belonging to)|(?:phone|mobile|telephone|cell|sim|number|balance|limits?|(?:purchase|payment|security|verification|one-?time|online|sms|otp|confirmation|threeds|3ds) codes?|codes) (?:of|for)|(?:spending|daily|weekly|monthly|new) limits? (?:for|on)|(?:new|phone|mobile|cell)\s+(?:cell|number|phone|mobile|sim) for)\s+$",
    re.IGNORECASE,
)
#: What only a person does, behind a name that is also a word: `Will lost his wallet`, `April has to pay the hotel`.
_DOES: Final = re.compile(
    r"(?:'s (?:at|in|on|stuck|back|off|out|here|there|going|away|got|lost|been|gone)\b|(?:'?s)?\s+(?:just |also |already |now |still |only |really )?(?:lost|left|needs|forgot|says|tells|thinks|tried|keeps|kept|asked|phoned|texted|messaged|emailed|heads|can (?:order|pay|buy|get|book|use|fill|settle|check|travel|go)|spent|spends|bought|buys|received|misplaced|dropped|wants|travels|flies|landed|joined|pays|took|switched|called|rang|gives|gave|gets"
    r"|stands|leaves|moved|broke|finishes|returns|works|finds|checked|booked|drives|arrives|arrived|starts"
    r"|has (?:received|asked|lost|left|found|switched|changed|got|seen|joined|to|moved|no|a|an|her|his|been|gone|two|only|forgotten|given|intimated)"
    r"|is (?:\w+ing|at|in|on|stuck|back|off|out|here|there|going|away)|does (?:not )?(?:need|want|have)|must|can'?t|cannot|would|should(?:n'?t)?|doesn'?t|didn'?t|won'?t|hasn'?t)\b)",
    re.IGNORECASE,
)
_BEGINS: Final = re.compile(
    r"(?:^|[.,:;!?\n(–-]\s*|\b(?:so|and|because|as|but|since|hi|hello|hey|guys|team|shame|eish|howzit|morning|moin|ok|okay|well|sorry|look|listen|now|then)\s+)$",
    re.IGNORECASE,
)
#: What no month and no verb does, in any word: a past, behind `will` and `may` also a present that ends in s; who is spoken of as "she".
_ADVERB: Final = r"(?:(?:[a-z]+ly|just|also|already|now|still|only|once|again|even|never|always|then|soon) )*"
_PAST: Final = (
    r"(?:(?!(?:end|clos|start|finish|open|pass|look|turn(?!ed up)|bas|relat|need|spe|fe)ed\b)[a-z]{2,}ed|ate|bought|broke|brought|came|did|drank|drove|fed|fell|flew|forgot|found|gave|got|hit|kept|left|lent|lost|made|met|misread|paid"
    r"|quit|ran|rang|said|sat|saw|sent|slept|sold|spent|stole|swore|told|took|threw|went|woke|won|wrote)"
)
_DID_IT: Final = re.compile(rf"\s+{_ADVERB}{_PAST}\b")
_DOES_IT: Final = re.compile(rf"\s+{_ADVERB}(?!(?:is|was|this|us|yes|perhaps|always|has)\b)[a-z]{{2,}}s\b")
_IS_SOMEBODY: Final = re.compile(
    r"(?:'s|\s+(?:is|was|has|had|isn't|wasn't|hasn't))\b[^.!?\n]{0,60}?(?:\b(?:s?he|her|hers|him|his|herself|himself)\b|[.!?] [A-Z][^.!?\n]{0,30}?\b(?:hers?|him|his)\b)"
)
#: Behind a modal verb stands no "was", "keeps" or "lost".
_NO_VERB_DOES: Final = re.compile(
    rf"\s+{_ADVERB}(?:was|is|has|had|wasn't|isn't|hasn't|lost|left|paid|got|went|forgot|broke|bought|needs|wants|keeps|{_PAST[3:-1]})\b(?! (?:it|this|that)\b)"
)
_SHE_IS_MEANT: Final = re.compile(
    r",?\s+(?:(?:before|because|as|so|since|that|when|and|until|till|now) )?(?:s?he|hers?|him|his)\b"
)
_SPOKEN_TO: Final = re.compile(
    r"\b(?:told|tell|asked|paid|promised|gave|give|lent|to|onto|for|with|from|at|sent|send|helped|love|on)\s+$",
    re.IGNORECASE,
)
#: `April card lock pls`, `a block on April, thanks`, `April: not more than 250 weekly`.
_STOPPED_AFTER: Final = re.compile(
    r"\s+card\s+(?:(?:to|on|be|is to be|should be|must be|please|pls|down|up) )*(?:un)?(?:lock|freeze|block|hold|pause|frozen|blocked|locked|suspend|stop|close)\w*",
    re.IGNORECASE,
)
_STOPPED_ON: Final = re.compile(
    r"\b(?:freeze|block|lock|hold|pause|stop|suspension|limit|cap)(?: temporar(?:y|ily)| please| pls| now)* on\s+$",
    re.IGNORECASE,
)
_CAPPED_AFTER: Final = re.compile(
    r"\s*:\s*(?:please |pls |kindly )?(?:(?:set|put|make) )?(?:not more than|no more than|max(?:imum)?|at most|limit|cap|daily|weekly|monthly|freeze|unfreeze|block|unblock|lock|unlock|top[ -]?up|load|unload|[$]?\d[\d.,]*(?: ?usd)? (?:daily|weekly|monthly|a (?:day|week|month)|per (?:day|week|month)))\b",
    re.IGNORECASE,
)
_CREDITED: Final = re.compile(
    r"\b(?:credit|recharge|load|add|put|send|give|transfer)(?: (?:please|kindly|now))? (?:to|on|onto|for)\s+$",
    re.IGNORECASE,
)
#: `will` is no verb where it is what is frozen, given or capped.
_DONE_TO: Final = re.compile(
    r"(?:\b(?:freeze|unfreeze|un-freeze|block|unblock|lock|unlock|defrost|thaw|reload|refill|recharge|suspend|reactivate|top|give|cap|raise|lower|bump|drop|bring|fund)"
    r"|\b(?:from|to|onto|off)|\b(?:on|with|for))\s+$",
    re.IGNORECASE,
)
_NO_VERB_AFTER: Final = re.compile(
    r"\s*(?:$|[.,;:!?)\n]|(?:please|pls|plz|now|asap|with|by|at|to|up|down|and|back|again|temporarily|for|two|three|four|five|six|seven|eight|nine|ten|hundred|another|an extra|\$|usd)\b|§|\$?\d)",
    re.IGNORECASE,
)
#: No month is frozen or topped up; `block april 5` is a day.
_TREATED: Final = re.compile(
    r"\b(?:freeze|unfreeze|un-freeze|unblock|lock|unlock|defrost|thaw|reload|refill|recharge|suspend|reactivate|top|gave|giv(?:e|es|en|ing))\s+$",
    re.IGNORECASE,
)
_NO_DAY_AFTER: Final = re.compile(
    r"\s*(?:$|[.,;:!?)\n]|(?:please|pls|plz|now|asap|with|by|up|and|again|temporarily)\b)", re.IGNORECASE
)
#: A capital and an amount that is no day behind a verb that gives or takes: `load Will 150`, `send April 200`.
_GIVEN: Final = re.compile(
    r"\b(?:assist|help|support|load|reload|refill|recharge|send|pay|give|credit|top up|topup|fund|cap|lend)\s+$",
    re.IGNORECASE,
)
#: The same in small letters, behind a verb that says nothing of a day: `toss will 200`, `hook may up with 40`.
_HANDED: Final = re.compile(
    r"(?:^|[.,:;!?\n(–-]\s*|\b(?:please|pls|so|and|you|ye|u|can|could|just|then|to)\s+)(?:spot|toss|throw|fling|sling|slip|slide|feed|front|stake|lend|loan|hand|pass|shoot|pop|bung|chuck|lob|shove|give|send|wire|float|get|top up)\s+$",
    re.IGNORECASE,
)
_A_SUM_AFTER: Final = re.compile(
    r"\s+(?:(?:another|an extra|a further|an additional)\s+\$?\d|\$\s?\d|\d{3,}(?![\d:])|3[2-9](?!\d)|[4-9]\d(?!\d)|\d+[.,]\d\d\b|\d+\s?(?:k\b|usd|dollars|bucks|\$))",
    re.IGNORECASE,
)
_SET_UP: Final = re.compile(r"\b(?:hook|sort|set|fix|tide|top|juice|help|boost|pad)\s+$", re.IGNORECASE)
_UP_WITH_AFTER: Final = re.compile(
    r"\s+(?:up|out|over)\s+(?:with|w|wi|by)\s+(?:another |an extra )?\$?\d", re.IGNORECASE
)
_AN_AMOUNT_AFTER: Final = re.compile(
    r"\s+(?:(?:another|an extra|with|by|at)\s+)?(?:\$\s?\d|\d{3,}(?!\d)|\d+[.,]\d\d\b|\d+\s?(?:k\b|usd|dollars|bucks|\$))",
    re.IGNORECASE,
)
#: `Sofia her card` is hers, too.
_NAME_TAIL: Final = re.compile(
    r"(?:'s|'(?![\w]))?(?:\s+(?:(?:his|her|their)\s+)?cards?\b(?!\s+(?:numbers?|digits)\b))?"
)
_LEADING_CARD: Final = re.compile(r"(?:\b(?:the|this|that)\s+)?\bcards?\s+(?:of\s+)?$", re.IGNORECASE)


def find_numbers(text: str, cards: Directory) -> Iterator[Entity]:
    """Four digits that some card is called by, or that are called a card; `ending in 4242` is the last four alone."""
    # Whoever says the same again and again has the same before each of them.
    is_foreign, is_limit = dict[str, bool](), dict[str, bool]()
    for found in _FOUR.finditer(text):
        lead, ref = found["lead"] or "", found["ref"]
        known = cards.with_last4(ref) if _LAST_FOUR.search(lead) else cards.called(ref)
        called = bool(lead.strip()) or "card" in found["tail"].lower()
        before = text[max(0, found.start() - NEAR) : found.start()]
        if before not in is_foreign:
            is_foreign[before] = _FOREIGN_BEFORE.search(before) is not None
            is_limit[before] = _LIMIT_BEFORE.search(before) is not None
        if (not lead.strip() and is_foreign[before]) or (not called and is_limit[before]):
            continue
        if not called and _MONEY_AFTER.match(text[found.end("ref") :]):
            continue
        if not known and not called:
            continue
        traits = frozenset() if known else frozenset({"unknown"})
        yield Entity("card", *_trim(found), tuple(known), ref, traits=traits)


_DIGIT: Final = r"(?:zero|oh|one|two|three|four|five|six|seven|eight|nine)"
_DIGITS: Final = {
    word: str(number)
    for number, word in enumerate(
        ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
    )
} | {"oh": "0"}
SPOKEN_DIGITS: Final = frozenset(_DIGITS)
_SPOKEN: Final = re.compile(
    rf"{_LEAD}\b(?P<ref>{_DIGIT}(?:[ -]{_DIGIT}){{3}})\b(?![ -]{_DIGIT}\b)(?!\s*(?:hundred|thousand|dollars?|usd|bucks|percent)\b){_TAIL}",
    re.IGNORECASE,
)


def find_spoken(text: str, cards: Directory) -> Iterator[Entity]:
    """Last fours as they are dictated: `the card ending in seven seven one six`. They have to be said to be a card's."""
    for found in _SPOKEN.finditer(text):
        lead, ref = (
            found["lead"] or "",
            "".join(_DIGITS[word] for word in re.split("[ -]", found["ref"].lower())),
        )
        known = cards.with_last4(ref)
        said = lead.strip() or "card" in found["tail"].lower()
        if said or (known and _ON_A_CARD.search(text[: found.start("ref")])):
            traits = frozenset() if known else frozenset({"unknown"})
            yield Entity("card", *_trim(found), tuple(known), ref, traits=traits)


_ON_A_CARD: Final = re.compile(
    r"(?:\b(?:on|onto|of|for|from|off|freeze|unfreeze|block|unblock|lock|unlock|close|show|about)\s+|'s\s+|^\W*)$",
    re.IGNORECASE,
)


def _trim(found: re.Match[str]) -> tuple[int, int]:
    start = found.start() + len(found[0]) - len(found[0].lstrip())
    return start, found.end()


def find_refs(text: str, cards: Directory) -> Iterator[Entity]:
    """Partner references and card ids, as whole words; with the cards whose holder is called so, too."""
    for found in re.finditer(r"(?<![\w.@+-])[\w][\w.@+:-]*[\w]|(?<!\w)\w(?!\w)", text):
        written = found[0]
        known = cards.called(written) if cards.with_ref_or_id(written) else ()
        if known and not (len(written) == 4 and written.isdigit()) and fold(written) not in ORDINARY:
            lead = _LEADING_CARD.search(text[: found.start()])
            tail = _NAME_TAIL.match(text[found.end() :])
            start = lead.start() if lead else found.start()
            yield Entity("card", start, found.end() + (tail.end() if tail else 0), tuple(known), written)


def find_long_refs(text: str, cards: Directory) -> Iterator[Entity]:
    """Partner references of several words: whole, before a part of one is taken for a name."""
    for found in WORD.finditer(text) if cards.long_refs else ():
        written = cards.long_ref_at(text, found.start())
        if written:
            start, end = found.start(), found.start() + len(written)
            lead, tail = _LEADING_CARD.search(text[:start]), _NAME_TAIL.match(text[end:])
            span = (lead.start() if lead else start, end + (tail.end() if tail else 0))
            yield Entity("card", *span, tuple(cards.called(written)), written)


def find_people(
    text: str, cards: Directory, refs: dict[str, str], mentions: Sequence[Entity]
) -> Iterator[Entity]:
    """Mentioned people whose card is known."""
    for mention in mentions:
        known = cards.with_ref(refs.get(mention.value, ""))
        if known:
            tail = _NAME_TAIL.match(text[mention.end :])
            end = mention.end + (tail.end() if tail else 0)
            yield Entity("card", mention.start, end, tuple(known), mention.written)


def find_names(text: str, cards: Directory, *, sure: bool) -> Iterator[Entity]:
    """Holders. `sure` finds full names and possessives first, before a month can take the word."""
    words = list(WORD.finditer(text))
    at = 0
    while at < len(words):
        entity, used = _name_at(text, words, at, cards, sure)
        if entity is not None:
            yield entity
        at += used


def _name_at(
    text: str, words: list[re.Match[str]], at: int, cards: Directory, sure: bool
) -> tuple[Entity | None, int]:
    first = bare_word(words[at][0])
    known = cards.with_words([first])
    if not known:
        return (
            (_without_apostrophe(text, words[at], cards) or _by_sound(text, words[at], cards))
            if not sure
            else None
        ), 1
    used, run, genitive = 1, [first], False
    while at + used < len(words) and not words[at + used - 1][0].lower().endswith("'s"):
        between = text[words[at + used - 1].end() : words[at + used].start()]
        more = cards.with_words([*run, bare_word(words[at + used][0])]) if between in _BETWEEN else ()
        if not more and between in _BETWEEN and _OWNED.match(text[words[at + used].end() :]):
            owner = _without_s(words[at + used][0])
            more, genitive = (cards.with_words([*run, bare_word(owner)]) if owner else ()), True
        if not more:
            genitive = False
            break
        run.append(bare_word(words[at + used][0]))
        known, used = more, used + 1
        if genitive:
            break
    initial = _initial_at(text, words, at + 1, known) if used == 1 else ()
    if initial:
        known, used = initial, 2
    start, last = words[at].start(), words[at + used - 1]
    end = last.end() - (2 if last[0].lower().endswith("'s") else 1 if genitive else 0)
    traits = _trust(text, start, end, full=used > 1)
    if used == 1 and _is_a_thing(text, start, end, known):
        return None, used
    if traits is None or (sure and "plain" in traits) or (sure and "weak" in traits):
        return None, used
    after = last.end() if genitive else end
    tail = _NAME_TAIL.match(text[after:])
    lead = _before(_LEADING_CARD, text, start)
    span = (start if lead is None else lead, after + (tail.end() if tail else 0))
    # A reference may read like a name: then both cards may be meant.
    both = each_once(known, cards.with_ref_or_id(text[start:end]))
    return Entity("card", *span, both, text[start:end], traits=traits), used


def _by_sound(text: str, word: re.Match[str], cards: Directory) -> Entity | None:
    """`Sophia's card` of a Sofia, as it sounds. Good enough to look something up."""
    written = word[0][:-2] if word[0].lower().endswith("'s") else word[0]
    if not written[:1].isupper() or fold(written) in ORDINARY or text.isupper():
        return None
    following = WORD.match(text, word.end() + 1)
    if following is not None and cards.with_words([bare_word(following[0].removesuffix("s"))]):
        return None  # the other name says it: `Thomas Riveras`
    known = cards.sounding_like(fold(written))
    if not known:
        return None
    end = word.start() + len(written)
    tail = _NAME_TAIL.match(text[end:])
    traits = frozenset({"name", "weak", "by_sound"})
    return Entity(
        "card", word.start(), end + (tail.end() if tail else 0), tuple(known), written, traits=traits
    )


_INITIAL: Final = re.compile(r"(?![aiAI]\b)[^\W\d_](?:'s)?")


def _initial_at(
    text: str, words: list[re.Match[str]], at: int, known: Sequence[KnownCard]
) -> Sequence[KnownCard]:
    """The cards whose holder's other name begins with the one letter that stands there: `April O's card`."""
    if (
        at >= len(words)
        or not _INITIAL.fullmatch(words[at][0])
        or text[words[at - 1].end() : words[at].start()] != " "
    ):
        return ()
    letter = fold(words[at][0][0])
    return [card for card in known if any(word.startswith(letter) for word in fold(card.holder).split()[1:])]


def _without_s(written: str) -> str:
    """`Satos` of `May Satos card`: the name, where it is long enough to be one."""
    return written[:-1] if written[-1:] in ("s", "S") and len(written) > 3 else ""


def _before(pattern: re.Pattern[str], text: str, end: int) -> int | None:
    """Where a match begins that ends there: looked for in the words just before alone, as long texts hold many names."""
    near = max(0, end - JUST_BEFORE)
    found = pattern.search(text[near:end])
    return None if found is None else near + found.start()


def _without_apostrophe(text: str, word: re.Match[str], cards: Directory) -> Entity | None:
    """`hugos card` is Hugo's; of a name that is also a word only before a card or its parts."""
    written = word[0][:-1]
    if word[0][-1:] not in ("s", "S") or len(written) < 3:
        return None
    known = cards.with_words([bare_word(written)])
    after = text[word.end() : word.end() + NEAR]
    possessed = _OWNED.match(after) or _LIMIT_AFTER.match(after)
    if not known or ((fold(written) in ORDINARY or fold(word[0]) in ORDINARY) and not possessed):
        return None
    tail = _NAME_TAIL.match(text[word.end() :])
    lead = _before(_LEADING_CARD, text, word.start())
    start = word.start() if lead is None else lead
    end = word.end() + (tail.end() if tail else 0)
    return Entity("card", start, end, tuple(known), written, traits=frozenset({"name"}))


def _is_a_person(word: str, before: str, after: str, *, capital: bool) -> bool:
    """Do the words around a name that is also a word leave only a person?"""
    # What follows is looked at first: to search what stands before costs more, and a long text holds many such words.
    return bool(
        _POSSESSED.match(after)
        or _PERSONAL.match(after)
        or _HIS_CARD.match(after)
        or (word == "will" and _OWNS.match(after))
        or (_DOES.match(after) and _BEGINS.search(before))
        or (_DID.match(after) and _ASKED_OF.search(before))
        or (_HAS.match(after) and _WHAT.search(before))
        or (_LIMIT_AFTER.match(after) and _LIMIT_VERB.search(before))
        or (_GETS.match(after) and _ALLOWED.search(before))
        or (capital and _BEGINS.search(before) and _acts(word, after))
        or (word == "will" and _NO_VERB_DOES.match(after) and _BEGINS.search(before))
        or (capital and _SHE_IS_MEANT.match(after) and _SPOKEN_TO.search(before))
        or (capital and _STOPPED_AFTER.match(after))
        or (capital and _NO_DAY_AFTER.match(after) and _STOPPED_ON.search(before))
        or (capital and _CAPPED_AFTER.match(after) and not before.strip())
        or (capital and _AN_AMOUNT_AFTER.match(after) and _CREDITED.search(before))
        or (capital and _CARD_AFTER.match(after) and before.strip())
        or (capital and _AN_AMOUNT_AFTER.match(after) and _GIVEN.search(before))
        or (word == "will" and _NO_VERB_AFTER.match(after) and _DONE_TO.search(before))
        or (_NO_DATE_AFTER.match(after) and _MONEY_MOVED.search(before))
        or (_THEN_PLEASE.match(after) and _A_SUM_FOR.search(before))
        or (_A_SUM_AFTER.match(after) and _HANDED.search(before))
        or (_UP_WITH_AFTER.match(after) and _SET_UP.search(before))
        or (word in ("may", "april") and _NO_DAY_AFTER.match(after) and _TREATED.search(before))
        or _CARD_OF.search(before)
        or (capital and _A_CARD_JUST_BEFORE.search(before))
    )


def _acts(word: str, after: str) -> bool:
    """Does what follows a name that is also a word, at the head of a clause, say what only somebody does or is?"""
    return bool(
        _DID_IT.match(after)
        or _IS_SOMEBODY.match(after)
        or (word in ("will", "may") and _DOES_IT.match(after))
    )


#: Behind a comma, where the reason stands: `topup 300 pls, fb ads`.
_WHAT_FOR: Final = re.compile(
    r"[,;:(→|/–]\s*(?:(?!(?:and|on|onto|to|for|from|of|off|card|the|our|please|pls|also|then)\b)[a-z]+\s+){0,2}$"
)
_AS_A_CARD: Final = re.compile(
    r"(?:'s|\s+(?:cards?|balance|limit|\d|\+|needs?|gets?|is|has)\b)", re.IGNORECASE
)


def _is_a_thing(text: str, start: int, end: int, known: Sequence[KnownCard]) -> bool:
    """Is one word of a team's name in small letters what money is for, and not its card? Teams are called by things."""
    if not text[start:end].islower() or any(not _OF_A_TEAM.search(card.holder) for card in known):
        return False
    before = text[max(0, start - JUST_BEFORE) : start]
    alone = not before.strip() and text[end:].lstrip().startswith(",")
    return (alone or bool(_WHAT_FOR.search(before))) and not _AS_A_CARD.match(text[end:])


_OF_A_TEAM: Final = re.compile(r"\s[–-]\s|[&/]")


_MID_SENTENCE: Final = re.compile(r"[\w,]\s$")


def _trust(text: str, start: int, end: int, *, full: bool) -> frozenset[str] | None:
    """How far this stretch is a name: None = it is not."""
    before, after, word = text[max(0, start - JUST_BEFORE) : start], text[end : end + NEAR], text[start:end]
    if full:
        return frozenset({"name"})
    if fold(word) not in ORDINARY:
        return frozenset({"name", "plain"})
    if _TITLED.search(before):
        return frozenset({"name"})
    if _MINE.search(before):
        return None
    capital = word[:1].isupper() and not text.isupper()
    if _is_a_person(fold(word), before, after, capital=capital):
        return frozenset({"name"})
    return frozenset({"name", "weak"}) if capital and _MID_SENTENCE.search(before) else None
