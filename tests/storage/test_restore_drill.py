"""An older copy of the database is put in place: nothing is sent, and every debit that it does not know is found.

The drill runs on both databases, with the real client and simulator: a backup, a hundred top-ups after it, the restore.
"""

from __future__ import annotations

import asyncio
import errno
import fcntl
import os
import sqlite3
import stat
from collections.abc import AsyncIterator
from contextlib import closing, suppress
from datetime import timedelta
from decimal import Decimal
from pathlib import Path

import pytest
from sqlalchemy import create_engine, select, text

from bot.domain.errors import NotAllowed, NotFound, Stale
from bot.domain.requests import State
from bot.domain.time import SystemClock
from bot.services import audit_anchors
from bot.services.anchor_places import AnchorPlaces
from bot.services.events import Poller
from bot.services.operators import confirmation_answers, pausing, safe_mode
from storage import audit, tables
from storage.database import Database, url_of
from storage.errors import DatabaseMissing, DatabaseUnreachable, SchemaBehind
from storage.maintenance import CopyRefused, back_up, copies, put_back
from storage.messages import alerts as alert_rows
from storage.messages import outbox
from storage.migrate import migrate
from storage.operators import OrphanDebit, pauses
from storage.operators import safe_mode as rows
from storage.requests import confirmations
from storage.store import Store
from storage.upsert import upsert
from tests.storage.restores import VAULT, debit, put_in_place, restart_on
from tests.support.databases import Databases, SqliteFiles, damage
from tests.support.disks import a_small_disk, fill, mount
from tests.support.world import BOB, CAROL, World, a_world

pytestmark = pytest.mark.by_turns(6)

DEBITS = 100


@pytest.fixture
async def world(tmp_path: Path, own_url: str) -> AsyncIterator[World]:
    async with a_world(tmp_path, url=own_url) as world:
        world.rebuild(anchors=AnchorPlaces([tmp_path / "anchors"]))
        yield world
        await world.store.close()


async def sent(world: World) -> int:
    return len(await world.sent("POST /topup"))


async def test_every_debit_that_an_older_copy_does_not_know_is_found_and_nothing_is_sent_before_two_people_say_so(
    world: World, databases: Databases, tmp_path: Path, own_url: str
) -> None:
    await world.tell("float", {"amount_usd": "5000"})
    done = await world.top_up("7")
    await world.run_due()
    waiting = await world.top_up("8", approved=False)
    approved = await world.top_up("9")
    poller = Poller(world.core, account_every=timedelta(seconds=60))
    await poller.first_ledger()
    await audit_anchors.drop(world.core)
    await back_up(own_url, tmp_path / "copy.db", vault=VAULT, clock=world.clock)

    # What the copy does not know: an approval with its debit, and debits of requests that came later.
    await world.advance(60)
    await world.approve(waiting)
    await world.run_due()
    expected = [await debit(world, number) for number in range(DEBITS)]
    await audit_anchors.drop(world.core)
    calls = await sent(world)

    url = await put_in_place(tmp_path / "copy.db", databases)
    found = await restart_on(world, url)

    assert found is not None
    assert found.anchor[0] > found.head[0], "the copy is older than what was kept outside"
    assert (await world.request(done.id)).state is State.SUCCEEDED
    voided = await world.request(approved.id)
    assert voided.state is State.CANCELLED
    assert "may have been carried out" in voided.outcome_text
    assert (await world.request(waiting.id)).state is State.PENDING, (
        "without an approval there is none to be void"
    )
    with pytest.raises(NotAllowed, match="safe mode"):
        await world.approve(waiting)
    with pytest.raises(NotFound, match="still reading the whole ledger"):
        await pausing.resume(world.core, BOB, ["main"])

    poller = Poller(world.core, account_every=timedelta(seconds=60))
    await poller.first_ledger()
    await safe_mode.review(world.core)
    async with world.store.read() as tx:
        mode = await rows.current(tx)
        assert mode is not None
        orphans, _ = await safe_mode._found_in(tx)
        (alert,) = [one for one in await alert_rows.open_ones(tx) if one.kind == "older_copy"]
        lines = select(tables.alert_thread_line.c.text).where(tables.alert_thread_line.c.alert_id == alert.id)
        listed = list((await tx.run(lines)).scalars())
        known_debit = [one for one in await alert_rows.open_ones(tx) if one.subject == waiting.id]

    assert sorted(-row.amount_usd for row in orphans) == sorted(expected), f"{len(orphans)} of {DEBITS}"
    assert {row.card_id for row in orphans} == {card["id"] for card in world.cards[:3]}
    assert f"{DEBITS} debits of {sum(expected)}.00 USD in all" in alert.text
    for row in orphans:
        assert sum(row.reference in text for text in listed) == 1, (
            "each is listed once, with its amount and card"
        )
    assert "which is pending" in known_debit[0].title, "the debit of an approval that the copy does not know"
    assert await sent(world) == calls, "nothing was sent"
    await world.run(300)
    assert await sent(world) == calls

    await leave_by_two(world)
    assert await restart_on(world, url) is None, "what was lost is known, and not found again"
    again = await world.top_up("3")
    await world.run_due()
    assert (await world.request(again.id)).state is State.SUCCEEDED
    await world.store.close()
    databases.drop(url)


