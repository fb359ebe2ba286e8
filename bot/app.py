"""The composition root: builds the parts of the bot, wires them together and starts them.

Started in this order, stopped in the reverse one: database, Partner clients, Slack client, people
and policy, execution and outbox loops, timers, web server, and last the connection that lets people in.

    startup            what must be right before anything starts, and what may be replaced: `Overrides`
    app                the parts, the loops that keep them working, the timers
    jobs               what runs on a timer
    slack_names        the workspace, its channels and groups: asked of Slack, and what it refuses reported
    slack_connection   the client, and how Slack reaches the bot
    entrances          the web server and Slack's events
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol

from slack_sdk.web.async_client import AsyncWebClient

from bot import entrances, jobs, slack_connection, startup
from bot.config import Config, Settings
from bot.domain import shared_work
from bot.domain.ids import Ids
from bot.domain.process_roles import ALL, Role
from bot.domain.time import SystemClock
from bot.engine.carried import Due, Execute
from bot.engine.embedded import Embedded
from bot.services import audit_anchors, execution
from bot.services.anchor_places import AnchorPlaces
from bot.services.core import Carrier, Core, alone, never
from bot.services.events import (
    Backfill,
    Intake,
    Poller,
    Relay,
    Webhooks,
    inbox,
    note_destinations,
    otp_delivery,
)
from bot.services.messages import Outbox, request_links, storage_watch
from bot.services.older_copies import copy_detection, messages_in_slack
from bot.services.operators import changed_rows, draft_only, late_stops, safe_mode
from bot.services.passkeys import readiness
from bot.services.processes import Locks, Replica, StoredLooks
from bot.slack_names import SlackNames
from bot.startup import Overrides, Start
from handlers.home import Homes
from handlers.slack_api import SlackDirectory, SlackPublisher, announce, posted_anchors, posted_messages
from storage.database import process_name
from storage.events import Ingest
from storage.store import Store

log = logging.getLogger("countersign.app")

# A shutdown may take `serving.SHUTDOWN_S`. What runs gets these of it to end by itself.
DRAIN_S = 7.0
# And places for anchors what is left of these.
LAST_ANCHOR_BY_S = 9.0
# Broken loops start again after this pause, so that a lost database does not spin.
RESTART_PAUSE_S = 1.0


class Carries(Carrier, Protocol):
    """A carrier as it is started and ended: `Embedded` or `Distributed`."""

    async def run(self, due: Due, execute: Execute) -> None: ...

    def close(self) -> None: ...

    async def drain(self, timeout_s: float) -> None: ...


@dataclass(frozen=True, slots=True)
class Parts:
    """What was built and checked, and does nothing yet. `locks` is None where there is no other process, and where this
    one does no work that is shared."""

    core: Core
    carrier: Carries
    slack: AsyncWebClient
    names: SlackNames
    locks: Locks | None


@dataclass(frozen=True, slots=True)
class Running:
    """A started bot. `url` is where its web server answers."""

    parts: Parts
    url: str
    _stack: AsyncExitStack

    @property
    def core(self) -> Core:
        """What every use case is given."""
        return self.parts.core

    async def stop(self) -> None:
        """Let no new work in, let others go on with what is shared, let what runs end, give everything back.

        Loses nothing that was committed."""
        self.core.closing.set()
        self.parts.carrier.close()
        if self.parts.locks is not None:
            await self.parts.locks.resign()
        await self._stack.aclose()


async def start(
    settings: Settings,
    read_config: Callable[[], Config],
    overrides: Overrides | None = None,
    *,
    roles: frozenset[Role] = ALL,
) -> Running:
    """Start everything, or what belongs to these roles; on any refusal what was started is stopped again.

    `read_config` reads the file, and is called again in each try, as others may go by a newer file by then.

    Whatever Slack refuses to say, it starts. Rows that cannot be read are left out. Raises `CannotStart`, storage
    errors (wrong key, database in use, a row that cannot be read and is needed), and OSError when the address of the
    web server is taken.
    """
    overrides = overrides or Overrides()
    begun = Start(settings, read_config(), overrides, AsyncExitStack(), roles)
    while True:
        try:
            return await _start(begun, read_config)
        except Exception as error:
            found = await startup.unreadable(begun, error)
            if not found:
                raise
            begun = replace(begun, unreadable=[*begun.unreadable, *found])


async def _start(given: Start, read_config: Callable[[], Config]) -> Running:
    async with AsyncExitStack() as stack:
        begun = replace(given, stack=stack)
        store = await startup.open_store(begun)
        anchors = startup.anchor_places(begun, store)
        older = await startup.check_audit(store, anchors)
        read = await startup.read_with_log(store, read_config)
        begun = replace(begun, config=read.config)
        parts = await _build(begun, store, read.after, anchors, older)
        stack.push_async_callback(_drop_last_anchor, parts.core)
        if Role.WORKER in begun.roles:
            await copy_detection.hold_until_seen(parts.core)
        _keep_running(begun, store, "anchors", partial(audit_anchors.drop_at_stops, parts.core))
        _write_to_slack(begun, parts)
        _execute_requests(begun, parts)
        watchers = await _watch(begun, parts)
        await _first_readings(watchers)
        await _start_timers(begun, parts, watchers)
        open_doors = begun.overrides.doors or entrances.open_all
        url = await open_doors(begun, parts.core, parts.slack, parts.names, watchers.webhooks)
        return Running(parts, url, stack.pop_all())


async def _drop_last_anchor(core: Core) -> None:
    await audit_anchors.drop_last(core, within_s=core.closing.left_s(LAST_ANCHOR_BY_S))


async def _build(
    begun: Start, store: Store, read_after: int, anchors: AnchorPlaces, older: startup.OlderCopy | None
) -> Parts:
    """Everything that must be right, checked in the order in which one needs another."""
    clock = begun.overrides.clock
    ids = Ids(store.instance, begun.overrides.random, clock.now)
    owner = f"{process_name()}:{ids.ulid()}"
    startup.trace(begun, store, owner)
    programs = await startup.programs(begun, store, owner)
    slack = begun.overrides.slack or slack_connection.client(begun.settings, begun.measures.traces)
    keyed = partial(startup.mailbox_key, store.vault)
    directory = SlackDirectory(slack, home_team="", sleep=clock.sleep, clock=clock.monotonic, keyed=keyed)
    if store.database.path is None:
        directory.shared = StoredLooks(store, owner, clock)
    names = SlackNames(store, directory, begun.config)
    locks = await _locks(begun, store, owner, programs.clients)
    if store.database.path is None:
        replica = Replica(store, owner, begun.roles)
        begun.stack.push_async_callback(replica.end)
        _keep_running(begun, store, "replica", replica.run)
    carrier = _carrier(store, programs.clients)
    core = Core(
        store=store,
        partners=programs.clients,
        kinds=startup.kinds(begun.config),
        policy=begun.config.policy,
        channels=await names.at_start(),
        directory=directory,
        carrier=carrier,
        clock=clock,
        ids=ids,
        owner=owner,
        live=programs.live,
        alerting=begun.config.alerting,
        destinations=begun.config.destinations,
        public_url=begun.settings.public_url or "",
        reveals=await startup.reveals(begun, store),
        measures=begun.measures,
        anchors=anchors,
        passkeys=startup.passkey_site(begun),
        lease_s=begun.overrides.lease_s,
        crash_point=begun.overrides.crash_point,
        holds=locks.holds if locks else alone if Role.WORKER in begun.roles else never,
    )
    if older is None and core.channels.audit:
        posted = partial(posted_anchors, slack, core.channels.audit)
        older = await startup.check_audit_channel(store, posted)
    startup.check_names(await names.unknown(core))
    if older is not None:
        await safe_mode.enter(core, older.head, older.anchor, older.lost)
    # In safe mode, too: what was lost is noted, and whether this is a copy that was made in it.
    read_posted = _read_posted(core, slack)
    await copy_detection.look_at_slack(core, read_posted, holds=Role.WORKER in begun.roles)
    await startup.note_start(core, read_after=read_after)
    await safe_mode.at_start(core)
    await changed_rows.note_signed(core)
    await changed_rows.undo_what_was_put_back(core)
    await draft_only.at_start(core, is_on=begun.config.channels.draft_only)
    await note_destinations(core)
    await names.report(core)
    await startup.report_anchors_missing(begun.settings, begun.config, core)
    _keep_running(begun, store, "slack names", partial(names.watch, core))
    if core.passkeys.base_url:
        _keep_running(begun, store, "passkeys", partial(readiness.learn, core))
    if locks is not None:
        locks.when_gained = partial(_ring, core)
    return Parts(core, carrier, slack, names, locks)


def _read_posted(core: Core, slack: AsyncWebClient) -> messages_in_slack.ReadPosted:
    return partial(posted_messages, slack, instance=core.store.instance)


def _carrier(store: Store, programs: Collection[str]) -> Carries:
    """In memory for the one process of an SQLite file; in the database for any number on PostgreSQL."""
    address = store.database.libpq
    if not address:
        return Embedded()
    # Only now: what has one process does without procrastinate.
    from bot.engine.distributed import Distributed

    return Distributed(address, execution.every_queue(programs))


async def _locks(begun: Start, store: Store, owner: str, programs: Collection[str]) -> Locks | None:
    """What each of several processes does; None where the database's file lock leaves only one, and in a process that
    does not work."""
    if store.database.path is not None or Role.WORKER not in begun.roles:
        return None
    # Leases run on the database's clock, so not on one that is put in place of the machine's.
    return await _begin_locks(begun, store, Locks(store, owner, SystemClock()), programs)


async def _begin_locks(begun: Start, store: Store, locks: Locks, programs: Collection[str]) -> Locks:
    """Ask for what is always to be done by one of the processes, and go on asking."""
    await locks.keep([*shared_work.ALWAYS, *shared_work.of_programs(programs)])
    begun.stack.push_async_callback(locks.resign)
    _keep_running(begun, store, "locks", locks.run)
    return locks


def _ring(core: Core) -> None:
    """What waits for a lock is looked at now."""
    core.outbox_bell.set()
    core.inbox_bell.set()


def _write_to_slack(begun: Start, parts: Parts) -> None:
    """The loops that write to Slack: Home, messages of the outbox, one-time codes where some may come in."""
    roles = begun.roles
    publisher = SlackPublisher(
        parts.slack, partial(request_links.of, parts.core), instance=parts.core.store.instance
    )
    outbox = Outbox(parts.core, publisher)
    parts.names.when_back = outbox.try_again
    if roles & {Role.SLACK, Role.WORKER}:
        _keep_running(begun, parts.core.store, "home", Homes(parts.core, parts.slack).run)
    if Role.WORKER in roles:
        _keep_running(begun, parts.core.store, "outbox", outbox.run)
    if roles & {Role.WEB, Role.WORKER}:
        _keep_running(begun, parts.core.store, "codes", otp_delivery.Sender(parts.core, publisher).run)
    say = partial(announce, parts.slack, parts.core.channels)
    _keep_running(begun, parts.core.store, "storage", storage_watch.StorageWatch(parts.core, say).run)
    _keep_running(begun, parts.core.store, "stops", late_stops.LateStops(parts.core, say).run)


def _execute_requests(begun: Start, parts: Parts) -> None:
    """The loops that send: approved requests to the API, events to other systems."""
    if Role.WORKER not in begun.roles:
        return
    core, carrier = parts.core, parts.carrier
    # Stopped in the reverse order: the loop first, then what it began is waited for.
    begun.stack.push_async_callback(carrier.drain, DRAIN_S)
    work = partial(carrier.run, due=partial(execution.due, core), execute=partial(execution.execute, core))
    _keep_running(begun, core.store, "engine", work)
    if core.destinations:
        _keep_running(begun, core.store, "relay", Relay(core, begun.overrides.sender).run)


async def _watch(begun: Start, parts: Parts) -> jobs.Watchers:
    """The way into the inbox, the loop that handles what is in it, and those who bring something in."""
    core = parts.core
    ingest = await Ingest.open(core.store, core.clock)
    begun.stack.push_async_callback(ingest.close)
    if begun.roles & {Role.WEB, Role.WORKER}:  # without the worker: the codes that this process has received
        _keep_running(begun, core.store, "inbox", partial(inbox.run, core))
    intake = Intake(ingest, core.codes, core.clock, core.inbox_bell.set, core.crash_point)
    look = partial(copy_detection.look_at_ledger, core)
    poller = Poller(core, account_every=begun.config.poll.account, before_ledger=look)
    read_posted = _read_posted(core, parts.slack)
    return jobs.Watchers(poller, Webhooks(core, intake), Backfill(core, intake), read_posted)


async def _first_readings(watchers: jobs.Watchers) -> None:
    """People can name cards from the first command on, and see what happened while the bot was away, if
    the API answers within a moment."""
    with suppress(TimeoutError):
        async with asyncio.timeout(2):
            await watchers.poller.account()
            await watchers.poller.cards()
            await watchers.backfill.run_once()
            await watchers.poller.funding()


async def _start_timers(begun: Start, parts: Parts, watchers: jobs.Watchers) -> None:
    timers = begun.overrides.timers()
    works = Role.WORKER in begun.roles
    table = jobs.table(parts.core, watchers, begun.config.poll, begun.config.retention)
    if parts.locks is not None:
        await parts.locks.keep({job.lock for job in table if job.lock})
    for job in table:
        if works or job.name in jobs.OF_ITS_OWN:
            timers.every(job.name, job.seconds, job.run)
    timers.start()
    begun.stack.callback(timers.stop)


def _keep_running(begun: Start, store: Store, name: str, run: Callable[[], Awaitable[None]]) -> None:
    """Keep `run` running until the stack closes; an error is logged and it starts again."""

    async def supervised() -> None:
        while True:
            try:
                await run()
            except Exception as error:  # whatever ended it, the work has to go on
                log.exception("app.loop_failed", extra={"loop": name})
                store.suspect(error)
            await asyncio.sleep(RESTART_PAUSE_S)

    task = asyncio.create_task(supervised(), name=name)

    async def stop() -> None:
        task.cancel()
        await asyncio.wait({task})

    begun.stack.push_async_callback(stop)
