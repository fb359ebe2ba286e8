"""The composition root: the only place that constructs things and wires them together.

Started in this order, stopped in the reverse one: database, Partner clients, Slack client, people
and policy, execution and outbox loops, timers, web server, and last the connection that lets people in.
"""

from __future__ import annotations

import asyncio
import logging
import os
import socket
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Any
from urllib.parse import urlsplit

import httpx
from aiohttp.web import Application, Request, StreamResponse
from slack_bolt.adapter.socket_mode.async_handler import AsyncSocketModeHandler
from slack_bolt.async_app import AsyncApp
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

import handlers
from bot import details, foundation, jobs, web
from bot.config import Config, Settings
from bot.domain.card_details import Manner
from bot.domain.ids import Ids, system_random
from bot.domain.secret import Secret
from bot.domain.time.clock import Clock, SystemClock
from bot.engine.embedded import Embedded
from bot.engine.timers import Timers
from bot.language_model import LanguageModel
from bot.partner.loopback import is_loopback
from bot.services.conversation.dialog import Reader
from bot.services.core import Channels, Core, alone, no_crash
from bot.services.events import inbox, otp_delivery
from bot.services.events.backfill import Backfill
from bot.services.events.intake import Intake
from bot.services.events.polling import Poller
from bot.services.events.relay import Relay, note_destinations
from bot.services.events.ssrf import Sender
from bot.services.events.webhooks import Webhooks
from bot.services.execution import card_details_access
from bot.services.execution import executor as execution
from bot.services.messages import audit_anchors
from bot.services.messages.delivery import Outbox
from bot.services.operators import health
from bot.services.operators.leadership import Leader
from handlers.background_tasks import AfterAck
from handlers.home import Homes
from handlers.slack_api.directory import SlackDirectory
from handlers.slack_api.publish import SlackPublisher
from storage.events.ingest import Ingest
from storage.store import Store

log = logging.getLogger("countersign.app")

# Of the ten seconds a shutdown may take: what runs gets these to end by itself.
DRAIN_S = 3.0
# Broken loops start again after this pause, so that a lost database does not spin.
RESTART_PAUSE_S = 1.0


@dataclass(slots=True)
class Running:
    """A started bot. `url` is where its web server answers."""

    core: Core
    outbox: Outbox
    url: str
    _stack: AsyncExitStack

    async def stop(self) -> None:
        """Let no new work in, let what runs end, give everything back. Loses nothing that was committed."""
        await self._stack.aclose()


async def start(
    settings: Settings,
    config: Config,
    *,
    clock: Clock | None = None,
    crash_point: Callable[[str], None] = no_crash,
    lease_s: float = 30.0,
    details_at: str = "",
    sender: Callable[[], Sender] = Sender,
) -> Running:
    """Start everything; on any refusal what was started is stopped again.

    `details_at`: where browsers reach the page of card details, if not at the public address.
    Raises `CannotStart`, storage errors (wrong key, database in use) and `LookupFailed`.
    """
    async with AsyncExitStack() as stack:
        core, outbox, url = await _start(
            settings, config, clock or SystemClock(), crash_point, lease_s, details_at, sender, stack
        )
        return Running(core, outbox, url, stack.pop_all())


