"""What surrounds a bot in these tests."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from bot import jobs
from handlers.slack_api import directory
from sandbox.partner.server import serve as serve_partner
from sandbox.slack import Options
from sandbox.slack import serve as serve_slack
from tests.integration.surroundings import MASTER, ROOT, Surroundings
from tests.support.disks import a_small_disk
from tests.support.ports import free_ports


@pytest.fixture
async def around(tmp_path: Path, free_port: int) -> AsyncIterator[Surroundings]:
    url = f"http://127.0.0.1:{free_port}/slack/events"
    options = Options(request_url=url)
    slack = await serve_slack(port=0, manifest_path=ROOT / "manifest.yml", options=options)
    partner = await serve_partner(port=0, demo=True)
    env = {
        "SLACK_API_URL": slack.api_url,
        "SLACK_BOT_TOKEN": slack.bot_token,
        "SLACK_SIGNING_SECRET": slack.signing_secret,
        "COUNTERSIGN_DATABASE_URL": f"sqlite:///{tmp_path / 'bot.db'}",
        "COUNTERSIGN_MASTER_KEYS": MASTER,
        "COUNTERSIGN_PARTNER_URL": partner.base_url,
        "COUNTERSIGN_PARTNER_KEY": partner.key,
        "COUNTERSIGN_HTTP_BIND": f"127.0.0.1:{free_port}",
        "COUNTERSIGN_METRICS_BIND": f"127.0.0.1:{free_ports(1)}",
    }
    yield Surroundings(slack, partner, env, tmp_path / "bot.db", options)
    await partner.close()
    await slack.close()


@pytest.fixture
def first_readings_come_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """For tests that wait for the first reading of the ledger after each start."""
    monkeypatch.setattr(jobs, "FIRST_READS_EVERY_S", 0.2)


@pytest.fixture
def little_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where Slack says that it was asked too often, it is asked again for a second, not for fifteen."""
    monkeypatch.setattr(directory, "_MOST_PATIENCE_S", 1.0)


@pytest.fixture
def small_disk() -> Iterator[Path]:
    """A file system of 6 MB of its own."""
    with a_small_disk() as folder:
        yield folder
