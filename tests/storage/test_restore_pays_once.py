"""Whatever a request was in the copy and became since: after a restore it is paid once, or approved again."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from decimal import Decimal
from pathlib import Path

import pytest
from sqlalchemy import select

from bot.domain.alerts import running_alerts
from bot.domain.errors import CountersignError
from bot.domain.requests import OPEN, Request, State
from bot.services import execution
from bot.services.anchor_places import AnchorPlaces
from bot.services.operators import safe_mode
from bot.services.requests import batch_submission, lifecycle
from storage import tables
from storage.messages import outbox
from tests.services.bulk_requests import ask_bulk, rows_of
from tests.storage.restores import restart_on
from tests.storage.test_restores_at_odd_times import (
    an_entry,
    as_a_volume,
    by_restore,
    copied,
    leave,
    read_ledger,
)
from tests.support.databases import Databases
from tests.support.world import ALICE, World, a_world

#: Long stories, which are the same on either database.
pytestmark = [pytest.mark.walk(turns="databases"), pytest.mark.by_turns(4)]
#: What nobody may read of a request whose key took money.
CLAIMS_NOTHING = re.compile(
    r"(?i)nothing (was|has|is) (sent|moved)|nothing moved|nothing has moved|no money moved|has not moved"
    r"|not carried out|had not carried it out|sent again in"
)


@pytest.fixture
def databases(request: pytest.FixtureRequest) -> Databases:
    found: Databases = request.getfixturevalue(request.param)
    return found


@pytest.fixture
async def world(tmp_path: Path, own_url: str) -> AsyncIterator[World]:
    async with a_world(tmp_path, url=own_url) as world:
        world.rebuild(anchors=AnchorPlaces([tmp_path / "anchors"]), lease_s=0.2)
        await world.tell("float", {"amount_usd": "9000"})
        yield world
        await world.store.close()


async def one_in_every_state(world: World) -> dict[str, Request]:
    """Top-ups as a copy may hold them. What is not known holds back what is on the same card."""
    found = {}
    found["unknown"] = await world.top_up("11")
    await world.fault("processor", processor="timeout", times=20)
    await world.run(1300, step=40)
    assert (await world.request(found["unknown"].id)).state is State.UNRESOLVED
    await world.control.delete("/_control/faults")
    batch = await ask_bulk(
        world,
        "\n".join(
            [
                "card,amount",
                *(f"{card['id']},{n}" for n, card in enumerate(world.cards[3:] + world.cards[:1], 21)),
            ]
        ),
    )
    found["list"] = (await world.approve(batch))[0]
    rows = await rows_of(world, batch)
    found["no answer"] = await world.top_up("13", card=1)
    await refused(world, found["no answer"], 503)
    found["claimed"] = await world.top_up("14", card=2)
    with world.dies_at("execution.claimed"):
        await execution.execute(world.core, found["claimed"].id)
    await refused(world, rows[0], 429)
    found["refused"] = await world.top_up("12", card=4)
    await refused(world, found["refused"], 429)
    found["waiting"] = await world.top_up("15", approved=False)
    found["one of two"] = await world.top_up("600", card=1)
    found["approved"] = await world.top_up("16", card=2)
    return found


async def refused(world: World, request: Request, status: int) -> None:
    await world.fault("status", status=status, times=1)
    await execution.execute(world.core, request.id)
    found = await world.request(request.id)
    assert found.state is State.EXECUTING, found.outcome_text
    await world.advance(61)  # until then the key rests


async def nothing(world: World, _: dict[str, Request]) -> None:
    """The copy is of the last moment."""


async def it_goes_on(world: World, known: dict[str, Request]) -> None:
    with suppress(CountersignError):
        await world.approve(known["waiting"])
    await world.run(1500, step=60)


async def withdrawn_and_requested_again(world: World, known: dict[str, Request]) -> None:
    for request in known.values():
        current = await world.request(request.id)
        with suppress(CountersignError):
            await lifecycle.cancel(world.core, current.id, ALICE)
    for request in known.values():
        if (await world.request(request.id)).state not in OPEN and not request.is_batch:
            again = await world.top_up(str(request.exposure_usd), approved=False)
            with suppress(CountersignError):
                await world.approve(again)
    await world.run(300, step=30)


@pytest.mark.parametrize(
    ("databases", "since", "put"),
    [
        ("sqlite_files", nothing, by_restore),
        ("sqlite_files", it_goes_on, as_a_volume),
        ("sqlite_files", it_goes_on, by_restore),
        ("sqlite_files", withdrawn_and_requested_again, by_restore),
        ("postgres_databases", withdrawn_and_requested_again, as_a_volume),
    ],
    indirect=["databases"],
)
async def test_after_a_restore_nothing_is_sent_without_a_new_approval_and_no_sentence_says_that_paid_money_did_not_move(
    world: World,
    databases: Databases,
    tmp_path: Path,
    since: Callable[[World, dict[str, Request]], Awaitable[None]],
    put: Callable[[World, Path, Databases], Awaitable[str]],
) -> None:
    await read_ledger(world)
    known = await one_in_every_state(world)
    copy = await copied(world, tmp_path / "copy.db")
    await since(world, known)
    await an_entry(world)
    calls = [call["idempotency_key"] for call in await world.sent("POST /topup")]
    before = await all_debits(world)

    url = await put(world, copy, databases)
    await restart_on(world, url)
    await said_truly(world, known)
    await read_ledger(world)
    await safe_mode.review(world.core)
    await world.run(300, step=60)
    await said_truly(world, known)
    await leave(world)
    await world.run(7200, step=300)

    later = [call["idempotency_key"] for call in await world.sent("POST /topup")][len(calls) :]
    assert [key for key in later if not await world.debits(key)] == [], "sent on an approval of before"
    assert await all_debits(world) == before
    await said_truly(world, known)
    await world.store.close()
    databases.drop(url)


async def all_debits(world: World) -> Decimal:
    return sum([e.amount_usd async for e in world.core.partners["main"].ledger_entries()], Decimal(0))


async def said_truly(world: World, known: dict[str, Request]) -> None:
    """By the ledger: what took money is not said not to have, in the request nor in its thread."""
    every = [
        row for one in known.values() for row in ([one] if not one.is_batch else await rows_of(world, one))
    ]
    async with world.store.read() as tx:
        waiting = await outbox.next_due(tx)
        alerts = list(
            (await tx.run(select(tables.alert.c.text).where(tables.alert.c.resolved_at.is_(None)))).scalars()
        )
    for request in every:
        current = await world.request(request.id)
        if not await world.debits(request.key):
            continue
        assert current.state is not State.FAILED, current
        said = [current.outcome_text, *(str(row.body) for row in waiting if request.id in row.subject)]
        wrong = [text for text in said if CLAIMS_NOTHING.search(text)]
        assert wrong == [], (current.state, request.summary)
    assert [text for text in alerts if CLAIMS_NOTHING.search(text) and "older copy" in text] == []


@pytest.mark.parametrize("databases", ["sqlite_files"], indirect=True)
async def test_no_refusal_and_no_row_that_is_left_out_says_of_what_was_paid_since_the_copy_that_nothing_was_sent(
    world: World, databases: Databases, tmp_path: Path
) -> None:
    await read_ledger(world)
    waiting = await world.top_up("8", approved=False)
    batch = await ask_bulk(world, "\n".join(["card,amount", *(f"{c['id']},5" for c in world.cards[:2])]))
    copy = await copied(world, tmp_path / "copy.db")
    await world.approve(batch)
    await world.approve(waiting)
    await world.run(60)
    url = await by_restore(world, copy, databases)
    await restart_on(world, url)
    await read_ledger(world)
    await safe_mode.review(world.core)
    await leave(world)

    first, _ = await rows_of(world, batch)
    assert await world.debits(first.key) == Decimal(-5)
    await batch_submission.leave_out(world.core, batch.id, ALICE, [first.id])
    await world.advance(9 * 3600)
    with pytest.raises(CountersignError) as refused:
        await world.approve(waiting)

    for said in (str(refused.value), (await world.request(first.id)).outcome_text):
        assert not CLAIMS_NOTHING.search(said), said
        assert "may have been carried out" in said
        assert "You can request it again" not in said
    await lifecycle.expire_due(world.core)
    for row in await rows_of(world, batch):
        assert (await world.request(row.id)).outcome_text.count("may have been carried out") == 1
    await world.store.close()
    databases.drop(url)


def test_what_came_back_to_the_float_is_not_counted_as_a_debit() -> None:
    said = running_alerts.of_orphans([Decimal(-4), Decimal(4), Decimal(-5)])
    assert said == "2 debits of 9.00 USD in all* and 1 row that gave 4.00 USD back to the float are"
    assert running_alerts.of_orphans([Decimal(-4)]) == "1 debit of 4.00 USD in all* are"
