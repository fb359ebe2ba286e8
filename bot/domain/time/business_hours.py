"""The team's hours: when it is quiet, when the digest comes, when the next workday begins. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

MORNING = time(9)


@dataclass(frozen=True, slots=True)
class Hours:
    """Local hours. `quiet` is from and until, over midnight as a rule; None: never quiet, no digest."""

    timezone: str = "UTC"
    quiet: tuple[time, time] | None = None
    digest: time | None = MORNING

    @property
    def zone(self) -> ZoneInfo:
        return ZoneInfo(self.timezone)

    def quiet_until(self, now: datetime) -> datetime | None:
        """When the quiet hours that `now` is in are over; None when it is in none."""
        if self.quiet is None:
            return None
        begins, ends = self.quiet
        local = now.astimezone(self.zone)
        clock = local.time()
        over_midnight = begins > ends
        if begins <= clock < ends or (over_midnight and (clock >= begins or clock < ends)):
            day = local.date() + timedelta(days=1 if over_midnight and clock >= begins else 0)
            return self._at(day, ends)
        return None

    def next_workday(self, now: datetime) -> datetime:
        """Nine in the morning of the next day from Monday to Friday."""
        day = now.astimezone(self.zone).date() + timedelta(days=1)
        while day.weekday() > 4:
            day += timedelta(days=1)
        return self._at(day, MORNING)

    def digest_due(self, now: datetime) -> date | None:
        """The day whose digest is due by now; None before its time, or where there is no digest."""
        local = now.astimezone(self.zone)
        return local.date() if self.digest is not None and local.time() >= self.digest else None

    def _at(self, day: date, clock: time) -> datetime:
        return datetime.combine(day, clock, self.zone).astimezone(UTC)
