"""A copy of the database is started by mistake while the original runs: what each says, and nothing is paid twice."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from decimal import Decimal
from pathlib import Path

import pytest

from bot import app
from bot.domain.requests import Request, State
from bot.services import people
from bot.services.alerts import ledger_rules
from bot.services.requests import approvals
from storage.maintenance import back_up
from storage.messages import Alert
from storage.messages import alerts as alert_rows
from storage.operators import pauses
from storage.requests import requests as request_rows
from tests.integration.surroundings import CONFIG, Surroundings
from tests.integration.test_copies_without_anchors import asked
from tests.storage.restores import VAULT, put_in_place
from tests.support import posting
from tests.support.databases import Databases
from tests.support.ports import free_ports
from tests.support.waiting import eventually

pytestmark = [pytest.mark.usefixtures("first_readings_come_soon"), pytest.mark.by_turns(2)]


class Twice:
    """A bot on its database, and others on copies of it, with the same settings."""

    def __init__(
        self, around: Surroundings, databases: Databases, folder: Path, stack: AsyncExitStack
    ) -> None:
        self._around, self._databases, self._folder, self._stack = around, databases, folder, stack
        self._url = databases.migrated()
        self._copies = 0

    async def start(self, url: str = "") -> app.Running:
        ports = {
            name: f"127.0.0.1:{free_ports(1)}"
            for name in ("COUNTERSIGN_HTTP_BIND", "COUNTERSIGN_METRICS_BIND")
        }
        settings = {**(ports if url else {}), "COUNTERSIGN_DATABASE_URL": url or self._url}
        running = await self._around.start(CONFIG, **settings)
        self._stack.push_async_callback(running.stop)

        async def is_read() -> bool:
            return await ledger_rules.is_begun(running.core, "main")

        await eventually("the ledger is read", is_read, within_s=30)
        return running

    async def copy(self, running: app.Running) -> str:
        """Of the database of the original, while it runs."""
        self._copies += 1
        file = self._folder / f"copy{self._copies}.db"
        await back_up(self._url, file, vault=VAULT, clock=running.core.clock)
        return await put_in_place(file, self._databases)


@pytest.fixture
async def twice(around: Surroundings, databases: Databases, tmp_path: Path) -> AsyncIterator[Twice]:
    async with AsyncExitStack() as stack:
        made = Twice(around, databases, tmp_path, stack)
        around.env["COUNTERSIGN_DATABASE_URL"] = made._url
        yield made


async def approved(running: app.Running, request: Request) -> None:
    core = running.core
    await people.require_member(core, "U0BOB", action="test")
    await posting.post(core, request.id)
    await approvals.approve(core, request.id, "U0BOB", shown_digest=request.digest)

    async def is_done() -> bool:
        async with core.store.read() as tx:
            found = await request_rows.get(tx, request.id)
        return found is not None and found.state is State.SUCCEEDED

    await eventually(f"{request.id} succeeded", is_done, within_s=30)


async def debits(running: app.Running, request: Request) -> list[Decimal]:
    found = [e async for e in running.core.partners["main"].ledger_entries()]
    return [e.amount_usd for e in found if request.key in (e.reference or "")]


async def open_alerts(running: app.Running) -> dict[str, Alert]:
    async with running.core.store.read() as tx:
        return {one.kind: one for one in await alert_rows.open_ones(tx)}


async def paused_by(running: app.Running) -> list[str]:
    async with running.core.store.read() as tx:
        return [one.by for one in await pauses.all(tx)]


async def test_two_copies_at_once_pay_once_and_each_reports_what_the_other_one_sent(twice: Twice) -> None:
    original = await twice.start()
    known_to_both = await asked(original)
    clone = await twice.start(await twice.copy(original))
    assert await paused_by(clone) == [], "nothing has happened yet that it does not know"

    await approved(original, known_to_both)
    await approved(clone, known_to_both)
    assert await debits(original, known_to_both) == [Decimal(-7)], "by the same key"

    for one, other in ((original, clone), (clone, original)):
        alone = await asked(one)
        await approved(one, alone)
        await ledger_rules.compare(other.core, "main")
        alert = (await open_alerts(other))["unexplained_movement"]
        assert alert.severity == "critical"
        assert alone.key in alert.text, "people are called to the debit that it did not make"
        assert await debits(original, alone) == [Decimal(-7)]


async def test_a_clone_that_starts_behind_the_original_begins_safe_mode_and_leaves_the_original_alone(
    twice: Twice,
) -> None:
    original = await twice.start()
    request = await asked(original)
    copy = await twice.copy(original)
    await approved(original, request)

    clone = await twice.start(copy)

    assert await paused_by(clone) == ["system:restore"]
    assert (await open_alerts(clone))["older_copy"].severity == "critical"
    assert await paused_by(original) == []
    await approved(original, await asked(original))
    assert await debits(original, request) == [Decimal(-7)]
