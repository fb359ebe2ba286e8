"""The readings of “undo that” and “pause everything”. Neither is ever `opened`: a button follows, nothing else."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from bot.intents.model import Reading
from bot.intents.plain_text import Clause, is_doubted, is_negated
from bot.intents.readings import questions
from bot.intents.readings.card_choice import card_by_a_common_word, one_card, one_of
from bot.intents.readings.context import Context
from bot.intents.recognition import (
    is_pause,
    is_undo,
    kind_of_request,
    without_request_words,
    without_undo_words,
)

UNDO, PAUSE = "undo", "pause_sending"


def read_undo_or_pause(bare: str, clause: Clause, context: Context) -> Reading | None:
    """`undo` with the request, card and kind that are named, or `pause_sending`; None for anything else."""
    wanted = UNDO if is_undo(bare) else PAUSE if is_pause(bare) else ""
    before = clause.text[: clause.text.rfind(bare)] if bare in clause.text else clause.text
    if not wanted or is_negated(without_request_words(bare)) or is_doubted(bare) or is_doubted(before):
        return None
    return _undo(clause, context) if wanted == UNDO else Reading(PAUSE)


def _undo(clause: Clause, context: Context) -> Reading:
    slots: dict[str, Any] = {}
    requests = context.found.inside(clause.text, "request")
    if requests:
        slots["request"] = requests[0].value
    kind = kind_of_request(without_undo_words(clause.text))
    if kind:
        slots["kind"] = kind
    cards = context.found.inside(clause.text, "card")
    if not cards:
        return Reading(UNDO, slots)
    written, fits = one_of(cards)
    reading = Reading(UNDO, {"card": written, **slots})
    if len(fits) == 1:
        return Reading(UNDO, reading.slots, card=fits[0])
    ask = questions.which_card(written, fits, context.cards) if fits else questions.unknown_card(written)
    return Reading("ambiguous", reading.slots, wanted=UNDO, ask=ask)


def with_card_of_the_undo(reading: Reading, context: Context) -> Reading:
    """`that top-up I asked for 3018, take it back`: what is taken back is that of the one card that is named."""
    if reading.intent != UNDO or reading.slots.keys() & {"card", "request"}:
        return reading
    written, card = one_card(context)
    if card is None:
        written, card = card_by_a_common_word(context)
    return reading if card is None else replace(reading, slots={"card": written, **reading.slots}, card=card)
