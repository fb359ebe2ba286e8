"""Wishes that are no commands: read from the whole message, and opened only where nothing in it speaks against it.

A frame (`recognition.wish_frames`) says what is wished; around it may stand context and a reason. Any "not", "if",
"she said", any other request, any second card or amount and any figure that is not accounted for, wherever it
stands, keeps the form closed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from bot.intents.extraction import Entity
from bot.intents.model import KnownCard, Reading
from bot.intents.plain_text import QUOTED, Clause
from bot.intents.readings import questions
from bot.intents.readings.context import Context
from bot.intents.readings.slot_checks import is_today
from bot.intents.readings.slot_values import plain
from bot.intents.recognition import Wish, find_wishes, spaced, strip_lead

#: What makes a message something else than a wish of its writer, wherever it stands.
_NEVER: Final = re.compile(
    r"\b(?:if|unless|whether|in case|depending|assuming|provided|suppos\w+|as soon as|once|whenever|would have|could have"
    r"|should have|wouldve|couldve|shouldve|coulda|woulda|shoulda"
    r"|said|says|saying|sayin|told|tells|asked|asks|asking|wrote|writes|writing|written|quote|quoted|goes|reads"
    r"|maybe|perhaps|possibly|might (?!i\b|you\b|we\b)|think\w*|thought|wonder\w*|consider\w*|plan\w*|intend\w*|gonna|going to"
    r"|was about|were about|about to|ought|worth|smart|wise|sensible|idea|better|rather|theor\w+|hypothe\w+|imagin\w+|pretend"
    r"|what if|example|e\.g|test\w*|training|slide|manual|procedure|policy|subject|phishing|rumou?r|joke|joking|kidding|jk"
    r"|never|forget|scratch|ignore|disregard|hold off|holding off|wait|not yet|not now|yet|second thoughts?|changed? (?:my|his|her"
    r"|their|idea|mind)|already|handled|done|sorted|no need|needn'?t|against|mistake|oops|wrong|didn'?t mean|undo|revers\w+|instead|except|but not"
    r"|fyi|btw|by the way|just so|used to|remember|last time|next time|one day|some ?day|eventually|later|soon enough|sometimes"
    r"|always|usually|normally|or|versus|vs|why|who|whom|whose|what|which|how come|did|do you (?:think|reckon|believe)|should"
    r" (?:we|i)|shall (?:we|i)|is it|are we|am i|everyone|everybody|all|every|each"
    r"|both|them|cards|half|double|twice|approve\w*|reject\w*|decline it|tomorrow|monday|tuesday|wednesday|thursday|friday"
    r"|saturday|sunday|weekend|tonight|midnight|noon|next|until|till|til|starting|effective|when|while|before|after"
    r"|some|about|around|roughly|approx\w*|max|at least|at most|limit|limits|cap|per|daily|weekly|monthly|a (?:day|week|month)"
    r"|keep|keeps|stay|stays|remain\w*|girl|guy|boy|intern|zł|zl|pln|plus|minus the|stop|abort|cancel|dispute|refund|cvv|pin|naira|pounds|euros?|reais|zloty)\b"
)
_HARMLESS: Final = re.compile(
    r"\b(?:if (?:you|u)(?:'d| would|'?ll| could| can| don'?t mind| please)?(?: be)?(?: so kind| kind enough)?(?: as to)?"
    r"|if (?:at all )?possible|when(?:ever)? you(?:'re ready| can| have an?(?: (?:spare|free))? (?:moment|minute|second|sec))"
    r"|if it'?s? (?:is )?not too much trouble|until further notice|at once|for now|right now|from now(?: on)?(?= *$)"
    r"|is it possible to|all good|after all|thank you so much|as usual|as always)\b"
)
_NEGATED: Final = re.compile(
    r"\b(?:not|no|nor|nobody|none|nothing|neither|without|don'?t|won'?t|wouldn'?t|can'?t|cannot|couldn'?t|shouldn'?t|mustn'?t"
    r"|doesn'?t|didn'?t|isn'?t|aren'?t|wasn'?t|weren'?t|hasn'?t|haven'?t|hadn'?t|aint|ain't|n't|nope|nah|stop|avoid)\b"
)
#: Where else things are closed, loaded or put on hold.
_ELSEWHERE: Final = re.compile(
    r"\b(?:jira|sheets?|spreadsheet|tickets?|doors?|calendar|repo|repository|github|notion|excel|netflix|docs?|document"
    r"|folder|drive|files?|website|slack|board|branch|server|subscription|inbox|thread|meeting|truck|fridge)\b"
)
#: Any form of any action's verb: beside the frame there may be none.
_CUE: Final = re.compile(
    r"\b(?:un-?|de|re-?)?(?:freez\w*|froz\w*|block\w*|lock(?:ed|s|ing)?|thaw\w*|defrost\w*|suspend\w*|paus\w*|activat\w*"
    r"|enabl\w*|disabl\w*|clos(?:e|es|ed|ing|ure)|terminat\w*|cancel\w*|kill\w*|delet\w*|top\w*[ -]?up\w*|topup\w*|load\w*"
    r"|fill\w*|recharg\w*|fund(?:s|ed|ing)?|credit\w*|unload\w*|withdr\w*|pull\w*|tak(?:e|es|en|ing)|took|remov\w*|return\w*|add(?:s|ed|ing)?|put(?:s|ting)?"
    r"|giv\w*|gave|send\w*|sent|transfer\w*|mov(?:e|es|ed|ing)|order\w*|issu(?:e|es|ed|ing)|submit\w*|reveal\w*|switch\w*|turn(?:s|ed|ing)?)\b"
)
#: What a wish to unfreeze may tell beside it: that the card is frozen.
_IS_FROZEN: Final = re.compile(
    r"\b(?:is|are|it's|its|still|stays) (?:still )?(?:frozen|blocked|locked|paused|on hold|suspended)\b"
)
_POLITE_QUESTION: Final = re.compile(
    r"^\W*(?:\w+\W+){0,5}?(?:can|could|would|will|may|might|mind|possible)\b|\b(?:pls|please|kindly)\b"
)
#: A second thing to do, behind "and" or "then", or as a sentence of its own.
_SECOND: Final = re.compile(
    r"(?:\b(?:and|then|also|&|instead)\s+(?:(?:then|also|please|pls|kindly|order instead)\s+)*|^)"
    r"(?:un)?(?:freeze|block|lock|suspend|pause|close|cancel|terminate|top ?up|load|fund|credit|refill|recharge|add|put"
    r"|give|send|move|transfer|take|pull|unload|withdraw|order|issue|set|raise|lower|change|submit|reveal)\s+"
    r"(?!(?:me|us|it through|it up|a note|that|this)\b)(?:instead\s+)?(?:[^\s§]+\s+){0,4}?(?:§|\w)"
)
_LONGEST: Final = 60  # words; a longer message tells a story


def read_plain_wish(clauses: Sequence[Clause], context: Context) -> Reading | None:
    """The one wish of a message, complete and without doubt; None where there is anything else to it."""
    found = context.found
    text = found.masked
    if context.doubts or QUOTED in text or len(text.split()) > _LONGEST:
        return None
    clauses = [replace(clause, text=spaced(clause.text)) for clause in clauses]
    wishes = [(clause, wish) for clause in clauses for wish in find_wishes(clause.text)]
    if not wishes or len({wish.intent for _, wish in wishes}) != 1:
        return None
    clause, wish = max(wishes, key=lambda pair: pair[1].end - pair[1].start)
    if len({id(other) for other, _ in wishes}) != 1 or not _is_alone(clause, wish, clauses):
        return None
    card = _card(context)
    if card is None:
        return None
    written, known = card
    slots = {"card": written}
    amounts = found.inside(text, "amount")
    if wish.intent in ("topup_card", "unload_card"):
        if wish.everything and not amounts:
            slots["everything"] = "yes"
        elif len(amounts) == 1 and wish.amount and not amounts[0].doubt:
            slots["amount"] = plain(amounts[0].value.value)
        else:
            return None
    if _spare(context, wish):
        return None
    reading = Reading(wish.intent, slots, card=known)
    if wish.everything:
        return replace(reading, ask=questions.missing("amount", wish.intent))
    return replace(reading, opened=True)


def asks_for_two(clauses: Sequence[Clause]) -> bool:
    """Does the message ask for two things, whether or not anybody has understood the second?"""
    texts = [strip_lead(clause.text) for clause in clauses if not clause.negated]
    return sum(len(_SECOND.findall(text)) for text in texts) > 1


def _card(context: Context) -> tuple[str, KnownCard] | None:
    """The one card of the message, named so that it cannot be a word."""
    named = context.found.inside(context.found.masked, "card")
    if not named or any(entity.traits & {"unknown", "weak"} or len(entity.value) != 1 for entity in named):
        return None
    cards = {id(entity.value[0]) for entity in named}
    return (named[0].written, named[0].value[0]) if len(cards) == 1 else None


def _spare(context: Context, wish: Wish) -> list[Entity]:
    """What of the message the wish does not account for."""
    used = {"card", "person"} | ({"amount"} if wish.amount else set())
    return [
        entity
        for entity in context.found.entities
        if entity.kind not in used and not (entity.kind == "period" and is_today(entity, context.facts))
    ]


def _is_alone(clause: Clause, wish: Wish, clauses: Sequence[Clause]) -> bool:
    """Does nothing around the frame take it back, put it in doubt or ask for something else?"""
    frame = clause.text[wish.start : wish.end]
    if _NEGATED.search(_HARMLESS.sub(" ", frame)):
        return False
    around = [clause.text[: wish.start], clause.text[wish.end :]]
    others = [other for other in clauses if other is not clause]
    if clause.asked and not _POLITE_QUESTION.search(clause.text):
        return False
    if any(other.asked for other in others):
        return False
    for piece in (*around, *(other.text for other in others)):
        bare = _HARMLESS.sub(" ", piece)
        if wish.intent == "unfreeze_card":
            bare = _IS_FROZEN.sub(" ", bare)
        if _NEVER.search(bare) or _ELSEWHERE.search(bare) or _CUE.search(bare) or _NEGATED.search(bare):
            return False
    return True
