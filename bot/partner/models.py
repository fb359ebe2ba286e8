"""What the API answers, as frozen values.

Amounts are exact `Decimal` in the unit their name says; rates named `_pct` are fractions (0.02 is two
percent); times are aware UTC. Enumerations the service may extend are plain `str`: every use needs a
default branch [Versioning]. Unknown fields are no error; each value keeps what it was read from in
`raw`, which is left out of `repr` like everything personal.

A null keeps its meaning and is never 0: an unknown balance, a card allowance without a cap, a float
without a ceiling. Where null means "no limit" the field must be there: a missing one is unreadable.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Annotated, Any, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

_TIME = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,9})?(Z|[+-][0-9]{2}:[0-9]{2})"
)


def _exact(value: object) -> object:
    """A JSON number as Decimal; strings and booleans are left for pydantic to refuse."""
    return Decimal(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _whole(value: object) -> object:
    """`3.0` counts as 3: the value matters, not its spelling."""
    return int(value) if isinstance(value, Decimal) and value == value.to_integral_value() else value


def _utc(value: object) -> object:
    if not isinstance(value, str) or not _TIME.fullmatch(value):
        raise ValueError("not an ISO 8601 time with its offset")
    try:
        return datetime.fromisoformat(value).astimezone(UTC)
    except OverflowError:
        raise ValueError("a time beyond the calendar") from None


def _tuple(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value


Exact = Annotated[Decimal, BeforeValidator(_exact), Field(allow_inf_nan=False)]
Count = Annotated[int, BeforeValidator(_whole)]
Utc = Annotated[datetime, BeforeValidator(_utc)]
Texts = Annotated[tuple[str, ...], BeforeValidator(_tuple)]


class Unreadable(ValueError):
    """An answer does not have the documented form. Names the places, never the values."""


class Answer(BaseModel):
    """A value the API sent, with all it was read from in `raw`."""

    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)

    raw: Mapping[str, Any] = Field(default_factory=dict, repr=False, exclude=True)

    @model_validator(mode="before")
    @classmethod
    def _keep_raw(cls, value: Any) -> Any:
        return {**value, "raw": value} if isinstance(value, dict) else value

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


# Account info [GET /me]


class Partner(Answer):
    """The account itself."""

    id: str
    name: str | None = None
    contact_email: str | None = Field(default=None, repr=False)
    created_at: Utc | None = None


class KeyInfo(Answer):
    """The key that asked. `prefix` may be shown; `mode` is always `live` and tells nothing."""

    name: str | None = None
    prefix: str
    scopes: Texts
    mode: str
    rate_limit_per_minute: Count


class CardAllowance(Answer):
    """Cards ever ordered (closed ones included), cards not closed, and the lifetime cap, None for none."""

    total: Count
    active: Count
    limit: Count | None

    @property
    def remaining(self) -> int | None:
        """Cards that may still be ordered, never below 0; None where there is no cap."""
        return None if self.limit is None else max(0, self.limit - self.total)


class Float(Answer):
    """The prepaid balance. `balance_usd` may be negative; what can be spent now is `available_usd`."""

    funded_usd: Exact
    spent_usd: Exact
    balance_usd: Exact
    limit_usd: Exact | None
    available_usd: Exact


class Example(Answer):
    """What 100 USD would come to with both fees, though no route charges both."""

    svc_fee_usd: Exact
    your_fee_usd: Exact
    lands_on_card_usd: Exact


class FeeSummary(Answer):
    """Rates as fractions; `total_pct` is charged on no route."""

    svc_pct: Exact
    your_markup_pct: Exact
    total_pct: Exact
    example_on_100_usd: Example


class Earnings(Answer):
    """Commission of the partner, apart from the float."""

    accrued_usd: Exact
    paid_out_usd: Exact
    owed_usd: Exact
    last_payout_at: Utc | None = None


class Me(Answer):
    """Account, key, card allowance, float, fees and earnings in one reading [GET /me]."""

    partner: Partner
    key: KeyInfo
    cards: CardAllowance
    float: Float
    fees: FeeSummary
    earnings: Earnings


class TransactionFees(Answer):
    """The published rates of card usage; what one purchase was charged is on that purchase."""

    usd_purchase_pct: Exact
    fx_purchase_pct: Exact
    high_risk_surcharge_pct: Exact
    atm_pct: Exact
    visa_direct_pct: Exact
    monthly_per_card_usd: Exact
    your_markup_pct: Exact


class Fees(FeeSummary):
    """The full schedule [GET /fees]."""

    load_from_float_pct: Exact
    load_from_user_deposit_pct: Exact
    transaction: TransactionFees


# Funding


class FundingAddress(Answer):
    """Where to send on one network, now: never remembered [GET /funding/addresses]."""

    network: str
    address: str
    tokens: Texts


class Funding(Answer):
    """A funding submission. Whether it was credited is told by `status`, never by amounts or reason.

    `amount_usd` is what was sent, None until verified; `credited_usd` and `fee_usd` stay filled after
    a reversal, when the status is `rejected`.
    """

    id: str
    network: str
    tx_hash: str
    status: str
    reason: str | None = None
    token: str | None = None
    amount_usd: Exact | None = None
    fee_usd: Exact | None = None
    credited_usd: Exact | None = None
    created_at: Utc
    credited_at: Utc | None = None


class LedgerEntry(Answer):
    """A movement of the float: positive adds to it; up to ten decimals. It has no id of its own."""

    amount_usd: Exact
    kind: str
    reference: str | None = None
    card_id: str | None = None
    description: str | None = None
    created_at: Utc


# Cards


class Card(Answer):
    """A card. `id` is case-sensitive; only the status ACTIVE can be spent, None is not yet known."""

    id: str
    partner_ref: str | None = None
    card_holder_name: str = Field(repr=False)
    last4: str | None = None
    status: str | None = None
    created_at: Utc


class CardWithBalance(Answer):
    """A card and its live balance in USD; None: it could not be read [GET /cards/{cardId}]."""

    card: Card
    balance_usd: Exact | None


class BalanceRow(Answer):
    """A balance as last read, at `as_of`. Not `ok` with no `error`: not read yet [POST /cards/balances]."""

    card_id: str
    balance_usd: Exact | None
    as_of: Utc | None = None
    ok: bool
    error: str | None = None


class TopUp(Answer):
    """Float moved onto a card. On a replay `partner_balance_usd` is the balance of that later moment."""

    card_id: str
    amount_requested_usd: Exact
    fee_usd: Exact
    credited_usd: Exact
    partner_balance_usd: Exact


class Unload(Answer):
    """Money moved from a card back to the float."""

    card_id: str
    unloaded_usd: Exact
    partner_balance_usd: Exact


class Freeze(Answer):
    """Echo of what was asked; the proof is the card's status [POST freeze]."""

    card_id: str
    frozen: bool


class Close(Answer):
    """A closed card; what it held went back to the float."""

    card_id: str
    returned_usd: Exact
    partner_balance_usd: Exact


class Event(Answer):
    """A row of the event log. `payload` may hold a one-time code: cut it before anything is stored."""

    id: str
    type: str
    payload: Mapping[str, Any] = Field(repr=False)
    delivered: bool
    delivered_at: Utc | None = None
    attempts: Count
    created_at: Utc


@dataclass(frozen=True, slots=True)
class TopUpEvidence:
    """What the whole ledger shows for one idempotency key.

    Debit and refund: it failed and came back. Debit alone: off the float, perhaps not on the card.
    Neither: nothing yet. `rows` holds every row found, should there ever be more than one of a kind.
    """

    debit: LedgerEntry | None
    refund: LedgerEntry | None
    rows: tuple[LedgerEntry, ...] = ()
