"""Operation kinds that the table of intents does not name, read by the phrases they declare.

A phrase is `reveal {card}`: words, and fields in braces. It has to be the whole clause; that is the gate.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from bot.domain.late_patterns import late
from bot.intents.model import ACTIONS, Ask, Reading
from bot.intents.plain_text import Clause
from bot.intents.readings import questions
from bot.intents.readings.card_choice import one_of
from bot.intents.readings.context import Context
from bot.intents.readings.slot_checks import first_doubt
from bot.intents.readings.slot_values import plain

if TYPE_CHECKING:
    from bot.operations import Field, Operation

_FIELD: Final = late(r"\{(\w+)\}")
_ENDING: Final = r"(?:[\s,]+(?:please|pls|plz|now|asap|thanks|thx))*[\s,]*"


def read_declared_phrase(
    bare: str, clause: Clause, context: Context, kinds: Mapping[str, type[Operation]]
) -> Reading | None:
    """The reading of a clause that is one of the declared phrases."""
    if clause.negated:
        return None
    for kind, operation in kinds.items():
        if operation.intent in ACTIONS:
            continue
        for pattern in _patterns(operation):
            found = pattern.fullmatch(bare)
            if found:
                return _reading(kind, operation, found, clause, context)
    return None


def _patterns(operation: type[Operation]) -> Iterator[re.Pattern[str]]:
    fields = {field.name: field for field in operation.fields}
    for phrase in operation.phrases:
        parts = _FIELD.split(phrase.lower())
        words = [re.sub(r"\\? ", r"\\s+", re.escape(part)) for part in parts[::2]]
        slots = [_slot(name, fields.get(name)) for name in parts[1::2]]
        woven = "".join(w + s for w, s in zip(words, [*slots, ""], strict=True))
        yield late(woven + _ENDING)


def _slot(name: str, field: Field[Any] | None) -> str:
    """What may stand for a field: the sign of its kind of entity, or any words where there is no such kind."""
    if field is not None and field.card:
        return rf"(?:the\s+)?(?P<{name}>§c\d+§|(?:a|the|my|this|that)\s+card|it)"
    if "amount" in name or name.endswith(("_usd", "percent")):
        return rf"(?P<{name}>§a\d+§)"
    signs = {"tx_hash": "h", "network": "n", "phone": "t", "email": "e"}
    return rf"(?P<{name}>§{signs[name]}\d+§)" if name in signs else rf"(?P<{name}>\S.*?)"


def _reading(
    kind: str, operation: type[Operation], found: re.Match[str], clause: Clause, context: Context
) -> Reading:
    intent = operation.intent or kind
    reading = Reading(intent, kind=kind)
    doubt: Ask | None = None
    for field in operation.fields:
        text = found.groupdict().get(field.name)
        if text is not None:
            reading, asked = _filled(reading, field, text, context)
            doubt = doubt or asked
    doubt = doubt or first_doubt(clause, context, _used(found, context))
    if doubt is not None:
        return replace(reading, intent="ambiguous", wanted=intent, ask=doubt)
    for field in operation.fields:
        if not field.optional and field.name not in ("reason", *reading.slots):
            return replace(reading, ask=questions.missing(field.name, intent, context.facts.networks))
    return replace(reading, opened=True)


def _used(found: re.Match[str], context: Context) -> set[int]:
    return {id(e) for text in found.groupdict().values() if text for e in context.found.inside(text)}


def _filled(reading: Reading, field: Field[Any], text: str, context: Context) -> tuple[Reading, Ask | None]:
    entities = context.found.inside(text)
    if field.card:
        return _card(reading, field, text, context)
    value: Any = context.found.original(text)
    if entities and re.fullmatch(r"\s*§\w\d+§\s*", text):
        entity = entities[0]
        if entity.doubt:
            return reading, questions.exactly(field.name, entity.doubt)
        value = plain(entity.value.value) if entity.kind in ("amount", "rate") else entity.value
    return replace(reading, slots={**reading.slots, field.name: value}), None


def _card(reading: Reading, field: Field[Any], text: str, context: Context) -> tuple[Reading, Ask | None]:
    named = context.found.inside(text, "card") or list(context.cards_before)
    if not named:
        return reading, None
    written, fits = one_of(named)
    reading = replace(reading, slots={**reading.slots, field.name: written})
    if len(fits) == 1:
        return replace(reading, card=fits[0]), None
    return reading, questions.which_card(written, fits, context.cards) if fits else questions.unknown_card(
        written
    )
