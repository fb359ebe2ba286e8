"""The answer to a question that was asked in this thread: one slot, and nothing else in the text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from bot.intents.extraction import Entity, resolve_card
from bot.intents.model import ACTIONS, Ask, Reading
from bot.intents.plain_text import Clause
from bot.intents.readings import questions
from bot.intents.readings.card_choice import one_of
from bot.intents.readings.context import Context
from bot.intents.readings.slot_values import REQUIRED, plain, values_of
from bot.intents.recognition import Frame, strip_lead

_KINDS: Final = {
    "amount": ("amount", "rate"),
    "card": ("card",),
    "network": ("network",),
    "tx_hash": ("tx_hash", "address"),
    "phone": ("phone",),
    "email": ("email",),
    "since": ("period",),
    "limits": ("amount",),
}
_WORDS: Final = re.compile(
    r"[^\w§]+|\b(?:it|is|its|it's|the|a|an|on|for|to|with|by|of|make|that|usd|please|pls|card|use|then|network|amount|phone"
    r"|number|email|mail|hash|say|take|one|limit|set|ok|yes|per|and|each|every|daily|weekly|monthly|day|week|month|only|sorry"
    r"|from|at|this|dollars|name|holder|his|her|their)\b"
)
_NAME: Final = re.compile(r"[^\W\d_][^\W\d_'.-]*(?: [^\W\d_][\w'.-]*){0,4}")
_EVERY: Final = re.compile(r"\b(daily|weekly|monthly|day|week|month)\b")

#: `50 a day`: no amount that is moved once.
_AGAIN: Final = re.compile(r"\b(?:per|each|every|daily|weekly|monthly|a (?:day|week|month))\b")


def read_answer(clauses: Sequence[Clause], context: Context) -> list[Reading]:
    """The reading that the answer completes, or nothing where the text is no answer."""
    thread = context.thread
    if thread is None or not thread.asked_slot or not thread.intent or len(clauses) != 1:
        return []
    if clauses[0].negated or clauses[0].asked:
        return []
    value = _value(thread.asked_slot, clauses[0].text, context)
    if value is None:
        return []
    reading = Reading(thread.intent, dict(thread.slots))
    if isinstance(value, Ask):
        return [replace(reading, intent="ambiguous", wanted=thread.intent, ask=value)]
    return [_completed(replace(reading, slots={**reading.slots, **value}), context)]


def _value(slot: str, text: str, context: Context) -> dict[str, Any] | Ask | None:
    """The slots that the text fills, the question where it is in doubt, None where it says something else."""
    if slot == "name":
        original = context.found.original(strip_lead(text))
        return {"name": original} if _NAME.fullmatch(original) and len(original.split()) < 5 else None
    if slot == "card" and len(context.cards.called(whole := context.found.original(text))) == 1:
        return {"card": whole}  # a reference may be any word, even a verb
    entities = context.found.inside(text)
    if not entities or any(entity.kind not in _KINDS.get(slot, ()) for entity in entities):
        return None
    if _WORDS.sub("", re.sub(r"§\w+?§", "", strip_lead(text))):
        return None
    if context.doubts:
        return Ask("text", context.doubts[0])
    if slot == "limits":
        return _limits(text, context)
    return _one(slot, entities, text)


def _one(slot: str, entities: Sequence[Entity], text: str) -> dict[str, Any] | Ask | None:
    first = entities[0]
    if slot == "card":
        return {"card": first.written} if len(entities) == 1 else None
    if len(entities) > 1:
        return questions.exactly(slot, "just one")
    if first.doubt:
        return questions.exactly(slot, first.doubt)
    if slot == "amount" and _AGAIN.search(text):
        return questions.exactly(
            slot, "Standing orders are not offered. How much is it this once: say only the amount."
        )
    if slot == "amount":
        return {"amount": plain(first.value.value)}
    return first.value.as_slots() if slot == "since" else {slot: first.value}


def _limits(text: str, context: Context) -> dict[str, Any] | Ask:
    values = values_of(Frame("set_limits", text), text, context.found)
    if values.doubt is not None or context.thread is None:
        return values.doubt or dict(values.slots)
    said = context.thread.slots.get("limits") or {}  # those that were said before and can be set stand
    kept = {unit: amount for unit, amount in said.items() if unit != "per_transaction"}
    return (
        {**values.slots, "limits": {**kept, **values.slots["limits"]}}
        if "limits" in values.slots
        else dict(values.slots)
    )


def _completed(reading: Reading, context: Context) -> Reading:
    """The card found again, then the next question, the form, or the look-up."""
    intent = reading.intent
    written = str(reading.slots.get("card", ""))
    if written:
        fits = (
            resolve_card(written, context.cards)
            or one_of(context.found.inside(context.found.masked, "card"))[1]
        )
        if len(fits) != 1:
            ask = (
                questions.which_card(written, fits, context.cards)
                if fits
                else questions.unknown_card(written)
            )
            return replace(reading, intent="ambiguous", wanted=intent, ask=ask)
        reading = replace(reading, card=fits[0])
    for slot in REQUIRED.get(intent, ()):
        other = slot == "network" and reading.slots.get(slot) not in context.facts.networks
        if other or slot not in reading.slots:
            return replace(reading, ask=questions.missing(slot, intent, context.facts.networks))
    return replace(reading, opened=intent in ACTIONS)
