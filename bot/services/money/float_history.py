"""The float over time, from the readings kept of the account: what a chart of it is drawn from."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import pairwise
from statistics import median
from zoneinfo import ZoneInfo

from bot.domain.time import Period
from bot.services import snapshots
from bot.services.core import Core
from bot.services.snapshots import Account, Kept
from bot.view_models import FloatHistory, FloatPoint
from storage.cards import history
from storage.transaction import Tx

LOOKED_BACK = timedelta(days=7)
POINTS = 14
# Labels are to the minute, and Slack wants them to differ.
_SHORTEST = timedelta(minutes=5)
# An unchanged balance is kept every half hour while somebody reads; a program read more rarely has its own usual step.
_UNSEEN_AFTER = 2 * history.AGAIN_AFTER
_SECOND = timedelta(seconds=1)


async def of(
    tx: Tx, core: Core, program: str, period: Period | None = None, zone: ZoneInfo | None = None
) -> FloatHistory | None:
    """The period, or the last seven days, from its first reading on; None until there are two to compare.

    `zone` is the reader's; without it the team's is named.
    """
    since = tx.now - LOOKED_BACK if period is None else period.since
    until = tx.now if period is None else min(period.until, tx.now)
    readings = [r for r in await snapshots.ACCOUNT.since(tx, program, since) if r.read_at <= until]
    points = sampled(readings, until)
    if len(points) < 2:
        return None
    floor_usd = core.alerting.float_alert.floor_usd
    return FloatHistory(
        program, floor_usd, points, stretches(readings, until), (zone or core.alerting.hours.zone).key
    )


def stretches(readings: Sequence[Kept[Account]], until: datetime) -> tuple[tuple[FloatPoint, ...], ...]:
    """All readings, oldest first, parted where nobody read for long: what the balance was then is not known.

    Where the last one is recent its balance still holds at `until`, which then has a point of its own.
    """
    if not readings:
        return ()
    moments = [reading.read_at for reading in readings]
    usual = median([(later - at) / _SECOND for at, later in pairwise([*moments, until])]) * _SECOND
    longest = max(_UNSEEN_AFTER, 3 * usual)
    found: list[list[FloatPoint]] = []
    before = readings[0]
    for reading in readings:
        if not found or reading.read_at - before.read_at > longest:
            found.append([])
        found[-1].append(_point(reading.read_at, before, reading))
        before = reading
    if before.read_at < until <= before.read_at + longest:
        found[-1].append(_point(until, before, before))
    return tuple(tuple(stretch) for stretch in found)


def _point(at: datetime, before: Kept[Account], last: Kept[Account]) -> FloatPoint:
    came_usd = last.value.funded_usd - before.value.funded_usd
    went_usd = last.value.spent_usd - before.value.spent_usd
    return FloatPoint(at, last.value.balance_usd, came_usd, went_usd)


def sampled(readings: Sequence[Kept[Account]], now: datetime) -> tuple[FloatPoint, ...]:
    """At most POINTS moments in equal steps up to now, each with the last reading before it.

    What came in and went out is counted from the moment before, so that nothing between two moments is lost.
    """
    if not readings:
        return ()
    first = readings[0]
    step = max((now - first.read_at) / (POINTS - 1), _SHORTEST)
    count = min(POINTS, int((now - first.read_at) / step) + 1)
    moments = [now - step * back for back in range(count - 1, -1, -1)]
    points: list[FloatPoint] = []
    before, position = first, 0
    for moment in moments:
        while position < len(readings) and readings[position].read_at <= moment:
            position += 1
        last = readings[max(position - 1, 0)]
        points.append(_point(moment, before, last))
        before = last
    return tuple(points)
