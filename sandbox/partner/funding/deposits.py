"""Deposits of end users, once quoted: confirmed, expired, cancelled (Optional deposits route)."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from sandbox.partner import money
from sandbox.partner.accounts import accounts
from sandbox.partner.cards import cards
from sandbox.partner.events import event_log
from sandbox.partner.state import World, stamp_now, timers

EXPIRY_TIMER = "deposit"


def find(world: World, deposit_id: str) -> Any:
    """The row of a deposit, or None."""
    return world.store.one("SELECT * FROM deposits WHERE id = ?", deposit_id)


def shown(row: Any) -> dict[str, Any]:
    """A Deposit record."""
    plain = (
        "id", "card_id", "asset", "chain", "deposit_address", "status", "tx_hash", "expires_at", "credited_at",
        "created_at",
    )  # fmt: skip
    return {
        **{name: row[name] for name in plain},
        "amount_expected": row["send_amount"],
        "rate_usd": Decimal(row["rate_usd"]),
        "fee_usd": money.add(Decimal(row["svc_fee_usd"]), Decimal(row["partner_fee_usd"])),
        "credit_usd": Decimal(row["credit_usd"]),
    }


def confirm(world: World, row: Any, amount_usd: Decimal | None) -> None:
    """The transfer confirms: the card is credited, the markup accrues. Another amount scales all figures."""
    figures = {name: Decimal(row[name]) for name in ("svc_fee_usd", "partner_fee_usd", "credit_usd")}
    if amount_usd is not None:
        quoted_usd = money.total(figures.values())
        share = money.EXACT.divide(amount_usd, quoted_usd)
        figures = {name: money.share(value, share) for name, value in figures.items()}
    now, owner = stamp_now(world), accounts.account(world, row["account"])
    card = cards.find(world, row["card_id"])
    if card is None:
        raise KeyError(row["card_id"])
    data = {
        "deposit_id": row["id"],
        "card_id": card.id,
        "credit_usd": figures["credit_usd"],
        "tx_hash": world.ids.transaction_hash(row["chain"]),
        "credited_at": now,
    }
    with world.store.transaction():
        texts = {name: money.text(value) for name, value in figures.items()}
        credited = {"status": "credited", "tx_hash": data["tx_hash"], "credited_at": now}
        world.store.update("deposits", "id", row["id"], **credited, **texts)
        timers.clear_timer(world, EXPIRY_TIMER, row["id"])
        cards.change_balance(world, card, figures["credit_usd"])
        accrued_usd = money.add(owner.accrued_usd, figures["partner_fee_usd"])
        world.store.update("accounts", "id", owner.id, accrued_usd=money.text(accrued_usd))
        if owner.settings.profile != "documented":  # the document names no deposit event (N11)
            event_log.emit(world, owner.id, "deposit.credited", data)


def end(world: World, deposit_id: str, status: str) -> None:
    """A pending deposit that will not come."""
    world.store.run("UPDATE deposits SET status = ? WHERE id = ? AND status = 'pending'", status, deposit_id)
    timers.clear_timer(world, EXPIRY_TIMER, deposit_id)


def expire(world: World, deposit_id: str) -> None:
    """Nothing arrived in time (N2)."""
    end(world, deposit_id, "expired")


def credited_usd(world: World, account_id: str) -> Decimal:
    """What deposits have put on the account's cards."""
    rows = world.store.all(
        "SELECT credit_usd FROM deposits WHERE account = ? AND status = 'credited'", account_id
    )
    return money.total(Decimal(row["credit_usd"]) for row in rows)
