"""Each endpoint once: how it is called, and a full answer as the document writes it."""

import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from decimal import Decimal
from typing import Any

from bot.partner.calls import account as account_calls
from bot.partner.calls import cards as card_calls
from bot.partner.calls import deposits as deposit_calls
from bot.partner.calls import events as event_calls
from bot.partner.calls import history as history_calls
from bot.partner.client import PartnerClient
from bot.partner.endpoints import Endpoint

AT = "2026-03-02T09:00:00.000Z"
FUNDING_ID = "8bb73fed-e2a0-4e5b-ae83-4e97c0727f82"
EVENT_ID = "0c1d2e3f-1111-4222-8333-444455556666"
HASH = "0x" + "aB" * 32
SECRET = "whsec_" + "Zy-_" * 8
DETAILS_URL = "https://frame.example.com/details?token=c0ffee"
TOKEN_URL = "https://api.example.com/pan-exchange/c0ffee"

BODIES: dict[Endpoint, bytes] = {
    account_calls.SET_FEES: b'{"markup_pct":0.01234}',
    account_calls.SUBMIT_FUNDING: b'{"tx_hash":"%s","network":"BSC"}' % HASH.encode(),
    card_calls.ORDER_CARD: (
        b'{"card_holder_name":"Alice Moreau","phone_country_code":33,"phone":"6123","email":"al@example.org"}'
    ),
    card_calls.TOP_UP: b'{"amount_usd":1}',
    card_calls.UNLOAD: b'{"amount_usd":1.00}',
    card_calls.SET_LIMITS: b'{"daily_limit":100.50}',
    card_calls.FREEZE: b'{"frozen":true}',
    card_calls.SET_PHONE: b'{"phone_country_code":33,"phone":"6123"}',
    card_calls.SET_3DS: b'{"method":"webhook"}',
    event_calls.SET_WEBHOOK: b'{"url":"https://hooks.example.com/in","rotate":true}',
    deposit_calls.QUOTE_DEPOSIT: b'{"card_id":"Ab1","anything":[1,{"deep":0.10}]}',
}
QUERIES = {
    account_calls.LEDGER: {"page": "1", "limit": "50"},
    card_calls.CARDS: {"limit": "100", "offset": "0"},
    history_calls.TRANSACTIONS: {"limit": "25", "page": "1"},
    event_calls.EVENTS: {"limit": "100", "page": "1"},
}
KEYED = (card_calls.ORDER_CARD, card_calls.TOP_UP, card_calls.UNLOAD, card_calls.CLOSE)
"""The calls that carry an idempotency key: those that move money or create a card."""


async def _first(rows: AsyncIterator[Any]) -> Any:
    return await anext(rows, None)


def call(client: PartnerClient, operation: Endpoint, card_id: str = "Ab1") -> Awaitable[Any]:
    """The endpoint called as the bot would call it."""
    body = BODIES.get(operation, b"")
    calls: dict[Endpoint, Callable[[], Awaitable[Any]]] = {
        account_calls.ME: client.me,
        account_calls.FEES: client.fees,
        account_calls.SET_FEES: lambda: client.set_fees(body),
        account_calls.FUNDING_ADDRESSES: client.funding_addresses,
        account_calls.SUBMIT_FUNDING: lambda: client.submit_funding(body),
        account_calls.FUNDING: lambda: client.funding(FUNDING_ID),
        account_calls.FUNDING_LIST: client.funding_list,
        account_calls.LEDGER: client.ledger,
        card_calls.ORDER_CARD: lambda: client.order_card(body, key="o9"),
        card_calls.CARDS: lambda: _first(client.cards()),
        card_calls.CARD: lambda: client.card(card_id),
        card_calls.BALANCES: lambda: client.balances([card_id]),
        card_calls.TOP_UP: lambda: client.top_up(card_id, body, key="k9"),
        card_calls.UNLOAD: lambda: client.unload(card_id, body, key="u9"),
        card_calls.LIMITS: lambda: client.limits(card_id),
        card_calls.SET_LIMITS: lambda: client.set_limits(card_id, body),
        card_calls.FREEZE: lambda: client.freeze(card_id, body),
        card_calls.SET_PHONE: lambda: client.set_phone(card_id, body),
        card_calls.CLOSE: lambda: client.close(card_id, key="c9"),
        card_calls.SET_3DS: lambda: client.set_3ds(card_id, body),
        history_calls.TRANSACTIONS: lambda: _first(client.transactions(card_id)),
        history_calls.DETAILS: lambda: client.details(card_id),
        history_calls.DETAILS_ONCE: lambda: client.mint_pan_token(card_id),
        event_calls.WEBHOOK: client.webhook,
        event_calls.SET_WEBHOOK: lambda: client.set_webhook(body),
        event_calls.EVENTS: lambda: _first(client.events()),
        event_calls.REDELIVER: lambda: client.redeliver(EVENT_ID),
        deposit_calls.QUOTE_DEPOSIT: lambda: client.quote_deposit(body),
        deposit_calls.DEPOSITS: client.deposits,
    }
    assert operation in calls, f"{operation}: put its call, its body and its answer here"
    return calls[operation]()


