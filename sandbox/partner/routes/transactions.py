"""GET /cards/{cardId}/transactions: one row per purchase, newest first (Transaction row)."""

from __future__ import annotations

import re
from datetime import date
from typing import Any

from sandbox.partner import money
from sandbox.partner.accounts import Settings
from sandbox.partner.calls import CARD_ERRORS, PROCESSOR_ERRORS, Call, Operation, paging, processor
from sandbox.partner.cards import cards
from sandbox.partner.http import Answer, bad_request, unavailable
from sandbox.partner.purchases import Purchase, declines, pricing, purchases
from sandbox.partner.schemas import integer, response_schemas, string

_DATE = re.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}")
_PAGE_MOST = 25


async def read_transactions(call: Call) -> Answer:
    """The history of a card, closed ones included. A row that cannot be read is left out and counted."""
    card = cards.of_call(call)
    page = paging.digits(call.query, default=_PAGE_MOST, most=_PAGE_MOST)
    since, until = _day(call, "from_date"), _day(call, "to_date")
    if since and until and since > until:
        raise bad_request("from_date is later than to_date.")
    _search(call)
    # A stamp compares with a day as text: everything of the last day sorts below the day and a letter.
    where, values = "card_id = ? AND at >= ? AND at < ?", [card.id, since or "", f"{until or '9999-12-31'}z"]
    store = call.world.store
    total = store.number(f"SELECT count(*) FROM purchases WHERE {where}", *values)  # noqa: S608 - fixed terms
    sql = f"SELECT * FROM purchases WHERE {where} ORDER BY at DESC, seq DESC LIMIT ? OFFSET ?"  # noqa: S608 - fixed terms
    found = [purchases.of_row(row) for row in store.all(sql, *values, page.limit, page.skipped)]
    unreadable = _unreadable(call, card.id, card.unreadable_rows)
    settings = call.account.settings
    rows = [row(purchase, settings) for purchase in found if purchase.id not in unreadable]
    zero = settings.total_past_end == "zero"
    envelope = paging.envelope(page, len(rows), total, settings, zero=zero)
    return Answer.of({"card_id": card.id, "transactions": rows, **envelope})


def _day(call: Call, name: str) -> str | None:
    text = call.query.get(name)
    if text is None:
        return None
    try:
        if not _DATE.fullmatch(text):
            raise ValueError(text)
        date.fromisoformat(text)
    except ValueError as error:
        raise bad_request(f"{name} must be a date, YYYY-MM-DD.") from error
    return text


def _search(call: Call) -> None:
    """The processor's part: its 401 and its own refusals of a search keep their meaning, the rest is a 502."""
    reply = processor.ask(call)
    if reply.code == "timeout":
        raise unavailable(500, "The card processor did not answer in time.")
    if reply.code in {"400", "401", "412"}:
        raise processor.error_of(reply)
    if reply.verdict != "ok":
        raise unavailable(502, "The card processor is unreachable or failing.")


def _unreadable(call: Call, card_id: str, most: int) -> set[str]:
    """The newest rows of the card, as many as the tester made unreadable."""
    rows = call.world.store.all(
        "SELECT id FROM purchases WHERE card_id = ? ORDER BY at DESC, seq DESC LIMIT ?", card_id, most
    )
    return {found["id"] for found in rows}


def row(purchase: Purchase, settings: Settings) -> dict[str, Any]:
    """A Transaction row: the processor's fees to the cent, each part by itself; the markup unrounded."""
    fx_usd = money.cents(money.add(purchase.fx_fee_usd, purchase.own_fee_usd))
    atm_usd = money.cents(purchase.atm_fee_usd)
    provider_fee_usd = money.add(fx_usd, atm_usd)
    declined = purchase.status == "declined"
    basis_usd = money.ZERO if declined else max(money.ZERO, money.add(purchase.amount_usd, -provider_fee_usd))
    original_amount = purchase.original_amount
    if settings.row_original == "follows":
        original_amount = purchases.original_part(purchase, purchase.charge_usd)
    return {
        "id": purchase.id,
        "transaction_id": purchase.transaction_id,
        "partner_ref": purchase.partner_ref,
        "datetime": purchase.at.removesuffix("Z"),
        "status": purchase.status,
        "merchant": purchase.merchant,
        "amount_usd": money.cents(purchase.amount_usd),
        "original_amount": original_amount,
        "original_currency": purchase.original_currency,
        "fee_basis_usd": basis_usd,
        "exchange_rate": pricing.exchange_rate(purchase.amount_usd, original_amount),
        "provider_fee_usd": provider_fee_usd,
        "client_fee_usd": purchase.client_fee_usd,
        "fee_usd": money.add(provider_fee_usd, purchase.client_fee_usd),
        "fee_breakdown": {
            "fx_usd": money.add(fx_usd, purchase.client_fee_usd),
            "atm_usd": atm_usd,
            "deposit_usd": money.ZERO,
        },
        "decline_reason": declines.reason(
            purchase.decline_code or "unknown", purchase.card_blocked, settings.profile
        )
        if declined
        else None,
    }


OPERATIONS = (
    Operation(
        "GET",
        "/cards/{cardId}/transactions",
        "cards:read",
        read_transactions,
        response_schemas.TRANSACTIONS,
        query=(
            integer("limit", minimum=0, maximum=25, default=25, required=False),
            integer("page", minimum=0, default=1, required=False),
            string("from_date", format="date", required=False),
            string("to_date", format="date", required=False),
        ),
        processor=True,
        codes={**CARD_ERRORS, 500: ("UNAVAILABLE",), **PROCESSOR_ERRORS},
    ),
)
