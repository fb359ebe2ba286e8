"""A passkey counts only as far as it is known outside the database, and a place that keeps nothing is not believed.

The thief here writes to the database and has Slack sessions; the places that keep anchors are not theirs, but a disk
may be full, or not mounted.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import pytest

from bot.domain.errors import CountersignError, NotAllowed, NotFound, PasskeyNeeded
from bot.services import anchor_places, audit_anchors
from bot.services.anchor_places import AnchorPlaces
from bot.services.operators import safe_mode
from bot.services.passkeys import enrolment
from storage import audit
from storage.operators import Passkey, passkeys
from storage.transaction import Tx
from tests.services.test_anchors import keeper
from tests.services.test_passkeys_on_record import change, confirm_by_click, cut_before, next_start, rows_of
from tests.support.passkeys import SITE, Devices, everybody_has_one, with_passkeys
from tests.support.world import ALICE, BOB, CAROL, World

pytestmark = pytest.mark.by_turns(3)

Break = Callable[[World, Path, pytest.MonkeyPatch], Awaitable[None]]


async def _nothing(_world: World, _folder: Path, _patch: pytest.MonkeyPatch) -> None:
    return


async def _channel_alone(world: World, _folder: Path, _patch: pytest.MonkeyPatch) -> None:
    world.rebuild(anchors=AnchorPlaces(), channels=replace(world.core.channels, audit="C0AUDIT"))


async def _nowhere(world: World, _folder: Path, _patch: pytest.MonkeyPatch) -> None:
    world.rebuild(anchors=AnchorPlaces())


async def _full_disk(_world: World, _folder: Path, patch: pytest.MonkeyPatch) -> None:
    def full(_path: Path, _line: str) -> None:
        raise OSError(28, "No space left on device")

    patch.setattr(anchor_places, "_append", full)


async def _one_full_of_two(world: World, folder: Path, _patch: pytest.MonkeyPatch) -> None:
    world.rebuild(anchors=AnchorPlaces([folder / "anchors", folder / "not there" / "anchors"]))


async def _no_file_of_anchors(world: World, folder: Path, _patch: pytest.MonkeyPatch) -> None:
    (folder / "other").write_text("a list of something else\n")
    world.rebuild(anchors=AnchorPlaces([folder / "other"]))


async def _a_command_that_fails(world: World, _folder: Path, _patch: pytest.MonkeyPatch) -> None:
    world.rebuild(anchors=AnchorPlaces(command=("false",)))


async def _a_command_that_keeps_nothing(world: World, _folder: Path, _patch: pytest.MonkeyPatch) -> None:
    world.rebuild(anchors=AnchorPlaces(command=("true",)))


async def _in_safe_mode(world: World, _folder: Path, _patch: pytest.MonkeyPatch) -> None:
    async with world.store.read() as tx:
        end = await audit.head(tx)
    now = world.core.clock.now()
    await safe_mode.enter(world.core, (end.seq, now), (end.seq + 5, now))


_BROKEN: list[Break] = [
    _channel_alone,
    _nowhere,
    _full_disk,
    _one_full_of_two,
    _no_file_of_anchors,
    _a_command_that_fails,
    _a_command_that_keeps_nothing,
    _in_safe_mode,
]
_WHEN = ["before it is made", "before it is confirmed"]


@pytest.mark.parametrize("when", _WHEN)
@pytest.mark.parametrize("broken", _BROKEN, ids=lambda one: one.__name__.strip("_").replace("_", " "))
async def test_a_passkey_is_added_only_while_each_place_keeps_anchors(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, broken: Break, when: str
) -> None:
    world.rebuild(policy=with_passkeys(), passkeys=SITE)
    devices, steps = (
        Devices(world),
        {"before it is made": _nothing, "before it is confirmed": _nothing, when: broken},
    )

    async def add() -> None:
        await steps["before it is made"](world, tmp_path, monkeypatch)
        made = await devices.make(BOB)
        await steps["before it is confirmed"](world, tmp_path, monkeypatch)
        await confirm_by_click(world, made, CAROL)

    with pytest.raises(CountersignError):
        await add()

    assert not await rows_of(world, "passkey", "state = 'active'")


@pytest.mark.parametrize(
    "anchors", [AnchorPlaces(), AnchorPlaces(command=("false",))], ids=["none set", "unreadable"]
)
async def test_what_keeps_everybody_from_adding_one_is_said_first(
    world: World, anchors: AnchorPlaces
) -> None:
    world.rebuild(policy=with_passkeys(), passkeys=SITE, anchors=anchors)

    with pytest.raises(NotAllowed) as said:
        await enrolment.begin(world.core, BOB, "Mac")

    assert "COUNTERSIGN_ANCHORS_FILE" in str(said.value)
    assert "Nobody can add a passkey" in str(said.value)
    assert (await enrolment.listed(world.core, BOB)).fault == str(said.value)


async def test_a_passkey_whose_adding_could_not_be_kept_counts_once_it_is(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk is full from the moment on in which it is confirmed."""
    world.rebuild(policy=with_passkeys(), passkeys=SITE)
    devices = Devices(world)
    request = await world.top_up("50", approved=False)
    made = await devices.make(BOB)
    activate = passkeys.activate
    with monkeypatch.context() as patch:

        async def then_full(tx: Tx, found: Passkey) -> bool:
            await _full_disk(world, Path(), patch)
            return await activate(tx, found)

        patch.setattr(passkeys, "activate", then_full)
        said = await confirm_by_click(world, made, CAROL)
        assert "counts as soon as" in said
        with pytest.raises(NotAllowed) as refused:
            await devices.link(request, BOB)
        assert "could not be kept" in str(refused.value)

    assert "You approved" in (await devices.approve(request)).text


