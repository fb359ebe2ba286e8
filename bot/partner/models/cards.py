"""Cards: what they are, what they hold, and what each change of one answers."""

from typing import Annotated

from pydantic import Field

from bot.partner.models.base import Answer, Count, Exact, Known, SecretText, Utc

CARD_STATUSES = ("ACTIVE", "FROZEN", "DELETED", "BLOCKED", "INACTIVE", "EXPIRED")
BALANCE_ERRORS = ("NOT_FOUND", "UNAVAILABLE")


class Card(Answer):
    """A card. `id` is case-sensitive; only the status ACTIVE can be spent, None is not yet known."""

    id: str
    partner_ref: str | None = None
    card_holder_name: str = Field(repr=False)
    last4: str | None = None
    status: Annotated[str | None, Known(CARD_STATUSES)] = None
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
    error: Annotated[str | None, Known(BALANCE_ERRORS)] = None


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


class Limits(Answer):
    """Spending limits of one card in USD; None is not set. Read back from the processor after a change.

    `per_transaction_limit_usd` is the program's ceiling on one purchase and cannot be set.
    """

    card_id: str
    daily_limit: Exact | None
    weekly_limit: Exact | None
    monthly_limit: Exact | None
    per_transaction_limit_usd: Exact


class PhoneUpdated(Answer):
    """The number was taken. It is not echoed, and no call reads it back [PUT phone]."""

    card_id: str
    updated: bool


class ThreeDsMethod(Answer):
    """How one-time codes of this card are delivered now; no call reads this back [PUT 3ds]."""

    card_id: str
    three_ds_method: Annotated[str, Known(("sms", "webhook"))]


class CardDetails(Answer):
    """A page that shows number and security code, for 600 s; the expiry may be unknown [GET pan].

    The address is as good as the card: it goes into the frame of the person who asked, nowhere else.
    """

    hidden = frozenset({"details_url"})

    card_id: str
    details_url: SecretText
    expiration_month: Count | None = None
    expiration_year: Count | None = None


class PanToken(Answer):
    """An address that gives number and security code once, within `expires_in` seconds [POST pan-token].

    Only the end user's device may open it. Opened from here it would be used up, and card data would
    have passed through a machine that must never hold any.
    """

    hidden = frozenset({"url"})

    url: SecretText
    expires_in: Exact
    single_use: bool
