"""What falls due by itself: the monthly card fee and the re-checks of funding.

A timer is a row; it runs at the moment it was due, in order, however far the clock was pushed.
"""

from datetime import UTC, datetime

from sandbox.partner import codec, ledger, money
from sandbox.partner.accounts import Account, account, all_accounts
from sandbox.partner.world import World


def charge_month(world: World, owner: Account, card_id: str, moment: datetime) -> None:
    """One monthly fee of one card, once per month whatever asks; no row when settled by invoice."""
    if owner.settings.monthly_fee == "invoice":
        return
    reference = f"card-fee:{card_id}:{moment:%Y-%m}"
    charged = world.store.one("SELECT 1 FROM ledger WHERE account = ? AND reference = ?", owner.id, reference)
    if not charged and owner.settings.monthly_fee_usd > money.ZERO:
        ledger.post(
            world, owner.id, -owner.settings.monthly_fee_usd, "fee", reference, description="Monthly card fee"
        )


def set_timer(world: World, due_at: datetime, kind: str, subject: str) -> None:
    """Set, or move, the one timer of a kind and subject."""
    world.store.run(
        "INSERT INTO timers (due_at, kind, subject) VALUES (?, ?, ?)"
        " ON CONFLICT (kind, subject) DO UPDATE SET due_at = excluded.due_at",
        codec.stamp(due_at),
        kind,
        subject,
    )


def start(world: World) -> None:
    """Set the month timer, unless it runs already."""
    if world.store.one("SELECT 1 FROM timers WHERE kind = 'month'") is None:
        set_timer(world, _next_month(world.clock.now()), "month", "")


def _next_month(moment: datetime) -> datetime:
    year, month = (moment.year + 1, 1) if moment.month == 12 else (moment.year, moment.month + 1)
    return datetime(year, month, 1, tzinfo=UTC)


def run_due(world: World) -> None:
    """Run everything that is due by the clock, oldest first."""
    while True:
        row = world.store.one(
            "SELECT * FROM timers WHERE due_at <= ? ORDER BY due_at, seq LIMIT 1",
            codec.stamp(world.clock.now()),
        )
        if row is None:
            return
        with world.store.transaction(), world.clock.at(codec.moment(row["due_at"])):
            world.store.run("DELETE FROM timers WHERE seq = ?", row["seq"])
            _run(world, row["kind"], row["subject"])


def _run(world: World, kind: str, subject: str) -> None:
    if kind != "month":
        raise ValueError(f"unknown timer {kind} for {subject}")
    now = world.clock.now()
    for owner in all_accounts(world):
        cards = world.store.all("SELECT id FROM cards WHERE account = ? AND status != 'DELETED'", owner.id)
        for row in cards:
            charge_month(world, account(world, owner.id), row["id"], now)
    set_timer(world, _next_month(now), "month", "")
