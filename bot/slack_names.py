"""What the bot has to know of Slack before it can write there: its own workspace, and the ids of its channels.

Asked of Slack at the start, and looked at again every minute. Whatever Slack refuses, the bot starts and goes on; only
a name of the policy of which Slack says that nobody has it stops the start (`startup.check_names`). It goes on
with what it knew the last time: events are received, requests in doubt are looked after, and messages wait. What is
missing is said by `/readyz`, in the log and by an alert, and is asked again until it is there.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from bot.config import Config
from bot.domain import shared_work, slack_faults
from bot.domain.alerts import delivery_alerts
from bot.domain.errors import LookupFailed, SlackAway, UnknownName
from bot.domain.sentences import Lines
from bot.services import alerts, audit, outbox_messages, people
from bot.services.core import Channels, Core
from bot.services.execution import maintenance
from handlers.slack_api import SlackDirectory
from storage.cards import api_snapshots
from storage.messages import outbox
from storage.operators import roles_on_record
from storage.store import Store

log = logging.getLogger("countersign.app")

# A start waits no longer for a Slack that does not answer.
_AT_START_S = 10.0
# While Slack does not answer, while it refuses, and while all is well.
_AGAIN_S, _REFUSED_AGAIN_S, _LOOK_EVERY_S = 5.0, 15.0, 60.0
_KEPT = "slack_names"
# Of a channel that is gone, another may have the name.
_MAY_BE_REPLACED = frozenset({"channel_not_found", "is_archived"})


@dataclass(frozen=True, slots=True)
class _Missing:
    """What the last look found missing, in sentences. `is_away`: Slack gave no answer, so nobody knows."""

    access: tuple[str, ...] = ()
    policy: tuple[str, ...] = ()
    is_away: bool = False


class SlackNames:
    """The workspace and the channels, as Slack says or, while it does not, as it said last."""

    def __init__(self, store: Store, directory: SlackDirectory, config: Config) -> None:
        self._store = store
        self._directory = directory
        named = config.channels
        named_for = {"approvals": named.approvals, "alerts": named.alerts, "audit": named.audit}
        self._configured = {to: name for to, name in named_for.items() if name}
        self._kept: dict[str, str] = {}  # the workspace, its address, and channels by configured name
        self._found: dict[str, str] = {}  # what Slack said since the start
        self._shared_ok = frozenset(named.shared_ok)
        self._recorded: dict[str, str] = {}  # name of a person or group -> its id, as the audit chain has it
        self._missing = self._said = _Missing()
        self.when_back: Callable[[], Awaitable[None]] | None = None
        """Called when Slack gives again what was missing."""

    async def at_start(self) -> Channels:
        """The channels, whatever Slack answers. One that it does not give has the id it gave last, or its configured
        name."""
        async with self._store.read() as tx:
            kept = await api_snapshots.get(tx, "", _KEPT)
            self._recorded = dict(await roles_on_record.names(tx))
        self._directory.meant |= self._recorded
        self._kept = dict(kept.value) if kept else {}
        if self._kept.get("team"):
            self._directory.home_team = self._kept["team"]
        self._directory.workspace_url = self._kept.get("workspace_url", "")
        known = {to: self._kept.get(name, name) for to, name in self._configured.items()}
        channels = Channels(known["approvals"], known["alerts"], known.get("audit", ""))
        try:
            async with asyncio.timeout(_AT_START_S):
                self._missing = await self._look(channels)
        except TimeoutError:
            self._missing = _AWAY
        for to, channel in self._found.items():
            setattr(channels, to, channel)
        return channels

    async def unknown(self, core: Core) -> str:
        """What is wrong with names of the policy, in a sentence; empty while Slack does not say."""
        if self._missing.is_away:
            return ""
        try:
            async with asyncio.timeout(_AT_START_S):
                await people.policy_problems(core)
        except UnknownName as error:
            return str(error)
        except (LookupFailed, TimeoutError):
            return ""
        return ""

    async def watch(self, core: Core) -> None:
        """Look again and again, for as long as the bot runs."""
        while True:
            await core.clock.sleep(self._pause_s())
            await self._use(core, await self._look(core.channels))

    def _pause_s(self) -> float:
        if self._missing.is_away:
            return _AGAIN_S
        return _REFUSED_AGAIN_S if self._missing != _Missing() else _LOOK_EVERY_S

    async def report(self, core: Core) -> None:
        """Say what was found at the start."""
        await self._use(core, self._missing)

    async def _use(self, core: Core, found: _Missing) -> None:
        """Use what a look found, and say what is missing: in the log, by an alert, and by `fault`."""
        await self._use_channels(core)
        now = self._missing = found if found.access else await self._look_at_policy(core)
        before, self._said = self._said, now
        for sentence in sorted({*now.access, *now.policy} - {*before.access, *before.policy}):
            log.error("slack.access_missing", extra={"fault": sentence})
        if now.is_away:
            return
        if before.access and not now.access:
            log.info("slack.access_back")
        if core.holds(shared_work.SLACK_ACCESS):
            await self._alert(core)
        if set(before.access) - set(now.access) and self.when_back is not None:
            await self.when_back()

    async def _look(self, channels: Channels) -> _Missing:
        """Ask Slack who we are, and for each channel whether it takes our messages."""
        try:
            await self._directory.introduce()
            self._keep("team", self._directory.home_team)
            self._keep("workspace_url", self._directory.workspace_url)
            found = [await self._look_at(to, name, channels) for to, name in self._configured.items()]
        except SlackAway:
            return _AWAY
        except LookupFailed as error:
            found = [slack_faults.explained(error.code)]
        return _Missing(tuple(dict.fromkeys(filter(None, found))))

    async def _look_at(self, to: str, name: str, channels: Channels) -> str:
        """What is wrong with one channel, in a sentence; empty when it takes our messages."""
        unlisted = ""
        if to not in self._found:
            try:
                self._found[to] = await self._directory.channel(name)
            except SlackAway:
                raise
            except LookupFailed as error:
                unlisted = error.code
        channel = self._found.get(to) or getattr(channels, to)
        if channel == name and unlisted:
            return slack_faults.explained(unlisted, name)
        code = await self._directory.channel_fault(channel) or unlisted
        others = "" if code or name in self._shared_ok else await self._directory.open_to_others(channel)
        if others:
            code = channels.withheld[channel] = others
        else:
            channels.withheld.pop(channel, None)
        if code in _MAY_BE_REPLACED:
            self._found.pop(to, None)  # looked up by its name again: another one may have it by then
        elif to in self._found:
            self._keep(name, channel)
        return slack_faults.explained(code, name) if code else ""

    def _keep(self, name: str, value: str) -> None:
        self._kept = {**self._kept, name: value}

    async def _use_channels(self, core: Core) -> None:
        """What waited under a configured name goes to the channel of that name; ids are kept for the next start."""
        async with self._store.begin() as tx:
            for to, channel in self._found.items():
                before = getattr(core.channels, to)
                if before != channel:
                    await outbox.move(tx, before, channel)
                    setattr(core.channels, to, channel)
            if self._found.keys() == self._configured.keys():
                await outbox_messages.readdress(tx, core)
            kept = await api_snapshots.get(tx, "", _KEPT)
            if self._kept and (kept is None or dict(kept.value) != self._kept):
                await api_snapshots.put(tx, "", _KEPT, self._kept)
        core.outbox_bell.set()

    async def _look_at_policy(self, core: Core) -> _Missing:
        """Can its people meet it? They are asked of Slack, which may refuse that alone."""
        try:
            problems = tuple(await maintenance.policy_problems(core))
            await self._record_names(core)
            return _Missing(policy=problems)
        except SlackAway:
            return _AWAY
        except LookupFailed as error:
            return _Missing((slack_faults.explained(error.code) if error.code else str(error),))

    async def _record_names(self, core: Core) -> None:
        """Names that were resolved for the first time are on record from now on: later their ids count."""
        new = {name: found for name, found in self._directory.meant.items() if name not in self._recorded}
        if not new:
            return
        async with core.store.begin() as tx:
            recorded = await roles_on_record.names(tx)
            for name in sorted(new.keys() - recorded.keys()):
                about, body = roles_on_record.of_name(name), {"id": new[name]}
                await audit.record(tx, core, "system:people", roles_on_record.NAMED, about, body)
        # Another process may have been first, and resolved it to something else.
        self._recorded |= new | dict(recorded)
        self._directory.meant |= recorded

    async def _alert(self, core: Core) -> None:
        condition = delivery_alerts.SLACK_ACCESS.condition()
        async with core.store.begin() as tx:
            if not self._missing.access:
                await alerts.resolve(tx, core, condition)
                return
            said = delivery_alerts.SLACK_ACCESS.says(faults=Lines("\n".join(self._missing.access)))
            await alerts.keep(tx, core, said, condition=condition, subject="slack", program="")

    async def fault(self) -> str | None:
        """For `/readyz`: what Slack does not give us, and what to do."""
        return " ".join(self._missing.access) or None

    async def policy_fault(self) -> str | None:
        """For `/readyz`: why the people whom the policy names cannot meet it."""
        return " ".join(self._missing.policy) or None


_AWAY = _Missing(
    ("Slack does not answer. Messages and approvals wait, and continue when it does.",), is_away=True
)
