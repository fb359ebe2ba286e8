"""The example sentences nearest to one that was not understood. Shown, never offered as a button."""

from __future__ import annotations

from collections.abc import Mapping

from rapidfuzz import fuzz, process

from bot.intents import ACTIONS, EXAMPLES
from bot.operations import Operation
from bot.services.conversation import forms

SHOWN = 3


def nearest(text: str, kinds: Mapping[str, type[Operation]]) -> tuple[str, ...]:
    """The sentences nearest to a text, of look-ups and of the requests in `kinds`."""
    sayable = [
        example.suggested
        for intent, example in EXAMPLES.items()
        if example.suggested and (intent not in ACTIONS or forms.kind_of(intent, kinds) is not None)
    ]
    found = process.extract(text[:500], sayable, scorer=fuzz.token_set_ratio, limit=SHOWN)
    return tuple(sentence for sentence, _, _ in found)