async def _start(
    settings: Settings,
    config: Config,
    clock: Clock,
    crash_point: Callable[[str], None],
    lease_s: float,
    details_at: str,
    sender: Callable[[], Sender],
    stack: AsyncExitStack,
) -> tuple[Core, Outbox, str]:
    store = await foundation.open_store(settings, clock, stack)
    await foundation.check_audit(store)
    partners, live = await foundation.partners(store, settings, clock, stack)
    slack = slack_client(settings)
    directory = await SlackDirectory.connect(slack)
    ids = Ids(store.instance, system_random(), clock.now)
    owner = f"{socket.gethostname()}:{os.getpid()}:{ids.ulid()}"
    leader = await _leader(store, owner, clock, lease_s, stack)
    carrier = Embedded(due=lambda: execution.due(core), execute=lambda r: execution.execute(core, r))
    core = Core(
        store=store,
        partners=partners,
        kinds=foundation.kinds(config),
        policy=config.policy,
        channels=await _channels(directory, config),
        directory=directory,
        carrier=carrier,
        clock=clock,
        ids=ids,
        owner=owner,
        live=live,
        alerting=config.alerting,
        destinations=config.destinations,
        public_url=settings.public_url or "",
        reveals=await foundation.reveals(store, details_at or settings.public_url or "", config),
        lease_s=lease_s,
        crash_point=crash_point,
        leads=leader.leads if leader else alone,
    )
    await foundation.check_policy(core)
    await foundation.note_start(core)
    await note_destinations(core)
    stack.push_async_callback(audit_anchors.drop, core, foundation.anchor_file(store))
    outbox = _messages(core, slack, leader, stack)
    _loop(stack, "engine", carrier.run)
    if config.destinations:
        _loop(stack, "relay", Relay(core, sender).run)
    stack.push_async_callback(carrier.drain, DRAIN_S)
    intake = await _intake(core, stack)
    webhooks, backfill = Webhooks(core, intake), Backfill(core, intake)
    poller = Poller(core, account_every=config.poll.account)
    if core.leads():
        await _first_readings(poller, backfill)
    _timers(core, config, poller, webhooks, backfill, stack)
    server = await _let_people_in(settings, config, core, webhooks, slack, stack)
    return core, outbox, server.url


def _messages(core: Core, slack: AsyncWebClient, leader: Leader | None, stack: AsyncExitStack) -> Outbox:
    """The loops that write to Slack: owed messages, Home, one-time codes."""
    publisher = SlackPublisher(slack)
    outbox = Outbox(core, publisher)
    _loop(stack, "home", Homes(core, slack).run)
    _loop(stack, "outbox", partial(leader.while_leading, outbox.run) if leader else outbox.run)
    _loop(stack, "codes", otp_delivery.Sender(core, publisher).run)
    return outbox


async def _leader(
    store: Store, owner: str, clock: Clock, lease_s: float, stack: AsyncExitStack
) -> Leader | None:
    """Which process of several watches and posts; None where the database's file lock leaves only one."""
    if store.database.path is not None:
        return None
    leader = Leader(store, owner, clock, lease=timedelta(seconds=lease_s))
    await leader.ask()
    stack.push_async_callback(leader.resign)
    _loop(stack, "leader", leader.run)
    return leader


def slack_client(settings: Settings) -> AsyncWebClient:
    """The Web API client of the settings, without retries: a repeated post would be a double one."""
    if settings.slack_bot_token is None:
        raise foundation.CannotStart("SLACK_BOT_TOKEN is not set.")
    _ignore_proxies_for_loopback(settings.slack_api_url)
    return AsyncWebClient(
        token=settings.slack_bot_token.reveal(), base_url=settings.slack_api_url, retry_handlers=[]
    )


def _ignore_proxies_for_loopback(url: str) -> None:
    """The Slack SDK reads the proxy variables at each request and knows no NO_PROXY, so a stand-in on this
    machine is reached only without them."""
    if is_loopback(urlsplit(url).hostname or ""):
        for name in ("HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"):
            os.environ.pop(name, None)


async def _channels(directory: SlackDirectory, config: Config) -> Channels:
    named = config.channels
    return Channels(
        approvals=await directory.channel(named.approvals),
        alerts=await directory.channel(named.alerts),
        audit=await directory.channel(named.audit) if named.audit else "",
    )


async def _intake(core: Core, stack: AsyncExitStack) -> Intake:
    """The way into the inbox, and the loop that handles what is in it."""
    ingest = await Ingest.open(core.store, core.clock)
    stack.push_async_callback(ingest.close)
    _loop(stack, "inbox", lambda: inbox.run(core))
    return Intake(ingest, core.codes, core.clock, core.inbox_bell.set, core.crash_point)


async def _first_readings(poller: Poller, backfill: Backfill) -> None:
    """People can name cards from the first command on, and hear of what happened while the bot was away, if
    the API answers within a moment."""
    with suppress(TimeoutError):
        async with asyncio.timeout(2):
            await poller.account()
            await poller.cards()
            await backfill.run_once()
            await poller.funding()


