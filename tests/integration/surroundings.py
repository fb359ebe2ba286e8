"""A bot as it is composed in production, between Slack's stand-in and the simulator."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import httpx

from bot import app
from bot.config import Config, Settings
from sandbox.partner.server import Running as Partner
from sandbox.slack import Options
from sandbox.slack import Running as Slack
from storage.migrate import migrate
from tests.support.databases import migrated_file

ROOT = Path(__file__).parents[2]
CONFIG = b"""
[slack]
approvals_channel = "#card-approvals"
alerts_channel = "#card-alerts"
[people]
approvers = ["@card-approvers"]
"""
#: Names a group that Slack does not have.
WITHOUT_ITS_ADMINS = CONFIG.replace(b"[people]", b'[people]\nadmins = ["@no-such-group"]')
MASTER = "lyRuFlrH8Ycz2eWVpYVS0eFBW1vKlmFXZBQuQ0ZkHbg="


@dataclass
class Surroundings:
    """A stand-in, a simulator and the settings that point at them."""

    slack: Slack
    partner: Partner
    env: dict[str, str]
    database: Path
    options: Options

    def put_database_in(self, folder: Path) -> None:
        """Before the first start."""
        self.database = folder / "bot.db"
        self.env["COUNTERSIGN_DATABASE_URL"] = f"sqlite:///{self.database}"

    async def start(self, config: bytes = CONFIG, **env: str) -> app.Running:
        url = self.env["COUNTERSIGN_DATABASE_URL"]
        if url == f"sqlite:///{self.database}" and not self.database.exists():
            await migrated_file(self.database)
        await migrate(url)
        return await app.start(Settings.from_env({**self.env, **env}), lambda: Config.parse(config))


async def ready(running: app.Running) -> dict[str, str]:
    async with httpx.AsyncClient(base_url=running.url, trust_env=False) as web:
        found: dict[str, str] = (await web.get("/readyz")).json()["checks"]
        return found
