"""The composition root: the only place that constructs things and wires them together.

Started in this order, stopped in the reverse one: database, Partner clients, Slack client, people
and policy, execution and outbox loops, timers, web server, and last the connection that lets people in.
"""

from __future__ import annotations

import asyncio
import logging
import os
import socket
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from ipaddress import ip_address
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
from aiohttp.web import Application, Request, StreamResponse
from slack_bolt.adapter.socket_mode.async_handler import AsyncSocketModeHandler
from slack_bolt.async_app import AsyncApp
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

import handlers
from bot import details, jobs, operations, web
from bot.config import Config
from bot.domain.clock import Clock, SystemClock
from bot.domain.errors import CountersignError
from bot.domain.ids import Ids, system_random
from bot.domain.reveals import Manner, Reveals, origins
from bot.domain.secret import Secret
from bot.engine.embedded import Embedded
from bot.engine.timers import Timers
from bot.language_model import LanguageModel
from bot.operations._base import Operation
from bot.operations.deposit_quote import QuoteDeposit
from bot.partner.access import AccessRefused, check_access, is_loopback
from bot.partner.client import PartnerClient
from bot.partner.errors import PartnerError
from bot.partner.ratelimit import RateLimiter
from bot.services import anchors, execution, health, inbox, people, reveal_opening, threeds
from bot.services.backfill import Backfill
from bot.services.conversation import Reader
from bot.services.core import Channels, Core, alone, no_crash
from bot.services.intake import Intake
from bot.services.leadership import Leader
from bot.services.outbox import Outbox
from bot.services.polling import Poller
from bot.services.relay import Relay, note_destinations
from bot.services.ssrf import Sender
from bot.services.webhooks import Webhooks
from bot.settings import Settings
from handlers.after import AfterAck
from handlers.home import Homes
from handlers.identity import SlackDirectory
from handlers.publish import SlackPublisher
from storage import audit, programs
from storage.ingest import Ingest
from storage.store import Store, Tx
from storage.vault import Keyring, Vault

log = logging.getLogger("countersign.app")

# Of the ten seconds a shutdown may take: what runs gets these to end by itself.
DRAIN_S = 3.0
# How much of the audit chain is checked before the bot starts; `audit verify` checks all of it.
AUDIT_CHECKED_AT_START = 10_000
# Broken loops start again after this pause, so that a lost database does not spin.
RESTART_PAUSE_S = 1.0


class CannotStart(CountersignError):
    """The bot refuses to start; the text says why and what to mend."""

    reason = "cannot_start"


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
    store = await _open_store(settings, clock, stack)
    await _check_audit(store)
    partners, live = await _partners(store, settings, clock, stack)
    slack = slack_client(settings)
    directory = await SlackDirectory.connect(slack)
    ids = Ids(store.instance, system_random(), clock.now)
    owner = f"{socket.gethostname()}:{os.getpid()}:{ids.ulid()}"
    leader = await _leader(store, owner, clock, lease_s, stack)
    carrier = Embedded(due=lambda: execution.due(core), execute=lambda r: execution.execute(core, r))
    core = Core(
        store=store,
        partners=partners,
        kinds=_kinds(config),
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
        reveals=await _reveals(store, details_at or settings.public_url or "", config),
        lease_s=lease_s,
        crash_point=crash_point,
        leads=leader.leads if leader else alone,
    )
    await _check_policy(core)
    await _note_start(core)
    await note_destinations(core)
    stack.push_async_callback(anchors.drop, core, _anchor_file(store))
    publisher = SlackPublisher(slack)
    outbox = Outbox(core, publisher)
    _loop(stack, "home", Homes(core, slack).run)
    _loop(stack, "outbox", partial(leader.while_leading, outbox.run) if leader else outbox.run)
    _loop(stack, "codes", threeds.Sender(core, publisher).run)
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


async def _open_store(settings: Settings, clock: Clock, stack: AsyncExitStack) -> Store:
    if settings.master_key is None:
        raise CannotStart(
            "No master key is set. Set COUNTERSIGN_MASTER_KEY_FILE; `countersign keys new-master` makes one."
        )
    vault = Vault(Keyring.parse(settings.master_key.read().reveal()))
    store = await Store.open(settings.database_url, vault=vault, clock=clock)
    stack.push_async_callback(store.close)
    return store


async def _reveals(store: Store, base_url: str, config: Config) -> Reveals:
    """Where card details are shown, and whose pages may show them: the API's own host and those named."""
    async with store.read() as tx:
        apis = [program.base_url for program in await programs.all(tx)]
    return Reveals(base_url, origins(apis, config.detail_hosts))


def _anchor_file(store: Store) -> Path | None:
    """Beside an SQLite file; PostgreSQL's anchors are in the log and the audit channel."""
    path = store.database.path
    return None if path is None else path.with_name(path.name + ".anchors")


