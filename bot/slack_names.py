"""What the bot has to know of Slack before it can write there: its own workspace, and the ids of its channels.

Asked of Slack at the start. While Slack is down the bot starts all the same, with what it knew the last time: events
are received and requests in doubt are looked after, and messages wait. It asks again until Slack answers.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping

from bot.config import Config
from bot.domain.errors import LookupFailed, SlackAway
from bot.services.core import Channels, Core
from bot.services.execution import maintenance
from handlers.slack_api import SlackDirectory
from storage.cards import api_snapshots
from storage.messages import outbox
from storage.store import Store

log = logging.getLogger("countersign.app")

# A start waits no longer for a Slack that does not answer.
_AT_START_S = 10.0
_AGAIN_S = 5.0
_KEPT = "slack_names"


class SlackNames:
    """The workspace and the channels, as Slack says or, while it is down, as it said last."""

    def __init__(self, store: Store, directory: SlackDirectory, config: Config) -> None:
        self._store = store
        self._directory = directory
        named = config.channels
        self._configured = {"approvals": named.approvals, "alerts": named.alerts, "audit": named.audit or ""}
        self.is_known = False

    async def at_start(self) -> Channels:
        """The channels. Raises LookupFailed where Slack answers, and knows no such channel or token.

        A channel that was never looked up has its configured name for an id, until Slack is back.
        """
        try:
            async with asyncio.timeout(_AT_START_S):
                return Channels(**await self._ask())
        except (SlackAway, TimeoutError) as error:
            log.warning("start.slack_away", extra={"error": str(error)})
        async with self._store.read() as tx:
            kept = await api_snapshots.get(tx, "", _KEPT)
        last: Mapping[str, str] = kept.value if kept else {}
        if last.get("team"):
            self._directory.home_team = last["team"]
        return Channels(**{to: last.get(name, name) for to, name in self._configured.items()})

    async def learn(self, core: Core) -> None:
        """Ask until Slack answers; then what waited under a configured name goes to the channel of that name."""
        while True:
            if not self.is_known:
                await self._try(core)
            await core.clock.sleep(_AGAIN_S)

    async def _try(self, core: Core) -> None:
        try:
            found = await self._ask()
        except LookupFailed as error:
            log.warning("start.slack_away", extra={"error": str(error)})
            return
        async with self._store.begin() as tx:
            for to, channel in found.items():
                before = getattr(core.channels, to)
                if before != channel:
                    await outbox.move(tx, before, channel)
                    setattr(core.channels, to, channel)
        core.outbox_bell.set()
        await maintenance.check_policy(core)

    async def _ask(self) -> dict[str, str]:
        """The ids of the channels by what they are for; kept for a start without Slack."""
        await self._directory.introduce()
        found = {
            to: await self._directory.channel(name) if name else "" for to, name in self._configured.items()
        }
        by_name = {self._configured[to]: channel for to, channel in found.items() if channel}
        async with self._store.begin() as tx:
            await api_snapshots.put(tx, "", _KEPT, {"team": self._directory.home_team, **by_name})
        self.is_known = True
        return found

    async def fault(self) -> str | None:
        """For `/readyz`: that Slack has not answered since the start."""
        return (
            None if self.is_known else "Slack has not answered since the start. Messages and approvals wait."
        )
