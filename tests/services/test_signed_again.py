"""`countersign keys rewrap` signs what is as the audit log has it, and puts nothing else on record."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from bot.domain.errors import OverLimit
from bot.domain.people import KindPolicy, Limits
from bot.domain.requests import OPEN, TERMINAL, Event, Request, State
from bot.services import audit
from bot.services.operators import changed_rows, key_change
from storage import audit as chain
from storage import key_rotation, master_keys
from storage.errors import NotAsOnRecord
from storage.log_record import LogFacts, on_record, open_requests
from storage.requests import requests
from storage.store import Store
from storage.vault import Keyring, Vault, new_master
from tests.services.outcome_steps import alert_kinds, net_of, top_ups
from tests.support.world import BOB, MASTER, World
from tests.thief.edits import opened
from tests.thief.programme import place_of

pytestmark = pytest.mark.by_turns(2)

NEW = new_master()
ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
async def closed(world: World) -> AsyncIterator[None]:
    yield
    await world.store.close()


async def with_a_new_key(world: World) -> None:
    """The bot is started again with another first line in its keyring."""
    path = world.store.database.path
    await world.store.close()
    vault = Vault(Keyring.parse(f"{NEW}\n{MASTER}"))
    world.store = await Store.open(f"sqlite:///{path}", vault=vault, clock=world.clock)
    world.rebuild(store=world.store)


async def rewrapped(world: World, *, retires: bool = True) -> key_change.SignedAgain:
    """`countersign keys rewrap`, beside the bot."""
    url, vault = f"sqlite:///{world.store.database.path}", Vault(Keyring.parse(f"{NEW}\n{MASTER}"))
    other = await Store.open(url, vault=vault, clock=world.clock, exclusive=False)
    try:
        await key_rotation.rewrap(other)
        found = await key_change.sign_open_again(other, "cli:test")
        if retires:
            async with other.begin() as tx:
                await master_keys.retire(tx, actor="cli:test")
    finally:
        await other.close()
    return found


def edit(world: World, values: str, request: Request) -> None:
    with opened(place_of(world)) as database:
        database.write(f"UPDATE request SET {values} WHERE id = '{request.id}'")


async def facts_of(world: World) -> LogFacts:
    async with world.store.read() as tx:
        return await on_record.of(tx)


def story(facts: LogFacts) -> dict[str, Any]:
    """What the log has of each request but its fingerprint, which a new key changes."""
    found: dict[str, Any] = {one: replace(known, seq=0, digest="") for one, known in facts.open.items()}
    counted = {
        one: replace(known, digest="") for hour in facts.counted.values() for one, known in hour.items()
    }
    return {"open": found, "counted": counted}


async def pending(world: World) -> Request:
    return await world.top_up("50", approved=False)


async def approved(world: World) -> Request:
    return await world.top_up("50")


async def executing(world: World) -> Request:
    await world.fault("drop_after_commit")
    request = await world.top_up("50")
    await world.run_due()
    return await world.request(request.id)


async def unresolved(world: World) -> Request:
    request = await executing(world)
    async with world.store.begin() as tx:
        moved = await requests.move(
            tx, request, Event.LOSE_SIGHT, needs_person=True, lease_owner=None, lease_until=None
        )
        await audit.of_request(tx, world.core, moved, "system:test", "request.unresolved")
    return moved


async def succeeded(world: World) -> Request:
    request = await world.top_up("50")
    await world.run_due()
    return await world.request(request.id)


BESIDE = (
    "version = 1",
    "approved_at = '2026-03-02T08:00:00.000000Z'",
    "first_sent_at = '2026-03-02T08:00:00.000000Z'",
    "key_expires_at = '2026-03-02T08:00:00.000000Z'",
    "outcome_unknown = NOT outcome_unknown",
    """outcome = '{"error":"card_closed"}'""",
)


@pytest.mark.parametrize("begin", [pending, approved, executing, unresolved, succeeded])
async def test_no_edit_of_a_row_gets_on_record_by_it(world: World, begin: Any) -> None:
    """Every state that a request is in × every one that its row may be edited to, and what else the row says."""
    request = await begin(world)
    await with_a_new_key(world)
    before = story(await facts_of(world))
    states = [f"state = '{state.value}'" for state in State if state is not request.state]
    beside = [one for one in BESIDE if one != "version = 1" or request.version > 1]
    for values in (*states, *(beside if request.state not in TERMINAL else ())):
        with opened(place_of(world)) as database:
            [row] = database.read("request")
        edit(world, values, request)

        found = await rewrapped(world, retires=False)

        assert story(await facts_of(world)) == before, values
        if request.state not in TERMINAL:
            assert found.count == 0, values
            assert request.id in found.not_as_on_record, values
        put_back(world, row)
    found = await rewrapped(world)
    assert found.not_as_on_record == ()
    assert story(await facts_of(world)) == before
    assert await alert_kinds(world) == set()


def put_back(world: World, row: dict[str, Any]) -> None:
    with opened(place_of(world)) as database:
        database.write(
            f"UPDATE request SET {', '.join(f'{name} = ?' for name in row)} WHERE id = ?",
            *row.values(),
            row["id"],
        )


async def test_what_was_sent_stays_counted_though_its_row_says_that_it_failed(world: World) -> None:
    """499 USD of a limit of 500 have left, and the answer was lost; the row says failed just before the rewrap."""
    limits = Limits(per_requester_usd=Decimal(500))
    world.rebuild(policy=replace(world.core.policy, kinds={}, limits=limits))
    first = await world.top_up("499", approved=False)
    await world.fault("drop_after_commit")
    await world.approve(first)
    await world.run_due()
    await with_a_new_key(world)
    edit(world, "state = 'failed', due_at = NULL", first)

    await rewrapped(world)
    await changed_rows.watch(world.core)
    second = await world.top_up("400", approved=False)
    with pytest.raises(OverLimit):
        await world.approve(second)
    await world.run(30, step=10)

    assert net_of(world, first.key) + net_of(world, second.key) == -499
    assert (await world.request(first.id)).state is State.UNRESOLVED
    assert "ended_put_back" in await alert_kinds(world)


async def test_no_wait_is_skipped_by_it(world: World) -> None:
    kinds = {"card_topup": KindPolicy(cool_off=timedelta(hours=1))}
    world.rebuild(policy=replace(world.core.policy, kinds=kinds))
    request = await world.top_up("50")
    await with_a_new_key(world)
    edit(world, "state = 'executing', due_at = '2026-03-02T08:00:00.000000Z'", request)

    await rewrapped(world)
    await world.run(60, step=10)
    await changed_rows.watch(world.core)

    assert top_ups(world) == []
    assert "ended_put_back" in await alert_kinds(world)


def actions_about_requests() -> set[str]:
    """All that the product may put on record of requests, by the texts in its source."""
    found = {f"request.{state.value}" for state in State}
    for path in (path for room in ("bot", "storage") for path in (ROOT / room).rglob("*.py")):
        for one in ast.walk(ast.parse(path.read_text())):
            if isinstance(one, ast.Constant) and isinstance(one.value, str):
                found |= {one.value} if re.fullmatch(r"request\.[a-z_]+", one.value) else set()
    return found


def entry_of(action: str, state: State | None, *, version: int = 3, digest: str = "d") -> chain.Link:
    body = {"digest": digest, "progress": "p", "before": "d"} | ({"state": state.value} if state else {})
    return chain.Link(9, "t", BOB, action, f"request:R-1:{version}", "ok", json.dumps(body), "", "h")


def test_an_entry_is_held_against_the_log_whoever_puts_it_there() -> None:
    """What has not written its row changes nothing of what the log has, but for a new fingerprint of a new key."""
    for action in sorted(actions_about_requests() - {open_requests.SUBMITTED, open_requests.DOUBTED}):
        assert chain.is_held(action) or action in chain.TELLS_ONLY, action
        for was, says in product(OPEN, [None, *State]):
            before = {"R-1": open_requests.OpenRequest(1, was, 3, "d", progress="p")}
            after = dict(before)
            entry = entry_of(action, None if action in chain.TELLS_ONLY else says)
            wrong = open_requests.contradiction(before["R-1"], entry, None, is_written=False)
            if wrong is not None and not wrong.is_harmless:
                continue
            open_requests.take(after, entry)
            known = after.get("R-1")
            ends = says in ENDS or action in {f"request.{one.value}" for one in ENDS}
            is_put_right = action == open_requests.PUT_RIGHT and known is not None
            assert ends or is_put_right or (known and known.state is was), (action, was, says)


ENDS = set(State) - set(OPEN)


def test_nothing_is_appended_past_that() -> None:
    """Each place of the product that appends an entry does it by `storage.audit.append`, which has it held."""
    for path in (path for room in ("bot", "storage", "handlers") for path in (ROOT / room).rglob("*.py")):
        text = path.read_text()
        writes = re.findall(r"insert\(t\.audit\)", text)
        assert not writes or path == ROOT / "storage" / "audit.py", path


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("state = 'executing'", "is approved by the audit log, and somebody changed its row to executing"),
        ("version = 1", "is approved by the audit log, and somebody changed its row"),
    ],
)
async def test_an_entry_that_somebody_appends_by_hand_is_refused_where_its_row_says_otherwise(
    world: World, change: str, said: str
) -> None:
    request = await approved(world)
    edit(world, change, request)
    request = await world.request(request.id)

    with pytest.raises(NotAsOnRecord) as refused:
        async with world.store.begin() as tx:
            await audit.of_request(tx, world.core, request, "system:test", "request.anything")

    assert refused.value.why == said


async def test_a_newer_version_alone_is_what_an_honest_change_leaves(world: World) -> None:
    """A reminder, another time to try: each raises it, and has no entry, as it changes nothing that the log has."""
    request = await pending(world)
    await with_a_new_key(world)
    before = story(await facts_of(world))
    edit(world, "version = version + 1", request)

    found = await rewrapped(world)

    assert found == key_change.SignedAgain(1)
    assert story(await facts_of(world)) == before, "nor does the log have the newer one"
