"""What a text says in values: cards, amounts, periods, phones, hashes, networks, each character in exactly one.

`read_entities` finds them all and gives the text with a sign in the place of each (`load §a0§ onto §c1§`), which the
rooms above read by its words. A value that could be read in two ways carries its doubt; what nobody took stays a
number, so that each digit of a text is accounted for. What is wanted with the values is not known here.
"""

from __future__ import annotations

from bot.intents.extraction.amounts import AT_MOST, IN_DOLLARS, Amount, find_amounts
from bot.intents.extraction.blockchain import UNKNOWN_NETWORK
from bot.intents.extraction.entity import LETTERS, Entity
from bot.intents.extraction.entity_extraction import Found, as_one_line, read_entities, resolve_card
from bot.intents.extraction.incidental_numbers import INCIDENTAL
from bot.intents.extraction.number_words import NUMBER_WORDS
from bot.intents.extraction.periods import Period, find_periods
from bot.intents.extraction.purchase_filters import bounds_in, purchase_slots
from bot.intents.extraction.reasons import reason_in
from bot.intents.extraction.signs import in_words

__all__ = [
    "AT_MOST",
    "INCIDENTAL",
    "IN_DOLLARS",
    "LETTERS",
    "NUMBER_WORDS",
    "UNKNOWN_NETWORK",
    "Amount",
    "Entity",
    "Found",
    "Period",
    "as_one_line",
    "bounds_in",
    "find_amounts",
    "find_periods",
    "in_words",
    "purchase_slots",
    "read_entities",
    "reason_in",
    "resolve_card",
]
