"""The table of scheduled jobs: name, cadence, coroutine. `bot.app` hands it to the timers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from bot.services import anchors, programs, reminders, requests, upkeep
from bot.services.backfill import Backfill
from bot.services.core import Core
from bot.services.webhooks import Webhooks


@dataclass(frozen=True, slots=True)
class Job:
    """One thing done on a cadence. Every job is idempotent and asks the database what there is to do."""

    name: str
    seconds: float
    run: Callable[[], Awaitable[None]]


def table(
    core: Core,
    *,
    account: timedelta,
    cards: timedelta,
    events: timedelta,
    webhooks: Webhooks,
    backfill: Backfill,
    anchor_file: Path | None,
) -> list[Job]:
    """All jobs. `account`, `cards` and `events` are the cadences of `[poll]`."""

    async def expire() -> None:
        await requests.expire_due(core)

    return [
        Job("expire", 5, expire),  # shown within 30 s of being due
        Job("remind", 30, lambda: reminders.remind(core)),
        Job("probe-paused", 30, lambda: programs.probe_paused(core)),
        Job("purge", 60, lambda: upkeep.purge(core)),
        Job("account", account.total_seconds(), lambda: upkeep.read_accounts(core)),
        Job("cards", cards.total_seconds(), lambda: upkeep.sync_cards(core)),
        Job("events", events.total_seconds(), backfill.run_once),
        Job("deliveries", 30, webhooks.report),
        Job("late-landings", 900, lambda: upkeep.sweep_late_landings(core)),
        Job("anchor", 900, lambda: anchors.drop(core, anchor_file)),
        Job("policy", 600, lambda: upkeep.check_policy(core)),
    ]