def _timers(
    core: Core,
    config: Config,
    poller: Poller,
    webhooks: Webhooks,
    backfill: Backfill,
    stack: AsyncExitStack,
) -> None:
    timers = Timers()
    for job in jobs.table(
        core,
        account=config.poll.account,
        funding=config.poll.funding,
        events=config.poll.events,
        cards=config.poll.cards,
        ledger=config.poll.ledger,
        poller=poller,
        webhooks=webhooks,
        backfill=backfill,
        anchor_file=foundation.anchor_file(core.store),
        keeps=config.retention,
    ):
        timers.every(job.name, job.seconds, job.run)
    timers.start()
    stack.callback(timers.stop)


async def _let_people_in(
    settings: Settings,
    config: Config,
    core: Core,
    webhooks: Webhooks,
    slack: AsyncWebClient,
    stack: AsyncExitStack,
) -> web.Server:
    """Web server and Slack connection; people can act from here on."""
    secret = settings.slack_signing_secret
    if settings.slack_app_token is None and secret is None:
        raise foundation.CannotStart("Set SLACK_APP_TOKEN (Socket Mode) or SLACK_SIGNING_SECRET (HTTP mode).")
    # `process_before_response`: the default looks for the ack every 10 ms; here it goes out at once.
    app = AsyncApp(
        client=slack,
        signing_secret=secret.reveal() if secret else None,
        request_verification_enabled=secret is not None,
        process_before_response=True,
    )
    after = AfterAck()
    stack.push_async_callback(after.drain, DRAIN_S)
    reader = Reader(await _language_model(settings, config, stack))
    handlers.register(app, handlers.Deps(core=core, after=after, reader=reader))
    events = None
    if settings.slack_app_token is None:
        from slack_bolt.adapter.aiohttp import to_aiohttp_response, to_bolt_request

        async def answer(request: Request) -> StreamResponse:
            return await to_aiohttp_response(await app.async_dispatch(await to_bolt_request(request)))

        events = answer
    checks: dict[str, web.Check] = {
        "database": lambda: _database_answers(core),
        "key": lambda: health.keys_work(core),
        "poller": lambda: health.poller_runs(core, config.poll.account),
        "slack": lambda: _slack_answers(slack),
    }
    server = await web.serve(
        web.build(checks, slack_events=events, receive=webhooks.receive, more=[_details(core)]),
        host=settings.http_bind.host,
        port=settings.http_bind.port,
    )
    stack.push_async_callback(server.stop)
    if settings.slack_app_token is not None:
        connection: Any = AsyncSocketModeHandler(
            app, settings.slack_app_token.reveal()
        )  # its methods are untyped
        await connection.connect_async()
        stack.push_async_callback(connection.close_async)
    return server


def _details(core: Core) -> Callable[[Application], None]:
    """The page of card details, for the web server."""

    async def open_link(token: Secret, manner: Manner) -> card_details_access.Shown:
        return await card_details_access.open_link(core, token, manner)

    return partial(
        details.add_to,
        open_link=open_link,
        origins=core.reveals.origins,
        nonce=core.ids.token,
        https=core.reveals.base_url.startswith("https:"),
    )


async def _language_model(settings: Settings, config: Config, stack: AsyncExitStack) -> LanguageModel | None:
    """The optional proposer of readings; None, as by default, where none is set."""
    if config.model is None:
        return None
    client = await stack.enter_async_context(httpx.AsyncClient())
    return LanguageModel(config.model.url, config.model.name, settings.language_model_key, client=client)


async def _database_answers(core: Core) -> str | None:
    await core.store.ping()
    return None


async def _slack_answers(slack: AsyncWebClient) -> str | None:
    try:
        await slack.auth_test()
    except SlackApiError as error:
        return f"Slack answers {error.response['error']}"
    return None


def _loop(stack: AsyncExitStack, name: str, run: Callable[[], Awaitable[None]]) -> None:
    """Keep `run` running until the stack closes; an error is logged and it starts again."""

    async def supervised() -> None:
        while True:
            try:
                await run()
            except Exception:  # whatever ended it, the work has to go on
                log.exception("app.loop_failed", extra={"loop": name})
            await asyncio.sleep(RESTART_PAUSE_S)

    task = asyncio.create_task(supervised(), name=name)

    async def stop() -> None:
        task.cancel()
        await asyncio.wait({task})

    stack.push_async_callback(stop)
