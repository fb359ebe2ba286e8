"""Whoever stops a list stops it, whatever somebody makes of its rows in the database for that moment."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import verify_audit
from bot.domain.errors import CountersignError
from bot.domain.requests import OPEN, Request, State
from bot.services.alerts import put_back_rules
from bot.services.operators import changed_rows, deep_check
from bot.services.requests import approvals, lifecycle
from storage import audit
from storage.tables import metadata
from tests.services.bulk_requests import a_list, ask_bulk, rows_of
from tests.services.outcome_steps import TOPUP, alert_kinds, status, top_ups
from tests.services.test_cool_off import policy
from tests.services.test_deep_check import another
from tests.support.databases import BACKENDS
from tests.support.world import ALICE, CAROL, World, a_world
from tests.thief.edits import Database, insert, opened
from tests.thief.programme import place_of

pytestmark = pytest.mark.by_turns(20)

GONE = "gone"
DEEDS = ("an approver stops it", "its requester stops it", "its requester stops what is under way")
BACK = ("", "taken back", "written over")
#: What the rows say for that moment, one after the other.
EDITS: list[tuple[str, ...]] = [
    *((state, state, state) for state in [*map(str, State), GONE] if state != State.APPROVED),
    *((State.EXECUTING, state, state) for state in (State.SUCCEEDED, State.FAILED, GONE)),
    (State.APPROVED, State.SUCCEEDED, GONE),
    (State.UNRESOLVED, State.APPROVED, State.CANCELLED),
]


class Edited:
    """The rows of a list, as somebody has changed them; `taken_back` is as they were."""

    def __init__(self, world: World, rows: list[Request], states: tuple[str, ...]) -> None:
        self._place, ids = place_of(world), [row.id for row in rows]
        self._are = dict(zip(ids, states, strict=False))
        with opened(self._place) as database:
            self._were = [row for row in database.read("request") if row["id"] in ids]
            for row_id, state in self._are.items():
                if state == GONE:
                    database.write("DELETE FROM request WHERE id = ?", row_id)
                else:
                    database.write("UPDATE request SET state = ? WHERE id = ?", state, row_id)

    def take_back(self, *, over_all: bool) -> None:
        """`over_all`: also over what Countersign has written since."""
        with opened(self._place) as database:
            there = {row["id"] for row in database.read("request")}
            for row in self._were:
                if row["id"] not in there:
                    insert(database, "request", row)
                    continue
                only = "%" if over_all else self._are[row["id"]]
                database.write(
                    "UPDATE request SET state = ? WHERE id = ? AND state LIKE ?",
                    row["state"],
                    row["id"],
                    only,
                )


def cells() -> Iterator[tuple[str, tuple[str, ...], str]]:
    for deed in DEEDS:
        for edit in EDITS:
            for back in BACK:
                yield deed, edit, back


async def _exported(world: World) -> str:
    lines: list[str] = []
    async with world.store.read() as tx:
        await audit.export(tx, lines.append, "jsonl")
    return "".join(lines)


def _is_whole(export: str, file: Path) -> bool:
    file.write_text(export)
    return verify_audit.main([str(file)]) == 0


@pytest.mark.parametrize("url", BACKENDS, indirect=True)
@pytest.mark.parametrize(("deed", "edit", "back"), list(cells()))
async def test_a_list_that_was_stopped_is_not_sent_whatever_its_rows_said_at_that_moment(
    url: str, tmp_path: Path, deed: str, edit: tuple[str, ...], back: str
) -> None:
    waits = deed != DEEDS[2]
    async with a_world(tmp_path, url=url, policy=policy() if waits else None) as world:
        batch = await ask_bulk(world, a_list(world, "10", "20", "30"))
        await world.approve(batch)
        await (world.run(60) if waits else world.run_due())
        unsent = [row for row in await rows_of(world, batch) if row.state is State.APPROVED]
        assert unsent
        sent = len(top_ups(world))
        edited = Edited(world, unsent, edit)
        if deed == DEEDS[0]:
            await approvals.reject(world.core, batch.id, CAROL, reason="not this one")
        else:
            await lifecycle.cancel(world.core, batch.id, ALICE)
        if back:
            edited.take_back(over_all=back == BACK[2])
        for _ in range(12):
            await world.run(60, step=20)
            await changed_rows.watch(world.core)
            await put_back_rules.tell(world.core)

        assert len(top_ups(world)) == sent
        assert {"ended_put_back", "tampered", "changed_outside"} & await alert_kinds(world)
        assert _is_whole(await _exported(world), tmp_path / "audit.jsonl")
        # What was put right to what the edit says is written over as well.
        if (back == BACK[1] and State.CANCELLED not in edit) or (not back and GONE not in edit):
            assert (await world.request(batch.id)).state not in OPEN
            assert not [row for row in await rows_of(world, batch) if row.state in OPEN]
            async with world.store.read() as tx:
                assert await deep_check.differences(tx) == []


#: Of columns that hold one of some words alone.
WORDS = {"purpose": "look", "stage": "submitted", "version": 1}
#: Whose row is changed for the moment of the stop: one that was refused and is to be sent again, one that was not sent,
#: the list itself; or a request by itself that was refused.
WHOSE = ("a row that was refused", "a row that was not sent", "the list", "a request by itself")


def changes() -> Iterator[tuple[str, str, str]]:
    for whose in WHOSE:
        for table in ("request", "attempt") if whose in (WHOSE[0], WHOSE[3]) else ("request",):
            for column in metadata.tables[table].columns:
                yield whose, table, column.name


class Changed:
    """One column of the rows about a request, for a moment."""

    def __init__(self, world: World, table: str, column: str, request_id: str) -> None:
        self._place, self._table, self._column = place_of(world), table, column
        key = "id" if table == "request" else "request_id"
        with opened(self._place) as database:
            self._were = [row for row in database.read(table) if row[key] == request_id]
            assert self._were
            for row in self._were:
                to: Any = WORDS.get(column) or another(metadata.tables[table].columns[column], row[column])
                self._write(database, row["id"], to)
                self._id_now = to if column == "id" else ""

    def take_back(self) -> None:
        with opened(self._place) as database:
            for row in self._were:
                self._write(database, self._id_now or row["id"], row[self._column])

    def _write(self, database: Database, row_id: str, value: Any) -> None:
        database.write(f'UPDATE "{self._table}" SET "{self._column}" = ? WHERE id = ?', value, row_id)


async def while_it_waits(world: World) -> None:
    """Carry out what is due, also what waits for a place among the calls of a minute."""
    task = asyncio.create_task(world.run_due())
    while not (await asyncio.wait({task}, timeout=0.02))[0]:
        await world.advance(1)
    await task


@pytest.mark.parametrize("url", BACKENDS, indirect=True)
@pytest.mark.parametrize(("whose", "table", "column"), list(changes()))
async def test_nothing_is_sent_after_a_stop_whatever_a_row_hid_at_that_moment(
    url: str, tmp_path: Path, whose: str, table: str, column: str
) -> None:
    async with a_world(tmp_path, url=url) as world:
        await status(429, "RATE_LIMITED").set(world, TOPUP, times=1)
        is_list = whose != WHOSE[3]
        about = await (ask_bulk(world, a_list(world, "10", "20", "30")) if is_list else world.top_up("50"))
        if is_list:
            await world.approve(about)
        await world.run_due()
        rows = await rows_of(world, about) if is_list else [about]
        refused, unsent = rows[0], rows[-1]
        assert (await world.request(refused.id)).state is State.EXECUTING
        assert not is_list or unsent.state is State.APPROVED
        sent = len(top_ups(world))
        of = {WHOSE[0]: refused, WHOSE[1]: unsent}.get(whose, about)
        changed = Changed(world, table, column, of.id)
        said = ""
        try:
            await lifecycle.cancel(world.core, about.id, ALICE)
        except CountersignError as error:
            said = str(error)
        changed.take_back()
        for _ in range(8):
            await world.advance(20)
            await while_it_waits(world)
            await changed_rows.watch(world.core)
            await changed_rows.tell_of_those_met(world.core)
            await put_back_rules.tell(world.core)

        # One row that cannot be stopped keeps no other from being stopped.
        assert not said or whose in WHOSE[2:]
        # Of what is out at that moment people read that, and are notified: it was not stopped, and goes on once it is
        # back.
        assert len(top_ups(world)) == sent or ("taken out" in said and column == "id")
        assert not said or {"ended_put_back", "tampered"} & await alert_kinds(world)
