"""A bot as it runs in production, with Slack's stand-in and the simulator, each a process that can be stopped."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import httpx

from tests.support.ports import free_ports
from tests.support.slack_people import People, control
from tests.support.waiting import eventually

ROOT = Path(__file__).parents[2]
MASTER = "lyRuFlrH8Ycz2eWVpYVS0eFBW1vKlmFXZBQuQ0ZkHbg="
CONFIG = """
[slack]
approvals_channel = "#card-approvals"
alerts_channel = "#card-alerts"
[people]
approvers = ["@card-approvers"]
admins = ["@card-admins"]
"""
STARTS_WITHIN_S = 60.0


@dataclass
class Surroundings:
    """`url` and `metrics_url`: of the bot."""

    folder: Path
    env: dict[str, str]
    slack: asyncio.subprocess.Process
    partner: asyncio.subprocess.Process
    people: People
    partner_url: str
    url: str
    metrics_url: str
    bot: asyncio.subprocess.Process | None = None

    @property
    def log(self) -> Path:
        return self.folder / "bot.log"

    async def start(self, *, wait: bool = True) -> None:
        """`countersign run`."""
        with self.log.open("ab") as log:
            self.bot = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "bot", "run"),
                env={**os.environ, **self.env, "PYTHONPATH": str(ROOT)},
                stdout=log,
                stderr=log,
                cwd=self.folder,
            )
        if wait:
            try:
                await eventually("the bot is ready", self._is_ready, within_s=STARTS_WITHIN_S, every_s=0.5)
            except AssertionError as error:
                raise AssertionError(f"{error}: {self.log.read_text()[-2000:]}") from None

    async def _is_ready(self) -> bool:
        assert self.bot is not None
        assert self.bot.returncode is None, self.log.read_text()[-2000:]
        with suppress(httpx.HTTPError):
            async with httpx.AsyncClient(trust_env=False, timeout=10) as web:
                return (await web.get(f"{self.url}/readyz")).is_success
        return False

    async def end(self) -> int | None:
        """SIGTERM; the exit code, None where it had to be killed."""
        if self.bot is None or self.bot.returncode is not None:
            return self.bot.returncode if self.bot else None
        self.bot.terminate()
        try:
            async with asyncio.timeout(15):
                return await self.bot.wait()
        except TimeoutError:
            self.bot.kill()
            await self.bot.wait()
            return None

    async def debits(self) -> list[str]:
        """The amounts that left the float under a key of ours."""
        journal = (await control(self.partner_url, "journal"))["requests"]
        return [
            str(r["body"]["amount_usd"])
            for r in journal
            if r["path"].endswith("/topup") and r["status"] == 200
        ]


@asynccontextmanager
async def surroundings(folder: Path, database_url: str = "") -> AsyncIterator[Surroundings]:
    """Everything but the bot, which `start` starts. Without an address the database is a file."""
    first = free_ports(4)
    halves = []
    for half, port in (("slack", first), ("partner", first + 1)):
        other = "partner" if half == "slack" else "slack"
        ready = folder / f"{half}.json"
        extra = ["--scenario", "happy-day"] if half == "partner" else []
        with (folder / f"{half}.log").open("ab") as log:
            halves.append(
                await asyncio.create_subprocess_exec(
                    *(sys.executable, "-m", "bot", "sandbox", f"--{half}-port", str(port)),
                    *(f"--{other}-port", "0", "--ready-file", str(ready), *extra),
                    env={**os.environ, "PYTHONPATH": str(ROOT)},
                    cwd=folder,
                    stdout=log,
                    stderr=log,
                )
            )
    facts: dict[str, dict[str, str]] = {}
    bot = None
    try:
        for half in ("slack", "partner"):
            await eventually(f"{half} is ready", (folder / f"{half}.json").exists, within_s=30)
            facts |= json.loads((folder / f"{half}.json").read_text())
        (folder / "countersign.toml").write_text(CONFIG)
        key = folder / "master.key"
        key.write_text(MASTER + "\n")
        key.chmod(0o600)
        settings = {k: v for part in facts.values() for k, v in part.items() if k.isupper()}
        settings.pop("SLACK_SIGNING_SECRET")
        env = {
            **settings,
            "COUNTERSIGN_CONFIG": str(folder / "countersign.toml"),
            "COUNTERSIGN_MASTER_KEY_FILE": str(key),
            "COUNTERSIGN_DATABASE_URL": database_url or f"sqlite:///{folder / 'bot.db'}",
            "COUNTERSIGN_HTTP_BIND": f"127.0.0.1:{first + 2}",
            "COUNTERSIGN_METRICS_BIND": f"127.0.0.1:{first + 3}",
            "COUNTERSIGN_LOG": "json",
        }
        bot = Surroundings(
            folder,
            env,
            halves[0],
            halves[1],
            People(facts["slack"]["url"]),
            facts["partner"]["url"],
            f"http://127.0.0.1:{first + 2}",
            f"http://127.0.0.1:{first + 3}",
        )
        yield bot
    finally:
        for process in halves:
            if process.returncode is None:
                process.send_signal(signal.SIGCONT)
        if bot is not None:
            await bot.end()
        for process in halves:
            if process.returncode is None:
                process.kill()
            await process.wait()
