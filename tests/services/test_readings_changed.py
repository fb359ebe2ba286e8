"""What somebody writes into what was read of a ledger hides no movement: each is reported, listed and counted."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from bot.domain.errors import OverLimit
from bot.domain.people import Limits
from bot.services.alerts import ledger_rules, put_back_rules
from bot.services.execution import maintenance
from bot.services.operators import changed_rows, safe_mode
from storage import audit
from tests.services.outcome_steps import net_of, open_alerts
from tests.services.test_whose_evidence import arrives_late, given_up
from tests.storage.restores import debit
from tests.storage.test_limits_after_restores import approved_by_all, used
from tests.storage.test_restores_at_odd_times import leave, lines_of
from tests.support.databases import BACKENDS
from tests.support.world import World, a_policy, a_world
from tests.thief.edits import FAR, Database, opened
from tests.thief.programme import place_of

#: The same on either database, and long.
pytestmark = [pytest.mark.walk, pytest.mark.by_turns(5)]

WATCH = "ledger_watch"
Edit = Callable[[Database, dict[str, Any]], object]


@pytest.fixture
async def world(url: str, tmp_path: Path) -> AsyncIterator[World]:
    async with a_world(tmp_path, url=url) as made:
        await made.tell("float", {"amount_usd": "5000"})
        yield made


def value_of(database: Database, name: str = WATCH) -> dict[str, Any]:
    (found,) = [row["value"] for row in database.read("reading") if row["name"] == name]
    read: dict[str, Any] = json.loads(found) if isinstance(found, str) else found
    return read


def written(database: Database, value: object, name: str = WATCH) -> int:
    return database.write(
        f"UPDATE reading SET value = ? WHERE name = '{name}' AND program = 'main'", json.dumps(value)
    )


def setting(**changes: object) -> Edit:
    def edit(database: Database, older: dict[str, Any]) -> object:
        return written(database, {**value_of(database), **changes})

    return edit


def later(rows_usd: int) -> Edit:
    def edit(database: Database, older: dict[str, Any]) -> object:
        now = value_of(database)
        return written(database, {**now, "rows": now["rows"] + rows_usd})

    return edit


def without_a_signature(database: Database, older: dict[str, Any]) -> object:
    now = value_of(database)
    return written(database, {name: now[name] for name in now if name not in ("n", "mac")} | {"rows": 99})


EDITS: dict[str, Edit] = {
    "more rows": later(50),
    "fewer rows": later(-1),
    "no rows": setting(rows=None),
    "another sum": setting(total_usd="1"),
    "another newest row": setting(newest=["x"]),
    "read whole in a time to come": setting(whole_at=FAR),
    "read whole in this safe mode": setting(whole_in="1", rows=99),
    "a difference": setting(differs_usd="3"),
    "a higher number": setting(n=99),
    "no signature": without_a_signature,
    "no value that is one": lambda database, _: written(database, {"rows": "many"}),
    "a list": lambda database, _: written(database, []),
    "an older one": written,
    "taken out": lambda database, _: database.write(f"DELETE FROM reading WHERE name = '{WATCH}'"),
    "of another program": lambda database, _: database.write(
        f"UPDATE reading SET program = 'other' WHERE name = '{WATCH}'"
    ),
    "of a later time": lambda database, _: database.write(
        f"UPDATE reading SET read_at = '{FAR}' WHERE name = '{WATCH}'"
    ),
}


@pytest.mark.parametrize("is_new_process", [False, True], ids=["", "after a start"])
@pytest.mark.parametrize("edit", EDITS)
@pytest.mark.parametrize("url", BACKENDS, indirect=True)
async def test_a_debit_that_nobody_requested_is_reported_whatever_somebody_wrote_of_how_far_was_read(
    world: World, edit: str, is_new_process: bool
) -> None:
    await ledger_rules.compare(world.core, "main")
    with opened(place_of(world)) as database:
        older = value_of(database)
    await debit(world, 1, key="elsewhere-1")
    await ledger_rules.compare(world.core, "main")
    if is_new_process:
        world.store._versions.clear()

    with opened(place_of(world)) as database:
        assert EDITS[edit](database, older)
    took = await debit(world, 4, key="elsewhere-2")
    await ledger_rules.compare(world.core, "main")

    alerts = [one for one in await open_alerts(world) if one.kind == "unexplained_movement"]
    assert sum("elsewhere-2" in one.text for one in alerts) == 1, alerts
    assert took
    await world.advance(600)
    before = len(await open_alerts(world))
    await ledger_rules.compare(world.core, "main")
    assert len(await open_alerts(world)) == before, "each is reported once"


@pytest.mark.parametrize("edit", [name for name in EDITS if name != "of a later time"])
@pytest.mark.parametrize("url", BACKENDS, indirect=True)
async def test_of_a_change_people_are_notified_and_of_an_ordinary_day_they_are_not(
    world: World, edit: str
) -> None:
    await ledger_rules.compare(world.core, "main")
    with opened(place_of(world)) as database:
        older = value_of(database)
    for _ in range(3):
        await ledger_rules.compare(world.core, "main")
        await world.top_up("5")
        await world.run(30)
    assert await open_alerts(world) == []

    with opened(place_of(world)) as database:
        assert EDITS[edit](database, older)
    await ledger_rules.compare(world.core, "main")

    (alert,) = await open_alerts(world)
    assert "how far the ledger of main was read" in alert.title


async def in_safe_mode(world: World, edit: Edit) -> Decimal:
    """Of an older copy, which knows nothing of two debits; the edit comes before its ledger is read."""
    await ledger_rules.compare(world.core, "main")
    lost = await debit(world, 1) + await debit(world, 4)
    async with world.store.read() as tx:
        end = await audit.head(tx)
    at = world.clock.now()
    await safe_mode.enter(world.core, (end.seq, at - timedelta(minutes=5)), (end.seq + 5, at))
    await safe_mode.at_start(world.core)
    with opened(place_of(world)) as database:
        edit(database, {})
    await ledger_rules.compare(world.core, "main")
    return lost


def as_if_read(database: Database, _: object) -> object:
    """As the first finding of the test had it: all of it read, up to now."""
    return written(
        database,
        {**value_of(database), "rows": 99, "whole_at": FAR, "whole_in": "9"},
    )


BEFORE_THE_READING: dict[str, Edit] = {
    "nothing": lambda *_: None,
    "as if read": as_if_read,
    "taken out": EDITS["taken out"],
}
AFTER_IT: dict[str, str] = {
    "nothing": "",
    "taken out": "DELETE FROM orphan_debit",
    "listed": f"UPDATE orphan_debit SET listed_at = '{FAR}'",
    "another amount": "UPDATE orphan_debit SET amount_usd = '1'",
    "of another day": "UPDATE orphan_debit SET booked_at = '2020-01-01T00:00:00.000000Z'",
    "found before": "UPDATE orphan_debit SET found_at = '2020-01-01T00:00:00.000000Z'",
    "another reference": "UPDATE orphan_debit SET reference = 'x' || reference",
}


@pytest.mark.parametrize("after", AFTER_IT)
@pytest.mark.parametrize("before", BEFORE_THE_READING)
@pytest.mark.parametrize("url", BACKENDS, indirect=True)
async def test_debits_that_a_copy_does_not_know_are_listed_said_and_counted_whatever_somebody_wrote(
    world: World, before: str, after: str
) -> None:
    world.rebuild(policy=replace(a_policy(), limits=Limits(*[Decimal(100)] * 3)))
    lost = await in_safe_mode(world, BEFORE_THE_READING[before])
    with opened(place_of(world)) as database:
        if after != "nothing":
            database.write(AFTER_IT[after])
    await safe_mode.review(world.core)
    with opened(place_of(world)) as database:
        if after != "nothing":
            database.write(AFTER_IT[after])

    (alert,) = [one for one in await open_alerts(world) if one.kind == "older_copy"]
    assert f"*2 debits of {lost:.2f} USD in all*" in alert.text
    assert (await lines_of(world, alert)).count("topup:co-") == 2
    async with world.store.read() as tx:
        assert f"{lost:.2f} USD" in await safe_mode.summary(tx)
    await leave(world)
    assert set((await used(world)).values()) == {lost}
    with pytest.raises(OverLimit):
        await approved_by_all(world, "99")


@pytest.mark.parametrize("url", BACKENDS, indirect=True)
async def test_a_debit_is_not_explained_by_a_request_into_whose_row_somebody_wrote_its_key(
    world: World,
) -> None:
    paid = await world.top_up("5")
    await world.run(30)
    await ledger_rules.compare(world.core, "main")
    key = world.core.ids.idempotency_key()
    with opened(place_of(world)) as database:
        assert database.write("UPDATE request SET key = ? WHERE id = ?", key, paid.id)
    lost = await debit(world, 3, key=key)

    await ledger_rules.compare(world.core, "main")

    assert [one.kind for one in await open_alerts(world)] == ["unexplained_movement"]
    assert set((await used(world)).values()) == {lost + 5}


ENDED = ("", "outcome_unknown = FALSE", "finished_at = '2020-01-01T00:00:00.000000Z'")


@pytest.mark.parametrize("not_due", [False, True], ids=["", "and takes it off the list"])
@pytest.mark.parametrize("ledger", ["", "more rows", "taken out", "no signature"])
@pytest.mark.parametrize("edit", ENDED)
@pytest.mark.parametrize("url", BACKENDS, indirect=True)
async def test_money_that_arrives_late_is_said_whatever_somebody_wrote_of_how_it_ended(
    world: World, edit: str, ledger: str, not_due: bool
) -> None:
    await ledger_rules.compare(world.core, "main")
    request = await given_up(world)
    await ledger_rules.compare(world.core, "main")
    with opened(place_of(world)) as database:
        if edit:
            assert database.write(f"UPDATE request SET {edit} WHERE id = ?", request.id)
    await arrives_late(world, request)
    for turn in range(3):
        with opened(place_of(world)) as database:
            if ledger and not turn:
                assert EDITS[ledger](database, {})
        await ledger_rules.compare(world.core, "main")
        if not_due:
            with opened(place_of(world)) as database:
                database.write("UPDATE request SET due_at = NULL WHERE id = ?", request.id)
        await maintenance.sweep_late_landings(world.core)
        await changed_rows.watch(world.core)
        await put_back_rules.tell(world.core)
        await world.advance(900)

    found = await world.request(request.id)
    assert net_of(world, request.key) < 0
    assert "Nothing moved" not in found.outcome_text, (found.state, found.outcome_text)


@pytest.mark.parametrize("url", BACKENDS, indirect=True)
async def test_what_an_older_version_has_found_is_put_on_record_once(world: World) -> None:
    """Its reading gets a signature, its debits count; a second time nothing of it counts."""
    await ledger_rules.compare(world.core, "main")
    at = world.clock.now().isoformat(timespec="microseconds").replace("+00:00", "Z")
    insert = (
        "INSERT INTO orphan_debit (program, reference, amount_usd, kind, booked_at, found_at, listed_at)"
        " VALUES ('main', ?, ?, 'card_topup', ?, ?, ?)"
    )
    with opened(place_of(world)) as database:
        now = value_of(database)
        written(database, {name: now[name] for name in now if name not in ("n", "mac", "whole_in")})
        database.write(insert, f"topup:{world.core.ids.idempotency_key()}", "-7", at, at, at)
    world.store._versions.clear()

    await world.store._sign_readings_once()
    assert set((await used(world)).values()) == {Decimal(7)}
    assert world.store.signed_now == 2
    with opened(place_of(world)) as database:
        database.write(insert, f"topup:{world.core.ids.idempotency_key()}", "-9", at, at, at)
        without_a_signature(database, {})
    await world.store._sign_readings_once()

    assert set((await used(world)).values()) == {Decimal(7)}
    await ledger_rules.compare(world.core, "main")
    assert [one.kind for one in await open_alerts(world)] == ["changed_outside"]
