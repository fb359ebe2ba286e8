"""An exported chain is checked by a script of the standard library alone, without the product."""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from bot.domain.errors import CountersignError
from bot.domain.requests import State
from bot.services import audit_anchors, requests
from bot.services.operators import changed_rows, safe_mode
from storage import audit
from storage.maintenance import copies
from tests.services.outcome_steps import TOPUP, processor
from tests.services.test_safe_mode_on_record import restored
from tests.storage.restores import VAULT, restart_on
from tests.support.world import World, a_world
from tests.thief.edits import opened
from tests.thief.programme import place_of

SCRIPT = Path(__file__).parents[2] / "verify_audit.py"


async def _exported(folder: Path) -> Path:
    async with a_world(folder) as world:
        await _work(world)
        target = folder / "audit.jsonl"
        async with world.store.read() as tx:
            with target.open("w") as file:
                manifest = await audit.export(tx, file.write, "jsonl")
            anchor = await audit.anchor(tx)
    assert anchor is not None
    beside = {"count": manifest.count, "head_hash": manifest.head_hash, "sha256": manifest.sha256}
    target.with_name("audit.jsonl.manifest.json").write_text(json.dumps(beside))
    target.with_name("anchors").write_text(anchor.line() + "\n")
    return target


async def _work(world: World) -> None:
    await world.top_up("50")
    await world.run(10)


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return asyncio.run(_exported(tmp_path_factory.mktemp("export")))


@pytest.fixture
def exported(original: Path, tmp_path: Path) -> Path:
    for name in ("audit.jsonl", "audit.jsonl.manifest.json", "anchors"):
        shutil.copy(original.with_name(name), tmp_path / name)
    return tmp_path / "audit.jsonl"


def checked(export: Path, *more: str) -> tuple[int, str]:
    """Run away from the project and without its packages."""
    asked = [sys.executable, "-I", "-S", str(SCRIPT), str(export), *more]
    done = subprocess.run(asked, capture_output=True, text=True, check=False, cwd=export.parent)
    assert not done.stderr
    return done.returncode, done.stdout


def test_an_untouched_export_is_whole(exported: Path) -> None:
    code, said = checked(exported, str(exported.with_name("anchors")))

    assert code == 0, said
    assert f"Whole: {len(exported.read_text().splitlines())} entries" in said
    assert "1 anchor(s) fit it" in said


def test_a_changed_entry_is_found(exported: Path) -> None:
    lines = exported.read_text().splitlines()
    first = next(number for number, line in enumerate(lines, 1) if "U0BOB" in line)
    exported.write_text(exported.read_text().replace("U0BOB", "U0EVE"))

    assert checked(exported) == (1, f"Broken: entry {first} was changed.\n")


def test_an_entry_taken_out_is_found(exported: Path) -> None:
    lines = exported.read_text().splitlines(keepends=True)
    exported.write_text("".join([lines[0], *lines[2:]]))

    assert checked(exported) == (1, "Broken: entry 2 is missing: the next one is 3.\n")


@pytest.mark.parametrize("beside", ["manifest", "anchors"])
def test_a_cut_end_is_found(exported: Path, beside: str) -> None:
    exported.write_text("".join(exported.read_text().splitlines(keepends=True)[:-1]))
    if beside == "anchors":
        exported.with_name("audit.jsonl.manifest.json").unlink()

    code, said = checked(exported, *([str(exported.with_name("anchors"))] if beside == "anchors" else []))

    assert (code, beside in said) == (1, True) if beside == "manifest" else code == 1, said


def test_an_empty_export_is_not_whole(exported: Path) -> None:
    exported.write_text("")

    assert checked(exported)[0] == 1


def test_what_is_no_export_cannot_be_read(exported: Path) -> None:
    exported.write_text("nothing of ours\n")

    assert checked(exported)[0] == 2


async def _on_an_older_copy(folder: Path) -> list[Any]:
    """Two requests, a backup of after the first one, which is put in place and accepted; the anchors there were."""
    async with a_world(folder) as world:
        await _work(world)
        copy = folder / "copy.db"
        await copies.back_up(f"sqlite:///{world.database}", copy, vault=VAULT, clock=world.clock)
        await _work(world)
        async with world.store.read() as tx:
            lost = await audit.anchor(tx)
        assert lost is not None
        await world.core.anchors.write(lost)
        assert await restart_on(world, f"sqlite:///{copy}") is not None
        await audit_anchors.drop(world.core)
        with (folder / "audit.jsonl").open("w") as file:
            async with world.store.read() as tx:
                await audit.export(tx, file.write, "jsonl")
        await world.store.close()
        return [lost, *(await world.core.anchors.read())]


