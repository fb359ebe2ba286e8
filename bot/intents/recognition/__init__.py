"""What a clause asks for, by its words alone: an action, a look-up, a "what if". Patterns, no values and no facts.

`frame_of` finds an action by its verb, `lookup_intent_of` a look-up; both read a text whose values are already signs.
`read_what_if` reads a whole question about how many cards could be had. Whether anything may follow is decided in
`bot.intents.readings`.
"""

from __future__ import annotations

from bot.intents.recognition.action_verbs import A, C, Frame, frame_of, strip_lead
from bot.intents.recognition.doers import somebody_does, somebody_does_it
from bot.intents.recognition.for_good import is_for_a_while, is_for_good
from bot.intents.recognition.lookup_intents import (
    DECIDES,
    DECISION,
    HELP,
    NOT_OFFERED,
    lookup_intent_of,
    status_of,
)
from bot.intents.recognition.not_done_here import is_about_others, is_not_done_here
from bot.intents.recognition.person_names import FULL_NAME, PARTICLES, person_named
from bot.intents.recognition.record_lookups import (
    asks_what_is_left,
    is_said_plainly,
    kind_of_request,
    person_of,
    requester_of,
)
from bot.intents.recognition.request_frames import Framed, find_loose_request, find_requests, spaced
from bot.intents.recognition.undo_and_pause import (
    is_pause,
    is_undo,
    without_request_words,
    without_undo_words,
)
from bot.intents.recognition.unparsed_words import foreign_words, is_foreign
from bot.intents.recognition.what_if import WhatIf, read_what_if

__all__ = [
    "DECIDES",
    "DECISION",
    "FULL_NAME",
    "HELP",
    "NOT_OFFERED",
    "PARTICLES",
    "A",
    "C",
    "Frame",
    "Framed",
    "WhatIf",
    "asks_what_is_left",
    "find_loose_request",
    "find_requests",
    "foreign_words",
    "frame_of",
    "is_about_others",
    "is_for_a_while",
    "is_for_good",
    "is_foreign",
    "is_not_done_here",
    "is_pause",
    "is_said_plainly",
    "is_undo",
    "kind_of_request",
    "lookup_intent_of",
    "person_named",
    "person_of",
    "read_what_if",
    "requester_of",
    "somebody_does",
    "somebody_does_it",
    "spaced",
    "status_of",
    "strip_lead",
    "without_request_words",
    "without_undo_words",
]
