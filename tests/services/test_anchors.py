"""Where the audit chain ended is kept outside the database: often enough, in each place, and read again at a start."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from sqlalchemy import text

from bot import startup
from bot.services import audit_anchors
from bot.services.anchor_places import AnchorPlaces, places
from bot.services.core import Channels
from bot.services.operators import deep_check
from storage import audit
from storage.audit import Anchor
from storage.messages import alerts, outbox
from tests.support.world import World

KEEPER = """
import pathlib, sys
kept = pathlib.Path(sys.argv[1])
if sys.argv[2] == "write":
    with kept.open("a") as file:
        file.write(sys.stdin.read())
elif kept.exists():
    sys.stdout.write(kept.read_text())
"""


def keeper(folder: Path) -> list[str]:
    """A command as an operator may write one."""
    script = folder / "keeper.py"
    script.write_text(KEEPER)
    return [sys.executable, str(script), str(folder / "kept")]


async def entries(world: World, count: int) -> None:
    async with world.store.begin() as tx:
        for _ in range(count):
            await audit.append(tx, actor="test", action="test", subject="test")


async def test_an_anchor_is_written_every_hundred_entries(world: World, tmp_path: Path) -> None:
    world.rebuild(anchors=AnchorPlaces([tmp_path / "anchors"]))
    await audit_anchors.drop(world.core)
    written = len(await world.core.anchors.read())

    await entries(world, 99)
    await audit_anchors.drop_if_due(world.core)
    assert len(await world.core.anchors.read()) == written

    await entries(world, 1)
    await audit_anchors.drop_if_due(world.core)
    assert len(await world.core.anchors.read()) == written + 1


async def test_each_place_gets_the_same_anchor_and_a_start_reads_all_of_them(
    world: World, tmp_path: Path
) -> None:
    world.rebuild(
        anchors=AnchorPlaces([tmp_path / "one"], keeper(tmp_path)),
        channels=Channels("C0APPROVALS", "C0ALERTS", "C0AUDIT"),
    )
    await entries(world, 3)

    await audit_anchors.drop(world.core)

    (line,) = (tmp_path / "one").read_text().splitlines()
    assert (tmp_path / "kept").read_text().splitlines() == [line]
    async with world.store.read() as tx:
        (posted,) = [row for row in await outbox.next_due(tx) if row.channel == "C0AUDIT"]
        assert posted.body["line"] == line
    (tmp_path / "one").unlink()
    assert await world.core.anchors.read() == [Anchor.from_line(line)]


async def test_a_place_that_fails_leaves_the_others_and_is_logged(
    world: World, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    gone = tmp_path / "no such folder" / "anchors"
    world.rebuild(anchors=AnchorPlaces([gone, tmp_path / "anchors"], ["/no/such/command"]))
    await entries(world, 1)

    await audit_anchors.drop(world.core)

    assert len((tmp_path / "anchors").read_text().splitlines()) == 1
    failed = [vars(record)["place"] for record in caplog.records if record.msg == "audit.anchor_not_kept"]
    assert failed == [str(gone), "/no/such/command"]


@pytest.mark.parametrize(("text", "script"), [("no anchor\n", ""), ("", "import sys; sys.exit(3)")])
async def test_a_place_that_cannot_be_read_stops_the_start_with_its_name(
    world: World, tmp_path: Path, text: str, script: str
) -> None:
    """It may hold what would show that the database is an older copy."""
    (tmp_path / "anchors").write_text(text)
    command = [sys.executable, "-c", script] if script else []

    with pytest.raises(startup.CannotStart, match=r"exit code 3|anchors") as refused:
        await startup.check_audit(world.store, AnchorPlaces([tmp_path / "anchors"], command))

    assert "Nothing was started" in str(refused.value)


async def test_a_line_that_was_cut_off_is_never_continued_and_stops_no_start(
    world: World, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """As a full disk leaves it."""
    kept = tmp_path / "anchors"
    world.rebuild(anchors=AnchorPlaces([kept]))
    await entries(world, 1)
    await audit_anchors.drop(world.core)
    whole = kept.read_text()
    for size in range(1, len(whole) - 1):
        kept.write_text(whole[:size])
        assert await startup.check_audit(world.store, world.core.anchors) is None, whole[:size]
    assert {record.msg for record in caplog.records if record.levelname == "WARNING"} == {
        "audit.anchors_skipped"
    }

    await entries(world, 1)
    await audit_anchors.drop(world.core)

    assert kept.read_text().startswith(whole[: len(whole) - 2] + "\n{")
    (newest,) = await world.core.anchors.read()
    async with world.store.read() as tx:
        assert newest.seq == (await audit.head(tx)).seq


@pytest.mark.parametrize("is_known_apart", [True, False])
async def test_a_place_that_fails_stops_the_start_whatever_the_others_hold(
    world: World, tmp_path: Path, is_known_apart: bool
) -> None:
    """It may hold what would show that the database is an older copy; anchors that fit an older copy show nothing."""
    fails = [sys.executable, "-c", "import sys; sys.exit(7)"]
    kept = tmp_path / ("elsewhere" if is_known_apart else "bot.db.anchors")
    await entries(world, 1)
    world.rebuild(anchors=AnchorPlaces([kept]))
    await audit_anchors.drop(world.core)

    with pytest.raises(startup.CannotStart, match="exit code 7") as refused:
        await startup.check_audit(world.store, AnchorPlaces([kept], fails))

    assert "COUNTERSIGN_ANCHORS_COMMAND" in str(refused.value)
    assert "without it" in str(refused.value), "there is a way to start before it is repaired"


async def test_an_anchor_that_is_not_signed_by_us_puts_nobody_into_safe_mode(
    world: World, tmp_path: Path
) -> None:
    await entries(world, 2)
    (tmp_path / "anchors").write_text(
        Anchor(10_000, "0" * 64, "2026-03-02T09:00:00.000000Z", "0" * 64).line() + "\n"
    )

    with pytest.raises(startup.CannotStart, match="broken at entry 10000"):
        await startup.check_audit(world.store, AnchorPlaces([tmp_path / "anchors"]))


async def test_the_places_are_the_file_beside_sqlite_and_what_the_settings_name(
    world: World, tmp_path: Path
) -> None:
    found = places(world.store, tmp_path / "elsewhere", "keep --in 'my bucket'")

    assert list(found.files) == [Path(f"{world.database}.anchors"), tmp_path / "elsewhere"]
    assert list(found.command) == ["keep", "--in", "my bucket"]


async def test_the_whole_chain_is_checked_once_a_night_and_a_fault_is_an_alert(world: World) -> None:
    nightly = deep_check.Nightly(world.core)
    await entries(world, 5)
    await nightly.run()
    assert world.core.measures.chain_checked_to >= 5
    async with world.store.begin() as tx:
        await tx.run(text("DROP TRIGGER audit_no_update"))
        await tx.run(text("UPDATE audit SET actor = 'somebody' WHERE seq = 2"))

    await nightly.run()
    async with world.store.read() as tx:
        assert await alerts.open_of(tx, "changed_outside") == [], "not again on the same day"
    world.clock.advance(86_401)
    await nightly.run()

    async with world.store.read() as tx:
        (raised,) = await alerts.open_of(tx, "changed_outside")
    assert "the audit chain is broken at entry 2 (hash)" in raised.title


async def test_a_file_that_was_kept_and_is_missing_stops_the_start_and_says_to_mount_its_disk(
    world: World, tmp_path: Path
) -> None:
    """An older copy in place of the database would start as the newest otherwise."""
    disk = tmp_path / "disk"
    disk.mkdir()
    await entries(world, 1)
    world.rebuild(anchors=AnchorPlaces([disk / "anchors"]))
    assert await startup.check_audit(world.store, world.core.anchors) is None, "a first start has none yet"
    await audit_anchors.drop(world.core)
    assert await startup.check_audit(world.store, world.core.anchors) is None

    (disk / "anchors").rename(tmp_path / "elsewhere")
    with pytest.raises(
        startup.CannotStart, match=r"is missing, where audit anchors were kept.*Mount its disk"
    ):
        await startup.check_audit(world.store, world.core.anchors)

    (disk / "anchors").touch()
    assert await startup.check_audit(world.store, world.core.anchors) is None, "as it says"


async def test_the_file_beside_an_sqlite_database_may_be_missing(world: World) -> None:
    """It is no place apart: who moves the database may leave it."""
    kept_in = places(world.store, None, None)
    await entries(world, 1)
    world.rebuild(anchors=kept_in)
    await audit_anchors.drop(world.core)
    for path in kept_in.files:
        path.unlink()
    assert await startup.check_audit(world.store, kept_in) is None
