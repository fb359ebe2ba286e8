"""Requests that are no commands: read from the whole message, and opened only where nothing in it speaks against it.

A frame (`recognition.request_frames`) says what is requested; around it may stand context and a reason. Any "not", "if",
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
from bot.intents.readings import Context, is_today, plain, questions
from bot.intents.recognition import Framed, find_loose_request, find_requests, spaced
from bot.intents.requests.against import (
    ELSEWHERE,
    HARMLESS,
    LONGEST,
    NEGATED,
    NEVER,
    asks_for_two,
    names_by_a_word,
)

#: Any form of any action's verb: beside the frame there may be none.
_CUE: Final = re.compile(
    r"\b(?:un-?|de|re-?)?(?:freez\w*|froz\w*|block\w*|lock(?:ed|s|ing)?|thaw\w*|defrost\w*|suspend\w*|paus\w*"
    r"|activat\w*|enabl\w*|disabl\w*|clos(?:e|es|ed|ing|ure)|terminat\w*|cancel\w*|kill\w*|delet\w*"
    r"|top\w*[ -]?up\w*|topup\w*|load\w*|recharg\w*|fund(?:s|ed|ing)?|credited|unload\w*|withdr\w*|submit\w*"
    r"|reveal\w*|replacement|new card|order\w*)\b"
)
#: What a request to unfreeze may tell beside it: that the card is frozen.
_IS_FROZEN: Final = re.compile(
    r"\b(?:is|are|it's|its|still|stays) (?:still )?(?:frozen|blocked|locked|paused|on hold|suspended)\b"
)
#: What takes something away, and the reasons for it that hold a "not" or an "until".
_TAKING_AWAY: Final = frozenset({"freeze_card", "close_card", "unload_card"})
_GONE: Final = re.compile(
    r"\b(?:he|she|they|his|her|it|we|i|hes|shes|owner|who|that) (?:\w+ )?(?:doesn'?t|does not|don'?t|do not|can'?t|cannot"
    r"|isn'?t|is not|didn'?t|did not|won'?t|will not|never|no longer|has no|have no|hasn'?t) (?:need\w*|find|know|have|recogni[sz]e"
    r"|answer|come|use|work|locate|see|here|hers|his|reachable|sure where)\b"
    r"|\b(?:until|till|til|while|before) (?:we|i|he|she|they|someone|somebody|it|things|anyone|anybody|this) (?!say|tell|ask|told)"
)
_POLITE_QUESTION: Final = re.compile(
    r"^\W*(?:\w+\W+){0,5}?(?:can|could|would|will|may|might|mind|possible)\b|\b(?:pls|please|kindly)\b"
)


#: What is taken off where no amount is said; it is asked for all the same.
_ALL_THAT_IS: Final = re.compile(r"\b(?:whatever(?:'?s| is| remains)|everything|all of it|the rest)\b")


def read_plain_request(clauses: Sequence[Clause], context: Context) -> Reading | None:
    """The one request of a message, complete and without doubt; None where there is anything else to it."""
    found = context.found
    text = found.masked
    card = _card(context)
    if card is None or context.doubts or QUOTED in text or len(text.split()) > LONGEST:
        return None
    if asks_for_two(clauses) or names_by_a_word(context):
        return None
    clauses = [replace(clause, text=spaced(clause.text)) for clause in clauses]
    requests = _framed(clauses) or _loose(clauses)
    if not requests or len({request.intent for _, request in requests}) != 1:
        return None
    clause, request = max(requests, key=lambda pair: pair[1].end - pair[1].start)
    if len({id(other) for other, _ in requests}) != 1 or not _is_alone(clause, request, clauses):
        return None
    written, known = card
    slots = {"card": written}
    amounts = found.inside(text, "amount")
    if request.intent in ("topup_card", "unload_card"):
        if request.everything and not amounts:
            slots["everything"] = "yes"
        elif len(amounts) == 1 and request.amount and not amounts[0].doubt:
            slots["amount"] = plain(amounts[0].value.value)
        elif amounts:
            return None
    if _spare(context, request):
        return None
    if request.intent == "unload_card" and not amounts and _ALL_THAT_IS.search(text):
        slots["everything"] = "yes"
    reading = Reading(request.intent, slots, card=known)
    if "amount" not in slots and request.intent in ("topup_card", "unload_card"):
        return replace(reading, ask=questions.missing("amount", request.intent))
    return replace(reading, opened=True)


def _framed(clauses: Sequence[Clause]) -> list[tuple[Clause, Framed]]:
    return [(clause, request) for clause in clauses for request in find_requests(clause.text)]


def _loose(clauses: Sequence[Clause]) -> list[tuple[Clause, Framed]]:
    found = ((clause, find_loose_request(clause.text)) for clause in clauses)
    return [(clause, request) for clause, request in found if request is not None]


def _card(context: Context) -> tuple[str, KnownCard] | None:
    """The one card of the message, named so that it cannot be a word."""
    named = context.found.inside(context.found.masked, "card")
    if not named or any(entity.traits & {"unknown", "weak"} or len(entity.value) != 1 for entity in named):
        return None
    cards = {id(entity.value[0]) for entity in named}
    return (named[0].written, named[0].value[0]) if len(cards) == 1 else None


def _spare(context: Context, request: Framed) -> list[Entity]:
    """What of the message the request does not account for."""
    used = {"card", "person"} | ({"amount"} if request.amount else set())
    return [
        entity
        for entity in context.found.entities
        if entity.kind not in used and not (entity.kind == "period" and is_today(entity, context.facts))
    ]


def _is_alone(clause: Clause, request: Framed, clauses: Sequence[Clause]) -> bool:
    """Does nothing around the frame take it back, put it in doubt or ask for something else?"""
    frame = clause.text[request.start : request.end]
    if NEGATED.search(HARMLESS.sub(" ", frame)):
        return False
    around = [clause.text[: request.start], clause.text[request.end :]]
    others = [other for other in clauses if other is not clause]
    if clause.asked and not _POLITE_QUESTION.search(clause.text):
        return False
    if any(other.asked for other in others):
        return False
    for piece in (*around, *(other.text for other in others)):
        bare = HARMLESS.sub(" ", piece)
        if request.intent == "unfreeze_card":
            bare = _IS_FROZEN.sub(" ", bare)
        if request.intent in _TAKING_AWAY:
            bare = _GONE.sub(" ", bare)
        if NEVER.search(bare) or ELSEWHERE.search(bare) or _CUE.search(bare) or NEGATED.search(bare):
            return False
    return True
