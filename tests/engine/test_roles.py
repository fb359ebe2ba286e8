"""`countersign run --roles`: processes that answer people, take deliveries or work, on one PostgreSQL database."""

from __future__ import annotations

import random
from contextlib import AsyncExitStack, suppress
from pathlib import Path

import httpx
import pytest

from bot.domain.process_roles import ALL, Role, UnknownRole, parse
from tests.crash.outside import ASKERS, outside
from tests.crash.people_at_work import GaveUp, Operators
from tests.crash.process import Refused
from tests.crash.shared_database import SharedDatabase
from tests.events.deliverer import Deliverer, keep_secret, learns_of
from tests.support.databases import PostgresDatabases
from tests.support.waiting import eventually


def test_a_process_does_everything_unless_fewer_roles_are_named() -> None:
    assert parse("slack,web,worker") == ALL
    assert parse("worker, web") == {Role.WORKER, Role.WEB}
    for wrong in ("", "workers", "slack;web"):
        with pytest.raises(UnknownRole, match="slack, web and worker"):
            parse(wrong)


@pytest.mark.timed
@pytest.mark.timeout(120)
async def test_a_request_goes_from_the_process_of_people_to_one_that_works(
    postgres_databases: PostgresDatabases, tmp_path: Path
) -> None:
    shared = SharedDatabase(postgres_databases.migrated())
    async with outside(tmp_path, shared=shared) as world, AsyncExitStack() as stack:
        await keep_secret(world)
        no_way_in = {name: value for name, value in world.env.items() if name != "SLACK_APP_TOKEN"}
        people = await world.bot.sibling(roles="slack")
        web = await world.bot.sibling(roles="web", env=no_way_in)
        worker = await world.bot.sibling(roles="worker", env=no_way_in)
        for bot in (people, web, worker):
            stack.push_async_callback(bot.close)
            await bot.start()

        known = {row["roles"] for row in world.rows("SELECT roles FROM replica")}
        assert known >= {"slack", "web", "worker"}
        operators = Operators(world, random.Random(1))

        async def is_taken() -> bool:
            with suppress(GaveUp):
                return await operators.ask(ASKERS[0], "card_topup")
            return False

        await eventually("a request is taken", is_taken, within_s=30, every_s=0.2)
        await eventually("it is shown", world.posts, within_s=10)
        await operators.approve_everything(30)
        done = "SELECT lease_owner FROM request WHERE state = 'succeeded'"
        await eventually("it is carried out", lambda: world.rows(done), within_s=10)

        await learns_of(Deliverer(world, random.Random(1)), web.url, "first")
        said = "looked like fraud"
        await eventually(
            "an alert is posted", lambda: [m for m in world.posts() if said in m["text"]], within_s=15
        )
        async with httpx.AsyncClient(trust_env=False) as client:
            for bot in (people, worker):
                assert (await client.get(f"{bot.url}/healthz")).status_code == 200
                assert (await client.post(f"{bot.url}/webhooks/main")).status_code == 404
    shared.forget()
    postgres_databases.drop(shared.url)


async def test_on_one_file_a_process_that_would_leave_work_undone_does_not_start(tmp_path: Path) -> None:
    async with outside(tmp_path) as world:
        bot = await world.bot.sibling(roles="web")
        try:
            with pytest.raises(Refused, match="leave --roles out"):
                await bot.start()
        finally:
            await bot.close()
