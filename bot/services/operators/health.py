"""Is this bot able to do its work? Each check answers None, or a sentence for whoever runs it."""

from __future__ import annotations

from datetime import timedelta

from bot.services.core import Core
from storage.cards import api_snapshots
from storage.operators import programs

# Two missed polls are a hiccup; the third says that nobody is watching.
_MISSED_POLLS = 3


async def keys_work(core: Core) -> str | None:
    """No program is paused because the API does not take its key."""
    async with core.store.read() as tx:
        paused = [p.name for p in await programs.all(tx) if p.paused_reason]
    return f"The API does not take the key of {', '.join(paused)}: nothing is sent." if paused else None


async def poller_runs(core: Core, every: timedelta) -> str | None:
    """The account of every program was read within three cadences."""
    oldest = core.clock.now() - every * _MISSED_POLLS
    late = []
    async with core.store.read() as tx:
        for program in core.partners:
            last = await api_snapshots.get(tx, program, "me")
            if last is None or last.read_at < oldest:
                late.append(f"{program} ({'never' if last is None else f'{last.read_at:%H:%M:%S} UTC'})")
    return f"The account was not read lately: {', '.join(late)}." if late else None
