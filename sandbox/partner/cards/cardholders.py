"""Cardholder details: the name's normal form, phone and e-mail (POST /cards)."""

from __future__ import annotations

import re
import unicodedata

from sandbox.partner.accounts import Settings
from sandbox.partner.http import Refusal

NAME_LIMIT = 26
# Accented letters whose base letter is not found by decomposition alone.
_WITHOUT_DECOMPOSITION = {"Ł": "L", "ł": "l"}
_KEPT = frozenset("äöüÄÖÜ")
_ASCII_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
_ALLOWED = _KEPT | _ASCII_LETTERS | frozenset("0123456789 /-^.')")
_PHONE = re.compile("[0-9]{4,15}")
_EMAIL = re.compile(r"[^@\s]+@[^@\s]*\.[^@\s]*")


def stored_name(given: str) -> str:
    """Trimmed, accents converted, checked, then uppercased; raises 400 INVALID_NAME.

    Checked before uppercasing, which would turn a sharp s into SS and let it pass (R061).
    """
    plain = "".join(_converted(letter) for letter in unicodedata.normalize("NFC", given).strip())
    if not plain:
        raise _invalid_name("is empty")
    if not set(plain) <= _ALLOWED:
        raise _invalid_name("has a character that cannot be printed on a card")
    if len(plain) > NAME_LIMIT:
        raise _invalid_name(f"is longer than {NAME_LIMIT} characters")
    return plain.upper()


def _converted(letter: str) -> str:
    if letter in _KEPT:
        return letter
    if letter in _WITHOUT_DECOMPOSITION:
        return _WITHOUT_DECOMPOSITION[letter]
    decomposed = unicodedata.normalize("NFD", letter)
    base, marks = decomposed[0], decomposed[1:]
    if marks and base in _ASCII_LETTERS and all(unicodedata.combining(mark) for mark in marks):
        return base
    return letter


def _invalid_name(why: str) -> Refusal:
    return Refusal(400, "INVALID_NAME", f"card_holder_name {why}.")


def check_email(given: str) -> None:
    """One @, no whitespace, a dot in the domain; raises 400 INVALID_EMAIL."""
    if not _EMAIL.fullmatch(given):
        raise Refusal(400, "INVALID_EMAIL", "email is not an e-mail address.")


def check_phone(country_code: int, phone: str, terms: Settings) -> None:
    """Form, country, then what a processor refuses: placeholders, and numbers that cannot be assigned (U41)."""
    if not _PHONE.fullmatch(phone):
        raise Refusal(400, "INVALID_PHONE", "phone must be 4 to 15 digits.")
    if country_code in terms.countries_refused:
        raise Refusal(
            400, "PHONE_COUNTRY_NOT_ALLOWED", f"Numbers of country code {country_code} are not accepted."
        )
    if len(set(phone)) == 1 or phone == "1234567890" or not _assignable(country_code, phone, terms):
        raise Refusal(400, "INVALID_PHONE", "The card processor refused this number.")


def _assignable(country_code: int, phone: str, terms: Settings) -> bool:
    """Whether the country's numbering plan has such a number; a trunk 0 belongs to no number, an Italian 0 does."""
    import phonenumbers  # its tables are large; many simulators order no card

    zeros = len(phone) - len(phone.lstrip("0"))
    number = phonenumbers.PhoneNumber(
        country_code=country_code,
        national_number=int(phone),
        italian_leading_zero=bool(zeros),
        number_of_leading_zeros=zeros or None,
    )
    if terms.phone_check == "possible":
        return bool(phonenumbers.is_possible_number(number))
    return bool(phonenumbers.is_valid_number(number))
