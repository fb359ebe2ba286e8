"""A backup or a snapshot that an older version made is put in place: the first opening by a newer version adds entries
of its own, and those have the numbers of entries that were lost. It is an older copy, and nobody changed anything."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Iterable
from contextlib import closing
from datetime import timedelta
from itertools import combinations
from pathlib import Path

import pytest

from bot import startup
from bot.services import audit_anchors
from bot.services.anchor_places import AnchorPlaces
from storage import audit, master_keys
from storage.columns import time_text
from storage.maintenance import back_up, put_back
from storage.operators import safe_mode as rows
from storage.store import Store
from tests.storage.restores import VAULT, put_in_place, restart_on
from tests.support.databases import Databases
from tests.support.world import World, a_world

#: What the first opening adds to the log, by what the older version had not done yet.
ADDS = {
    "readings": ["debits.found", "readings.signed"],
    "rows and readings": ["rows.signed", "debits.found", "readings.signed"],
}
#: Which of the entries that come next were anchored before they were lost; the last one is beyond all that is added.
LOST = [some for size in (1, 2, 4) for some in combinations((1, 2, 3, 4), size)]


@pytest.fixture
async def world(tmp_path: Path, own_url: str) -> AsyncIterator[World]:
    async with a_world(tmp_path, url=own_url) as world:
        world.rebuild(anchors=AnchorPlaces([tmp_path / "anchors"]))
        yield world
        await world.store.close()


async def _an_entry(world: World) -> int:
    async with world.store.begin() as tx:
        return await audit.append(tx, actor="test", action="something", subject="test")


def _as_an_older_version_left_it(copy: Path, world: World, had_not: str) -> None:
    at = time_text(world.clock.now())
    with closing(sqlite3.connect(copy)) as database:
        row = ("main", "topup:co-x-1", "-1", "topup", None, at, at, None)
        database.execute(f"INSERT INTO orphan_debit VALUES ({', '.join('?' * len(row))})", row)
        if had_not != "readings":
            vault = world.store.vault
            cell = master_keys._canary(vault.primary_kid)
            sealed = vault.seal_under(vault.primary_kid, master_keys._UNSIGNED, cell)
            database.execute("UPDATE keycheck SET sealed = ? WHERE kid = ?", (str(sealed), vault.primary_kid))
        database.commit()


async def _copied(world: World, folder: Path, had_not: str, lost: Iterable[int]) -> tuple[Path, int]:
    """A copy, and the number of its last entry; four entries came after it, and of some the anchor was kept."""
    end = await _an_entry(world)
    await audit_anchors.drop(world.core)
    await back_up(str(world.store.database.url), folder / "copy.db", vault=VAULT, clock=world.clock)
    _as_an_older_version_left_it(folder / "copy.db", world, had_not)
    for number in range(1, 5):
        await world.advance(60)
        await _an_entry(world)
        if number in lost:
            await audit_anchors.drop(world.core)
    await world.advance(60)
    return folder / "copy.db", end


async def _put(world: World, how: str, copy: Path, databases: Databases) -> str:
    if how == "by restore":
        url = databases.empty()
        await put_back(url, copy, vault=VAULT, clock=world.clock)
        return url
    url = await put_in_place(copy, databases)
    if how == "as a volume, and the first start ended early":
        await (await Store.open(url, vault=VAULT, clock=world.clock)).close()
    return url


async def _added(world: World, after: int) -> list[str]:
    async with world.store.read() as tx:
        return [entry.action async for entry in audit.entries(tx, from_seq=after + 1)]


@pytest.mark.walk("put", "lost")
@pytest.mark.by_turns(5)
@pytest.mark.parametrize("had_not", ADDS)
@pytest.mark.parametrize("lost", LOST, ids=["+".join(map(str, some)) for some in LOST])
@pytest.mark.parametrize("put", ["as a volume", "as a volume, and the first start ended early", "by restore"])
async def test_it_starts_in_safe_mode_whichever_entries_were_lost(
    world: World, databases: Databases, tmp_path: Path, put: str, lost: tuple[int, ...], had_not: str
) -> None:
    copy, end = await _copied(world, tmp_path, had_not, lost)
    url = await _put(world, put, copy, databases)

    world.rebuild(anchors=AnchorPlaces([tmp_path / "anchors"]))  # another process
    await restart_on(world, url)
    assert (await _added(world, end))[: len(ADDS[had_not])] == ADDS[had_not]
    async with world.store.read() as tx:
        (mode,) = await rows.all(tx)
        assert (mode.head_seq, mode.head_at) == (end, world.clock.now() - timedelta(minutes=5))
        assert (await audit.verify(tx)).ok
    await audit_anchors.drop(world.core)
    world.rebuild(anchors=AnchorPlaces([tmp_path / "anchors"]))
    assert await restart_on(world, url) is None, "it began once"
    async with world.store.read() as tx:
        assert len(await rows.all(tx)) == 1


@pytest.mark.by_turns(3)
@pytest.mark.parametrize("had_not", ADDS)
async def test_an_upgrade_is_no_older_copy_and_its_entries_are_held_against_their_anchors(
    world: World, databases: Databases, tmp_path: Path, had_not: str
) -> None:
    copy, end = await _copied(world, tmp_path, had_not, ())
    url = await put_in_place(copy, databases)
    world.rebuild(anchors=AnchorPlaces([tmp_path / "anchors"]))

    for _ in range(2):
        assert await restart_on(world, url) is None
        await audit_anchors.drop(world.core)
    await _an_entry(world)
    await audit_anchors.drop(world.core)
    assert await restart_on(world, url) is None
    (tmp_path / "other").write_text(_of_another(tmp_path / "anchors", end))
    with pytest.raises(startup.CannotStart, match=f"entry {end}"):
        await startup.check_audit(world.store, AnchorPlaces([tmp_path / "other"]))


def _of_another(anchors: Path, seq: int) -> str:
    """An anchor of that entry that says something else."""
    line = next(one for one in anchors.read_text().splitlines() if audit.Anchor.from_line(one).seq == seq)
    digest = audit.Anchor.from_line(line).hash
    return line.replace(digest, digest[::-1]) + "\n"