async def test_who_has_a_passkey_that_an_older_copy_does_not_believe_reads_how_to_go_on(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The copy was made between its adding and the next anchor, so no attempt in safe mode ever counts."""
    devices = await everybody_has_one(world)
    request = await world.top_up("50", approved=False)
    next_start(world)
    await _in_safe_mode(world, tmp_path, monkeypatch)
    monkeypatch.setattr(world.core.anchors, "kept_seq", 0)
    (tmp_path / "anchors").write_text("")

    with pytest.raises(NotAllowed) as refused:
        await devices.link(request, BOB)

    assert "countersign keys reset-passkeys" in str(refused.value)


async def _gone(world: World, folder: Path, _patch: pytest.MonkeyPatch) -> None:
    (folder / "anchors").unlink()


async def _emptied(world: World, folder: Path, _patch: pytest.MonkeyPatch) -> None:
    (folder / "anchors").write_text("")


async def _begun_again(world: World, folder: Path, _patch: pytest.MonkeyPatch) -> None:
    """The disk was not there at a start, and the next anchors are in a new file."""
    (folder / "anchors").unlink()
    await audit_anchors.drop(world.core)


@pytest.mark.parametrize(
    "lost", [_gone, _emptied, _begun_again], ids=["file gone", "file empty", "begun again"]
)
async def test_a_place_that_lacks_what_it_kept_brings_no_click_back(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lost: Break
) -> None:
    await everybody_has_one(world)
    await change(world, "DELETE FROM passkey")
    await cut_before(world, "passkey.added")
    next_start(world)
    await lost(world, tmp_path, monkeypatch)

    with pytest.raises((PasskeyNeeded, NotAllowed)):
        await confirm_by_click(world, await Devices(world).make(BOB), CAROL)

    assert not await rows_of(world, "passkey", "state = 'active'")


async def test_however_many_anchors_came_since_an_older_copy_no_click_comes_back(world: World) -> None:
    await everybody_has_one(world)
    await change(world, "DELETE FROM passkey")
    await cut_before(world, "passkey.added")
    next_start(world)
    async with world.store.begin() as tx:
        await audit.append(
            tx, actor="system:start", action="database.restored", subject="database", body={"head": 3}
        )
        await audit.append(tx, actor=BOB, action="database.accepted", subject="database", body={"head": 3})
    made = await Devices(world).make(BOB)
    for _ in range(150):
        async with world.store.begin() as tx:
            await audit.append(tx, actor="x", action="test", subject="test")
        await audit_anchors.drop(world.core)

    with pytest.raises(PasskeyNeeded):
        await confirm_by_click(world, made, CAROL)


async def test_who_never_had_a_passkey_loses_none(world: World) -> None:
    (mine,) = await (await everybody_has_one(world)).ids(ALICE)
    await enrolment.revoke(world.core, ALICE, mine)
    before = await rows_of(world, "audit"), await world.core.anchors.read()

    with pytest.raises(NotFound) as said:
        await enrolment.lost(world.core, ALICE, ALICE)

    assert "You have no passkey" in str(said.value)
    assert (await rows_of(world, "audit"), await world.core.anchors.read()) == before


async def test_a_command_that_keeps_anchors_is_a_place(world: World, tmp_path: Path) -> None:
    world.rebuild(policy=with_passkeys(), passkeys=SITE, anchors=AnchorPlaces(command=keeper(tmp_path)))
    devices = Devices(world)
    await devices.add(BOB, CAROL)

    assert "You approved" in (await devices.approve(await world.top_up("50", approved=False))).text
