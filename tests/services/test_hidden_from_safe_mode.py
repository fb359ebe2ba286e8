"""What an edit of an older copy hides while safe mode begins, and what comes back after that, counts no more: no
approval of before, and no word that somebody waits for, does anything once two people have left safe mode."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Boolean, Integer

from bot.domain.errors import CountersignError
from bot.domain.people import KindPolicy
from bot.services.alerts import put_back_rules
from bot.services.operators import (
    changed_rows,
    confirmation_answers,
    otp_recipients,
    pausing,
    safe_mode,
)
from bot.services.requests import lifecycle
from storage import audit
from storage.cards import otp_recipients as recipient_rows
from storage.columns import Json, Money, UtcDateTime
from storage.errors import ChangedOutside
from storage.operators import safe_mode as rows
from storage.tables import metadata
from tests.services.bulk_requests import a_list, ask_bulk
from tests.services.outcome_steps import keys_sent
from tests.support.databases import BACKENDS
from tests.support.world import ALICE, BOB, CAROL, World, a_policy, a_world
from tests.thief.edits import FAR, Database, Rows, insert, opened
from tests.thief.programme import place_of

_WAITS = timedelta(hours=2)
_ANOTHER_STATE = "succeeded"
#: Of columns that hold one of some words alone.
_WORDS = {"kind": "confirm", "stage": "submitted", "verdict": "failed"}


@dataclass(frozen=True)
class Subject:
    """What was approved, or waits for a second yes, when the copy was made. `tables`: what an edit of is about it."""

    kinds: dict[str, KindPolicy]
    make: Callable[[World], Awaitable[str]]
    tables: tuple[str, ...] = ("request", "decision")


async def _approved(world: World) -> str:
    return (await world.top_up("50")).id


async def _one_of_two(world: World) -> str:
    request = await world.top_up("50", approved=False)
    await world.approve(request, by=BOB)
    return request.id


async def _list(world: World) -> str:
    whole = await ask_bulk(world, a_list(world, "10", "20"))
    await world.approve(whole, by=BOB)
    return whole.id


async def _consent(world: World) -> str:
    await otp_recipients.ask(world.core, CAROL, "emp-1042", ALICE)
    with opened(place_of(world)) as database:
        return str(database.read("consent")[0]["id"])


async def _resume(world: World) -> str:
    await pausing.pause(world.core, BOB, ["main"], "A look at the float")
    await pausing.resume(world.core, BOB, ["main"])
    with opened(place_of(world)) as database:
        return str(database.read("consent")[0]["id"])


WAITS, TWO = {"card_topup": KindPolicy(cool_off=_WAITS)}, {"card_topup": KindPolicy(approvals=2)}
SUBJECTS = {
    "approved": Subject(WAITS, _approved),
    "a list approved": Subject(WAITS, _list),
    "one of two": Subject(TWO, _one_of_two),
    "a list, one of two": Subject(TWO, _list),
    "a code recipient": Subject({}, _consent, ("consent",)),
    "resume": Subject({}, _resume, ("consent",)),
}


@dataclass(frozen=True)
class Hiding:
    """One edit of a table, and how it is taken back: `column` = None takes the rows out."""

    table: str
    column: str | None

    def __str__(self) -> str:
        return f"{self.table}.{self.column or 'rows out'}"


@cache
def hidings(tables: tuple[str, ...]) -> list[Hiding]:
    """Every column of them but the key, and all of their rows."""
    found = []
    for table in tables:
        columns = [one.name for one in metadata.tables[table].columns if not one.primary_key]
        found += [Hiding(table, column) for column in [*columns, None]]
    return found


class Hidden:
    """What was edited, to be put back later."""

    def __init__(self, place: str, hiding: Hiding, about: str, other_request: str) -> None:
        self._place, self._hiding, self._other = place, hiding, other_request
        with opened(place) as database:
            self._rows = _rows_about(database, hiding.table, about)
        if hiding.column == "request_id":  # one person decides once on the other
            self._rows = [row for row in self._rows if row["request_id"] == about]

    def hide(self) -> None:
        table, column = self._hiding.table, self._hiding.column
        with opened(self._place) as database:
            for row in self._rows:
                if column is None:
                    database.write(f"DELETE FROM {table} WHERE id = ?", row["id"])
                else:
                    other = self._another(table, column, row[column])
                    database.write(f"UPDATE {table} SET {column} = ? WHERE id = ?", other, row["id"])

    def show(self) -> None:
        table, column = self._hiding.table, self._hiding.column
        with opened(self._place) as database:
            there = {row["id"] for row in database.read(table)}
            for row in self._rows:
                if row["id"] not in there:
                    insert(database, table, row)
                elif column is not None:
                    sets = f"UPDATE {table} SET {column} = ? WHERE id = ?"
                    database.write(sets, _as_given(table, column, row[column]), row["id"])

    def _another(self, table: str, column: str, value: Any) -> Any:
        kind = metadata.tables[table].columns[column].type
        if column in ("parent_id", "request_id"):
            return self._other
        if column == "state":
            return _ANOTHER_STATE if table == "request" else "declined"
        if column in _WORDS:
            return _WORDS[column]
        if isinstance(kind, Boolean):
            return not value
        if isinstance(kind, Integer):
            return (value or 0) + 1
        if isinstance(kind, UtcDateTime):
            return FAR if value is None else "2000-01-01T00:00:00.000000Z"
        if isinstance(kind, Money):
            return "0.01"
        if isinstance(kind, Json):
            return "{}"
        return f"{value or ''}x" if not isinstance(value, bytes) else value[::-1]


def _as_given(table: str, column: str, value: Any) -> Any:
    if isinstance(metadata.tables[table].columns[column].type, Json) and isinstance(value, dict | list):
        from psycopg.types.json import Jsonb

        return Jsonb(value)
    return value


def _rows_about(database: Database, table: str, about: str) -> Rows:
    if table == "decision":
        of = {row["id"] for row in _rows_about(database, "request", about)}
        return [row for row in database.read("decision") if row["request_id"] in of]
    found = database.read(table)
    return [row for row in found if about in (row["id"], row.get("parent_id"))]


async def goes_on(world: World, seconds: float) -> None:
    """Time passes, and the jobs of each minute run."""
    await world.run(seconds, step=10)
    await safe_mode.review(world.core)
    await changed_rows.watch(world.core)
    await put_back_rules.tell(world.core)
    await lifecycle.expire_due(world.core)


async def begun(world: World, monkeypatch: pytest.MonkeyPatch, hidden: Hidden, when: str) -> None:
    """Safe mode begins, and what was hidden `when` it did is there again after that."""
    async with world.store.read() as tx:
        end = await audit.head(tx)
    at = world.clock.now()
    await safe_mode.enter(world.core, (end.seq, at), (end.seq + 5, at + timedelta(minutes=1)))
    if when == "from the start on":
        hidden.hide()
        await safe_mode.at_start(world.core)
    else:  # after everything open was looked at, and before it ends
        with monkeypatch.context() as patched:
            ends = safe_mode._void_all

            async def later(*given: Any) -> None:
                hidden.hide()
                try:
                    await ends(*given)
                finally:
                    hidden.show()

            patched.setattr(safe_mode, "_void_all", later)
            await safe_mode.at_start(world.core)
    hidden.show()


async def left_by_two(world: World) -> None:
    for person in (CAROL, BOB):
        await pausing.resume(world.core, person, ["main"])


async def tried(done: Awaitable[Any]) -> None:
    """Somebody presses a button, and may be refused."""
    with suppress(CountersignError, ChangedOutside):
        await done


CELLS = [
    (subject, hiding, when)
    for subject, one in SUBJECTS.items()
    for hiding in hidings(one.tables)
    for when in ("from the start on", "before it ends")
    if not (subject in ("a code recipient", "resume") and when == "before it ends")
]


@pytest.mark.walk(most=24)
@pytest.mark.by_turns(3)
@pytest.mark.parametrize(
    ("subject", "hiding", "when"), CELLS, ids=[f"{one}, {hidden}, {when}" for one, hidden, when in CELLS]
)
@pytest.mark.parametrize("url", BACKENDS, indirect=True)
async def test_nothing_hidden_while_safe_mode_begins_counts_after_it(
    url: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    subject: str,
    hiding: Hiding,
    when: str,
) -> None:
    policy = replace(a_policy(), kinds=SUBJECTS[subject].kinds, version="hidden")
    async with a_world(tmp_path, url=url, policy=policy) as world:
        other = await world.top_up("1", approved=False, card=2)
        about = await SUBJECTS[subject].make(world)
        hidden = Hidden(place_of(world), hiding, about, other.id)

        await begun(world, monkeypatch, hidden, when)

        await goes_on(world, 60)
        await world.advance(3700)
        if hiding.table == "consent":
            await tried(confirmation_answers.give(world.core, about, BOB if "code" in subject else CAROL))
        else:
            await left_by_two(world)
            await goes_on(world, 60)
            if "two" in subject:
                request = await world.request(about)
                await tried(world.approve(request, by=CAROL))
            await goes_on(world, 20)
            await world.advance(3500)
            await goes_on(world, 20)

        assert keys_sent(world) == []
        async with world.store.read() as tx:
            if hiding.table == "consent":
                assert await rows.current(tx) is not None, "one person alone has left it"
                assert await recipient_rows.person_of(tx, "emp-1042") is None
            else:
                assert await rows.current(tx) is None
                there = [
                    row for row in opened_rows(world, about) if row["state"] in ("approved", "executing")
                ]
                assert there == [], "it is still to be sent"


def opened_rows(world: World, about: str) -> Rows:
    with opened(place_of(world)) as database:
        return _rows_about(database, "request", about)
