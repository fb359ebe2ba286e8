"""A place for anchors that is away, however it is, keeps nobody waiting: not the other places, people, an end or a
start."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, cast

import pytest

from bot import startup
from bot.cli.doctor import machine_checks
from bot.cli.doctor.findings import Level
from bot.config import Config, Settings
from bot.domain.errors import NotAllowed
from bot.services import anchor_places, audit, audit_anchors
from bot.services.anchor_places import AnchorPlaces
from bot.services.core import Channels
from bot.services.operators import pausing
from bot.services.passkeys import enrolment
from bot.services.requests import lifecycle
from storage import audit as chain
from storage.messages import outbox
from tests.support.passkeys import SITE, Devices, everybody_has_one, with_passkeys
from tests.support.waiting import eventually
from tests.support.world import ALICE, BOB, World

REPOSITORY = Path(__file__).parents[2]
LIMIT_S = 0.3
# Longer than any test: a place of these tests never answers by itself.
HANGS_S = 45

Way = Callable[[Path, pytest.MonkeyPatch, threading.Event], AnchorPlaces]


def _hangs_at(name: str, away: Path, patch: pytest.MonkeyPatch, back: threading.Event) -> None:
    """A method of `Path`, of this one path."""
    real = getattr(Path, name)

    def hangs(path: Path, *args: Any, **more: Any) -> Any:
        if path == away:
            back.wait(HANGS_S)
        return real(path, *args, **more)

    patch.setattr(Path, name, hangs)


def _open_hangs(away: Path, patch: pytest.MonkeyPatch, back: threading.Event) -> AnchorPlaces:
    """As a hard NFS mount whose server is away."""
    _hangs_at("open", away, patch, back)
    return AnchorPlaces([away])


def _write_hangs(away: Path, patch: pytest.MonkeyPatch, back: threading.Event) -> AnchorPlaces:
    """As a frozen file system."""
    synced = os.fsync

    def hangs(descriptor: int) -> None:
        if Path(f"/proc/self/fd/{descriptor}").readlink() == away:
            back.wait(HANGS_S)
        synced(descriptor)

    patch.setattr(os, "fsync", hangs)
    return AnchorPlaces([away])


def _read_hangs(away: Path, patch: pytest.MonkeyPatch, back: threading.Event) -> AnchorPlaces:
    away.touch()
    _hangs_at("read_text", away, patch, back)
    return AnchorPlaces([away])


def _look_hangs(away: Path, patch: pytest.MonkeyPatch, back: threading.Event) -> AnchorPlaces:
    """Even whether it is there."""
    _hangs_at("exists", away, patch, back)
    return _open_hangs(away, patch, back)


def _is_slow(away: Path, patch: pytest.MonkeyPatch, _back: threading.Event) -> AnchorPlaces:
    append = anchor_places._append

    def slow(path: Path, line: str) -> None:
        if path == away:
            time.sleep(LIMIT_S / 3)
        append(path, line)

    patch.setattr(anchor_places, "_append", slow)
    return AnchorPlaces([away])


def _fails(away: Path, _patch: pytest.MonkeyPatch, _back: threading.Event) -> AnchorPlaces:
    return AnchorPlaces([away / "not mounted" / "anchors"])


def command(does: str) -> Way:
    def made(away: Path, _patch: pytest.MonkeyPatch, _back: threading.Event) -> AnchorPlaces:
        away.write_text(f"#!/bin/sh\n{does}\n")
        away.chmod(0o755)
        return AnchorPlaces(command=[str(away)])

    return made


_COMMAND_FAILS = command("exit 3")
_COMMAND_HANGS = command(f"exec sleep {HANGS_S}")
# As one that starts ssh or aws.
_CHILD_HANGS = command(f'sleep {HANGS_S} & echo $! > "$0.child"\nwait')

#: Each way in which a place takes no anchor, or takes its time.
WRITES: dict[str, Way] = {
    "opening hangs": _open_hangs,
    "writing hangs": _write_hangs,
    "looking hangs": _look_hangs,
    "slow": _is_slow,
    "fails": _fails,
    "command fails": _COMMAND_FAILS,
    "command hangs": _COMMAND_HANGS,
    "child of a command hangs": _CHILD_HANGS,
}
#: Each way in which it does not give those that it has.
READS: dict[str, Way] = {
    "opening hangs": _open_hangs,
    "reading hangs": _read_hangs,
    "looking hangs": _look_hangs,
    "command fails": _COMMAND_FAILS,
    "command hangs": _COMMAND_HANGS,
    "child of a command hangs": _CHILD_HANGS,
}


@pytest.fixture
def back() -> Iterator[threading.Event]:
    """Set when a file that hangs answers again."""
    event = threading.Event()
    yield event
    event.set()


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(anchor_places, "TAKES_S", LIMIT_S)
    monkeypatch.setattr(audit_anchors, "_TRIED_AGAIN_S", 0.05)
    monkeypatch.setattr(audit_anchors, "_APART_S", 0.02)


@asynccontextmanager
async def stop_loop(world: World) -> AsyncIterator[None]:
    loop = asyncio.create_task(audit_anchors.drop_at_stops(world.core))
    yield
    loop.cancel()
    with suppress(asyncio.CancelledError):
        async with asyncio.timeout(2):
            await loop


async def head(world: World) -> int:
    async with world.store.read() as tx:
        return (await chain.head(tx)).seq


def _has(path: Path, end: int) -> bool:
    return max(kept(path), default=0) >= end


def kept(path: Path) -> list[int]:
    return (
        [chain.Anchor.from_line(line).seq for line in path.read_text().splitlines()] if path.is_file() else []
    )


def _with(good: Path, away: AnchorPlaces, *, first: bool) -> AnchorPlaces:
    files = [*away.files, good] if first else [good, *away.files]
    return AnchorPlaces(files, away.command)


def _not_kept(caplog: pytest.LogCaptureFixture) -> bool:
    return any(record.msg == "audit.anchor_not_kept" for record in caplog.records)


@pytest.mark.by_turns(2)
@pytest.mark.parametrize(
    ("way", "first"),
    [(way, first) for way in WRITES for first in (True, False) if first or "command" not in way],
)
async def test_the_other_places_have_an_anchor_of_each_stop(
    world: World,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    back: threading.Event,
    way: str,
    first: bool,
) -> None:
    good, away = tmp_path / "good", tmp_path / "away"
    world.rebuild(
        anchors=_with(good, WRITES[way](away, monkeypatch, back), first=first),
        channels=Channels("C0APPROVALS", "C0ALERTS", "C0AUDIT"),
    )
    requests = [await world.top_up("5", card=n) for n in range(3)]
    async with stop_loop(world):
        for request in requests:
            await lifecycle.cancel(world.core, request.id, ALICE)
            end = await head(world)
            await eventually("the good one has it", partial(_has, good, end), within_s=2)
        async with world.store.read() as tx:
            posted = [row.body["seq"] for row in await outbox.next_due(tx) if row.channel == "C0AUDIT"]
        assert posted[-1] == end
        if way != "slow":
            await eventually("it is said", lambda: _not_kept(caplog))
        back.set()
        if "hangs" in way and not world.core.anchors.command:
            await eventually("it has it when it is back", lambda: max(kept(away), default=0) >= end)
            await eventually("nothing is behind", lambda: not world.core.anchors.behind)


@pytest.mark.parametrize("way", ["opening hangs", "fails", "command fails"])
async def test_the_other_places_have_an_anchor_of_every_hundred_entries(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, back: threading.Event, way: str
) -> None:
    """The loop tries the one that is away again and again meanwhile."""
    good = tmp_path / "good"
    away = WRITES[way](tmp_path / "away", monkeypatch, back)
    world.rebuild(
        anchors=_with(good, away, first=False), channels=Channels("C0APPROVALS", "C0ALERTS", "C0AUDIT")
    )
    async with asyncio.timeout(20):
        await audit_anchors.drop(world.core)
        before = await head(world)
        async with stop_loop(world):
            for _ in range(10):
                async with world.store.begin() as tx:
                    for _ in range(30):
                        await audit.record(tx, world.core, "system:app", "test", "test")
                await asyncio.sleep(0.1)
                await audit_anchors.drop_if_due(world.core)
        end = await head(world)
    found = [before, *(one for one in kept(good) if one > before), end]
    assert max(later - earlier for earlier, later in pairwise(found)) <= 130
    async with world.store.read() as tx:
        posted = [row.body["seq"] for row in await outbox.next_due(tx) if row.channel == "C0AUDIT"]
    assert len([one for one in posted if one > before]) in (2, 3)


async def _pause(world: World) -> None:
    await pausing.pause(world.core, BOB, ["main"], "")


async def _remove_a_passkey(world: World) -> None:
    (mine,) = await Devices(world).ids(ALICE)
    await enrolment.revoke(world.core, ALICE, mine)


async def _lose_a_passkey(world: World) -> None:
    await enrolment.lost(world.core, ALICE, ALICE)


async def _end_a_copied_one(world: World) -> None:
    (hers,) = await Devices(world).ids(ALICE)
    await enrolment.end_copied(world.core, hers)


STOPPED_BY_PEOPLE: list[Callable[[World], Awaitable[None]]] = [
    _pause,
    _remove_a_passkey,
    _lose_a_passkey,
    _end_a_copied_one,
]


@pytest.mark.parametrize("stop", STOPPED_BY_PEOPLE, ids=lambda one: one.__name__.strip("_"))
async def test_what_people_stop_is_answered_at_once(
    world: World,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    back: threading.Event,
    stop: Callable[[World], Awaitable[None]],
) -> None:
    """Without waiting for the time that a place may take."""
    good = tmp_path / "good"
    world.rebuild(policy=with_passkeys(), passkeys=SITE, anchors=AnchorPlaces([good]))
    await everybody_has_one(world)
    monkeypatch.setattr(anchor_places, "TAKES_S", HANGS_S)
    away = _open_hangs(tmp_path / "away", monkeypatch, back)
    world.core.anchors.files = [*away.files, good]

    async with asyncio.timeout(4):
        await stop(world)
        end = await head(world)
        await eventually("the good one has it", lambda: max(kept(good)) >= end)


@pytest.mark.by_turns(2)
@pytest.mark.parametrize("way", [way for way in WRITES if way != "slow"])
async def test_a_passkey_is_refused_in_its_time_where_a_place_does_not_keep_the_anchor(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, back: threading.Event, way: str
) -> None:
    world.rebuild(policy=with_passkeys(), passkeys=SITE)
    away = WRITES[way](tmp_path / "away", monkeypatch, back)
    world.rebuild(anchors=_with(tmp_path / "good", away, first=True))

    async with asyncio.timeout(5):
        with pytest.raises(NotAllowed, match="passkey"):
            await audit_anchors.require_kept(world.core)


@pytest.mark.by_turns(2)
@pytest.mark.parametrize("way", READS)
async def test_a_start_that_cannot_read_a_place_refuses_with_a_sentence(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, back: threading.Event, way: str
) -> None:
    good = tmp_path / "good"
    (tmp_path / "away").touch()
    world.rebuild(anchors=AnchorPlaces([good]))
    await audit_anchors.drop(world.core)
    away = READS[way](tmp_path / "away", monkeypatch, back)

    with pytest.raises(startup.CannotStart) as refused:
        async with asyncio.timeout(5):
            await startup.check_audit(world.store, _with(good, away, first=False))

    assert str(tmp_path / "away") in str(refused.value)
    assert "Nothing was started" in str(refused.value)
    if "hangs" in way:
        assert f"no answer within {LIMIT_S:g} seconds" in str(refused.value)


async def test_a_start_that_cannot_see_whether_a_file_is_there_refuses_with_a_sentence(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, back: threading.Event
) -> None:
    away, looked = tmp_path / "away", Path.exists
    world.rebuild(anchors=AnchorPlaces([away]))
    await audit_anchors.drop(world.core)
    times = 0

    def hangs_the_second_time(path: Path) -> bool:
        nonlocal times
        times += path == away
        if path == away and times > 1:
            back.wait(HANGS_S)
        return looked(path)

    monkeypatch.setattr(Path, "exists", hangs_the_second_time)
    with pytest.raises(startup.CannotStart, match="no answer within"):
        async with asyncio.timeout(5):
            await startup.check_audit(world.store, AnchorPlaces([away]))


@pytest.mark.by_turns(2)
@pytest.mark.parametrize("way", WRITES)
async def test_an_end_does_not_wait_for_it_and_leaves_the_last_anchor_in_the_others(
    world: World,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    back: threading.Event,
    way: str,
) -> None:
    monkeypatch.setattr(anchor_places, "TAKES_S", HANGS_S)
    good = tmp_path / "good"
    away = WRITES[way](tmp_path / "away", monkeypatch, back)
    world.rebuild(anchors=_with(good, away, first=True))

    async with asyncio.timeout(3):
        await audit_anchors.drop_last(world.core, within_s=LIMIT_S)

    assert kept(good)[-1] == await head(world)
    if way != "slow":
        (places,) = _named(caplog)
        assert [str(tmp_path / "away") in place for place in places] == [True]


def _named(caplog: pytest.LogCaptureFixture) -> list[list[str]]:
    """The places of each time that the last anchor was missing somewhere."""
    return [vars(one)["places"] for one in caplog.records if one.msg == "audit.no_last_anchor"]


@pytest.mark.parametrize("is_away", [False, True], ids=["slow", "away"])
@pytest.mark.parametrize("is_misplaced", [False, True], ids=["", "misplaced"])
@pytest.mark.parametrize("before", ["not given", "is being written", "has it"])
async def test_an_end_names_a_place_where_it_lacks_the_last_anchor_and_waits_for_no_other(
    world: World,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    back: threading.Event,
    before: str,
    is_misplaced: bool,
    is_away: bool,
) -> None:
    monkeypatch.setattr(anchor_places, "TAKES_S", HANGS_S)
    place = tmp_path / "place"
    world.rebuild(anchors=AnchorPlaces([place]))
    if before == "has it":
        await audit_anchors.drop(world.core)
    (_open_hangs if is_away else _is_slow)(place, monkeypatch, back)
    if before == "is being written":
        await audit_anchors.drop(world.core, within_s=0.02)
    if is_misplaced:
        monkeypatch.setattr(world.store, "misplaced", lambda: "it was renamed")

    began = time.monotonic()
    await audit_anchors.drop_last(world.core, within_s=2 * LIMIT_S)

    assert time.monotonic() - began < (0.05 if before == "has it" else 2 * LIMIT_S + 0.5)
    lacks_it = is_away and before != "has it"
    if not lacks_it:
        back.set()
    assert kept(place) == ([] if lacks_it else [await head(world)])
    assert _named(caplog) == ([[str(place)]] if lacks_it else [])


async def test_an_end_that_is_cut_short_names_a_place_that_lacks_the_last_anchor_all_the_same(
    world: World,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    back: threading.Event,
) -> None:
    world.rebuild(anchors=_open_hangs(tmp_path / "away", monkeypatch, back))

    with pytest.raises(TimeoutError):
        async with asyncio.timeout(LIMIT_S):
            await audit_anchors.drop_last(world.core, within_s=HANGS_S)

    assert _named(caplog) == [[str(tmp_path / "away")]]


async def test_an_end_that_cannot_read_where_the_log_ends_says_so_in_its_time(
    world: World, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    world.rebuild(anchors=AnchorPlaces([tmp_path / "place"]))
    async with world.store.begin():  # nobody else can write meanwhile
        await audit_anchors.drop_last(world.core, within_s=LIMIT_S)

    assert _named(caplog) == [[]]
    assert kept(tmp_path / "place") == []


PROCESS = """
import asyncio, sys
from pathlib import Path
from bot.services import anchor_places
anchor_places.TAKES_S = 0.2
async def main():
    try:
        await anchor_places.AnchorPlaces([Path(sys.argv[1])]).read()
    except anchor_places.Unreadable as error:
        print(error)
