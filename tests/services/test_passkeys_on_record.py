"""Who has a passkey, and who had one, does not rest on what can be taken away in the database alone.

The thief here writes to the database, drops its triggers, moves the end of the audit log, and waits for the next start;
the master key and what is kept outside the database are not theirs.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy import text

from bot.cli import environment, keys
from bot.cli.doctor import database_checks
from bot.cli.doctor.findings import Finding
from bot.domain.errors import NotAllowed, PasskeyNeeded
from bot.domain.people import KindPolicy
from bot.domain.requests import State
from bot.services import audit_anchors
from bot.services.anchor_places import AnchorPlaces
from bot.services.operators import confirmation_answers
from bot.services.passkeys import enrolment
from bot.services.passkeys.page import PageRefused
from storage import audit
from storage.errors import ChangedOutside
from storage.requests import confirmations
from storage.store import Store
from storage.transaction import ChainMemory
from tests.support.passkeys import ADDRESS, SITE, Devices, everybody_has_one, with_passkeys
from tests.support.world import ALICE, BOB, CAROL, World

pytestmark = pytest.mark.by_turns(4)

Row = dict[str, Any]


@pytest.fixture
async def devices(world: World) -> Devices:
    return await everybody_has_one(world)


async def change(world: World, statement: str, **values: Any) -> None:
    async with world.store.begin() as tx:
        await tx.run(text(statement), values)


async def cut_before(world: World, action: str) -> None:
    """The log ends before its first entry of this action, and its head says so."""
    async with world.store.begin() as tx:
        triggers = "SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'audit'"
        for (name,) in (await tx.run(text(triggers))).all():
            await tx.run(text(f"DROP TRIGGER {name}"))
        first = f"(SELECT min(seq) FROM audit WHERE action = '{action}')"
        before = (await tx.run(text(f"SELECT seq, hash FROM audit WHERE seq = {first} - 1"))).one()
        await tx.run(text("DELETE FROM audit WHERE seq > :seq"), {"seq": before.seq})
        await tx.run(
            text("UPDATE audit_head SET seq = :seq, hash = :hash"), {"seq": before.seq, "hash": before.hash}
        )


def next_start(world: World) -> None:
    """Another process: it remembers nothing."""
    world.store._chain = ChainMemory()
    world.store._versions.clear()


async def confirm_by_click(world: World, passkey_id: str, by: str) -> str:
    async with world.store.read() as tx:
        consent = await confirmations.open_one(tx, "passkey_add", passkey_id)
    assert consent is not None
    return await confirmation_answers.give(world.core, consent.id, by)


HIDDEN = ["DELETE FROM passkey", "UPDATE passkey SET added_at = NULL, state = 'waiting'"]


@pytest.mark.parametrize("rows", HIDDEN, ids=["rows deleted", "rows as if never added"])
@pytest.mark.parametrize("starts", [False, True], ids=["while it runs", "before a start"])
async def test_a_log_cut_off_before_the_first_passkey_brings_no_click_back(
    world: World, devices: Devices, rows: str, starts: bool
) -> None:
    await change(world, rows)
    await cut_before(world, "passkey.added")
    if starts:
        next_start(world)

    with pytest.raises((PasskeyNeeded, PageRefused, ChangedOutside)):
        await confirm_by_click(world, await Devices(world).make(ALICE), CAROL)

    assert not [row for row in await rows_of(world, "passkey") if row["state"] == "active"]


async def test_nor_does_an_older_copy_that_was_accepted(world: World, devices: Devices) -> None:
    """The copy is of before the first passkey; only who has the machine lets a click count again."""
    await change(world, "DELETE FROM passkey")
    await cut_before(world, "passkey.added")
    next_start(world)
    async with world.store.begin() as tx:
        await audit.append(
            tx, actor="system:start", action="database.restored", subject="database", body={"head": 3}
        )
        await audit.append(tx, actor=BOB, action="database.accepted", subject="database", body={"head": 3})
    made = await Devices(world).make(ALICE)
    with pytest.raises(PasskeyNeeded):
        await confirm_by_click(world, made, CAROL)

    await reset(world)
    again = await Devices(world).make(ALICE)

    assert "works from now on" in await confirm_by_click(world, again, CAROL)


async def test_a_log_cut_off_after_an_old_reset_brings_no_click_back(world: World) -> None:
    world.rebuild(policy=with_passkeys(), passkeys=SITE)
    await reset(world)
    await world.advance(60)
    await Devices(world).add(BOB, CAROL)
    await change(world, "DELETE FROM passkey")
    await cut_before(world, "passkey.link_made")
    next_start(world)
    made = await Devices(world).make(CAROL)

    with pytest.raises(PasskeyNeeded):
        await confirm_by_click(world, made, BOB)


async def test_without_a_place_outside_the_database_nobody_adds_a_passkey(world: World) -> None:
    world.rebuild(policy=with_passkeys(), passkeys=SITE, anchors=AnchorPlaces())

    with pytest.raises(NotAllowed) as refused:
        await enrolment.begin(world.core, BOB, "Laptop")

    assert refused.value.reason == "no_anchors"


async def test_each_change_of_who_has_a_passkey_is_known_outside_the_database_at_once(
    world: World, devices: Devices
) -> None:
    await audit_anchors.drop(world.core)
    changes: tuple[Callable[[], Awaitable[object]], ...] = (
        lambda: devices.add(BOB, CAROL),
        lambda: enrolment.lost(world.core, BOB, BOB),
        lambda: reset(world),
    )
    for done, change_it in enumerate(changes):
        await change_it()
        async with world.store.read() as tx:
            said = [one async for one in audit.about(tx, "passkey")]
        newest = max(one.seq for one in await world.core.anchors.read())
        assert newest >= said[-1].seq, f"change {done}"


@asynccontextmanager
async def _same(store: Store) -> AsyncIterator[Store]:
    yield store


async def reset(world: World) -> None:
    """As the command does it, in a process of its own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(environment, "open_store", lambda *, beside_the_bot: _same(world.store))
        patch.setattr(environment, "anchor_places", lambda _store: world.core.anchors)
        await keys._reset_passkeys()


