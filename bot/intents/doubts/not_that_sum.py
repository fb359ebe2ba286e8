"""Whether the sum that was read may be another one, by what stands beside it: `5 fifties`, `a third of 90`, `50. All in EUR`.

A number before the name of a thing counts things; a number that is another card's last four digits may be that card; and
money that is named anywhere else in the message may be what the number is of.
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Final

from bot.intents.extraction import IN_DOLLARS, NUMBER_WORDS, Amount, Entity
from bot.intents.model import Reading
from bot.intents.plain_text import is_said_of_other_money, word_set
from bot.intents.readings import Context, plain

_OF_MONEY: Final = frozenset({"topup_card", "unload_card", "set_limits", "order_card"})
_BEHIND: Final = re.compile(r"[ -]+(?P<word>[^\W\d_]+)(?![\w)])")
#: In the plural, or alike, and no things: `take 50 as agreed`, `load 50 thanks`.
_NO_THINGS: Final = word_set(
    """
    thanks thx cheers pls plss plz please this is as was has his hers its theirs ours yes us less across always towards afterwards besides does
    needs gets goes was asks perhaps usds usd dollars bucks bones greenbacks dollaroos smackers smackeroos todays days weeks months funds credits
    """
)
#: Dollars, also with a slip: `40 dolars`.
_DOLLARS: Final = ("dol", "dll", "buck")
_FIGURE: Final = re.compile(
    rf"(?:{NUMBER_WORDS})s?|[cdfghjlmpqrsvxyz]|something|odd|squared|cubed|big|net|gross"
)
#: `1, Top-up, 2, Amount: USD 50`: where a field says which one is the amount, no other is.
_NAMED_AMOUNT: Final = re.compile(r"\bamount\s*[:=]\s*(?:usd|us)?\W{0,2}§[ax](\d+)§", re.IGNORECASE)
#: `set 3- secure on nora`: a word that has lost a letter.
_CUT_WORD: Final = re.compile(r"-[a-z]|\s?-\s?[a-z]+ (?:[a-z]+ )?(?:on|for|of|at) (?:the )?(?:card )?§c")
_AND_MORE: Final = re.compile(
    r" (?:and|&|plus) (?:change|a (?:bit|half|little)|some\b|something|then some|more)"
)
_A_PART_OF: Final = re.compile(
    r"\b(?:half|halves|thirds?|quarters?|fourths?|fifths?|sixths?|sevenths?|eighths?|ninths?|tenths?|hundredths?|parts?|share|fraction|percent|per cent|multiples?|double|twice|thrice|triple) (?:of )?(?:the |that |those |these |his |her |their |about )*$"
)
#: A point that belongs to nothing else (`by . 5`, `by ..5`), or to a word that makes the sum a rough one.
_A_POINT: Final = re.compile(r"(?:(?:^|\s)\.{1,2}|\b(?:min|approx|ca)\.)\s*$")
#: `two huedred and ten`: the sum may begin with a number in words before it.
_BEGUN: Final = re.compile(rf"\b(?:{NUMBER_WORDS}) (?:[^\W\d_]+ )?and $", re.IGNORECASE)
_LONGEST: Final = 40


def doubt_of_sum(reading: Reading, context: Context) -> str:
    """What to ask for instead of the amount of a reading; empty where nothing stands against it."""
    if reading.intent not in _OF_MONEY:
        return ""
    text = context.found.masked
    sums = [
        (number, entity)
        for number, entity in enumerate(context.found.entities)
        if entity.kind in ("amount", "number") and _is_in(entity, reading)
    ]
    for number, entity in sums:
        doubt = _beside(text, number) or _or_a_card(entity, context)
        if doubt:
            return doubt
    named = {int(found[1]) for found in _NAMED_AMOUNT.finditer(text)}
    if named - {number for number, _ in sums}:
        return "how much exactly, in US dollars"
    in_dollars = sums and all(_currency(entity) == "USD" for _, entity in sums)
    return IN_DOLLARS if not in_dollars and is_said_of_other_money(text) else ""


def _currency(entity: Entity) -> str:
    return entity.value.currency if isinstance(entity.value, Amount) else ""


def _is_in(entity: Entity, reading: Reading) -> bool:
    """Is it the amount of the reading, or one of its limits?"""
    taken = [reading.slots.get("amount"), *dict(reading.slots.get("limits") or {}).values()]
    value = entity.value.value if isinstance(entity.value, Amount) else entity.written
    return str(value) in taken or (isinstance(value, Decimal) and plain(value) in taken)


def _beside(text: str, number: int) -> str:
    found = re.search(rf"§[ax]{number}§", text)
    if found is None:
        return ""
    behind, before = _BEHIND.match(text, found.end()), text[max(0, found.start() - _LONGEST) : found.start()]
    word = behind["word"] if behind else ""
    things = word.endswith("s") and not word.startswith(_DOLLARS) and word not in _NO_THINGS
    more = _FIGURE.fullmatch(word) or any(one.match(text, found.end()) for one in (_AND_MORE, _CUT_WORD))
    if things or more or any(one.search(before) for one in (_A_PART_OF, _A_POINT, _BEGUN)):
        return "how much exactly, in US dollars"
    return ""


def _or_a_card(entity: Entity, context: Context) -> str:
    """`top up 3018 9140`, where both are cards."""
    if _currency(entity) or not context.cards.with_last4(entity.written.strip()):
        return ""
    return f"whether {entity.written.strip()} is an amount or a card"


__all__ = ["doubt_of_sum"]