_EXAMPLE = {"svc_fee_usd": 2, "your_fee_usd": 1, "lands_on_card_usd": 97}
_SUMMARY = {"svc_pct": 0.02, "your_markup_pct": 0.01, "total_pct": 0.03, "example_on_100_usd": _EXAMPLE}
_SCHEDULE = {
    **_SUMMARY,
    "load_from_float_pct": 0.02,
    "load_from_user_deposit_pct": 0.025,
    "transaction": {
        "usd_purchase_pct": 0.01, "fx_purchase_pct": 0.02, "high_risk_surcharge_pct": 0.03, "atm_pct": 0.04,
        "visa_direct_pct": 0.05, "monthly_per_card_usd": 1.5, "your_markup_pct": 0.005,
    },
}  # fmt: skip
_SUBMISSION = {
    "id": FUNDING_ID, "network": "BNB", "tx_hash": HASH.lower(), "status": "pending", "reason": None,
    "token": None, "amount_usd": None, "fee_usd": None, "credited_usd": None, "created_at": AT,
    "credited_at": None,
}  # fmt: skip
_CARD = {
    "id": "Ab1", "partner_ref": None, "card_holder_name": "ALICE MOREAU", "last4": None, "status": None,
    "created_at": AT,
}  # fmt: skip
_LIMITS = {
    "card_id": "Ab1", "daily_limit": 100.5, "weekly_limit": None, "monthly_limit": None,
    "per_transaction_limit_usd": 5000,
}  # fmt: skip
_COUNTS = {"count": 1, "page": 1, "total": 1, "total_pages": 1}
ROW: dict[str, Any] = {
    "id": "row-1", "transaction_id": "tx-1", "partner_ref": None, "datetime": "2026-03-02T08:15:30.250",
    "status": "pending", "merchant": "Corner Shop", "amount_usd": 12.34, "original_amount": 11,
    "original_currency": "EUR", "fee_basis_usd": 12, "exchange_rate": 1.1218, "provider_fee_usd": 0.34,
    "client_fee_usd": 0.06, "fee_usd": 0.4,
    "fee_breakdown": {"fx_usd": 0.4, "atm_usd": 0, "deposit_usd": 0}, "decline_reason": None,
}  # fmt: skip
_ROUTE = {"card_id": "Ab1", "asset": "USDT-TRC20", "chain": "TRON", "deposit_address": "Tabc", "rate_usd": 1}
DEPOSIT = {
    **_ROUTE, "id": FUNDING_ID, "amount_expected": "103.100", "fee_usd": 3.1, "credit_usd": 100,
    "status": "pending", "tx_hash": None, "expires_at": AT, "credited_at": None, "created_at": AT,
}  # fmt: skip
QUOTE = {
    **_ROUTE, "deposit_id": FUNDING_ID, "send_amount": "103.100", "fee_usd": 3.1, "svc_fee_usd": 2,
    "partner_fee_usd": 1.1, "card_credit_usd": 100, "exact_amount_required": True, "expires_at": AT,
}  # fmt: skip