async def leave_by_two(world: World) -> None:
    asked = await pausing.resume(world.core, BOB, ["main"])
    assert "Another approver or admin has to confirm" in asked[0]
    async with world.store.read() as tx:
        assert await pauses.of(tx, "main") is not None, "one person alone does not leave it"
        consent = await confirmations.open_one(tx, pausing.RESUME, "main")
        (question,) = [one for one in await alert_rows.open_ones(tx) if one.kind == "consent"]
    assert f"{DEBITS} debits" in question.text, "whoever confirms it reads what was found"
    assert consent is not None

    assert "has resumed" in await confirmation_answers.give(world.core, consent.id, CAROL)

    async with world.store.read() as tx:
        assert await rows.current(tx) is None
        assert [one.kind for one in await alert_rows.open_ones(tx) if one.kind == "older_copy"] == []


async def test_what_restore_puts_in_place_starts_in_safe_mode_whatever_the_anchors_say(
    world: World, databases: Databases, tmp_path: Path, own_url: str
) -> None:
    await world.top_up("7")
    await world.run_due()
    copied = await back_up(own_url, tmp_path / "copy.db", vault=VAULT, clock=world.clock)
    async with world.store.read() as tx:
        head = await audit.head(tx)
    assert (copied.requests, copied.audit_entries) == (1, head.seq)

    url = databases.empty()
    restored, _ = await put_back(url, tmp_path / "copy.db", vault=VAULT, clock=world.clock)
    assert restored == copied
    assert await restart_on(world, url) is None

    async with world.store.read() as tx:
        assert await rows.current(tx) is not None
        assert (await audit.verify(tx)).ok
    assert [p.by for p in await all_pauses(world)] == ["system:restore"]
    async with world.store.begin() as tx:  # what the database numbers itself goes on behind what was copied
        assert await outbox.put(tx, channel="C0ALERTS", kind="line", subject="x:1", body={}, dedupe="after")
    await world.store.close()
    databases.drop(url)


async def test_what_was_asked_before_an_older_copy_was_put_in_place_is_confirmed_by_nobody(
    world: World, databases: Databases, tmp_path: Path, own_url: str
) -> None:
    """One click on a message of before would leave safe mode, before the ledger is read."""
    await pausing.pause(world.core, BOB, ["main"], "strange top-ups")
    await pausing.resume(world.core, BOB, ["main"])
    async with world.store.read() as tx:
        asked = await confirmations.open_one(tx, pausing.RESUME, "main")
    assert asked is not None
    await back_up(own_url, tmp_path / "copy.db", vault=VAULT, clock=world.clock)

    url = databases.empty()
    await put_back(url, tmp_path / "copy.db", vault=VAULT, clock=world.clock)
    await restart_on(world, url)

    with pytest.raises(Stale, match="answered already, or its time is over"):
        await confirmation_answers.give(world.core, asked.id, CAROL)
    async with world.store.read() as tx:
        assert await rows.current(tx) is not None
        assert await pauses.of(tx, "main") is not None
        assert [one for one in await alert_rows.open_ones(tx) if one.kind == "consent"] == []
        (text,) = (
            await tx.run(select(tables.alert.c.text).where(tables.alert.c.subject == asked.id))
        ).scalars()
    assert text.startswith("Void: an older copy"), "the message of before says so and keeps no button"
    await world.store.close()
    databases.drop(url)


async def test_nobody_confirms_that_safe_mode_is_left_while_the_ledger_is_unread(world: World) -> None:
    """However the question came to be open."""
    await pausing.pause(world.core, BOB, ["main"], "strange top-ups")
    await pausing.resume(world.core, BOB, ["main"])
    async with world.store.begin() as tx:
        asked = await confirmations.open_one(tx, pausing.RESUME, "main")
        await rows.enter(tx, head_seq=1, head_at=None, anchor_seq=9, anchor_at=tx.now)
    assert asked is not None

    with pytest.raises(NotFound, match="still reading the whole ledger"):
        await confirmation_answers.give(world.core, asked.id, CAROL)

    async with world.store.read() as tx:
        assert await rows.current(tx) is not None
        assert await pauses.of(tx, "main") is not None
        still_open = await confirmations.open_one(tx, pausing.RESUME, "main")
    assert still_open is not None, "it can be confirmed once the ledger is read"


