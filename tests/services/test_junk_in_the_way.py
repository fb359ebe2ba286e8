"""A row that nothing can read, under a key that Countersign writes itself: its own write takes its place, or is
refused, and never is anything more allowed for it. A pause that cannot be read is one.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Insert, Table

from bot.domain.errors import CountersignError
from bot.domain.requests import State
from bot.services.execution import presend_checks
from bot.services.operators import changed_rows, pausing, safe_mode
from bot.services.processes import unreadable
from storage import audit
from storage.cards import otp_recipients
from storage.columns import Json, Money, UtcDateTime, time_text
from storage.events import webhook_secrets
from storage.messages import mutes
from storage.operators import held_endpoints
from storage.requests import unseen
from storage.tables import metadata
from storage.transaction import Tx
from tests.services.outcome_steps import execute, open_alerts, top_ups
from tests.support.databases import BACKENDS
from tests.support.kinds import asked
from tests.support.world import BOB, CAROL, World, a_world
from tests.thief.edits import opened
from tests.thief.programme import place_of

pytestmark = pytest.mark.by_turns(5)

A_JUNK_PAUSE = (
    """INSERT INTO pause (program, "by", by_name, reason, since) VALUES ('main', 'U0', 'n', 'r', ?)"""
)


@pytest.fixture
async def world(url: str, tmp_path: Path) -> AsyncIterator[World]:
    async with a_world(tmp_path, url=url) as made:
        made.rebuild(policy=replace(made.core.policy, kinds={}))
        yield made


def plant_a_pause(world: World) -> None:
    garbage = "infinity" if place_of(world).startswith("postgresql") else "garbage"
    with opened(place_of(world)) as database:
        assert database.write(A_JUNK_PAUSE, garbage)


async def looked(world: World) -> None:
    look = unreadable.Look(world.core)
    for _ in range(8):
        await look.run()


async def resumed_by_two(world: World) -> None:
    await pausing.resume(world.core, BOB, ["main"])
    await pausing.resume(world.core, CAROL, ["main"])


async def sent(world: World, amount: str) -> int:
    """How many calls there are once this top-up was approved and had its time."""
    await world.top_up(amount)
    await world.run(20, step=10)
    return len(top_ups(world))


@pytest.mark.parametrize("is_met", [True, False], ids=["met before", "not met yet"])
@pytest.mark.parametrize("url", BACKENDS, indirect=True)
async def test_a_pause_that_cannot_be_read_is_one_and_is_made_again_and_ended_by_two(
    world: World, is_met: bool
) -> None:
    plant_a_pause(world)
    if is_met:
        await looked(world)
        assert await sent(world, "5") == 0
        (alert,) = [one for one in await open_alerts(world) if one.kind == "unreadable_row"]
        assert "counts as a pause" in alert.text
        assert "/countersign resume main" in alert.text

    assert await pausing.pause(world.core, BOB, ["main"], "stop now") == ["main"]
    assert await sent(world, "6") == 0
    found = await pausing.of(world.core, "main")
    assert found is not None
    assert found.by == BOB

    await resumed_by_two(world)
    assert await sent(world, "7") == (3 if is_met else 2)
    assert await pausing.pause(world.core, BOB, ["main"], "again") == ["main"]


@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
async def test_it_is_ended_by_two_though_nobody_made_it_again(world: World) -> None:
    plant_a_pause(world)
    await looked(world)

    await resumed_by_two(world)

    assert await sent(world, "5") == 1
    await looked(world)
    assert [one.kind for one in await open_alerts(world) if one.kind == "unreadable_row"] == []


@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
async def test_a_true_pause_that_is_made_unreadable_goes_on(world: World) -> None:
    await pausing.pause(world.core, BOB, ["main"], "stop")
    with opened(place_of(world)) as database:
        assert database.write("UPDATE pause SET since = 'garbage'")
    await looked(world)

    assert await sent(world, "5") == 0
    await changed_rows.undo_what_was_put_back(world.core)
    assert await sent(world, "6") == 0


@pytest.mark.parametrize("is_met", [True, False])
@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
async def test_no_approval_of_before_an_older_copy_is_sent_for_it(world: World, is_met: bool) -> None:
    request = await world.top_up("5")
    plant_a_pause(world)
    if is_met:
        await looked(world)
    async with world.store.read() as tx:
        head = await audit.head(tx)
    now = world.clock.now()

    await safe_mode.enter(world.core, (head.seq, now), (head.seq + 5, now))
    await safe_mode.at_start(world.core)
    await world.run(40, step=10)

    assert top_ups(world) == []
    assert (await world.request(request.id)).state is State.CANCELLED


@pytest.mark.parametrize("is_met", [True, False])
@pytest.mark.parametrize("url", BACKENDS, indirect=True)
async def test_a_secret_that_was_made_is_kept_whatever_is_under_its_number(
    world: World, is_met: bool
) -> None:
    await both_approve(world, "webhook_register")
    garbage = "infinity" if place_of(world).startswith("postgresql") else "garbage"
    with opened(place_of(world)) as database:
        assert database.write(
            "INSERT INTO webhook_secret (program, version, state, since) VALUES ('main', 2, 'lost', ?)",
            garbage,
        )
    if is_met:
        await looked(world)

    rotated = await both_approve(world, "webhook_rotate")

    assert rotated.state is State.SUCCEEDED
    async with world.store.read() as tx:
        assert len(await webhook_secrets.accepted(tx, "main")) == 2
    await looked(world)
    assert await open_alerts(world) == []


async def both_approve(world: World, kind: str) -> Any:
    request = await asked(world, kind)
    for person in (BOB, CAROL):
        if person != request.requester and (await world.request(request.id)).state is State.PENDING:
            await world.approve(await world.request(request.id), by=person)
    await world.run(60, step=10)
    return await world.request(request.id)


@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
async def test_what_a_start_did_not_see_in_slack_is_held_though_that_cannot_be_read(world: World) -> None:
    request = await world.top_up("5")
    async with world.store.begin() as tx:
        await unseen.put(tx, request.id, {"since": time_text(world.clock.now())})
    with opened(place_of(world)) as database:
        assert database.write("UPDATE reading SET value = '{' WHERE name LIKE 'request_unseen%'")
    await looked(world)

    async with world.store.begin() as tx:
        kept = await presend_checks.kept_of(tx, world.core, request)

    assert kept is not None
    assert kept.is_unseen


# ------------------------------------------------------------------------------------------ every table


async def step_top_up(world: World) -> None:
    await execute(world, await world.top_up("5"))


async def step_pause(world: World) -> None:
    await pausing.pause(world.core, BOB, ["main"], "stop")


async def step_waits(world: World) -> None:
    await world.top_up("6", card=1)
    await world.run(20, step=10)


async def step_resume(world: World) -> None:
    await resumed_by_two(world)
    await world.run(20, step=10)


async def step_settings(world: World) -> None:
    async with world.store.begin() as tx:
        await mutes.put(tx, name="m-1", kind="declines", about="", by=BOB, until=None)
        await otp_recipients.put(tx, "emp-1", BOB)
        await held_endpoints.put(tx, "main", "POST /cards", "no scope")


LIFE: tuple[Callable[[World], Awaitable[None]], ...] = (
    step_top_up,
    step_pause,
    step_waits,
    step_resume,
    step_settings,
)
Keys = dict[str, list[dict[str, Any]]]


@asynccontextmanager
async def recording(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Keys]:
    """The keys of all rows that are written meanwhile, by table."""
    found: Keys = {}
    run = Tx.run

    async def and_note(self: Tx, statement: Any, *args: Any) -> Any:
        if isinstance(statement, Insert) and isinstance(statement.table, Table) and statement.select is None:
            named = statement.compile(dialect=self.connection.dialect).params
            rows = args[0] if args else {}
            for row in rows if isinstance(rows, list) else [rows]:
                values = {**named, **row}
                keys = {column.name: values.get(column.name) for column in statement.table.primary_key}
                found.setdefault(statement.table.name, []).append(keys)
        return await run(self, statement, *args)

    with monkeypatch.context() as patch:
        patch.setattr(Tx, "run", and_note)
        yield found


def plant(world: World, name: str, keys: dict[str, Any]) -> None:
    """A row of this table under this key, of which one column is nothing that can be read."""
    table, row, is_spoiled = metadata.tables[name], dict[str, Any](), False
    for column in table.columns:
        if column.name in keys:
            value = keys[column.name]
            row[column.name] = time_text(value) if hasattr(value, "tzinfo") else value
        elif not is_spoiled and isinstance(column.type, UtcDateTime | Json | Money):
            row[column.name], is_spoiled = "garbage", True
        elif not column.nullable:
            row[column.name] = ""
    with closing(sqlite3.connect(world.database)) as database:
        database.execute("PRAGMA foreign_keys = OFF")
        database.execute("PRAGMA ignore_check_constraints = ON")
        names = ", ".join(f'"{one}"' for one in row)
        marks = ", ".join("?" for _ in row)
        database.execute(f'INSERT OR IGNORE INTO "{name}" ({names}) VALUES ({marks})', list(row.values()))
        database.commit()


async def lived(world: World) -> tuple[list[int], list[str]]:
    """How many calls there were after each step, each tried three times; and the steps that were refused."""
    calls, refused = list[int](), list[str]()
    for step in LIFE:
        for _ in range(3):
            try:
                await step(world)
            except CountersignError as error:
                await looked(world)
                said = f"{step.__name__}: {error}"
            else:
                break
        else:
            refused.append(said)
        calls.append(len(top_ups(world)))
    return calls, refused


# Nothing goes on without these, or people have to look at them first, and nobody knows the next id of a request.
MAY_REFUSE = {"request", "decision", "attempt", "audit", "audit_head", "program", "keycheck", "meta"}
SAMPLE = ("alert", "held_endpoint", "mute", "pause", "person_card", "row_signature")  # `make soak` takes each


async def test_no_table_has_more_sent_by_a_row_under_the_next_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each table in a life of its own, in which the keys of another life like it hold rows that nobody can read."""
    (tmp_path / "honest").mkdir()
    async with a_world(tmp_path / "honest") as world, recording(monkeypatch) as keys:
        honest, refused = await lived(world)
    assert refused == []
    wrong = dict[str, Any]()
    for name in sorted(keys.keys() - MAY_REFUSE if "SOAK_CELLS" in os.environ else SAMPLE):
        (tmp_path / name).mkdir()
        async with a_world(tmp_path / name) as world:
            for key in keys[name]:
                plant(world, name, key)
            if len(name) % 2:  # of some this process knows before
                await looked(world)
            found, refused = await lived(world)
            await looked(world)
        if any(there > least for there, least in zip(found, honest, strict=True)):
            wrong[name] = ("more was sent", found, honest)
        elif refused:
            wrong[name] = refused
    assert wrong == {}
