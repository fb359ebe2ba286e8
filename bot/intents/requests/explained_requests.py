"""A request with a story around it: `Sofia thinks somebody copied her card, can you lock it`.

The message is cut into parts. At least one of them says the request, in words that are all known; some only name the
card or the amount; every other part is judged by `around`. The card has to be one, and every figure is accounted for.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from bot.intents.extraction import Entity
from bot.intents.model import KnownCard, Reading
from bot.intents.plain_text import QUOTED, Clause
from bot.intents.readings import Context, is_today, plain, questions
from bot.intents.recognition import spaced
from bot.intents.requests.against import ELSEWHERE, LONGEST, asks_for_two, names_by_a_word
from bot.intents.requests.around import introduces, speaks_against_from_around
from bot.intents.requests.parts import Part, cut
from bot.intents.requests.wording import Said, is_small, said_before_a_story, said_in

_A_CARD: Final = re.compile(
    r"\b(?:an?|one|me one) (?:card|top[ -]?up|recharge|refill|load)\b|\b(?:freeze|block|unfreeze|close) card\b|\btopup\b"
)
_WHEN: Final = re.compile(r"§[pl]\d+§")
_MONEY: Final = frozenset({"topup_card", "unload_card"})
_FEWEST_WORDS: Final = 3  # a story has a subject and a verb; a day alone says when
_POLITELY: Final = re.compile(
    r"\b(?:can|could|would|will|may|might|mind|possible)\b|\b(?:pls|please|kindly)\b"
)
#: An amount in a story is what is on the card, or was paid, unless it is what is needed.
_NEEDED: Final = re.compile(
    r"\b(?:needs?|requires?|short(?: by| of)?|wants|missing|cover|another|more)\s+(?:\w+\s+){0,2}?§a\d+§|§a\d+§\s+(?:short|more|is missing|is needed)"
)
#: What is to come is part of the story where somebody or something comes, goes or has to be paid.
_TO_COME: Final = re.compile(
    r"\b(?:travels?|travelling|traveling|leaves? for|leaving for|flies|flying|lands?|arrives?|departs?|drives?|driving|goes to|going to (?:be|pay|need|travel|fly)|charges?|due|renews?|pays?"
    r"|will (?:charge|pay|need|explain|tell|send|give|be)|i'll (?:explain|send|tell|be)|hope you|starts|launch\w*|opens|off to|back|has a|meeting|booked|books)\b"
)


@dataclass(frozen=True, slots=True)
class _Divided:
    """A message by its parts: what they say, and those that tell something else."""

    said: tuple[tuple[Part, Said], ...]
    small: tuple[Part, ...]
    story: tuple[Part, ...]


def read_explained_request(clauses: Sequence[Clause], context: Context) -> Reading | None:
    """The one request of a message that also tells why; None where there is any doubt."""
    text = spaced(context.found.masked)
    if context.doubts or QUOTED in text or len(text.split()) > LONGEST:
        return None
    if asks_for_two(clauses) or names_by_a_word(context):
        return None
    divided = _divided(cut(text))
    intents = {said.intent for _, said in divided.said}
    if len(intents) != 1:
        return None
    intent = intents.pop()
    card = only_card(context)
    if any(part.asked and not _POLITELY.search(part.text) for part, _ in divided.said):
        return None
    asking = {part.sentence for part, _ in divided.said if _POLITELY.search(part.text)}
    for part in divided.story:
        if part.colon and introduces(part.text):
            return None
        if ELSEWHERE.search(part.text) and any(part.sentence == own.sentence for own, _ in divided.said):
            return None
        asked = part.asked and part.sentence not in asking
        if speaks_against_from_around(part.text, intent, asked=asked):
            return None
    if any(part.asked and not _POLITELY.search(part.text) for part in divided.small if part.text):
        return None
    if card is None:
        return _without_card(intent, text, context)
    return _reading(intent, divided, card, context)


def _without_card(intent: str, text: str, context: Context) -> Reading | None:
    """`I must freeze a card`: the request, and the question which one; None where a card is named, or none is spoken of."""
    if context.found.inside(text, "card", "number", "person") or not _A_CARD.search(text):
        return None
    amounts = context.found.inside(text, "amount")
    if len(amounts) > 1 or (amounts and (intent not in _MONEY or amounts[0].doubt)):
        return None
    if intent in _MONEY and not amounts:
        return None
    slots = {"amount": plain(amounts[0].value.value)} if amounts else {}
    return Reading(intent, slots, ask=questions.missing("card", intent))


def _divided(parts: Sequence[Part]) -> _Divided:
    said: list[tuple[Part, Said]] = []
    small: list[Part] = []
    story: list[Part] = []
    for part in parts:
        found = said_in(part.text)
        said += [(part, one) for one in found]
        if not found and not is_small(part.text):
            found, rest = said_before_a_story(part.text)
            if _WHEN.search(rest):
                found = []  # a day behind the request says when
            head = replace(part, text=part.text.removesuffix(rest))
            said += [(head, one) for one in found]
            story += [replace(part, text=rest, asked=False)] if found else []
        if not found:
            (small if is_small(part.text) else story).append(part)
    return _Divided(tuple(said), tuple(small), tuple(story))


def only_card(context: Context) -> tuple[str, KnownCard] | None:
    """The one card of a message, named so that it cannot be a word."""
    named = context.found.inside(context.found.masked, "card")
    if not named or any(entity.traits & {"unknown", "weak"} or len(entity.value) != 1 for entity in named):
        return None
    cards = {id(entity.value[0]) for entity in named}
    return (named[0].written, named[0].value[0]) if len(cards) == 1 else None


def _reading(intent: str, divided: _Divided, card: tuple[str, KnownCard], context: Context) -> Reading | None:
    written, known = card
    slots: dict[str, Any] = {"card": written}
    found = context.found
    amounts = found.inside(found.masked, "amount")
    if intent in _MONEY:
        if any(said.everything for _, said in divided.said) and not amounts:
            slots["everything"] = "yes"
        elif len(amounts) == 1 and not amounts[0].doubt and _is_meant(divided, context):
            slots["amount"] = plain(amounts[0].value.value)
        elif amounts:
            return None
    elif amounts:
        return None
    if any(_is_spare(entity, intent, divided, context) for entity in found.entities):
        return None
    reading = Reading(intent, slots, card=known)
    if intent in _MONEY and not slots.keys() & {"amount", "everything"}:
        return replace(reading, ask=questions.missing("amount", intent))
    return replace(reading, opened=True)


def _is_meant(divided: _Divided, context: Context) -> bool:
    """Does the amount stand in the request or by itself, or is it said to be needed?"""
    plainly = [*(part.text for part, _ in divided.said), *(part.text for part in divided.small)]
    if any(context.found.inside(text, "amount") for text in plainly):
        return True
    return any(_NEEDED.search(part.text) for part in divided.story)


def _is_spare(entity: Entity, intent: str, divided: _Divided, context: Context) -> bool:
    """Does the request leave this value unaccounted for? A day in the story is part of it."""
    if entity.kind in ("card", "person") or (entity.kind == "amount" and intent in _MONEY):
        return False
    if entity.kind not in ("period", "later"):
        return True
    if entity.kind == "period" and is_today(entity, context.facts):
        return False
    if any(char.isdigit() for char in entity.written) and not _is_past(entity, context):
        return True
    homes = [part for part in divided.story if entity in context.found.inside(part.text)]
    if not _is_past(entity, context) and (
        intent == "close_card" or not any(_TO_COME.search(part.text) for part in homes)
    ):
        return True
    words = [word for part in homes for word in re.findall(r"(?<!§)\b[a-z']{2,}\b", part.text)]
    return len(words) < _FEWEST_WORDS


def _is_past(entity: Entity, context: Context) -> bool:
    return entity.kind == "period" and entity.value.until <= context.facts.now.date()
