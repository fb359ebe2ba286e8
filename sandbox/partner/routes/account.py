"""GET /me, GET /fees, PUT /fees (Account)."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from sandbox.partner import money
from sandbox.partner.accounts import Account
from sandbox.partner.calls import Call, Operation
from sandbox.partner.http import Answer
from sandbox.partner.ledger import DEPOSIT_PCT, RATES, ledger
from sandbox.partner.schemas import read_body, request_schemas, response_schemas

_MARKUP_STEP = Decimal("0.00001")
_EXAMPLE_USD = Decimal(100)


async def read_me(call: Call) -> Answer:
    """GET /me."""
    owner, key = call.account, call.api_key
    fees = _schedule(owner)
    summary = ("svc_pct", "your_markup_pct", "total_pct", "example_on_100_usd")
    return Answer.of(
        {
            "partner": {
                "id": owner.id,
                "name": owner.name,
                "contact_email": owner.contact_email,
                "created_at": owner.created_at,
            },
            "key": {
                "name": key.name,
                "prefix": key.prefix,
                "scopes": list(key.scopes),
                "mode": "live",
                "rate_limit_per_minute": key.rate_limit_per_minute,
            },
            "cards": {
                "total": owner.cards_ordered,
                "active": owner.open_cards,
                "limit": owner.settings.cards_limit,
            },
            "float": ledger.float_of(call.world, owner),
            "fees": {name: fees[name] for name in summary},
            "earnings": {
                "accrued_usd": owner.accrued_usd,
                "paid_out_usd": owner.paid_out_usd,
                "owed_usd": money.add(owner.accrued_usd, -owner.paid_out_usd),
                "last_payout_at": owner.last_payout_at,
            },
        }
    )


async def read_fees(call: Call) -> Answer:
    """GET /fees."""
    return Answer.of(_schedule(call.account))


async def change_fees(call: Call) -> Answer:
    """PUT /fees: the deposit markup, stored and echoed at 5 decimals."""
    given: Decimal = read_body(request_schemas.MARKUP_BODY, call.request.body)["markup_pct"]
    markup_pct = given.quantize(_MARKUP_STEP, ROUND_HALF_UP, money.EXACT)
    call.world.store.update("accounts", "id", call.account_id, markup_pct=money.text(markup_pct))
    return Answer.of(_schedule(call.account))


def _schedule(owner: Account) -> dict[str, Any]:
    load_pct, markup_pct = owner.settings.load_pct, owner.markup_pct
    svc_fee_usd, your_fee_usd = money.share(_EXAMPLE_USD, load_pct), money.share(_EXAMPLE_USD, markup_pct)
    return {
        "svc_pct": load_pct,
        "load_from_float_pct": load_pct,
        "load_from_user_deposit_pct": DEPOSIT_PCT,
        "your_markup_pct": markup_pct,
        "total_pct": money.add(load_pct, markup_pct),
        "example_on_100_usd": {
            "svc_fee_usd": svc_fee_usd,
            "your_fee_usd": your_fee_usd,
            "lands_on_card_usd": money.add(_EXAMPLE_USD, -svc_fee_usd, -your_fee_usd),
        },
        "transaction": {
            **RATES,
            "monthly_per_card_usd": owner.settings.monthly_fee_usd,
            "your_markup_pct": owner.settings.transaction_markup_pct,
        },
    }


OPERATIONS = (
    Operation("GET", "/me", "users:read", read_me, response_schemas.ME),
    Operation("GET", "/fees", "users:read", read_fees, response_schemas.FEES),
    Operation(
        "PUT",
        "/fees",
        "users:write",
        change_fees,
        response_schemas.FEES,
        body=request_schemas.MARKUP_BODY,
        codes={400: ("BAD_REQUEST",)},
    ),
)
