"""Whether a form may be filled in from what was said; if not, what has to be asked.

All must hold: one plain request, one card, every value exact, every digit accounted for. What is only missing is
asked for; what is in doubt makes the reading `ambiguous`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final
from zoneinfo import ZoneInfo

from bot.intents import asking
from bot.intents.directory import Directory, find_misspelt_names
from bot.intents.extraction import Entity, Found
from bot.intents.leftover import foreign_words, is_foreign
from bot.intents.model import Ask, Facts, KnownCard, Reading, Thread
from bot.intents.plain_text import Clause
from bot.intents.recognition import Frame
from bot.intents.values import REQUIRED, Values, values_of

_PRONOUN: Final = re.compile(
    r"\b(?:it|its|that card|this card|the same card|same card|that one|this one|the card|his"
    r" card|her card|their card|the same)\b"
)
_NOUN: Final = re.compile(r"\bcards?\b")
_MINE: Final = re.compile(r"\bmy\s+(?:\w+\s+){0,3}?cards?\b")
_BULK: Final = re.compile(
    r"\b(?:all|every|each|everyone|everyone's|everybody|everybody's|both)\b.*\b(?:cards?"
    r"|them|one)\b|\bevery ?(?:one|body)(?:'s)?\b|\bthem all\b"
    r"|\ball of them\b|\b(?:the|our|these|those|frozen|blocked|active|old) cards\b"
)
_NO_OBJECT: Final = re.compile(
    r"^[\s.,!]*(?:(?:some|with|by|of|money|please|pls|funds|§a\d+§|usd|now|a|the|in)[\s.,!]*)*$"
)
_STRONG: Final = frozenset({"topup_card", "unload_card", "freeze_card", "unfreeze_card"})
_ALSO_USED: Final = {
    "topup_card": {"card", "amount"},
    "unload_card": {"card", "amount"},
    "set_limits": {"card", "amount"},
    "submit_funding": {"tx_hash", "network", "address"},
    "set_markup": {"rate", "amount"},
    "change_phone": {"card", "phone"},
    "order_card": {"phone", "email", "card", "reference"},
}
_OPEN_QUESTION: Final = re.compile(
    r"^(?:\W*\w+\W+){0,6}?(?:can|could|would|will|let's|lets)\b|\bplease\b|\bpls\b|\bplz\b"
)


@dataclass(frozen=True, slots=True)
class Scene:
    """What is around a clause: the facts, the whole message, the thread."""

    facts: Facts
    cards: Directory
    found: Found
    doubts: tuple[str, ...] = ()
    thread: Thread | None = None
    cards_before: tuple[Entity, ...] = ()
    loose: tuple[Entity, ...] = field(default=())  # numbers of the message that no clause accounts for


def read_action(frame: Frame, clause: Clause, scene: Scene) -> Reading | None:
    """The reading of a clause that asks for an action; None where it asks for nothing of ours."""
    if clause.negated:
        return None
    values = values_of(frame, clause.text, scene.found)
    wish = Reading(frame.intent, dict(values.slots), kind=asking.kind_of(frame.intent), notes=values.notes)
    needs_card = "card" in REQUIRED[frame.intent]
    if needs_card and not _has_object(frame, clause.text, scene):
        return None
    if not needs_card and not _is_ours(frame, values):
        return None
    wish, doubt = _with_card(wish, frame, clause.text, scene) if needs_card else (wish, None)
    strange = foreign_words(frame.intent, frame.tail)
    if is_foreign(strange) or (strange and needs_card and wish.card is None and doubt is None):
        return None
    doubt = doubt or _doubt(frame, clause, scene, values, wish, strange)
    if doubt is not None:
        return replace(wish, intent="ambiguous", wanted=frame.intent, ask=doubt)
    return _asked_for(wish, frame.intent, scene, clause.text)


def _asked_for(wish: Reading, intent: str, scene: Scene, text: str) -> Reading:
    """A wish without doubts: complete, or with the one slot that is asked next."""
    for slot in REQUIRED[intent]:
        if slot not in wish.slots:
            ask = asking.missing(slot, intent, scene.facts.networks)
            if (
                wish.slots.keys() - {"everything"}
                or intent == "set_markup"
                or (_NOUN.search(text) and intent != "order_card")
            ):
                return replace(wish, ask=ask)
            # Nothing says yet that this is about a card of ours.
            return replace(wish, intent="ambiguous", wanted=intent, ask=ask)
    return replace(wish, opened=True)


def _is_ours(frame: Frame, values: Values) -> bool:
    """Without a card, the words of the frame have to be about us: a hash, a rate, a card to order."""
    if frame.intent == "submit_funding":
        return "tx_hash" in values.slots or values.doubt is not None or "funding" in frame.tail
    return True


def _has_object(frame: Frame, text: str, scene: Scene) -> bool:
    """Is the object a card, named or by its noun? A number of four digits may be a card nobody knows."""
    if scene.found.inside(text, "card") or _NOUN.search(text) or _BULK.search(text):
        return True
    if any(_four(entity) for entity in scene.found.inside(text, "amount", "number")) and _bare_object(frame):
        return True
    if _PRONOUN.search(frame.tail):
        known = bool(scene.cards_before) or (scene.thread is not None and scene.thread.last_card is not None)
        return known or (
            frame.intent in _STRONG and not text.startswith(("stop", "lock", "block", "pause", "fund"))
        )
    if frame.intent in ("set_limits", "change_phone", "set_3ds"):
        return frame.intent != "change_phone" or bool(scene.found.inside(text, "phone"))
    if _similar(frame.tail, scene) and _SIMILAR_HERE.search(frame.tail):
        return True
    return (
        frame.intent in _STRONG
        and _NO_OBJECT.match(frame.tail) is not None
        and not text.startswith(("stop", "lock", "block", "fund", "credit", "load", "activate", "resume"))
    )


_SIMILAR_HERE: Final = re.compile(
    r"^\W*[\w'-]+(?:'s)?(?:\s+card\b)?\W*(?:(?:with|by|of)\W+§a\d+§)?"
    r"\W*(?:please|pls|plz|now|asap)?\W*$|'s\b"
)


def _bare_object(frame: Frame) -> bool:
    return (
        re.match(
            r"^\W*(?:card\W+)?§[ax]\d+§\W*(?:please|pls|now)?\W*$|.*\b(?:onto|on|from|off|to)\W+§[ax]\d+§\W*$",
            frame.tail,
        )
        is not None
    )


def _four(entity: Entity) -> bool:
    return re.fullmatch(r"\d{4}", entity.written) is not None


def _similar(text: str, scene: Scene) -> tuple[str, Sequence[KnownCard]] | None:
    bare = re.sub(r"§\w+§", " ", text)
    return next(iter(find_misspelt_names(bare, scene.cards)), None)


def _with_card(wish: Reading, frame: Frame, text: str, scene: Scene) -> tuple[Reading, Ask | None]:
    """The card the clause means, or the question which one."""
    named = scene.found.inside(text, "card")
    if _BULK.search(text) and not named:
        return wish, asking.one_card_each(scene.cards)
    if not named:
        return _without_name(wish, frame, text, scene)
    written, fits = one_of(named)
    wish = replace(wish, slots={"card": written, **wish.slots})
    if any("unknown" in entity.traits for entity in named):
        return wish, asking.unknown_card(written)
    if not fits:
        everybody = [card for entity in named for card in entity.value]
        return wish, asking.one_card_each(everybody)
    if len(fits) > 1:
        return wish, asking.which_card(written, fits)
    wish = replace(wish, card=fits[0])
    if any("weak" in entity.traits for entity in named):
        return wish, asking.really(frame.intent, wish.slots, f"“{written}” is also a word.")
    return wish, None


def _without_name(wish: Reading, frame: Frame, text: str, scene: Scene) -> tuple[Reading, Ask | None]:
    if _MINE.search(text):
        return wish, asking.missing("card", frame.intent)
    unknown = [e for e in scene.found.inside(frame.tail, "amount", "number") if _four(e)]
    if unknown and _bare_object(frame):
        return wish, asking.unknown_card(unknown[-1].written)
    near = _similar(frame.tail, scene)
    if near is not None and not _NOUN.search(re.sub(r"'s card\b", "", text)):
        return wish, asking.did_you_mean(*near)
    if _PRONOUN.search(text):
        written, fits = one_of(scene.cards_before)
        if len(fits) == 1:
            return replace(wish, slots={"card": written, **wish.slots}, card=fits[0]), None
        if scene.cards_before:
            return wish, asking.which_card("it", [c for e in scene.cards_before for c in e.value])
        last = scene.thread.last_card if scene.thread else None
        if last is not None:
            return replace(wish, slots={"card": last.last4, **wish.slots}, card=last), None
    return wish, None


def one_of(named: Sequence[Entity]) -> tuple[str, list[KnownCard]]:
    """How the card is called and which cards fit all of its names."""
    if not named:
        return "", []
    fits = list(named[0].value)
    for entity in named[1:]:
        fits = [card for card in fits if card in entity.value]
    return named[0].written, fits


def _doubt(
    frame: Frame, clause: Clause, scene: Scene, values: Values, wish: Reading, strange: Sequence[str]
) -> Ask | None:
    """The first thing that speaks against filling in a form."""
    if values.doubt is not None and not scene.doubts:
        return values.doubt
    if not frame.clear and not scene.doubts:
        return Ask("intent", f"Please say {frame.why}.")
    if strange and not scene.doubts:
        return asking.really(
            frame.intent, wish.slots, f"I do not understand “{' '.join(strange)[:60]}” in this."
        )
    kinds = _ALSO_USED.get(frame.intent, {"card"})
    used = {id(entity) for entity in scene.found.inside(clause.text) if entity.kind in kinds}
    return first_doubt(clause, scene, used, wish)


def first_doubt(clause: Clause, scene: Scene, used: set[int], wish: Reading | None = None) -> Ask | None:
    """What holds for every action, whatever its verb: a plain request, now, with all its digits in `used`."""
    intent, slots = (wish.intent, wish.slots) if wish else ("this", {})
    if scene.doubts:
        return Ask("text", scene.doubts[0])
    if clause.doubted:
        return asking.really(intent, slots, "I act on plain requests only, and only now.")
    if clause.asked and not _OPEN_QUESTION.search(clause.text):
        return asking.really(intent, slots, "That is a question.")
    spare = _spare(clause, scene, used)
    if spare is None:
        return None
    if spare.kind in ("later", "period"):
        return asking.really(intent, slots, "Nothing is scheduled for another time.")
    return asking.unplaced(spare.written or "the link")


def _spare(clause: Clause, scene: Scene, used: set[int]) -> Entity | None:
    """The first entity of the message that this wish does not account for."""
    for entity in scene.found.inside(clause.text):
        if id(entity) in used or entity.kind == "person":
            continue
        if not (entity.kind == "period" and _is_today(entity, scene.facts)):
            return entity
    return next(iter(scene.loose), None)


def _is_today(entity: Entity, facts: Facts) -> bool:
    today = facts.now.astimezone(ZoneInfo(facts.tz)).date()
    return entity.value is not None and entity.value.since == entity.value.until == today
