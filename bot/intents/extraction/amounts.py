"""Amounts and rates as people write them, exactly or not at all.

A number is read whole, with everything that touches it: a multiplier, a unit or a group of digits that is
not understood makes it doubtful, it is never cut off.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from rapidfuzz.distance import OSA

from bot.intents.extraction.entity import Entity
from bot.intents.extraction.number_words import NUMBER_WORDS, read_words
from bot.intents.plain_text import is_of_other_money

_USD: Final = r"usd\$|us\$|usd|us dollars?|dollars?|dollar|bucks?|\$"
_OTHER: Final = (
    r"r\$|a\$|c\$|s\$|hk\$|[¢\u20a0-\u20cf]|£|¥|₹|₦|₽|₩|₱|₺|rs\.?|zł|zl|pln|ngn|naira|brl|reais|reals?|sgd|czk|kč|sek|nok|dkk|huf|eur|euros?|gbp|pounds?|quid|yen|jpy|chf|francs?|cad|aud|inr|rupees?|usdt|usdc|eth|btc|matic|pence"
    r"|(?:us )?cents?"
)
#: A dash with a space on both sides parts two things, unless a number stands before it: `bal zero - 1.5k on ads`.
_SIGN: Final = r"(?P<sign>(?<![\w)])[-−–](?:(?<=\d\s.)\s|(?<=§\s.)\s|(?=[^\s])))"
_NUMBER: Final = re.compile(
    rf"(?<![\w.,§])(?P<plus>\+)?{_SIGN}?(?P<before>(?:{_USD}|{_OTHER})(?=[\s\d+−–-]|[.,]\d))?[ ]?(?P<sign2>[-−–])?"
    r"(?P<digits>(?:\d+|(?<![^\s(:=+$£¥¢\u20a0-\u20cf−–-])[.,]\d+)(?:[.,']\d+)*(?:(?<=\d)[ ]\d{3}(?![\d]))*(?:[.,]\d+)?)"
    rf"(?P<glued>[a-zł$£¥¢\u20a0-\u20cf%]*)(?:[ ](?P<times>k|grand|thousand|hundred|million|mio|mln|billion|bn)(?!\w))?"
    rf"(?:[ ]?(?P<after>{_USD}|{_OTHER}|percent|per cent|pct|bps|bp|basis points?|%)(?![\w]))?",
    re.IGNORECASE,
)
_ROUGH: Final = re.compile(
    r"(?:\b(?:about|around|roughly|approx(?:imately|\.)?|circa|ca\.?|some|nearly|almost|maybe|perhaps|(?<!would )(?<!'d )like"
    r"|at (?:least|most)|(?<!mark-)(?<!mark )(?<!top )(?<!top-)up to|more than|less than|over|under|say|max(?:imum|\.)?|min(?:imum|\.)?|or so"
    r"|no more than)|[~≈<]|(?<![-=])>|\bor)\s*$"
)
#: `put it up to 300` raises it to exactly that.
_RAISED_TO: Final = re.compile(
    r"\b(?:put|raise|bring|bump|move|lift|take|increase|push|set|bumped|raised|mark-?up)\b(?:\s+[\w§'’-]+){0,6}?\s+up to\s*$",
    re.IGNORECASE,
)
#: A highest amount: rough for what is paid, exact for a limit.
AT_MOST: Final = "at most"
_CEILING: Final = re.compile(
    r"\b(?:at most|(?<!mark-)(?<!mark )up to|(?:no|not|n't)(?: [\w']+){0,4}? more than|more than|over|above|max(?:imum|\.)?)\s*$",
    re.IGNORECASE,
)
_ROUGH_AFTER: Final = re.compile(r"^\s*(?:ish\b|or so\b|or thereabouts|-ish|\+(?!\d)|or\s+[\d$]|to\s+\$?\d)")
_NEAR: Final = 80  # characters before an amount that may say it is a rough one
_LONGEST_FIGURE: Final = 12  # characters of a figure in words, with one more for a slip
_THOUSANDS: Final = 20_000
_TIMES: Final = {"k": 1000, "grand": 1000, "thousand": 1000, "hundred": 100}
_RATES: Final = {"%", "percent", "per cent", "pct"}
_POINTS: Final = {"bps", "bp", "basis point", "basis points"}
_WORDS: Final = re.compile(
    rf"(?<![\w-])(?:a |half a )?(?:{NUMBER_WORDS})(?:(?:[ -]| and )(?:{NUMBER_WORDS}))*(?![\w-])"
    rf"(?:\s(?P<after>{_USD}|{_OTHER}|percent|per cent|pct|basis points?)(?!\w))?",
    re.IGNORECASE,
)
_HALF: Final = re.compile(
    r"\b(?:(?P<half>half a|a half|half|a quarter of a|a quarter|quarter|three quarters of a|three quarters) (?:percent|per cent|%))"
)
_HALVES: Final = {
    "half a": "0.5",
    "a half": "0.5",
    "half": "0.5",
    "a quarter of a": "0.25",
    "a quarter": "0.25",
    "quarter": "0.25",
    "three quarters of a": "0.75",
    "three quarters": "0.75",
}


#: `one and a half percent`.
_AND_A_PART: Final = re.compile(
    r"\b(?P<whole>one|two|three|four|five|six|seven|eight|nine|ten|[1-9]) and (?P<part>a half|a quarter) (?:percent|per cent|%)",
    re.IGNORECASE,
)
#: A text without a figure and without one of these holds no amount.
AMOUNT_WORDS: Final = frozenset({*NUMBER_WORDS.split("|"), "quarter", "quarters"})
_FIGURE: Final = re.compile(r"\d")
_IN_WORDS: Final = rf"(?:{NUMBER_WORDS})(?:(?:[ -]| and )(?:{NUMBER_WORDS})){{0,6}}"
#: `45 dollars and 50 cents`, also in words.
_WITH_CENTS: Final = re.compile(
    rf"(?<![\w.,$-])(?P<dollars>\d{{1,6}}|{_IN_WORDS})\s+(?:us )?(?:dollars?|usd|bucks?)\s+(?:and\s+)?(?P<cents>\d{{1,2}}|{_IN_WORDS})\s+cents?(?!\w)",
    re.IGNORECASE,
)


IN_DOLLARS: Final = "the amount in US dollars: cards are in USD"


def _whole(written: str) -> Decimal | None:
    return Decimal(written) if written.isdigit() else read_words(written)


@dataclass(frozen=True, slots=True)
class Amount:
    """`currency` is USD, another's name, or empty where none was written. A rate is in percent."""

    value: Decimal
    currency: str = ""


