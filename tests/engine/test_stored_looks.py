"""A look at Slack's user groups is one for all processes on a database, and nobody can put another in its place."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import text

from bot.domain.errors import LookupFailed
from bot.domain.time import SystemClock
from bot.services.processes import StoredLooks, stored_looks
from bot.services.shared_look import SharedLooks
from storage.cards import api_snapshots
from storage.store import Store
from storage.vault import Keyring, Vault
from tests.support.databases import PostgresDatabases
from tests.support.world import MASTER

GROUPS = "user groups"


@dataclass
class Several:
    """Processes that look at the same, and how often somebody did."""

    stores: list[Store]
    looks: list[StoredLooks]
    members: list[str] = field(default_factory=lambda: ["U0BOB"])
    asked: int = 0
    fails: bool = False

    async def ask(self) -> Any:
        self.asked += 1
        await asyncio.sleep(0.05)
        if self.fails:
            raise LookupFailed("Slack does not answer.")
        return [{"id": "S0APPROVERS", "users": list(self.members)}]

    async def seen(self, number: int, *, within_s: float = 3.0) -> list[str]:
        found = await self.looks[number].at(GROUPS, self.ask, within_s=within_s)
        assert 0 <= found.ago_s < within_s
        users: list[str] = found.value[0]["users"]
        return users

    async def run(self, sql: str, **given: Any) -> None:
        async with self.stores[0].begin() as tx:
            await tx.run(text(sql), given)


@pytest.fixture
async def several(postgres_databases: PostgresDatabases) -> AsyncIterator[Several]:
    url = postgres_databases.migrated()
    async with AsyncExitStack() as stack:
        stores = []
        for _ in range(3):
            stores.append(await Store.open(url, vault=Vault(Keyring.parse(MASTER)), clock=SystemClock()))
            stack.push_async_callback(stores[-1].close)
        looks = [StoredLooks(store, f"bot-{n}", SystemClock()) for n, store in enumerate(stores)]
        yield Several(stores, looks)
    postgres_databases.drop(url)


async def test_many_that_need_it_at_once_make_one_look(several: Several) -> None:
    numbers = [n for n in range(3) for _ in range(4)]
    random.shuffle(numbers)

    assert await asyncio.gather(*(several.seen(n) for n in numbers)) == [["U0BOB"]] * 12

    assert several.asked == 1


async def test_what_is_too_old_for_one_is_looked_at_again(several: Several) -> None:
    await several.seen(0)
    several.members = ["U0CAROL"]
    await asyncio.sleep(0.3)

    assert await several.seen(1, within_s=15) == ["U0BOB"]
    assert await several.seen(1, within_s=0.3) == ["U0CAROL"]
    assert await several.seen(2, within_s=15) == ["U0CAROL"]
    assert several.asked == 2


async def test_a_look_that_fails_is_nobodys_answer(several: Several) -> None:
    several.fails = True
    with pytest.raises(LookupFailed):
        await several.seen(0)
    several.fails = False

    assert await several.seen(1) == ["U0BOB"]


async def test_who_stands_still_in_the_middle_of_a_look_is_waited_for_no_longer_than_its_lease(
    several: Several, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stored_looks, "_LOOKS_FOR", stored_looks._LOOKS_FOR / 10)
    assert await several.looks[0]._my_turn(GROUPS, 3.0) is not None

    async with asyncio.timeout(3):
        assert await several.seen(1) == ["U0BOB"]


FORGED = {
    "another member": "jsonb_set(value::jsonb, '{value,0,users}', '[\"U0THIEF\"]')",
    "a later time": "jsonb_set(value::jsonb, '{at_us}', to_jsonb((value::jsonb->>'at_us')::bigint + 600000000))",
    "no signature": "value::jsonb - 'mac'",
    "no object": "'[]'::jsonb",
}


@pytest.mark.parametrize("edit", FORGED)
async def test_whoever_writes_into_the_database_makes_nobody_a_member(several: Several, edit: str) -> None:
    await several.seen(0)
    await several.run(f"UPDATE reading SET value = ({FORGED[edit]})::text WHERE name = 'look:{GROUPS}'")

    assert await several.seen(1) == ["U0BOB"]
    assert several.asked == 2


async def test_an_older_look_put_back_counts_no_longer_than_it_did(several: Several) -> None:
    await several.seen(0)
    async with several.stores[0].read() as tx:
        old = await api_snapshots.get(tx, "", f"look:{GROUPS}")
    assert old is not None
    several.members = []
    await asyncio.sleep(0.3)
    await several.seen(0, within_s=0.3)
    async with several.stores[0].begin() as tx:
        await api_snapshots.put(tx, "", f"look:{GROUPS}", old.value)

    assert await several.seen(1, within_s=0.3) == []


async def test_where_the_clock_of_the_database_was_turned_back_ours_counts(several: Several) -> None:
    class Turned(StoredLooks):
        async def _now(self, tx: Any) -> Any:
            return turned_to

    await several.seen(0)
    async with several.stores[0].read() as tx:
        turned_to = await several.looks[0]._now(tx)
    an_hour_later = SystemClock()
    turned = Turned(several.stores[1], "bot-1", an_hour_later)
    assert (await turned.at(GROUPS, several.ask, within_s=3)).value[0]["users"] == ["U0BOB"]
    assert several.asked == 1

    class Later(SystemClock):
        def now(self) -> Any:
            return super().now() + timedelta(hours=1)

    several.members = []
    turned = Turned(several.stores[1], "bot-1", Later())
    async with several.stores[1].read() as tx:
        assert await turned._seen(tx, GROUPS, 3.0) is None


async def test_what_others_saw_is_as_old_here_as_there(several: Several) -> None:
    clock, shared = SystemClock(), SharedLooks()
    await several.seen(0)
    await asyncio.sleep(0.5)

    async def ask() -> Any:
        return await several.looks[1].at(GROUPS, several.ask, within_s=3)

    await shared.at("roles", ask, clock, within_s=3)
    begun_at = shared.begun_at("roles")

    assert begun_at is not None
    assert clock.monotonic() - begun_at >= 0.5
