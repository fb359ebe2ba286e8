"""Readers of what people type: each returns the value meant or raises ValueError with a clear sentence.

Which of them reads which type of value is said in `bot.operations.value_types`.

Rules: POST /cards (names, phones, e-mail, partner_ref), POST /funding (hash, network).
"""

from __future__ import annotations

import re
import unicodedata
from decimal import Decimal
from urllib.parse import urlsplit

from bot.domain.addresses import is_address
from bot.domain.card_numbers import holds_card_number
from bot.domain.money import InvalidAmount, parse_usd
from bot.domain.sentences import UNSEEN

_KEPT = "äöüÄÖÜ"
_ALLOWED = re.compile(r"[A-Za-z0-9äöüÄÖÜ /\-^.')]*")
# Letters that Unicode does not decompose, with the ASCII letter the card provider converts them to.
_CONVERTED = str.maketrans({"Ł": "L", "ł": "l"})
_DIGITS = re.compile(r"[0-9]+")
_HASH = re.compile(r"0[xX][0-9a-fA-F]{64}")
# Without the signs by which Slack and mail headers mark up an address; anything else is the card provider's to judge.
_EMAIL = re.compile(r"[^@\s<>|,;:()\[\]\\\"]+@[^@\s<>|,;:()\[\]\\\"]+\.[^@\s<>|,;:()\[\]\\\".]+")
# Groups of digits with a space, a dot or a dash between them; after a plus they are a phone number.
_DIGIT_GROUPS = re.compile(r"(?<![+0-9])[0-9]+(?:[ .\-–\u00a0\u202f]{1,2}[0-9]+)*")

# Control and format characters, halves of characters, and those that have no meaning or each font its own.
_NOTHING_TO_READ = ("Cc", "Cf", "Cs", "Co", "Cn")
REASON_LIMIT = 1000
"""Characters of a reason; what Slack takes in one field of a form is more."""


def refuse_card_number(text: str) -> None:
    """Refuse a text that holds a card number: 13 to 19 digits that pass the Luhn check.

    Raises ValueError with the sentence for the field. Neighbouring groups of digits are read as one number; a
    date or a code written after the number does not hide it.
    """
    for run in _DIGIT_GROUPS.finditer(unicodedata.normalize("NFKC", text)):
        if holds_card_number(_DIGITS.findall(run.group())):
            raise ValueError("This looks like a card number. Leave it out: Countersign never takes one.")