async def rows_of(world: World, table: str, where: str = "1 = 1") -> list[Row]:
    async with world.store.read() as tx:
        found = await tx.run(text(f"SELECT * FROM {table} WHERE {where}"))
        return [dict(row) for row in found.mappings()]


async def put(world: World, table: str, row: Row) -> None:
    columns = ", ".join(row)
    values = ", ".join(f":{name}" for name in row)
    await change(world, f"INSERT INTO {table} ({columns}) VALUES ({values})", **row)


@pytest.mark.parametrize("how", ["lost", "reported lost by another", "reset"])
@pytest.mark.parametrize("starts", [False, True], ids=["in the same process", "after a start"])
async def test_a_passkey_whose_row_was_hidden_meanwhile_counts_no_more(
    world: World, devices: Devices, how: str, starts: bool
) -> None:
    (row,) = await rows_of(world, "passkey", f"slack_id = '{BOB}'")
    waiting = await world.top_up("50", approved=False)
    approved = await world.top_up("60", approved=False)
    await devices.approve(approved)
    second = {"id": "K-LEFT", "credential_id": "left", "state": "active", "sealed_key": "x"}
    if how == "reported lost by another":  # who has none is not reported: another row is there to see
        await put(world, "passkey", {**row, **second})
    await change(world, "DELETE FROM passkey WHERE id = :id", id=row["id"])
    if how == "lost":
        await enrolment.lost(world.core, BOB, BOB)
    elif how == "reset":
        await reset(world)
    else:
        await _reported(world, devices)
    if starts:
        next_start(world)
    await put(world, "passkey", {**row, "used_at": None})

    with pytest.raises((PageRefused, NotAllowed)):
        await devices.approve(waiting)
    await world.run_due()

    assert (await world.request(waiting.id)).state is State.PENDING
    assert (await world.request(approved.id)).state is State.CANCELLED


async def _reported(world: World, devices: Devices) -> None:
    world.people.groups["@card-approvers"].add(ALICE)
    await world.advance(30)
    await enrolment.lost(world.core, CAROL, BOB)
    await devices.confirm(BOB, ALICE, "passkey_lost")


async def test_a_passkey_that_nobody_confirmed_on_record_counts_for_nothing(
    world: World, devices: Devices
) -> None:
    """The entry of its end is taken out of the log, and its older row put back, before a start."""
    (row,) = await rows_of(world, "passkey", f"slack_id = '{BOB}'")
    request = await world.top_up("50", approved=False)
    await enrolment.lost(world.core, BOB, BOB)
    async with world.store.begin() as tx:
        triggers = "SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'audit'"
        for (name,) in (await tx.run(text(triggers))).all():
            await tx.run(text(f"DROP TRIGGER {name}"))
    await change(world, "DELETE FROM audit WHERE action IN ('passkey.ended', 'passkey.all_ended')")
    await change(world, "DELETE FROM passkey WHERE id = :id", id=row["id"])
    await put(world, "passkey", row)
    next_start(world)

    with pytest.raises(ChangedOutside):
        await devices.link(request, BOB)


async def test_a_lost_passkey_whose_row_was_put_back_is_shown_to_nobody_as_one_that_works(
    world: World, devices: Devices
) -> None:
    (row,) = await rows_of(world, "passkey", f"slack_id = '{BOB}'")
    await enrolment.lost(world.core, BOB, BOB)
    await change(world, "DELETE FROM passkey WHERE id = :id", id=row["id"])
    await put(world, "passkey", row)
    next_start(world)

    assert dict((await enrolment.listed(world.core, CAROL)).others)[BOB] == 0
    said = [one.text for one in await doctor(world)]
    assert [one for one in said if "2 people have a passkey that works" in one]


async def doctor(world: World, **settings: Any) -> list[Finding]:
    """What it says of passkeys, of this policy and these settings."""
    given = {"public_url": ADDRESS, "anchors_file": None, "anchors_command": None, **settings}
    policy = replace(with_passkeys(), default=KindPolicy(passkey=True, approvals=1))
    set_to: Any = SimpleNamespace(**given)
    config: Any = SimpleNamespace(policy=policy)
    return await database_checks.passkeys(set_to, config, world.store)


async def test_doctor_says_first_that_anchors_cannot_be_read(world: World, tmp_path: Path) -> None:
    (tmp_path / "other").write_text("a list of something else\n")

    said = (await doctor(world, anchors_file=tmp_path / "other"))[0]

    assert (said.check, str(tmp_path / "other") in said.text) == ("passkey_anchors", True)
