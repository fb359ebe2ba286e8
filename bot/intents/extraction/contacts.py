"""Phones, e-mail addresses, people and request ids."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from bot.intents.extraction.entity import Entity

_EMAIL: Final = re.compile(r"(?<![\w.+-])[\w.+%-]+@[\w-]+(?:\.[\w-]+)+")
_PHONE: Final = re.compile(
    r"(?<![\w+])(?:\+|00(?=[1-9]))[ ]?\d(?:(?:[ ()\-/]{0,2}|[ )]?\.(?=\d)|\) ?)\d){6,18}(?!\w)"
)
#: The last figures before it are a count or a sum, not the end of the number.
_COUNTED: Final = re.compile(
    r"\s*(?:times|x|days?|weeks?|months?|hours?|usd|dollars|bucks|k|%|\$|more|on it)(?!\w)", re.IGNORECASE
)
_LOCAL: Final = re.compile(
    r"(?<=\s)(?:(?<=phone )|(?<=number )|(?<=mobile )|(?<=to )|(?<=is )|(?<=: ))\(?0\d(?:[ ().\-/]{0,2}\d){5,14}(?!\w)"
)
_PERSON: Final = re.compile(r"@([UW][A-Z0-9]{2,})\b")
_REQUEST: Final = re.compile(
    r"(?<!\w)(?:R-[0-9A-Za-z]{3,12}|r-(?=[a-z]*[0-9])[0-9A-Za-z]{3,12}|(?:(?<=request )|(?<=requests )|(?<=req )|(?<=is ))[Rr][ -]?(?=[A-Za-z]*[0-9])[0-9A-Za-z]{4}|R (?=[A-Z]*[0-9])[0-9A-Z]{4}|r-[a-z]{4}(?=\s+(?:is|was|has|amount|status|state|approved|rejected|gone|done)\b))\b"
)


def find_contacts(text: str) -> Iterator[Entity]:
    """E-mail addresses and mentions, then phones; a phone without its country is doubtful."""
    for found in _EMAIL.finditer(text):
        yield Entity("email", *found.span(), found[0].rstrip("."), found[0])
    for found in _PERSON.finditer(text):
        yield Entity("person", *found.span(), found[1], found[0])
    for found in _REQUEST.finditer(text):
        yield Entity("request", *found.span(), f"R-{found[0][1:].lstrip(' -').upper()}", found[0])
    for found in _PHONE.finditer(text):
        yield _phone(found)
    for found in _LOCAL.finditer(text):
        yield Entity(
            "phone", *found.span(), "", found[0], "the number with its country, like +49 151 12345678"
        )


def _phone(found: re.Match[str]) -> Entity:
    digits = re.sub(r"\D", "", found[0]).removeprefix("00")
    written = f"+{digits}"
    fine = 7 <= len(digits) <= 15 and is_phone(written) and not _COUNTED.match(found.string, found.end())
    doubt = "" if fine else "the phone number again: it is not one of its country"
    return Entity("phone", *found.span(), written, found[0], doubt)


def is_phone(e164: str) -> bool:
    """Whether the digits after the + are a number that its country could have given out."""
    import phonenumbers  # its tables are large; most texts hold no phone

    try:
        return phonenumbers.is_possible_number(phonenumbers.parse(e164))
    except phonenumbers.NumberParseException:
        return False
