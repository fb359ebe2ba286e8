"""The cards by what people call them, and what looks like a name of one: ordinary words, misspelt names.

`Directory` finds cards by last four digits, reference or words of the holder's name; `find_misspelt_names` finds the
names that are one slip away from a holder's. Nothing here decides what a text means.
"""

from __future__ import annotations

from bot.intents.directory.card_directory import WORD, Directory, bare_word, each_once, fold, name_words
from bot.intents.directory.misspelt_card_names import find_misspelt_names, names_spelled_nearly
from bot.intents.directory.ordinary_words import ORDINARY

__all__ = [
    "ORDINARY",
    "WORD",
    "Directory",
    "bare_word",
    "each_once",
    "find_misspelt_names",
    "fold",
    "name_words",
    "names_spelled_nearly",
]
