"""Which purchases a question means: at a merchant, above or below an amount, of one kind.

Reads the masked text (`purchases at shell above §a2§ on §c3§`); used by look-ups alone, so a wrong reading costs a
message and nothing more.
"""

from __future__ import annotations

import re
from typing import Final

from bot.intents.extraction.entity import Entity
from bot.intents.extraction.entity_extraction import Found
from bot.intents.plain_text import word_set

#: A word that bounds an amount -> what it means.
_BOUNDS: Final = {
    "above": "above",
    "over": "above",
    "more than": "above",
    "greater than": "above",
    "bigger than": "above",
    "larger than": "above",
    "higher than": "above",
    "exceeding": "above",
    ">": "above",
    "at least": "at least",
    "minimum": "at least",
    "below": "below",
    "under": "below",
    "less than": "below",
    "smaller than": "below",
    "lower than": "below",
    "<": "below",
    "at most": "at most",
    "up to": "at most",
    "maximum": "at most",
}
# “over 50” is no amount to load, and a fine bound.
_ROUGH: Final = "how much exactly"
_WORDS: Final = "|".join(sorted((re.escape(word) for word in _BOUNDS), key=len, reverse=True))
_BOUND: Final = re.compile(
    rf"(?:\b|(?<=\s)|^)(?P<word>{_WORDS})\s*(?:of\s+)?§[ax](?P<number>\d+)§(?:\s*usd\b)?"
)
_BETWEEN: Final = re.compile(
    r"\bbetween\s+§[ax](?P<least>\d+)§(?:\s*usd)?\s+(?:and|to)\s+§[ax](?P<most>\d+)§(?:\s*usd\b)?"
)
_KINDS: Final = (
    ("refunded", re.compile(r"\brefund(?:s|ed)?\b")),
    ("reversed", re.compile(r"\brever(?:sed|sals?)\b")),
    (
        "declined",
        re.compile(
            r"\b(?:declined|refused|rejected|failed) (?:purchases|payments|transactions|ones|charges)\b"
        ),
    ),
    (
        "pending",
        re.compile(
            r"\b(?:pending|unsettled) (?:purchases?|payments?|transactions?|charges?|ones|authori[sz]ations?)\b"
        ),
    ),
    ("settled", re.compile(r"\bsettled (?:purchases?|payments?|transactions?|charges?|ones)\b")),
)
_MERCHANT: Final = re.compile(
    r"\bat (?P<name>(?:§[axf]\d+§(?=[-'&])|[^\W_])[^\s§,;?!]*(?:\s+(?:&|and)\s+[^\s§,;?!]+|\s+[^\s§,;?!]+){0,4}?)"
    r"(?=\s*(?:$|[,;?!.](?:\s|$)|§|\b(?:on|with|by|using|in|for|from|since|between|this|last|today|yesterday|above|over|below"
    r"|under|more|less|at|during|and|but|please|pls|so|ever|lately|recently|what|how|was|were|did|has|have|is|are|went|got|get"
    r"|gets|declined|refused|please"
    r"|didn'?t|doesn'?t|won'?t|wouldn'?t|isn'?t|hasn'?t|keeps|kept|failed|bounced)\b))"
)
#: `every home depot purchase`, `purchases from kenya airways`, `what we paid to albert heijn`, `went to meta`.
_END: Final = r"(?=\s*(?:$|[,;?!.](?:\s|$)|§|\b(?:on|with|by|using|in|for|from|since|between|this|last|over|during|and|but|please|pls|so|what|how|was|were|is|are|went|got|via|through|today|yesterday|altogether|total|so far|pass|go|come|arrive|ever|yet|already|did|didn'?t|doesn'?t|won'?t|keeps|kept|failed|bounced)\b))"
_NAME: Final = r"[^\W\d_][^\s§,;?!]*(?:\s+[^\s§,;?!]+){0,3}?"
_OTHERWISE: Final = (
    re.compile(
        rf"\b(?:purchases?|payments?|charges?|transactions?|spend(?:ing)?|swipes?|bought|ordered|stuff|receipts?)(?: we| i)?(?: made)? (?:from|with|to|by) (?P<name>{_NAME}){_END}"
    ),
    re.compile(rf"\b(?:paid|pay|went|goes|gone|going|given|gave) (?:out )?to (?P<name>{_NAME}){_END}"),
    re.compile(rf"\b(?:spent|spend|blown|blew) (?:with|on) (?P<name>{_NAME}){_END}"),
    re.compile(
        r"\b(?:every|each|all(?: of)?(?: the| our)?|any|our|the) (?P<name>[^\W\d_][^\s§,;?!]*(?:\s+[^\s§,;?!]+){0,2}?) (?:purchases?|charges?|payments?|transactions?)\b"
    ),
    re.compile(
        r"\bthe (?P<name>[^\W\d_][^\s§,;?!]*(?:\s+[^\s§,;?!]+){0,2}?) (?:charge|payment|transaction)(?= (?:got|was|did|has|on|keeps|kept|won't|failed|bounced|declined))"
    ),
)
#: Words that name no shop: kinds of purchases, people, days, things.
_NO_SHOP: Final = word_set(
    """
    such applicable possible relevant related usual normal extra additional standard various several certain many few proof of and or bank
    recent latest last pending declined refused failed settled refunded large small big single same other card cards company weird odd strange
    suspicious double duplicate unknown new old open her his their my our your its whole total first second daily weekly monthly crypto
    online foreign international abroad me us him them you it the a an this that these those some any all one everyone somebody someone
    people work lunch dinner hotel hotels fuel gas petrol travel taxi taxis food ads advertising flights tickets tolls parking groceries
    there date float account main zero sleep bed waste more less than what who which how top up customers staff employees
    """
)
_NO_MERCHANT: Final = word_set(
    "the a an all any least most once night noon midnight lunch work home first last what which that this these"
    " those it"
    " them our your their my his her moment time times times present hand issue stake risk his end start beginning"
    " weekend weekends merchants merchant shops stores some one point about around"
)