async def _check_audit(store: Store) -> None:
    """With a broken or shortened chain nothing is sent: somebody changed the database behind our back."""
    path = _anchor_file(store)
    try:
        kept = anchors.read(path) if path else []
    except (OSError, ValueError):
        raise CannotStart(
            f"{path} cannot be read as audit anchors. Nothing was started. Restore the file."
        ) from None
    async with store.read() as tx:
        head = await audit.head(tx)
        newest = kept[-1] if kept else None
        if newest is not None and newest.seq > head.seq:
            raise CannotStart(
                f"The database is older than it was at {newest.at}: its audit chain ends at {head.seq}, and {path}"
                f" has seen {newest.seq}. A backup was restored, so requests may have been sent that it does not"
                " know, and sending them again could pay twice. Nothing was started. Put the newer database back;"
                f" or settle every request since that backup against the API's ledger and move {path} away."
            )
        first = max(1, head.seq - AUDIT_CHECKED_AT_START)
        report = await audit.verify(tx, from_seq=first, anchors=[a for a in kept if a.seq >= first][-100:])
    if not report.ok:
        raise CannotStart(
            f"The audit chain is broken at entry {report.first_bad} ({report.kind}): the database was changed by"
            " something else. Nothing was started. Keep the file and look at `countersign audit verify`."
        )


async def _partners(
    store: Store, settings: Settings, clock: Clock, stack: AsyncExitStack
) -> tuple[Mapping[str, PartnerClient], Mapping[str, bool]]:
    """A client for each program; the key of the environment is sealed into the database first."""
    async with store.begin() as tx:
        if settings.partner_url and settings.partner_key:
            await _keep_key(tx, settings.partner_url, settings.partner_key)
        known = await programs.all(tx)
    if not known:
        raise CannotStart(
            "No program has an API key. Set COUNTERSIGN_PARTNER_URL and COUNTERSIGN_PARTNER_KEY, or run"
            " `countersign keys set main`."
        )
    partners, live = {}, {}
    for program in known:
        async with store.read() as tx:
            key = await programs.key(tx, program.name)
        try:
            client = PartnerClient(program.base_url, key, limiter=RateLimiter(clock), clock=clock)
        except AccessRefused as refusal:
            raise CannotStart(f"Program {program.name}: {refusal}") from None
        stack.push_async_callback(client.aclose)
        partners[program.name] = client
        live[program.name] = not is_loopback(httpx.URL(program.base_url))
        await _same_partner(store, program.name, client)
    return partners, live


async def _keep_key(tx: Tx, url: str, key: Secret) -> None:
    """Seal the key of the environment, unless it is the one already sealed."""
    try:
        check_access(url, key)
    except AccessRefused as refusal:
        raise CannotStart(str(refusal)) from None
    found = await programs.get(tx, "main")
    known = found is not None and found.base_url == url
    if known and (await programs.key(tx, "main")).reveal() == key.reveal():
        return
    kept = await programs.put(tx, "main", base_url=url, key=key)
    await audit.append(
        tx, actor="system:app", action="key.set", subject="program:main", body={"prefix": kept.key_prefix}
    )


async def _same_partner(store: Store, program: str, client: PartnerClient) -> None:
    """A key of another account under this program's name is refused; an API that is down is not."""
    try:
        me = await client.me()
    except PartnerError as error:
        log.warning("start.account_not_read", extra={"program": program, "error": str(error)})
        return
    async with store.begin() as tx:
        if not await programs.learn_partner_id(tx, program, me.partner.id):
            raise CannotStart(
                f"The key of program {program} belongs to another account than before. Use another program name"
                " for another account: ids and requests of two accounts must not mix."
            )


def slack_client(settings: Settings) -> AsyncWebClient:
    """The Web API client of the settings, without retries: a repeated post would be a double one."""
    if settings.slack_bot_token is None:
        raise CannotStart("SLACK_BOT_TOKEN is not set.")
    _ignore_proxies_for_loopback(settings.slack_api_url)
    return AsyncWebClient(
        token=settings.slack_bot_token.reveal(), base_url=settings.slack_api_url, retry_handlers=[]
    )


def _ignore_proxies_for_loopback(url: str) -> None:
    """The Slack SDK reads the proxy variables at each request and knows no NO_PROXY, so a stand-in on this
    machine is reached only without them."""
    host = urlsplit(url).hostname or ""
    with suppress(ValueError):
        if host == "localhost" or ip_address(host).is_loopback:
            for name in ("HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"):
                os.environ.pop(name, None)


def _kinds(config: Config) -> Mapping[str, type[Operation]]:
    """Every kind there is; deposits as the agreement has them."""
    configured = {QuoteDeposit.kind: QuoteDeposit.configured(config.deposits)} if config.deposits else {}
    return {**operations.kinds(), **configured}


async def _channels(directory: SlackDirectory, config: Config) -> Channels:
    named = config.channels
    return Channels(
        approvals=await directory.channel(named.approvals),
        alerts=await directory.channel(named.alerts),
        audit=await directory.channel(named.audit) if named.audit else "",
    )


async def _check_policy(core: Core) -> None:
    problems = await people.policy_problems(core)
    if problems:
        raise CannotStart("The policy could never be met. " + " ".join(problems))


async def _note_start(core: Core) -> None:
    async with core.store.begin() as tx:
        await audit.append(
            tx,
            actor="system:app",
            action="policy.loaded",
            subject="policy",
            body={"programs": sorted(core.partners)},
            policy_version=core.policy.version,
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
        anchor_file=_anchor_file(core.store),
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
        raise CannotStart("Set SLACK_APP_TOKEN (Socket Mode) or SLACK_SIGNING_SECRET (HTTP mode).")
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

    async def open_link(token: Secret, manner: Manner) -> reveal_opening.Shown:
        return await reveal_opening.open_link(core, token, manner)

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