def find_amounts(text: str, most: Decimal) -> Iterator[Entity]:
    """All numbers of `text` that may be amounts or rates, doubtful ones with their question.

    `most` is the highest amount that is believed. A number glued to letters is of kind `number`: nobody's.
    """
    for half in _HALF.finditer(text):
        if re.search(
            rf"(?:\band|\d|\b(?:{NUMBER_WORDS}|point)|\b(?:one|two|three|four|five|\d)\s+\w+)[\s-]+$",
            text[max(0, half.start() - _NEAR) : half.start()].lower(),
        ):
            continue  # "one and a half percent" is more than its half
        value = Decimal(_HALVES[half["half"].lower()])
        yield Entity("rate", *half.span(), Amount(value, "%"), half[0])
    for found in _AND_A_PART.finditer(text):
        whole = read_words(found["whole"]) or Decimal(found["whole"] if found["whole"].isdigit() else 0)
        part = Decimal("0.5") if "half" in found["part"].lower() else Decimal("0.25")
        yield Entity("rate", *found.span(), Amount(whole + part, "%"), found[0])
    for found in _WITH_CENTS.finditer(text) if "cent" in text.lower() else ():
        dollars, cents = _whole(found["dollars"]), _whole(found["cents"])
        if dollars is not None and cents is not None and 0 < cents < 100:
            yield _entity(found, text, most, (dollars + cents / 100, "USD"), "")
    for found in _NUMBER.finditer(text) if _FIGURE.search(text) else ():
        yield _read(found, text, most)
    for found in _WORDS.finditer(text):
        entity = _read_words(found, text, most)
        if entity is not None:
            yield entity


def _read(found: re.Match[str], text: str, most: Decimal) -> Entity:
    start, end = found.start(), found.end()
    glued, times, after = (found["glued"] or "").lower(), found["times"] or "", (found["after"] or "").lower()
    unit, multiplier, known = _unit(glued, times.lower(), after, (found["before"] or "").lower())
    following = text[end : end + 1]
    if not known and not glued.startswith(("m", "e", "b")):
        return Entity("number", start, end, found[0], found[0].strip())
    value, doubt = read_digits(found["digits"])
    if unit in ("USD", "%") and multiplier == 1 and _CENTS.fullmatch(found["digits"].strip()):
        doubt = ""
    if not known or _glued_to(following):
        doubt = "how much that is"
    if (
        re.match(r"\s\d", text[end:])
        or re.search(r"\d\s$", text[max(0, start - 2) : start])
        or re.match(r"[.,:/-]\d", text[end:])
    ):
        doubt = doubt or "which digits belong together"
    if found["sign"] or found["sign2"]:
        doubt = doubt or "an amount above zero"
    if unit not in ("%", "bps") and is_of_other_money(text, start, end):
        doubt = doubt or IN_DOLLARS
    return _entity(found, text, most, (value * multiplier, unit), doubt)


