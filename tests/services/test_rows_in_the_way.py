"""Rows and numbers that somebody puts in the way of a stop, for the moment of it or for good: it is done, or held until
it is; nothing of it leaves, and people are notified. What watches the database each minute goes on, too."""

from __future__ import annotations

import io
from collections.abc import Awaitable, Callable
from contextlib import redirect_stderr, redirect_stdout, suppress
from itertools import product
from pathlib import Path
from typing import Any

import pytest

import verify_audit
from bot.domain.requests import Request, State
from bot.services import held_stops
from bot.services.alerts import put_back_rules
from bot.services.messages import reminders
from bot.services.operators import changed_rows, late_stops, pausing
from bot.services.requests import approvals, lifecycle
from handlers.views import ids
from storage import audit
from storage.cards import card_counts
from storage.messages import alerts as alert_rows
from storage.operators import pauses
from tests.services.outcome_steps import top_ups
from tests.services.test_stops_not_recorded import Channel
from tests.support import stops
from tests.support.databases import BACKENDS
from tests.support.kinds import asked
from tests.support.world import BOB, CAROL, World, a_world
from tests.thief.edits import LONG_AGO, Database, insert, opened
from tests.thief.programme import place_of

pytestmark = pytest.mark.by_turns(4)

LAST = 2**63 - 1
Undo = Callable[[Database], object]


def _head(**values: Any) -> Callable[[Database, Request], Undo]:
    """Where the audit log ends, with these: a number is added to its own, unless it is a large one."""

    def edit(database: Database, _request: Request) -> Undo:
        (was,) = database.read("audit_head")
        seq = values.get("seq", 0)
        seq = seq if seq > 10 else was["seq"] + seq
        database.write("UPDATE audit_head SET seq = ?, hash = ?", seq, values.get("hash", was["hash"]))
        return lambda again: again.write("UPDATE audit_head SET seq = ?, hash = ?", was["seq"], was["hash"])

    return edit


def _no_head(database: Database, _request: Request) -> Undo:
    (was,) = database.read("audit_head")
    database.write("DELETE FROM audit_head")
    return lambda again: again.read("audit_head") or insert(again, "audit_head", was)


AN_ALERT = {
    "severity": "warning",
    "title": "x",
    "text": "y",
    "state": "resolved",
    "kind": "z",
    "subject": "x",
    "raised_at": LONG_AGO,
    "updated_at": LONG_AGO,
    "resolved_at": LONG_AGO,
    "program": "main",
    "count": 1,
}


def taken(database: Database, condition: str) -> None:
    """Ten rows under the ids that the next alerts of this condition take."""
    for n in range(10):
        row = {**AN_ALERT, "id": alert_rows.id_of(condition, n), "dedupe": f"{condition} {n}"}
        insert(database, "alert", row)


def _alert_ids(database: Database, request: Request) -> Undo:
    for condition in ("paused:main", f"stop_not_recorded:request:{request.id}:{CAROL}"):
        taken(database, condition)
    return lambda again: again.write("DELETE FROM alert WHERE kind = 'z'")


def far_entry(database: Database) -> None:
    """An entry with the last number that there is."""
    newest = max(database.read("audit"), key=lambda row: row["seq"])
    insert(database, "audit", {**newest, "seq": LAST})


def _far_entry(database: Database, _request: Request) -> Undo:
    far_entry(database)
    return lambda _: None  # nobody takes an entry out


def _sequence(number: int) -> Callable[[Database, Request], Undo]:
    def edit(database: Database, _request: Request) -> Undo:
        was = database.read("outbox_id_seq", "last_value")[0]["last_value"]
        database.write("SELECT setval('outbox_id_seq', ?)", number)
        return lambda again: again.write("SELECT setval('outbox_id_seq', ?)", was)

    return edit


WAYS: dict[str, Callable[[Database, Request], Undo]] = {
    "head behind": _head(seq=-1),
    "head ahead": _head(seq=1),
    "head at the last number": _head(seq=LAST),
    "head one before that": _head(seq=LAST - 1),
    "head of another entry": _head(hash="0" * 64),
    "head gone": _no_head,
    "ids of alerts": _alert_ids,
    "an entry at the last number": _far_entry,
    "messages numbered to the end": _sequence(LAST),
}
ONLY_POSTGRES = {"messages numbered to the end"}


DEEDS: dict[str, Callable[[World, Request], Awaitable[None]]] = {
    "pause": stops.pause,
    "stop": stops.reject,
    "withdraw": stops.withdraw,
}


