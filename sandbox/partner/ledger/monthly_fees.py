"""The monthly card fee: the first month at the order, each further month as it begins (Fees).

Every card that exists pays, frozen included and without proration; a closed card's last month is the
one it was closed in.
"""

from __future__ import annotations

from datetime import UTC, datetime

from sandbox.partner import money
from sandbox.partner.accounts import Account, accounts
from sandbox.partner.ledger import ledger
from sandbox.partner.state import World, timers

MONTH_TIMER = "month"


_DESCRIPTION = "Monthly card fee"


def charge_month(world: World, owner: Account, card_id: str, moment: datetime) -> None:
    """One monthly fee of one card, once per month whatever asks; no row when settled by invoice."""
    if owner.settings.monthly_fee == "invoice":
        return
    fee_usd = owner.settings.monthly_fee_usd
    reference = f"card-fee:{card_id}:{moment:%Y-%m}"
    charged = world.store.one("SELECT 1 FROM ledger WHERE account = ? AND reference = ?", owner.id, reference)
    if not charged and fee_usd > money.ZERO:
        ledger.post(world, owner.id, -fee_usd, "fee", reference, description=_DESCRIPTION)


def _charge_all(world: World, owner: Account, moment: datetime) -> None:
    """As `charge_month` for every open card, at once: a fleet of 100,000 must not hold up the page for long."""
    fee_usd = owner.settings.monthly_fee_usd
    if owner.settings.monthly_fee == "invoice" or fee_usd <= money.ZERO:
        return
    due = world.store.all(
        "SELECT 'card-fee:' || id || ?1 AS reference FROM cards WHERE account = ?2 AND status != 'DELETED'"
        " AND NOT EXISTS (SELECT 1 FROM ledger WHERE ledger.account = ?2"
        " AND ledger.reference = 'card-fee:' || cards.id || ?1) ORDER BY seq",
        f":{moment:%Y-%m}",
        owner.id,
    )
    ledger.post_fees(world, owner, fee_usd, [row["reference"] for row in due], _DESCRIPTION)


def start(world: World) -> None:
    """Wait for the next month; again whenever the clock was set back."""
    timers.set_timer(world, next_month(world.clock.now()), MONTH_TIMER, "")


def month_begins(world: World, _subject: str) -> None:
    """Charge every open card of every account, and wait for the month after (U33)."""
    now = world.clock.now()
    for owner in accounts.all_accounts(world):
        _charge_all(world, owner, now)
    timers.set_timer(world, next_month(now), MONTH_TIMER, "")


def next_month(moment: datetime) -> datetime:
    """When the month after this moment's begins, in UTC."""
    year, month = (moment.year + 1, 1) if moment.month == 12 else (moment.year, moment.month + 1)
    return datetime(year, month, 1, tzinfo=UTC)
