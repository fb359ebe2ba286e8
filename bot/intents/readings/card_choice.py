"""Which one card a request means: by name, by a word like "it", or the question that would settle it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from bot.intents.directory import ORDINARY, WORD, bare_word, find_misspelt_names, fold
from bot.intents.extraction import Entity
from bot.intents.model import Ask, KnownCard, Reading
from bot.intents.readings import questions
from bot.intents.readings.context import Context
from bot.intents.recognition import Frame

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
_SIMILAR_HERE: Final = re.compile(
    r"^\W*[\w'-]+(?:'s)?(?:\s+card\b)?\W*(?:(?:with|by|of)\W+§a\d+§)?"
    r"\W*(?:please|pls|plz|now|asap)?\W*$|'s\b"
)


def has_object(frame: Frame, text: str, context: Context) -> bool:
    """Is the object a card, named or by its noun? A number of four digits may be a card nobody knows."""
    if context.found.inside(text, "card") or names_card_noun(text) or _BULK.search(text):
        return True
    if any(_four(entity) for entity in context.found.inside(text, "amount", "number")) and _bare_object(
        frame
    ):
        return True
    if _PRONOUN.search(frame.tail):
        known = bool(context.cards_before) or (
            context.thread is not None and context.thread.last_card is not None
        )
        return known or (
            frame.intent in _STRONG and not text.startswith(("stop", "lock", "block", "pause", "fund"))
        )
    if frame.intent in ("set_limits", "change_phone", "set_3ds"):
        return frame.intent != "change_phone" or bool(context.found.inside(text, "phone"))
    if _similar(frame.tail, context) and _SIMILAR_HERE.search(frame.tail):
        return True
    return (
        frame.intent in _STRONG
        and _NO_OBJECT.match(frame.tail) is not None
        and not text.startswith(("stop", "lock", "block", "fund", "credit", "load", "activate", "resume"))
    )


def names_card_noun(text: str) -> bool:
    """Whether a text speaks of a card at all."""
    return _NOUN.search(text) is not None


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


def _similar(text: str, context: Context) -> tuple[str, Sequence[KnownCard]] | None:
    bare = re.sub(r"§\w+§", " ", text)
    return next(iter(find_misspelt_names(bare, context.cards)), None)


def _cards_among_amounts(frame: Frame, text: str, context: Context) -> list[KnownCard]:
    """Of `top up 3205 50, 7578 60`, where several numbers are read as amounts, those that are cards."""
    amounts = context.found.inside(text, "amount")
    if frame.intent not in ("topup_card", "unload_card") or len(amounts) < 2:
        return []
    found = [context.cards.with_last4(amount.written) for amount in amounts]
    return [cards[0] for cards in found if len(cards) == 1]


def with_card(reading: Reading, frame: Frame, text: str, context: Context) -> tuple[Reading, Ask | None]:
    """The card the clause means, or the question which one."""
    named = context.found.inside(text, "card")
    if _BULK.search(text) and not named:
        return reading, questions.not_all_cards(frame.intent, context.cards)
    if not named:
        return _without_name(reading, frame, text, context)
    written, fits = one_of(named)
    reading = replace(reading, slots={"card": written, **reading.slots})
    if any("unknown" in entity.traits for entity in named):
        return reading, questions.unknown_card(written)
    if any("by_sound" in entity.traits for entity in named):
        return replace(
            reading, slots={k: v for k, v in reading.slots.items() if k != "card"}
        ), questions.did_you_mean(written, fits, context.cards)
    if not fits:
        everybody = [card for entity in named for card in entity.value]
        return reading, questions.one_card_each(frame.intent, everybody, context.cards)
    if len(fits) > 1:
        return reading, questions.which_card(written, fits, context.cards)
    if more := _cards_among_amounts(frame, text, context):
        return reading, questions.one_card_each(frame.intent, [*fits, *more], context.cards)
    reading = replace(reading, card=fits[0])
    if any("weak" in entity.traits for entity in named):
        return reading, questions.really(frame.intent, reading.slots, f"“{written}” is also a word.")
    return reading, None


def _without_name(reading: Reading, frame: Frame, text: str, context: Context) -> tuple[Reading, Ask | None]:
    if _MINE.search(text):
        return reading, questions.missing("card", frame.intent)
    unknown = [e for e in context.found.inside(frame.tail, "amount", "number") if _four(e)]
    if unknown and _bare_object(frame):
        return reading, questions.unknown_card(unknown[-1].written)
    near = _similar(frame.tail, context)
    if near is not None and not _NOUN.search(re.sub(r"'s card\b", "", text)):
        return reading, questions.did_you_mean(*near, context.cards)
    if _PRONOUN.search(text):
        written, fits = one_of(context.cards_before)
        if len(fits) == 1:
            return replace(reading, slots={"card": written, **reading.slots}, card=fits[0]), None
        if context.cards_before:
            before = [card for entity in context.cards_before for card in entity.value]
            return reading, questions.which_card("it", before, context.cards)
        last = context.thread.last_card if context.thread else None
        if last is not None:
            return replace(reading, slots={"card": last.last4, **reading.slots}, card=last), None
    return reading, None


def one_of(named: Sequence[Entity]) -> tuple[str, list[KnownCard]]:
    """How the card is called and which cards fit all of its names."""
    if not named:
        return "", []
    fits = list(named[0].value)
    for entity in named[1:]:
        fits = [card for card in fits if card in entity.value]
    return named[0].written, fits


def one_card(context: Context, piece: str = "") -> tuple[str, KnownCard | None]:
    """How the one card of the whole text is called, and which it is; None where there is none, or more than one.

    The cards of `piece` alone where it names any.
    """
    named = context.found.inside(piece, "card") or context.found.inside(context.found.masked, "card")
    written, fits = one_of(named)
    return written, fits[0] if len(fits) == 1 else None


#: Around a name that is also a word, in small letters or where a sentence begins, what leaves it a name for a look:
#: `may: per day 75`, `why will refused`, `april, 40 for gas`, `retract my request for april`.
_NAMES_BEFORE: Final = re.compile(
    r"(?:^|[\n.!?:;(>–—-]\s*|\b(?:hi|hello|hey|so|and|well|sorry), |\b(?:on|for|from|off|of|to|onto|with|by|hey|why|about|has|have|did|does|is|top up|topup|the)\s)$"
)
_NAMES_AFTER: Final = re.compile(
    r"\s*(?:$|[:,;?!)\n]|\.(?!\d)|'s\b)|\s+one\W*$|\s+(?:refused|declined|rejected|denied|cards?\b|one\b|per\b|got\b|daily|weekly|monthly"
    r"|is\b|last\b|this\b|yesterday|today|saldo|balance|please|pls|thx|thanks|\d|§a)"
)
_ONLY_BEFORE: Final = re.compile(r"\b(?:on|for|from|off|to|onto|why|top up|topup)\s$")
_FOR_A_PERIOD: Final = re.compile(r"(\b(?:for|from) )?§p(\d+)§")
_FEW_PERIODS: Final = 3
_BUYS: Final = re.compile(r"\s(?:buys|pays|spends|needs|gets|has|wants)\b")


def _is_called_so(word: str, before: str, after: str) -> bool:
    """Do the few characters on both sides of a word of every day leave it a name?"""
    before, after = before.lower(), after.lower()
    return bool(
        (_NAMES_BEFORE.search(before) and _NAMES_AFTER.match(after))
        or _BUYS.match(after)
        or (word == "will" and _ONLY_BEFORE.search(before))
    )


def card_by_a_common_word(context: Context) -> tuple[str, KnownCard | None]:
    """The one card whose holder is called by a word of every day (`may`, `will`), in a text that names no other.

    For what is looked up or offered: nothing opens by it.
    """
    if context.found.inside(context.found.masked, "card"):
        return "", None
    found: dict[str, list[KnownCard]] = {}
    text = context.found.cased
    for word in WORD.finditer(text):
        bare = bare_word(word[0])
        known = context.cards.with_word(bare) if bare in ORDINARY else ()
        end = word.end() - (2 if word[0].lower().endswith("'s") else 0)
        if known and _is_called_so(bare, text[max(0, word.start() - 20) : word.start()], text[end:][:20]):
            found[word[0]] = list(known)
    for sign in _FOR_A_PERIOD.findall(context.found.masked)[:_FEW_PERIODS]:
        # `new limits for april`: only from a preposition that a person may follow, too.
        month = re.fullmatch(
            r"((?:for|from) )?([a-z]+)", context.found.entities[int(sign[1])].written, re.IGNORECASE
        )
        if month and (sign[0] or month[1]) and (known := context.cards.with_word(fold(month[2]))):
            found[month[2]] = list(known)
    if len(found) != 1:
        return "", None
    ((written, fits),) = found.items()
    return written.removesuffix("'s"), fits[0] if len(fits) == 1 else None
