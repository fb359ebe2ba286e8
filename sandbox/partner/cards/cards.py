"""Cards as the card provider keeps them: issued, found, shown, and their balances."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from sandbox.partner import codec, money
from sandbox.partner.accounts import accounts
from sandbox.partner.calls import Call, Keyed
from sandbox.partner.http import not_found
from sandbox.partner.ledger import ledger, monthly_fees
from sandbox.partner.schemas import scrambled
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
        """Whether the card was closed; closing is final (Card status)."""
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
    """Every card of every account, oldest first, closed ones included."""
    return [of_row(row) for row in world.store.all("SELECT * FROM cards ORDER BY seq")]


def of_call(call: Call) -> Card:
    """The card in the path; 404 for an unknown one and for another partner's alike."""
    card = find(call.world, call.path["cardId"], call.account_id)
    if card is None:
        raise not_found("The card")
    return card


def keep_reported(world: World, before: str) -> None:
    """The cards of which the processor had spoken at `before` stay so, though the clock was set back."""
    now = stamp_now(world)
    world.store.run("UPDATE cards SET synced_at = ? WHERE synced_at > ? AND synced_at <= ?", now, now, before)


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


SINGLE_PURCHASE_USD = Decimal(5000)  # Spending cap: program level, not settable per card
PERIODS = ("daily", "weekly", "monthly")
