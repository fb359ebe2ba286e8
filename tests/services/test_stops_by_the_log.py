"""Whoever stops a list stops it, whatever somebody makes of its rows in the database for that moment."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import verify_audit
from bot.domain.requests import OPEN, Request, State
from bot.services.alerts import put_back_rules
from bot.services.operators import changed_rows, deep_check
from bot.services.requests import approvals, lifecycle
from storage import audit
from tests.services.bulk_requests import a_list, ask_bulk, rows_of
from tests.services.outcome_steps import alert_kinds, top_ups
from tests.services.test_cool_off import policy
from tests.support.databases import BACKENDS
from tests.support.world import ALICE, CAROL, World, a_world
from tests.thief.edits import insert, opened
from tests.thief.programme import place_of

pytestmark = pytest.mark.by_turns(20)

GONE = "gone"
DEEDS = ("an approver stops it", "its requester stops it", "its requester stops what is under way")
BACK = ("", "taken back", "written over")
#: What the rows say for that moment, one after the other.
EDITS: list[tuple[str, ...]] = [
    *((state, state, state) for state in [*map(str, State), GONE] if state != State.APPROVED),
    *((State.EXECUTING, state, state) for state in (State.SUCCEEDED, State.FAILED, GONE)),
    (State.APPROVED, State.SUCCEEDED, GONE),
    (State.UNRESOLVED, State.APPROVED, State.CANCELLED),
]


class Edited:
    """The rows of a list, as somebody has changed them; `taken_back` is as they were."""

    def __init__(self, world: World, rows: list[Request], states: tuple[str, ...]) -> None:
        self._place, ids = place_of(world), [row.id for row in rows]
        self._are = dict(zip(ids, states, strict=False))
        with opened(self._place) as database:
            self._were = [row for row in database.read("request") if row["id"] in ids]
            for row_id, state in self._are.items():
                if state == GONE:
                    database.write("DELETE FROM request WHERE id = ?", row_id)
                else:
                    database.write("UPDATE request SET state = ? WHERE id = ?", state, row_id)

    def take_back(self, *, over_all: bool) -> None:
        """`over_all`: also over what Countersign has written since."""
        with opened(self._place) as database:
            there = {row["id"] for row in database.read("request")}
            for row in self._were:
                if row["id"] not in there:
                    insert(database, "request", row)
                    continue
                only = "%" if over_all else self._are[row["id"]]
                database.write(
                    "UPDATE request SET state = ? WHERE id = ? AND state LIKE ?",
                    row["state"],
                    row["id"],
                    only,
                )


def cells() -> Iterator[tuple[str, tuple[str, ...], str]]:
    for deed in DEEDS:
        for edit in EDITS:
            for back in BACK:
                yield deed, edit, back


async def _exported(world: World) -> str:
    lines: list[str] = []
    async with world.store.read() as tx:
        await audit.export(tx, lines.append, "jsonl")
    return "".join(lines)


def _is_whole(export: str, file: Path) -> bool:
    file.write_text(export)
    return verify_audit.main([str(file)]) == 0


@pytest.mark.parametrize("url", BACKENDS, indirect=True)
@pytest.mark.parametrize(("deed", "edit", "back"), list(cells()))
async def test_a_list_that_was_stopped_is_not_sent_whatever_its_rows_said_at_that_moment(
    url: str, tmp_path: Path, deed: str, edit: tuple[str, ...], back: str
) -> None:
    waits = deed != DEEDS[2]
    async with a_world(tmp_path, url=url, policy=policy() if waits else None) as world:
        batch = await ask_bulk(world, a_list(world, "10", "20", "30"))
        await world.approve(batch)
        await (world.run(60) if waits else world.run_due())
        unsent = [row for row in await rows_of(world, batch) if row.state is State.APPROVED]
        assert unsent
        sent = len(top_ups(world))
        edited = Edited(world, unsent, edit)
        if deed == DEEDS[0]:
            await approvals.reject(world.core, batch.id, CAROL, reason="not this one")
        else:
            await lifecycle.cancel(world.core, batch.id, ALICE)
        if back:
            edited.take_back(over_all=back == BACK[2])
        for _ in range(12):
            await world.run(60, step=20)
            await changed_rows.watch(world.core)
            await put_back_rules.tell(world.core)

        assert len(top_ups(world)) == sent
        assert {"ended_put_back", "tampered", "changed_outside"} & await alert_kinds(world)
        assert _is_whole(await _exported(world), tmp_path / "audit.jsonl")
        # What was put right to what the edit says is written over as well.
        if (back == BACK[1] and State.CANCELLED not in edit) or (not back and GONE not in edit):
            assert (await world.request(batch.id)).state not in OPEN
            assert not [row for row in await rows_of(world, batch) if row.state in OPEN]
            async with world.store.read() as tx:
                assert await deep_check.differences(tx) == []
