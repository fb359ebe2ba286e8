"""What people here did to a card between a backup and its restore is blamed on nobody, as the copy does not know it."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from bot.domain.requests import Request, State
from bot.services.core import Core
from bot.services.events import Poller, inbox
from bot.services.operators import safe_mode
from storage import audit
from storage.messages import Alert, alerts
from storage.store import Store
from storage.vault import Keyring, Vault
from tests.services.outcome_steps import execute
from tests.services.test_newest_wins import status_changed
from tests.support.situations import a_freeze
from tests.support.world import MASTER, World

ACCUSES = ("outside Countersign", "nobody here decided", "replace the key", "No request here")


def _poller(core: Core) -> Poller:
    return Poller(core, account_every=timedelta(minutes=1))


async def _decided(world: World, what: str) -> Request:
    """By two people here, and carried out."""
    card = world.cards[0]
    if what == "freeze":
        return await execute(world, await a_freeze(world))
    terms = {"card": card["id"]} | ({"last4": card["last4"]} if what == "close" else {})
    request = await world.ask(f"card_{what}", terms)
    await world.approve(request)
    return await execute(world, request)


async def _frozen_before(world: World) -> Request:
    """After all cards were read once."""
    await _poller(world.core).cards()
    await world.advance(60)
    freeze = await _decided(world, "freeze")
    await world.advance(60)
    return freeze


@asynccontextmanager
async def _restored(world: World, path: Path, lost: str | None) -> AsyncIterator[Core]:
    """A copy in place of the database, made before the `lost` decision."""
    assert world.store.database.path
    with sqlite3.connect(world.store.database.path) as now, sqlite3.connect(path) as copy:
        now.backup(copy)
    async with world.store.read() as tx:
        head, head_at = await audit.head(tx), tx.now
    await world.advance(60)
    if lost is not None:
        assert (await _decided(world, lost)).state is State.SUCCEEDED
    await world.advance(300)
    vault = Vault(Keyring.parse(MASTER))
    store = await Store.open(f"sqlite:///{path}", vault=vault, clock=world.clock, exclusive=False)
    core = replace(world.core, store=store, owner="restored")
    await safe_mode.enter(core, (head.seq, head_at), (head.seq + 9, head_at + timedelta(minutes=2)))
    await safe_mode.at_start(core)
    yield core
    await store.close()


async def _sweeps(world: World, poller: Poller, count: int) -> None:
    for _ in range(count):
        await poller.cards()
        await poller.moved()
        await world.advance(610)


async def _said(core: Core) -> list[Alert]:
    async with core.store.read() as tx:
        raised = await alerts.raised_since(tx, core.clock.now() - timedelta(hours=2))
    return [one for one in raised if one.kind == "card_status"]


async def _an_event_comes(world: World, core: Core) -> None:
    async with core.store.begin() as tx:
        await inbox.on_event(tx, core, status_changed(world))


@pytest.mark.parametrize(
    ("lost", "first_seen_by"),
    [("unfreeze", "a sweep"), ("unfreeze", "an event"), ("freeze", "a sweep"), ("close", "a sweep")],
)
async def test_what_was_decided_here_and_is_not_in_the_copy_accuses_nobody(
    world: World, tmp_path: Path, lost: str, first_seen_by: str
) -> None:
    poller = _poller(world.core)
    await poller.cards()
    await world.advance(60)
    if lost == "unfreeze":
        await _decided(world, "freeze")
        await world.advance(60)
    await poller.cards()
    await poller.moved()
    await world.advance(10)

    async with _restored(world, tmp_path / "older.db", lost) as core:
        poller = _poller(core)
        if first_seen_by == "an event":
            await _an_event_comes(world, core)
            await poller.moved()
            assert await _said(core)
        await _sweeps(world, poller, 3)
        (said,) = await _said(core)

    assert said.severity == "warning"
    assert [words for words in ACCUSES if words in f"{said.title} {said.text}"] == []
    assert "may have been decided here" in said.text


@pytest.mark.parametrize("first_seen_by", ["a sweep", "an event"])
async def test_what_others_unfroze_after_the_restore_is_critical_as_ever(
    world: World, tmp_path: Path, first_seen_by: str
) -> None:
    freeze = await _frozen_before(world)

    async with _restored(world, tmp_path / "older.db", None) as core:
        poller = _poller(core)
        await _sweeps(world, poller, 2)  # it reads FROZEN
        assert await _said(core) == []
        await world.tell(f"cards/{freeze.subject}", {"status": "ACTIVE"})
        if first_seen_by == "an event":
            await _an_event_comes(world, core)
            await poller.moved()
        await _sweeps(world, poller, 3)
        (said,) = await _said(core)

    assert said.severity == "critical"
    assert "nobody here decided" in said.title


@pytest.mark.parametrize("days", [3, 60])
async def test_what_others_do_twice_long_after_a_restore_is_critical_each_time(
    world: World, tmp_path: Path, days: int
) -> None:
    freeze = await _frozen_before(world)

    async with _restored(world, tmp_path / "older.db", None) as core:
        poller = _poller(core)
        await poller.cards()
        await world.advance(days * 86400)
        for status in ("ACTIVE", "FROZEN", "ACTIVE"):
            await world.tell(f"cards/{freeze.subject}", {"status": status})
            await _an_event_comes(world, core)
            await poller.moved()
            await world.advance(20)
        said = await _said(core)

    assert {one.severity for one in said} == {"critical"}
