"""What Slack sends, as plain text that can be read, and that text cut into clauses.

`clean` undoes markup, blanks what is quoted and notes what looks odd; `split` cuts a text into clauses and says which
of them are negated, doubted or asked. Knows nothing of cards, amounts or intents.
"""

from __future__ import annotations

from bot.intents.plain_text.clauses import ACTION_VERBS, Clause, is_doubted, is_negated, split
from bot.intents.plain_text.cleaning import QUOTED, Clean, clean
from bot.intents.plain_text.hours_to_come import without_hours
from bot.intents.plain_text.other_money import is_code_of_money, is_of_other_money, is_said_of_other_money
from bot.intents.plain_text.verb_forms import with_ending
from bot.intents.plain_text.word_sets import word_set

__all__ = [
    "ACTION_VERBS",
    "QUOTED",
    "Clause",
    "Clean",
    "clean",
    "is_code_of_money",
    "is_doubted",
    "is_negated",
    "is_of_other_money",
    "is_said_of_other_money",
    "split",
    "with_ending",
    "without_hours",
    "word_set",
]
