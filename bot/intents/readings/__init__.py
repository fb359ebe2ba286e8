"""From a recognised clause to a reading: its slots filled, checked, or the one question that has to be asked.

`read_action` opens a form only where the gate (`slot_checks`) finds nothing against it; `read_lookup` is generous;
`read_declared_phrase` reads the phrases operation kinds declare; `read_misspelt_verb` offers and never acts;
`read_answer` fills the slot that was asked for in the thread; `read_follow_up` changes what was said before.
`questions` has every sentence that is asked.
"""

from __future__ import annotations

from bot.intents.readings import questions
from bot.intents.readings.actions import read_action
from bot.intents.readings.card_choice import card_by_a_common_word, one_card
from bot.intents.readings.context import Context
from bot.intents.readings.declared_phrases import read_declared_phrase
from bot.intents.readings.follow_ups import read_follow_up
from bot.intents.readings.lookups import read_lookup, read_lookup_as
from bot.intents.readings.misspelt_verbs import has_a_slip, read_misspelt_verb
from bot.intents.readings.other_networks import with_other_network
from bot.intents.readings.slot_checks import is_today
from bot.intents.readings.slot_values import NO_MARKUP, REQUIRED, first_load, plain, values_of
from bot.intents.readings.thread_answers import read_answer
from bot.intents.readings.undo_and_pause import read_undo_or_pause, with_card_of_the_undo

__all__ = [
    "NO_MARKUP",
    "REQUIRED",
    "Context",
    "card_by_a_common_word",
    "first_load",
    "has_a_slip",
    "is_today",
    "one_card",
    "plain",
    "questions",
    "read_action",
    "read_answer",
    "read_declared_phrase",
    "read_follow_up",
    "read_lookup",
    "read_lookup_as",
    "read_misspelt_verb",
    "read_undo_or_pause",
    "values_of",
    "with_card_of_the_undo",
    "with_other_network",
]
