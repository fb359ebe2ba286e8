"""An action with its slots: opened as a form, or with the question that comes first.

What is only missing is asked for; what is in doubt makes the reading `ambiguous`.
"""

from __future__ import annotations

from dataclasses import replace

from bot.intents.model import Reading
from bot.intents.plain_text import Clause
from bot.intents.readings import questions
from bot.intents.readings.card_choice import has_object, names_card_noun, with_card
from bot.intents.readings.context import Context
from bot.intents.readings.slot_checks import action_doubt
from bot.intents.readings.slot_values import REQUIRED, Values, values_of
from bot.intents.recognition import Frame, foreign_words, is_foreign


def read_action(frame: Frame, clause: Clause, context: Context) -> Reading | None:
    """The reading of a clause that asks for an action; None where it asks for nothing of ours."""
    if clause.negated:
        return None
    values = values_of(frame, clause.text, context.found)
    reading = Reading(frame.intent, dict(values.slots), notes=values.notes)
    needs_card = "card" in REQUIRED[frame.intent]
    if needs_card and not has_object(frame, clause.text, context):
        return None
    if not needs_card and not _is_ours(frame, values):
        return None
    reading, doubt = with_card(reading, frame, clause.text, context) if needs_card else (reading, None)
    strange = foreign_words(frame.intent, frame.tail)
    if is_foreign(strange) or (strange and needs_card and reading.card is None and doubt is None):
        return None
    doubt = doubt or action_doubt(frame, clause, context, values, reading, strange)
    if doubt is not None:
        return replace(reading, intent="ambiguous", wanted=frame.intent, ask=doubt)
    return _asked_for(reading, frame.intent, context, clause.text)


def _asked_for(reading: Reading, intent: str, context: Context, text: str) -> Reading:
    """A request without doubts: complete, or with the one slot that is asked next."""
    for slot in REQUIRED[intent]:
        if slot not in reading.slots:
            ask = questions.missing(slot, intent, context.facts.networks)
            if (
                reading.slots.keys() - {"everything"}
                or intent == "set_markup"
                or (names_card_noun(text) and intent != "order_card")
            ):
                return replace(reading, ask=ask)
            # Nothing says yet that this is about a card of ours.
            return replace(reading, intent="ambiguous", wanted=intent, ask=ask)
    return replace(reading, opened=True)


def _is_ours(frame: Frame, values: Values) -> bool:
    """Without a card, the words of the frame have to be about us: a hash, a rate, a card to order."""
    if frame.intent == "submit_funding":
        return "tx_hash" in values.slots or values.doubt is not None or "funding" in frame.tail
    return True
