"""Readers of what people type: each returns canonical text or raises ValueError with a clear sentence.

Rules: POST /cards (names, phones, e-mail, partner_ref), POST /funding (hash, network).
"""

from __future__ import annotations

import re
import unicodedata

from bot.domain.money import InvalidAmount, parse_usd, plain

_KEPT = "äöüÄÖÜ"
_ALLOWED = re.compile(r"[A-Za-z0-9äöüÄÖÜ /\-^.')]*")
# Letters that Unicode does not decompose, with the ASCII letter the service converts them to.
_CONVERTED = str.maketrans({"Ł": "L", "ł": "l"})
_DIGITS = re.compile(r"[0-9]+")
_HASH = re.compile(r"0[xX][0-9a-fA-F]{64}")
_EMAIL = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s.]+")
_CARD_NUMBER = re.compile(r"(?:[0-9][ -]?){13,19}")


def refuse_card_number(text: str) -> None:
    """Raise ValueError where `text` holds a Luhn-valid run of 13 to 19 digits: card data has no place here."""
    for match in _CARD_NUMBER.finditer(text):
        digits = [int(c) for c in match.group() if c.isdigit()]
        doubled = sum(d if i % 2 == 0 else sum(divmod(d * 2, 10)) for i, d in enumerate(reversed(digits)))
        if doubled % 10 == 0:
            raise ValueError("This looks like a card number. Leave it out: Countersign never takes one.")


def amount(text: str) -> str:
    """Plain dollars with at most two decimals, as canonical text ("50.00")."""
    try:
        return f"{plain(parse_usd(text))}"
    except InvalidAmount as error:
        raise ValueError(str(error)) from None


def cardholder_name(text: str) -> str:
    """The name as it will be printed: accents converted, uppercase, at most 26 characters."""
    if any(unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp") for c in text):
        raise ValueError("The name holds an invisible or control character. Type it again by hand.")
    name = "".join(_to_ascii(c) for c in unicodedata.normalize("NFC", text.strip()))
    bad = [c for c in name if not _ALLOWED.fullmatch(c)]
    if bad:
        raise ValueError(
            f"The card cannot carry “{bad[0]}”. Use letters A to Z, ä ö ü, digits, spaces and / - ^ . ' )."
        )
    if len(name) > 26:
        raise ValueError(f"The name has {len(name)} characters; a card carries at most 26.")
    return name.upper()


def _to_ascii(char: str) -> str:
    """é -> e, Ł -> L; ä ö ü stay; what has no ASCII letter stays and is refused by the caller."""
    if char in _KEPT or char.isascii():
        return char
    converted = char.translate(_CONVERTED)
    if converted != char:
        return converted
    base = unicodedata.normalize("NFD", char)
    marks = base[1:]
    if base[0].isascii() and base[0].isalpha() and marks and all(unicodedata.combining(m) for m in marks):
        return base[0]
    return char


def country_code(text: str) -> str:
    digits = text.removeprefix("+")
    if not _DIGITS.fullmatch(digits) or not 0 < int(digits) < 10000:
        raise ValueError("Give the country code in digits, for example 49.")
    return str(int(digits))


def phone(text: str) -> str:
    digits = re.sub(r"[ ()\-./]", "", text)
    if digits.startswith("+"):
        raise ValueError("Leave the country code out here: it has a field of its own.")
    if not _DIGITS.fullmatch(digits) or not 4 <= len(digits) <= 15:
        raise ValueError("Give 4 to 15 digits without the country code, for example 15112345678.")
    return digits


def email(text: str) -> str:
    if not _EMAIL.fullmatch(text) or len(text) > 254:
        raise ValueError("This is not an e-mail address like name@example.com.")
    return text


def partner_ref(text: str) -> str:
    if len(text) > 128:
        raise ValueError(f"The reference has {len(text)} characters; at most 128 fit.")
    refuse_card_number(text)
    return text


def tx_hash(text: str) -> str:
    if not _HASH.fullmatch(text):
        raise ValueError(
            "A transaction hash is 0x and 64 characters of 0-9 and a-f. Copy it from the explorer."
        )
    return text.lower()


def network(text: str) -> str:
    name = {"BSC": "BNB"}.get(text.strip().upper(), text.strip().upper())
    if name not in ("POLYGON", "BNB", "BASE"):
        raise ValueError("Choose POLYGON, BNB or BASE: the network the transfer was really sent on.")
    return name