async def test_debits_that_are_found_later_are_listed_once_even_if_they_were_booked_earlier(
    world: World,
) -> None:
    async with world.store.begin() as tx:
        await rows.enter(tx, head_seq=1, head_at=None, anchor_seq=9, anchor_at=tx.now)
    await safe_mode.at_start(world.core)
    expected = []
    for program, hours in (("main", 1), ("second", 5)):
        async with world.store.begin() as tx:
            found = [
                OrphanDebit(
                    program,
                    f"topup:co-{program}-{number}",
                    Decimal(-number),
                    "topup",
                    None,
                    tx.now - timedelta(hours=hours, minutes=number),
                    tx.now,
                )
                for number in (1, 2, 3)
            ]
            await rows.add_orphans(tx, found)
        await safe_mode.review(world.core)
        expected += [one.reference for one in found]
        await world.advance(5)

    async with world.store.read() as tx:
        listed = "\n".join((await tx.run(select(tables.alert_thread_line.c.text))).scalars())
    assert {reference: listed.count(reference) for reference in expected} == dict.fromkeys(expected, 1)


async def test_a_backup_is_put_in_place_of_a_database_with_a_damaged_header(tmp_path: Path) -> None:
    """The runbook says to do so; what is damaged is kept as it is, with its log."""
    path, copy = await a_database_and_its_backup(tmp_path)
    log = path.with_name("bot.db-wal")
    with closing(sqlite3.connect(path)) as written:
        written.execute("PRAGMA journal_mode=WAL")
        written.execute("INSERT INTO meta (name, value) VALUES ('last', 'written')")
        written.commit()
        killed = path.read_bytes(), log.read_bytes()
    header = killed[0][:24]
    path.write_bytes(b"X" * len(header) + killed[0][len(header) :])
    log.write_bytes(killed[1])

    _, kept = await put_back(f"sqlite:///{path}", copy, vault=VAULT, clock=SystemClock())

    assert kept is not None
    assert safe_modes_in(path) == 1
    with kept.open("r+b") as file:
        file.write(header)
    with closing(sqlite3.connect(kept)) as repaired:
        assert repaired.execute("SELECT value FROM meta WHERE name = 'last'").fetchone() == ("written",)


async def test_the_log_of_a_database_that_is_gone_is_not_taken_for_one_of_the_backup(tmp_path: Path) -> None:
    path, copy = await a_database_and_its_backup(tmp_path)
    with closing(sqlite3.connect(path)) as written:
        written.execute("PRAGMA journal_mode=WAL")
        written.execute("INSERT INTO meta (name, value) VALUES ('last', 'written')")
        written.commit()
        log = path.with_name("bot.db-wal").read_bytes()
    path.unlink()
    path.with_name("bot.db-wal").write_bytes(log)

    assert (await put_back(f"sqlite:///{path}", copy, vault=VAULT, clock=SystemClock()))[1] is None

    assert safe_modes_in(path) == 1
    with closing(sqlite3.connect(path)) as restored:
        assert restored.execute("SELECT value FROM meta WHERE name = 'last'").fetchone() is None


async def test_a_backup_on_a_disk_that_can_only_be_read_is_put_in_place(tmp_path: Path) -> None:
    path, copy = await a_database_and_its_backup(tmp_path)
    with a_small_disk(20) as disk:
        (disk / "copy.db").write_bytes(copy.read_bytes())
        with closing(sqlite3.connect(copy)) as changed:
            changed.execute("PRAGMA journal_mode=WAL")
        (disk / "older.db").write_bytes(copy.read_bytes())
        mount("-o", "remount,ro", str(disk))
        _, kept = await put_back(f"sqlite:///{path}", disk / "copy.db", vault=VAULT, clock=SystemClock())
        # SQLite needs room beside one that is in the form of a database at work: it is not said to be damaged.
        with pytest.raises(DatabaseUnreachable, match=r"older\.db can only be read\. .* mounted read-only"):
            await put_back(f"sqlite:///{path}", disk / "older.db", vault=VAULT, clock=SystemClock())
    assert kept is not None
    assert safe_modes_in(path) == 1


