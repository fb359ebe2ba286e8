"""The values an action needs, from the entities of its clause."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import pairwise
from typing import Any, Final

from bot.intents.extraction import AT_MOST, UNKNOWN_NETWORK, Entity, Found
from bot.intents.model import Ask, Option
from bot.intents.plain_text import word_set
from bot.intents.readings import questions
from bot.intents.recognition import Frame

#: Intent -> its required slots, in the order they are asked for.
REQUIRED: Final[Mapping[str, tuple[str, ...]]] = {
    "topup_card": ("card", "amount"),
    "unload_card": ("card", "amount"),
    "freeze_card": ("card",),
    "unfreeze_card": ("card",),
    "close_card": ("card",),
    "set_limits": ("card", "limits"),
    "change_phone": ("card", "phone"),
    "set_3ds": ("card",),
    "submit_funding": ("tx_hash", "network"),
    "set_markup": ("amount",),
    "order_card": ("name", "phone", "email"),
    "transfer": (),
}
_EVERYTHING: Final = re.compile(
    r"\b(?:everything|empty|drain|sweep|all of it|all (?:the )?(?:money|funds)|the (?:rest|remaining)|whatever)\b"
)
#: The limit as it was: `make it 650 per month instead of present 500`.
_INSTEAD: Final = re.compile(r"\binstead of (?:the )?(?:present |current |old |previous |usual )?§a\d+§")
_DEPOSITS_ONLY: Final = "It applies to the deposits route only."
#: Nothing is as much in percent as in anything else.
NO_MARKUP: Final = re.compile(
    r"\b(?:to|at|be|is|it|that|mark-?up|us|:)[\s:=]+(?:zero|nil|nought)\b"
    r"(?! point|\s*(?:percent|per cent|%)?\s*(?:point|and|[.,]\d))"
    r"|\bzero (?:the |our |out (?:the |our )?)mark-?up\b|\bmark-?up\s*[=:]?\s*(?:to |at )?§a\d+§\W*$"
)
_FROM_TO: Final = re.compile(r"\bfrom §a\d+§(?: usd)? (?:down |up )?to (?=§a\d+§)")
_EVERY: Final = {
    "day": "daily",
    "week": "weekly",
    "month": "monthly",
    "daily": "daily",
    "weekly": "weekly",
    "monthly": "monthly",
}
_UNIT: Final = r"(daily|weekly|monthly|day|week|month)"
_AFTER: Final = re.compile(
    rf"§a(\d+)§\s*(?:usd\s*)?(?:an?|per|each|every|/|a|the)\s*{_UNIT}\b|§a(\d+)§"
    rf" {_UNIT}\b(?!\s*:?\s*(?:limit\s*)?(?:to|of|at)?\s*§a)"
)
_BEFORE: Final = re.compile(rf"\b{_UNIT}\b(?:(?!daily|weekly|monthly)[^§]|§c\d+§)*§a(\d+)§")
_SHORT: Final = {"d": "day", "w": "week", "m": "month", "wk": "week", "mth": "month"}
#: The word that says for how long a limit holds, beside an amount or the word for a limit.
_ANY_UNIT: Final = re.compile(
    r"\b(daily|weekly|monthly)\b|(?:§a\d+§(?: usd| dollars| bucks)?\s*(?:/|at|by|in|in an?|in one|in the|per|an?|each"
    r"|every|for an?)\s*)(day|week|month|d|w|m|wk|mth)\b|\b(day|week|month)(?= limit)|\bper (day|week|month)\b"
)
_BY_HOW_MUCH: Final = re.compile(
    r"\bby §a|\b(?:extra|another|additional|more(?! than))\b|\bdouble\b|\bhalve\b"
)
_NO_LIMIT: Final = re.compile(
    r"\b(?:remove|delete|clear|drop|get rid of|disable|unlimited|no)\b.*\blimit|\bunlimited\b|\blift\b"
)
_PER_PURCHASE: Final = re.compile(
    r"\b(?:per|for an?|for one|in one|each|for single|a single|one)[ -](?:single[ -])?(?:transaction|txn?|purchase"
    r"|payment|go|swipe)\b|(?<=§ )(?:a|every) (?:transaction|purchase|payment|pop)\b|\b(?:single|transaction) (?:limit|purchase)"
)
_THREEDS_OFF: Final = re.compile(r"\b(?:off|sms|text|disable|remove|stop|back)\b")
_NAME: Final = re.compile(
    r"(?:^\s*:\s*|\b(?:holder|cardholder|name)\s*[:=]\s*|\b(?:for|to|named|called)\s+)(?P<name>[^\n:;,(]+?)"
    r"(?=\s*(?:[,;:(]|\s-\s|$|§[tek]\d+§|\b(?:with|at|phone|mobile|e-?mail|tel"
    r"|ref(?:erence)?|partner ref|please|pls|asap|who|and|from|starting|holder|amount)\b))"
)
_NAME_LIKE: Final = re.compile(r"[^\W\d_](?:[^\W\d_]|[ '.-])*")
_NO_NAME: Final = word_set(
    "me us him her them the a an our my your new team someone everyone people guest intern"
    " client you it this that name holder cardholder phone mobile email mail"
)


@dataclass(frozen=True, slots=True)
class Values:
    """`doubt` is the question where a value could be read in more than one way or not be used."""

    slots: Mapping[str, Any] = field(default_factory=dict)
    doubt: Ask | None = None
    notes: tuple[str, ...] = ()


def values_of(frame: Frame, text: str, found: Found) -> Values:
    """All slots but the card."""
    readers = {
        "topup_card": _amount,
        "unload_card": _amount,
        "set_limits": _limits,
        "submit_funding": _funding,
        "set_markup": _markup,
        "change_phone": _phone,
        "set_3ds": _threeds,
        "order_card": _order,
        "transfer": _transfer,
    }
    reader = readers.get(frame.intent)
    piece = frame.tail if frame.intent == "order_card" else text  # "I want to order": nobody's name
    return reader(piece, found) if reader else Values()


def plain(value: Decimal) -> str:
    """`2400`, `85.5`: no exponent, no idle zeros."""
    text = format(value, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def _amount(text: str, found: Found) -> Values:
    amounts = found.inside(text, "amount")
    rates = found.inside(text, "rate")
    if rates:
        return Values({}, questions.exactly("amount", "the amount in US dollars"))
    if not amounts:
        return Values({"everything": "yes"}) if _EVERYTHING.search(text) else Values()
    if len(amounts) > 1:
        written = " or ".join(entity.written for entity in amounts)
        return Values({}, questions.exactly("amount", f"which amount you mean, {written}"))
    return _exact("amount", amounts[0], plain(amounts[0].value.value))


def _exact(slot: str, entity: Entity, value: str) -> Values:
    if entity.doubt:
        return Values({}, questions.exactly(slot, entity.doubt))
    return Values({slot: value})


def _limits(text: str, found: Found) -> Values:
    if _PER_PURCHASE.search(text):
        sentence = "The API has no limit for a single purchase. Set a daily, weekly or monthly one?"
        said = _in_order(text, found)
        return Values({"limits": said} if said else {}, Ask("limits", sentence))
    amounts = found.inside(text, "amount")
    if _NO_LIMIT.search(text) and not amounts:
        return Values({}, Ask("limits", "The API cannot remove a limit, only change it. To which amount?"))
    text = _INSTEAD.sub("", _FROM_TO.sub("to ", text))
    wanted = found.inside(text, "amount")
    if wanted and _BY_HOW_MUCH.search(text):
        return Values({}, questions.exactly("limits", "the new limit itself, not by how much it changes"))
    unsure = next((entity for entity in wanted if entity.doubt and AT_MOST not in entity.traits), None)
    if unsure is not None:
        return Values({}, questions.exactly("limits", unsure.doubt))
    limits = _pairs(text, found)
    if len(limits) != len(wanted):
        limits = _in_order(text, found) or limits
    if len(limits) != len(wanted):
        return Values({}, _which_limit(wanted))
    return Values({"limits": limits}) if limits else Values()


def _pairs(text: str, found: Found) -> dict[str, str]:
    """Each amount with the stretch of time that stands by it."""
    limits: dict[str, str] = {}
    if not found.inside(text, "amount"):
        return limits
    taken: set[str] = set()
    for match in _AFTER.finditer(text):
        number, unit = match[1] or match[3], match[2] or match[4]
        limits[_EVERY[unit]] = plain(found.entities[int(number)].value.value)
        taken.add(number)
    if taken:
        return limits
    for match in _BEFORE.finditer(text):
        limits[_EVERY[match[1]]] = plain(found.entities[int(match[2])].value.value)
    return limits or _only_pair(text, found)


def _only_pair(text: str, found: Found) -> dict[str, str]:
    """The one amount with the one stretch of time that is named: `5000 as monthly limit`, `750/d`."""
    amounts = found.inside(text, "amount")
    named = [next(filter(None, groups)) for groups in _ANY_UNIT.findall(text)]
    units = {_EVERY[_SHORT.get(unit, unit)] for unit in named}
    return {units.pop(): plain(amounts[0].value.value)} if len(amounts) == len(units) == 1 else {}


#: Each way to say for how long a limit holds, that of a single purchase among them.
_A_UNIT: Final = re.compile(
    rf"{_PER_PURCHASE.pattern}|\b(?:(?:per|an?|the|each|every|in an?|by)\s+|(?<=/)\s?)?(?P<unit>daily|weekly|monthly|day|week|month)\b"
)
_AN_AMOUNT: Final = re.compile(r"§a\d+§")


def _in_order(text: str, found: Found) -> dict[str, str]:
    """The limits that were said, that of a single purchase as `per_transaction`: the first amount with the first word
    for its time, and so on. None where they are not as many, or one of them is in doubt."""
    amounts = found.inside(text, "amount")
    units = []
    turns = [(one.start(), "amount") for one in _AN_AMOUNT.finditer(text)]
    for one in _A_UNIT.finditer(text):
        word = one["unit"] or ""
        units.append(_EVERY[_SHORT.get(word, word)] if word else "per_transaction")
        turns.append((one.start("unit") if word else one.start(), "unit"))
    in_turns = [what for _, what in sorted(turns)]
    doubted = any(amount.doubt and AT_MOST not in amount.traits for amount in amounts)
    if doubted or len(amounts) != len(units) or len(set(units)) != len(units):
        return {}
    if any(one == other for one, other in pairwise(in_turns)):
        return {}
    return {unit: plain(amount.value.value) for unit, amount in zip(units, amounts, strict=True)}


def _which_limit(amounts: Sequence[Entity]) -> Ask:
    value = plain(amounts[0].value.value) if len(amounts) == 1 else ""
    options = tuple(
        Option(f"{every} {value}".strip(), every.capitalize()) for every in ("daily", "weekly", "monthly")
    )
    return Ask("limits", "Per day, per week or per month?", options if value else ())


def _funding(text: str, found: Found) -> Values:
    hashes = found.inside(text, "tx_hash")
    networks = {entity.value for entity in found.inside(text, "network")}
    slots: dict[str, Any] = {}
    doubt: Ask | None = None
    for wrong in found.inside(text, "address"):
        doubt = questions.exactly("tx_hash", wrong.doubt)
    if len({entity.value for entity in hashes}) > 1:
        doubt = questions.exactly("tx_hash", "which one of the transactions comes first")
    elif hashes and hashes[0].doubt:
        doubt = questions.exactly("tx_hash", hashes[0].doubt)
    elif hashes:
        slots["tx_hash"] = hashes[0].value
    if UNKNOWN_NETWORK in networks:
        doubt = doubt or questions.missing("network", "submit_funding", ("POLYGON", "BNB", "BASE"))
    elif len(networks) > 1:
        doubt = doubt or questions.missing("network", "submit_funding", tuple(sorted(networks)))
    elif networks:
        slots["network"] = networks.pop()
    return Values(slots, doubt)


def _markup(text: str, found: Found) -> Values:
    text = _FROM_TO.sub("to ", text)
    rates, bare = found.inside(text, "rate"), found.inside(text, "amount")
    if not rates and NO_MARKUP.search(text) and not any(entity.value.value for entity in bare):
        return Values({"amount": "0"}, notes=(_DEPOSITS_ONLY,))
    if bare:
        return Values(
            {},
            questions.exactly(
                "amount", f"the markup in percent, with the sign: is “{bare[0].written}” percent?"
            ),
        )
    if len(rates) > 1:
        return Values({}, questions.exactly("amount", "which markup you mean"))
    if not rates:
        return Values()
    percent = rates[0].value.value
    if rates[0].doubt or percent > 50 or percent != percent.quantize(Decimal("0.001")):
        return Values(
            {},
            questions.exactly(
                "amount", rates[0].doubt or "a markup of 0 to 50 percent, with at most three decimals"
            ),
        )
    return Values({"amount": plain(percent)}, notes=(_DEPOSITS_ONLY,))


_OLD_TO_NEW: Final = re.compile(
    r"\bfrom (?:the )?(?:old )?(?:number )?§t\d+§ (?:on)?to (?:the )?(?:new )?(?:number )?§t\d+§"
)


def _phone(text: str, found: Found) -> Values:
    phones = found.inside(text, "phone")
    if _OLD_TO_NEW.search(text) and len(phones) == 2:
        phones = phones[1:]  # `from +65 … to +65 …`: the first is the old one
    if len({entity.value for entity in phones}) > 1:
        return Values({}, questions.exactly("phone", "which of the numbers you mean"))
    return _exact("phone", phones[0], phones[0].value) if phones else Values()


def _threeds(text: str, found: Found) -> Values:
    del found
    if _THREEDS_OFF.search(text):
        sentence = (
            "The API takes only the webhook mode: it cannot be turned off or set"
            " back to sms. Set it to webhook?"
        )
        return Values({}, Ask("intent", sentence))
    return Values()


def _order(text: str, found: Found) -> Values:
    slots: dict[str, Any] = {}
    for slot in ("phone", "email"):
        entities = found.inside(text, slot)
        if len({entity.value for entity in entities}) > 1:
            return Values(slots, questions.exactly(slot, f"which {slot} is the right one"))
        if entities and entities[0].doubt:
            return Values(slots, questions.exactly(slot, entities[0].doubt))
        if entities:
            slots[slot] = entities[0].value
    name = _named(text, found)
    references = found.inside(text, "reference")
    if references:
        slots["partner_ref"] = references[0].value
    return Values({"name": name, **slots} if name else slots)


def first_load(found: Found) -> dict[str, str]:
    """What is to be on a card to order: the one amount of the message, where it is in no doubt."""
    amounts = found.inside(found.masked, "amount")
    exact = len(amounts) == 1 and not amounts[0].doubt
    return {"amount": plain(amounts[0].value.value)} if exact else {}


def _named(text: str, found: Found) -> str:
    """The holder of a card to order: a name of several words, or one with a capital."""
    for match in _NAME.finditer(text):
        name = found.original(match["name"].strip())
        parts = name.split()
        fits = _NAME_LIKE.fullmatch(name) and len(parts) <= 5 and parts[0].lower() not in _NO_NAME
        if fits and (len(parts) > 1 or name[0].isupper()):
            return name
    return ""


def _transfer(text: str, found: Found) -> Values:
    del text, found
    sentence = (
        "Money goes from card to card in two requests: an unload, then a top-up. Ask for one of them first."
    )
    return Values({}, Ask("intent", sentence))
