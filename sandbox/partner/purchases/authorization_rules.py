"""Whether a card may spend: status, the ceiling on one purchase, the card's limits, velocity, balance."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

from sandbox.partner import codec, money
from sandbox.partner.accounts import accounts
from sandbox.partner.cards import PERIODS, SINGLE_PURCHASE_USD, Card
from sandbox.partner.purchases.declines import CODES
from sandbox.partner.purchases.purchase import Order
from sandbox.partner.state import World

_MAGIC = "DECLINE "
_DAYS = {"daily": 1, "weekly": 7, "monthly": 30}
# Repeated breaches of these kinds block a card (Card status); how many is not documented.
_BLOCKING = ("velocity_limit_exceeded", "security_check_failed")
_BREACHES_MOST = 5
_BREACHES_WITHIN = timedelta(hours=24)


def refusal(world: World, card: Card, order: Order, amount_usd: Decimal) -> str | None:
    """The decline code, or None: the tester's word first, then the card's own state."""
    asked = order.decline_code or _magic(order.merchant)
    if asked:
        return asked
    if card.status != "ACTIVE":
        return "card_blocked"
    # A clock that was set back before the order says nothing of the first sync.
    unsynced = card.created_at <= codec.stamp(world.clock.now()) < card.synced_at
    if unsynced and accounts.account(world, card.account).settings.unsynced_card == "declines":
        return "processing_error"  # the same purchase succeeds once the status is known
    if order.amount_usd > SINGLE_PURCHASE_USD:
        return "single_purchase_limit_exceeded"
    return _limit(world, card, order.amount_usd) or _velocity(world, card) or _funds(card, amount_usd)


def _magic(merchant: str) -> str | None:
    """A merchant named `DECLINE <code>` declines with that code, or with `unknown` when it is none."""
    if not merchant.startswith(_MAGIC):
        return None
    code = merchant.removeprefix(_MAGIC).strip()
    return code if code in CODES else "unknown"


def _limit(world: World, card: Card, charge_usd: Decimal) -> str | None:
    for period in PERIODS:
        limit_usd: Decimal | None = getattr(card, f"{period}_limit_usd")
        if limit_usd is None:
            continue
        if money.add(_spent_usd(world, card, _window_start(world, card, period)), charge_usd) > limit_usd:
            return f"{period}_limit_exceeded"
    return None


def _window_start(world: World, card: Card, period: str) -> str:
    """A UTC day, a week from Monday or a month; or the last 24 hours, 7 or 30 days (U38)."""
    now = world.clock.now()
    if accounts.account(world, card.account).settings.spend_window == "rolling":
        return codec.stamp(now - timedelta(days=_DAYS[period]))
    start = now.replace(hour=0, minute=0, second=0, microsecond=0)
    back = {"daily": 0, "weekly": start.weekday(), "monthly": start.day - 1}[period]
    return codec.stamp(start - timedelta(days=back))


def _spent_usd(world: World, card: Card, since: str) -> Decimal:
    """What merchants asked for since then and still hold, pending authorizations included."""
    rows = world.store.all(
        "SELECT charge_usd FROM purchases WHERE card_id = ? AND at >= ? AND status != 'declined'",
        card.id,
        since,
    )
    return money.total(Decimal(row["charge_usd"]) for row in rows)


def _velocity(world: World, card: Card) -> str | None:
    most = accounts.account(world, card.account).settings.velocity_per_minute
    since = codec.stamp(world.clock.now() - timedelta(minutes=1))
    recent = world.store.number(
        "SELECT count(*) FROM purchases WHERE card_id = ? AND at > ? AND status != 'declined'", card.id, since
    )
    return "velocity_limit_exceeded" if recent >= most else None


def _funds(card: Card, amount_usd: Decimal) -> str | None:
    return "insufficient_card_balance" if amount_usd > card.balance_usd else None


def blocks(world: World, card: Card, code: str) -> bool:
    """Does this breach, repeated as it is, block the card?"""
    if code not in _BLOCKING or card.status != "ACTIVE":
        return False
    since = codec.stamp(world.clock.now() - _BREACHES_WITHIN)
    before = world.store.number(
        "SELECT count(*) FROM purchases WHERE card_id = ? AND at > ? AND decline_code IN (?, ?)",
        card.id,
        since,
        *_BLOCKING,
    )
    return before + 1 >= _BREACHES_MOST


def reads_blocked(world: World, card: Card, code: str | None) -> bool:
    """Whether a decline says that only the service can make the card usable again (decline_reason)."""
    if card.status == "FROZEN":
        return accounts.account(world, card.account).settings.frozen_reads_blocked == "yes"
    return card.status == "BLOCKED" or (card.status == "ACTIVE" and code == "card_blocked")
