"""The float over time, from the readings kept of the account: what a chart of it is drawn from."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from decimal import Decimal

from bot.domain.time.periods import Period
from bot.services.core import Core
from bot.view_models.pictures import FloatHistory, FloatPoint
from storage.cards import history
from storage.cards.api_snapshots import Reading
from storage.store import Tx

LOOKED_BACK = timedelta(days=7)
POINTS = 14
# Labels are to the minute, and Slack wants them to differ.
_SHORTEST = timedelta(minutes=5)


async def of(tx: Tx, core: Core, program: str, period: Period | None = None) -> FloatHistory | None:
    """The period, or the last seven days, from its first reading on; None until there are two to compare."""
    since = tx.now - LOOKED_BACK if period is None else period.since
    until = tx.now if period is None else min(period.until, tx.now)
    readings = await history.since(tx, program, "me", since)
    points = sampled([r for r in readings if r.read_at <= until], until)
    if len(points) < 2:
        return None
    return FloatHistory(program, core.alerting.float_alert.floor_usd, points)


def sampled(readings: Sequence[Reading], now: datetime) -> tuple[FloatPoint, ...]:
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
        points.append(
            FloatPoint(
                moment,
                Decimal(last.value["balance_usd"]),
                Decimal(last.value["funded_usd"]) - Decimal(before.value["funded_usd"]),
                Decimal(last.value["spent_usd"]) - Decimal(before.value["spent_usd"]),
            )
        )
        before = last
    return tuple(points)
