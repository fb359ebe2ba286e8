"""What all answers have in common: exact numbers, aware times, open lists, and `raw`.

Amounts are exact `Decimal` in the unit their name says; rates named `_pct` are fractions (0.02 is two
percent); times are aware UTC. Enumerations the card provider may extend are plain `str`: every use needs a
default branch [Versioning]. Unknown fields are no error; each value keeps what it was read from in
`raw`, which is left out of `repr` like everything personal. What is secret is held as `Secret` and is
not in `raw` either.

A null keeps its meaning and is never 0: an unknown balance, a card allowance without a cap, a float
without a ceiling. Where null means "no limit" the field must be there: a missing one is unreadable.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from datetime import UTC, datetime
from decimal import Decimal
from typing import Annotated, Any, ClassVar, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SkipValidation,
    ValidationError,
    model_validator,
)

from bot.partner.redaction import REMOVED
from bot.partner.secret import Secret

_CLOCK = r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,9})?"
_OFFSET = r"(?:Z|[+-][0-9]{2}:[0-9]{2})"
_TIME = re.compile(_CLOCK + _OFFSET)
_BARE_TIME = re.compile(_CLOCK)
# Before the decimal point, and after it.
_MOST_DIGITS = 20


_RESPONSE = "_response"  # beside the fields, which equality and JSON are made of


@dataclass(frozen=True, slots=True)
class Known:
    """Marks a field with the values the document gives for it; others may come and are no error.

    What is written here is what `drift` compares with the card provider's own description.
    """

    values: tuple[str, ...]


def _exact(value: object) -> object:
    """A JSON number as Decimal; strings and booleans are left for pydantic to refuse."""
    number = Decimal(value) if isinstance(value, int) and not isinstance(value, bool) else value
    if isinstance(number, Decimal) and not _can_be_added(number):
        raise ValueError("a number of too many digits")
    return number


def _can_be_added(number: Decimal) -> bool:
    """Whether sums of many such numbers are still exact: see `bot.domain.money.exact_sum`. No amount is near it."""
    if not number.is_finite():
        return True  # refused elsewhere, by what it is
    exponent = number.as_tuple().exponent
    return number.adjusted() < _MOST_DIGITS and isinstance(exponent, int) and exponent >= -_MOST_DIGITS


def _whole(value: object) -> object:
    """`3.0` counts as 3: the value matters, not its spelling."""
    return int(value) if isinstance(value, Decimal) and value == value.to_integral_value() else value


def _utc(value: object) -> object:
    if not isinstance(value, str) or not _TIME.fullmatch(value):
        raise ValueError("not an ISO 8601 time with its offset")
    try:
        time = datetime.fromisoformat(value)
        return time if time.tzinfo is UTC else time.astimezone(UTC)
    except OverflowError:
        raise ValueError("a time beyond the calendar") from None


def _bare_utc(value: object) -> object:
    """A time that is UTC without saying so; one that does say its offset is read as it says."""
    bare = isinstance(value, str) and _BARE_TIME.fullmatch(value)
    return _utc(f"{value}Z" if bare else value)


def _tuple(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value


def _secret(value: object) -> object:
    return Secret(value) if isinstance(value, str) and value else value


def _text_or_none(value: object) -> object:
    return value if isinstance(value, str) else None


def _exact_or_none(value: object) -> object:
    try:
        number = _exact(value)
    except ValueError:
        return None
    return number if isinstance(number, Decimal) and number.is_finite() else None


def _utc_or_none(value: object) -> object:
    try:
        return _bare_utc(value)
    except ValueError:
        return None


Exact = Annotated[Decimal, BeforeValidator(_exact), Field(allow_inf_nan=False)]
Count = Annotated[int, BeforeValidator(_whole)]
Utc = Annotated[datetime, BeforeValidator(_utc)]
BareUtc = Annotated[datetime, BeforeValidator(_bare_utc)]
Texts = Annotated[tuple[str, ...], BeforeValidator(_tuple)]
SecretText = Annotated[Secret, BeforeValidator(_secret)]

# Fields the document does not show: taken where they are as one would guess, else None.
GuessedText = Annotated[str | None, BeforeValidator(_text_or_none)]
GuessedExact = Annotated[Decimal | None, BeforeValidator(_exact_or_none)]
GuessedUtc = Annotated[datetime | None, BeforeValidator(_utc_or_none)]


@dataclass(frozen=True, slots=True)
class Response:
    """How an answer came: its status, its headers in lower case, the key that was sent, how many times it was sent."""

    status: int
    headers: Mapping[str, str] = dataclass_field(repr=False)
    sent_key: str | None = None
    attempts: int = 1


class NotFromACall(LookupError):
    """A value has no HTTP response: it came another way than as the answer to a call."""


class Unreadable(ValueError):
    """An answer does not have the documented form. Names the places, never the values."""


class Answer(BaseModel):
    """A value the API sent, with all it was read from in `raw`, but for what is `hidden`."""

    # Its check is put together at the first answer of its kind, not for all kinds while the bot starts.
    model_config = ConfigDict(
        frozen=True, extra="ignore", strict=True, arbitrary_types_allowed=True, defer_build=True
    )

    hidden: ClassVar[frozenset[str]] = frozenset()
    """Names of the fields whose values are kept out of `raw`."""

    # Made below from what is a JSON object already: reading it once more would copy every answer.
    raw: SkipValidation[Mapping[str, Any]] = Field(default_factory=dict, repr=False, exclude=True)

    @model_validator(mode="before")
    @classmethod
    def _keep_raw(cls, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        kept = dict(value)
        kept.update((name, REMOVED) for name in cls.hidden if value.get(name))
        return {**value, "raw": kept}

    @property
    def response(self) -> Response:
        """The HTTP response that it was read from: what a call answers always has one.

        Raises NotFromACall for a value that came another way, such as a delivery. Not a part of the value: two equal
        values are equal whenever they were read.
        """
        found: Response | None = self.__dict__.get(_RESPONSE)
        if found is None:
            raise NotFromACall(f"this {type(self).__name__} was not read from an HTTP response")
        return found

    def came_by(self, response: Response) -> None:
        """Note the response that it was read from."""
        self.__dict__[_RESPONSE] = response

    @classmethod
    def read(cls, value: Any) -> Self:
        """The value in this form; raises Unreadable, which tells where it does not fit."""
        try:
            return cls.model_validate(value)
        except ValidationError as error:
            faults = error.errors(include_url=False, include_context=False, include_input=False)
        places = [f"{'.'.join(map(str, fault['loc'])) or cls.__name__}: {fault['type']}" for fault in faults]
        raise Unreadable("; ".join(places[:5]))


class PageCounts(Answer):
    """How large a numbered list is; `total` is 0 past its end, and `total_pages` never below 1."""

    total: Count
    total_pages: Count
