"""A row that nothing can read stops nobody else, and people are notified. `tests/thief/test_junk.py` walks all."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import select

from bot import jobs
from bot.domain.errors import CountersignError
from bot.services import requests as asking
from bot.services.messages import reminders
from bot.services.processes import unreadable
from storage import tables as t
from storage.errors import NotAsCounted, Unreadable
from storage.messages import Alert, alerts
from storage.protection import unreadable_rows
from tests.services.outcome_steps import keys_sent, open_alerts
from tests.support.databases import BACKENDS
from tests.support.world import World, a_world
from tests.thief.edits import opened
from tests.thief.programme import place_of

pytestmark = pytest.mark.by_turns(4)


def write(world: World, statement: str, *values: object) -> None:
    with opened(place_of(world)) as database:
        assert database.write(statement, *values)


async def notified(world: World) -> list[Alert]:
    """What people are notified of, by a process that has just looked."""
    look = unreadable.Look(world.core)
    for _ in range(12):
        await look.run()
    return [alert for alert in await open_alerts(world) if alert.kind == "unreadable_row"]


@pytest.mark.parametrize("url", BACKENDS, indirect=True)
async def test_a_request_that_cannot_be_read_is_left_out_and_named_and_the_others_go_on(
    tmp_path: Path, url: str
) -> None:
    async with a_world(tmp_path, url=url) as world:
        victim = await world.top_up("40", card=1, approved=False)
        other = await world.top_up("60", card=2, approved=False)
        write(world, "UPDATE request SET terms = '{' WHERE id = ?", victim.id)
        await world.advance(15 * 60)
        with pytest.raises(Unreadable, match=rf"{victim.id}.*terms"):
            await reminders.remind(world.core)

        await reminders.remind(world.core)
        await world.advance(5 * 86_400)
        await asking.expire_due(world.core)

        assert (await world.request(other.id)).state == "expired"
        (said,) = await notified(world)
        assert (said.subject, said.severity) == (victim.id, "critical")
        assert "column terms" in said.text
        assert "no money has moved by it here" in said.text
        async with world.store.read() as tx:
            with pytest.raises(Unreadable, match=f"The row {victim.id} of the table request can't be read"):
                await asking.existing(tx, victim.id)


@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
async def test_nothing_is_sent_for_a_request_whose_approval_or_calls_cannot_be_read(
    tmp_path: Path, url: str
) -> None:
    async with a_world(tmp_path, url=url) as world:
        request = await world.top_up("40", card=1)
        healthy = await world.top_up("50", card=2)
        write(world, "UPDATE decision SET decided_at = 'garbage' WHERE request_id = ?", request.id)
        before = len(keys_sent(world))
        (said,) = await notified(world)

        await world.run_due()

        assert keys_sent(world)[before:] == [healthy.key]
        assert said.subject == request.id
        assert "decision" in said.text


@pytest.mark.parametrize("url", BACKENDS, indirect=True)
async def test_what_limits_count_with_one_that_cannot_be_read_waits_and_people_read_why(
    tmp_path: Path, url: str
) -> None:
    async with a_world(tmp_path, url=url) as world:
        request = await world.top_up("40", card=1)
        other = await world.top_up("50", card=2, approved=False)
        write(world, "UPDATE request SET exposure_usd = 'NaN' WHERE id = ?", request.id)
        (said,) = await notified(world)
        assert "an approval is refused where a limit or a tier counts this request" in said.text

        with pytest.raises(NotAsCounted, match=f"{request.id}.*Nothing was done or sent"):
            await world.approve(other)

        assert (await world.request(other.id)).state == "pending"


@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
async def test_the_alert_says_that_money_may_have_moved_where_the_request_was_sent(
    tmp_path: Path, url: str
) -> None:
    async with a_world(tmp_path, url=url) as world:
        request = await world.top_up("40", card=1)
        await world.run_due()
        write(world, "UPDATE request SET exposure_usd = 'NaN' WHERE id = ?", request.id)

        (said,) = await notified(world)

        assert "What it sent before is in the ledger" in said.text


@pytest.mark.parametrize("url", BACKENDS, indirect=True)
async def test_the_alert_ends_when_the_row_can_be_read_again(tmp_path: Path, url: str) -> None:
    async with a_world(tmp_path, url=url) as world:
        victim = await world.top_up("40", approved=False)
        write(world, "UPDATE request SET remind_at = ? WHERE id = ?", "infinity" if url else "x", victim.id)
        assert len(await notified(world)) == 1

        write(world, "UPDATE request SET remind_at = NULL WHERE id = ?", victim.id)

        assert await notified(world) == []
        assert (await world.request(victim.id)).state == "pending"


async def test_an_alert_that_cannot_be_read_is_raised_again(world: World) -> None:
    given = {"kind": "float_low", "subject": "main", "severity": "warning", "title": "Low", "text": "."}
    async with world.store.begin() as tx:
        await alerts.raise_(tx, dedupe="float_low:main", **given)
    write(world, "UPDATE alert SET raised_at = 'garbage' WHERE dedupe = 'float_low:main'")
    assert [one.subject for one in await notified(world)] == ["alert"]

    async with world.store.begin() as tx:
        again, is_new = await alerts.raise_(tx, dedupe="float_low:main", **given)

    assert is_new
    assert again.state == "raised"


async def test_what_is_joined_to_a_row_that_is_left_out_is_still_found(world: World) -> None:
    write(world, "INSERT INTO held_endpoint VALUES ('main', 'POST /x', 'no', 'garbage')")
    assert len(await notified(world)) == 1

    request = await world.top_up("50")
    await world.run_due()

    assert (await world.request(request.id)).state == "succeeded"


async def test_a_row_that_everything_needs_is_not_left_out(world: World) -> None:
    write(world, "UPDATE program SET created_at = 'garbage'")

    (said,) = await notified(world)

    assert "A row that Countersign needs can't be read: program, main" in said.title
    async with world.store.read() as tx:
        assert (await tx.run(select(t.program.c.name))).scalars().all() == ["main"]
        found = await unreadable_rows.find_all(tx)
    assert [one.table for one in found] == ["program"]


async def test_an_error_of_another_cause_has_no_table_looked_through_again_and_again(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[int] = []
    find_all = unreadable_rows.find_all

    async def counted(tx: object, tables: set[str]) -> object:
        looked.append(len(tables))
        return await find_all(tx, tables)  # type: ignore[arg-type]

    monkeypatch.setattr(unreadable_rows, "find_all", counted)
    for _ in range(3):
        world.store.suspect(KeyError())
        await notified(world)
    assert [count for count in looked if count] == [len(unreadable_rows.LOOKED_THROUGH)]

    world.store.suspect(CountersignError("a sentence"))
    await notified(world)
    assert len([count for count in looked if count]) == 1


def test_every_process_looks_for_itself() -> None:
    assert "unreadable" in jobs.OF_ITS_OWN


@pytest.mark.parametrize("url", BACKENDS, indirect=True)
async def test_however_many_rows_there_are_everything_else_goes_on_and_there_are_few_alerts(
    tmp_path: Path, url: str
) -> None:
    async with a_world(tmp_path, url=url) as world:
        garbage = "infinity" if url else "garbage"
        with opened(place_of(world)) as database:
            for n in range(480):
                if n % 2:
                    database.write(
                        """INSERT INTO mute (name, rule, "by", since) VALUES (?, '{}', 'x', ?)""",
                        f"m{n}",
                        garbage,
                    )
                else:  # its key has two parts
                    database.write(
                        "INSERT INTO reading (program, name, value, read_at) VALUES (?, ?, '{}', ?)",
                        *("main", f"r{n}", garbage),
                    )
        look = unreadable.Look(world.core)
        for _ in range(12):
            await look.run()
        assert len(list(world.core.store.set_aside)) == 480

        request = await world.top_up("40")
        await world.run(20, step=10)
        await look.run()

        assert keys_sent(world) == [request.key]
        said = [alert for alert in await open_alerts(world) if alert.kind == "unreadable_row"]
        assert len(said) == unreadable.ALONE + 1
        (many,) = [alert for alert in said if "more rows" in alert.title]
        assert many.title.startswith(f"{480 - unreadable.ALONE} more rows")

        with opened(place_of(world)) as database:
            database.write("DELETE FROM mute")
            database.write("DELETE FROM reading WHERE substr(name, 1, 1) = 'r'")
        for _ in range(3):
            await look.run()
        assert [alert for alert in await open_alerts(world) if alert.kind == "unreadable_row"] == []