async def test_a_file_system_without_hard_links_is_enough_for_a_restore(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, copy = await a_database_and_its_backup(tmp_path)

    monkeypatch.setattr(os, "link", no_links)

    _, kept = await put_back(f"sqlite:///{path}", copy, vault=VAULT, clock=SystemClock())

    assert kept is not None
    assert kept.exists()
    assert safe_modes_in(path) == 1


@pytest.mark.parametrize("dies_at", ["link", "rename", "unlink"])
async def test_whenever_a_restore_is_killed_the_database_or_the_backup_is_in_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, dies_at: str
) -> None:
    path, copy = await a_database_and_its_backup(tmp_path)
    entries = "SELECT count(*) FROM audit"

    class Killed(BaseException):
        pass

    done = getattr(os, dies_at)

    def last(*words: Path, **more: object) -> None:
        done(*words, **more)
        if path.name in words[-1].name:
            raise Killed

    monkeypatch.setattr(os, dies_at, last)
    with suppress(Killed):
        await put_back(f"sqlite:///{path}", copy, vault=VAULT, clock=SystemClock())
    monkeypatch.undo()
    with closing(sqlite3.connect(path)) as found:
        assert found.execute(entries).fetchone()[0] >= 1


async def test_a_start_after_a_restore_that_was_killed_between_two_renames_makes_no_empty_database(
    tmp_path: Path,
) -> None:
    """As a version of before, or a disk without hard links, leaves it."""
    path, _ = await a_database_and_its_backup(tmp_path)
    kept = path.with_name("bot.db.before-restore-1a2b3c")
    os.rename(path, kept)
    for opening in (
        migrate(url_of(path)),
        Store.open(url_of(path), vault=VAULT, clock=SystemClock()),
    ):
        with pytest.raises(DatabaseMissing, match=str(kept)):
            await opening
    assert not path.exists()


@pytest.mark.parametrize("is_locked", [True, False])
async def test_what_a_killed_restore_left_is_removed_by_the_next_one(
    tmp_path: Path, *, is_locked: bool
) -> None:
    path, copy = await a_database_and_its_backup(tmp_path)
    left = [tmp_path / f".restore.1a2b3c4d.part{end}" for end in ("", ".lock", "-journal")]
    for one in left:
        one.write_bytes(b"")
    with left[0].open() as other:
        if is_locked:  # by another one that works on it
            fcntl.flock(other, fcntl.LOCK_EX)
        await put_back(f"sqlite:///{path}", copy, vault=VAULT, clock=SystemClock())
    assert [one.exists() for one in left] == [is_locked] * 3


@pytest.mark.parametrize(
    "what", ["empty", "of another program", "never started", "without its log", "with names like ours"]
)
@pytest.mark.parametrize("databases", ["sqlite", "postgresql"], indirect=True)
async def test_what_is_no_backup_is_not_put_in_place(tmp_path: Path, databases: Databases, what: str) -> None:
    made = tmp_path / "made.db"
    if what in ("empty", "of another program", "with names like ours"):
        made.write_bytes(b"")
    else:
        await migrate(url_of(made))
    with closing(sqlite3.connect(made)) as other:
        if what == "of another program":
            other.execute("CREATE TABLE x (y)")
        elif what == "with names like ours":
            other.executescript(
                "CREATE TABLE alembic_version (version_num); INSERT INTO alembic_version VALUES ('0001');"
                "CREATE TABLE meta (name, value); INSERT INTO meta VALUES ('instance', 'abcdef');"
                "CREATE TABLE audit (seq); INSERT INTO audit VALUES (1)"
            )
        elif what == "without its log":
            other.execute("DROP TABLE audit")
        other.commit()
    path, _ = await a_database_and_its_backup(tmp_path)
    before = path.read_bytes()
    url = url_of(path) if isinstance(databases, SqliteFiles) else databases.empty()
    with pytest.raises(CopyRefused, match="isn't a backup of Countersign"):
        await put_back(url, made, vault=VAULT, clock=SystemClock())
    assert path.read_bytes() == before
    assert not [name for name in os.listdir(tmp_path) if "before-restore" in name or ".part" in name]


async def test_a_database_in_which_nothing_was_recorded_is_no_backup_either(tmp_path: Path) -> None:
    path = tmp_path / "bot.db"
    await migrate(url_of(path))
    with pytest.raises(CopyRefused, match="nothing to back up"):
        await back_up(url_of(path), tmp_path / "copy.db", vault=VAULT, clock=SystemClock())
    assert [name for name in os.listdir(tmp_path) if "copy" in name] == []


@pytest.mark.parametrize("has_links", [True, False], ids=["", "a file has one name alone"])
async def test_of_two_backups_to_one_name_at_once_one_is_refused_and_none_is_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, has_links: bool
) -> None:
    path, _ = await a_database_and_its_backup(tmp_path)
    target = tmp_path / "today.db"
    if not has_links:
        monkeypatch.setattr(os, "link", _no_links)

    first, *refused = sorted(
        await asyncio.gather(
            *(back_up(url_of(path), target, vault=VAULT, clock=SystemClock()) for _ in range(3)),
            return_exceptions=True,
        ),
        key=lambda one: isinstance(one, Exception),
    )

    assert isinstance(first, copies.Copied)
    assert all(isinstance(one, CopyRefused) and "never overwritten" in str(one) for one in refused)
    assert [name for name in os.listdir(tmp_path) if "today" in name] == ["today.db"]


