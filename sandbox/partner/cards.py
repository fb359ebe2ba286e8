"""Cards: order, list, read, freeze (Cards)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from sandbox.partner import codec, money, names
from sandbox.partner.accounts import Account, accounts
from sandbox.partner.calls import Call, Keyed, idempotency, processor
from sandbox.partner.events import event_log
from sandbox.partner.http import Answer, Refusal, bad_request, conflict, not_found
from sandbox.partner.ledger import ledger, monthly_fees
from sandbox.partner.schemas import read_body, request_schemas, scrambled
from sandbox.partner.state import CARD_BLOCK, World, stamp_now

FIRST_SYNC = timedelta(seconds=2)  # until the processor reports status and last four digits (U11)


@dataclass(frozen=True)
class Card:
    """A card as stored; `shown` is what the API tells of it."""

    id: str
    account: str
    partner_ref: str | None
    card_holder_name: str
    last4: str
    status: str
    created_at: str
    synced_at: str
    closed_at: str | None
    balance_usd: Decimal
    balance_readable: bool
    cached_usd: Decimal | None
    cached_at: str | None
    daily_limit_usd: Decimal | None
    weekly_limit_usd: Decimal | None
    monthly_limit_usd: Decimal | None
    threeds: str
    details_available: bool
    expiry_known: bool
    unreadable_rows: int

    @property
    def closed(self) -> bool:
        return self.status == "DELETED"


def of_row(row: Any) -> Card:
    """A card as its row holds it."""
    values = {name: row[name] for name in Card.__dataclass_fields__}
    values["balance_usd"] = Decimal(values["balance_usd"])
    for name in ("balance_readable", "details_available", "expiry_known"):
        values[name] = bool(values[name])
    for name in ("cached_usd", "daily_limit_usd", "weekly_limit_usd", "monthly_limit_usd"):
        values[name] = None if values[name] is None else Decimal(values[name])
    return Card(**values)


def find(world: World, card_id: str, account_id: str | None = None) -> Card | None:
    """A card by its exact id, of one account or of any."""
    row = world.store.one("SELECT * FROM cards WHERE id = ?", card_id)
    return of_row(row) if row and account_id in (None, row["account"]) else None


def all_cards(world: World) -> list[Card]:
    return [of_row(row) for row in world.store.all("SELECT * FROM cards ORDER BY seq")]


def of_call(call: Call) -> Card:
    """The card in the path; 404 for an unknown one and for another partner's alike."""
    card = find(call.world, call.path["cardId"], call.account_id)
    if card is None:
        raise not_found("The card")
    return card


def shown(world: World, card: Card) -> dict[str, Any]:
    """The Card object; status and last4 are null until the first sync.

    The list of statuses is open: the `scrambled` profile has another word for INACTIVE.
    """
    synced = card.synced_at <= stamp_now(world)
    status = card.status
    if status == "INACTIVE" and accounts.account(world, card.account).settings.profile == "scrambled":
        status = scrambled(status).upper()
    return {
        "id": card.id,
        "partner_ref": card.partner_ref,
        "card_holder_name": card.card_holder_name,
        "last4": card.last4 if synced else None,
        "status": status if synced else None,
        "created_at": card.created_at,
    }


async def order(call: Call) -> Answer:
    """POST /cards: claim the key, ask the processor, then create card, first fee and claim row at once."""
    key = idempotency.key_of(call.request)
    try:
        wanted = _wanted(call)
    except Refusal:
        spends = call.account.settings.create_400_key == "spent"
        if key and spends and not idempotency.find(call, "create", key):
            idempotency.claim(call, "create", key, state="spent")
        raise
    earlier = idempotency.find(call, "create", key)
    if earlier:
        return _repeated(call, earlier)
    _check_allowance(call.account)
    if call.account.settings.order_without_float == "refuse":
        fee_usd = call.account.settings.monthly_fee_usd
        if ledger.available_usd(call.world, call.account) < fee_usd:
            raise bad_request("The float does not cover the first monthly fee.")
    claimed = idempotency.claim(call, "create", key)
    await call.crash_point()
    claimed = idempotency.after_waiting(call.world, claimed)
    reply = processor.ask(call)
    try:
        if reply.verdict != "ok":
            raise processor.error_of(reply, issues=True)
        _check_allowance(call.account)  # another order may have taken the last one meanwhile
    except Refusal:
        idempotency.release(call.world, claimed)
        raise
    with call.world.store.transaction():
        card = issue(call.world, call.account_id, wanted["name"], wanted["partner_ref"], claimed)
        answer = {"card": shown(call.world, card)}
        idempotency.settle(call.world, claimed, "done", answer)
    return Answer.of(answer, 201)


