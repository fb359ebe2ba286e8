"""A field of an operation's form: what it asks for, of which type its value is, and where that value is read.

    class TopUp(Operation):
        card = Field("Card", CARD_ID)
        amount_usd = Field("Amount (USD)", USD, placeholder="50.00")

Of the class it is the field, with its name and its label; of an operation its value: `operation.amount_usd` is a
Decimal, put there when the operation is made. The name is that of the attribute, and of the value where it is stored.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Generic, Self, TypeVar, cast, overload

from bot.operations.value_types import CARD_ID, ValueType

T = TypeVar("T")


@dataclass(eq=False, slots=True)
class Field(Generic[T]):
    """One field. `holds` is the type of its value; what is typed wrongly is reported beside the field."""

    label: str
    holds: ValueType[T]
    element: str = "text"  # text | lines | choice | check
    hint: str = ""
    placeholder: str = ""
    choices: tuple[tuple[str, str], ...] = ()  # (value, label)
    missing: str = ""  # what is said when it is left empty
    one_word: bool = False  # in a command, what is typed after its first word belongs to the next field
    safeguard: bool = False  # filled by the person each time, never for them
    optional: bool = False  # by `optional`, so that its value may be None
    learned: bool = False  # by `learned`: in no form, the preview reads it
    name: str = dataclasses.field(default="", init=False)
    card: bool = dataclasses.field(init=False)  # names a card, which the directory finds
    private: bool = dataclasses.field(init=False)  # its value is sealed, and shown masked

    def __post_init__(self) -> None:
        self.card = self.holds is CARD_ID
        self.private = self.holds.mask is not None

    def __set_name__(self, owner: type, name: str) -> None:
        if self.name not in ("", name):
            raise TypeError(f"{owner.__name__} calls the field {self.name} by another name, {name}")
        self.name = name

    @overload
    def __get__(self, operation: None, kind: type) -> Self: ...
    @overload
    def __get__(self, operation: object, kind: type) -> T: ...
    def __get__(self, operation: object | None, kind: type) -> Self | T:
        if operation is None:
            return self
        # An operation has its values as attributes of its own, which come before this.
        raise AttributeError(f"{kind.__name__} has no value for {self.name} here")

    def canonical(self, text: str) -> str:
        """What is made of a typed text ("bsc" is BNB). Raises ValueError with the sentence for the field."""
        return text if self.card else self.holds.store(self.holds.read(text))

    def masked(self, text: str) -> str:
        """A typed text that was not judged yet, for people to read."""
        return self.holds.mask(text) if self.holds.mask else text


def optional(field: Field[T]) -> Field[T | None]:
    """The same field, which may be left empty: its value is None then."""
    return cast(Field[T | None], dataclasses.replace(field, optional=True))


def learned(holds: ValueType[T]) -> Field[T | None]:
    """A value that nobody types: read by the preview, then shown, approved and frozen. None until it is known."""
    return cast(Field[T | None], Field("", holds, optional=True, learned=True))
