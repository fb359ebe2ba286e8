"""The views of a conversation, with a stranger's text in every place it can get to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from bot.intents import Ask, Option
from handlers.views import conversation

View = dict[str, Any]
MARK = "01ARZ3NDEKTSV4RRFFQ69G5FAV:12"


def _ask(text: str, options: int) -> Ask:
    return Ask("card", text, tuple(Option(text, f"{n} {text}") for n in range(options)))


def _question(options: int, *, missed: bool = False) -> Callable[[str], View]:
    def draw(text: str) -> View:
        return conversation.question(
            _ask(text, options), MARK, notes=(text,), missed=missed, typed="Type it here."
        )

    return draw


def _offers(text: str) -> View:
    offer = conversation.offer(
        "Top up", (("Card", text), ("Amount (USD)", text)), MARK, 0, (text,), full=True
    )
    other = conversation.offer("Freeze", (("Card", text),), MARK, 1, (), full=False)
    return conversation.offers((offer, other), ("Top up", "Freeze"), is_own=False)


MESSAGES: Mapping[str, Callable[[str], View]] = {
    "say-question": _question(0, missed=True),
    "say-question-buttons": _question(5),
    "say-question-menu": _question(130),
    "say-offers": _offers,
    "say-choice": lambda text: conversation.choice(text, text, MARK),
    "say-words": conversation.words,
    "say-pausing": lambda text: conversation.pausing((text, text), (text,)),
    "say-guarded": lambda text: conversation.guarded(),
    "say-too-many": lambda text: conversation.too_many(),
    "say-lost": lambda text: conversation.lost((text, text, text)),
    "say-noted": lambda text: conversation.noted(conversation.words(text), (text, text)),
}