def left_by_a_kill(folder: Path, name: str) -> list[Path]:
    """As SIGKILL leaves an unfinished copy, with what SQLite has beside it."""
    made = folder / f".{name}.{'5eed' * 2}.part"
    files = [made, made.with_name(f"{made.name}-journal"), made.with_name(f"{made.name}-wal")]
    for file in files:
        file.write_bytes(b"SQLite format 3\0")
    return files


async def test_what_a_killed_backup_left_is_removed_by_the_next_one_whatever_its_name(tmp_path: Path) -> None:
    """The names of a nightly one have the date. What is worked on, and what is of others, stays."""
    path, _ = await a_database_and_its_backup(tmp_path)
    left = [*left_by_a_kill(tmp_path, "2026-03-01-0215.db"), *left_by_a_kill(tmp_path, "restore")]
    (in_work, *_), others = left_by_a_kill(tmp_path, "2026-03-02-0215.db"), tmp_path / ".letter.part"
    others.write_bytes(b"of somebody")
    handle = os.open(in_work, os.O_RDWR)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        await back_up(url_of(path), tmp_path / "2026-03-03-0215.db", vault=VAULT, clock=SystemClock())
    finally:
        os.close(handle)
    there = os.listdir(tmp_path)
    assert [one.name for one in left if one.name in there] == []
    assert {in_work.name, others.name, "2026-03-03-0215.db"} <= set(there)