def _wanted(call: Call) -> dict[str, Any]:
    body = read_body(request_schemas.ORDER_BODY, call.request.body)
    name = names.stored_name(body["card_holder_name"])
    names.check_email(body["email"])
    names.check_phone(body["phone_country_code"], body["phone"], call.account.settings.countries_refused)
    return {"name": name, "partner_ref": body.get("partner_ref") or None}


def _repeated(call: Call, earlier: Keyed) -> Answer:
    if earlier.state != "done" or earlier.answer is None:
        raise conflict(idempotency.IN_FLIGHT if earlier.state == "in_flight" else idempotency.OTHER_USE)
    card = find(call.world, earlier.answer["card"]["id"])
    if call.account.settings.create_replay == "current" and card:
        return Answer.of({"card": shown(call.world, card)}, 201)
    return Answer.of(earlier.answer, 201)


def _check_allowance(owner: Account) -> None:
    limit = owner.settings.cards_limit
    if limit is not None and owner.cards_ordered >= limit:
        raise Refusal(409, "QUOTA", "The lifetime card allowance is used up.")


def issue(
    world: World,
    account_id: str,
    name: str,
    partner_ref: str | None,
    claimed: Keyed | None = None,
) -> Card:
    """A new ACTIVE card with a zero balance, its first monthly fee and its claim row, in one transaction."""
    now = world.clock.now()
    owner = accounts.account(world, account_id)
    delay = FIRST_SYNC if owner.settings.first_sync == "delayed" else timedelta(0)
    with world.store.transaction():
        card_id = world.ids.card()
        world.store.insert(
            "cards",
            id=card_id,
            account=account_id,
            partner_ref=partner_ref,
            card_holder_name=name,
            last4=world.ids.last4(),
            status="ACTIVE",
            created_at=codec.stamp(now),
            synced_at=codec.stamp(now + delay),
            closed_at=None,
            balance_usd="0",
            balance_readable=1,
            threeds=owner.settings.threeds_default,
        )
        world.store.update("accounts", "id", account_id, cards_ordered=owner.cards_ordered + 1)
        count_open(world, account_id, card_id, 1)
        if owner.settings.order_claim_row == "yes" and claimed:
            ledger.post(
                world, account_id, money.ZERO, "adjustment", f"card-order:{claimed.key}", description=card_id
            )
        monthly_fees.charge_month(world, owner, card_id, now)
    return of_row(world.store.one("SELECT * FROM cards WHERE id = ?", card_id))


async def list_cards(call: Call) -> Answer:
    """GET /cards: newest first without closed cards; limit clamped, never refused."""
    limit = max(1, min(100, _truncated(call.query.get("limit"), 50)))
    offset = max(0, min(_truncated(call.query.get("offset"), 0), 2**62))
    cards = open_page(call.world, call.account_id, limit, offset)
    return Answer.of({"cards": [shown(call.world, card) for card in cards], "count": len(cards)})


def open_page(world: World, account_id: str, limit: int, offset: int) -> list[Card]:
    """Open cards, newest first. Whole blocks are skipped by their counts, so depth costs next to nothing."""
    blocks = world.store.all(
        "SELECT block, open FROM card_blocks WHERE account = ? ORDER BY block DESC", account_id
    )
    below = 2**62
    for block in blocks:
        if offset < block["open"]:
            break
        offset -= block["open"]
        below = block["block"] * CARD_BLOCK
    rows = world.store.all(
        "SELECT * FROM cards WHERE account = ? AND status != 'DELETED' AND seq < ? ORDER BY seq DESC LIMIT ? OFFSET ?",
        account_id,
        below,
        limit,
        offset,
    )
    return [of_row(row) for row in rows]


