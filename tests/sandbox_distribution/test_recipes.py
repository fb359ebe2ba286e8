"""The recipes of both pages run as they stand, in curl and in Python, and answer what the page says."""

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from slack_bolt.adapter.socket_mode import SocketModeHandler
from slack_sdk import WebClient

from sandbox.slack import Options, serve
from sandbox.testing import PartnerSandbox, SlackSandbox
from sandbox.testing.background import Background

pytestmark = pytest.mark.by_turns(4)

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
BOT = ROOT / "examples" / "slack_bot"
ARROW = "# → "


def recipes(page: str) -> dict[str, dict[str, str]]:
    """Title -> language -> block, of the section of that name."""
    text = (DOCS / page).read_text().partition("## Recipes\n")[2].partition("\n## ")[0]
    found = re.split(r"^### ", text, flags=re.MULTILINE)[1:]
    return {
        one.partition("\n")[0]: dict(re.findall(r"```(sh|python)\n(.*?)```", one, re.DOTALL)) for one in found
    }


PARTNER, SLACK = recipes("simulator.md"), recipes("slack-stand-in.md")


def test_there_are_twenty_recipes_each_in_curl_and_in_python() -> None:
    assert len(PARTNER) == len(SLACK) == 10
    for one in (*PARTNER.values(), *SLACK.values()):
        assert set(one) == {"sh", "python"}


def run_curl(block: str, folder: Path, **variables: str) -> None:
    """Run a block with bash; every arrow of it is in what it prints."""
    if shutil.which("curl") is None:
        pytest.skip("curl is not installed: the recipes in curl were not tried")
    done = subprocess.run(
        ["bash", "-eu", "-o", "pipefail", "-c", block], cwd=folder, capture_output=True, text=True, timeout=50,
        env={**os.environ, "no_proxy": "*", **variables},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    arrows = [line.removeprefix(ARROW) for line in block.splitlines() if line.startswith(ARROW)]
    assert arrows
    for arrow in arrows:
        assert arrow in done.stdout, (arrow, done.stdout)


@pytest.fixture
def card(partner_sandbox: PartnerSandbox) -> str:
    """An active card with money on a happy day."""
    partner_sandbox.control("scenarios/happy-day")
    cards = partner_sandbox.state()["cards"]
    return next(
        str(one["id"]) for one in cards if one["status"] == "ACTIVE" and float(one["balance_usd"]) > 50
    )


@pytest.mark.parametrize("title", PARTNER)
def test_a_recipe_for_the_simulator_works_in_curl(
    partner_sandbox: PartnerSandbox, card: str, title: str, tmp_path: Path
) -> None:
    control = f"{partner_sandbox.url}/_control"
    run_curl(
        PARTNER[title]["sh"], tmp_path,
        API=partner_sandbox.base_url, CONTROL=control, KEY=partner_sandbox.key, CARD=card,
    )  # fmt: skip


@pytest.mark.parametrize("title", PARTNER)
def test_a_recipe_for_the_simulator_works_in_python(
    partner_sandbox: PartnerSandbox, card: str, title: str
) -> None:
    headers = {"X-API-Key": partner_sandbox.key}
    with httpx.Client(base_url=partner_sandbox.base_url, headers=headers, trust_env=False) as api:
        known = {
            "partner_sandbox": partner_sandbox,
            "api": api,
            "card": card,
            "pytest": pytest,
            "httpx": httpx,
        }
        exec(compile(PARTNER[title]["python"], title, "exec"), known)


@pytest.fixture(scope="module")
def workspace(sandbox_background: Background) -> Iterator[SlackSandbox]:
    """A workspace with the lunch bot's manifest, and the bot connected."""
    running = sandbox_background.run(serve(port=0, manifest_path=BOT / "manifest.yml", options=Options()))
    slack = SlackSandbox(running, sandbox_background)
    sys.path.insert(0, str(BOT))
    try:
        lunch: Any = __import__("lunch")
    finally:
        sys.path.remove(str(BOT))
    app = lunch.lunch_app(WebClient(slack.bot_token, base_url=slack.api_url), slack.signing_secret)
    handler = SocketModeHandler(app, slack.app_token)
    handler.connect()  # type: ignore[no-untyped-call]
    yield slack
    handler.close()  # type: ignore[no-untyped-call]
    sandbox_background.run(running.close())


@pytest.fixture
def slack_sandbox(workspace: SlackSandbox) -> SlackSandbox:
    """The workspace with nothing said in it yet."""
    workspace.fresh()
    workspace.wait_for_connection()
    return workspace


@pytest.mark.parametrize("title", SLACK)
def test_a_recipe_for_the_stand_in_works_in_curl(
    slack_sandbox: SlackSandbox, title: str, tmp_path: Path
) -> None:
    run_curl(
        SLACK[title]["sh"], tmp_path,
        SLACK=slack_sandbox.api_url.rstrip("/"), CONTROL=f"{slack_sandbox.url}/_control", TOKEN=slack_sandbox.bot_token,
    )  # fmt: skip


@pytest.mark.parametrize("title", SLACK)
def test_a_recipe_for_the_stand_in_works_in_python(slack_sandbox: SlackSandbox, title: str) -> None:
    exec(
        compile(SLACK[title]["python"], title, "exec"),
        {"slack_sandbox": slack_sandbox, "pytest": pytest, "time": time},
    )
