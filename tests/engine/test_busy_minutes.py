"""A busy team passes within the rates of Slack and of the API, with one process and with several on one database.

What is asserted of Slack is asserted of the stand-in, which allows what Slack documents and nothing above it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from bot.domain.requests import State
from tests.engine.busy_minutes import ASKERS, Busy, busy
from tests.services.bulk_requests import rows_of
from tests.support.databases import PostgresDatabases
from tests.support.world import ALICE, BOB

A_MINUTE = 25
CARDS = 60
ALL_END_WITHIN_S = 60
ROWS = 100
A_BATCH_WITHIN_S = 600


@asynccontextmanager
async def team(
    postgres_databases: PostgresDatabases, folder: Path, monkeypatch: pytest.MonkeyPatch, count: int
) -> AsyncIterator[Busy]:
    if count == 1:
        async with busy(folder, monkeypatch) as found:
            yield found
        return
    url = postgres_databases.migrated()
    async with busy(folder, monkeypatch, count=count, url=url) as found:
        yield found
    postgres_databases.drop(url)


async def hold_for(found: Busy, minutes: int) -> None:
    """So many requests a minute, each approved as soon as an approver is free; all succeed, and nothing is refused."""
    cards = await found.more_cards(CARDS)
    total = minutes * A_MINUTE

    async def each() -> None:
        wanted = min(total, found.second * A_MINUTE // 60 + 1)
        for number in range(found.done["wanted"], wanted):
            found.ask(ASKERS[number % len(ASKERS)], cards[number % CARDS], str(number % 7 + 1))
        found.done["wanted"] = wanted
        await found.approve_what_is_posted()

    await found.seconds(minutes * 60, each)
    for _ in range(ALL_END_WITHIN_S):
        if found.done["approved"] == total and not await found.open_ones():
            break
        await found.seconds(1, found.approve_what_is_posted)
    print(f"\n{len(found.processes)} processes, {found.second} s: {await found.figures()}")

    assert await found.states() == {State.SUCCEEDED: total}
    assert not found.refused(), "nobody waits for Slack, and nobody is refused for our own load"
    assert set(await found.api_answers()) == {200}


async def test_twenty_five_approved_top_ups_a_minute_pass_within_every_rate(
    postgres_databases: PostgresDatabases, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with team(postgres_databases, tmp_path, monkeypatch, 1) as found:
        await hold_for(found, 1)


@pytest.mark.soak
@pytest.mark.timeout(900)
@pytest.mark.parametrize("count", [1, 2, 3])
async def test_twenty_five_a_minute_go_on_for_minutes(
    postgres_databases: PostgresDatabases, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    async with team(postgres_databases, tmp_path, monkeypatch, count) as found:
        await hold_for(found, 4)


@pytest.mark.soak
@pytest.mark.timeout(900)
@pytest.mark.parametrize("count", [1, 2, 3])
async def test_a_batch_of_a_hundred_is_carried_out_within_ten_minutes(
    postgres_databases: PostgresDatabases, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    async with team(postgres_databases, tmp_path, monkeypatch, count) as found:
        batch = await found.approved_batch(await found.more_cards(ROWS), by=ALICE, approver=BOB)
        began = found.second
        while found.second < began + A_BATCH_WITHIN_S and await found.open_ones():
            await found.seconds(1)
        states = [row.state for row in await rows_of(found.driver.world, batch)]
        print(f"\n{count} processes, {ROWS} rows in {found.second - began} s: {await found.figures()}")
        answers = await found.api_answers()

    assert states == [State.SUCCEEDED] * ROWS
    assert not found.refused()
    assert set(answers) == {200}