ANSWERS: dict[Endpoint, Any] = {
    account_calls.ME: {
        "partner": {"id": "p", "name": None, "contact_email": None, "created_at": None},
        "key": {"name": None, "prefix": "svc_live_00000000", "scopes": ["users:read"], "mode": "live",
                "rate_limit_per_minute": 120},
        "cards": {"total": 1, "active": 1, "limit": None},
        "float": {"funded_usd": 1, "spent_usd": 1, "balance_usd": 0, "limit_usd": None, "available_usd": 0},
        "fees": _SUMMARY,
        "earnings": {"accrued_usd": 0, "paid_out_usd": 0, "owed_usd": 0, "last_payout_at": None},
    },
    account_calls.FEES: _SCHEDULE,
    account_calls.SET_FEES: _SCHEDULE,
    account_calls.FUNDING_ADDRESSES: {
        "addresses": [{"network": "POLYGON", "address": "0xAb", "tokens": ["USDC", "USDT"]}]
    },
    account_calls.SUBMIT_FUNDING: _SUBMISSION,
    account_calls.FUNDING: _SUBMISSION,
    account_calls.FUNDING_LIST: {"funding": [_SUBMISSION]},
    account_calls.LEDGER: {
        "entries": [{"amount_usd": -1, "kind": "card_topup", "reference": "topup:k", "card_id": "Ab1",
                     "description": None, "created_at": AT}],
        **_COUNTS,
    },
    card_calls.ORDER_CARD: {"card": _CARD},
    card_calls.CARDS: {"cards": [_CARD], "count": 1},
    card_calls.CARD: {"card": _CARD, "balance_usd": None},
    card_calls.BALANCES: {
        "balances": [{"card_id": "Ab1", "balance_usd": None, "as_of": None, "ok": False, "error": None}],
        "count": 1,
    },
    card_calls.TOP_UP: {"card_id": "Ab1", "amount_requested_usd": 1, "fee_usd": 0, "credited_usd": 1,
                      "partner_balance_usd": 9},
    card_calls.UNLOAD: {"card_id": "Ab1", "unloaded_usd": 1, "partner_balance_usd": 9},
    card_calls.LIMITS: _LIMITS,
    card_calls.SET_LIMITS: _LIMITS,
    card_calls.FREEZE: {"card_id": "Ab1", "frozen": True},
    card_calls.SET_PHONE: {"card_id": "Ab1", "updated": True},
    card_calls.CLOSE: {"card_id": "Ab1", "returned_usd": 1, "partner_balance_usd": 9},
    card_calls.SET_3DS: {"card_id": "Ab1", "three_ds_method": "webhook"},
    history_calls.TRANSACTIONS: {"card_id": "Ab1", "transactions": [ROW], **_COUNTS},
    history_calls.DETAILS: {"card_id": "Ab1", "details_url": DETAILS_URL, "expiration_month": 3,
                       "expiration_year": 2029},
    history_calls.DETAILS_ONCE: {"url": TOKEN_URL, "expires_in": 60, "single_use": True},
    event_calls.WEBHOOK: {"webhook": {"url": "https://hooks.example.com/in", "active": True, "updated_at": AT}},
    event_calls.SET_WEBHOOK: {"webhook": {"url": "https://hooks.example.com/in"}, "secret": SECRET, "note": "x"},
    event_calls.EVENTS: {
        "events": [{"id": EVENT_ID, "type": "card.unloaded", "payload": {}, "delivered": False,
                    "delivered_at": None, "attempts": 0, "created_at": AT}],
        **_COUNTS,
    },
    event_calls.REDELIVER: {"event_id": EVENT_ID, "type": "card.unloaded", "queued": True},
    deposit_calls.QUOTE_DEPOSIT: QUOTE,
    deposit_calls.DEPOSITS: {"deposits": [DEPOSIT]},
}  # fmt: skip


def exact(value: Any) -> Any:
    """The same answer with its numbers as the client reads them."""
    if isinstance(value, float):
        return Decimal(repr(value))
    if isinstance(value, dict):
        return {name: exact(item) for name, item in value.items()}
    return [exact(item) for item in value] if isinstance(value, list) else value


def logged(records: Sequence[logging.LogRecord]) -> str:
    """All that log records carry but for times and counters, whose digits may be anything."""
    counters = {"taskName", "threadName", "processName"}
    kept = [
        {
            name: item
            for name, item in vars(record).items()
            if name not in counters and type(item) not in (int, float)
        }
        for record in records
    ]
    return f"{kept} {[record.getMessage() for record in records]}"
