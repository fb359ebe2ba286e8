"""What a reading of the account means: the float low or about to be, the card allowance nearly used."""

from __future__ import annotations

from datetime import timedelta

from bot.domain.alerts import account_alerts, alert_rules, float_alerts
from bot.services import snapshots
from bot.services.alerts import funding_rules
from bot.services.alerts import lifecycle as alerts
from bot.services.core import Core
from bot.services.snapshots import Account, Kept
from storage.cards import api_snapshots
from storage.messages import alerts as alert_rows
from storage.requests import requests
from storage.transaction import Tx

# Long enough for the hours of the day to differ, short enough to notice a new habit.
_LOOKED_BACK = timedelta(days=7)
_WATCH = "float_watch"


async def look(core: Core, program: str, reading: Kept[Account]) -> None:
    """Raise or resolve by what `GET /me` said."""
    async with core.store.begin() as tx:
        await _float(tx, core, program, reading)
        await _allowance(tx, core, program, reading)


async def _float(tx: Tx, core: Core, program: str, reading: Kept[Account]) -> None:
    rule = core.alerting.float_alert
    condition = float_alerts.FLOAT_LOW.condition(program)
    was_low = await alert_rows.open_one(tx, condition) is not None
    kept = await api_snapshots.get(tx, program, _WATCH)
    clean_before = int(kept.value["clean"]) if kept else 0
    low, clean = alert_rules.float_is_low(
        reading.value.usable_usd, rule, was_low=was_low, clean_reads=clean_before
    )
    if clean != clean_before:
        await api_snapshots.put(tx, program, _WATCH, {"clean": clean})
    if not low:
        await alerts.resolve(tx, core, condition)
        return
    said = float_alerts.float_low(
        program,
        rule,
        usable_usd=reading.value.usable_usd,
        balance_usd=reading.value.balance_usd,
        available_usd=reading.value.available_usd,
        pending_usd=(await requests.pending_hold(tx, program, core.float_kinds, core.policy.limits)).usd,
        coming_usd=await funding_rules.on_its_way(tx, program),
    )
    await alerts.keep(
        tx, core, said, condition=condition, subject=program, program=program, facts={"program": program}
    )
    await alerts.resolve(tx, core, float_alerts.RUNWAY.condition(program))


async def look_ahead(core: Core, program: str) -> None:
    """Will the float be at its floor within the runway, at the pace of the last days?"""
    async with core.store.begin() as tx:
        await _runway(tx, core, program)


async def _runway(tx: Tx, core: Core, program: str) -> None:
    rule, condition = core.alerting.float_alert, float_alerts.RUNWAY.condition(program)
    last = await snapshots.ACCOUNT.get(tx, program)
    if last is None or await alert_rows.open_one(tx, float_alerts.FLOAT_LOW.condition(program)):
        return
    past = await snapshots.ACCOUNT.since(tx, program, tx.now - _LOOKED_BACK)
    spent = [alert_rules.Spent(r.read_at, r.value.spent_usd) for r in past]
    hold = await requests.pending_hold(tx, program, core.float_kinds, core.policy.limits)
    room_usd = last.value.usable_usd - hold.usd
    was_open = await alert_rows.open_one(tx, condition) is not None
    # A quarter more to end it than to raise it, or it would come and go with every top-up.
    most = rule.runway_hours * 5 // 4 if was_open else rule.runway_hours
    left = alert_rules.hours_left(room_usd, rule.floor_usd, spent, tx.now, most=most)
    if left is None:
        await alerts.resolve(tx, core, condition)
        return
    coming_usd = await funding_rules.on_its_way(tx, program)
    then = alert_rules.hours_left(room_usd + coming_usd, rule.floor_usd, spent, tx.now, most=most)
    said = float_alerts.runway(
        program,
        rule,
        hours=left,
        at=tx.now + timedelta(hours=left),
        pending_usd=hold.usd,
        coming_usd=coming_usd,
        hours_with_funding=then,
        most=most,
    )
    await alerts.keep(
        tx, core, said, condition=condition, subject=program, program=program, facts={"program": program}
    )


async def _allowance(tx: Tx, core: Core, program: str, reading: Kept[Account]) -> None:
    total, limit = reading.value.cards_total, reading.value.cards_limit
    level = alert_rules.allowance_level(total, limit)
    condition = account_alerts.ALLOWANCE.condition(program)
    if level is None or limit is None:
        await alerts.resolve(tx, core, condition)
        return
    left = max(0, limit - total)
    said = account_alerts.ALLOWANCE.says(severity=level, program=program, left=left, limit=limit, total=total)
    await alerts.keep(
        tx, core, said, condition=condition, subject=program, program=program, facts={"program": program}
    )