async def _a_minute(world: World, late: late_stops.LateStops) -> None:
    """All that is done within one, each by itself."""
    for _ in range(6):
        await world.advance(10)
        for job in (
            late.look,
            lambda: changed_rows.tell_of_those_met(world.core),
            lambda: put_back_rules.tell(world.core),
            world.run_due,
        ):
            with suppress(Exception):
                await job()
    with suppress(Exception):
        await changed_rows.watch(world.core)


async def _is_stopped(world: World, request: Request) -> bool:
    async with world.store.read() as tx:
        is_paused = await pauses.of(tx, "main") is not None
    return is_paused or (await world.request(request.id)).state is State.CANCELLED


def kinds_ever(world: World) -> set[str]:
    """Of all alerts, over or not."""
    with opened(place_of(world)) as database:
        return {row["kind"] for row in database.read("alert")} - {"z"}


@pytest.mark.parametrize(
    ("url", "way"),
    [(url, way) for url, way in product(BACKENDS, WAYS) if url == "postgresql" or way not in ONLY_POSTGRES],
    indirect=["url"],
)
@pytest.mark.parametrize("lasts", ["for the moment", "for good"])
@pytest.mark.parametrize("deed", DEEDS)
async def test_a_stop_is_done_or_held_and_people_are_notified(
    url: str, tmp_path: Path, deed: str, way: str, lasts: str
) -> None:
    async with a_world(tmp_path, url=url) as world:
        request = await world.top_up("50")
        await changed_rows.read_log(world.core)
        channel = Channel()
        late = late_stops.LateStops(world.core, channel.say)
        with opened(place_of(world)) as database:
            undo = WAYS[way](database, request)
        failed: Exception | None = None
        try:
            await DEEDS[deed](world, request)
        except Exception as error:  # noqa: BLE001 - whichever it is
            failed = error
        assert failed is None or "not recorded yet" in held_stops.said(failed)
        if lasts == "for the moment":
            with opened(place_of(world)) as database:
                undo(database)

        for _ in range(4):
            await _a_minute(world, late)

        assert top_ups(world) == []
        if failed is not None:
            assert "stop_not_recorded" in kinds_ever(world) or channel.texts
        # A row ahead of the entries stays, as it may tell that some were cut off: then nothing can be recorded at all.
        is_held = way == "head ahead" and world.core.held.waiting() != []
        assert is_held or await _is_stopped(world, request)


@pytest.mark.parametrize("url", BACKENDS, indirect=True)
async def test_what_watches_goes_on_whatever_entry_somebody_added(url: str, tmp_path: Path) -> None:
    async with a_world(tmp_path, url=url) as world:
        request = await world.top_up("50", approved=False)
        await changed_rows.read_log(world.core)
        with opened(place_of(world)) as database:
            far_entry(database)
            database.write("UPDATE request SET requester = ? WHERE id = ?", BOB, request.id)
        for _ in range(2):
            with suppress(Exception):
                await changed_rows.watch(world.core)
        assert {"changed_outside", "ended_put_back"} & kinds_ever(world)


