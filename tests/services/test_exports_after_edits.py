"""What we write about a row that somebody else changed leaves the log whole: an auditor's program does not call it
forged, and still finds what is."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import verify_audit
from bot.domain.errors import CountersignError
from bot.domain.requests import Request
from bot.services.alerts import put_back_rules
from bot.services.operators import changed_rows, deep_check, safe_mode
from bot.services.requests import approvals, lifecycle
from storage import audit
from storage.columns import MOST
from storage.tables import metadata
from tests.services.outcome_steps import TOPUP, Fault
from tests.services.test_deep_check import another
from tests.services.test_safe_mode_on_record import restored
from tests.support.kinds import asked
from tests.support.processes import WHO, who_goes_on
from tests.support.world import BOB, CAROL, World, a_world
from tests.thief.edits import Database, insert, opened
from tests.thief.programme import place_of

pytestmark = [pytest.mark.walk(together=2), pytest.mark.by_turns(12)]

Way = Callable[[World, Request], Awaitable[object]]


async def _rounds(world: World, count: int = 3) -> None:
    for _ in range(count):
        await world.advance(30)
        steps: list[Callable[[], Awaitable[object]]] = [
            lambda: changed_rows.watch(world.core),
            world.run_due,
            lambda: put_back_rules.tell(world.core),
            lambda: safe_mode.review(world.core),
        ]
        for one in steps:
            with suppress(CountersignError):
                await one()


async def _expires(world: World, request: Request) -> None:
    await world.advance(3 * 24 * 3600)
    await lifecycle.expire_due(world.core)


async def _is_sent(world: World, request: Request) -> None:
    await world.run(60, step=10)


WAYS: dict[str, Way] = {
    "it is looked at": lambda world, _: changed_rows.watch(world.core),
    "safe mode begins": lambda world, _: restored(world),
    "it is rejected": lambda world, one: approvals.reject(world.core, one.id, BOB, reason="no"),
    "it is cancelled": lambda world, one: lifecycle.cancel(world.core, one.id, one.requester),
    "it is approved": lambda world, one: world.approve(one, by=CAROL),
    "it expires": _expires,
    "it is sent": _is_sent,
}
COLUMNS = [one.name for one in metadata.tables["request"].columns]


def _edited(database: Database, row: dict[str, Any], edit: str) -> None:
    if edit == "deleted":
        database.write("DELETE FROM request WHERE id = ?", row["id"])
    elif edit.startswith("invented"):
        insert(database, "request", {**row, "id": "R-ZZZZ", "key": f"{row['key'][:-3]}zzz"})
    else:
        column = metadata.tables["request"].c[edit]
        kinds = {"kind": "card_freeze", "state": "succeeded", "id": "R-ZZZZ", "version": row["version"] + 5}
        value = kinds.get(edit) or another(column, row[edit])
        database.write(f'UPDATE request SET "{edit}" = ? WHERE id = ?', value, row["id"])


async def _exported(world: World) -> list[str]:
    lines: list[str] = []
    async with world.store.read() as tx:
        assert (await audit.verify(tx)).ok
        await audit.export(tx, lines.append, "jsonl")
    return lines


async def _is_whole(world: World, folder: Path) -> bool:
    """By the program that checks an export without the product; it prints what is wrong."""
    file = folder / "audit.jsonl"
    file.write_text("".join(await _exported(world)))
    return verify_audit.main([str(file)]) == 0


@pytest.mark.parametrize("stage", ["pending", "approved", "being sent", "succeeded"])
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("edit", [*COLUMNS, "deleted", "invented"])
async def test_an_export_is_whole_whatever_was_changed_in_a_request_and_whatever_is_written_about_it(
    tmp_path: Path, edit: str, way: str, stage: str, capsys: pytest.CaptureFixture[str]
) -> None:
    async with a_world(tmp_path) as world:
        request = await world.top_up("50", approved=stage != "pending")
        if stage == "being sent":
            with world.dies_at("execution.finishing"):
                await world.run_due()
        if stage == "succeeded":
            await world.run(10)
        with opened(place_of(world)) as database:
            (row,) = database.read("request")
            _edited(database, row, edit)

        with suppress(CountersignError):
            await WAYS[way](world, request)
        await _rounds(world)

        is_whole = await _is_whole(world, tmp_path)
        assert is_whole, capsys.readouterr().out


async def _ends(world: World, request: Request, end: str) -> None:
    if end == "succeeded":
        await world.approve(request)
        await world.run(10)
    elif end == "failed":
        await Fault("drop_before_commit").set(world, TOPUP, times=50)
        await world.approve(request)
        await world.run(90_000, step=900)
    else:
        await WAYS[
            {"rejected": "it is rejected", "cancelled": "it is cancelled", "expired": "it expires"}[end]
        ](world, request)


_BESIDE = ("state", "kind", "digest", "requester", "version", "first_sent_at", "outcome", "approved_at")


@pytest.mark.parametrize("beside", _BESIDE)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("back", ["pending", "approved", "executing", "unresolved"])
@pytest.mark.parametrize("end", ["succeeded", "failed", "rejected", "cancelled", "expired"])
async def test_an_export_is_whole_whatever_of_a_request_that_had_ended_was_put_back_and_changed(
    tmp_path: Path, end: str, back: str, way: str, beside: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its row says that it is open again, and something else as well."""
    async with a_world(tmp_path) as world:
        kind = ("card_topup", "card_freeze", "card_limits")[(len(end) + len(back) + len(way)) % 3]
        request = await asked(world, "card_topup" if end == "failed" else kind)
        await _ends(world, request, end)
        assert (await world.request(request.id)).state == end
        with opened(place_of(world)) as database:
            (row,) = database.read("request")
            if beside != "state":
                _edited(database, row, beside)
            database.write("UPDATE request SET state = ? WHERE id = ?", back, row["id"])

        with suppress(CountersignError):
            await WAYS[way](world, request)
        await _rounds(world)

        is_whole = await _is_whole(world, tmp_path)
        assert is_whole, capsys.readouterr().out


VERSIONS = {"last": 2**63 - 1, "first of others": MOST, "last of ours": MOST - 1, "the one before": MOST - 2}


@pytest.mark.parametrize("who", WHO)
@pytest.mark.parametrize("way", ["it is rejected", "it is cancelled", "it is approved"])
@pytest.mark.parametrize("version", [*VERSIONS, "a fraction"])
async def test_versions_on_record_only_rise_whatever_number_somebody_wrote(
    tmp_path: Path, way: str, version: str, who: str
) -> None:
    async with a_world(tmp_path) as world, who_goes_on(world, who) as hand_over:
        request = await world.top_up("50", approved=False)
        await world.run(5)
        hand_over()
        number = {**VERSIONS, "a fraction": 1.5}[version]
        with opened(place_of(world)) as database:
            database.write("UPDATE request SET version = ? WHERE id = ?", number, request.id)

        await WAYS[way](world, request)
        await _is_sent(world, request)

        assert await _is_whole(world, tmp_path)
        async with world.store.read() as tx:
            assert await deep_check.differences(tx) == []
