"""What is kept of the API between two readings, with its types: the one place where it becomes JSON and is read back.

    ACCOUNT    the float and the card allowance, and how they were over time [GET /me]
    LEDGER     the sum of the ledger so far, and by how much the float differs from it; signed
    FUNDING    one submission, as the newest of its readings and events shows it
    DECLINES   what an open message about declined purchases counts, by the condition of its alert

Amounts are Decimals in USD here and exact text in the database. What one version has stored the next one reads: a
field that is added has a default.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any, Generic, TypeVar

from pydantic import AfterValidator, BeforeValidator, TypeAdapter

from bot.domain.alerts import decline_alerts
from storage.cards import api_snapshots, history
from storage.protection import unreadable_rows
from storage.transaction import Tx

T = TypeVar("T")


def _time_text(text: str) -> str:
    """Raises ValueError for what is no time in ISO 8601, and not empty."""
    if text:
        datetime.fromisoformat(text)
    return text


Iso = Annotated[str, AfterValidator(_time_text)]
#: A time that may not be known: empty text in the database.
When = Annotated[datetime | None, BeforeValidator(lambda stored: stored or None)]


@dataclass(frozen=True, slots=True)
class Kept(Generic[T]):
    """A value, and when it was read."""

    value: T
    read_at: datetime


class Kind(Generic[T]):
    """One kind of snapshot. `name` is how its names begin; `of` is the rest, where there are several."""

    def __init__(self, name: str, type_: type[T]) -> None:
        self.name = self._name = name
        self._type = TypeAdapter(type_)

    async def get(self, tx: Tx, program: str, of: str = "") -> Kept[T] | None:
        found = await api_snapshots.get(tx, program, f"{self._name}{of}")
        return None if found is None else self._kept(found)

    async def named(self, tx: Tx, program: str) -> dict[str, Kept[T]]:
        """All of this kind, by the rest of their names."""
        found = await api_snapshots.named(tx, program, self._name)
        return {of: self._kept(one) for of, one in found.items()}

    async def put(self, tx: Tx, program: str, value: T, of: str = "") -> Kept[T]:
        await api_snapshots.put(tx, program, f"{self._name}{of}", self._stored(value))
        return Kept(value, tx.now)

    async def drop(self, tx: Tx, program: str, of: str = "") -> None:
        await api_snapshots.drop(tx, program, f"{self._name}{of}")

    async def add_to_history(self, tx: Tx, program: str, value: T) -> None:
        await history.put(tx, program, self._name, self._stored(value))

    async def since(self, tx: Tx, program: str, at: datetime) -> list[Kept[T]]:
        """What was read from then on, the oldest first."""
        return [self._kept(one) for one in await history.since(tx, program, self._name, at)]

    def typed(self, value: object) -> T:
        """The same with its types, where amounts in it may be text still. Raises ValueError."""
        return self._type.validate_python(value)

    def has_its_shape(self, value: object) -> bool:
        """Can it be read back as one of this kind?"""
        try:
            self.typed(value)
        except ValueError:
            return False
        return True

    def _kept(self, found: api_snapshots.Reading) -> Kept[T]:
        return Kept(self.typed(found.value), found.read_at)

    def _stored(self, value: T) -> Any:
        return self._type.dump_python(value, mode="json")


class SignedKind(Kind[T]):
    """One whose values are signed: what somebody else wrote, or left out, is as if it was never read."""

    async def get(self, tx: Tx, program: str, of: str = "") -> Kept[T] | None:
        found = await api_snapshots.get_signed(tx, program, f"{self._name}{of}")
        return None if found is None else self._kept(found)

    async def put(self, tx: Tx, program: str, value: T, of: str = "") -> Kept[T]:
        await api_snapshots.put_signed(tx, program, f"{self._name}{of}", self._stored(value))
        return Kept(value, tx.now)


@dataclass(frozen=True, slots=True)
class Account:
    """The float in USD and the program's cards. `limit_usd` and `cards_limit`: None without a limit."""

    balance_usd: Decimal
    available_usd: Decimal
    funded_usd: Decimal
    spent_usd: Decimal
    limit_usd: Decimal | None
    cards_total: int
    cards_active: int
    cards_limit: int | None

    @property
    def usable_usd(self) -> Decimal:
        """What can be spent: a ceiling of the card provider can make it less than the balance, a debt less than 0."""
        return min(self.balance_usd, self.available_usd)


