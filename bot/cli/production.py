"""`countersign run`: the bot against the real Slack and the real API."""

from __future__ import annotations

import resource
from contextlib import AsyncExitStack
from functools import partial

from bot.cli.environment import settings
from bot.cli.serving import port_taken, until_signalled
from bot.config import Need
from bot.domain.process_roles import Role
from bot.domain.process_roles import parse as parse_roles


async def run_production(*, migrate: bool, roles: str) -> None:
    """Check settings and policy, upgrade the database if allowed, run until a signal. `roles`: as of `--roles`."""
    from bot import log
    from bot.config import Config

    chosen = parse_roles(roles)
    needs = [Need.SLACK, Need.MASTER_KEY, *([Need.SLACK_EVENTS] if Role.SLACK in chosen else [])]
    found = settings(*needs)
    Config.load(found.config_path)
    # Only now what takes a while to load: a wrong setting is reported at once.
    from bot import app
    from storage import migrate as migration

    log.configure(found.log)
    # A crash must not leave a copy of the keys on disk.
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if migrate:
        await migration.migrate(found.database_url)

    async def start(stack: AsyncExitStack) -> None:
        try:
            running = await app.start(found, partial(Config.load, found.config_path), roles=chosen)
        except OSError as error:
            raise port_taken(error, found.http_bind.port, "COUNTERSIGN_HTTP_BIND") from error
        stack.push_async_callback(running.stop)

    await until_signalled(start)
