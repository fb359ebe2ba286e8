"""The types of the values that requests are made of: how each is read from typed text, stored, and shown to people.

A field of a form names one of these types. What people type is read once, by `read`; from then on it is a typed
value, and becomes text again at the edges only: in the database and in what is signed (`store`, `load`), and in
Slack (`show`). A type that only one kind has stands in the file of that kind.

Databases hold the stored texts, and digests are made of them: what `store` gives for a value never changes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Generic, NewType, TypeVar

from bot.domain.requests import mask_email, mask_phone
from bot.operations import readers

T = TypeVar("T")

CardId = NewType("CardId", str)
TxHash = NewType("TxHash", str)
Network = NewType("Network", str)
PublicUrl = NewType("PublicUrl", str)
PartnerRef = NewType("PartnerRef", str)


@dataclass(frozen=True, slots=True)
class Private:
    """A value that is sealed in storage and shown masked: a phone number, an e-mail address.

    What is read back from a request's terms is known masked alone, until its sealed part is opened.
    """

    masked: str
    _full: str | None = field(default=None, repr=False)

    def reveal(self) -> str:
        """The whole value. Raises ValueError where only the masked one is known."""
        if self._full is None:
            raise ValueError("only the masked value is known")
        return self._full

    def __str__(self) -> str:
        return self.masked


@dataclass(frozen=True, slots=True)
class ValueType(Generic[T]):
    """One type of value. `python` is the class of its values.

    `read` takes what a person typed and raises ValueError with the sentence for the field. `store` gives the text
    that is stored, signed and typed into a form again; `load` takes that text, and judges nothing again. `show` is
    for people. `mask` hides a private value that is still text; None = not private.
    """

    python: type[Any]
    read: Callable[[str], T]
    load: Callable[[str], T]
    store: Callable[[T], str] = str
    show: Callable[[T], str] = str
    mask: Callable[[str], str] | None = None


def _private(read: Callable[[str], str], mask: Callable[[str], str]) -> ValueType[Private]:
    def known(full: str) -> Private:
        return Private(mask(full), full)

    return ValueType(Private, lambda text: known(read(text)), known, Private.reveal, mask=mask)


def _card_id(_: str) -> CardId:
    raise TypeError("the card that a text names is found in the directory")


def _ticked(text: str) -> bool:
    if text != "yes":
        raise ValueError("Tick the box, or leave it empty.")
    return True


def _yes_or_no(value: bool) -> str:
    return "yes" if value else "no"


def _two_places(usd: Decimal) -> str:
    return f"{usd:.2f}"


CARD_ID = ValueType(str, _card_id, CardId)
USD = ValueType(Decimal, readers.amount, Decimal, _two_places)
CARDHOLDER_NAME = ValueType(str, readers.cardholder_name, str)
COUNTRY_CODE = ValueType(int, readers.country_code, int)
PHONE = _private(readers.phone, mask_phone)
EMAIL = _private(readers.email, mask_email)
PARTNER_REF = ValueType(str, lambda text: PartnerRef(readers.partner_ref(text)), PartnerRef)
TX_HASH = ValueType(str, lambda text: TxHash(readers.tx_hash(text)), TxHash)
NETWORK = ValueType(str, lambda text: Network(readers.network(text)), Network)
PUBLIC_URL = ValueType(str, lambda text: PublicUrl(readers.public_url(text)), PublicUrl)
TICKED = ValueType(bool, _ticked, lambda text: text == "yes", _yes_or_no, _yes_or_no)
