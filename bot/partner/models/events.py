"""Events as typed values, whether they were delivered or read from the log.

What the document does not show of a payload is optional here, and code must work without it. Purchases
are recognised by `type` and `data.event`, never by `status` or by the sign of an amount: a decline says
`settled`, and so do refunds and reversals [Event types].
"""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field

from bot.partner.models.base import Answer, Exact, GuessedExact, GuessedText, GuessedUtc, Known, Utc
from bot.partner.models.purchases import DeclineReason
from bot.partner.secret import Secret

LATER_LEGS = ("cleared", "refund", "reversal")
FREEZE_REASONS = ("partner_freeze", "partner_unfreeze")


class EventFees(Answer):
    """Parts of a purchase's fee in USD; an event has no `deposit_usd`."""

    fx_usd: Exact | None = None
    atm_usd: Exact | None = None


class Purchase(Answer):
    """What every event of a purchase may tell about it. None: not reported, which is not 0.

    `original_amount` is in `original_currency`; `amount_usd` includes `fee_usd`. Only a decline has a reason.
    """

    partner_ref: str | None = None
    status: str | None = None
    is_pending: bool | None = None
    delivery_status: str | None = None
    merchant: str | None = None
    mcc_code: str | None = None
    mcc_category: str | None = None
    merchant_country: str | None = None
    original_amount: Exact | None = None
    original_currency: str | None = None
    bill_currency: str | None = None
    exchange_rate: Exact | None = None
    fee_breakdown: EventFees | None = None
    decline_reason: DeclineReason | None = None


class Authorization(Purchase):
    """The charge: its figures stand, and no later leg overwrites them [Purchase rules 2]."""

    card_id: str
    transaction_id: str
    event: Annotated[str, Known(("authorized",))]
    amount_usd: Exact
    fee_usd: Exact
    occurred_at: Utc


class LaterLeg(Purchase):
    """A settlement, refund or reversal; `event` tells which. Its `fee_usd` is normally 0."""

    card_id: str
    transaction_id: str
    event: Annotated[str, Known(LATER_LEGS)]
    amount_usd: Exact
    fee_usd: Exact
    occurred_at: Utc


class Decline(Purchase):
    """A purchase that did not take place; nothing of it is sure to be reported, `amount_usd` is not 0."""

    card_id: str | None = None
    transaction_id: str | None = None
    event: Annotated[str | None, Known(("declined",))] = None
    amount_usd: Exact | None = None
    fee_usd: Exact | None = None
    occurred_at: Utc | None = None


class CardHint(Answer):
    """Which card, where that is reported. The payload is not shown: read the card for what is true."""

    card_id: GuessedText = None
    partner_ref: GuessedText = None


class StatusChange(CardHint):
    """A freeze or unfreeze of ours; without a card every card with an open freeze is to be read."""

    reason: Annotated[str, Known(FREEZE_REASONS)]


class Challenge(CardHint):
    """Whose purchase waits for a one-time code, and where, as far as that is reported."""

    merchant: GuessedText = None
    amount_usd: GuessedExact = None
    expires_at: GuessedUtc = None


class FloatCredit(Answer):
    """A funding submission that became credited; read it for the rest. None is sent for a reversal."""

    funding_id: str
    fee_usd: Exact
    credited_usd: Exact


class Envelope(Answer):
    """What every event has. `id` is the same on every delivery and in the log: deduplicate on it."""

    id: str
    type: str
    created_at: Utc


class CardAuthorized(Envelope):
    """card.authorized: money was taken from the card, the exact fee included."""

    data: Authorization


class CardTransaction(Envelope):
    """card.transaction: a later leg of a purchase; it may arrive before the authorization."""

    data: LaterLeg


class CardDeclined(Envelope):
    """card.declined: never pairs with an authorization."""

    data: Decline


class CardUnloaded(Envelope):
    """card.unloaded: an unload was committed. A hint; the truth is its answer and the balance."""

    data: CardHint


class CardStatusChanged(Envelope):
    """card.status_changed: sent for freeze and unfreeze only, never for a block or a close."""

    data: StatusChange


class ThreeDsChallenge(Envelope):
    """card.3ds_challenge: somebody waits at a shop for `code`; None when it could not be found.

    The code is in this field alone: neither `raw` nor `data` nor anything printed has it.
    """

    data: Challenge
    code: Secret | None = None


class FloatCredited(Envelope):
    """float.credited: directly or after a review, possibly with less than was sent."""

    data: FloatCredit


class UnknownEvent(Envelope):
    """An event of a type this client does not know, or (`fault` says where) not of the documented form."""

    data: Mapping[str, Any] = Field(repr=False)
    fault: str | None = None


KnownEvent = (
    CardAuthorized
    | CardTransaction
    | CardDeclined
    | CardUnloaded
    | CardStatusChanged
    | ThreeDsChallenge
    | FloatCredited
)
TypedEvent = KnownEvent | UnknownEvent
