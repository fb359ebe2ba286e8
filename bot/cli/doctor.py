"""`countersign doctor`: try everything the bot needs, and say what to fix. It changes nothing.

Each check is one finding: well, worth knowing, or wrong with its fix. Checks that need an earlier one
are left out when that one fails, so the list names causes, not consequences.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from bot.cli.errors import ExitCode, explain

if TYPE_CHECKING:
    from bot.config import Config, Model, Settings
    from bot.partner.errors import PartnerError
    from bot.partner.models import Me
    from bot.services.core import Directory
    from handlers.slack_api import SlackDirectory
    from storage.store import Store

MANIFEST = Path(__file__).with_name("manifest.yml")
# What this version calls [Authentication 5]; and scopes that nothing here uses yet.
NEEDED_SCOPES = ("cards:read", "cards:write", "users:read", "users:write")
# Used where browsers can reach the page of card details.
DETAILS_SCOPE = "cards:pan"
UNUSED_SCOPES = (DETAILS_SCOPE, "deposits:read", "deposits:write")
# Slack refuses signatures, and we refuse deliveries, that are 300 s off.
CLOCK_TOLERANCE = timedelta(seconds=60)


class Level(StrEnum):
    WELL = "✓"
    KNOW = "!"
    WRONG = "✗"


@dataclass(frozen=True, slots=True)
class Finding:
    """One check's result; `text` says what is so and, where it is wrong, what to do."""

    level: Level
    text: str


async def run_doctor() -> bool:
    """Print every finding as it comes; True when nothing is wrong."""
    worst_is_wrong = False
    async for finding in examine():
        typer.echo(f"{finding.level} {finding.text}")
        worst_is_wrong |= finding.level is Level.WRONG
    return not worst_is_wrong


async def examine() -> AsyncIterator[Finding]:
    """All findings, in the order in which things depend on each other."""
    from bot.config import Config, Need, Settings

    try:
        settings = Settings.from_env(os.environ, need=(Need.SLACK, Need.MASTER_KEY))
        yield Finding(Level.WELL, "The settings are complete.")
        config = Config.load(settings.config_path)
        yield Finding(Level.WELL, f"{settings.config_path} is valid; policy version {config.digest[:12]}.")
    except Exception as error:  # noqa: BLE001  reported below, or raised again where it is our own fault
        for finding in _wrong(error):
            yield finding
        return
    async with AsyncExitStack() as stack:
        async for finding in _slack(settings, config):
            yield finding
        if config.model is not None:
            yield await _language_model(settings, config.model)
        async for finding in _database(settings, stack):
            yield finding


def _wrong(error: Exception) -> list[Finding]:
    """What a person can fix, in its own words; anything else is a bug and is raised."""
    known = explain(error)
    if known is None:
        raise error
    return [Finding(Level.WRONG, sentence) for sentence in known[0]]


async def _slack(settings: Settings, config: Config) -> AsyncIterator[Finding]:
    from bot import slack_connection
    from bot.domain import slack_faults
    from bot.domain.errors import LookupFailed
    from handlers.slack_api import SlackDirectory, token_checks

    client = slack_connection.client(settings)
    try:
        directory = await SlackDirectory.connect(client)
    except LookupFailed as error:
        yield Finding(Level.WRONG, slack_faults.explained(error.code))
        return
    token = await token_checks.bot_token(client)
    if isinstance(token, str):
        yield Finding(Level.WRONG, slack_faults.explained(token))
        return
    yield Finding(Level.WELL, f"Slack takes the bot token: {token.user} in {token.team}.")
    yield _scopes_at_slack(token.scopes)
    if token.slack_time is not None:
        yield _clock("Slack", token.slack_time)
    if settings.slack_app_token is not None:
        yield _app_token(await token_checks.app_token_fault(client, settings.slack_app_token.reveal()))
    channels = [config.channels.approvals, config.channels.alerts, config.channels.audit]
    for name in filter(None, channels):
        yield await _channel(name, directory)
    groups = {*config.policy.people.requesters, *config.policy.people.approvers, *config.policy.people.admins}
    for name in sorted(groups):
        yield await _found(f"{name}", partial(directory.members, [name]))
    async for finding in _policy(config, directory):
        yield finding


async def _language_model(settings: Settings, model: Model) -> Finding:
    from bot.language_model import fault_of

    fault = await fault_of(model.url, model.name, settings.language_model_key)
    if fault is None:
        return Finding(Level.WELL, f"The language model {model.name} answers as it should.")
    return Finding(Level.WRONG, f"The language model {model.name}: {fault} Without it everything else works.")


