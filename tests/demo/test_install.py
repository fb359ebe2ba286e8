"""docs/install.md followed to the letter, from its first command to the first top-up by two people.

Every shell command of the page is run as it stands there, or says above it why no test can.
"""

from __future__ import annotations

import asyncio
import configparser
import os
import re
import signal
import subprocess
import sys
import tomllib
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from bot.cli import initial_files
from bot.config import Settings
from sandbox.partner.server import Running as Partner
from sandbox.partner.server import serve as serve_partner
from sandbox.slack import Running as Slack
from sandbox.slack import serve as serve_slack
from tests.demo.test_demo import BOB, Team
from tests.support.databases import PostgresDatabases, postgres_server
from tests.support.ports import free_ports
from tests.support.waiting import eventually

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "install.md").read_text()
_BLOCK = re.compile(r"(?:<!-- not run by a test: (?P<why>.+?) -->\n)?```sh\n(?P<commands>.*?)```", re.DOTALL)
CANNOT_RUN = (
    *("the tests run in a set-up copy", "needs systemd and root", "needs the superuser", "needs Docker"),
    "needs a cluster",
)
Json = dict[str, Any]


def blocks() -> list[str]:
    """The commands of the page that a test can run, in order."""
    return [found["commands"].strip() for found in _BLOCK.finditer(PAGE) if not found["why"]]


@dataclass
class Newcomer:
    """Somebody with a terminal, the page, Slack and an API key."""

    slack_stand_in: Slack
    simulator: Partner
    folder: Path
    port: int
    database: str

    def __post_init__(self) -> None:
        self.environment = self.folder / "environment"
        self.environment.write_text("")
        (self.folder / "opt").symlink_to(ROOT)

    def as_here(self, commands: str) -> str:
        """The commands with the places of the page as they are on this machine."""
        for theirs, ours in (
            ("/opt/countersign/.venv/bin", str(Path(sys.executable).parent)),
            ("/srv/countersign", str(self.folder / "srv")),
            ("https://HOST/api/partner/v1", self.simulator.base_url),
            ("127.0.0.1:8402", f"127.0.0.1:{self.port}"),
        ):
            commands = commands.replace(theirs, ours)
        return commands

    def types(self, commands: str, typed: str = "") -> str:
        """One block of the page in the terminal, which remembers its variables; what it printed."""
        script = f"set -eu; . {self.environment}; {self.as_here(commands)}\nexport -p > {self.environment}"
        env = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder),
            "SLACK_API_URL": self.slack_stand_in.api_url,
            "COUNTERSIGN_HTTP_BIND": f"127.0.0.1:{self.port}",
        }
        done = subprocess.run(
            ["sh", "-c", script],
            cwd=self.folder,
            env=env,
            input=typed,
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert done.returncode == 0, f"{commands}\n{done.stdout}{done.stderr}"
        return done.stdout + done.stderr

    def puts_the_tokens_into_the_environment(self) -> None:
        path = self.folder / "srv" / ".env"
        text = path.read_text()
        for name, token in (
            ("SLACK_BOT_TOKEN", self.slack_stand_in.bot_token),
            ("SLACK_APP_TOKEN", self.slack_stand_in.app_token),
        ):
            assert f"\n{name}=\n" in text
            text = text.replace(f"\n{name}=\n", f"\n{name}={token}\n")
        path.write_text(text)

    @asynccontextmanager
    async def runs(self, command: str) -> AsyncIterator[None]:
        """A command that goes on until Ctrl-C, in a terminal of its own."""
        script = f"set -eu; . {self.environment}; exec {self.as_here(command)}"
        process = await asyncio.create_subprocess_exec(
            "sh", "-c", script, cwd=self.folder, stderr=asyncio.subprocess.PIPE
        )
        try:
            yield
        finally:
            process.send_signal(signal.SIGINT)
            _, said = await asyncio.wait_for(process.communicate(), 20)
            assert process.returncode == 0, said.decode()

    async def slack(self, call: str, body: Json | None = None, **query: str) -> Json:
        return await self._control(self.slack_stand_in.url, call, body, query)

    async def partner(self, call: str, body: Json | None = None) -> Json:
        return await self._control(self.simulator.url, call, body, {})

    async def _control(self, url: str, call: str, body: Json | None, query: dict[str, str]) -> Json:
        async with httpx.AsyncClient(base_url=url, trust_env=False) as http:
            address = f"/_control/{call}"
            answer = await (
                http.get(address, params=query) if body is None else http.post(address, json=body)
            )
        assert answer.status_code == 200, answer.text
        found: Json = answer.json()
        return found


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest) -> Iterator[str]:
    """What is answered to the question about the database: Enter, or an empty database of a server."""
    if request.param == "sqlite":
        yield ""
        return
    with postgres_server() as server:
        databases = PostgresDatabases(server)
        url = databases.empty()
        yield url
        databases.drop(url)
        databases.close()


@pytest.fixture
async def newcomer(tmp_path: Path, database: str) -> AsyncIterator[Newcomer]:
    slack = await serve_slack(port=0, manifest_path=ROOT / "manifest.yml")
    partner = await serve_partner(port=0, demo=True)
    yield Newcomer(slack, partner, tmp_path, free_ports(1), database)
    await partner.close()
    await slack.close()


