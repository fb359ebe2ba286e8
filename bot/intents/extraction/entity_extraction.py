"""All entities of a text, each digit in exactly one. The order is the order of precedence.

Hashes and contacts cannot be anything else; full names come before months, last fours before amounts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from bot.intents.directory import Directory
from bot.intents.extraction.amounts import AMOUNT_WORDS, find_amounts
from bot.intents.extraction.blockchain import NETWORK_WORDS, find_hashes, find_networks
from bot.intents.extraction.card_mentions import (
    SPOKEN_DIGITS,
    find_long_refs,
    find_names,
    find_numbers,
    find_people,
    find_refs,
    find_spoken,
)
from bot.intents.extraction.contacts import find_contacts
from bot.intents.extraction.entity import Claims, Entity
from bot.intents.extraction.incidental_numbers import INCIDENTAL, find_incidental_numbers
from bot.intents.extraction.periods import LATER_WORDS, PERIOD_WORDS, find_later, find_periods
from bot.intents.extraction.plain_words import in_our_words
from bot.intents.model import Facts, KnownCard

_NAMED_WITH_A_YEAR: Final = re.compile(r"(?!card|usd|ref|last|end)[a-z]{4,30}20\d\d", re.IGNORECASE)
_RUN: Final = re.compile(r"[^\W_]+")
#: What tells whether a text can hold a value at all: most hold few kinds of them, and each is looked for at each letter.
_LETTERS: Final = re.compile(r"[a-z]+")
_DIGIT: Final = re.compile(r"\d")
_REFERENCE: Final = re.compile(r"\b(?:partner[ _])?ref(?:erence)?\s*[:=]\s*([^\s,;\0]+)", re.IGNORECASE)
_THREEDS: Final = re.compile(
    r"\b(?:3|three)[ -]?d[ -]?s(?:ecure)?\b|\b(?:verified by visa|mastercard securecode)\b", re.IGNORECASE
)
#: What a form says of itself, in a line of its own: `Cost centre: MKT-04`.
_ANY_LINE: Final = re.compile(r"(?m)^[ \t]*[-*•]?[ \t]*[A-Za-z][A-Za-z ]{1,20}[:=]")
_SIDE_LINE: Final = re.compile(
    r"\n[ \t]*[-*•]?[ \t]*(?:cost cent(?:re|er)|department|dept|project(?: code)?|requested by|requester|gl(?: code)?|budget(?: line| code)?|priority|urgency)"
    r"[ \t]*[:=][ \t]*(?![^\n]*\b(?:not?|never|if|unless|until|till|after|next|tomorrow|wait|no)\b)[^\n:§]{1,40}(?=\n|$)",
    re.IGNORECASE,
)
_ORDINALS: Final = (
    *(
        "first",
        "second",
        "third",
        "fourth",
        "fifth",
        "sixth",
        "seventh",
        "eighth",
        "ninth",
        "tenth",
        "eleventh",
    ),
    *(
        "twelfth",
        "thirteenth",
        "fourteenth",
        "fifteenth",
        "sixteenth",
        "seventeenth",
        "eighteenth",
        "nineteenth",
    ),
    *(
        "twentieth",
        "twenty-first",
        "twenty-second",
        "twenty-third",
        "twenty-fourth",
        "twenty-fifth",
        "twenty-sixth",
    ),
    *("twenty-seventh", "twenty-eighth", "twenty-ninth", "thirtieth", "thirty-first"),
)
_NTH: Final = {
    word: f"{number}{'st' if number in (1, 21, 31) else 'nd' if number in (2, 22) else 'rd' if number in (3, 23) else 'th'}"
    for number, word in enumerate(_ORDINALS, start=1)
}
_A_DAY: Final = "|".join(sorted(_ORDINALS, key=len, reverse=True))
_A_MONTH: Final = "january|february|march|april|may|june|july|august|september|october|november|december|this month|the month"
#: `since the tenth`, `second to sixth of november`: days in words, as figures.
_ORDINAL_DAY: Final = re.compile(
    rf"(?:(?<=since the )|(?<=until the )|(?<=till the )|(?<=from the )|(?<=to the ))(?:{_A_DAY})(?=\s*(?:$|[,.;?!]|(?:until|till|to|of)\b))"
    rf"|\b(?:{_A_DAY})(?= (?:to|until|till|and) (?:the )?(?:{_A_DAY}) of (?:{_A_MONTH})\b)|\b(?:{_A_DAY})(?= of (?:{_A_MONTH})\b)",
    re.IGNORECASE,
)
_WK: Final = re.compile(r"\b(last|this|past|previous) (wk|mo|mth|mnth|yr|qtr)\b(?!['’])", re.IGNORECASE)
_IN_FULL: Final = {
    "wk": "week",
    "mo": "month",
    "mth": "month",
    "mnth": "month",
    "yr": "year",
    "qtr": "quarter",
}
#: `1. Name: …` and `2) Mobile: …` below each other: the numbers of a list are no values.
_LISTED: Final = re.compile(r"(?m)^[ \t]*([1-9])[.)][ \t]+(?=\S)")
_PHONE_NO: Final = re.compile(
    r"\b(phone|mobile|mob|cell|tel|telephone|contact)\.?\s+(?:no\b\.?|nr\b\.?)(?!\s+(?:more|longer))",
    re.IGNORECASE,
)
_WITH: Final = re.compile(r"(?<!\w)w/ ?(?=\S)")
_SIGN: Final = re.compile(r"§[a-z](\d+)§")
#: Said into a phone: `two hundred dollars for Ines comma she changes hotel full stop`.
_DICTATED: Final = re.compile(
    r"\s+(?P<stop>comma|full stop|question mark|period(?=\s*$|\s+[A-Z])|colon(?=\s+[$\d]))(?=\s|$)",
    re.IGNORECASE,
)
_STOPS: Final = {"comma": ",", "full stop": ".", "period": ".", "question mark": "?", "colon": ":"}
_KEY_LINE: Final = re.compile(
    r"\n[ \t]*(?=(?:card|amount|usd|holder|cardholder|name|phone|mobile|e-?mail|ref(?:erence)?|partner ref(?:erence)?"
    r"|hash|tx|tx hash|transaction|network|chain|daily|weekly|monthly|reason|limit|daily"
    r" limit|weekly limit|monthly limit)"
    r"\s*[:=])",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Found:
    """The entities of a text, and the text that names them by sign, as written and in lower case."""

    entities: tuple[Entity, ...]
    cased: str
    masked: str

    def inside(self, masked: str, *kinds: str) -> list[Entity]:
        """The entities that a piece of the masked text names, in its order."""
        numbers = [int(found[1]) for found in _SIGN.finditer(masked)]
        picked = [self.entities[number] for number in numbers]
        return [entity for entity in picked if not kinds or entity.kind in kinds]

    def original(self, masked: str) -> str:
        """A piece of the masked text as it was written, capitals and entities."""
        start = self.masked.find(masked)
        piece = self.cased[start : start + len(masked)] if start >= 0 else masked
        return _SIGN.sub(lambda found: self.entities[int(found[1])].written, piece)


def as_one_line(text: str) -> str:
    """A form (`card: 9140` below `Top up`) becomes one clause; `3-D Secure` one word; dictated stops are stops."""
    text = _SIDE_LINE.sub("", text) if len(_ANY_LINE.findall(text)) > 1 else text
    numbered = [int(found[1]) for found in _LISTED.finditer(text)]
    if len(numbered) > 1 and numbered == list(range(1, len(numbered) + 1)):
        text = _LISTED.sub("", text)
    text = _PHONE_NO.sub(r"\1 number", text)
    text = _WK.sub(
        lambda found: f"{found[1]} {_IN_FULL[found[2].lower()]}",
        _ORDINAL_DAY.sub(lambda found: _NTH[found[0].lower()], text),
    )
    text = in_our_words(_DICTATED.sub(lambda found: _STOPS[found["stop"].lower()], text))
    return _THREEDS.sub("threeds", _WITH.sub("with ", _KEY_LINE.sub("  ", text)))


def read_entities(text: str, facts: Facts, cards: Directory) -> Found:
    claims = Claims(text)
    claims.claim(find_hashes(claims.left))
    contacts = list(find_contacts(claims.left))
    claims.claim(find_people(text, cards, dict(facts.people), [e for e in contacts if e.kind == "person"]))
    claims.claim(contacts)
    claims.claim(find_long_refs(claims.left, cards))
    claims.claim(find_names(claims.left, cards, sure=True))
    claims.claim(find_refs(claims.left, cards))
    claims.claim(_labelled(claims.left))
    words = frozenset(_LETTERS.findall(text.lower()))
    figures = _DIGIT.search(text) is not None
    if figures or not words.isdisjoint(PERIOD_WORDS):
        periods = find_periods(claims.left, facts.now, facts.tz, facts.week_starts)
        claims.claim(period for period in periods if not _is_last4(period, cards))
    if figures or not words.isdisjoint(LATER_WORDS):
        claims.claim(find_later(claims.left))
    if figures:
        claims.claim(find_numbers(claims.left, cards))
    if not words.isdisjoint(SPOKEN_DIGITS):
        claims.claim(find_spoken(claims.left, cards))
    claims.claim(find_names(claims.left, cards, sure=False))
    if not words.isdisjoint(NETWORK_WORDS):
        claims.claim(find_networks(claims.left))
    if figures:
        claims.claim(find_incidental_numbers(claims.left))
    if figures or not words.isdisjoint(AMOUNT_WORDS):
        claims.claim(find_amounts(claims.left, Decimal(facts.most_usd)))
    if figures:
        claims.claim(_rest(claims.left))
    cased = claims.masked()
    return Found(tuple(claims.in_order()), cased, lowered(cased))


def lowered(text: str) -> str:
    """In lower case, each character in its place."""
    if text.isascii():
        return text.lower()
    return "".join(low if len(low := char.lower()) == 1 else char for char in text)


def _is_last4(period: Entity, cards: Directory) -> bool:
    """`on 2008` is a year only where no card is called so."""
    year = re.fullmatch(r"(?:\w+ )?((?:19|20)\d\d)", period.written)
    return year is not None and bool(cards.called(year[1]))


def _labelled(text: str) -> Iterator[Entity]:
    """`reference: TB-9`, where no card has that reference."""
    for found in _REFERENCE.finditer(text):
        yield Entity("reference", *found.span(), found[1], found[1])


def _rest(text: str) -> Iterator[Entity]:
    """Digits that nobody took, with what they are glued to."""
    for found in _RUN.finditer(text):
        if not any(char.isdigit() for char in found[0]):
            continue
        # `token2049` is a name with a year in it; `add50` and `x2` are numbers with a word before them.
        traits = frozenset({INCIDENTAL}) if _NAMED_WITH_A_YEAR.fullmatch(found[0]) else frozenset[str]()
        yield Entity("number", *found.span(), found[0], found[0], traits=traits)


def resolve_card(written: str, cards: Directory) -> tuple[KnownCard, ...]:
    """All the cards that a person may have meant by exactly this: last four, reference, id, or name."""
    bare = written.strip().lstrip("#*•… ")
    if written.strip() != bare and "#" not in written:
        return tuple(cards.with_last4(bare))
    found = cards.called(bare)
    spoken = next(find_spoken(f"card {bare}", cards), None)
    if not found and spoken is not None:
        return tuple(spoken.value)
    if not found:
        names = list(find_names(f"card of {bare}", cards, sure=False))
        found = names[0].value if len(names) == 1 else ()
    return tuple(found)