#: Beside a currency or a percent sign a comma before two digits stands before cents: `340,00 USD`.
_CENTS: Final = re.compile(r"[1-9]\d{0,4},\d{2}")


def _glued_to(following: str) -> bool:
    """Does what follows belong to the number, whatever it is?"""
    return (
        bool(following)
        and not following.isspace()
        and (following in "'§" or following.isdigit() or not following.isascii())
    )


def _unit(glued: str, times: str, after: str, before: str) -> tuple[str, int, bool]:
    """(currency or rate, multiplier, whether all of it is understood)."""
    multiplier, known, unit = 1, True, ""
    if glued and not glued[-1].isalpha():
        glued, unit = glued[:-1], glued[-1]
    if glued == "k":
        multiplier = 1000
    elif glued in _POINTS or re.fullmatch(f"{_USD}|{_OTHER}", glued):
        unit = glued
    elif re.fullmatch(rf"k(?:{_USD}|{_OTHER})", glued):
        multiplier, unit = 1000, glued[1:]
    elif glued:
        known = False
    if times:
        known = known and times in _TIMES and multiplier == 1
        multiplier *= _TIMES.get(times, 1)
    units = [u for u in (before, unit, after) if u]
    names = {_currency(u) for u in units}
    return (names.pop() if len(names) == 1 else "mixed" if names else ""), multiplier, known


def _currency(unit: str) -> str:
    if unit in _RATES:
        return "%"
    if unit in _POINTS:
        return "bps"
    return "USD" if re.fullmatch(_USD, unit) else _NAMES.get(unit.rstrip("s"), unit.upper())


_NAMES: Final = {
    "€": "EUR",
    "euro": "EUR",
    "eur": "EUR",
    "£": "GBP",
    "pound": "GBP",
    "quid": "GBP",
    "gbp": "GBP",
}


def read_digits(digits: str) -> tuple[Decimal, str]:
    """The number behind separators, and the question where it can be read in two ways, else empty.

    `6,200` `6.200,00` `6 200` are six thousand two hundred; `2,75` and `3.000` are asked about.
    """
    plain = digits.replace("'", " ")
    whole, doubt = plain, ""
    if " " in plain:
        if not re.fullmatch(r"\d{1,3}(?: \d{3})+(?:[.,]\d{1,2})?", plain):
            doubt = "which digits belong together"
        whole = plain.replace(" ", "").replace(",", ".")
    elif "," in plain and "." in plain:
        point = "," if plain.rindex(",") > plain.rindex(".") else "."
        group = "." if point == "," else ","
        if not re.fullmatch(rf"\d{{1,3}}(?:{re.escape(group)}\d{{3}})+{re.escape(point)}\d{{1,2}}", plain):
            doubt = "which digits belong together"
        whole = plain.replace(group, "").replace(point, ".")
    elif "," in plain:
        grouped = re.fullmatch(r"[1-9]\d{0,2}(?:,\d{3})+", plain)
        doubt = (
            ""
            if grouped or re.fullmatch(r"0,\d{1,2}", plain)  # nothing but a decimal
            else _two_ways(plain, ",")
            if plain.count(",") == 1
            else "which digits belong together"
        )
        whole = plain.replace(",", "") if grouped else plain.replace(",", ".", 1).replace(",", "")
    elif plain.count(".") == 1 and len(plain.partition(".")[2]) > 2:
        doubt = _two_ways(plain, ".")
    elif plain.count(".") > 1:
        doubt, whole = "which digits belong together", plain.replace(".", "")
    if re.fullmatch(r"0\d.*", whole):
        doubt = doubt or "which digits belong together"
    if whole.count(".") > 1:  # asked about already; `0.0 000.0` is no number
        whole = whole.replace(".", "")
    return Decimal(whole), doubt


def _two_ways(digits: str, mark: str) -> str:
    """The question about one mark: it stands before cents, or between thousands where it can; a whole sentence where
    it can be neither."""
    small, large = digits.replace(mark, "."), digits.replace(mark, "")
    if len(digits.partition(mark)[2]) > 2 and not re.fullmatch(
        rf"[1-9]\d{{0,2}}{re.escape(mark)}\d{{3}}", digits
    ):
        return f"{small} has too many decimals. Use at most two, such as 9999.99."
    return f"whether that is {small} or {large}"


def _entity(found: re.Match[str], text: str, most: Decimal, read: tuple[Decimal, str], doubt: str) -> Entity:
    value, currency = read
    start, end = found.start(), found.end()
    rate = currency in ("%", "bps")
    if currency == "bps":
        value /= 100
    if not rate:
        thousands = re.search(r"\d\s?k\b", found[0].lower()) is not None
        doubt = doubt or _amount_doubt(value, currency, most, thousands=thousands)
    before = text[max(0, start - _NEAR) : start]
    traits = frozenset[str]()
    if (_ROUGH.search(before) and not _RAISED_TO.search(before)) or _ROUGH_AFTER.match(text[end:]):
        if not doubt and _CEILING.search(before) and not _ROUGH_AFTER.match(text[end:]):
            traits = frozenset({AT_MOST})
        doubt = doubt or "how much exactly"
    return Entity(
        "rate" if rate else "amount", start, end, Amount(value, currency), found[0].strip(), doubt, traits
    )


