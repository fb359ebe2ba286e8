"""While the audit log cannot be added to, the web pages and the command say what happened, too, and do nothing."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, closing
from functools import partial
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from aiohttp.web import Application

from bot import details, passkey_page, web
from bot.domain.requests import State
from bot.partner.secret import Secret
from bot.services.execution import card_details_access
from bot.services.operators import changed_rows
from bot.services.passkeys import page
from storage import audit
from tests.integration.test_cli import PARTNER_URL, SANDBOX_KEY, Terminal
from tests.services.outcome_steps import execute
from tests.services.test_reveal import link
from tests.support.passkeys import Devices, everybody_has_one, token_of
from tests.support.world import BOB, World, a_world

LOST = "DELETE FROM audit_head"
SET_BACK = "UPDATE audit_head SET seq = 0"


def by_hand(world: World, statement: str) -> None:
    with closing(sqlite3.connect(world.database)) as connection:
        connection.executescript(statement)
        connection.commit()


@asynccontextmanager
async def serving(world: World) -> AsyncIterator[aiohttp.ClientSession]:
    """The two pages, on the services behind them."""
    core = world.core

    def pages(app: Application) -> None:
        details.add_to(
            app,
            partial(card_details_access.open_link, core),
            origins=[world.simulator.url],
            nonce=core.ids.token,
            https=True,
        )
        passkey_page.add_to(
            app, partial(page.open_link, core), partial(page.finish, core), nonce=core.ids.token, https=True
        )

    server = await web.serve(web.build({}, more=[pages]), host="127.0.0.1", port=0)
    try:
        async with aiohttp.ClientSession(server.url) as session:
            yield session
    finally:
        await server.stop()


async def _revealed(world: World, devices: Devices) -> Secret:
    """A link to card details that was approved and not used."""
    request = await world.ask("card_reveal", {"card": world.cards[0]["id"]})
    await devices.approve(request)
    return await link(world, await execute(world, request))


async def _said(session: aiohttp.ClientSession, path: str, **asked: Any) -> tuple[int, str]:
    async with session.post(path, json=asked) as answer:
        return answer.status, (await answer.json()).get("error", "")


@pytest.mark.parametrize("change", [LOST, SET_BACK])
async def test_the_pages_say_so_and_work_again_once_it_is_written_again(tmp_path: Path, change: str) -> None:
    async with AsyncExitStack() as stack:
        world = await stack.enter_async_context(a_world(tmp_path))
        devices = await everybody_has_one(world)
        session = await stack.enter_async_context(serving(world))
        token, request = await _revealed(world, devices), await world.top_up("50", approved=False)
        links = [token_of(await devices.link(request, BOB)).reveal() for _ in range(2)]
        opened = await page.open_link(world.core, Secret(links[1]))
        given = devices[BOB].answer(opened.options)
        async with world.store.read() as tx:
            before = await audit.head(tx)
        by_hand(world, change)

        answers = [
            await _said(session, "/details", token=token.reveal()),
            await _said(session, "/passkey/open", token=links[0]),
            await _said(session, "/passkey/finish", token=opened.token.reveal(), answer=given),
        ]

        assert [status for status, _ in answers] == [503, 503, 503]
        assert [said for _, said in answers if "where the audit log ends is lost" not in said.lower()] == []
        assert [said for _, said in answers if "othing was" not in said] == []
        assert (await world.request(request.id)).state is State.PENDING

        await changed_rows.watch(world.core)
        async with world.store.read() as tx:
            assert (await audit.head(tx)).seq > before.seq
        async with session.post("/details", json={"token": token.reveal()}) as answer:
            assert answer.status == 200
        assert await _said(session, "/passkey/open", token=links[0]) == (200, "")


#: Each command that puts something on record.
COMMANDS = (
    ("keys set main", SANDBOX_KEY + "\n"),
    ("keys remove other", ""),
    ("keys rewrap", ""),
    ("keys relay erp", ""),
    ("keys reset-passkeys", ""),
    ("audit export", ""),
    ("audit export --output log.jsonl", ""),
)
DESTINATION = """
[slack]
approvals_channel = "#a"
alerts_channel = "#b"
[people]
approvers = ["@x"]
[[relay.destinations]]
name = "erp"
url = "https://erp.example.com/x"
events = ["card.declined"]
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a database of two programs."""
    terminal = Terminal(tmp_path_factory.mktemp("made"))
    terminal.new_master()
    terminal.run("migrate")
    for name in ("main", "other"):
        terminal.run("keys", "set", name, "--url", PARTNER_URL, given=SANDBOX_KEY + "\n")
    (terminal.folder / "countersign.toml").write_text(DESTINATION)
    return terminal.folder


@pytest.mark.walk(most=3)
@pytest.mark.parametrize(("command", "given"), COMMANDS, ids=[command for command, _ in COMMANDS])
def test_a_command_says_so_with_what_to_do(made: Path, tmp_path: Path, command: str, given: str) -> None:
    terminal = Terminal(tmp_path)
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    terminal.sql(LOST)

    said = terminal.run(*command.split(), given=given, code=2)

    assert said.startswith("Where the audit log ends is lost")
    assert "countersign audit verify" in said
    assert "within a minute" in said
    with closing(sqlite3.connect(tmp_path / "c.db")) as connection:
        assert connection.execute("SELECT name, key_version FROM program ORDER BY name").fetchall() == [
            ("main", 1),
            ("other", 1),
        ]
