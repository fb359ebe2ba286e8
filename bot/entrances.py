"""The ways in: the web server, and Slack's events to the handlers. Opened last, as people can act from then on."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from slack_bolt.async_app import AsyncApp
from slack_sdk.web.async_client import AsyncWebClient

import handlers
from bot import details, intents, metrics, passkey_page, slack_connection, web
from bot.domain.card_details import Manner
from bot.domain.process_roles import Role
from bot.partner.secret import Secret
from bot.services.conversation import Reader
from bot.services.core import Core
from bot.services.events import Webhooks
from bot.services.execution import card_details_access
from bot.services.operators import health
from bot.services.passkeys import page
from bot.slack_names import SlackNames
from bot.startup import CannotStart, Start
from bot.web.connections import Limits
from handlers.background_tasks import AfterAck
from handlers.buttons import passkey_links

if TYPE_CHECKING:
    from bot.language_model import LanguageModel

log = logging.getLogger("countersign.app")

# Of the ten seconds a shutdown may take: what was begun after an ack gets these to end by itself.
DRAIN_S = 3.0


async def open_all(
    start: Start, core: Core, slack: AsyncWebClient, names: SlackNames, webhooks: Webhooks
) -> str:
    """Web server and Slack connection; returns the server's address. Every process answers probes.

    Raises `CannotStart`, and OSError when the address is taken.
    """
    app = await _people(start, core, slack) if Role.SLACK in start.roles else None
    socket = slack_connection.Socket(start.settings, app) if app else None
    takes_deliveries = Role.WEB in start.roles
    server = await web.serve(
        web.build(
            _checks(start, core, slack, names, socket),
            slack_events=slack_connection.http_events(start.settings, app) if app else None,
            receive=webhooks.receive if takes_deliveries else None,
            more=[_details(core), _passkeys(core, slack)] if takes_deliveries else [],
            limits=Limits(proxies=start.settings.proxies),
        ),
        host=start.settings.http_bind.host,
        port=start.settings.http_bind.port,
    )
    start.stack.push_async_callback(server.stop)
    if socket is not None:
        await socket.open(start.stack)
    await _serve_metrics(start, core, socket)
    if app is not None:
        _get_ready_to_read(start)
    return server.url


def _get_ready_to_read(start: Start) -> None:
    """What a start does without and the first text needs, beside whatever is done meanwhile."""
    loading = asyncio.create_task(asyncio.to_thread(intents.load), name="load intents")
    start.stack.push_async_callback(asyncio.wait, {loading})


async def _people(start: Start, core: Core, slack: AsyncWebClient) -> AsyncApp:
    """What answers people. Raises `CannotStart` when Slack has no way to reach it."""
    app = slack_connection.bolt_app(start.settings, slack)
    after = AfterAck()
    start.stack.push_async_callback(after.drain, DRAIN_S)
    reader = Reader(await _language_model(start), keep_unread=start.config.keep_unread)
    handlers.register(app, handlers.Deps(core=core, after=after, reader=reader))
    return app


async def _serve_metrics(start: Start, core: Core, socket: slack_connection.Socket | None) -> None:
    """On an address of their own. The usual one may be taken by another process of ours: then this one has none."""
    bind = start.settings.metrics_bind

    async def slack_connected() -> bool | None:
        return None if socket is None else await socket.fault() is None

    kind = "postgresql" if core.store.database.path is None else "sqlite"
    sources = metrics.Sources(core, slack_connected, kind, core.clock.now())
    try:
        server = await metrics.serve(sources, host=bind.host, port=bind.port)
    except OSError as error:
        why = f"The address of the metrics, {bind}, cannot be used ({error.strerror}). Set COUNTERSIGN_METRICS_BIND."
        if start.settings.is_set("metrics_bind"):
            raise CannotStart(why) from error
        log.warning("metrics.not_served", extra={"fault": why})
        return
    start.stack.push_async_callback(server.stop)
    log.info("metrics.served", extra={"url": f"{server.url}/metrics"})


def _checks(
    start: Start, core: Core, slack: AsyncWebClient, names: SlackNames, socket: slack_connection.Socket | None
) -> dict[str, web.Check]:
    """What `/readyz` looks at."""

    async def slack_fault() -> str | None:
        unconnected = await socket.fault() if socket is not None else None
        return await names.fault() or await slack_connection.fault(slack) or unconnected

    return {
        "database": partial(health.database_is_written, core),
        "key": partial(health.keys_work, core),
        "safe_mode": partial(health.sends, core),
        "stops": partial(health.stops_are_recorded, core),
        "start": partial(health.looked_since_start, core),
        "poller": partial(health.poller_runs, core, start.config.poll.account),
        "slack": slack_fault,
        "policy": names.policy_fault,
        "outbox": partial(health.messages_go_out, core),
    }


def _details(core: Core) -> web.AddTo:
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


def _passkeys(core: Core, slack: AsyncWebClient) -> web.AddTo:
    """The page for passkeys, for the web server; the window in Slack that waits for it follows."""

    async def finish(token: Secret, answer: Mapping[str, Any]) -> page.Done:
        done = await page.finish(core, token, answer)
        await passkey_links.follow(slack, done)
        return done

    return partial(
        passkey_page.add_to,
        open_link=partial(page.open_link, core),
        finish=finish,
        nonce=core.ids.token,
        https=core.passkeys.base_url.startswith("https:"),
    )


async def _language_model(start: Start) -> LanguageModel | None:
    """The optional proposer of readings; None, as by default, where none is set."""
    model = start.config.model
    if model is None:
        return None
    # Only now: most have none.
    from bot.language_model import connected

    key = start.settings.language_model_key
    return await start.stack.enter_async_context(connected(model.url, model.name, key))