asyncio.run(main())
"""


def test_a_process_ends_though_a_place_still_hangs(tmp_path: Path) -> None:
    away = tmp_path / "away"
    os.mkfifo(away)  # to open it hangs until somebody writes to it

    ended = subprocess.run(
        [sys.executable, "-c", PROCESS, str(away)],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        timeout=20,
        check=True,
    )

    assert ended.stdout.strip() == f"{away} (no answer within 0.2 seconds)"


async def test_two_threads_a_place_are_left_behind_at_most(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, back: threading.Event
) -> None:
    away = _open_hangs(tmp_path / "away", monkeypatch, back)
    before = threading.active_count()
    world.rebuild(anchors=away)
    async with asyncio.timeout(10):
        for _ in range(10):
            await audit_anchors.drop(world.core)
            await audit_anchors.why_not_kept(world.core)

    assert threading.active_count() <= before + 2, "one that writes and one that reads"


async def test_once_its_time_is_over_nobody_waits_for_it_again(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, back: threading.Event
) -> None:
    world.rebuild(anchors=_open_hangs(tmp_path / "away", monkeypatch, back))
    await audit_anchors.drop(world.core)
    monkeypatch.setattr(anchor_places, "TAKES_S", LIMIT_S / 2)

    began = time.monotonic()
    for _ in range(10):
        await audit_anchors.drop(world.core)
    assert time.monotonic() - began < 10 * LIMIT_S / 2


@pytest.mark.parametrize("way", ["command hangs", "child of a command hangs"])
async def test_all_that_a_command_began_is_ended_at_its_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, back: threading.Event, way: str
) -> None:
    away = tmp_path / "away"
    places = WRITES[way](away, monkeypatch, back)
    began = time.monotonic()

    with pytest.raises(anchor_places.Unreadable, match="no answer within"):
        await places.read()

    assert time.monotonic() - began < LIMIT_S + 5
    if "child" in way:
        await eventually("its child has ended", lambda: _has_ended(away.with_name("away.child")))


def _has_ended(number: Path) -> bool:
    """`number`: a file with the number of the process."""
    try:
        return (
            Path(f"/proc/{number.read_text().strip()}/stat").read_text().rsplit(")", 1)[1].split()[0] in "ZX"
        )
    except (FileNotFoundError, ProcessLookupError):
        return True


async def test_doctor_says_that_a_file_hangs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, back: threading.Event
) -> None:
    away = tmp_path / "away"
    away.touch()
    _open_hangs(away, monkeypatch, back)
    settings = Settings.model_construct(anchors_file=away, anchors_command=None)

    async with asyncio.timeout(5):
        finding = await machine_checks.anchors(settings, cast("Config", None), is_live=False)

    assert finding.level is Level.WRONG
    assert "no answer within" in finding.text
