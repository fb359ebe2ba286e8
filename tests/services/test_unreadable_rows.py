"""A row that nothing can read stops nobody else, and people are notified; so they are of what keeps failing."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from bot import app
from bot.domain.errors import CountersignError
from bot.engine.work_in_words import IN_WORDS, in_plain_words
from bot.services import requests as asking
from bot.services.messages import reminders
from bot.services.processes import standstill, unreadable
from storage.cards import api_snapshots
from storage.errors import Unreadable
from storage.messages import Alert
from storage.requests import requests
from tests.services.outcome_steps import open_alerts
from tests.support.source_trees import tree_of
from tests.support.world import World, a_world
from tests.thief.edits import opened
from tests.thief.junk_walk import work_of
from tests.thief.programme import place_of


def write(world: World, statement: str, *values: object) -> None:
    with opened(place_of(world)) as database:
        assert database.write(statement, *values)


async def alerts_of(world: World, kind: str) -> list[Alert]:
    await unreadable.tell(world.core)
    await standstill.report(world.core)
    return [alert for alert in await open_alerts(world) if alert.kind == kind]


async def test_a_request_that_cannot_be_read_is_left_out_and_named_and_the_others_expire(
    world: World,
) -> None:
    victim = await world.top_up("40", card=1, approved=False)
    other = await world.top_up("60", card=2, approved=False)
    write(world, "UPDATE request SET terms = '{' WHERE id = ?", victim.id)

    await world.advance(15 * 60)
    await reminders.remind(world.core)
    await world.advance(5 * 86_400)
    await asking.expire_due(world.core)

    assert (await world.request(other.id)).state == "expired"
    (said,) = await alerts_of(world, "unreadable_row")
    assert (said.subject, said.severity) == (victim.id, "critical")
    assert "terms" in said.text
    with pytest.raises(Unreadable, match=victim.id):
        await world.request(victim.id)


async def test_the_alert_of_a_row_ends_when_it_can_be_read_again(world: World) -> None:
    victim = await world.top_up("40", approved=False)
    write(world, "UPDATE request SET remind_at = 'garbage' WHERE id = ?", victim.id)
    await asking.expire_due(world.core)
    async with world.store.read() as tx:
        with tx.leaving_out():
            assert await requests.find(tx) == []
    assert len(await alerts_of(world, "unreadable_row")) == 1

    write(world, "UPDATE request SET remind_at = NULL WHERE id = ?", victim.id)

    assert await alerts_of(world, "unreadable_row") == []


async def test_on_postgresql_a_time_that_is_no_date_is_left_out_and_named(tmp_path: Path, url: str) -> None:
    async with a_world(tmp_path, url=url) as world:
        victim = await world.top_up("40", card=1, approved=False)
        other = await world.top_up("60", card=2, approved=False)
        junk = "infinity" if url else "garbage"
        write(world, "UPDATE request SET remind_at = ? WHERE id = ?", junk, victim.id)

        await world.advance(5 * 86_400)
        await asking.expire_due(world.core)

        assert (await world.request(other.id)).state == "expired"
        assert [one.subject for one in await alerts_of(world, "unreadable_row")] == [victim.id]


async def test_a_limit_that_cannot_be_summed_refuses_in_a_sentence_that_names_the_row(world: World) -> None:
    victim = await world.top_up("40", card=1)
    write(world, "UPDATE request SET exposure_usd = 'NaN' WHERE id = ?", victim.id)

    with pytest.raises(CountersignError, match=f"The row {victim.id} of the table request can't be read"):
        await world.top_up("50")


async def test_a_copy_that_cannot_be_read_is_dropped_and_reported(world: World) -> None:
    await (await work_of(world))["account"]()
    write(world, "UPDATE reading SET value = '{' WHERE name = 'me'")
    write(world, "UPDATE card SET balance_usd = 'NaN', balance_at = 'garbage'")

    for _ in range(2):
        for job in ("runway", "account", "cards", "unreadable"):
            try:
                await (await work_of(world))[job]()
            except Unreadable:  # the first time
                continue

    async with world.store.read() as tx:
        assert await api_snapshots.get(tx, "main", "me") is not None
    with opened(place_of(world)) as database:
        reported = [row["subject"] for row in database.read("alert") if row["kind"] == "copy_dropped"]
        assert sorted(reported) == ["card", "reading"]
        assert "garbage" not in {row["balance_at"] for row in database.read("card")}


async def test_what_keeps_failing_is_an_alert_that_ends_when_it_works_again(world: World) -> None:
    broken = True

    async def job() -> None:
        if broken:
            raise KeyError("it")

    run = world.core.failures.watched("expire", job, world.core.clock)
    for _ in range(2):
        with pytest.raises(KeyError):
            await run()
    assert await alerts_of(world, "job_failing") == []
    with pytest.raises(KeyError):
        await run()
    (said,) = await alerts_of(world, "job_failing")
    assert in_plain_words("expire") in said.title

    broken = False
    await run()

    assert await alerts_of(world, "job_failing") == []


async def test_one_that_fails_for_a_minute_is_an_alert_however_rarely_it_runs(world: World) -> None:
    world.core.failures.failed("digest", KeyError(), world.core.clock)
    await world.advance(61)

    assert len(await alerts_of(world, "job_failing")) == 1


async def test_a_loop_that_stumbles_is_none_and_works_when_it_has_run_for_long(world: World) -> None:
    failures, clock = world.core.failures, world.core.clock
    for _ in range(5):
        failures.failed("outbox", KeyError(), clock, quiet_s=app.LOOP_QUIET_S)
    assert await alerts_of(world, "job_failing") == []
    world.clock.advance(20)
    failures.failed("outbox", KeyError(), clock, quiet_s=app.LOOP_QUIET_S)
    assert len(await alerts_of(world, "job_failing")) == 1

    world.clock.advance(app.LOOP_QUIET_S + 1)

    assert await alerts_of(world, "job_failing") == []


async def test_everything_that_runs_again_and_again_has_plain_words(world: World) -> None:
    names = {name for name in await work_of(world) if name != "close"}
    for node in ast.walk(tree_of(Path(app.__file__))):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "_keep_running":
            name = node.args[1]
            assert isinstance(name, ast.Constant)
            names.add(str(name.value))

    assert names - IN_WORDS.keys() == set()
