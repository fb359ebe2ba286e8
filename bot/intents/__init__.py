"""From a text to an intent or a question. Pure: text and facts in, a reading out.

A wrong read costs a message, a wrong action costs money. So reads are understood generously, and an action
only where the whole text says it, once and without doubt; even then all that follows is a form to check.

`parser` leads a text through the rooms: `plain_text` (markup and clauses), `extraction` (cards, amounts, periods and
other values), `recognition` (what is asked for), `readings` (slots, checks, questions); `directory` has the cards and
their misspelt names. `model` has the values that come out; `examples` a sentence for each intent;
`small_talk` knows greetings, thanks and other languages; `masking` leaves the values out of a text.
"""

from __future__ import annotations

from bot.intents.directory import Directory, find_misspelt_names, fold, names_spelled_nearly
from bot.intents.examples import EXAMPLES
from bot.intents.extraction import reason_in
from bot.intents.masking import masked
from bot.intents.model import (
    ACTIONS,
    Ask,
    Facts,
    KnownCard,
    Option,
    Parsed,
    Reading,
    Suggestion,
    Thread,
)
from bot.intents.parser import parse, read_by_rules
from bot.intents.plain_text import clean
from bot.intents.ranking import BUCKETS, NONE, NOT_OFFERED, WEIGHTS, features_of
from bot.intents.recognition import WhatIf, read_what_if
from bot.intents.small_talk import GREETING, OTHER_LANGUAGE, THANKS, small_talk

__all__ = [
    "ACTIONS",
    "BUCKETS",
    "EXAMPLES",
    "GREETING",
    "NONE",
    "NOT_OFFERED",
    "OTHER_LANGUAGE",
    "THANKS",
    "WEIGHTS",
    "Ask",
    "Directory",
    "Facts",
    "KnownCard",
    "Option",
    "Parsed",
    "Reading",
    "Suggestion",
    "Thread",
    "WhatIf",
    "clean",
    "features_of",
    "find_misspelt_names",
    "fold",
    "masked",
    "names_spelled_nearly",
    "parse",
    "read_by_rules",
    "read_what_if",
    "reason_in",
    "small_talk",
]
