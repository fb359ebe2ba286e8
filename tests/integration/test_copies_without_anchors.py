"""A dump or a copied file that is put back by hand, where no anchors are kept: the ledger and Slack show that it is
older."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import httpx
import pytest

from bot import app, startup
from bot.config import Config, Settings
from bot.domain.alerts import float_alerts
from bot.domain.requests import Request
from bot.services import alerts, people, requests
from bot.services.alerts import ledger_rules
from bot.services.requests import drafts, lifecycle
from storage.cards import cards
from storage.maintenance import back_up
from storage.messages import alerts as alert_rows
from storage.operators import pauses, safe_mode
from storage.store import Store
from tests.integration.surroundings import CONFIG, ROOT, Surroundings
from tests.storage.restores import VAULT, put_in_place
from tests.support.databases import Databases
from tests.support.waiting import eventually

#: Long stories, which are the same on either database.
pytestmark = [
    pytest.mark.usefixtures("first_readings_come_soon"),
    pytest.mark.walk(turns="databases"),
    pytest.mark.by_turns(5),
]


class Copied:
    """A bot that was stopped, a copy of its database, and what became of both."""

    def __init__(self, around: Surroundings, databases: Databases, folder: Path) -> None:
        self.around, self._databases, self.file = around, databases, folder / "copy.db"
        self._use(databases.migrated())

    def _use(self, url: str) -> None:
        self.around.env["COUNTERSIGN_DATABASE_URL"] = url

    def use_empty(self) -> None:
        """Another database, with nothing in it."""
        self._use(self._databases.empty())

    async def copy(self) -> None:
        """Of the database as it is now."""
        running = await self.around.start()
        await eventually("the ledger is read", lambda: _is_read(running))
        await running.stop()
        url = self.around.env["COUNTERSIGN_DATABASE_URL"]
        await back_up(url, self.file, vault=VAULT, clock=running.core.clock)

    async def put_back(self) -> None:
        """As by `pg_restore`, or a file that is copied: nobody says that it is older, and no anchors lie beside it."""
        self._use(await put_in_place(self.file, self._databases))


@pytest.fixture
def copied(around: Surroundings, databases: Databases, tmp_path: Path) -> Copied:
    return Copied(around, databases, tmp_path)


async def _is_read(running: app.Running) -> bool:
    return await ledger_rules.is_begun(running.core, "main")


async def _of(store: Store) -> tuple[list[str], list[str]]:
    """Who paused sending, and the kinds of the open alerts."""
    async with store.read() as tx:
        return [one.by for one in await pauses.all(tx)], [one.kind for one in await alert_rows.open_ones(tx)]


async def _top_up(running: app.Running, *, key: str) -> None:
    """At the card provider, with a key of this installation."""
    async with running.core.store.read() as tx:
        card, *_ = await cards.all(tx, status="ACTIVE")
    await running.core.partners["main"].top_up(card.id, b'{"amount_usd": 7}', key=key)


async def _written(copied: Copied, messages: int) -> None:
    """By a person, in the alerts channel."""
    async with httpx.AsyncClient(base_url=copied.around.slack.url, trust_env=False) as page:
        for _ in range(messages):
            body = {"user": "U0BOB", "channel": "C0ALERTS", "text": "This is a message of a person."}
            assert (await page.post("/_control/act/message", json=body)).is_success


async def test_a_debit_under_a_key_that_was_made_here_starts_safe_mode_whatever_is_kept(
    copied: Copied,
) -> None:
    await copied.copy()
    running = await copied.around.start()
    await _top_up(running, key=running.core.ids.idempotency_key())
    await running.stop()
    await copied.put_back()

    running = await copied.around.start()
    try:
        paused_by, open_kinds = await _of(running.core.store)
        assert paused_by == ["system:restore"]
        assert "older_copy" in open_kinds

        async def found() -> list[Decimal]:
            async with running.core.store.read() as tx:
                mode = await safe_mode.current(tx)
                assert mode is not None
                return [one.amount_usd for one in await safe_mode.orphans(tx)]

        assert await eventually("the whole ledger is read", found) == [Decimal(-7)]
    finally:
        await running.stop()


@pytest.mark.parametrize("written_since", [0, 250])
async def test_a_message_that_the_database_does_not_know_starts_safe_mode_whatever_is_kept(
    copied: Copied, written_since: int
) -> None:
    """What moved no money: a card that was frozen since the copy leaves no trace in the ledger. People write, too."""
    await copied.copy()
    running = await copied.around.start()
    async with running.core.store.begin() as tx:
        said = float_alerts.LEDGER_DIFFERS.says(program="main", difference="1", total="2", balance="3")
        await alerts.raise_(tx, running.core, said, condition="since", subject="main", program="main")
    slack = copied.around.slack.workspace.store

    async def is_posted() -> bool:
        return "Ledger and float of main differ by 1" in str(slack.messages["C0ALERTS"])

    await eventually("it is posted", is_posted)
    await running.stop()
    await _written(copied, written_since)
    await copied.put_back()

    running = await copied.around.start()
    try:
        assert (await _of(running.core.store))[0] == ["system:restore"]
    finally:
        await running.stop()


async def asked(running: app.Running) -> Request:
    """A top-up that waits, with its message in the approvals channel."""
    core = running.core
    async with core.store.read() as tx:
        card, *_ = await cards.all(tx, status="ACTIVE")
    await people.require_member(core, "U0ALICE", action="test")
    texts = {"card": card.id, "amount_usd": "7"}
    draft = await drafts.begin(core, owner="U0ALICE", kind="card_topup", texts=texts, reason="Per diems")
    await drafts.preview(core, draft)
    return await requests.submit(core, draft.id, "U0ALICE")


async def test_what_was_decided_since_and_is_only_in_edited_messages_starts_safe_mode(copied: Copied) -> None:
    """A request that was open in the copy was cancelled: its one message in the channel is edited. If the copy had been
    taken for the newest, it could still be approved."""
    running = await copied.around.start()
    await eventually("the ledger is read", lambda: _is_read(running))
    request = await asked(running)
    slack = copied.around.slack.workspace.store

    def in_the_channel() -> list[Any]:  # without the lines of threads
        return [one for one in slack.messages["C0APPROVALS"] if one.get("thread_ts") in (None, one["ts"])]

    async def shows(words: str) -> bool:
        return words in str(in_the_channel())

    await eventually("it is posted", lambda: shows(request.id))
    await running.stop()
    await copied.copy()
    running = await copied.around.start()
    assert (await _of(running.core.store))[0] == [], "a start that finds all of it known"
    await lifecycle.cancel(running.core, request.id, "U0ALICE")
    await eventually("its message says so", lambda: shows("Cancelled by the requester"))
    before = {one["ts"] for one in in_the_channel()}
    await running.stop()
    assert {one["ts"] for one in in_the_channel()} == before
    await copied.put_back()

    running = await copied.around.start()
    try:
        assert (await _of(running.core.store))[0] == ["system:restore"]
    finally:
        await running.stop()


async def test_a_database_that_is_no_copy_starts_as_ever_whatever_others_write_or_spend(
    copied: Copied,
) -> None:
    await copied.copy()
    running = await copied.around.start()
    await _top_up(running, key="somebody-else-1")
    await _top_up(running, key="co-another-01JZZZZZZZZZZZZZZZZZZZZZZZ")
    await running.stop()
    await _written(copied, 1)

    for _ in range(2):
        running = await copied.around.start()
        await asyncio.sleep(0)
        paused_by, open_kinds = await _of(running.core.store)
        await running.stop()
        assert paused_by == []
        assert "older_copy" not in open_kinds


@pytest.mark.parametrize(
    ("is_live", "set_up", "is_reported"),
    [(True, {}, True), (True, {"COUNTERSIGN_ANCHORS_FILE": "{folder}/kept"}, False), (False, {}, False)],
)
async def test_where_real_money_moves_people_read_at_the_start_that_no_anchors_are_kept(
    around: Surroundings, tmp_path: Path, is_live: bool, set_up: dict[str, str], is_reported: bool
) -> None:
    env = {name: value.format(folder=tmp_path) for name, value in set_up.items()}
    running = await around.start()
    try:
        core = replace(running.core, live={"main": is_live})
        settings = Settings.from_env({**around.env, **env})
        for _ in range(2):
            await startup.report_anchors_missing(settings, Config.parse(CONFIG), core)
        _, open_kinds = await _of(core.store)
        assert open_kinds.count("anchors_missing") == is_reported

        kept = Settings.from_env({**around.env, "COUNTERSIGN_ANCHORS_COMMAND": "keep"})
        await startup.report_anchors_missing(kept, Config.parse(CONFIG), core)
        assert "anchors_missing" not in (await _of(core.store))[1]
    finally:
        await running.stop()


async def _command(copied: Copied, *words: str) -> tuple[int, str]:
    """`countersign …` in a process of its own: its exit code, and all that it says."""
    running = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bot", *words, cwd=ROOT, env={**os.environ, **copied.around.env},
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
    )  # fmt: skip
    said, _ = await running.communicate()
    return running.returncode or 0, said.decode()


@pytest.mark.parametrize("by_command", [True, False], ids=["countersign restore", "a dump"])
async def test_the_command_that_checks_the_log_takes_a_restored_database_for_whole_and_finds_what_is_not(
    copied: Copied, tmp_path: Path, by_command: bool
) -> None:
    kept = tmp_path / "kept"
    copied.around.env["COUNTERSIGN_ANCHORS_FILE"] = str(kept)
    await copied.copy()
    for _ in range(2):  # what comes after the copy, with anchors of it
        await (await copied.around.start()).stop()
    lost = kept.read_text().splitlines()
    if by_command:
        copied.use_empty()
        assert (await _command(copied, "restore", str(copied.file)))[0] == 0
    else:
        await copied.put_back()
    running = await copied.around.start()
    assert (await _of(running.core.store))[0] == ["system:restore"]
    await running.stop()

    code, said = await _command(copied, "audit", "verify", "--deep", "--anchors", str(kept))
    assert code == 0, said
    assert "The audit chain is whole" in said

    # One of an entry that the copy has, and that was another one: what no restore explains.
    kept.write_text("\n".join([*lost, json.dumps({**json.loads(lost[0]), "hash": "0" * 64})]) + "\n")
    code, said = await _command(copied, "audit", "verify", "--anchors", str(kept))
    assert code == 1, said
    assert "(anchor)" in said
