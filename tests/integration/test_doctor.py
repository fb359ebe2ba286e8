"""`countersign doctor` says what is well and what to fix, as a real command beside the real surroundings."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from sandbox.partner.server import Running as Partner
from sandbox.partner.server import serve as serve_partner
from sandbox.slack import Running as Slack
from sandbox.slack import serve as serve_slack
from storage.migrate import migrate

ROOT = Path(__file__).parents[2]
MASTER = "lyRuFlrH8Ycz2eWVpYVS0eFBW1vKlmFXZBQuQ0ZkHbg="


class Patient:
    """Surroundings and the environment of a bot that is well."""

    def __init__(self, slack: Slack, partner: Partner, folder: Path) -> None:
        self.slack, self.partner = slack, partner
        (folder / "countersign.toml").write_bytes((ROOT / "countersign.toml").read_bytes())
        self.env = {
            "PATH": os.environ["PATH"],
            "SLACK_API_URL": slack.api_url,
            "SLACK_BOT_TOKEN": slack.bot_token,
            "SLACK_APP_TOKEN": slack.app_token,
            "COUNTERSIGN_CONFIG": str(folder / "countersign.toml"),
            "COUNTERSIGN_DATABASE_URL": f"sqlite:///{folder / 'bot.db'}",
            "COUNTERSIGN_MASTER_KEYS": MASTER,
            "COUNTERSIGN_PARTNER_URL": partner.base_url,
            "COUNTERSIGN_PARTNER_KEY": partner.key,
        }

    def rename_channel(self, name: str, other: str) -> None:
        """Name another channel in countersign.toml."""
        toml = Path(self.env["COUNTERSIGN_CONFIG"])
        toml.write_text(toml.read_text().replace(name, other))

    async def examined(self, **env: str) -> tuple[int, str]:
        """Exit code and output of the command."""
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "bot", "doctor", env={**self.env, **env}, cwd=ROOT,
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
        )  # fmt: skip
        output, _ = await process.communicate()
        return process.returncode or 0, output.decode()


@pytest.fixture
async def patient(tmp_path: Path) -> AsyncIterator[Patient]:
    slack = await serve_slack(port=0, manifest_path=ROOT / "manifest.yml")
    partner = await serve_partner(port=0, demo=True)
    found = Patient(slack, partner, tmp_path)
    await migrate(found.env["COUNTERSIGN_DATABASE_URL"])
    yield found
    await partner.close()
    await slack.close()


async def test_everything_well_ends_with_0_and_names_what_was_tried(patient: Patient) -> None:
    code, output = await patient.examined()

    assert code == 0, output
    for said in (
        "takes the bot token",
        "app token",
        "#card-approvals is there",
        "policy can be met",
        "audit chain",
    ):
        assert said in output, output
    assert "✗" not in output
    assert patient.partner.key not in output
    assert patient.slack.bot_token not in output


async def test_each_wrong_thing_is_named_with_its_fix(patient: Patient) -> None:
    async with httpx.AsyncClient(base_url=patient.partner.url, trust_env=False) as control:
        narrow = await control.post(
            "/_control/keys", json={"scopes": ["users:read", "cards:read", "deposits:write"]}
        )
    patient.rename_channel("#card-alerts", "#no-such-channel")

    code, output = await patient.examined(
        COUNTERSIGN_PARTNER_KEY=narrow.json()["key"],
        COUNTERSIGN_PUBLIC_URL="https://countersign.example.com",
        SLACK_APP_TOKEN="xapp-wrong",
    )

    assert code == 1
    for said in (
        "does not show #no-such-channel",
        "SLACK_APP_TOKEN",
        "lacks cards:write, users:write",
        "lacks cards:pan, so `/card reveal` is refused",
        "may do more than is used (deposits:write)",
    ):
        assert said in output, output


async def test_what_slack_refuses_is_said_with_its_fix_and_never_with_another_look(patient: Patient) -> None:
    """A bot that is not in its channel, an archived channel, an outage of the API, then a revoked token."""
    page = httpx.AsyncClient(base_url=patient.slack.url, trust_env=False)
    api = httpx.AsyncClient(base_url=patient.partner.url, trust_env=False)
    async with page, api:
        await page.post("/_control/channels", json={"id": "C0APPROVALS", "members": ["U0BOB"]})
        await page.post("/_control/channels", json={"id": "C0ALERTS", "archived": True})
        fault = {
            "operation": "GET /me",
            "effect": "status",
            "status": 503,
            "code": "UNAVAILABLE",
            "times": 99,
        }
        await api.post("/_control/faults", json=fault)
        code, output = await patient.examined()
        await page.post("/_control/faults", json={"effect": "error", "error": "token_revoked", "times": 99})
        later, revoked = await patient.examined()

    assert (code, later) == (1, 1)
    for said in (
        "✗ Countersign is not in #card-approvals (not_in_channel). Invite it there with /invite @Countersign.",
        "✗ #card-alerts is archived (is_archived). Unarchive it.",
        "The address and the key may be right. Wait a few minutes",
    ):
        assert said in output, output
    assert "✗ Slack does not accept SLACK_BOT_TOKEN (token_revoked)." in revoked
    assert "Try again" not in revoked
    for found in (output, revoked):
        assert "countersign doctor" not in found


async def test_a_setting_that_is_missing_is_the_only_finding(patient: Patient) -> None:
    code, output = await patient.examined(SLACK_BOT_TOKEN="")

    assert code == 1
    assert "SLACK_BOT_TOKEN is needed" in output
    assert "channel" not in output
