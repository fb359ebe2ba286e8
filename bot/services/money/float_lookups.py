"""Looking at the float: what there is, since when, and what requests will take."""

from __future__ import annotations

from datetime import timedelta
from zoneinfo import ZoneInfo

from bot.domain.alerts import alert_rules
from bot.domain.requests import PendingHold
from bot.domain.time import Period
from bot.partner.ratelimit import Lane
from bot.services import snapshots
from bot.services.core import Core
from bot.services.money import float_history
from bot.services.operators import programs
from bot.services.snapshots import Account, Kept
from bot.view_models import FloatView, RunwayView
from storage.requests import requests
from storage.transaction import Tx

FLOAT_FRESH_FOR = timedelta(seconds=15)
RUNWAY_FROM = timedelta(days=7)
LOOKED_AHEAD_HOURS = 14 * 24
# A pace from less than this says more about one top-up than about the days.
LEAST_SEEN = timedelta(hours=2)


async def float_now(
    core: Core, *, program: str | None = None, period: Period | None = None, zone: ZoneInfo | None = None
) -> FloatView:
    """The float, read live when the last reading is older than 15 s, with its course over `period`.

    `zone` is the reader's, for the times of that course. Raises PartnerError.
    """
    program = program or core.default_program
    async with core.store.read() as tx:
        kept = await snapshots.ACCOUNT.get(tx, program)
    if kept is None or kept.read_at < core.clock.now() - FLOAT_FRESH_FOR:
        kept = await read_account(core, program)
    return await _view(core, program, kept, period, zone)


async def float_known(core: Core, *, program: str | None = None) -> FloatView | None:
    """The float as last read, however long ago; None before the first reading. No call to the API."""
    program = program or core.default_program
    async with core.store.read() as tx:
        kept = await snapshots.ACCOUNT.get(tx, program)
    return None if kept is None else await _view(core, program, kept)


async def _view(
    core: Core,
    program: str,
    kept: Kept[Account],
    period: Period | None = None,
    zone: ZoneInfo | None = None,
) -> FloatView:
    async with core.store.read() as tx:
        hold = await requests.pending_hold(tx, program, core.float_kinds, core.policy.limits)
        past = await float_history.of(tx, core, program, period, zone)
        runway = await _runway(tx, core, program, kept, hold)
    value = kept.value
    return FloatView(
        program=program,
        balance_usd=value.balance_usd,
        available_usd=value.available_usd,
        funded_usd=value.funded_usd,
        spent_usd=value.spent_usd,
        limit_usd=value.limit_usd,
        pending_usd=hold.usd,
        pending_count=hold.count,
        cards_total=value.cards_total,
        cards_active=value.cards_active,
        cards_limit=value.cards_limit,
        read_at=kept.read_at,
        live=core.is_live(program),
        history=past,
        runway=runway,
        period=period,
    )


async def _runway(tx: Tx, core: Core, program: str, last: Kept[Account], hold: PendingHold) -> RunwayView:
    """By the same rule as the alert of a short runway, looked at further ahead."""
    floor_usd = core.alerting.float_alert.floor_usd
    past = await snapshots.ACCOUNT.since(tx, program, tx.now - RUNWAY_FROM)
    if len(past) < 2 or tx.now - past[0].read_at < LEAST_SEEN:
        return RunwayView(floor_usd, known=False)
    spent = [alert_rules.Spent(r.read_at, r.value.spent_usd) for r in past]
    room_usd = last.value.usable_usd - hold.usd
    hours = alert_rules.hours_left(room_usd, floor_usd, spent, tx.now, most=LOOKED_AHEAD_HOURS)
    at = None if hours is None else tx.now + timedelta(hours=hours)
    return RunwayView(floor_usd, known=True, hours=hours, at=at, looked_ahead_hours=LOOKED_AHEAD_HOURS)


async def read_account(core: Core, program: str, *, lane: Lane = Lane.PEOPLE) -> Kept[Account]:
    """GET /me, kept as the program's last reading and in its history.

    Raises PartnerError; OtherAccount, which has stopped sending, where the key is of another account than before.
    """
    me = await core.partners[program].me(lane=lane)
    await programs.require_same_account(core, program, me.partner.id)
    value = Account(
        balance_usd=me.float.balance_usd,
        available_usd=me.float.available_usd,
        funded_usd=me.float.funded_usd,
        spent_usd=me.float.spent_usd,
        limit_usd=me.float.limit_usd,
        cards_total=me.cards.total,
        cards_active=me.cards.active,
        cards_limit=me.cards.limit,
    )
    async with core.store.begin() as tx:
        await snapshots.ACCOUNT.add_to_history(tx, program, value)
        return await snapshots.ACCOUNT.put(tx, program, value)
