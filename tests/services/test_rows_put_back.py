"""Older rows put back with their older signatures while the bot is down: at the start the audit chain tells."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from typing import Any

import pytest

from bot.domain.requests import State
from bot.services import audit
from bot.services.operators import changed_rows, pausing
from storage.cards import otp_recipients
from storage.operators import pauses, programs
from tests.services.outcome_steps import alert_kinds, execute, keys_sent
from tests.support.world import ALICE, BOB, World

Rows = dict[str, list[dict[str, Any]]]
KEPT = ("pause", "program", "person_card", "row_signature")


def opened(world: World) -> sqlite3.Connection:
    connection = sqlite3.connect(world.database)
    connection.row_factory = sqlite3.Row
    connection.execute("PRAGMA foreign_keys = OFF")
    return connection


def copy(world: World) -> Rows:
    """What a thief keeps of the signed tables and of their signatures."""
    with closing(opened(world)) as connection:
        return {name: [dict(row) for row in connection.execute(f"SELECT * FROM {name}")] for name in KEPT}


def put_back(world: World, kept: Rows) -> None:
    with closing(opened(world)) as connection:
        for name, rows in kept.items():
            connection.execute(f"DELETE FROM {name}")
            for row in rows:
                marks = ", ".join("?" for _ in row)
                connection.execute(f"INSERT INTO {name} VALUES ({marks})", tuple(row.values()))
        connection.commit()


async def start(world: World) -> list[str]:
    """A process that has seen nothing of before."""
    world.store._versions.clear()
    return await changed_rows.undo_what_was_put_back(world.core)


async def name_for_codes(world: World, reference: str, person: str) -> None:
    """As two people do it, with its entry in the audit chain."""
    async with world.store.begin() as tx:
        if person:
            await otp_recipients.put(tx, reference, person)
        else:
            await otp_recipients.drop(tx, reference)
        await audit.record(tx, world.core, ALICE, "code.name_person", f"code:{reference}", {"person": person})


async def test_a_pause_that_was_put_back_to_none_is_in_force_again(world: World) -> None:
    request = await world.top_up("50")
    kept = copy(world)
    await pausing.pause(world.core, BOB, ["main"], "the key may be stolen")
    put_back(world, kept)

    found = await start(world)
    waiting = await execute(world, request)

    assert found == ["pause"]
    assert (waiting.state, keys_sent(world)) == (State.APPROVED, [])
    assert "changed_outside" in await alert_kinds(world)


async def test_draft_only_that_was_put_back_to_off_is_on_again(world: World) -> None:
    kept = copy(world)
    async with world.store.begin() as tx:
        await programs.begin_drafts(tx, "main")
        await audit.record(tx, world.core, ALICE, "program.drafts_on", "program:main", {})
    put_back(world, kept)

    await start(world)

    await execute(world, await world.top_up("50"))
    assert keys_sent(world) == []


@pytest.mark.parametrize("then", [BOB, ""])
async def test_codes_go_to_whom_the_chain_names(world: World, then: str) -> None:
    await name_for_codes(world, "emp-1", "U0MALLORY")
    kept = copy(world)
    await name_for_codes(world, "emp-1", then)
    put_back(world, kept)

    await start(world)

    async with world.store.read() as tx:
        assert await otp_recipients.person_of(tx, "emp-1") == (then or None)


async def test_what_is_as_it_was_left_stays_so_and_nothing_is_reported(world: World) -> None:
    await name_for_codes(world, "emp-1", BOB)
    await pausing.pause(world.core, BOB, ["main"], "a look at the ledger")
    before = copy(world)

    assert await start(world) == []

    assert copy(world) == before
    assert "changed_outside" not in await alert_kinds(world)


async def test_an_entry_that_somebody_wrote_tells_nothing(world: World) -> None:
    with closing(opened(world)) as connection:
        connection.execute(
            "INSERT INTO audit SELECT seq + 1000, at, actor, 'program.write_paused', 'program:main', 'ok', reason_code,"
            " ?, policy_version, prev, hash, mac FROM audit ORDER BY seq DESC LIMIT 1",
            (json.dumps({"reason": "x"}),),
        )
        connection.commit()

    await start(world)

    async with world.store.read() as tx:
        assert await pauses.of(tx, "main") is None