@pytest.mark.walk(most=1)
async def test_the_page_leads_from_nothing_to_the_first_top_up_by_two_people(newcomer: Newcomer) -> None:
    path, manifest, init, check, key, doctor, run, ready = blocks()

    assert "countersign 0.1.0" in await off(newcomer, path)
    await off(newcomer, manifest)
    assert yaml.safe_load((newcomer.folder / "countersign-manifest.yml").read_text())["settings"]
    await off(newcomer, init, f"\n\n\n\n{newcomer.database}\n")
    newcomer.puts_the_tokens_into_the_environment()
    assert "is valid" in await off(newcomer, check)
    said = await off(newcomer, key, newcomer.simulator.key + "\n")
    assert re.search(r"main: key svc_live_\w+… is sealed \(version 1\)", said)
    assert "\n0 wrong, " in await off(newcomer, doctor)
    async with newcomer.runs(run):
        readiness = await eventually("the bot is ready", lambda: answers(newcomer, ready), within_s=20)
        assert readiness is not None
        assert '"ready": true' in readiness
        team = Team(newcomer)  # type: ignore[arg-type]  # it has the two calls of a demo that a team uses
        await team.ask("1.00")
        await team.approve(BOB, await team.card("pending", "1.00"))
        card = await team.card("succeeded", "1.00")
        assert await team.debits() == ["1"]
        request = re.search(r"R-[A-Z0-9]+", card["text"])
        assert request is not None
        await team.say(BOB, f"/requests verify {request[0]}")
        assert await eventually(
            "the proof",
            lambda: is_said_to_bob(newcomer, f"{request[0]}: all checks passed"),
            within_s=8,
        )


async def is_said_to_bob(newcomer: Newcomer, words: str) -> bool:
    return words in str(await newcomer.slack("see", user=BOB))


async def off(newcomer: Newcomer, commands: str, typed: str = "") -> str:
    """`types`, while the stand-ins in this process go on answering."""
    return await asyncio.to_thread(newcomer.types, commands, typed)


async def answers(newcomer: Newcomer, commands: str) -> str | None:
    try:
        return await off(newcomer, commands)
    except AssertionError:
        return None


def test_every_command_of_the_page_is_run_or_says_why_not() -> None:
    reasons = [found["why"] for found in _BLOCK.finditer(PAGE) if found["why"]]

    assert len(blocks()) == 8
    assert all(reason.startswith(CANNOT_RUN) for reason in reasons), reasons
    assert PAGE.count("```sh\n") == len(blocks()) + len(reasons)


class Unit(configparser.ConfigParser):
    """Keys keep their capitals."""

    def optionxform(self, optionstr: str) -> str:
        return optionstr


def test_the_unit_of_the_page_starts_what_the_page_installs() -> None:
    assert "../deploy/systemd/countersign.service" in PAGE
    unit = Unit(interpolation=None, strict=False)
    unit.read_string((ROOT / "deploy" / "systemd" / "countersign.service").read_text())
    service = unit["Service"]

    assert service["ExecStart"] == "/opt/countersign/.venv/bin/countersign run"
    assert service["EnvironmentFile"] == "/srv/countersign/.env"
    assert service["RestartPreventExitStatus"] == "2 78"
    assert int(service["TimeoutStopSec"]) > 10


def test_compose_passes_every_setting_and_follows_the_steps_of_the_page() -> None:
    services = yaml.safe_load((ROOT / "compose.yaml").read_text())["services"]
    bot, database = services["bot"], services["database"]
    own = {name: value for name, value in bot["environment"].items() if name.startswith("COUNTERSIGN_")}

    assert bot["env_file"] == "local/.env"
    assert str(Settings.from_env(own).http_bind) == "0.0.0.0:8402"
    assert "POSTGRES_PASSWORD" not in own["COUNTERSIGN_DATABASE_URL"]
    assert "POSTGRES_PASSWORD" in bot["environment"]["PGPASSWORD"]
    assert bot["volumes"] == ["./local:/run/countersign:ro", "anchors:/srv/countersign/anchors"]
    assert own["COUNTERSIGN_CONFIG"] == f"/run/countersign/{initial_files.POLICY}"
    assert own["COUNTERSIGN_MASTER_KEY_FILE"] == f"/run/countersign/{initial_files.MASTER_KEY}"
    assert bot["image"] == "countersign"
    assert database["healthcheck"]["test"][:3] == ["CMD", "pg_isready", "-h"]
    assert bot["depends_on"]["database"]["condition"] == "service_healthy"
    steps = [
        line for found in _BLOCK.finditer(PAGE) for line in found["commands"].splitlines() if "docker" in line
    ]
    assert [
        found[1]
        for step in steps
        for found in re.finditer(
            r" (build|init|set|doctor|up|logs|backup|stop|createdb|restore)\b(?!:)", step
        )
    ] == [
        *("build", "init", "set", "doctor", "up", "logs"),
        *("build", "stop", "up", "doctor"),
        "backup",
        *("stop", "createdb", "restore", "up"),
        *("build", "stop", "up", "doctor"),  # of deploy/compose
    ]
    assert "${COUNTERSIGN_DATABASE:-countersign}" in own["COUNTERSIGN_DATABASE_URL"]


@pytest.mark.parametrize(
    "path", [".env", "local/.env", "local/master.key", "local/countersign.toml", "master.key", "partner.key"]
)
def test_git_ignores_what_holds_secrets_or_is_ones_own(path: str) -> None:
    done = subprocess.run(["git", "check-ignore", "--quiet", "--no-index", path], cwd=ROOT, check=False)

    assert done.returncode == 0


def test_the_version_of_the_page_is_the_version() -> None:
    assert tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"] in PAGE
