"""Requests that their values tell: a hash to submit, a new number, a rate, limits, a card for somebody.

The words around are free, as long as one of them says that something is requested and none speaks against it. A form
opens only with all its values exact and every figure of the message in it; what is missing is asked for.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from bot.intents.directory import ORDINARY
from bot.intents.model import Reading
from bot.intents.plain_text import QUOTED, Clause
from bot.intents.readings import questions
from bot.intents.readings.against import LONGEST, asks_for_two, names_by_a_word, speaks_against
from bot.intents.readings.card_choice import one_card
from bot.intents.readings.context import Context
from bot.intents.readings.slot_checks import is_today
from bot.intents.readings.slot_values import REQUIRED, values_of
from bot.intents.recognition import Frame, spaced

_TELLING: Final = frozenset({"card", "tx_hash", "rate", "phone", "email"})
_A: Final = r"§a\d+§"
_SUBMIT: Final = re.compile(
    r"\b(?:submit\w*|book|register|registration|log|report(?:ed)?|declare|claim|record|file|enter|insert|announce|process"
    r"|hand in|take it into|put (?:it )?in|book it in|new funding|funding to be|for the float)\b"
)
_NUMBER: Final = re.compile(
    r"\b(?:phone|number|mobile|cell|cellular|cellphone|sim|codes?|otp|handset|telephone|whatsapp)\b"
)
_CHANGE: Final = re.compile(
    r"\b(?:chang\w+|updat\w+|set|replac\w+|substitut\w+|switch\w*|put|regist\w+|point|make|correct|move|use|swap|edit|fix"
    r"|is now|has (?:a |got a )?(?:new|different)|new|enter|record|save|store|deposit|link|attach)\b"
)
_ORDER: Final = re.compile(
    r"\b(?:order\w*|issu\w+|emit\w*|creat\w+|mak\w+|open|produc\w+|request\w*|get|give|set up|spin up|arrang\w+|appl\w+|need\w*|want\w*"
    r"|requir\w+|must have|should get|should have|deserves?|new|another|second|replacement|can we|could we|can i|could i)\b"
)
_A_CARD: Final = re.compile(
    r"\b(?:an?|one|another|the|his|her|their|own|new|second|extra|separate|fresh|virtual|physical|replacement|1|more|prepaid)\s+"
    r"(?:\w+\s+){0,2}?(?:cards?|crad|plastic|prepaid|one)\b|\bcard (?:for|order|in (?:the )?name|with (?:the )?name|named|called)\b"
    r"|\b(?:order|issue|new|emit)\s+(?:\w+\s+)?(?:cards?|crad|prepaid)\b"
)
#: People who ask their bank for a card of their own.
_OWN_CARD: Final = re.compile(
    r"\b(?:my|mine|myself|(?:can|may|could|do|will) i (?:get|order|have)|i (?:want|need|would like|\'d like) (?:a|to))\b"
)
_ANOTHER: Final = re.compile(
    r"\b(?:another|second|replacement|new|extra|separate|more|order|issue)\b(?! number| phone| mobile)"
)
_SWITCH_ON: Final = re.compile(
    r"\b(?:enabl\w+|activat\w+|switch(?:ed)? (?:it )?on|turn(?:ed)? (?:it )?on|set(?:ting)? (?:it )?up|configur\w+|put|add|needs?|active"
    r"|requires?|install|register|need|on)\b"
)
_SWITCH_OFF: Final = re.compile(
    r"\b(?:off|sms|text|disabl\w+|remov\w+|without|deactivat\w+|back|phone|number)\b"
)
_MARKUP: Final = re.compile(r"\bmark-? ?up\b")
_TO_SET: Final = re.compile(
    rf"\b(?:set|chang\w+|make|made|put|rais\w+|lower\w*|increas\w+|reduc\w+|cut|drop|revis\w+|bring|brought|adjust\w*|mov\w+"
    rf"|bump|enhanc\w+|should be|must be|to be|shall be|go(?:es)? to|up to|down to|correct|fix|update|now)\b|mark-? ?up:? {_A}"
)
_LIMIT: Final = re.compile(
    r"\b(?:limits?|caps?|ceiling|plafond|maximum|max|no more than|not more than|can spend|may spend)\b"
    rf"|{_A}\s*(?:usd|dollars|bucks)?\s*(?:per|an?|each|every|/)\s*(?:day|week|month)\b|\b(?:daily|weekly|monthly)\W+(?:\w+\W+){{0,2}}?{_A}"
    rf"|{_A}\s*(?:daily|weekly|monthly)\b|\b(?:day|week|month):? {_A}"
)
_NO_LIMIT: Final = re.compile(
    r"\b(?:top\w*[ -]?up|load|refill|recharge|automatic\w*|round|standing|first of)\b|!!"
)
_LIMIT_SET: Final = re.compile(
    r"\b(?:set|chang\w+|make|put|rais\w+|lower\w*|increas\w+|reduc\w+|cut|drop|bring|adjust\w*|mov\w+|bump|cap|limit|limits|lift|up"
    r"|allow\w*|configure|correct|fix|update|give|get|needs?|should be|to be|must be|max\w*|tops|please|pls|kindly)\b|:"
)
_NAME: Final = r"(?P<name>[^\W\d_][\w'’.-]*(?:\s+(?:[A-ZÀ-Ž][\w'’.-]*|–|-|(?:de|da|van|von|der|dos|del|di|la|bin|al)\b)){0,4})"
_NAMED: Final = (
    re.compile(rf"\b(?:card|crad|prepaid)s?(?: please| pls)?\s*[:\n/,–-]+\s*{_NAME}"),
    re.compile(
        r"(?:^|[.,:;!\n]\s*|\bfor\s+|\bget\s+|\bgive\s+|\bissue\s+|\border\s+)(?P<name>[^\W\d_]{2,} [^\W\d_]{2,})"
        r"\s+(?:needs?|wants?|requires?|a card|must have|card|his own|her own|is joining|starts)\b"
    ),
    re.compile(rf"\b[Nn]ame(?:d)? (?:on (?:it|the card) )?(?:is |: ?|of )?{_NAME}"),
    re.compile(rf"\b(?:called|named|in (?:the )?name of|holder:?|full name:?)\s+{_NAME}"),
    re.compile(
        r"\b(?:card|crad|one|prepaid|plastic|order|issue|create|set up|spin up|emit|colleague|joiner|starter|hire|contractor)\b"
        rf"[^.\n]{{0,40}}?\b(?:for|is|:)\s+(?:our |the |my |new |a |colleague |visiting |consultant |contractor |Mr\.? |Ms\.? |Mrs\.? )*{_NAME}"
    ),
    re.compile(
        r"^\W*(?:(?:hi|hello|hey|please|pls|kindly|also|and|so|can|could|our|new|colleague|joiner|hire|starter|mr|ms|mrs)\b[\s,.:]*)*"
        rf"{_NAME}[^.\n]{{0,30}}?\b(?:needs?|wants?|requires?|is requiring|must have|should (?:get|have)|get|have|set up)\b",
        re.IGNORECASE,
    ),
)
_NO_NAME: Final = frozenset(
    [
        "me",
        "us",
        "him",
        "her",
        "them",
        "the",
        "a",
        "an",
        "our",
        "my",
        "your",
        "new",
        "team",
        "someone",
        "everyone",
        "people",
        "client",
        "you",
        "it",
        "this",
        "that",
        "card",
        "cards",
        "please",
        "one",
        "we",
        "i",
        "he",
        "she",
        "they",
        "can",
        "could",
        "there",
        "somebody",
        "another",
        "two",
        "both",
        "all",
        "order",
        "need",
        "pls",
        "kindly",
        "so",
        "today",
        "tomorrow",
        "good",
        "hi",
        "hello",
        "his",
        "their",
        "its",
        "own",
        "what",
        "which",
        "who",
    ]
)


def read_value_request(clauses: Sequence[Clause], context: Context) -> Reading | None:
    """The request that the values of a message tell; None where there is none, or anything speaks against it."""
    text = spaced(context.found.masked)
    if not any(entity.kind in _TELLING for entity in context.found.entities) and "card" not in text:
        return None
    if len(text.split()) > LONGEST or asks_for_two(clauses) or names_by_a_word(context):
        return None
    if context.doubts or QUOTED in text or any(clause.asked and not _polite(clause) for clause in clauses):
        return None
    for intent, read in (
        ("submit_funding", _submission),
        ("set_markup", _markup),
        ("change_phone", _phone),
        ("set_limits", _limits),
        ("set_3ds", _threeds),
        ("order_card", _order),
    ):
        if read(text, context) and not speaks_against(text, intent):
            return _reading(intent, text, context)
    return None


def _polite(clause: Clause) -> bool:
    words = r"^\W*(?:\w+\W+){0,4}?(?:(?:can|could|would|will|may|might) (?:you|u|ya|we|i|someone|somebody|the|§|be)|possible)"
    return re.match(words, clause.text) is not None


def _submission(text: str, context: Context) -> bool:
    return bool(context.found.inside(text, "tx_hash")) and _SUBMIT.search(text) is not None


def _markup(text: str, context: Context) -> bool:
    rates = context.found.inside(text, "rate")
    return bool(rates) and _MARKUP.search(text) is not None and _TO_SET.search(text) is not None


def _phone(text: str, context: Context) -> bool:
    named = context.found.inside(text, "phone") and context.found.inside(text, "card")
    words = _NUMBER.search(text) and _CHANGE.search(text)
    return bool(named and words) and not _A_CARD.search(
        text.replace("new number", "").replace("new phone", "")
    )


def _limits(text: str, context: Context) -> bool:
    named = context.found.inside(text, "card") and context.found.inside(text, "amount")
    if _NO_LIMIT.search(text):
        return False
    return bool(named) and _LIMIT.search(text) is not None and _LIMIT_SET.search(text) is not None


def _order(text: str, context: Context) -> bool:
    if _OWN_CARD.search(text) or (context.found.inside(text, "card") and not _ANOTHER.search(text)):
        return False
    return _A_CARD.search(text) is not None and _ORDER.search(text) is not None


def _threeds(text: str, context: Context) -> bool:
    named = "threeds" in text and context.found.inside(text, "card")
    return bool(named) and _SWITCH_ON.search(text) is not None and _SWITCH_OFF.search(text) is None


def _reading(intent: str, text: str, context: Context) -> Reading | None:
    """Opened where all is exact; with the question for what is missing; None where something is in doubt."""
    values = values_of(Frame(intent, text), text, context.found)
    if values.doubt is not None and values.doubt.slot != "network":
        return None
    slots: dict[str, Any] = dict(values.slots)
    card = None
    if "card" in REQUIRED[intent]:
        written, card = one_card(context)
        named = context.found.inside(text, "card")
        if card is None or any(entity.traits & {"unknown", "weak"} for entity in named):
            return None
        slots = {"card": written, **slots}
    if intent == "order_card":
        slots = with_name(slots, context)
        if not slots.keys() & {"name", "phone", "email"}:
            return None
    missing = [slot for slot in REQUIRED[intent] if slot not in slots]
    spare = _spare(intent, context)
    if intent == "order_card" and context.found.inside(text, "period", "later"):
        spare = True
    reading = Reading(intent, slots, card=card, notes=values.notes)
    if missing:
        if intent in ("set_limits", "submit_funding") and spare:
            return None
        return replace(reading, ask=questions.missing(missing[0], intent, context.facts.networks))
    return None if spare else replace(reading, opened=True)


_USED: Final[Mapping[str, frozenset[str]]] = {
    "submit_funding": frozenset({"tx_hash", "network"}),
    "set_markup": frozenset({"rate"}),
    "change_phone": frozenset({"card", "phone"}),
    "set_limits": frozenset({"card", "amount"}),
    "set_3ds": frozenset({"card"}),
    "order_card": frozenset({"phone", "email", "reference"}),
}


def _spare(intent: str, context: Context) -> bool:
    """Is there a figure or a value in the message that the form does not hold?"""
    for entity in context.found.entities:
        if entity.kind == "person" or (entity.kind == "period" and is_today(entity, context.facts)):
            continue
        if entity.kind not in _USED[intent]:
            return True
    return False


def with_name(slots: dict[str, Any], context: Context) -> dict[str, Any]:
    """The holder, read from the text as it was written."""
    cased = context.found.cased
    for pattern in _NAMED:
        for match in pattern.finditer(cased):
            name = match["name"].strip(" .,-–")
            words = [word.lower() for word in name.split()]
            common = any(word in ORDINARY or word in _NO_NAME for word in words) and name.islower()
            if "§" in name or not words or words[0] in _NO_NAME or common:
                continue
            if len(words) > 1 or name[:1].isupper():
                return {"name": name, **{k: v for k, v in slots.items() if k != "name"}}
    return {k: v for k, v in slots.items() if k != "name"}