async def _channel(name: str, directory: SlackDirectory) -> Finding:
    """Is it there, and may Countersign post in it?"""
    from bot.domain import slack_faults
    from bot.domain.errors import LookupFailed

    try:
        code = await directory.channel_fault(await directory.channel(name))
    except LookupFailed as error:
        code = error.code
    if code:
        return Finding(Level.WRONG, slack_faults.explained(code, name))
    return Finding(Level.WELL, f"Channel {name} is there, and Countersign is in it.")


async def _found(what: str, look: Callable[[], Awaitable[object]]) -> Finding:
    from bot.domain import slack_faults
    from bot.domain.errors import LookupFailed, UnknownName

    try:
        found = await look()
    except UnknownName:
        text = (
            f"Slack knows no user group and no person named {what}. Create it, or correct countersign.toml."
        )
        return Finding(Level.WRONG, text)
    except LookupFailed as error:
        return Finding(Level.WRONG, f"{what}: {slack_faults.explained(error.code)}")
    people = f" ({len(found)} people)" if isinstance(found, frozenset) else ""
    return Finding(Level.WELL, f"{what} is there{people}.")


async def _policy(config: Config, directory: Directory) -> AsyncIterator[Finding]:
    from bot import operations
    from bot.domain.errors import LookupFailed
    from bot.domain.people import never_met

    people = config.policy.people
    try:
        requesters = await directory.members(people.requesters) if people.requesters else None
        approvers = await directory.members(people.approvers)
    except LookupFailed:
        return  # the name that is not there has its own finding
    problems = never_met(config.policy, operations.listed(operations.kinds()), requesters, approvers)
    for problem in problems:
        yield Finding(Level.WRONG, problem)
    if not problems:
        yield Finding(Level.WELL, "Every policy can be met by its approvers.")


def _scopes_at_slack(given: frozenset[str] | None) -> Finding:
    import yaml

    if given is None:
        return Finding(Level.KNOW, "Slack did not say which scopes the token has; compare with manifest.yml.")
    manifest = yaml.safe_load(MANIFEST.read_text())
    missing = set(manifest["oauth_config"]["scopes"]["bot"]) - given
    if missing:
        return Finding(
            Level.WRONG,
            f"The Slack app lacks the scopes {', '.join(sorted(missing))}: update it from manifest.yml and install"
            " it again.",
        )
    return Finding(Level.WELL, "The Slack app has every scope of manifest.yml.")


def _app_token(fault: str | None) -> Finding:
    if fault is None:
        return Finding(Level.WELL, "Slack takes the app token: Socket Mode can connect.")
    return Finding(
        Level.WRONG, f"SLACK_APP_TOKEN: Slack answers {fault}. Make one with the scope connections:write."
    )


def _clock(whose: str, theirs: datetime) -> Finding:
    off = abs(datetime.now(UTC) - theirs)  # noqa: TID251 - the clock itself is what is examined
    if off > CLOCK_TOLERANCE:
        return Finding(
            Level.WRONG,
            f"This machine's clock is {off.total_seconds():.0f} s away from {whose}'s. Set it right: signatures and"
            " approvals depend on it.",
        )
    return Finding(Level.WELL, f"This machine's clock agrees with {whose}'s.")


async def _database(settings: Settings, stack: AsyncExitStack) -> AsyncIterator[Finding]:
    from bot.cli.environment import open_store
    from storage import audit

    try:
        store = await stack.enter_async_context(open_store(beside_the_bot=True))
        async with store.read() as tx:
            report = await audit.verify(tx)
    except Exception as error:  # noqa: BLE001  reported in a sentence, or raised again where it is our own fault
        for finding in _wrong(error):
            yield finding
        return
    yield Finding(Level.WELL, "The database is at this version, and the master key fits it.")
    if report.ok:
        yield Finding(Level.WELL, f"The audit chain is whole: {report.count} entries.")
    else:
        yield Finding(
            Level.WRONG,
            f"The audit chain is broken at entry {report.first_bad} ({report.kind}). Keep the file.",
        )
    yield await messages(store)
    async for finding in _partners(store, settings):
        yield finding


async def messages(store: Store) -> Finding:
    """Do messages wait for Slack?"""
    from bot.services.messages import waiting as waiting_messages
    from bot.services.operators import health

    async with store.read() as tx:
        waiting = await waiting_messages.now(tx)
        is_late = waiting is not None and waiting.since < tx.now - waiting_messages.LATE_AFTER
    if waiting is None or not is_late:
        return Finding(Level.WELL, "No message waits for Slack.")
    return Finding(Level.WRONG, health.messages_wait(waiting))


