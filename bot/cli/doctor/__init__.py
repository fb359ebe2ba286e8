"""`countersign doctor`: try everything the bot needs, and say what to fix. It changes nothing.

Each check is one finding: well, to check, or wrong with its fix. Checks that need an earlier one are left out when that
one fails, so the list names causes, not consequences.

`findings` (what a check found) · `slack_checks` (tokens, permissions, channels, people) · `partner_checks` (keys, the
API, the webhook) · `database_checks` · `machine_checks` (ports, addresses, folders).
"""

from __future__ import annotations

import asyncio
import json
import os
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import typer

from bot.cli import terminal
from bot.cli.doctor import database_checks, machine_checks, partner_checks, slack_checks
from bot.cli.doctor.database_checks import messages
from bot.cli.doctor.findings import Finding, Level, of_error, well
from bot.cli.terminal import ExitCode

__all__ = ["Level", "doctor_command", "examine", "messages"]


def doctor_command(*, as_json: bool) -> None:
    """Print every finding; exit 0 when nothing is wrong, 1 otherwise."""
    found = asyncio.run(_findings(shows_each=not as_json))
    counts = Counter(finding.level for finding in found)
    if as_json:
        terminal.echo(json.dumps(_as_json(found, counts), ensure_ascii=False, indent=1))
    else:
        wrong, to_check = counts[Level.WRONG], counts[Level.TO_CHECK]
        terminal.echo(f"\n{wrong} wrong, {to_check} to check, {counts[Level.WELL]} well.")
    if counts[Level.WRONG]:
        raise typer.Exit(ExitCode.NOT_WELL)


async def _findings(*, shows_each: bool) -> list[Finding]:
    found = []
    async for finding in examine():
        found.append(finding)
        if shows_each:
            terminal.echo(terminal.in_a_line(f"{finding.level} {finding.text}"))
    return found


def _as_json(found: list[Finding], counts: Counter[Level]) -> dict[str, object]:
    return {
        "wrong": counts[Level.WRONG],
        "to_check": counts[Level.TO_CHECK],
        "findings": [
            {"level": one.level.name.lower(), "check": one.check, "text": one.text} for one in found
        ],
    }


async def examine() -> AsyncIterator[Finding]:
    """All findings, in the order in which things depend on each other."""
    from bot.config import Config, Need, Settings

    try:
        settings = Settings.from_env(os.environ, need=(Need.SLACK, Need.SLACK_EVENTS, Need.MASTER_KEY))
        yield well("settings", "The settings are complete.")
        config = Config.load(settings.config_path)
        yield well("policy_file", f"{settings.config_path} is valid; policy version {config.digest[:12]}.")
    except Exception as error:  # noqa: BLE001  reported below, or raised again where it is our own fault
        for finding in of_error("settings", error):
            yield finding
        return
    async with AsyncExitStack() as stack:
        async for finding in slack_checks.all_of(settings, config):
            yield finding
        async for finding in machine_checks.all_of(settings, config):
            yield finding
        findings, store = await database_checks.opened(settings, stack)
        for finding in findings:
            yield finding
        is_live = await partner_checks.is_live(store, settings)
        yield await machine_checks.anchors(settings, config, is_live=is_live)
        if store is not None:
            found = await database_checks.anchors_there(settings, store)
            for finding in [*found, *await database_checks.passkeys(settings, config, store)]:
                yield finding
            async for finding in slack_checks.names_on_record(settings, config, store):
                yield finding
            async for finding in partner_checks.all_of(store, settings):
                yield finding