@pytest.mark.parametrize("url", BACKENDS, indirect=True)
async def test_one_part_of_the_watch_that_fails_keeps_no_other_from_its_turn(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fails(*_args: Any) -> None:
        raise RuntimeError

    async with a_world(tmp_path, url=url) as world:
        await pausing.pause(world.core, BOB, ["main"], "stolen key")
        with opened(place_of(world)) as database:
            database.write("UPDATE pause SET reason = 'x'")
        for part in ("_end_of_log_again", "_open_requests"):
            monkeypatch.setattr(changed_rows, part, fails)
        with pytest.raises(RuntimeError):
            await changed_rows.watch(world.core)
        assert "changed_outside" in kinds_ever(world)


@pytest.mark.parametrize("url", BACKENDS, indirect=True)
async def test_a_request_that_cannot_be_reminded_of_is_in_the_way_of_no_other(
    url: str, tmp_path: Path
) -> None:
    async with a_world(tmp_path, url=url) as world:
        edited = await world.top_up("50", approved=False)
        other = await world.top_up("50", approved=False)
        with opened(place_of(world)) as database:
            version = 10**9 if url.startswith("postgresql") else 1.5
            database.write("UPDATE request SET version = ? WHERE id = ?", version, edited.id)
        await world.advance(20 * 60)
        with suppress(Exception):
            await reminders.remind(world.core)
        with opened(place_of(world)) as database:
            reminded = {row["subject"] for row in database.read("outbox") if "reminder" in row["dedupe"]}
        assert any(other.id in subject for subject in reminded)


@pytest.mark.parametrize("url", BACKENDS, indirect=True)
@pytest.mark.parametrize("version", [1.5, 10**9, 1])
async def test_people_know_of_a_version_that_is_none_of_ours_for_as_long_as_it_is_there(
    url: str, tmp_path: Path, version: float
) -> None:
    if version == 1.5 and url.startswith("postgresql"):
        return
    async with a_world(tmp_path, url=url) as world:
        request = await world.top_up("50")
        await changed_rows.read_log(world.core)
        for there, state in ((version, "raised"), (2, "resolved")):
            with opened(place_of(world)) as database:
                database.write("UPDATE request SET version = ? WHERE id = ?", there, request.id)
            for _ in range(2):
                await changed_rows.watch(world.core)
            with opened(place_of(world)) as database:
                assert {row["state"] for row in database.read("alert") if row["subject"] == "request"} == {
                    state
                }


@pytest.mark.parametrize("version", ["1.5", "x", "", "-1", "1" * 5000, "3"])
def test_a_button_finds_its_request_whatever_version_it_was_drawn_with(version: str) -> None:
    assert ids.unstamp(f"R-HT34:{version}") == ("R-HT34", 3 if version == "3" else 0)


async def exported(world: World, folder: Path) -> tuple[int, str]:
    """What `verify_audit.py` says of an export."""
    lines: list[str] = []
    async with world.store.read() as tx:
        await audit.export(tx, lines.append, "jsonl")
    path, said = folder / "export.jsonl", io.StringIO()
    path.write_text("".join(lines))
    with redirect_stdout(said), redirect_stderr(said):
        return verify_audit.main([str(path)]), said.getvalue()


async def _expires(world: World, _request: Request) -> None:
    await world.advance(3 * 24 * 3600)
    await lifecycle.expire_due(world.core)


async def _confirmed(world: World, request: Request) -> None:
    await approvals.confirm(world.core, request.id, BOB)


async def _approved(world: World) -> Request:
    return await world.top_up("50")


async def _frozen_now(world: World) -> Request:
    request = await world.ask("card_freeze", {"card": world.cards[0]["id"]}, now=True)
    await world.run_due()
    return request


ENDS = {
    "expires": (_approved, _expires),
    "withdrawn": (_approved, stops.withdraw),
    "stopped": (_approved, stops.reject),
    "confirmed": (_frozen_now, _confirmed),
}


@pytest.mark.parametrize("url", BACKENDS, indirect=True)
@pytest.mark.parametrize("version", [-1, 5])
@pytest.mark.parametrize("lasts", ["for the moment", "for good"])
@pytest.mark.parametrize("end", ENDS)
async def test_an_export_stays_whole_whatever_version_somebody_wrote(
    url: str, tmp_path: Path, end: str, lasts: str, version: int
) -> None:
    before, do = ENDS[end]
    async with a_world(tmp_path, url=url) as world:
        request = await before(world)
        was = (await world.request(request.id)).version
        with opened(place_of(world)) as database:
            database.write("UPDATE request SET version = ? WHERE id = ?", was + version, request.id)
        with suppress(Exception):
            await do(world, request)
        if lasts == "for the moment":
            with opened(place_of(world)) as database:
                database.write(
                    "UPDATE request SET version = ? WHERE id = ? AND version = ?",
                    was,
                    request.id,
                    was + version,
                )
        for _ in range(3):
            await _a_minute(world, late_stops.LateStops(world.core, Channel().say))
        code, said = await exported(world, tmp_path)
        assert code == 0, said


@pytest.mark.parametrize("url", BACKENDS, indirect=True)
async def test_a_link_that_somebody_invented_keeps_no_outcome_from_being_written(
    url: str, tmp_path: Path
) -> None:
    async with a_world(tmp_path, url=url, policy=None) as world:
        request = await asked(world, "card_reveal")
        await world.approve(request)
        with opened(place_of(world)) as database:
            row = {"request_id": request.id, "state": "owed", "valid_until": LONG_AGO, "links": 0}
            insert(database, "card_reveal", row)
        for _ in range(3):
            await _a_minute(world, late_stops.LateStops(world.core, Channel().say))
        assert (await world.request(request.id)).state is State.SUCCEEDED


@pytest.mark.parametrize("url", BACKENDS, indirect=True)
async def test_cards_are_counted_whatever_somebody_wrote_there(url: str, tmp_path: Path) -> None:
    async with a_world(tmp_path, url=url) as world:
        async with world.store.read() as tx:
            before = await card_counts.by_status(tx)
        with opened(place_of(world)) as database:
            most = 2**31 - 1 if url.startswith("postgresql") else LAST
            for n in (0, 1):
                row = {"id": 10**6 + n, "program": "main", "status": "ACTIVE", "more": most}
                insert(database, "card_count", row)
        async with world.store.read() as tx:
            assert await card_counts.by_status(tx) == before
