"""Whether the value of a request is what it complains about, removes, changes by or comes to, and not what shall be set.

Limits, the markup and a phone number are set only where something is asked, or where every word beside the value is
one of its own (`weekly limit 900 for 3018`). An amount is moved once, and whole. Read in the text of `as_said`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from bot.intents.plain_text import word_set

#: The slot that is asked for again.
VALUE_OF: Final = {
    "set_limits": "limits",
    "set_markup": "amount",
    "change_phone": "phone",
    "topup_card": "amount",
    "unload_card": "amount",
}
_MOVES: Final = frozenset({"topup_card", "unload_card"})
_SENTENCE: Final = re.compile(r"(?<!\d)[.!?;]+(?=\s|$)|\n+")
_VALUE: Final = {"set_limits": "§a", "set_markup": "§a", "change_phone": "§t"}

_ASKS: Final = re.compile(
    r"\b(?:please|pls|plz|plx|kindly|can|could|would|will|need|needs|want|wants|wanna|like|should|must|shall|let|lets|make|set|sets|setting|change|update|put|raise|lower|increase|decrease|reduce"
    r"|keep|bring|bump|drop|move|switch|adjust|allow|give|get|gets|new|now|instead|use|register|replace|swap|edit|correct|fix|take|cut|hold|restrict|enter|add|apply|has to|may|mind|ask|asking"
    r"|request|requesting|up to|down to|no more than|not more than|at most|max|maximum|turn|slash|trim|tighten|loosen|widen|extend|push|pull|modify|amend|revise|declare|record|save|store|attach"
    r"|link|enable|is to|are to|be|from now on|effective|as of|kick|dial|double|halve|charge|stick|throw|whack|pop|settle|confirm|substitute|becomes?|insert|here on|assign|point|tag)\b"
    r"|\b(?:limit|cap) (?:§c|(?:her|his|it|them|him|the|their|that|this|our|spend|spending|card|to)\b)|[→↑↓↗]|->|=>|\bto §|['’]d like|=|:\s*§"
)
#: What a fragment without a request may hold beside its values; every other word is a story.
_FRAGMENT: Final = word_set(
    "limit limits limited cap caps max maximum daily weekly monthly day week month per a an each every the for on of to at with by and his her their its card cards"
    " spend spending hi hello hey thanks thank you thx cheers ta team all urgent asap today only usd us dollars dollar bucks markup mark up deposit deposits fee our my"
    " phone number mobile cell tel telephone contact is in as also just ok okay so then and now right well anyway hm hmm um uh oh ah alright yes yep that same us both sorry quick"
    " morning good afternoon evening today everyone folks guys there countersign bot dear mate immediately thks no more than most not over from until till"
)
#: The sentence of a limit, and not of what was paid.
_OF_A_LIMIT: Final = re.compile(
    r"limit|\b(?:caps?|max\w*|spend|da(?:y|ily)|week(?:ly)?|month(?:ly)?|allowance)\b"
)
_REASON: Final = re.compile(r"(?:\b(?:because|cos|coz|cuz|since|due to|owing to)|, as)\b.*", re.DOTALL)
_WORD: Final = re.compile(r"[a-z]+")
_SIGNS: Final = re.compile(r"§[a-z]\d+§(?:'s?)?")
_OFTEN: Final = r"(?:second|minute|hour|hr|day|night|evening|morning|week|weekend|month|quarter|year|trip|head|person|pop|time|purchase|visit|d|w|m)"
_LIMIT: Final = r"(?:limits?|caps?|maximum|max|ceiling|allowance|mark-?\s?up|threshold|restrictions?)"

#: What the limit, the markup or the number did, was or lacks: nothing is to be set to it.
_COMPLAINT: Final = re.compile(
    r"\b(?:hit|hits|hitting|exceed\w*|reach\w*|went over|goes over|gone over|going over|is (?:over|above|at|under)|blew|blown|maxed|stuck|ran out|run out|runs out|used up|uses up|hates?|hated|loves?"
    r"|dislikes?|knows?|complain\w*|not enough|insufficient|unfair|too (?:low|high|small|tight|much|little|strict)|eats?|kills? (?:our|the|us)|blocks (?:her|him|them|us)|does(?:n['’]?t| not) (?:need|want|like|have)|do(?:n['’]?t| not) need"
    r"|need not|no need|has no|can do without|without the|free §c\d+§ from|previously|formerly|used to|got hit|was (?:hit|used|reached|exceeded)|broke|breached|crossed|passed|over the|above the|beyond)\b"
)
_TO_VALUE: Final = re.compile(
    r"\b(?:to|from now on|instead|make it|set|now|new|down to|up to)\b[^.;]{0,12}§a\d+§|→|->"
)
_REMOVES: Final = re.compile(
    rf"\b(?:remove|removing|take off|lift|clear|scrap|drop|delete|waive|abolish|get rid of|kill|cancel|free|reset|end|void|lose|ditch|undo|erase|eliminate|annul|revoke|suspend|disable|release|take|dump|axe|strip|withdraw)\b[^.;!?]{{0,40}}\b{_LIMIT}\b"
    rf"|\b(?:remove|lift|clear|scrap|delete|waive|abolish|get rid of|ditch|eliminate|void|axe)\b[^.;!?]{{0,30}}§a"
)
_DIFFERENCE: Final = re.compile(
    r"\+ ?§a|\b(?:add|knock|take|subtract|deduct|shave|lop|trim|chop|slash|cut|throw|tack|put) (?:another |an extra |an additional |a further )?§a\d+§ (?:usd |dollars |bucks )?(?:a (?:day|week|month) |per (?:day|week|month) |more )?(?:off|from|extra|more|on top of (?:the|her|his|their|its|§c)|to (?:the|his|her|their|our|§c\d+§(?:'s?)?|my|its|that|daily|weekly|monthly|mark))\b"
    r"|§a\d+§ ?(?:usd |dollars |bucks )?(?:off|(?:up|down)(?! to)|extra|higher|lower|more|less|additional)\b"
    r"|\b(?:another|extra|additional|further) §a"
    r"|(?<!mark[- ])\b(?:up|bump|reduce|increase|raise|lower|decrease|cut|extend|boost|lift|trim|hike)\b(?![^.;!?\n]{0,120}(?:\b(?:to|at|on|of|is|be|as|up to)\b(?: the| a| an| usd| only| just| about| new| max)*|→|->|=|:|-|per|monthly|weekly|daily)\s?§a)(?:(?!§a)[^.;!?\n]){0,60}§a"
    r"|(?<!mark[- ])\b(?:up|bump|reduce|increase|raise|lower|decrease|cut|extend|boost|trim|hike)\b[^.;!?\n]{0,40}\blimits?(?: (?:of|on|for) §c\d+§(?:'s?)?)?(?: with)? ?§a"
)
#: A limit for a part of what a card does, or for other stretches of time.
_ANOTHER_LIMIT: Final = re.compile(
    r"\b(?:atms?|cash(?: withdrawals?)?|contactless|online|offline|pos|e-?commerce|internet|foreign|nfc|tap|merchant|withdrawals?)[ -](?:daily |weekly |monthly |spending |spend )?(?:limits?|caps?|max\w*)\b"
    r"|\b(?:limits?|caps?|max\w*)\b[^.;!?,]{0,40}?\b(?:for|at|on|in) (?:the |all )?(?:atms?|cash|contactless|online|offline|pos|e-?commerce|foreign)\b|§a\d+§ (?:for |at )?(?:the )?(?:atms?|contactless|online)\b"
    r"|\b(?:every|each|per|a|any) (?:other|second|third|two|three|few|couple|half|work|working|business|week|alternate|odd|even)[ -]?(?:of )?(?:days?|weeks?|months?)\b(?<!weekday)"
)
#: The number itself is gone, or was never the holder's.
_LOST_NUMBER: Final = re.compile(
    r"\b(?:lost|stolen|stole|hacked|cloned|old|former|previous|wrong|remove|delete|erase|her husband|emergency|fax|landline|holiday) (?:(?:her|his|their|the|a|my|our|company|work) )*(?:phone|mobile|cell|sim|handset|number|no\.?|one|contact)?(?: number)?(?: (?:is|was))? ?§t"
    r"|\b(?:second|2nd|another|additional|backup|alternative|extra|secondary) (?:phone|mobile|cell|number|contact)\b"
    r"|\b(?:emergency|fax|landline|holiday|hotel) (?:contact|number|phone)\b"
)
_NOT_THE_PHONE: Final = re.compile(
    r"\b(?:lost|stolen|stole|hacked|cloned|unreachable|unavailable|dead|broken|disconnected|discontinued|someone|somebody|remove|delete|erase|went to|wrong|was|were|not|no longer|isn['’]?t"
    r"|doesn['’]?t|didn['’]?t|don['’]?t|can['’]?t|cannot|never|go|goes|going|sent|sends?|sending|lands?|landing|comes?|coming|arrives?|arriving|check|checking|verify|find|call|ring|rings|text|reach|from the phone|spam\w*|scam\w*)\b"
)
_ALSO_NEW: Final = re.compile(
    r"\b(?:new|now|change|update|set|replace|switch|register|use|swap|put|enter|correct|should|needs? to be|point|make|amend|assign|insert|stick|tag|fix|becomes?|substitute)\b[^;!?]{0,60}§t"
    r"|→|->|§t\d+§ (?:is )?(?:now|instead|from now)|^[^;!?]{0,90}\b(?:change|update|replace|amend|correct)\b"
)

_STANDING: Final = re.compile(
    rf"§a\d+§(?: (?:usd|dollars?|bucks|more|extra))*\s?(?:/|p/|(?:a|an|per|each|every)\s|p\.?)\s?{_OFTEN}\b|§a\d+§(?: (?:usd|dollars?|bucks))* (?:each|apiece|weekly|daily|monthly|hourly|yearly|p\.?[dwma]\.?)(?:\W|$)"
    rf"|§c\d+§(?:'s?)? (?:an?|per|each|every) {_OFTEN}\b|\bfor (?:each|every|all(?: (?:two|three|four|five|six|seven|§[xa]\d+§|the))?) (?:of )?(?:the |her |his |their )?(?:day|night|week|month|trip|visit)s?\b"
    rf"|\brepeat(?:ed|ing|s|edly)?\b|\bonce (?:per|a|every|each) {_OFTEN}\b|\brecurring\b|\bregularly\b|\bstanding order\b|\b(?:every|each) {_OFTEN}\W*$"
)
_TARGET: Final = re.compile(
    r"\bso (?:that )?(?:there(?:['’]s| is| are)|(?:it|he|she|they|§c\d+§(?:'s?)?|the (?:card|balance|total)) (?:has|have|had|holds?|shows?|reads?|gets? to|ends? up|comes? to|stands? at|totals?|equals?|reaches?)\b)[^.;§]{0,20}§a"
    r"|\b(?:total|balance|target|sum total|final (?:balance|amount)|end (?:balance|amount))\b(?: (?:on|for|of) (?:it|§c\d+§|the card))?(?: ?§c\d+§)?(?: ?(?:of|to|is|at|be|should be|=|→|->|:|up to))* ?§a"
    r"|\b(?:to make|making|making up|make up) (?:it|that|this|§c\d+§|the (?:balance|total|card))(?: (?:up )?to)? ?§a|\btowards? §a|\bto a round §a|\b(?:should|must|has to|needs to|ought to) (?:have|hold|show|contain|end up with) §a"
)
_PART: Final = re.compile(
    r"§a\d+§(?: (?:usd|dollars?|bucks))*,? \(?(?:minus|less|net|gross|ex|excl\w*|incl\w*|before|after|without|w/o|including) ?\.? ?(?:of )?(?:the |any |our |all )?(?:fees?|vat|tax|taxes|markup|costs?|charges?|commission|deductions?)\b|§a\d+§(?: (?:usd|dollars?|bucks))*,? (?:net|gross|minus)\b"
    r"|§a\d+§ (?:and (?:a bit|change|some)|something|odd|squared|or so|ish|give or take)\b|\b(?:min|minimum|max|at least|at most|no less than|not less than)\b\.? §a|§a\d+§ (?:minimum|min|at least|at most|max)\b"
)

#: A sum that is asked after (`is there 280 on her card?`), that a limit is to be, or that is one of two things to give.
_NO_SUM_TO_MOVE: Final = re.compile(
    r"(?:^|[.;,!?\n–-]\s*|\b(?:and|so|but) )(?:is|are|was|were|does|did|has|have|had)(?:n['’]?t)? (?!(?:there|it) (?:(?:any|an?|some) )?(?:chance|way|possib\w+|ok|okay|fine)\b)[^.;!?\n]*§a\d+§[^.;!\n]*\?"
    r"|\b(?:ceiling|limits?|cap|threshold)\b(?: (?:of|for|on) (?:her|his|their|the|card|§c\d+§(?:'s)?))*(?: (?:to|at|of|be|is|should|from|down|up))* ?§a"
    r"|§a\d+§(?: (?:usd|dollars?|bucks))? and an? (?!bit|half|little|few|quarter)[a-z]"
)


#: Which network it was, the writer does not know, or says two of them; `base` alone is a word like any other.
_UNSURE_WHICH: Final = re.compile(
    r"\beither\b|\b(?:base|§n\d+§)(?: network| chain)? or (?:the |on |via |maybe |was it )*(?:base|§n\d+§)"
    r"|\b(?:which|what) (?:one|network|chain|of them)? ?(?:i|we|he|she|they|it) (?:used|sent|picked|chose|took|was)\b"
    r"|\b(?:not sure|unsure|forgot|(?:can|do|did) ?n['’]?t (?:know|remember|recall)|(?:cannot|can not|do not) (?:know|remember|recall))\b"
)


def is_unsure_which_network(text: str) -> bool:
    """Does a masked text in small letters leave open on which network a deposit was sent?"""
    return _UNSURE_WHICH.search(text) is not None


def is_another_value(text: str, intent: str) -> bool:
    """Is what a text of `as_said` in small letters holds for a value no new limit, markup or number, or no amount to move?"""
    if intent in _MOVES:
        return any(pattern.search(text) for pattern in (_TARGET, _PART, _NO_SUM_TO_MOVE))
    if intent not in VALUE_OF:
        return False
    own = [one for one in _SENTENCE.split(text) if _VALUE[intent] in one]
    if intent == "set_limits":
        own = [one for one in own if _OF_A_LIMIT.search(one)] or own
    if not _ASKS.search(text) and any(_is_a_story(one) for one in own):
        return True
    if intent == "change_phone":
        return any(_is_no_new_phone(one) for one in _clauses(own, "§t"))
    if any(_DIFFERENCE.search(one) or (_ANOTHER_LIMIT.search(one) and intent == "set_limits") for one in own):
        return True
    parts = list(_clauses(own, "§a"))
    is_set = any(_TO_VALUE.search(one) for one in parts)
    return not is_set and any(_COMPLAINT.search(one) or _REMOVES.search(one) for one in parts)


def _clauses(sentences: Sequence[str], sign: str) -> Iterator[str]:
    """The parts between commas that hold a value: what another part complains about is not this value."""
    return (part for one in sentences for part in one.split(",") if sign in part)


def _is_no_new_phone(clause: str) -> bool:
    if _LOST_NUMBER.search(clause):
        return True
    return _NOT_THE_PHONE.search(clause) is not None and not _ALSO_NEW.search(clause)


def _is_a_story(sentence: str) -> bool:
    return any(word not in _FRAGMENT for word in _WORD.findall(_SIGNS.sub(" ", _REASON.sub(" ", sentence))))


def moves_again(text: str, intent: str) -> bool:
    """Is an amount to be moved again and again?"""
    return intent in _MOVES and _STANDING.search(text) is not None


__all__ = ["VALUE_OF", "is_another_value", "is_unsure_which_network", "moves_again"]