def test_anchors_of_what_was_lost_with_an_older_copy_are_asked_about_and_not_called_broken(
    tmp_path: Path,
) -> None:
    kept = asyncio.run(_on_an_older_copy(tmp_path))
    anchors = tmp_path / "kept"
    anchors.write_text("".join(one.line() + "\n" for one in kept))

    code, said = checked(tmp_path / "audit.jsonl", str(anchors))

    assert code == 0, said
    assert "Ask about entry" in said
    assert f"to {kept[0].seq:,} of before are lost" in said


CHANGES = {
    "of another kind": "UPDATE request SET kind = 'card_freeze'",
    "of no kind": "UPDATE request SET kind = 'no_kind'",
    "with another fingerprint": "UPDATE request SET digest = 'x'",
    "of another amount": "UPDATE request SET exposure_usd = '1'",
    "under another id": "UPDATE request SET id = 'R-ZZZZ'",
    "taken out": "DELETE FROM request",
    "ended": "UPDATE request SET state = 'succeeded'",
}
STAGES = ("pending", "approved", "unresolved", "in safe mode")


async def _after_a_change(folder: Path, stage: str, change: str) -> None:
    async with a_world(folder) as world:
        if stage == "unresolved":
            await processor("5xx").set(world, TOPUP)
        request = await world.top_up("50", approved=stage != "pending")
        if stage == "unresolved":
            await world.run(1500, step=60)
            assert (await world.request(request.id)).state is State.UNRESOLVED
        with opened(place_of(world)) as database:
            database.write(f"{CHANGES[change]} WHERE id = ?", request.id)
        if stage == "in safe mode":
            await restored(world)
        for _ in range(4):
            for does in (
                world.run_due,
                lambda: changed_rows.watch(world.core),
                lambda: safe_mode.review(world.core),
            ):
                with suppress(CountersignError):
                    await does()
            await world.advance(1200)
            await requests.expire_due(world.core)
        with (folder / "audit.jsonl").open("w") as file:
            async with world.store.read() as tx:
                await audit.export(tx, file.write, "jsonl")


@pytest.mark.by_turns(4)
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("stage", STAGES)
def test_what_countersign_writes_of_a_request_that_somebody_changed_breaks_no_export(
    tmp_path: Path, stage: str, change: str
) -> None:
    asyncio.run(_after_a_change(tmp_path, stage, change))

    code, said = checked(tmp_path / "audit.jsonl")

    assert code == 0, said


def test_an_anchor_that_no_older_copy_explains_is_broken(exported: Path) -> None:
    anchors = exported.with_name("anchors")
    anchor = json.loads(anchors.read_text())
    anchors.write_text(json.dumps({**anchor, "seq": anchor["seq"] + 3, "hash": "ab" * 32}) + "\n")

    assert checked(exported, str(anchors))[0] == 1


_WHOLE = "Whole: 48,112 entries, each follows the one before"


@pytest.mark.parametrize(
    "hostile",
    [
        f"7\r\x1b[2K{_WHOLE}\x1b[8m",
        f"7\n{_WHOLE}",
        f"7\x85{_WHOLE}\u2028",
        f"\u202e7{_WHOLE}\x9b8m",
        f"\ud800{_WHOLE}",
    ],
    ids=["cursor", "line", "other lines", "right to left", "half a letter"],
)
def test_what_an_export_holds_stays_within_the_line_that_says_what_is_wrong(
    exported: Path, hostile: str
) -> None:
    first, *others = exported.read_text().splitlines(keepends=True)
    exported.write_text("".join([json.dumps({**json.loads(first), "seq": hostile}) + "\n", *others]))

    code, said = checked(exported)

    assert code == 1
    assert said.startswith("Broken: entry 1 is missing: the next one is ")
    assert said.endswith("\n")
    assert said[:-1].isprintable(), repr(said)
