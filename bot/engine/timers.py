"""Timers: APScheduler's triggers in memory. What a timer does is idempotent and asks the database."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from datetime import UTC

log = logging.getLogger("countersign.engine")


def _is_news(record: logging.LogRecord) -> bool:
    """Not that a job which still runs is not started again: that is how it should be, and may last."""
    return "maximum number of running instances reached" not in str(record.msg)


class Timers:
    """Runs coroutines on a cadence, never two of one name at once; missed runs are folded into one."""

    def __init__(self) -> None:
        # Only now: whoever runs the jobs by other means does not load it.
        from apscheduler.schedulers.asyncio import AsyncIOScheduler

        logging.getLogger("apscheduler.scheduler").addFilter(_is_news)
        # No grace time: past it APScheduler drops a run, and a daily job would wait for the next day.
        self._scheduler = AsyncIOScheduler(
            timezone=UTC, job_defaults={"coalesce": True, "max_instances": 1, "misfire_grace_time": None}
        )

    def every(self, name: str, seconds: float, job: Callable[[], Awaitable[None]]) -> None:
        """Run `job` every `seconds`, with up to a tenth of jitter so that timers do not beat together."""

        # A coroutine function of our own: APScheduler sends anything else, a lambda too, to a thread.
        async def run() -> None:
            try:
                await job()
            except Exception:  # the next run must come, whatever broke this one
                log.exception("timer.failed", extra={"timer": name})

        self._scheduler.add_job(
            run, "interval", id=name, name=name, seconds=seconds, jitter=max(1, int(seconds / 10))
        )

    def start(self) -> None:
        self._scheduler.start()

    def stop(self) -> None:
        if self._scheduler.running:
            self._scheduler.shutdown(wait=False)
