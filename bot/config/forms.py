"""The forms of values in `countersign.toml`: durations, dollars, channels, people and the like.

Each is said once: in words for a problem, as a pattern for editors, and as what it becomes.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import time, timedelta
from decimal import Decimal
from typing import Annotated, Any, TypeVar
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import AfterValidator, Field, GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import CoreSchema, core_schema

from bot.domain import people
from bot.domain.addresses import is_address
from bot.domain.money import InvalidAmount, parse_usd

T = TypeVar("T")

# Seconds, the largest unit first.
_UNITS = {"d": 86400, "h": 3600, "m": 60, "s": 1}
_HOUR = "([01][0-9]|2[0-3]):[0-5][0-9]"
_HTTPS = "an address of the form https://host/path, with a name and the usual port"
_USER = r"@[a-z0-9][a-z0-9._-]*"


@dataclass(frozen=True, slots=True)
class Form:
    """Annotates a field that is written as a text.

    `what` it is, in words; `pattern` fits the whole text; `read` makes the value of it and raises ValueError
    with what follows the setting's name; with `optional` an empty text is allowed and means None.
    """

    what: str
    pattern: str
    read: Callable[[str], object] = str
    optional: bool = False

    def value(self, given: object) -> object:
        """The value of what the file has. Raises ValueError with what follows the setting's name."""
        if not isinstance(given, str):
            raise ValueError(f"must be {self.what}.")  # noqa: TRY004 - pydantic collects no other
        if not given and self.optional:
            return None
        if not given:
            raise ValueError(f"is needed: {self.what}.")
        if not re.fullmatch(self.pattern, given):
            raise ValueError(f"is {given!r}, which is not {self.what}.")
        return self.read(given)

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(self.value)

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        return {"type": "string", "pattern": f"^({self.pattern}){'?' if self.optional else ''}$"}


def write(value: object) -> object:
    """A value as the file has it: `"10m"`, `"1000"`, `"09:00"`, `""` for none."""
    match value:
        case None:
            return ""
        case timedelta():
            return write_duration(value)
        case Decimal():
            return f"{value:f}"
        case time():
            return f"{value:%H:%M}"
        case tuple():
            return [write(one) for one in value]
        case _:
            return value


def write_duration(value: timedelta) -> str:
    """`90s`, `15m`, `8h`, `2d`: in the largest unit that divides it."""
    seconds = int(value.total_seconds())
    if not seconds:
        return "0"
    unit, size = next((unit, size) for unit, size in _UNITS.items() if seconds % size == 0)
    return f"{seconds // size}{unit}"


def _duration(text: str) -> timedelta:
    return timedelta(seconds=int(text[:-1]) * _UNITS[text[-1]])


def _duration_or_none(text: str) -> timedelta:
    return timedelta(0) if text == "0" else _duration(text)


def _usd(text: str) -> Decimal:
    try:
        return parse_usd(text)
    except InvalidAmount as error:
        raise ValueError(f"is {text!r}: {error}") from None


def _usd_or_zero(text: str) -> Decimal:
    return Decimal(0) if re.fullmatch(r"0(\.00?)?", text) else _usd(text)


def _timezone(text: str) -> str:
    try:
        ZoneInfo(text)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ValueError(f'is {text!r}; write a name such as "Europe/Berlin" or "UTC".') from None
    return text


def _or_utc(timezone: str | None) -> str:
    return timezone or "UTC"


def _quiet(text: str) -> tuple[time, time]:
    begins, _, ends = text.partition("-")
    if begins == ends:
        raise ValueError("must not begin and end at the same hour.")
    return time.fromisoformat(begins), time.fromisoformat(ends)


def is_https(url: str) -> bool:
    """Return whether this is an https address that names a host, not an IP address, and the usual port."""
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
        named = bool(host) and host.isascii() and not is_address(host)
        return parts.scheme == "https" and named and "@" not in parts.netloc and parts.port in (None, 443)
    except ValueError:
        return False


