"""The tables are held against the audit chain: what somebody edited, deleted or invented in them is found."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import AsyncIterator
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest
from sqlalchemy import Boolean, Column, Integer

from bot.cli.audit import _verify
from bot.cli.doctor import database_checks
from bot.cli.environment import open_store
from bot.domain.requests import State
from bot.services import execution
from bot.services.core import Core
from bot.services.operators import deep_check, otp_recipients, pausing
from bot.services.operators.confirmation_answers import give
from bot.services.requests import approvals, batch_submission
from storage import audit
from storage.columns import Json, Money, SealedText, UtcDateTime, Word, json_text
from storage.protection import column_protection
from storage.requests import confirmations, requests
from storage.tables import metadata
from tests.services.bulk_requests import a_list, ask_bulk, rows_of
from tests.services.outcome_steps import alert_kinds, processor
from tests.services.outcome_steps import execute as execution_of
from tests.services.test_changed_tables import by_hand
from tests.support import requests_on_record
from tests.support.commands import as_a_command
from tests.support.databases import BACKENDS
from tests.support.kinds import EACH, asked
from tests.support.world import ALICE, BOB, CAROL, MASTER, World, a_world
from tests.thief.edits import LONG_AGO, opened
from tests.thief.edits import insert as insert_row
from tests.thief.programme import place_of


async def a_busy_hour(world: World) -> None:
    """One of each: sent, rejected, withdrawn, a list with a row left out, a freeze at once, a pause, codes."""
    await world.top_up("50")
    await world.run(10)
    rejected = await world.ask("card_topup", {"card": world.cards[0]["id"], "amount_usd": "60"})
    await approvals.reject(world.core, rejected.id, BOB, reason="wrong card")
    batch = await ask_bulk(world, a_list(world, "10", "20"))
    await world.approve(batch)
    await world.run(30)
    await world.ask("card_freeze", {"card": world.cards[0]["id"]}, now=True)
    await world.run(30)
    await pausing.pause(world.core, BOB, ["main"], "the key may be stolen")
    await otp_recipients.ask(world.core, CAROL, "emp-1042", ALICE)
    async with world.store.read() as tx:
        asked = await confirmations.open_one(tx, otp_recipients.NAME, "emp-1042")
    assert asked is not None
    await give(world.core, asked.id, BOB)


async def found(world: World) -> list[str]:
    async with world.store.read() as tx:
        return [str(one) for one in await deep_check.differences(tx)]


async def test_nothing_differs_where_nobody_changed_anything(world: World) -> None:
    await a_busy_hour(world)

    assert await found(world) == []


@pytest.mark.by_turns(5)
@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("UPDATE request SET reason = 'another' WHERE state = 'rejected'", "its terms were edited"),
        ("UPDATE request SET digest = digest || 'x' WHERE state = 'rejected'", "its terms were edited"),
        (
            "UPDATE request SET state = 'failed' WHERE state = 'rejected'",
            "it is failed here and rejected on record",
        ),
        (
            f"UPDATE request SET approved_at = '{LONG_AGO}' WHERE rows IS NULL",
            "when it was approved was edited",
        ),
        ("UPDATE request SET approved_at = NULL", "when it was approved was edited"),
        ("UPDATE request SET exposure_usd = '1'", "its terms were edited"),
        (f"UPDATE request SET created_at = '{LONG_AGO}'", "its terms were edited"),
        ("UPDATE request SET break_glass = FALSE", "done without an approval was edited"),
        ("DELETE FROM request WHERE state = 'rejected'", "it is on record, and was deleted"),
        ("DELETE FROM decision WHERE kind = 'reject'", "the decision of U0BOB (reject) was deleted"),
        ("UPDATE decision SET actor = 'U0CAROL' WHERE kind = 'reject'", "was edited or invented"),
        ("UPDATE decision SET decided_at = '2026-01-01T00:00:00.000000Z'", "was edited or invented"),
        ("DELETE FROM attempt", "1 calls are on record and 0 are stored"),
        ("UPDATE request SET id = 'R-NEW1' WHERE state = 'rejected'", "it was invented"),
        ("DELETE FROM pause", "it was edited, invented, deleted or put back"),
        ("UPDATE person_card SET slack_id = 'U0EVE'", "they are to go to U0ALICE by the record"),
    ],
)
async def test_what_somebody_changed_is_found(world: World, change: str, said: str) -> None:
    await a_busy_hour(world)
    by_hand(world, change)

    assert [one for one in await found(world) if said in one], await found(world)


async def test_an_emptied_chain_is_not_whole(world: World) -> None:
    await a_busy_hour(world)
    by_hand(world, "DROP TRIGGER audit_no_delete")
    by_hand(world, "DELETE FROM audit")
    by_hand(world, "UPDATE audit_head SET seq = 0, hash = ''")

    async with world.store.read() as tx:
        assert not (await audit.verify(tx)).ok


async def test_a_change_is_reported_by_night_until_it_is_put_right(world: World) -> None:
    await a_busy_hour(world)
    before = await alert_kinds(world)
    await deep_check.check(world.core)
    assert await alert_kinds(world) == before

    by_hand(world, "UPDATE request SET state = 'failed' WHERE state = 'rejected'")
    await deep_check.check(world.core)
    assert await alert_kinds(world) == before | {"changed_outside"}
    by_hand(world, "UPDATE request SET state = 'rejected' WHERE state = 'failed'")
    await deep_check.check(world.core)

    assert await alert_kinds(world) == before


async def test_everything_is_checked_soon_after_a_start_and_then_once_a_night(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    checked = []

    async def note(core: Core) -> None:
        checked.append(core.clock.now())

    monkeypatch.setattr(deep_check, "check", note)
    nightly = deep_check.Nightly(world.core)

    for _ in range(6 * 24 * 3):
        await nightly.run()
        world.clock.advance(600)

    assert [at.day - checked[0].day for at in checked] == [0, 1, 2, 3]
    assert [at.hour for at in checked[1:]] == [2, 2, 2]


@pytest.mark.parametrize("whoever", ["deep check", "command", "doctor"])
async def test_each_entry_is_read_once_by_whoever_compares_all_of_them(
    world: World, monkeypatch: pytest.MonkeyPatch, whoever: str
) -> None:
    """In a process that has read nothing of the log before."""
    await a_busy_hour(world)
    monkeypatch.setenv("COUNTERSIGN_DATABASE_URL", f"sqlite:///{world.database}")
    monkeypatch.setenv("COUNTERSIGN_MASTER_KEYS", MASTER)
    async with world.store.read() as tx:
        entries = (await audit.head(tx)).seq
    read = list[int]()
    checked = audit._Check._kind

    def check(self: audit._Check, seq: int, *rest: Any) -> str | None:
        read.append(seq)
        return checked(self, seq, *rest)

    monkeypatch.setattr(audit._Check, "_kind", check)
    if whoever == "command":
        await _verify(1, None, [], deep=True, as_json=False)
    else:
        async with open_store(beside_the_bot=True) as store:
            if whoever == "doctor":
                report, _ = await database_checks._rows(store)
            else:
                async with store.read() as tx:
                    report, _ = await deep_check.compared(tx)
        assert report.ok

    assert read == list(range(1, entries + 1))


@pytest.mark.soak
async def test_a_million_entries_are_compared(world: World) -> None:
    """250,000 requests with a submission, an approval, a call and an outcome each. `SOAK_ENTRIES` makes it smaller."""
    count = int(os.environ.get("SOAK_ENTRIES", "1000000")) // 4
    template = await world.top_up("50")
    await world.run(10)
    await requests_on_record.many(world, await world.request(template.id), count, apart=timedelta(minutes=10))
    begun_s = time.perf_counter()

    async with world.store.read() as tx:
        report = await audit.verify(tx)
    chain_s = time.perf_counter() - begun_s
    deep, start = [as_a_command(world, "audit", "verify", one) for one in ("--deep", "--help")]

    assert report.ok
    assert f"whole: {report.count} entries" in deep.said
    assert "are as the chain has them" in deep.said
    print(
        f"{report.count:,} entries: the chain {chain_s:.1f} s; `audit verify --deep` {deep.took_s:.1f} s,"
        f" {deep.most_mb:.0f} MB at most, of which {start.most_mb:.0f} MB to start"
    )


@pytest.mark.by_turns(5)
@EACH
@pytest.mark.usefixtures("deposits_are_set_up")
async def test_every_kind_that_was_carried_out_is_as_on_record(world: World, kind: str) -> None:
    request = await asked(world, kind)
    await world.approve(request)

    await execution.execute(world.core, request.id)

    assert (await world.request(request.id)).state is State.SUCCEEDED
    assert await found(world) == []


ON_CALLS = (
    "UPDATE request SET first_sent_at = '2026-01-01T00:00:00.000000Z'",
    "UPDATE request SET key_expires_at = '2027-01-01T00:00:00.000000Z'",
    "UPDATE request SET outcome_unknown = NOT outcome_unknown",
    """UPDATE request SET outcome = '{"credited_usd": "50"}'""",
    "UPDATE attempt SET sent_at = '2026-01-01T00:00:00.000000Z'",
    "UPDATE attempt SET purpose = 'look'",
    "UPDATE attempt SET finding = 'failed'",
    "UPDATE attempt SET status = 404",
    "UPDATE attempt SET code = 'NOT_FOUND'",
    "UPDATE attempt SET answered_at = NULL",
)


@pytest.mark.parametrize("change", ON_CALLS)
async def test_what_an_open_request_says_of_its_calls_is_held_against_the_record(
    world: World, change: str
) -> None:
    await processor("5xx").set(world, "POST /cards/{cardId}/topup")
    lost = await execution_of(world, await world.top_up("50"))
    assert lost.state is State.UNRESOLVED
    await world.ask("card_topup", {"card": world.cards[0]["id"], "amount_usd": "60"})
    assert await found(world) == []

    by_hand(world, f"{change} WHERE {'request_id' if 'attempt' in change else 'id'} = '{lost.id}'")

    assert await found(world) == [f"{lost.id}: what it says of its calls was edited"]


COLUMNS = [
    (table, column)
    for table in ("request", "decision", "attempt")
    for column, one in column_protection.of_table(table).items()
    if one.by is not column_protection.Class.HARMLESS
]
ENDED = {"succeeded", "rejected", "failed", "cancelled"}


def another(column: Column[Any], value: Any) -> object:
    """A value that the column may have, and has not."""
    if column.name == "answered_at":
        return None  # at another time it says the same
    if isinstance(column.type, UtcDateTime):
        return LONG_AGO
    if isinstance(column.type, Json):
        return json_text({"another": "value"})
    if isinstance(column.type, Boolean):
        return not value
    if column.name == "version":
        return 0  # as it was before: a higher one says nothing, as what nobody leans on raises it without an entry
    if isinstance(column.type, Integer):
        return (value or 0) + 1
    if isinstance(column.type, Word):
        return next(str(word.value) for word in column.type.words if word.value != value)
    if isinstance(column.type, SealedText):
        return f"{value}x"
    return "1" if isinstance(column.type, Money) else f"{value or ''}x"


@pytest.fixture
async def either(url: str, tmp_path: Path) -> AsyncIterator[World]:
    async with a_world(tmp_path, url=url) as made:
        yield made


@pytest.mark.by_turns(2)
@pytest.mark.parametrize("url", BACKENDS, indirect=True)
@pytest.mark.timeout(300)
async def test_each_column_of_what_has_ended_is_compared(either: World) -> None:
    """Of every request, decision and call, but for those that say why not; and put back, it is as on record again."""
    world = either
    await a_busy_hour(world)
    await world.run(120, step=60)
    assert await found(world) == []
    missed = []
    for table, column in COLUMNS:
        edit, kind = f"UPDATE {table} SET {column} = ? WHERE id = ?", metadata.tables[table].c[column]
        with opened(place_of(world)) as database:
            rows = [row for row in database.read(table) if row.get("state", "succeeded") in ENDED]
        edited = list[dict[str, Any]]()
        for row in rows:
            if column in ("sealed_private", "sealed_body") and row[column] is None:
                continue  # purged
            with suppress(sqlite3.IntegrityError, psycopg.IntegrityError):  # the database itself refuses it
                with opened(place_of(world)) as database:
                    assert database.write(edit, another(kind, row[column]), row["id"])
                edited.append(row)
        said = " ".join(await found(world))
        missed += [
            f"{table}.{column} of {row['id']}"
            for row in edited
            if str(row.get("request_id", row["id"])) not in said
        ]
        with opened(place_of(world)) as database:
            for row in edited:
                now = another(kind, row["id"]) if column == "id" else row["id"]
                was = row[column]
                assert database.write(edit, json_text(was) if isinstance(was, dict | list) else was, now)

    assert missed == [], "\n".join(missed)
    assert await found(world) == []


@pytest.mark.parametrize("url", BACKENDS, indirect=True)
async def test_each_decision_that_somebody_deleted_is_found(either: World) -> None:
    """Also of a person who said another word since; an approval that fell as rows were left out is no such."""
    world = either
    await a_busy_hour(world)
    await pausing.resume(world.core, BOB, ["main"])
    await pausing.resume(world.core, CAROL, ["main"])
    batch = await ask_bulk(world, a_list(world, "200", "200", "200"))
    await world.approve(batch)
    await batch_submission.leave_out(world.core, batch.id, ALICE, [(await rows_of(world, batch))[1].id])
    await world.approve(await world.request(batch.id))
    await processor("5xx").set(world, "POST /cards/{cardId}/topup")
    lost = await execution_of(world, await world.top_up("50"))
    for verdict in ("failed", "succeeded", "failed"):
        await approvals.resolve(world.core, lost.id, BOB, verdict=verdict, evidence="I looked")
    assert await found(world) == []
    with opened(place_of(world)) as database:
        rows = database.read("decision")
    assert len([row for row in rows if row["kind"] == "resolve"]) == 3

    missed = []
    for row in rows:
        with opened(place_of(world)) as database:
            database.write("DELETE FROM decision WHERE id = ?", row["id"])
        if not any(row["request_id"] in one and "deleted" in one for one in await found(world)):
            missed.append(row)
        with opened(place_of(world)) as database:
            insert_row(database, "decision", row)

    assert missed == []
    assert await found(world) == []


@pytest.mark.parametrize("is_edited", [False, True], ids=["as it was", "edited"])
async def test_what_somebody_wrote_of_how_a_request_ended_does_not_get_on_record_by_a_later_change(
    world: World, is_edited: bool
) -> None:
    request = await world.top_up("50")
    await world.run(30)
    if is_edited:
        by_hand(world, f"UPDATE request SET finished_at = '{LONG_AGO}'")

    async with world.store.begin() as tx:
        ended = await requests.get(tx, request.id)
        assert ended is not None
        await requests.touch(tx, ended, outcome_text="It came back to the float.")

    assert [one for one in await found(world) if "how it ended was edited" in one] == (
        [f"{request.id}: how it ended was edited before Countersign changed it"] if is_edited else []
    )