#: A word beside dictated figures that is one letter away from a figure: `two hundred fift`.
_FIGURES: Final = (
    *(
        "three",
        "seven",
        "forty",
        "fifty",
        "sixty",
        "eighty",
        "ninety",
        "twenty",
        "thirty",
        "seventy",
        "hundred",
        "thousand",
        "eleven",
    ),
    *("twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "eight"),
)
_NO_FIGURES: Final = frozenset(
    {
        "right",
        "there",
        "these",
        "forth",
        "forty",
        "party",
        "fight",
        "light",
        "night",
        "sight",
        "tight",
        "might",
        "weight",
        "height",
        "even",
        "event",
        "seen",
        "sever",
    }
)


def _is_nearly_a_figure(word: str) -> bool:
    low = word.lower()
    if len(low) < 4 or low in _NO_FIGURES or low in _FIGURES:
        return False
    return any(
        abs(len(low) - len(figure)) < 2 and OSA.distance(low, figure, score_cutoff=1) <= 1
        for figure in _FIGURES
    )


def _amount_doubt(value: Decimal, currency: str, most: Decimal, *, thousands: bool) -> str:
    if currency not in ("", "USD"):
        return IN_DOLLARS
    if value == 0:
        return "an amount above zero"
    if value > most:  # first: what is longer than a decimal's 28 digits cannot be rounded to cents
        return f"the amount again: it is above {most:,f} USD"
    if not currency and value >= _THOUSANDS and thousands:
        return "how much exactly, in US dollars"  # 50k may be of another money
    return "" if value == value.quantize(Decimal("0.01")) else "an amount in whole cents"


#: `a card with hundred dollars on it`. Behind a slip of "two" or "four" it may be more than one of them.
_ONE_OF_THEM: Final = re.compile(r"\b(?:with|by|another|add|load|put|send|give|of)\s+$", re.IGNORECASE)
_A_DAY: Final = re.compile(r"\s+(?:an?|per|each|every) (?:day|week|month)\b", re.IGNORECASE)


#: `put fifty on it`: a number of tens that is moved.
_TENS: Final = re.compile(r"\b(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)\b")
_MOVED_BEFORE: Final = re.compile(
    r"\b(?:put|add|load|stick|send|give|take|pull|chuck|bung|whack|pop|throw|drop|move|get|spot|lend|slip|lob|fling|sling|claw|by|with)(?: back)?(?: (?:another|an extra|a further|her|him|them))?\s+$",
    re.IGNORECASE,
)
_MOVED_AFTER: Final = re.compile(
    r"\s+(?:on|onto|to|into|in|off|from|out of|back|more|extra|please|pls)\b(?! (?:people|times|days))|\s*(?:$|[,.!;](?!\d))",
    re.IGNORECASE,
)


def _read_words(found: re.Match[str], text: str, most: Decimal) -> Entity | None:
    """Number words count only beside a currency, with a multiplier in them, or as tens that are moved."""
    unit = (found["after"] or "").lower()
    words = found[0].lower().removesuffix(unit).strip()
    big = re.search(r"\b(?:hundred|thousand|grand)s?\b", words)
    a_day = _A_DAY.match(text[found.end() :])
    moved = _MOVED_AFTER.match(text[found.end() :]) and _MOVED_BEFORE.search(text[: found.start()][-_NEAR:])
    tens = _TENS.search(words) and moved
    if (not unit and not big and not a_day and not tens) or words == "grand":
        return None
    one = (
        unit
        and words in ("hundred", "thousand")
        and _ONE_OF_THEM.search(text[max(0, found.start() - 12) : found.start()])
    )
    value = read_words(f"one {words}" if one else words)
    doubt = "" if value is not None else "how much that is"
    beside = [
        *re.findall(r"^[\s,-]+([^\W\d_]+)", text[found.end() :]),
        *re.findall(r"([^\W\d_]+)[\s-]+$", text[max(0, found.start() - _LONGEST_FIGURE) : found.start()]),
    ]
    if any(_is_nearly_a_figure(word) for word in beside):
        doubt = doubt or "how much exactly"
    if is_of_other_money(text, *found.span()):
        doubt = doubt or IN_DOLLARS
    currency = _currency(unit) if unit else ""
    return _entity(found, text, most, (value if value is not None else Decimal(1), currency), doubt)
