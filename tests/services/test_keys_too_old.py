"""A key that the card provider may have forgotten is not sent again, whatever somebody writes into the rows.

For how long the same key is sent again is counted from times of the request's row. The thief writes to the database
and has no master key: he makes the row say that nothing was sent until now, or that its key is still known. The
provider forgets keys after a day here, so a key that is sent too late pays twice. The walk goes over the ways in which
a key becomes too old, and over what he may write into the row and its attempts.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from bot.domain.errors import CountersignError
from bot.domain.people import KindPolicy
from bot.domain.requests import Request, State
from bot.outcomes.timing import KEY_TRUSTED_FOR
from bot.services.alerts import ledger_rules, put_back_rules
from bot.services.operators import safe_mode
from storage import audit as chain
from storage.columns import time_text
from tests.services.outcome_steps import TOPUP, keys_sent, net_of, processor
from tests.storage.restores import debit
from tests.storage.test_restores_at_odd_times import leave
from tests.support.databases import BACKENDS
from tests.support.world import BOB, CAROL, World, a_policy, a_world
from tests.thief.edits import opened
from tests.thief.programme import place_of

pytestmark = pytest.mark.by_turns(8)

FOR_DAYS = timedelta(days=4)
#: What he writes into the row, by column: hours from the present moment, or nothing.
ROWS: dict[str, dict[str, int | None]] = {
    "first sent now": {"first_sent_at": 0, "key_expires_at": None},
    "first sent later": {"first_sent_at": 24, "key_expires_at": 24},
    "never sent": {"first_sent_at": None, "key_expires_at": None},
    "its key is known": {"key_expires_at": 24},
}
ATTEMPTS = {
    "attempts as they were": "",
    "an answered attempt": "UPDATE attempt SET finding = 'unresolved', status = 200",
    "an attempt without an answer": "UPDATE attempt SET finding = NULL, status = NULL, answered_at = NULL",
    "no attempt": "DELETE FROM attempt",
}


@pytest.fixture
async def world(url: str, tmp_path: Path) -> AsyncIterator[World]:
    policy = replace(a_policy(), kinds={"card_topup": KindPolicy(expires=FOR_DAYS)})
    async with a_world(tmp_path, policy=policy, url=url) as made:
        await made.tell("account", {"key_days": 1})
        yield made


async def answered_wrongly(world: World) -> Request:
    """The provider has done it, and answers that it does not know."""
    await processor("timeout").set(world, TOPUP, times=20)
    request = await world.top_up("50")
    await world.run(1300, step=40)
    await world.control.delete("/_control/faults")
    assert (await world.request(request.id)).state is State.UNRESOLVED
    return request


async def answered_wrongly_in_a_copy(world: World) -> Request:
    request = await answered_wrongly(world)
    await as_a_copy(world)
    return request


async def sent_by_another_copy(world: World) -> Request:
    """Here it is pending; the database that was lost had sent it."""
    request = await world.top_up("50", approved=False)
    await debit(world, 4, key=request.key)
    await as_a_copy(world)
    return request


async def as_a_copy(world: World) -> None:
    """As a start finds it after a restore; two people have seen to it."""
    async with world.store.read() as tx:
        head = await chain.head(tx)
        end = head.seq, await chain.made_at(tx, head.seq)
    await safe_mode.enter(world.core, end, end)
    await safe_mode.at_start(world.core)
    await ledger_rules.compare(world.core, "main")
    await safe_mode.review(world.core)
    await leave(world)


WAYS: dict[str, Callable[[World], Awaitable[Request]]] = {
    "sent a day ago": answered_wrongly,
    "of a copy, sent": answered_wrongly_in_a_copy,
    "of a copy, not sent": sent_by_another_copy,
}


async def goes_on(world: World, request: Request) -> None:
    """Everybody approves what looks as if it waited, and time passes."""
    for person in (BOB, CAROL):
        with suppress(CountersignError):
            await world.approve(await world.request(request.id), by=person)
    await world.run(600, step=30)
    await put_back_rules.tell(world.core)


@pytest.mark.walk(together=2)
@pytest.mark.parametrize("url", BACKENDS, indirect=True)
@pytest.mark.parametrize("attempts", ATTEMPTS)
@pytest.mark.parametrize("row", ROWS)
@pytest.mark.parametrize("way", WAYS)
async def test_a_key_that_may_be_forgotten_is_not_sent_again(
    world: World, way: str, row: str, attempts: str
) -> None:
    request = await WAYS[way](world)
    await world.advance((KEY_TRUSTED_FOR + timedelta(hours=6)).total_seconds())
    sent, moved = keys_sent(world), net_of(world, request.key)
    now = world.clock.now()
    times = {
        "due_at": now,
        **{name: None if n is None else now + timedelta(hours=n) for name, n in ROWS[row].items()},
    }
    with opened(place_of(world)) as database:
        columns = ", ".join(f"{name} = ?" for name in times)
        at = [None if one is None else stored(world, one) for one in times.values()]
        assert database.write(f"UPDATE request SET {columns}", *at) == 1
        if ATTEMPTS[attempts]:
            database.write(ATTEMPTS[attempts])

    await goes_on(world, request)

    assert keys_sent(world) == sent, "nothing leaves"
    assert net_of(world, request.key) == moved, "nothing moves"


def stored(world: World, at: datetime) -> str | datetime:
    return at if place_of(world).startswith("postgresql") else time_text(at)