def merchant_of(text: str, found: Found) -> str:
    """The merchant that a masked clause names after `at`, as it was written; empty for none."""
    for one in _MERCHANT.finditer(text):
        name = one["name"].strip(" .'’-")
        first = name.split()[0]
        if first in _NO_MERCHANT:
            continue
        return found.original(name).strip()
    for pattern in _OTHERWISE:
        for one in pattern.finditer(text):
            written = found.original(one["name"].strip(" .'’-")).strip()
            words = one["name"].split()
            if "§" in one["name"] or any(
                word in _NO_SHOP or (word in _NO_MERCHANT and len(words) == 1) for word in words
            ):
                continue
            if written[:1].isupper() or len(words) > 1 or pattern is not _OTHERWISE[-1]:
                return written
    return ""


def bounds_of(text: str, found: Found) -> dict[str, str]:
    """What bounds the amount: `above`, `at least`, `below` or `at most` to a decimal string of dollars."""
    bounds: dict[str, str] = {}
    for one in _BOUND.finditer(text):
        bounds[_BOUNDS[one["word"]].replace(" ", "_")] = _plain(found.entities[int(one["number"])])
    for one in _BETWEEN.finditer(text):
        bounds["at_least"] = _plain(found.entities[int(one["least"])])
        bounds["at_most"] = _plain(found.entities[int(one["most"])])
    return {name: plain for name, plain in bounds.items() if plain}


def _plain(entity: Entity) -> str:
    """An amount as digits; empty where it is in doubt, but for how rough it is."""
    value = getattr(entity.value, "value", entity.value)
    plain = "" if value is None or entity.doubt not in ("", _ROUGH) else str(value)
    return plain if re.fullmatch(r"[0-9]+(?:\.[0-9]+)?", plain) else ""


def bounds_in(text: str) -> list[str]:
    """The pieces of a masked text that bound an amount."""
    return [one[0].strip() for pattern in (_BOUND, _BETWEEN) for one in pattern.finditer(text)]


def kind_of_purchase(text: str) -> str:
    """`refunded`, `reversed`, `declined`, `pending` or `settled`; empty where no kind is asked for."""
    return next((kind for kind, pattern in _KINDS if pattern.search(text)), "")


def purchase_slots(text: str, found: Found) -> dict[str, str]:
    """All of it as slots: merchant, above, at_least, below, at_most, status."""
    slots = bounds_of(text, found)
    if merchant := merchant_of(text, found):
        slots["merchant"] = merchant
    if kind := kind_of_purchase(text):
        slots["status"] = kind
    return slots
