"""The JavaScript bot in the same sandbox: it runs as a process of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

HERE = Path(__file__).parent
#: Where `npm install @slack/bolt` put it.
MODULES = Path(os.environ.get("NODE_PATH") or HERE / "node_modules")

pytestmark = pytest.mark.skipif(
    not (MODULES / "@slack" / "bolt").is_dir() or shutil.which("node") is None,
    reason="Bolt for JavaScript is not installed: npm install @slack/bolt",
)


@pytest.fixture(scope="session")
def slack_manifest() -> Path:
    return HERE.parent / "slack_bot" / "manifest.yml"


@pytest.fixture(scope="module")
def bot(slack_server) -> Iterator[None]:
    settings = {
        "SLACK_API_URL": slack_server.api_url,
        "SLACK_BOT_TOKEN": slack_server.bot_token,
        "SLACK_APP_TOKEN": slack_server.app_token,
        "NODE_PATH": str(MODULES),
        "PATH": os.environ["PATH"],
    }
    process = subprocess.Popen(["node", str(HERE / "lunch.js")], env=settings)
    slack_server.wait_for_connection()
    yield
    process.terminate()
    process.wait(10)


def test_a_command_a_form_a_click_and_a_mention(bot, slack_sandbox):
    slack = slack_sandbox
    assert slack.act.command("/lunch Noodle Bar")["acked"]
    asked = slack.wait_for_message("Lunch at *Noodle Bar*?")
    slack.act.click("come", user="U0BOB", channel="C0OPS", ts=asked["ts"])
    slack.wait_for_message("Coming: <@U0BOB>")
    slack.act.command("/lunch")
    slack.act.submit(slack.wait_for_modal()["id"], place={"name": "Taqueria"})
    slack.wait_for_message("Taqueria")
    slack.act.say("<@U0BOT> hello")
    assert slack.wait_for_message("Use /lunch")["thread_ts"]
