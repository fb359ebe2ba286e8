"""What the events of a purchase carry (Events, Purchase rules)."""

from __future__ import annotations

from typing import Any

from sandbox.partner import money
from sandbox.partner.accounts import account
from sandbox.partner.events import event_log
from sandbox.partner.purchases import declines, pricing
from sandbox.partner.purchases.purchase import Purchase, PurchaseLeg
from sandbox.partner.schemas import event_payloads
from sandbox.partner.state import World, stamp_now

_CATEGORIES = {
    "5411": "Grocery stores",
    "5734": "Computer software",
    "5812": "Restaurants",
    "5814": "Fast food",
    "6011": "Cash withdrawal",
    "7995": "Betting",
}
_COUNTRIES = {"EUR": "DE", "GBP": "GB", "CHF": "CH", "PLN": "PL", "JPY": "JP"}


def tell_authorization(world: World, purchase: Purchase) -> None:
    """card.authorized, with the exact fee; in `scrambled` an event of an unknown type before it."""
    if account(world, purchase.account).settings.profile == "scrambled":
        event_log.emit(
            world,
            purchase.account,
            event_payloads.NEW_EVENT,
            {"card_id": purchase.card_id, "wallet": "other"},
        )
    data = {
        **_common(world, purchase),
        "event": "authorized",
        "status": "pending",
        "is_pending": True,
        "amount_usd": purchase.amount_usd,
        "original_amount": purchase.original_amount,
        "exchange_rate": pricing.exchange_rate(purchase.amount_usd, purchase.original_amount),
        "fee_usd": purchase.fee_usd,
        "fee_breakdown": {"fx_usd": purchase.fx_fee_usd, "atm_usd": purchase.atm_fee_usd},
        "decline_reason": None,
    }
    event_log.emit(world, purchase.account, "card.authorized", data)


def tell_decline(world: World, purchase: Purchase) -> None:
    """card.declined: status settled, every fee zero (R239)."""
    profile = account(world, purchase.account).settings.profile
    data = {
        **_common(world, purchase),
        "event": "declined",
        "status": "settled",
        "is_pending": False,
        "amount_usd": purchase.amount_usd,
        "original_amount": purchase.original_amount,
        "exchange_rate": pricing.exchange_rate(purchase.amount_usd, purchase.original_amount),
        "fee_usd": money.ZERO,
        "fee_breakdown": {"fx_usd": money.ZERO, "atm_usd": money.ZERO},
        "decline_reason": declines.reason(purchase.decline_code or "unknown", purchase.card_blocked, profile),
    }
    event_log.emit(world, purchase.account, "card.declined", data)


def tell_leg(world: World, purchase: Purchase, leg: PurchaseLeg) -> None:
    """card.transaction. A refund's amount is negative, in `scrambled` a reversal's: signs mean nothing."""
    scrambled = account(world, purchase.account).settings.profile == "scrambled"
    negative = leg.event == ("reversal" if scrambled else "refund")
    data = {
        **_common(world, purchase),
        "event": leg.event,
        "status": "settled",
        "is_pending": False,
        "amount_usd": -leg.amount_usd if negative else leg.amount_usd,
        "original_amount": leg.original_amount,
        "exchange_rate": pricing.exchange_rate(leg.total_usd, leg.original_amount),
        "fee_usd": leg.own_fee_usd,
        "fee_breakdown": {"fx_usd": leg.own_fee_usd, "atm_usd": money.ZERO},
        "decline_reason": None,
    }
    event_log.emit(world, purchase.account, "card.transaction", data)


def _common(world: World, purchase: Purchase) -> dict[str, Any]:
    return {
        "card_id": purchase.card_id,
        "partner_ref": purchase.partner_ref,
        "transaction_id": purchase.transaction_id,
        "delivery_status": "delivered",
        "merchant": purchase.merchant,
        "mcc_code": purchase.mcc_code,
        "mcc_category": _CATEGORIES.get(purchase.mcc_code, "Other"),
        "merchant_country": _COUNTRIES.get(purchase.original_currency, "US"),
        "original_currency": purchase.original_currency,
        "bill_currency": "USD",
        "occurred_at": stamp_now(world),
    }
