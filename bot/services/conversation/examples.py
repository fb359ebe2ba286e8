"""The example sentences nearest to one that was not understood. Shown, never offered as a button."""

from __future__ import annotations

from collections.abc import Mapping

from bot import intents
from bot.intents import ACTIONS, EXAMPLES
from bot.operations import Operation
from bot.services.conversation import forms

SHOWN = 3


def nearest(text: str, kinds: Mapping[str, type[Operation]], cards: intents.Directory) -> tuple[str, ...]:
    """The sentences nearest to a text, of look-ups and of the requests in `kinds`, about a card that there is."""
    # Only now: most messages are understood.
    from rapidfuzz import fuzz, process

    last4, name = _card_to_name(cards)
    sayable = [
        said
        for intent, example in EXAMPLES.items()
        if (said := example.suggestion(last4, name))
        and (intent not in ACTIONS or forms.kind_of(intent, kinds) is not None)
    ]
    found = process.extract(text[:500], sayable, scorer=fuzz.token_set_ratio, limit=SHOWN)
    return tuple(sentence for sentence, _, _ in found)


def _card_to_name(cards: intents.Directory) -> tuple[str, str]:
    """The last four digits and the first name of an active card that both name alone; empty where there is none."""
    for card in cards:
        name = card.holder.split()[0].title() if card.holder.split() else ""
        alone = len(cards.with_last4(card.last4)) == 1 and len(cards.with_words([intents.fold(name)])) == 1
        if card.status == "ACTIVE" and name.isalpha() and alone:
            return card.last4, name
    return "", ""