def test_an_unfinished_copy_that_another_process_swept_before_it_was_locked_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else it would be written without a lock, for others to read."""
    real, unfinished = fcntl.flock, tmp_path / ".copy.db.5eed5eed.part"
    sweeps = [None, None]

    def flock(handle: int, how: int) -> None:
        if sweeps:
            sweeps.pop()
            unfinished.unlink()
        real(handle, how)

    monkeypatch.setattr(fcntl, "flock", flock)
    with copies._made(unfinished):
        assert not sweeps
        assert stat.S_IMODE(unfinished.stat().st_mode) == 0o600
    assert not unfinished.exists()


def _no_links(_old: object, _new: object) -> None:
    raise PermissionError(errno.EPERM, "Operation not permitted")


@pytest.mark.parametrize("end", ["-wal", "-shm", "-journal", ".anchors"])
async def test_no_backup_gets_a_name_that_belongs_to_the_database(tmp_path: Path, end: str) -> None:
    path, _ = await a_database_and_its_backup(tmp_path)
    with pytest.raises(CopyRefused, match="a part of the database"):
        await back_up(url_of(path), tmp_path / f"bot.db{end}", vault=VAULT, clock=SystemClock())


async def test_a_link_is_followed_and_one_that_leads_nowhere_is_named(tmp_path: Path) -> None:
    path, copy = await a_database_and_its_backup(tmp_path)
    (tmp_path / "links").mkdir()
    link = tmp_path / "links" / "bot.db"
    link.symlink_to(path)
    inode = path.stat().st_ino
    _, kept = await put_back(url_of(link), copy, vault=VAULT, clock=SystemClock())
    assert link.is_symlink()
    assert path.stat().st_ino != inode
    assert kept is not None
    assert kept.parent == tmp_path

    link.unlink()
    link.symlink_to(tmp_path / "unmounted" / "bot.db")
    for opening in (
        migrate(url_of(link)),
        Store.open(url_of(link), vault=VAULT, clock=SystemClock()),
        put_back(url_of(link), copy, vault=VAULT, clock=SystemClock()),
    ):
        with pytest.raises((DatabaseMissing, CopyRefused), match="which is not there"):
            await opening
    assert [one.name for one in link.parent.iterdir() if one.name != "bot.db.lock"] == ["bot.db"]


@pytest.mark.parametrize("end", ["-wal", "-journal"])
async def test_a_log_beside_a_backup_is_never_taken_for_a_part_of_it(tmp_path: Path, end: str) -> None:
    path, copy = await a_database_and_its_backup(tmp_path)
    beside = copy.with_name(f"{copy.name}{end}")
    beside.write_bytes(b"of a file that had this name before")
    before = path.read_bytes()
    with pytest.raises(CopyRefused, match=f"{beside} lies beside the backup"):
        await put_back(url_of(path), copy, vault=VAULT, clock=SystemClock())
    assert path.read_bytes() == before

    copy.unlink()
    with pytest.raises(CopyRefused, match=f"{beside} is there, of another file"):
        await back_up(url_of(path), copy, vault=VAULT, clock=SystemClock())
    assert not copy.exists()


async def test_no_backup_replaces_a_link_whose_disk_is_missing(tmp_path: Path) -> None:
    path, _ = await a_database_and_its_backup(tmp_path)
    link = tmp_path / "today.db"
    link.symlink_to(tmp_path / "unmounted" / "today.db")
    with pytest.raises(CopyRefused, match="is a link to a file that is not there"):
        await back_up(url_of(path), link, vault=VAULT, clock=SystemClock())
    assert link.is_symlink()


async def test_a_second_name_of_the_database_from_a_killed_restore_is_not_kept_as_a_copy(
    tmp_path: Path,
) -> None:
    path, copy = await a_database_and_its_backup(tmp_path)
    second = path.with_name("bot.db.before-restore-1a2b3c")
    os.link(path, second)
    _, kept = await put_back(url_of(path), copy, vault=VAULT, clock=SystemClock())
    assert kept is not None
    assert not second.exists()
    await put_back(url_of(path), kept, vault=VAULT, clock=SystemClock())


async def test_the_lock_of_a_killed_restore_is_removed_by_the_next_one(tmp_path: Path) -> None:
    path, copy = await a_database_and_its_backup(tmp_path)
    (tmp_path / ".restore.1a2b3c4d.part.lock").write_bytes(b"")
    await put_back(url_of(path), copy, vault=VAULT, clock=SystemClock())
    assert not [name for name in os.listdir(tmp_path) if name.startswith(".restore.")]


async def test_a_folder_that_can_only_be_read_is_a_sentence(tmp_path: Path) -> None:
    _, copy = await a_database_and_its_backup(tmp_path)
    with a_small_disk(20) as disk:
        mount("-o", "remount,ro", str(disk))
        for target in (disk / "bot.db", disk / "new" / "bot.db"):
            with pytest.raises(CopyRefused, match="Read-only file system"):
                await put_back(url_of(target), copy, vault=VAULT, clock=SystemClock())


@pytest.mark.parametrize("databases", ["postgresql"], indirect=True)
async def test_of_three_restores_at_once_one_is_done_and_the_others_see_that_it_is_not_empty(
    tmp_path: Path, databases: Databases
) -> None:
    _, copy = await a_database_and_its_backup(tmp_path)
    url = databases.empty()
    done = await asyncio.gather(
        *(put_back(url, copy, vault=VAULT, clock=SystemClock()) for _ in range(3)), return_exceptions=True
    )
    refused = [one for one in done if isinstance(one, BaseException)]
    assert [type(one) for one in refused] == [CopyRefused] * 2
    assert all("is not empty" in str(one) for one in refused)
    databases.drop(url)


async def test_what_is_damaged_is_named_as_people_know_it(tmp_path: Path) -> None:
    path, _ = await a_database_and_its_backup(tmp_path)
    damage(path, "request")
    with pytest.raises(CopyRefused, match=f"The database {path} is damaged") as refused:
        await back_up(url_of(path), tmp_path / "new.db", vault=VAULT, clock=SystemClock())
    assert ".part" not in str(refused.value)
    assert "restore the newest backup" in str(refused.value)


@pytest.mark.parametrize("goes_back", [True, False])
async def test_where_a_backup_cannot_be_put_in_place_the_database_is_there_or_it_is_said_where(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, goes_back: bool
) -> None:
    path, copy = await a_database_and_its_backup(tmp_path)
    before = path.read_bytes()
    rename = os.rename

    def failing(source: Path, target: Path) -> None:
        if target == path and (".part" in source.name or not goes_back):
            raise OSError(errno.EIO, "Input/output error")
        rename(source, target)

    monkeypatch.setattr(os, "rename", failing)
    monkeypatch.setattr(os, "link", no_links)

    with pytest.raises(CopyRefused, match=r"cannot be put in place \(Input/output error\)") as refused:
        await put_back(f"sqlite:///{path}", copy, vault=VAULT, clock=SystemClock())

    kept = [tmp_path / name for name in os.listdir(tmp_path) if name.startswith("bot.db.before-restore-")]
    if goes_back:
        assert (kept, path.read_bytes()) == ([], before)
    else:
        assert [f"kept as {one}: rename it to {path}" in str(refused.value) for one in kept] == [True]


@pytest.mark.parametrize("fails", ["bot.db", "bot.db-wal"])
@pytest.mark.parametrize("is_there", [True, False], ids=["database", "log alone"])
async def test_whichever_renaming_fails_the_database_and_its_log_are_as_they_were(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, is_there: bool, fails: str
) -> None:
    path, copy = await a_database_and_its_backup(tmp_path)
    log = path.with_name("bot.db-wal")
    with closing(sqlite3.connect(path)) as written:
        written.execute("PRAGMA journal_mode=WAL")
        written.execute("INSERT INTO meta (name, value) VALUES ('last', 'written')")
        written.commit()
        killed = path.read_bytes(), log.read_bytes()
    path.write_bytes(killed[0])
    log.write_bytes(killed[1])
    monkeypatch.setattr(
        copies, "_empty_log", lambda _: None
    )  # as where it cannot be read, or the disk is full
    if not is_there:
        path.unlink()
    rename = os.rename

    def failing(source: Path, target: Path) -> None:
        put_in_place = ".part" in source.name
        if (source == log) if fails == "bot.db-wal" else put_in_place:
            raise OSError(errno.EIO, "Input/output error")
        rename(source, target)

    monkeypatch.setattr(os, "rename", failing)
    monkeypatch.setattr(os, "link", no_links)

    with pytest.raises(CopyRefused, match=r"cannot be put in place \(Input/output error\)"):
        await put_back(f"sqlite:///{path}", copy, vault=VAULT, clock=SystemClock())

    assert path.exists() == is_there
    assert not is_there or path.read_bytes() == killed[0]
    assert log.read_bytes() == killed[1]
    assert [name for name in os.listdir(tmp_path) if "before-restore" in name] == []


@pytest.mark.walk(most=6)
@pytest.mark.parametrize(
    "odd", [*"#?%&;'\"=+ :@é\\", "%41", "a\tb", "?mode=memory", "#x?y%20z", "\N{SNOWMAN}"]
)
async def test_whatever_characters_the_names_have_the_backup_is_whole_and_put_back_and_nothing_else_is_made(
    tmp_path: Path, odd: str
) -> None:
    source, place, backups = (tmp_path / f"{name}{odd}x" for name in ("source", "place", "backups"))
    for folder in (source, place, backups):
        folder.mkdir()
    path, copy, target = source / f"b{odd}ot.db", backups / f"c{odd}opy.db", place / f"t{odd}o.db"
    await migrate(url_of(path))
    await an_entry_in(path)
    with closing(sqlite3.connect(path)) as written:
        written.execute("INSERT INTO meta (name, value) VALUES ('mine', 'is here')")
        written.commit()

    await back_up(url_of(path), copy, vault=VAULT, clock=SystemClock())
    for _ in range(2):  # where nothing is, and over what is there
        await put_back(url_of(target), copy, vault=VAULT, clock=SystemClock())

    with closing(sqlite3.connect(target)) as restored:
        assert restored.execute("SELECT value FROM meta WHERE name = 'mine'").fetchone() == ("is here",)
    assert safe_modes_in(target) == 1
    everything = list(tmp_path.rglob("*"))  # noqa: ASYNC240 - one look
    made = {found.name for found in everything if found.is_file()}
    kept = {name for name in made if name.startswith(f"{target.name}.before-restore-")}
    beside = {name for name in made if name.endswith((".lock", "-wal", "-shm"))}
    assert made - kept - beside == {path.name, copy.name, target.name}
    assert len(kept) == 1
    assert [one for one in everything if one.suffix == ".db" and not one.stat().st_size] == []
    assert {one for one in everything if one.is_dir()} == {source, place, backups}


@pytest.mark.parametrize("is_there", [True, False])
async def test_what_root_puts_back_belongs_to_whom_the_database_or_its_folder_belonged(
    tmp_path: Path, *, is_there: bool
) -> None:
    assert os.geteuid() == 0, "run as root, as an operator does"
    path, copy = await a_database_and_its_backup(tmp_path)
    folder = tmp_path / "srv"
    folder.mkdir()
    target = folder / "bot.db"
    os.chown(folder, 4711, 4712)
    if is_there:
        path.rename(target)
        os.chown(target, 4713, 4714)
        target.chmod(0o640)
    await put_back(url_of(target), copy, vault=VAULT, clock=SystemClock())
    found = os.stat(target)
    assert (found.st_uid, found.st_gid) == ((4713, 4714) if is_there else (4711, 4712))
    assert found.st_mode & 0o777 == (0o640 if is_there else 0o600)
    left = [one.name for one in folder.iterdir() if one.stat().st_uid == 0]
    assert left == [], "nothing beside it is root's, which the bot could not open"


async def test_a_backup_of_a_database_of_an_older_form_says_to_migrate_it(
    tmp_path: Path, databases: Databases
) -> None:
    url = databases.migrated()
    engine = create_engine(Database.parse(url).url)
    with engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '0017t'"))
        connection.execute(text("ALTER TABLE request DROP COLUMN stage"))
    engine.dispose()

    with pytest.raises(SchemaBehind, match="`countersign migrate`"):
        await back_up(url, tmp_path / "copy.db", vault=VAULT, clock=SystemClock())

    assert not list(tmp_path.glob("*copy*"))  # noqa: ASYNC240 - one look
    databases.drop(url)


async def a_database_and_its_backup(folder: Path) -> tuple[Path, Path]:
    path, copy = folder / "bot.db", folder / "copy.db"
    await migrate(f"sqlite:///{path}")
    await an_entry_in(path)
    await back_up(f"sqlite:///{path}", copy, vault=VAULT, clock=SystemClock())
    return path, copy


def no_links(*_: object, **__: object) -> None:
    raise OSError(errno.EPERM, "Operation not permitted")


async def an_entry_in(path: Path) -> None:
    store = await Store.open(url_of(path), vault=VAULT, clock=SystemClock())
    async with store.begin() as tx:
        await audit.append(tx, actor="test", action="something", subject="test")
    await store.close()


def safe_modes_in(path: Path) -> int:
    with closing(sqlite3.connect(path)) as connection:
        restored = "SELECT count(*) FROM audit WHERE action = 'database.restored'"
        return int(connection.execute(restored).fetchone()[0])


async def test_a_backup_of_a_database_that_is_written_all_the_time_ends_and_is_of_one_moment(
    world: World, tmp_path: Path, own_url: str
) -> None:
    """SQLite starts a copy again whose pages changed before it had them all."""
    async with world.store.begin() as tx:
        for number in range(40):  # so that it is not copied in an instant
            await upsert(
                tx, tables.meta, [{"name": f"fill{number}", "value": "x" * 1_000_000}], key=("name",)
            )
    copied = asyncio.Event()
    written = 0

    async def write() -> None:
        nonlocal written
        while not copied.is_set():
            async with world.store.begin() as tx:
                await audit.append(tx, actor="test", action="one", subject="test")
                await audit.append(tx, actor="test", action="two", subject="test")
            written += 1
            await asyncio.sleep(0.002)

    writing = asyncio.create_task(write())
    try:
        async with asyncio.timeout(40):
            await back_up(own_url, tmp_path / "copy.db", vault=VAULT, clock=world.clock)
    finally:
        copied.set()
        await writing

    assert written > 5
    async with asyncio.timeout(20):
        copy = await Store.open(f"sqlite:///{tmp_path / 'copy.db'}", vault=VAULT, clock=world.clock)
    async with copy.read() as tx:
        counted = {entry.seq: entry.action async for entry in audit.about(tx, "test")}
    await copy.close()
    assert list(counted.values()).count("one") == list(counted.values()).count("two")


async def test_what_is_in_the_way_of_a_copy_is_a_sentence_and_nothing_is_left(tmp_path: Path) -> None:
    """Raised as something else, it would end `countersign backup` with a traceback."""
    clock = SystemClock()
    await migrate(f"sqlite:///{tmp_path / 'bot.db'}")
    await an_entry_in(tmp_path / "bot.db")
    whole = tmp_path / "whole.db"
    await back_up(f"sqlite:///{tmp_path / 'bot.db'}", whole, vault=VAULT, clock=clock)
    away = "postgresql://bot:hunter2@127.0.0.1:1/bot"
    with a_small_disk(1) as disk:
        fill(disk / "filler")
        for copying in (
            back_up(f"sqlite:///{tmp_path / 'bot.db'}", disk / "copy.db", vault=VAULT, clock=clock),
            put_back(f"sqlite:///{disk / 'bot.db'}", whole, vault=VAULT, clock=clock),
        ):
            with pytest.raises(CopyRefused, match="has no room for the copy"):
                await copying
        assert os.listdir(disk) == ["filler"]
    for copying in (
        back_up(away, tmp_path / "copy.db", vault=VAULT, clock=clock),
        put_back(away, whole, vault=VAULT, clock=clock),
    ):
        with pytest.raises(DatabaseUnreachable, match=r"127\.0\.0\.1:1/bot does not answer") as refused:
            await copying
        assert "hunter2" not in str(refused.value)
    assert [name for name in os.listdir(tmp_path) if ".part" in name] == []


async def all_pauses(world: World) -> list[pauses.Pause]:
    async with world.store.read() as tx:
        return await pauses.all(tx)


async def test_a_backup_on_a_disk_that_can_only_be_read_is_put_in_place_of_either_database(
    world: World, databases: Databases, tmp_path: Path, own_url: str
) -> None:
    async with world.store.begin() as tx:
        await audit.append(tx, actor="test", action="something", subject="test")
    await back_up(own_url, tmp_path / "copy.db", vault=VAULT, clock=world.clock)
    url = databases.empty()
    with a_small_disk(20) as disk:
        (disk / "copy.db").write_bytes((tmp_path / "copy.db").read_bytes())
        mount("-o", "remount,ro", str(disk))
        await put_back(url, disk / "copy.db", vault=VAULT, clock=world.clock)
    await restart_on(world, url)
    async with world.store.read() as tx:
        assert await rows.current(tx) is not None
    await world.store.close()
    databases.drop(url)
