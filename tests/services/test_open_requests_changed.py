"""A request that is open by the audit log is looked at every minute: its row is there, and says what was requested."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Column

from bot.domain.requests import Request, State
from bot.services.operators import changed_rows
from storage.errors import Unreadable
from storage.protection import column_protection
from storage.protection.column_protection import Class
from storage.tables import metadata
from tests.services.bulk_requests import a_list, ask_bulk
from tests.services.outcome_steps import open_alerts, top_ups
from tests.services.test_deep_check import another
from tests.support.databases import BACKENDS
from tests.support.world import World, a_world
from tests.thief.edits import insert, opened
from tests.thief.programme import place_of

KINDS = ("card_freeze", "card_topup")
EDITS = {
    "deleted": "DELETE FROM request WHERE id = ?",
    "of another program": "UPDATE request SET program = 'x' WHERE id = ?",
    "of no program": "UPDATE request SET program = '' WHERE id = ?",
    "of no kind": "UPDATE request SET kind = 'no_kind' WHERE id = ?",
}
TERMS = [
    column
    for column, one in column_protection.of_table("request").items()
    if one is column_protection.of_table("request")["terms"]
]


@pytest.fixture
async def world(url: str, tmp_path: Path) -> AsyncIterator[World]:
    async with a_world(tmp_path, url=url) as made:
        yield made


async def _asked(world: World, kind: str) -> Request:
    amount = {"amount_usd": "50"} if kind == "card_topup" else {}
    return await world.ask(kind, {"card": world.cards[0]["id"], **amount})


def _edit(world: World, statement: str, *values: object) -> None:
    with opened(place_of(world)) as database:
        assert database.write(statement, *values)


def _row(world: World, request_id: str) -> dict[str, Any]:
    with opened(place_of(world)) as database:
        (found,) = [row for row in database.read("request") if row["id"] == request_id]
    return found


async def _said(world: World) -> str:
    return " ".join(f"{alert.title} {alert.text}" for alert in await open_alerts(world))


@pytest.mark.by_turns(4)
@pytest.mark.parametrize("url", BACKENDS, indirect=True)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("edit", EDITS)
async def test_people_are_notified_within_a_minute_of_an_approved_request_that_nobody_meets_any_more(
    world: World, edit: str, kind: str
) -> None:
    request = await _asked(world, kind)
    await world.approve(request)
    _edit(world, EDITS[edit], request.id)

    await world.run_due()
    await changed_rows.watch(world.core)
    await changed_rows.watch(world.core)

    assert request.id in await _said(world)
    assert top_ups(world) == []
    if edit != "deleted":
        assert (await world.request(request.id)).state is State.CANCELLED


@pytest.mark.parametrize("url", BACKENDS, indirect=True)
async def test_a_row_that_was_put_back_as_it_was_goes_on_and_the_alert_ends(world: World) -> None:
    request = await world.top_up("50")
    row = _row(world, request.id)
    _edit(world, EDITS["deleted"], request.id)
    await changed_rows.watch(world.core)
    assert request.id in await _said(world)

    with opened(place_of(world)) as database:
        insert(database, "request", row)
    await changed_rows.watch(world.core)
    await world.run(5)

    assert request.id not in await _said(world)
    assert (await world.request(request.id)).state is State.SUCCEEDED


async def test_many_rows_that_are_gone_are_one_alert_that_names_some(tmp_path: Path) -> None:
    async with a_world(tmp_path) as world:
        batch = await ask_bulk(world, a_list(world, "10", "20", "30"))
        await world.approve(batch)
        _edit(world, "DELETE FROM request")
        await changed_rows.watch(world.core)

        alerts = [alert for alert in await open_alerts(world) if alert.kind == "changed_outside"]
        assert len(alerts) == 1
        assert "and 1 more" in alerts[0].title


@pytest.mark.by_turns(4)
@pytest.mark.parametrize("column", TERMS)
async def test_each_column_of_what_was_requested_is_compared(tmp_path: Path, column: str) -> None:
    async with a_world(tmp_path) as world:
        request = await world.top_up("50")
        of_it: Column[Any] = metadata.tables["request"].c[column]
        value = another(of_it, _row(world, request.id)[column])

        _edit(world, f"UPDATE request SET {column} = ? WHERE id = ?", value, request.id)
        await changed_rows.watch(world.core)

        assert request.id in await _said(world)


def test_what_was_requested_is_all_that_the_fingerprint_covers() -> None:
    signed = {name for name, one in column_protection.of_table("request").items() if one.by is Class.SIGNED}
    assert set(TERMS) == signed - {"break_glass", "digest", "body_mac", "approved_at", "valid_until"}


async def test_a_row_that_cannot_be_read_was_not_taken_out(tmp_path: Path) -> None:
    async with a_world(tmp_path) as world:
        request = await world.top_up("50")
        _edit(world, "UPDATE request SET stage = 'x' WHERE id = ?", request.id)
        for _ in range(2):
            with suppress(Unreadable):
                await changed_rows.watch(world.core)

        assert "taken out" not in await _said(world)
