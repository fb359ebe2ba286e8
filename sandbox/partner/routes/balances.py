"""POST /cards/balances: cached readings of many cards, or live ones of a few (Cards)."""

from __future__ import annotations

from typing import Any

from sandbox.partner import money
from sandbox.partner.calls import Call, Operation, processor
from sandbox.partner.cards import Card, cards
from sandbox.partner.http import Answer, bad_request
from sandbox.partner.schemas import read_body, request_schemas, response_schemas
from sandbox.partner.state import stamp_now

_REFRESH_MOST = 25
_FLEET_DEFAULT = 500


async def read_balances(call: Call) -> Answer:
    """Rows in the order asked for, or the fleet without closed cards, newest first, in pages."""
    body = read_body(request_schemas.BALANCES_BODY, call.request.body)
    asked: list[str] | None = body.get("card_ids")
    refresh: bool = body.get("refresh", False)
    if asked is None:
        if refresh:
            raise bad_request("refresh needs card_ids.")
        return _fleet(call, body.get("limit", _FLEET_DEFAULT), body.get("page", 1))
    if len(set(asked)) != len(asked):
        raise bad_request("card_ids holds an id twice.")
    if refresh and len(asked) > _REFRESH_MOST:
        raise bad_request(f"refresh takes at most {_REFRESH_MOST} cards.")
    rows = [_row_of(call, card_id, refresh) for card_id in asked]
    return Answer.of({"balances": rows, "count": len(rows)})


def _fleet(call: Call, limit: int, page: int) -> Answer:
    total = call.account.open_cards
    found = cards.open_page(call.world, call.account_id, limit, min(limit * (page - 1), total))
    with call.world.store.transaction():
        rows = [_cached(call, card) for card in found]
    total_pages = max(1, -(-total // limit))
    shown = {"count": len(rows), "page": page, "total": total, "total_pages": total_pages}
    return Answer.of({"balances": rows, **shown})


def _row_of(call: Call, card_id: str, refresh: bool) -> dict[str, Any]:
    card = cards.find(call.world, card_id, call.account_id)
    if card is None:
        return _row(card_id, None, None, error="NOT_FOUND")
    if refresh:
        return _live(call, card)
    return _cached(call, card)


def _cached(call: Call, card: Card) -> dict[str, Any]:
    card = cards.refresh_cached(call.world, card)
    return _row(card.id, card.cached_usd, card.cached_at)


def _live(call: Call, card: Card) -> dict[str, Any]:
    """A failed refresh is a null balance with the moment of the last good reading (U43)."""
    if processor.ask(call).verdict != "ok" or not card.balance_readable:
        return _row(card.id, None, card.cached_at, error="UNAVAILABLE")
    now = stamp_now(call.world)
    call.world.store.update("cards", "id", card.id, cached_usd=money.text(card.balance_usd), cached_at=now)
    return _row(card.id, card.balance_usd, now)


def _row(card_id: str, balance_usd: Any, as_of: str | None, error: str | None = None) -> dict[str, Any]:
    read = error is None and balance_usd is not None
    return {"card_id": card_id, "balance_usd": balance_usd, "as_of": as_of, "ok": read, "error": error}


OPERATIONS = (
    Operation(
        "POST",
        "/cards/balances",
        "cards:read",
        read_balances,
        response_schemas.BALANCES,
        body=request_schemas.BALANCES_BODY,
        processor=True,
        codes={400: ("BAD_REQUEST",)},
    ),
)
