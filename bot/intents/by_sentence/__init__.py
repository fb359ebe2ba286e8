"""The sentence that asks, read by itself; the sentences beside it, by whether they take it back.

`candidates` gives the sentences that may ask, each in plain words (`you are requested to lift the freeze on 5530` is
`please unfreeze 5530`); the strict readers of requests decide what one of them asks for. `leaves_it_standing` judges the
rest: nothing in it has to be understood, but nothing may speak against the request, ask for a second thing, name another
card or hold a figure that nobody can place.
"""

from __future__ import annotations

from bot.intents.by_sentence.beside import (
    is_taken_back_beside,
    leaves_it_standing,
    skips_a_control,
    without_stories,
)
from bot.intents.by_sentence.by_values import asks_for_another, is_not_meant
from bot.intents.by_sentence.fields import in_fields
from bot.intents.by_sentence.kept_closed import is_forbidden, means_one_of_several, takes_a_request_back
from bot.intents.by_sentence.lookups_meant import asks_without_number, lookup_meant
from bot.intents.by_sentence.sentences import candidates, is_bare_number, without_list_marks
from bot.intents.by_sentence.story_values import only_in_a_story
from bot.intents.by_sentence.stretches import Beside, Candidate

__all__ = [
    "Beside",
    "Candidate",
    "asks_for_another",
    "asks_without_number",
    "candidates",
    "in_fields",
    "is_bare_number",
    "is_forbidden",
    "is_not_meant",
    "is_taken_back_beside",
    "leaves_it_standing",
    "lookup_meant",
    "means_one_of_several",
    "only_in_a_story",
    "skips_a_control",
    "takes_a_request_back",
    "without_list_marks",
    "without_stories",
]