def _refuse_invisible(text: str, what: str) -> None:
    if any(c in UNSEEN or unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp") for c in text):
        raise ValueError(f"The {what} holds an invisible or control character. Type it again by hand.")


def amount(text: str) -> Decimal:
    """An amount of US dollars with two decimals (50.00): more than 0, typed with at most two decimals.

    Raises ValueError with the sentence for the field. Source: Cards, POST topup, POST unload and PUT limits.
    """
    try:
        return Decimal(f"{parse_usd(text):.2f}")
    except InvalidAmount as error:
        raise ValueError(str(error)) from None


def cardholder_name(text: str) -> str:
    """The name as it will be printed: accents converted, uppercase, at most 26 characters.

    Raises ValueError with the sentence for the field, also for a card number. Source: Cards, POST /cards,
    `card_holder_name`.
    """
    _refuse_invisible(text, "name")
    refuse_card_number(text)
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


def country_code(text: str) -> int:
    """A phone country code from 1 to 9999, typed with or without plus sign and leading zeros.

    Raises ValueError with the sentence for the field. Source: Cards, POST /cards, `phone_country_code`.
    """
    digits = text.removeprefix("+")
    if not _DIGITS.fullmatch(digits) or not 0 < int(digits) < 10000:
        raise ValueError("Give the country code in digits, for example 49.")
    return int(digits)


def phone(text: str) -> str:
    """A phone number as 4 to 15 digits, without the country code and without spaces and signs.

    Raises ValueError with the sentence for the field. Source: Cards, POST /cards and PUT phone, `phone`.
    """
    digits = re.sub(r"[ ()\-./]", "", text)
    if digits.startswith("+"):
        raise ValueError("Leave the country code out here: it has a field of its own.")
    if not _DIGITS.fullmatch(digits) or not 4 <= len(digits) <= 15:
        raise ValueError("Give 4 to 15 digits without the country code, for example 15112345678.")
    return digits


def email(text: str) -> str:
    """An e-mail address of at most 254 characters, unchanged.

    Raises ValueError with the sentence for the field. Source: Cards, POST /cards, `email`.
    """
    _refuse_invisible(text, "e-mail address")
    if not _EMAIL.fullmatch(text) or len(text) > 254:
        raise ValueError("This is not an e-mail address like name@example.com.")
    return text


def partner_ref(text: str) -> str:
    """The partner's own reference of a cardholder, at most 128 characters, unchanged.

    Raises ValueError with the sentence for the field, also for a card number. Source: Cards, POST /cards,
    `partner_ref`.
    """
    if len(text) > 128:
        raise ValueError(f"The reference has {len(text)} characters; at most 128 fit.")
    _refuse_invisible(text, "reference")
    refuse_card_number(text)
    return text


def tx_hash(text: str) -> str:
    """A transaction hash: 0x and 64 hex digits, in small letters.

    Raises ValueError with the sentence for the field. Source: Account, POST /funding, `tx_hash`.
    """
    if not _HASH.fullmatch(text):
        raise ValueError(
            "A transaction hash is 0x and 64 characters of 0-9 and a-f. Copy it from the explorer."
        )
    return text.lower()


def network(text: str) -> str:
    """The network of a transfer: "POLYGON", "BNB" (also for BSC) or "BASE", typed in any case.

    Raises ValueError with the sentence for the field. Source: Account, POST /funding, `network`.
    """
    name = {"BSC": "BNB"}.get(text.strip().upper(), text.strip().upper())
    if name not in ("POLYGON", "BNB", "BASE"):
        raise ValueError("Choose POLYGON, BNB or BASE: the network the transfer was really sent on.")
    return name


_URL_LIMIT = 2000
_NOT_PUBLIC = (".localhost", ".local", ".internal")


def public_url(text: str) -> str:
    """An https address with a public name, its host in small letters, at most 2000 characters.

    Raises ValueError with the sentence for the field. Source: Webhooks and events, PUT /webhook, `url`.
    """
    text = text.strip()
    if len(text) > _URL_LIMIT:
        raise ValueError(f"The address has {len(text)} characters; at most {_URL_LIMIT} are taken.")
    try:
        parts = urlsplit(text)
        host, port = parts.hostname or "", parts.port
        name = host.encode("idna").decode().rstrip(".") if host else ""
    except (ValueError, UnicodeError):
        raise ValueError("This is not an address of the form https://host/path.") from None
    if parts.scheme != "https" or not name or not text.isprintable() or " " in text:
        raise ValueError("This is not an address of the form https://host/path.")
    if "@" in parts.netloc or parts.fragment:
        raise ValueError("Leave out names, passwords and what follows a #.")
    if f".{name}".endswith(_NOT_PUBLIC) or is_address(name):
        raise ValueError(
            "Your card provider delivers to public names only, not to addresses or names of a network."
        )
    where = name if port in (None, 443) else f"{name}:{port}"
    return parts._replace(netloc=where).geturl()


def read_reason(text: str) -> str:
    """The reason of a request or a decision: required everywhere, at most `REASON_LIMIT` characters.

    Control and invisible characters are removed, line breaks kept. Raises ValueError with the sentence for
    the field, also for a card number.
    """
    reason = "".join(c for c in text if c == "\n" or _is_seen(c)).strip()
    # Marks and selectors change how the sign before them is drawn: by themselves they are nothing.
    if all(c.isspace() or unicodedata.category(c).startswith("M") for c in reason):
        raise ValueError("Say why: the people who approve read it.")
    if len(reason) > REASON_LIMIT:
        raise ValueError(f"The reason has {len(reason)} characters; at most {REASON_LIMIT} fit.")
    refuse_card_number(reason)
    return reason


def _is_seen(character: str) -> bool:
    return character not in UNSEEN and unicodedata.category(character) not in _NOTHING_TO_READ
