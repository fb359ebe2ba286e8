"""Somebody changes what the database says of the calls of a request: nothing more leaves for it, and people decide.

The thief writes to the database and has no master key. Whether a key is sent again, whether that needs an approval, and
how a request has ended depend on what its row and its attempts say of the calls before; the audit log has how each
step left them. The walk goes over the moments of a top-up, over what he may write, and over lists, copies that were
put in place, and triggers; also over what he takes back when it was read.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from bot.domain.errors import CountersignError
from bot.domain.people import KindPolicy
from bot.domain.requests import Request, State
from bot.operations import urgency
from bot.partner.answers import Finding
from bot.services.alerts import put_back_rules
from bot.services.requests import lifecycle
from storage.columns import time_text
from storage.errors import NotAsOnRecord
from tests.services.bulk_requests import a_list, ask_bulk, rows_of
from tests.services.outcome_steps import TOPUP, keys_sent, net_of, open_alerts, processor, status
from tests.services.test_keys_too_old import as_a_copy
from tests.storage.restores import debit
from tests.storage.test_restore_pays_once import CLAIMS_NOTHING
from tests.support.databases import BACKENDS
from tests.support.world import ALICE, BOB, CAROL, World, a_policy, a_world
from tests.thief.edits import opened
from tests.thief.programme import place_of

pytestmark = pytest.mark.by_turns(5)

Values = Mapping[str, Any]
FOR_DAYS = timedelta(days=2)
HOUR, MONTH = timedelta(hours=1), timedelta(days=30)


@pytest.fixture
async def world(url: str, tmp_path: Path) -> AsyncIterator[World]:
    policy = replace(a_policy(), kinds={"card_topup": KindPolicy(expires=FOR_DAYS)})
    async with a_world(tmp_path, policy=policy, url=url) as made:
        await made.tell("account", {"key_days": 1})
        yield made


async def pending(world: World) -> Request:
    await processor("timeout").set(world, TOPUP, times=20)
    return await world.top_up("50", approved=False)


async def approved(world: World) -> Request:
    await processor("timeout").set(world, TOPUP, times=20)
    return await world.top_up("50")


async def answer_lost(world: World) -> Request:
    request = await approved(world)
    await world.run(20)
    return request


async def executing(world: World) -> Request:
    await world.fault("drop_after_commit", times=1)
    request = await world.top_up("50")
    await world.run_due()
    assert (await world.request(request.id)).state is State.EXECUTING
    return request


async def refused_each_time(world: World) -> Request:
    await status(429, "RATE_LIMITED").set(world, TOPUP, times=50)
    request = await world.top_up("50")
    await world.run(60)
    await world.advance(61)  # so long the provider takes nothing
    return request


async def unresolved(world: World) -> Request:
    request = await approved(world)
    await world.run(1300, step=40)
    assert (await world.request(request.id)).state is State.UNRESOLVED
    return request


async def rows_under_way(world: World) -> Request:
    await processor("timeout").set(world, TOPUP, times=30)
    batch = await ask_bulk(world, a_list(world, "10", "20", "30"))
    await world.approve(batch)
    await world.run(20)
    return (await rows_of(world, batch))[0]


MOMENTS: dict[str, Callable[[World], Awaitable[Request]]] = {
    "pending": pending,
    "approved": approved,
    "an answer was lost": answer_lost,
    "executing": executing,
    "refused each time": refused_each_time,
    "unresolved": unresolved,
    "a row of a list": rows_under_way,
}

#: What he writes into the row of the request; a span of time counts from the present moment.
ROWS: dict[str, Values] = {
    "first sent in a month": {"first_sent_at": MONTH},
    "first sent an hour ago": {"first_sent_at": -HOUR},
    "its key counts for long": {"key_expires_at": MONTH},
    "its key is old": {"key_expires_at": -HOUR},
    "its debit was seen": {"outcome": {"debit_usd": "-50"}},
    "its money came back": {"outcome": {"debit_usd": "50", "refund_usd": "50"}},
    "a pause held it": {"outcome": dict(urgency.HELD_BY_A_PAUSE)},
    "its doubt turned over": {"outcome_unknown": None},
}
CALLS = {
    "a call that showed the debit": "UPDATE attempt SET finding = 'debited' WHERE request_id = ?",
    "calls that were refused": "UPDATE attempt SET finding = 'rejected', status = 400 WHERE request_id = ?",
    "calls without an answer": (
        "UPDATE attempt SET finding = NULL, status = NULL, answered_at = NULL WHERE request_id = ?"
    ),
    "looks alone": "UPDATE attempt SET purpose = 'look' WHERE request_id = ?",
    "no calls": "DELETE FROM attempt WHERE request_id = ?",
}


async def write(world: World, request: Request, values: Values) -> None:
    """Into its row, and that it is due."""
    now = world.clock.now()
    row = dict(values) | {"due_at": timedelta(), "lease_until": None, "lease_owner": None}
    if "outcome_unknown" in row:
        row["outcome_unknown"] = not (await world.request(request.id)).outcome_unknown
    with opened(place_of(world)) as database:
        columns = ", ".join(f"{name} = ?" for name in row)
        given = [_stored(world, now, one) for one in row.values()]
        assert database.write(f"UPDATE request SET {columns} WHERE id = ?", *given, request.id) == 1


def _stored(world: World, now: datetime, value: Any) -> Any:
    if isinstance(value, timedelta):
        return now + value if place_of(world).startswith("postgresql") else time_text(now + value)
    return json.dumps(value) if isinstance(value, dict) else value


async def goes_on(world: World, request: Request) -> None:
    """The provider answers again, everybody approves what waits, and two days pass."""
    await world.control.delete("/_control/faults")
    for person in (BOB, CAROL):
        with suppress(CountersignError):
            await world.approve(await world.request(request.id), by=person)
    await world.run(1300, step=100)
    for _ in range(2):
        await world.advance(24 * 3600)
        await lifecycle.expire_due(world.core)
        await world.run(120, step=60)
    await put_back_rules.tell(world.core)


async def is_for_people(world: World, request: Request, *, was_sent: bool) -> None:
    """Nobody says of it what is not proved, and an alert names it."""
    now = await world.request(request.id)
    ends = {State.UNRESOLVED} if was_sent else {State.CANCELLED, State.EXPIRED}
    assert now.state in ends, now.outcome_text
    assert request.id in {
        alert.subject for alert in await open_alerts(world) if alert.kind == "ended_put_back"
    }


@pytest.mark.walk
@pytest.mark.parametrize("url", BACKENDS, indirect=True)
@pytest.mark.parametrize("row", ROWS)
@pytest.mark.parametrize("moment", MOMENTS)
async def test_nothing_leaves_by_what_somebody_wrote_of_a_requests_calls(
    world: World, moment: str, row: str
) -> None:
    request = await MOMENTS[moment](world)
    sent = [key for key in keys_sent(world) if key == request.key]
    await write(world, request, ROWS[row])

    await goes_on(world, request)

    assert [key for key in keys_sent(world) if key == request.key] == sent, "nothing leaves"
    await is_for_people(world, request, was_sent=bool(sent))


@pytest.mark.walk
@pytest.mark.parametrize("url", BACKENDS, indirect=True)
@pytest.mark.parametrize("calls", CALLS)
@pytest.mark.parametrize("moment", [name for name in MOMENTS if name not in ("pending", "approved")])
async def test_nor_by_what_somebody_wrote_into_its_attempts(world: World, moment: str, calls: str) -> None:
    request = await MOMENTS[moment](world)
    sent = [key for key in keys_sent(world) if key == request.key]
    await write(world, request, {})
    with opened(place_of(world)) as database:
        assert database.write(CALLS[calls], request.id) >= 1

    await goes_on(world, request)

    assert [key for key in keys_sent(world) if key == request.key] == sent, "nothing leaves"
    await is_for_people(world, request, was_sent=True)


@pytest.mark.walk
@pytest.mark.parametrize("url", BACKENDS, indirect=True)
@pytest.mark.parametrize("row", ["first sent in a month", "its key counts for long", "its key is old"])
@pytest.mark.parametrize("moment", ["pending", "an answer was lost", "executing"])
async def test_what_is_written_before_a_copy_is_found_and_taken_back_since_sends_nothing(
    world: World, moment: str, row: str
) -> None:
    """The doubt about everything that is open must not go by what he wrote; without it a forgotten key pays twice."""
    request = await MOMENTS[moment](world)
    if moment == "pending":
        await world.control.delete("/_control/faults")
        await debit(world, 4, key=request.key)  # the database that was lost had sent it
    was = {name: getattr(await world.request(request.id), name) for name in ROWS[row]}
    await write(world, request, ROWS[row])
    await as_a_copy(world)
    sent, moved = keys_sent(world), net_of(world, request.key)
    await write(world, request, {name: at and at - world.clock.now() for name, at in was.items()})

    await world.advance(30 * 3600)
    await goes_on(world, request)

    assert keys_sent(world) == sent, "nothing leaves"
    assert net_of(world, request.key) == moved, "nothing moves"
    said = (await world.request(request.id)).outcome_text
    assert not CLAIMS_NOTHING.search(said), "the database that was lost had sent it"


@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
@pytest.mark.parametrize("column", ["first_sent_at", "key_expires_at"])
async def test_nor_does_a_trigger_write_into_the_log_what_is_not_so(world: World, column: str) -> None:
    """It takes back at once what is written of the doubt, or says of the first call that it was a later one."""
    request = await pending(world)
    to = "NULL" if column == "key_expires_at" else f"'{time_text(world.clock.now() + MONTH)}'"
    with opened(place_of(world)) as database:
        database.write(
            f"CREATE TRIGGER thief AFTER UPDATE OF {column} ON request"
            f" BEGIN UPDATE request SET {column} = {to} WHERE id = new.id; END"
        )
    if column == "key_expires_at":
        await world.control.delete("/_control/faults")
        await debit(world, 4, key=request.key)
        await as_a_copy(world)
        await world.advance(30 * 3600)
    else:
        await world.approve(request)
        await world.run_due()
    sent = keys_sent(world)

    await goes_on(world, request)

    assert keys_sent(world) == sent, "nothing leaves"
    assert request.id in {
        alert.subject for alert in await open_alerts(world) if alert.kind == "ended_put_back"
    }


@pytest.mark.parametrize("url", BACKENDS, indirect=True)
async def test_nobody_cancels_what_moved_money_by_calls_that_somebody_wrote_as_refused(world: World) -> None:
    request = await executing(world)
    with opened(place_of(world)) as database:
        database.write(
            "UPDATE attempt SET finding = ?, status = 429, code = 'RATE_LIMITED', answered_at = sent_at",
            Finding.WAIT.value,
        )
    await write(world, request, {"outcome_unknown": None})

    with pytest.raises(NotAsOnRecord, match="by the audit log"):
        await lifecycle.cancel(world.core, request.id, ALICE)

    await put_back_rules.tell(world.core)
    await is_for_people(world, request, was_sent=True)
