"""A verb with one slip in it is offered, never taken: one letter separates block from unblock."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from bot.intents.model import Reading
from bot.intents.plain_text import Clause, word_set
from bot.intents.readings import questions
from bot.intents.readings.card_choice import one_of
from bot.intents.readings.context import Context
from bot.intents.readings.lookups import read_lookup
from bot.intents.readings.slot_values import REQUIRED, values_of
from bot.intents.recognition import frame_of, lookup_intent_of

_ACTION_WORDS: Final = (
    "freeze", "unfreeze", "unlock", "unblock", "block", "lock", "suspend", "pause", "close", "terminate", "load",
    "unload", "topup", "recharge", "withdraw", "reactivate", "disable", "deactivate", "submit", "order",
)  # fmt: skip
_READ_WORDS: Final = (
    "float", "alerts", "balance", "transactions", "purchases", "ledger", "fundings", "fees", "declined", "declines",
    "approvals", "address", "addresses", "cards", "spending",
)  # fmt: skip
_KNOWN: Final = word_set(
    "black clock flock lose loses loose those close closed glass class leads leaf lead road roads lot lots log old"
    " load loan loads clocks slot floats"
    " flat bloat gloat fleet feed feels feet flees free freezer frees alert approval"
    " declare decline order older border other"
    " edger larger later hedge lock look cook book luck block locks chards care cars card cared stop shop"
)


def read_misspelt_verb(bare: str, clause: Clause, context: Context) -> Reading | None:
    """A guess at a misspelt word: an action as a question, a look-up as it is."""
    words = re.findall(r"(?<!§)\b[a-z]{4,}\b", bare)
    for word in words[:1]:
        near = _near(word, _ACTION_WORDS)
        if near and context.found.inside(clause.text, "card") and not clause.negated:
            return _offer(bare.replace(word, near, 1), clause, context)
    for word in words if len(words) <= 5 else ():
        near = _near(word, _READ_WORDS)
        intent = near and lookup_intent_of(
            bare.replace(word, near, 1),
            card_here=bool(context.found.inside(clause.text, "card")),
            card_known=False,
        )
        if intent:
            meant = replace(clause, text=clause.text.replace(word, near, 1))
            return read_lookup(meant, context) or _guess(intent, clause, context)
    return None


def has_a_slip(said: str) -> bool:
    """Is a word of a masked stretch a slip away from an action, and no other form of it?"""
    words = re.findall(r"(?<!§)\b[a-z]{3,}\b", said)
    return any(
        word not in (f"{near}s", f"{near.removesuffix('e')}ed")
        for word in words
        for near in _all_near(word, _ACTION_WORDS)
    )


def _near(word: str, words: tuple[str, ...]) -> str:
    """The one word that is a slip away, or empty."""
    found = _all_near(word, words)
    return found[0] if len(found) == 1 else ""


def _all_near(word: str, words: tuple[str, ...]) -> list[str]:
    from rapidfuzz.distance import OSA

    if word in _KNOWN or word in words:
        return []
    return [w for w in words if OSA.distance(word, w, score_cutoff=1) <= 1]


def _offer(corrected: str, clause: Clause, context: Context) -> Reading | None:
    frame = frame_of(corrected)
    if frame is None:
        return None
    values = values_of(frame, clause.text, context.found)
    written, fits = one_of(context.found.inside(clause.text, "card"))
    slots = {"card": written, **values.slots} if "card" in REQUIRED[frame.intent] else dict(values.slots)
    ask = questions.really(frame.intent, slots, "I am not sure of the verb.")
    card = fits[0] if len(fits) == 1 else None
    return Reading("ambiguous", slots, wanted=frame.intent, ask=ask, card=card)


def _guess(intent: str, clause: Clause, context: Context) -> Reading:
    written, fits = one_of(context.found.inside(clause.text, "card"))
    if len(fits) == 1:
        return Reading(intent, {"card": written}, card=fits[0])
    if intent in ("card_show", "card_balance", "card_transactions", "decline_explain"):
        return Reading(intent, ask=questions.missing("card", intent))
    return Reading(intent)