def count_open(world: World, account_id: str, card_id: str, by: int) -> None:
    """One open card more or less, in the caller's transaction."""
    world.store.run("UPDATE accounts SET open_cards = open_cards + ? WHERE id = ?", by, account_id)
    world.store.run(
        "INSERT INTO card_blocks SELECT account, seq / ?, ? FROM cards WHERE id = ?"
        " ON CONFLICT (account, block) DO UPDATE SET open = open + excluded.open",
        CARD_BLOCK,
        by,
        card_id,
    )


def _truncated(text: str | None, default: int) -> int:
    """A number as a lenient parser reads it: fractions truncated, anything not finite is the default."""
    try:
        value = float(text) if text and text.isascii() and "_" not in text else math.nan
    except ValueError:
        value = math.nan
    return int(value) if math.isfinite(value) else default


async def read_card(call: Call) -> Answer:
    """GET /cards/{cardId}: a failed balance read is a null beside the card, a failed look-up a 502."""
    card = of_call(call)
    processor.must_agree(call)
    balance_usd = card.balance_usd if card.balance_readable else None
    return Answer.of({"card": shown(call.world, card), "balance_usd": balance_usd})


async def freeze(call: Call) -> Answer:
    """POST /cards/{cardId}/freeze: the card is looked up before the body; the key is checked, not used."""
    card = of_call(call)
    idempotency.key_of(call.request)
    frozen = read_body(request_schemas.FREEZE_BODY, call.request.body)["frozen"]
    if card.closed:
        raise bad_request("The card is closed.")
    if card.status not in {"ACTIVE", "FROZEN"}:
        raise bad_request(f"A card that is {card.status} cannot be frozen or unfrozen.")
    processor.must_agree(call)
    with call.world.store.transaction():
        _set_frozen(call, of_call(call), frozen)
    return Answer.of({"card_id": card.id, "frozen": frozen})


def _set_frozen(call: Call, card: Card, frozen: bool) -> None:
    status = "FROZEN" if frozen else "ACTIVE"
    repeated = card.status == status
    call.world.store.update("cards", "id", card.id, status=status)
    if repeated and call.account.settings.repeat_freeze_event == "no":
        return
    reason = "partner_freeze" if frozen else "partner_unfreeze"
    payload = {
        "reason": reason,
        "card_id": card.id,
        "partner_ref": card.partner_ref,
        "status": status,
        "occurred_at": stamp_now(call.world),
    }
    event_log.emit(call.world, call.account_id, "card.status_changed", payload)


def change_balance(world: World, card: Card, by_usd: Decimal) -> None:
    """Move the processor's balance, in the caller's transaction; the cached reading is brought up first."""
    refresh_cached(world, card)
    row = world.store.one("SELECT balance_usd FROM cards WHERE id = ?", card.id)
    current_usd = Decimal(row["balance_usd"]) if row else card.balance_usd
    world.store.update("cards", "id", card.id, balance_usd=money.text(money.add(current_usd, by_usd)))


def refresh_cached(world: World, card: Card) -> Card:
    """The background reading as of the last refresh before now.

    Refreshes happen at whole multiples of the interval; instead of running each, the last one is
    worked out whenever a balance is about to change or is read, which gives the same figures.
    """
    seconds = accounts.account(world, card.account).settings.background_refresh_seconds
    now = world.clock.now().timestamp()
    last = codec.stamp(datetime.fromtimestamp(now // seconds * seconds, world.clock.now().tzinfo))
    if not card.balance_readable or last < card.created_at or (card.cached_at and last <= card.cached_at):
        return card
    world.store.update("cards", "id", card.id, cached_usd=money.text(card.balance_usd), cached_at=last)
    return of_row(world.store.one("SELECT * FROM cards WHERE id = ?", card.id))
