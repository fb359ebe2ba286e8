"""What speaks against a form that would open, whoever read it: each looks at the whole message once more.

Money or a freeze may go `the_other_way`, a freeze as `freeze_direction` reckons it; a number may be `not_that_sum` or
`not_that_value`, a card `not_that_card`; it may be meant `only_in_part`, be said to somebody else, `not_said_to_us`, or be
one of `reports` of what is done already. `as_said` has the text with what its mask left out.
"""

from __future__ import annotations

from bot.intents.doubts.as_said import as_said, with_days
from bot.intents.doubts.freeze_direction import direction_of
from bot.intents.doubts.not_said_to_us import may_be_said_to_others
from bot.intents.doubts.not_that_card import may_mean_another_card
from bot.intents.doubts.not_that_sum import doubt_of_sum
from bot.intents.doubts.not_that_value import VALUE_OF, is_another_value, is_unsure_which_network, moves_again
from bot.intents.doubts.only_in_part import asks_for_a_part
from bot.intents.doubts.reports import tells
from bot.intents.doubts.the_other_way import the_other_way, turned

__all__ = [
    "VALUE_OF",
    "as_said",
    "asks_for_a_part",
    "direction_of",
    "doubt_of_sum",
    "is_another_value",
    "is_unsure_which_network",
    "may_be_said_to_others",
    "may_mean_another_card",
    "moves_again",
    "tells",
    "the_other_way",
    "turned",
    "with_days",
]
