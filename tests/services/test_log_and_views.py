"""Whoever changes the schema hides genuine entries from one query of a start, and gains nothing by that.

Each statement that reads entries is lied to in turn, with a view, in each story of what the thief took out of the
tables before: a pause, draft only, who gets codes, a new approver's time, a retired key, and so on.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from bot import startup
from bot.domain.errors import CountersignError
from bot.domain.people import Actor
from bot.services import audit as services_audit
from bot.services import people
from bot.services.execution import maintenance
from bot.services.operators import changed_rows, pausing
from bot.services.requests import verification
from bot.services.shared_look import SharedLooks
from storage import audit, master_keys
from storage.cards import otp_recipients
from storage.operators import pauses, programs, roles_on_record, stops
from storage.protection import upgrades
from storage.vault import Keyring, Vault, new_master
from tests.services.test_passkeys_and_views import hide, readings
from tests.services.test_passkeys_on_record import change, next_start, put, rows_of
from tests.support.databases import PostgresDatabases
from tests.support.world import ALICE, BOB, CAROL, HOME, MASTER, World, a_world

DAVE = "U0DAVE"
OLDER = new_master()
Kept = dict[str, list[dict[str, Any]]]


@pytest.fixture
async def world(postgres_databases: PostgresDatabases, tmp_path: Path) -> AsyncIterator[World]:
    url = postgres_databases.migrated()
    async with a_world(tmp_path, url=url) as made:
        made.people.actors[DAVE] = Actor(DAVE, "Dave", team_id=HOME)
        await maintenance.check_policy(made.core)
        yield made
    postgres_databases.drop(url)


@dataclass(frozen=True)
class Story:
    """`begin` is what people did, `attack` what the thief then does to tables; `is_safe` is asked after the start."""

    hidden: str
    begin: Callable[[World], Awaitable[Any]]
    attack: Callable[[World, Any], Awaitable[None]]
    is_safe: Callable[[World], Awaitable[bool]]


async def copy(world: World, *tables: str) -> Kept:
    return {name: await rows_of(world, name) for name in tables}


async def put_back(world: World, kept: Kept) -> None:
    for name in reversed(kept):
        await change(world, f"DELETE FROM {name}")
    for name, rows in kept.items():
        for row in rows:
            await put(world, name, row)


async def nothing(world: World, kept: Any) -> None:
    """The log alone is what the thief lies about."""


async def a_pause(world: World) -> Kept:
    kept = await copy(world, "pause", "row_signature")
    await pausing.pause(world.core, BOB, ["main"], "the key may be stolen")
    return kept


async def is_paused(world: World) -> bool:
    async with world.store.read() as tx:
        return await pauses.of(tx, "main") is not None


async def drafts(world: World) -> Kept:
    kept = await copy(world, "row_signature")
    async with world.store.begin() as tx:
        await programs.begin_drafts(tx, "main")
        await services_audit.record(tx, world.core, ALICE, "program.drafts_on", "program:main", {})
    return kept


async def drafts_off(world: World, kept: Kept) -> None:
    await change(world, "UPDATE program SET drafts_since = NULL, drafts_until = NULL")
    await put_back(world, kept)


async def is_draft_only(world: World) -> bool:
    async with world.store.read() as tx:
        found = await programs.get(tx, "main")
        is_stopped = (await stops.of(tx, "main")).changed_outside  # nothing is sent either
    return found is not None and (found.is_draft_only or is_stopped)


async def name_for_codes(world: World, person: str) -> None:
    async with world.store.begin() as tx:
        await otp_recipients.put(tx, "emp-1", person)
        body = {"person": person}
        await services_audit.record(tx, world.core, ALICE, "code.name_person", "code:emp-1", body)


async def another_recipient(world: World) -> Kept:
    await name_for_codes(world, CAROL)
    kept = await copy(world, "person_card", "row_signature")
    await name_for_codes(world, BOB)
    return kept


async def codes_go_to_bob(world: World) -> bool:
    async with world.store.read() as tx:
        return await otp_recipients.person_of(tx, "emp-1") == BOB


async def a_new_approver(world: World) -> None:
    known = world.core.policy
    settling = replace(known.people, settle=timedelta(hours=1))
    world.rebuild(policy=replace(known, people=settling))
    world.people.groups["@card-approvers"] |= {DAVE}
    await maintenance.check_policy(world.core)


async def dave_waits(world: World) -> bool:
    return DAVE in (await people.standing(world.core)).waiting


async def a_retired_key(world: World) -> str:
    kid = Keyring.parse(OLDER).kids[0]
    async with world.store.begin() as tx:
        await audit.append(tx, actor="x", action=master_keys.RETIRED, subject=f"master_key:{kid}")
    world.store.vault = Vault(Keyring.parse(f"{MASTER}\n{OLDER}")).bound_to(world.store.instance)
    return kid


async def forget_retired(world: World, kid: Any) -> None:
    world.store.vault.retired.clear()


async def is_retired(world: World) -> bool:
    vault = world.store.vault
    kid = Keyring.parse(OLDER).kids[0]
    by_older = Vault(Keyring.parse(OLDER)).bound_to(vault.instance).mac("approval_mac", b"x")
    return kid in vault.retired and not vault.check_mac("approval_mac", b"x", by_older)


async def a_name(world: World) -> None:
    async with world.store.begin() as tx:
        about = roles_on_record.of_name("bob")
        await services_audit.record(
            tx, world.core, "system:people", roles_on_record.NAMED, about, {"id": BOB}
        )


async def bob_is_who_he_was(world: World) -> bool:
    async with world.store.read() as tx:
        return (await roles_on_record.names(tx)).get("bob") == BOB


async def a_policy(world: World) -> str:
    return world.core.policy.version


async def another_policy(world: World, version: Any) -> None:
    world.rebuild(policy=replace(world.core.policy, version=version))
    await startup.note_start(world.core)
    world.rebuild(policy=replace(world.core.policy, version="f" * 64))


async def is_reported(world: World) -> bool:
    await startup.note_start(world.core)
    return bool(await rows_of(world, "alert", "kind = 'policy_changed'"))


async def signed_before(world: World) -> None:
    async with world.store.begin() as tx:
        await audit.append(tx, actor="system:storage", action=upgrades.SIGNED, subject="database")


async def is_not_signed_again(world: World) -> bool:
    async with world.store.begin() as tx:
        await upgrades.sign_once(tx)
    return False


async def a_request(world: World) -> None:
    await world.top_up("50", approved=False)
    (row,) = await rows_of(world, "request")
    async with world.store.begin() as tx:
        request = await world.request(row["id"])
        # Without a state: what changes one is held against the row as well.
        body = {"kind": request.kind, "digest": "f" * 64}
        await audit.append(
            tx, actor="x", action="request.submitted", subject=f"request:{request.id}:9", body=body
        )


async def verifying_says_so(world: World) -> bool:
    (row,) = await rows_of(world, "request")
    found = await verification.verify(world.core, row["id"])
    return not all(one.holds for one in found.checks)


STORIES = {
    "pause": Story("action = 'program.write_paused'", a_pause, put_back, is_paused),
    "drafts": Story("action = 'program.drafts_on'", drafts, drafts_off, is_draft_only),
    "codes": Story(
        "action = 'code.name_person' AND body LIKE '%U0BOB%'", another_recipient, put_back, codes_go_to_bob
    ),
    "new approver": Story("action = 'people.changed'", a_new_approver, nothing, dave_waits),
    "first approvers": Story("action LIKE 'people.%'", a_new_approver, nothing, dave_waits),
    "retired key": Story("action = 'keys.retired'", a_retired_key, forget_retired, is_retired),
    "name": Story("action = 'name.resolved'", a_name, nothing, bob_is_who_he_was),
    "policy": Story("action = 'policy.loaded'", a_policy, another_policy, is_reported),
    "signed rows": Story("action = 'rows.signed'", signed_before, nothing, is_not_signed_again),
    "a request": Story("action = 'request.changed'", a_request, nothing, verifying_says_so),
}


async def start_is_safe(world: World, story: Story) -> bool:
    """What a start does before anything is sent. One that is refused, and a step that is, are safe."""
    next_start(world)
    world.rebuild(people_seen=SharedLooks(), roles_noted={})
    try:
        async with world.store.read() as tx:
            await master_keys.learn_retired(tx)
        await startup.check_audit(world.store, world.core.anchors)
        await changed_rows.undo_what_was_put_back(world.core)
        return await story.is_safe(world)
    except CountersignError:
        return True


@pytest.mark.by_turns(5)
@pytest.mark.parametrize("name", STORIES)
async def test_no_reading_at_a_start_can_be_lied_to(world: World, name: str) -> None:
    story = STORIES[name]
    begun = await story.begin(world)
    await change(world, "ALTER TABLE audit RENAME TO audit_itself")
    await change(world, "CREATE VIEW audit AS SELECT * FROM audit_itself")
    with readings(world) as patterns:
        await story.attack(world, begun)
        assert await start_is_safe(world, story), "without a lie"
    assert patterns
    for pattern in sorted(patterns):
        await hide(world, "false", pattern)  # nothing
        await story.attack(world, begun)
        await change(world, "DELETE FROM alert")
        await hide(world, story.hidden, pattern)

        assert await start_is_safe(world, story), pattern
