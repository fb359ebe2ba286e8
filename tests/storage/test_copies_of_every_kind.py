"""A copy that has a request of any kind, which was carried out since: its key in the ledger shows it, moved or not.

An unload gives something back and a card that is ordered costs nothing yet, so no debit is looked for.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import select

from bot.domain.errors import CountersignError
from bot.domain.money import ledger_text
from bot.domain.people import KindPolicy
from bot.operations import kinds
from bot.services.alerts import ledger_rules
from bot.services.anchor_places import AnchorPlaces
from bot.services.older_copies import copy_detection
from bot.services.operators import safe_mode
from storage import tables
from tests.storage.restores import put_in_place, restart_on
from tests.storage.test_restores_at_odd_times import copied, in_force, leave, read_ledger
from tests.support.databases import SqliteFiles
from tests.support.kinds import EACH, QUOTE_NAMES, asked
from tests.support.world import World, a_policy, a_world

pytestmark = pytest.mark.by_turns(4)

WAITS = timedelta(days=3)
#: Kinds that leave a row in the ledger of the simulator: an amount, or none.
IN_THE_LEDGER = {"card_topup", "card_unload", "card_order"}


@pytest.fixture
async def world(
    tmp_path: Path, sqlite_files: SqliteFiles, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[World]:
    monkeypatch.setattr(kinds()["deposit_quote"], "body_names", QUOTE_NAMES)
    async with a_world(tmp_path, url=sqlite_files.migrated()) as world:
        policy = replace(a_policy(), kinds={kind: KindPolicy(expires=WAITS) for kind in kinds()})
        world.rebuild(policy=policy, anchors=AnchorPlaces([]))
        await world.tell("account", {"key_days": 1})
        await read_ledger(world)
        yield world
        await world.store.close()


async def references(world: World, key: str) -> list[str]:
    found = [e async for e in world.core.partners["main"].ledger_entries()]
    return [e.reference or "" for e in found if ledger_text.key_in(e.reference) == key]


@pytest.mark.by_turns(5)
@EACH
async def test_what_was_carried_out_after_the_copy_is_not_carried_out_again(
    world: World, sqlite_files: SqliteFiles, tmp_path: Path, kind: str
) -> None:
    request = await asked(world, kind)
    await read_ledger(world)
    copy = await copied(world, tmp_path / "copy.db")
    await world.approve(request)
    await world.run(60)
    before = await references(world, request.key)
    assert bool(before) == (kind in IN_THE_LEDGER), "say in IN_THE_LEDGER which kinds leave a row"

    url = await put_in_place(copy, sqlite_files)
    await restart_on(world, url)
    await copy_detection.hold_until_seen(world.core)
    if not before:
        return
    assert await in_force(world), "its row is known to nobody here"
    await ledger_rules.compare(world.core, "main")
    await safe_mode.review(world.core)
    async with world.store.read() as tx:
        about = (await tx.run(select(tables.alert.c.subject, tables.alert.c.title))).all()
    assert [one.title for one in about if one.subject == request.id], "people are notified of this request"
    await leave(world)
    await world.advance(timedelta(hours=26).total_seconds())
    await safe_mode.review(world.core)
    with suppress(CountersignError):
        await world.approve(request)
    await world.run(120, step=30)

    assert await references(world, request.key) == before, "carried out twice"
