"""POST and GET /deposits: an end user pays in crypto and a card is credited (Optional deposits route).

The document shows neither the body of POST /deposits nor the envelope of GET /deposits (N4, N5). Here
`amount_usd` is what the user pays; fees come off it.
"""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Any

from sandbox.partner import codec, money
from sandbox.partner.calls import CARD_ERRORS, PAGED, Call, Operation, paging
from sandbox.partner.cards import cards
from sandbox.partner.funding import deposits
from sandbox.partner.http import Answer, bad_request, not_found
from sandbox.partner.ledger import DEPOSIT_PCT
from sandbox.partner.schemas import read_body, request_schemas, response_schemas
from sandbox.partner.state import stamp_now, timers

_VALID_FOR = timedelta(hours=24)
# Chain -> the token standard its assets are named after. Solana has no address per card.
_STANDARDS = {"TRON": "TRC20", "ETHEREUM": "ERC20", "POLYGON": "ERC20", "SOLANA": "SPL"}
_TOKENS = ("USDC", "USDT")
_SHARED_ADDRESS = ("SOLANA",)


async def quote(call: Call) -> Answer:
    """POST /deposits: a quote at today's markup; it has no status."""
    body = read_body(request_schemas.DEPOSIT_BODY, call.request.body)
    if not call.account.settings.deposits_enabled:
        raise bad_request("Deposits are not enabled for this account.")
    asset, chain = _asset(body["asset"], body["chain"])
    card = cards.find(call.world, body["card_id"], call.account_id)
    if card is None:
        raise not_found("The card")
    if card.closed:
        raise bad_request("The card is closed.")
    row = _record(call, card.id, asset, chain, body["amount_usd"])
    svc_usd, partner_usd = Decimal(row["svc_fee_usd"]), Decimal(row["partner_fee_usd"])
    shown = {name: row[name] for name in ("card_id", "asset", "chain", "deposit_address", "send_amount")}
    return Answer.of(
        {
            "deposit_id": row["id"],
            **shown,
            "rate_usd": Decimal(row["rate_usd"]),
            "fee_usd": money.add(svc_usd, partner_usd),
            "svc_fee_usd": svc_usd,
            "partner_fee_usd": partner_usd,
            "card_credit_usd": Decimal(row["credit_usd"]),
            "exact_amount_required": chain in _SHARED_ADDRESS,
            "expires_at": row["expires_at"],
        }
    )


def _asset(asset: str, chain: str) -> tuple[str, str]:
    chain = chain.upper()
    standard = _STANDARDS.get(chain)
    token = asset.upper().partition("-")[0]
    if standard is None or token not in _TOKENS or asset.upper() not in (token, f"{token}-{standard}"):
        raise bad_request(f"asset must be USDC or USDT, chain one of {', '.join(_STANDARDS)}.")
    return f"{token}-{standard}", chain


def _record(call: Call, card_id: str, asset: str, chain: str, amount_usd: Decimal) -> Any:
    world, owner = call.world, call.account
    svc_usd = money.share(amount_usd, DEPOSIT_PCT)
    partner_usd = money.share(amount_usd, owner.markup_pct)
    deposit_id = world.ids.uuid("deposit")
    shared = chain in _SHARED_ADDRESS
    expires_at = world.clock.now() + _VALID_FOR
    # Where all cards share an address, the digits after the cents say whose payment it is.
    mark = int(deposit_id[:4], 16) % 9999 + 1 if shared else 0
    world.store.insert(
        "deposits",
        id=deposit_id,
        account=owner.id,
        card_id=card_id,
        asset=asset,
        chain=chain,
        deposit_address=world.ids.deposit_address(chain, "" if shared else card_id),
        send_amount=f"{amount_usd:.2f}{mark:04d}" if shared else f"{amount_usd:.2f}",
        rate_usd="1",
        svc_fee_usd=money.text(svc_usd),
        partner_fee_usd=money.text(partner_usd),
        credit_usd=money.text(money.add(amount_usd, -svc_usd, -partner_usd)),
        status="pending",
        tx_hash=None,
        expires_at=codec.stamp(expires_at),
        credited_at=None,
        created_at=stamp_now(world),
    )
    timers.set_timer(world, expires_at, deposits.EXPIRY_TIMER, deposit_id)
    return deposits.find(world, deposit_id)


async def list_deposits(call: Call) -> Answer:
    """GET /deposits: newest first."""
    page = paging.digits(call.query, default=50, most=100)
    total = call.world.store.number("SELECT count(*) FROM deposits WHERE account = ?", call.account_id)
    rows = call.world.store.all(
        "SELECT * FROM deposits WHERE account = ? ORDER BY seq DESC LIMIT ? OFFSET ?",
        call.account_id,
        page.limit,
        page.skipped,
    )
    found = paging.envelope(page, len(rows), total, call.account.settings)
    return Answer.of({"deposits": [deposits.shown(row) for row in rows], **found})


OPERATIONS = (
    Operation(
        "POST",
        "/deposits",
        "deposits:write",
        quote,
        response_schemas.QUOTE,
        body=request_schemas.DEPOSIT_BODY,
        scope_source="invented",
        codes=CARD_ERRORS,
    ),
    Operation(
        "GET",
        "/deposits",
        "deposits:read",
        list_deposits,
        response_schemas.DEPOSIT_LIST,
        query=PAGED,
        scope_source="invented",
        codes={400: ("BAD_REQUEST",)},
    ),
)