async def _partners(store: Store, settings: Settings) -> AsyncIterator[Finding]:
    from storage.operators import programs

    async with store.read() as tx:
        known = {p.name: (p.base_url, await programs.key(tx, p.name)) for p in await programs.all(tx)}
    if settings.partner_url and settings.partner_key:
        known["main"] = (settings.partner_url, settings.partner_key)
    if not known:
        yield Finding(Level.WRONG, "No program has an API key: run `countersign keys set main`.")
    for name, (url, key) in sorted(known.items()):
        async for finding in _partner(name, url, key.reveal(), shows_details=bool(settings.public_url)):
            yield finding


async def _partner(name: str, url: str, key: str, *, shows_details: bool) -> AsyncIterator[Finding]:
    from bot.domain.time import SystemClock
    from bot.partner.client import PartnerClient
    from bot.partner.errors import PartnerError
    from bot.partner.key_guard import AccessRefused
    from bot.partner.ratelimit import RateLimiter

    clock = SystemClock()
    try:
        client = PartnerClient(url, key, limiter=RateLimiter(clock), clock=clock)
    except AccessRefused as refusal:
        yield Finding(Level.WRONG, f"Program {name}: {refusal}")
        return
    try:
        me = await client.me()
    except PartnerError as error:
        yield Finding(Level.WRONG, f"Program {name}: {_api_trouble(error, name, url)}")
        return
    finally:
        await client.aclose()
    yield Finding(
        Level.WELL, f"Program {name}: the API takes the key {client.key_prefix}… of {me.partner.name}."
    )
    for finding in _scopes_at_partner(name, me, shows_details=shows_details):
        yield finding
    async for finding in _drift(name, url):
        yield finding


def _api_trouble(error: PartnerError, name: str, url: str) -> str:
    """What an API that did not say whose key it is answered, and what to do."""
    from bot.partner.errors import NotConnected, Refused, Unauthorized, UnreadableAnswer

    if isinstance(error, Unauthorized):
        return f"{error.message} Set a working key with `countersign keys set {name}`."
    if isinstance(error, NotConnected | UnreadableAnswer) or not isinstance(error, Refused):
        return f"{error.message} Check the address {url}, and the network of this machine."
    return (
        f"{error.message} The address and the key may be right. Wait a few minutes and run this again; if it continues,"
        f" ask your card provider about {url}."
    )


def _scopes_at_partner(name: str, me: Me, *, shows_details: bool) -> list[Finding]:
    given = set(me.key.scopes)
    used = {DETAILS_SCOPE} if shows_details else set()
    missing = [scope for scope in NEEDED_SCOPES if scope not in given]
    unused = [scope for scope in UNUSED_SCOPES if scope in given - used]
    found = []
    if missing:
        found.append(
            Finding(
                Level.WRONG,
                f"Program {name}: the key lacks {', '.join(missing)}; ask your card provider to grant it.",
            )
        )
    else:
        found.append(Finding(Level.WELL, f"Program {name}: the key has every scope that is used."))
    if used - given:
        text = f"the key lacks {DETAILS_SCOPE}, so `/card reveal` is refused; ask your card provider to grant it."
        found.append(Finding(Level.KNOW, f"Program {name}: {text}"))
    if unused:
        found.append(
            Finding(
                Level.KNOW, f"Program {name}: the key has more scopes than it needs ({', '.join(unused)})."
            )
        )
    return found


async def _drift(name: str, url: str) -> AsyncIterator[Finding]:
    """How the card provider describes itself today, against what this client knows."""
    from bot.partner.openapi import drift, openapi_fetch

    try:
        differences = drift.compare(await openapi_fetch.fetch(url))
    except openapi_fetch.NoDescription as error:
        yield Finding(Level.KNOW, f"Program {name}: {error}")
        return
    if not differences:
        yield Finding(Level.WELL, f"Program {name}: the API describes itself as this client knows it.")
    for one in differences:
        level = Level.WRONG if one.weight is drift.Weight.BREAKS else Level.KNOW
        yield Finding(level, f"Program {name}, {one.place}: {one.says}")


def doctor_command() -> None:
    """Run and exit 0 when nothing is wrong, 1 otherwise."""
    if not asyncio.run(run_doctor()):
        raise typer.Exit(ExitCode.NOT_WELL)
