"""What an event tells of a purchase: the leg that `bot.domain.events.purchases` counts, without anything personal."""

from __future__ import annotations

from bot.domain.events.purchases import DeclineFacts, Kind, Leg
from bot.partner.models.events import (
    Authorization,
    CardAuthorized,
    CardDeclined,
    CardTransaction,
    Decline,
    LaterLeg,
    TypedEvent,
)


def leg_of(event: TypedEvent) -> Leg | None:
    """The event as a leg of its purchase; None when it is of no purchase."""
    match event:
        case CardAuthorized(data=data) | CardTransaction(data=data):
            return _leg(event, data, data.transaction_id, data.event)
        # By its type: its status says settled, as that of a refund does [Event types].
        case CardDeclined(data=data) if data.transaction_id is not None:
            return _leg(event, data, data.transaction_id, Kind.DECLINED)
    return None


def _leg(event: TypedEvent, data: Authorization | LaterLeg | Decline, transaction_id: str, kind: str) -> Leg:
    return Leg(
        event_id=event.id,
        transaction_id=transaction_id,
        kind=kind,
        occurred_at=data.occurred_at or event.created_at,
        card_id=data.card_id,
        amount_usd=data.amount_usd,
        fee_usd=data.fee_usd,
        original_amount=data.original_amount,
        original_currency=data.original_currency,
        merchant=data.merchant,
        merchant_country=data.merchant_country,
        mcc_code=data.mcc_code,
        decline=_decline(data) if isinstance(data, Decline) else None,
    )


def _decline(data: Decline) -> DeclineFacts | None:
    why = data.decline_reason
    if why is None:
        return None
    return DeclineFacts(
        code=why.code or "unknown",
        message=why.message or "",
        retryable=why.retryable,
        card_blocked=why.card_blocked,
    )