def _https(url: str) -> str:
    if not is_https(url):
        raise ValueError(f"is {url!r}, which is not {_HTTPS}.")
    return url


def _not_blank(text: str) -> str:
    if not text.strip():
        raise ValueError("is needed.")
    return text.strip()


def _each_once(values: tuple[T, ...]) -> tuple[T, ...]:
    for value in values:
        if values.count(value) > 1:
            raise ValueError(f"names {value} twice.")
    return values


# A list in the file; everything else in it is as strict as elsewhere.
Rows = Annotated[tuple[T, ...], Field(strict=False)]
Names = Annotated[tuple[T, ...], Field(strict=False), AfterValidator(_each_once)]
Count = Annotated[int, Field(ge=1)]

_DURATION = Form(
    'a duration in quotes, such as "90s", "15m", "8h" or "2d"', "[1-9][0-9]{0,5}[smhd]", _duration
)
_DURATION_OR_NONE = Form(
    'a duration in quotes, such as "90s", "15m", "8h" or "2d", or "0"',
    "0|[1-9][0-9]{0,5}[smhd]",
    _duration_or_none,
)
_DOLLARS = r"\$?[0-9][0-9,]*(\.[0-9]{1,2})?"
_USD = 'dollars in quotes, such as "500" or "99.50"'
Duration = Annotated[timedelta, _DURATION]
DurationOrNone = Annotated[timedelta, _DURATION_OR_NONE]
UsdOrZero = Annotated[Decimal, Form(_USD, _DOLLARS, _usd_or_zero)]
OptionalUsd = Annotated[Decimal | None, Form(_USD, _DOLLARS, _usd, optional=True)]

_CHANNEL = r"#[^\s#@A-Z]{1,80}|[CG][A-Z0-9]{2,}"
Channel = Annotated[str, Form('a "#channel" or a channel id', _CHANNEL)]
OptionalChannel = Annotated[str | None, Form('a "#channel" or a channel id', _CHANNEL, optional=True)]
Person = Annotated[str, Form('an "@user" or a Slack id', rf"{_USER}|[UW][A-Z0-9]{{2,}}")]
PersonOrGroup = Annotated[str, Form('an "@group", an "@user" or a Slack id', rf"{_USER}|[UWS][A-Z0-9]{{2,}}")]

Call = Annotated[people.Call, Form('"group" or "nobody"', "group|nobody", people.Call)]
Per = Annotated[people.Per, Form('"request", "card" or "requester"', "request|card|requester", people.Per)]

Text = Annotated[str, AfterValidator(_not_blank), Field(json_schema_extra={"minLength": 1})]
Timezone = Annotated[str, Form("a time zone", ".+", _timezone, optional=True), AfterValidator(_or_utc)]
Clock = Annotated[time | None, Form('an hour such as "09:00"', _HOUR, time.fromisoformat, optional=True)]
Quiet = Annotated[
    tuple[time, time] | None, Form('hours such as "22:00-07:00"', f"{_HOUR}-{_HOUR}", _quiet, optional=True)
]

Destination = Annotated[
    str, Form("a short name of small letters, digits and dashes", "[a-z0-9][a-z0-9_-]{0,39}")
]
EventType = Annotated[str, Form('an event type such as "card.authorized"', r"[a-z0-9_]+(\.[a-z0-9_]+)+")]
Host = Annotated[
    str,
    Form(
        'a host such as "cards.example.com"',
        r"([a-z0-9-]{1,63}\.)+[a-z][a-z0-9-]{1,62}(:[1-9][0-9]{0,4})?",
    ),
]
Https = Annotated[str, Form(_HTTPS, "https://.+", _https)]
FieldName = Annotated[
    str | None,
    Form("the name of a field, as your agreement has it", "[A-Za-z][A-Za-z0-9_]{0,59}", optional=True),
]
