"""A request read from a whole message: what is asked for in one part of it, and that no other part speaks against it.

`plain_requests` and `value_requests` read it where the message says little else; `explained_requests` where it is cut into
`parts` with a story around; `other_requests` those that open no filled form. `against` and `around` have what speaks
against a request, in its own words and in the words around it; `last_look` has what speaks against every form.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from bot.intents.model import Reading
from bot.intents.plain_text import Clause
from bot.intents.readings import Context
from bot.intents.recognition import person_named
from bot.intents.requests.against import LONGEST, asks_for_two, speaks_against
from bot.intents.requests.around import introduces
from bot.intents.requests.background import Apart, is_only_background, request_apart, with_card_of_the_tale
from bot.intents.requests.explained_requests import read_explained_request
from bot.intents.requests.last_look import (
    is_another_thing,
    is_bare_comma,
    may_be_a_freeze,
    may_be_unfreeze,
    may_tell_a_state,
    stays_closed,
)
from bot.intents.requests.only_asks import only_asks
from bot.intents.requests.opens_nothing import read_what_opens_nothing
from bot.intents.requests.other_requests import is_taken_back, read_other_request, read_reveal
from bot.intents.requests.plain_requests import read_plain_request
from bot.intents.requests.value_requests import read_value_request, with_first_load, with_name

if TYPE_CHECKING:
    from bot.operations import Operation


#: No language of ours has a longer one; the patterns look from each of its letters.
_LONGEST_WORD: Final = 80


def read_request(
    clauses: Sequence[Clause], context: Context, kinds: Mapping[str, type[Operation]]
) -> Reading | None:
    """The one request of a whole message; None where there is none, more than one, or anything against it."""
    words = context.found.masked.split()
    if len(words) > LONGEST or any(len(word) > _LONGEST_WORD for word in words):
        return None
    if is_taken_back(context.found.masked):
        return read_other_request(clauses, context, kinds)
    reveal = read_reveal(clauses, context, kinds)
    if reveal is not None:
        return reveal
    return (
        read_plain_request(clauses, context)
        or read_value_request(clauses, context)
        or read_explained_request(clauses, context)
        or read_other_request(clauses, context, kinds)
    )


__all__ = [
    "Apart",
    "asks_for_two",
    "introduces",
    "is_another_thing",
    "is_bare_comma",
    "is_only_background",
    "may_be_a_freeze",
    "may_be_unfreeze",
    "may_tell_a_state",
    "only_asks",
    "person_named",
    "read_request",
    "read_what_opens_nothing",
    "request_apart",
    "speaks_against",
    "stays_closed",
    "with_card_of_the_tale",
    "with_first_load",
    "with_name",
]