@dataclass(frozen=True, slots=True)
class Ledger:
    """`rows` and their sum, up to the row `newest`; None and 0 before the ledger was ever read whole.

    `differs_usd`: the float's balance less that sum; None where money moved all the time. `whole_in`: the safe mode in
    which all of it was read last, by its mark on record; "" = none.
    """

    rows: int | None = None
    total_usd: Decimal = Decimal(0)
    newest: tuple[str, ...] = ()
    whole_at: datetime | None = None
    differs_usd: Decimal | None = None
    whole_in: str = ""


@dataclass(frozen=True, slots=True)
class Funding:
    """What is known of a submission; what was never said of it is empty.

    `mark` says for how long it is overdue, `read_at` when its newest reading began.
    """

    funding_id: str
    status: str
    reason: str | None = None
    network: str = ""
    tx_hash: str = ""
    token: str | None = None
    amount_usd: Decimal | None = None
    fee_usd: Decimal | None = None
    credited_usd: Decimal | None = None
    created_at: When = None
    credited_at: When = None
    mark: str = ""
    read_at: When = None


@dataclass(frozen=True, slots=True)
class Declines:
    """How many, how many of them reported late, for how much, on which cards and at which merchants."""

    code: str
    first_at: datetime
    last_at: datetime
    count: int = 0
    late: int = 0
    amount_usd: Decimal = Decimal(0)
    cards: dict[str, int] = field(default_factory=dict)
    merchants: dict[str, int] = field(default_factory=dict)
    retryable: bool | None = None


ACCOUNT = Kind("me", Account)
LEDGER = SignedKind("ledger_watch", Ledger)
FUNDING = Kind("funding:", Funding)
DECLINES = Kind(decline_alerts.COUNTED, Declines)


@dataclass(frozen=True, slots=True)
class _Held:
    what: str
    until: Iso
    unread: str = ""


@dataclass(frozen=True, slots=True)
class _Unread:
    sent_at: Iso
    seq: int


@dataclass(frozen=True, slots=True)
class _Looked:
    mode: str
    until: Iso = ""
    lost: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Posted:
    day: str


@dataclass(frozen=True, slots=True)
class _Clean:
    clean: int


_TEXTS = dict[str, str]
_OTHERS: Mapping[str, Any] = {
    "slack_names": _TEXTS,
    "delegations": _TEXTS,
    "held_since_start": _Held,
    "held_since_start/": dict[str, Iso],
    "relay_destinations": dict[str, object],
    "channels_named": list[str],
    "slack_unread_since": _Unread,
    "looked_in_safe_mode": _Looked,
    "refused_deliveries:": list[tuple[Iso, str, int]],
    "digest": _Posted,
    "digest:": dict[str, object],
    "card_watch": _TEXTS,
    "float_watch": _Clean,
    "alert:": _TEXTS,
}
_SHAPES = {
    **{kind.name: kind.has_its_shape for kind in (ACCOUNT, LEDGER, FUNDING, DECLINES)},
    **{name: Kind(name, type_).has_its_shape for name, type_ in _OTHERS.items()},
}


def has_its_shape(name: str, value: object) -> bool:
    """Is it what the readers of a snapshot of this name lean on? Of names that are not known here, everything is."""
    begins = max((known for known in _SHAPES if _fits(known, name)), key=len, default="")
    return not begins or _SHAPES[begins](value)


def _fits(known: str, name: str) -> bool:
    return name == known or (known.endswith((":", "/")) and name.startswith(known))


unreadable_rows.SHAPED.update(reading=has_its_shape, reading_history=has_its_shape)
