"""From what was understood to the fields of a form: what is filled in, and how it reads in one line.

Whatever stands here is only filled in: the form's own readers judge it again when it is submitted.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from bot.domain import cards
from bot.domain.money import InvalidAmount, format_usd, parse_usd
from bot.intents import ACTIONS, KnownCard, Reading
from bot.operations import Field, Operation

Kinds = Mapping[str, type[Operation]]

# What a slot is called -> what the fields of the kinds are called that take it.
_FIELDS: Mapping[str, tuple[str, ...]] = {
    "amount": ("amount_usd", "markup_percent", "percent", "rate"),
    "name": ("card_holder_name",),
    "daily": ("daily_limit",),
    "weekly": ("weekly_limit",),
    "monthly": ("monthly_limit",),
}


#: The slot of why it is requested: no field of a kind, but of every form.
REASON = "reason"

# How the fields end that hold dollars.
_MONEY = ("_usd", "_limit")
# 120.5 is money; in a form it reads 120.50.
_ONE_DECIMAL = re.compile(r"[0-9]+\.[0-9]")


def aim(reading: Reading) -> str:
    """The intent that is meant: behind a question, the one that waits for the answer."""
    return reading.wanted or reading.intent


def kind_of(intent: str, kinds: Kinds) -> type[Operation] | None:
    """The operation kind whose form an intent opens, where this Countersign has it.

    A kind says what its intent is called; one that says nothing is called by its own name.
    """
    return next((cls for kind, cls in kinds.items() if intent == (cls.intent or kind)), None)


def kind_wanted(reading: Reading, kinds: Kinds) -> type[Operation]:
    """The operation kind of a request. KeyError where this Countersign does not have it."""
    cls = kind_of(aim(reading), kinds)
    if cls is None:
        raise KeyError(aim(reading))
    return cls


def verb(intent: str, kinds: Kinds) -> str:
    cls = kind_of(intent, kinds)
    return cls.verb if cls else intent.replace("_", " ")


def wants_operation(reading: Reading, kinds: Kinds) -> bool:
    """Would it end in a form? A question about a look-up is none."""
    return aim(reading) in ACTIONS or kind_of(aim(reading), kinds) is not None


def texts(cls: type[Operation], slots: Mapping[str, Any], card: KnownCard | None) -> dict[str, str]:
    """The typed values of a form by field name. What has to be typed again for safety stays empty."""
    given = _flat(slots)
    if card is not None and card.id:
        given["card"] = card.id
    wanted = {field.name: field for field in cls.fields if not field.safeguard}
    found: dict[str, str] = {}
    for slot, value in given.items():
        names = (slot, *_FIELDS.get(slot, ()))
        name = next((n for n in names if n in wanted), None)
        if name is not None and value:
            is_money = name.endswith(_MONEY) and _ONE_DECIMAL.fullmatch(value)
            found[name] = f"{value}0" if is_money else value
    if "phone_country_code" in wanted and "phone" in found:
        found |= _split(found["phone"])
    return found


def _flat(slots: Mapping[str, Any]) -> dict[str, str]:
    """`limits` is a slot of slots; all others are text."""
    flat: dict[str, str] = {}
    for name, value in slots.items():
        flat |= _flat(value) if isinstance(value, Mapping) else {name: str(value)}
    return flat


def _split(phone: str) -> dict[str, str]:
    """`+4915112345678` as country code and number; as typed where it has no known country."""
    import phonenumbers

    try:
        read = phonenumbers.parse(phone)
    except phonenumbers.NumberParseException:
        return {"phone": phone}
    return {
        "phone_country_code": str(read.country_code),
        "phone": phonenumbers.national_significant_number(read),
    }


def lines(
    cls: type[Operation], filled: Mapping[str, str], card: KnownCard | None
) -> tuple[tuple[str, str], ...]:
    """The filled fields as label and value, private details masked."""
    return tuple(
        (field.label, _shown(field, filled[field.name], card)) for field in cls.fields if field.name in filled
    )


def _shown(field: Field[Any], value: str, card: KnownCard | None) -> str:
    if field.card and card is not None:
        return label(card)
    return _as_money(value) if field.name.endswith(_MONEY) else field.masked(value)


def _as_money(value: str) -> str:
    """`2,750.00` for 2750: the field's label names the currency. What is no amount stays as it was said."""
    try:
        return format_usd(parse_usd(value)).removesuffix(" USD")
    except InvalidAmount:
        return value


def label(card: KnownCard) -> str:
    return cards.label(card.holder, card.last4)


def as_command(cls: type[Operation], slots: Mapping[str, Any]) -> str:
    """The slash command for the same request: `/card topup 3018 85`."""
    words = [str(slots[name]) for name in ("card", "amount", "tx_hash", "network") if slots.get(name)]
    return f"/{' '.join(cls.command)} {' '.join(words)}".strip()
