"""The float and its ledger: every movement is one row, and the row and the totals move together."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any, Literal

from sandbox.partner import money
from sandbox.partner.accounts import Account, account
from sandbox.partner.state import World, stamp_now

Kind = Literal["funding", "fee", "card_topup", "refund", "adjustment"]


def post(
    world: World,
    account_id: str,
    amount_usd: Decimal,
    kind: Kind,
    reference: str | None = None,
    *,
    card_id: str | None = None,
    description: str | None = None,
    keyed: int | None = None,
) -> None:
    """Add a row and move the float, in the caller's transaction. `keyed` ties it to its keyed call."""
    now, owner = stamp_now(world), account(world, account_id)
    number = owner.ledger_rows + 1
    world.store.insert(
        "ledger",
        account=account_id,
        amount_usd=money.text(amount_usd),
        kind=kind,
        reference=reference,
        card_id=card_id,
        description=description,
        created_at=now,
        keyed=keyed,
        number=number,
    )
    changed: dict[str, Any] = {"ledger_rows": number, "ledger_last_at": max(now, owner.ledger_last_at)}
    if now < owner.ledger_last_at:  # the clock was set back: numbers no longer follow the moments
        changed["ledger_in_order"] = 0
    if kind == "funding":
        changed["funded_usd"] = money.text(money.add(owner.funded_usd, amount_usd))
    else:
        changed["spent_usd"] = money.text(money.add(owner.spent_usd, -amount_usd))
    if kind in ("card_topup", "refund"):
        changed["net_topups_usd"] = money.text(money.add(owner.net_topups_usd, -amount_usd))
    world.store.update("accounts", "id", account_id, **changed)


def post_fees(
    world: World, owner: Account, fee_usd: Decimal, references: Sequence[str], description: str
) -> None:
    """The same fee for many causes at once: a row each, the float moved by their sum, in the caller's transaction."""
    now, first = stamp_now(world), owner.ledger_rows + 1
    amount = money.text(-fee_usd)
    columns = ("account", "amount_usd", "kind", "reference", "description", "created_at", "number")
    rows = (
        (owner.id, amount, "fee", reference, description, now, number)
        for number, reference in enumerate(references, first)
    )
    world.store.insert_all("ledger", columns, rows)
    world.store.update(
        "accounts",
        "id",
        owner.id,
        ledger_rows=owner.ledger_rows + len(references),
        ledger_last_at=max(now, owner.ledger_last_at),
        ledger_in_order=int(owner.ledger_in_order and now >= owner.ledger_last_at),
        spent_usd=money.text(money.total([owner.spent_usd, *[fee_usd] * len(references)])),
    )


def rows_total(world: World, account_id: str, *kinds: Kind) -> Decimal:
    """Exact sum of the rows, of some kinds or of all."""
    rows = world.store.all("SELECT amount_usd, kind FROM ledger WHERE account = ?", account_id)
    return money.total(Decimal(row["amount_usd"]) for row in rows if not kinds or row["kind"] in kinds)


def outstanding_usd(world: World, owner: Account) -> Decimal:
    """Card value that counts against the limit (U59)."""
    if owner.settings.outstanding == "live_balances":
        rows = world.store.all("SELECT balance_usd FROM cards WHERE account = ?", owner.id)
        return money.total(Decimal(row["balance_usd"]) for row in rows)
    return owner.net_topups_usd


def available_usd(world: World, owner: Account) -> Decimal:
    """Spendable now: the smaller of balance and remaining limit, never below 0 (Float)."""
    limit_usd = owner.settings.float_limit_usd
    if limit_usd is None:
        return max(money.ZERO, owner.balance_usd)
    headroom_usd = money.add(limit_usd, -outstanding_usd(world, owner))
    return max(money.ZERO, min(owner.balance_usd, headroom_usd))


def float_of(world: World, owner: Account) -> dict[str, Any]:
    """The Float object of GET /me."""
    return {
        "funded_usd": owner.funded_usd,
        "spent_usd": owner.spent_usd,
        "balance_usd": owner.balance_usd,
        "limit_usd": owner.settings.float_limit_usd,
        "available_usd": available_usd(world, owner),
    }


def entry(row: Any) -> dict[str, Any]:
    """A row as the API names its fields; the amount still text."""
    names = ("amount_usd", "kind", "reference", "card_id", "description", "created_at")
    return {name: row[name] for name in names}
